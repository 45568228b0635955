"""What a child process runs, and within which bounds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Task:
    """A function and its bounds.

    Attributes:
        function: `package.module:name`.
        what: what it does, as the start of a sentence: "Reading the document".
        seconds: of the clock for one call, the start of the child included, and also of
            the processor.
        megabytes: address space of the child. Libraries map more than they use.
        most: bytes of an answer.
        hint: what to do when a bound is met.
    """

    function: str
    what: str
    seconds: float = 30.0
    megabytes: int = 1024
    most: int = 16_000_000
    hint: str = "Ask for less at a time, or use another form of the same content."
