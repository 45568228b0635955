"""Whether a call may go on: rules, taint, asking a person."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from toolcrib.core.config import STORE_NAME, usual_data_folder
from toolcrib.core.context import (
    Call,
    PersonAnswer,
    Proceed,
    Question,
    Rejection,
    SiteApproval,
)
from toolcrib.core.errors import (
    BadInput,
    Busy,
    ConnectionFailed,
    Denied,
    DnsFailure,
    NeedsApproval,
    NotFound,
    PathDenied,
    StorageFailure,
    TimedOut,
    TlsFailure,
    ToolError,
    Unavailable,
)
from toolcrib.core.result import Result
from toolcrib.core.tool import EXEC, NET, READ, SEND, WRITE, Decision, Right, decide, joined
from toolcrib.files.paths import Workspace
from toolcrib.middleware.known_links import canonical, is_own_server, leads_out, values_of
from toolcrib.net.egress.url import web_origin
from toolcrib.state.approvals import Approvals, fingerprint
from toolcrib.state.redaction import redact_question, redact_tokens
from toolcrib.state.store import Store
from toolcrib.system.installation import command_line, program_words
from toolcrib.text.display import visible

FILES = READ | WRITE
SUMMARY_CHARS = 600
"""Of each argument."""
MORE = "\n  | "
"""Before each further line of an argument."""
DISPLAYED_BY_HOST = ("mcp", "lmstudio")
"""Surfaces whose host may show its user every call before it is made."""
CODE_CHARS = 3000
"""Of an argument of a tool that runs code: whoever allows it has to see what it is."""
BLANKS = re.compile(r"[^\S\n]{40,}")
"""What stands behind so many, of any width, is easily overlooked."""
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
WITHOUT_CONTENT = (Busy, Denied, Unavailable)
"""Failures in which nothing stands of what files hold, nor what else there is."""
NOBODY_NAMED = "nobody has named in this conversation, where private files were read"
OR_SITE = " (with --site for all of that site in this conversation)"
OPEN_ITSELF = "Open that URL itself with fetch_url: that asks the user."
REFUSED = "The user refused this call of {tool}."
DO_NOT_REPEAT = "Do not send it again; ask what to do."
DO_AS_THEY_SAY = "Do not send it again; do as they say."
MAX_REFUSAL_CHARS = 2_000
TAINTED = "this conversation has read both outside text and private files"
NOBODY_HERE = "Nobody can be asked from here. Do without it, and say so in your answer."
ONLY_BY_RULE = "Only the user can allow it, with a rule for that URL in policy.rules."
ONLY_THE_USER = "Only the user can change the policy in the configuration of toolcrib."


async def policy(call: Call, proceed: Proceed) -> Result:
    """Allow, ask or deny, then note what the conversation has now read.

    Raises:
        Denied: a rule forbids the call, or a person said no.
        NeedsApproval: somebody has to be asked, and nobody can be from here.
    """
    rights = rights_of(call)
    if refused := call.ctx.caller.refused:
        # What another answer allowed meanwhile, such as a host, does not count for this call.
        with suppress(NotFound):
            await call.ctx.use(Approvals).refuse(refused)
        raise _refusal(call.tool.name, answer=False)
    try:
        decision, opened = await _approved(call, rights)
    except ToolError as error:
        # For what it would ask, a tool of files looks at them, and may name what it saw.
        looked = call.tool.policy_check is not None and rights & FILES and not rights & EXEC
        if looked and not isinstance(error, (Busy, Unavailable)):
            call.ctx.session.taint(private=True)
        raise
    call = replace(call, ctx=replace(call.ctx, judged=decision.judged))
    needs_approval = decision.action == "ask"
    rules = call.ctx.config.policy
    if call.tool.rights & NET and (rules.rules or rules.taint):
        judge = _Judge(call, rights, _reasons(call, rights) if needs_approval else None)
        call = replace(call, ctx=replace(call.ctx, check_url=judge))
    try:
        result = await proceed(call)
    except ToolError as error:
        _note_failure(call, error, rights)
        # Sending the same address once more would tell nobody anything new.
        _remember(call, opened)
        raise
    _note(call, result, rights, opened)
    return result


async def _approved(call: Call, rights: Right) -> tuple[Decision, list[str]]:
    """What the policy says, and the URLs that are opened; a person has allowed what had to be.

    While a question stands, what it describes may change. Then it is asked anew: leave holds for
    what the person saw. Hosts that it names are open from the answer on: what is found there,
    such as where an index has its files, may have to be asked about as well.

    Raises:
        Denied, NeedsApproval: see `policy`.
    """
    session = call.ctx.session
    given: list[str] = []
    decision, opened = await _judged(call, rights)
    while decision.action == "ask":
        try:
            is_answer = await _ask(call, decision)
        except NeedsApproval:
            # Where no conversation remembers them, answers before this one hold for the next try.
            for mark in given if session.single else ():
                await call.ctx.use(Approvals).restore(mark, call.tool.name, session.id)
            raise
        session.open_hosts(decision.hosts)
        if not (is_answer or decision.hosts):
            break
        given.append(_mark(call, decision))
        now, urls = await _judged(call, rights)
        if now.action == "allow" or _mark(call, now) == given[-1] or _is_part(now, decision):
            break
        decision, opened = now, urls
    return decision, opened


def _is_part(now: Decision, answered: Decision) -> bool:
    """Whether what is left to ask was in a question whose hosts are open by its answer."""
    parts = now.reason in answered.reason and now.preview in answered.preview
    return parts and bool(answered.hosts) and not now.hosts and now.judged == answered.judged


async def _judged(call: Call, rights: Right) -> tuple[Decision, list[str]]:
    """What the policy says, and the URLs that are opened.

    Raises:
        Denied: a rule forbids the call.
    """
    decision, opened = await decision_on(call, rights)
    if decision.action == "deny":
        raise Denied(f"{call.tool.name} is forbidden by {decision.reason}.", hint=ONLY_THE_USER)
    return decision, opened


def rights_of(call: Call) -> Right:
    """Those that a call uses."""
    rights = call.tool.rights_for(call.arguments)
    return rights & ~SEND if rights & SEND and _stays_here(call) else rights


async def decision_on(call: Call, rights: Right) -> tuple[Decision, list[str]]:
    """What the policy says about a call whose arguments are checked, and the URLs that it opens."""
    rules = call.ctx.config.policy
    decision = decide(rules, call.tool, targets_of(call), rights)
    opened = [str(url) for url in values_of(call, "url")]
    preview = judged = ""
    if call.tool.policy_check is not None and decision.action != "deny":
        own = await call.tool.policy_check(call.arguments, call.ctx)
        decision = joined(rules, decision, own)
        if own is not None:
            opened = [*([] if own.is_local else opened), *own.urls]
            preview, judged = own.preview, own.judged
    if decision.action == "allow" and not decision.explicit:
        decision = _taint(call, rights, opened) or decision
    return replace(decision, preview=preview, judged=judged), opened


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

    def __call__(self, url: str, *, own: bool = False, source: str = "") -> None:
        tool, policy = self.call.tool, self.call.ctx.config.policy
        leads = f"This leads on to {url[:500]}"
        made_up = self.approved is None and source and leads_out(self.call, source, url)
        if made_up and _taints(self.call) and not _is_allowed_site(self.call, url):
            raise Denied(f"{leads}, which {NOBODY_NAMED}.", hint=OPEN_ITSELF)
        if not policy.rules:
            return
        decision = decide(policy, tool, _spellings(url), self.rights)
        if decision.action == "allow":
            return
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
    paths = [name for path in values_of(call, "path") for name in path.spellings()]
    about_files = call.tool.effective_rights is None or call.tool.rights_for(call.arguments) & FILES
    if not paths and about_files and "path" in call.tool.kinds:
        paths = [str(call.ctx.use(Workspace).start(call.ctx.session.directory))]
    return paths + [name for url in values_of(call, "url") for name in _spellings(url)]


def _spellings(url: str) -> list[str]:
    """The canonical URL, and as a server may read it: decoded, without doubled slashes."""
    known = canonical(url)
    scheme, _, rest = unquote(known).partition("://")
    plain = f"{scheme}://{SLASHES.sub('/', rest)}"
    return [known] if plain == known else [known, plain]


def _stays_here(call: Call) -> bool:
    """Whether a call goes only to servers of the conversation's runs that reach nothing else."""
    urls = values_of(call, "url")
    return bool(urls) and all(is_own_server(call, url) for url in urls)


