"""One list of protected names for all tools."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.files.path_rules import READ_PATTERNS, WRITE_PATTERNS, PatternSet, Protection, Use


def match(path: str, use: str = "read", root: str = "/srv/ws", **lists: list[str]) -> str:
    """The pattern that forbids a path beneath a root."""
    above = [part for part in root.split("/") if part]
    parts = path.split("/")
    return Protection(**lists).match([*above, *parts], len(parts), use)  # type: ignore[arg-type]


READ_PROTECTED = [
    ".env",
    ".env.local",
    ".ENV",
    "app/.env.production",
    ".envrc",
    "certs/server.pem",
    "server.KEY",
    "id_rsa",
    "..env.un~",
    "server.key.old",
    "prod.env",
    "config/secrets.yml",
    "service-account-prod.json",
    ".dev.vars",
    ".streamlit/secrets.toml",
    "infra/terraform.tfstate.backup",
    "kubeconfig.yaml",
    ".git-credentials~",
    "#server.key#",
    "server.key.save",
    ".server.pem.kate-swp",
    "id_ed25519",
    "home/.ssh/config",
    ".ssh",
    ".gnupg/secring.gpg",
    ".aws/credentials",
    ".kube/config",
    ".config/gh/hosts.yml",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".docker/config.json",
    ".local/share/keyrings/login.keyring",
    ".mozilla/firefox/x/logins.json",
    ".config/google-chrome/Default/Cookies",
    "Library/Keychains/login.keychain",
    "auth.json",
    ".vscode/sftp.json",
    "sftp-config.json",
    ".git/git-crypt/keys/default",
    ".git/modules/sub.git/git-crypt/keys/default",
    ".git/annex/creds/x",
    ".secrets.toml",
    "conf/secrets.json",
    "secrets.toml",
    ".mylogin.cnf",
    ".pg_service.conf",
    "office.ovpn",
    "wg0.conf",
    ".authinfo.gpg",
    "android/key.properties",
    ".config/pypoetry/auth.toml",
    ".subversion/auth/svn.simple/x",
    "deploy_key",
    "deploy_key_ed25519",
    "github_id_rsa",
    "work_id_ed25519.old",
    "prod.auto.tfvars",
    "prod.env.local",
    "prod.env.production",
    "prod.env.test.local",
    # What lies beside such a file.
    "prod.env~",
    ".prod.env.swp",
    "credentials.json~",
    "credentials.json.bak",
    ".credentials.json.swp",
    "#credentials.json#",
    "config/secrets.yaml.orig",
    "kubeconfig.save",
    "store.p12.old",
    "store.pfx~",
    "store.jks.bak",
    "release.keystore.old",
    "vault.kdbx.old",
    "login.ppk~",
    "AuthKey.p8.bak",
    ".npmrc.swp",
    "..npmrc.un~",
    "#.npmrc#",
    ".id_rsa.swp",
    ".boto.bak",
    "deploy_key.old",
]
READABLE = [
    ".env.example",
    ".env.sample",
    ".env.template",
    "id_ed25519.pub",
    "v/lib/site-packages/certifi/cacert.pem",
    "environment.py",
    ".git/config",
    ".vscode/settings.json",
    ".bashrc",
    ".config/app/settings.json",
    "docker/config.json",
    "keys.py",
    "monkey",
    "kubeconfig.go",
    "docker/example.env",
    "secrets.py",
    ".dev.vars.example",
    ".secrets.toml.example",
    "prod.env.example",
    ".prod.env.sample",
    "webpack.env.js",
    "github_id_rsa.pub",
    "deploy_key.pub",
    "app/models/deploy_key.rb",
    "deploy_keys.go",
    "terraform.tfvars",
    "nuget.config",
    ".bundle/config",
    "public/locales/en/auth.json",
    "src/i18n/pt-BR/auth.json",
    "auth.py",
    "credentials.json.md",
]
WRITE_PROTECTED = [
    ".git/hooks/pre-commit",
    ".git/config",
    ".git/modules/sub/config",
    ".git",
    "sub/.git",
    ".gitmodules",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".cursor/mcp.json",
    ".mcp.json",
    "mcp.json",
    ".bashrc",
    ".zshrc",
    ".profile",
    ".config/fish/config.fish",
    "Documents/PowerShell/Microsoft.PowerShell_profile.ps1",
]
WRITABLE = [
    "src/main.py",
    ".gitignore",
    ".git/info/exclude",
    ".github/x.yml",
    "config",
    ".env.example",
]


@each_case("path", READ_PROTECTED)
def test_secrets_are_neither_read_nor_written(path: str) -> None:
    assert match(path)
    assert match(path, "write")


@each_case("path", READABLE)
def test_the_rest_is_read(path: str) -> None:
    assert match(path) == ""


@each_case("path", WRITE_PROTECTED)
def test_what_others_run_is_not_written(path: str) -> None:
    assert match(path, "write")


@each_case("path", WRITABLE)
def test_the_rest_is_written(path: str) -> None:
    assert match(path, "write") == ""


def test_the_root_itself_was_the_users_choice() -> None:
    assert match("notes.txt", root="/home/u/.ssh") == ""
    assert match("id_rsa", root="/home/u/.ssh") == "id_rsa*"


def test_a_pattern_may_start_above_the_root() -> None:
    assert match("gh/hosts.yml", root="/home/u/.config") == ".config/gh"


def test_the_users_own_patterns() -> None:
    lists = {"protect_read": ["private", "*.secret"], "protect_write": ["build/*"]}
    assert match("a/private/x", **lists) == "private"
    assert match("x.SECRET", **lists) == "*.secret"
    assert match("x.secret", "write", **lists) == "*.secret"
    assert match("build/out.js", **lists) == ""
    assert match("build/out.js", "write", **lists) == "build/*"


def test_unprotect_as_listed() -> None:
    assert match(".env", unprotect=[".env*"]) == ""
    assert match(".git/hooks/x", "write", unprotect=[".git/hooks"]) == ""
    assert match(".git/config", "write", unprotect=[".git/hooks"]) == ".git/config"


def test_unprotect_something_narrower() -> None:
    lists = {"unprotect": [".env.test", ".vscode/settings.json"]}
    assert match(".env.test", **lists) == ""
    assert match(".env", **lists) == ".env*"
    assert match(".vscode/settings.json", "write", **lists) == ""
    assert match(".vscode/tasks.json", "write", **lists) == ".vscode"


def test_unprotect_does_not_reach_beneath_something_else() -> None:
    assert match(".ssh/.env.example") == ".ssh"
    assert match(".ssh/.env.test", unprotect=[".env.test"]) == ".ssh"


def granted(path: str, *place: str, **lists: list[str]) -> str:
    top = ("srv", "ws")
    protection = Protection(**lists).granting([(*top, *place)])
    parts = path.split("/")
    return protection.match([*top, *parts], len(parts), "write")


def test_what_is_granted_is_one_name_and_those_above_it() -> None:
    place = (".git", "hooks", "x.sample")
    for path in (".git", ".git/hooks", ".git/hooks/x.sample"):
        assert match(path, "write")
        assert granted(path, *place) == ""
    for path in (
        ".git/hooks/x",
        ".git/hooks/x.sample/y",
        ".git/hooks/X.sample",
        ".GIT",
        ".git/config",
        "sub/.git",
    ):
        assert granted(path, *place), path


def test_a_grant_lifts_neither_secrets_nor_the_users_own_nor_ours() -> None:
    assert granted(".env", ".env") == ".env*"
    assert granted(".git/config", ".git", "config", protect_write=[".git"]) == ".git"
    assert granted(".vscode", ".vscode", own=["/srv/ws/.vscode"])
    added = Protection().granting([("srv", "ws", ".git")])
    added.add([".git"])
    assert added.match(["srv", "ws", ".git"], 1, "write") == ".git"


def test_unprotect_does_not_lift_the_users_own() -> None:
    assert match("x.secret", protect_read=["*.secret"], unprotect=["*.secret"]) == "*.secret"


def test_our_own_settings_are_not_written() -> None:
    protection = Protection(own=["/srv/ws/conf/toolcrib"])
    names = ["srv", "ws", "conf", "toolcrib", "config.toml"]
    assert protection.match(names, 3, "write")
    assert protection.match(names, 3, "read") == ""


def test_anchored_patterns_count_from_the_top() -> None:
    protection = Protection()
    assert protection.match(["proc", "1", "environ"], 3, "read")
    assert protection.match(["srv", "proc", "1", "environ"], 3, "read") == ""


@given(
    st.sampled_from([*READ_PATTERNS, *WRITE_PATTERNS]),
    st.lists(st.sampled_from(["a", "b c", "ü"]), max_size=3),
    st.lists(st.sampled_from(["a", "x.txt"]), max_size=2),
    st.sampled_from([str.lower, str.upper, str.title]),
)
def test_each_pattern_protects_itself_anywhere(pattern, above, below, case) -> None:
    if pattern.startswith("/"):
        return
    name = case(pattern.replace("*", "x"))
    assert match("/".join([*above, name, *below]), "write")


@given(
    st.lists(
        st.sampled_from(
            [
                "a",
                "b*",
                "*",
                "a/*",
                "*/b",
                "*/*",
                "/a",
                "/*/b",
                "c/*/*",
                "?b",
                "b?",
                "[ab]",
                "[!a]b",
                "b]",
                ".*.b",
                ".*t",
            ]
        )
    ),
    st.lists(st.sampled_from(["a", "bb", "c", ".git", "b]", ".c.b"]), min_size=1, max_size=4),
)
def test_a_set_finds_what_its_patterns_match(texts, names) -> None:
    patterns = PatternSet(texts)
    for end in range(1, len(names) + 1):
        expected = [p for p in patterns.patterns if p.ends_at(names, end)]
        assert patterns.find(names, end) == expected


@each_case("use", ["read", "write"])
def test_ordinary_names_are_not_compared_pattern_by_pattern(use: Use) -> None:
    """Runs and searches ask of each of the ten thousands of files beneath a folder."""
    patterns = PatternSet(pattern.text for pattern in Protection().patterns(use))
    assert not patterns.may_match(("src", "main.py"))
    assert not patterns.may_match((".git", "index"))
    assert patterns.may_match((".git", "remotes", "origin"))
