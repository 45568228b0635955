"""Pages made for the tests of the reader."""

from __future__ import annotations

SENTENCES = (
    "The bridge over the river was closed on Monday after engineers found cracks in two pillars.",
    "Repairs will take about six weeks, the city said, and buses are sent along another road.",
    "Residents had warned of loose stones for years, but an inspection in spring found nothing.",
    "A second team will now look at every bridge of the same age, of which there are eleven.",
    "The work is paid for by the region, which set aside four million for such cases last year.",
    "Cyclists may use the old ferry, which runs every twenty minutes until late in the evening.",
)

NAV = "".join(
    f'<li><a href="/{word.lower()}">{word}</a></li>'
    for word in ("Home", "Politics", "Sport", "Culture", "Weather", "Jobs", "Archive")
)
FOOTER = (
    "<footer><p>© 2026 River Post. All rights reserved.</p><a href=/privacy>Privacy</a></footer>"
)


def article(body: str = "", *, head: str = "", after: str = "") -> str:
    """A newspaper's page: navigation, an article, related links, a footer."""
    paragraphs = "".join(f"<p>{sentence}</p>" for sentence in SENTENCES)
    related = "".join(f'<li><a href="/r{n}">Another story number {n}</a></li>' for n in range(6))
    return (
        "<!doctype html><html lang=en><head><title>Bridge closed for weeks | River Post</title>"
        '<meta property="og:type" content="article">'
        f"{head}</head><body><header><nav><ul>{NAV}</ul></nav></header><main><article>"
        f"<h1>Bridge closed for weeks</h1>{paragraphs}{body}</article>{after}</main>"
        f"<aside class=related><h3>Related stories</h3><ul>{related}</ul></aside>{FOOTER}"
        "</body></html>"
    )


def forum() -> str:
    """A thread with five posts."""
    posts = "".join(
        f'<div class="post" id="post-{n}"><div class="author"><a href="/u/{n}">user{n}</a></div>'
        f'<div class="post-body"><p>{sentence}</p><p>{SENTENCES[-n - 1]}</p></div>'
        '<div class="post-actions"><button>Like</button><button>Reply</button></div></div>'
        for n, sentence in enumerate(SENTENCES[:5])
    )
    return (
        "<!doctype html><html><head><title>Which bridge is safe? - Forum</title></head><body>"
        f"<nav><ul>{NAV}</ul></nav><div class=thread><h1>Which bridge is safe?</h1>{posts}</div>"
        f"{FOOTER}</body></html>"
    )
