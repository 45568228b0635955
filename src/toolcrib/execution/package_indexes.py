"""Package indexes: which ones the user's own pip, npm, uv, cargo and go are configured for.

Each program is asked when a run wants packages, within a boundary that shows it the user's settings
and nothing of the workspace: what a run left there, be it in a home folder, is not executed. Those
that do not tell are let go nowhere, and the guard notes where they wanted to go. What an index says
of its files' host counts too, but settings may be what a run wrote: an index is asked nothing
before a person has allowed its host. Logins in addresses stay here: a run is given the address
without them.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from urllib.parse import urljoin, urlsplit, urlunsplit

from toolcrib.core.config import environment
from toolcrib.core.context import Ctx
from toolcrib.core.errors import ConfigError, ToolError
from toolcrib.execution.interpreters.programs import find_program, prefix_of, toolchains
from toolcrib.execution.sandbox.sandbox import Sandbox
from toolcrib.execution.sandbox.terms import NetworkAccess
from toolcrib.execution.toolchains import home, is_there
from toolcrib.files.paths import Workspace
from toolcrib.files.real_paths import real_path
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.policy import HostRule
from toolcrib.net.egress.url import DEFAULT_PORTS
from toolcrib.system.collector import collect

SECONDS = 20.0
"""What a program may take to say its index."""
INDEX_SECONDS = 5.0
MAX_INDEX_BYTES = 3_000_000
MAX_HOSTS = 12
MAX_LINKS = 1_000
"""Of a project's page; an index has all of them on the same hosts."""
SETTINGS: Mapping[str, tuple[str, ...]] = {
    "pip": ("PIP_*",),
    "npm": ("npm_config_*", "NPM_CONFIG_*"),
    "uv": ("UV_*",),
    "cargo": ("CARGO_*", "RUSTUP_*"),
    "go": ("GOPROXY", "GOSUMDB", "GOENV", "GOROOT", "GOPATH"),
}
"""The variables of each program, and of no other: npm puts any into the address of a registry."""
SECRET = re.compile(r"pass|token|secret|auth|key|credential", re.IGNORECASE)
"""In the name of a variable; no index is found by such ones."""
LOGIN = re.compile(r"(?<=://)[^/\s]*@")
AUTHORITIES = (
    *("PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"),
    "CARGO_HTTP_CAINFO",
)
"""Variables that name a file of certificate authorities."""
SETTINGS_FILES = (
    *(".config/pip/pip.conf", ".pip/pip.conf", ".config/uv/uv.toml", ".npmrc"),
    ".config/go/env",
    *("/etc/pip.conf", "/etc/xdg/pip/pip.conf", "/etc/uv/uv.toml", "/etc/xdg/uv/uv.toml"),
    *("/etc/npmrc", "/usr/local/etc/npmrc"),
)
"""Where the programs look for the user's settings and the system's; not those with credentials."""
NOWHERE = "nowhere.invalid"
"""The one host for a program that is to reach none: a name that never is one."""
ONCE = {"CARGO_NET_RETRY": "0", "UV_HTTP_RETRIES": "0", "NO_PROXY": "", "no_proxy": ""}
"""To try once is enough, and by the guard, whatever the place is."""
MAX_OUTPUT_BYTES = 1_000_000
SYSTEM_FOLDERS = ("/etc/", "/usr/")
"""What a run sees of this machine in any case."""
PIP_SETTING = re.compile(
    r"^(?:[\w:]+\.)+(index-url|extra-index-url|trusted-host)=(.*)$", re.MULTILINE
)
PIP_DEFAULT = re.compile(r"--index-url\s<url>.*?\(default:?\s*(\S+?)\)", re.DOTALL)
REGISTRY = re.compile(r"(?:@[\w.~-]+:)?registry", re.ASCII)
HREF = re.compile(rb"""<a\s[^<>]*?href\s*=\s*["']([^"'#]+)""", re.IGNORECASE)
PLAIN_HOST = re.compile(r"[\w.-]+|[\da-f:.]+")
KNOWN_PROJECT = "pip/"
"""A project that an index of Python packages usually has, to see where its files are."""
WANTING: Mapping[str, tuple[str, ...]] = {
    "uv": ("pip", "compile", "--no-cache", "--quiet", "-"),
    "cargo": ("search", "--limit", "1", "toolcrib"),
}
"""What makes those that do not tell go there."""


@dataclass(frozen=True, slots=True)
class PackageIndexes:
    """Where packages come from.

    Attributes:
        urls: the indexes themselves, as the user configured them, without logins.
        environment: variables by which the programs in a run use the same indexes.
        notes: what the user should know, a line each.
    """

    urls: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


