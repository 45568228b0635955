"""Terminals: programs behind a screen, as a person would use them."""

from toolcrib.kit.terminals.keys import encode
from toolcrib.kit.terminals.terminal import Terminal, Wait
from toolcrib.kit.terminals.terminals import Terminals

__all__ = ["Terminal", "Terminals", "Wait", "encode"]
