from __future__ import annotations

from turbohtml import parse

from toolcrib.kit.reader.tree import MAX_NODES, Page, read_tree


def blocks_of(html: str) -> list[str]:
    return [block.text for block in page_of(html).blocks]


def page_of(html: str) -> Page:
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
    assert not page_of("<i>x</i>" * MAX_NODES).whole
