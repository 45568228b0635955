# ruff: noqa: RUF001 - texts in many scripts
from __future__ import annotations

from tests.cases import each_case
from toolcrib.text.relevance import content_words, search_query


@each_case(
    ("question", "words"),
    [
        ("What is the default port of PostgreSQL?", ["default", "port", "PostgreSQL"]),
        ("How long does it take?", ["take"]),
        ("When did the war start", ["war", "start"]),
        ("Why do people die of heat?", ["people", "die", "heat"]),
        ("Wann war der Krieg?", ["Krieg"]),
        ("Quel est le prix d'un billet ?", ["prix", "billet"]),
        ("¿Cuánto cuesta una entrada?", ["cuesta", "entrada"]),
        ("Сколько стоит билет?", ["стоит", "билет"]),
        ("What does WHO say of salt?", ["WHO", "say", "salt"]),
        ("WHAT IS THE PORT", ["PORT"]),
        ("C++ 20 on node.js", ["C++", "20", "node.js"]),
        ("to be or not to be", ["to", "be", "or", "not", "to", "be"]),
        ("什么是量子计算？", ["量子计算"]),
        ("東京タワーの高さは何メートルですか", ["東京タワー", "高さ", "メートル"]),
        ("猫", ["猫"]),
        ("", []),
        ("???", ["???"]),
    ],
)
def test_content_words(question, words):
    assert content_words(question) == words


@each_case(
    ("question", "query"),
    [
        ("What is a tool crib?", "What is a tool crib"),
        ("Please tell me what a tool crib is.", "what a tool crib is"),
        ("Can you find out who built the Sell dam?", "who built the Sell dam"),
        ('"exact words" site:example.org -not', '"exact words" site:example.org -not'),
        ("  two\nlines ", "two lines"),
        ("please", "please"),
    ],
)
def test_search_query(question, query):
    assert search_query(question) == query


def test_a_long_question_is_asked_in_its_words():
    query = search_query(
        "I am writing about tool cribs in the machine industry, and I would like to know who "
        "first thought of hanging a brass tag in the place of a tool that was taken?"
    )
    assert len(query.split()) <= 20
    assert {"tool", "cribs", "brass", "tag"} <= set(query.split())
    assert not {"the", "and", "would"} & set(query.split())


def test_however_long_it_is_a_query_stays_short():
    assert 0 < len(search_query('"' + "word " * 500)) <= 300
    assert 0 < len(search_query("x" * 5000)) <= 300
