"""The checks of `toolcrib doctor`. Each tries the thing itself and trusts no version number."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import sys
import time
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from toolcrib.core.config import secret, user_config_file
from toolcrib.core.context import Caller, Ctx, Services, Session
from toolcrib.core.errors import Denied, ToolError, install_line
from toolcrib.core.registry import Registry
from toolcrib.core.settings import ProviderConfig, SecretConfig
from toolcrib.web.provider import Provider, ProviderClient, SearchRequest
from toolcrib.web.providers import IMAGES, SETTING, Providers
from toolcrib.web.search.chain import usual_region

State = Literal["ok", "unknown", "missing", "broken"]
"""`unknown`: what it takes is there, and whether it works was not tried."""
PROBE_SECONDS = 10.0
NOT_FOR_USERS = frozenset({"bench", "dev"})
CHECKED_APART = frozenset({"browser", "documents"})
"""Extras with a check of their own."""
_EXTRA = re.compile(r"([\w.-]+).*extra == ['\"]([\w-]+)['\"]")
NAME = "example.com"
"""Looked up to see whether names resolve; reserved for uses like this."""


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. `fix` is the one line that would help.

    `essential` says that every use needs it, or that the configuration asks for it.
    """

    name: str
    state: State
    detail: str
    fix: str = ""
    essential: bool = False

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON values."""
        return asdict(self)


async def python(services: Services) -> list[Check]:
    """The interpreter."""
    del services
    detail = f"{platform.python_version()}, {sys.executable}"
    return [Check("python", "ok", detail, essential=True)]


async def store(services: Services) -> list[Check]:
    """Whether history, sessions and approvals can be kept."""
    from toolcrib.state.store import Schema, Store

    store = services.use(Store)
    try:
        await store.write(Schema("doctor", ()), lambda connection: connection.execute("SELECT 1"))
    except ToolError as error:
        fix = error.hint or "point TOOLCRIB_DATA or store.url at a folder that you can write"
        return [Check("store", "broken", error.message, fix, essential=True)]
    detail = " ".join([str(store.path or "in memory"), *store.warnings])
    return [Check("store", "ok", detail, essential=True)]


async def workspace(services: Services) -> list[Check]:
    """Whether the folders of the file tools are there."""
    from toolcrib.files.paths import chosen_roots

    roots = chosen_roots(services.config)
    if not roots:
        fix = setting(services, "workspace", 'roots = ["/path/to/folder"]')
        detail = f"{Path.cwd()} is not taken by itself: calls work in an empty scratch folder"
        return [Check("workspace", "missing", detail, fix)]
    return [_folder(root) for root in roots]


def _folder(root: str) -> Check:
    if not os.path.isdir(root):  # noqa: PTH112 - a Path raises where it may not be looked at
        fix = f"mkdir -p {shlex.quote(root)}"
        return Check("workspace", "broken", f"{root} is no folder", fix, essential=True)
    if not os.access(root, os.R_OK | os.X_OK):
        fix = f"chmod u+rx {shlex.quote(root)}"
        return Check("workspace", "broken", f"{root} cannot be read", fix, essential=True)
    writable = "" if os.access(root, os.W_OK) else " (read only)"
    return Check("workspace", "ok", f"{root}{writable}", essential=True)


async def backups(services: Services) -> list[Check]:
    """Whether backups can be written where the configuration wants them."""
    folder = services.config.backup.folder
    if not folder:
        return []
    place = _standing(folder)
    if os.access(place, os.W_OK | os.X_OK):
        return [Check("backups", "ok", folder, essential=True)]
    fix = setting(services, "backup", 'folder = "/path/to/folder"')
    return [Check("backups", "broken", f"{place} cannot be written", fix, essential=True)]


def _standing(folder: str) -> Path:
    """The folder, or the deepest one above it: it is made with the first backup."""
    place = Path(folder).expanduser().absolute()
    while not os.path.lexists(place):
        place = place.parent
    return place


async def opener(services: Services) -> list[Check]:
    """Who keeps paths inside the workspace: the kernel, or our own walk."""
    from toolcrib.files.handles import has_openat2

    del services
    if has_openat2():
        return [Check("openat2", "ok", "the kernel keeps paths inside the workspace")]
    fix = "use Linux 5.6 or newer; in a container, allow openat2 in its seccomp profile"
    return [Check("openat2", "missing", "a slower walk keeps paths inside the workspace", fix)]


async def web(services: Services) -> list[Check]:
    """The libraries that fetch and read pages."""
    wanted = services.config.egress.transport
    wreq = _library("wreq", "fetches pages as a browser does", essential=wanted == "wreq")
    transports = [wreq]
    if wanted == "aiohttp" or wreq.state == "broken":
        use = "fetches pages where wreq does not run"
        transports.append(_library("aiohttp", use, essential=wanted == "aiohttp"))
    found = [*transports, _library("turbohtml", "reads HTML", essential=True)]
    if wanted == "auto" and all(check.state == "broken" for check in transports):
        fix = _pip("wreq aiohttp")
        found.append(Check("fetching", "broken", "no transport can be loaded", fix, essential=True))
    return found


def _library(name: str, use: str, *, essential: bool) -> Check:
    try:
        import_module(name.replace("-", "_"))
        detail = f"{version(name)}, {use}"
    except (ImportError, OSError, PackageNotFoundError) as error:
        return Check(name, "broken", f"{use}; {error}", _pip(name), essential=essential)
    return Check(name, "ok", detail, essential=essential)


def _pip(names: str) -> str:
    if find_spec("pip") is None:  # as in what uv makes
        return "uv tool install --reinstall toolcrib"
    return f"{sys.executable} -m pip install --upgrade {names}"


async def names(services: Services) -> list[Check]:
    """Whether host names resolve, in the way that pages are fetched."""
    from toolcrib.net.egress.client import Egress

    if services.config.egress.proxy:
        return [Check("names", "ok", "left to egress.proxy")]
    try:
        addresses = await services.use(Egress).resolver.addresses(NAME)
    except ToolError as error:
        # Not essential: whoever is offline has nothing to mend, and all but the web works.
        fix = "check the network, if it should be there; behind a proxy, set egress.proxy"
        return [Check("names", "broken", error.message, fix)]
    return [Check("names", "ok", f"{NAME} is {addresses[0]}")]


def setting(services: Services, table: str, line: str) -> str:
    """The line of the configuration that would help, and where it goes."""
    file = services.config.file or user_config_file()
    return f"in {file}, under [{table}]: {line}"


async def token(services: Services) -> list[Check]:
    """Whether the HTTP server may be reached from other machines."""
    name = services.config.http.token_env
    try:
        secret(name, "HTTP")
    except ToolError:
        fix = f"export {name}=$(openssl rand -hex 32)"
        return [Check("token", "missing", "toolcrib serve answers on this machine alone", fix)]
    return [Check("token", "ok", f"{name} guards toolcrib serve")]


PACKAGES = {
    "rg": ("for fast search in files", "ripgrep"),
    "git": ("for work with repositories", "git"),
    "node": ("for running JavaScript", "nodejs"),
}
INSTALLERS = (
    ("apt-get", "sudo apt-get install -y"),
    ("dnf", "sudo dnf install -y"),
    ("pacman", "sudo pacman -S --noconfirm"),
    ("zypper", "sudo zypper install -y"),
    ("apk", "sudo apk add"),
    ("brew", "brew install"),
)


async def programs(services: Services) -> list[Check]:
    """Programs that some tools use where they are there."""
    found = []
    for name, (use, package) in PACKAGES.items():
        path = await _ripgrep(services) if name == "rg" else _outside_program(services, name)
        if not path:
            there = _unused(name)
            cause = f"{there} lies in the workspace, where a run could change it: it is not used"
            fix = "uv tool install toolcrib" if name == "rg" and there else _package(package)
            found.append(Check(name, "missing", cause if there else use, fix))
            continue
        fault = await _run(services, [path, "--version"])
        state: State = "broken" if fault else "ok"
        detail = f"{path}: {fault}" if fault else f"{path}, {use}"
        found.append(Check(name, state, detail, _package(package)))
    return found


def _outside_program(services: Services, name: str) -> str:
    from toolcrib.files.paths import Workspace

    return services.use(Workspace).outside_program(name)


async def _ripgrep(services: Services) -> str:
    """The one that searches use: also the wheel's, beside this Python."""
    from toolcrib.files.paths import Workspace
    from toolcrib.files.search.ripgrep import find_program
    from toolcrib.system.processes import Processes

    return await find_program(services.use(Workspace), services.use(Processes))


