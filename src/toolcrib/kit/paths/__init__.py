"""The workspace: every path of every tool goes through here, and nothing else opens files."""

from toolcrib.kit.paths.handle import Entry, Handle, fingerprint
from toolcrib.kit.paths.safe import SafePath, WorkspacePath, WritablePath
from toolcrib.kit.paths.workspace import Workspace
from toolcrib.kit.paths.writing import make_folder, write_new

__all__ = [
    "Entry",
    "Handle",
    "SafePath",
    "Workspace",
    "WorkspacePath",
    "WritablePath",
    "fingerprint",
    "make_folder",
    "write_new",
]
