"""Whether a call may go on: rules, taint, the links a conversation has seen, asking a person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any
from unicodedata import normalize
from urllib.parse import unquote

from toolcrib.core.config import STORE_NAME, usual_data_folder
from toolcrib.core.context import Call, Proceed, Question, Rejection, Session
from toolcrib.core.errors import (
    BadInput,
    Busy,
    ConnectionFailed,
    Denied,
    DnsFailure,
    NeedsApproval,
    StorageFailure,
    TimedOut,
    TlsFailure,
    ToolError,
    Unavailable,
)
from toolcrib.core.result import Result
from toolcrib.core.tool import EXEC, NET, READ, SEND, WRITE, Decision, Right, decide, joined
from toolcrib.files.paths import Workspace
from toolcrib.net.egress.url import complete_url, parse_url
from toolcrib.state.approvals import Approvals, fingerprint
from toolcrib.state.redaction import redact
from toolcrib.state.store import Store
from toolcrib.system.installation import command_line, program_words

# Which links a conversation has seen, so that a made-up one is recognised.
#
# A link that the caller wrote itself, in a query or a search term, comes back in many
# answers. Once something private was read, that must not count as seen: the link may hold it.

# Looking back comes after the letters, so that a search can run to the next h or w.
LINK = re.compile(r"(?:https?://|www\.(?<![\w/.@]www\.))[^\s<>\"]+")
# Where a link may be over, though each of these can also be a part of it.
LINK_ENDS = re.compile(
    "[\\]'`\\\\)}|*\u3001\u3002\uff0c\uff1b\uff1a\uff01\uff1f\uff09\u300d\u300f\u3011]"
)
# What parsing would leave as it is: most links, and parsing hundreds of them takes long.
CANONICAL = re.compile(
    r"https?://(?:(?:[a-z0-9-]{1,40}\.){1,5}[a-z]{2,20}|(?:OCTET\.){3}OCTET)"
    r"(?::(?:[1-9][0-9]{3}|[1-5][0-9]{4}|6[0-4][0-9]{3}))?"
    r"/[A-Za-z0-9/._~!$&()*+,;=:@%-]*(?:\?[A-Za-z0-9/._~!$&()*+,;=:@%?-]*)?".replace(
        "OCTET", "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
    )
)
DOTTED = re.compile(r"/(?:\.|%2e)", re.IGNORECASE)
NO_WORD = re.compile(r"[\W_]+")
LINKS_A_RESULT = 500
CLOCK_MARGIN_SECONDS = 60.0
"""By which the clock of another machine's disk may be behind."""
READINGS = 4
"""How many ends of one link are thought possible."""


def remember_links(call: Call, result: Result) -> None:
    """Note the links that outside text or a file names. `result` is whole: nothing is cut yet."""
    session = call.ctx.session
    written = _own_words(call) if session.private else ""
    if written:
        for url in links_of(written):
            if not session.has_seen(canonical(url)):
                session.note_written(_bare(url))
    from_outside = call.tool.rights_for(call.arguments) & NET
    is_reported = bool(result.source) and not session.private
    if not (from_outside or is_reported or _is_of_others(result, session)):
        return
    own, near = _bare(written), _nearby(call, result) if session.private else None
    for url in dict.fromkeys(links_of(result.text)):
        if session.private:
            bare = _bare(url)
            made_up = result.outside is not None and url not in result.outside
            if made_up or bare in own or session.has_written(bare):
                continue
            if near is not None and not _is_of(url, near):
                continue
        session.remember_link(canonical(url))


def _own_words(call: Call) -> str:
    """All that the caller wrote, but for the URLs, which are judged themselves."""
    urls = {p.name for p in call.tool.parameters if p.kind == "url"}
    return "\n".join(_texts({n: v for n, v in call.arguments.items() if n not in urls}))


def _is_of_others(result: Result, session: Session) -> bool:
    """Whether a result shows files as they are that were there before the conversation.

    The time of change is set by the system whoever writes, renames or unpacks a file, so
    neither a call nor a run of the conversation can have written one that is older.
    """
    changed = result.newest_change
    return changed is not None and changed < session.began - CLOCK_MARGIN_SECONDS


