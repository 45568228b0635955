# ruff: noqa: E501 - each sample in one line
"""Planted secrets and look-alikes, made by chance: half to tune the rules on, half kept aside.

Nothing here opens anything: each is made by the shape that its service uses. The two halves
have templates of their own, so that the half kept aside also asks for what was not thought of.
"""

from __future__ import annotations

import base64
import random
import string
import uuid
from collections.abc import Callable, Iterator

B62 = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UP = string.ascii_uppercase + string.digits
B64 = B62 + "+/"
URL = B62 + "-_"

Make = Callable[[random.Random], str]


def pick(r: random.Random, alphabet: str, count: int) -> str:
    return "".join(r.choice(alphabet) for _ in range(count))


def jwt(r: random.Random) -> str:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    return f"{head}.eyJzdWIiOiI{pick(r, URL, 40)}.{pick(r, URL, 43)}"


def pem(r: random.Random, kind: str = "RSA PRIVATE KEY", end: str = "\n") -> str:
    lines = [pick(r, B64, 64) for _ in range(6)]
    return end.join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"])


def strong(r: random.Random) -> str:
    """A password as a manager makes it."""
    return pick(r, B62 + "!@#%^*-_", r.randint(14, 24)) + r.choice("7Kq9")


def human(r: random.Random) -> str:
    """A password as a person makes it."""
    word = r.choice(["Sommer", "Falcon", "giraffe", "Turtle", "Mandel", "october", "Wolke"])
    return f"{word}{r.randint(10, 9999)}{r.choice('!#?$')}"


