"""Result pages in the form that the services have."""

from __future__ import annotations

import json
from html import escape
from urllib.parse import quote

from tests.servers.scripted import Answer


def wrapped(url: str) -> str:
    return f"//duckduckgo.com/l/?uddg={quote(url, safe='')}&rut=0123abcd"


def result(title: str, url: str, snippet: str = "", date: str = "", kind: str = "") -> str:
    href = escape(url)
    displayed = f"<span>&nbsp; &nbsp; {date}T00:00:00.0000000</span>" if date else ""
    return f"""
    <div class="result results_links results_links_deep {kind or "web-result"} ">
     <div class="links_main links_deep result__body">
      <h2 class="result__title"> <a rel="nofollow" class="result__a" href="{href}">{title}</a></h2>
      <div class="result__extras"><div class="result__extras__url">
       <a class="result__url" href="{href}"> example.org </a> {displayed}</div></div>
      <a class="result__snippet" href="{href}">{snippet}</a>
     </div></div>"""


def page(*results: str, following: dict[str, str] | None = None) -> Answer:
    fields = "".join(
        f'<input type="hidden" name="{name}" value="{escape(value)}" />'
        for name, value in (following or {}).items()
    )
    form = f"""<div class="nav-link"><form action="/html/" method="post">
      <input type="submit" class="btn btn--alt" value="Next" />{fields}</form></div>"""
    return Answer(f"""<!DOCTYPE html><html><head><title>q at DuckDuckGo</title></head><body>
      <form name="x" action="/html/"><input name="q" value="q"></form>
      <div class="serp__results"><div id="links" class="results">{"".join(results)}
      {form if following else ""}</div></div></body></html>""")


NOTHING = Answer("""<html><body><div class="serp__results"><div id="links" class="results">
  <div class="result results_links result--no-result"><div class="no-results">
  <div class="no-results__message">No results found for <b>zzz</b></div></div></div>
  </div></div></body></html>""")

CHALLENGE = """<html><body><form id="challenge-form" action="//duckduckgo.com/anomaly.js">
  <div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div>
  </form></body></html>"""


def searxng(*found: tuple[str, str, str]) -> Answer:
    results = [
        {"title": t, "url": u, "content": c, "engine": "mojeek", "publishedDate": None}
        for t, u, c in found
    ]
    return Answer(json.dumps({"query": "q", "results": results}), kind="application/json")


def brave(*found: dict[str, object], more: bool = False) -> Answer:
    answer = {
        "query": {"original": "q", "more_results_available": more},
        "web": {"type": "search", "results": list(found)},
    }
    return Answer(json.dumps(answer), kind="application/json")
