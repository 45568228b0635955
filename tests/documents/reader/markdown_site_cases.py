"""What Markdown must still say of pages as the programs behind well-known sites write them."""
# ruff: noqa: E501 - markup reads best in one piece

from __future__ import annotations

from collections.abc import Callable

from tests.documents.reader.markdown_cases import Case
from tests.documents.reader.markdown_page import Page

ROOT = "https://site.example"


def _code(language: str, text: str = "x = 1\ny = 2\n") -> Callable[[Page], bool]:
    def check(page: Page) -> bool:
        known = [f"language-{language}"] if language else [None]
        return page.attrs("pre code", "class") == known and page.raw("pre code") == [text]

    return check


_PAIR = "<span class=n>x</span> <span class=o>=</span> <span class=mi>1</span>\n<span class=n>y</span> <span class=o>=</span> <span class=mi>2</span>\n"
_PLAIN = "x = 1\ny = 2"

SITES: list[Case] = [
    ("github", f'<div class="highlight highlight-source-python notranslate"><pre>{_PAIR}</pre><div class="zeroclipboard-container"><clipboard-copy value="x = 1"><svg></svg></clipboard-copy></div></div>', _code("python")),
    ("github_shell", f'<div class="highlight highlight-text-shell-session"><pre>{_PLAIN}</pre></div>', _code("shell-session")),
    ("github_blob", "<table class='highlight js-file-line-container'><tr><td id=L1 class='blob-num' data-line-number=1></td><td class='blob-code blob-code-inner'>x = 1</td></tr><tr><td class='blob-num'></td><td class='blob-code blob-code-inner'>y = 2</td></tr></table>", _code("")),
    ("gitlab", '<pre class="code highlight js-syntax-highlight language-ruby" lang="ruby"><code><span id="LC1" class="line" lang="ruby">x = 1</span>\n<span id="LC2" class="line" lang="ruby">y = 2</span></code></pre>', _code("ruby")),
    ("gitlab_lang", '<pre class="code highlight" lang="elixir"><code>x = 1\ny = 2</code></pre>', _code("elixir")),
    ("stack_overflow", '<pre class="lang-py s-code-block"><code class="hljs language-python">x = 1\ny = 2\n</code></pre>', _code("py")),
    ("stack_overflow_old", '<pre class="default prettyprint prettyprinted"><code class="lang-java"><span class="pln">x </span>= 1\ny = 2</code></pre>', _code("java")),
    ("prettyprint", '<pre class="prettyprint lang-js linenums"><ol class="linenums"><li class="L0">x = 1</li><li class="L1">y = 2</li></ol></pre>', _code("js")),
    ("confluence", f'<pre class="syntaxhighlighter-pre" data-syntaxhighlighter-params="brush: java; gutter: false; theme: Confluence" data-theme="Confluence">{_PLAIN}</pre>', _code("java")),
    ("syntax_highlighter", '<div class="syntaxhighlighter php"><table><tbody><tr><td class="gutter"><div class="line number1">1</div><div class="line number2">2</div></td><td class="code"><div class="container"><div class="line number1"><code class="php plain">x = 1</code></div><div class="line number2"><code class="php plain">y = 2</code></div></div></td></tr></tbody></table></div>', _code("php")),
    ("sphinx", f'<div class="highlight-python3 notranslate"><div class="highlight"><pre><span></span>{_PAIR}</pre></div></div>', _code("python3")),
    ("sphinx_numbers", f'<div class="highlight-rst"><table class="highlighttable"><tr><td class="linenos"><div class="linenodiv"><pre>1\n2</pre></div></td><td class="code"><div class="highlight"><pre>{_PAIR}</pre></div></td></tr></table></div>', _code("rst")),
    ("sphinx_inline_numbers", '<div class="highlight-c"><div class="highlight"><pre><span class="linenos">1</span>x = 1\n<span class="linenos">2</span>y = 2\n</pre></div></div>', _code("c")),
    ("codehilite", f'<div class="codehilite"><pre><span></span><code>{_PAIR}</code></pre></div>', _code("")),
    ("codehilite_language", f'<div class="language-yaml codehilite"><pre><code>{_PAIR}</code></pre></div>', _code("yaml")),
    ("mkdocs_material", '<div class="language-toml highlight"><span class="filename">a.toml</span><pre><span></span><code><span id="__span-0-1"><a id="__codelineno-0-1" name="__codelineno-0-1" href="#__codelineno-0-1"></a>x = 1\n</span><span id="__span-0-2">y = 2\n</span></code></pre></div>', _code("toml")),
    ("docusaurus", '<div class="language-tsx codeBlockContainer_Ckt0"><div class="codeBlockContent_biex"><pre tabindex="0" class="prism-code language-tsx thin-scrollbar"><code class="codeBlockLines_e6Vv"><span class="token-line" style="color:#9CDCFE"><span class="token plain">x = 1</span><br></span><span class="token-line"><span class="token plain">y = 2</span><br></span></code></pre><div class="buttonGroup__atx"><button type="button" aria-label="Copy code">Copy</button></div></div></div>', _code("tsx")),
    ("hugo_chroma", '<div class="highlight"><pre tabindex="0" class="chroma"><code class="language-go" data-lang="go"><span class="line"><span class="cl"><span class="nx">x</span> = 1\n</span></span><span class="line"><span class="cl">y = 2\n</span></span></code></pre></div>', _code("go")),
    ("hugo_table", '<div class="highlight"><div class="chroma"><table class="lntable"><tr><td class="lntd"><pre class="chroma"><code><span class="lnt">1\n</span><span class="lnt">2\n</span></code></pre></td><td class="lntd"><pre class="chroma"><code class="language-go" data-lang="go">x = 1\ny = 2\n</code></pre></td></tr></table></div></div>', _code("go")),
    ("jekyll_rouge", f'<div class="language-ruby highlighter-rouge"><div class="highlight"><pre class="highlight"><code>{_PAIR}</code></pre></div></div>', _code("ruby")),
    ("rouge_table", '<div class="language-ruby highlighter-rouge"><div class="highlight"><pre class="highlight"><code><table class="rouge-table"><tbody><tr><td class="rouge-gutter gl"><pre class="lineno">1\n2\n</pre></td><td class="rouge-code"><pre>x = 1\ny = 2\n</pre></td></tr></tbody></table></code></pre></div></div>', _code("ruby")),
    ("hexo", '<figure class="highlight js"><table><tr><td class="gutter"><pre><span class="line">1</span><br><span class="line">2</span><br></pre></td><td class="code"><pre><span class="line">x = 1</span><br><span class="line">y = 2</span><br></pre></td></tr></table></figure>', _code("js")),
    ("prism", f'<div class="code-toolbar"><pre class="line-numbers language-css"><code class="language-css">{_PLAIN}<span aria-hidden="true" class="line-numbers-rows"><span></span><span></span></span></code></pre><div class="toolbar"><div class="toolbar-item"><span>CSS</span></div></div></div>', lambda p: p.attrs("pre code", "class") == ["language-css"] and p.raw("pre code") == ["x = 1\ny = 2\n"]),
    ("vitepress", '<div class="language-ts vp-adaptive-theme line-numbers-mode"><button title="Copy Code" class="copy"></button><span class="lang">ts</span><pre class="shiki"><code><span class="line"><span>x = 1</span></span>\n<span class="line"><span>y = 2</span></span></code></pre><div class="line-numbers-wrapper"><span class="line-number">1</span><br><span class="line-number">2</span><br></div></div>', _code("ts")),
    ("astro", '<pre class="astro-code github-dark" data-language="astro"><code><span class="line">x = 1</span>\n<span class="line">y = 2</span></code></pre>', _code("astro")),
    ("expressive_code", '<div class="expressive-code"><figure class="frame"><figcaption class="header"></figcaption><pre data-language="js"><code><div class="ec-line"><div class="gutter"><div class="ln">1</div></div><div class="code">x = 1</div></div><div class="ec-line"><div class="gutter"><div class="ln">2</div></div><div class="code">y = 2</div></div></code></pre><div class="copy"><button>copy</button></div></figure></div>', _code("js")),
    ("dartdoc", f'<pre class="language-dart"><code class="language-dart">{_PLAIN}</code></pre>', _code("dart")),
    ("rustdoc", '<div class="example-wrap"><pre class="rust rust-example-rendered"><code><span class="kw">x</span> = 1\ny = 2</code></pre></div>', _code("rust")),
    ("javadoc", "<pre><code>x = 1\ny = 2</code></pre>", _code("")),
    ("mdn", '<div class="code-example"><div class="example-header"><span class="language-name">html</span><button class="icon copy-icon">Copy</button></div><pre class="brush: html notranslate"><code>x = 1\ny = 2</code></pre></div>', _code("html")),
    ("wordpress_block", f'<pre class="wp-block-code"><code lang="bash" class="language-bash">{_PLAIN}</code></pre>', _code("bash")),
    ("crayon", '<div class="crayon-syntax"><table class="crayon-table"><tr><td class="crayon-nums"><div class="crayon-nums-content"><div class="crayon-num">1</div><div class="crayon-num">2</div></div></td><td class="crayon-code"><div class="crayon-pre"><div class="crayon-line">x = 1</div><div class="crayon-line">y = 2</div></div></td></tr></table></div>', _code("")),
    ("discourse", f'<pre data-code-wrap="rust"><code class="lang-rust">{_PLAIN}</code></pre>', _code("rust")),
    ("notion", f'<pre class="code code-wrap"><code class="language-JavaScript">{_PLAIN}</code></pre>', _code("javascript")),
    ("readthedocs_console", '<div class="highlight-console"><div class="highlight"><pre><span class="gp">$ </span>x = 1\n<span class="go">y = 2</span>\n</pre></div></div>', _code("console", "$ x = 1\ny = 2\n")),
    ("asciidoc", '<div class="listingblock"><div class="content"><pre class="highlightjs highlight"><code class="language-kotlin hljs" data-lang="kotlin">x = 1 <i class="conum" data-value="1"></i><b>(1)</b>\ny = 2</code></pre></div></div>', lambda p: p.attrs("pre code", "class") == ["language-kotlin"]),
    ("org_mode", '<div class="org-src-container"><pre class="src src-emacs-lisp">x = 1\ny = 2\n</pre></div>', _code("emacs-lisp")),
    ("geshi", '<div class="wp_syntax"><div class="code"><pre class="php" style="font-family:monospace;">x = 1\ny = 2</pre></div></div>', _code("php")),
    ("inline_html", "<p>Use <code>&lt;div class=&quot;a&quot;&gt;</code> here.</p>", lambda p: p.raw("code") == ['<div class="a">'] and p.count("div") == 0),
    ("html_in_code", "<pre><code class=language-html>&lt;script&gt;alert(1)&lt;/script&gt;</code></pre>", lambda p: p.raw("pre code") == ["<script>alert(1)</script>\n"]),
    ("inline_ticks_at_ends", "<p><code>`a`</code></p>", lambda p: p.raw("code") == ["`a`"]),
    ("inline_keeps_spaces_out", "<p>a<code> x </code>b</p>", lambda p: p.raw("code")[0].strip() == "x" and p.text.replace(" ", "") == "axb"),
]  # fmt: skip