def _unused(name: str) -> str:
    """A program that is there and not taken; nothing where there is none."""
    own = Path(sys.executable).with_name(name)
    return shutil.which(name) or (str(own) if own.is_file() else "")


async def finder(services: Services) -> list[Check]:
    """What finds files by names with typos."""
    del services
    return [_library("frizbee", "finds files by names with typos", essential=False)]


async def documents(services: Services) -> list[Check]:
    """Whether office files can be read, and the OCR that is configured."""
    try:
        import_module("xberg")
        found = [Check("documents", "ok", f"xberg {version('xberg')}, for office files")]
    except ImportError as error:
        state: State = "missing" if isinstance(error, ModuleNotFoundError) else "broken"
        fix = install_line("toolcrib[documents]")
        found = [Check("documents", state, "for DOCX, PPTX, XLSX and the like", fix)]
    found.append(_library("pdf-oxide", "reads PDF", essential=False))
    if services.config.documents.ocr == "off":
        there = shutil.which("tesseract")
        detail = "scanned pages are not read: documents.ocr is off"
        fix = setting(services, "documents", 'ocr = "tesseract"')
        fix = fix if there else f"{_package('tesseract-ocr')}, then {fix}"
        return [*found, Check("ocr", "missing", detail, fix)]
    path, package = _outside_program(services, "tesseract"), _package("tesseract-ocr")
    if not path:
        fault, detail = "it is not installed", "documents.ocr needs it"
    else:
        fault = await _run(services, [path, "--version"])
        detail = f"{path}: {fault}" if fault else f"{path}, for OCR"
    result: State = "broken" if fault else "ok"
    return [*found, Check("tesseract", result, detail, package if fault else "", essential=True)]


