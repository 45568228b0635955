"""Single edits and several: what is done literally, what is refused, and with which words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.core.errors import BadInput, Conflict, NotFound, ToolError
from toolcrib.files.content.faithful import FaithfulText
from toolcrib.files.edits.edits import Edit, EditOutcome, resolve_edits
from toolcrib.files.edits.line_marks import anchor

pytestmark = pytest.mark.rows("C005", "E09", "E10")


def outcome(text: str, *edits: tuple[str, str] | tuple[str, str, bool]) -> EditOutcome:
    return resolve_edits(text, [Edit(*edit) for edit in edits])


def result(text: str, *edits: tuple[str, str] | tuple[str, str, bool]) -> str:
    found = outcome(text, *edits)
    file = FaithfulText.of(text.encode(), "f")
    assert file.spliced(found.splices).decode() == file.spliced_text(found.splices)
    return file.spliced_text(found.splices)


@each_case("new", ["$&", "$1", r"\1", r"\g<0>", "\\", r"C:\new\table", "{0}", "%s"])
def test_new_text_is_literal(new: str) -> None:
    assert result("one\ntwo\n", ("two", new)) == f"one\n{new}\n"
    drifted = result("    first line = 1\n    other\n", ("first line = 1 \nother", f"{new}\nother"))
    assert drifted == f"    {new}\n    other\n"


@given(st.text("ab \n", min_size=1, max_size=30), st.data())
def test_what_stands_there_once_is_replaced_literally(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    old = text[start : data.draw(st.integers(start + 1, len(text)))]
    places = [at for at in range(len(text)) if text.startswith(old, at)]
    if len(places) > 1 or not old.strip():
        with pytest.raises(BadInput):
            result(text, (old, "X Y"))
    elif old.endswith("\n"):
        assert result(text, (old, "-Y\n")).count("-Y\n") == 1
    elif not old.startswith("\n"):
        assert result(text, (old, "X Y")) == text.replace(old, "X Y")


@given(
    st.text("xy\t \n\u201c\"'\u2019-\u20131:|", max_size=60),
    st.text("xy\t \n\u201c\"'\u2019-\u20131:|", max_size=20),
    st.text(),
)
def test_anything_else_is_refused_cleanly(text: str, old: str, new: str) -> None:
    try:
        found = resolve_edits(text, [Edit(old, new)])
    except ToolError as error:
        assert error.hint
        return
    ends = [0, *(end for s in found.splices for end in (s.start, s.end)), len(text)]
    assert ends == sorted(ends)


REFUSED = {
    "two spellings of one line": (
        'say \u201chello world\u201d now\nsay "hello world" now\n',
        "say \u201ehello world\u201c now",
        "bye",
    ),
    "space within a string": ("x = 'a  b compute'\n", "x = 'a b compute'", "x = 1"),
    "space within a string, indented": (
        "    call('one   two three')\n",
        "  call('one two three')",
        "  call('')",
    ),
    "numbers of the file's own": (
        "1: alpha beta gamma\nalpha beta gamma\n",
        "3: alpha beta gamma",
        "3: other",
    ),
    "numbers that do not count": (
        "alpha beta\ngamma delta\n",
        "4: alpha beta\n9: gamma delta",
        "x",
    ),
    "all indentation lost": (
        "if alpha:\n    beta(1)\n    if gamma:\n        delta(2)\n",
        "if alpha :\nbeta(1)\nif gamma:\ndelta(2)",
        "x",
    ),
    "another shape": (
        "for a in rows:\n    call(a)\n    after(a)\n",
        "  for a in rows:\n      call(a)\n  after(a)",
        "x",
    ),
    "less than eight signs": ("    }\n", "}  \n", "x\n"),
    "only brackets": ("    }]);}]);}]);\n", "}]);}]);}]); ", "x"),
    "a level that nothing explains": (
        "\tif alpha:\n\t  beta(1)\n",
        "    if alpha:\n      beta(1)",
        "    if alpha:\n       gamma()\n",
    ),
    "an escaped line end": ("alpha beta\ngamma delta\n", r"alpha beta\ngamma delta", "x"),
    "a part of the lines": ("one alpha\ntwo beta\nthree\n", "one alpha \n...\nthree", "x"),
    "a line fewer": ("one alpha\ntwo beta\nthree gamma\n", "one alpha \nthree gamma", "x"),
    "a blank line more": ("one alpha\ntwo beta\n", "one alpha \n\ntwo beta", "x"),
    "indentation that two places fit": (
        "if a:\n    work(1234)\nfor b in c:\n        work(1234)\n",
        "  work(1234)\n  # end",
        "x",
    ),
    "the end of a longer last line": ("some other text", "other text\n", "x\n"),
    "later lines without a place": ("    value = compute(1)\n", "value = compute(1)", "a\nb"),
    "a block opened beside its line": (
        "    value = compute(1)\n",
        "value = compute(1)",
        "if x:\n    value = compute(1)",
    ),
    "a part of a number": ("x = 10\n", "x = 1", "x = 2"),
    "a part of a number, from behind": ("port: 18080\n", "8080", "9090"),
    "blank": ("a\n\n\nb\n", "\n\n", "\n"),
    "the same": ("a\n", "a", "a"),
    "empty": ("a\n", "", "b"),
    "similar": ("return compute_total(items)\n", "return compute_totals(items)", "x"),
    "case": ("Return Value Here\n", "return value here", "x"),
}


@each_case("name", REFUSED)
def test_refused(name: str) -> None:
    text, old, new = REFUSED[name]
    with pytest.raises(ToolError) as caught:
        outcome(text, (old, new))
    assert caught.value.hint


DONE = {
    "tabs, a deeper level in spaces": (
        "\tif alpha:\n\t\tbeta(1)\n",
        "    if alpha:\n        beta(1)",
        "    if alpha:\n        if x:\n            beta(1)",
        "\tif alpha:\n\t\tif x:\n\t\t\tbeta(1)\n",
    ),
    "one level of tabs, a deeper one in spaces": (
        "class A:\n\tdef run(self):\n\t\tpass\n",
        "def run(self): \n    pass",
        "def run(self):\n    if self:\n        pass",
        "class A:\n\tdef run(self):\n\t\tif self:\n\t\t\tpass\n",
    ),
    "mixed tabs and spaces stay": (
        "int f()\n{\n\tone = 1;\n        two = 2;\n}\n",
        "    one = 1;\n    two = 2;",
        "    one = 1;\n    two = 3;",
        "int f()\n{\n\tone = 1;\n        two = 3;\n}\n",
    ),
    "a wrapped block": (
        "    def f():\n        call(one)\n        call(two)\n",
        "call(one)\ncall(two)  ",
        "with x:\n    call(one)\n    call(two)",
        "    def f():\n        with x:\n            call(one)\n            call(two)\n",
    ),
    "lines that stay keep their trailing space": (
        "first line  \nsecond line\n",
        "first line\nsecond line",
        "first line\nthird line",
        "first line  \nthird line\n",
    ),
    "aligned space stays where it was not meant": (
        "alpha    = 1  # note\nbeta     = 2\n",
        "alpha = 1 # note\nbeta = 2",
        "alpha = 5 # note\nbeta = 2",
        "alpha    = 5  # note\nbeta     = 2\n",
    ),
    "curly signs stay where they were not meant": (
        "It\u2019s \u201cdone\u201d \u2013 mostly\n",
        'It\'s "done" - mostly',
        'It\'s "done" - nearly',
        "It\u2019s \u201cdone\u201d \u2013 nearly\n",
    ),
    "a part of a line, curly": (
        "print(\u201cdon\u2019t do it\u201d, 1)\n",
        '"don\'t do it"',
        '"don\'t do that"',
        "print(\u201cdon\u2019t do that\u201d, 1)\n",
    ),
    "the last line end is not there": ("one\ntwo", "two\n", "three\n", "one\nthree"),
    "a line end only in old": ("one\ntwo\nthree\n", "two\n", "four", "one\nfour\nthree\n"),
    "lines taken out": ("one\ntwo\nthree\n", "two\n", "", "one\nthree\n"),
    "drifted lines taken out": ("one\n    two words\nthree\n", "  two words\n", "", "one\nthree\n"),
    "joined on purpose": ("if (x)\n{\n", "\n{", " {", "if (x) {\n"),
    "a part of a word": ("colours\n", "colour", "color", "colors\n"),
    "an empty file": ("", "", "new\n", "new\n"),
    "indentation short by some": (
        "        value = compute(1)\n",
        "    value = compute(1)",
        "    value = compute(1)\n    other()",
        "        value = compute(1)\n        other()\n",
    ),
    "indentation short by one, later lines as in the file": (
        "def half(a):\n    return a / 2\n",
        "   return a / 2",
        "   if a is None:\n        raise ValueError\n    return a / 2",
        "def half(a):\n    if a is None:\n        raise ValueError\n    return a / 2\n",
    ),
    "an entry of a list short by some, later ones as in the file": (
        "steps:\n      - run: a\n",
        " - run: a",
        " - run: a\n      - run: b",
        "steps:\n      - run: a\n      - run: b\n",
    ),
    "indentation short by some, a text that the first line opens": (
        "    steps:\n        run: make\n",
        "    run: make",
        "    run: |\n        make\n        make test",
        "    steps:\n        run: |\n            make\n            make test\n",
    ),
    "indentation short by some, a loop of a shell": (
        "if x\n    read y\nfi\n",
        "  read y",
        "  while read y; do\n    echo\n  done",
        "if x\n    while read y; do\n      echo\n    done\nfi\n",
    ),
    "indentation short by some, a block that goes deeper": (
        "def half(a):\n    return a / 2\n",
        "   return a / 2",
        "   if a:\n       return a / 2",
        "def half(a):\n    if a:\n        return a / 2\n",
    ),
    "a part of a line, later lines as in the file": (
        '  "a": 1\n',
        '"a": 1',
        '"a": 2,\n  "b": 3',
        '  "a": 2,\n  "b": 3\n',
    ),
}


@each_case("name", DONE)
def test_done(name: str) -> None:
    text, old, new, expected = DONE[name]
    assert result(text, (old, new)) == expected


STATUS = 'STATUS = {\n    200: "OK",\n    201: "Created",\n}\n'
QUOTED = '1: STATUS = {\n2:     200: "OK",\n3:     201: "Created",'
MORE = STATUS.replace("}", '    404: "Not Found",\n}')
PEOPLE = "id|name\n1|Ann Smith\n2|Bob Jones\n"
QUESTION = "the question\nwhat then\n"
NUMBERED = {
    "only in old": (STATUS, QUOTED, MORE[:-3], MORE),
    "but for a new line": (STATUS, QUOTED, f'{QUOTED}\n    404: "Not Found",', MORE),
    "in all lines": (STATUS, QUOTED, f'{QUOTED}\n4:     404: "Not Found",', MORE),
    "one line changed": (
        QUESTION,
        "1: the question\n2: what then",
        "1: which\n2: what then",
        "which\nwhat then\n",
    ),
    "ids of the file": (
        PEOPLE,
        "2|1|Ann Smith\n3|2|Bob Jones",
        "1|Ann Smyth\n2|Bob Jones\n3|Cy Young",
        "id|name\n1|Ann Smyth\n2|Bob Jones\n3|Cy Young\n",
    ),
    "before ids of the file": (
        PEOPLE,
        "2|1|Ann Smith\n3|2|Bob Jones",
        "2|1|Ann Smyth\n3|2|Bob Jones\n4|3|Cy Young",
        "id|name\n1|Ann Smyth\n2|Bob Jones\n3|Cy Young\n",
    ),
    "before a list": (
        "start\n   of it\n1. first\n",
        "2|   of it\n3|1. first",
        "2|   of all\n3|1. first",
        "start\n   of all\n1. first\n",
    ),
    "before lines without indentation": (
        "a:\n  one word\n  two words\n",
        "2:  one word\n3:  two words",
        "2:  one\n3:end",
        "a:\n  one\nend\n",
    ),
    "a number of the text": (
        QUESTION,
        "1: the question\n2: what then",
        "42: the answer",
        "42: the answer\n",
    ),
}


@each_case("name", NUMBERED)
def test_copied_line_numbers(name: str) -> None:
    text, old, new, expected = NUMBERED[name]
    assert result(text, (old, new)) == expected


def test_line_numbers_copied_into_new_alone() -> None:
    found = outcome(QUESTION, ("what then", "2|what now\n3|and then"))
    assert [splice.new for splice in found.splices] == ["what now\nand then"]
    assert found.notes == ["copied line numbers were taken off new"]
    for new in ("2|what then", "5|what now", "2. what now"):  # which may be meant
        assert result(QUESTION, ("what then", new)) == f"the question\n{new}\n"


def test_marks_of_a_block_are_named() -> None:
    block = "<<<<<<< SEARCH\nwhat then\n=======\nwhat now\n>>>>>>> REPLACE"
    with pytest.raises(NotFound, match="SEARCH/REPLACE"):
        outcome(QUESTION, (block, ""))


@each_case(
    "sent",
    [
        (QUESTION, "1: the question\n2: what then", "whatever\n2: the answer"),
        (QUESTION, "1: the question\n2: what then", "7: whatever\n8: the answer"),
        ("1|Ann Smith\n2|Bob Jones\n", "1|1|Ann Smith\n2|2|Bob Jones", "1|Ann Smyth"),
    ],
)
def test_numbers_that_may_be_meant_are_refused(sent: tuple[str, str, str]) -> None:
    text, old, new = sent
    with pytest.raises(BadInput, match="not clear"):
        outcome(text, (old, new))


def test_all_places() -> None:
    assert result("a b a b a", ("a", "c", True)) == "c b c b c"
    assert result("aaaa", ("aa", "b", True)) == "bb"
    text = "if x:\n    do_it(now)  \nelse:\n        do_it(now)  \n"
    expected = "if x:\n    do_that(now)\nelse:\n        do_that(now)\n"
    assert result(text, ("do_it(now)\n", "do_that(now)\n", True)).replace("  \n", "\n") == expected


def test_several_places_are_named() -> None:
    with pytest.raises(BadInput, match=r"2 times.*lines 1, 3") as caught:
        outcome("foo bar\nx\nfoo bar\n", ("foo bar", "y"))
    assert caught.value.details["lines"] == [1, 3]


def test_the_nearest_lines_are_shown() -> None:
    text = "def one():\n    return 1\n\ndef two():\n    value = 2\n    return value\n"
    with pytest.raises(NotFound) as caught:
        outcome(text, ("def two():\n    value = 3\n    return value", "x"))
    assert "    5      value = 2\n  old:     value = 3\n    6      return value" in (
        caught.value.message
    )


def test_an_error_is_bounded_for_a_long_line() -> None:
    with pytest.raises(NotFound) as caught:
        outcome("word " * 100_000 + "\nlast line here\n", ("lost line here" + "x" * 5000, "x"))
    assert len(caught.value.message) < 3000


class TestSeveral:
    def test_each_finds_its_own_place(self) -> None:
        text = "one\ntwo\nthree\n"
        edits = (("three", "3"), ("one", "first\nline"), ("two\n", ""))
        assert result(text, *edits) == "first\nline\n3\n"

    def test_an_exchange(self) -> None:
        assert result("left, right\n", ("left", "right"), ("right", "left")) == "right, left\n"

    def test_the_second_may_become_unique(self) -> None:
        text = "call(1)\nother\ncall(1)\nlast\n"
        assert result(text, ("other\ncall(1)", "x"), ("call(1)", "y")) == "y\nx\nlast\n"

    @pytest.mark.parametrize("old", ["alpha beta", "gamma beta", "gamma"])
    def test_what_was_written_is_not_touched(self, old: str) -> None:
        with pytest.raises(ToolError, match="Edit 2 of 2") as caught:
            outcome("alpha beta end\n", ("alpha", "gamma"), (old, "x"))
        assert "Nothing was changed" in caught.value.hint

    def test_over_a_gap(self) -> None:
        with pytest.raises(BadInput, match="already replaced"):
            outcome("one two three", (" two", ""), ("one three", "x"))

    @given(st.lists(st.sampled_from(["a", "b", "c", "d"]), unique=True, min_size=1), st.data())
    def test_disjoint_edits_in_any_order(self, names: list[str], data: st.DataObject) -> None:
        text = "<a> - <b>\n<c>\n<d>"
        news = {n: data.draw(st.sampled_from(["", "x", "long one\n"])) for n in names}
        expected = text
        for name, new in news.items():
            expected = expected.replace(f"<{name}>", f"[{new}]")
        assert result(text, *((f"<{n}>", f"[{news[n]}]") for n in names)) == expected


class TestAnchors:
    TEXT = "one\ntwo\nthree\nfour\n"

    def test_a_line(self) -> None:
        assert result(self.TEXT, (anchor(2, "two"), "2\n")) == "one\n2\nthree\nfour\n"

    def test_a_range_taken_out(self) -> None:
        place = f"{anchor(2, 'two')}-{anchor(3, 'three')}"
        assert result(self.TEXT, (place, "")) == "one\nfour\n"

    def test_a_line_that_moved(self) -> None:
        with pytest.raises(Conflict, match="now line 3"):
            outcome(self.TEXT, (anchor(2, "three"), "x"))

    def test_text_that_looks_like_one(self) -> None:
        assert result("at 12:abcd\n", ("12:abcd", "13:abcd")) == "at 13:abcd\n"