MORE_TABLES: list[Case] = [
    ("th_in_first_column", "<table><tr><th>a</th><td>1</td></tr><tr><th>b</th><td>2</td></tr></table>", lambda p: ["a", "1"] in p.rows and ["b", "2"] in p.rows),
    ("caption_first", "<table><caption>Prices</caption><tr><th>a<th>b<tr><td>1<td>2</table>", lambda p: p.text.startswith("Prices") and p.rows == [["a", "b"], ["1", "2"]]),
    ("rowspan_of_groups", "<table><tr><th>g<th>v<tr><td rowspan=2>x<td>1<tr><td>2<tr><td>y<td>3</table>", lambda p: p.rows == [["g", "v"], ["x", "1"], ["", "2"], ["y", "3"]]),
    ("empty_cells", "<table><tr><th>a<th>b<th>c<tr><td><td>1<td></table>", lambda p: p.rows == [["a", "b", "c"], ["", "1", ""]]),
    ("pipe_in_code", "<table><tr><th>a<th>b<tr><td><code>x|y</code><td>2</table>", lambda p: p.rows[1] == ["x|y", "2"] and p.raw("td code") == ["x|y"]),
    ("numbered_list_in_cell", "<table><tr><th>a<th>b<tr><td><ol><li>x<li>y</ol><td>2</table>", lambda p: len(p.rows) == 2 and "x" in p.rows[1][0] and "y" in p.rows[1][0]),
    ("head_in_body", "<table><tbody><tr><td><b>a</b><td><b>b</b><tr><td>1<td>2</tbody></table>", lambda p: p.rows[-1] == ["1", "2"]),
    ("two_head_rows", "<table><thead><tr><th colspan=2>t<tr><th>a<th>b</thead><tr><td>1<td>2</table>", lambda p: p.rows == [["t", ""], ["a", "b"], ["1", "2"]]),
    ("foot", "<table><thead><tr><th>a<th>b</thead><tfoot><tr><td>sum<td>3</tfoot><tbody><tr><td>1<td>2</tbody></table>", lambda p: ["sum", "3"] in p.rows and ["1", "2"] in p.rows),
    ("picture_in_cell", "<table><tr><th>a<th>b<tr><td><img src=/i.png alt=I><td>2</table>", lambda p: p.attrs("td img", "src") == [f"{ROOT}/i.png"]),
    ("layout_of_columns", "<table><tr><td><h2>Left</h2><p>one</p></td><td><h2>Right</h2><p>two</p></td></tr></table>", lambda p: p.texts("h2") == ["Left", "Right"] and p.count("table") == 0),
]  # fmt: skip

