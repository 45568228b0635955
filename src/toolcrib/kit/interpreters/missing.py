"""Programs that are not there: what each is, and how to get it, in one line."""

from __future__ import annotations

KNOWN = {
    "python": "Python: python3 may be there; else install it from your system's packages",
    "python3": "Python 3: install python3 from your system's packages",
    "pip": "pip: try python3 -m pip; runs have no network, so install packages yourself",
    "pytest": "pytest: pip install pytest, in the workspace's .venv",
    "ruff": "ruff: pip install ruff",
    "flake8": "flake8: pip install flake8",
    "pylint": "pylint: pip install pylint",
    "mypy": "mypy: pip install mypy",
    "node": "Node.js: install it from https://nodejs.org",
    "npm": "npm: it comes with Node.js, https://nodejs.org",
    "npx": "npx: it comes with Node.js, https://nodejs.org",
    "yarn": "yarn: npm install -g yarn",
    "pnpm": "pnpm: npm install -g pnpm",
    "deno": 'Deno: pip install "toolcrib[js]", or https://deno.com',
    "bun": "Bun: https://bun.sh",
    "jest": "jest: npm install --save-dev jest",
    "vitest": "vitest: npm install --save-dev vitest",
    "mocha": "mocha: npm install --save-dev mocha",
    "eslint": "eslint: npm install --save-dev eslint",
    "biome": "biome: npm install --save-dev @biomejs/biome",
    "go": "Go: install it from https://go.dev/dl",
    "cargo": "cargo: install Rust from https://rustup.rs",
    "rustc": "rustc: install Rust from https://rustup.rs",
    "java": "Java: install a JDK from your system's packages",
    "make": "make: install make from your system's packages",
    "gcc": "gcc: install gcc from your system's packages",
    "git": "git: install git from your system's packages",
    "jq": "jq: install jq from your system's packages",
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
    """What is missing and how to get it."""
    if program in NEVER:
        return NEVER[program]
    said = KNOWN.get(program)
    if said:
        return f"not on this machine: {said}"
    return f"{program} is not on this machine, or not where runs may read (run.readable)"
