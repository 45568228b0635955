"""Commands that run other commands: what stands in their words."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolcrib.execution.shell.script import Command, Word

SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash", "csh", "tcsh"))
BEFORE_ANOTHER = frozenset(
    (
        *("env", "sudo", "doas", "su", "runuser", "pkexec", "time", "nohup", "nice", "ionice"),
        *("chrt", "taskset", "numactl", "setsid", "stdbuf", "timeout", "xargs", "parallel"),
        *("exec", "command", "builtin", "coproc", "watch", "strace", "ltrace", "unbuffer"),
        *("script", "flock", "chroot", "unshare", "nsenter", "setpriv", "prlimit", "busybox"),
        *("toybox", "ssh", "find", "fd", "entr", "trap", "eval", "noglob", "then", "do", "else"),
        *("cmd", "start-stop-daemon", "systemd-run", "tmux", "screen", "expect", "rlwrap"),
        *("proxychains", "torsocks", "fakeroot", "winpty", "ld-linux.so", "perf", "valgrind"),
    )
)
"""Names after which, somewhere in their words, the name of another command may stand."""
TAKES_TEXT = SHELLS | {
    *("eval", "trap", "su", "watch", "ssh", "script", "env", "parallel", "tmux", "screen"),
    *("runuser", "flock", "systemd-run"),
}
"""Those of which a word may be a shell text of its own."""
TAKES_WORDS = {"xargs", "parallel", "entr"}
"""Those that put more words behind the ones that are written."""
SOURCES = {".", "source"}
MORE = Word("…", None)
INPUTS = {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}
MOST_SUFFIXES = 40


@dataclass(slots=True)
class Inside:
    """What a command runs besides itself."""

    commands: list[Command] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def wraps(command: Command) -> bool:
    """Whether a command may run what its words say."""
    name = _plain_name(command)
    return name in BEFORE_ANOTHER or name in SHELLS or name in SOURCES


def is_fed_shell(command: Command) -> bool:
    """Whether it is a shell that reads what it runs from its input."""
    if _plain_name(command) not in SHELLS:
        return False
    words = [value or "?" for value in command.values[1:]]
    options = [word for word in words if word.startswith(("-", "+")) and word != "-"]
    if any(_has(option, "c") for option in options):
        return False
    named = [word for word in words if word not in options]
    return not named or named[0] in INPUTS or any(_has(option, "s") for option in options)


def inside(command: Command) -> Inside:
    """The commands and shell texts in the words of one that runs others."""
    found = Inside()
    name = _plain_name(command)
    if command.nested:
        # All that follows it was taken apart with the command around it.
        return found
    unwritten = any(word.value is None for word in command.words[1:])
    if name in SOURCES and unwritten:
        found.unknown.append(f"what {name} runs is not written out")
    if name not in BEFORE_ANOTHER and name not in SHELLS:
        return found
    if name == "eval" and not unwritten:
        found.texts.append(" ".join(str(v) for v in command.values[1:]))
    rest = command.words[1:] + ((MORE,) if name in TAKES_WORDS else ())
    found.commands += [Command(rest[n:], nested=True) for n in range(min(len(rest), MOST_SUFFIXES))]
    if len(rest) > MOST_SUFFIXES:
        found.unknown.append(f"{name} has too many words to be read")
    if name in TAKES_TEXT or any(c.name in TAKES_TEXT for c in found.commands):
        found.texts += [w.value for w in rest if w.value and not w.value.isalnum()]
        if unwritten:
            found.unknown.append(f"what {name} runs is not written out")
    return found


def _has(option: str, letter: str) -> bool:
    return not option.startswith("--") and letter in option


def _plain_name(command: Command) -> str:
    name = command.name
    return "ld-linux.so" if name.startswith("ld-linux") else name