async def extras(services: Services) -> list[Check]:
    """The other optional parts that are not installed, and one line that brings them."""
    del services
    try:
        found = [_EXTRA.match(line) for line in requires("toolcrib") or ()]
    except PackageNotFoundError:  # run from its source alone
        return []
    known = {match[2] for match in found if match} - NOT_FOR_USERS
    lacking = {match[2] for match in found if match and not _is_installed(match[1])} & known
    missing = lacking - CHECKED_APART
    if not missing:
        return []
    line = install_line("toolcrib[x]")
    # What uv and pipx install anew has only the parts that are named.
    names = missing if line.startswith("pip ") else (known - lacking) | missing
    detail = f"optional, not installed: {', '.join(sorted(missing))}; name those that you want"
    return [Check("extras", "missing", detail, line.replace("[x]", f"[{','.join(sorted(names))}]"))]


def _is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


async def browser(services: Services) -> list[Check]:
    """The browser that would be started; it is not started here."""
    from toolcrib.browser.program import find_program, own_sandbox

    if services.config.browser.cdp_url:
        return [await _running_browser(services)]
    try:
        program = find_program(services.config.browser.executable)
    except ToolError as error:
        configured = bool(services.config.browser.executable)
        state: State = "broken" if configured else "missing"
        return [Check("browser", state, error.message, error.hint, essential=configured)]
    if find_spec("playwright") is None:
        fix = install_line("toolcrib[browser]")
        return [Check("browser", "missing", f"{program} is there, playwright is not", fix)]
    bare = "" if own_sandbox() else "; as root its own sandbox is off: run toolcrib as a user"
    return [Check("browser", "unknown", f"{program}, by playwright {version('playwright')}{bare}")]


async def _running_browser(services: Services) -> Check:
    """The browser at `browser.cdp_url`, by a real try."""
    from toolcrib.browser.browsers import Browsers

    try:
        guarded = await services.use(Browsers).is_guarded()
    except ToolError as error:
        return Check("browser", "broken", error.message, error.hint, essential=True)
    if guarded:
        return Check("browser", "ok", "browser.cdp_url answers; its pages go through the guard")
    return Check(
        "browser",
        "broken",
        "browser.cdp_url answers, and its pages pass by the guard: opening one asks",
        "Take a Chromium on this machine for browser.cdp_url, or empty it.",
    )


