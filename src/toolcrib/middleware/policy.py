"""Whether a call may go on: rules, taint, and asking a person."""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolcrib.core.call import Call, Result
from toolcrib.core.context import Question
from toolcrib.core.errors import Denied, NeedsApproval, ToolError
from toolcrib.core.pipeline import Proceed
from toolcrib.core.policy import Decision, decide
from toolcrib.core.tool import NET, READ, SEND
from toolcrib.kit.approvals import Approvals, fingerprint
from toolcrib.kit.egress.url import parse_url
from toolcrib.kit.redaction import redact

LINK = re.compile(r"https?://[^\s<>\"'`\\\])}|]+")
LINKS_A_RESULT = 500
SUMMARY_CHARS = 200


async def policy(call: Call, proceed: Proceed) -> Result:
    """Allow, ask or deny, then note what the conversation has now read.

    Raises:
        Denied: a rule forbids the call, or a person said no.
        NeedsApproval: somebody has to be asked, and nobody can be from here.
    """
    decision = decide(call.ctx.config.policy, call.tool, targets_of(call))
    if decision.action == "allow" and not decision.explicit:
        decision = _taint(call) or decision
    if decision.action == "deny":
        raise Denied(
            f"{call.tool.name} is forbidden by {decision.reason}.",
            hint="Only the user can change the policy in the configuration of toolcrib.",
        )
    if decision.action == "ask":
        await _ask(call, decision.reason)
    result = await proceed(call)
    if result.error is None:
        _note(call, result)
    return result


def targets_of(call: Call) -> list[str]:
    """The paths and URLs that a call is about, as text."""
    return _values(call, ("path", "url"))


def _values(call: Call, kinds: Iterable[str]) -> list[str]:
    found: list[str] = []
    for parameter in call.tool.parameters:
        value = call.arguments.get(parameter.name)
        if parameter.kind in kinds and value:
            found += map(str, value if isinstance(value, list) else [value])
    return found


def _taint(call: Call) -> Decision | None:
    """Ask when private things could now be carried out by injected text."""
    ctx = call.ctx
    if not ctx.config.policy.taint or not ctx.session.tainted or ctx.caller.typed_by_user:
        return None
    why = "this conversation has read both outside text and private files"
    if call.tool.rights & SEND:
        return Decision("ask", f"{why}, and this call can send data out")
    if call.tool.rights & NET:
        for url in _values(call, ("url",)):
            if not ctx.session.has_seen(_canonical(url)):
                return Decision("ask", f"{why}, and nobody has named {url[:200]} before")
    return None


def _note(call: Call, result: Result) -> None:
    session, rights = call.ctx.session, call.tool.rights
    if rights & NET or result.source:
        session.taint(untrusted=True)
        for url in (*_values(call, ("url",)), *_links(result.text)):
            session.remember_link(_canonical(url))
    if rights & READ:
        session.taint(private=True)


def _links(text: str) -> Iterable[str]:
    for count, match in enumerate(LINK.finditer(text)):
        if count >= LINKS_A_RESULT:
            return
        yield match.group().rstrip(".,;:!?")


def _canonical(url: str) -> str:
    """One spelling for each page, so that it is recognised."""
    try:
        return parse_url(url).href
    except ToolError:
        return url


async def _ask(call: Call, reason: str) -> None:
    ctx, tool = call.ctx, call.tool
    approvals = ctx.use(Approvals)
    shown = {k: str(v) for k, v in call.arguments.items() if v not in (None, "", [])}
    mark = fingerprint(tool.name, shown)
    targets = targets_of(call)
    if await approvals.is_granted(mark, tool.name, ctx.session.id, targets):
        return
    summary = ", ".join(f"{k}={v}" for k, v in redact(shown, SUMMARY_CHARS).items())
    request = await approvals.request(mark, tool.name, summary, ctx.session.id, reason, targets)
    if ctx.caller.ask is not None:
        answer = await ctx.caller.ask(Question(request, tool.name, reason, summary))
        if answer is not None:
            if answer:
                await approvals.grant(request, "once")
                await approvals.is_granted(mark, tool.name, ctx.session.id, targets)
                return
            await approvals.refuse(request)
            raise Denied(
                f"The user refused {tool.name}.", hint="Do not send it again; ask what to do."
            )
    raise NeedsApproval(
        f"{tool.name} needs the approval of a person: {reason}.",
        hint=f"Ask the user to run `toolcrib approve {request}`, then send the same call again.",
        id=request,
    )
