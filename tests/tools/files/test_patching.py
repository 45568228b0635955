"""`apply_patch` and `replace_in_files` through the whole pipeline."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolcrib.core.result import Result
from toolcrib.toolbox import Toolbox


async def done(box: Toolbox, tool: str, **arguments: object) -> Result:
    result = await box.call(tool, arguments)
    assert result.error is None, result.render()
    return result


async def refused(box: Toolbox, tool: str, **arguments: object) -> str:
    result = await box.call(tool, arguments)
    assert result.error is not None, result.text
    assert result.error.hint
    return result.error.code


def codex(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


@pytest.mark.rows("E21", "E22", "X20")
class TestApplyPatch:
    async def test_every_kind_of_change(self, box: Toolbox, ws: Path) -> None:
        (ws / "a.txt").write_bytes(b"one\r\ntwo\r\n")
        (ws / "b.txt").write_text("old\n")
        (ws / "c.sh").write_text("x\n")
        (ws / "c.sh").chmod(0o755)
        patch = codex(
            *("*** Update File: a.txt", " one", "-two", "+2"),
            *("*** Delete File: b.txt", "*** Add File: new/d.txt", "+hello"),
            *("*** Update File: c.sh", "*** Move to: e.sh", "@@", "-x", "+y"),
        )
        dry = await done(box, "apply_patch", patch=patch, dry_run=True)
        assert dry.text.startswith("a.txt: 1 hunk applied")
        assert dry.text.endswith("Nothing is changed yet: dry_run=false does it.")
        assert sorted(p.name for p in ws.iterdir()) == ["a.txt", "b.txt", "c.sh"]
        await done(box, "apply_patch", patch=patch)
        assert (ws / "a.txt").read_bytes() == b"one\r\n2\r\n"
        assert (ws / "new" / "d.txt").read_text() == "hello\n"
        assert (ws / "e.sh").read_text() == "y\n"
        assert (ws / "e.sh").stat().st_mode & 0o777 == 0o755
        assert sorted(p.name for p in ws.iterdir()) == ["a.txt", "e.sh", "new"]
        await done(box, "undo_changes")
        assert sorted(p.name for p in ws.rglob("*") if p.is_file()) == ["a.txt", "b.txt", "c.sh"]

    async def test_all_or_none(self, box: Toolbox, ws: Path) -> None:
        (ws / "a.txt").write_text("one\n")
        patch = codex("*** Update File: a.txt", "-one", "+1", "*** Update File: b.txt", "-x", "+y")
        assert await refused(box, "apply_patch", patch=patch) == "not_found"
        assert (ws / "a.txt").read_text() == "one\n"
        patch = codex("*** Update File: a.txt", "-one", "+1", "*** Add File: a.txt", "+x")
        assert await refused(box, "apply_patch", patch=patch) == "bad_input"
        assert await refused(box, "apply_patch", patch=codex("*** Add File: a.txt", "+x")) == (
            "conflict"
        )
        assert (ws / "a.txt").read_text() == "one\n"

    async def test_a_rename_alone(self, box: Toolbox, ws: Path) -> None:
        (ws / "a.bin").write_bytes(b"\0\1")
        patch = "diff --git a/a.bin b/b.bin\nrename from a.bin\nrename to b.bin\n"
        await done(box, "apply_patch", patch=patch)
        assert (ws / "b.bin").read_bytes() == b"\0\1"

    async def test_a_deletion_needs_the_whole_file(self, box: Toolbox, ws: Path) -> None:
        (ws / "a.txt").write_text("one\ntwo\n")
        patch = "--- a/a.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-one\n"
        assert await refused(box, "apply_patch", patch=patch) == "conflict"
        await done(box, "apply_patch", patch=patch.replace("-one\n", "-one\n-two\n"))
        assert list(ws.iterdir()) == []

    async def test_names_of_a_plain_diff(self, box: Toolbox, ws: Path) -> None:
        (ws / "a.txt").write_text("one\n")
        await done(box, "apply_patch", patch="--- a.txt\n+++ a.txt.new\n@@ -1 +1 @@\n-one\n+two\n")
        assert (ws / "a.txt").read_text() == "two\n"

    async def test_only_the_file_that_was_named(self, box: Toolbox, ws: Path) -> None:
        for name in ("a.txt", "b.txt"):
            (ws / name).write_text("one\n")
        other = "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-one\n+two\n"
        call = {"file_path": "a.txt", "unified_diff": other}
        assert await refused(box, "edit_file_with_diff", **call) == "bad_input"
        await done(
            box, "edit_file_with_diff", file_path="a.txt", unified_diff="@@ -1 +1 @@\n-one\n+two\n"
        )
        assert (ws / "a.txt").read_text() == "two\n"
        assert (ws / "b.txt").read_text() == "one\n"
        assert await refused(box, "apply_patch", patch="@@ -1 +1 @@\n-one\n+two\n") == "bad_input"

    @pytest.mark.parametrize(
        "path",
        ["../outside.txt", "/etc/passwd", ".env", ".git/config", "link/outside.txt", "a\\..\\b"],
    )
    @pytest.mark.parametrize("form", ["codex", "move", "add", "delete", "unified", "block", "new"])
    async def test_forbidden_paths(self, box: Toolbox, ws: Path, path: str, form: str) -> None:
        (ws / "ok.txt").write_text("SECRET\n")
        (ws.parent / "outside.txt").write_text("SECRET\n")
        (ws / ".env").write_text("SECRET\n")
        (ws / "link").symlink_to(ws.parent)
        patches = {
            "codex": codex(f"*** Update File: {path}", "-SECRET", "+x"),
            "move": codex("*** Update File: ok.txt", f"*** Move to: {path}", "-SECRET", "+x"),
            "add": codex(f"*** Add File: {path}", "+x"),
            "delete": codex(f"*** Delete File: {path}"),
            "unified": f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-SECRET\n+x\n",
            "block": f"{path}\n<<<<<<< SEARCH\nSECRET\n=======\nx\n>>>>>>> REPLACE\n",
            "new": f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n",
        }
        code = await refused(box, "apply_patch", patch=patches[form])
        assert code in {"path_denied", "not_found", "bad_input", "conflict"}
        for file in (ws / "ok.txt", ws / ".env", ws.parent / "outside.txt"):
            assert file.read_text() == "SECRET\n"

    async def test_rules_on_targets_see_the_paths(self, ws: Path) -> None:
        (ws / "kept").mkdir()
        (ws / "kept" / "a.txt").write_text("one\n")
        rules = [{"action": "deny", "target": "*/kept/*"}]
        patch = codex("*** Add File: b.txt", "+x", "*** Update File: kept/a.txt", "-one", "+two")
        async with Toolbox({"policy": {"rules": rules}}, workspace=ws) as box:
            assert await refused(box, "apply_patch", patch=patch) == "denied"
            files = [{"path": "b.txt", "content": "x"}, {"path": "kept/a.txt", "content": "x"}]
            assert await refused(box, "write_file", files=files) == "denied"
        assert (ws / "kept" / "a.txt").read_text() == "one\n"
        assert not (ws / "b.txt").exists()


@pytest.mark.rows("C026", "C182")
class TestReplaceInFiles:
    async def test_shows_first(self, box: Toolbox, ws: Path) -> None:
        (ws / "a.py").write_bytes(b"colour = 1\r\nx = colour\r\n")
        (ws / "b.md").write_text("colour\n")
        call = {"pattern": r"col(ou)r", "replacement": r"c[\1]r $9", "glob": "*.py"}
        result = await done(box, "replace_in_files", **call)
        assert result.text.startswith(
            "Would change 2 matches in 1 file.\na.py: 2 matches\nWarning: "
        )
        assert "+c[ou]r $9 = 1" in result.text
        assert (ws / "a.py").read_bytes() == b"colour = 1\r\nx = colour\r\n"
        await done(box, "replace_in_files", **call, dry_run=False)
        assert (ws / "a.py").read_bytes() == b"c[ou]r $9 = 1\r\nx = c[ou]r $9\r\n"
        assert (ws / "b.md").read_text() == "colour\n"
        await done(box, "undo_changes")
        assert (ws / "a.py").read_bytes() == b"colour = 1\r\nx = colour\r\n"

    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    @pytest.mark.parametrize(
        ("pattern", "replacement", "lines"),
        [
            ("^", "> ", ["> a", "> \u00e9", "> ", "> c"]),
            ("^(.*)$", "> $1", ["> a", "> \u00e9", "> ", "> c"]),
            (".*", "[$&]", ["[a]", "[\u00e9]", "[]", "[c]"]),
            ("$", ";", ["a;", "\u00e9;", ";", "c;"]),
            ("x*", "-", ["-a-", "-\u00e9-", "-", "-c-"]),
        ],
    )
    async def test_empty_matches(
        self, box: Toolbox, ws: Path, pattern: str, replacement: str, lines: list[str], end: str
    ) -> None:
        (ws / "a").write_bytes(f"a{end}\u00e9{end}{end}c{end}".encode())
        (ws / "empty").write_bytes(b"")
        call = {"pattern": pattern, "replacement": replacement, "dry_run": False}
        result = await done(box, "replace_in_files", **call)
        assert (ws / "a").read_bytes() == "".join(f"{line}{end}" for line in lines).encode()
        assert (ws / "empty").read_bytes() == b""
        assert result.data["files"][0]["replacements"] == (7 if pattern == "x*" else 4)

    @pytest.mark.parametrize(
        ("pattern", "replacement", "after"),
        [
            ("b", r"x\ny\tz\\n", "x\ny\tz\\n"),
            ("b", r"[$0|$&|\0|\g<0>]", "[b|b|b|b]"),
            ("(?P<one>b)", r"$one ${one} $<one> \g<one> \1 $10", "b b b b b b0"),
            ("(b)", r"\$1 \${1} $HOME $", "$1 ${1} $HOME $"),
        ],
    )
    async def test_signs_of_the_replacement(
        self, box: Toolbox, ws: Path, pattern: str, replacement: str, after: str
    ) -> None:
        (ws / "a").write_text("b\n")
        call = {"pattern": pattern, "replacement": replacement, "dry_run": False}
        assert "Note: " not in (await done(box, "replace_in_files", **call)).text
        assert (ws / "a").read_text() == f"{after}\n"

    async def test_signs_that_are_none(self, box: Toolbox, ws: Path) -> None:
        (ws / "a").write_text("b\n")
        call = {"pattern": "b", "replacement": r"\U$1 $x", "dry_run": False}
        result = await done(box, "replace_in_files", **call)
        assert r"Note: \U, $1 are no groups of the pattern and stand as written." in result.text
        assert (ws / "a").read_text() == "\\U$1 $x\n"

    async def test_literal(self, box: Toolbox, ws: Path) -> None:
        (ws / "a").write_bytes("a.b\nä $1\n\xff a.b".encode("latin-1"))
        await done(
            box,
            "replace_in_files",
            pattern="a.b",
            replacement=r"\1 $& $1",
            literal=True,
            dry_run=False,
        )
        assert (ws / "a").read_bytes() == rb"\1 $& $1".join([b"", b"\n\xe4 $1\n\xff ", b""])

    async def test_what_is_left_alone(self, ws: Path) -> None:
        for name in ("a.txt", "gen/b.txt", ".env", ".git/config", "hard.txt"):
            (ws / name).parent.mkdir(exist_ok=True)
            (ws / name).write_text("word\n")
        os.link(ws / "hard.txt", ws / "hard2.txt")
        (ws / "bin").write_bytes(b"word\0")
        (ws / "big").write_bytes(b"word" + b"x" * 10_000_000)
        (ws / "soft").symlink_to("a.txt")
        rules = [{"action": "deny", "target": "*/gen/*"}]
        async with Toolbox({"policy": {"rules": rules}}, workspace=ws) as box:
            call = {"pattern": "word", "replacement": "x", "dry_run": False}
            result = await done(box, "replace_in_files", **call)
        assert "1 not text" in result.text
        assert "1 not allowed by policy" in result.text
        assert "1 too large" in result.text
        assert [f["path"] for f in result.data["files"]] == ["a.txt"]
        for name in ("gen/b.txt", ".env", ".git/config", "hard.txt"):
            assert (ws / name).read_text() == "word\n"

    @pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|a)*b", r"(.*)*x", r"(\w+\s?)+!"])
    async def test_no_expression_explodes(self, box: Toolbox, ws: Path, pattern: str) -> None:
        (ws / "a").write_text("a" * 50_000 + "\n")
        result = await box.call("replace_in_files", {"pattern": pattern, "replacement": "x"})
        assert result.error is None or result.error.code == "no_results"

    @pytest.mark.parametrize("pattern", ["(", "a(?=b)", r"(a)\1", "", "x" * 1001])
    async def test_bad_expressions(self, box: Toolbox, ws: Path, pattern: str) -> None:
        call = {"pattern": pattern, "replacement": "x"}
        assert await refused(box, "replace_in_files", **call) == "bad_input"

    async def test_nothing_to_replace(self, box: Toolbox, ws: Path) -> None:
        (ws / "a").write_text("text\n")
        call = {"pattern": "nowhere", "replacement": "x"}
        assert await refused(box, "replace_in_files", **call) == "no_results"
