"""An OpenAI-compatible model server on loopback that says what a test tells it to say."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LONG = 60.0


@dataclass(frozen=True)
class Turn:
    """One answer in the protocol.

    `calls` are pairs of a name and arguments (a value is sent as JSON text, a string as it is).
    `piece` is how many characters a delta has, `stall` after how many events the server falls
    silent, `drop` after how many it goes away; `pause` are seconds between events.
    """

    content: str | None = ""
    calls: Sequence[tuple[str, Any]] = ()
    reasoning: str = ""
    field: str = "reasoning_content"
    finish: str | None = None
    piece: int = 0
    usage: tuple[int, int] | None = (10, 5)
    done: bool = True
    indexed: bool = True
    empty_calls: bool = False
    error: Any = None
    stall: int | None = None
    drop: int | None = None
    pause: float = 0.0
    as_objects: bool = False
    line_end: str = "\n"
    comments: bool = False
    cut: int = 0

    def events(self) -> Iterator[str]:
        """The data of each event of a stream."""
        yield self._chunk({"role": "assistant", "content": None})
        yield from (self._chunk({self.field: part}) for part in self._parts(self.reasoning))
        for part in self._parts(self.content or ""):
            delta: dict[str, Any] = {"content": part}
            if self.empty_calls:
                delta["tool_calls"] = []
            yield self._chunk(delta)
        for index, (name, arguments) in enumerate(self.calls):
            yield from self._call(index, name, arguments)
        if self.error is not None:
            yield json.dumps({"error": self.error})
            return
        finish = self.finish or ("tool_calls" if self.calls else "stop")
        if finish != "none":
            yield self._chunk({}, finish)
        if self.usage:
            counts = {"prompt_tokens": self.usage[0], "completion_tokens": self.usage[1]}
            counts["total_tokens"] = sum(self.usage)
            yield json.dumps(_frame([], "chat.completion.chunk") | {"usage": counts})
        if self.done:
            yield "[DONE]"

    def _call(self, index: int, name: str, arguments: Any) -> Iterator[str]:
        place = {"index": index} if self.indexed else {}
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        head = {**place, "id": f"call_{index}", "type": "function"}
        if self.as_objects:
            function = {"name": name, "arguments": arguments}
            yield self._chunk({"tool_calls": [{**head, "function": function}]})
            return
        first = {**head, "function": {"name": name, "arguments": ""}}
        yield self._chunk({"tool_calls": [first]})
        for part in self._parts(text):
            yield self._chunk({"tool_calls": [{**place, "function": {"arguments": part}}]})

    def _parts(self, text: str) -> list[str]:
        size = self.piece or max(len(text), 1)
        return [text[i : i + size] for i in range(0, len(text), size)]

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return json.dumps(_frame([choice], "chat.completion.chunk"), ensure_ascii=False)

    def whole(self) -> dict[str, Any]:
        """The same for a client that does not stream."""
        message: dict[str, Any] = {"role": "assistant", "content": self.content}
        if self.reasoning:
            message[self.field] = self.reasoning
        if self.calls or self.empty_calls:
            message["tool_calls"] = [
                {
                    "id": f"call_{index}",
                    "type": "function",
                    "function": {
                        "name": name,
                        "arguments": given if isinstance(given, str) else json.dumps(given),
                    },
                }
                for index, (name, given) in enumerate(self.calls)
            ]
        finish = self.finish or ("tool_calls" if self.calls else "stop")
        counts = self.usage or (0, 0)
        usage = {"prompt_tokens": counts[0], "completion_tokens": counts[1]}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        whole = _frame([choice], "chat.completion")
        return whole | {"usage": usage | {"total_tokens": sum(counts)}}


@dataclass(frozen=True)
class Raw:
    """One answer as bytes. `parts` are sent one after another, `pause` seconds apart.

    `stall` keeps the connection open behind them, `mute` before anything is said; `length` is
    told, true or not.
    """

    parts: Sequence[bytes] = (b"",)
    status: int = 200
    kind: str = "text/event-stream"
    headers: dict[str, str] = field(default_factory=dict)
    pause: float = 0.0
    stall: bool = False
    mute: bool = False
    length: int | None = None


Answer = Turn | Raw
Script = Answer | Callable[[dict[str, Any]], Answer]


def _frame(choices: list[Any], kind: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": kind,
        "created": 1,
        "model": "scripted",
        "choices": choices,
    }


@dataclass
class ModelServer:
    """A running server. `script` are the answers in turn; the last one is repeated.

    `requested` are the bodies of the requests, `headers` their headers, `paths` what was asked for.
    `pages` are further things that it answers to GET; `any_path` answers everywhere,
    `left` is set once a client has left a stalled answer.
    """

    origin: str
    script: list[Script] = field(default_factory=lambda: [Turn("done")])
    requested: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    models: Any = None
    models_status: int = 200
    models_kind: str = "application/json"
    models_stall: bool = False
    pages: dict[str, Any] = field(default_factory=dict)
    tools_refused: str = ""
    any_path: bool = False
    over: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"{self.origin}/v1"

    def config(self, **agent: Any) -> dict[str, Any]:
        """A configuration that uses this server."""
        return {"agent": {"base_url": self.url, "model": "scripted", **agent}}

    def says(self, *script: Script) -> None:
        """Set the answers."""
        self.script = list(script)

    def next(self, body: dict[str, Any]) -> Answer:
        with self.lock:
            self.requested.append(body)
            answer = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return answer if isinstance(answer, Turn | Raw) else answer(body)

    def results(self, at: int = -1) -> list[str]:
        """The results of tools in a request."""
        return [m["content"] for m in self.requested[at]["messages"] if m["role"] == "tool"]

    def words(self, at: int = -1) -> str:
        """All messages of a request as text."""
        return json.dumps(self.requested[at]["messages"], ensure_ascii=False)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    served: ModelServer

    def do_GET(self) -> None:
        self._note()
        served = self.served
        if served.models_stall:
            served.over.wait(LONG)
            return
        if self.path in served.pages:
            self._plain(200, json.dumps(served.pages[self.path]).encode())
            return
        if self.path.partition("?")[0] != "/v1/models":
            self._plain(404, b'{"error": {"message": "not here"}}')
            return
        listed = served.models
        if listed is None:
            listed = {"object": "list", "data": [{"id": "scripted", "object": "model"}]}
        body = listed if isinstance(listed, bytes) else json.dumps(listed).encode()
        self._plain(served.models_status, body, served.models_kind)

    def do_POST(self) -> None:
        self._note()
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = json.loads(text)
        is_chat = self.path.partition("?")[0] == "/v1/chat/completions"
        if not (is_chat or self.served.any_path):
            self._plain(404, b'{"error": {"message": "not here"}}')
            return
        if self.served.tools_refused and body.get("tools"):
            message = json.dumps({"error": {"message": self.served.tools_refused}})
            self._plain(400, message.encode())
            return
        answer = self.served.next(body)
        try:
            if isinstance(answer, Raw):
                self._raw(answer)
            elif body.get("stream"):
                self._stream(answer)
            else:
                self._plain(200, json.dumps(answer.whole()).encode())
        except OSError:
            self.close_connection = True

    def _note(self) -> None:
        self.served.paths.append(self.path)
        self.served.headers.append({k.lower(): v for k, v in self.headers.items()})

    def _plain(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, turn: Turn) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        end = turn.line_end
        for number, event in enumerate(turn.events()):
            if turn.drop is not None and number >= turn.drop:
                self.close_connection = True
                self.wfile.flush()
                self.connection.close()
                return
            if turn.stall is not None and number >= turn.stall:
                self.served.over.wait(LONG)
                return
            if turn.comments:
                self._chunk(f": keep-alive{end}{end}".encode(), 0)
            self._chunk(f"data: {event}{end}{end}".encode(), turn.cut)
            if turn.pause:
                self.served.over.wait(turn.pause)
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, data: bytes, cut: int) -> None:
        size = cut or len(data)
        for at in range(0, len(data), size):
            part = data[at : at + size]
            self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            self.wfile.flush()

    def _raw(self, answer: Raw) -> None:
        if answer.mute:
            self.served.over.wait(LONG)
            self.close_connection = True
            return
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.length is not None:
            self.send_header("Content-Length", str(answer.length))
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for part in answer.parts:
            self.wfile.write(part)
            self.wfile.flush()
            if answer.pause:
                self.served.over.wait(answer.pause)
        if answer.stall:
            self.connection.settimeout(LONG)
            if not self.connection.recv(1):
                self.served.left.set()

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@contextmanager
def model_server(*script: Script) -> Iterator[ModelServer]:
    """A running server."""
    handler = type("Handler", (_Handler,), {})
    server = _Server(("127.0.0.1", 0), handler)
    served = handler.served = ModelServer(f"http://127.0.0.1:{server.server_address[1]}")
    if script:
        served.says(*script)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield served
    finally:
        served.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


def slowly(turn: Turn, pause: float) -> Turn:
    """The same with time between its events."""
    return replace(turn, pause=pause)
