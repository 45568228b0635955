"""Small web apps for the browser on loopback: forms, frames, dialogs, lists. Real HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

HOME = """<title>Desk</title><h1>Desk</h1>
<form action=/echo><label>Name <input name=name></label>
<label><input type=checkbox name=agree> Agree</label>
<label>Colour <select name=colour><option>red<option>blue</select></label>
<label>Day <input type=date name=day></label>
<fieldset><legend>Size</legend><label><input type=radio name=size value=s> Small</label>
<label><input type=radio name=size value=l> Large</label></fieldset>
<label>Notes <textarea name=notes></textarea></label>
<label>Loud <input type=range name=loud min=0 max=10 value=1></label>
<button>Send</button></form>
<button onclick="alert('mind the gap')">Warn</button>
<button onclick="say(confirm('sure?') ? 'confirmed' : 'kept')">Ask</button>
<button onclick="say('hello ' + prompt('who?'))">Prompt</button>
<button onclick="setTimeout(() => say('loaded late'), 300)">Load</button>
<button ondblclick="say('twice')">Twice</button>
<button disabled>Locked</button>
<div onmouseover="say('over it')" style="cursor:pointer">Hover here</div>
<div contenteditable aria-label=Page>old text</div>
<input aria-label=Keys onkeydown="say('key ' + event.key)">
<button>Same</button><button>Same</button>
<a href=/frames>Frames</a> <a href=/list>List</a> <a href=/file>Report</a>
<a href=/echo?from=new target=_blank>New tab</a>
<a href=/gone>Gone</a>
<p id=out></p><script>function say(t){document.getElementById('out').textContent = t}</script>"""
FRAMES = """<title>Frames</title><h1>Frames</h1>
<iframe title=inner
 srcdoc="<button onclick='this.textContent=&quot;pressed inside&quot;'>Inside</button>
<input aria-label=Deep>"></iframe><div id=host></div>
<script>const r = document.getElementById('host').attachShadow({mode:'open'});
r.innerHTML = '<button>Shadow</button><p id=s></p>';
r.querySelector('button').onclick = () => r.getElementById('s').textContent = 'out of the shadow';
</script>"""
SPA = """<title>Tasks</title><h1>Tasks</h1>
<input aria-label="New task"><button>Add</button><ul></ul>
<nav><a href=#all>All</a> <a href=#about>About</a></nav><main></main><script>
const list = document.querySelector('ul');
document.querySelector('button').onclick = async () => {
  const field = document.querySelector('input');
  const answer = await fetch('/api/task?text=' + encodeURIComponent(field.value));
  const item = document.createElement('li');
  item.innerHTML = (await answer.json()).text + ' <button>Delete</button>';
  item.querySelector('button').onclick = () => item.remove();
  list.append(item); field.value = '';
};
onhashchange = () => document.querySelector('main').textContent =
  location.hash == '#about' ? 'About these tasks' : 'All tasks';
</script>"""
SCROLL = """<title>Endless</title><div id=list></div><script>
let n = 0;
function more(){ for (let i = 0; i < 30; i++) {
  const p = document.createElement('p'); p.style.height = '60px';
  p.textContent = 'Row ' + (n++); document.getElementById('list').append(p); } }
more();
onscroll = () => { if (n < 200
  && innerHeight + scrollY > document.body.scrollHeight - 200) more() };
</script>"""
DRAG = """<title>Board</title><div id=a draggable=true role=button tabindex=0
 ondragstart="event.dataTransfer.setData('text','card')">Card</div>
<div id=b role=region aria-label=Done style="height:100px;width:200px;border:1px solid"
 ondragover="event.preventDefault()" ondrop="event.preventDefault();
 this.textContent='dropped ' + event.dataTransfer.getData('text')"><button>Target</button></div>"""
UPLOAD = """<title>Upload</title><input type=file aria-label=File
 onchange="this.files[0].text().then(t => document.getElementById('o').textContent = 'got ' + t)">
<p id=o></p>"""
LOGIN = """<title>Login</title><form method=post action=/login>
<label>User <input name=user></label>
<label>Password <input type=password name=password></label><button>Log in</button></form>"""
COVERED = """<title>Covered</title><button onclick="document.title='clicked'">Below</button>
<div style="position:fixed;inset:0;background:#0008" aria-hidden=true></div>"""
DATES = (
    """<title>Calendar</title><input aria-label=When readonly onclick="c.hidden=false">
<div id=c hidden role=grid>"""
    + "".join(
        f"<button onclick=\"document.querySelector('input').value='2026-11-{n:02}';c.hidden=true\">"
        f"{n}</button>"
        for n in range(1, 31)
    )
    + "</div>"
)
PDF = (
    "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj\ntrailer<</Root 1 0 R>>\n"
)
BUSY = "<title>Busy</title><h1>Busy</h1><button onclick='for(;;);'>Spin</button>"
CHATTY = """<title>Chatty</title>
<button onclick="for (let i = 0; i < 30; i++) alert(i)">Talk</button>
<button onclick="for (let i = 0; i < 25; i++) window.open('/echo?n=' + i)">Open</button>"""
PAGES = {
    "/": HOME,
    "/frames": FRAMES,
    "/tasks": SPA,
    "/scroll": SCROLL,
    "/drag": DRAG,
    "/upload": UPLOAD,
    "/login": LOGIN,
    "/covered": COVERED,
    "/dates": DATES,
    "/busy": BUSY,
    "/chatty": CHATTY,
}