TUNE: list[Make] = [
    lambda r: f"aws_access_key_id = AKIA{pick(r, UP, 16)}",
    lambda r: f"aws_secret_access_key = {pick(r, B64, 40)}",
    lambda r: f'const token = "ghp_{pick(r, B62, 36)}";',
    lambda r: f"GITLAB_TOKEN=glpat-{pick(r, URL, 20)}",
    lambda r: (
        f"slack: xoxb-{r.randint(10**11, 10**12)}-{r.randint(10**11, 10**12)}-{pick(r, B62, 24)}"
    ),
    lambda r: (
        f"https://hooks.slack.com/services/T{pick(r, UP, 8)}/B{pick(r, UP, 8)}/{pick(r, B62, 24)}"
    ),
    lambda r: f"stripe.api_key = 'sk_live_{pick(r, B62, 24)}'",
    lambda r: f"key: AIza{pick(r, URL, 35)}",
    lambda r: f"Authorization: Bearer {jwt(r)}",
    pem,
    lambda r: f"//packages.example.org/:_authToken=npm_{pick(r, B62, 36)}",
    lambda r: f"password = pypi-AgEIcHlwaS5vcmc{pick(r, URL, 70)}",
    lambda r: f"HF_TOKEN=hf_{pick(r, B62, 34)}",
    lambda r: f"OPENAI_API_KEY=sk-proj-{pick(r, URL, 48)}",
    lambda r: f"client = Anthropic(api_key='sk-ant-api03-{pick(r, URL, 60)}')",
    lambda r: f"SENDGRID=SG.{pick(r, URL, 22)}.{pick(r, URL, 43)}",
    lambda r: f"bot = Bot('{r.randint(10**8, 10**10 - 1)}:{pick(r, URL, 35)}')",
    lambda r: (
        f"DATABASE_URL=postgres://app:{strong(r).replace('@', 'x').replace('#', 'y')}@db.internal.net:5432/app"
    ),
    lambda r: f"db_password: {strong(r)}",
    lambda r: f'"password": "{human(r)}",',
    lambda r: f"spring.datasource.password={human(r)}",
    lambda r: f"TWILIO_AUTH_TOKEN={pick(r, HEX, 32)}",
    lambda r: f"AccountKey={pick(r, B64, 86)}==;EndpointSuffix=core.windows.net",
    lambda r: f"shopify: shpat_{pick(r, HEX, 32)}",
    lambda r: f"export VAULT_TOKEN=hvs.{pick(r, URL, 90)}",
    lambda r: f"discord_token = '{pick(r, B62, 26)}.{pick(r, URL, 6)}.{pick(r, URL, 38)}'",
    lambda r: f"Server=db;User Id=sa;Password={strong(r).replace(';', 'x')};",
    lambda r: f"<password>{human(r)}</password>",
    lambda r: f"curl -u deploy:{strong(r)} https://ci.corp.net/job",
    lambda r: f"secret_key_base: {pick(r, HEX, 128)}",
    lambda r: f"DO_TOKEN=dop_v1_{pick(r, HEX, 64)}",
    lambda r: f"machine api.corp.net login bot password {strong(r)}",
]
HELD: list[Make] = [
    lambda r: f'  "accessKeyId": "ASIA{pick(r, UP, 16)}",',
    lambda r: f'SecretAccessKey: "{pick(r, B64, 40)}"',
    lambda r: f"git clone https://x-access-token:ghs_{pick(r, B62, 36)}@github.com/a/b.git",
    lambda r: f"pat: github_pat_{pick(r, B62, 22)}_{pick(r, B62, 59)}",
    lambda r: f"rk = 'rk_live_{pick(r, B62, 24)}'",
    lambda r: f'"client_secret": "GOCSPX-{pick(r, URL, 28)}"',
    lambda r: f'"private_key": "{pem(r, "PRIVATE KEY", chr(92) + "n")}",',
    lambda r: pem(r, "OPENSSH PRIVATE KEY"),
    lambda r: f"jwt={jwt(r)}",
    lambda r: f"npm_token: npm_{pick(r, B62, 36)}",
    lambda r: f"MAILGUN_API_KEY=key-{pick(r, HEX, 32)}",
    lambda r: f'let apiKey = "{pick(r, B62, 40)}"',
    lambda r: f"api-key: {uuid.UUID(int=r.getrandbits(128))}",
    lambda r: f"REDIS_URL=redis://default:{pick(r, B62, 32)}@cache.corp.net:6379",
    lambda r: f"mysql -u root -p{pick(r, B62, 14)} shop",
    lambda r: f"POSTGRES_PASSWORD: '{strong(r)}'",
    lambda r: f'passphrase = "{strong(r)}"',
    lambda r: f"$db_pass = '{human(r)}';",
    lambda r: f"ENV ADMIN_PASSWORD={human(r)}",
    lambda r: f"auth_token={pick(r, HEX, 40)}",
    lambda r: f"X-Api-Key: {pick(r, B62, 36)}",
    lambda r: f"DATABRICKS_TOKEN=dapi{pick(r, HEX, 32)}",
    lambda r: f"GRAFANA=glsa_{pick(r, B62, 32)}_{pick(r, HEX, 8)}",
    lambda r: f'key = "AGE-SECRET-KEY-1{pick(r, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)}"',
    lambda r: f"docker login -u bot -p dckr_pat_{pick(r, URL, 27)}",
    lambda r: f"LINEAR=lin_api_{pick(r, B62, 40)}",
    lambda r: f"signing_secret: {pick(r, HEX, 32)}",
    lambda r: f"encryption_key = b'{pick(r, URL, 43)}='",
    lambda r: f"mongodb+srv://svc:{pick(r, B62, 18)}@c0.abcde.mongodb.net/prod",
    lambda r: f'<add key="ApiSecret" value="{pick(r, B62, 32)}" />',
    lambda r: f'password: "{human(r)}"  # staging',
    lambda r: (
        f"webhook: https://discord.com/api/webhooks/{r.randint(10**17, 10**18)}/{pick(r, URL, 68)}"
    ),
]
TUNE_LIKE: list[Make] = [
    lambda r: f"commit {pick(r, HEX, 40)}",
    lambda r: f'"integrity": "sha512-{pick(r, B64, 86)}==",',
    lambda r: f'checksum = "{pick(r, HEX, 64)}"',
    lambda r: f"id: {uuid.UUID(int=r.getrandbits(128))}",
    lambda r: f'API_KEY = os.environ["API_KEY_{r.randint(1, 99)}"]',
    lambda r: f"const token = process.env.TOKEN_{r.randint(1, 99)};",
    lambda r: f"api_key: your-api-key-here-{r.randint(1, 99)}",
    lambda r: f"PASSWORD=<your password {r.randint(1, 99)}>",
    lambda r: f"password: ${{DB_PASSWORD_{r.randint(1, 99)}}}",
    lambda r: f"max_tokens: {r.randint(100, 9999)}",
    lambda r: f"token_count = len(tokens) + {r.randint(1, 99)}",
    lambda r: f'password_field = "user_password_{r.randint(1, 99)}"',
    lambda r: f"def check_password(password: str, salt{r.randint(1, 99)}: bytes) -> bool:",
    lambda r: f"ssh-rsa AAAAB3NzaC1yc2E{pick(r, B64, 100)} bot@host",
    lambda r: "-----BEGIN CERTIFICATE-----\n" + pick(r, B64, 64),
    lambda r: f"background: url(data:image/png;base64,{pick(r, B64, 80)});",
    lambda r: f'password_hash = "$2b$12${pick(r, B62 + "./", 53)}"',
    lambda r: f"key = 'primary_key_{r.randint(1, 99)}'",
    lambda r: f"secretName: my-app-secret-{r.randint(1, 99)}",
    lambda r: f"https://example.com/reset?token={{token{r.randint(1, 99)}}}",
    lambda r: f"postgres://user:password@localhost:5432/app{r.randint(1, 99)}",
    lambda r: f"aws_access_key_id = AKIAIOSFODNN7EXAMPLE  # {r.randint(1, 99)}",
    lambda r: f"token = generate_token({r.randint(16, 64)})",
    lambda r: f'"password": "Passwort vergessen? {r.randint(1, 99)}",',
    lambda r: f"apiKey: config.services.api{r.randint(1, 99)}.key,",
    lambda r: f"PASSWORD_RESET_TIMEOUT = {r.randint(1000, 99999)}",
    lambda r: f"#secret-{pick(r, HEX, 6)} {{ color: #{pick(r, HEX, 6)}; }}",
    lambda r: f"Authorization: Bearer <token{r.randint(1, 99)}>",
    lambda r: f"password: '{'*' * r.randint(8, 16)}'",
    lambda r: (
        f"const csrfToken{r.randint(1, 99)} = document.querySelector('meta[name=csrf-token]');"
    ),
    lambda r: f"if (token{r.randint(1, 99)} === expectedTokenValue) {{",
    lambda r: f"export function a{pick(r, B62, 12)}(b){{return b.token}}",
]
HELD_LIKE: list[Make] = [
    lambda r: f"index {pick(r, HEX, 10)}..{pick(r, HEX, 10)} 100644",
    lambda r: f"    --hash=sha256:{pick(r, HEX, 64)} \\",
    lambda r: (
        f'resolved "https://packages.example.org/x/-/x-1.0.{r.randint(1, 99)}.tgz#{pick(r, HEX, 40)}"'
    ),
    lambda r: f'"requestId": "{uuid.UUID(int=r.getrandbits(128))}",',
    lambda r: f'token = getenv("SERVICE_TOKEN_{r.randint(1, 99)}", "")',
    lambda r: f"password: {{{{ vault_password_{r.randint(1, 99)} }}}}",
    lambda r: f"api_key: xxxxxxxxxxxxxxxxxxxx{r.randint(1, 99)}",
    lambda r: f"SECRET_KEY=changeme{r.randint(1, 99)}",
    lambda r: f"tokenizer = AutoTokenizer.from_pretrained('org/model-{r.randint(1, 99)}b')",
    lambda r: f"token_type_id_{r.randint(1, 99)} = batch['token_type_ids']",
    lambda r: f'this.passwordInput{r.randint(1, 99)} = form.elements["password"];',
    lambda r: f"| `api_key` | string | The key number {r.randint(1, 99)} of your account |",
    lambda r: f"password = getpass.getpass('Password {r.randint(1, 99)}: ')",
    lambda r: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5{pick(r, B64, 48)} bot@host",
    lambda r: "-----BEGIN PUBLIC KEY-----\n" + pick(r, B64, 64),
    lambda r: f"password: ENC[AES256_GCM,data:{pick(r, B64, 24)},iv:{pick(r, B64, 43)}=,type:str]",
    lambda r: f"PASSWORD_HASH=$argon2id$v=19$m=65536,t=3,p=4${pick(r, B64, 22)}${pick(r, B64, 43)}",
    lambda r: f"cache_key = f'user:{{user_id}}:{r.randint(1, 99)}'",
    lambda r: f"secretKeyRef: {{ name: db-credentials-{r.randint(1, 99)}, key: password }}",
    lambda r: f"https://user@host{r.randint(1, 99)}.example.org/path",
    lambda r: f"mysql://root:root@127.0.0.1/test{r.randint(1, 99)}",
    lambda r: f"pk = 'pk_live_{pick(r, B62, 24)}'  # made to be shown",
    lambda r: f"secret = Secret.from_name('prod-{r.randint(1, 99)}')",
    lambda r: f'"tokenExpired": "Ihre Sitzung ist abgelaufen ({r.randint(1, 99)})",',
    lambda r: f"private readonly token{r.randint(1, 99)}: string | undefined;",
    lambda r: f"SESSION_COOKIE_NAME = 'session_{r.randint(1, 99)}'",
    lambda r: f".token-{pick(r, HEX, 8)} > a::before",
    lambda r: f'curl -H "Authorization: Bearer $TOKEN_{r.randint(1, 99)}" https://api.host/v1',
    lambda r: f"assert not login('ann', password='wrong{r.randint(1, 9)}')",
    lambda r: f"keys = sorted(d{r.randint(1, 99)}.keys(), key=lambda pair: pair[1])",
    lambda r: f"passwords = read_lines(path / 'passwords-{r.randint(1, 99)}.txt')",
    lambda r: f"signature: 'sha1={pick(r, HEX, 4)}…',  # see the docs, {r.randint(1, 99)}",
]


def secrets(part: str) -> list[str]:
    """100 of a half."""
    return list(_made(TUNE if part == "tune" else HELD, 100, f"secrets {part}"))


def look_alikes(part: str) -> list[str]:
    """1,000 of a half."""
    return list(_made(TUNE_LIKE if part == "tune" else HELD_LIKE, 1000, f"like {part}"))


def _made(makers: list[Make], count: int, seed: str) -> Iterator[str]:
    r = random.Random(seed)
    for number in range(count):
        yield makers[number % len(makers)](r)
