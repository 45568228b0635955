"""The configuration: one typed tree, read once and handed down as values.

Layers, each overriding the one before, field by field: the defaults below, the
user's file (TOML), environment variables (`TOOLCRIB_WEB__SEARCH__LIMIT=5`: two
underscores between levels, `a,b` or JSON for lists), flags or the constructor.
No file in a workspace is ever read. Secrets are named, never held: a field
`api_key_env` is the name of an environment variable.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import platformdirs
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveFloat,
    PositiveInt,
    PrivateAttr,
    ValidationError,
)

from toolcrib.core.errors import ConfigError, NotConfigured
from toolcrib.core.layers import explain, merge, read_environment, read_toml


def _split(value: Any) -> Any:
    """Accept "a, b" or one name a line where a list of names is wanted."""
    if isinstance(value, str):
        return [part.strip() for part in value.replace("\n", ",").split(",") if part.strip()]
    return value


Names = Annotated[list[str], BeforeValidator(_split)]
Action = Literal["allow", "ask", "deny"]


class Section(BaseModel):
    """A branch of the tree: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class WorkspaceConfig(Section):
    """Where files may be read and written."""

    roots: Annotated[
        Names, Field(description="Folders that tools may use; the first is the start.")
    ] = []
    protect_write: Annotated[
        Names, Field(description="More names that are never written, as globs.")
    ] = []
    protect_read: Annotated[
        Names, Field(description="More names that are never read, as globs.")
    ] = []
    unprotect: Annotated[
        Names, Field(description="Built-in protected globs to lift, written as listed.")
    ] = []


class Rule(Section):
    """One rule of the policy. Every field that is given must match; globs ignore case."""

    action: Annotated[Action, Field(description="allow, ask or deny.")]
    tool: Annotated[str, Field(description="Glob on the name of the tool.")] = "*"
    group: Annotated[str, Field(description="Glob on the group of the tool.")] = "*"
    rights: Annotated[
        Names, Field(description="The rule speaks of tools with any of these rights.")
    ] = []
    target: Annotated[str, Field(description="Glob on the path or URL of the call.")] = "*"


class PolicyConfig(Section):
    """Allow, ask or deny: the first rule that matches decides."""

    default: Annotated[
        Action | None,
        Field(description="For calls that no rule matches; unset: the built-in rules by rights."),
    ] = None
    rules: list[Rule] = []
    taint: Annotated[
        bool,
        Field(description="Ask before data can leave once untrusted and private text was read."),
    ] = True


class ToolsConfig(Section):
    """Which tools exist at all."""

    disabled: Annotated[Names, Field(description="Tools or groups switched off, as globs.")] = []


class EgressConfig(Section):
    """What the guarded network may reach, and how much it may bring."""

    allow_hosts: Annotated[
        Names,
        Field(description="Non-public hosts to open: `host`, `host:port` or `*.suffix`."),
    ] = []
    allow_networks: Annotated[
        Names, Field(description="Non-public networks to open, in CIDR notation.")
    ] = []
    deny_hosts: Annotated[
        Names, Field(description="Hosts never reached: host[:port], *.suffix, address, network.")
    ] = []
    allow_ports: Annotated[
        list[int], Field(description="Ports to open that are on the deny list.")
    ] = []
    proxy: Annotated[
        str, Field(description="Upstream HTTP or SOCKS proxy; the environment's is ignored.")
    ] = ""
    transport: Annotated[
        Literal["auto", "wreq", "aiohttp"],
        Field(description="auto: wreq where installed, else aiohttp."),
    ] = "auto"
    ca_file: Annotated[
        str, Field(description="PEM file of certificates to trust beside the system's.")
    ] = ""
    user_agent: Annotated[str, Field(description="Replaces the transport's own.")] = ""
    headers: Annotated[dict[str, str], Field(description="Added to every page request.")] = {}
    connect_timeout: Annotated[
        PositiveFloat, Field(description="Seconds that a connection may take.")
    ] = 10.0
    total_timeout: Annotated[
        PositiveFloat, Field(description="Seconds that a fetch may take, with its redirects.")
    ] = 30.0
    max_redirects: Annotated[
        int, Field(ge=0, le=20, description="Redirects that a fetch follows.")
    ] = 5
    max_wire_bytes: Annotated[PositiveInt, Field(description="Bytes of a body as it is sent.")] = (
        5_000_000
    )
    max_decoded_bytes: Annotated[
        PositiveInt, Field(description="Bytes of a body once it is decoded.")
    ] = 10_000_000
    max_header_bytes: Annotated[
        PositiveInt, Field(description="Bytes of all headers of an answer.")
    ] = 65_536
    max_codings: Annotated[
        PositiveInt, Field(description="Content codings that a body may have, one over another.")
    ] = 5
    max_ratio: Annotated[
        PositiveInt, Field(description="The most that a body may grow when it is decoded.")
    ] = 200
    allow_downgrade: Annotated[bool, Field(description="Follow a redirect from https to http.")] = (
        False
    )


