"""What the parts of the reader owe each other: the tree that was chosen, as Markdown."""

from __future__ import annotations

from turbohtml import parse

from tests.cases import each_case
from tests.documents.reader.fixtures import SENTENCES, article
from toolcrib.documents.reader.extraction import Extraction, drop_rest, extract, with_whole_formulas
from toolcrib.documents.reader.tree import read_tree

URL = "https://river.example/2026/bridge"
KATEX = (
    "<span class=katex><span class=katex-mathml><math><semantics><mrow><mi>E</mi><mo>=</mo>"
    "<mi>m</mi></mrow><annotation encoding='application/x-tex'>E=mc^2</annotation></semantics>"
    "</math></span><span class=katex-html aria-hidden=true>E=mc2</span></span>"
)


def with_part(part: str) -> Extraction:
    """An article that goes on after the part, so that it is in its middle."""
    more = "".join(f"<p>{sentence.replace('the', 'that')}</p>" for sentence in SENTENCES)
    return extract(article(part + more), URL)


@each_case(
    ("part", "wanted"),
    [
        (f"<p>{SENTENCES[0]} Here {KATEX} holds, too.</p>", "$E=mc^2$"),
        ("<p>Then <script type='math/tex'>a_1</script> holds for the pillars.</p>", "$a_1$"),
        ("<p>So <math><msup><mi>x</mi><mn>2</mn></msup></math> holds for all.</p>", "$x^2$"),
        ("<iframe src='https://www.youtube.com/embed/abcdefghijk'></iframe>", "watch?v=abcdef"),
        ("<video src=/film.mp4></video>", "(https://river.example/film.mp4)"),
        ("<ul><li><input type=checkbox checked> Look at all of the pillars</ul>", "- [x] Look"),
        ("<img src=data:, alt=Ice><noscript><img src=/ice.png></noscript>", "/ice.png)"),
        ("<pre class='language-c'><code>int main;\n  int x;</code></pre>", "```c\nint main;"),
        ("<table><tr><th>Year<th>Cracks<tr><td>2025<td>Eleven</table>", "| Year | Cracks |"),
    ],
)
def test_what_is_no_text_reaches_the_markdown(part: str, wanted: str) -> None:
    assert wanted in with_part(part).markdown


def test_text_for_those_without_scripts_is_in_the_markdown_if_it_was_chosen() -> None:
    words = "".join(f"<p>{sentence}</p>" for sentence in SENTENCES)
    found = extract(f"<div id=app></div><noscript><h1>Bridges</h1>{words}</noscript>", URL)
    assert SENTENCES[2] in found.text
    assert SENTENCES[2] in found.markdown


def test_headings_know_their_place() -> None:
    found = with_part("<h2>Costs</h2><p>Eleven million.</p>")
    assert [heading.text for heading in found.outline][-1] == "Costs"
    for heading in found.outline:
        assert found.markdown[heading.offset :].startswith(f"{'#' * heading.level} {heading.text}")


def test_a_page_is_described_as_reader_modes_do() -> None:
    head = (
        "<meta property='og:site_name' content='River Post'><meta name=author content='Ann Weir'>"
        "<meta property='article:published_time' content='2026-03-01'>"
        "<meta property='article:modified_time' content='2026-03-02'>"
    )
    found = extract(article(head=head), URL)
    assert (found.title, found.byline) == ("Bridge closed for weeks | River Post", "Ann Weir")
    assert (found.site_name, found.language) == ("River Post", "en")
    assert (found.published, found.modified) == ("2026-03-01", "2026-03-02")
    assert found.excerpt == SENTENCES[0]


@each_case(("taken", "found"), [((0,), True), ((0, 1, 2, 3, 4), True), ((4,), False), ((2,), True)])
def test_a_formula_is_kept_with_its_paragraph(taken: tuple[int, ...], found: bool) -> None:
    html = "<p>let <math><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow></math></p><p>rest</p>"
    root = parse(html, positions=False).find("body")
    page = read_tree(root)
    assert len(page.blocks) == 5
    drop_rest(page, with_whole_formulas(page, [number in taken for number in range(5)]))
    assert root is not None
    assert ("<mi>a</mi><mo>+</mo><mi>b</mi>" in root.serialize()) is found
