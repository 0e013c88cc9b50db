"""The reference of module shoal, from the comments of its sources."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

from comments import numbered, to_markdown

_HEAD = re.compile(
    r"^ *(?:module )?((?:integer |logical )?)(subroutine|function) (\w+)\(([^)]*)\)(?: result\((\w+)\))?$"
)


@dataclass
class Procedure:
    name: str
    is_function: bool
    arguments: list[str]
    comment: list[str]
    result: str
    declared: dict[str, str] = field(default_factory=dict)


def _statements(text: str) -> list[str]:
    """Lines, continued ones joined."""
    return re.sub(r" *& *\n *", " ", text).split("\n")


def procedures_of(text: str) -> dict[str, Procedure]:
    found: dict[str, Procedure] = {}
    comment: list[str] = []
    inside: Procedure | None = None
    for line in _statements(text):
        head = _HEAD.match(line)
        if head:
            names = [name.strip() for name in head[4].split(",") if name.strip()]
            result = head[5] or (head[3] if head[1] else "")
            last = next(reversed(found.values()), None)
            if not comment and last and last.name.rpartition("_")[0] == head[3].rpartition("_")[0]:
                comment = last.comment  # find_dim, find_var, find_att have one
            inside = Procedure(head[3], head[2] == "function", names, comment, result)
            if head[1]:
                inside.declared[head[3]] = head[1].strip()
            found[inside.name] = inside
        elif re.match(r"^ *end (subroutine|function)", line):
            inside = None
        elif inside and "::" in line and not line.lstrip().startswith("!"):
            kind, _, names = line.partition("::")
            for name in re.split(r",(?![^(]*\))", names.split("!")[0]):
                match = re.match(r" *(\w+)(\([^)]*\))?", name)
                if match and (match[1] in inside.arguments or match[1] == inside.result):
                    inside.declared[match[1]] = " ".join(kind.split()) + (
                        f", dimension{match[2]}" if match[2] else ""
                    )
        stripped = line.strip()
        comment = [*comment, line.lstrip()[1:]] if stripped.startswith("!") and inside is None else []
        if stripped.startswith(("! ----", "! SPDX")):
            comment = []
    return found


def _bindings(text: str, kind: str) -> dict[str, str]:
    """Name of a binding: name of the procedure, of a generic one the first; in the order of the type."""
    body = re.search(rf"^  type :: {kind}\n(.*?)^  end type", text, re.M | re.S)
    if body is None:
        raise SystemExit(f"fortran_reference.py: there is no type {kind} in fortran/shoal.f90")
    lines = re.findall(r"(?:procedure|generic) :: (.*)", body[1])
    return {name: target for line in lines for name, target in re.findall(r"(\w+) => (\w+)", line)}


def _entry(shown: str, owner: str, procedure: Procedure) -> str:
    arguments = [name for name in procedure.arguments if not owner or name != "self"]
    if owner and arguments and "self" not in procedure.arguments:
        arguments = arguments[1:]  # the object itself
    optional = [name for name in arguments if "optional" in procedure.declared.get(name, "")]
    call = ", ".join(f"[{name}]" if name in optional else name for name in arguments)
    target = f"{owner}%{shown}" if owner else shown
    line = f"{procedure.result} = {target}({call})" if procedure.is_function else f"call {target}({call})"
    line = " &\n    ".join(textwrap.wrap(line, 76))
    rows = [
        f"| `{name}` | `{_kind(procedure.declared.get(name, ''))}` |"
        for name in arguments
        if name not in ("stat", "errmsg")
    ]
    if procedure.is_function:
        rows.append(f"| result | `{_kind(procedure.declared.get(procedure.result, ''))}` |")
    table = "\n".join(["| argument | type |", "|---|---|", *rows]) + "\n" if rows else ""
    return f"### {shown}\n\n```fortran\n{line}\n```\n\n{to_markdown(procedure.comment)}\n{table}\n"


def _kind(declared: str) -> str:
    declared = declared.replace("type(*), dimension(..)", "any kind and rank")
    return declared or "as above"


_ATTRIBUTES = {
    "put_att": (
        "call dataset%put_att(variable, name, value, [stat], [errmsg])",
        ["variable, name  text", "value           a scalar, or a list of rank 1"],
    ),
    "get_att": (
        "call dataset%get_att(variable, name, value, [stat], [errmsg])",
        ["variable, name  text", "value           a scalar, or a list of rank 1, which gets the values"],
    ),
}


def _constants(text: str) -> str:
    out = ["| constant | value | |", "|---|---|---|"]
    for line in _statements(text):
        match = re.match(
            r"^  (?:integer|character)[^:]*parameter, public :: (.*?)(?:  +! (.*))?$", line.rstrip()
        )
        if match:
            for name, value in re.findall(r"(SHOAL_\w+) = ([^,]+)", match[1]):
                out.append(f"| `{name}` | `{value.strip()}` | {match[2] or ''} |")
    return "\n".join(out) + "\n"


def _types(text: str) -> str:
    out = []
    for name in ("map_info", "file_info", "dim_info", "var_info", "att_info", "group_info"):
        body = re.search(rf"^  type :: shoal_{name}\n.*?^  end type shoal_{name}\n", text, re.M | re.S)
        if body:
            code = "\n".join(line[2:] for line in body[0].split("\n"))
            out.append(f"### shoal_{name}\n\n```fortran\n{code}```\n")
    return "\n".join(out)


def _streams(top: Path) -> tuple[dict[str, Procedure], list[str], str]:
    """Procedures of module shoal_streaming, those that are bound to its type, and their part of the page. The
    headings have the type in front, as some names are also those of datasets."""
    module = (top / "fortran/streams.f90").read_text(encoding="utf-8")
    found = procedures_of(module)
    bindings = _bindings(module, "shoal_streams")
    out = ["## Module shoal_streaming, type shoal_streams\n"]
    for name, target in bindings.items():
        out.append(_entry(name, "streams", found[target]).replace("### ", "### streams%", 1))
    out.append(_constants(module))
    return found, list(bindings.values()), "\n".join(out)


def text(top: Path) -> tuple[str, set[str]]:
    """The page, and the names that it describes."""
    main = (top / "fortran/shoal.f90").read_text(encoding="utf-8")
    for part in ("independent.inc", "groups.inc"):
        main = main.replace(f'#include "{part}"\n', (top / "fortran" / part).read_text(encoding="utf-8"))
    library = (top / "fortran/library.f90").read_text(encoding="utf-8")
    found = procedures_of(main) | procedures_of(library)
    of_dataset, of_decomposition = (
        _bindings(main, "shoal_dataset"),
        _bindings(main, "shoal_decomposition"),
    )
    for verb in _ATTRIBUTES:
        del of_dataset[verb]
    public = re.findall(r"^  public :: (.*)$", main, re.M)
    functions = [name.strip() for line in public for name in line.split(",")]
    functions = [name for name in functions if name in found and name != "shoal_free"]
    # What stands above the data procedures goes for all of them.
    head = main.split("module shoal\n")[0]
    shared = re.search(r"(  ! record  .*?)\n\n", main, re.S)
    out = [
        "## Conventions\n",
        numbered(
            [line[1:] for line in head.split("Conventions of all procedures:\n")[1].split("\n") if line]
        ),
        "## Functions of the module\n",
    ]
    names: set[str] = set()
    first = ["shoal_block", "shoal_map", "shoal_load"]
    for name in first + [name for name in functions if name not in first]:
        out.append(_entry(name, "", found[name]))
        names.add(name)
    out.append("## Type shoal_decomposition\n\nWhat each rank owns of a field.\n")
    for name, target in of_decomposition.items():
        out.append(_entry(name, "decomposition", found[target]))
        names.add(name)
    out.append("## Type shoal_dataset\n\nAn open file.\n")
    out.append("In `write`, `read`, `put` and `get`:\n\n")
    if shared:
        out.append(to_markdown([line.lstrip()[1:] for line in shared[1].split("\n")]))
    comment = re.search(r"(    ! Attribute of a variable, or of.*?)\n    generic", main, re.S)
    for name, target in of_dataset.items():
        if name == "write" and comment:
            for verb, (line, rows) in _ATTRIBUTES.items():
                text = [part.lstrip()[1:] for part in comment[1].split("\n")]
                out.append(f"### {verb}\n\n```fortran\n{line}\n```\n\n{to_markdown([*text, '', *rows])}\n")
                names.add(verb)
        out.append(_entry(name, "dataset", found[target]))
        names.add(name)
    out.append("## Types that inquiries fill\n")
    out.append(_types(main))
    out.append("\n## Constants\n")
    out.append(_constants(main))
    streams, of_streams, page = _streams(top)
    out.append(page)
    found |= streams
    bare = [
        name
        for name in [*functions, *of_dataset.values(), *of_decomposition.values(), *of_streams]
        if not found[name].comment
    ]
    if bare:
        raise SystemExit(f"fortran_reference.py: without a comment in the sources: {', '.join(bare)}")
    return "\n".join(out), names
