"""How long the outline of a source file of 75 kB takes: the aim is at most 50 ms.

python bench/outline.py
"""

# ruff: noqa: E501 - programs of one line each

from __future__ import annotations

import statistics
import time

from toolcrib.code.symbols import symbols

SIZE = 75_000
PIECES = {
    "python": "class Thing{n}(Base):\n    @property\n    def value(self, other: int = {n}) -> int:\n"
    '        """Gives it."""\n        total = sum(x * other for x in self.items if x > {n})\n'
    "        return total + other\n\n\ndef make{n}(path, *names, **more):\n"
    "    for name in names:\n        if name in more:\n            return [path, name, more[name]]\n\n\n",
    "typescript": "export class Thing{n}<T> extends Base {{\n  private readonly items: T[] = [];\n"
    "  value(other = {n}): number {{\n    return this.items.filter((x) => x > {n}).length + other;\n"
    "  }}\n}}\nexport const make{n} = async (path: string, ...names: string[]) => {{\n"
    "  for (const name of names) if (name in more) return [path, name, more[name]];\n}};\n",
    "rust": "pub struct Thing{n} {{ items: Vec<u8> }}\nimpl Thing{n} {{\n"
    "    pub fn value(&self, other: usize) -> usize {{\n"
    "        self.items.iter().filter(|x| **x > {n}).count() + other\n    }}\n}}\n",
    "cpp": "class Thing{n} : public Base {{\n public:\n  int value(int other) const {{ return other + {n}; }}\n"
    "};\nstatic std::vector<int> make{n}(const char *path, int count) {{\n"
    "  std::vector<int> all;\n  for (int i = 0; i < count; i++) all.push_back(i * {n});\n  return all;\n}}\n",
}


def source(language: str) -> str:
    """A text of that size."""
    parts, size, number = [], 0, 1
    while size < SIZE:
        parts.append(
            PIECES[language].replace("{n}", str(number % 90)).replace("{{", "{").replace("}}", "}")
        )
        size += len(parts[-1])
        number += 1
    return "".join(parts)


def main() -> None:
    """Print the median and the slowest of 15 runs for each language."""
    for language in PIECES:
        text = source(language)
        symbols(text, language)
        times = []
        for _ in range(15):
            started = time.perf_counter()
            found = symbols(text, language)
            times.append((time.perf_counter() - started) * 1000)
        print(
            f"{language:12} {len(text):,} bytes  {len(found):,} definitions  "
            f"median {statistics.median(times):.1f} ms  slowest {max(times):.1f} ms"
        )


if __name__ == "__main__":
    main()
