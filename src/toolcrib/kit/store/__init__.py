"""Where state is kept: one SQLite file that several processes share.

`Store` is the service. An area (history, cache, jobs …) owns its SQL in its own file:
it declares a `Schema` and works through the `Area` that `Store.area` gives it.
"""
