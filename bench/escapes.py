"""How many escape attempts each way of running code stops: the table of docs/security.md.

    python -m bench.escapes [--ways strong,kernel,bwrap] [--users root,ordinary] [--json FILE]

Each attempt is run without a sandbox first; only those that get out there count. One whose
benign twin fails in a sandbox counts as not stopped by it. Takes some minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import tempfile
from pathlib import Path

from tests.escapes.battery import ATTEMPTS
from tests.escapes.start import Answers, start

TITLES = {attempt.id: attempt.title for attempt in ATTEMPTS}
LANGUAGES = {attempt.id: attempt.language for attempt in ATTEMPTS}
NAMES = {
    "strong": "toolcrib, strong",
    "kernel": "toolcrib, kernel",
    "bwrap": "bubblewrap alone",
}


def row(method: str, user: str, answers: Answers, counted: list[str]) -> str:
    cells = []
    for language in ("python", "javascript", "shell"):
        ids = [i for i in counted if LANGUAGES[i] == language and i in answers]
        good = [i for i in ids if not answers[i]["evidence"] and not answers[i]["twin"]]
        cells.append(f"{len(good)} of {len(ids)}")
    ids = [i for i in counted if i in answers]
    good = [i for i in ids if not answers[i]["evidence"] and not answers[i]["twin"]]
    tasks = [a for i, a in answers.items() if i.startswith("benign")]
    working = [a for a in tasks if not a["twin"]]
    share = f"{100 * len(good) / len(ids):.1f} %"
    return (
        f"| {NAMES[method]} | {user} | {' | '.join(cells)} | **{share}** "
        f"| {len(working)} of {len(tasks)} |"
    )


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ways", default="strong,kernel,bwrap")
    parser.add_argument("--users", default="root,ordinary" if os.getuid() == 0 else "ordinary")
    parser.add_argument("--jobs", default="3")
    parser.add_argument("--json", default="")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="toolcrib-escapes-"))
    folder.chmod(0o711)
    stored: dict[str, Answers] = {}
    rows, gaps = [], []
    try:
        for user in arguments.users.split(","):
            bare = await start(folder, "bare", user, "--jobs", arguments.jobs)
            stored[f"bare {user}"] = bare
            counted = [i for i, answer in bare.items() if answer["evidence"]]
            inert = sorted(set(bare) - set(counted))
            print(f"{user}: {len(counted)} of {len(bare)} get out without a sandbox; not {inert}")
            for method in arguments.ways.split(","):
                answers = await start(folder, method, user, "--jobs", arguments.jobs)
                stored[f"{method} {user}"] = answers
                rows.append(row(method, user, answers, counted))
                print(rows[-1], flush=True)
                for name in counted:
                    answer = answers.get(name, {"evidence": ["no answer"], "twin": ""})
                    why = "; ".join(answer["evidence"]) or answer["twin"]
                    if why:
                        gaps.append(
                            f"- {NAMES[method]}, {user}: {name} {TITLES[name]} ({why[:160]})"
                        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("\n| Way | User | Python | JavaScript | Shell | Stopped | Ordinary tasks |")
    print("|---|---|---|---|---|---|---|")
    print("\n".join(rows), "\n", "\n".join(gaps), sep="\n")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(stored, indent=1))


if __name__ == "__main__":
    asyncio.run(main())