MORE_BLOCKS: list[Case] = [
    ("start", "<ol start=7><li>a<li>b</ol>", lambda p: p.attrs("ol", "start") == ["7"]),
    ("start_zero", "<ol start=0><li>a<li>b</ol>", lambda p: p.attrs("ol", "start") == ["0"]),
    ("item_value", "<ol><li value=3>a<li>b</ol>", lambda p: p.attrs("ol", "start") == ["3"]),
    ("reversed", "<ol reversed><li>a<li>b<li>c</ol>", lambda p: p.texts("li") == ["a", "b", "c"] or "3" in p.md),
    ("github_tasks", '<ul class="contains-task-list"><li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" disabled checked> done</li><li class="task-list-item"><input type="checkbox" disabled> open</li></ul>', lambda p: "- [x] done" in p.md and "- [ ] open" in p.md),
    ("item_of_quote", "<ul><li>a<blockquote><p>q</p></blockquote></li></ul>", lambda p: p.texts("li blockquote p") == ["q"]),
    ("terms_of_many", "<dl><dt>a</dt><dt>b</dt><dd>one</dd><dd>two</dd></dl>", lambda p: all(word in p.text for word in ("a", "b", "one", "two")) and p.texts("li") == ["one", "two"]),
    ("figure_caption", "<figure><img src=/i.png alt=A><figcaption>The <i>caption</i></figcaption></figure><p>x</p>", lambda p: p.count("img") == 1 and p.texts("em") == ["caption"] and "The caption" in p.texts("p")),
    ("details_open", "<details open><summary>More</summary><p>text</p></details>", lambda p: p.texts("p")[-1] == "text" and "More" in p.text),
    ("quote_cite", "<blockquote><p>words</p><footer>— <cite>Ann</cite></footer></blockquote>", lambda p: "words" in p.texts("blockquote")[0] and "Ann" in p.texts("blockquote")[0]),
    ("q", "<p>He said <q>yes</q>.</p>", lambda p: p.text in ('He said "yes".', "He said “yes”.")),
    ("ins_and_del", "<p><del>old</del> <ins>new</ins></p>", lambda p: p.texts("s") == ["old"] and "new" in p.text),
    ("heading_in_link", "<h2><a href=/x>Title</a></h2>", lambda p: p.attrs("h2 a", "href") == [f"{ROOT}/x"]),
    ("link_around_heading", "<a href=/x><h2>Title</h2><p>text</p></a>", lambda p: p.attrs("h2 a", "href") == [f"{ROOT}/x"] and p.texts("p") == ["text"]),
    ("anchor_before_heading", "<h2><a id=user-content-t class=anchor aria-hidden=true href=#t><svg></svg></a>Title</h2>", lambda p: p.texts("h2") == ["Title"] and p.count("a") == 0),
    ("anchor_sign_after", "<h3>Title <a class=hash-link href=#t title='Direct link to Title'>\u200b</a></h3>", lambda p: p.texts("h3") == ["Title"] and p.count("a") == 0),
    ("anchor_section_sign", "<h3>Title<a class=anchorjs-link href=#t>#</a></h3>", lambda p: p.texts("h3") == ["Title"]),
    ("github_heading", '<div class="markdown-heading"><h2 class="heading-element">Title</h2><a id="user-content-t" class="anchor" aria-label="Permalink: Title" href="#t"><svg></svg></a></div><p>x</p>', lambda p: p.texts("h2") == ["Title"] and p.count("a") == 0),
    ("heading_of_a_wiki", "<h2><span class=mw-headline>Past</span><span class=mw-editsection>[<a href=/e>edit</a>]</span></h2>", lambda p: p.texts("h2") == ["Past"]),
    ("heading_that_links_to_itself", "<h2 id=a><a href=#a>Title here</a></h2>", lambda p: p.md == "## Title here"),
    ("empty_blocks", "<p></p><h2></h2><ul></ul><blockquote></blockquote><pre></pre><p>x</p>", lambda p: p.md == "x"),
    ("rtl_strong", "<p dir=rtl>שלום <b>עולם</b></p>", lambda p: p.texts("strong") == ["עולם"] and "<" not in p.md),
    ("cjk_strong_by_signs", "<p>日本<b>語</b>です。<code>&lt;b&gt;</code></p>", lambda p: p.texts("strong") == ["語"] and "**語**" in p.md and p.raw("code") == ["<b>"]),
    ("tags_in_code", "<p>é <code>&lt;em&gt;a&lt;/em&gt;</code> è<b>ü</b>à</p>", lambda p: p.raw("code") == ["<em>a</em>"] and p.texts("strong") == ["ü"]),
    ("no_href", "<p><a name=x>text</a> <a id=y></a>more</p>", lambda p: p.text == "text more" and p.count("a") == 0),
    ("mail", "<p><a href='mailto:a@b.example'>write</a></p>", lambda p: "write" in p.text and p.attrs("a", "href") in ([], ["mailto:a@b.example"])),
    ("cjk_strong", "<p>这是<strong>“重要”</strong>的。</p>", lambda p: p.texts("strong") == ["“重要”"] and p.text == "这是“重要”的。"),
    ("nested_emphasis", "<p><em>a <strong>b</strong> c</em></p>", lambda p: p.texts("em strong") == ["b"] and p.texts("em") == ["a b c"]),
    ("same_emphasis_nested", "<p><b>a <strong>b</strong> c</b></p>", lambda p: p.text == "a b c"),
    ("emphasis_and_punctuation", "<p>(<em>a</em>), <b>b</b>: <i>c</i>!</p>", lambda p: p.texts("em") == ["a", "c"] and p.texts("strong") == ["b"]),
    ("emphasis_of_code", "<p><b><code>x</code></b> y</p>", lambda p: p.raw("strong code") == ["x"]),
    ("spaces_at_ends_of_links", "<p>a<a href=/x> b </a>c</p>", lambda p: p.text == "a b c" and p.texts("a") == ["b"]),
    ("title_with_quotes", "<a href=/x title='say &quot;hi&quot;'>t</a>", lambda p: p.texts("a") == ["t"] and p.attrs("a", "href") == [f"{ROOT}/x"]),
    ("address_with_signs", "<a href='/a_b*c?d=[1]&amp;e=f|g'>t_u*v</a>", lambda p: p.texts("a") == ["t_u*v"] and p.count("em") == 0),
    ("numbers_of_lines", "<p>1986. A great year.</p><p>+ more</p>", lambda p: p.count("li") == 0 and "1986. A great year." in p.text),
    ("vimeo", "<iframe src='https://player.vimeo.com/video/12345' title='A film'></iframe><p>x</p>", lambda p: p.attrs("a", "href") == ["https://vimeo.com/12345"]),
    ("audio", "<audio controls src=/a.mp3></audio><p>x</p>", lambda p: p.attrs("a", "href") == [f"{ROOT}/a.mp3"]),
    ("lazy_noscript", "<div><img class=lazy data-src=/i.jpg src=/static/blank.gif alt=A><noscript><img src=/i.jpg alt=A></noscript></div>", lambda p: p.attrs("img", "src") == [f"{ROOT}/i.jpg"]),
    ("picture_of_sources", "<picture><source type=image/avif srcset='/a.avif 1x, /b.avif 2x'><img src=/c.jpg alt=C></picture>", lambda p: p.attrs("img", "src") == [f"{ROOT}/c.jpg"]),
    ("words_with_width", "<p>co\u00adop\u200beration</p>", lambda p: p.text == "cooperation"),
    ("abbreviation", "<p><abbr title='World Health Organization'>WHO</abbr> says <dfn>so</dfn> <small>now</small></p>", lambda p: p.text == "WHO says so now"),
]  # fmt: skip

