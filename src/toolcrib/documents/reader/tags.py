"""What the reader knows about HTML tags."""

from __future__ import annotations

SKIPPED = frozenset({
    "script", "style", "template", "iframe", "object", "embed", "canvas", "select",
    "datalist", "audio", "video", "head", "textarea", "map", "svg", "noembed", "noframes", "title",
    "progress", "meter", "dialog-polyfill", "link", "meta", "base", "param", "source", "track",
    "input", "applet", "rp", "rt",
})  # fmt: skip
"""Their text is no text of the page."""

INLINE = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "math", "nobr", "output", "q", "rb", "ruby", "s",
    "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
})  # fmt: skip
"""They stay within a line of text."""

VOID = frozenset({"br", "hr", "img"})
"""They have no text."""

TAG_IDS = {
    tag: number
    for number, tag in enumerate(
        (
            "other", "p", "div", "li", "h1", "h2", "h3", "h4", "h5", "h6", "td", "th", "dt", "dd",
            "pre", "blockquote", "button", "figcaption", "section", "article", "main", "header",
            "footer", "nav", "aside", "form", "ul", "ol", "table", "caption", "summary", "details",
            "fieldset", "address", "body", "tr", "dl", "figure", "legend", "center", "span", "a",
        )
    )
}  # fmt: skip
"""A small number for each tag that the scorer tells apart."""

NAV, HEADER, FOOTER, ASIDE, MAIN, ARTICLE, FORM, TABLE, LIST, DIALOG, BUTTON, FIGURE, QUOTE, PRE = (
    1 << bit for bit in range(14)
)
HIDDEN, NOSCRIPT = 1 << 14, 1 << 15
FOLDED = 1 << 16
"""Its text was not looked at."""

TAG_FLAGS = {
    "nav": NAV, "header": HEADER, "footer": FOOTER, "aside": ASIDE, "main": MAIN,
    "article": ARTICLE, "form": FORM, "table": TABLE, "ul": LIST, "ol": LIST, "menu": NAV | LIST,
    "dialog": DIALOG, "button": BUTTON, "figure": FIGURE, "blockquote": QUOTE, "pre": PRE,
    "noscript": NOSCRIPT,
}  # fmt: skip
"""What a tag says of all the text inside it."""

ROLE_FLAGS = {
    "navigation": NAV, "banner": HEADER, "contentinfo": FOOTER, "complementary": ASIDE,
    "main": MAIN, "article": ARTICLE, "form": FORM, "search": FORM | NAV, "dialog": DIALOG,
    "alertdialog": DIALOG, "alert": DIALOG, "menu": NAV, "menubar": NAV, "toolbar": NAV,
    "button": BUTTON, "list": LIST,
}  # fmt: skip
"""What an ARIA role says of all the text inside it."""