def rows(count: int) -> str:
    """A page of so many links and buttons."""
    items = "".join(
        f"<li><a href=/echo?item={n}>Link {n}</a> "
        f"<button onclick=\"document.title='Deleted {n}'\">Delete {n}</button></li>"
        for n in range(count)
    )
    return f"<title>All</title><h1>All</h1><ul>{items}</ul>"


REDIRECTS = {"/round": "/round", "/to-file": "file:///etc/passwd"}


def _made(path: str, query: dict[str, str], cookie: str) -> str:
    """The page of a path; "" where there is none."""
    page = int(query.get("page", 1))
    made = {
        "/list": rows(300),
        "/pages": f"<title>Page {page}</title><p>This is page {page}</p>"
        f"<a href=/pages?page={page + 1}>Next</a>",
        "/echo": f"<title>Echo</title><p>You said {json.dumps(query)}</p>",
        "/desk": "<title>Inside</title><p>Welcome, ann</p>" if "user=ann" in cookie else LOGIN,
    }
    return PAGES.get(path) or made.get(path, "")


@dataclass(frozen=True)
class WebApp:
    """The apps.

    Attributes:
        url: where they are, without a slash at the end.
        asked: what was asked of them.
        pages: further pages and scripts (`.js`), by path.
        redirects: where further paths lead.
    """

    url: str
    requested: list[str]
    pages: dict[str, str] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=lambda: dict(REDIRECTS))


ODD_ANSWERS = {
    "/half": "_send_half",
    "/no-content": "_send_nothing",
    "/silent": "_be_silent",
    "/without-end": "_send_without_end",
}


class _App(BaseHTTPRequestHandler):
    app: WebApp

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.app.requested.append(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        made = self.app.pages.get(parts.path) or _made(
            parts.path, query, self.headers.get("Cookie") or ""
        )
        if parts.path in self.app.redirects:
            self._redirect(self.app.redirects[parts.path])
        elif parts.path.endswith(".js"):
            self._send(made, "text/javascript")
        elif parts.path == "/api/task":
            self._send(json.dumps({"text": query["text"]}), "application/json")
        elif parts.path == "/file":
            self._send("a,b\n1,2\n", "text/csv", disposition='attachment; filename="report.csv"')
        elif parts.path.endswith(".pdf"):
            saved = "attachment" if parts.path == "/saved.pdf" else ""
            self._send(PDF, "application/pdf", disposition=saved)
        elif parts.path == "/basic":
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="desk"')
            self.end_headers()
        elif parts.path in ODD_ANSWERS:
            getattr(self, ODD_ANSWERS[parts.path])()
        else:
            self._send(made or "<title>Nothing</title>nothing here", status=200 if made else 404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        right = parse_qs(body) == {"user": ["ann"], "password": ["s3cret-word"]}
        self.app.requested.append(f"POST {self.path} {'right' if right else 'wrong'}")
        if right:
            self._redirect("/desk", cookie="user=ann; Path=/")
        else:
            self._send("<title>Login</title><p>Wrong password</p>", status=403)

    def _redirect(self, target: str, cookie: str = "") -> None:
        self.send_response(302)
        self.send_header("Location", target)
        if cookie:
            self.send_header("Set-Cookie", cookie)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(
        self,
        text: str,
        kind: str = "text/html; charset=utf-8",
        status: int = 200,
        disposition: str = "",
    ) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if disposition:
            self.send_header("Content-Disposition", disposition)
        self.end_headers()
        self.wfile.write(body)

    def _send_without_end(self) -> None:
        self.send_response(200)
        self.send_header("Content-Disposition", "attachment; filename=endless.bin")
        self.end_headers()
        with suppress(OSError):
            while True:
                self.wfile.write(b"x" * 1_000_000)
                time.sleep(0.02)

    def _send_nothing(self) -> None:
        self.send_response(204)
        self.end_headers()

    def _be_silent(self) -> None:
        time.sleep(20)  # a server that never answers is the subject

    def _send_half(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>Half</title><p>first half")
        self.wfile.flush()
        time.sleep(10)  # a server that stands still in the middle is the subject

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def web_app() -> Iterator[WebApp]:
    """The apps, served on a port of their own."""
    handler = type("App", (_App,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    handler.app = WebApp(f"http://127.0.0.1:{server.server_port}", [])
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield handler.app
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
