"""Names that begin with a dot: programs look for their settings under such names.

Which programs there are on a machine, and what they look for, nobody can list. What holds only
results of programs can be listed, and what is none of it is taken for settings.
"""

from __future__ import annotations

import re

from toolcrib.files.path_rules import GENERATED_FOLDERS, PatternSet, fold
from toolcrib.files.paths import SafePath

DOT_NAME = "a name that begins with a dot, as programs have for their settings"
_HARMLESS_TEXT = """
.git .hg .svn .jj .github/issue_template .github/pull_request_template .changeset/*.md
.well-known .cache .pytest_cache .mypy_cache .ruff_cache .parcel-cache .sass-cache .jekyll-cache
.hypothesis .ipynb_checkpoints .nyc_output .next .nuxt .output .svelte-kit .astro .angular .expo
.docusaurus .vitepress/dist .vitepress/cache .vitepress/.temp .vite .webpack .turbo/cache
.turbo/*.log .turbo/cookies .turbo/daemon .turbo/runs .nx/cache .nx/workspace-data
.gradle/[0-9]* .gradle/buildoutputcleanup .gradle/vcs-1 .gradle/configuration-cache
.gradle/file-system.probe .kotlin/sessions .kotlin/errors .stack-work .build .deps .libs .objs
.zig-cache .zig-out .elixir_ls .mlruns .dist .doctrees .benchmarks .pytype .fseventsd
.spotlight-v100 .trash .trash-* .tmp .tmp-* .temp .temp-*
"""
HARMLESS = PatternSet(_HARMLESS_TEXT.split())
"""Folders, as patterns of `path_rules`: repositories, for which there are other rules, and what
builds and editors leave and read again."""
_HARMLESS_FILES_TEXT = """
.*ignore .*-ignore .env?* .editorconfig .mailmap .git-blame-ignore-revs .nojekyll .gitkeep .keep
.placeholder .empty .github/codeowners .github/funding.yml .github/readme.md
.github/contributing.md .github/code_of_conduct.md .github/security.md .github/support.md
.github/pull_request_template.md .github/issue_template.md .changeset/readme.md .clang-format
.yamllint* .markdownlint.json .markdownlint.y*ml .rustfmt.toml .release-please-manifest.json
.coverage .coverage.* .tsbuildinfo .*.tsbuildinfo .eslintcache .stylelintcache .prettiercache
.phpunit.result.cache .buildinfo .cargo-lock .flutter-plugins* .jekyll-metadata .hugo_build.lock
.testmondata* .ds_store ._* .nfs* .fuse_hidden* .wh.* .#* .~* .*.sw? .*.un~ .*~ .tmp* .temp.*
.temp-* .lock .done .stamp .timestamp .installed .hidden .data .state .log .pid .*.tmp .*.temp
.*.lock .*.pid .*.log .*.txt .*.csv .*.tsv .*.db .*.db-* .*.sqlite* .*.png .*.jpg .*.svg .*.pdf
.*.bak .*.marker .*.stamp .*.d
"""
HARMLESS_FILES = PatternSet(_HARMLESS_FILES_TEXT.split())
"""Files: ignore files, which are judged; data; what programs note for themselves."""
VERSIONS = PatternSet((".*-version", ".nvmrc"))
MAX_VERSION_BYTES = 1_000
_VERSION = re.compile(
    r"(?:(?:c?python|pypy|graalpy|(?:mini|ana)conda\d?|miniforge\d?|node|(?:j|m|truffle)?ruby|go|deno"
    r"|bun|java|jdk|openjdk|temurin|zulu|corretto|graalvm|perl|php|swift|terraform)[-@]?)?"
    r"v?\d+(?:\.\d+)*(?:[-._]?(?:a|b|rc|p|m|u|t|dev|alpha|beta|pre|lts)\.?\d*)?(?:-\d[\d.-]*)?"
    r"(?:\+[\d.]+)?|lts/[a-z*]+",
    re.ASCII,
)
"""A number, with an implementation before it; any other word may be a folder with a program."""
RESULTS = (GENERATED_FOLDERS - {".git", ".hg", ".svn", ".jj"}) | {"out", "_build", "obj"}
"""Folders of what builds make."""
_OF_GIT = re.compile(
    r"[A-Z][A-Z0-9_]*|config(?:\.worktree)?|description|hooks|info|objects|refs|logs|packed-refs"
    r"|shallow|branches|remotes|modules|worktrees|lfs|annex|rr-cache|rebase-(?:merge|apply)|sequencer"
    r"|(?:next-|shared)?index(?:[.-].*)?|commondir|gitdir|gc\.(?:log|pid)|.*\.lock|lost-found|svn"
    r"|filter-repo|fsmonitor--daemon.*|gitk\.cache|gitweb|.*\.refused|reftable"
)


def find_dot_name(path: SafePath) -> int | None:
    """How many names lead to the first that is taken for settings, it included; None for none."""
    names = [fold(name) for name in path.parts]
    first = next((depth for depth, name in enumerate(names) if name.startswith(".")), None)
    if first is None or not RESULTS.isdisjoint(names[:first]):
        return None
    for end in range(first + 1, len(names) + 1):
        found = HARMLESS.find(names, end)
        if end == len(names):
            found += HARMLESS_FILES.find(names, end)
        # What begins behind the first lies in a folder of settings.
        if any(end - len(pattern.names) <= first for pattern in found):
            return None
    return first + 1


def names_version(path: SafePath) -> bool:
    """Whether a program reads there which version is to be used."""
    return bool(VERSIONS.find([fold(path.name)], 1))


def is_version(content: bytes) -> bool:
    """Whether it says nothing but versions, and leads to no program."""
    lines = content.decode("latin-1").split("\n")
    words = [word for line in lines if line[:1] != "#" for word in line.split()]
    is_short = len(content) <= MAX_VERSION_BYTES
    return is_short and all(len(word) < 50 and _VERSION.fullmatch(word) for word in words)


def is_gits_own(name: str) -> bool:
    """Whether git itself has a file or folder of that name in a repository's own folder."""
    return _OF_GIT.fullmatch(name) is not None
