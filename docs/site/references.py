"""Pages of the reference for C, C++ and Python, and the table of what a procedure is called in each language.

The pages name what there is; Breathe and autodoc fill in the signatures and the comments of the sources.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import types
from pathlib import Path

from comments import numbered, to_markdown

_SECTION = re.compile(r"^/\* ---- (.*?) -*\s*\*/$", re.M)
_ITEM = re.compile(
    r"^SHOAL_API [\w \*]*?\b(?P<function>shoal_\w+)\(|^typedef struct (?P<struct>\w+) \{"
    r"|^static inline \w+ (?P<inline>\w+)\(",
    re.M,
)
# C++: class, and what it is called in the text.
_CLASSES = [
    "Dataset",
    "Groups",
    "Decomposition",
    "Settings",
    "Section",
    "Dimensions",
    "BasicArray",
    "Error",
    "Streams",
    "AttributeValue",
]
_STRUCTS = ["MapInfo", "FileInfo", "DimInfo", "VarInfo", "AttInfo", "GroupInfo"]
_FREE = [
    "wait",
    "serve",
    "serve_components",
    "stop_serving",
    "write_reference",
    "write_master",
    "recover",
    "namelist",
]
_FREE += ["settings", "version", "build_info", "scalar"]


def _directive(name: str, argument: str, *options: str) -> str:
    return f"```{{{name}}} {argument}\n" + "".join(f"{option}\n" for option in options) + "```\n"


def _constants(header: str) -> str:
    out = ["| constant | value | |", "|---|---|---|"]
    for name, value, text in re.findall(
        r"^  (SHOAL_\w+) = (\d+),?(?: */\* (.*?) \*/)?$", header, re.M | re.S
    ):
        out.append(f"| `{name}` | {value} | {' '.join(text.split())} |")
    for name, value, text in re.findall(
        r"^#define (SHOAL_\w+) +(?:\(\(int64_t\))?(-?\d+)\)? +/\* (.*?) \*/", header, re.M
    ):
        out.append(f"| `{name}` | {value} | {text} |")
    return "\n".join(out) + "\n"


def text_of_c(top: Path) -> str:
    header = (top / "include/shoal/shoal.h").read_text(encoding="utf-8")
    head = header.split("Conventions, once for all functions:\n")[1].split(" */")[0]
    out = ["## Conventions\n", numbered(_lines(head)), *_sections_of_c(header, "##")]
    out.append(
        "Macros: `SHOAL_RECORD(index)` and `SHOAL_SECTION(index, ndims, start, count)` make the section of a "
        "call; `SHOAL_SECTION_INIT`, `SHOAL_MAP_INFO_INIT`, `SHOAL_FILE_INFO_INIT`, `SHOAL_DIM_INFO_INIT`,\n"
        "`SHOAL_VAR_INFO_INIT` and `SHOAL_ATT_INFO_INIT` are initial values of structs.\n"
    )
    for name, title in (("groups", "Groups of names"), ("packing", "Packed values")):
        header = (top / f"include/shoal/{name}.h").read_text(encoding="utf-8")
        about = header.split("Shoal: ")[1].split("shoal.h.\n *\n", 1)[1].split(" */")[0]
        out += [f"## {title}\n", f"`#include <shoal/{name}.h>`.\n", to_markdown(_lines(about))]
        out += _sections_of_c(header, "###")
    header = (top / "include/shoal/streams.h").read_text(encoding="utf-8")
    out += ["## Streams\n", "`#include <shoal/streams.h>`.\n"]
    out.append(to_markdown(_lines(" * Time:" + header.split(" * Time:")[1].split(" */")[0])))
    out += _sections_of_c(header, "###")
    header = (top / "include/shoal/bindings.h").read_text(encoding="utf-8")
    out += ["## Bindings\n", "`#include <shoal/bindings.h>`.\n"]
    out.append(to_markdown(_lines(" * For bindings" + header.split(" * For bindings")[1].split(" */")[0])))
    return "\n".join(out + _sections_of_c(header, "###"))


def _lines(comment: str) -> list[str]:
    return [re.sub(r"^ \*", "", line) for line in comment.split("\n")]


def _sections_of_c(header: str, level: str) -> list[str]:
    out = []
    titles = _SECTION.split(header)[1:]
    for title, body in zip(titles[::2], titles[1::2]):
        out.append(f"{level} {title.strip()}\n")
        if title.strip() == "Constants":
            out.append(_constants(body))
        first = re.match(r"\n+/\*((?:(?!\*/).)*)\*/\n\n", body, re.S)
        if first and not re.search(r"shoal_\w+_info info", first[1]):
            out.append(to_markdown(_lines(first[1])))
        for item in _ITEM.finditer(body):
            if item["struct"]:
                out.append(_directive("doxygenstruct", item["struct"], ":project: c", ":members:"))
            else:
                name = item["function"] or item["inline"]
                out.append(_directive("doxygenfunction", name, ":project: c"))
    return out


def text_of_cpp() -> str:
    out = []
    for name in _CLASSES:
        title = "ConstArray, Array" if name == "BasicArray" else name
        out.append(f"## {title}\n")
        if name == "BasicArray":
            out.append("`Array` is `BasicArray<void*>`, `ConstArray` is `BasicArray<const void*>`.\n")
        out.append(_directive("doxygenclass" if name != "Section" else "doxygenstruct", f"shoal::{name}",
                              ":project: cpp", ":members:", ":undoc-members:"))  # fmt: skip
    out.append("## What inquiries return\n")
    for name in _STRUCTS:
        out.append(
            _directive("doxygenstruct", f"shoal::{name}", ":project: cpp", ":members:", ":undoc-members:")
        )
    out.append("## Functions\n")
    for name in _FREE[:-1] + ["scalar(T &value)", "scalar(const T &value)"]:
        out.append(_directive("doxygenfunction", f"shoal::{name}", ":project: cpp"))
    out.append("## Constants\n")
    for name in ("Type", "Mode", "Code", "Holds"):
        out.append(_directive("doxygenenum", f"shoal::{name}", ":project: cpp"))
    return "\n".join(out)


def _rst(*lines: str) -> str:
    return "```{eval-rst}\n" + "\n".join(lines) + "\n```\n"


def text_of_python(top: Path) -> str:
    tree = ast.parse((top / "python/src/shoal/__init__.py").read_text(encoding="utf-8"))
    exported = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
    )
    errors = sorted(name for name in exported if name.endswith("Error") and name != "Error")
    functions = [name for name in exported if name.islower()]
    classes = [name for name in exported if not name.isupper() and not name.islower() and name not in errors]
    classes = [
        name for name in classes if not name.startswith("VERSION") and name not in ("Error", "Dataset")
    ]
    first = ["create", "open"]
    out = ["## Making and opening files\n"]
    out += [_rst(f".. autofunction:: shoal.{name}") for name in first]
    options = [":members:", ":undoc-members:", ":inherited-members:", ":exclude-members: with_traceback"]
    for name in ["Dataset", *classes]:
        more = [":special-members: __getitem__, __contains__, __iter__"] if name == "Dataset" else []
        lines = [f"   {option}" for option in options + more]
        out.append(f"## {name}\n\n" + _rst(f".. autoclass:: shoal.{name}", *lines))
    out.append("## Functions\n")
    out += [_rst(f".. autofunction:: shoal.{name}") for name in functions if name not in first]
    out.append("## Exceptions\n")
    out.append(_rst(".. autoexception:: shoal.Error"))
    out += [_rst(f".. autoexception:: shoal.{name}", "   :show-inheritance:") for name in errors]
    out.append("## Constants\n")
    constants = [name for name in exported if name.isupper()]
    out.append(", ".join(f"`{name}`" for name in constants) + ".\n")
    out.append('## xarray\n\n`xarray.open_dataset(path, engine="shoal", comm=None, split=None)`: see the')
    out.append("[guide](../guide/python.md#xarray).\n")
    return "\n".join(out)


def _names_of_tests(top: Path) -> types.ModuleType:
    """tests/test_names.py, which knows what a procedure is called in each language."""
    spec = importlib.util.spec_from_file_location("test_names", top / "tests/test_names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _functions_of(tree: ast.Module) -> list[str]:
    """Methods and properties of the classes of a module."""
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
    return [node.name for owner in classes for node in owner.body if isinstance(node, ast.FunctionDef)]


def text_of_procedures(top: Path, names_of_fortran: set[str]) -> str:
    names = _names_of_tests(top)
    header = (top / "include/shoal/shoal.h").read_text(encoding="utf-8")
    verbs = re.findall(r"^SHOAL_API [\w \*]*?\bshoal_(\w+)\(", header, re.M)
    cpp = "".join(
        (top / f"include/shoal/{name}.hpp").read_text(encoding="utf-8")
        for name in ("arrays", "decomposition", "library", "shoal")
    )
    bodies = dict(re.findall(r"^class (\w+)[^;{]*\{\n(.*?)^\};", cpp, re.M | re.S))
    trees = {
        path.stem: ast.parse(path.read_text(encoding="utf-8"))
        for path in (top / "python/src/shoal").glob("*.py")
    }
    of_python = {
        "Dataset": [
            name
            for module in ("dataset", "_definitions", "_independent", "_boxes")
            for name in _functions_of(trees[module])
        ],
        "Decomposition": _functions_of(trees["decomposition"]),
    }

    def in_cpp(verb: str, name: str) -> str:
        classes = ["Decomposition", "Dataset"] if verb.startswith(("decomposition", "block", "map")) else []
        if verb.startswith("error"):
            classes = ["Error"]
        for owner in [*classes, "Dataset", "Decomposition"]:
            if re.search(rf"^  (?:[\w:<>,&\*]+ )+[\*&]?{name}\(", bodies[owner].split(" private:")[0], re.M):
                return f"{{cpp:func}}`{owner}::{name} <shoal::{owner}::{name}>`"
        return f"{{cpp:func}}`{name} <shoal::{name}>`" if name in _FREE else f"`{name}`"

    def in_fortran(name: str) -> str:
        for candidate in (name, f"shoal_{name}"):
            if candidate in names_of_fortran:
                return f"[{candidate}](fortran.md#{candidate})"
        return f"`{name}`"

    def in_python(verb: str, name: str) -> str:
        if verb.startswith("error"):
            return f"`Error.{name}`"
        owners = ["Decomposition", "Dataset"] if verb.startswith(("decomposition", "block", "map")) else []
        for owner in [*owners, "Dataset", "Decomposition"]:
            if name in of_python[owner]:
                return f"{{py:obj}}`{owner}.{name} <shoal.{owner}.{name}>`"
        return f"`Decomposition.{name}`" if owners else f"{{py:func}}`{name} <shoal.{name}>`"

    out = [
        "| C | C++ | Fortran | Python |",
        "|---|---|---|---|",
    ]
    for verb in verbs:
        row = [f"{{c:func}}`shoal_{verb}`"]
        for language, shown in (
            ("C++", lambda name, verb=verb: in_cpp(verb, name)),
            ("Fortran", in_fortran),
            ("Python", lambda name, verb=verb: in_python(verb, name)),
        ):
            here = names.expected(verb, language)
            row.append(", ".join(shown(name) for name in here) if here else "-")
        out.append(f"| {' | '.join(row)} |")
    header = (top / "include/shoal/streams.h").read_text(encoding="utf-8")
    for verb in re.findall(r"^SHOAL_API [\w \*]*?\bshoal_streams_(\w+)\(", header, re.M):
        out.append(
            f"| {{c:func}}`shoal_streams_{verb}` | {{cpp:func}}`Streams::{verb} <shoal::Streams::{verb}>` "
            f"| [streams%{verb}](fortran.md#streams{verb}) "
            f"| {{py:obj}}`Streams.{verb} <shoal.Streams.{verb}>` |"
        )
    return "\n".join(out) + "\n"
