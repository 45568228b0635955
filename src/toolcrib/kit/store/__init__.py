"""Where state is kept: one SQLite file that several processes share.

`Store` is the service. An area (history, cache, jobs …) owns its SQL in its own file:
it declares a `Schema` and works through the `Area` that `Store.area` gives it.
"""

from toolcrib.kit.store.database import Schema
from toolcrib.kit.store.owner import Owner
from toolcrib.kit.store.store import Area, Store

__all__ = ["Area", "Owner", "Schema", "Store"]