async def package_indexes(ctx: Ctx) -> PackageIndexes:
    """Ask the programs that there are, all at the same time. Nothing is sent anywhere."""
    programs = (_pip(ctx), _npm(ctx), _go(ctx), *(_wanting(ctx, name) for name in WANTING))
    answers = await asyncio.gather(*programs)
    urls: list[str] = []
    variables = _authorities()
    for found, named in answers:
        urls += found
        variables |= named
    notes = []
    values = chain.from_iterable(environment(names).values() for names in SETTINGS.values())
    if any(map(LOGIN.search, (*urls, *values))):
        notes.append("the login of an index stays outside: runs ask it without one")
    plain = tuple(dict.fromkeys(map(_without_login, urls)))
    return PackageIndexes(plain, variables, tuple(notes))


async def file_hosts(ctx: Ctx, urls: Sequence[str]) -> tuple[str, ...]:
    """Other hosts that indexes name for their files, as `host` or `host:port`.

    It sends the addresses, whatever stands in them: only for indexes whose hosts are allowed.
    """
    hosts = await asyncio.gather(*(_file_hosts(ctx, url) for url in urls))
    own = {authority(url) for url in urls}
    others = dict.fromkeys(host for found in hosts for host in found if host not in own)
    return tuple(others)[:MAX_HOSTS]


Answer = tuple[list[str], dict[str, str]]


def _authorities() -> dict[str, str]:
    """What the user's programs trust beyond the usual: behind a company's proxy all fails else."""
    named = environment(AUTHORITIES)
    return {
        name: value
        for name, value in named.items()
        if value == os.path.normpath(value) and value.startswith(SYSTEM_FOLDERS)
    }


async def _output(
    ctx: Ctx, name: str, argv: Sequence[str], network: NetworkAccess | None = None
) -> str:
    """What a program of the user's says, with its settings but for logins; "" where it fails."""
    workspace = ctx.use(Workspace)
    named = {
        variable: LOGIN.sub("", value)
        for variable, value in environment(SETTINGS[name]).items()
        if not SECRET.search(variable)
        and (not value.startswith("/") or workspace.is_outside(value))
    }
    places = await asyncio.to_thread(_settings_files, named)
    installed = [*toolchains(ctx).readable, *prefix_of(argv[0])]
    outside = [folder for folder in installed if workspace.is_outside(str(folder))]
    path = os.pathsep.join(workspace.search_path())
    with suppress(ToolError):
        child = await ctx.use(Sandbox).spawn_apart(
            argv,
            env={**named, **ONCE, "HOME": str(home()), "PATH": path},
            stdin=b"toolcrib\n",
            readable=[*outside, *map(Path, places.values())],
            links={name: real for name, real in places.items() if name != real},
            network=network,
            masks=(),
        )
        done = await collect(child, SECONDS, None, MAX_OUTPUT_BYTES)
        return str(done.stdout) if done.exit_code == 0 else ""
    return ""


def _settings_files(named: Mapping[str, str]) -> dict[str, str]:
    """The files with settings that are there, and where their names lead. It blocks."""
    cargo = Path(named.get("CARGO_HOME") or home() / ".cargo")
    files = [home() / name for name in SETTINGS_FILES]
    files += [Path(value) for value in named.values() if value.startswith("/")]
    files += [cargo / "config.toml", cargo / "config"]
    return {str(file): real_path(file) for file in files if _is_file(file)}


def _is_file(path: Path) -> bool:
    return is_there(path) and path.is_file()


async def _pip(ctx: Ctx) -> Answer:
    program = find_program(ctx, "pip3") or find_program(ctx, "pip")
    python = find_program(ctx, "python3")
    if not (program or python):
        return [], {}
    pip = [program] if program else [python, "-I", "-m", "pip"]
    settings: dict[str, list[str]] = {}
    for name, value in PIP_SETTING.findall(await _output(ctx, "pip", [*pip, "config", "list"])):
        words = value.strip().strip("'\"").replace("\\n", " ").split()
        # The last one counts, as for pip. Folders of this machine are none of a run's.
        settings[name] = [word for word in words if is_web(word) or name == "trusted-host"]
    if not settings.get("index-url"):
        default = PIP_DEFAULT.search(await _output(ctx, "pip", [*pip, "install", "--help"]))
        settings["index-url"] = [default[1]] if default and is_web(default[1]) else []
    variables = {
        f"PIP_{name.upper().replace('-', '_')}": " ".join(map(_without_login, words))
        for name, words in settings.items()
        if words
    }
    main, extra = settings["index-url"], settings.get("extra-index-url", [])
    if main:
        variables["UV_DEFAULT_INDEX"] = _without_login(main[0])
    if extra:
        variables["UV_INDEX"] = " ".join(map(_without_login, extra))
    return [*main, *extra], variables


