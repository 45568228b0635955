"""What Markdown must still say of a page: phrases, links, pictures, formulas and notes."""
# ruff: noqa: E501 - markup reads best in one piece

from __future__ import annotations

from collections.abc import Callable

from tests.documents.reader.markdown_cases import Case
from tests.documents.reader.markdown_page import Page

ROOT = "https://site.example"


def _same(text: str) -> Callable[[Page], bool]:
    return lambda p: (
        p.tree.text.strip("\n") == text and p.count("em, strong, s, a, h1, li, code") == 0
    )


def _plain(text: str) -> Case:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    return (f"plain {text}", f"<p>{escaped}</p>", _same(text))


def _source(src: str) -> Callable[[Page], bool]:
    return lambda p: p.attrs("img", "src") == [f"{ROOT}{src}"]


PLAIN: list[Case] = [
    _plain(text)
    for text in (
        "a * b * c", "*starred*", "a*b*c", "__init__ and _x_", "# not a heading", "1. not a list",
        "1) not a list", "- not a list", "+ not a list", "* not a list", "> not a quote", "---",
        "=== x", "~~not struck~~", "<b>not bold</b>", "x < y > z", "a \\ b \\\\ c \\* d", "`tick`",
        "[text](address)", "![picture](address)", "[a]: address", "&amp; &copy;", "2024. A year",
        "C:\\path\\new", "snake_case_name", "~5 and ~6", "price* and [1]", "| a | b |",
    )
]  # fmt: skip

PHRASES: list[Case] = [
    (
        "space_inside",
        "<p><b> x </b>y a<b> b</b></p>",
        lambda p: p.texts("strong") == ["x", "b"] and p.text == "x y a b",
    ),
    (
        "in_word",
        "<p>un<em>frigging</em>real <b>foo,</b>bar</p>",
        lambda p: (
            p.texts("em") == ["frigging"]
            and p.texts("strong") == ["foo,"]
            and p.text == "unfriggingreal foo,bar"
        ),
    ),
    (
        "adjacent",
        "<p><b>a</b><b>b</b><i>c</i></p>",
        lambda p: p.text == "abc" and p.texts("em") == ["c"] and "*" not in p.text,
    ),
    ("nested", "<p><b><i>x</i></b></p>", lambda p: p.texts("strong em") == ["x"]),
    ("empty_emphasis", "<p>a<b></b> <i> </i>b</p>", lambda p: p.text == "a b"),
    (
        "around_blocks",
        "<b><p>x</p><p>y</p></b>",
        lambda p: p.texts("p strong") == ["x", "y"],
    ),
    ("breaks_inside", "<p><b>a<br><br>b</b></p>", lambda p: p.texts("strong") == ["a b"]),
    ("struck", "<p><del>a</del> <s>b</s> <strike>c</strike></p>", lambda p: p.count("s") == 3),
    (
        "raised",
        "<p>H<sub>2</sub>O x<sup>2</sup> 1<sup>st</sup></p>",
        lambda p: p.texts("sub") == ["2"] and p.texts("sup") == ["2"] and "1st" in p.text,
    ),
    ("key", "<p>Press <kbd>Ctrl</kbd></p>", lambda p: p.text == "Press Ctrl"),
    ("mark", "<p><mark>m</mark> <abbr title=World>W</abbr></p>", lambda p: p.text == "m W"),
    ("entities", "<p>&eacute; &mdash; &#x1F600; &amp;lt;</p>", _same("é — 😀 &lt;")),
    ("no_break_space", "<p>a&nbsp;b</p><p>&nbsp;</p>", lambda p: p.md == "a b"),
    ("no_width", "<p>a\u200bb c\u00add \ufeffe</p>", lambda p: p.md == "ab cd e"),
    (
        "joiners",
        "<p>\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645</p>",
        lambda p: "\u200c" in p.md,
    ),
    (
        "rtl",
        '<p dir="rtl">\u05e9\u05dc\u05d5\u05dd 1. x</p>',
        _same("\u05e9\u05dc\u05d5\u05dd 1. x"),
    ),
    ("cjk_lines", "<p>中文的\n  文字。\nabc</p>", lambda p: p.md == "中文的文字。 abc"),
    (
        "cjk_emphasis",
        "<p>これは<b>「重要」</b>です</p>",
        lambda p: p.texts("strong") == ["「重要」"],
    ),
    ("after_break", "<p>a<br># b<br>- c<br>1. d</p>", lambda p: p.count("h1, li") == 0),
    (
        "hidden",
        (
            "<p>see</p><p hidden>no1</p><p style='display: none'>no2</p><script>no3</script>"
            "<style>no4</style><template>no5</template><p aria-hidden=true>no6</p>"
        ),
        lambda p: p.text == "see",
    ),
    ("ruby", "<ruby>漢<rp>(</rp><rt>kan</rt></ruby>", lambda p: p.text == "漢"),
    ("inside_word", "<p>a snake_case <b>b_c_d</b></p>", lambda p: "\\" not in p.md),
    ("brackets", "<p>see [1] and [a b]</p>", lambda p: p.md == "see [1] and [a b]"),
]

