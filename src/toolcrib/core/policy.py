"""Allow, ask or deny: a pure decision from rules, rights and targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from toolcrib.core.settings import Action, PolicyConfig, Rule
from toolcrib.core.tool import ERASE, MACHINE, SEND, Right, Tool

STRICTNESS: dict[Action, int] = {"allow": 0, "ask": 1, "deny": 2}
ASK_BY_DEFAULT = SEND | MACHINE | ERASE


@dataclass(frozen=True, slots=True)
class Decision:
    """What the policy says, and by which words. `explicit`: the user's own rule said it."""

    action: Action
    reason: str
    explicit: bool = False


def decide(
    policy: PolicyConfig, tool: Tool, targets: Sequence[str], rights: Right | None = None
) -> Decision:
    """The strictest decision over all targets of a call; without targets, over none.

    `rights` are those that this call uses, where they are fewer than the tool's.
    """
    used = tool.rights if rights is None else rights
    decisions = [_decide_one(policy, tool, target, used) for target in targets or ("",)]
    # Of equals, the one that no rule of the user's stands behind: it is the weaker promise.
    return max(decisions, key=lambda d: (STRICTNESS[d.action], not d.explicit))


def joined(policy: PolicyConfig, general: Decision, own: Decision | None) -> Decision:
    """The decision by rights and targets, and that of a tool's own rules, as one.

    What a rule of the user's says goes before what no rule says; of two that rules say, and
    of two that none says, the stricter holds. `policy.default` replaces what no rule says.
    """
    if own is None:
        return general
    if own.explicit != general.explicit:
        return own if own.explicit else general
    if not own.explicit and policy.default is not None:
        return general
    return max(own, general, key=lambda d: STRICTNESS[d.action])


def _decide_one(policy: PolicyConfig, tool: Tool, target: str, rights: Right) -> Decision:
    for number, rule in enumerate(policy.rules, 1):
        if _matches(rule, tool, target, rights):
            return Decision(rule.action, f"rule {number} of policy.rules", explicit=True)
    if policy.default is not None:
        return Decision(policy.default, "policy.default")
    asked = rights & ASK_BY_DEFAULT
    if asked:
        return Decision("ask", f"it may {' and '.join(asked.names)}")
    return Decision("allow", "allowed by default")


def _matches(rule: Rule, tool: Tool, target: str, rights: Right) -> bool:
    return (
        fits(rule.tool, tool.name)
        and fits(rule.group, tool.group)
        and _speaks_of(rule, rights)
        and fits(rule.target, target)
    )


def fits(pattern: str, text: str) -> bool:
    """Whether a glob of a rule covers a name, a path or a URL, in any case of letters."""
    return fnmatchcase(text.lower(), pattern.lower())


def _speaks_of(rule: Rule, rights: Right) -> bool:
    """Whether a rule means calls that use these rights.

    One that allows has to name each of them that is asked about: whoever lets tools write
    has not said that they may delete for good or send.
    """
    named = {name.lower() for name in rule.rights}
    if not named:
        return True
    asked = (rights & ASK_BY_DEFAULT).names if rule.action == "allow" else []
    return not named.isdisjoint(rights.names) and named.issuperset(asked)
