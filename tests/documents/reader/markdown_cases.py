"""What Markdown must still say of a page: blocks, lists, tables and code."""
# ruff: noqa: E501 - markup reads best in one piece

from __future__ import annotations

from collections.abc import Callable

from tests.documents.reader.markdown_page import Page

Case = tuple[str, str, Callable[[Page], bool]]

BLOCKS: list[Case] = [
    (
        "headings",
        "".join(f"<h{n}>T{n}</h{n}>" for n in range(1, 7)),
        lambda p: all(p.texts(f"h{n}") == [f"T{n}"] for n in range(1, 7)),
    ),
    (
        "heading_permalink",
        '<h2>Title<a class="headerlink" href="#t">¶</a></h2><p>x</p>',
        lambda p: p.texts("h2") == ["Title"],
    ),
    ("heading_empty", "<h2></h2><h2> </h2><p>x</p>", lambda p: p.count("h2") == 0),
    ("heading_br", "<h2>One<br>two</h2>", lambda p: p.texts("h2") == ["One two"]),
    (
        "heading_role",
        "<div role=heading aria-level=3>R</div><p>x</p>",
        lambda p: p.texts("h3") == ["R"],
    ),
    (
        "ul_in_ol",
        "<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>",
        lambda p: p.texts("ol > li > ul > li") == ["b"] and p.count("ol > li") == 2,
    ),
    (
        "three_levels",
        "<ul><li>a<ul><li>b<ul><li>c</ul></ul><li>d</ul>",
        lambda p: p.texts("ul ul ul li") == ["c"] and p.count("body > ul > li") == 2,
    ),
    (
        "ul_directly_in_ul",
        "<ul><li>a</li><ul><li>b</li></ul><li>c</li></ul>",
        lambda p: p.texts("ul ul li") == ["b"],
    ),
    (
        "item_paragraphs",
        "<ul><li><p>one</p><p>two</p></li><li><p>x</p></li></ul>",
        lambda p: p.texts("li:first-child p") == ["one", "two"],
    ),
    (
        "item_code",
        "<ol><li>do<pre><code class=language-sh>a\n\n  b</code></pre></li><li>then</li></ol>",
        lambda p: p.raw("li pre code") == ["a\n\n  b\n"] and p.count("ol > li") == 2,
    ),
    (
        "item_table",
        "<ul><li>t<table><tr><th>h<th>i<tr><td>1<td>2</table></li></ul>",
        lambda p: p.texts("li td") == ["1", "2"],
    ),
    (
        "item_heading",
        "<ul><li><h3>T</h3><p>x</p></li></ul>",
        lambda p: p.texts("li h3") == ["T"] and "x" in p.text,
    ),
    (
        "item_with_gap",
        "<ul><li><div> </div><span><p>a</p><p>b</p></span></li><li><div></div><pre>c</pre></ul>",
        lambda p: p.texts("li p") == ["a", "b"] and p.raw("li pre code") == ["c\n"],
    ),
    (
        "item_misplaced",
        "<ul><div><li>a</li></div><p>b</p><li>c</ul>",
        lambda p: p.texts("ul > li") == ["a", "b", "c"],
    ),
    ("item_empty", "<ul><li></li><li>x</li></ul>", lambda p: "x" in p.texts("li")),
    (
        "start_5",
        "<ol start=5><li>a<li>b</ol>",
        lambda p: p.attrs("ol", "start") == ["5"] and p.count("li") == 2,
    ),
    (
        "task_list",
        (
            "<ul><li><input type=checkbox checked> done</li><li><label><input type=checkbox> open"
            "</label></li></ul>"
        ),
        lambda p: "- [x] done" in p.md and "- [ ] open" in p.md,
    ),
    (
        "two_lists",
        "<ul><li>a</ul><ul><li>b</ul>",
        lambda p: p.count("ul") == 2,
    ),
    (
        "nested_quotes",
        "<blockquote><p>a</p><blockquote><p>b</p></blockquote><ul><li>c</ul></blockquote>",
        lambda p: (
            p.texts("blockquote blockquote p") == ["b"] and p.texts("blockquote > ul li") == ["c"]
        ),
    ),
    (
        "quote_code",
        "<blockquote><pre>a\n\n\nb</pre></blockquote>",
        lambda p: p.raw("blockquote pre code") == ["a\n\n\nb\n"],
    ),
    ("rule", "<p>a</p><hr><p>b</p>", lambda p: p.count("hr") == 1 and p.count("h2") == 0),
    (
        "terms",
        "<dl><dt>Term<dd>First<dd>Second<dt>Other<dd>Third</dl>",
        lambda p: (
            p.texts("strong") == ["Term", "Other"] and p.texts("li") == ["First", "Second", "Third"]
        ),
    ),
    (
        "terms_in_groups",
        "<dl><div><dt>T</dt><dd><p>a</p><p>b</p></dd></div></dl>",
        lambda p: p.texts("strong") == ["T"] and p.texts("li p") == ["a", "b"],
    ),
    (
        "details",
        "<details><summary>More</summary><p>inside</p></details>",
        lambda p: p.texts("p") == ["More", "inside"],
    ),
    (
        "figure",
        "<figure><img src=/a.png alt=A><figcaption>Cap <b>x</b></figcaption></figure>",
        lambda p: (
            p.attrs("img", "src") == ["https://site.example/a.png"] and p.texts("p")[-1] == "Cap x"
        ),
    ),
    (
        "double_break",
        "<p>one<br><br>two</p>",
        lambda p: p.texts("p") == ["one", "two"],
    ),
    ("break", "<p>one<br>two</p>", lambda p: p.count("p > br") == 1),
    ("bare_text", "<div>a<div>b</div>c</div>", lambda p: p.texts("p") == ["a", "b", "c"]),
]