def _taints(call: Call) -> bool:
    """Whether injected text could now carry private things out by a call."""
    ctx = call.ctx
    return ctx.config.policy.taint and ctx.session.tainted and not ctx.caller.typed_by_user


def _taint(call: Call, rights: Right, opened: Iterable[str]) -> Decision | None:
    """Ask when private things could now be carried out by injected text."""
    if not _taints(call):
        return None
    if rights & SEND:
        return Decision("ask", f"{TAINTED}, and this call can send data out", is_taint=True)
    if rights & NET:
        unnamed = [url for url in map(canonical, opened) if _is_unnamed(call, url)]
        if unnamed:
            sites = {web_origin(url) for url in unnamed}
            site = sites.pop() if len(sites) == 1 else ""
            reason = f"{TAINTED}, and nobody has named {unnamed[0][:200]} before"
            return Decision("ask", reason, site=site, is_taint=True)
    return None


def _is_unnamed(call: Call, url: str) -> bool:
    seen = call.ctx.session.has_seen(url) or _is_allowed_site(call, url)
    return not seen and not is_own_server(call, url)


def _is_allowed_site(call: Call, url: str) -> bool:
    origin = web_origin(url)
    return bool(origin) and call.ctx.session.allows_site(origin)


def _note(call: Call, result: Result, rights: Right, opened: Iterable[str]) -> None:
    session = call.ctx.session
    if rights & NET or result.source:
        session.taint(untrusted=True)
        _remember(call, opened)
    if (rights & READ and not result.impersonal) or result.private:
        session.taint(private=True)