LINKS: list[Case] = [
    (
        "relative",
        "<a href=x>a</a> <a href=../y>b</a> <a href=//o.example/z>c</a> <a href=?q=1>d</a>",
        lambda p: (
            p.attrs("a", "href")
            == [f"{ROOT}/docs/x", f"{ROOT}/y", "https://o.example/z", f"{ROOT}/docs/page?q=1"]
        ),
    ),
    (
        "title",
        "<a href=/x title='a \"b\"'>t</a>",
        lambda p: p.attrs("a", "title") == ['a "b"'] and p.texts("a") == ["t"],
    ),
    ("parentheses", "<a href='/a_(b)'>t</a>", lambda p: p.attrs("a", "href") == [f"{ROOT}/a_(b)"]),
    ("open_parenthesis", "<a href='/a(b'>t</a>", lambda p: p.attrs("a", "href") == [f"{ROOT}/a(b"]),
    (
        "spaces",
        "<a href='/a b'>t</a>",
        lambda p: p.attrs("a", "href") == [f"{ROOT}/a%20b"],
    ),
    ("brackets_in_text", "<a href=/x>a [b] c</a>", lambda p: p.texts("a") == ["a [b] c"]),
    ("bracket_in_text", "<a href=/x>a ] c</a>", lambda p: p.texts("a") == ["a ] c"]),
    (
        "picture_inside",
        "<a href=/x><img src=/i.png alt='a]b'></a>",
        lambda p: p.attrs("a > img", "alt") == ["a]b"],
    ),
    (
        "around_blocks",
        "<a href=/x><div><h3>T</h3></div><div>more</div></a>",
        lambda p: (
            p.texts("h3 a") == ["T"]
            and set(p.attrs("a", "href")) == {f"{ROOT}/x"}
            and "more" in p.text
        ),
    ),
    ("empty", "<p>a<a href=/x></a><a href=/y> </a>b</p>", lambda p: p.count("a") == 0),
    ("script", "<a href='javascript:x()'>t</a>", lambda p: p.count("a") == 0 and p.text == "t"),
    ("line_feed", "<a href='/a\nb'>t</a>", lambda p: p.attrs("a", "href") == [f"{ROOT}/ab"]),
    ("emphasis", "<b><a href=/x>t</a></b>", lambda p: p.texts("strong a") == ["t"]),
    ("self", "<a href='https://o.example/'>https://o.example/</a>", lambda p: p.count("a") == 1),
    (
        "video",
        '<iframe src="https://www.youtube.com/embed/abcdefghijk" title="Talk"></iframe>',
        lambda p: p.attrs("a", "href") == ["https://www.youtube.com/watch?v=abcdefghijk"],
    ),
    ("video_file", "<video><source src=/v.mp4></video>", lambda p: p.count("a") == 1),
]

PICTURES: list[Case] = [
    ("plain", "<img src=/i.png alt=a>", _source("/i.png")),
    ("data_src", '<img src="data:image/gif;base64,R0" data-src="/i.png" alt=a>', _source("/i.png")),
    ("lazy_src", '<img data-lazy-src="/i.png" alt=a>', _source("/i.png")),
    ("original", '<img src="/blank.gif" data-original="/i.png" alt=a>', _source("/i.png")),
    ("srcset", '<img srcset="/s.png 300w, /i.png 900w" alt=a>', _source("/i.png")),
    (
        "picture",
        '<picture><source srcset="/i.webp 1x"><img alt=a></picture>',
        _source("/i.webp"),
    ),
    (
        "noscript",
        '<img class=lazy src="/placeholder.png"><noscript><img src="/i.png" alt=a></noscript>',
        _source("/i.png"),
    ),
    ("noscript_alone", '<p>x</p><noscript><img src="/i.png" alt=a></noscript>', _source("/i.png")),
    (
        "noscript_twice",
        '<img src="/i.png"><noscript><img src="/i.png"></noscript>',
        _source("/i.png"),
    ),
    ("data_only", '<p>x<img src="data:x" alt="words"></p>', lambda p: p.count("img") == 0),
    ("pixel", "<p>x<img src=/t.gif width=1 height=1></p>", lambda p: p.md == "x"),
    ("alt_lines", '<img src=/i.png alt="a\n\nb">', lambda p: p.attrs("img", "alt") == ["a b"]),
]

_KATEX = (
    '<span class="katex"><span class="katex-mathml"><math><semantics><mi>x</mi><annotation '
    'encoding="application/x-tex">{}</annotation></semantics></math></span><span '
    'class="katex-html" aria-hidden="true">JUNK</span></span>'
)


