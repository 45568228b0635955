"""What a handle reads."""

from __future__ import annotations

import os

import pytest

from toolcrib.core.errors import UnsupportedContent
from toolcrib.files.handles import Handle


def test_a_stream_with_nothing_to_say_is_no_content() -> None:
    reading, writing = os.pipe2(os.O_NONBLOCK)
    try:
        with Handle(reading, os.fstat(reading), "/x/log", "log") as handle:
            os.write(writing, b"one")
            assert handle.file.read(3) == b"one"
            with pytest.raises(UnsupportedContent) as caught:
                handle.file.read(3)
        assert "log" in caught.value.message
        assert caught.value.hint
    finally:
        os.close(writing)
