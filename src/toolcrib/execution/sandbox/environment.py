"""The variables of a confined program: few, and none of the user's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from toolcrib.core.config import environment

SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
KEPT = ("LANG", "LANGUAGE", "LC_*", "TZ", "PYTHONUNBUFFERED")
# Into a pipe Python writes in blocks: what a server says would be seen at its end.
UNBUFFERED = {"PYTHONUNBUFFERED": "1"}
BARE = (*KEPT, "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR")


def variables(
    home: str,
    scratch: str,
    allowed: Iterable[str],
    visible: Iterable[str],
    given: Mapping[str, str] | None,
) -> dict[str, str]:
    """What a run sees.

    Args:
        home: its home folder.
        scratch: its folder for temporary files.
        allowed: names of the user's variables that it may see.
        visible: folders that it can read: of the user's PATH only these are told.
        given: more variables, which win.
    """
    theirs = environment(["PATH"]).get("PATH", "").split(":")
    tops = [*visible, "/usr"]
    found = [p for p in theirs if any(p == t or p.startswith(f"{t.rstrip('/')}/") for t in tops)]
    return {
        "PATH": ":".join(dict.fromkeys((*found, *SYSTEM_PATH))),
        "LANG": "C.UTF-8",
        "HOME": home,
        "TMPDIR": scratch,
        "USER": "sandbox",
        "LOGNAME": "sandbox",
        "SHELL": "/bin/sh",
        # These lie outside, and Git takes a file that it may not read for an error.
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        **UNBUFFERED,
        **environment((*KEPT, *allowed)),
        **(given or {}),
    }


def bare(allowed: Iterable[str], given: Mapping[str, str] | None) -> dict[str, str]:
    """What a run without a boundary sees: still no keys of the user."""
    return {
        "PATH": ":".join(SYSTEM_PATH),
        "LANG": "C.UTF-8",
        **UNBUFFERED,
        **environment((*BARE, *allowed)),
        **(given or {}),
    }