def _formula(markdown: str) -> Callable[[Page], bool]:
    return lambda p: p.md.count(markdown) == 1 and p.md.count("$") == markdown.count("$")


FORMULAS: list[Case] = [
    ("katex", f"<p>a {_KATEX.format('x_1^2')} b</p>", _formula("a $x_1^2$ b")),
    (
        "katex_display",
        f'<p>a <span class="katex-display">{_KATEX.format(chr(92) + "sum x")}</span> b</p>',
        _formula("\n\n$$\\sum x$$\n\n"),
    ),
    (
        "mathjax_2",
        (
            '<p>a <span class="MathJax_Preview">q</span><span class="MathJax">JUNK</span><script '
            'type="math/tex">E=mc^2</script> b</p>'
        ),
        lambda p: p.md == "a $E=mc^2$ b",
    ),
    (
        "mathjax_2_display",
        (
            '<p>a</p><div class="MathJax_Display">JUNK</div><script type="math/tex; mode=display">'
            "\\int f</script>"
        ),
        lambda p: p.md == "a\n\n$$\\int f$$",
    ),
    (
        "mathjax_3",
        (
            '<p>a <mjx-container class="MathJax"><mjx-math>JUNK</mjx-math><mjx-assistive-mml><math>'
            "<mfrac><mi>a</mi><mi>b</mi></mfrac></math></mjx-assistive-mml></mjx-container></p>"
        ),
        lambda p: p.md == "a $\\frac{a}{b}$",
    ),
    (
        "mathml_annotation",
        (
            "<math><semantics><mi>x</mi><annotation encoding=application/x-tex>x_a</annotation>"
            "</semantics></math>"
        ),
        _formula("$x_a$"),
    ),
    (
        "mathml",
        "<math><msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><msqrt><mi>&alpha;</mi></msqrt></math>",
        _formula("$x^2 + \\sqrt{\\alpha}$"),
    ),
    (
        "mathml_display",
        "<math display=block><munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover></math>",
        _formula("$$\\sum_i^n$$"),
    ),
    ("alttext", "<math alttext='\\beta'><mi>b</mi></math>", _formula("$\\beta$")),
    (
        "wiki",
        (
            '<span class="mwe-math-element"><span style="display:none"><math><semantics><mi>x</mi>'
            '<annotation encoding="application/x-tex">{\\displaystyle x}</annotation></semantics>'
            '</math></span><img class="mwe-math-fallback-image-inline" src=/x.svg alt=x></span>'
        ),
        lambda p: p.md == "$x$",
    ),
    ("delimiters", "<p>a \\(x_1*y_2*z\\) b</p>", _formula("a $x_1*y_2*z$ b")),
    ("in_code", "<p><code>\\(x\\)</code></p>", lambda p: p.md == "`\\(x\\)`"),
    (
        "in_cell",
        f"<table><tr><th>a<th>b<tr><td>{_KATEX.format('|x|')}<td>c</table>",
        lambda p: len(p.rows[1]) == 2 and p.rows[1][1] == "c",
    ),
    ("money", "<p>costs $5 and $6</p>", lambda p: p.md == "costs $5 and $6"),
]

NOTES: list[Case] = [
    (
        "list",
        (
            '<p>A<sup id="fnref:1"><a href="#fn:1" class="footnote-ref">1</a></sup>.</p><div '
            'class="footnotes"><ol><li id="fn:1"><p>The note. <a href="#fnref:1" '
            'class="footnote-backref">↩</a></p></li></ol></div>'
        ),
        lambda p: p.md == "A[^1].\n\n[^1]: The note.",
    ),
    (
        "one_word",
        '<p>A<a href="#fn2"><sup>2</sup></a></p><ol><li id="fn2">Word <a href="#fnref2">↩</a></ol>',
        lambda p: "[^2]: Word" in p.md and "Word" in p.text,
    ),
    (
        "paragraph",
        (
            '<p>A<a href="#_ftn1" name="_ftnref1"><sup>[1]</sup></a></p><p><a href="#_ftnref1" '
            'name="_ftn1" id="_ftn1">[1]</a> Said so.</p>'
        ),
        lambda p: "A[^1]" in p.md and "Said so." in p.text,
    ),
    (
        "missing",
        '<p>A<sup class="reference"><a href="#cite_note-x-9">[9]</a></sup> b</p>',
        lambda p: p.md == "A[9] b",
    ),
    (
        "same_twice",
        (
            '<p>A<sup><a href="#fn1">1</a></sup> B<sup><a href="#fn1">1</a></sup></p><ol><li id=fn1>'
            "the note</ol>"
        ),
        lambda p: p.md.count("[^1]:") == 1 and p.md.count("[^1]") == 3,
    ),
]
