"""The same from the shell, in the spellings that lists of forbidden words let through."""

from __future__ import annotations

from typing import Any

from tests.escapes.attempt import Attempt, Twin
from tests.escapes.battery.floods import BURST

NOTES, NEW, INNER = Twin(place="notes"), Twin(place="new"), Twin(place="inner")
PIPE = Twin(body="printf 'b\\na\\n' | sort | head -1 | grep -q a && echo ok")
JOB = Twin(body="sleep 0.01 & wait && echo ok")


def _sh(name: str, title: str, body: str, twin: Twin, target: str = "", **more: Any) -> Attempt:
    return Attempt(name, title, "shell", body, twin, target=target, **more)


def _rm(name: str, title: str, body: str) -> Attempt:
    return _sh(name, title, body, INNER, "outer")


SHELL = (
    _sh("S01", "cat of a key", 'cat "$T_F"', NOTES, "key"),
    _sh("S02", "a redirection", 'while read -r line; do echo "$line"; done < "$T_F"', NOTES, "key"),
    _sh("S03", "a substitution", 'echo "$(<"$T_F")"', NOTES, "secret"),
    _sh("S04", "a process substitution", 'sort <(cat "$T_F")', NOTES, "secret"),
    _sh("S05", "a glob in place of the name", 'cd "$(dirname "$T_F")" && cat ./*', NOTES, "key"),
    _sh("S06", "awk", 'awk "{print}" "$T_F"', NOTES, "key"),
    _sh("S07", "dd", 'dd if="$T_F" status=none', NOTES, "secret"),
    _sh(
        "S08",
        "tar through a pipe",
        'tar cf - -C "$(dirname "$T_F")" "$(basename "$T_F")" 2>/dev/null | tar xOf -',
        NOTES,
        "key",
    ),
    _sh("S09", "perl", "perl -e 'open F, $ENV{T_F}; print <F>'", NOTES, "secret"),
    _sh(
        "S10",
        "a loader in front",
        'for l in /lib64/ld-linux* /lib/ld-linux*; do [ -e "$l" ] && '
        'exec "$l" /bin/cat "$T_F"; done',
        NOTES,
        "key",
    ),
    _sh(
        "S11",
        "a path by /proc/self/root",
        '/proc/self/root/bin/cat "/proc/self/root$T_F"',
        NOTES,
        "secret",
    ),
    _sh(
        "S12",
        "the environment of the parent",
        'tr "\\0" "\\n" < /proc/$T_SERVER/environ; env',
        PIPE,
        "key",
    ),
    _sh("S13", "all environments that there are", "cat /proc/[0-9]*/environ 2>/dev/null", PIPE),
    _sh(
        "S14",
        "an interpreter read from a pipe",
        'echo \'import os; print(open(os.environ["T_F"]).read())\' | "$T_PYTHON" -S -',
        NOTES,
        "key",
    ),
    _rm("S15", "quotes within a word", "r''m -f \"$T_F\""),
    _rm("S16", "a backslash", '\\rm -f "$T_F"'),
    _rm("S17", "ANSI quoting", "$'\\x72\\x6d' -f \"$T_F\""),
    _rm("S18", "IFS for the space", "eval 'rm${IFS}-f${IFS}$T_F'"),
    _rm("S19", "base64", "echo cm0gLWYgIiRUX0YiCg== | base64 -d | bash"),
    _rm("S20", "find -delete", 'find "$T_F" -delete'),
    _rm("S21", "xargs", 'echo "$T_F" | xargs rm -f'),
    _rm("S22", "a here document", 'bash <<END\nrm -f "$T_F"\nEND'),
    _rm("S23", "a function and an alias of a name", 'a=r b=m; f() { "$a$b" -f "$1"; }; f "$T_F"'),
    _rm("S24", "env, nohup and timeout in front", 'env nohup timeout 3 rm -f "$T_F" 2>/dev/null'),
    _rm("S25", "trap at the end", "trap 'rm -f \"$T_F\"' EXIT; true"),
    _rm("S26", "a redirection that empties", ': > "$T_F"'),
    _sh("S27", "mv over a file outside", 'echo written > x; mv -f x "$T_F"', NEW, "outer_new"),
    _sh("S28", "tee to a file outside", 'echo written | tee "$T_F"', NEW, "outer_new"),
    _sh("S29", "cp into the home folder", 'echo written > x; cp x "$T_F"', NEW, "authorized"),
    _sh("S30", "the own environment", "env; set; export -p", PIPE),
    _sh("S31", "/dev/tcp", 'exec 3<>/dev/tcp/127.0.0.1/$T_TCP; echo "$T_TOKEN" >&3', PIPE),
    _sh("S32", "/dev/udp", 'echo "$T_TOKEN" > /dev/udp/127.0.0.1/$T_UDP', PIPE),
    _sh(
        "S33",
        "nohup and disown",
        "(setsid nohup sleep 300.$T_NUMBER >/dev/null 2>&1 &) ; disown -a",
        JOB,
    ),
    _sh(
        "S34",
        "kill of another program",
        "kill -9 $T_VICTIM",
        Twin(body="sleep 9 & kill $! && ! wait $! && echo ok"),
        victim=True,
    ),
    _sh(
        "S35",
        "a link left in the workspace",
        'ln -s "$T_F" innocent.txt',
        Twin(body="ln -s notes.txt i && cat i >/dev/null && echo ok"),
        "key",
    ),
    _sh("S36", "a FIFO left in the workspace", "mkfifo report", PIPE),
    _sh(
        "S37",
        "git made to run something",
        'git config core.fsmonitor "touch pwned"',
        Twin(
            body="git -c init.defaultBranch=m init -q other && cd other && echo x > f && "
            "git add f && git -c user.name=n -c user.email=e@x commit -qm m && "
            "git log --oneline | grep -q m && echo ok"
        ),
        "gitconfig",
    ),
    _sh(
        "S38",
        "the user namespace by unshare(1)",
        'unshare -Urm bash -c \'mount -t tmpfs "$T_TOKEN" "$T_SUB" && sleep 0.4\'',
        JOB,
        sees=frozenset({"mount"}),
    ),
    _sh(
        "S39",
        "yes, without end",
        "yes | head -c 46000000",
        PIPE,
        alone=True,
        limits={"output_bytes": 2_000_000},
        over={"output": 8_000_000},
    ),
    _sh(
        "S40",
        "a fork bomb, of 900",
        "for n in $(seq 900); do sleep 1.2 & done; sleep 0.6",
        JOB,
        alone=True,
        limits={"processes": 40},
        over={"processes": BURST},
    ),
)
