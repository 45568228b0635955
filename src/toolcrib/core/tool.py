"""`@tool` and what is derived from it: parameters, schema, rights, the decision of the policy."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum, Flag, auto
from fnmatch import fnmatchcase
from functools import cache, cached_property
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
    overload,
)

from toolcrib.core.compat import compat_tables
from toolcrib.core.names import plain
from toolcrib.core.plain_functions import awaitable
from toolcrib.core.result import Result
from toolcrib.core.settings import Action, PolicyConfig, Rule

# Annotated types: what a parameter means, said once and checked everywhere.
#
# A tool writes `limit: Count` or narrows one: `limit: Annotated[Count, Param("Results.",
# maximum=50)]`. From the annotation come the JSON Schema, the check at run time, the
# command-line flag and the docs. Types with a mechanic behind them (`WorkspacePath`,
# `PublicUrl`) live with it in its room and bring a `check`.
#
# Schemas stay flat and grammar-safe: one `type` a node, no pattern, format, union or
# length. Limits are checked here instead, since one rich schema breaks every tool of
# a request in hosts that turn schemas into grammars.

Check = Callable[[Any, Any], Awaitable[Any] | Any]


@dataclass(frozen=True, slots=True)
class Param:
    """What an annotation says about a value, beside its type.

    `kind` marks values that policy looks at as the target of a call; "json" is an
    object or JSON text that holds one, "any" is text or any JSON value as it came. `check`
    takes the value and the `Ctx` and returns what the tool is given.
    `json_type` is the schema type where the Python type is not a JSON one. `aliases` are other
    names of a field of a record; those of a parameter stand on the declaration of its tool.
    `plain`: the name says it to a model, so that the description is only in help and docs.
    `parted`: of a list of names, which stand with commas where they come in one text.
    `unlisted`: understood, but not in the schema, since few callers need it.
    """

    description: str = ""
    minimum: float | None = None
    maximum: float | None = None
    kind: Literal["", "path", "url", "json", "any"] = ""
    check: Check | None = None
    json_type: Literal["", "string"] = ""
    aliases: tuple[str, ...] = ()
    plain: bool = False
    unlisted: bool = False
    parted: bool = False

    @property
    def range(self) -> str:
        """The limits in words: `1 to 50`, `0 or more`, `up to 9`; empty without any."""
        low, high = self.minimum, self.maximum
        if low is None:
            return "" if high is None else f"up to {high:g}"
        return f"{low:g} or more" if high is None else f"{low:g} to {high:g}"

    def narrowed(self, other: Param) -> Param:
        """This one, with all that `other` states put over it."""
        stated = {
            f.name: value
            for f in fields(other)
            if (value := getattr(other, f.name)) not in ("", None, ()) and value is not False
        }
        return replace(self, **stated)


Count: TypeAlias = Annotated[int, Param("How many.", minimum=1)]
Offset: TypeAlias = Annotated[int, Param("Where to start, from 0.", minimum=0)]
Line: TypeAlias = Annotated[int, Param("Line number, from 1; negative counts from the end.")]
Seconds: TypeAlias = Annotated[float, Param("Seconds.", minimum=0)]
Tokens: TypeAlias = Annotated[int, Param(minimum=50)]
JsonObject: TypeAlias = Annotated[
    dict[str, Any], Param("JSON object.", kind="json", json_type="string")
]
AnyJson: TypeAlias = Annotated[Any, Param("Text or JSON.", kind="any", json_type="string")]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a tool, resolved from its annotation."""

    name: str
    type: Any
    meta: Param
    required: bool
    default: Any

    @cached_property
    def item(self) -> Parameter:
        """The elements of a list parameter."""
        inner, meta = _element(self.type)
        return Parameter(self.name, inner, meta, required=True, default=None)

    @property
    def description(self) -> str:
        """What help and docs say of it; a model is shown it unless it is `plain`."""
        return self.meta.description or (self.item.description if self.is_list else "")

    @cached_property
    def is_list(self) -> bool:
        """Whether the value is a list."""
        return get_origin(self.type) is list

    @cached_property
    def value(self) -> Parameter | None:
        """The values of an object whose type says of which they are; None for any others."""
        if get_origin(self.type) is not dict:
            return None
        hint = get_args(self.type)[1]
        inner, meta = unwrap(hint)
        if inner != hint and get_origin(hint) is not Annotated:
            return None  # one of several
        if inner in (Any, object, dict, list, tuple):
            return None
        if get_origin(inner) in (dict, tuple, Union, UnionType):
            return None
        return Parameter(self.name, inner, meta, required=True, default=None)

    @cached_property
    def choices(self) -> tuple[Any, ...]:
        """What a value may be where the type lists it: of a `Literal`, or of an `Enum`."""
        if get_origin(self.type) is Literal:
            return get_args(self.type)
        is_enum = isinstance(self.type, type) and issubclass(self.type, Enum)
        return tuple(member.value for member in self.type) if is_enum else ()

    @cached_property
    def kind(self) -> str:
        """`path`, `url`, `json` or nothing; a list has the kind of its elements."""
        return self.item.meta.kind if self.is_list else self.meta.kind

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of all values in it, also of those in the fields of records."""
        if self.is_list:
            return self.item.kinds
        if is_typeddict(self.type):
            return frozenset().union(*(field.kinds for field in record_fields(self.type)))
        return frozenset({self.meta.kind} - {""})

    def of_kind(self, kind: str, value: Any) -> Iterator[Any]:
        """The values of one kind in an argument for this parameter, wherever they stand in it."""
        if value is None or value == "":
            return
        if self.is_list:
            for item in value:
                yield from self.item.of_kind(kind, item)
        elif is_typeddict(self.type):
            for field in record_fields(self.type):
                yield from field.of_kind(kind, value.get(field.name))
        elif self.meta.kind == kind:
            yield value


@cache
def _element(annotation: Any) -> tuple[Any, Param]:
    return unwrap(get_args(annotation)[0])


def unwrap(annotation: Any) -> tuple[Any, Param]:
    """The bare type of an annotation, and all its `Param` marks folded into one."""
    meta = Param()
    if get_origin(annotation) is Annotated:
        annotation, *marks = get_args(annotation)
        for mark in marks:
            if isinstance(mark, Param):
                meta = meta.narrowed(mark)
    arguments = [a for a in get_args(annotation) if a is not type(None)]
    if len(arguments) == 1 and type(None) in get_args(annotation):
        inner, inner_meta = unwrap(arguments[0])
        return inner, inner_meta.narrowed(meta)
    return annotation, meta


def parameters_of(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The parameters a caller may give, in the order of the signature."""
    hints = get_type_hints(function, include_extras=True)
    found = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "ctx":
            continue
        if parameter.name not in hints:
            raise TypeError(f"{function.__name__}: parameter {parameter.name} has no type")
        kind, meta = unwrap(hints[parameter.name])
        if (kind is dict or get_origin(kind) is dict) and not meta.kind:
            meta = unwrap(JsonObject)[1].narrowed(meta)
        required = parameter.default is inspect.Parameter.empty
        default = None if required else parameter.default
        found.append(Parameter(parameter.name, kind, meta, required, default))
    return tuple(found)


