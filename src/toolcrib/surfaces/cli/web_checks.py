"""What `toolcrib doctor` says of the web tools' settings: providers, keys, hosts, a region."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from toolcrib.core.config import secret
from toolcrib.core.context import Caller, Ctx, Services, Session
from toolcrib.core.errors import Denied, ToolError
from toolcrib.core.registry import Registry
from toolcrib.core.web_settings import ProviderConfig, SecretConfig
from toolcrib.surfaces.cli.checks import Check, setting
from toolcrib.web.provider import Provider, ProviderClient, SearchRequest
from toolcrib.web.providers import IMAGES, SETTING, Providers
from toolcrib.web.search.chain import usual_region

PROBE_SECONDS = 5.0
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
        state: Any = "set" if own or provider.needs_key else "ok"
        return Check(label, state, f"{address}{key_note} (not asked)", essential=True)

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
        deadline = time.monotonic() + PROBE_SECONDS
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
