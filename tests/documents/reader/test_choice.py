from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turbohtml import parse

from toolcrib.documents.reader.choice import best_set, choose_blocks, without_repeats
from toolcrib.documents.reader.extraction import drop_rest, extract, plain_text
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


def _chosen(html: str, chances: list[float]) -> list[bool]:
    page = read_tree(parse(html, positions=False).find("body"))
    assert len(page.blocks) == len(chances)
    return choose_blocks(page, chances)


TEXT = "<p>" + "one paragraph of a long text goes on and on " * 20 + "</p>"


def test_a_refrain_stays_and_what_only_a_menu_said_before() -> None:
    html = "<ul><li>how to start it</ul><div><h2>how to start it</h2>"
    html += f"<p>la la la la</p>{TEXT}<blockquote><p>la la la la</p></blockquote></div>"
    assert _chosen(html, [0.01, 0.9, 0.9, 0.9, 0.9]) == [False, True, True, True, True]


def test_running_text_has_no_gaps_and_keeps_code_at_its_end() -> None:
    article = (
        f"<article>{TEXT}<p>less sure than the rest</p><p>sure</p><pre>make it</pre></article>"
    )
    assert _chosen(article, [0.99, 0.35, 0.99, 0.3]) == [True] * 4


def test_long_refrains_are_kept_however_much_of_a_song_they_are() -> None:
    html = f"<div>{TEXT}<p>a verse of some words</p>{TEXT}<p>and another verse</p>{TEXT}</div>"
    assert _chosen(html, [0.9] * 5) == [True] * 5


def test_what_each_part_of_a_manual_says_again_is_kept() -> None:
    part = "<section><h2>{0}</h2><p>{0} is another part of it, with words of its own: {1}</p>"
    part += "<p>Wait until it is done.</p></section>"
    parts = "".join(part.format(name, f"{name} and so on " * 20) for name in ("one", "two", "six"))
    assert _chosen(f"<main>{parts}</main>", [0.9] * 9) == [True] * 9


def test_a_gap_stays_where_it_is_links_or_unlikely_or_outside_the_text() -> None:
    article = f"<article>{TEXT}<p><a href=/>read this one next</a></p><p>share this</p></article>"
    html = f"{article}<div><p>{'another text that is about something else ' * 30}</p></div>"
    assert _chosen(html, [0.99, 0.4, 0.1, 0.1]) == [True, False, False, False]


def test_a_second_copy_for_another_width_of_screen_stays_out() -> None:
    html = f"<div>{TEXT}</div><div><p>a teaser of four words</p></div>{TEXT}"
    assert _chosen(html, [0.9, 0.05, 0.9]) == [True, False, False]


@pytest.mark.parametrize(
    ("kind", "author"),
    [
        ("post", '<div class="author"><a href="/u{n}">Name{n}</a></div>'),
        ("comment", '<span class="username">Name{n}</span>'),
        ("message", '<h4 class="message-name"><a href="/u{n}">Name{n}</a></h4>'),
        (
            "topic-post",
            '<span class="creator" itemprop="author"><a href="/u{n}"><b>Name{n}</b></a></span>',
        ),
    ],
)
def test_posts_of_a_thread_keep_their_authors_and_dates(kind: str, author: str) -> None:
    text = (
        "The {} rises in the hills and runs for many miles through quiet farm land before it "
        "meets the sea, and people who live along it have fished there for long."
    )
    posts = "".join(
        f'<div class="{kind}" id="p{n}">{author.format(n=n)}<time datetime="2024-01-0{n}T09:00">'
        f'Jan {n}</time><div class="content"><p>{text.format(water)}</p></div></div>'
        for n, water in enumerate(("river", "brook", "lake", "pond"), 1)
    )
    page = f"<html><head><title>Rivers</title></head><body><h1>Rivers</h1>{posts}</body></html>"
    found = extract(page, "https://example.org/forum/t/1")
    assert found.page_type == "forum"
    assert [n for n in range(1, 5) if f"Name{n}" not in found.markdown] == []
    assert [n for n in range(1, 5) if f"Jan {n}" not in found.markdown] == []


def test_two_posts_of_one_person_on_one_day_both_keep_their_line() -> None:
    text = (
        "The {} rises in the hills and runs for many miles through quiet farm land before it "
        "meets the sea, and people who live along it have fished there for long."
    )
    posts = "".join(
        f'<div class="post" id="p{n}"><h4>Re: Rivers</h4><p class="line">By: Fisher on 3 May 2024'
        f'</p><div class="content"><p>{text.format(water)}</p></div></div>'
        for n, water in enumerate(("river", "brook", "lake", "pond"), 1)
    )
    page = f"<html><head><title>Rivers</title></head><body><h1>Rivers</h1>{posts}</body></html>"
    found = extract(page, "https://example.org/forum/t/1")
    assert found.page_type == "forum"
    assert found.markdown.count("By: Fisher") == 4