MORE_MATH: list[Case] = [
    ("mathjax3", '<p>a <mjx-container class="MathJax" jax="CHTML"><mjx-math><mjx-mi>x</mjx-mi></mjx-math><mjx-assistive-mml><math><msup><mi>x</mi><mn>2</mn></msup></math></mjx-assistive-mml></mjx-container> b</p>', lambda p: p.md == "a $x^2$ b"),
    ("mathjax2", '<p>a <span class="MathJax_Preview">x</span><span class="MathJax" id="M1"><nobr><span class="math">x2</span></nobr></span><script type="math/tex" id="M">x^2</script> b</p>', lambda p: p.md == "a $x^2$ b"),
    ("mathjax2_display", '<div class="MathJax_Display"><span class="MathJax">x</span></div><script type="math/tex; mode=display">x^2</script><p>b</p>', lambda p: "$$x^2$$" in p.md and p.md.count("x") == 1),
    ("pandoc_mathml", '<p>a <math display="inline"><semantics><mi>x</mi><annotation encoding="application/x-tex">x_i</annotation></semantics></math></p>', lambda p: p.md == "a $x_i$"),
    ("wikipedia", '<p>a <span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: none;"><math alttext="{\\displaystyle x^{2}}"><mi>x</mi></math></span><img src="/m.svg" class="mwe-math-fallback-image-inline" alt="{\\displaystyle x^{2}}"></span> b</p>', lambda p: p.md == "a $x^{2}$ b"),
    ("pandoc_span", '<p>a <span class="math inline">\\(x_1\\)</span> and <span class="math display">\\[y^2\\]</span></p>', lambda p: "$x_1$" in p.md and "$$y^2$$" in p.md),
    ("arithmatex", '<p>a <span class="arithmatex">\\(x*y*z\\)</span></p>', lambda p: p.md == "a $x*y*z$"),
    ("fractions", "<math><mfrac><mi>a</mi><msqrt><mi>b</mi></msqrt></mfrac></math>", lambda p: "\\frac" in p.md and "\\sqrt" in p.md),
    ("gitlab_math", '<p>a <code class="code math js-render-math" data-math-style="inline">x^2</code> b</p>', lambda p: "x^2" in p.md),
]  # fmt: skip

