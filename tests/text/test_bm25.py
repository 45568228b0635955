# ruff: noqa: RUF001 - texts in many scripts
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.text.bm25 import Bm25, stem, terms

TOOLS = {
    "web_search": {"name": "web_search", "text": "Search the web and return results."},
    "fetch_url": {"name": "fetch_url", "text": "Read a web page as Markdown."},
    "read_file": {"name": "read_file", "text": "Read a file, or several at once."},
    "search_files": {"name": "search_files", "text": "Find a text in the files of a folder."},
    "run_python": {"name": "run_python", "text": "Run Python code in a sandbox."},
}


@each_case(
    ("text", "wanted"),
    [
        ("fetch_url", ["fetch", "url", "fetchurl"]),
        ("fetchUrl", ["fetch", "url", "fetchurl"]),
        ("parseHTMLDocument2", ["pars", "html", "document", "2", "parsehtmldocument2"]),
        ("Crème Brûlée", ["crem", "brule"]),
        ("Größe", ["gross"]),
        ("ＡＢＣ", ["abc"]),
        ("Привет, мир", ["привет", "мир"]),
        ("検索", ["検", "索", "検索"]),
        ("使用Python搜索", ["使", "用", "使用", "python", "搜", "索", "搜索"]),
        ("", []),
        ("…!?", []),
    ],
)
def test_terms(text, wanted):
    assert terms(text) == wanted


def test_a_query_of_han_characters_asks_for_pairs_only():
    assert terms("検索結果", query=True) == ["検索", "索結", "結果"]
    assert terms("猫", query=True) == ["猫"]


@each_case(
    "words",
    [
        ("search", "searches", "searching", "searched"),
        ("file", "files", "filed", "filing"),
        ("run", "runs", "running"),
        ("image", "images"),
        ("query", "queries"),
        ("write", "writes", "writing"),
    ],
)
def test_forms_of_a_word_meet(words):
    assert len({stem(word) for word in words}) == 1


@each_case("word", ["bus", "this", "sing", "red", "glass", "été", "go"])
def test_words_that_only_look_like_forms_stay(word):
    assert stem(word) == word


@each_case(
    ("query", "best"),
    [
        ("search the internet web", "web_search"),
        ("reading web pages", "fetch_url"),
        ("ReadFile", "read_file"),
        ("find text in files", "search_files"),
        ("execute python", "run_python"),
    ],
)
def test_the_right_document_comes_first(query, best):
    index = Bm25(TOOLS.items(), {"name": 2})
    assert index.search(query)[0][0] == best


def test_scores_fall_and_the_limit_holds():
    found = Bm25(TOOLS.items()).search("read search file web", limit=3)
    scores = [score for _, score in found]
    assert len(found) == 3
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)


def test_equal_scores_keep_the_order():
    index = Bm25([(n, "the same words") for n in range(20)])
    assert [key for key, _ in index.search("same words", 20)] == list(range(20))


def test_a_weighted_field_wins():
    documents = [
        ("text", {"name": "alpha", "text": "needle"}),
        ("name", {"name": "needle", "text": "alpha"}),
    ]
    assert Bm25(documents, {"name": 3}).search("needle")[0][0] == "name"
    assert Bm25(documents, {"text": 3}).search("needle")[0][0] == "text"


def test_a_rare_term_counts_more_than_a_common_one():
    documents = [(n, f"common words {n}") for n in range(10)] + [("rare", "needle words")]
    assert Bm25(documents).search("common needle")[0][0] == "rare"


def test_a_short_document_beats_a_long_one():
    documents = [("long", "needle " + "hay " * 200), ("short", "needle hay")]
    assert Bm25(documents).search("needle")[0][0] == "short"


def test_nothing_shared_is_nothing_found():
    index = Bm25(TOOLS.items())
    assert index.search("zzz") == []
    assert index.search("") == []
    assert index.search("read", limit=0) == []
    assert Bm25([]).search("read") == []
    assert Bm25([("empty", "")]).search("read") == []


def test_accents_and_languages_meet():
    index = Bm25(
        [("fr", "Résumé à télécharger"), ("zh", "如何使用搜索引擎"), ("ru", "Поиск в сети")]
    )
    assert index.search("resume")[0][0] == "fr"
    assert index.search("搜索")[0][0] == "zh"
    assert index.search("ПОИСК")[0][0] == "ru"


@given(st.lists(st.text(max_size=30), max_size=8), st.text(max_size=20))
def test_any_text_can_be_indexed_and_searched(texts, query):
    index = Bm25(list(enumerate(texts)))
    first = index.search(query)
    assert first == index.search(query)
    assert len(index) == len(texts)