async def _npm(ctx: Ctx) -> Answer:
    program = find_program(ctx, "npm")
    if not program:
        return [], {}
    try:
        settings = json.loads(
            await _output(ctx, "npm", [program, "config", "list", "--json"]) or "{}"
        )
    except ValueError:
        return [], {}
    found = {
        name: str(value)
        for name, value in settings.items()
        if REGISTRY.fullmatch(name) and is_web(str(value))
    }
    variables = {f"npm_config_{name}": _without_login(url) for name, url in found.items()}
    return list(found.values()), variables


async def _go(ctx: Ctx) -> Answer:
    program = find_program(ctx, "go")
    if not program:
        return [], {}
    names = ("GOPROXY", "GOSUMDB")
    lines = (await _output(ctx, "go", [program, "env", *names])).splitlines()
    if len(lines) != len(names):
        return [], {}
    proxies = [url for url in re.split(r"[,|]", lines[0]) if is_web(url)]
    sums = lines[1].split("+")[0].split()[-1:]
    found = [f"https://{name}" for name in sums if name not in ("off", "")]
    variables = {"GOPROXY": ",".join(map(_without_login, proxies)) or "off", "GOSUMDB": lines[1]}
    return [*proxies, *found], variables


async def _wanting(ctx: Ctx, name: str) -> Answer:
    """Where a program goes that does not tell: it is let go nowhere, and that is noted."""
    program = find_program(ctx, name)
    # Without a boundary nobody would keep it, nor a run, from going there.
    if not program or (await ctx.use(Sandbox).report()).level == "none":
        return [], {}
    network = NetworkAccess((NOWHERE,))
    await _output(ctx, name, [program, *WANTING[name]], network)
    origins = [str(refused.details["origin"]) for refused in network.refused]
    return list(dict.fromkeys(origins)), {}


async def _file_hosts(ctx: Ctx, index: str) -> list[str]:
    """Hosts from which an index has its files fetched, by what it says itself."""
    found: list[str] = []
    for address, read in ((KNOWN_PROJECT, _linked), ("config.json", _downloads)):
        url = urljoin(f"{index.rstrip('/')}/", address)
        try:
            answer = await ctx.use(Egress).fetch(
                url,
                headers={"accept": "text/html, application/json;q=0.9, */*;q=0.1"},
                endpoints=(index,),
                max_bytes=MAX_INDEX_BYTES,
                timeout=INDEX_SECONDS,
                allow_truncated=True,
            )
        except ToolError:
            return found  # what it does not say now, the guard will refuse and name
        if answer.status == 200:
            found += read(answer.body, answer.url)
    return [authority(url) for url in found if is_web(url)]


def _linked(body: bytes, url: str) -> list[str]:
    """The links of a project's page, one for each host."""
    links: set[str] = set()
    for link in islice(HREF.finditer(body), MAX_LINKS):
        with suppress(ValueError):  # what is no address, such as `http://[x/`
            links.add(urljoin(url, link[1].decode("ascii", "replace")))
    return list({authority(link): link for link in sorted(links) if is_web(link)}.values())


def _downloads(body: bytes, url: str) -> list[str]:
    """Where a registry of crates has its files."""
    del url
    try:
        settings = json.loads(body)
    except (ValueError, RecursionError):
        return []
    place = settings.get("dl") if isinstance(settings, dict) else None
    return [place.partition("{")[0]] if isinstance(place, str) else []


def is_web(url: str) -> bool:
    """Whether it is a web address with a plain host, which a person can be asked about."""
    if not url.isprintable():  # as surrogates, and what no variable may hold
        return False
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not PLAIN_HOST.fullmatch(parts.hostname or ""):
            return False
        HostRule.parse(authority(url))
    except (ValueError, ConfigError):
        return False
    return True


def authority(url: str) -> str:
    """The host of a web address, with its port where that is not the usual one."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    usual = parts.port in (None, DEFAULT_PORTS[parts.scheme])
    return host if usual else f"{host}:{parts.port}"


def origin(url: str) -> str:
    """The scheme and the authority of a web address."""
    return f"{urlsplit(url).scheme}://{authority(url)}"


def _without_login(url: str) -> str:
    if not is_web(url):
        return url
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
