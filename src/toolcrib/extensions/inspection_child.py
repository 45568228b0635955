"""A process of its own that imports tools of others, to see what they declare.

Started as a program: what hangs, prints or ends at import does so here. It reads an origin as
JSON from stdin and writes what it found as one line of JSON.
"""

from __future__ import annotations

import json
import os
import sys


def main() -> int:
    """Look at one origin."""
    order = json.loads(sys.stdin.buffer.read())
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # What the imported code prints, also by a program that it starts, is no answer of ours.
    os.dup2(2, 1)
    sys.path[:] = order["path"]
    from toolcrib.extensions.declarations import ToolOrigin, declared, in_words

    try:
        found = declared(ToolOrigin(**order["origin"])).to_json()
    except BaseException as error:  # noqa: BLE001 - a file may raise anything
        found = {"tools": [], "skipped": [in_words(error, order["file"])]}
    answer.write(json.dumps(found))
    answer.flush()
    # Threads that the code began do not hold it back.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
