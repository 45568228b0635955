"""The same from JavaScript, by node."""

from __future__ import annotations

from typing import Any

from tests.escapes.attempt import Attempt, Twin

NOTES, NEW, INNER = Twin(place="notes"), Twin(place="new"), Twin(place="inner")
RAN = Twin(
    body="""
const out = require("child_process").execFileSync("/bin/echo", ["hi"]); if (String(out) !== "hi\\n")
  throw Error("no"); say("ok");"""
)
TIMER = Twin(body="await new Promise(done => setTimeout(done, 10)); say('ok');")
WORDS = Twin(body="if (new TextEncoder().encode('é').length !== 2) throw Error(); say('ok');")


def _js(name: str, title: str, body: str, twin: Twin, target: str = "", **more: Any) -> Attempt:
    return Attempt(name, title, "javascript", body, twin, target=target, **more)


JAVASCRIPT = (
    _js("J01", "fs.readFileSync of a key", "say(fs.readFileSync(F));", NOTES, "key"),
    _js(
        "J02",
        "fs.promises, through /proc/self/root",
        "say(await fs.promises.readFile('/proc/self/root' + F));",
        NOTES,
        "secret",
    ),
    _js(
        "J03",
        "cat by child_process",
        "say(require('child_process').execFileSync('/bin/cat', [F]));",
        NOTES,
        "key",
    ),
    _js(
        "J04",
        "keys in process.env",
        "say(JSON.stringify(process.env));",
        Twin(body="if (!process.env.PATH) throw Error(); say('ok');"),
    ),
    _js(
        "J05",
        "TCP by net",
        """await new Promise((done, no) => { const s = require("net").connect(+T.TCP, "127.0.0.1",
        () => s.end(T.TOKEN, done)); s.on("error", no); });""",
        TIMER,
    ),
    _js(
        "J06",
        "HTTP by fetch",
        "await fetch(`http://127.0.0.1:${T.TCP}/${T.TOKEN}`, {signal: AbortSignal.timeout(600)});",
        WORDS,
    ),
    _js(
        "J07",
        "UDP by dgram",
        """await new Promise((done, no) => { const s = require("dgram").createSocket("udp4");
        s.on("error", no); s.send(T.TOKEN, +T.UDP, "127.0.0.1",
          e => { s.close(); e ? no(e) : done(); });
        });""",
        TIMER,
    ),
    _js(
        "J08",
        "a socket at a path outside",
        """await new Promise((done, no) => { const s = require("net").connect(T.UNIX,
        () => s.end(T.TOKEN, done)); s.on("error", no); });""",
        RAN,
    ),
    _js(
        "J09",
        "another program killed",
        "process.kill(+T.VICTIM, 'SIGKILL');",
        Twin(
            body="""
        const c = require("child_process").spawn("/bin/sleep", ["9"]);
        await new Promise(done => { c.on("exit", (_, s) => s === "SIGTERM" && done()); c.kill(); });
        say("ok");"""
        ),
        victim=True,
    ),
    _js(
        "J10",
        "a detached child that goes on",
        """require("child_process").spawn("/bin/sleep", ["300." + T.NUMBER],
        {detached: true, stdio: "ignore", env: {}}).unref();
        await new Promise(d => setTimeout(d, 50));
        """,
        RAN,
    ),
    _js("J11", "a file outside written", "fs.writeFileSync(F, 'written');", NEW, "outer_new"),
    _js("J12", "a hook of git", "fs.writeFileSync(F, 'written', {mode: 0o755});", NEW, "hook"),
    _js("J13", "a file outside removed", "fs.rmSync(F);", INNER, "outer"),
    _js(
        "J14",
        "memory beside the heap of V8",
        """const held = [];
        for (let n = 0; n < 16; n++) held.push(new Uint8Array(40e6).fill(1));
        await new Promise(d => setTimeout(d, 400));""",
        Twin(body="new Uint8Array(20e6).fill(1); say('ok');"),
        limits={"memory_bytes": 250_000_000},
        over={"memory": 500_000_000},
        alone=True,
    ),
    _js(
        "J15",
        "a link planted and left",
        "fs.symlinkSync(F, 'innocent.txt');",
        Twin(body="fs.symlinkSync('notes.txt', 'i'); say(fs.readFileSync('i') && 'ok');"),
        "key",
    ),
    _js(
        "J16",
        "process.binding, beneath the modules",
        """const {spawnSync} = process.binding("spawn_sync") && require("child_process");
        say(spawnSync("/bin/cat", [F]).stdout);""",
        NOTES,
        "key",
    ),
    _js(
        "J17",
        "a worker thread that reads",
        """const {Worker} = require("worker_threads");
        await new Promise(done => new Worker(`
          const {parentPort, workerData} = require("worker_threads");
          parentPort.postMessage(String(require("fs").readFileSync(workerData)));`,
          {eval: true, workerData: F}).on("message", m => { say(m); done(); })
          .on("error", e => { say("refused: " + e.code); done(); }));""",
        NOTES,
        "secret",
    ),
    _js("J18", ".env in the workspace", "say(fs.readFileSync(F));", NOTES, "env"),
)
