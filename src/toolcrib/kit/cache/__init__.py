"""What was costly to get, kept for a while and shared by the processes on one store."""

from toolcrib.kit.cache.cache import UNCHANGED, Cache, Cached, Fleeting

__all__ = ["UNCHANGED", "Cache", "Cached", "Fleeting"]