MORE_NOTES: list[Case] = [
    ("gfm", '<p>Said<sup><a href="#user-content-fn-1" id="user-content-fnref-1" data-footnote-ref aria-describedby="footnote-label">1</a></sup>.</p><section data-footnotes class="footnotes"><h2 class="sr-only" id="footnote-label">Footnotes</h2><ol><li id="user-content-fn-1"><p>The note here. <a href="#user-content-fnref-1" data-footnote-backref>↩</a></p></li></ol></section>', lambda p: "Said[^1]." in p.md and "[^1]: The note here." in p.md and "↩" not in p.md),
    ("python_markdown", '<p>Said<sup id="fnref:a"><a class="footnote-ref" href="#fn:a">1</a></sup>.</p><div class="footnote"><hr><ol><li id="fn:a"><p>The note here.&#160;<a class="footnote-backref" href="#fnref:a" title="Jump back">&#8617;</a></p></li></ol></div>', lambda p: "Said[^1]." in p.md and "[^1]: The note here." in p.md),
    ("mediawiki", '<p>Said.<sup id="cite_ref-1" class="reference"><a href="#cite_note-1"><span class="cite-bracket">[</span>1<span class="cite-bracket">]</span></a></sup></p><ol class="references"><li id="cite_note-1"><span class="mw-cite-backlink"><b><a href="#cite_ref-1">^</a></b></span> <span class="reference-text">The note here.</span></li></ol>', lambda p: "Said.[^1]" in p.md and "[^1]: The note here." in p.md and "^ The" not in p.md),
    ("pandoc", '<p>Said<a href="#fn1" class="footnote-ref" id="fnref1" role="doc-noteref"><sup>1</sup></a>.</p><section class="footnotes"><ol><li id="fn1" role="doc-endnote"><p>The note here.<a href="#fnref1" class="footnote-back" role="doc-backlink">↩︎</a></p></li></ol></section>', lambda p: "Said[^1]." in p.md and "[^1]: The note here." in p.md),
    ("sphinx", '<p>Said<a class="footnote-reference brackets" href="#id2" id="id1" role="doc-noteref"><span class="fn-bracket">[</span>1<span class="fn-bracket">]</span></a>.</p><aside class="footnote brackets" id="id2" role="doc-footnote"><span class="label"><span class="fn-bracket">[</span><a href="#id1">1</a><span class="fn-bracket">]</span></span><p>The note here.</p></aside>', lambda p: "Said" in p.md and "The note here." in p.md and "[^1]" in p.md),
    ("docutils_list", '<p>Said<a class="footnote-reference brackets" href="#id2" id="id1">1</a>.</p><dl class="footnote brackets"><dt class="label" id="id2"><span class="brackets"><a class="fn-backref" href="#id1">1</a></span></dt><dd><p>The note here.</p></dd></dl>', lambda p: p.md == "Said[^1].\n\n[^1]: The note here."),
    ("docutils_table", '<p>Said<a class="footnote-reference" href="#id2" id="id1">[1]</a>.</p><table class="docutils footnote" id="id2"><tbody><tr><td class="label"><a class="fn-backref" href="#id1">[1]</a></td><td>The note here.</td></tr></tbody></table>', lambda p: p.md == "Said[^1].\n\n[^1]: The note here."),
    ("word", '<p>Said<a href="#_ftn1" name="_ftnref1"><sup>[1]</sup></a>.</p><p><a href="#_ftnref1" name="_ftn1">[1]</a> The note here.</p>', lambda p: p.md == "Said[^1].\n\n[^1]: The note here."),
    ("asciidoctor", '<p>Said<sup class="footnote">[<a id="_footnoteref_1" class="footnote" href="#_footnotedef_1" title="View footnote.">1</a>]</sup>.</p><div id="footnotes"><hr><div class="footnote" id="_footnotedef_1"><a href="#_footnoteref_1">1</a>. The note here.</div></div>', lambda p: "Said[^1]." in p.md and "[^1]: The note here." in p.md),
]  # fmt: skip
