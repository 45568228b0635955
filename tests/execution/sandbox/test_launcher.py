"""The machine code, the table that it goes through, and what becomes of a plan."""

from __future__ import annotations

import errno
import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from toolcrib.execution.sandbox import launcher
from toolcrib.execution.sandbox.launcher import (
    CODE,
    NUMBERS,
    LaunchPlan,
    StepLabel,
    StepTable,
    elf_program,
    image,
)

SOURCES = Path(launcher.__file__).parent
MACHINE = platform.machine()
TOOLS = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}
EMULATORS = {"x86_64": "qemu-x86_64", "aarch64": "qemu-aarch64"}

pytestmark = pytest.mark.rows("E30")


@pytest.mark.parametrize("machine", CODE)
def test_the_code_is_that_of_its_source(machine: str, tmp_path: Path) -> None:
    prefix = "" if machine == MACHINE else f"{TOOLS[machine]}-"
    if not shutil.which(f"{prefix}as"):
        pytest.skip(f"there is no assembler for {machine}")
    made = tmp_path / "made.o"
    subprocess.run([f"{prefix}as", "-o", made, SOURCES / f"launcher_{machine}.S"], check=True)
    plain = tmp_path / "made.bin"
    extract = [f"{prefix}objcopy", "-O", "binary", "-j", ".text", made, plain]
    subprocess.run(extract, check=True)
    assert plain.read_bytes().hex() == CODE[machine].hex()


Start = Callable[[StepTable], "subprocess.CompletedProcess[bytes]"]


@pytest.fixture(params=list(CODE))
def start(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Start]:
    """Runs a table on a machine of each kind, an emulated one where need be."""
    machine = request.param
    outer = [] if machine == MACHINE else [EMULATORS[machine]]
    if outer and not shutil.which(outer[0]):
        pytest.skip(f"there is no {outer[0]}")

    def run(steps: StepTable) -> subprocess.CompletedProcess[bytes]:
        file = tmp_path / "program"
        file.write_bytes(elf_program(steps.packed(), machine))
        file.chmod(0o700)
        return subprocess.run([*outer, file], capture_output=True, check=False, timeout=20)

    return machine, run


def test_steps_go_on_by_whether_they_worked(start: tuple[str, Start]) -> None:
    machine, run = start
    numbers = NUMBERS[machine]
    steps = StepTable()
    worked, failed, end = StepLabel(), StepLabel(), StepLabel()
    absent_place = steps.text("/nowhere/at/all")
    steps.call(numbers["chdir"], absent_place, done=worked, failed=failed)
    steps.place(worked)
    steps.call(numbers["exit_group"], 1)
    steps.place(failed)
    parts = steps.parts((steps.data(b"error "), 6), (steps.error, 4))
    steps.call(numbers["writev"], 1, parts, 2)
    steps.call(numbers["chdir"], steps.text("/"), done=end, failed=worked)
    steps.place(end)
    steps.call(numbers["exit_group"], 42)
    ended = run(steps)
    assert ended.returncode == 42
    assert ended.stdout == b"error " + errno.ENOENT.to_bytes(4, "little")


def test_all_six_arguments_arrive(start: tuple[str, Start], tmp_path: Path) -> None:
    machine, run = start
    mmap, write = {"x86_64": (9, 1), "aarch64": (222, 64)}[machine]
    numbers = NUMBERS[machine]
    file = tmp_path / "file"
    file.write_bytes(b"x" * 65536 + b"benign")
    steps, wrong = StepTable(), StepLabel()
    steps.call(numbers["openat"], -100, steps.text(str(file)), os.O_RDONLY, 0, failed=wrong)
    # Where, how much, to read, private and just there, of the third file, from this place on.
    steps.call(mmap, 0x10000000, 6, 1, 0x12, 3, 65536, failed=wrong)
    steps.call(write, 1, 0x10000000, 6, failed=wrong)
    steps.call(numbers["exit_group"], 0)
    steps.place(wrong)
    steps.call(numbers["exit_group"], 1)
    ended = run(steps)
    assert (ended.returncode, ended.stdout) == (0, b"benign")


@pytest.fixture
def become(tmp_path: Path) -> Callable[..., tuple[int, bytes, bytes]]:
    """Starts the image of a plan; exit code, output, and what it told."""
    if not launcher.knows(MACHINE):
        pytest.skip(f"there is no code for {MACHINE}")

    def run(*argv: str, **more: object) -> tuple[int, bytes, bytes]:
        status_reader, status_writer = os.pipe()
        settings = {"env": {"PATH": "/usr/bin:/bin", "GIVEN": "ünïcode"}, "cwd": "/", **more}
        plan = LaunchPlan(argv=list(argv), status=status_writer, **settings)  # type: ignore[arg-type]
        file = tmp_path / "start"
        file.write_bytes(image(plan, MACHINE))
        file.chmod(0o700)
        ended = subprocess.run(
            [file], env={}, pass_fds=[status_writer], capture_output=True, check=False, timeout=20
        )
        os.close(status_writer)
        with os.fdopen(status_reader, "rb") as pipe:
            return ended.returncode, ended.stdout, pipe.read()

    return run


Become = Callable[..., tuple[int, bytes, bytes]]


def test_it_becomes_the_program(become: Become) -> None:
    script = 'echo "$GIVEN" "$1"; umask; ls /proc/self/fd | wc -l; ulimit -n; exit 3'
    code, out, status = become("sh", "-c", script, "sh", "two words", limits=[(7, 77, 77)])
    # The fourth is the folder that `ls` reads.
    assert out.decode().splitlines() == ["ünïcode two words", "0022", "4", "77"]
    assert (code, status) == (3, b"R")


def number(error: int) -> bytes:
    return b"\0" + error.to_bytes(4, "little")


def test_what_went_wrong_is_told(become: Become, tmp_path: Path) -> None:
    assert become("nosuchprogram") == (127, b"", b"M")
    assert become("/nosuch/program") == (127, b"", b"M")
    assert become("true", cwd="/nosuch") == (126, b"", b"D" + number(errno.ENOENT))
    text = tmp_path / "text"
    text.write_text("no program")
    status = b"RX" + os.fsencode(text)
    assert become(str(text)) == (126, b"", status + number(errno.EACCES))
    text.chmod(0o700)
    assert become(str(text)) == (126, b"", status + number(errno.ENOEXEC))
    wrong = (b"\0" * 24, [("/", 1)], [])
    code, _, status = become("true", landlock=wrong)
    assert code == 126
    assert status.startswith(b"FLandlock\0")
    code, _, status = become("true", filter=b"\xff" * 8)
    assert (code, status) == (126, b"Fseccomp" + number(errno.EINVAL))


def test_folders_on_the_path_are_no_programs(become: Become, tmp_path: Path) -> None:
    (tmp_path / "one" / "here").mkdir(parents=True)
    (tmp_path / "two").mkdir()
    script = tmp_path / "two" / "here"
    script.write_text("#!/bin/sh\necho found\n")
    script.chmod(0o700)
    env = {"PATH": f"{tmp_path}/none:{tmp_path}/one:{tmp_path}/two"}
    assert become("here", env=env) == (0, b"found\n", b"R")
    env = {"PATH": f"{tmp_path}/one"}
    assert become("here", env=env) == (127, b"", b"M")
