"""pip, uv, npm and cargo: their commands for one project, and what their answers say."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from toolcrib.core.errors import BadInput
from toolcrib.files.paths import SafePath
from toolcrib.text.json_values import json_value

Action = Literal["list", "outdated", "audit", "install", "uninstall", "update"]
Manager = Literal["pip", "uv", "npm", "cargo"]
OFFLINE = ("list", "uninstall")
"""What needs no network."""
MAX_PACKAGES = 30
SIGNS: dict[Manager, tuple[str, ...]] = {
    "npm": ("package.json",),
    "cargo": ("Cargo.toml",),
    "uv": ("uv.lock",),
    "pip": ("pyproject.toml", "requirements.txt", "setup.py", "setup.cfg", ".venv", "Pipfile"),
}
_PYTHON_NAME = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}(?:\[[\w,.-]{1,100}\])?"
    r"(?:(?:==|~=|>=|<=|!=|<|>)[\w.*+!-]{1,60}(?:,(?:==|~=|>=|<=|!=|<|>)[\w.*+!-]{1,60}){0,5})?"
)
NAMES: dict[Manager, re.Pattern[str]] = {
    "pip": _PYTHON_NAME,
    "uv": _PYTHON_NAME,
    "npm": re.compile(
        r"(?:@[a-z0-9~][\w.~-]{0,100}/)?[a-zA-Z0-9~][\w.~-]{0,100}(?:@[\w.^~<>=*-]{1,60})?"
    ),
    "cargo": re.compile(r"[A-Za-z][\w-]{0,100}(?:@[\w.^~=*+-]{1,60})?"),
}
VENV = ".venv"
NO_PIP_AUDIT = "Known vulnerabilities were not looked up: install pip-audit here for that."
NO_VENV = "There is no .venv in this project yet: install makes one."


@dataclass(frozen=True, slots=True)
class PackageCommand:
    """What is run in the project: the words of a shell, each quoted."""

    manager: Manager
    program: str
    line: str


def manager_of(folder: SafePath, wanted: str) -> Manager:
    """The manager of a project: the one that is named, else the one whose files are there.

    Raises:
        BadInput: there is no sign of one, or of several.
    """
    for name in SIGNS:
        if wanted == name:
            return name
    names = {entry.name for entry in folder.gate.entries(folder)}
    found = [manager for manager, signs in SIGNS.items() if names & set(signs)]
    if "uv" in found:  # what it keeps has the files of pip as well
        found = [manager for manager in found if manager != "pip"]
    if len(found) != 1:
        what = f"has files of {' and '.join(found)}" if found else "has no files of a manager"
        raise BadInput(f"{folder.display} {what}.", hint="Name it: manager pip, uv, npm or cargo.")
    return found[0]


def command_of(
    manager: Manager, action: Action, packages: Sequence[str], *, has_venv: bool
) -> PackageCommand:
    """The command for an action.

    Raises:
        BadInput: a package is no name, or the action needs some, or an environment.
    """
    names = [package.strip() for package in packages if package.strip()]
    if len(names) > MAX_PACKAGES:
        raise BadInput(f"At most {MAX_PACKAGES} packages at once, not {len(names):,}.")
    for name in names:
        if not NAMES[manager].fullmatch(name):
            raise BadInput(
                f"'{name[:80]}' is no package of {manager}.",
                hint="Name and version alone: no addresses, paths or options.",
            )
    if action in ("install", "uninstall") and not names:
        raise BadInput(f"{action} what? Send packages.")
    if manager == "pip":
        return _pip(action, names, has_venv=has_venv)
    if manager == "uv":
        words = _uv(action, names, has_venv=has_venv)
    else:
        words = (_npm if manager == "npm" else _cargo)(action, names)
    return PackageCommand(manager, manager, shlex.join([manager, *words]))


def _pip(action: Action, names: list[str], *, has_venv: bool) -> PackageCommand:
    python = f"{VENV}/bin/python"
    if not has_venv and action != "install":
        raise BadInput(NO_VENV, hint="Install something, or name another manager.")
    pip = [python, "-m", "pip", "--no-input", "--disable-pip-version-check"]
    if action == "audit":
        # pip-audit where the project has it: what it knows comes from elsewhere than packages do.
        line = (
            f"{shlex.join([*pip, 'check'])} && if {python} -c 'import pip_audit' 2>/dev/null; "
            f"then {python} -m pip_audit; else echo {shlex.quote(NO_PIP_AUDIT)}; fi"
        )
        return PackageCommand("pip", "python3", line)
    if action == "update" and not names:
        raise BadInput("update what? pip updates packages by name; outdated lists them.")
    words = {
        "list": ["list", "--format=json"],
        "outdated": ["list", "--outdated", "--format=json"],
        "install": ["install", *names],
        "uninstall": ["uninstall", "--yes", *names],
        "update": ["install", "--upgrade", *names],
    }[action]
    line = shlex.join([*pip, *words])
    if not has_venv:
        line = f"python3 -m venv {VENV} && {line}"
    return PackageCommand("pip", "python3", line)


def _uv(action: Action, names: list[str], *, has_venv: bool) -> list[str]:
    if not has_venv and action in ("list", "outdated", "audit"):
        raise BadInput(NO_VENV, hint="Install something, or name another manager.")
    upgrade = [word for name in names for word in ("--upgrade-package", name)] or ["--upgrade"]
    # Else it looks into the environment that toolcrib itself may run in.
    here = ["--python", f"{VENV}/bin/python"]
    return {
        "list": ["pip", "list", *here, "--format=json"],
        "outdated": ["pip", "list", *here, "--outdated", "--format=json"],
        "audit": ["pip", "check", *here],
        "install": ["add", "--", *names],
        "uninstall": ["remove", "--", *names],
        "update": ["sync", *upgrade],
    }[action]


def _npm(action: Action, names: list[str]) -> list[str]:
    quiet = ["--no-fund", "--no-audit"]
    return {
        "list": ["ls", "--json", "--depth=0"],
        "outdated": ["outdated", "--json"],
        "audit": ["audit", "--json"],
        "install": ["install", *quiet, "--", *names],
        "uninstall": ["uninstall", *quiet, "--", *names],
        "update": ["update", *quiet, "--", *names],
    }[action]


def _cargo(action: Action, names: list[str]) -> list[str]:
    return {
        "list": ["tree", "--depth", "1"],
        "outdated": ["update", "--dry-run"],
        "audit": ["audit", "--json"],
        "install": ["add", *names],
        "uninstall": ["remove", *names],
        "update": ["update", *names],
    }[action]


def understood(manager: Manager, action: Action, output: str) -> list[dict[str, str]] | None:
    """What the answer lists, each with name and versions; None where it is no such list."""
    if manager == "cargo" or action not in ("list", "outdated", "audit"):
        return None
    reader: Callable[[Any], list[dict[str, str]]] = _npm_list if manager == "npm" else _pip_list
    try:
        return reader(json_value(output))
    except (AttributeError, TypeError, KeyError):
        return None


def _pip_list(found: Any) -> list[dict[str, str]]:
    return [
        {
            "name": str(one["name"]),
            "version": str(one["version"]),
            **({"latest": str(one["latest_version"])} if "latest_version" in one else {}),
        }
        for one in found
    ]


def _npm_list(found: Any) -> list[dict[str, str]]:
    if set(found.get("error", ())) & {"code", "summary", "detail"}:
        raise TypeError("npm says why it lists nothing")
    if "vulnerabilities" in found:
        return [
            {"name": str(name), "severity": str(one["severity"]), "range": str(one["range"])}
            for name, one in found["vulnerabilities"].items()
        ]
    if "dependencies" in found or "name" in found:
        listed = found.get("dependencies", {})
        return [{"name": n, "version": str(o.get("version", "?"))} for n, o in listed.items()]
    return [
        {"name": n, "version": str(o.get("current", "?")), "latest": str(o.get("latest", "?"))}
        for n, o in found.items()
    ]