class ProviderConfig(Section):
    """One search provider."""

    base_url: Annotated[str, Field(description="Another address of the same service.")] = ""
    api_key_env: Annotated[
        str, Field(description="Name of the environment variable that holds the key.")
    ] = ""


class SearchConfig(Section):
    """How `web_search` works."""

    providers: Annotated[Names, Field(description="The order in which providers are tried.")] = [
        "duckduckgo"
    ]
    limit: Annotated[int, Field(ge=1, le=50, description="Results a query.")] = 10
    cache_seconds: Annotated[
        int, Field(ge=0, description="Seconds for which results are kept; 0 keeps none.")
    ] = 900
    gap_seconds: Annotated[
        float, Field(ge=0, description="Seconds between two requests to one public provider.")
    ] = 2.0
    timeout: Annotated[
        PositiveFloat, Field(description="Seconds that a provider has for an answer.")
    ] = 15.0


class FetchConfig(Section):
    """How `fetch_url` works."""

    cache_seconds: Annotated[
        int, Field(ge=0, description="Seconds for which a page is kept; 0 keeps none.")
    ] = 600
    max_tokens: Annotated[
        int, Field(ge=100, description="Tokens of an answer that sets no budget.")
    ] = 4000
    concurrency: Annotated[
        PositiveInt, Field(description="Pages of one call that are fetched at the same time.")
    ] = 4
    allow_hosts: Annotated[Names, Field(description="Non-public hosts opened for pages only.")] = []
    allow_networks: Annotated[
        Names, Field(description="Non-public networks opened for pages only.")
    ] = []


class WebConfig(Section):
    """The web tools."""

    search: SearchConfig = SearchConfig()
    fetch: FetchConfig = FetchConfig()
    providers: dict[str, ProviderConfig] = {}


class LimitsConfig(Section):
    """How much may run at once, and for how long."""

    concurrency: Annotated[PositiveInt, Field(description="Calls that run at the same time.")] = 16
    waiting: Annotated[PositiveInt, Field(description="Calls that wait for a place.")] = 64
    answer_within: Annotated[
        PositiveFloat,
        Field(description="Seconds after which a call goes on as a job; clients cut at 60."),
    ] = 45.0
    max_argument_chars: Annotated[
        PositiveInt, Field(description="Characters of all arguments of a call.")
    ] = 2_000_000
    job_seconds: Annotated[PositiveFloat, Field(description="Seconds that a job may run.")] = 3600.0


class ResultsConfig(Section):
    """How long an answer may be, in tokens."""

    max_tokens: Annotated[int, Field(ge=100, description="Tokens of an answer.")] = 4000
    ceiling: Annotated[
        int, Field(ge=100, description="Tokens that an argument may ask for at most.")
    ] = 25_000
    per_tool: Annotated[
        dict[str, PositiveInt], Field(description="Tokens of an answer, by tool.")
    ] = {}
    keep_seconds: Annotated[
        PositiveInt, Field(description="Seconds for which the rest stays readable.")
    ] = 86_400


class HistoryConfig(Section):
    """The record of every call."""

    enabled: Annotated[bool, Field(description="Whether calls are recorded.")] = True
    keep: Annotated[PositiveInt, Field(description="Calls kept.")] = 20_000
    argument_chars: Annotated[
        PositiveInt, Field(description="Characters of each argument that are kept.")
    ] = 400


class StoreConfig(Section):
    """Where state is kept."""

    url: Annotated[str, Field(description="`sqlite:///path`; empty: the user's data folder.")] = ""
    cache_bytes: Annotated[
        PositiveInt, Field(description="Bytes of the cache in all, compressed.")
    ] = 64_000_000


class HttpConfig(Section):
    """`toolcrib serve`."""

    host: Annotated[str, Field(description="Address to listen on.")] = "127.0.0.1"
    port: Annotated[
        int, Field(ge=0, le=65_535, description="Port to listen on; 0 takes a free one.")
    ] = 8722
    token_env: Annotated[
        str, Field(description="Name of the environment variable that holds the bearer token.")
    ] = "TOOLCRIB_TOKEN"  # noqa: S105 - a name, not a secret
    allow_origins: Annotated[
        Names, Field(description="Browser origins that may call, for CORS; never `*`.")
    ] = []
    allow_hosts: Annotated[
        Names, Field(description="More names under which clients reach this server.")
    ] = []
    stateless: Annotated[
        bool, Field(description="Keep no MCP sessions; each request stands alone.")
    ] = False


