"""Pages made to exhaust a reader, each as a function of its size: 1 is the full one."""
# ruff: noqa: E501 - markup reads best in one piece

from __future__ import annotations

import json
from collections.abc import Callable

MARKER = "the visible words of this page"
REPLY_PHRASE = f"<p>Here are {MARKER} for all to read.</p>"
Make = Callable[[float], str | bytes]


def _times(share: float, number: int) -> int:
    return max(2, int(share * number))


def _nested(opening: str, number: int, closing: str = "") -> Make:
    return lambda share: opening * _times(share, number) + MARKER + closing * _times(share, number)


def _many(piece: str, number: int, *, around: tuple[str, str] = ("", "")) -> Make:
    """A piece again and again, `#` in it being its number, then the marker."""

    def make(share: float) -> str:
        count = _times(share, number)
        if "#" in piece:
            parts = piece.split("#")
            middle = "".join(str(n).join(parts) for n in range(count))
        else:
            middle = piece * count
        return around[0] + middle + around[1] + REPLY_PHRASE

    return make


def _script(kind: str, value: Callable[[int], object], number: int) -> Make:
    def make(share: float) -> str:
        made = value(_times(share, number))
        source = made if isinstance(made, str) else json.dumps(made)
        return f"<html><body>{REPLY_PHRASE}<script type='{kind}'>{source}</script></body></html>"

    return make


def _shadow(share: float) -> str:
    return (
        f"<div><template shadowrootmode=open>{REPLY_PHRASE}<slot></slot></template></div>" * 2
        + "<template><p>no</p></template>" * _times(share, 60_000)
        + REPLY_PHRASE
    )


DEEP: dict[str, Make] = {
    "unclosed divs": _nested("<div>", 200_000),
    "unclosed divs with text": _nested("<div>some text", 200_000),
    "deep divs": _nested("<div>", 100_000, "</div>"),
    "deep divs with text": _nested("<div>a word", 100_000, "b</div>"),
    "bold italics": _nested("<b><i>", 50_000),
    "bold italics with text": _nested("<b>x<i>", 50_000),
    "deep spans": _nested("<span>", 100_000),
    "deep lists": _nested("<ul><li>", 50_000),
    "deep lists with text": _nested("<ul><li>an item", 50_000),
    "deep quotes": _nested("<blockquote>", 50_000),
    "deep quotes with text": _nested("<blockquote>said", 50_000),
    "deep tables": _nested("<table><tr><td>", 10_000),
    "deep tables with text": _nested("<table><tr><td>a<td>", 10_000),
    "deep svg": lambda s: "<svg>" + "<g>" * _times(s, 50_000) + "</svg>" + REPLY_PHRASE,
    "deep math": lambda s: "<math>" + "<mrow>" * _times(s, 50_000) + "x</math>" + REPLY_PHRASE,
    "deep fractions": lambda s: (
        "<p>" + "<math><mfrac>" * _times(s, 20_000) + "</math>" + REPLY_PHRASE
    ),
    "deep dls": _nested("<dl><dt>a<dd>", 20_000),
    "deep forms": _nested("<fieldset><legend>x</legend>", 30_000),
    "deep details": _nested("<details><summary>x</summary>", 30_000),
    "deep anchors": _nested("<a href=x><div>", 20_000),
    "deep headings": _nested("<section><h2>", 30_000),
    "deep buttons": _nested("<object><p>", 30_000),
    "deep ruby": _nested("<ruby>", 50_000),
    "deep fonts": _nested("<font color=red><p>", 5_000),
    "misnested": _nested("<a><b><p></a>", 3_000),
    "deep select": lambda s: "<select>" * _times(s, 50_000) + "</select>" + REPLY_PHRASE,
    "deep frames in svg": lambda s: (
        "<svg><foreignObject><iframe>" * _times(s, 20_000)
        + "</iframe></foreignObject></svg>"
        + REPLY_PHRASE
    ),
}

