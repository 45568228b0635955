"""Names at the edges of what a file system takes: never a crash, never something else."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.files.paths.conftest import Tree
from toolcrib.core.errors import BadInput, NotFound, PathDenied, ToolError
from toolcrib.files.handles import KernelOpener, Opener, has_openat2
from toolcrib.files.path_rules import Protection, refusal
from toolcrib.files.paths import Workspace

pytestmark = pytest.mark.rows("C180", "E130")


def test_names_as_long_as_they_get(workspace: Workspace, tree: Tree) -> None:
    longest = "x" * 251 + ".txt"
    (tree.root / longest).write_bytes(b"long")
    assert workspace.resolve(longest).read_bytes(10) == b"long"
    wide = "文" * 85
    (tree.root / wide).write_bytes(b"wide")
    assert workspace.resolve(wide).read_bytes(10) == b"wide"
    for name in ("x" * 256, "文" * 86):
        with pytest.raises(BadInput, match="too long"):
            workspace.resolve(name).read_bytes(10)


def test_a_very_deep_tree(workspace: Workspace, tree: Tree) -> None:
    names = ["d"] * 900
    fd = os.open(tree.root, os.O_RDONLY)
    for name in names:
        os.mkdir(name, dir_fd=fd)
        inner = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    with os.fdopen(os.open("leaf", os.O_WRONLY | os.O_CREAT, dir_fd=fd), "wb") as leaf:
        leaf.write(b"deep")
    os.close(fd)
    path = workspace.resolve("/".join([*names, "leaf"]))
    assert path.read_bytes(10) == b"deep"
    assert [entry.name for entry in path.parent.list()] == ["leaf"]
    with pytest.raises(NotFound):
        workspace.resolve("/".join([*names, "other"])).read_bytes(10)


def test_deeper_than_a_path_may_be_long(workspace: Workspace, tree: Tree) -> None:
    name = "y" * 200
    fd = os.open(tree.root, os.O_RDONLY)
    for _ in range(25):
        os.mkdir(name, dir_fd=fd)
        inner = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(fd)
    with pytest.raises(BadInput, match="more than 4,096"):
        workspace.resolve("/".join([name] * 25))
    for depth in range(15, 21):  # around the limit of the kernel, which counts the root too
        path = workspace.resolve("/".join([name] * depth))
        try:
            assert [entry.name for entry in path.list()] == [name]
        except BadInput as error:
            assert "too long" in error.message


@each_case("name", [b"bad\xff", b"\xc3\x28", b"new\nline", b"tab\there", b"\x7f"])
def test_names_that_cannot_be_written(workspace: Workspace, tree: Tree, name: bytes) -> None:
    raw = os.path.join(os.fsencode(tree.root / "src"), name)
    with open(raw, "wb") as file:
        file.write(b"there")
    found = {entry.name: entry for entry in workspace.resolve("src").list()}
    text = os.fsdecode(name)
    assert found[text].size == 5
    # In code they are usable, in a call they are refused and never taken for another.
    assert workspace.resolve("src").child(text).read_bytes(10) == b"there"
    with pytest.raises(PathDenied) as caught:
        workspace.resolve(f"src/{text}")
    assert caught.value.message.isprintable()


@each_case(
    "name", [".ENV", ".Env.Local", ".env ", ".env.", ".e\u200bnv", "\ufeff.env", "ID_RSA", "x.PEM"]
)
def test_protected_by_any_spelling(workspace: Workspace, tree: Tree, name: str) -> None:
    (tree.root / name).write_bytes(b"KEY")
    with pytest.raises(PathDenied, match="protected"):
        workspace.resolve(name).read_bytes(10)
    assert next(e for e in workspace.resolve(".").list() if e.name == name).protected


def test_a_composed_name_is_not_the_decomposed_one(workspace: Workspace, tree: Tree) -> None:
    (tree.root / "caf\u00e9.txt").write_bytes(b"composed")
    assert workspace.resolve("caf\u00e9.txt").read_bytes(20) == b"composed"
    try:
        other = workspace.resolve("cafe\u0301.txt").read_bytes(20)
    except NotFound as error:
        assert error.details["near"] == ["caf\u00e9.txt"]
    else:  # a file system that holds both for one
        assert other == b"composed"


@each_case("text", ["a/..namedfork/rsrc", "a/..NamedFork/data", "..namedfork"])
def test_forks_of_macos_are_refused_everywhere(text: str) -> None:
    assert "stream" in refusal(text)


@each_case(
    ("path", "use"),
    [
        ("/proc/1/environ", "read"),
        ("/proc/1/task/1/environ", "read"),
        ("/run/secrets/kubernetes.io/token", "read"),
        ("/etc/shadow", "read"),
        ("/srv/repo.git/hooks/post-receive", "write"),
        ("/srv/repo.git/config", "write"),
    ],
)
def test_with_a_root_as_wide_as_the_machine(path: str, use: str) -> None:
    parts = path.split("/")[1:]
    assert Protection().match(parts, len(parts), use)  # type: ignore[arg-type]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="this system has no /proc")
@pytest.mark.parametrize(
    "text", ["/proc/self/root/etc/passwd", "/proc/self/cwd", "/proc/self/fd/0", "/proc/self/exe"]
)
def test_links_of_the_kernel_are_not_followed(opener: Opener, text: str) -> None:
    workspace = Workspace(["/proc"], Protection(), opener)
    with pytest.raises(ToolError):
        workspace.resolve(text).open().close()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="this system has no /proc")
def test_files_that_the_kernel_makes_up_are_read(opener: Opener) -> None:
    workspace = Workspace(["/proc"], Protection(), opener)
    assert b"Linux" in workspace.resolve("/proc/version").read_bytes(10_000)


@pytest.mark.skipif(not has_openat2(), reason="this kernel has no openat2, or forbids it")
def test_a_device_does_not_hang_or_open(tmp_path: Path) -> None:
    workspace = Workspace(["/dev"], Protection(), KernelOpener())
    for name in ("/dev/zero", "/dev/tty", "/dev/random", "/dev/null"):
        if os.path.exists(name):
            with pytest.raises((PathDenied, NotFound)):
                workspace.resolve(name).read_bytes(10)


def test_a_pipe_at_both_ends_of_a_link_and_a_folder(workspace: Workspace, tree: Tree) -> None:
    (tree.root / "src" / "pipe").symlink_to("../fifo")
    for text in ("src/pipe", "src/../fifo", "fifo/x"):
        with pytest.raises((PathDenied, NotFound)):
            workspace.resolve(text).open()
    # Nothing waits at the other end either: nobody ever opened it.
    with pytest.raises(OSError, match="No such device") as caught:
        os.open(tree.root / "fifo", os.O_WRONLY | os.O_NONBLOCK)
    assert caught.value.errno == errno.ENXIO
