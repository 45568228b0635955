"""Where programs that run code are, how code is handed to them, and what they may read."""

from toolcrib.kit.interpreters.javascript import Engine, engine_for
from toolcrib.kit.interpreters.programs import find_program, shell_program
from toolcrib.kit.interpreters.python import Python, python_for
from toolcrib.kit.interpreters.toolchains import Toolchains, toolchains

__all__ = [
    "Engine",
    "Python",
    "Toolchains",
    "engine_for",
    "find_program",
    "python_for",
    "shell_program",
    "toolchains",
]
