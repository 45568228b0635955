"""What a page says of itself, by the rules that the reader modes of browsers follow.

`read_meta` reads a parsed page once and gives a `Meta`.
"""
