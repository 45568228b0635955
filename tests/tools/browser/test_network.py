"""Names, DNS over HTTPS and QUIC: nothing of a page gets past the guard by them.

In a network of its own, with servers of the tests for all three: what there is of the browser's
own way out arrives at them. The guard may look up a name that it judges; nothing else may.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import absent
from tests.tools.browser.network_child import DOH, QUIC_PORT
from toolcrib.execution.sandbox.sandbox import candidates

pytestmark = [pytest.mark.rows("X4"), pytest.mark.timeout(300)]
CHILD = Path(__file__).with_name("network_child.py")
TOP = Path(__file__).parents[3]
POLICIES = Path("/etc/chromium")


def arrived(mode: str, program: str, folder: Path, over_https: str) -> dict[str, Any]:
    """What arrives at the servers of a network of its own.

    `over_https` is how the browser of that machine is told to look up names: "off", "automatic"
    or "secure", which is over HTTPS alone.
    """
    policy = {"DnsOverHttpsMode": over_https, "DnsOverHttpsTemplates": f"https://{DOH}/dns-query"}
    if not candidates() or not POLICIES.is_dir():
        absent("there is no bubblewrap, or no Chromium of Debian's")
    wrapper = folder / "browser"
    wrapper.write_text(
        f'#!/bin/sh\nexec {program} "$@" --origin-to-force-quic-on=quic.test:{QUIC_PORT}\n'
    )
    wrapper.chmod(0o755)
    (folder / "resolv.conf").write_text("nameserver 127.0.0.53\n")
    shutil.copytree(POLICIES, folder / "policies")
    managed = folder / "policies" / "policies" / "managed"
    managed.mkdir(parents=True)
    (managed / "doh.json").write_text(json.dumps(policy))
    argv = [candidates()[0], "--unshare-user", "--unshare-net", "--uid", "0", "--gid", "0"]
    argv += [
        "--cap-add",
        "CAP_NET_BIND_SERVICE",
        "--cap-add",
        "CAP_NET_ADMIN",
        "--dev-bind",
        "/",
        "/",
        "--die-with-parent",
    ]
    argv += ["--ro-bind", str(folder / "resolv.conf"), "/etc/resolv.conf"]
    argv += ["--ro-bind", str(folder / "policies"), str(POLICIES), "--chdir", str(TOP)]
    argv += [sys.executable, "-m", "tests.tools.browser.network_child"]
    argv += [mode, str(wrapper), str(folder)]
    done = subprocess.run(argv, capture_output=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    return dict(json.loads(done.stdout))


def test_only_the_guard_looks_up_names(browser_program: str, tmp_path: Path) -> None:
    found = arrived("guarded", browser_program, tmp_path, "automatic")
    assert found == {
        "names": [name for name in found["names"] if name in ("fetched.test", "quic.test")],
        "quic": False,
        "tcp": False,
        "stun": False,
        "interface": found["interface"],
        "doh": False,
    }


def test_without_a_guard_all_of_it_arrives(browser_program: str, tmp_path: Path) -> None:
    for over_https in ("off", "secure"):
        (tmp_path / over_https).mkdir()
    found = arrived("bare", browser_program, tmp_path / "off", "off")
    assert found["quic"], found
    assert found["tcp"], found
    assert {"fetched.test", "transport.test"} <= set(found["names"]), found
    if found["interface"]:
        assert found["stun"], found
        assert "stun.test" in found["names"], found
    found = arrived("bare", browser_program, tmp_path / "secure", "secure")
    assert found["doh"], found
