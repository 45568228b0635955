"""The workspace: every path of every tool goes through here, and nothing else opens files."""

from toolcrib.kit.paths.handle import Entry, Handle, fingerprint
from toolcrib.kit.paths.images import Image
from toolcrib.kit.paths.safe import (
    EachPath,
    RefusedPath,
    SafePath,
    WorkspacePath,
    WritablePath,
    resolve_writable,
)
from toolcrib.kit.paths.workspace import Workspace
from toolcrib.kit.paths.writing import make_folder, write_new

__all__ = [
    "EachPath",
    "Entry",
    "Handle",
    "Image",
    "RefusedPath",
    "SafePath",
    "Workspace",
    "WorkspacePath",
    "WritablePath",
    "fingerprint",
    "make_folder",
    "resolve_writable",
    "write_new",
]