def _note_failure(call: Call, error: ToolError, rights: Right) -> None:
    # What a server answered may stand in the failure as well.
    if rights & NET and not isinstance(error, OUR_OWN):
        call.ctx.session.taint(untrusted=True)
    # A failure may quote what was read, or name what lies where something was to be written;
    # what tools of the web write is from there.
    looked = rights & READ or (rights & WRITE and not rights & NET)
    named = isinstance(error, PathDenied) and rights & WRITE  # perhaps by an archive
    if looked and (named or not isinstance(error, WITHOUT_CONTENT)):
        call.ctx.session.taint(private=True)


def _remember(call: Call, urls: Iterable[str]) -> None:
    for url in dict.fromkeys(urls):
        call.ctx.session.remember_link(canonical(url))


async def _ask(call: Call, decision: Decision) -> bool:
    """Let a call through that a person allows; whether they were asked for it just now.

    Raises:
        Denied, NeedsApproval: see `policy`.
    """
    ctx, tool, reason, site = call.ctx, call.tool, decision.reason, decision.site
    if ctx.config.policy.ask == "host" and ctx.caller.surface in DISPLAYED_BY_HOST:
        return False  # the host has shown this very call to its user
    approvals = ctx.use(Approvals)
    # Calls that stand alone share a question, so that repeating one opens no other.
    asking = "" if ctx.session.single else ctx.session.id
    mark = _mark(call, decision)
    targets = targets_of(call)
    # What a run may reach is asked about by name, whatever else was allowed.
    exact = bool(decision.hosts) or decision.is_exact
    if await _is_granted(call, mark, targets, site, exact=exact):
        return False
    alone = Denied(f"{tool.name} needs the approval of a person: {reason}.", hint=NOBODY_HERE)
    if ctx.caller.unattended and ctx.caller.ask is None:
        raise alone
    if ctx.caller.ask is None and await approvals.was_refused(mark, ctx.session.id):
        raise Denied(REFUSED.format(tool=tool.name), hint=DO_NOT_REPEAT)
    summary = question_text(call, decision.preview)
    request = await approvals.request(mark, tool.name, summary, asking, reason, targets, site)
    is_single = decision.is_exact or bool(decision.preview)
    question = Question(
        request,
        tool.name,
        reason,
        summary,
        dict(call.arguments),
        site,
        is_single=is_single,
        is_taint=decision.is_taint,
    )
    if ctx.caller.ask is not None:
        answer = await ctx.caller.ask(question)
        if answer:
            if site and isinstance(answer, SiteApproval):
                ctx.session.allow_site(site)
            await approvals.grant(request, "once")
            await approvals.is_granted(mark, tool.name, ctx.session.id, targets, exact=exact)
            return True
        if answer is not None:
            await approvals.refuse(request)
            raise _refusal(tool.name, answer)
    if ctx.caller.unattended:
        raise alone
    raise NeedsApproval(
        f"{tool.name} needs the approval of a person: {reason}.",
        hint=f"Ask the user to run `{_approval_command(call, request)}` in a terminal"
        f"{OR_SITE if site and asking else ''}, then send the same call again.",
        id=request,
    )


