"""Argument adapters: how other systems' tools that run code name their arguments."""

from __future__ import annotations

import re
import shlex
from typing import Any

from toolcrib.core.errors import BadInput
from toolcrib.execution.interpreters.python import NO_PACKAGES, unfenced
from toolcrib.text.json_values import json_value

_COMBINATION = re.compile(r"(?:(?:ctrl|alt|shift)\+)+[A-Za-z0-9]{1,9}", re.IGNORECASE)
_LONE_KEY = re.compile(r"\{(\w{2,9})\}|(Enter|ENTER|Return|RETURN|Escape|Esc|ESC)|([CM]-[a-z])")
_CARET = re.compile(r"\^([A-Z])")
"""A key as programs of other kinds write it, where it is all that is sent."""
_ESCAPED_ENTER = re.compile(r"(?<!\\)(?:\\r)?\\[nr]$")
MAX_SECONDS = 36_000
"""Seconds of the longest `timeout`; a larger number is one of milliseconds."""
MILLISECONDS = ("timeoutms", "timeoutmilliseconds", "timeoutmillis", "yieldtimems")
HOURS = ("timeouthours",)
BACKGROUND = ("isbackground", "runinbackground", "async", "detach", "detached")
COMMANDS = ("command", "cmd", "commands", "commandline", "script", "code", "shellcommand", "bash")
WITH_TEST = {"npm", "pnpm", "yarn", "bun", "deno", "dotnet", "mvn", "gradle", "mix", "swift"}
"""Programs of which `test` runs the tests, and which alone run none."""
PYTHON = {"python", "python3", "py", "ipython", "python_repl"}
JAVASCRIPT = {"javascript", "js", "node", "nodejs", "typescript", "ts", "deno", "ecmascript"}
SHELL = {"bash", "sh", "shell", "zsh"}


def python(arguments: dict[str, Any]) -> None:
    """Of tools that run Python."""
    if "code" not in arguments and (file := arguments.get("file") or arguments.get("path")):
        raise BadInput(
            "run_python runs code, no file.",
            hint=f'run_command command="python3 {shlex.quote(str(file)[:200])}" runs a file.',
        )
    _language(arguments, PYTHON)
    network(arguments)
    _time(arguments)
    for name in ("packages", "requirements", "dependencies", "libraries"):
        if arguments.pop(name, None):
            raise BadInput(
                "run_python installs nothing.",
                hint=f"Leave them out; it uses those of the workspace's .venv. {NO_PACKAGES}",
            )


def javascript(arguments: dict[str, Any]) -> None:
    """Of tools that run JavaScript."""
    _language(arguments, JAVASCRIPT)
    network(arguments)
    _time(arguments)


def command(arguments: dict[str, Any]) -> None:
    """Of tools that run commands."""
    if "timeouthours" in arguments or (arguments.get("name") and "command" in arguments):
        arguments.setdefault("background", True)
    _language(arguments, SHELL)
    network(arguments)
    _texts(arguments)
    words = arguments.pop("args", None) or arguments.pop("arguments", None)
    if words and isinstance(arguments.get("command"), str):
        given = words if isinstance(words, list) else [str(words)]
        arguments["command"] = f"{arguments['command']} {shlex.join(map(str, given))}"
    for name in BACKGROUND:
        if name in arguments:
            arguments.setdefault("background", arguments.pop(name))
    if arguments.pop("wait", None) in (False, "false"):
        arguments.setdefault("background", True)
    if arguments.pop("env", None) or arguments.pop("environment", None):
        raise BadInput(
            "run_command takes no variables beside the command.",
            hint="Write them in the command: NAME=value program.",
        )
    _time(arguments)


def network(arguments: dict[str, Any]) -> None:
    """Of tools with a network that is on or off: no host, or the error that says to name some.

    Hosts in one text are parted.
    """
    given = arguments.get("network")
    if isinstance(given, bool):
        arguments["network"] = "all" if given else "none"
    elif isinstance(given, str) and not given.lstrip().startswith("["):
        arguments["network"] = given.replace(",", " ").split()


