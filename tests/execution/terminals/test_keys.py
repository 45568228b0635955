"""Keys by name, as the bytes that a terminal sends."""

from __future__ import annotations

import pytest

from toolcrib.core.errors import BadInput
from toolcrib.execution.terminals.keys import encode


@pytest.mark.parametrize(
    ("keys", "sent"),
    [
        ("ls -la<Enter>", b"ls -la\r"),
        ("ls\n", b"ls\r"),
        ("one\r\ntwo\n", b"one\rtwo\r"),
        ("<Ctrl+C>", b"\x03"),
        ("<C-c>", b"\x03"),
        ("<ctrl-c>", b"\x03"),
        ("<Ctrl+D><Ctrl+Z>", b"\x04\x1a"),
        ("<Esc>:q!<CR>", b"\x1b:q!\r"),
        ("<Up><Down><Right><Left>", b"\x1b[A\x1b[B\x1b[C\x1b[D"),
        ("<Home><End>", b"\x1b[H\x1b[F"),
        ("<Shift+Up>", b"\x1b[1;2A"),
        ("<Ctrl+Right>", b"\x1b[1;5C"),
        ("<Tab><S-Tab><Backspace>", b"\t\x1b[Z\x7f"),
        ("<PageUp><Page Down><Delete>", b"\x1b[5~\x1b[6~\x1b[3~"),
        ("<F1><F5><F12>", b"\x1bOP\x1b[15~\x1b[24~"),
        ("<Alt+x><M-B>", b"\x1bx\x1bB"),
        ("<Ctrl+Space><C-[>", b"\x00\x1b"),
        ("<Space>", b" "),
        ("echo '<div>' > <file>", b"echo '<div>' > <file>"),
        ("a < b > c", b"a < b > c"),
        ("<lt>Enter>", b"<Enter>"),
        ("grüße", "grüße".encode()),
        ("", b""),
    ],
)
def test_names_and_text(keys: str, sent: bytes) -> None:
    assert encode(keys) == sent


def test_arrows_in_the_form_that_a_program_asked_for() -> None:
    assert encode("<Up><Home>", application=True) == b"\x1bOA\x1bOH"
    assert encode("<Shift+Up>", application=True) == b"\x1b[1;2A"


def test_what_no_terminal_can_send_is_told() -> None:
    with pytest.raises(BadInput, match="no key that a terminal can send"):
        encode("<Ctrl+1>")
