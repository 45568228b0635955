# ruff: noqa: RUF001 - texts in many scripts
"""Texts of many kinds, each with its count of tokens in the o200k vocabulary."""

from __future__ import annotations

import base64
import hashlib
import json

ENGLISH = (
    "The tide had gone out before anyone noticed, and the boats lay on their sides in the "
    "mud as if somebody had pushed them over. Marta counted eleven of them from the harbour "
    "wall. She had promised to bring the nets in by noon, but the road from the village was "
    "closed, so she walked the long way round, past the old customs house and the church, "
    "and arrived with wet boots and an apology that nobody asked for.\n\n"
    "“You are late,” said the harbour master, without looking up from his ledger. “It doesn't "
    "matter. The buyers won't be here until Thursday, and the weather isn't going to help "
    "either of us.” He turned a page, wrote down three numbers, and added them twice.\n"
)
GERMAN = (
    "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft "
    "und Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen. Jeder hat "
    "Anspruch auf die in dieser Erklärung verkündeten Rechte und Freiheiten ohne irgendeinen "
    "Unterschied, etwa nach Rasse, Hautfarbe, Geschlecht, Sprache, Religion, politischer oder "
    "sonstiger Überzeugung, nationaler oder sozialer Herkunft, Vermögen, Geburt oder sonstigem "
    "Stand. Die Verarbeitungsgeschwindigkeit der Datenbankabfragen hängt von der Konfiguration "
    "des Zwischenspeichers ab, weshalb die Systemverwalter regelmäßig nachsehen.\n"
)
RUSSIAN = (
    "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены "
    "разумом и совестью и должны поступать в отношении друг друга в духе братства. Каждый "
    "человек имеет право на жизнь, на свободу и на личную неприкосновенность. Никто не должен "
    "содержаться в рабстве или в подневольном состоянии; рабство и работорговля запрещаются "
    "во всех их видах. Проверьте настройки сервера и повторите попытку через пять минут.\n"
)
CHINESE = (
    "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。"
    "人人有资格享有本宣言所载的一切权利和自由，不分种族、肤色、性别、语言、宗教、政治或其他见解、"
    "国籍或社会出身、财产、出生或其他身分等任何区别。请检查服务器的配置文件，然后重新启动程序。\n"
)
JAPANESE = (
    "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"
    "人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。"
    "設定ファイルを確認してから、サーバーをもう一度起動してください。エラーが続く場合は、管理者に連絡します。\n"
)
KOREAN = (
    "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 "
    "이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다. 서버 설정을 확인한 다음 "
    "프로그램을 다시 시작하십시오.\n"
)
ARABIC = (
    "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل "
    "بعضهم بعضا بروح الإخاء.\n"
)
PYTHON = '''
class LedgerEntry:
    """One line of the ledger: who took what, and when it came back."""

    def __init__(self, borrower: str, item_id: int, *, due_days: int = 14) -> None:
        self.borrower = borrower
        self.item_id = item_id
        self.due = datetime.now(tz=UTC) + timedelta(days=due_days)
        self._returned_at: datetime | None = None

    @property
    def is_overdue(self) -> bool:
        if self._returned_at is not None:
            return False
        return datetime.now(tz=UTC) > self.due


def overdue(entries: Iterable[LedgerEntry], limit: int = 10) -> list[LedgerEntry]:
    late = [entry for entry in entries if entry.is_overdue]
    return sorted(late, key=lambda entry: entry.due)[:limit]
'''
JAVASCRIPT = """
export async function loadLedger(url, { retries = 3, signal } = {}) {
  for (let attempt = 0; attempt < retries; attempt++) {
    const response = await fetch(url, { headers: { Accept: 'application/json' }, signal });
    if (response.ok) {
      const { entries, total } = await response.json();
      return entries.map((entry) => ({ ...entry, due: new Date(entry.due) }));
    }
    await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** attempt));
  }
  throw new Error(`Giving up on ${url} after ${retries} attempts`);
}
"""
HTML = (
    '<div class="card card--wide" id="entry-42"><a href="/items/42?ref=list#notes" '
    'class="card__link" data-track="open-item"><img src="/static/img/42@2x.webp" alt="" '
    'width="320" height="180" loading="lazy"></a><h3 class="card__title">Torque wrench</h3>'
    "<p>Returned &amp; checked, 3&nbsp;days late.</p></div>\n"
)
LOG = "".join(
    f"2026-11-21T22:{n % 60:02}:{n * 7 % 60:02}.{n * 137 % 1000:03}Z INFO [worker-{n % 8}] request "
    f"handled path=/api/v1/items/{n * 31} status=200 duration_ms={n * 17 % 900}\n"
    for n in range(40)
)
_RECORDS = [
    {
        "id": n,
        "name": ("Torque wrench", "Spirit level", "Feeler gauge")[n % 3],
        "price": round(n * 3.77 + 9.99, 2),
        "tags": ["metal", "shared"][: n % 2 + 1],
        "available": n % 4 != 0,
        "borrowed_at": f"2026-0{n % 9 + 1}-1{n % 10}T08:30:00Z",
    }
    for n in range(20)
]
_BYTES = b"".join(hashlib.sha256(bytes([n])).digest() for n in range(48))

TEXTS = {
    "english": ENGLISH,
    "german": GERMAN,
    "russian": RUSSIAN,
    "chinese": CHINESE,
    "japanese": JAPANESE,
    "korean": KOREAN,
    "arabic": ARABIC,
    "python": PYTHON,
    "javascript": JAVASCRIPT,
    "html": HTML,
    "log": LOG,
    "json pretty": json.dumps(_RECORDS, indent=2),
    "json compact": json.dumps(_RECORDS, separators=(",", ":")),
    "base64": base64.b64encode(_BYTES).decode(),
    "base64 lines": base64.encodebytes(_BYTES).decode(),
    "hex": _BYTES.hex(),
    "markdown table": "| item | price | due |\n|---|---|---|\n"
    + "".join(f"| wrench {n} | {n * 3}.50 | 2026-11-{n:02} |\n" for n in range(1, 25)),
    "special tokens": "<|endoftext|> is plain text, and so is <|im_start|>user.\n",
}