def _mark(call: Call, decision: Decision) -> str:
    """Leave holds for what the person saw: in that folder, for that reason, with that effect.

    What was judged says the effect whole, where there is that: the question names a commit by its
    first digits, and random values of one look.
    """
    seen = {"judged": decision.judged}
    if not decision.judged:
        seen = {"reason": decision.reason, "preview": decision.preview}
    if call.tool.rights & (FILES | EXEC):
        seen["folder"] = _folder_of(call)
    return fingerprint(call.tool.name, {**_given(call), "": seen})


def _folder_of(call: Call) -> str:
    """Where it would work."""
    return str(call.ctx.use(Workspace).start(call.ctx.session.directory))


def question_text(call: Call, preview: str) -> str:
    """What a person sees of a call: each argument on a line of its own, and what it would do.

    A further line of an argument is marked, so that none can be taken for ours.
    """
    limit = CODE_CHARS if call.tool.rights & EXEC else SUMMARY_CHARS
    texts = {name: _as_text(value) for name, value in _given(call).items()}
    lines = [f"{k}={v}" for k, v in redact_question(texts, limit).items()]
    if call.tool.rights & EXEC:
        lines.append(f"in {_folder_of(call)}")
    if preview:
        lines.append(f"What it would do:\n{redact_tokens(preview)}")
    text = "\n".join(MORE.join(visible(line).splitlines()) for line in lines)
    return BLANKS.sub(lambda m: f"  [{len(m[0])} BLANKS]  ", text)


def _given(call: Call) -> dict[str, Any]:
    """The arguments of a call that are not what they are without being given."""
    without = {parameter.name: parameter.default for parameter in call.tool.parameters}
    return {
        name: value
        for name, value in call.arguments.items()
        if value is not None
        and (value != without.get(name) or type(value) is not type(without.get(name)))
    }


def _as_text(value: Any) -> str:
    """An argument as a person sees it; an empty one is seen too."""
    if isinstance(value, str) and value:
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


async def _is_granted(call: Call, mark: str, targets: list[str], site: str, *, exact: bool) -> bool:
    """Whether a person has allowed it before: this very call, or what it opens."""
    approvals, session = call.ctx.use(Approvals), call.ctx.session
    if site and await approvals.is_site_granted(site, session.id):
        session.allow_site(site)
        return True
    return await approvals.is_granted(mark, call.tool.name, session.id, targets, exact=exact)


def _refusal(tool: str, answer: PersonAnswer) -> Denied:
    if isinstance(answer, Rejection) and answer.words.strip():
        words = " ".join(answer.words.split())[:MAX_REFUSAL_CHARS]
        return Denied(f"{REFUSED.format(tool=tool)} They say: {words}", hint=DO_AS_THEY_SAY)
    return Denied(REFUSED.format(tool=tool), hint=DO_NOT_REPEAT)


def _approval_command(call: Call, request: str) -> str:
    """What a person types, wherever they are: it must find the store of this server."""
    store = call.ctx.use(Store).path
    words = [*program_words(), "approve", request]
    if store is not None and store.absolute() != usual_data_folder().absolute() / STORE_NAME:
        words += ["--set", f"store.url=sqlite:///{store.absolute().as_posix()}"]
    return command_line(words)
