"""Texts with the tokens that they are in older encodings, counted once by gpt-tokenizer 4."""

from __future__ import annotations

CODE = '''class Garden:
    """Beds, each with what grows in it."""

    def __init__(self, beds: dict[str, list[str]]) -> None:
        self._beds = {name: tuple(plants) for name, plants in beds.items()}

    def grown(self, plant: str) -> int:
        total = 0
        for name, plants in self._beds.items():
            if plant in plants:
                total += plants.count(plant)
            elif name.startswith("_"):
                continue
        return total
'''
GERMAN = "Die Gärtner gießen früh am Morgen die Beete hinter dem großen Haus. "
ENGLISH = "The gardeners water the beds behind the large house early in the morning, every day. "
CHINESE = "今天天气很好,我们去公园散步吧。"
LOG = "2026-11-23T10:04:11Z INFO [worker-3] 192.0.2.7 GET /api/v1/items?id=42 200 13ms\n"
OLDER_COUNTS = {
    CODE * 5: {"r50k": 1070, "p50k": 680},
    GERMAN * 20: {"r50k": 541, "p50k": 541},
    ENGLISH * 20: {"r50k": 361, "p50k": 361},
    CHINESE * 20: {"r50k": 560, "p50k": 560},
    LOG * 20: {"r50k": 840, "p50k": 840},
}
