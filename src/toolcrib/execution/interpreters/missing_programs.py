"""Programs that are not there: what each is, and how to get it, in one line."""

from __future__ import annotations

from toolcrib.core.errors import Unavailable

PIP = (
    "The user can install it in the workspace's .venv (runs have no network): "
    "python3 -m venv .venv; .venv/bin/pip install {}"
)
NPM = "Install it in the project: npm install --save-dev {}"
SYSTEM = "Install {} from your system's packages"
RUST = "Install Rust from https://rustup.rs"
NODE = "It comes with Node.js: https://nodejs.org"
KNOWN = {
    "python": "python3 may be there; else install it from your system's packages",
    "python3": SYSTEM.format("python3"),
    "pip": "Try python3 -m pip; runs have no network, so install packages yourself",
    **{name: PIP.format(name) for name in ("pytest", "ruff", "flake8", "pylint", "mypy")},
    "node": "Install Node.js from https://nodejs.org",
    "npm": NODE,
    "npx": NODE,
    "yarn": "Install it with: npm install -g yarn",
    "pnpm": "Install it with: npm install -g pnpm",
    "deno": 'Install it with: pip install "toolcrib[js]", or from https://deno.com',
    "bun": "Install it from https://bun.sh",
    **{name: NPM.format(name) for name in ("jest", "vitest", "mocha", "eslint")},
    "biome": NPM.format("@biomejs/biome"),
    "go": "Install Go from https://go.dev/dl",
    "cargo": RUST,
    "rustc": RUST,
    "java": SYSTEM.format("a JDK"),
    **{name: SYSTEM.format(name) for name in ("make", "gcc", "git", "jq")},
}
NEVER = {
    "sudo": "runs have no other rights than these: leave sudo out; the user does what needs it",
    "su": "runs have no other rights than these; the user does what needs more",
    "docker": "runs cannot reach Docker, also where it is installed",
    **dict.fromkeys(
        ("apt", "apt-get", "yum", "dnf", "apk", "pacman", "brew", "snap", "zypper"),
        "system packages are the user's to install: runs change nothing outside the workspace",
    ),
}
"""What no run can use, and why."""


def how_to_get(program: str) -> str:
    """What is missing and how to get it, without a full stop at the end."""
    if program in NEVER:
        return NEVER[program]
    if program in KNOWN:
        return f"{program} is not installed. {KNOWN[program]}"
    return f"{program} is not on this machine, or not where runs may read (run.readable)"


def not_installed(program: str) -> Unavailable:
    """The error for a program that a tool cannot do without."""
    said = f"{program} is not installed."
    return Unavailable(said, hint=f"{KNOWN.get(program, 'Install it, or use another')}.")