JSON_FORMS = (
    "there are str, int, float, bool, Literal, an Enum of texts or whole numbers, a TypedDict, "
    "list[...] of these, and dict"
)
_JSON_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def schema_of(parameters: tuple[Parameter, ...]) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {p.name: _node(p) for p in parameters if not p.meta.unlisted},
    }
    required = [p.name for p in parameters if p.required]
    if required:
        schema["required"] = required
    return schema


def _node(parameter: Parameter) -> dict[str, Any]:
    kind, meta = parameter.type, parameter.meta
    node: dict[str, Any]
    if meta.json_type:
        node = {"type": meta.json_type}
    elif kind in _JSON_NAMES:
        node = {"type": _JSON_NAMES[kind]}
    elif get_origin(kind) is Literal:
        node = {"type": "string", "enum": list(parameter.choices)}
    elif types := {type(choice) for choice in parameter.choices} & {str, int}:
        if {type(choice) for choice in parameter.choices} != types or len(types) > 1:
            raise TypeError(f"parameter {parameter.name}: {kind!r} is not of texts or of numbers")
        node = {"type": _JSON_NAMES[types.pop()], "enum": list(parameter.choices)}
    elif parameter.is_list:
        item = _node(parameter.item)
        description = item.pop("description", "")
        node = {"type": "array", "items": item}
        if description and not meta.description:
            node["description"] = description
    elif is_typeddict(kind):
        node = _record(kind)
    else:
        raise TypeError(f"parameter {parameter.name}: {kind!r} has no JSON form; {JSON_FORMS}")
    if meta.description and not meta.plain:
        node["description"] = meta.description
    return node


