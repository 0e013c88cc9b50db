#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write man pages of `shoal` and each of its commands, and completions for bash, zsh and fish.

The pages are made of the texts of --help. Import of shoal.cli must work.

python command_pages.py FOLDER    -> FOLDER/man/shoal.1, shoal-combine.1, ..., FOLDER/shoal.bash, .zsh, .fish
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import typer

import shoal
from shoal import cli

_shells = ("bash", "zsh", "fish")


def _escaped(text: str) -> str:
    """Text for roff: no character of it is an instruction."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return "\n".join(r"\&" + line if line.startswith((".", "'")) else line for line in text.splitlines())


def _paragraphs(text: str) -> list[str]:
    """Help text as roff: blocks between empty lines; what is indented or begins with \\b keeps its lines."""
    lines = []
    for block in re.split(r"\n\s*\n", text.replace("\f", "").strip()):
        keeps_lines = block.startswith("\b") or block.startswith("    ")
        block = block.lstrip("\b\n")
        if keeps_lines:
            lines += [".PP", ".nf", _escaped(block), ".fi"]
        else:
            lines += [".PP", _escaped(" ".join(part.strip() for part in block.splitlines()))]
    return lines


def _plain(text: str) -> str:
    """Without the marks of rich."""
    return re.sub(r"\[/?(?:bold|italic|dim|red|green|yellow|cyan|link)[^\]]*\]", "", text)


def _defaults(parameter) -> str:
    value = parameter.default
    if value in (None, "", (), []) or isinstance(value, bool) or callable(value) or parameter.required:
        return ""
    if parameter.help and "default" in parameter.help.lower():
        return ""
    if isinstance(value, (list, tuple)):
        value = ", ".join(map(str, value))
    return f" [default: {getattr(value, 'value', value)}]"


def _options(command, context) -> list[str]:
    options, arguments = [], []
    for parameter in command.get_params(context):
        if getattr(parameter, "hidden", False):
            continue
        about = _plain(getattr(parameter, "help", None) or "") + _defaults(parameter)
        text = _escaped(" ".join(about.split()))
        if parameter.param_type_name == "argument":
            arguments += [".TP", rf"\fI{_escaped(_metavar(parameter))}\fP", text or r"\&"]
            continue
        names = ", ".join(rf"\fB{_escaped(name)}\fP" for name in sorted(parameter.opts, key=len))
        if parameter.secondary_opts:
            names += ", " + ", ".join(rf"\fB{_escaped(name)}\fP" for name in parameter.secondary_opts)
        if not any(getattr(parameter, flag, False) for flag in ("is_flag", "is_bool_flag", "count")):
            names += rf" \fI{_escaped(_metavar(parameter))}\fP"
        options += [".TP", names, text or r"\&"]
    lines = []
    if arguments:
        lines += [".SH ARGUMENTS", *arguments]
    if options:
        lines += [".SH OPTIONS", *options]
    return lines


def _metavar(parameter) -> str:
    """What stands for the value. Not asked of Typer, of which each version has another function for it."""
    if parameter.metavar:
        return parameter.metavar
    if parameter.param_type_name == "argument":
        return parameter.name.upper() + ("..." if parameter.nargs == -1 else "")
    kind = getattr(getattr(parameter, "type", None), "name", "")
    return {"text": "TEXT", "integer": "N", "float": "X"}.get(kind, "VALUE")


def _usage(command, context) -> str:
    if getattr(command, "commands", None):
        return "[OPTIONS] COMMAND [ARGS]..."
    words = ["[OPTIONS]"]
    for parameter in command.get_params(context):
        if parameter.param_type_name == "argument":
            name = _metavar(parameter)
            words.append(name if parameter.required else f"[{name.strip('[]')}]")
    return " ".join(words)


def _head(name: str, summary: str) -> list[str]:
    return [
        f'.TH {_escaped(name.upper())} 1 "" "shoal {_escaped(shoal.version())}" "Shoal"',
        ".SH NAME",
        f"{_escaped(name)} \\- {_escaped(summary)}",
    ]


def _summary(command) -> str:
    text = " ".join(_plain(command.help or "").split())
    return re.split(r"(?<=\.)\s", text)[0].rstrip(".") or command.name


def page(command, context, name: str, commands: list[str], others: list[str]) -> str:
    """commands: of a group, those that it shows; others: names of the pages to see, too."""
    usage = _usage(command, context)
    lines = [
        *_head(name, _summary(command)),
        ".SH SYNOPSIS",
        rf"\fB{_escaped(name.replace('-', ' '))}\fP {_escaped(usage)}",
    ]
    description, status = _split_status(_plain(command.help or ""))
    lines += [".SH DESCRIPTION", *_paragraphs(description)]
    if commands:
        lines.append(".SH COMMANDS")
        for one in commands:
            lines += [".TP", rf"\fB{_escaped(one)}\fP", _escaped(_summary(command.commands[one])) + "."]
    lines += _options(command, context)
    if status:
        lines += [".SH EXIT STATUS", *_paragraphs(status)]
    lines += [".SH SEE ALSO", ",\n".join(rf"\fB{_escaped(one)}\fP(1)" for one in others if one != name)]
    return "\n".join(lines) + "\n"


def _split_status(text: str) -> tuple[str, str]:
    """The paragraph of --help on the exit status has a section of its own in a man page."""
    blocks = re.split(r"\n\s*\n", text)
    status = [block for block in blocks if block.strip().startswith("Exit status")]
    return "\n\n".join(block for block in blocks if block not in status), "\n\n".join(status)


def completion(shell: str) -> str:
    """The script that the command itself prints."""
    code = "import sys; sys.argv = ['shoal']; from shoal.cli import main; main()"
    environment = {**os.environ, "_SHOAL_COMPLETE": f"source_{shell}"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if "_SHOAL_COMPLETE" not in done.stdout:
        sys.exit(f"command_pages.py: no completion for {shell}: {done.stdout}{done.stderr}")
    script = done.stdout.lstrip("\n")
    if shell == "zsh":
        # The file is loaded at the first use, which is to complete as well.
        script = script.rstrip("\n") + '\n[[ $funcstack[1] == _shoal ]] && _shoal_completion "$@"\n'
    return script


def write_pages(folder: Path, command, context, name: str, others: list[str]) -> None:
    """Of the command, and of those in it. others: names of pages beside it."""
    # Commands of other packages have pages of their own.
    commands = sorted(one for one in getattr(command, "commands", {}) if one not in cli._packages)
    inside = [f"{name}-{one}" for one in commands]
    text = page(command, context, name, commands, [*others, *inside])
    (folder / f"{name}.1").write_text(text, encoding="utf-8")
    for one in commands:
        within = command.commands[one].make_context(one, [], parent=context, resilient_parsing=True)
        write_pages(folder, command.commands[one], within, f"{name}-{one}", [name, *inside])


def main() -> None:
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "man").mkdir(parents=True)
    cli._register_commands()
    group = typer.main.get_command(cli.app)
    root = group.make_context("shoal", [], resilient_parsing=True)
    write_pages(folder / "man", group, root, "shoal", ["shoal"])
    for shell in _shells:
        (folder / f"shoal.{shell}").write_text(completion(shell), encoding="utf-8")


if __name__ == "__main__":
    main()
