#!/usr/bin/env python3
"""No circles: of two files, one may know the other, and not both each other, in any number of steps.

Three kinds of files are looked at: modules of Python packages, by what they import, inside functions and for
types alone, too; sources of the PIO drop-in, by the functions that they call, whose order is a table of
compat/pio/c/internal.h; and units of src/, each a header with the source of its name, by what they include.
Part of tools/check_includes.py.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

# unit -> unit that it knows -> where, and how
Graph = dict[str, dict[str, str]]

HEADERS = {".h", ".hpp"}
SOURCES = {".c", ".cpp"}


def circles(graph: Graph) -> list[list[str]]:
    """Units that know each other, each circle once, in order of names (Tarjan's strongly connected parts)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    open_units: list[str] = []
    found = []

    def visit(unit: str) -> None:
        number[unit] = low[unit] = len(number)
        open_units.append(unit)
        for other in graph[unit]:
            if other not in number:
                visit(other)
            if other in open_units:
                low[unit] = min(low[unit], low[other])
        if low[unit] == number[unit]:
            place = open_units.index(unit)
            found.append(sorted(open_units[place:]))
            del open_units[place:]

    for unit in sorted(graph):
        if unit not in number:
            visit(unit)
    return sorted(circle for circle in found if len(circle) > 1)


def breaches(graph: Graph) -> list[str]:
    return [
        f"{where} (a circle of {', '.join(circle)})"
        for circle in circles(graph)
        for unit in circle
        for other, where in sorted(graph[unit].items())
        if other in circle
    ]


# ---- Python


def python_graph(package: Path, top: Path) -> Graph:
    """Modules of a package, by their imports of each other. That a module's package comes first is none."""
    files = {
        ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in package.rglob("*.py")
    }
    compiled = {
        ".".join(path.relative_to(package.parent).with_suffix("").parts) for path in package.rglob("*.pyi")
    }
    graph: Graph = {}
    for name, path in files.items():
        graph[name] = {}
        within = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
        for line, imported, of_name in imports(path, within):
            known = f"{imported}.{of_name}" if of_name else imported
            if known in compiled:
                continue
            known = known if known in files else imported
            if known in files and known != name:
                graph[name].setdefault(known, f"{path.relative_to(top)}:{line}: imports {known}")
    return graph


def imports(path: Path, within: list[str]) -> Iterator[tuple[int, str, str]]:
    """Line, module, and what is taken of it ("": the module itself)."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = within[: len(within) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((node.lineno, module, alias.name) for alias in node.names)


# ---- C

COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
WORD = re.compile(r"[A-Za-z_]\w*")
DEFINED = re.compile(
    r"^(?!static\b|typedef\b)[A-Za-z_][\w \t*]*?\b([A-Za-z_]\w*)\([^;{}]*\)\s*\{", re.MULTILINE
)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)


def text_of(path: Path) -> str:
    """Without comments and texts, with its lines where they were."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return COMMENT_OR_TEXT.sub(lambda found: "\n" * found.group().count("\n"), text)


def call_graph(folder: Path, top: Path) -> Graph:
    """C sources of a folder, by the functions of each other that they name; macros of headers count as what
    they name."""
    texts = {path: text_of(path) for path in sorted(folder.glob("*.c"))}
    owner = {name: path for path, text in texts.items() for name in DEFINED.findall(text)}
    macros: dict[str, set[str]] = {}
    for header in sorted(folder.glob("*.h")):
        for name, body in MACRO.findall(text_of(header)):
            macros.setdefault(name, set()).update(WORD.findall(body))

    def named(word: str, seen: frozenset[str] = frozenset()) -> set[str]:
        if word in owner or word not in macros or word in seen:
            return {word}
        return {name for inner in macros[word] for name in named(inner, seen | {word})}

    graph: Graph = {path.name: {} for path in texts}
    for path, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            for name in sorted(name for word in WORD.findall(line) for name in named(word)):
                if name in owner and owner[name] != path:
                    where = f"{path.relative_to(top)}:{number}: calls {name} of {owner[name].name}"
                    graph[path.name].setdefault(owner[name].name, where)
    return graph


ORDERED = re.compile(r"^ \*   (\w+\.c)\b", re.MULTILINE)


def check_order(graph: Graph, header: Path, top: Path) -> list[str]:
    """Sources call those alone that stand above them in the table of the header."""
    order = ORDERED.findall(header.read_text(encoding="utf-8")) if header.exists() else []
    place = {name: number for number, name in enumerate(order)}
    return [
        f"{header.relative_to(top)}: its table has no line of {name}" for name in graph if name not in place
    ] + [
        f"{where}, which stands below it in the table of {header.relative_to(top)}"
        for name, known in graph.items()
        for other, where in known.items()
        if place.get(other, -1) > place.get(name, len(place))
    ]


INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def include_graph(source: Path, top: Path) -> Graph:
    """Units of src/ by their includes."""
    paths = [path for path in sorted(source.rglob("*")) if path.suffix in HEADERS | SOURCES]
    unit_of = {str(path.relative_to(source)): str(path.relative_to(source).with_suffix("")) for path in paths}
    graph: Graph = {unit: {} for unit in unit_of.values()}
    for path in paths:
        name = str(path.relative_to(source))
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            found = INCLUDE.match(line)
            if found and unit_of.get(found.group(1), unit_of[name]) != unit_of[name]:
                where = f"{path.relative_to(top)}:{number}: includes {found.group(1)}"
                graph[unit_of[name]].setdefault(unit_of[found.group(1)], where)
    return graph


# ---- The tree


def check(top: Path) -> list[str]:
    drop_in = call_graph(top / "compat/pio/c", top)
    graphs = [drop_in, include_graph(top / "src", top)]
    for root in ("python/src", "bench/python/src"):
        graphs += [python_graph(init.parent, top) for init in sorted((top / root).glob("*/__init__.py"))]
    found = [breach for graph in graphs for breach in breaches(graph)]
    return found + check_order(drop_in, top / "compat/pio/c/internal.h", top)