class Config(Section):
    """The whole tree."""

    profile: Annotated[
        str, Field(description="Which tools are shown: profiles, groups, tools, joined by commas.")
    ] = "default"
    workspace: WorkspaceConfig = WorkspaceConfig()
    policy: PolicyConfig = PolicyConfig()
    tools: ToolsConfig = ToolsConfig()
    egress: EgressConfig = EgressConfig()
    web: WebConfig = WebConfig()
    limits: LimitsConfig = LimitsConfig()
    results: ResultsConfig = ResultsConfig()
    history: HistoryConfig = HistoryConfig()
    store: StoreConfig = StoreConfig()
    http: HttpConfig = HttpConfig()
    _file: Path | None = PrivateAttr(None)

    @property
    def file(self) -> Path | None:
        """The file that it was read from, or would have been; None if it was made by hand."""
        return self._file

    @classmethod
    def load(
        cls,
        overrides: Mapping[str, Any] | None = None,
        path: Path | str | None = None,
    ) -> Self:
        """Read all layers.

        Args:
            overrides: a dict of the tree's shape that wins over everything.
            path: the file to read instead of the user's own.

        Raises:
            ConfigError: a file that cannot be read, an unknown key, a wrong value.
        """
        file = Path(path).expanduser() if path else user_config_file()
        if path and not file.is_file():
            raise ConfigError(f"The configuration file {file} does not exist.")
        merged: dict[str, Any] = {}
        for layer in (
            read_toml(file) if file.is_file() else {},
            read_environment(os.environ, cls),
            overrides or {},
        ):
            merged = merge(merged, layer)
        try:
            tree = cls.model_validate(merged)
        except ValidationError as error:
            raise explain(error, cls, file) from None
        tree._file = file  # noqa: SLF001 - its own
        return tree


def user_config_file() -> Path:
    """The user's own configuration file; `TOOLCRIB_CONFIG` names another."""
    named = os.environ.get("TOOLCRIB_CONFIG")
    if named:
        return Path(named).expanduser()
    return Path(platformdirs.user_config_dir("toolcrib", appauthor=False)) / "config.toml"


def data_folder() -> Path:
    """Where the store and other state live; `TOOLCRIB_DATA` names another place."""
    named = os.environ.get("TOOLCRIB_DATA")
    if named:
        return Path(named).expanduser()
    return Path(platformdirs.user_data_dir("toolcrib", appauthor=False))


def store_file(url: str) -> Path | None:
    """The file of a `store.url`: `sqlite:///relative`, `sqlite:////absolute`, `sqlite://`.

    An empty URL is the user's data folder; `sqlite://` alone is a store in memory.

    Raises:
        ConfigError: another scheme.
    """
    if not url:
        return data_folder() / "toolcrib.db"
    scheme, _, rest = url.partition("://")
    if scheme != "sqlite" or (rest and not rest.startswith("/")):
        raise ConfigError(
            f"store.url is not understood: {url.partition('@')[0][:80]}.",
            hint="Write sqlite:///path, with four slashes for an absolute path.",
        )
    return Path(rest[1:]).expanduser() if rest.strip("/") else None


def secret(env_name: str, needed_for: str) -> str:
    """The value behind a configured name.

    Raises:
        NotConfigured: no name was configured, or the variable is unset or empty.
    """
    if not env_name:
        raise NotConfigured(
            f"{needed_for} needs a key and none is configured.",
            hint="Name the environment variable that holds it (api_key_env), never the key.",
        )
    value = os.environ.get(env_name)
    if value is None:
        raise NotConfigured(
            f"{needed_for} takes its key from {env_name}, which is not set.",
            hint=f"Set {env_name} in the environment of toolcrib and start it again.",
        )
    if not value.strip():
        raise NotConfigured(
            f"{needed_for} takes its key from {env_name}, which is empty.",
            hint=f"Put the key into {env_name} and start toolcrib again.",
        )
    return value.strip()


def environment(allowed: Iterable[str]) -> dict[str, str]:
    """The variables of this process whose names fit one of the globs, for its children."""
    globs = tuple(allowed)
    return {n: v for n, v in os.environ.items() if any(fnmatchcase(n, glob) for glob in globs)}