def record_fields(kind: Any) -> tuple[Parameter, ...]:
    """The fields of a TypedDict as parameters."""
    hints: Mapping[str, Any] = get_type_hints(kind, include_extras=True)
    found = []
    for name, hint in hints.items():
        inner, meta = unwrap(hint)
        found.append(Parameter(name, inner, meta, name in kind.__required_keys__, None))
    return tuple(found)


def _record(kind: Any) -> dict[str, Any]:
    return schema_of(record_fields(kind))


class Right(Flag):
    """What a tool may do to the world; `ERASE`: delete what then cannot be brought back."""

    NONE = 0
    READ = auto()
    WRITE = auto()
    NET = auto()
    EXEC = auto()
    SEND = auto()
    MACHINE = auto()
    ERASE = auto()

    @property
    def names(self) -> list[str]:
        """The rights one by one, in lower case."""
        return [r.name.lower() for r in Right if r in self and r.name]


NONE, READ, WRITE, NET, EXEC, SEND, MACHINE, ERASE = (
    Right.NONE,
    Right.READ,
    Right.WRITE,
    Right.NET,
    Right.EXEC,
    Right.SEND,
    Right.MACHINE,
    Right.ERASE,
)

CHANGING = WRITE | EXEC | SEND | MACHINE | ERASE

Function = Callable[..., Awaitable[Result]]
EffectiveRights = Callable[[Mapping[str, Any]], Right]
"""Which rights a call with these arguments can use."""
PolicyCheck = Callable[[Mapping[str, Any], Any], Awaitable["Decision | None"]]
"""What a tool's own rules say of checked arguments and a `Ctx`; None is nothing."""
ArgumentAdapter = Callable[[dict[str, Any]], None]
"""Turns unchecked arguments of like tools elsewhere into those of a tool, in place.

The names come without case, dashes and underscores. What has no counterpart and changes
nothing is taken out; what asks for something else raises BadInput with what to do instead.
"""