def _nearby(call: Call, result: Result) -> set[tuple[str, int]] | None:
    """Host and port of the servers of this machine that were read; None where all was public.

    What such a server shows may be what a run of the conversation wrote.
    """
    found = set()
    for text in (*_values(call, "url"), *result.source.split(", ")):
        with suppress(ToolError):
            target = parse_url(complete_url(text))
            here = target.host == "localhost" or (target.literal and target.literal.is_loopback)
            if here or _is_own_server(call, target.href):
                found.add((target.host, target.port))
    return found or None


def _is_of(url: str, servers: set[tuple[str, int]]) -> bool:
    try:
        target = parse_url(complete_url(url))
    except ToolError:
        return False
    return (target.host, target.port) in servers


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield str(name)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _bare(text: str) -> str:
    """Letters and digits alone: answers repeat words in other quotes, spaces and cases."""
    return NO_WORD.sub("", normalize("NFKC", text).casefold())


def links_of(text: str) -> Iterable[str]:
    """The links in a text. Where it is not sure which characters belong, every reading."""
    for count, match in enumerate(LINK.finditer(text)):
        if count >= LINKS_A_RESULT:
            return
        whole = match.group()
        if text[match.start() - 1 : match.start()] == "(":
            whole = whole[: _balanced(whole)]
        ends = [end.start() for end in islice(LINK_ENDS.finditer(whole), READINGS)]
        for end in (len(whole), *ends):
            reading = whole[:end].rstrip(".,;:!?*_~")
            yield reading
            if "&amp;" in reading:
                yield reading.replace("&amp;", "&")


def _balanced(link: str) -> int:
    """Where a bracket closes that the link did not open, as in Markdown."""
    first = link.find(")")
    if first < 0 or link.find("(", 0, first) < 0:
        return first if first >= 0 else len(link)
    depth = 0
    for at, char in enumerate(link):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return at
    return len(link)


def canonical(url: str) -> str:
    """One spelling for each page, so that it is recognised."""
    if CANONICAL.fullmatch(url) and not DOTTED.search(url):
        return url
    try:
        return parse_url(complete_url(url)).href
    except ToolError:
        return url


FILES = READ | WRITE
SUMMARY_CHARS = 200
CODE_CHARS = 3000
"""Of an argument of a tool that runs code: whoever allows it has to see what it is."""
SLASHES = re.compile("/{2,}")
OUR_OWN = (
    BadInput,
    Busy,
    ConnectionFailed,
    Denied,
    DnsFailure,
    StorageFailure,
    TimedOut,
    TlsFailure,
    Unavailable,
)
"""Failures in which no server had a word."""
REFUSED = "The user refused this call of {tool}."
DO_NOT_REPEAT = "Do not send it again; ask what to do."
DO_AS_THEY_SAY = "Do not send it again; do as they say."
MAX_REFUSAL_CHARS = 2_000
NOBODY_HERE = "Nobody can be asked from here. Do without it, and say so in your answer."
ONLY_BY_RULE = "Only the user can allow it, with a rule for that URL in policy.rules."
ONLY_THE_USER = "Only the user can change the policy in the configuration of toolcrib."


