from __future__ import annotations

from toolcrib.documents.reader.lexicon import Lexicon, name_words


def test_words_of_names_come_apart_where_they_are_written_together() -> None:
    assert name_words("relatedPosts side-bar_2 X") == {"related", "posts", "side", "bar"}


def test_a_name_is_the_sum_and_the_ends_of_its_words_each_once() -> None:
    lexicon = Lexicon({"related": -20, "posts": -5, "entry": 15}, {})
    assert lexicon.name("relatedPosts entry related") == (-10, -20, 15)
    assert lexicon.name("entry") == (15, 0, 15)
    assert lexicon.name("") == lexicon.name("unheard-of") == (0, 0, 0)


def test_sums_fit_into_a_byte() -> None:
    words = {f"w{letter}": -90 for letter in "abcdef"}
    assert Lexicon(words, {}).name(" ".join(words)) == (-127, -90, 0)


def test_long_texts_are_not_looked_at() -> None:
    lexicon = Lexicon({}, {"share": -30})
    assert lexicon.text("Share this", 2) == (-30, -30)
    assert lexicon.text("Share " * 31, 31) == (0, 0)
