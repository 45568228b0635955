"""What a call gives: `Result`, with the call that goes on, its images and its error."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from toolcrib.core.errors import ToolError, error_class

LINE_CHARS = 100
"""Characters of a result in one line."""


def well_formed(text: str) -> str:
    """The text without halves of surrogate pairs, which no encoding can carry."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


@dataclass(frozen=True, slots=True)
class Next:
    """The call that goes on where a result stops, ready to be sent as it stands."""

    tool: str
    arguments: Mapping[str, Any]

    @classmethod
    def of(cls, tool: str, **arguments: Any) -> Self:
        """The call with those of the arguments that say something."""
        return cls(tool, {name: value for name, value in arguments.items() if value})

    def __str__(self) -> str:
        return f"{self.tool} {json.dumps(dict(self.arguments), ensure_ascii=False)}"


@dataclass(frozen=True, slots=True)
class Image:
    """A picture in a result: its bytes and media type (`image/png`)."""

    data: bytes
    mime_type: str


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """Why a call failed: `code` for programs, `message` and `hint` for the reader."""

    code: str
    message: str
    hint: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, error: ToolError) -> ErrorInfo:
        """The record of a raised error."""
        message, hint = well_formed(error.message), well_formed(error.hint)
        return cls(error.stable_code, message, hint, error.details)

    def render(self) -> str:
        """The error as a model reads it, with what to do next on a line of its own."""
        text = f"Error ({self.code}): {self.message}"
        return f"{text}\n{self.hint}" if self.hint else text

    def to_json(self) -> dict[str, Any]:
        """The error as JSON values."""
        return {
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "details": dict(self.details),
        }


@dataclass(frozen=True, slots=True)
class Result:
    """What a call gave.

    `text` is what a model reads. `data` is the same for programs: JSON values.
    `truncated` says that more exists, and `next` is the call that reads it.
    `error` is None when the call worked.

    `source` names where untrusted text came from (a URL). The pipeline fences
    such text and notes so in `fenced`; a tool sets the source and nothing more.
    `private` says that something of the user's own is in it, beyond what the rights
    of the tool say, and `impersonal` that nothing is, whatever they say. `outside` is what
    came from outside as it came, where a program of the caller made the text of it: only
    links that stand there count as seen. `newest_change` is when the newest of the files was
    changed whose text stands here as it is, in seconds since 1970; None where no file's does.
    `page` is HTML that says the same as the text, for hosts that show pages (MCP Apps).
    `max_tokens` is a budget that the caller asked for,
    below the configured ceiling; 0 means the default.
    `tokens` is what the text takes, if a tool that fills a budget exactly says so; else
    the pipeline counts. `job` names the job as which the call goes on; the pipeline
    sets it.
    """

    text: str = ""
    data: Any = None
    images: tuple[Image, ...] = ()
    truncated: bool = False
    next: Next | None = None
    error: ErrorInfo | None = None
    source: str = ""
    fenced: bool = False
    private: bool = False
    impersonal: bool = False
    outside: str | None = None
    newest_change: float | None = None
    page: str = ""
    max_tokens: int = 0
    tokens: int = 0
    job: str = ""

    def __str__(self) -> str:
        """The result in one short line, for logs."""
        if self.error:
            line = f"{self.error.code}: {self.error.message}"
        else:
            line = next((part for part in self.text.split("\n") if part.strip()), "(no text)")
        more = [f"{len(self.text):,} characters"] if len(self.text) > LINE_CHARS else []
        more += ["more by next"] if self.next else []
        short = line if len(line) <= LINE_CHARS else f"{line[: LINE_CHARS - 1]}…"
        return f"{short} ({', '.join(more)})" if more else short

    def raise_for_error(self) -> Result:
        """This result, where the call worked.

        Raises:
            ToolError: it failed; of the class for its code, as `NotFound`.
        """
        if self.error is None:
            return self
        info = self.error
        raise error_class(info.code)(
            info.message, hint=info.hint, code=info.code, **dict(info.details)
        )

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values, as `--json` and the OpenAPI server give it."""
        from base64 import b64encode

        return {
            "text": self.text,
            "data": json_numbers(self.data),
            "images": [
                {"mime_type": i.mime_type, "data": b64encode(i.data).decode("ascii")}
                for i in self.images
            ],
            "truncated": self.truncated,
            "next": self.next and {"tool": self.next.tool, "arguments": dict(self.next.arguments)},
            "error": self.error and self.error.to_json(),
        }

    def render(self) -> str:
        """The text that a model is shown, the same on every surface."""
        parts = [self.text] if self.text else []
        if self.error:
            parts.append(self.error.render())
        if self.next:
            parts.append(f"To go on: {self.next}")
        return "\n".join(parts)


def json_numbers(value: Any) -> Any:
    """A value whose NaN and infinities are null: JSON has no such numbers."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: json_numbers(item) for key, item in value.items()}
    return list(map(json_numbers, value)) if isinstance(value, list | tuple) else value
