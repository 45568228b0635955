"""Child processes: what they see, what is kept of them, and that none is left."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conditions import block_until, settled, until
from tests.servers.survivors import Tag, gone, survivors
from toolcrib.core.errors import BadInput, NotFound, PathDenied, Unavailable
from toolcrib.files.paths import Workspace
from toolcrib.system.child import Chunk
from toolcrib.system.collector import Output, Ring
from toolcrib.system.processes import Finished, Processes

pytestmark = pytest.mark.rows("C197")

PYTHON = sys.executable
HERE = "/"


def children() -> set[int]:
    """Children of this process, also those that have ended and were not waited for."""
    return {child.pid for child in psutil.Process().children()}


@pytest.fixture
async def processes() -> AsyncIterator[Processes]:
    before = children()  # servers that tests of other files use until the end
    opened = Processes()
    yield opened
    await opened.close()
    assert children() <= before  # nothing is left, to be collected neither


def tree_of(tag: Tag, shape: str) -> list[str]:
    """A command that starts sleepers in a way that makes them hard to find."""
    sleeper = f"sleep {tag.seconds}"
    scripts = {
        "alone": f"exec {sleeper}",
        "child": f"{sleeper} & wait",
        "deaf": f"trap '' TERM INT HUP; {sleeper} & {sleeper}",
        "own session": f"setsid {sleeper} & exec {sleeper}",
        "double fork": f"(setsid sh -c '{sleeper} & exit' &) ; exec {sleeper}",
        "stopped": f"{sleeper} & until grep -qx sleep /proc/$!/comm; do :; done; "
        "kill -STOP $!; kill -STOP $$; wait",
        "cleared environment": f"env -i setsid sh -c '{sleeper} & wait' & wait",
        "starts another": f"trap 'sh -c \"{sleeper}; :\" & exit' TERM; {sleeper} & wait",
    }
    return ["sh", "-c", scripts[shape]]


# Each shape with the number of its sleepers.
SHAPES = {
    "alone": 1,
    "child": 1,
    "deaf": 2,
    "own session": 2,
    "double fork": 2,
    "stopped": 1,
    "cleared environment": 1,
    "starts another": 1,
}


def sleepers(tag: Tag) -> int:
    return sum(line.startswith("sleep") for line in survivors(tag))


# What a run gives.


async def test_output_and_exit_code(processes: Processes) -> None:
    done = await processes.run(["sh", "-c", "echo out; echo err >&2; exit 3"], cwd=HERE, timeout=20)
    assert (done.exit_code, str(done.stdout), str(done.stderr)) == (3, "out\n", "err\n")
    assert not done.timed_out
    assert not done.truncated
    assert done.seconds > 0


async def test_merged_output_keeps_its_order(processes: Processes) -> None:
    done = await processes.run(
        ["sh", "-c", "echo 1; echo 2 >&2; echo 3"], cwd=HERE, timeout=20, merge=True
    )
    assert str(done.stdout) == "1\n2\n3\n"
    assert bytes(done.stderr) == b""


async def test_a_signal_is_a_negative_code(processes: Processes) -> None:
    done = await processes.run(["sh", "-c", "kill -9 $$"], cwd=HERE, timeout=20)
    assert done.exit_code == -9


@pytest.mark.parametrize("data", [None, b"", b"abc" * 200_000])
async def test_stdin(processes: Processes, data: bytes | None) -> None:
    done = await processes.run(["cat"], cwd=HERE, stdin=data, timeout=20)
    assert bytes(done.stdout) == (data or b"")


async def test_a_program_that_does_not_read_its_stdin(processes: Processes) -> None:
    done = await processes.run(["true"], cwd=HERE, stdin=b"x" * 1_000_000, timeout=20)
    assert done.exit_code == 0


async def test_a_clean_environment(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    monkeypatch.setenv("LC_TIME", "C")
    done = await processes.run(["env"], cwd=HERE, env={"EXTRA": "1"}, timeout=20)
    seen = dict(line.split("=", 1) for line in str(done.stdout).splitlines())
    assert "SOME_API_KEY" not in seen
    assert (seen["EXTRA"], seen["LC_TIME"]) == ("1", "C")
    assert seen["PATH"]


async def test_arguments_are_not_read_by_a_shell(processes: Processes) -> None:
    done = await processes.run(["echo", "$HOME; `id` *"], cwd=HERE, timeout=20)
    assert str(done.stdout) == "$HOME; `id` *\n"


async def test_no_descriptor_is_passed_on(processes: Processes) -> None:
    read, write = os.pipe()
    try:
        os.set_inheritable(write, True)
        done = await processes.run(["ls", "/proc/self/fd"], cwd=HERE, timeout=20)
    finally:
        os.close(read)
        os.close(write)
    assert set(str(done.stdout).split()) <= {"0", "1", "2", "3"}  # 3 is what ls reads


async def test_starts_in_a_folder_of_the_workspace(processes: Processes, tmp_path: Path) -> None:
    (tmp_path / "ws" / "sub").mkdir(parents=True)
    (tmp_path / "ws" / "file").write_text("")
    (tmp_path / "ws" / "out").symlink_to(tmp_path)
    workspace = Workspace([str(tmp_path / "ws")])
    done = await processes.run(["pwd"], cwd=workspace.resolve("sub"), timeout=20)
    assert str(done.stdout).strip() == f"{tmp_path}/ws/sub"
    for text, error in {"out": PathDenied, "nope": NotFound, "file": BadInput}.items():
        with pytest.raises(error):
            await processes.run(["pwd"], cwd=workspace.resolve(text), timeout=20)


async def test_what_cannot_be_started(processes: Processes, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("x")
    with pytest.raises(Unavailable, match="no-such-program"):
        await processes.run(["no-such-program"], cwd=HERE, timeout=20)
    with pytest.raises(Unavailable, match="cannot be started"):
        await processes.run([str(plain)], cwd=HERE, timeout=20)
    with pytest.raises(NotFound, match="folder"):
        await processes.run(["true"], cwd=str(tmp_path / "nowhere"), timeout=20)
    for argv in ([], [""], ["echo", "a\0b"]):
        with pytest.raises(BadInput):
            await processes.run(argv, cwd=HERE, timeout=20)
    assert processes.running == 0


# Bounds.


async def test_a_flood_is_bounded(processes: Processes) -> None:
    script = "import sys\nfor i in range(100): sys.stdout.write(f'{i:02}' * 500_000)"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = await processes.run([PYTHON, "-c", script], cwd=HERE, timeout=25, max_output=100_000)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert done.stdout.size == 100_000_000
    assert done.truncated
    assert done.stdout.dropped == 99_900_000
    assert done.stdout.head == b"00" * 25_000
    assert done.stdout.tail == b"99" * 25_000
    assert "[99,900,000 bytes left out here]" in str(done.stdout)
    assert grown < 30_000  # in KiB


async def test_who_does_not_read_makes_it_wait(processes: Processes) -> None:
    async with await processes.spawn(["yes"], cwd=HERE) as process:

        def written() -> int:
            lines = Path(f"/proc/{process.pid}/io").read_text().splitlines()
            return int(dict(line.split(": ") for line in lines)["wchar"])

        await until(written)
        assert await settled(written) < 2_000_000


@given(st.lists(st.binary(max_size=300), max_size=40), st.integers(0, 500))
def test_head_and_tail(chunks: list[bytes], limit: int) -> None:
    ring = Ring.halves(limit)
    for chunk in chunks:
        ring.write(chunk)
    data, output = b"".join(chunks), Output.of(ring)
    assert output.size == len(data)
    assert len(output.head) + len(output.tail) == min(limit, len(data))
    assert data.startswith(output.head)
    assert data.endswith(output.tail)
    assert bool(output.dropped) == (len(data) > limit)


async def test_chunks_are_told(processes: Processes) -> None:
    seen: list[Chunk] = []
    await processes.run(
        ["sh", "-c", "echo a; echo b >&2"], cwd=HERE, timeout=20, on_output=seen.append
    )
    assert sorted((c.stream, c.data) for c in seen) == [("stderr", b"b\n"), ("stdout", b"a\n")]


async def test_output_that_is_left_alone_comes_in_larger_pieces(processes: Processes) -> None:
    seen: list[Chunk] = []
    lines = "for n in 1 2 3 4 5 6 7 8 9; do echo $n; sleep 0.05; done"
    done = await processes.run(
        ["sh", "-c", lines], cwd=HERE, timeout=20, on_output=seen.append, gather=1.0
    )
    assert bytes(done.stdout) == b"".join(b"%d\n" % n for n in range(1, 10))
    assert len(seen) <= done.seconds + 3


async def test_what_the_listener_raises_ends_the_run(processes: Processes) -> None:
    tag = Tag.new()

    async def listen(chunk: Chunk) -> None:
        raise LookupError(chunk.stream)

    with pytest.raises(LookupError, match="stdout"):
        await processes.run(
            ["sh", "-c", f"echo x; exec sleep {tag.seconds}"],
            cwd=HERE,
            timeout=None,
            on_output=listen,
        )
    assert survivors(tag) == []


# Nothing is left.


@pytest.mark.parametrize("shape", SHAPES)
async def test_killing_ends_the_whole_tree(processes: Processes, shape: str) -> None:
    tag = Tag.new()
    process = await processes.spawn(tree_of(tag, shape), cwd=HERE)
    await until(lambda: sleepers(tag) == SHAPES[shape])
    await process.kill(grace=0.3)
    assert survivors(tag) == []
    assert process.exit_code is not None


async def test_a_time_out_ends_the_whole_tree(processes: Processes) -> None:
    tag = Tag.new()
    done = await processes.run(tree_of(tag, "double fork"), cwd=HERE, timeout=1.0)
    assert (done.timed_out, done.exit_code) == (True, -15)
    assert done.seconds >= 1.0
    assert survivors(tag) == []


async def timed_out(processes: Processes, script: str) -> Finished:
    """A script after its time, which is longer where it has not come to say anything."""
    for seconds in (1.0, 5.0, 30.0):
        done = await processes.run(["sh", "-c", script], cwd=HERE, timeout=seconds)
        if done.stdout:
            break
    return done


async def test_output_before_the_time_out_is_kept(processes: Processes) -> None:
    done = await timed_out(processes, "echo begun; sleep 600")
    assert (str(done.stdout), done.timed_out) == ("begun\n", True)


async def test_a_process_may_say_something_when_asked_to_end(processes: Processes) -> None:
    script = "trap 'echo bye; exit 7' TERM; echo hello; while :; do sleep 0.05; done"
    done = await timed_out(processes, script)
    assert (str(done.stdout), done.exit_code) == ("hello\nbye\n", 7)


@pytest.mark.parametrize("shape", ["& exit 0", "& setsid sleep {0} & exit 0"])
async def test_what_outlives_a_normal_end_is_ended(processes: Processes, shape: str) -> None:
    tag = Tag.new()
    script = f"echo done; sleep {tag.seconds} " + shape.format(tag.seconds)
    done = await processes.run(["sh", "-c", script], cwd=HERE, timeout=None)
    assert (done.exit_code, str(done.stdout)) == (0, "done\n")
    assert survivors(tag) == []


async def test_late_output_of_a_pipeline_is_not_lost(processes: Processes) -> None:
    script = "(sleep 0.01; echo late) & exit 0"
    done = await processes.run(["sh", "-c", script], cwd=HERE, timeout=20)
    assert str(done.stdout) == "late\n"


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("shape", ["alone", "deaf", "double fork"])
async def test_cancelling_ends_the_tree_first(processes: Processes, shape: str, times: int) -> None:
    tag = Tag.new()
    running = asyncio.ensure_future(processes.run(tree_of(tag, shape), cwd=HERE, timeout=None))
    await until(lambda: survivors(tag))
    for _ in range(times):
        running.cancel()
        await asyncio.sleep(0.01)
    with pytest.raises(asyncio.CancelledError):
        await running
    assert survivors(tag) == []
    assert processes.running == 0


async def test_two_at_once_do_not_meet(processes: Processes) -> None:
    one, other = Tag.new(), Tag.new()
    first = await processes.spawn(tree_of(one, "double fork"), cwd=HERE)
    second = await processes.spawn(tree_of(other, "double fork"), cwd=HERE)
    await until(lambda: len(survivors(one)) == len(survivors(other)) == 2)
    await first.kill()
    assert survivors(one) == []
    assert len(survivors(other)) == 2
    await second.kill()
    assert survivors(other) == []


async def test_many_at_once(processes: Processes) -> None:
    runs = [
        processes.run(["sh", "-c", f"sleep 0.1; echo {n}"], cwd=HERE, timeout=25) for n in range(20)
    ]
    done = await asyncio.gather(*runs)
    assert [str(d.stdout) for d in done] == [f"{n}\n" for n in range(20)]


async def test_closing_ends_everything(processes: Processes) -> None:
    tag = Tag.new()
    for shape in ("alone", "deaf", "own session"):
        await processes.spawn(tree_of(tag, shape), cwd=HERE)
    await until(lambda: len(survivors(tag)) >= 5)
    await processes.close()
    assert survivors(tag) == []
    assert processes.running == 0


async def test_nothing_starts_after_closing(processes: Processes) -> None:
    tag = Tag.new()
    await processes.close()
    with pytest.raises(Unavailable, match="closing"):
        await processes.run(["sleep", tag.seconds], cwd=HERE, timeout=20)
    assert survivors(tag) == []


async def test_killing_without_the_event_loop(processes: Processes) -> None:
    tag = Tag.new()
    for shape in ("child", "deaf", "double fork"):
        await processes.spawn(tree_of(tag, shape), cwd=HERE)
    await until(lambda: len(survivors(tag)) >= 5)
    thread = threading.Thread(target=processes.kill_all_now)
    thread.start()
    thread.join()  # the event loop stands still meanwhile
    assert survivors(tag) == []


OWNER = """
import asyncio, sys
from toolcrib.system.processes import Finished, Processes
async def main():
    processes = Processes()
    sleeper = f"sleep {sys.argv[1]}"
    hidden = f"(setsid sh -c '{sleeper} & exit' &) ; exec {sleeper}"
    for argv in (sleeper.split(), ["sh", "-c", hidden]):
        await processes.spawn(argv, cwd="/")
    print("ready", flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_its_owner(number: signal.Signals) -> None:
    tag = Tag.new()
    with subprocess.Popen([PYTHON, "-c", OWNER, tag.seconds], stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"ready\n"
        block_until(lambda: sleepers(tag) == 3)
        owner.send_signal(number)
        owner.wait()
    gone(tag)


# A process that goes on.


async def test_talking_to_a_process(processes: Processes) -> None:
    async with await processes.spawn(["cat"], cwd=HERE, stdin="pipe") as process:
        await process.write(b"hello")
        async for chunk in process.output():
            assert chunk == Chunk("stdout", b"hello")
            process.close_stdin()
        assert await process.wait() == 0
        assert process.exit_code == 0


async def test_output_ends_when_it_is_killed(processes: Processes) -> None:
    script = "for n in 1 2 3; do echo $n; done; exec sleep 600"
    process = await processes.spawn(["sh", "-c", script], cwd=HERE, merge=True)
    assert process.streams == ("stdout",)
    seen = b""
    async for chunk in process.output():
        seen += chunk.data
        if seen == b"1\n2\n3\n":
            await process.kill()
            assert process.exit_code == -15
    assert seen == b"1\n2\n3\n"
    await process.kill()  # once more does no harm


async def test_reading_can_be_given_up(processes: Processes) -> None:
    async with await processes.spawn(["yes"], cwd=HERE) as process:
        async for chunk in process.output():
            assert chunk.data.startswith(b"y\n")
            break
    assert processes.running == 0


async def test_what_a_listener_raises_after_the_exit_is_not_lost(processes: Processes) -> None:
    async def listen(chunk: Chunk) -> None:
        if b"late" in chunk.data:
            raise OSError("no room for it")

    script = "(sleep 0.3; echo late) & echo early"
    with pytest.raises(OSError, match="no room"):
        await processes.run(["sh", "-c", script], cwd=HERE, timeout=20, on_output=listen)


async def test_waiting_does_not_wait_for_children(processes: Processes) -> None:
    tag = Tag.new()
    process = await processes.spawn(["sh", "-c", f"sleep {tag.seconds} & exit 5"], cwd=HERE)
    assert await process.wait() == 5
    await until(lambda: sleepers(tag) == 1)  # what the shell left behind may not be started yet
    await process.kill()
    assert survivors(tag) == []


async def test_a_deaf_process_is_killed_after_the_grace(processes: Processes) -> None:
    tag = Tag.new()
    script = f"trap 'echo asked' TERM; echo set; while :; do sleep {tag.seconds}; done"
    process = await processes.spawn(["sh", "-c", script], cwd=HERE)
    async for _ in process.read("stdout"):
        break
    await until(lambda: sleepers(tag) == 1)  # between fork and exec a signal is lost
    await process.kill(grace=3)
    assert [data async for data in process.read("stdout")] == [b"asked\n"]
    assert process.exit_code == -9
    assert survivors(tag) == []
