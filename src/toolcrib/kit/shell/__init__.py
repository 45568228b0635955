"""What a line of shell would run, and whether it may: convenience and better questions.

It is never the boundary; that is the sandbox. Where there is none, what is not certain is
asked about.
"""

from toolcrib.kit.shell.judging import judge
from toolcrib.kit.shell.reading import read_script
from toolcrib.kit.shell.script import Command, Script, Word
from toolcrib.kit.shell.verdicts import code_verdict, command_verdict

__all__ = [
    "Command",
    "Script",
    "Word",
    "code_verdict",
    "command_verdict",
    "judge",
    "read_script",
]