async def sandbox(services: Services) -> list[Check]:
    """The boundary that runs get here, by a real try; a version number says nothing."""
    from toolcrib.execution.sandbox.sandbox import Sandbox

    report = await services.use(Sandbox).report()
    details = {
        "strong": f"level strong, by {report.program}",
        "kernel": "level kernel: Landlock and seccomp, without namespaces",
        "none": "nothing confines what is run, so nothing is run"
        if services.config.run.level != "none"
        else "level none: nothing confines what is run",
    }
    detail = "; ".join((details[report.level], *report.why, *report.gaps))
    if report.level == "strong":
        return [Check("sandbox", "ok", detail, report.fix)]
    state: State = "missing" if report.level == "kernel" else "broken"
    return [Check("sandbox", state, detail, report.fix)]


def _package(name: str) -> str:
    for program, command in INSTALLERS:
        if shutil.which(program):
            return f"{command} {name}"
    return f"install {name}"


async def _run(services: Services, words: list[str]) -> str:
    """What went wrong with a command; empty when it worked."""
    from toolcrib.system.processes import Processes

    done = await services.use(Processes).run(words, cwd="/", timeout=PROBE_SECONDS)
    if done.timed_out:
        return "it does not answer"
    if done.exit_code:
        details = " ".join(str(done.stderr).split())[:200]
        return details or f"it ended with {done.exit_code}"
    return ""


# What `toolcrib doctor` says of the web tools' settings: providers, keys, hosts, a region.

PROVIDER_PROBE_SECONDS = 5.0
"""For the answer of an instance of the user's own."""
WORDS = "example"
Wrong = partial(Check, state="broken", essential=True)


async def online(services: Services) -> list[Check]:
    """All settings; instances of the user's own are asked once, and no other service."""
    return await _Look(services, ask=True).run()


async def offline(services: Services) -> list[Check]:
    """All settings; nothing is sent."""
    return await _Look(services, ask=False).run()