WIDE: dict[str, Make] = {
    "one attribute": lambda s: f"<p title='{'x' * _times(s, 5_000_000)}'>{MARKER}</p>",
    "one class": lambda s: f"<p class='{'ab ' * _times(s, 1_700_000)}'>{MARKER}</p>",
    "one style": lambda s: f"<p style='{'color : red;' * _times(s, 400_000)}'>{MARKER}</p>",
    "one address": lambda s: f"<p><a href='/{'x' * _times(s, 5_000_000)}'>l</a> {MARKER}</p>",
    "one picture": lambda s: (
        f"<p><img src='data:image/png;base64,{'x' * _times(s, 5_000_000)}'>{MARKER}</p>"
    ),
    "one srcset": lambda s: f"<img srcset='{'/a.png 1x, ' * _times(s, 500_000)}'>{REPLY_PHRASE}",
    "attributes": lambda s: (
        "<p " + " ".join(f"a{n}=1" for n in range(_times(s, 100_000))) + f">{MARKER}</p>"
    ),
    "attributes everywhere": _many(
        "<p " + " ".join(f"a{n}=1" for n in range(50)) + ">x</p>", 10_000
    ),
    "options": _many("<option>x#", 200_000, around=("<select>", "</select>")),
    "options without select": _many("<option>x</option>", 200_000),
    "identical paragraphs": _many(
        "<p>An identical paragraph of text, ten megabytes of it.</p>\n", 160_000
    ),
    "different paragraphs": _many(
        "<p>Paragraph number # of a text that does not end.</p>\n", 180_000
    ),
    "links": _many('<a href="/a/path/to/page/#.html">link number #</a>\n', 200_000),
    "links in items": _many(
        '<li><a href="/a/path/#">link #</a></li>\n', 200_000, around=("<ul>", "</ul>")
    ),
    "same links": _many("<a href=/a>link</a> ", 400_000),
    "colspans": _many("<tr><td colspan=100000>a<td>b", 200, around=("<table>", "</table>")),
    "rowspans": _many("<tr><td rowspan=100000>a<td>b", 2_000, around=("<table>", "</table>")),
    "both spans": _many(
        "<tr><td rowspan=65534 colspan=1000>a<td>b", 2_000, around=("<table>", "</table>")
    ),
    "rows": _many("<tr><td>cell #<td>b<td>c</tr>\n", 100_000, around=("<table>", "</table>")),
    "rows with head": _many(
        "<tr><td>cell #<td>b</tr>\n",
        100_000,
        around=("<table><thead><tr><th>one<th>two</thead>", "</table>"),
    ),
    "columns": _many("<td>c#", 100_000, around=("<table><tr>", "</table>")),
    "cells of paragraphs": _many(
        "<tr><td><p>a<p>b<td>c</tr>", 30_000, around=("<table>", "</table>")
    ),
    "many tables": _many("<table><tr><th>a<td>b</table>", 30_000),
    "headings": _many("<h2>Heading #</h2>\n", 100_000),
    "headings with links": _many(
        "<h2 id=h#>Heading # <a class=headerlink href='#h'>¶</a></h2>", 50_000
    ),
    "pictures": _many("<img src=/i#.png srcset='/i#.png 1x, /j#.png 2x' alt='picture #'>", 100_000),
    "lazy pictures": _many(
        "<picture><source srcset=/a#.webp><img data-src=/i#.png></picture>", 60_000
    ),
    "pictures with noscript": _many(
        "<img src=data:x><noscript><img src=/i#.png></noscript>", 60_000
    ),
    "breaks": _many("<br>", 1_000_000),
    "breaks with text": _many("a<br>", 500_000),
    "rules": _many("<hr>", 500_000),
    "tiny inline": _many("<b>x</b><i>y</i><u>z</u>", 100_000),
    "tiny spans": _many("<span>x</span> ", 300_000),
    "tiny code": _many("<code>x</code> ", 200_000),
    "raised": _many("<sup>2</sup>x", 150_000),
    "footnotes": _many('<sup><a href="#fn#">#</a></sup>', 100_000),
    "defined footnotes": lambda s: (
        "<p>"
        + "".join(f'a<sup><a href="#fn{n}">{n}</a></sup>' for n in range(_times(s, 50_000)))
        + "<ol>"
        + "".join(f"<li id=fn{n}>Note {n}." for n in range(_times(s, 50_000)))
        + "</ol>"
        + REPLY_PHRASE
    ),
    "definitions": _many("<dt>term #<dd>what # means", 100_000, around=("<dl>", "</dl>")),
    "items": _many("<li>item number #</li>", 200_000, around=("<ol>", "</ol>")),
    "lone items": _many("<li>item number #", 100_000),
    "boxes": _many("<li><input type=checkbox>task #", 60_000, around=("<ul>", "</ul>")),
    "listings": _many("<pre><code class=language-c>x = #;</code></pre>", 30_000),
    "one listing": lambda s: (
        "<pre>" + "a line of code, and more\n" * _times(s, 400_000) + "</pre>" + REPLY_PHRASE
    ),
    "one highlighted listing": _many(
        "<span class=line><span class=k>int</span> x#;</span>\n",
        60_000,
        around=("<pre><code>", "</code></pre>"),
    ),
    "formulas": _many("<math><mi>x</mi><mo>=</mo><mn>#</mn></math>", 40_000),
    "formulas in text": _many(r"\(x_#\) and $$y$$ ", 150_000),
    "open formulas": _many(r"\( \[ $$ ", 300_000),
    "comments": _many("<!-- c -->", 300_000),
    "hidden": _many("<p hidden>no</p>", 100_000),
    "styled": _many("<p style='display : block; opacity : 1'>shown</p>", 100_000),
    "custom elements": _many("<x-#>t</x-#>", 150_000),
    "frames": _many("<iframe src='https://www.youtube.com/embed/abcdef#'></iframe>", 60_000),
    "articles": _many(
        "<article><h2>T#</h2><p>An article of some words, number #.</p></article>", 30_000
    ),
    "comments of users": _many(
        "<div class=comment id=c#><b class=author>u#</b><p>I say # to that, twice.</p></div>",
        15_000,
        around=("", "<div class=comment><b class=author>u</b>"),
    ),
    "empty divs": _many("<div></div>", 400_000),
    "empty paragraphs": _many("<p>", 400_000),
    "metas": _many("<meta property='og:title' content='a title #'>", 100_000),
    "times": _many("<time datetime='2020-01-01'>x</time>", 100_000),
    "authors": _many("<span class='author byline'>By Nobody #</span>", 60_000),
}

