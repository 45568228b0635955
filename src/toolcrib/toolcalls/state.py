"""The state of one reading."""

from __future__ import annotations

from collections.abc import Callable

from toolcrib.toolcalls.decoders.decoder import Reading
from toolcrib.toolcalls.growing_text import Growing
from toolcrib.toolcalls.offers import Offers
from toolcrib.toolcalls.output import Output

LONGEST_INNER = 1_000_000
KEPT_BEHIND = 8192
Whole = Callable[[str, Offers], Output]


class Machine:
    """How far a text was read, and what came of it.

    Args:
        offers: the tools.
        whole: reads a part of the text by itself; None within such a part.
    """

    def __init__(self, offers: Offers, whole: Whole | None = None) -> None:
        self.text = Growing()
        self.reading = Reading(self.text, offers)
        self.out = Output(offers)
        self.pos = 0
        self.marks = 0
        """How many were dealt with."""
        self.is_stripped = False
        """Whether headers of gpt-oss without their marks were seen."""
        self._whole = whole

    def inner(self, part: str) -> Output | None:
        """What a part of the text comes to by itself; None for parts of parts."""
        if self._whole is None or len(part) > LONGEST_INNER:
            return None
        return self._whole(part, self.reading.offers)

    def say_to(self, at: int) -> None:
        """The text up to a place is content."""
        self.out.say(self.text.text[self.pos : at])
        self.pos = at

    def trim(self) -> None:
        """Forget what was read, now and then."""
        if self.pos > KEPT_BEHIND and self.pos * 2 > len(self.text.text):
            self.text.drop(self.pos)
            self.pos = 0
