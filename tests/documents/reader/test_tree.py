from __future__ import annotations

from turbohtml import parse

from toolcrib.documents.reader.extraction import drop_rest
from toolcrib.documents.reader.tree import MAX_ELEMENTS, PageTables, read_tree


def blocks_of(html: str) -> list[str]:
    return [block.text for block in page_of(html).blocks]


def page_of(html: str) -> PageTables:
    document = parse(html, positions=False)
    return read_tree(document.find("body"))


def test_blocks_end_where_block_level_elements_do() -> None:
    assert blocks_of("<p>one <b>two</b>\n three<div>four</div>five") == [
        "one two three",
        "four",
        "five",
    ]


def test_one_line_break_is_a_line_and_two_are_a_paragraph() -> None:
    assert blocks_of("<div>a<br>b<br><br>c</div>") == ["a\nb", "c"]


def test_preformatted_text_keeps_its_lines() -> None:
    assert blocks_of("<pre>def f():\n    return 1\n</pre>") == ["def f():\n    return 1"]


def test_scripts_styles_and_options_are_no_text() -> None:
    html = "<script>x</script><style>y</style><select><option>z</select><template>t</template>ok"
    assert blocks_of(html) == ["ok"]


def test_links_are_counted_in_characters() -> None:
    (block,) = page_of("<p>see <a href=/a>the page</a> there</p>").blocks
    assert (block.link_chars, block.links, block.words) == (8, 1, 4)


def test_hidden_text_is_left_out_and_kept_track_of() -> None:
    page = page_of(
        "<p>seen</p><p hidden>a</p><p style='display: none'>b</p><p style='font-size:0'>c</p>"
        "<span style='visibility:hidden'>d</span><p style='opacity:0'>e</p>"
    )
    assert [block.text for block in page.blocks] == ["seen"]
    assert len(page.hidden) == 5


def test_what_a_click_reveals_is_text() -> None:
    assert blocks_of("<div role=tabpanel hidden>a</div><div class=accordion hidden>b</div>") == [
        "a",
        "b",
    ]


def test_a_page_that_is_hidden_until_it_has_loaded_is_read() -> None:
    text = "word " * 60
    assert blocks_of(f"<p>menu</p><div style='visibility:hidden'><p>{text}</p></div>") == [
        "menu",
        text.strip(),
    ]


def test_elements_know_their_blocks() -> None:
    page = page_of("<div><p>a<p>b</div><p>c")
    ranges = {element.tag: (element.start, element.end) for element in page.elements[:2]}
    assert ranges == {"body": (0, 3), "div": (0, 2)}


def test_a_huge_page_is_given_up() -> None:
    assert not page_of("<i>x</i>" * (MAX_ELEMENTS + 1)).whole


_PROSE = "<p>" + "some words of a text that goes on " * 30 + "</p>"
_MENU = "<nav><ul><li><a href=/a>Shop</a><li><a href=/b>About</a></ul></nav>"


def test_a_menu_is_passed_over_where_the_page_has_enough_without_it() -> None:
    texts = blocks_of(_MENU + _PROSE + "<footer><div>Imprint</div></footer>")
    assert len(texts) == 1
    assert texts[0].startswith("some words")


def test_a_menu_is_read_where_it_may_be_what_the_page_is_about() -> None:
    assert blocks_of(_MENU + "<p>few words</p>") == ["Shop", "About", "few words"]
    large = "<nav>" + "<div>an entry of a long list</div>" * 400 + "</nav>"
    assert len(blocks_of(large + _PROSE)) == 401


def test_what_looks_like_content_is_read_inside_of_a_menu_too() -> None:
    assert len(blocks_of(f"<nav><div>x</div>{_PROSE}</nav><footer><p>y</p></footer>")) == 3


def test_a_menu_that_was_passed_over_does_not_stay_between_chosen_blocks() -> None:
    root = parse(_PROSE + _MENU + _PROSE, positions=False).find("body")
    page = read_tree(root)
    drop_rest(page, [True, True])
    assert "Shop" not in root.text
