from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from turbohtml import parse

from tests.cases import each_case
from tests.documents.reader.markdown_cases import BLOCKS, CODE, TABLES, Case
from tests.documents.reader.markdown_more_cases import (
    FORMULAS,
    LINKS,
    NOTES,
    PHRASES,
    PICTURES,
    PLAIN,
)
from tests.documents.reader.markdown_page import BASE, convert, rendered
from tests.documents.reader.markdown_site_cases import (
    MORE_BLOCKS,
    MORE_MATH,
    MORE_NOTES,
    MORE_TABLES,
    SITES,
)
from toolcrib.documents.reader.extraction import extract
from toolcrib.documents.reader.markdown.writer import MarkdownHeading, PageLink, write

pytestmark = pytest.mark.rows("A18", "A20", "D26")

GROUPS = {
    "blocks": BLOCKS,
    "tables": TABLES,
    "code": CODE,
    "plain": PLAIN,
    "phrases": PHRASES,
    "links": LINKS,
    "pictures": PICTURES,
    "formulas": FORMULAS,
    "notes": NOTES,
    "sites": SITES,
    "more tables": MORE_TABLES,
    "more blocks": MORE_BLOCKS,
    "more formulas": MORE_MATH,
    "more notes": MORE_NOTES,
}
CASES = [
    pytest.param(case, id=f"{group}-{case[0]}") for group, cases in GROUPS.items() for case in cases
]


def to_markdown(part, **options):
    return write(part, **options).markdown


def _body(html: str):
    body = parse(html, positions=False).find("body")
    assert body is not None
    return body


@each_case("case", CASES)
def test_rendered_again_it_says_the_same(case: Case):
    _, html, check = case
    page = rendered(convert(html))
    assert check(page), page.md


@each_case("case", CASES)
def test_no_space_at_line_ends_and_one_empty_line_outside_code(case: Case):
    markdown = re.sub(r"(?ms)^[ >]*(`{3,}).*?^[ >]*\1$", "", convert(case[1]))
    assert not re.search(r"[ \t]$", markdown, re.MULTILINE)
    assert "\n\n\n" not in convert(re.sub(r"(?s)<pre.*?</pre>", "", case[1]))


def test_code_keeps_its_distance_from_the_text_around():
    assert convert("<p>a</p><pre>x</pre><pre>y</pre><p>b</p>") == (
        "a\n\n```\nx\n```\n\n```\ny\n```\n\nb"
    )


def test_an_outline_with_the_places_of_the_headings():
    written = write(
        _body(
            "<h1>One <code>a_b</code></h1><pre># no</pre><blockquote><h3>T <a href=x>l</a> *</h3>"
            "</blockquote><ul><li><h2>Two</h2>x</ul><p># no</p>"
        ),
        BASE,
    )
    assert [(one.level, one.text) for one in written.outline] == [
        (1, "One a_b"),
        (3, "T l *"),
        (2, "Two"),
    ]
    for heading in written.outline:
        assert written.markdown[heading.offset :].startswith("#" * heading.level + " ")
    assert isinstance(written.outline[0], MarkdownHeading)


def test_links_and_pictures_once_each_and_absolute():
    written = write(
        _body(
            "<a href=/x>one</a><a href=/x>again</a><a href=#top>t</a><a href='javascript:'>j</a>"
            "<img data-src=/i.png alt=I><a href=/y> two\n words</a>"
        ),
        BASE,
    )
    assert written.links == (
        PageLink("https://site.example/x", "one"),
        PageLink("https://site.example/docs/page#top", "t"),
        PageLink("https://site.example/y", "two words"),
    )
    assert written.images == (PageLink("https://site.example/i.png", "I"),)


@pytest.mark.rows("F03")
def test_pictures_stand_inline_with_their_words_and_whole_address():
    written = write(_body("<p>The cat <img src=/cat.png alt='A tabby'> sleeps.</p>"), BASE)
    assert written.markdown == "The cat ![A tabby](https://site.example/cat.png) sleeps."


def test_without_a_base_addresses_stay():
    assert to_markdown(_body("<a href=x>t</a>")) == "[t](x)"


def test_elements_in_a_row():
    body = _body("<p>a</p><aside>no</aside><ol><li>b<li>c</ol><table><tr><td>d<td>e</table>")
    nodes = [body.find("p"), *body.find_all("li"), body.find("tr")]
    assert to_markdown(nodes) == "a\n\n1. b\n2. c\n\n| d | e |\n| --- | --- |"
    assert to_markdown([]) == ""


def test_one_element_that_is_no_container():
    assert to_markdown(_body("<pre class=lang-c>x</pre>").find("pre")) == "```c\nx\n```"
    assert to_markdown(_body("<p>x <b>y</b></p>").find("p")) == "x **y**"


def test_hidden_parts_stay_for_who_chose_them():
    html = "<p>a</p><p hidden>b</p>"
    assert to_markdown(_body(html)) == "a"
    assert to_markdown(_body(html), keep_hidden=True) == "a\n\nb"


def test_a_page_that_hides_nearly_everything_is_not_believed():
    long = "word " * 200
    assert long.strip() in to_markdown(_body(f"<div style='display:none'>{long}</div><p>a</p>"))


def test_private_characters_of_a_page_are_not_taken_for_marks():
    assert "9" not in to_markdown(_body("<p>a \ue0009\ue001 b</p>"))
    assert to_markdown(_body("<p>a \ue000b</p>")) == "a b"


@given(st.text(alphabet="ab *_~`[]()#>-+1.\\<&|!$:\n", max_size=60))
def test_any_text_reads_the_same_after_rendering(text: str):
    assume(not re.search(r"\\[(\[]|\$\$", text))
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    page = rendered(convert(f"<p>x{escaped}</p>"))
    assert "".join(page.tree.text.split()) == "".join(f"x{text}".split())
    assert page.count("em, strong, code, a, img, h1, h2, li, blockquote, hr, table") == 0


def test_a_sign_that_leads_to_its_own_term_is_no_text() -> None:
    html = '<dl><dt>open(path)<a class="headerlink" href="#open">#</a><dd>Opens a file.</dl>'
    html += '<p>As said in <a href="https://site.example/issues#2">#2</a>. <a href="#f">¶</a>'
    text = extract(f"<main>{html}</main>", whole=True).markdown
    assert "**open(path)**" in text
    assert "¶" not in text
    assert "[#2](https://site.example/issues#2)" in text


def test_programs_side_by_side_in_one_block_stand_apart() -> None:
    html = '<pre><code class="language-js cjs">const a = f("b");</code>'
    html += '<code class="language-js mjs">import a from "b";</code><button>copy</button></pre>'
    text = extract(f"<main><p>Two ways:{html}</main>", whole=True).markdown
    assert '```js\nconst a = f("b");\n\nimport a from "b";\n```' in text


def test_emphasis_around_quotes_and_breaks_has_no_tags() -> None:
    html = "<p>\n<i>“plain and good, it says”</i><br>\n"
    html += "(A. Reader, <b>L'autre: livre<br>\nde la mer</b>)\n"
    text = extract(f"<main>{html}</main>", whole=True).markdown
    assert "<em>" not in text
    assert "<strong>" not in text
