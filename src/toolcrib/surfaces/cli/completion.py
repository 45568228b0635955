"""`toolcrib completion`: what a shell completes after `toolcrib`, as a script of its own."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from typing import TYPE_CHECKING

from toolcrib.surfaces.cli.commands import COMMANDS
from toolcrib.surfaces.cli.flags import NAMES, Flags

if TYPE_CHECKING:
    from collections.abc import Mapping

HOW = """\
examples:
  toolcrib completion bash > ~/.local/share/bash-completion/completions/toolcrib
  toolcrib completion zsh > ~/.zfunc/_toolcrib      (a folder of $fpath)
  toolcrib completion fish > ~/.config/fish/completions/toolcrib.fish

It completes commands, tools and their arguments; make it again after an update.
"""
SHELLS = ("bash", "zsh", "fish")


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = HOW
    parser.add_argument("shell", choices=SHELLS)


def run(options: Namespace, flags: Flags) -> int:
    """Print the script of a shell."""
    from toolcrib.toolbox import available

    found = available(flags.load()).tools
    tools = {t.name: list(t.schema["properties"]) for t in found}
    writers = {"bash": bash, "zsh": zsh, "fish": fish}
    print(writers[options.shell](dict(sorted(tools.items()))), end="")
    return 0


def bash(tools: Mapping[str, list[str]]) -> str:
    """For bash: a function that looks at the words before the cursor."""
    cases = "\n".join(
        f"    {tool}) words='{' '.join(f'{name}=' for name in names)}'; compopt -o nospace ;;"
        for tool, names in tools.items()
        if names
    )
    return f"""\
_toolcrib() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" command="${{COMP_WORDS[1]}}" words=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='{" ".join((*COMMANDS, *NAMES))}'
  elif [ "$COMP_CWORD" -eq 2 ] && [[ "$command" == call || "$command" == help ]]; then
    words='{" ".join(tools)}'
  elif [ "$command" = call ] && [[ "$current" != *=* ]]; then
    case "${{COMP_WORDS[2]}}" in
{cases}
    esac
  fi
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}}
complete -o default -F _toolcrib toolcrib
"""


def zsh(tools: Mapping[str, list[str]]) -> str:
    """For zsh: a file of $fpath."""
    commands = "\n".join(
        f"    '{name}:{text.replace(chr(39), '')}'" for name, text in COMMANDS.items()
    )
    cases = "\n".join(
        f"      {tool}) compadd -S '' -- {' '.join(f'{name}=' for name in names)} ;;"
        for tool, names in tools.items()
        if names
    )
    return f"""\
#compdef toolcrib
_toolcrib() {{
  local -a commands
  commands=(
{commands}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
  elif (( CURRENT == 3 )) && [[ $words[2] == (call|help) ]]; then
    compadd -- {" ".join(tools)}
  elif [[ $words[2] == call && $words[CURRENT] != *=* ]]; then
    case $words[3] in
{cases}
    esac
    _files
  else
    _files
  fi
}}
if [ "$funcstack[1]" = _toolcrib ]; then _toolcrib "$@"; else compdef _toolcrib toolcrib; fi
"""


def fish(tools: Mapping[str, list[str]]) -> str:
    """For fish: a line for each word."""
    lines = ["complete -c toolcrib -f"]
    lines += [
        f'complete -c toolcrib -n __fish_use_subcommand -a {name} -d "{text}"'
        for name, text in COMMANDS.items()
    ]
    known = " ".join(tools)
    lines += [
        (
            f'complete -c toolcrib -n "__fish_seen_subcommand_from call help; and not '
            f'__fish_seen_subcommand_from {known}" -a "{known}"'
        )
    ]
    lines += [
        f'complete -c toolcrib -n "__fish_seen_subcommand_from {tool}" '
        f'-a "{" ".join(f"{name}=" for name in names)}" -F'
        for tool, names in tools.items()
        if names
    ]
    return "\n".join(lines) + "\n"
