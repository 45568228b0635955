"""The editor of the user: a text is changed by a person, in a file that nobody else can read."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from toolcrib.core.config import environment
from toolcrib.core.errors import Unavailable


def edit_text(text: str, name: str) -> str:
    """Open a text in the user's editor, and give it back as it was saved.

    Args:
        text: what is to be edited.
        name: of the file, whose ending tells the editor what it is.

    Raises:
        Unavailable: there is no editor, or it ended with an error.
    """
    named = environment(("VISUAL", "EDITOR"))
    program = named.get("VISUAL") or named.get("EDITOR")
    program = program or ("notepad" if os.name == "nt" else "vi")
    with tempfile.TemporaryDirectory() as folder:  # mode 0700
        file = Path(folder) / name
        file.write_text(text, "utf-8")
        words = shlex.split(program, posix=os.name != "nt")
        try:
            code = subprocess.run([*words, str(file)], check=False).returncode  # noqa: S603
        except OSError as error:
            raise Unavailable(
                f"The editor '{program}' cannot be started: {error.strerror}.",
                hint="The variable EDITOR names another one.",
            ) from None
        if code:
            raise Unavailable(
                f"The editor ended with code {code}; nothing was changed.", hint="Try it again."
            )
        return file.read_text("utf-8")
