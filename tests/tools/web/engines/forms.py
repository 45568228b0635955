"""Result pages in every form that the engines have given them, made by hand."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from html import escape
from urllib.parse import quote

from toolcrib.web.providers.bing_index import Bing, BingImages, Yahoo
from toolcrib.web.providers.brave import BraveHtml
from toolcrib.web.providers.duckduckgo import DuckDuckGo, DuckDuckGoImages, DuckDuckGoLite
from toolcrib.web.providers.google import Google, Startpage
from toolcrib.web.providers.mojeek import Mojeek

KINDS = (
    Bing,
    BingImages,
    BraveHtml,
    DuckDuckGo,
    DuckDuckGoImages,
    DuckDuckGoLite,
    Google,
    Mojeek,
    Startpage,
    Yahoo,
)
ENGINES = {kind.name: kind for kind in KINDS}
PATHS = {
    "bing": "/search",
    "bing_images": "/images/search",
    "brave_html": "/search",
    "duckduckgo": "/html/",
    "duckduckgo_images": "/i.js",
    "duckduckgo_lite": "/lite/",
    "google": "/search",
    "mojeek": "/search",
    "startpage": "/sp/search",
    "yahoo": "/search",
}
Hit = tuple[str, str, str]
"""Title, address, text."""

EXACT = [
    "https://example.org/?a%26b%3Dc",
    "https://example.org/a%2Fb?x=1%232&y=2",
    "https://example.org/%C3%BC/%E4%F6?q=a+b%2Bc",
    "https://example.org/ünïcode/页?q=ж",
    "https://example.org/?u=https%3A%2F%2Fother.org%2F%3Fa%3Db%26c#frag%20ment",
    "https://example.org/100%25",
    "http://example.org/plain",
]
HITS: list[Hit] = [
    (f"Title & <{n}>", url, f"Some words of result {n}, with a < b.") for n, url in enumerate(EXACT)
]


def page(title: str, body: str) -> str:
    return (
        '<!DOCTYPE html><html><head><meta charset="utf-8"><title>'
        f"{title}</title><style>.a{{b:c}}</style></head><body>{body}</body></html>"
    )


# How each engine wraps an address.


def uddg(url: str) -> str:
    return f"//duckduckgo.com/l/?uddg={quote(url, safe='')}&rut=0123abcd"


def ck(url: str) -> str:
    coded = base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")
    return f"https://www.bing.com/ck/a?!&&p=0123abcd&ptn=3&ver=2&hsh=4&fclid=5&u=a1{coded}&ntb=1"


def ru(url: str) -> str:
    return (
        "https://r.search.yahoo.com/_ylt=Aw.r;_ylu=Y29sbw/RV=2/RE=1780000000/RO=10/RU="
        f"{quote(url, safe='').replace('%2F', '%2f')}/RK=2/RS=ab.c-"
    )


def url_q(url: str) -> str:
    return f"/url?q={quote(url, safe='/:')}&sa=U&ved=2ahUKE&usg=AOvVaw"


def url_url(url: str) -> str:
    coded = quote(url, safe="")
    return f"https://www.google.com/url?sa=t&rct=j&q=&esrc=s&source=web&url={coded}&ved=2"


def same(url: str) -> str:
    return url


Wrap = Callable[[str], str]
Form = Callable[[Sequence[Hit], Wrap], str]


def _e(text: str) -> str:
    return escape(text)


# Bing


def bing(hits: Sequence[Hit], wrap: Wrap = ck) -> str:
    rows = "".join(
        f"""<li class="b_algo" data-id iid="SERP.1"><link rel="stylesheet" href="/rp/x.css">
        <div class="b_tpcn"><a class="tilk" aria-label="example.org" href="{_e(wrap(u))}">
        <div class="tptxt"><div class="tptt">example.org</div><div class="tpmeta">
        <div class="b_attribution" u="0|1"><cite>https://example.org &rsaquo; a</cite></div></div>
        </div></a>
        </div><h2><a href="{_e(wrap(u))}" h="ID=SERP,1">{_e(t)}</a></h2>
        <div class="b_caption"><p class="b_lineclamp2">
        <span class="algoSlug_icon" data-priority="2">
        Web</span>{_e(s)}</p></div>
        <div class="b_deep"><h3><a href="{_e(ck("https://example.org/deep"))}">Deep link</a></h3>
        <p>About the deep link</p></div></li>"""
        for t, u, s in hits
    )
    return page("q - Search", f'<ol id="b_results">{_bing_others()}{rows}{_bing_pager()}</ol>')


def bing_rendered(hits: Sequence[Hit], wrap: Wrap = ck) -> str:
    """As a browser leaves it: the link around the heading."""
    rows = "".join(
        f"""<li class="b_algo b_rc_gb_template" data-bm="7"><div class="b_algoheader">
        <a href="{_e(wrap(u))}" target="_blank"><h2 class="">{_e(t)}</h2>
        <div class="b_tpcn"><div class="tptxt"><cite>https://example.org</cite></div></div></a>
        </div>
        <div class="b_caption hasdl"><div class="b_snippet"><p class="b_lineclamp3">{_e(s)}</p>
        </div></div></li>"""
        for t, u, s in hits
    )
    return page("q - Search", f'<main><ol id="b_results">{_bing_others()}{rows}</ol></main>')


def bing_2015(hits: Sequence[Hit], wrap: Wrap = same) -> str:
    rows = "".join(
        f"""<li class="b_algo"><div class="b_title"><h2><a href="{_e(wrap(u))}">{_e(t)}</a></h2>
        </div><div class="b_caption"><div class="b_attribution"><cite>example.org</cite></div>
        <p>{_e(s)}</p></div></li>"""
        for t, u, s in hits
    )
    return page("q - Bing", f'<ol id="b_results">{_bing_others()}{rows}{_bing_pager()}</ol>')


def bing_renamed(hits: Sequence[Hit], wrap: Wrap = ck) -> str:
    """With another class at its results."""
    return bing(hits, wrap).replace('class="b_algo"', 'class="b_found"')


def _bing_others() -> str:
    paid = "https://www.bing.com/aclk?ld=e8&u=aHR0cHM6Ly9zaG9wLmV4YW1wbGU"
    return f"""
    <li class="b_ad b_adTop"><ul><li><div class="sb_add sb_adTA"><h2><a href="{paid}">Buy</a></h2>
      <div class="b_caption"><p>Ad text</p></div></div></li></ul></li>
    <li class="b_algo"><h2><a href="{_e(paid)}">Hidden ad</a></h2><p>Ad text</p></li>
    <li class="b_algo"><h2><a href="{ck(paid)}">Wrapped ad</a></h2><p>Ad text</p></li>
    <li class="b_algo"><h2><a href="{ck("/videos/search?q=q")}">Videos of q</a></h2></li>
    <li class="b_ans"><h2><a href="{ck("https://example.net/answer")}">Answer</a></h2><p>x</p>
      <div class="b_algo"><h2><a href="https://example.net/inner">Inner</a></h2></div></li>"""


def _bing_pager() -> str:
    return """<li class="b_pag"><nav><ul class="sb_pagF"><li><a class="sb_pagN" title="Next page"
      href="/search?q=q&amp;FPIG=1&amp;first=11&amp;FORM=PORE">Next</a></li></ul></nav></li>"""


# Brave


def brave(hits: Sequence[Hit], wrap: Wrap = same) -> str:
    rows = "".join(
        f"""<div class="snippet svelte-1" data-pos="{n}" data-type="web">
        <div class="result-wrapper">
        <div class="result-content"><a href="{_e(wrap(u))}" target="_self" class="svelte-2 l1">
        <div class="site-name-wrapper"><div class="t-secondary">Example</div>
        <cite class="snippet-url">example.org</cite></div>
        <div class="title search-snippet-title line-clamp-1" title="{_e(t)}">{_e(t)}</div></a>
        <div class="generic-snippet"><div class="content t-primary line-clamp-dynamic">{_e(s)}</div>
        </div></div></div><div class="result-cluster"><div class="snippet">
        <a class="title" href="https://example.org/deep">Deep link</a>
        <div class="description">About it</div></div></div></div>"""
        for n, (t, u, s) in enumerate(hits)
    )
    return page(
        "q - Brave Search", f'<div id="results">{_brave_others()}{rows}{_BRAVE_PAGER}</div>'
    )


def brave_2022(hits: Sequence[Hit], wrap: Wrap = same) -> str:
    rows = "".join(
        f"""<div class="snippet fdb" data-type="web" data-loc="main">
        <a class="result-header" href="{_e(wrap(u))}"><span class="snippet-title">{_e(t)}</span>
        <div class="snippet-url"><span class="netloc">example.org</span></div></a>
        <div class="snippet-content"><p class="snippet-description">{_e(s)}</p></div></div>"""
        for t, u, s in hits
    )
    return page("q - Brave Search", f'<div id="results">{_brave_others()}{rows}</div>')


def brave_untyped(hits: Sequence[Hit], wrap: Wrap = same) -> str:
    rows = "".join(
        f"""<div class="snippet"><a class="h" href="{_e(wrap(u))}"><div class="title">{_e(t)}</div>
        </a><div class="snippet-content"><p class="snippet-description">{_e(s)}</p></div></div>"""
        for t, u, s in hits
    )
    return page("q - Brave Search", f'<main><div id="results">{_brave_others()}{rows}</div></main>')


def _brave_others() -> str:
    return """
    <div class="snippet" data-type="ad" id="search-ad"><a class="l1" href="https://shop.example/">
      <div class="title">Buy</div></a></div>
    <div class="snippet" data-type="web"><a class="l1"
      href="https://search.brave.com/a/redirect?click_url=https%3A%2F%2Fshop.example"><div
      class="title">Paid</div></a></div>
    <div class="snippet standalone"><h5>Videos</h5><a href="https://video.example/1">
      <div class="title">Video</div></a></div>
    <div class="snippet standalone" id="discussions"><div class="snippet" data-type="web">
      <a class="l1" href="https://forum.example/1"><div class="title">Thread</div></a></div></div>
    <div class="snippet" data-type="news"><a href="https://news.example/1"><div class="title">News
      </div></a></div>"""


_BRAVE_PAGER = """<div class="snippet standalone" id="pagination-snippet"><div id="pagination">
  <a class="button" href="/search?q=q&amp;offset=1&amp;spellcheck=0" role="link">Next</a></div>
        </div>"""


# DuckDuckGo


def duck(hits: Sequence[Hit], wrap: Wrap = uddg) -> str:
    rows = "".join(
        f"""<div class="result results_links results_links_deep web-result ">
        <div class="links_main links_deep result__body"><h2 class="result__title">
        <a rel="nofollow" class="result__a" href="{_e(wrap(u))}">{_e(t)}</a></h2>
        <div class="result__extras"><div class="result__extras__url">
        <a class="result__url" href="{_e(wrap(u))}"> example.org </a></div></div>
        <a class="result__snippet" href="{_e(wrap(u))}">{_e(s)}</a></div></div>"""
        for t, u, s in hits
    )
    return page(
        "q at DuckDuckGo",
        f'<div class="serp__results"><div id="links" class="results">{_duck_ads()}{rows}'
        f"{DUCK_NEXT}</div></div>",
    )


def duck_react(hits: Sequence[Hit], wrap: Wrap = same) -> str:
    rows = "".join(
        f"""<li data-layout="organic" class="w"><article id="r1-{n}" data-testid="result"
        data-nrn="result"><div><a data-testid="result-extras-url-link" href="{_e(wrap(u))}">
        <span>example.org</span></a></div><div><h2><a href="{_e(wrap(u))}"
        data-testid="result-title-a" rel="noopener"><span>{_e(t)}</span></a></h2></div>
        <div data-result="snippet"><div><span class="x"><span>{_e(s)}</span></span></div></div>
        <ul data-testid="sitelinks"><li><a href="https://example.org/deep">Deep</a></li></ul>
        </article></li>"""
        for n, (t, u, s) in enumerate(hits)
    )
    ad = """<li data-layout="ad"><article data-testid="ad"><h2><a data-testid="result-title-a"
      href="https://duckduckgo.com/y.js?ad_domain=shop.example">Buy</a></h2></article></li>
      <li data-layout="videos"><h2><a href="https://video.example/">Videos</a></h2></li>"""
    listed = f'<ol class="react-results--main">{ad}{rows}</ol>'
    return page("q at DuckDuckGo", f'<section data-testid="mainline">{listed}</section>')


def lite(hits: Sequence[Hit], wrap: Wrap = uddg) -> str:
    rows = "".join(
        f"""<tr><td valign="top">{n}.&nbsp;</td><td><a rel="nofollow" href="{_e(wrap(u))}"
        class='result-link'>{_e(t)}</a></td></tr>
        <tr><td>&nbsp;</td><td class='result-snippet'>{_e(s)}</td></tr>
        <tr><td>&nbsp;</td><td><span class='link-text'>example.org</span></td></tr>
        <tr><td>&nbsp;</td><td>&nbsp;</td></tr>"""
        for n, (t, u, s) in enumerate(hits, 1)
    )
    ad = """<tr class="result-sponsored"><td>1.&nbsp;</td><td><a rel="nofollow" class='result-link'
      href="https://duckduckgo.com/y.js?ad_domain=shop.example&amp;u3=x">Buy</a></td></tr>
      <tr class="result-sponsored"><td></td><td class='result-snippet'>Ad text</td></tr>
      <tr><td></td><td><a class='result-link' href="https://shop.example/">Unmarked</a></td></tr>
      <tr><td></td><td class='result-snippet'>Ad text</td></tr>
      <tr><td></td><td><span class='link-text'>shop.example</span> Sponsored link</td></tr>"""
    return page("q at DuckDuckGo", f"{LITE_FORM}<table>{ad}{rows}</table>{LITE_NEXT}")


LITE_FORM = """<form action="/lite/" method="post"><input class='query' name="q" value="q">
  <select name="kl"><option value="">All Regions</option></select></form>"""
LITE_NEXT = """<form class="prev_form" action="/lite/" method="post"><input type="submit"
  class="navbutton" value="&lt; Previous Page"><input type="hidden" name="s" value="0"></form>
  <form class="next_form" action="/lite/" method="post">
  <input type="submit" class='navbutton' value="Next Page &gt;">
  <input type="hidden" name="q" value="q"><input type="hidden" name="s" value="10">
  <input type="hidden" name="vqd" value="4-123"></form>"""


def _duck_ads() -> str:
    paid = "//duckduckgo.com/y.js?ad_domain=shop.example&amp;u3=https%3A%2F%2Fbing.com"
    block = """<div class="result {}"><h2 class="result__title">
      <a class="result__a" href="{}">{}</a></h2></div>"""
    return "".join(
        [
            block.format("results_links result--ad", paid, "Ad"),
            block.format("result--ad--small", "https://shop.example/", "Direct ad"),
            block.format("results_links", paid, "Unmarked ad"),
            block.format("results_links", _e(uddg(f"https:{paid}")), "Wrapped ad"),
            block.format("results_links", "javascript:alert(1)", "Script"),
            block.format("results_links", "https://example.org/untitled", "  "),
        ]
    )


DUCK_NEXT = """<div class="nav-link"><form action="/html/" method="post">
  <input type="submit" class="btn btn--alt" value="Next" />
        <input type="hidden" name="q" value="q" />
  <input type="hidden" name="s" value="10" /><input type="hidden" name="vqd" value="4-123" />
  </form></div>"""


# Google


def google_2020(hits: Sequence[Hit], wrap: Wrap = url_q) -> str:
    rows = "".join(
        f"""<div><div class="ZINbbc xpd O9g5cc uUPGi"><div class="kCrYT"><a href="{_e(wrap(u))}">
        <h3 class="zBAuLc"><div class="BNeawe vvjwJb AP7Wnd">{_e(t)}</div></h3>
        <div class="BNeawe UPmit AP7Wnd">example.org</div></a></div><div class="x54gtf"></div>
        <div class="kCrYT"><div><div class="BNeawe s3v9rd AP7Wnd"><div>
        <div class="BNeawe s3v9rd AP7Wnd">{_e(s)}</div></div>
        <span class="BNeawe"><a href="{_e(url_q("https://example.org/deep"))}">
        <span class="XLloXe">Deep link</span></a></span></div></div></div></div></div>"""
        for t, u, s in hits
    )
    return page("q - Google Search", f'<div id="main">{_google_old()}{rows}{_GOOGLE_NEXT}</div>')


def google_2023(hits: Sequence[Hit], wrap: Wrap = url_q) -> str:
    old = google_2020(hits, wrap).replace("ZINbbc xpd O9g5cc uUPGi", "Gx5Zad fP1Qef xpd EtOod")
    return old.replace('class="ZINbbc', 'class="Gx5Zad')


def google_2024(hits: Sequence[Hit], wrap: Wrap = url_q) -> str:
    rows = "".join(
        f"""<div class="ezO2md"><div><div><a class="fuLhoc ZWRArf" href="{_e(wrap(u))}">
        <span class="CVA68e qXLe6d fuLhoc ZWRArf">{_e(t)}</span><br>
        <span class="qXLe6d dXDvrc"><span class="fYyStc">example.org</span></span></a></div></div>
        <div class="Dks9wf"><table><tr><td class="udTCfd"><span class="qXLe6d FrIlee">
        <span class="fYyStc">{_e(s)}</span></span></td></tr></table></div></div>"""
        for t, u, s in hits
    )
    return page("q - Google Search", f'<div id="main">{rows}{_GOOGLE_NEXT}</div>')


def google_today(hits: Sequence[Hit], wrap: Wrap = same) -> str:
    rows = "".join(
        f"""<div class="MjjYud"><div class="g Ww4FFb vt6azd tF2Cxc asEBEc"><div class="N54PNb">
        <div class="kb0PBd" data-snf="x5WNvb"><div class="yuRUbf"><span><a jsname="UWckNb"
        href="{_e(wrap(u))}"><h3 class="LC20lb MBeuO DKV0Md">{_e(t)}</h3><br>
        <div class="notranslate"><cite>https://example.org</cite></div></a></span></div></div>
        <div class="kb0PBd" data-sncf="1"><div class="VwiC3b yXK7lf">{_e(s)}</div></div>
        <table class="jmjoTe"><tr><td><h3><a class="l" href="https://example.org/deep">Deep</a></h3>
        </td></tr></table></div></div></div>"""
        for t, u, s in hits
    )
    ads = """<div id="tads"><div class="uEierd" data-text-ad="1"><a
      href="https://www.google.com/aclk?sa=l&amp;ai=x"><h3>Buy</h3></a></div></div>"""
    questions = """<div class="MjjYud"><div class="related-question-pair" data-q="Why?">
      <div class="g">
      <a href="https://example.net/paa"><h3>Asked</h3></a></div></div></div>
      <g-section-with-header><a href="https://video.example/"><h3>Video</h3></a>
      </g-section-with-header><a href="/search?q=q&amp;tbm=isch"><h3>Images for q</h3></a>"""
    panel = '<div id="rhs"><a href="https://panel.example/"><h3>Panel</h3></a></div>'
    body = f'{ads}<div id="search"><div id="rso">{questions}{rows}</div></div>{panel}'
    following = '<a id="pnnext" href="/search?q=q&amp;start=10">Next</a>'
    return page("q - Google Search", f'<div id="main">{body}{following}</div>')


def google_2013(hits: Sequence[Hit], wrap: Wrap = url_url) -> str:
    rows = "".join(
        f"""<li class="g"><h3 class="r"><a href="{_e(wrap(u))}">{_e(t)}</a></h3><div class="s">
        <cite>example.org</cite><span class="st"><span class="f">Mar 3, 2013 - </span>{_e(s)}</span>
        </div></li>"""
        for t, u, s in hits
    )
    return page("q - Google Search", f'<div id="ires"><ol>{rows}</ol></div>')


def _google_old() -> str:
    paid = "/aclk?sa=l&amp;ai=DChcSE&amp;adurl=https://shop.example"
    inner = _e(url_q("https://example.net/paa"))
    return f"""<div><div class="ZINbbc uUPGi"><a href="{paid}"><h3>
        <div class="BNeawe vvjwJb">Buy</div>
      </h3></a></div></div><div><div class="ZINbbc xpd"><div class="yStFkb"><div class="ZINbbc xpd">
      <a href="{inner}"><h3><div class="BNeawe vvjwJb">Asked</div></h3></a></div></div></div></div>
      <div><div class="ZINbbc xpd"><div><div class="ZINbbc xpd"><a href="{inner}2"><h3>
      <div class="BNeawe vvjwJb">Asked too</div></h3></a></div></div></div></div>
      <div><div class="ZINbbc"><a href="/search?q=q&amp;tbm=isch"><h3><div class="BNeawe vvjwJb">
      Images</div></h3></a></div></div>"""


_GOOGLE_NEXT = """<footer><a class="nBDE1b" aria-label="Next page"
  href="/search?q=q&amp;start=10&amp;sa=N">Next &gt;</a></footer>"""


# Mojeek


def mojeek(hits: Sequence[Hit], wrap: Wrap = same) -> str:
    rows = "".join(
        f"""<li class="r{n}"><a class="ob" title="{_e(u)}" href="{_e(wrap(u))}"><p class="i">
        <span class="url">example.org</span></p></a><h2>
        <a class="title" href="{_e(wrap(u))}">{_e(t)}
        </a></h2><p class="s">{_e(s)}</p><p class="more"><a href="/search?q=site%3Aexample.org">
        See more results</a></p></li>"""
        for n, (t, u, s) in enumerate(hits, 1)
    )
    ad = """<li class="ad"><h2><a class="title" href="https://shop.example/">Buy</a></h2></li>"""
    news = """<section class="news-search-result"><ul class="results-standard"><li><h2>
      <a href="https://news.example/">News</a></h2></li></ul></section>"""
    pager = """<div class="pagination"><ul><li><a href="/search?q=q&amp;s=21">3</a></li>
      <li><a href="/search?q=q&amp;s=11">Next</a></li></ul></div>"""
    return page(
        "q - Mojeek Search",
        f'<div class="container serp-results"><div class="top-info"><p>Results 1 to 10</p></div>'
        f'<div class="results"><ul class="results-standard">{ad}{rows}</ul>{news}</div>{pager}'
        "</div>",
    )


def mojeek_2017(hits: Sequence[Hit], wrap: Wrap = same) -> str:
    rows = "".join(
        f"""<li><h2><a class="ob" href="{_e(wrap(u))}">{_e(t)}</a></h2><p class="i">example.org</p>
        <p class="s">{_e(s)}</p></li>"""
        for t, u, s in hits
    )
    return page("q - Mojeek Search", f'<div class="results"><ul>{rows}</ul></div>')


# Startpage


def startpage(hits: Sequence[Hit], wrap: Wrap = same) -> str:
    rows = "".join(
        f"""<div class="result css-o7i03b"><style>.css-4{{}}</style><div class="upper">
        <a class="wgl-site-title" href="{_e(wrap(u))}"><span>Example</span></a></div>
        <a class="result-title result-link css-1" href="{_e(wrap(u))}" data-testid="gl-title-link">
        <style>.css-i3{{margin:9px}}</style><h2 class="wgl-title css-i3">{_e(t)}</h2></a>
        <p class="description css-15"><style>.x{{}}</style>{_e(s)}</p>
        <div class="wgl-sitelinks" data-testid="sitelinks"><div class="result">
        <a class="result-title" href="https://example.org/deep"><h2>Deep</h2></a></div></div>
        <div class="anonymous-view-link">
        <a href="https://us2-browse.startpage.com/av/proxy?ep=4b6d">
        Visit in Anonymous View</a></div></div>"""
        for t, u, s in hits
    )
    return page(
        "Startpage Search Results",
        f'<main><section id="main"><div class="gcsa-container" id="gcsa-top"><div class="result">'
        '<a class="result-title" href="https://shop.example/"><h2>Buy</h2></a></div></div>'
        f'<div class="w-gl">{rows}<div class="a-bg-result AdSense TextAd adBox"></div></div>'
        f"{_startpage_pager()}</section></main>",
    )


def startpage_2019(hits: Sequence[Hit], wrap: Wrap = same) -> str:
    rows = "".join(
        f"""<div class="w-gl__result"><div class="w-gl__result__main">
        <a class="w-gl__result-title result-link" href="{_e(wrap(u))}"><h3>{_e(t)}</h3></a>
        <a class="w-gl__result-url" href="{_e(wrap(u))}">example.org</a>
        <p class="w-gl__description">{_e(s)}</p></div></div>"""
        for t, u, s in hits
    )
    return page("Startpage", f'<section class="w-gl w-gl--default">{rows}</section>')


def startpage_2018(hits: Sequence[Hit], wrap: Wrap = same) -> str:
    rows = "".join(
        f"""<li class="search-result search-item"><h3 class="search-item__title">
        <a href="{_e(wrap(u))}">{_e(t)}</a></h3><p class="search-item__body">{_e(s)}</p></li>"""
        for t, u, s in hits
    )
    return page(
        "Startpage", f'<div class="mainline-results"><ol class="list-flat">{rows}</ol></div>'
    )


def startpage_data(hits: Sequence[Hit], wrap: Wrap = same) -> str:
    found = [{"title": _e(t), "clickUrl": wrap(u), "description": _e(s)} for t, u, s in hits]
    paid = {"title": "Buy", "clickUrl": "https://shop.example/", "description": ""}
    groups = [
        {"display_type": "ads-google-top", "results": [paid]},
        {"display_type": "web-google", "results": found},
        {"display_type": "news-bing", "results": [{**paid, "clickUrl": "https://news.example/"}]},
    ]
    data = json.dumps({"render": {"presenter": {"regions": {"mainline": groups}}}})
    script = f"React.createElement(UIStartpage.AppSerpWeb, {data}), root);"
    return page("Startpage Search Results", f'<div id="root"></div><script>{script}</script>')


def _startpage_pager() -> str:
    form = """<form action="/sp/search" method="post" aria-label="{}"><input type="hidden"
      name="query" value="q"><input type="hidden" name="sc" value="abc">
      <input type="hidden" name="page" value="{}"><button>{}</button></form>"""
    forms = form.format("current page 1", 1, 1) + form.format("go to page 2", 2, 2)
    return f'<div class="pagination-container"><div class="pagination">{forms}</div></div>'


# Yahoo


def yahoo(hits: Sequence[Hit], wrap: Wrap = ru) -> str:
    rows = "".join(
        f"""<li><div class="dd algo algo-sr relsrch Sr"><div class="compTitle options-toggle">
        <a class="d-ib" href="{_e(wrap(u))}"><div class="d-ib p-abs t-0"><div class="algo-favicon">
        </div><span>https://example.org &rsaquo; a</span></div><h3 class="title">
        <span>{_e(t)}</span></h3>
        </a></div><div class="compText aAbs"><p class="fc-dustygray">{_e(s)}</p></div>
        <div class="compList"><ul><li><a href="{_e(ru("https://example.org/deep"))}">Deep</a>
        <p>About it</p></li></ul></div></div></li>"""
        for t, u, s in hits
    )
    return _yahoo(rows)


def yahoo_2021(hits: Sequence[Hit], wrap: Wrap = ru) -> str:
    rows = "".join(
        f"""<li><div class="dd algo algo-sr relsrch Sr"><div class="compTitle options-toggle">
        <h3 class="title tc d-ib"><a href="{_e(wrap(u))}" aria-label="{_e(_e(t))}">
        <span class="d-ib p-abs t-0 l-0 fz-14">
        <span>www.example.org</span> &rsaquo; a</span>{_e(t)}</a></h3>
        </div><div class="compText aAbs"><p>{_e(s)}</p></div></div></li>"""
        for t, u, s in hits
    )
    return _yahoo(rows)


def yahoo_2016(hits: Sequence[Hit], wrap: Wrap = ru) -> str:
    rows = "".join(
        f"""<li><div class="dd algo fst Sr"><div class="compTitle"><h3 class="title">
        <a class="ac-algo" href="{_e(wrap(u))}">{_e(t)}</a></h3><div><span class="fz-ms">
        example.org</span></div></div><div class="compText aAbs"><p class="lh-16">{_e(s)}</p></div>
        </div></li>"""
        for t, u, s in hits
    )
    return _yahoo(rows)


def _yahoo(rows: str) -> str:
    paid = (
        "https://r.search.yahoo.com/cbclk2/dWU9/RV=2/RE=1/RO=14/RU=https%3a%2f%2fshop.example/RK=2"
    )
    others = f"""<li><div class="dd Video"><h3><a href="https://video.example/">Videos</a></h3>
        </div>
      </li><li><div class="dd algo ads"><div class="compTitle"><h3>
        <a href="https://shop.example/">Ad
      </a></h3></div></div></li><li><div class="dd algo"><div class="compTitle"><h3>
      <a href="{paid}">Paid</a></h3></div></div></li><li><div class="dd algo">
        <div class="compTitle">
      <h3><a href="{_e(ru("https://www.bing.com/aclick?ld=e8"))}">Paid twice</a></h3></div></div>
        </li>
      <li><div class="dd bingrelqa"><div class="algo"><h3>
        <a href="https://example.net/paa">Asked</a>
      </h3></div></div></li>"""
    ads = """<ol class="searchCenterTopAds"><li><div class="dd algo"><h3>
      <a href="https://shop.example/top">Top ad</a></h3></div></li></ol>"""
    pager = """<div class="compPagination"><div class="pages"><a href="/search?b=8">2</a></div>
      <a class="next" href="https://search.yahoo.com/search;_ylt=A?p=q&amp;b=8&amp;pz=7&amp;bct=0&amp;xargs=0"
              <a class="next" href="https://search.yahoo.com/search;_ylt=A?p=q&amp;b=8&amp;pz=7&amp;bct=0&amp;xargs=0">
      Next</a></div>"""
    web = f'<div id="web">{ads}<ol class="reg searchCenterMiddle">{others}{rows}</ol></div>'
    return page("q - Yahoo Search Results", f'<div id="main">{web}{pager}</div>')


FORMS: dict[str, tuple[Callable[..., str], ...]] = {
    "bing": (bing, bing_rendered, bing_2015, bing_renamed),
    "brave_html": (brave, brave_2022, brave_untyped),
    "duckduckgo": (duck, duck_react),
    "duckduckgo_lite": (lite,),
    "google": (google_2013, google_2020, google_2023, google_2024, google_today),
    "mojeek": (mojeek, mojeek_2017),
    "startpage": (startpage, startpage_2018, startpage_2019, startpage_data),
    "yahoo": (yahoo, yahoo_2016, yahoo_2021),
}
WRAPS = {"bing": ck, "duckduckgo": uddg, "duckduckgo_lite": uddg, "google": url_q, "yahoo": ru}
