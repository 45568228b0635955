from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.samples import TEXTS
from toolcrib.text.tokens import (
    TOKEN,
    _shape,
    _units,
    estimate,
    lines_within,
    longest_head,
    longest_tail,
)

# Counted with the o200k vocabulary.
O200K = {
    "english": 142,
    "german": 133,
    "russian": 108,
    "chinese": 103,
    "japanese": 106,
    "korean": 63,
    "arabic": 42,
    "python": 193,
    "javascript": 139,
    "html": 99,
    "log": 1567,
    "json pretty": 1368,
    "json compact": 869,
    "base64": 1403,
    "base64 lines": 1435,
    "hex": 1748,
    "markdown table": 446,
}
TEXT = st.text(st.characters() | st.sampled_from("aA0 \n.é一я😀-\u200d"), max_size=300)


@each_case("name", O200K)
def test_estimate_is_near_the_count(name):
    assert estimate(TEXTS[name]) == pytest.approx(O200K[name], rel=0.15)


@each_case("name", ["base64", "base64 lines", "hex", "log"])
def test_dense_text_is_not_counted_short(name):
    assert estimate(TEXTS[name]) >= 0.97 * O200K[name]


def test_special_tokens_are_plain_text():
    assert estimate("<|endoftext|>") >= 3
    assert estimate(TEXTS["special tokens"]) >= 14


def test_empty_text_takes_nothing():
    assert estimate("") == 0
    assert estimate(" ") == 1


@each_case("piece", ["a", " ", "\n", " \n", "(", "(a", "A", "0", "一", "é", "\x00"])
def test_one_huge_run_is_counted_in_one_go(piece):
    text = piece * (2_000_000 // len(piece))
    assert estimate(text) > 1000
    assert estimate(text[: longest_head(text, 500)]) <= 500


@given(st.text(st.sampled_from("aaaaA 0.\n\t\r(é一"), max_size=80))
@example("0. \t\t")
def test_a_text_costs_what_its_pieces_cost(text):
    shape = _shape(text)
    assert estimate(text) == -(-_units(shape) // TOKEN)
    for budget in range(0, estimate(text), 3):
        assert _units(shape[: longest_head(text, budget)]) <= budget * TOKEN


def test_lone_surrogates_are_counted():
    assert estimate("\ud800\udfff") >= 2


@given(TEXT, st.integers(0, 60))
def test_longest_head_fits_and_is_longest(text, budget):
    end = longest_head(text, budget)
    assert estimate(text[:end]) <= budget or end == 0
    assert end == len(text) or estimate(text[: end + 1]) >= budget


@given(TEXT, st.integers(0, 60))
def test_longest_tail_fits_and_is_longest(text, budget):
    size = longest_tail(text, budget)
    assert size == 0 or estimate(text[-size:]) <= budget
    assert size == len(text) or estimate(text[-size - 1 :]) >= budget


@given(TEXT, TEXT)
def test_two_texts_cost_about_what_they_cost_apart(first, second):
    together = estimate(first + second)
    assert together <= estimate(first) + estimate(second) + 3
    assert together >= max(estimate(first), estimate(second)) - 3


RARE = """
abelmoschus aberroscope aciliated afterband aldononose alencon allobroges anticreeper antifrost
aquarial asmile balancewise befluster begloze beshine binately blemmyes bombardon bursar cacoethes
calmative capsulation cassia chrysamphora chrysolophus coenosteal collarband costanoan
crayonist cyclopia dialkyl edematous endurability enrobement ephemerally episioplasty epithalamium
equalizer eupepsy exhibitioner firstship florigraphy fluocerine geoside glossy guerdonable
handicap herborize hysterogeny hysteromania indictee iodobehenate ishmael japanophobe koromika
kwarterka lekane lincolnlike malleablize meandrite merohedric notarize onement orchialgia overdamn
overhot overpuissant oxygenant paradisian parviflorous perkiness perplexable pessulus pommeler
precept precosmical presbyterium pressing pretest prolusory puddlelike pumpable puppyism quemado
reactional repressory ruesome scabrate scarrer scotticize scrimpiness semiupright sidney soldering
starriness stylizer subaltern subsample sulphurweed thencefrom thrower tilestone toltec tragicize
umbrage unapparently underballast unexpert unfamiliar unhumble unmusicianly unprismatic unsome
untrouble unversedly varnashrama webworm workload yapster
"""


@each_case("between", ["\n", ", ", " ", "\n- ", ".txt  17 bytes\n"])
def test_lists_of_rare_words_are_not_counted_short(between):
    """Budgets hold within 5 % on them; so the count may be more, and hardly less."""
    encoding = pytest.importorskip("bpe_openai").get_encoding("o200k_base")
    text = between.join(RARE.split())
    assert estimate(text) >= 0.95 * len(encoding.encode_ordinary(text))
    assert estimate(text[: longest_head(text, 200)]) <= 210
    lines = lines_within(text.split("\n"), 200)
    assert estimate("\n".join(lines)) <= 200 or len(lines) == 1
