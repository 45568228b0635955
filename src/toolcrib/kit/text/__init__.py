"""Text from outside: cleaned of what cannot be seen, cut to a budget, fenced."""

from __future__ import annotations

from toolcrib.kit.text.cleaning import Cleaned, clean, one_line
from toolcrib.kit.text.cutting import cut, head_and_tail
from toolcrib.kit.text.fencing import fence
from toolcrib.kit.text.marks import unforged

__all__ = ["Cleaned", "clean", "cut", "fence", "head_and_tail", "one_line", "unforged"]
