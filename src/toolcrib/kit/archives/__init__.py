"""Archives: read with suspicion, written without what is protected."""

from toolcrib.kit.archives.reading import Archive, Limits, Member, open_archive
from toolcrib.kit.archives.writing import FORMATS, Packed, format_of, gather, pack

__all__ = [
    "FORMATS",
    "Archive",
    "Limits",
    "Member",
    "Packed",
    "format_of",
    "gather",
    "open_archive",
    "pack",
]