def _manual(html: str, chances: list[float]) -> str:
    page = read_tree(parse(html, positions=False).find("body"))
    return plain_text(page, choose_blocks(page, chances, "documentation"))


def test_what_a_manual_says_again_beside_something_new_stays() -> None:
    again = "<p>the encoding is the one of the caller</p>"
    html = f"<dl><dt>read(path)<dd><p>gives the whole text of a file at once</p>{again}"
    html += f"<dt>write(path)<dd>{again}<p>puts a text in the place of what was there</p></dl>"
    html += f"<p>{'see also ' * 40}<p>no"
    assert _manual(html, [0.9] * 6 + [0.1, 0.1]).count("the encoding") == 2


def test_an_element_that_says_nothing_new_is_a_copy_in_a_manual_too() -> None:
    half = "<p>the encoding is the one of the caller</p><p>gives the whole text of a file</p>"
    text = _manual(f"<div>{half}</div><div>{half}</div>", [0.9] * 4)
    assert text.count("the encoding") == 1


def test_headings_and_terms_stay_with_what_they_head() -> None:
    html = "<div><p>menu of the site</p></div><h1>The rake</h1><span>1.2</span>"
    html += f"<p>{'of gardens ' * 30}</p><dl><dt>teeth<dd>{'of steel ' * 20}</dl>"
    html += "<h2>Related</h2><p>Other rakes that may be of use to you in the same garden</p>"
    text = _manual(html, [0.1, 0.2, 0.05, 0.9, 0.2, 0.9, 0.2, 0.02])
    assert "The rake" in text
    assert "teeth" in text
    assert "menu" not in text
    assert "Related" not in text


def test_a_heading_that_another_of_its_level_follows_heads_nothing() -> None:
    html = f"<div><h1>The rake</h1></div><h1>The rake</h1><p>{'of gardens ' * 30}</p>"
    assert _manual(html, [0.2, 0.9, 0.9]).count("The rake") == 1


def test_a_list_of_links_within_a_manual_stays_where_no_item_is_unlikely() -> None:
    prose = f"<p>{'of gardens ' * 60}</p>"
    links = "<ul><li><a href=a>rakes</a><li><a href=b>hoes</a></ul>"
    assert "hoes" in _manual(f"{prose}{links}{prose}", [0.9, 0.4, 0.35, 0.9])
    assert "hoes" not in _manual(f"{prose}{links}{prose}", [0.9, 0.1, 0.35, 0.9])


def test_a_row_between_two_parts_of_a_manual_stays_though_less_sure() -> None:
    prose = f"<p>{'of gardens ' * 60}</p>"
    middle = "<p>and rakes of all kinds</p><pre>rake --all</pre>"
    assert "rake --all" in _manual(f"{prose}{middle}{prose}", [0.9, 0.28, 0.25, 0.9])


def test_the_menu_of_a_short_manual_is_no_content() -> None:
    html = f"<h1>The rake</h1><p>{'of gardens ' * 20}</p><nav><h2>All</h2><a href=a>rakes</a></nav>"
    assert _manual(html, [0.9, 0.9, 0.8, 0.8]).endswith("gardens")
    assert "rakes" in _manual("<p>Of gardens</p><nav><a href=a>rakes</a></nav>", [0.9, 0.8])
    assert "rakes" in _manual(f"<main>{html}</main>", [0.9, 0.9, 0.8, 0.8])


def test_labels_side_by_side_are_words_of_their_own() -> None:
    tabs = '<div><label for="a">Shell</label><label for="b">Editor</label></div>'
    result = extract(f"<main><p>Two ways to do it.</p>{tabs}</main>", whole=True)
    assert "Shell Editor" in result.text
    assert "Shell Editor" in result.markdown


def test_a_list_of_a_manual_is_not_cut_where_its_entries_differ_by_little() -> None:
    entries = "".join(f"<dt>tool{n}<dd>does the work of hand {n}" for n in range(4))
    html = f"<aside>{'other news ' * 90}</aside><p>{'of gardens ' * 30}</p><dl>{entries}</dl>"
    text = _manual(html, [0.01, 0.9, 0.5, 0.5, 0.36, 0.38, 0.5, 0.5, 0.5, 0.5])
    assert [f"hand {n}" in text for n in range(4)] == [True] * 4
