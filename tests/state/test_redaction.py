"""Arguments without secrets, cut short."""

from __future__ import annotations

import html
import json
from base64 import b64encode
from urllib.parse import quote

from hypothesis import example, given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.state.redaction import (
    HIDDEN,
    KNOWN,
    SecretFilter,
    names_secret,
    redact,
    redact_text,
)

SECRET = "Zq7Xw9Lk3VbN5mPs"


@each_case(
    "name",
    [
        *("password", "PASSWD", "db_password", "api_key", "apiKey", "X-Api-Key", "APIKEY", "key"),
        *("token", "access_token", "accessToken", "Authorization", "cookie", "Set-Cookie", "auth"),
        *("client_secret", "AWS_SECRET_ACCESS_KEY", "private-key", "credentials", "sig"),
    ],
)
def test_secret_names(name: str) -> None:
    assert names_secret(name)
    assert redact({name: SECRET}) == {name: HIDDEN}
    assert redact({"headers": {name: [SECRET]}})["headers"] == {name: HIDDEN}


@each_case(
    "name",
    [
        "max_tokens",
        "tokens",
        "keyword",
        "monkey",
        "path",
        "query",
        "author",
        "key_count",
        "passage",
    ],
)
def test_plain_names(name: str) -> None:
    assert not names_secret(name)
    assert redact({name: "value"}) == {name: "value"}


@given(st.from_regex(KNOWN, fullmatch=True))
def test_what_has_the_shape_of_a_token_is_hidden(token: str) -> None:
    assert HIDDEN in redact_text(f"it is {token}")


@each_case(
    "text",
    [
        f"Authorization: Bearer {SECRET}",
        f"authorization: Basic {SECRET}==",
        f"Authorization: Digest username=x, response={SECRET}",
        f"curl -H 'X-Api-Key: {SECRET}' https://example.com",
        f"Cookie: a=1; session={SECRET}; b=2",
        f'{{"headers": {{"Cookie": "sid={SECRET}"}}}}',
        f'{{"password": "with \\" quote {SECRET}"}}',
        f'{{"body": "{{\\"password\\": \\"{SECRET}\\"}}"}}',
        f"https://user:{SECRET}@example.com/path",
        f"postgresql://{SECRET}@db/x",
        f"https://example.com/?q=1&api_key={SECRET}&page=2",
        f"https://example.com/#access_token={SECRET}",
        f"export GITHUB_TOKEN={SECRET}",
        f"mysql --password {SECRET} -u root",
        f"tool --token={SECRET}",
        f"password: {SECRET}",
        f"sk-{SECRET}",
        f"ghp_{SECRET}abcdef",
        f"github_pat_{SECRET}abcdef",
        f"xoxb-{SECRET}",
        "AKIAZQ7XWL3VBN5MPSAB",
        f"hf_{SECRET}abcdef",
        f"eyJ{SECRET}.{SECRET}.{SECRET}",
        f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY-----",
        f"-----BEGIN PRIVATE KEY-----\n{SECRET}",
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{SECRET}\n-----END PGP PRIVATE KEY BLOCK-----",
        f"export DATADOG_KEY={SECRET}",
        f"PGPASSWORD={SECRET} psql",
        f"DBPASSWORD: {SECRET}",
        f'[["Authorization", "Token {SECRET}"]]',
        f'[[\\"X-Api-Key\\", \\"{SECRET}\\"]]',
        f'{{"name": "Authorization", "value": "Token {SECRET}"}}',
        f"https://example.com/callback?code={SECRET}&state=1",
        f"https://example.com/?sessionid={SECRET}",
        f"https://example.com/?next=https%3A%2F%2Fb.test%2F%3Faccess_token%3D{SECRET}",
        f"https://example.com/?next=%2F%253Fapi_key%253D{SECRET}%2526x",
        f"curl -u me:{SECRET} https://example.com",
        f"curl -u 'me:a {SECRET}' https://example.com",
        f"curl --user=me:{SECRET} https://example.com",
        f"mysql -u root -p{SECRET} db",
        f"mysqldump -p{SECRET} db",
        f"sshpass -p {SECRET} ssh host",
        f"machine example.com login me password {SECRET}",
        f"machine example.com\n  login me\n  password {SECRET}\n",
        f"https://api.telegram.org/bot123456789:{SECRET}{SECRET}/getMe",
        f"https://hooks.slack.com/services/T000/B000/{SECRET}",
        f"https://discord.com/api/webhooks/1234567890/{SECRET}",
        f"https://discordapp.com/api/v10/webhooks/1234567890/{SECRET}",
        f"whsec_{SECRET}",
        f"GOCSPX-{SECRET}",
    ],
)
def test_secrets_in_text(text: str) -> None:
    stored = redact_text(text)
    assert HIDDEN in stored
    assert SECRET not in stored
    assert "AKIAZQ" not in stored


@each_case(
    "text",
    [
        "how do bearer bonds work",
        "a basic understanding of tokens",
        "https://example.com/@user/post?page=2",
        "def f(x): return x.token",
        "the password is wrong",
        "read ~/notes/todo.md and count 5:30",
        "mail me@example.com",
        "https://example.com/?q=a%3Db&page%3D2",
        '["path", "value"] and [1, 2]',
        "tar -u archive.tar file",
        "mysql -u root db",
        "a login page, and a password field",
        "mkdir -p a/b",
    ],
)
def test_plain_text_stays(text: str) -> None:
    assert redact_text(text) == text