async def policy(call: Call, proceed: Proceed) -> Result:
    """Allow, ask or deny, then note what the conversation has now read.

    Raises:
        Denied: a rule forbids the call, or a person said no.
        NeedsApproval: somebody has to be asked, and nobody can be from here.
    """
    rights = call.tool.rights_for(call.arguments)
    if rights & SEND and _stays_here(call):
        rights &= ~SEND
    rules = call.ctx.config.policy
    decision = decide(rules, call.tool, targets_of(call), rights)
    if call.tool.policy_check is not None and decision.action != "deny":
        decision = joined(rules, decision, await call.tool.policy_check(call.arguments, call.ctx))
    if decision.action == "allow" and not decision.explicit:
        decision = _taint(call, rights) or decision
    if decision.action == "deny":
        raise Denied(f"{call.tool.name} is forbidden by {decision.reason}.", hint=ONLY_THE_USER)
    needs_approval = decision.action == "ask"
    if needs_approval:
        await _ask(call, decision.reason)
        call.ctx.session.open_hosts(decision.hosts)
    if call.tool.rights & NET and call.ctx.config.policy.rules:
        judge = _Judge(call, rights, _reasons(call, rights) if needs_approval else None)
        call = replace(call, ctx=replace(call.ctx, check_url=judge))
    try:
        result = await proceed(call)
    except ToolError as error:
        # What a server answered may stand in the failure as well.
        if rights & NET and not isinstance(error, OUR_OWN):
            call.ctx.session.taint(untrusted=True)
        # Sending the same address once more would tell nobody anything new.
        _remember(call, _values(call, "url"))
        raise
    _note(call, result, rights)
    return result


@dataclass(frozen=True, slots=True)
class _Judge:
    """Where a call may go on to: what is denied stays so, what was approved is not asked again.

    `approved` are the reasons for which a person was asked about the call and let it
    through; None where nobody had to be. Such an answer also holds for what the call
    itself opens (`own`), and for redirects that would be asked about for no other reason.
    """

    call: Call
    rights: Right
    approved: set[str] | None

    def __call__(self, url: str, *, own: bool = False) -> None:
        tool = self.call.tool
        decision = decide(self.call.ctx.config.policy, tool, _spellings(url), self.rights)
        if decision.action == "allow":
            return
        leads = f"This leads on to {url[:500]}"
        if decision.action == "deny":
            raise Denied(f"{leads}, which {decision.reason} forbids.", hint=ONLY_THE_USER)
        if self.approved is not None and (own or decision.reason in self.approved):
            self.approved.add(decision.reason)
            return
        opener = tool.name if any(p.kind == "url" for p in tool.parameters) else "fetch_url"
        raise Denied(
            f"{leads}, for which {tool.name} needs the approval of a person: {decision.reason}.",
            hint=ONLY_BY_RULE
            if own
            else f"Open that URL itself with {opener}: that asks the user.",
        )


def _reasons(call: Call, rights: Right) -> set[str]:
    """Why the targets of a call had to be asked about, each for itself."""
    rules = call.ctx.config.policy
    each = (decide(rules, call.tool, [target], rights) for target in targets_of(call) or [""])
    return {decision.reason for decision in each if decision.action == "ask"}


def targets_of(call: Call) -> list[str]:
    """The paths and URLs that a call is about, in every spelling that a rule may use.

    A tool that takes a path and is given none works in the current directory, unless its
    arguments say that it is not about files.
    """
    paths = [name for path in _values(call, "path") for name in path.spellings()]
    about_files = call.tool.effective_rights is None or call.tool.rights_for(call.arguments) & FILES
    if not paths and about_files and any("path" in p.kinds for p in call.tool.parameters):
        paths = [str(call.ctx.use(Workspace).start(call.ctx.session.directory))]
    return paths + [name for url in _values(call, "url") for name in _spellings(url)]


def _values(call: Call, kind: str) -> list[Any]:
    found: list[Any] = []
    for parameter in call.tool.parameters:
        found += parameter.of_kind(kind, call.arguments.get(parameter.name))
    return found


def _spellings(url: str) -> list[str]:
    """The canonical URL, and as a server may read it: decoded, without doubled slashes."""
    known = canonical(url)
    scheme, _, rest = unquote(known).partition("://")
    plain = f"{scheme}://{SLASHES.sub('/', rest)}"
    return [known] if plain == known else [known, plain]


def _stays_here(call: Call) -> bool:
    """Whether a call goes only to servers of the conversation's runs that reach nothing else."""
    urls = _values(call, "url")
    return bool(urls) and all(_is_own_server(call, url) for url in urls)


