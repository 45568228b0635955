"""From a path in a call to an open file: inside the roots, by every way of opening."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.cases import each_case
from tests.conditions import as_ordinary_user
from tests.files.paths.conftest import CANARY, Tree
from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.core.errors import BadInput, NotConfigured, NotFound, PathDenied, TooLarge, ToolError
from toolcrib.files.handles import Opener
from toolcrib.files.path_rules import Protection
from toolcrib.files.paths import SafePath, Workspace

pytestmark = pytest.mark.rows("E130", "E131", "C180")


def read(workspace: Workspace, text: str, directory: str = "") -> bytes:
    return workspace.resolve(text, directory).read_bytes(1000)


@each_case(
    "text",
    [
        "src/main.py",
        "./src//main.py",
        "src/deep/../main.py",
        "in",
        "up",
        "abs-in/main.py",
        "abs-file",
    ],
)
def test_reads_inside(workspace: Workspace, text: str) -> None:
    assert read(workspace, text) == b"print()\n"


def test_reads_by_absolute_path(workspace: Workspace, tree: Tree) -> None:
    assert read(workspace, f"{tree.root}/src/main.py") == b"print()\n"
    assert read(workspace, f"{tree.outside}/../ws/src/main.py") == b"print()\n"


@each_case(
    "text",
    [
        "..",
        "../ws_evil/secret.txt",
        "src/../../ws_evil/secret.txt",
        "/etc/passwd",
        "~/x",
        "~",
        "out",
        "out-rel",
        "out-folder/secret.txt",
        "out-folder",
        "src/climb",
        "chain",
        "loop",
        "self",
        "self/x",
        "back-in",
        "proc-root/etc/passwd",
        "proc-cwd",
        "fifo",
        "NUL",
        "C:\\x",
        "\\\\server\\share",
        "a\0b",
    ],
)
def test_refuses(workspace: Workspace, tree: Tree, text: str) -> None:
    with pytest.raises(PathDenied, match="Access denied: ") as caught:
        read(workspace, text)
    assert caught.value.details["rule"]
    assert CANARY.decode() not in caught.value.message


def test_refuses_the_sibling_with_the_same_beginning(workspace: Workspace, tree: Tree) -> None:
    with pytest.raises(PathDenied, match="outside the workspace") as caught:
        read(workspace, str(tree.outside / "secret.txt"))
    assert "workspace.roots" in caught.value.hint


@each_case("text", ["", " "])
def test_refuses_nothing(workspace: Workspace, text: str) -> None:
    with pytest.raises(BadInput, match="empty"):
        workspace.resolve(text)


def test_refuses_names_that_are_too_long(workspace: Workspace) -> None:
    with pytest.raises(BadInput, match="too long"):
        read(workspace, "x" * 300)
    with pytest.raises(BadInput, match="more than"):
        read(workspace, "x/" * 3000)
    with pytest.raises(BadInput, match="2,001 folders deep"):
        workspace.resolve("a/" * 2000 + "x")


def test_the_home_folder_where_it_is_inside(
    tree: Tree, opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tree.root))
    workspace = Workspace([str(tree.root)], Protection(), opener)
    assert read(workspace, "~/readme.md") == b"hello\n"


def test_a_protected_name_behind_a_link(workspace: Workspace, tree: Tree) -> None:
    (tree.root / ".env").write_bytes(b"KEY=1")
    (tree.root / "harmless.txt").symlink_to(".env")
    (tree.root / "harmless").symlink_to(".ssh")
    (tree.root / ".ssh").mkdir()
    for text in (".env", "harmless.txt", "harmless", "src/../.ENV/../.env"):
        with pytest.raises(PathDenied, match="protected from reading") as caught:
            read(workspace, text)
        assert "workspace.unprotect" in caught.value.hint


def test_kinds_are_told_apart(workspace: Workspace) -> None:
    with workspace.resolve("src").open() as handle:
        assert handle.kind == "folder"
    with pytest.raises(BadInput, match="folder"):
        read(workspace, "src")
    with pytest.raises(BadInput, match="not a folder"):
        workspace.resolve("readme.md").list()


def test_special_files_never_block(workspace: Workspace, tree: Tree) -> None:
    (tree.root / "to-fifo").symlink_to("fifo")
    for text in ("fifo", "to-fifo"):
        with pytest.raises(PathDenied, match="named pipe"):
            read(workspace, text)
        assert workspace.resolve(text).stat().st_size == 0


def test_sockets_are_refused(workspace: Workspace, tree: Tree) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(tree.root)  # the address of a socket must be short
        try:
            server.bind("socket")
        finally:
            os.chdir(here)
        with pytest.raises(PathDenied, match="a socket"):
            read(workspace, "socket")


def test_devices_are_refused(opener: Opener) -> None:
    workspace = Workspace(["/dev"], Protection(), opener)
    for text in ("zero", "tty", "null"):
        with pytest.raises(PathDenied, match="a device"):
            read(workspace, f"/dev/{text}" if text != "null" else "./null")


def test_reading_is_bounded(workspace: Workspace) -> None:
    path = workspace.resolve("readme.md")
    assert path.read_bytes(6) == b"hello\n"
    with pytest.raises(TooLarge, match="6 bytes"):
        path.read_bytes(5)


def test_hard_links_are_read(workspace: Workspace, tree: Tree) -> None:
    os.link(tree.root / "readme.md", tree.root / "second.md")
    assert read(workspace, "second.md") == b"hello\n"


def test_not_found_names_the_nearest(workspace: Workspace) -> None:
    for text, near in {
        "src/mian.py": "src/main.py",
        "README.md": "readme.md",
        "scr/main.py": "src/main.py",
        "src/deep/leaf.md": "src/deep/leaf.txt",
    }.items():
        with pytest.raises(NotFound) as caught:
            read(workspace, text)
        assert f"Did you mean {near}" in caught.value.hint
        assert near in caught.value.details["near"]
        assert len(caught.value.details["near"]) <= 3


def test_not_found_deep_down_is_quick_and_plain(workspace: Workspace) -> None:
    with pytest.raises(NotFound) as caught:
        read(workspace, "/".join(["zzz"] * 200))
    assert "Did you mean" not in caught.value.hint


def test_suggestions_do_not_look_into_protected_folders(workspace: Workspace, tree: Tree) -> None:
    (tree.root / ".ssh").mkdir()
    (tree.root / ".ssh" / "known_hosts").write_text("")
    (tree.root / "link").symlink_to(".ssh")
    with pytest.raises(NotFound) as caught:
        read(workspace, "link/known_host")
    assert "Did you mean" not in caught.value.hint


def test_a_file_is_not_a_folder_on_the_way(workspace: Workspace) -> None:
    with pytest.raises(NotFound):
        read(workspace, "readme.md/x")


def test_permissions_are_explained(opener: Opener) -> None:
    with TemporaryDirectory() as folder:  # not below the folder of pytest, which is closed
        Path(folder).chmod(0o755)
        closed = Path(folder, "closed.txt")
        closed.write_text("x")
        closed.chmod(0)
        workspace = Workspace([folder], Protection(), opener)
        with as_ordinary_user(), pytest.raises(PathDenied, match="operating system"):
            read(workspace, "closed.txt")


def test_the_current_directory(workspace: Workspace, tree: Tree) -> None:
    deep = f"{tree.root}/src/deep"
    path = workspace.resolve("leaf.txt", deep)
    assert path.read_bytes(10) == b"leaf"
    assert (path.display, path.parts) == ("leaf.txt", ("src", "deep", "leaf.txt"))
    above = workspace.resolve("../main.py", deep)
    assert above.read_bytes(10) == b"print()\n"
    for displayed in (path.display, above.display):
        assert workspace.resolve(displayed, deep).stat()
    with pytest.raises(PathDenied):
        workspace.resolve("../../../x", deep)


def test_a_current_directory_outside_does_not_count(workspace: Workspace, tree: Tree) -> None:
    assert read(workspace, "readme.md", str(tree.outside)) == b"hello\n"
    assert workspace.start(str(tree.outside)).absolute == str(tree.root)


def test_several_roots(tmp_path: Path, opener: Opener) -> None:
    for name in ("one", "two", "one/inner"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_bytes(name.encode())
    names = [str(tmp_path / name) for name in ("one", "two", "one/inner")]
    workspace = Workspace(names, Protection(), opener)
    assert read(workspace, "x") == b"one"
    assert read(workspace, "../two/x") == b"two"
    inner = workspace.resolve("inner/x")
    assert inner.root.name == names[2]
    assert inner.read_bytes(10) == b"one/inner"
    assert workspace.resolve(inner.display).read_bytes(10) == b"one/inner"


def test_a_root_reached_by_a_link(tree: Tree, tmp_path: Path, opener: Opener) -> None:
    (tmp_path / "alias").symlink_to(tree.root)
    workspace = Workspace([str(tmp_path / "alias")], Protection(), opener)
    for text in ("readme.md", f"{tmp_path}/alias/readme.md", f"{tree.root}/readme.md"):
        path = workspace.resolve(text)
        assert path.absolute == f"{tmp_path}/alias/readme.md"
        with path.open() as handle:
            assert handle.absolute == f"{tree.root}/readme.md"


def test_a_root_that_becomes_a_link_is_not_followed(tree: Tree, opener: Opener) -> None:
    inner = tree.root / "inner"
    inner.mkdir()
    workspace = Workspace([str(tree.root), str(inner)], Protection(), opener)
    inner.rmdir()
    inner.symlink_to(tree.outside)
    with pytest.raises(ToolError, match="symbolic link"):
        read(workspace, "inner/secret.txt")


def test_a_root_that_is_replaced_goes_on_working(tree: Tree, opener: Opener) -> None:
    workspace = Workspace([str(tree.root)], Protection(), opener)
    tree.root.rename(tree.root.with_name("old"))
    with pytest.raises(NotConfigured, match="cannot be used"):
        read(workspace, "readme.md")
    tree.root.mkdir()
    (tree.root / "readme.md").write_bytes(b"new")
    assert read(workspace, "readme.md") == b"new"


def test_descriptors_are_given_back(workspace: Workspace, tree: Tree) -> None:
    texts = ["in", "out", "loop", "nope/x", "fifo", "src", "abs-in/main.py", "proc-root"]

    def use_all() -> None:
        for text in texts:
            try:
                with workspace.resolve(text).open() as handle:
                    assert handle.kind == "folder" or handle.file.read(1)
                workspace.resolve(text).list()
            except ToolError:
                pass

    use_all()
    before = len(os.listdir("/proc/self/fd"))
    use_all()
    assert len(os.listdir("/proc/self/fd")) == before


def test_listing(workspace: Workspace, tree: Tree) -> None:
    (tree.root / ".env").write_text("x")
    found = {entry.name: entry for entry in workspace.resolve(".").list()}
    assert set(found) == {path.name for path in tree.root.iterdir()}
    assert (found["src"].kind, found["readme.md"].kind, found["readme.md"].size) == (
        "folder",
        "file",
        6,
    )
    assert found["fifo"].kind == "other"
    assert found[".env"].protected == ".env*"
    leads = {name: entry.leads for name, entry in found.items() if entry.kind == "link"}
    assert leads == {
        "in": "file",
        "up": "file",
        "abs-in": "folder",
        "abs-file": "file",
        "out": "outside",
        "out-rel": "outside",
        "out-folder": "outside",
        "chain": "outside",
        "chain2": "outside",
        "loop": "loop",
        "loop2": "loop",
        "self": "loop",
        "broken": "missing",
        "proc-root": "outside",
        "proc-cwd": "outside",
        "back-in": "outside",
    }
    assert found["in"].target == "src/main.py"


def test_listing_names_that_are_not_text(workspace: Workspace, tree: Tree) -> None:
    Path(os.fsdecode(os.fsencode(tree.root / "src") + b"/bad\xff")).write_text("")
    assert "bad\udcff" in {entry.name for entry in workspace.resolve("src").list()}


@each_case("name", ["", ".", "..", "a/b", "a\0b"])
def test_a_child_is_one_name(workspace: Workspace, name: str) -> None:
    with pytest.raises(BadInput):
        workspace.start().child(name)


def test_the_fingerprint_changes_with_the_file(workspace: Workspace, tree: Tree) -> None:
    path = workspace.resolve("readme.md")

    def look() -> str:
        with path.open() as handle:
            return handle.fingerprint

    first = look()
    assert look() == first
    (tree.root / "new").write_bytes(b"hello\n")
    (tree.root / "new").replace(tree.root / "readme.md")
    second = look()
    assert second != first
    (tree.root / "readme.md").write_bytes(b"hello!\n")
    assert look() != second


# How the service finds its roots.


def opened(**workspace: object) -> Workspace:
    return Workspace.open(Services(Config.load({"workspace": workspace})))


def test_roots_from_the_configuration(tree: Tree) -> None:
    workspace = opened(roots=[f"{tree.root}/src/.."], protect_read=["*.md"])
    assert workspace.start().absolute == str(tree.root)
    with pytest.raises(PathDenied, match=r"\*\.md"):
        read(workspace, "readme.md")


def test_without_roots_the_current_directory(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree.root)
    assert read(opened(), "readme.md") == b"hello\n"


@pytest.mark.parametrize("where", ["/", "home", "above", "data"])
def test_but_not_just_any_directory(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    home = tree.root / "src" / "deep"
    monkeypatch.setenv("HOME", str(home))
    data = Path(os.environ["TOOLCRIB_DATA"])
    data.mkdir(exist_ok=True)
    places = {"/": Path("/"), "home": home, "above": tree.root, "data": data}
    monkeypatch.chdir(places[where])
    workspace = opened()
    (root,) = workspace.roots
    scratch = Path(root.name)
    assert scratch.parent == Path(tempfile.gettempdir()).resolve()
    assert os.listdir(scratch) == []
    assert stat.S_IMODE(scratch.stat().st_mode) == 0o700
    assert str(scratch) in workspace.warning
    assert "--workspace" in workspace.warning
    workspace.close()
    assert not scratch.exists()


def test_what_was_left_in_a_scratch_folder_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.chdir("/")
    workspace = opened(roots=["${workspaceFolder}"])
    scratch = Path(workspace.roots[0].name)
    (scratch / "a.txt").write_text("kept")
    workspace.close()
    assert (scratch / "a.txt").read_text() == "kept"


def test_without_any_place_every_path_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    monkeypatch.chdir("/")
    workspace = opened()
    assert workspace.roots == ()
    for use in (lambda: workspace.resolve("x"), workspace.start):
        with pytest.raises(NotConfigured) as caught:
            use()
        assert "workspace.roots" in caught.value.hint
        assert "--workspace" in caught.value.hint


def test_a_configured_root_may_be_the_home_folder(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tree.root))
    assert read(opened(roots=["~"]), "readme.md") == b"hello\n"


def test_our_own_files_are_not_written(tmp_path: Path) -> None:
    workspace = opened(roots=[str(tmp_path)])
    (tmp_path / "state").mkdir()
    path = workspace.resolve("state/config.toml")
    with pytest.raises(PathDenied, match="toolcrib"), path.place():
        pass


def test_the_store_is_not_read(tmp_path: Path) -> None:
    """It has what other conversations remember."""
    (tmp_path / "s").write_text("canary")
    services = Services(
        Config.load(
            {"workspace": {"roots": [str(tmp_path)]}, "store": {"url": f"sqlite:///{tmp_path}/s"}}
        )
    )
    with pytest.raises(PathDenied, match="toolcrib"):
        read(Workspace.open(services), "s")


def test_the_file_and_the_store_that_were_named_are_not_written(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        f"[workspace]\nroots = ['{tmp_path}']\n[store]\nurl = 'sqlite:///{tmp_path}/s'\n"
    )
    workspace = Workspace.open(Services(Config.load(path=file)))
    for name in ("mine.toml", "s", "s-wal"):
        with pytest.raises(PathDenied, match="toolcrib"), workspace.resolve(name).place():
            pass
    with workspace.resolve("free.toml").place():
        pass


def test_safe_paths_compare_and_print(workspace: Workspace, tree: Tree) -> None:
    one, other = workspace.resolve("src/main.py"), workspace.resolve("src/./main.py")
    assert one == other
    assert str(one) == f"{tree.root}/src/main.py"
    assert isinstance(one, SafePath)
    assert (one.name, one.parent.parts, one.parent.parent.parts) == ("main.py", ("src",), ())