ODD: dict[str, Make] = {
    "one word": lambda s: "<p>" + "x" * _times(s, 5_000_000) + "</p>" + REPLY_PHRASE,
    "one paragraph": lambda s: "<p>" + "word " * _times(s, 2_000_000) + "</p>" + REPLY_PHRASE,
    "text alone": lambda _: MARKER,
    "much text alone": lambda s: (
        "Lines of plain text,\nwithout a tag in it. " * _times(s, 200_000) + MARKER
    ),
    "frameset": lambda _: (
        f"<html><frameset cols='*'><frame src=a><noframes><p>{MARKER}</p></noframes></frameset></html>"
    ),
    "frameset with body": lambda _: (
        f"<frameset><frame src=a><noframes><body><div>{MARKER}</div></body></noframes></frameset>"
    ),
    "refresh": lambda _: f"<meta http-equiv=refresh content='0;url=/x'><p>{MARKER}</p>",
    "noscript alone": lambda _: (
        f"<body><noscript><p>{MARKER}</p></noscript><script>x()</script></body>"
    ),
    "noscript with prose": lambda _: (
        f"<body><div id=root></div><noscript><h1>T</h1>{'<p>Words in a noscript.</p>' * 30}{REPLY_PHRASE}</noscript></body>"
    ),
    "noscript in head": lambda _: (
        f"<head><noscript><style>x</style></noscript></head><body>{REPLY_PHRASE}"
    ),
    "NULs": lambda s: "\0" * _times(s, 200_000) + MARKER,
    "NULs in words": lambda s: "<p>a\0b</p>" * _times(s, 20_000) + REPLY_PHRASE,
    "surrogates": lambda s: "<p>\ud800\udfff</p>" * _times(s, 20_000) + REPLY_PHRASE,
    "control characters": lambda s: (
        "".join(map(chr, range(1, 32))) * _times(s, 20_000) + REPLY_PHRASE
    ),
    "entities": lambda s: "&amp;&lt;&#x26;" * _times(s, 300_000) + REPLY_PHRASE,
    "entity declarations": lambda s: (
        "<?xml version='1.0'?><!DOCTYPE html [<!ENTITY a 'aaaaaaaaaa'>"
        + "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 20))
        + "]><html><body>&a19;&a19;"
        + REPLY_PHRASE
    ),
    "long entities": lambda s: "&" + "a" * _times(s, 2_000_000) + ";" + REPLY_PHRASE,
    "XHTML": lambda _: (
        f"<?xml version='1.0' encoding='utf-8'?><html xmlns='http://www.w3.org/1999/xhtml'><head><title/><script/></head><body><![CDATA[no]]><p>{MARKER}</p></body></html>"
    ),
    "unclosed script": lambda s: (
        REPLY_PHRASE + "<script>" + "var a = '<p>b</p>';" * _times(s, 300_000)
    ),
    "unclosed style": lambda s: REPLY_PHRASE + "<style>" + "p { color: red }" * _times(s, 300_000),
    "unclosed comment": lambda s: REPLY_PHRASE + "<!-- " + "<p>never seen</p>" * _times(s, 300_000),
    "unclosed title": lambda s: (
        "<head><title>" + f"<p>{MARKER}</p>" + "<p>text</p>" * _times(s, 100_000)
    ),
    "unclosed textarea": lambda s: "<textarea>" + REPLY_PHRASE + "<p>text</p>" * _times(s, 100_000),
    "unclosed script first": lambda s: (
        "<script>var a;" + REPLY_PHRASE + "<p>text</p>" * _times(s, 30_000)
    ),
    "unclosed style first": lambda s: (
        "<style>p {}" + REPLY_PHRASE + "<p>text</p>" * _times(s, 30_000)
    ),
    "unclosed comment first": lambda s: "<!-- " + REPLY_PHRASE + "<p>text</p>" * _times(s, 30_000),
    "unclosed iframe": lambda s: "<iframe>" + REPLY_PHRASE + "<p>text</p>" * _times(s, 30_000),
    "unclosed noembed": lambda s: "<noembed>" + REPLY_PHRASE + "<p>text</p>" * _times(s, 30_000),
    "unclosed select": lambda s: (
        "<select><option>a" + REPLY_PHRASE + "<option>text" * _times(s, 30_000)
    ),
    "unclosed svg": lambda s: "<svg><text>" + MARKER + "<g>text</g>" * _times(s, 30_000),
    "unclosed tag": lambda s: REPLY_PHRASE + "<p " + "a" * _times(s, 3_000_000),
    "unclosed attribute": lambda s: REPLY_PHRASE + "<p title='" + "a>" * _times(s, 3_000_000),
    "plaintext": lambda s: "<p>a</p><plaintext>" + f"{MARKER}\n" + "<p>text\n" * _times(s, 100_000),
    "listing element": lambda s: "<xmp>" + f"{MARKER}\n" + "<p>text\n" * _times(s, 100_000),
    "bases": lambda s: (
        "<base href='http://['>" * _times(s, 20_000)
        + "<base href='javascript:1'><a href=x>y</a>"
        + REPLY_PHRASE
    ),
    "odd addresses": _many(
        "<a href='http://[#'>x</a><a href='//:#'>y</a><a href='\t//a#'>z</a>", 20_000
    ),
    "templates": _shadow,
    "shadow root": lambda _: (
        f"<article-page><template shadowrootmode=open><main>{REPLY_PHRASE * 3}</main></template></article-page>"
    ),
    "all hidden": lambda _: f"<div style='display:none'>{REPLY_PHRASE}</div>",
    "body hidden": lambda _: f"<body style='opacity:0'>{REPLY_PHRASE}</body>",
    "body twice": lambda s: "<body><p>a</p></body>" * _times(s, 50_000) + REPLY_PHRASE,
    "html again": lambda s: (
        "<html><head><title>x</title></head>" * _times(s, 50_000) + REPLY_PHRASE
    ),
    "doctypes": lambda s: "<!doctype html>" * _times(s, 200_000) + REPLY_PHRASE,
    "end tags": lambda s: "</p></br></x>" * _times(s, 200_000) + REPLY_PHRASE,
    "less signs": lambda s: "<" * _times(s, 2_000_000) + REPLY_PHRASE,
    "brackets": lambda s: "<p>" + "[" * _times(s, 1_000_000) + "</p>" + REPLY_PHRASE,
    "stars": lambda s: (
        "<p>" + "*" * _times(s, 500_000) + " _" * _times(s, 500_000) + "</p>" + REPLY_PHRASE
    ),
    "ticks": lambda s: (
        "<p><code>"
        + "`" * _times(s, 1_000_000)
        + "</code>"
        + "`a" * _times(s, 300_000)
        + REPLY_PHRASE
    ),
    "fences": lambda s: "<pre>" + "```\n" * _times(s, 300_000) + "</pre>" + REPLY_PHRASE,
    "backslashes": lambda s: "<p>" + "\\" * _times(s, 1_000_000) + "</p>" + REPLY_PHRASE,
    "hash signs": lambda s: "<p>" + "# " * _times(s, 1_000_000) + "</p>" + REPLY_PHRASE,
    "bars": lambda s: (
        "<table><tr><th>a<th>b<tr><td>"
        + "|" * _times(s, 1_000_000)
        + "<td>x</table>"
        + REPLY_PHRASE
    ),
    "spaces": lambda s: "<p>a" + " " * _times(s, 5_000_000) + "b</p>" + REPLY_PHRASE,
    "spaces in code": lambda s: "<pre>a" + " \n" * _times(s, 1_000_000) + "b</pre>" + REPLY_PHRASE,
    "line feeds": lambda s: "<p>a" + "\n" * _times(s, 5_000_000) + "b</p>" + REPLY_PHRASE,
    "no-break spaces": lambda s: "<p>&nbsp;</p>" * _times(s, 100_000) + REPLY_PHRASE,
    "soft hyphens": lambda s: "<p>" + "a\u00ad" * _times(s, 1_000_000) + "</p>" + REPLY_PHRASE,
    "marks of direction": lambda s: (
        "<p>" + "\u202eab\u202c" * _times(s, 500_000) + "</p>" + REPLY_PHRASE
    ),
    "combining marks": lambda s: "<p>a" + "\u0301" * _times(s, 1_000_000) + "</p>" + REPLY_PHRASE,
    "private characters": lambda s: (
        "<p>" + "\ue0001\ue001" * _times(s, 500_000) + "</p>" + REPLY_PHRASE
    ),
    "chinese": lambda s: (
        "<p>" + "\u4e00\u4e8c\n\u7684\u3002" * _times(s, 800_000) + "</p>" + REPLY_PHRASE
    ),
    "long title": lambda s: (
        "<title>" + "a | b - c: d \u00bb " * _times(s, 400_000) + "</title>" + REPLY_PHRASE
    ),
    "long heading": lambda s: "<h1>" + "a heading " * _times(s, 400_000) + "</h1>" + REPLY_PHRASE,
    "long description": lambda s: (
        "<meta name=description content='"
        + "d &amp;amp; " * _times(s, 400_000)
        + "'>"
        + REPLY_PHRASE
    ),
    "broken bytes": lambda s: (
        b"\x81\xfd\xfe\xff\x80" * 2
        + b"<p>\xe9\xff\x80</p>" * _times(s, 200_000)
        + REPLY_PHRASE.encode()
    ),
    "broken UTF-8": lambda s: (
        b"<meta charset=utf-8><p>\xc3\x28\xe2\x82</p>" * _times(s, 100_000) + REPLY_PHRASE.encode()
    ),
    "escapes of ISO-2022": lambda s: (
        b"\x1b$B" * _times(s, 200_000) + b"\x1b(B" + REPLY_PHRASE.encode()
    ),
    "much Cyrillic": lambda s: (
        "<p>"
        + "\u0422\u0435\u043a\u0441\u0442 \u0431\u0435\u0437 \u043a\u043e\u043d\u0446\u0430. "
        * _times(s, 350_000)
        + "</p>"
        + REPLY_PHRASE
    ).encode("cp1251"),
    "much Japanese": lambda s: (
        "<p>"
        + "\u65e5\u672c\u8a9e\u306e\u6587\u7ae0\u3002" * _times(s, 500_000)
        + "</p>"
        + REPLY_PHRASE
    ).encode("cp932"),
    "UTF-7": lambda _: b"+ADw-script+AD4-" * 1000 + REPLY_PHRASE.encode(),
}

