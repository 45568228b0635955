"""The APIs that clients speak: their paths, their errors, and how their streams end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from toolcrib.surfaces.proxy.frames import data_of, event_frame, line_frame, text_of_json, value_of

Style = Literal["openai", "anthropic", "ollama"]
DialectName = Literal[
    "chat", "responses", "completions", "embeddings", "messages", "count_tokens", "ollama", "other"
]
ERROR_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """One kind of request. `lines` says that its stream are objects on lines."""

    name: DialectName
    style: Style = "openai"
    lines: bool = False

    @property
    def has_prompt(self) -> bool:
        """Whether it is a conversation, which stages and tools may take part in."""
        return self.name in ("chat", "responses", "messages", "ollama")


OTHER = Dialect("other")
_ENDS = {
    "/chat/completions": Dialect("chat"),
    "/responses": Dialect("responses"),
    "/completions": Dialect("completions"),
    "/embeddings": Dialect("embeddings"),
    "/messages": Dialect("messages", "anthropic"),
    "/messages/count_tokens": Dialect("count_tokens", "anthropic"),
}
_OLLAMA = Dialect("ollama", "ollama", lines=True)


def dialect_of(method: str, path: str, headers: Mapping[bytes, bytes]) -> Dialect:
    """What a request is, by its path; `OTHER` for what goes through untouched."""
    path = path.rstrip("/") or "/"
    if path == "/api/chat" and method == "POST":
        return _OLLAMA
    if path.startswith("/api/") and not path.startswith(("/api/v0/", "/api/v1/")):
        return Dialect("other", "ollama")
    base, _, end = path.partition("/v1/")
    if not _:
        base, _, end = path.partition("/v0/")
    found = _ENDS.get(f"/{end}") if end and base in ("", "/api", "/openai") else None
    if found is None and path in _ENDS:
        found = _ENDS[path]
    if found is not None and method == "POST":
        return found
    return Dialect("other", "anthropic") if b"anthropic-version" in headers else OTHER


def error_body(style: Style, status: int, message: str, code: str = "") -> dict[str, Any]:
    """An error in the form that a client of this style reads."""
    kind = ERROR_KINDS.get(status, "api_error")
    if style == "ollama":
        return {"error": message}
    if style == "anthropic":
        return {"type": "error", "error": {"type": kind, "message": message}}
    return {"error": {"message": message, "type": kind, "param": None, "code": code or None}}


def error_bytes(style: Style, status: int, message: str, code: str = "") -> bytes:
    """The same as a body."""
    return text_of_json(error_body(style, status, message, code)).encode()


_END_TYPES: Mapping[str, Sequence[str]] = {
    "messages": ("message_stop",),
    "responses": ("response.completed", "response.failed", "response.incomplete"),
}
_MARKS: Mapping[str, Sequence[bytes]] = {
    name: [f'"type":{gap}"{kind}"'.encode() for kind in kinds for gap in ("", " ")]
    for name, kinds in _END_TYPES.items()
} | {"ollama": (b'"done":true', b'"done": true')}
_WITH_DONE = ("chat", "completions")
# Their mark is no end, but says that an answer is whole, or that the server told of an error.
_FINISHES = (b'"finish_reason":"', b'"finish_reason": "', b'{"error"')
TAIL_BYTES = 64
HEAD_BYTES = 4_000
EARLY = "The model server ended its answer early."


class StreamTail:
    """Knows of a stream whether it has come to the end that its dialect wants, and makes one.

    Args:
        dialect: what it is; of those without an end of their own nothing is known.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._has_done = dialect.name in _WITH_DONE
        self._marks = _FINISHES if self._has_done else _MARKS.get(dialect.name, ())
        self._head = b""
        self._tail = b""
        self._is_marked = False

    @staticmethod
    def knows(dialect: Dialect) -> bool:
        """Whether streams of a dialect have an end of their own."""
        return dialect.name in _WITH_DONE or dialect.name in _MARKS

    def add(self, chunk: bytes) -> None:
        """A further piece that goes to the client."""
        if self._marks and not self._is_marked:
            window = self._tail + chunk
            self._is_marked = any(mark in window for mark in self._marks)
        if len(self._head) < HEAD_BYTES:
            self._head += chunk[:HEAD_BYTES]
        self._tail = chunk[-TAIL_BYTES:] if len(chunk) >= TAIL_BYTES else self._joined(chunk)

    def _joined(self, chunk: bytes) -> bytes:
        return (self._tail + chunk)[-TAIL_BYTES:]

    @property
    def is_ended(self) -> bool:
        """Whether its end came."""
        if self._has_done:
            return self._tail.rstrip().endswith(b"[DONE]")
        return self._is_marked

    @property
    def is_early(self) -> bool:
        """Whether it ends without any sign that the answer is whole."""
        return bool(self._tail) and not self.is_ended and not self._is_marked

    def missing_end(self) -> bytes:
        """What is missing where the server ended the stream without its end."""
        if self.is_ended or not self._tail:
            return b""
        if self._has_done and self._is_marked:
            return self._gap() + b"data: [DONE]\n\n"
        return self.error_end(EARLY, "incomplete")

    def error_end(self, message: str, code: str) -> bytes:
        """What ends the stream after an error; empty where it had ended."""
        if self.is_ended:
            return b""
        name, error = self._dialect.name, error_body(self._dialect.style, 502, message, code)
        if self._dialect.lines:
            return self._gap() + line_frame(error)
        if name == "messages":
            stop = event_frame({"type": "message_stop"}, "message_stop")
            return self._gap() + event_frame(error, "error") + stop
        if name == "responses":
            return self._gap() + event_frame(_failed_response(message), "response.failed")
        return self._gap() + self._cut_off() + event_frame(error) + b"data: [DONE]\n\n"

    def _cut_off(self) -> bytes:
        """For clients that pass over errors: what says that the answer is no whole one."""
        if not self._has_done or not self.is_early:
            return b""
        first = value_of(data_of(self._head.partition(b"\n\n")[0])) or {}
        template = {key: first[key] for key in ("id", "object", "created", "model") if key in first}
        part: dict[str, Any] = {"delta": {}} if self._dialect.name == "chat" else {"text": ""}
        return event_frame(
            {**template, "choices": [{"index": 0, **part, "finish_reason": "length"}]}
        )

    def _gap(self) -> bytes:
        """What ends the frame that is under way."""
        if self._dialect.lines:
            return b"" if not self._tail or self._tail.endswith(b"\n") else b"\n"
        is_whole = not self._tail or self._tail.endswith((b"\n\n", b"\r\n\r\n", b"\r\r"))
        return b"" if is_whole else b"\n\n"


def _failed_response(message: str) -> dict[str, Any]:
    error = {"code": "server_error", "message": message}
    response = {"object": "response", "status": "failed", "error": error, "output": []}
    return {"type": "response.failed", "response": response}
