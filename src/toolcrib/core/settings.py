"""The branches of the configuration: one class each, with what every field means."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PositiveFloat, PositiveInt


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
    refuse_binary: Annotated[
        bool, Field(description="Refuse to read files that are not text as if they were.")
    ] = True


class Rule(Section):
    """One rule of the policy. Every field that is given must match; globs ignore case."""

    action: Annotated[Action, Field(description="allow, ask or deny.")]
    tool: Annotated[str, Field(description="Glob on the name of the tool.")] = "*"
    group: Annotated[str, Field(description="Glob on the group of the tool.")] = "*"
    rights: Annotated[
        Names,
        Field(
            description="For calls with any of these rights; allow needs to name each of send, "
            "machine and erase that is used."
        ),
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


class RetryConfig(Section):
    """When and how often a failed fetch is tried again."""

    retries: Annotated[int, Field(ge=0, le=4, description="Further tries of one fetch.")] = 2
    initial_seconds: Annotated[
        float, Field(ge=0, le=30, description="Wait before the first; it doubles each time.")
    ] = 1.0
    max_seconds: Annotated[
        float, Field(ge=0, le=300, description="The longest wait, also where a server names one.")
    ] = 30.0


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
    browser: Annotated[
        Literal["chrome", "edge", "firefox", "opera", "safari"],
        Field(description="What wreq looks like to servers: the newest version that it knows."),
    ] = "chrome"
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
    retry: RetryConfig = RetryConfig()


class DocumentsConfig(Section):
    """The reader of documents: PDF, office files, books, mail."""

    ocr: Annotated[
        Literal["off", "tesseract"],
        Field(description="tesseract: read scanned pages and images by that program."),
    ] = "off"
    ocr_language: Annotated[
        str, Field(description="Languages of tesseract, as `eng` or `deu+eng`.")
    ] = "eng"
    ocr_pages: Annotated[
        int, Field(ge=1, le=1000, description="Scanned pages of a document that are read at most.")
    ] = 20
    max_bytes: Annotated[PositiveInt, Field(description="Bytes of a document.")] = 50_000_000


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


class UndoConfig(Section):
    """What is kept so that changes of files can be taken back."""

    keep_bytes: Annotated[
        PositiveInt, Field(description="Bytes of kept contents in all, compressed.")
    ] = 1_000_000_000
    keep_days: Annotated[PositiveFloat, Field(description="Days for which a step is kept.")] = 30.0
    max_file_bytes: Annotated[
        PositiveInt, Field(description="Bytes of the largest file that is kept.")
    ] = 100_000_000
    max_entries: Annotated[
        PositiveInt, Field(description="Files and folders of a tree that is moved or deleted.")
    ] = 100_000


class BackupConfig(Section):
    """Backups of whole trees."""

    folder: Annotated[
        str, Field(description="Where they are kept; empty: toolcrib's data folder.")
    ] = ""
    max_bytes: Annotated[
        PositiveInt, Field(description="Bytes of the files of one backup, not compressed.")
    ] = 5_000_000_000


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
