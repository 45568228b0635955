"""Why the changes of a held run were not made, and what has to be done first."""

from __future__ import annotations

from toolcrib.core.errors import PathDenied, StorageFailure, ToolError
from toolcrib.execution.runs.outcome import APPLY_TOOL

RUN_AGAIN = f"run it again on the files as they are now; {APPLY_TOOL} with drop=true drops this"


def overtaken(error: ToolError) -> str:
    """The files are not as the run found them, which no second try can change."""
    return f"{error.message.rstrip('.')}; {RUN_AGAIN}"


def to_mend(error: ToolError) -> str:
    """What a person has to do before the changes can be made; "" where it is not known."""
    if isinstance(error, PathDenied) and error.details.get("rule") == "permissions":
        first = "first the user has to permit toolcrib to write there"
    elif isinstance(error, StorageFailure):
        full = "full" in error.message
        first = "first some space has to be freed" if full else "first that has to be mended"
    else:
        return ""
    return f"{first}; then {APPLY_TOOL} makes the changes, and with drop=true it drops them"


def cause(error: ToolError) -> str:
    """What stood in the way, in words."""
    return f"{error.message} {to_mend(error) or error.hint}".strip().rstrip(".")
