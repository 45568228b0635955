"""Pages as sites send them: menus, a cookie banner, main content, things beside it, a footer."""

from __future__ import annotations

import json

SENTENCES = (
    "The bridge over the river was closed on Monday after engineers found cracks in two pillars.",
    "Repairs will take about six weeks, the city said, and buses are sent along another road.",
    "Residents had warned of loose stones for years, but an inspection in spring found nothing.",
    "A second team will now look at every bridge of the same age, of which there are eleven.",
    "The work is paid for by the region, which set aside four million for such cases last year.",
    "Cyclists may use the old ferry, which runs every twenty minutes until late in the evening.",
)
MENU = "".join(
    f'<li><a href="/{word.lower()}">{word}</a></li>'
    for word in ("Home", "Politics", "Sport", "Culture", "Weather", "Jobs", "Archive")
)
COOKIES = (
    '<div id="cookie-banner" class="cookie-consent" role="dialog"><p>We use cookies to improve '
    "your experience and to measure our audience.</p><button>Accept all</button>"
    "<button>Reject</button></div>"
)
RELATED = (
    '<aside class="related"><h3>Related stories</h3><ul>'
    + "".join(f'<li><a href="/r{n}">Another story number {n}</a></li>' for n in range(8))
    + "</ul></aside>"
)
FOOTER = (
    '<footer class="site-footer"><p>© 2026 River Post. All rights reserved.</p>'
    "<p>Press office: telephone 555 0199, weekdays from nine to five.</p>"
    '<a href="/privacy">Privacy</a></footer>'
)


def page(title: str, main: str, *, head: str = "", beside: str = "") -> str:
    """Main content between all that stands around it."""
    return (
        f"<!doctype html><html lang=en><head><title>{title} | River Post</title>{head}</head><body>"
        f"{COOKIES}<header><nav><ul>{MENU}</ul></nav></header>{main}{beside}{FOOTER}</body></html>"
    )


def article(body: str = "") -> str:
    """A newspaper's page, with comments that are not the article's."""
    head = (
        '<meta property="og:type" content="article"><meta property="og:site_name" '
        'content="River Post"><meta name="author" content="Ada Miller">'
    )
    paragraphs = "".join(f"<p>{sentence}</p>" for sentence in SENTENCES)
    comments = (
        '<section id="comments" class="comments"><h3>Comments</h3><ol class="comment-list">'
        '<li class="comment"><p class="comment-author">mossy</p><div class="comment-body">'
        "<p>First!! Nobody ever repairs anything here, what a joke.</p></div></li></ol></section>"
    )
    main = (
        "<main><article><h1>Old bridge closed for six weeks</h1>"
        f'{paragraphs}<h2>Costs</h2><p>See <a href="costs?year=2026">all costs</a> of the region '
        "and how they came about over the last ten years.</p>"
        "<table><tr><th>year</th><th>cost</th></tr><tr><td>2025</td><td>3 million</td></tr>"
        f"<tr><td>2026</td><td>4 million</td></tr></table>{body}</article></main>"
    )
    return page("Old bridge closed for six weeks", main, head=head, beside=comments + RELATED)


def forum() -> str:
    """A thread with five posts, which are its content."""
    posts = "".join(
        f'<div class="post" id="post-{n}"><div class="author"><a href="/u/{n}">user{n}</a></div>'
        f'<div class="post-body"><p>{sentence}</p><p>I saw it myself as number {n}.</p></div>'
        '<div class="post-actions"><button>Like</button><button>Reply</button></div></div>'
        for n, sentence in enumerate(SENTENCES[:5])
    )
    main = f"<div class=thread><h1>Which bridge is safe?</h1>{posts}</div>"
    return page("Which bridge is safe? - Forum", main)


def documentation() -> str:
    """A manual with a table of contents at its side."""
    sections = "".join(
        f"<section id=s{n}><h2>Step {n}</h2><p>{sentence} Run it and look at the log.</p>"
        f'<pre><code class="language-python">crib.open({n})</code></pre></section>'
        for n, sentence in enumerate(SENTENCES)
    )
    contents = "".join(f'<li><a href="#s{n}">Step {n}</a></li>' for n in range(6))
    main = (
        f'<div class="sidebar"><nav class="toc"><ul>{contents}</ul></nav></div>'
        f'<main role="main"><h1>Installation</h1>{sections}</main>'
    )
    return page("Installation - Crib manual", main)


def product() -> str:
    """A product with its description and other products."""
    linked = {"@context": "https://schema.org", "@type": "Product", "name": "Brass crib lamp"}
    others = "".join(
        f'<li class="product-card"><a href="/p/{n}">Lamp {n}</a> <span>£{n}9</span></li>'
        for n in range(1, 7)
    )
    main = (
        '<main class="product-page"><div class="product-info"><h1>Brass crib lamp</h1>'
        '<span class="price">£49.00</span><div class="description">'
        "<p>A lamp of solid brass for the workshop, with a switch at the foot and a cable of two "
        "metres. The shade turns in every direction and stays where it was turned.</p>"
        "<p>Each lamp is made by hand in a small workshop by the river and tested for a day.</p>"
        "</div></div></main>"
    )
    beside = f'<section class="you-may-like"><h3>You may also like</h3><ul>{others}</ul></section>'
    head = f'<script type="application/ld+json">{json.dumps(linked)}</script>'
    return page("Brass crib lamp", main, head=head, beside=beside)


def application() -> str:
    """A page whose content is in the data of its scripts alone."""
    state = {"props": {"pageProps": {"post": {"body": " ".join(SENTENCES), "css": "a{}"}}}}
    return (
        "<!doctype html><html><head><title>Bridge | River App</title></head><body>"
        "<div id=__next><p>Loading</p></div>"
        f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(state)}</script>'
        "</body></html>"
    )