@dataclass
class _Look:
    services: Services
    ask: bool
    probed: dict[str, ToolError | None] = field(default_factory=dict)

    async def run(self) -> list[Check]:
        web = self.services.config.web
        wanted = {
            (name.strip().lower(), label, place): None
            for label, names, place in (
                ("search", web.search.providers, SETTING),
                ("images", web.images.providers, IMAGES),
            )
            for name in names
        }
        found = [await self._provider(name, f"{label} {name}", at) for name, label, at in wanted]
        return [*found, *self._unknown(), *self._region(), *self._secrets(), *self._hosts()]

    async def _provider(self, name: str, label: str, place: str) -> Check:
        known = self.services.use(Providers)
        try:
            provider = known.listed(name, place)
            known.check_kinds([name], place)
        except ToolError as error:
            return Wrong(label, detail=error.message, fix=self._there(f"correct {place}"))
        web = self.services.config.web
        settings = web.providers.get(provider.name, ProviderConfig())
        shared = web.providers.get(provider.shares, ProviderConfig())
        address = settings.base_url or shared.base_url or provider.base_url
        table = f"web.providers.{provider.shares or provider.name}"
        if not address:
            fix = setting(self.services, table, 'base_url = "http://127.0.0.1:8888"')
            return Check(label, "missing", "its address is not configured", fix)
        if provider.needs_key:
            key = settings.api_key_env or shared.api_key_env
            try:
                secret(key or provider.key_env, name)
            except ToolError as error:
                fix = self._export(provider, key)
                return Check(label, "missing", error.message, fix)
        return await self._reached(provider, settings, address, label)

    def _export(self, provider: Provider, key: str) -> str:
        usual = key or provider.key_env or f"{provider.name.upper()}_API_KEY"
        if key:
            return f"export {usual}=..."
        table = f"web.providers.{provider.name}"
        another = setting(self.services, table, f'api_key_env = "{usual}"')
        return f"export {usual}=..., or name another variable {another}"

    async def _reached(
        self, provider: Provider, settings: ProviderConfig, address: str, label: str
    ) -> Check:
        own = not provider.base_url
        try:
            reach = ProviderClient(provider, settings, self._ctx())
            if own and self.ask:
                await self._answers(provider, reach)
                return Check(label, "ok", f"{address}, it answers", essential=True)
        except ToolError as error:
            return Wrong(label, detail=error.message, fix=error.hint)
        key_note = ", with a key" if reach.key else ""
        return Check(label, "unknown", f"{address}{key_note} (not asked)", essential=True)

    async def _answers(self, provider: Provider, reach: ProviderClient) -> None:
        """Ask an instance once, whatever of it is configured."""
        if reach.base_url not in self.probed:
            self.probed[reach.base_url] = None
            try:
                await provider.search(SearchRequest(WORDS), reach)
            except ToolError as error:
                self.probed[reach.base_url] = error
        failed = self.probed[reach.base_url]
        if failed is not None:
            raise failed

    def _ctx(self) -> Ctx:
        deadline = time.monotonic() + PROVIDER_PROBE_SECONDS
        caller, session = Caller("cli", "doctor"), Session("doctor")
        return Ctx("", caller, session, self.services, Registry(()), _no_call, deadline)

    def _unknown(self) -> list[Check]:
        known, found = self.services.use(Providers), []
        for name in self.services.config.web.providers:
            try:
                provider = known.named(name)
            except ToolError:
                like = known.nearest(name)
                detail = f"[web.providers.{name}] is no provider"
                meant = f"call it [web.providers.{like[0]}]" if like else "remove it"
                found.append(Wrong(f"provider {name}", detail=detail, fix=self._there(meant)))
                continue
            if provider.name != name:
                detail = f"[web.providers.{name}] is not read"
                fix = self._there(f"call it [web.providers.{provider.name}]")
                found.append(Wrong(f"provider {name}", detail=detail, fix=fix))
        return found

    def _region(self) -> list[Check]:
        try:
            usual_region(self.services.config)
        except ToolError as error:
            fix = setting(self.services, "web.search", 'region = "de-DE"')
            return [Wrong("region", detail=error.message, fix=fix)]
        return []

    def _secrets(self) -> list[Check]:
        secrets = self.services.config.web.requests.secrets
        return [self._secret(name, settings) for name, settings in secrets.items()]

    def _secret(self, name: str, settings: SecretConfig) -> Check:
        label, table = f"secret {name}", f"web.requests.secrets.{name}"
        if settings.scheme == "header" and not settings.header.strip():
            fix = setting(self.services, table, 'header = "X-Api-Key"')
            return Wrong(label, detail='scheme "header" needs the name of the header', fix=fix)
        for host in settings.hosts:
            if "://" in host:
                fix = setting(self.services, table, f'hosts = ["{_bare(host)}"]')
                return Wrong(label, detail=f"hosts: '{_bare(host)}' has a scheme", fix=fix)
        try:
            secret(settings.env, f"'{name}'")
        except ToolError as error:
            return Check(label, "missing", error.message, f"export {settings.env}=...")
        return Check(label, "ok", f"{settings.env}, for {', '.join(settings.hosts) or 'no host'}")

    def _hosts(self) -> list[Check]:
        config, found = self.services.config, []
        for table, name, hosts in (
            ("egress", "allow_hosts", config.egress.allow_hosts),
            ("egress", "deny_hosts", config.egress.deny_hosts),
            ("web.fetch", "allow_hosts", config.web.fetch.allow_hosts),
        ):
            for host in hosts:
                if "://" in host:
                    detail = f"'{host[:80]}' has a scheme; it is a host or host:port"
                    fix = setting(self.services, table, f'{name} = ["{_bare(host)}"]')
                    found.append(Wrong(f"{table}.{name}", detail=detail, fix=fix))
        return found

    def _there(self, what: str) -> str:
        return f"in {self.services.config.file or 'the configuration'}: {what}"


def _bare(host: str) -> str:
    """An entry without what is not part of a host."""
    return host.partition("://")[2].partition("/")[0].rpartition("@")[2]


async def _no_call(tool: str, arguments: Any) -> Any:  # noqa: ARG001 - the shape of `Invoke`
    raise Denied("A check calls no tools.", hint="Call the tool itself: `toolcrib call NAME`.")
