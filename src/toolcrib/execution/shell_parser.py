"""The parser of shell text: its commands and their words, by the grammar of bash."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser


@dataclass(frozen=True, slots=True)
class ShellWord:
    """One word of a command.

    Attributes:
        text: as it is written.
        value: what the shell makes of it; None where that is not written there.
        plain: it is written bare or in one pair of quotes, without tricks.
        glob: it may stand for the names of files.
    """

    text: str
    value: str | None
    plain: bool = True
    glob: bool = False


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """A command and its words, the name first.

    Attributes:
        words: never empty.
        nested: it stands in the words of another command, as far as one can tell.
    """

    words: tuple[ShellWord, ...]
    nested: bool = False

    @property
    def values(self) -> tuple[str | None, ...]:
        """The words as the shell makes them."""
        return tuple(word.value for word in self.words)

    @property
    def name(self) -> str:
        """The name without its folder; empty where it is not known."""
        return (self.words[0].value or "").rpartition("/")[2]

    def __str__(self) -> str:
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class ShellScript:
    """What a text would run.

    Attributes:
        commands: each command, also those inside of substitutions and other commands.
        unknown: why some command of it cannot be known; empty where all are.
        doubts: what it does beside running its commands, such as writing to a file.
        reads: files that are read by redirection.
    """

    commands: tuple[ShellCommand, ...]
    unknown: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    reads: tuple[ShellWord, ...] = ()


GLOB = re.compile(r"(?<!\\)(?:\\\\)*[*?\[]")
BRACES = re.compile(r"\{[^{}]*(?:,|\.\.)")
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
IN_QUOTES = re.compile(r"\\([$`\"\\\n])")
ANSI = re.compile(
    r"\\(?:x(?P<hex>[0-9A-Fa-f]{1,2})|u(?P<u>[0-9A-Fa-f]{1,4})|U(?P<U>[0-9A-Fa-f]{1,8})"
    r"|(?P<oct>[0-7]{1,3})|c(?P<ctl>.)|(?P<one>.))",
    re.DOTALL,
)
ANSI_ONE = dict(zip("abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v", strict=True))
LITERAL = {"word", "number", "raw_string", "ansi_c_string", "string"}


def word_of(node: Node, script: str) -> ShellWord:
    """A word out of its node, in the text of which that is one."""
    if node.type == "command_name" and node.named_child_count == 1:
        return word_of(node.named_children[0], script)
    text = _text(node, script)
    if node.type == "concatenation":
        return _joined(node, script)
    value = _value(node, text)
    bare = node.type in ("word", "number")
    return ShellWord(
        text,
        None if bare and BRACES.search(text) else value,
        plain=node.type != "ansi_c_string" and not (bare and "\\" in text),
        glob=bare and bool(GLOB.search(text)),
    )


def _joined(node: Node, script: str) -> ShellWord:
    parts = [word_of(child, script) for child in node.children]
    bare = "".join(_text(c, script) if c.type in ("word", "number") else "" for c in node.children)
    known = all(part.value is not None for part in parts) and not BRACES.search(bare)
    # Quotes in the middle of an option or a path are usual; in a name of letters they hide it.
    plain = all(part.plain for part in parts) and not all(c.isalnum() for c in bare)
    return ShellWord(
        _text(node, script),
        "".join(part.value or "" for part in parts) if known else None,
        plain=plain,
        glob=any(part.glob for part in parts),
    )


def _value(node: Node, text: str) -> str | None:
    if node.type not in LITERAL:
        # What concatenations hold beside words: braces and other single signs.
        return text if not node.is_named and text.isprintable() and "$" not in text else None
    if node.type == "raw_string":
        return text[1:-1]
    if node.type == "ansi_c_string":
        return ANSI.sub(_ansi, text[2:-1])
    if node.type == "string":
        if any(child.type != "string_content" for child in node.named_children):
            return None
        inner = text[1:-1]
        return IN_QUOTES.sub(lambda m: "" if m[1] == "\n" else m[1], inner)
    return ESCAPED.sub(r"\1", text)


def _ansi(match: re.Match[str]) -> str:
    for kind, radix in (("hex", 16), ("u", 16), ("U", 16), ("oct", 8)):
        if match[kind]:
            number = int(match[kind], radix)
            return chr(number) if number < 0x110000 else "\ufffd"
    if match["ctl"]:
        return chr(ord(match["ctl"]) & 0x1F)
    return ANSI_ONE.get(match["one"], match["one"] if match["one"] in "\\'\"?" else match[0])


def _text(node: Node, script: str) -> str:
    return script[node.start_byte // CHAR_BYTES : node.end_byte // CHAR_BYTES]


def _for_grammar(script: str) -> bytes:
    """A text as the grammar gets it: one letter of Latin-1 for each that is not of ASCII.

    Those are alike to a shell: part of a word. The scanner of the grammar looks each up in a table
    of 256 entries (`isdigit` of C), and reads beyond it, or has the process end, for all others.
    """
    return NOT_ASCII.sub(LETTER, script).encode(ENCODING)


NOT_ASCII, LETTER = re.compile(r"[^\x00-\x7f]"), "\u00e9"
ENCODING, CHAR_BYTES = "utf-16-le", 2
MAX_CHARS = 100_000
"""A longer text is not read: all of it is unknown."""
MAX_DEPTH = 5
"""Shell texts in the words of commands, one in another."""
MAX_COMMANDS = 2_000
TORN = re.compile(r"[^\s\\]\\\n\S")
"""A word that goes on in the next line: the grammar sees two, the shell one."""
SIMPLE = frozenset(
    (
        *("program", "list", "pipeline", "command", "command_name", "redirected_statement"),
        *("subshell", "compound_statement", "negated_command", "comment", "word", "number"),
        *("raw_string", "string", "string_content", "ansi_c_string", "concatenation"),
        *("file_descriptor", "heredoc_redirect", "heredoc_start", "heredoc_body"),
        *("heredoc_content", "heredoc_end", "herestring_redirect", "file_redirect"),
    )
)
DOUBTS = {
    "command_substitution": "it puts the output of a command into another",
    "process_substitution": "it puts a process in the place of a file",
    "variable_assignment": "it sets a variable",
    "declaration_command": "it sets a variable",
    "unset_command": "it unsets a variable",
    "function_definition": "it defines a function",
    "simple_expansion": "it uses a variable",
    "expansion": "it uses a variable",
}
NOWHERE = {"/dev/null", "/dev/stdout", "/dev/stderr"}
REDIRECTS = {"file_redirect", "heredoc_redirect", "herestring_redirect"}
LISTED = {"declaration_command", "unset_command"}


@dataclass
class _Found:
    commands: list[ShellCommand] = field(default_factory=list)
    unknown: dict[str, None] = field(default_factory=dict)
    doubts: dict[str, None] = field(default_factory=dict)
    reads: list[ShellWord] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    """What is given to commands as their input."""


def read_script(text: str) -> ShellScript:
    """What a text would run. It never fails: what cannot be read is `unknown`."""
    found = _Found()
    _collect(text, found, 0)
    return ShellScript(
        tuple(found.commands), tuple(found.unknown), tuple(found.doubts), tuple(found.reads)
    )


def _parser() -> Parser | None:
    """A new one each time: one must not be used by two threads."""
    try:
        from tree_sitter import Parser

        return Parser(_language())
    except ImportError:
        return None


@cache
def _language() -> Language:
    import tree_sitter_bash
    from tree_sitter import Language

    return Language(tree_sitter_bash.language())


def _collect(text: str, found: _Found, depth: int) -> None:
    odd = _odd(text)
    if odd:
        found.unknown[odd] = None
    parser = _parser()
    if parser is None:
        found.unknown["the reader of shell texts is not installed"] = None
        return
    if len(text) > MAX_CHARS or depth > MAX_DEPTH or len(found.commands) > MAX_COMMANDS:
        found.unknown["it is too long or too deep to be read"] = None
        return
    root = parser.parse(_for_grammar(text), encoding="utf16le").root_node
    if root.has_error:
        found.unknown["it cannot be read as shell for certain"] = None
    first = len(found.commands)
    inputs = len(found.texts)
    waiting = [root]
    while waiting:
        node = waiting.pop()
        _collect_node(node, found, text)
        waiting += reversed(node.children)
    for command in found.commands[first:]:
        _unwrap(command, found, depth, found.texts[inputs:])


def _collect_node(node: Node, found: _Found, script: str) -> None:
    if node.type == "command":
        words = [word_of(c, script) for c in node.named_children if _is_word(c)]
        if words:
            _add(found, ShellCommand(tuple(words)))
    elif node.type in LISTED:
        words = [ShellWord(node.children[0].type, node.children[0].type)]
        words += [word_of(c, script) for c in node.named_children]
        _add(found, ShellCommand(tuple(words)))
    elif node.type == "file_redirect":
        _redirected(node, found, script)
    elif node.type in ("heredoc_body", "herestring_redirect"):
        found.texts.append(_text(node, script).lstrip("<").strip("'\" "))
    if node.is_named and node.type not in SIMPLE and node.type != "ERROR":
        found.doubts[DOUBTS.get(node.type, "it is more than a plain command")] = None


def _is_word(node: Node) -> bool:
    return node.type not in REDIRECTS and node.type not in ("variable_assignment", "comment")


def _add(found: _Found, command: ShellCommand) -> None:
    first = command.words[0]
    if first.value is None or first.glob:
        found.unknown[f"the name of a command is not written out: {first.text[:80]}"] = None
    found.commands.append(command)


def _redirected(node: Node, found: _Found, script: str) -> None:
    sign = next((c.type for c in node.children if not c.is_named), "")
    targets = [word_of(c, script) for c in node.named_children if c.type != "file_descriptor"]
    for target in targets:
        if sign == "<":
            found.reads.append(target)
        elif sign in (">&", "<&") and (target.value or "").rstrip("-").isdigit():
            continue
        elif target.value not in NOWHERE:
            found.doubts[f"it writes to {target.text[:80]}"] = None


def _unwrap(command: ShellCommand, found: _Found, depth: int, inputs: list[str]) -> None:
    """Add the commands that a command runs, out of its words."""
    inner = inner_commands(command)
    for reason in inner.unknown:
        found.unknown[reason] = None
    for nested in inner.commands:
        if len(found.commands) < MAX_COMMANDS:
            found.commands.append(nested)
    for text in inner.texts:
        _collect(text, found, depth + 1)
    if is_fed_shell(command):
        if inputs or depth == 0:
            found.unknown["a shell reads what it runs from its input"] = None
        for text in inputs if depth < MAX_DEPTH else ():
            _collect(text, found, depth + 2)


def _odd(text: str) -> str:
    """What in a text makes it mean something else than it seems to."""
    for char in text:
        if char in "\t\n" or " " <= char <= "~":
            continue
        kind = unicodedata.category(char)
        if kind in ("Cc", "Cf", "Zs", "Zl", "Zp", "Cs"):
            return f"it holds a character that cannot be seen (U+{ord(char):04X})"
    return "a word goes on in the next line" if TORN.search(text) else ""


# Commands that run other commands, which stand in their words.

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
MORE = ShellWord("…", None)
INPUTS = {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}
MAX_SUFFIXES = 40


@dataclass(slots=True)
class InnerCommands:
    """What a command runs besides itself."""

    commands: list[ShellCommand] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def wraps(command: ShellCommand) -> bool:
    """Whether a command may run what its words say."""
    name = _plain_name(command)
    return name in BEFORE_ANOTHER or name in SHELLS or name in SOURCES


def is_fed_shell(command: ShellCommand) -> bool:
    """Whether it is a shell that reads what it runs from its input."""
    if _plain_name(command) not in SHELLS:
        return False
    words = [value or "?" for value in command.values[1:]]
    options = [word for word in words if word.startswith(("-", "+")) and word != "-"]
    if any(_has(option, "c") for option in options):
        return False
    named = [word for word in words if word not in options]
    return not named or named[0] in INPUTS or any(_has(option, "s") for option in options)


def inner_commands(command: ShellCommand) -> InnerCommands:
    """The commands and shell texts in the words of one that runs others."""
    found = InnerCommands()
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
    found.commands += [
        ShellCommand(rest[n:], nested=True) for n in range(min(len(rest), MAX_SUFFIXES))
    ]
    if len(rest) > MAX_SUFFIXES:
        found.unknown.append(f"{name} has too many words to be read")
    if name in TAKES_TEXT or any(c.name in TAKES_TEXT for c in found.commands):
        found.texts += [w.value for w in rest if w.value and not w.value.isalnum()]
        if unwritten:
            found.unknown.append(f"what {name} runs is not written out")
    return found


def _has(option: str, letter: str) -> bool:
    return not option.startswith("--") and letter in option


def _plain_name(command: ShellCommand) -> str:
    name = command.name
    return "ld-linux.so" if name.startswith("ld-linux") else name