TABLES: list[Case] = [
    (
        "plain",
        "<table><thead><tr><th>a<th>b<tbody><tr><td>1<td>2</table>",
        lambda p: p.rows == [["a", "b"], ["1", "2"]],
    ),
    (
        "no_head",
        "<table><tr><td>a<td>b<tr><td>1<td>2</table>",
        lambda p: p.rows == [["a", "b"], ["1", "2"]],
    ),
    (
        "empty_head",
        "<table><thead><tr><th><th><tbody><tr><td>1<td>2</table>",
        lambda p: p.rows == [["", ""], ["1", "2"]],
    ),
    (
        "pipes",
        "<table><tr><th>a|b<th><code>c|d</code><tr><td>x<td>y</table>",
        lambda p: p.rows[0] == ["a|b", "c|d"],
    ),
    (
        "colspan",
        "<table><tr><th>a<th>b<th>c<tr><td colspan=2>wide<td>z</table>",
        lambda p: p.rows == [["a", "b", "c"], ["wide", "", "z"]],
    ),
    (
        "rowspan",
        "<table><tr><th>a<th>b<tr><td rowspan=2>tall<td>1<tr><td>2</table>",
        lambda p: p.rows == [["a", "b"], ["tall", "1"], ["", "2"]],
    ),
    (
        "uneven",
        "<table><tr><th>a<th>b<tr><td>1<tr><td>2<td>3</table>",
        lambda p: p.rows == [["a", "b"], ["1", ""], ["2", "3"]],
    ),
    (
        "break_in_cell",
        "<table><tr><th>a<th>b<tr><td>x<br>y<td>z</table>",
        lambda p: p.count("td br") == 1 and len(p.rows) == 2,
    ),
    (
        "list_in_cell",
        "<table><tr><th>a<th>b<tr><td><ul><li>one<li>two</ul><td>z</table>",
        lambda p: len(p.rows) == 2 and "one" in p.rows[1][0] and "two" in p.rows[1][0],
    ),
    (
        "paragraphs_in_cell",
        "<table><tr><th>a<th>b<tr><td><p>one</p><p><b>two</b></p><td>z</table>",
        lambda p: p.count("td br") == 1 and p.texts("td strong") == ["two"],
    ),
    (
        "code_in_cell",
        "<table><tr><th>a<th>b<tr><td><pre>x\ny</pre><td>z</table>",
        lambda p: p.texts("td code") == ["x", "y"],
    ),
    (
        "table_in_cell",
        "<table><tr><th>a<th>b<tr><td><table><tr><td>i<td>j</table><td>z</table>",
        lambda p: p.count("table") == 1 and p.rows[1] == ["i, j", "z"],
    ),
    (
        "caption",
        "<table><caption>Cap</caption><tr><th>a<th>b<tr><td colspan=2>1</table>",
        lambda p: p.texts("p") == ["Cap"] and p.rows == [["a", "b"], ["1", ""]],
    ),
    (
        "layout_role",
        '<table role="presentation"><tr><td><h2>T</h2><td>side</table>',
        lambda p: p.count("table") == 0 and p.texts("h2") == ["T"],
    ),
    (
        "layout_nested",
        "<table><tr><td><table><tr><th>a<th>b<tr><td>1<td>2</table><td>side</table>",
        lambda p: p.rows == [["a", "b"], ["1", "2"]] and "side" in p.texts("p"),
    ),
    (
        "layout_single",
        "<table><tr><td><p>one</p><p>two</p></table>",
        lambda p: p.count("table") == 0 and p.texts("p") == ["one", "two"],
    ),
    (
        "link_in_cell",
        "<table><tr><th>a<th>b<tr><td><a href=/x>l</a><td><img src=/i.png alt=i></table>",
        lambda p: p.attrs("td a", "href") == ["https://site.example/x"] and p.count("td img") == 1,
    ),
    (
        "row_headers",
        "<table><tr><th>k<td>v<tr><th>l<td>w</table>",
        lambda p: p.rows == [["k", "v"], ["l", "w"]],
    ),
]


def _code(language: str, text: str = "x = 1\n") -> Callable[[Page], bool]:
    name = f"language-{language}"
    return lambda p: p.attrs("pre code", "class") == [name] and p.raw("pre code") == [text]