@dataclass(frozen=True, eq=False)
class Tool:
    """A declared tool.

    `aliases` are other names of the tool, `argument_aliases` other names of its
    parameters, each with the right one; the tables of other systems have more (`compat`).
    `seconds` bounds the work itself, also after
    it went on as a job.
    """

    function: Function
    name: str
    group: str
    rights: Right
    keywords: tuple[str, ...]
    aliases: tuple[str, ...]
    argument_aliases: Mapping[str, str]
    profiles: tuple[str, ...]
    destructive: bool
    idempotent: bool
    seconds: float | None
    concurrency: int | None
    effective_rights: EffectiveRights | None = None
    policy_check: PolicyCheck | None = None
    argument_adapter: ArgumentAdapter | None = None

    @cached_property
    def may_use_fewer_rights(self) -> bool:
        """Whether a call may use fewer rights than the tool has."""
        return self.effective_rights is not None

    @cached_property
    def has_own_rules(self) -> bool:
        """Whether rules of its own go before `policy.default`."""
        return self.policy_check is not None

    def rights_for(self, arguments: Mapping[str, Any]) -> Right:
        """What a call with these checked arguments may do: the rights, or fewer."""
        return (
            self.rights & self.effective_rights(arguments) if self.effective_rights else self.rights
        )

    @property
    def all_aliases(self) -> tuple[str, ...]:
        """The other names of the tool, those of other systems included."""
        return (*self.aliases, *compat_tables().aliases.get(self.name, ()))

    @property
    def all_argument_aliases(self) -> Mapping[str, str]:
        """The other names of its parameters, those of other systems included."""
        return {**compat_tables().arguments.get(self.name, {}), **self.argument_aliases}

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """What a caller may give, in order."""
        return parameters_of(self.function)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of its parameters' values: each call asks for its paths and URLs."""
        return frozenset().union(*(parameter.kinds for parameter in self.parameters))

    @cached_property
    def argument_names(self) -> Mapping[str, str]:
        """The right name of each argument by its plain names, its own and other ones."""
        names = {plain(alias): name for alias, name in self.argument_aliases.items()}
        return names | {plain(p.name): p.name for p in self.parameters}

    @cached_property
    def parameter_of_others(self) -> str:
        """The parameter that holds arguments that have none of their own; empty without one."""
        return ""

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        return schema_of(self.parameters)

    @cached_property
    def unlisted_nodes(self) -> dict[str, Any]:
        """The schemas of parameters that hosts are not shown, for names of other systems."""
        return {p.name: _node(p) for p in self.parameters if p.meta.unlisted}

    @cached_property
    def parameter_texts(self) -> tuple[tuple[str, str], ...]:
        """The name and the description of each parameter, of those that are not listed too."""
        return tuple((p.name, p.meta.description) for p in self.parameters)

    @cached_property
    def paragraphs(self) -> list[str]:
        """The docstring, paragraph by paragraph."""
        return inspect.cleandoc(self.function.__doc__ or "").split("\n\n")

    @property
    def loaded(self) -> Tool:
        """The tool with all that it needs to run, where it was known by its catalogue alone."""
        return self

    @property
    def module(self) -> str:
        """The name of the module that declares it."""
        return self.function.__module__

    @property
    def source(self) -> str:
        """Whose words the texts about it are, where they come from outside; else empty."""
        return ""

    @property
    def original(self) -> str:
        """All that was said of it there, where here is only a part of that; else empty."""
        return ""

    @property
    def description(self) -> str:
        """The first line of the docstring: what a model reads."""
        return self.paragraphs[0].strip()

    @property
    def guidance(self) -> str:
        """The rest of the docstring: when to use the tool and when not."""
        return "\n\n".join(self.paragraphs[1:]).strip()

    @property
    def read_only(self) -> bool:
        """Whether nothing changes anywhere."""
        return not self.destructive and not self.rights & CHANGING

    @property
    def open_world(self) -> bool:
        """Whether the tool deals with things outside the machine."""
        return bool(self.rights & (NET | SEND))


class DeferredTool(Tool):
    """A tool that is described here and declared by another, `loaded`, which runs."""

    @property
    def function(self) -> Function:
        """What runs."""
        return self.loaded.function

    @property
    def effective_rights(self) -> EffectiveRights | None:
        """As declared."""
        return self.loaded.effective_rights

    @property
    def policy_check(self) -> PolicyCheck | None:
        """As declared."""
        return self.loaded.policy_check

    @property
    def argument_adapter(self) -> ArgumentAdapter | None:
        """As declared."""
        return self.loaded.argument_adapter


