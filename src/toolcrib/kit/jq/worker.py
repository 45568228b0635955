"""The process in which a jq program runs: it can use time and memory, and nothing else.

    python -I -S -B worker.py MODULE MEGABYTES < {"program": …, "text": …}

It writes `{"text": …}`, one result a line, or `{"error": …}`. Once jq is loaded, no
file can be opened any more.
"""

import importlib.machinery
import importlib.util
import json
import sys
from contextlib import suppress
from typing import Any


def main() -> None:
    """Load, confine, run, answer."""
    jq = _loaded(sys.argv[1])
    asked = json.load(sys.stdin)
    _confine(int(sys.argv[2]))
    try:
        text = jq.compile(asked["program"]).input_text(asked["text"]).text()
        answer = json.dumps({"text": text})
    except ValueError as error:
        answer = json.dumps({"error": str(error)[:2000]})
    except (MemoryError, RecursionError):
        answer = json.dumps({"error": "too much memory is needed"})
    sys.stdout.write(answer)


def _loaded(file: str) -> Any:
    loader = importlib.machinery.ExtensionFileLoader("jq", file)
    spec = importlib.util.spec_from_loader("jq", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def _confine(megabytes: int) -> None:
    import resource

    def limit(which: int, most: int) -> None:
        with suppress(OSError, ValueError):
            resource.setrlimit(which, (most, most))

    limit(resource.RLIMIT_AS, megabytes << 20)
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_FSIZE, 0)
    limit(resource.RLIMIT_NOFILE, 0)


if __name__ == "__main__":
    main()