DATA: dict[str, Make] = {
    "deep JSON": _script("application/json", lambda n: "[" * n + "]" * n, 200_000),
    "deep JSON-LD": _script("application/ld+json", lambda n: '{"a":' * n + "1" + "}" * n, 90_000),
    "deep arrays of JSON-LD": _script("application/ld+json", lambda n: "[" * n + "]" * n, 900),
    "unclosed JSON-LD": _script("application/ld+json", lambda n: '{"a":' * n, 90_000),
    "wide JSON-LD": _script(
        "application/ld+json",
        lambda n: [{"@type": "Thing", "name": f"n{k}"} for k in range(n)],
        150_000,
    ),
    "wide graph": _script(
        "application/ld+json",
        lambda n: {
            "@context": "https://schema.org",
            "@graph": [{"@type": "Person", "@id": f"#{k}", "name": "x"} for k in range(n)],
        },
        9_000,
    ),
    "cyclic graph": _script(
        "application/ld+json",
        lambda n: {
            "@context": "https://schema.org",
            "@graph": [
                {
                    "@type": "Article",
                    "@id": f"#{k}",
                    "author": {"@id": f"#{(k + 1) % n}"},
                    "mainEntity": {"@id": f"#{k}"},
                }
                for k in range(n)
            ],
        },
        5_000,
    ),
    "numbers in JSON-LD": _script("application/ld+json", lambda n: "[" + "9" * n + "]", 4_000_000),
    "trailing commas": _script(
        "application/ld+json", lambda n: '{"a":[' + "1,," * n + "]}", 150_000
    ),
    "spaces in JSON-LD": _script(
        "application/ld+json", lambda n: '{"headline": "x",' + " " * n + "x}", 450_000
    ),
    "quotes in JSON-LD": _script(
        "application/ld+json", lambda n: '{"headline": "' + '\\"' * n, 240_000
    ),
    "many scripts of JSON-LD": _many(
        '<script type="application/ld+json">{"@type":"Thing","n":#}</script>', 20_000
    ),
    "large state": _script(
        "application/json",
        lambda n: {
            "props": {
                "pages": [{"id": k, "title": f"Title {k} of this", "on": True} for k in range(n)]
            }
        },
        60_000,
    ),
    "larger state": _script(
        "application/json", lambda n: {"list": [[k, k + 1, "short"] for k in range(n)]}, 400_000
    ),
    "prose in a state": _script(
        "application/json",
        lambda n: {
            "texts": [
                f"Some words of prose number {k} that one could read if one had a lot of time."
                for k in range(n)
            ]
        },
        100_000,
    ),
    "assigned state": _script(
        "text/javascript",
        lambda n: "window.__STATE__ = " + json.dumps({"texts": ["some words"] * n}),
        500_000,
    ),
    "strings without space": _script("application/json", lambda n: {"a": "x" * n}, 2_900_000),
    "many states": _many(
        '<script type="application/json">{"a":[' + "1," * 200 + "0]}</script>", 5_000
    ),
}

PAGES: dict[str, Make] = DEEP | WIDE | ODD | DATA
