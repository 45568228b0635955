# ruff: noqa: RUF001 - words of other scripts
"""Tokens of families of models, estimated from those of o200k by what sets their tables apart."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from math import ceil

from toolcrib.text.tokens import estimate

DIGIT_BY_DIGIT = ("qwen", "qwq", "qvq")
"""Models for which each digit is a token, and words of Chinese are cheaper."""
LLAMA3_MODELS = ("llama-3", "llama3", "meta-llama-3")
O200K, LLAMA3, QWEN = range(3)
# Languages: what texts cost by the tables of o200k, Llama 3 and Qwen beside what is estimated,
# and words that are frequent in them (of some scripts parts of words, as they are split here).
_LANGUAGES = """\
af 1.26 1.47 1.48 die nie is dit vir moet maak hierdie van het en wat nog jou
ar 0.87 1.08 1.06 على أن من أو لا هذه في إلى هذا كان التي هو
az 0.69 0.94 0.98 üçün və edin bu ən çox deyil bir ilə olan daha
be 1.23 1.56 1.82 не што калі мае быць болей каб гэта як ці для ўсе
bg 1.10 1.33 1.42 да за от или че на не се това който при са
bn 1.07 3.36 2.89 ন র প ক য ম ত স ল ড ট
ca 1.22 1.42 1.42 de no per aquest ha el la si els amb una que és són
ckb 1.93 2.83 2.38 بۆ ئەم لە بە هەیە کە یان ئەو تۆ نیە
cs 1.09 1.06 1.40 nebo je jsou pokud být se není které jako že pro při na to
da 1.20 1.37 1.38 er og dette som af et til den ikke det der på være
de 1.01 1.20 1.21 der die und ist nicht mit den das ein eine zu von für auf sich werden
el 0.95 1.02 2.29 το να δεν η είναι έχει και τα για του από με
es 0.99 1.09 1.10 el los las del para con una por que se como más la es en su al
et 1.27 1.63 1.63 on ei kui või et see ja mis seda oma siis ning
eu 1.49 1.77 1.79 ez eta bat izan behar zure edo du da baino dira hau
fa 0.91 0.91 1.56 را کنید است این از در یا که با به یک برای
fi 1.16 1.44 1.45 ja ei on että se kun tai voi ovat joka sen olla ole myös
fr 0.99 1.10 1.13 les des une est pour dans que pas sur avec du ce le la et par
ga 1.23 1.53 1.57 an go tá ar seo do ag ná bheith níos agus na
gl 1.10 1.22 1.21 de que non os para un ou se este unha con é son
he 0.94 2.23 0.93 לא זה את שלך או אינו של על עם כל הוא
hi 0.96 1.58 2.71 क ह त प म ज स नह य ए द
hr 1.32 1.61 1.67 da se ili nije je za bi može više kako su koji što na
hu 1.10 1.27 1.33 az és nem egy hogy van meg ez vagy csak kell ha lesz is
hy 0.17 0.74 0.46 է որ համար այն կարող պետք կամ և են
id 1.12 1.33 1.35 dan untuk jika yang tidak adalah dari oleh dapat pada ini dengan
is 1.12 1.50 1.51 að ekki vera þú á hefur og verður það eða í sem
it 1.17 1.27 1.28 il di che per non una del della con sono le un si gli alla nel
ka 0.90 4.91 2.66 უნდა არ ან და ეს მხოლოდ რომელიც არის
kk 1.20 2.27 2.26 бұл үшін және емес немесе бар мен бір осы болуы керек деп
kn 1.08 4.74 3.70 ದ ನ ಲ ಮ ತ ರ ಕ ಗ ಸ ವ ಟ ಪ
ky 1.24 2.14 1.98 бул үчүн сиз же жана туура керек жок менен
lt 1.34 1.69 1.63 kad yra turi būti nei kaip iš buvo ir tai arba su
lv 1.26 1.60 1.61 ir vai nav jābūt vairāk kā par lai un ar no tas
mk 1.19 1.45 1.56 на да се дека со ја го оваа не за од или
ml 1.00 4.23 3.52 ക ന ല യ ട ത പ റ ര സ മ ണ
mn 1.28 2.19 2.15 байна байх энэ нь ёстой эсвэл та зөв бол ба
mr 1.07 1.68 2.73 य त ह ल व क प स ग द च र
ms 1.23 1.50 1.51 anda yang tidak ini boleh mempunyai atau dan untuk dengan kepada
nb 1.23 1.40 1.42 er av og dette ikke det som til på du kan være
ne 1.01 1.63 2.75 न र स त ह छ प गर ड म क भन
nl 1.12 1.39 1.40 de het een van en niet voor op te dat zijn met wordt aan bij
pl 1.20 1.34 1.30 nie się na jest że dla od są przez lub tego to po jak
pt 0.98 1.10 1.13 os não para uma com da em são mais por que um na dos ao
ro 1.12 1.24 1.25 de și în să nu este cu mai pentru că care sau sunt
ru 0.91 1.04 1.09 в с и если на не это что для или как из по
sk 1.15 1.26 1.42 sa že je ako musí alebo byť pre nie sú ktorý aby na ste
sl 1.34 1.63 1.70 ali kot za ima ta in je pa se ni biti ki na
sq 1.25 1.49 1.51 të për një që me ose mund në dhe është nga më
sr 1.25 1.51 1.62 је и ово да се на за или не у као су
sv 1.11 1.27 1.28 och att det som för på är inte med av den till ett kan
sw 1.47 1.90 1.93 kwa ya kuwa na yako au hii ni wa katika
tg 1.23 1.81 1.85 барои ин ва аст ё аз шумо ки ба дар
th 0.93 1.16 1.32 ท กต สผ ถ ใช ต ม เล เก ค ไม
tr 1.00 1.00 1.16 bir için ve olarak ile veya bu da daha değil olan gibi
uk 1.14 1.11 1.66 якщо у до є і або для з що не як та
ur 0.97 1.75 1.82 کے کریں کی کو کہ میں سے ہے اور کا
uz 1.47 1.79 1.83 bo yoki uchun bu bilan kerak va emas ham
vi 0.76 0.74 0.77 có là không cho và được với các của này trong một
"""
MIN_LANGUAGE_SHARE = 0.08
"""Of all words, so many are frequent ones of a language in a text of that language."""
O200K_DIGITS = 3
HAN_DISCOUNT = 0.15
"""Tokens by which a Han character is cheaper there; by bench/token_counts.py."""
OLDER = ("r50k", "gpt2", "p50k")
"""Encodings with a smaller table, in which code and other languages than English cost more."""
OLDER_SHARE = 1.1
OLDER_SPACE = {"r50k": 1.0, "gpt2": 1.0, "p50k": 0.0}
"""For each space of an indentation after the second; p50k has tokens for those."""
OLDER_LINE_END = 1.8
"""For a line that ends with a sign, which newer tables join with the line end."""
OLDER_EAST_ASIAN = 1.0
OLDER_NON_ASCII = 1.5
OLDER_DIGIT = -0.25
"""By bench/token_counts.py, as the others."""
_INDENTATION = re.compile(" {3,}")
_SIGN_AT_END = re.compile(r"[^\w\s]\n")
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_DIGITS = re.compile("[0-9]+")
_WORD = re.compile(r"[^\W\d_]+")
_HAN = re.compile("[\u3400-\u9fff]")


def estimate_for(text: str, model: str) -> int:
    """The tokens of a text for a model or an encoding, by its name, about.

    The figures are those of bench/token_counts.py.
    """
    count = estimate(text)
    older = model.strip().lower().replace("_base", "").replace("-", "")
    if older in OLDER:
        return _estimated_older(text, older, count)
    family = model.strip().lower().rpartition("/")[2]
    by_digit = family.startswith(DIGIT_BY_DIGIT)
    table = QWEN if by_digit else LLAMA3 if family.startswith(LLAMA3_MODELS) else O200K
    count = round(count * _language_factors(text)[table])
    if by_digit:
        count += sum(len(run) - ceil(len(run) / O200K_DIGITS) for run in _DIGITS.findall(text))
        count -= round(HAN_DISCOUNT * len(_HAN.findall(text)))
    return count


@cache
def _languages() -> dict[str, tuple[tuple[float, ...], frozenset[str]]]:
    """The factors by table and the frequent words of each language."""
    rows = (line.split() for line in _LANGUAGES.splitlines())
    return {row[0]: (tuple(map(float, row[1:4])), frozenset(row[4:])) for row in rows}


def _language_factors(text: str) -> tuple[float, ...]:
    """What a text costs beside the estimate as it is in another language than English, by table."""
    words = Counter(_WORD.findall(text.lower()))
    best = 0.0
    factors: tuple[float, ...] = (1.0, 1.0, 1.0)
    for row, frequent in _languages().values():
        share = sum(words[word] for word in frequent) / max(words.total(), 1)
        if share > best:
            best, factors = share, row
    return factors if best >= MIN_LANGUAGE_SHARE else (1.0, 1.0, 1.0)


def _estimated_older(text: str, name: str, count: int) -> int:
    """The same for the tables of GPT-2 and GPT-3."""
    indented = sum(len(run) - 2 for run in _INDENTATION.findall(text))
    east_asian = len(_EAST_ASIAN.findall(text))
    other = len(_NON_ASCII.findall(text)) - east_asian
    tokens = (
        OLDER_SHARE * count
        + OLDER_SPACE[name] * indented
        + OLDER_LINE_END * len(_SIGN_AT_END.findall(text))
        + OLDER_EAST_ASIAN * east_asian
        + OLDER_NON_ASCII * other
        + OLDER_DIGIT * sum(map(len, _DIGITS.findall(text)))
    )
    return max(round(tokens), min(count, 1))
