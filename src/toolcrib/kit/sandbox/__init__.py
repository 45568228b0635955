"""The boundary around programs that a model asked for: nothing beyond what it needs is there."""

from toolcrib.kit.sandbox.confined import Confined
from toolcrib.kit.sandbox.judging import Finding, judge, leftovers
from toolcrib.kit.sandbox.sandbox import Sandbox
from toolcrib.kit.sandbox.terms import (
    Bind,
    Level,
    Limits,
    Overlay,
    Pty,
    ReadOnly,
    Report,
    View,
)

__all__ = [
    "Bind",
    "Confined",
    "Finding",
    "Level",
    "Limits",
    "Overlay",
    "Pty",
    "ReadOnly",
    "Report",
    "Sandbox",
    "View",
    "judge",
    "leftovers",
]
