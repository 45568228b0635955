"""Arguments of tools that run code elsewhere."""

from __future__ import annotations

import shlex
from typing import Any

from toolcrib.core.errors import BadInput
from toolcrib.execution.interpreters.code_fences import unfenced

LONGEST = 36_000
"""Seconds of the longest `timeout`; a larger number is one of milliseconds."""
MILLISECONDS = ("timeoutms", "timeoutmilliseconds", "timeoutmillis", "yieldtimems")
HOURS = ("timeouthours",)
DROPPED = (
    *(
        "requiresapproval",
        "isdangerous",
        "sandboxpermissions",
        "justification",
        "withescalatedpermissions",
    ),
    *("description", "name", "title", "shell", "login", "restart", "dangerouslydisablesandbox"),
    *("maxoutputlength", "maxoutputtokens", "maxlength", "encoding", "blocking", "interactive"),
    *("timelimitunit", "stream", "capture", "captureoutput", "verbose", "kernel", "sessionid"),
)
BACKGROUND = ("isbackground", "runinbackground", "async", "detach", "detached")
COMMANDS = ("command", "cmd", "commands", "commandline", "script", "code", "shellcommand", "bash")
PYTHON = {"python", "python3", "py", "ipython", "python_repl"}
JAVASCRIPT = {"javascript", "js", "node", "nodejs", "typescript", "ts", "deno", "ecmascript"}
SHELL = {"bash", "sh", "shell", "zsh"}


def python(said: dict[str, Any]) -> None:
    """Of tools that run Python."""
    _language(said, PYTHON)
    _time(said)
    for name in ("packages", "requirements", "dependencies", "libraries"):
        if said.pop(name, None):
            raise BadInput(
                "run_python installs nothing.",
                hint="Leave the packages out; it uses those of the workspace's .venv.",
            )
    _drop(said)


def javascript(said: dict[str, Any]) -> None:
    """Of tools that run JavaScript."""
    _language(said, JAVASCRIPT)
    _time(said)
    _drop(said)


def command(said: dict[str, Any]) -> None:
    """Of tools that run commands."""
    if "timeouthours" in said or (said.get("name") and "command" in said):
        said.setdefault("background", True)
    _language(said, SHELL)
    _texts(said)
    words = said.pop("args", None) or said.pop("arguments", None)
    if words and isinstance(said.get("command"), str):
        given = words if isinstance(words, list) else [str(words)]
        said["command"] = f"{said['command']} {shlex.join(map(str, given))}"
    for name in BACKGROUND:
        if name in said:
            said.setdefault("background", said.pop(name))
    if said.pop("wait", None) in (False, "false"):
        said.setdefault("background", True)
    if said.pop("env", None) or said.pop("environment", None):
        raise BadInput(
            "run_command takes no variables beside the command.",
            hint="Write them in the command: NAME=value program.",
        )
    _time(said)
    _drop(said)


def tests(said: dict[str, Any]) -> None:
    """Of tools that run tests."""
    for name in ("command", "testcommand", "cmd"):
        if said.get(name):
            said.setdefault("runner", said.pop(name))
    for name in ("path", "file", "target", "testpath", "filepath"):
        path, marks, rest = str(said.get(name) or "").partition("::")
        if marks and rest[:1].isidentifier():  # one test in a file, as pytest names it
            said[name] = path
            if str(said.get("runner") or "").lower() in ("", "auto", "pytest"):
                said["runner"] = f"pytest::{rest}"
    for name in ("runner", "framework"):
        if str(said.get(name, "")).lower() == "auto":
            del said[name]
    _time(said)
    _drop(said)


def typing(said: dict[str, Any]) -> None:
    """Of tools that type into a terminal: a list of texts and of names of keys."""
    for name in ("keys", "input", "data", "chars"):
        if isinstance(said.get(name), list):
            said[name] = "".join(map(_key, said[name]))


def _key(word: Any) -> str:
    from toolcrib.execution.terminals.keys import encode

    named = f"<{word}>"
    is_key = len(str(word)) > 1 and encode(named) != named.encode()
    return named if is_key else str(word)


def _language(said: dict[str, Any], ours: set[str]) -> None:
    for name in ("language", "lang", "interpreter", "runtime"):
        language = str(said.pop(name, "") or "").strip().lower()
        versioned = language.startswith("python3") and "python" in ours
        if not language or language in ours or versioned:
            continue
        known = {"run_python": PYTHON, "run_javascript": JAVASCRIPT, "run_command": SHELL}
        right = next((tool for tool, names in known.items() if language in names), "")
        raise BadInput(
            f"This tool does not run {language[:40]}.",
            hint=f"Use {right}." if right else "run_command starts any program of this machine.",
        )


def _line(words: list[Any], *, whole: bool) -> str:
    """A list of words as one line: the text of `["bash", "-lc", text]`, else all, quoted."""
    texts = [str(word) for word in words]
    if not whole:
        return "\n".join(texts)
    shell = texts[0].rpartition("/")[2] if texts else ""
    if len(texts) == 3 and shell in SHELL and texts[1] in ("-c", "-lc", "-cl", "-ic"):
        return texts[2]
    return shlex.join(texts)


def _texts(said: dict[str, Any]) -> None:
    """The command as one plain text, under whichever name it was given."""
    for name in COMMANDS:
        if isinstance(said.get(name), list):
            said[name] = _line(said[name], whole=name != "commands")
        elif isinstance(said.get(name), str):
            said[name] = _bare(said[name])


def _bare(text: str) -> str:
    """A command without a fence of Markdown around it, or the prompt before its lines."""
    text = unfenced(text)
    lines = [line for line in text.split("\n") if line.strip()]
    if lines and all(line.startswith("$ ") for line in lines):
        return "\n".join(line[2:] for line in lines)
    return text


def _time(said: dict[str, Any]) -> None:
    for names, factor in ((MILLISECONDS, 0.001), (HOURS, 3600.0)):
        for name in names:
            number = _number(said.pop(name, None))
            if number is not None:
                said.setdefault("timeout", number * factor)
    for name in ("timeout", "timeoutseconds"):
        number = _number(said.get(name))
        if number is not None and number > LONGEST:
            said[name] = number / 1000


def _number(value: Any) -> float | None:
    try:
        return None if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None


def _drop(said: dict[str, Any]) -> None:
    for name in DROPPED:
        said.pop(name, None)