OWN_GROUP = "own"
"""The group of tools whose declaration names none: those of a program of the user's."""


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    group: str = OWN_GROUP,
    rights: Right = NONE,
    keywords: Sequence[str] = (),
    aliases: Sequence[str] = (),
    argument_aliases: Mapping[str, str] | None = None,
    profiles: Sequence[str] = (),
    destructive: bool = False,
    idempotent: bool = False,
    seconds: float | None = None,
    concurrency: int | None = None,
    effective_rights: EffectiveRights | None = None,
    policy_check: PolicyCheck | None = None,
    argument_adapter: ArgumentAdapter | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    group: str = OWN_GROUP,
    rights: Right = NONE,
    keywords: Sequence[str] = (),
    aliases: Sequence[str] = (),
    argument_aliases: Mapping[str, str] | None = None,
    profiles: Sequence[str] = (),
    destructive: bool = False,
    idempotent: bool = False,
    seconds: float | None = None,
    concurrency: int | None = None,
    effective_rights: EffectiveRights | None = None,
    policy_check: PolicyCheck | None = None,
    argument_adapter: ArgumentAdapter | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Declare a function as a tool: `@tool` as it is, or with what is to be said of it.

    The function may be async or not, take a `ctx` or not, and return a `Result`, text, or a
    JSON value. Its parameters have types, and its docstring says to a model what it does.

    Args:
        function: the function, where nothing is said of it.
        group: the group it belongs to, which is also a profile.
        rights: what it may do; policy and annotations follow from it.
        keywords: words people use for it that are not in its text.
        aliases: other names under which it is found.
        argument_aliases: other spellings of its parameters, each to the right one.
        profiles: profiles that show it, beside its group and `all`.
        destructive: whether it may destroy what was there.
        idempotent: whether a second equal call changes nothing more.
        seconds: the longest the work may take; None is the configured limit of a job.
        concurrency: how many calls of it may run at once; None is no limit of its own.
        effective_rights: tells from checked arguments which of the rights a call uses.
        policy_check: judges a call where rights do not tell; policy takes it beside its own.
        argument_adapter: understands what another name cannot say, as `view_range=[1, 9]`.

    Raises:
        TypeError: it is no function, has no docstring, or a parameter without a type.
    """

    def declare(function: Callable[..., Any]) -> Tool:
        if not inspect.isroutine(function):
            raise TypeError("@tool is for functions; write @tool, or @tool(group=..., ...)")
        if not function.__doc__:
            raise TypeError(f"{function.__name__}: a tool has a docstring, which a model reads")
        for parameter in inspect.signature(function).parameters.values():
            where = f"{function.__name__}: parameter {parameter.name}"
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise TypeError(f"{where} stands for many: a tool names each")
            if parameter.annotation is parameter.empty and parameter.name != "ctx":
                raise TypeError(f"{where} has no type")
        _check_types(function)
        return Tool(
            function=awaitable(function),
            name=function.__name__,
            group=group,
            rights=rights,
            keywords=tuple(keywords),
            aliases=tuple(aliases),
            argument_aliases=dict(argument_aliases or {}),
            profiles=tuple(profiles),
            destructive=destructive,
            idempotent=idempotent or not rights & CHANGING,
            seconds=seconds,
            concurrency=concurrency,
            effective_rights=effective_rights,
            policy_check=policy_check,
            argument_adapter=argument_adapter,
        )

    return declare if function is None else declare(function)


def other_names(**names: tuple[str, ...]) -> dict[str, str]:
    """The `argument_aliases` of a tool, from the other spellings of each of its parameters."""
    return {other: name for name, others in names.items() for other in others}


def _check_types(function: Callable[..., Any]) -> None:
    """Refuse parameters for which there is no schema, where they are declared.

    Raises:
        TypeError: it names the parameter.
    """
    try:
        for parameter in parameters_of(function):
            _node(parameter)
            if parameter.value is not None and not parameter.meta.check:
                _node(parameter.value)
    except NameError:
        return  # a type that is declared further below, which is looked up when it is needed
    except TypeError as error:
        text = str(error).removeprefix(f"{function.__name__}: ")
        raise TypeError(f"{function.__name__}: {text}") from None


# Allow, ask or deny: a pure decision from rules, rights and targets.

STRICTNESS: dict[Action, int] = {"allow": 0, "ask": 1, "deny": 2}
ASK_BY_DEFAULT = SEND | MACHINE | ERASE
EFFECTS = {
    "send": "send something out",
    "machine": "see or change this machine",
    "erase": "delete for good",
}
"""What a person is told that a call may do, by its right."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the policy says, and by which words. `explicit`: the user's own rule said it.

    `hosts` are those that a run of the call may reach: asked about once a conversation.
    `urls` are what the call opens beside the URLs that it was given, such as a remote of git.
    `is_local`: the URLs that the call was given are folders of the workspace, of no server.
    `site` is the origin of what is asked about, where it may be allowed for a conversation.
    `replaces`: it stands in the place of what is asked by rights where no rule says anything,
    such as a question that was answered for the whole conversation.
    `preview` is what the call would do, for the person who is asked: lines of text.
    `is_exact`: leave for other calls of the tool does not cover it, only for this very one.
    `is_taint`: injected text could carry private things out.
    `judged` names exactly what would be acted on, such as a commit. The tool finds it as
    `Ctx.judged` and acts on nothing else: a question may stand for long, and jobs go on.
    """

    action: Action
    reason: str
    explicit: bool = False
    hosts: tuple[str, ...] = ()
    replaces: bool = False
    urls: tuple[str, ...] = ()
    site: str = ""
    preview: str = ""
    is_exact: bool = False
    is_taint: bool = False
    judged: str = ""
    is_local: bool = False


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


def without_denied(policy: PolicyConfig, tools: Iterable[Tool]) -> list[Tool]:
    """The tools of which the policy does not deny each call, whatever it is given."""
    # Asked with each call of any tool: without a rule that denies there is nothing to look at.
    if policy.default != "deny" and all(rule.action != "deny" for rule in policy.rules):
        return list(tools)
    return [tool for tool in tools if not _is_never_allowed(policy, tool)]


def _is_never_allowed(policy: PolicyConfig, tool: Tool) -> bool:
    for rule in policy.rules:
        if not fits(rule.tool, tool.name) or not fits(rule.group, tool.group):
            continue
        if rule.rights and _is_about_others(rule, tool):
            continue
        if rule.action != "deny":
            return False
        if rule.target.strip("*") == "" and not (rule.rights and tool.may_use_fewer_rights):
            return True
    # A tool's own rules go before the default.
    return policy.default == "deny" and not tool.has_own_rules


def _is_about_others(rule: Rule, tool: Tool) -> bool:
    """Whether none of a rule's rights is one of the tool's, so that no call of it is meant."""
    return {name.lower() for name in rule.rights}.isdisjoint(tool.rights.names)


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
    if own.replaces and not own.explicit:
        return own
    return max(own, general, key=lambda d: STRICTNESS[d.action])


def _decide_one(policy: PolicyConfig, tool: Tool, target: str, rights: Right) -> Decision:
    for number, rule in enumerate(policy.rules, 1):
        if _matches(rule, tool, target, rights):
            return Decision(rule.action, f"rule {number} of policy.rules", explicit=True)
    if policy.default is not None:
        return Decision(policy.default, "policy.default")
    needs_approval = rights & ASK_BY_DEFAULT
    if needs_approval:
        effects = (EFFECTS[name] for name in needs_approval.names)
        return Decision("ask", f"it may {' and '.join(effects)}")
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
    needs_approval = (rights & ASK_BY_DEFAULT).names if rule.action == "allow" else []
    return not named.isdisjoint(rights.names) and named.issuperset(needs_approval)
