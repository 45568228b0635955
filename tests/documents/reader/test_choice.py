from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from turbohtml import parse

from toolcrib.documents.reader.extraction import best_set, drop_rest, plain_text, without_repeats
from toolcrib.documents.reader.tree import read_tree

CHANCES = st.lists(st.tuples(st.floats(0, 1), st.integers(1, 300)), max_size=60)


def test_sure_blocks_are_chosen_and_unlikely_ones_are_not() -> None:
    assert best_set([0.95, 0.9, 0.1, 0.02], [50, 40, 30, 20]) == [True, True, False, False]


def test_where_nothing_is_sure_the_likeliest_are_taken() -> None:
    assert best_set([0.3, 0.3, 0.01], [50, 50, 500])[:2] == [True, True]


@given(CHANCES)
def test_no_likelier_block_is_left_out(pairs: list[tuple[float, int]]) -> None:
    chances = [chance for chance, _ in pairs]
    chosen = best_set(chances, [words for _, words in pairs])
    taken = [chance for chance, ok in zip(chances, chosen, strict=True) if ok]
    left = [chance for chance, ok in zip(chances, chosen, strict=True) if not ok]
    assert not taken or not left or min(taken) >= max(left)


def test_the_tree_keeps_what_was_chosen_and_its_pictures() -> None:
    document = parse(
        "<div><p>a</p><img src=in.png><p>b <i>c</i></p></div><div><p>no</p><img src=out.png></div>"
        "text<p>end</p>",
        positions=False,
    )
    root = document.find("body")
    page = read_tree(root)
    assert [block.text for block in page.blocks] == ["a", "b c", "no", "text", "end"]
    drop_rest(page, [True, True, False, False, True])
    html = root.serialize()
    assert "in.png" in html
    assert "<i>c</i>" in html
    assert "out.png" not in html
    assert "text" not in html
    assert "end" in html


def test_plain_text_keeps_blocks_apart() -> None:
    html = "<h2>T</h2><ul><li>a<li>b</ul><table><tr><td>1<td>2<tr><td>3<td>4</table><p>end"
    page = read_tree(parse(html, positions=False).find("body"))
    text = plain_text(page, [True] * len(page.blocks))
    assert text == "T\n\n- a\n- b\n\n1\t2\n3\t4\n\nend"


def test_a_text_counts_once_unless_it_is_a_cell_or_code() -> None:
    html = "<p>one two three four</p><div><p>one two three four</p></div><p>short</p><p>short</p>"
    html += "<table><tr><td>one two three four</table>"
    page = read_tree(parse(html, positions=False).find("body"))
    assert without_repeats(page, [0.5] * 5) == [0.5, 0.0, 0.5, 0.5, 0.5]


def test_a_refrain_stays_and_what_only_a_menu_said_before() -> None:
    html = "<ul><li>how to start it</ul><h2>how to start it</h2>"
    html += "<p>la la la la</p><p>verse two of the song</p><p>la la la la</p>"
    page = read_tree(parse(html, positions=False).find("body"))
    chances = [0.01, 0.9, 0.9, 0.9, 0.9]
    assert without_repeats(page, chances) == chances


def test_code_is_as_likely_as_the_paragraphs_that_it_stands_between() -> None:
    page = read_tree(
        parse("<p>a</p><pre>x</pre><p>b</p><pre>z</pre><div><pre>y</pre></div>").find("body")
    )
    assert without_repeats(page, [0.9, 0.1, 0.7, 0.3, 0.2]) == [0.9, 0.7, 0.7, 0.7, 0.2]