def _is_own_server(call: Call, url: str) -> bool:
    from toolcrib.net.egress.client import Egress  # a call without an address needs no network

    session = call.ctx.session.id
    egress = call.ctx.use(Egress)
    try:
        return egress.serves(complete_url(url), session, offline=True)
    except ToolError:
        return False


def _taint(call: Call, rights: Right) -> Decision | None:
    """Ask when private things could now be carried out by injected text."""
    ctx = call.ctx
    if not ctx.config.policy.taint or not ctx.session.tainted or ctx.caller.typed_by_user:
        return None
    why = "this conversation has read both outside text and private files"
    if rights & SEND:
        return Decision("ask", f"{why}, and this call can send data out")
    if rights & NET:
        for url in map(canonical, _values(call, "url")):
            if not ctx.session.has_seen(url) and not _is_own_server(call, url):
                return Decision("ask", f"{why}, and nobody has named {url[:200]} before")
    return None


def _note(call: Call, result: Result, rights: Right) -> None:
    session = call.ctx.session
    if rights & NET or result.source:
        session.taint(untrusted=True)
        _remember(call, _values(call, "url"))
    if (rights & READ and not result.impersonal) or result.private:
        session.taint(private=True)


def _remember(call: Call, urls: Iterable[str]) -> None:
    for url in dict.fromkeys(urls):
        call.ctx.session.remember_link(canonical(url))


async def _ask(call: Call, reason: str) -> None:
    ctx, tool = call.ctx, call.tool
    if ctx.config.policy.ask == "host" and ctx.caller.surface == "mcp":
        return  # the host has shown this very call to its user
    approvals = ctx.use(Approvals)
    # Calls that stand alone share a question, so that repeating one opens no other.
    asking = "" if ctx.session.single else ctx.session.id
    arguments = {k: str(v) for k, v in call.arguments.items() if v not in (None, "", [])}
    mark = fingerprint(tool.name, arguments)
    targets = targets_of(call)
    if await approvals.is_granted(mark, tool.name, ctx.session.id, targets):
        return
    alone = Denied(f"{tool.name} needs the approval of a person: {reason}.", hint=NOBODY_HERE)
    if ctx.caller.unattended and ctx.caller.ask is None:
        raise alone
    if ctx.caller.ask is None and await approvals.was_refused(mark, ctx.session.id):
        raise Denied(REFUSED.format(tool=tool.name), hint=DO_NOT_REPEAT)
    limit = CODE_CHARS if tool.rights & EXEC else SUMMARY_CHARS
    summary = ", ".join(f"{k}={v}" for k, v in redact(arguments, limit).items())
    request = await approvals.request(mark, tool.name, summary, asking, reason, targets)
    if ctx.caller.ask is not None:
        answer = await ctx.caller.ask(
            Question(request, tool.name, reason, summary, dict(call.arguments))
        )
        if answer is not None:
            if answer:
                await approvals.grant(request, "once")
                await approvals.is_granted(mark, tool.name, ctx.session.id, targets)
                return
            await approvals.refuse(request)
            if isinstance(answer, Rejection) and answer.words.strip():
                words = " ".join(answer.words.split())[:MAX_REFUSAL_CHARS]
                message = f"{REFUSED.format(tool=tool.name)} They say: {words}"
                raise Denied(message, hint=DO_AS_THEY_SAY)
            raise Denied(REFUSED.format(tool=tool.name), hint=DO_NOT_REPEAT)
    if ctx.caller.unattended:
        raise alone
    raise NeedsApproval(
        f"{tool.name} needs the approval of a person: {reason}.",
        hint=f"Ask the user to run `{_approval_command(call, request)}` in a terminal, then send "
        "the same call again.",
        id=request,
    )


def _approval_command(call: Call, request: str) -> str:
    """What a person types, wherever they are: it must find the store of this server."""
    store = call.ctx.use(Store).path
    words = [*program_words(), "approve", request]
    if store is not None and store.absolute() != usual_data_folder().absolute() / STORE_NAME:
        words += ["--set", f"store.url=sqlite:///{store.absolute().as_posix()}"]
    return command_line(words)
