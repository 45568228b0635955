"""Patches of several files: reading the forms in which models write them, and applying them."""

from toolcrib.kit.editing.patches.applying import patched
from toolcrib.kit.editing.patches.model import FilePatch, Hunk
from toolcrib.kit.editing.patches.reading import read_patch

__all__ = ["FilePatch", "Hunk", "patched", "read_patch"]
