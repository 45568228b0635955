"""Which client library sends requests, and what is said where it is not installed."""

from __future__ import annotations

import subprocess
import sys

HIDDEN = """
import importlib.abc, importlib.util, sys
class Hidden(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Hidden())
real = importlib.util.find_spec
def find_spec(name, package=None):
    return None if name in {hidden!r} else real(name, package)
importlib.util.find_spec = find_spec
from toolcrib.core.errors import ToolError
from toolcrib.core.settings import EgressConfig
from toolcrib.net.egress.client import open_transport
try:
    print(type(open_transport(EgressConfig(transport={transport!r}))).__name__)
except ToolError as error:
    print(error.stable_code, error.hint)
"""


def opened(transport: str, *hidden: str) -> str:
    program = HIDDEN.format(transport=transport, hidden=hidden)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_usual_one_needs_no_aiohttp() -> None:
    assert opened("auto", "aiohttp") == "WreqTransport"
    assert opened("auto", "wreq") == "AiohttpTransport"


def test_a_missing_one_is_named_with_the_line_that_installs_it() -> None:
    for transport in ("auto", "aiohttp"):
        reported = opened(transport, "aiohttp", "wreq")
        assert reported.startswith("unavailable")
        assert 'pip install "aiohttp' in reported
