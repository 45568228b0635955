"""What must not meet a run asks whether one goes on, in any process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

from toolcrib.files.live_runs import begin_run, without_runs

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing is run there")


def test_a_run_is_seen_until_its_end() -> None:
    first, second = begin_run(), begin_run()
    for fd in (first, second):
        with without_runs() as alone:
            assert not alone
        os.close(fd)
    with without_runs() as alone, without_runs() as other:
        assert (alone, other) == (True, True)


def test_no_run_begins_meanwhile() -> None:
    began: list[float] = []

    def begin() -> None:
        fd = begin_run()
        began.append(time.monotonic())
        os.close(fd)

    with without_runs() as alone:
        assert alone
        thread = threading.Thread(target=begin)
        thread.start()
        time.sleep(0.2)
        with without_runs() as other:  # one waits to begin
            assert not other
        ended = time.monotonic()
    thread.join()
    assert began[0] > ended


def test_a_process_that_is_killed_leaves_nothing() -> None:
    code = "from toolcrib.files.live_runs import *; begin_run(); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        process.stdout.readline()
        with without_runs() as alone:
            assert not alone
        process.kill()
    with without_runs() as alone:
        assert alone
