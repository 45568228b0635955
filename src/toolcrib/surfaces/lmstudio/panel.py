"""The settings panel that LM Studio shows for the plugin: its fields, and what they set.

The fields have the names of the systems that people come from. A field shows what the user's
own configuration says, and sets something only where it was moved; 0 and Auto set nothing, and
the model decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from toolcrib.core.config import Config, hold_secret, merge, nested
from toolcrib.core.languages import label, translated
from toolcrib.core.package_data import package_table
from toolcrib.system.language import chosen_language

Kind = Literal["boolean", "numeric", "string", "select"]
Values = Mapping[str, Any]
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class PanelField:
    """One field.

    Attributes:
        key: its name, as the systems have it.
        title: as a person reads it.
        kind: the kind of its value.
        hint: what it does.
        setting: the setting that it sets, by its dotted name; "" for what the hooks read.
        default: where there is no setting, or the configuration says nothing.
        is_own_default: the default holds whatever the configuration says.
        bounds: the least and the largest number, and the step.
        options: values with their titles, for a select.
        needs: the switch, or the field with its value, without which it is hidden.
        pins: an argument of a tool that the model can then no longer choose.
        times: what a number is multiplied by for the setting.
        is_auto: 0 or Auto leaves it to the model.
        is_secret: it is shown as dots.
    """

    key: str
    title: str
    kind: Kind = "boolean"
    hint: str = ""
    setting: str = ""
    default: Any = None
    bounds: Sequence[float] = (0, 0, 1)
    options: Mapping[str, str] | None = None
    needs: Sequence[Any] = ()
    pins: str = ""
    times: float = 1
    is_own_default: bool = False
    is_auto: bool = False
    is_secret: bool = False


FIELDS = tuple(
    PanelField(**entry) for entry in package_table("surfaces/lmstudio/panel.toml")["field"]
)
"""What each chat can set."""

SECRETS = {
    "braveApiKey": ("Key of Brave Search", "brave"),
    "tavilyApiKey": ("Key of Tavily", "tavily"),
    "exaApiKey": ("Key of Exa", "exa"),
}
GLOBAL_FIELDS: tuple[PanelField, ...] = (
    PanelField(
        "workspaceFolder",
        "Folder that the model may work in",
        "string",
        "Empty: the configured one, else the folder of the chat.",
        default="",
    ),
    *(
        PanelField(key, title, "string", "Kept by LM Studio.", default="", is_secret=True)
        for key, (title, _) in SECRETS.items()
    ),
)
"""What is the same in all chats."""


class Panel:
    """The panel of one configuration.

    Args:
        config: as the user has it without the panel.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self.language = chosen_language(config.language)
        self._defaults = {f.key: self._default(f) for f in (*FIELDS, *GLOBAL_FIELDS)}

    def schematics(self) -> dict[str, Any]:
        """The fields of each chat, as LM Studio wants them described."""
        return {"fields": [self._described(field) for field in FIELDS]}

    def global_schematics(self) -> dict[str, Any]:
        """The fields of all chats."""
        return {"fields": [self._described(field) for field in GLOBAL_FIELDS]}

    def values(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """What a message of LM Studio's says of the panel; what is missing or wrong is default."""
        found = dict(self._defaults)
        for fields, name in ((FIELDS, "pluginConfig"), (GLOBAL_FIELDS, "globalPluginConfig")):
            given = _pairs(message.get(name))
            for field in fields:
                if field.key in given and self._fits(field, given[field.key]):
                    found[field.key] = given[field.key]
        return found

    def layer(self, values: Values) -> dict[str, Any]:
        """The settings that the panel makes, over all others."""
        layer: dict[str, Any] = {}
        for field in (*FIELDS, *GLOBAL_FIELDS):
            value = values[field.key]
            if field.setting and self._sets(field, value):
                layer = merge(layer, _setting(field, value))
        if values["hostConfirms"]:
            layer = merge(layer, {"policy": {"ask": "host"}})
        if values["workspaceFolder"]:
            layer = merge(layer, {"workspace": {"roots": [values["workspaceFolder"]]}})
        return merge(layer, self._keys(values))

    def _keys(self, values: Values) -> dict[str, Any]:
        """Keys of search providers: held by name, and their providers asked first."""
        given = {provider: values[key] for key, (_, provider) in SECRETS.items() if values[key]}
        if not given:
            return {}
        for provider, key in given.items():
            hold_secret(_variable(provider), key)
        known = self._config.web.search.providers
        return {
            "web": {
                "providers": {p: {"api_key_env": _variable(p)} for p in given},
                "search": {"providers": [*given, *(p for p in known if p not in given)]},
            }
        }

    def _default(self, field: PanelField) -> Any:
        configured = self._configured(field)
        if field.is_auto or field.is_own_default or not field.setting:
            return field.default
        if field.default is not None and configured is None:
            return field.default
        return configured

    def _sets(self, field: PanelField, value: Any) -> bool:
        """Whether a value differs from what the configuration says anyway."""
        if field.is_auto:
            return value not in (0, AUTO)
        configured = self._configured(field)
        if configured is None:  # a switch: on is how the profile shows it
            return bool(value) != field.default or not value
        return bool(value != configured)

    def _configured(self, field: PanelField) -> Any:
        branch: Any = self._config
        for name in field.setting.split(".") if field.setting else ():
            branch = getattr(branch, name)
        return branch if field.setting else None

    def _fits(self, field: PanelField, value: Any) -> bool:
        if field.kind == "boolean":
            return isinstance(value, bool)
        if field.kind == "numeric":
            return isinstance(value, int | float) and not isinstance(value, bool)
        if field.kind == "select":
            return isinstance(value, str) and value in self._options(field)
        return isinstance(value, str)

    def _options(self, field: PanelField) -> dict[str, str]:
        """The values of a select with their titles; what is configured is one of them."""
        default = str(self._defaults[field.key])
        configured = label("as_configured", self.language, value=default)
        options = {
            value: self._text(field, title, "options", value)
            for value, title in (field.options or {}).items()
        }
        return {default: configured, **options}

    def _text(self, field: PanelField, english: str, *keys: str) -> str:
        """What a person reads of a field, in their language."""
        return translated(english, self.language, "panel", field.key, *keys)

    def _described(self, field: PanelField) -> dict[str, Any]:
        about: dict[str, Any] = {"displayName": self._text(field, field.title, "title")}
        if field.hint:
            about["hint"] = self._text(field, field.hint, "hint")
        if field.kind == "numeric":
            low, high, step = field.bounds
            is_whole = float(step).is_integer()
            about |= {"min": low, "max": high, "step": step}
            about |= {"int": True} if is_whole else {"precision": 2}
            about["slider"] = {"min": low, "max": high, "step": step}
        elif field.kind == "select":
            about["options"] = [
                {"value": v, "displayName": t} for v, t in self._options(field).items()
            ]
        elif field.is_secret:
            about["isProtected"] = True
        if field.needs:
            key, value = field.needs
            about["dependencies"] = [{"key": key, "condition": {"type": "equals", "value": value}}]
        return {
            "shortKey": field.key,
            "fullKey": field.key,
            "typeKey": field.kind,
            "typeParams": about,
            "defaultValue": self._defaults[field.key],
        }


def stages_of(values: Values) -> list[str]:
    """The stages of a prompt that the panel has on."""
    hints = any(values[key] != "never" for key in ("subAgentFrequency", "planMode"))
    wanted = {
        "tracking": values["autoTrackPrompt"],
        "first_turn": values["resumeSession"],
        "attachments": values["documentRAG"],
        "projects": values["projectSwitch"],
        "paths": values["projectSwitch"],
        "documents": values["documentRAG"],
        "memory": values["memory"],
        "hints": hints,
        "clock": values["temporalAwareness"],
        "capture": values["autoCapture"],
        "guard": values["contextGuardEnabled"],
    }
    return [name for name, on in wanted.items() if on]


def _setting(field: PanelField, value: Any) -> dict[str, Any]:
    """What a field sets, and what it pins."""
    if field.kind == "numeric":
        low, high, step = field.bounds
        least = step if field.is_auto else low  # what stands between 0 and a step is the step
        value = min(max(value, least), high) * field.times
        value = int(value) if float(step).is_integer() else value
    tree = nested(field.setting.split("."), value)
    if not field.pins:
        return tree
    tool, argument = field.pins.split(".")
    return merge(tree, {"pin": {tool: {argument: value}}})


def _variable(provider: str) -> str:
    return f"lmstudio-panel:{provider}"


def _pairs(config: Any) -> dict[str, Any]:
    """The keys and values of `{"fields": [{"key": …, "value": …}]}`."""
    fields = config.get("fields") if isinstance(config, Mapping) else None
    listed: Sequence[Any] = fields if isinstance(fields, list) else ()
    return {
        str(one["key"]): one["value"]
        for one in listed
        if isinstance(one, Mapping) and "key" in one and "value" in one
    }