def tests(arguments: dict[str, Any]) -> None:
    """Of tools that run tests."""
    for name in ("command", "testcommand", "cmd"):
        if arguments.get(name):
            arguments.setdefault("runner", arguments.pop(name))
    for name in ("path", "file", "target", "testpath", "filepath"):
        path, marks, rest = str(arguments.get(name) or "").partition("::")
        if marks and rest[:1].isidentifier():  # one test in a file, as pytest names it
            arguments[name] = path
            if str(arguments.get("runner") or "").lower() in ("", "auto", "pytest"):
                arguments["runner"] = f"pytest::{rest}"
    for name in ("runner", "framework"):
        if str(arguments.get(name, "")).lower() == "auto":
            del arguments[name]
        elif str(arguments.get(name, "")).strip().lower() in WITH_TEST:
            arguments[name] = f"{arguments[name].strip().lower()} test"
    _time(arguments)


def terminal(arguments: dict[str, Any]) -> None:
    """Of tools that start a program in a terminal."""
    network(arguments)
    _texts(arguments)


def typed_keys(arguments: dict[str, Any]) -> None:
    """Of tools that type into a terminal: a list of texts and of names of keys."""
    for name in ("keys", "input", "data", "chars"):
        typed = arguments.get(name)
        if isinstance(typed, str) and typed.lstrip().startswith("[") and "<" in typed:
            found = json_value(typed)
            typed = found if isinstance(found, list) else typed
        if isinstance(typed, list):
            arguments[name] = "".join(map(_key_name, typed))
        elif isinstance(typed, str) and _COMBINATION.fullmatch(typed.strip()):
            arguments[name] = _key_name(typed.strip())
        elif isinstance(typed, str) and _lone_key(typed.strip()):
            arguments[name] = _lone_key(typed.strip())
        elif isinstance(typed, str) and _ESCAPED_ENTER.search(typed):
            arguments[name] = _ESCAPED_ENTER.sub("<Enter>", typed)


def _lone_key(typed: str) -> str:
    """The key that is all of what is sent, as `{ENTER}`, `Enter`, `C-c` or `^C`; else empty."""
    found, control = _LONE_KEY.fullmatch(typed), _CARET.fullmatch(typed)
    if control:
        return f"<Ctrl+{control[1]}>"
    word = next(filter(None, found.groups())) if found else ""
    named = _key_name(word)
    return named if named != word else ""


def _key_name(word: Any) -> str:
    from toolcrib.execution.terminals.keys import encode

    if str(word).startswith("<") or not word:
        return str(word)
    named = f"<{word}>"
    is_key = len(str(word)) > 1 and encode(named) != named.encode()
    return named if is_key else str(word)


def _language(arguments: dict[str, Any], ours: set[str]) -> None:
    for name in ("language", "lang", "interpreter", "runtime"):
        language = str(arguments.pop(name, "") or "").strip().lower()
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


def _texts(arguments: dict[str, Any]) -> None:
    """The command as one plain text, under whichever name it was given."""
    for name in COMMANDS:
        if isinstance(arguments.get(name), list):
            arguments[name] = _line(arguments[name], whole=name != "commands")
        elif isinstance(arguments.get(name), str):
            arguments[name] = _bare(arguments[name])


def _bare(text: str) -> str:
    """A command without a fence of Markdown around it, or the prompt before its lines."""
    text = unfenced(text)
    lines = [line for line in text.split("\n") if line.strip()]
    if lines and all(line.startswith("$ ") for line in lines):
        return "\n".join(line[2:] for line in lines)
    return text


def _time(arguments: dict[str, Any]) -> None:
    for names, factor in ((MILLISECONDS, 0.001), (HOURS, 3600.0)):
        for name in names:
            number = _number(arguments.pop(name, None))
            if number is not None:
                arguments.setdefault("timeout", number * factor)
    for name in ("timeout", "timeoutseconds"):
        number = _number(arguments.get(name))
        if number is not None and number > MAX_SECONDS:
            arguments[name] = number / 1000


def _number(value: Any) -> float | None:
    try:
        return None if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
