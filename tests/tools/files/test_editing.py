"""`edit_file`, `write_file`, `append_file` and `edit_lines` through the whole pipeline."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest

from toolcrib.core.result import Result
from toolcrib.text.tokens import estimate
from toolcrib.toolbox import Toolbox

BUDGET = 4000


async def sent(box: Toolbox, tool: str, **arguments: object) -> Result:
    result = await box.call(tool, arguments)
    assert estimate(result.render()) <= BUDGET
    if result.error:
        assert result.error.hint
    return result


async def done(box: Toolbox, tool: str, **arguments: object) -> Result:
    result = await sent(box, tool, **arguments)
    assert result.error is None, result.render()
    return result


async def refused(box: Toolbox, tool: str, **arguments: object) -> str:
    result = await sent(box, tool, **arguments)
    assert result.error is not None, result.text
    return result.error.code


@pytest.mark.rows("C005", "E09", "C028", "C029")
class TestEditFile:
    async def test_shows_what_it_did(self, box: Toolbox, ws: Path) -> None:
        file = ws / "a.py"
        file.write_bytes(b"\xef\xbb\xbfdef f():\r\n        return 123\r\n")
        file.chmod(0o640)
        result = await done(
            box, "edit_file", path="a.py", old="    return 123  ", new="    return 234"
        )
        assert file.read_bytes() == b"\xef\xbb\xbfdef f():\r\n        return 234\r\n"
        assert stat.S_IMODE(file.stat().st_mode) == 0o640
        assert result.text == (
            "a.py: 1 place changed (found by: trailing space + indentation)\n"
            "@@ -1,2 +1,2 @@\n def f():\n-        return 123\n+        return 234"
        )
        assert result.data["files"] == [
            {"path": "a.py", "replacements": 1, "matched": ["trailing space + indentation"]}
        ]

    @pytest.mark.rows("E10")
    async def test_several_edits_or_none(self, box: Toolbox, ws: Path) -> None:
        (ws / "a.txt").write_text("one\ntwo\nthree\n")
        edits = [{"oldText": "one", "newText": "1"}, {"old_string": "three", "new_string": "3"}]
        await done(box, "multi_edit", file_path="a.txt", edits=edits)
        assert (ws / "a.txt").read_text() == "1\ntwo\n3\n"
        edits = [{"old": "two", "new": "2"}, {"old": "nowhere", "new": "x"}]
        assert await refused(box, "edit_file", path="a.txt", edits=edits) == "not_found"
        assert (ws / "a.txt").read_text() == "1\ntwo\n3\n"

    async def test_what_another_program_changed_since(self, box: Toolbox, ws: Path) -> None:
        (ws / "a.txt").write_text("one\n")
        await done(box, "read_file", path="a.txt")
        (ws / "a.txt").write_text("one\nmore\nof it\n")
        code = await refused(box, "edit_file", path="a.txt", old="more  \nof it", new="1")
        assert code == "conflict"
        assert (ws / "a.txt").read_text() == "one\nmore\nof it\n"
        await done(box, "edit_file", path="a.txt", old="one", new="1")  # exact, and once
        assert (ws / "a.txt").read_text() == "1\nmore\nof it\n"

    async def test_an_edit_after_an_edit_needs_no_reading(self, box: Toolbox, ws: Path) -> None:
        (ws / "a.txt").write_text("one\n")
        await done(box, "read_file", path="a.txt")
        await done(box, "edit_file", path="a.txt", old="one", new="two")
        await done(box, "edit_file", path="a.txt", old="two", new="three")
        text = (await done(box, "undo_changes", steps=2)).text
        assert "The same call goes back 2 steps further; id=3 makes this undone." in text
        assert (ws / "a.txt").read_text() == "one\n"
        text = (await done(box, "undo_changes", id=3)).text
        assert text.endswith("\nid=4 makes this undone.")
        assert (ws / "a.txt").read_text() == "three\n"

    async def test_where_nothing_can_be_undone_it_is_said_of_what(self, box: Toolbox) -> None:
        result = await sent(box, "undo_changes")
        assert result.error is not None
        assert "only changes of files are undone here, not memories" in result.error.hint

    async def test_syntax(self, box: Toolbox, ws: Path) -> None:
        files = {
            "a.py": ("x = (1)\n", "(1)", "(1", "Python", 1),
            "a.json": ('{"a": 1,\n"b": 2}\n', ": 2", " 2", "JSON", 2),
            "a.toml": ("[a]\nb = 1\n", "= 1", "1", "TOML", 2),
            "a.yaml": ("a: 1\nb: [2]\n", "[2]", "[2", "YAML", 3),
            "a.xml": ("<a>\n<b/></a>\n", "<b/>", "<b>", "XML", 2),
        }
        for name, (text, old, new, language, line) in files.items():
            (ws / name).write_text(text)
            result = await done(box, "edit_file", path=name, old=old, new=new)
            assert f"no longer valid {language}" in result.text
            assert f"(line {line})" in result.text
            again = await done(box, "edit_file", path=name, old=new, new=f"{new} ")
            assert "no longer" not in again.text

    @pytest.mark.parametrize(
        ("content", "code"),
        [
            (b"a\0b", "unsupported_content"),
            (b"\x89PNG\r\n\x1a\n" + b"a" * 99, "unsupported_content"),
        ],
    )
    async def test_what_is_not_text(
        self, box: Toolbox, ws: Path, content: bytes, code: str
    ) -> None:
        (ws / "f").write_bytes(content)
        assert await refused(box, "edit_file", path="f", old="a", new="b") == code
        assert (ws / "f").read_bytes() == content

    async def test_links_are_not_written_through(self, box: Toolbox, ws: Path) -> None:
        (ws / "a.txt").write_text("one\n")
        (ws / "soft").symlink_to("a.txt")
        os.link(ws / "a.txt", ws / "hard")
        for name in ("soft", "hard"):
            assert await refused(box, "edit_file", path=name, old="one", new="2") == "path_denied"
            assert await refused(box, "append_file", path=name, content="2") == "path_denied"
            assert await refused(box, "write_file", path=name, content="2") == "path_denied"
        assert (ws / "a.txt").read_text() == "one\n"

    async def test_large_files_and_lines(self, box: Toolbox, ws: Path) -> None:
        (ws / "long.txt").write_text("word " * 100_000 + "END\n")
        await done(box, "edit_file", path="long.txt", old="END", new="FIN")
        assert (ws / "long.txt").read_text().endswith("word FIN\n")
        await sent(box, "edit_file", path="long.txt", old="not there at all", new="x")
        (ws / "big.txt").write_bytes(b"line of a file\n" * 660_000)
        assert await refused(box, "edit_file", path="big.txt", old="of a", new="x") == "bad_input"
        every = {"path": "big.txt", "old": "of a", "new": "of one", "all": True}
        assert await refused(box, "edit_file", **every) == "too_large"
        (ws / "big.txt").write_bytes(b"x" * 10_000_001)
        assert await refused(box, "edit_file", path="big.txt", old="y", new="z") == "too_large"

    async def test_what_is_missing(self, box: Toolbox, ws: Path) -> None:
        (ws / "a.txt").write_text("one\n")
        assert await refused(box, "edit_file", path="a.txt") == "bad_input"
        assert await refused(box, "edit_file", path="a.txt", old="one") == "bad_input"
        assert await refused(box, "edit_file", path="b.txt", old="one", new="x") == "not_found"
        assert await refused(box, "edit_file", path="a.txt", old="", new="x") == "bad_input"
        lazy = "# ... existing code ..."
        assert await refused(box, "edit_file", path="a.txt", old="one", new=lazy) == "bad_input"
        assert (ws / "a.txt").read_text() == "one\n"
        await done(box, "edit_file", path="new.txt", old="", new="made\n")
        assert (ws / "new.txt").read_text() == "made\n"


FENCED = "```js\nlet a = 1;\n```"


@pytest.mark.rows("C004", "C005")
class TestFences:
    """Of Markdown, around what is written to a file of another kind."""

    @pytest.mark.parametrize(
        ("tool", "sent"),
        [
            ("write_file", {"content": FENCED}),
            ("edit_file", {"old": "let a = 0;\n", "new": FENCED}),
            ("edit_file", {"old": "```\nlet a = 0;\n```", "new": FENCED}),
            ("edit_lines", {"operation": "replace", "start": 1, "content": FENCED}),
        ],
    )
    async def test_taken_off(
        self, box: Toolbox, ws: Path, tool: str, sent: dict[str, object]
    ) -> None:
        (ws / "a.js").write_text("let a = 0;\n")
        result = await done(box, tool, path="a.js", **sent)
        assert (ws / "a.js").read_text() == "let a = 1;\n"
        assert "fence" in result.text

    async def test_new_files_and_ends(self, box: Toolbox, ws: Path) -> None:
        await done(box, "write_file", path="a.js", content=FENCED)
        await done(box, "append_file", path="a.js", content=FENCED)
        assert (ws / "a.js").read_text() == "let a = 1;\n" * 2

    async def test_of_the_text(self, box: Toolbox, ws: Path) -> None:
        await done(box, "write_file", path="a.md", content=FENCED)
        (ws / "b.js").write_text(f"x = `\n{FENCED}\n`\nlet b = 0;\n")
        await done(box, "edit_file", path="b.js", old="let b = 0;", new=FENCED)
        await done(box, "write_file", path="c.js", content=f"{FENCED}\nand\n{FENCED}")
        texts = [(ws / name).read_text() for name in ("a.md", "b.js", "c.js")]
        assert [text.count(FENCED) for text in texts] == [1, 2, 2]


@pytest.mark.rows("C004", "E05")
class TestWriteFile:
    async def test_new_files_with_folders(self, box: Toolbox, ws: Path) -> None:
        files = [{"path": "a/b.txt", "content": "1\n"}, {"file_name": "c.txt", "text": ""}]
        result = await done(box, "save_file", files=files)
        assert result.text == "a/b.txt created: 1 line, 2 bytes\nc.txt created: 0 lines, 0 bytes"
        assert (ws / "a" / "b.txt").read_bytes() == b"1\n"
        assert (ws / "c.txt").read_bytes() == b""

    async def test_all_or_none(self, box: Toolbox, ws: Path) -> None:
        (ws / "folder").mkdir()
        files = [{"path": "a.txt", "content": "1"}, {"path": "folder", "content": "2"}]
        await refused(box, "write_file", files=files)
        files[1] = {"path": ".git/config", "content": "2"}
        assert await refused(box, "write_file", files=files) == "path_denied"
        assert not (ws / "a.txt").exists()

    async def test_a_variable_in_a_path_is_not_taken_for_a_name(
        self, box: Toolbox, ws: Path
    ) -> None:
        for path in ("$HOME/a.txt", "${OUT_DIR}/a.txt", "%TEMP%\\a.txt", "a/{{ path }}/b.txt"):
            assert await refused(box, "write_file", path=path, content="1") == "bad_input"
        assert not list(ws.iterdir())
        (ws / "$HOME").mkdir()
        for path in ("$HOME/a.txt", "$id/a.tsx", "$id.tsx", "{{cookiecutter.name}}/a", "50%"):
            await done(box, "write_file", path=path, content="1")

    async def test_the_way_of_the_file_is_kept(self, box: Toolbox, ws: Path) -> None:
        (ws / "a.txt").write_bytes(b"\xff\xfe" + "eins\r\nzwei\r\n".encode("utf-16-le"))
        result = await done(box, "write_file", path="a.txt", content="eins\ndrei\nvier\n")
        expected = b"\xff\xfe" + "eins\r\ndrei\r\nvier\r\n".encode("utf-16-le")
        assert (ws / "a.txt").read_bytes() == expected
        assert "-zwei\n+drei\n+vier" in result.text

    async def test_a_file_that_was_no_text(self, box: Toolbox, ws: Path) -> None:
        (ws / "a.bin").write_bytes(b"\0\1\2")
        await done(box, "write_file", path="a.bin", content="text\n")
        assert (ws / "a.bin").read_bytes() == b"text\n"

    @pytest.mark.parametrize("name", ["a*.txt", "a?", "a<b", "a|b", 'a"b', "x/a>b"])
    async def test_unusual_names(self, box: Toolbox, ws: Path, name: str) -> None:
        assert await refused(box, "write_file", path=name, content="x") == "bad_input"
        assert list(ws.iterdir()) == []

    async def test_text_left_out(self, box: Toolbox, ws: Path) -> None:
        lazy = "def f():\n    pass\n\n# ... rest of the file unchanged ...\n"
        result = await done(box, "write_file", path="a.py", content=lazy)
        assert "Warning" in result.text
        (ws / "b.py").write_text("one\n" * 9)
        for content in (lazy, "one\n# ...\n", "one\n# unchanged\n"):
            assert await refused(box, "write_file", path="b.py", content=content) == "conflict"
        assert (ws / "b.py").read_text() == "one\n" * 9

    async def test_what_is_not_valid_although_it_was_not_before(
        self, box: Toolbox, ws: Path
    ) -> None:
        for content in ("def f():\\n    return 1\\n", "def f():\\n    return 2\\n"):
            result = await done(box, "write_file", path="x.py", content=content)
            assert "Warning: it is not valid Python" in result.text
        result = await done(box, "write_file", path="x.py", content="x = 1\n")
        assert "Warning" not in result.text
        (ws / "a.ipynb").write_text('{\n "cells": []\n}\n')
        insert = {"operation": "insert", "start": 3, "content": "<<broken"}
        result = await done(box, "edit_lines", path="a.ipynb", **insert)
        assert "Warning: it is no longer valid JSON" in result.text

    async def test_wrong_calls(self, box: Toolbox, ws: Path) -> None:
        assert await refused(box, "write_file") == "bad_input"
        assert await refused(box, "write_file", path="a") == "bad_input"
        assert await refused(box, "write_file", path="a", content={"text": "b"}) == "bad_input"
        twice = [{"path": "a", "content": "1"}, {"path": "./a", "content": "2"}]
        assert await refused(box, "write_file", files=twice) == "bad_input"
        assert list(ws.iterdir()) == []


@pytest.mark.rows("C007", "E06")
class TestAppendFile:
    async def test_to_a_file_and_to_none(self, box: Toolbox, ws: Path) -> None:
        await done(box, "append_file", path="a.txt", content="one\n")
        await done(box, "append_file", path="a.txt", content="two")
        assert (ws / "a.txt").read_text() == "one\ntwo"

    @pytest.mark.parametrize(
        ("content", "after", "lines"),
        [("3,4\n", "a,b\n1,2\n3,4\n", 1), ("\n3,4", "a,b\n1,2\n3,4", 1), ("\n", "a,b\n1,2\n", 0)],
    )
    async def test_below_a_line_without_an_end(
        self, box: Toolbox, ws: Path, content: str, after: str, lines: int
    ) -> None:
        (ws / "a.csv").write_text("a,b\n1,2")
        result = await done(box, "append_file", path="a.csv", content=content)
        assert (ws / "a.csv").read_text() == after
        assert f"{lines} line" in result.text
        assert ("no line end" in result.text) is (content[0] != "\n")

    async def test_many_add_at_once(self, box: Toolbox, ws: Path) -> None:
        lines = [f"line {number}\n" for number in range(12)]
        calls = (done(box, "append_file", path="log.txt", content=line) for line in lines)
        await asyncio.gather(*calls)
        assert sorted((ws / "log.txt").read_text().splitlines(True)) == sorted(lines)

    async def test_what_others_added_meanwhile_stays(self, box: Toolbox, ws: Path) -> None:
        await done(box, "append_file", path="log.txt", content="ours\n")
        with (ws / "log.txt").open("a") as log:
            log.write("of another server\n")
        await done(box, "append_file", path="log.txt", content="ours too\n")
        assert (ws / "log.txt").read_text() == "ours\nof another server\nours too\n"

    async def test_line_ends_and_size(self, box: Toolbox, ws: Path) -> None:
        (ws / "a.txt").write_bytes(b"one\r\n")
        await done(box, "append_file", path="a.txt", content="two\nthree\n")
        assert (ws / "a.txt").read_bytes() == b"one\r\ntwo\r\nthree\r\n"
        (ws / "b.txt").write_bytes(b"x" * 9_999_999)
        assert await refused(box, "append_file", path="b.txt", content="yy") == "too_large"
        assert await refused(box, "append_file", path="b.txt", content="") == "bad_input"


@pytest.mark.rows("C006", "C008", "C009", "E07", "E08")
class TestEditLines:
    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ({"operation": "insert", "start": 1, "content": "0"}, "0\n1\n2\n3"),
            ({"operation": "insert", "start": 4, "content": "4\n"}, "1\n2\n3\n4"),
            ({"operation": "insert", "after": "2", "content": "x\ny"}, "1\n2\nx\ny\n3"),
            ({"operation": "insert", "expect": "2", "content": "x"}, "1\nx\n2\n3"),
            ({"operation": "replace", "start": 2, "end": 3, "content": "x"}, "1\nx"),
            ({"operation": "replace", "start": -1, "content": "x"}, "1\n2\nx"),
            ({"operation": "delete", "start": 2, "end": 99}, "1"),
            ({"operation": "delete", "start": 2, "expect": " 2 "}, "1\n3"),
            ({"operation": "move", "start": 1, "to": 4}, "2\n3\n1"),
            ({"operation": "move", "move_from": 3, "move_to": 1}, "3\n1\n2"),
            ({"operation": "insert", "after": "/[2]/", "content": "x"}, "1\n2\nx\n3"),
            (
                {"operation": "insert", "insert_before_pattern": "^[^12]$", "content": "x"},
                "1\n2\nx\n3",
            ),
        ],
    )
    async def test_operations(
        self, box: Toolbox, ws: Path, arguments: dict[str, object], expected: str
    ) -> None:
        (ws / "a.txt").write_bytes(b"1\r\n2\r\n3")
        await done(box, "line_operations", file_name="a.txt", **arguments)
        assert (ws / "a.txt").read_bytes() == expected.replace("\n", "\r\n").encode()

    @pytest.mark.parametrize(
        ("place", "line"),
        [
            ({"after": 2}, 3),
            ({"before": "2"}, 2),
            ({"after_line": 2}, 3),
            ({"after": "row"}, 4),
            ({"after": -1}, 6),
            ({"before": -1}, 5),
            ({"after": "/row 2/"}, 6),
        ],
    )
    async def test_a_place_is_a_number_or_a_whole_line_before_a_part_of_one(
        self, box: Toolbox, ws: Path, place: dict[str, object], line: int
    ) -> None:
        lines = ["one", "two", "row", "rows", "row 2"]
        (ws / "a.txt").write_text("\n".join(lines))
        await done(box, "edit_lines", path="a.txt", operation="insert", content="x", **place)
        lines.insert(line - 1, "x")
        assert (ws / "a.txt").read_text() == "\n".join(lines)

    async def test_the_answer_says_that_numbers_read_before_are_others_now(
        self, box: Toolbox, ws: Path
    ) -> None:
        (ws / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 21)))
        given = {"path": "a.txt", "start": 4, "end": 10}
        fewer = await box.call("edit_lines", {**given, "operation": "replace", "content": "x"})
        assert "lines 4-10 replaced by 1 line; the lines below moved up by 6\n" in fewer.text
        more = await box.call("edit_lines", {"path": "a.txt", "after": 2, "content": "y\nz"})
        assert "inserted at line 3; the lines below moved down by 2\n" in more.text
        end = await box.call("edit_lines", {**given, "operation": "delete", "end": 99})
        assert "moved" not in end.text

    @pytest.mark.parametrize("number", [0, 9, -9])
    async def test_a_number_is_no_part_of_a_line(self, box: Toolbox, ws: Path, number: int) -> None:
        (ws / "a.txt").write_text(f"a = 1\nb = {number}\nc = 3\n")
        given = {"path": "a.txt", "content": "x", "after": number}
        assert await refused(box, "edit_lines", **given) == "not_found"

    async def test_a_number_that_another_line_says_is_refused(self, box: Toolbox, ws: Path) -> None:
        (ws / "a.txt").write_text("2\n3\n4\n")
        given = {"path": "a.txt", "operation": "insert", "content": "x", "after": "2"}
        assert await refused(box, "edit_lines", **given) == "bad_input"
        await done(box, "edit_lines", **{**given, "after": "/2/"})
        assert (ws / "a.txt").read_text() == "2\nx\n3\n4\n"

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("place", [{"start": 2}, {"after": "1"}])
    @pytest.mark.parametrize("content", ["x\r\ny", "x\r\ny\r\n"])
    async def test_line_ends_of_the_file_stay(
        self, box: Toolbox, ws: Path, end: str, place: dict[str, object], content: str
    ) -> None:
        (ws / "a.txt").write_bytes(f"1{end}2{end}".encode())
        await done(box, "edit_lines", path="a.txt", operation="insert", content=content, **place)
        assert (ws / "a.txt").read_bytes() == f"1{end}x{end}y{end}2{end}".encode()

    @pytest.mark.parametrize(
        ("arguments", "code"),
        [
            ({"operation": "insert", "start": 5, "content": "x"}, "bad_input"),
            ({"operation": "insert", "start": 1}, "bad_input"),
            ({"operation": "replace", "start": 2, "end": 4, "content": "x"}, "bad_input"),
            ({"operation": "delete", "start": 4}, "bad_input"),
            ({"operation": "delete", "start": 0}, "bad_input"),
            ({"operation": "delete", "start": 3, "end": 1}, "bad_input"),
            ({"operation": "delete"}, "bad_input"),
            ({"operation": "move", "start": 1, "end": 2, "to": 2}, "bad_input"),
            ({"operation": "move", "start": 1}, "bad_input"),
            ({"operation": "replace", "start": 2, "expect": "3", "content": "x"}, "conflict"),
            ({"operation": "replace", "start": 2, "expect": "2:0123", "content": "x"}, "conflict"),
            ({"operation": "insert", "after": "9", "content": "x"}, "not_found"),
            ({"operation": "insert", "after": "[2]", "content": "x"}, "not_found"),
            ({"operation": "insert", "after": "/[0-9]/", "content": "x"}, "bad_input"),
            ({"operation": "insert", "before": "/[/", "content": "x"}, "bad_input"),
            ({"operation": "insert", "before": "2" * 501, "content": "x"}, "bad_input"),
            ({"operation": "replace", "start": 2, "content": "2"}, "bad_input"),
        ],
    )
    async def test_refusals(
        self, box: Toolbox, ws: Path, arguments: dict[str, object], code: str
    ) -> None:
        (ws / "a.txt").write_bytes(b"1\n2\n3\n")
        assert await refused(box, "edit_lines", path="a.txt", **arguments) == code
        assert (ws / "a.txt").read_bytes() == b"1\n2\n3\n"

    async def test_text_left_out(self, box: Toolbox, ws: Path) -> None:
        (ws / "a.py").write_text("one\n" * 9)
        call = {"path": "a.py", "operation": "replace", "start": 2, "end": 8}
        for lazy in ("# ... existing code ...", "x\n# ..."):
            assert await refused(box, "edit_lines", **call, content=lazy) == "bad_input"
        assert (ws / "a.py").read_text() == "one\n" * 9

    @pytest.mark.parametrize(
        ("start", "content", "after"),
        [
            (3, "   3 | THREE\n   4 | FOUR", "1\n  2\nTHREE\nFOUR\n"),
            (3, "3|THREE\n4|FOUR\n", "1\n  2\nTHREE\nFOUR\n"),
            (2, "2:   zwei\n3: drei", "1\n  zwei\ndrei\nfour\n"),
            (1, "1|one more\n2|  2", "one more\n  2\nthree\nfour\n"),
            (2, "2|  zwei\n3|drei", "1\n  zwei\ndrei\nfour\n"),
            # What may be meant:
            (2, "5|five\n6|six", "1\n5|five\n6|six\nfour\n"),
            (3, "3. three\n4. four", "1\n  2\n3. three\n4. four\n"),
            (3, "3|three\n4|four", "1\n  2\n3|three\n4|four\n"),
            (1, "1|Ann\n2|Bob", "1|Ann\n2|Bob\nthree\nfour\n"),
        ],
    )
    async def test_copied_line_numbers(
        self, box: Toolbox, ws: Path, start: int, content: str, after: str
    ) -> None:
        (ws / "a.txt").write_text("1\n  2\nthree\nfour\n")
        call = {"path": "a.txt", "operation": "replace", "start": start, "end": start + 1}
        result = await done(box, "edit_lines", **call, content=content)
        assert (ws / "a.txt").read_text() == after
        assert ("copied line numbers" in result.text) is (content.strip()[:2] not in after)

    async def test_a_mismatch_shows_the_lines_around(self, box: Toolbox, ws: Path) -> None:
        (ws / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 21)))
        result = await sent(
            box, "edit_lines", path="a.txt", operation="delete", start=10, expect="line 11"
        )
        assert result.error is not None
        assert "    7  line 7" in result.error.message
        assert "   13  line 13" in result.error.message

    async def test_a_new_file_starts_at_line_one(self, box: Toolbox, ws: Path) -> None:
        new = {"path": "n.txt", "operation": "insert", "content": "x"}
        assert await refused(box, "edit_lines", **new, start=2) == "not_found"
        await done(box, "edit_lines", **new, start=1)
        assert (ws / "n.txt").read_text() == "x\n"


async def test_a_picture_or_document_is_no_place_for_text(box: Toolbox, ws: Path) -> None:
    """Where the advice for a failed edit was followed, a document was gone."""
    picture = b"\x89PNG\r\n\x1a\n" + bytes(40)
    (ws / "logo.png").write_bytes(picture)
    assert await refused(box, "write_file", path="logo.png", content="x") == "conflict"
    edited = await box.call("edit_file", {"path": "logo.png", "old": "a", "new": "b"})
    assert edited.error
    assert "write_file" not in edited.error.hint
    assert (ws / "logo.png").read_bytes() == picture
    (ws / "a.bin").write_bytes(b"\0\1\2")
    await done(box, "write_file", path="a.bin", content="x\n")