@each_case(
    "value",
    [
        [["Authorization", f"Token {SECRET}"], ["Accept", "*/*"]],
        [{"name": "Authorization", "value": f"Token {SECRET}"}],
        [{"value": SECRET, "name": "X-Api-Key"}],
        ["tool", "--password", SECRET],
    ],
)
def test_secrets_beside_their_names(value: list) -> None:
    stored = json.dumps(redact({"given": value}))
    assert HIDDEN in stored
    assert SECRET not in stored


def test_a_list_without_labels_stays() -> None:
    given_list = {"given": ["how is a password kept", "tool", {"name": "colour", "value": "red"}]}
    assert redact(given_list) == given_list


def test_the_rest_of_a_line_stays() -> None:
    assert redact_text(f"https://h/?token={SECRET}&page=2") == f"https://h/?token={HIDDEN}&page=2"
    assert redact_text(f"Cookie: {SECRET}\nnext line") == f"Cookie: {HIDDEN}\nnext line"


def test_long_arguments_are_cut_with_a_count() -> None:
    stored = redact({"content": "x" * 1000, "path": "a.txt"}, 400)
    assert stored == {"content": f"{'x' * 400}… (600 more characters)", "path": "a.txt"}


def test_long_lists_are_cut_with_a_count() -> None:
    stored = redact({"urls": [f"https://example.com/{n}" for n in range(1000)]}, 100)["urls"]
    assert stored[0] == "https://example.com/0"
    assert stored[-1].startswith("… 99")
    assert len(json.dumps(stored)) < 400


def test_a_secret_across_the_cut_is_hidden() -> None:
    stored = redact({"command": f"{'x' * 390} --token {SECRET} end"}, 400)
    assert SECRET[:4] not in stored["command"]


Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), Json, max_size=5))
def test_any_arguments_come_out_as_bounded_json(arguments: dict) -> None:
    stored = redact(arguments, 100)
    assert set(stored) == {name[:80] for name in arguments}
    assert len(json.dumps(stored, ensure_ascii=False)) <= 2000 * (len(arguments) + 1)


@given(st.text(alphabet="abc =:/&?\"'@-\n"), st.text(alphabet="abc =:&?\n"))
@example('password="', '"')
def test_a_known_token_never_survives(before: str, after: str) -> None:
    token = f"ghp_{SECRET}{SECRET}"
    assert SECRET not in redact_text(f"{before} {token} {after}")


@each_case(
    "text",
    [
        *(
            "a" * 9,
            "a=" * 9,
            "'",
            'a="',
            "://",
            "a:" + " " * 9,
            "\\",
            "-----BEGIN PRIVATE KEY-----",
        ),
        *("bearer ", "--a ", "eyJ", "a://", "Cookie: ", "x-", '"', "x-key:"),
        *("mysql ", "-u a", '-u "a:', "login a ", "password ", "password a\n", "%3F", "a%3D"),
        *('"token","', "'a',", "token%3D%2", "sshpass -p", "?code="),
    ],
)
def test_no_text_takes_long(text: str) -> None:
    redact_text((text * 20_000)[:20_000])  # a pattern that tries everything takes many seconds


def spelled(key: str) -> list[str]:
    """A key as answers write it."""
    coded = b64encode(key.encode()).decode().rstrip("=")
    return [key, key.upper(), quote(key, safe=""), html.escape(key), json.dumps(key)[1:-1], coded]


@each_case("spelling", spelled('k&y/"q"+<7'))
def test_a_known_secret_is_hidden_in_every_spelling(spelling):
    screen = SecretFilter('k&y/"q"+<7')
    assert screen.text(f"a {spelling} b") == "a [redacted] b"
    assert screen.value({spelling: [spelling, 3]}) == {"[redacted]": ["[redacted]", 3]}
    assert screen.text(f"a {spelling[:6]}", cut=True) == "a [redacted]"


def test_no_secret_hides_nothing():
    assert SecretFilter().text("a b") == "a b"
    assert SecretFilter().value({"a": 1}) == {"a": 1}


@each_case(
    ("text", "hidden"),
    [
        ("My bank password is Kx9!vTq2pL7z, I think", f"My bank password is {HIDDEN} I think"),
        ("Das Kennwort lautet Sommer2024", f"Das Kennwort lautet {HIDDEN}"),
        ('the password of the NAS is "swordfish".', f'the password of the NAS is "{HIDDEN}".'),
        ("The PIN is 1234", f"The PIN is {HIDDEN}"),
        ("Kennwörter: Sommer99x!", f"Kennwörter: {HIDDEN}"),
        ("Minu parool on Kalev99x", f"Minu parool on {HIDDEN}"),
        ("我的WiFi密码是Sol2024x。", f"我的WiFi密码是{HIDDEN}。"),
        ("パスワードは「swordfish」です", f"パスワードは「{HIDDEN}」です"),
        ("비밀번호는 abc12345 입니다", f"비밀번호는 {HIDDEN} 입니다"),
        ("密码管理器是 Bitwarden", "密码管理器是 Bitwarden"),
        ("my password manager is Bitwarden", "my password manager is Bitwarden"),
        ("the password policy is 12 characters", "the password policy is 12 characters"),
    ],
)
def test_what_a_sentence_gives_away_is_hidden(text: str, hidden: str) -> None:
    assert redact_text(text) == hidden
    assert redact({"fact": text}) == {"fact": hidden}
    assert redact_text(hidden) == hidden
