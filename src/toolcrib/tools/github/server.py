"""Which server is spoken to, and the token for it, which no other server ever gets."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from urllib.parse import urlsplit

from toolcrib.core.config import environment, secret
from toolcrib.core.context import Ctx
from toolcrib.core.errors import ConfigError
from toolcrib.execution.interpreters.programs import find_program, host_output
from toolcrib.net.egress.url import parse_url

GITHUB_HOST = "github.com"
GITHUB_API = "https://api.github.com"
USUAL_VARIABLES = ("GITHUB_TOKEN", "GH_TOKEN")
GH_VARIABLES = ("HOME", "XDG_CONFIG_HOME", "GH_CONFIG_DIR", "DBUS_SESSION_BUS_ADDRESS")
GH_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Server:
    """A server with GitHub's API.

    Attributes:
        api: the address of its API, without a slash at the end.
        host: of its pages and of its remotes, with the port where one is named.
        is_gitea: whether it is Gitea or Forgejo, whose API is alike and not the same.
    """

    api: str
    host: str
    is_gitea: bool = False

    @property
    def name(self) -> str:
        """In words."""
        return "GitHub" if self.host == GITHUB_HOST else self.host

    @property
    def web(self) -> str:
        """The address of its pages."""
        return f"{urlsplit(self.api).scheme}://{self.host}"


def server_of(ctx: Ctx) -> Server:
    """The configured server.

    Raises:
        ConfigError: `github.base_url` is no address of an API.
    """
    given = ctx.config.github.base_url.strip().rstrip("/")
    parts = urlsplit(given)
    host, path = parts.netloc.lower(), parts.path.rstrip("/")
    if host in (GITHUB_HOST, "api.github.com") and not path:
        return Server(GITHUB_API, GITHUB_HOST)
    if host.endswith(".ghe.com") and not path:
        return Server(f"https://api.{host.removeprefix('api.')}", host.removeprefix("api."))
    is_api = path.endswith(("/api/v3", "/api/v1"))
    if parts.scheme not in ("http", "https") or not host or "@" in host or not is_api:
        raise ConfigError(
            f"github.base_url is not the address of an API: {given[:100]}.",
            hint="https://api.github.com, https://HOST/api/v3 of an Enterprise server, or "
            "https://HOST/api/v1 of Gitea or Forgejo.",
        )
    target = parse_url(given)
    is_here = target.literal is not None and target.literal.is_loopback
    if parts.scheme == "http" and not is_here:
        raise ConfigError("github.base_url is http: a token would go in plain text. Use https.")
    return Server(given, host, path.endswith("/api/v1"))


@dataclass(frozen=True, slots=True)
class Token:
    """A token and where it is from; both empty for none."""

    value: str = ""
    source: str = ""

    @property
    def mark(self) -> str:
        """Tells tokens apart without showing them."""
        return blake2b(self.value.encode(), digest_size=8).hexdigest() if self.value else ""


async def token_for(ctx: Ctx, server: Server) -> Token:
    """The user's token for a server.

    Raises:
        NotConfigured: `github.token_env` names a variable that is not set.
    """
    named = ctx.config.github.token_env
    if named:
        return Token(secret(named, f"{server.name} (github.token_env)"), named)
    # These are GitHub's own; Actions of an Enterprise server say for which server theirs is.
    found = environment((*USUAL_VARIABLES, "GITHUB_API_URL"))
    is_theirs = found.get("GITHUB_API_URL", GITHUB_API).rstrip("/") == server.api
    for name in USUAL_VARIABLES:
        if is_theirs and found.get(name, "").strip():
            return Token(found[name].strip(), name)
    program = "" if server.is_gitea else find_program(ctx, "gh")
    if program:
        argv = [program, "auth", "token", "--hostname", server.host]
        env = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1"}
        printed = await host_output(ctx, argv, GH_SECONDS, env=env, passed_on=GH_VARIABLES)
        value = printed.strip()
        if value and value.isascii() and not any(c.isspace() for c in value):
            return Token(value, "gh")
    return Token()
