# ruff: noqa: RUF001 - words in many scripts
"""What a question is about: its words without those that any question has."""

from __future__ import annotations

import re
from functools import cache

_WORD = re.compile(r"[^\W_]+(?:[._+#/&-]+[^\W_]+)*(?:\+\+|#)?")
_CJK = re.compile(r"[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA_OR_HAN = re.compile(r"[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
# What joins and asks in Chinese and Japanese, where no space stands between words.
_JOINTS = re.compile(
    "为什么|什么时候|什么|怎么样|怎么|怎样|如何|哪里|哪个|哪些|哪儿|是谁|谁|多少|几个|可以|"
    "為什麼|什麼時候|什麼|怎麼樣|怎麼|哪裡|哪個|請問|请问|"
    "吗|嗎|呢|吧|的|是|"
    "について|ください|下さい|教えて|何ですか|でしょうか|ですか|ますか|とは|"
    "どのように|どうやって|どうすれば|"
    "どのくらい|どれくらい|いくつ|いくら|どこ|どの|どう|なぜ|いつ|だれ|なに|誰|何|"
    "する|して|した|します|である|です|ます|から|まで|より|には|では|への|での|"
    "は|が|を|に|の|と|で|へ|も|や|か"
)
_POLITE = re.compile(
    r"^(?:(?:hi|hello|hey|please|kindly|okay|ok|so|and|bitte|hallo)\b[\s,!.]*)*"
    r"(?:(?:can|could|would|will) you (?:please )?(?:tell me|explain|find out|find|look up|"
    r"search for|research|check|help me (?:find|understand))\s+|"
    r"(?:i (?:want|need|would like|'d like) to (?:know|find out|understand|learn)|"
    r"i(?:'d| would) like to know|tell me|find out|do you know)\s+)?"
    r"(?:please\s+)?",
    re.IGNORECASE,
)
_HOW = re.compile(r"\bhow (?:long|often|far|come)\b", re.IGNORECASE)
_OPERATOR = re.compile(r'"|\b\w+:\S|(?:^|\s)-\w')
ENOUGH_WORDS = 14
MAX_WORDS = 20
MAX_CHARS = 300
_STOP = {
    "en": "a about an and any are as at be been being but by can could did do does for from had "
    "has have how i if in into is it its me my not of on or our please should so some "
    "than that the their them then there these they this those to us was we were what "
    "when where which who whom whose why will with would you your am like s t m re ve ll "
    "don doesn isn much many get find something anything someone tell explain describe "
    "give show know want need",
    "de": "aber als am an auf aus bei bin bis bitte da dann das dass dem den der des die dies "
    "diese dieser dieses durch ein eine einem einen einer eines er es für gibt hat haben "
    "ich ihr im in ist kann können man mein mit nach nicht noch nur oder sein sich sie "
    "sind so um und uns unter vom von vor wann war warum was wegen welche welcher welches "
    "wem wen wenn wer werden wie wieso wird wo wir wurde zu zum zur über",
    "fr": "a au aux avec ce cela ces cette combien comment dans de des du elle en est et il ils "
    "je la le les leur lui ma mais me mon ne nous on ou où par pas plus pour pourquoi qu "
    "quand que quel quelle quelles quels qui quoi sa se ses son sont sur un une vous y ce "
    "c d j l m n qu s t",
    "es": "a al como cómo con cuál cuáles cuando cuándo cuánto cuántos de del dónde donde el "
    "ella en entre es esta este esto fue ha hay la las lo los más me mi no o para pero "
    "por porque qué que quién quiénes se ser si sin sobre son su sus un una y ya",
    "it": "a al alla anche che chi ci come con cosa da dal dalla dei del della delle di dove e "
    "è gli i il in io la le lo ma mi nel nella non o per perché più qual quale quali "
    "quando quanto quanti se si sono su sul sulla un una uno",
    "pt": "a ao aos as com como da das de do dos e é ela ele em entre essa esse esta este eu "
    "foi há isso mais mas na não nas no nos o onde os ou para pela pelo por porque qual "
    "quais quando quanto quantos que quê quem se ser sem são sobre sua seu um uma",
    "nl": "aan als bij dat de den der die dit door een en er het hoe hoeveel ik in is kan met "
    "mijn naar niet of om onder ook op over te tot uit van voor waar waarom wanneer was "
    "wat we welk welke wie wij worden wordt zijn zij",
    "pl": "a aby ale co czego czemu czy czym dla do dlaczego gdzie go i ich ile jak jaka jaki "
    "jakie jako jest już kiedy kto która które który lub ma mi mnie na nie o od oraz po "
    "pod przez przy się są ta tak tego ten to w we z za ze że",
    "ru": "а без более бы был была были было быть в вам вас во все вы где для до его ее если "
    "есть же за и из или им их к как какая какие какой каком когда кто ли мне мы на не но "
    "о об он она они оно от по под почему при с сколько со так такое та то того только ты "
    "у уже чем что чтобы чего это этот я",
}


@cache
def _lists() -> dict[str, frozenset[str]]:
    return {language: frozenset(words.split()) for language, words in _STOP.items()}


def _stop_words(words: list[str]) -> frozenset[str]:
    """Those of the language that most of the words could be of; of equals the first.

    Not of all languages at once: the German "war" and "die" are English words too.
    """
    lists = _lists().values()
    return max(lists, key=lambda known: sum(word.casefold() in known for word in words))


def content_words(question: str) -> list[str]:
    """The words that a question is about, in its order and as they are written.

    An acronym that looks like a common word ("WHO", "IT") stays, unless all is written
    in capitals. Where nothing else is left, all words are given.
    """
    loud = question.upper() == question
    question = _HOW.sub(" ", question)
    spaced = _KANA_OR_HAN.sub(_cut_at_joints, question) if _CJK.search(question) else question
    words = _WORD.findall(spaced)
    stop = _stop_words(words)

    def counts(word: str) -> bool:
        acronym = word.isupper() and len(word) > 1 and not loud
        return acronym or word.casefold().removesuffix("'s") not in stop

    return [word for word in words if counts(word)] or words or question.split()


def search_query(question: str) -> str:
    """What to ask a search engine: the question in one line, without what is said to a person.

    A short question goes as it is, since engines understand it; a long one gives its
    first distinct content words. Quotes and operators (`site:`, `-word`) are left alone.
    """
    line = " ".join(question.split())
    line = _POLITE.sub("", line).rstrip("?\uff1f!. ") or line
    if len(line.split()) <= ENOUGH_WORDS or _OPERATOR.search(line):
        chosen = line.split()
    else:
        chosen = list(dict.fromkeys(content_words(line)))[:MAX_WORDS]
    return " ".join(chosen[:40])[:MAX_CHARS].strip()


def _cut_at_joints(match: re.Match[str]) -> str:
    """A run of Chinese or Japanese with spaces for what only joins; all of it if that is all."""
    cut = " ".join(_JOINTS.sub(" ", match.group()).split())
    return f" {cut} " if len(cut.replace(" ", "")) > 1 else f" {match.group()} "