def _text(text: str) -> Callable[[Page], bool]:
    return lambda p: p.raw("pre code") == [text]


CODE: list[Case] = [
    ("language_code", '<pre><code class="hljs language-py">x = 1</code></pre>', _code("py")),
    ("lang_code", '<pre><code class="lang-c++">x = 1</code></pre>', _code("c++")),
    ("lang_pre", '<pre class="lang-sql">x = 1</pre>', _code("sql")),
    ("language_pre", '<pre class="language-go"><code>x = 1</code></pre>', _code("go")),
    (
        "highlight_source",
        '<div class="highlight highlight-source-js"><pre>x = 1</pre></div>',
        _code("js"),
    ),
    ("brush", '<pre class="brush: ruby; gutter: false">x = 1</pre>', _code("ruby")),
    ("data_lang", "<pre data-lang=rust>x = 1</pre>", _code("rust")),
    ("data_language", "<pre><code data-language=swift>x = 1</code></pre>", _code("swift")),
    (
        "sphinx",
        (
            '<div class="highlight-python notranslate"><div class="highlight"><pre>x = 1\n</pre></div>'
            "</div>"
        ),
        _code("python"),
    ),
    ("pandoc", '<pre class="sourceCode haskell"><code>x = 1</code></pre>', _code("haskell")),
    ("hexo", '<figure class="highlight java"><pre>x = 1</pre></figure>', _code("java")),
    (
        "no_language",
        '<pre class="wp-block-code"><code>x = 1</code></pre>',
        lambda p: p.attrs("pre code", "class") == [None],
    ),
    (
        "spans",
        "<pre><code><span class=k>if</span> <span>x</span>:\n    <span>y</span></code></pre>",
        _text("if x:\n    y\n"),
    ),
    ("line_divs", "<pre><code><div>a</div><div>b</div></code></pre>", _text("a\nb\n")),
    (
        "line_spans",
        (
            '<pre><code><span class="line">a</span><span class="line"></span><span class="line">b'
            "</span></code></pre>"
        ),
        _text("a\n\nb\n"),
    ),
    (
        "line_spans_with_breaks",
        (
            '<pre><code><span class="line">a</span>\n<span class="line"></span>\n<span class="line">b'
            "</span></code></pre>"
        ),
        _text("a\n\nb\n"),
    ),
    (
        "line_divs_with_breaks",
        '<pre><div class="token-line">a\n</div><div class="token-line">\n</div><div>b</div></pre>',
        _text("a\n\nb\n"),
    ),
    ("breaks", "<pre>a<br>b<br></pre>", _text("a\nb\n")),
    (
        "number_table",
        (
            '<table class="highlighttable"><tr><td class="linenos"><pre>1\n2</pre></td><td '
            'class="code"><div><pre>def f():\n    pass\n</pre></div></td></tr></table>'
        ),
        _text("def f():\n    pass\n"),
    ),
    (
        "number_rows",
        (
            '<pre><code><table class="hljs-ln"><tr><td class="hljs-ln-numbers">1</td><td '
            'class="hljs-ln-code">a</td></tr><tr><td class="hljs-ln-numbers">2</td><td>b</td></tr>'
            "</table></code></pre>"
        ),
        _text("a\nb\n"),
    ),
    (
        "number_gutter",
        (
            '<figure class="highlight python"><table><tr><td class="gutter"><pre><span class="line">1'
            '</span><br></pre></td><td class="code"><pre><span class="line">x = 1</span><br></pre>'
            "</td></tr></table></figure>"
        ),
        _code("python"),
    ),
    (
        "number_spans",
        (
            '<pre class="line-numbers language-css"><code>a {}<span class="line-numbers-rows"><span>'
            "</span></span></code></pre>"
        ),
        _code("css", "a {}\n"),
    ),
    ("fence_inside", "<pre>a\n```\nb\n```\n</pre>", _text("a\n```\nb\n```\n")),
    ("blank_lines", "<pre>a\n\n\n\n  b  \n\nc</pre>", _text("a\n\n\n\n  b  \n\nc\n")),
    ("no_pre", "<p><code>a<br>b</code></p>", _text("a\nb\n")),
    ("not_escaped", "<pre>a_b * c &lt;d&gt; \\_ [x]</pre>", _text("a_b * c <d> \\_ [x]\n")),
    ("hash_inside", "<pre># not a heading\n</pre>", lambda p: p.count("h1") == 0),
    ("inline", "<p>a <code>x*y_z</code> b</p>", lambda p: p.raw("p code") == ["x*y_z"]),
    ("inline_tick", "<p><code>a`b</code></p>", lambda p: p.raw("code") == ["a`b"]),
    ("inline_ticks", "<p>x <code>``</code> y</p>", lambda p: p.raw("code") == ["``"]),
    ("inline_slash", "<p><code>a\\_b\\*</code></p>", lambda p: p.raw("code") == ["a\\_b\\*"]),
]
