"""The branches of the configuration: one class each, with what every field means."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from toolcrib.core.command_prefixes import wrong_example


def _split(value: Any) -> Any:
    """Accept "a, b" or one name a line where a list of names is wanted."""
    if isinstance(value, str):
        return [part.strip() for part in value.replace("\n", ",").split(",") if part.strip()]
    return value


Names = Annotated[list[str], BeforeValidator(_split)]
Action = Literal["allow", "ask", "deny"]


class Section(BaseModel):
    """A branch of the tree: frozen, and an unknown key is an error.

    What checks its values is built when something of it is set. To build it for all branches
    takes longer than anything else of a start, so defaults are constructed and not checked.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


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
    smart_reading: Annotated[
        bool, Field(description="Show of a long file what the last message is about, or its ends.")
    ] = False


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
    ask: Annotated[
        Literal["toolcrib", "host"],
        Field(
            description="Who asks the user. host: over MCP and in LM Studio nothing is asked, "
            "since the host asks before each call."
        ),
    ] = "toolcrib"
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
    schemes: Annotated[
        Annotated[list[Literal["http", "https"]], BeforeValidator(_split)],
        Field(description="Schemes of URLs; https alone refuses plain http."),
    ] = ["http", "https"]
    only_hosts: Annotated[
        Names, Field(description="If any: no other hosts are reached. Forms as deny_hosts.")
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
    retry: RetryConfig = RetryConfig.model_construct()


class LimitsConfig(Section):
    """How much may run at once, and for how long."""

    concurrency: Annotated[PositiveInt, Field(description="Calls that run at the same time.")] = 16
    waiting: Annotated[PositiveInt, Field(description="Calls that wait for a place.")] = 1000
    answer_within: Annotated[
        PositiveFloat,
        Field(description="Seconds after which a call goes on as a job; clients cut at 60."),
    ] = 45.0
    max_argument_chars: Annotated[
        PositiveInt, Field(description="Characters of all arguments of a call.")
    ] = 2_000_000
    repeats: Annotated[
        int,
        Field(ge=0, description="Equal calls and results in a row that are told; 0: none."),
    ] = 3
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
    access_log: Annotated[
        bool, Field(description="A line on stderr for each request: time, address, path, status.")
    ] = True


class CommandRule(Section):
    """A rule for commands that begin with these words; of several that match, the strictest."""

    pattern: Annotated[
        list[str | list[str]],
        Field(min_length=1, description="The first words; a list in it is any of its words."),
    ]
    action: Annotated[Action, Field(description="allow, ask or deny.")]
    match: Annotated[
        list[str], Field(description="Commands that it must match, checked when it is read.")
    ] = []
    not_match: Annotated[list[str], Field(description="Commands that it must not match.")] = []

    @model_validator(mode="after")
    def _is_as_its_examples_say(self) -> Self:
        wrong = wrong_example(self.pattern, self.match, self.not_match)
        if wrong is not None:
            raise ValueError(f"the example '{wrong[0]}' {wrong[1]}")
        return self


class RunLimits(Section):
    """What one run may use; megabytes are of 1,000,000 bytes."""

    memory_mb: Annotated[
        PositiveInt, Field(description="Memory of all processes of a run together.")
    ] = 2_000
    cpu_seconds: Annotated[
        PositiveFloat, Field(description="CPU time of one process of a run.")
    ] = 3_600.0
    processes: Annotated[PositiveInt, Field(description="Processes and threads of a run.")] = 512
    file_mb: Annotated[PositiveInt, Field(description="Size of one file that a run writes.")] = (
        1_000
    )
    disk_mb: Annotated[PositiveInt, Field(description="All that a run writes to disk.")] = 2_000
    output_mb: Annotated[
        PositiveInt, Field(description="Output after which a run in the foreground is stopped.")
    ] = 100
    open_files: Annotated[PositiveInt, Field(description="Open files of one process.")] = 4_096


class RunConfig(Section):
    """How code runs, and behind which boundary."""

    level: Annotated[
        Literal["auto", "strong", "kernel", "none"],
        Field(description="auto: the strongest that works; none: no boundary at all."),
    ] = "auto"
    commit: Annotated[
        Literal["auto", "ask", "never"],
        Field(
            description="What happens to changed files; a call can only be stricter. ask: held "
            "until the user makes them, never: dropped."
        ),
    ] = "auto"
    short_output: Annotated[
        int,
        Field(
            ge=0,
            le=20_000,
            description="Characters of output beyond which its first and last 5 lines and its "
            "errors are shown, the rest by read_more; 0: only what has no room is left out.",
        ),
    ] = 0
    python: Annotated[
        str, Field(description="Interpreter of run_python; else the workspace's .venv, else ours.")
    ] = ""
    javascript: Annotated[
        Literal["auto", "deno", "node", "quickjs"],
        Field(description="Engine of run_javascript; auto: deno, else node, else quickjs."),
    ] = "auto"
    network: Annotated[
        Names, Field(description="Hosts that runs may reach, through the guard: host or *.suffix.")
    ] = []
    packages: Annotated[
        bool, Field(description="Offer manage_packages, which installs into projects.")
    ] = False
    readable: Annotated[
        Names, Field(description="More folders that runs may read, such as toolchains.")
    ] = []
    environment: Annotated[
        Names, Field(description="Names of variables that runs may see, beside PATH, LANG and TZ.")
    ] = []
    rules: Annotated[
        list[CommandRule],
        Field(
            description="Commands allowed, asked about or denied: advice beside the boundary, for "
            "a program can start others."
        ),
    ] = []
    pending_hours: Annotated[
        PositiveFloat, Field(description="Hours for which held changes of a run are kept.")
    ] = 24.0
    pending_mb: Annotated[
        PositiveInt, Field(description="Megabytes of all held changes; the oldest go first.")
    ] = 4_000
    limits: RunLimits = RunLimits.model_construct()


class GitConfig(Section):
    """The git tools."""

    trusted: Annotated[
        Names,
        Field(
            description="Repositories, by path, that git uses as they are: their hooks, filters "
            "and signing run, in the sandbox where one holds."
        ),
    ] = []
    local_remotes: Annotated[
        Names,
        Field(description="Folders outside of the workspace that may be remotes and alternates."),
    ] = []
    protected: Annotated[
        Names,
        Field(
            description="Branches never deleted or forced on a remote, as globs; HEAD is the "
            "remote's default branch."
        ),
    ] = ["HEAD", "release/*"]
    default_branch: Annotated[
        str, Field(description="Of git_init; empty: the user's init.defaultBranch, else main.")
    ] = ""
    auto_commit: Annotated[
        bool, Field(description="Commit what a call changed in a clean repository; never pushed.")
    ] = False
    max_transfer_mb: Annotated[
        PositiveInt, Field(description="Megabytes that one fetch, pull or clone may bring.")
    ] = 4_000


class GitHubConfig(Section):
    """The tools for GitHub, GitHub Enterprise, Gitea and Forgejo."""

    base_url: Annotated[
        str,
        Field(
            description="Address of the API: https://HOST/api/v3 of an Enterprise server, "
            "https://HOST/api/v1 of Gitea or Forgejo."
        ),
    ] = "https://api.github.com"
    token_env: Annotated[
        str,
        Field(
            description="Environment variable that holds the token for base_url; empty: "
            "GITHUB_TOKEN or GH_TOKEN for GitHub itself, else the login of an installed gh."
        ),
    ] = ""
    repository: Annotated[
        str, Field(description="OWNER/NAME for calls that name none, outside of a clone.")
    ] = ""
    repositories: Annotated[
        Names,
        Field(description="If any: only these are read and written; OWNER/NAME, as globs."),
    ] = []
    read_only: Annotated[bool, Field(description="github_write is refused.")] = False
    lockdown: Annotated[
        bool,
        Field(
            description="Show only texts of people who may push to the repository; those of "
            "others, such as issues of passers-by, are left out."
        ),
    ] = False


# The branch `web` of the configuration.


class BrowserSecretConfig(Section):
    """A value that is typed for the model as `secret:NAME`, and never shown to it."""

    env: Annotated[str, Field(description="Environment variable that holds it.")]
    origins: Annotated[
        Names, Field(description="Origins whose fields may get it, such as https://example.com.")
    ]


class BrowserConfig(Section):
    """The browser that pages are opened in."""

    executable: Annotated[
        str, Field(description="Chromium, Chrome or Edge; empty: the one that is found.")
    ] = ""
    cdp_url: Annotated[
        str,
        Field(description="A browser that runs already, such as http://127.0.0.1:9222."),
    ] = ""
    headless: Annotated[
        bool | None, Field(description="Show no window; unset: where there is no screen.")
    ] = None
    timeout: Annotated[
        float, Field(ge=1, le=30, description="Seconds for one step, such as a page to answer.")
    ] = 5.0
    profile: Annotated[
        Literal["none", "workspace"],
        Field(description="Start with the logins of `toolcrib browser login`, or with none."),
    ] = "none"
    idle_seconds: Annotated[
        PositiveFloat, Field(description="Unused for so long, pages and browser are closed.")
    ] = 300.0
    memory_mb: Annotated[PositiveInt, Field(description="A browser that uses more is ended.")] = (
        3_000
    )
    snapshot_chars: Annotated[
        int, Field(ge=1_000, le=100_000, description="Characters of a snapshot.")
    ] = 8_000
    evaluate: Annotated[
        bool, Field(description="Allow the step evaluate, which runs a script in the page.")
    ] = False
    secrets: Annotated[
        dict[str, BrowserSecretConfig], Field(description="Values for `secret:NAME`, by name.")
    ] = {}


class ProviderConfig(Section):
    """One search provider."""

    base_url: Annotated[str, Field(description="Another address of the same service.")] = ""
    api_key_env: Annotated[
        str,
        Field(description="Environment variable that holds the key, instead of the usual one."),
    ] = ""
    timeout: Annotated[
        float, Field(ge=0, description="Seconds that it has for an answer; 0: web.search.timeout.")
    ] = 0.0


class SearchConfig(Section):
    """How `web_search` works."""

    providers: Annotated[Names, Field(description="The order in which providers are tried.")] = [
        "duckduckgo",
        "brave_html",
        "mojeek",
        "bing",
        "startpage",
        "yahoo",
    ]
    at_once: Annotated[
        int,
        Field(ge=1, le=10, description="Providers asked together; their results are fused."),
    ] = 1
    limit: Annotated[int, Field(ge=1, le=50, description="Results a query.")] = 10
    snippets: Annotated[bool, Field(description="Give each result's snippet.")] = True
    max_chars: Annotated[
        int, Field(ge=0, le=50_000, description="Characters of each text; 0: as they come.")
    ] = 0
    enrich: Annotated[
        bool, Field(description="Open each result for its date, type and description.")
    ] = False
    safe_search: Annotated[
        Literal["strict", "moderate", "off"], Field(description="Where the call says nothing.")
    ] = "moderate"
    region: Annotated[
        str, Field(description="Language and country of results, like de-DE; empty: any.")
    ] = ""
    concurrency: Annotated[
        PositiveInt, Field(description="Queries of one call that are asked at the same time.")
    ] = 3
    cache_seconds: Annotated[
        int, Field(ge=0, description="Seconds for which results are kept; 0 keeps none.")
    ] = 900
    cache_entries: Annotated[PositiveInt, Field(description="Pages of results kept.")] = 100
    gap_seconds: Annotated[
        float, Field(ge=0, description="Seconds between two requests to one public provider.")
    ] = 5.0
    timeout: Annotated[
        PositiveFloat, Field(description="Seconds that a provider has for an answer.")
    ] = 15.0
    cooldown_seconds: Annotated[
        float,
        Field(ge=0, description="Rest of a provider that refused; doubles each time. 0: none."),
    ] = 60.0
    max_cooldown_seconds: Annotated[PositiveFloat, Field(description="The longest such rest.")] = (
        3600.0
    )


class FetchConfig(Section):
    """How pages are read, by every tool that opens one."""

    cache_seconds: Annotated[
        int, Field(ge=0, description="Seconds for which a page is kept; 0 keeps none.")
    ] = 600
    cache_entries: Annotated[PositiveInt, Field(description="Pages kept.")] = 50
    max_tokens: Annotated[
        int, Field(ge=100, description="Tokens of an answer that sets no budget.")
    ] = 4000
    ceiling: Annotated[
        int, Field(ge=0, description="Tokens that a call may ask for; 0: results.ceiling.")
    ] = 0
    format: Annotated[
        Literal["markdown", "text"], Field(description="Form of pages where the call says nothing.")
    ] = "markdown"
    max_bytes: Annotated[
        PositiveInt, Field(description="Bytes of a page, as sent and decoded.")
    ] = 5_000_000
    timeout: Annotated[
        PositiveFloat,
        Field(description="Seconds that a page may take; at most egress.total_timeout."),
    ] = 20.0
    concurrency: Annotated[
        PositiveInt, Field(description="Pages of one call that are fetched at the same time.")
    ] = 8
    host_concurrency: Annotated[
        PositiveInt, Field(description="Requests to one host at the same time.")
    ] = 2
    host_gap_seconds: Annotated[
        float, Field(ge=0, description="Seconds between two requests to one host.")
    ] = 0.25
    robots: Annotated[bool, Field(description="Obey robots.txt.")] = False
    links: Annotated[
        int, Field(ge=0, le=200, description="Links listed of a page, where they are asked for.")
    ] = 40
    whole: Annotated[
        bool, Field(description="Read whole pages, where it would be their main content.")
    ] = False
    render: Annotated[
        Literal["auto", "never", "always"],
        Field(
            description="Read pages in a browser: where scripts make all of the text, or always."
        ),
    ] = "auto"
    neutralize: Annotated[
        bool,
        Field(description="Show links and images of pages without what could carry data out."),
    ] = False
    allow_hosts: Annotated[
        Names,
        Field(description="Non-public hosts for pages, images, http_request, OpenAPI alone."),
    ] = []
    allow_networks: Annotated[
        Names,
        Field(description="Non-public networks for pages, images, http_request, OpenAPI alone."),
    ] = []


class ImagesConfig(Section):
    """How images are searched and saved."""

    providers: Annotated[Names, Field(description="The order in which providers are tried.")] = [
        "bing_images",
        "duckduckgo_images",
    ]
    limit: Annotated[int, Field(ge=1, le=35, description="Images that a search gives.")] = 10
    save_limit: Annotated[
        int, Field(ge=1, le=200, description="Images saved where the call says nothing.")
    ] = 10
    folder: Annotated[str, Field(description="Folder of the workspace for saved images.")] = (
        "images"
    )
    max_bytes: Annotated[PositiveInt, Field(description="Bytes of one image.")] = 10_000_000
    timeout: Annotated[PositiveFloat, Field(description="Seconds for one image.")] = 10.0
    concurrency: Annotated[PositiveInt, Field(description="Images fetched at the same time.")] = 6


class ResearchConfig(Section):
    """How `web_research` and `ask_url` work."""

    pages: Annotated[int, Field(ge=1, le=20, description="Pages read for a question.")] = 6
    max_tokens: Annotated[
        int, Field(ge=200, description="Tokens of an answer that sets no budget.")
    ] = 3000


class SecretConfig(Section):
    """A key that `http_request` may use, and where."""

    env: Annotated[str, Field(description="Environment variable that holds it.")]
    hosts: Annotated[Names, Field(description="Hosts that may see it; `*.suffix` is allowed.")]
    scheme: Annotated[
        Literal["bearer", "basic", "header"],
        Field(description="bearer; basic, holding `user:password`; or a header of its own."),
    ] = "bearer"
    header: Annotated[str, Field(description="The header's name, for scheme header.")] = ""


class RequestsConfig(Section):
    """How `http_request` and the OpenAPI tools work."""

    timeout: Annotated[PositiveFloat, Field(description="Seconds for one request.")] = 30.0
    max_bytes: Annotated[PositiveInt, Field(description="Bytes of an answer.")] = 500_000
    secrets: Annotated[
        dict[str, SecretConfig], Field(description="Keys by the name that `auth` takes.")
    ] = {}


class WebConfig(Section):
    """The web tools."""

    search: SearchConfig = SearchConfig.model_construct()
    fetch: FetchConfig = FetchConfig.model_construct()
    images: ImagesConfig = ImagesConfig.model_construct()
    research: ResearchConfig = ResearchConfig.model_construct()
    requests: RequestsConfig = RequestsConfig.model_construct()
    providers: Annotated[
        dict[str, ProviderConfig], Field(description="Settings of one provider, by its name.")
    ] = {}


# The branch of the configuration for agents: the model server, and what a run may use.


class RoleConfig(Section):
    """A role of your own, or in place of a built-in one."""

    persona: Annotated[str, Field(description="What the model is told that it is.")] = ""
    tools: Annotated[
        Names, Field(description="Groups, tools or globs on their names; empty: all.")
    ] = []
    rights: Annotated[
        Names, Field(description="What its tools may do: read, write, net, exec and so on.")
    ] = ["read"]
    model: Annotated[str, Field(description="The model; empty: agent.model.")] = ""


class AgentConfig(Section):
    """Agents and `toolcrib chat`: loops that ask a model server of yours."""

    base_url: Annotated[
        str,
        Field(description="An OpenAI-compatible server, as http://127.0.0.1:1234/v1."),
    ] = ""
    servers: Annotated[
        Names, Field(description="Asked in turn where base_url is empty; the first that answers.")
    ] = [
        "http://127.0.0.1:1234/v1",
        "http://127.0.0.1:11434/v1",
        "http://127.0.0.1:8080/v1",
    ]
    model: Annotated[str, Field(description="The model; empty: the first of the server.")] = ""
    vision_model: Annotated[
        str, Field(description="The model that looks at pictures; empty: as model.")
    ] = ""
    api_key_env: Annotated[
        str, Field(description="Name of the environment variable that holds the server's key.")
    ] = ""
    temperature: Annotated[
        float | None, Field(ge=0, le=2, description="Unset: the server's own.")
    ] = None
    answer_tokens: Annotated[
        int, Field(ge=0, description="Tokens of one answer of the model; 0: the server's own.")
    ] = 0
    extra: Annotated[
        dict[str, Any], Field(description="More fields of each request, such as top_p.")
    ] = {}
    tool_calls: Annotated[
        Literal["auto", "native", "text"],
        Field(description="How tools are offered; auto: native, and as text if refused."),
    ] = "auto"
    steps: Annotated[int, Field(ge=1, le=30, description="Answers of the model in a run.")] = 8
    seconds: Annotated[
        float,
        Field(
            ge=1,
            le=3600,
            description="Seconds of a run, if the call sets none, and of chat -p.",
        ),
    ] = 120.0
    max_calls: Annotated[PositiveInt, Field(description="Tool calls of a run.")] = 24
    max_tokens: Annotated[
        PositiveInt, Field(description="Tokens of a run: all that is read and written.")
    ] = 400_000
    repeats: Annotated[
        int, Field(ge=2, le=20, description="Equal calls, errors or bad forms that end a run.")
    ] = 3
    first_seconds: Annotated[
        PositiveFloat,
        Field(description="Silence before an answer that ends it; a model may load for minutes."),
    ] = 600.0
    stall_seconds: Annotated[
        PositiveFloat, Field(description="Silence in the middle of an answer that ends it.")
    ] = 60.0
    max_messages: Annotated[
        int, Field(ge=4, description="Messages kept beside the task; older ones are left out.")
    ] = 16
    result_tokens: Annotated[
        int, Field(ge=100, description="Tokens of a tool's result in a run.")
    ] = 4_000
    web_tokens: Annotated[
        int, Field(ge=100, description="Tokens of a result from the network in a run.")
    ] = 2_000
    max_listed_tools: Annotated[
        int,
        Field(ge=4, description="Tools that are listed to the model; the rest by search_tools."),
    ] = 24
    roles: Annotated[dict[str, RoleConfig], Field(description="Roles by name.")] = {}
    instructions: Annotated[
        str, Field(description="A file of the workspace that a run is shown; empty: none.")
    ] = "SUB_AGENT_INSTRUCTIONS.md"
    journal: Annotated[
        str, Field(description="A file of the workspace that gets a line a run; empty: none.")
    ] = ""
    review: Annotated[
        bool, Field(description="Let a reviewer check each answer; what it finds is added.")
    ] = False
    review_steps: Annotated[
        int, Field(ge=1, le=30, description="Answers of the model in a review.")
    ] = 5
    auto_save: Annotated[
        bool, Field(description="Save code blocks of an answer that name a file.")
    ] = False
    show_code: Annotated[bool, Field(description="Leave the saved code in the answer as well.")] = (
        False
    )
    show_log: Annotated[bool, Field(description="Add the steps of the run to the result.")] = False
    keep: Annotated[PositiveInt, Field(description="Runs whose trace is kept.")] = 200
