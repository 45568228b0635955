"""`toolcrib approve`: a person answers for calls that could not ask them."""

from __future__ import annotations

import asyncio
import time
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Literal

from toolcrib.core.errors import BadInput
from toolcrib.surfaces.cli.flags import Flags
from toolcrib.surfaces.cli.screen import visible, wrapped

if TYPE_CHECKING:
    from toolcrib.core.config import Config
    from toolcrib.state.approvals import ApprovalRequest, ApprovalRule, Approvals


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    # The choices that exclude each other are one line of more than 80 characters otherwise.
    parser.usage = (
        "%(prog)s [options] [ID]\n"
        "       %(prog)s ID [--session | --site | --always | --refuse]\n"
        "       %(prog)s --withdraw RULE"
    )
    parser.add_argument("id", metavar="ID", nargs="?", help="the request; without it, list them")
    answer = parser.add_mutually_exclusive_group()
    answer.add_argument(
        "--session",
        action="store_true",
        help="allow every call of the tool in the conversation that asked; from a shell that is "
        "one that was named: toolcrib call --session NAME",
    )
    answer.add_argument(
        "--site",
        action="store_true",
        help="allow every address of that site, as long as the conversation goes on",
    )
    answer.add_argument("--always", action="store_true", help="allow it for good")
    answer.add_argument("--refuse", action="store_true", help="close the request without allowing")
    answer.add_argument(
        "--withdraw", metavar="RULE", type=int, help="take back what --always allowed"
    )
    parser.add_argument(
        "--target", metavar="GLOB", help="with --always: every call whose path or URL fits"
    )
    parser.epilog = "Without an option the call is allowed once: send the same call again."


def run(options: Namespace, flags: Flags) -> int:
    """List the requests, or answer one."""
    if options.target and not options.always:
        raise BadInput("--target goes with --always.")
    if options.id is None and (options.site or options.session or options.always or options.refuse):
        raise BadInput("Name the request.", hint="toolcrib approve lists the open ones.")
    return asyncio.run(_answer(flags.load(), options))


async def _answer(config: Config, options: Namespace) -> int:
    from toolcrib.core.context import Services
    from toolcrib.state.approvals import Approvals

    async with Services(config) as services:
        approvals = services.use(Approvals)
        if options.withdraw is not None:
            await approvals.withdraw(options.withdraw)
            print(f"Rule {options.withdraw} is withdrawn.")
        elif options.id is None:
            _list((await approvals.list_open())[::-1], await approvals.list_rules())
        elif options.refuse:
            refused = await approvals.refuse(options.id)
            print(f"Refused: {refused.tool}.")
        else:
            return await _grant(approvals, options)
    return 0


async def _grant(approvals: Approvals, options: Namespace) -> int:
    from toolcrib.surfaces.cli import person
    from toolcrib.system.threads import plain_id

    scope: Literal["once", "site", "session", "rule"] = "once"
    if options.site or options.session or options.always:
        scope = "site" if options.site else "session" if options.session else "rule"
    waiting = {request.id: request for request in await approvals.list_open()}
    request = waiting.get(plain_id(options.id))
    if request is not None:
        _describe(request)
        if person.is_there() and not await person.confirm(
            f"Allow it {_extent(scope, request.tool, options.target)}?"
        ):
            print("Nothing was changed; the request stays open.")
            return 1
    granted = await approvals.grant(options.id, scope, options.target or "")
    print(f"Allowed {_extent(scope, granted.tool, options.target)}: {granted.tool}.")
    if scope in ("once", "site"):
        print("Send the same call again.")
    elif scope == "session" and granted.session.startswith("cli:"):
        name = visible(granted.session.removeprefix("cli:"))
        print(f"That is each call with --session {name}.")
    return 0


def _extent(scope: str, tool: str, target: str | None) -> str:
    if scope == "session":
        return f"for every {tool} of this conversation"
    if scope == "site":
        return "for every address of its site in this conversation"
    if scope == "once":
        return "this once"
    return f"for good where the target fits {target}" if target else "for good with these arguments"


def _list(requests: list[ApprovalRequest], rules: list[ApprovalRule]) -> None:
    if not requests:
        print("No call waits for approval.")
    for request in requests:
        _describe(request)
        print()
    if requests:
        print("Answer: toolcrib approve ID [--site | --session | --always | --refuse]")
    if rules:
        print(f"\n{len(rules)} allowed for good:")
    for rule in rules:
        print(f"  {rule.id}: {rule.tool}, {_rule(rule)}")
    if rules:
        print("Take one back: toolcrib approve --withdraw NUMBER")


def _rule(rule: ApprovalRule) -> str:
    return f"target {visible(rule.target)}" if rule.target else "the very same arguments"


def _describe(request: ApprovalRequest) -> None:
    minutes = max(0, int((time.time() - request.created) // 60))
    print(f"{request.id}  {visible(request.tool)}, asked {minutes} min ago")
    print(wrapped(f"because {visible(request.reason)}", indent="        "))
    if request.summary:
        for line in visible(request.summary).splitlines():
            print(wrapped(line, indent="        ", more=" " * 10 + "| "))
