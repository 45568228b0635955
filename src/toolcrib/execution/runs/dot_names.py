"""Names that begin with a dot: programs look for their settings under such names.

Which programs there are on a machine, and what they look for, nobody can list. What holds only
results of programs can be listed, and what is none of it is taken for settings.
"""

from __future__ import annotations

from toolcrib.files.path_rules import PatternSet, fold
from toolcrib.files.paths import SafePath

DOT_NAME = "a name that begins with a dot, as programs have for their settings"
HARMLESS = """
.git .hg .svn .jj .bzr .pijul .sl .*ignore .*-ignore .env?* .python-version
.*-version .nvmrc .mailmap .git-blame-ignore-revs .editorconfig .nojekyll
.gitkeep .keep .placeholder .empty .well-known
.github/*.md .github/issue_template .github/funding.yml
.cache .*cache .*-cache .*_cache .cache-* .hypothesis .ipynb_checkpoints
.coverage .coverage.* .nyc_output .tsbuildinfo .*.tsbuildinfo .eggs .next .nuxt
.output .svelte-kit .astro .turbo .nx .angular .expo .docusaurus .vitepress/dist
.vitepress/cache .vitepress/.temp .webpack .gradle .kotlin .stack-work .dart_tool
.flutter-plugins* .build .deps .libs .objs .zig-out .elixir_ls .mlruns .dist
.jekyll-metadata .hugo_build.lock .benchmarks .testmondata* .pytype .pyre
.ds_store ._* .fseventsd .spotlight-v100 .trash* .nfs* .fuse_hidden* .wh.* .#* .~*
.*.sw? .*.un~ .*~
.tmp* .temp* .lock .done .stamp .timestamp .installed .hidden .data .state .log .pid
.*.tmp .*.temp .*.lock .*.pid .*.log .*.txt .*.csv .*.tsv .*.db .*.db-* .*.sqlite*
.*.png .*.jpg .*.svg .*.pdf .*.bak .*.marker .*.stamp .*.d
"""
"""Patterns as in `path_rules`: what other rules judge (repositories, ignore files), what names a
version, an author, a width; what builds, editors and desktops leave and read again; data."""
_PATTERNS = PatternSet(HARMLESS.split())


def find_dot_name(path: SafePath) -> int | None:
    """How many names lead to the first that is taken for settings, it included; None for none."""
    names = [fold(name) for name in path.parts]
    first = next((depth for depth, name in enumerate(names) if name.startswith(".")), None)
    if first is None or any(_PATTERNS.find(names, end) for end in range(first + 1, len(names) + 1)):
        return None
    return first + 1
