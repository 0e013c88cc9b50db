# SPDX-License-Identifier: BSD-3-Clause
"""The same verbs in all languages: the names of shoal.h held against those of C++, Fortran and Python.

The sources are read as text, so this needs nothing that is built. A verb that a language spells in
another way, or does not need, stands in `different`, with the reason; what a language has beyond
the verbs of C stands in `beyond`. Anything else fails.
"""

import ast
import re
from pathlib import Path

import pytest

top = Path(__file__).resolve().parents[1]

# verb of C: {language: (names there, why)}
different = {
    "block": {},
    "decomposition_free": {
        "C++": ((), "destructor"),
        "Fortran": (("free",), "bound to the type"),
        "Python": ((), "garbage collection"),
    },
    "decomposition_inquire": {
        "C++": (("global", "first", "count", "halo_low", "halo_high"), "one accessor each"),
        "Fortran": (("inquire",), "bound to the type"),
        "Python": (("global_shape", "first", "count", "halo_low", "halo_high"), "attributes"),
    },
    "decomposition_map_info": {
        "C++": (("map_info",), "member of the class"),
        "Fortran": (("map_info",), "bound to the type"),
        "Python": (("is_map", "uncut", "mapped", "runs", "nbytes", "repeated", "leaves_cells"), "attributes"),
    },
    "decomposition_cells": {
        "C++": (("cells",), "member of the class"),
        "Fortran": (("cells",), "bound to the type"),
        "Python": (("cells",), "member of the class"),
    },
    "decomposition_save": {
        "C++": (("save",), "member of the class"),
        "Fortran": (("save",), "bound to the type"),
        "Python": (("save",), "member of the class"),
    },
    "decomposition_load": {
        "C++": (("load",), "member of the class"),
        "Fortran": (("load",), "shoal_load"),
        "Python": (("load",), "member of the class"),
    },
    "masked": {"Fortran": (("masked",), "bound to the type")},
    "abort": {
        "C++": (("abort_on_error",), "what happens to exceptions that nobody catches"),
        "Fortran": ((), "what happens without stat="),
        "Python": (("abort_on_error",), "what happens to exceptions that nobody catches"),
    },
    "beside": {part: ((), "of tools, as shoal convert") for part in ("Fortran", "Python")},
    "take_place": {part: ((), "of tools, as shoal convert") for part in ("Fortran", "Python")},
    "copy": {"Fortran": ((), "of tools; models have arrays")},
    "copy_att": {"Fortran": ((), "of tools, as copy")},
    **{
        f"{verb}_variable": {
            "C++": ((verb,), "the same name; the argument is a number in the place of the name"),
            "Python": ((verb,), "by name: the dataset knows the number"),
        }
        for verb in ("write", "read", "put", "get")
    },
    "copy_variable": {
        "C++": (("copy",), "the same name; the arguments are numbers in the place of names"),
        "Fortran": ((), "of tools; models have arrays"),
        "Python": (("copy",), "by name: the datasets know the numbers"),
    },
    **{
        f"def_var_{dims}": {
            part: (("def_var",), f"{dims} in an array") for part in ("C++", "Fortran", "Python")
        }
        for dims in ("names", "dims")
    },
    "copies": {"Fortran": ((), "of tools; models have arrays")},
    "error_message": {
        "C++": (("what",), "exceptions carry it (std::exception)"),
        "Python": (("message",), "exceptions carry it"),
    },
    "error_name": {
        "C++": (("name",), "exceptions carry it"),
        "Python": (("name",), "exceptions carry it"),
    },
    "error_rank": {part: (("rank",), "exceptions carry it") for part in ("C++", "Python")},
    "error_file": {part: (("file",), "exceptions carry it") for part in ("C++", "Python")},
    "error_variable": {part: (("variable",), "exceptions carry it") for part in ("C++", "Python")},
    "free_strings": {
        "C++": ((), "shoal.h's own, for arrays of the caller"),
        "Fortran": ((), "no arrays of pointers"),
        "Python": ((), "strings are objects"),
    },
    "inq_file": {
        "C++": (("file",), "returns a value"),
        "Python": (("path", "format", "driver", "writable"), "properties"),
    },
    "inq_dim": {"C++": (("dim",), "returns a value"), "Python": (("dimensions",), "a mapping")},
    "inq_var": {"C++": (("var",), "returns a value"), "Python": (("variables",), "a mapping")},
    "inq_att": {"C++": (("att",), "returns a value"), "Python": (("attributes",), "mappings")},
    "find_dim": {"Python": (("dimensions",), "a mapping")},
    "find_var": {"Python": (("variables",), "a mapping")},
    "find_att": {"Python": (("attributes",), "mappings")},
}

# What a language has beyond the verbs of C.
beyond = {
    "C++": {
        "is_open": "handles can be empty",
        "c_handle": "the way down to shoal.h",
        "code": "of an exception",
        "def_no_fill": "def_fill takes values, not pointers",
        "scalar": "one value as an array",
        "c_array": "the way down to shoal.h",
        "set": "of Settings, which builds their text",
        "text": "of Settings",
        **{
            key: "of Settings, a usual one" for key in ("format", "layout", "exists", "compression", "driver")
        },
        **{key: "of Settings, a usual one" for key in ("background", "stage_bytes")},
        "def_pack": "of packing.h",
    },
    "Fortran": {
        "is_open": "variables of the type exist before create and after close",
        "c_handle": "of a decomposition: the way down to shoal.h",
        "put_text": "character arguments of one string",
        "get_text": "character arguments of one string",
        "def_pack": "of packing.h",
        **{
            verb: "of groups.h"
            for verb in ("def_group", "rename_group", "num_groups", "inq_group", "find_group")
        },
    },
    "Python": {
        "is_open": "handles can be empty",
        "comm": "of a dataset or decomposition",
        "text": "joins arrays of single characters",
        "to_netcdf": "of xarray's Datasets",
        "def_group": "of groups.h",
        "def_pack": "of packing.h",
        "rename_group": "of groups.h",
        "groups": "a mapping, of groups.h",
        "dims": "names of a decomposition's dimensions",
        "ndim": "as numpy",
        "whole": "the old name of uncut",
        "shape": "as numpy",
        "halo_shape": "shape of an array with halo",
        "slices": "the tile in a global array",
        "inner": "the tile in an array with halo",
        "is_empty": "whether the rank owns nothing",
        "code": "of an exception",
    },
}


def source(path: str) -> str:
    file = top / path
    if not file.exists():
        pytest.fail(f"{path} is not there")
    return file.read_text(encoding="utf-8")


def names_of_c(header: str = "include/shoal/shoal.h") -> set[str]:
    return set(re.findall(r"^SHOAL_API [\w \*]*?\bshoal_(\w+)\(", source(header), re.M))


def names_of_cpp(*headers: str) -> set[str]:
    """Public members of the classes, and free functions outside of namespace detail."""
    parts = ("arrays", "boxes", "decomposition", "library", "shoal")
    text = "".join(map(source, headers or (f"include/shoal/{part}.hpp" for part in parts)))
    text = re.sub(r"namespace detail \{.*?// namespace detail", "", text, flags=re.S)
    text = re.sub(r"//.*", "", text)
    found = {"what"}  # inherited
    for name, body in re.findall(r"^class (\w+)[^;{]*\{\n(.*?)^\};", text, re.M | re.S):
        public = body.split(" private:")[0]
        members = re.findall(r"^  (?:[\w:<>,&\*]+ )+[\*&]?(\w+)\(", public, re.M)
        found |= {member for member in members if member not in (name, "operator")}
    found |= set(re.findall(r"^(?:inline )?(?:[\w:<>]+ )+(\w+)\([^;]*?\) \{", text, re.M))
    return {name for name in found if not name.startswith("operator")}


def names_of_fortran(module: str = "fortran/shoal.f90") -> set[str]:
    """Bindings of the types, and public functions."""
    text = source(module)
    found = set()
    for names in re.findall(r"^\s*procedure(?:, *nopass)? *:: *(.*)$", text, re.M):
        found |= {part.split("=>")[0].strip() for part in names.split("!")[0].split(",")}
    found |= set(re.findall(r"^\s*generic *:: *(\w+) *=>", text, re.M))
    for names in re.findall(r"^\s*public *:: *(.*)$", text, re.M):
        for name in names.split("!")[0].split(","):
            name = name.strip()
            is_type = re.search(r"type :: " + name + r"\b", text)
            if name.startswith("shoal_") and not is_type:
                found.add(name.removeprefix("shoal_"))
    return {name for name in found if not name.startswith("operator")}


def members_of(tree: ast.Module, name: str) -> set[str]:
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    found = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)):
        # Attributes that __init__ sets, and constants of the class.
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        for target in targets:
            for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                if (
                    isinstance(part, ast.Attribute)
                    and isinstance(part.value, ast.Name)
                    and part.value.id == "self"
                ):
                    found.add(part.attr)
                elif isinstance(part, ast.Name) and node in body:
                    found.add(part.id)
    return {member for member in found if not member.startswith("_")}


def names_of_python() -> set[str]:
    """Public members of Dataset, Decomposition and Error, and functions of the package."""
    trees = {
        p.stem: ast.parse(p.read_text(encoding="utf-8")) for p in (top / "python/src/shoal").glob("*.py")
    }
    found = members_of(trees["dataset"], "Dataset") | members_of(trees["_definitions"], "Definitions")
    found |= members_of(trees["_ending"], "Ending")
    found |= members_of(trees["_independent"], "Independent") | members_of(trees["_boxes"], "Boxes")
    found |= members_of(trees["decomposition"], "Decomposition")
    found |= members_of(trees["errors"], "Error") - {"errno"}
    exported = next(
        node.value
        for node in trees["__init__"].body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
    )
    return found | {name for name in ast.literal_eval(exported) if name.islower()}


def constants_of_c() -> dict[str, str]:
    """Names of shoal.h's public constants, without SHOAL_, and the values of the plain numbers."""
    text = re.sub(r"/\*.*?\*/", "", source("include/shoal/shoal.h"), flags=re.S)
    found = {name: value.strip() for name, value in re.findall(r"^#define SHOAL_(\w+) +(.+)$", text, re.M)}
    found = {name: value for name, value in found.items() if not name.endswith("_INIT")}  # of structs
    for body in re.findall(r"^enum \{(.*?)\};", text, re.M | re.S):
        found |= dict(re.findall(r"SHOAL_(\w+) *= *(-?\d+)", body))
    return found


def constants_of_fortran() -> dict[str, str]:
    text = re.sub(r"!.*", "", source("fortran/shoal.f90")).replace("&\n", "")
    found = {}
    for names in re.findall(r"^ *\w+(?:\([^)]*\))?, parameter, public *:: *(.*)$", text, re.M):
        found |= dict(re.findall(r"SHOAL_(\w+) *= *([^,]+)", names))
    return {name: value.strip().removesuffix("_int64") for name, value in found.items()}


def verbs_of_groups(language: str) -> set[str]:
    """Those of groups.h."""
    if language == "C++":
        return names_of_cpp("include/shoal/groups.hpp") - {"what", "handle"}
    return names_of_c("include/shoal/groups.h")


def test_groups_have_the_same_verbs_in_cpp():
    verbs = verbs_of_groups("C")
    assert verbs == {"def_group", "rename_group", "num_groups", "inq_group", "find_group"}
    assert verbs_of_groups("C++") == verbs - {"inq_group"} | {"group"}


def verbs_of_streams() -> set[str]:
    names = names_of_c("include/shoal/streams.h")
    assert all(name.startswith("streams_") for name in names)
    return {name.removeprefix("streams_") for name in names}


def names_of_streams(language: str) -> set[str]:
    if language == "C++":
        return names_of_cpp("include/shoal/streams.hpp") - {"what"}
    if language == "Fortran":
        return names_of_fortran("fortran/streams.f90") - {"put_att_scalar", "put_att_list"}
    found = members_of(ast.parse(source("python/src/shoal/streams.py")), "Streams")
    return found | members_of(ast.parse(source("python/src/shoal/_ending.py")), "Ending")


# As `beyond`, of streams.
beyond_of_streams = {
    "C++": {"is_open": "handles can be empty", "c_handle": "the way down to streams.h"},
    "Fortran": {"is_open": "variables of the type exist before open and after close"},
    "Python": {"is_open": "handles can be empty"},
}


def constants_of_cpp() -> dict[str, str]:
    """Names of shoal.h's constants behind the enumerators of the enum classes, by enumerator."""
    text = source("include/shoal/arrays.hpp")
    found = {}
    for body in re.findall(r"^enum class \w+ : int \{(.*?)\};", text, re.M | re.S):
        found |= dict(re.findall(r"(\w+) = SHOAL_(\w+)", body))
    return found


# Constants that a language does without, and why.
no_constant = {
    "API": "of the header itself",
    "MAX_DIMS": "arrays know their rank",
    "HOLE": "0 in Fortran, where cells count from 1",
}


languages = {"C++": names_of_cpp, "Fortran": names_of_fortran, "Python": names_of_python}


def expected(verb: str, language: str) -> tuple[str, ...]:
    return different.get(verb, {}).get(language, ((verb,), ""))[0]


def test_the_header_was_understood():
    found = names_of_c()
    assert {"create", "open", "write", "read", "put", "get", "block", "report", "free_strings"} <= found
    assert len(found) == source("include/shoal/shoal.h").count("\nSHOAL_API ")
    assert set(different) <= found, "the table names verbs that C does not have"


@pytest.mark.parametrize("language", languages)
def test_every_verb_is_there(language):
    found = languages[language]()
    missing = {verb: names for verb in names_of_c() if (names := set(expected(verb, language)) - found)}
    assert not missing


@pytest.mark.parametrize("language", languages)
def test_nothing_else_is_there(language):
    found = languages[language]()
    known = {name for verb in names_of_c() for name in expected(verb, language)} | set(beyond[language])
    assert found <= known, f"in {language} alone: {sorted(found - known)}; see the table"
    assert set(beyond[language]) <= found, f"gone from {language}: {sorted(set(beyond[language]) - found)}"


def parameters(text: str, opening: str) -> list[str]:
    """Names of the parameters of what is declared with the words `opening`."""
    listed = text[text.index(opening) + len(opening) :].split(")")[0].split(",")
    names = [re.findall(r"\w+", part.split("=")[0].split(":")[0]) for part in listed]
    return [name[-1] for name in names if name and name[-1] != "self"]


def test_reading_has_the_order_of_writing():
    """In Python, where read returns the array, that of its other arguments."""
    python = re.sub(r"\[[^]]*\]|\*,", "", source("python/src/shoal/dataset.py"))
    arrays = {"array", "values", "out", "halo", "dtype"}
    declared = {
        "C": (source("include/shoal/shoal.h"), "int shoal_{}("),
        "C, by number": (source("include/shoal/shoal.h"), "int shoal_{}_variable("),
        "C++": (source("include/shoal/shoal.hpp"), "void {}("),
        "Fortran": (source("fortran/shoal.f90"), "subroutine dataset_{}("),
        "Python": (python, "def {}("),
    }
    for verbs in (("write", "read"), ("put", "get")):
        for language, (text, opening) in declared.items():
            orders = [parameters(text, opening.format(verb)) for verb in verbs]
            if language == "Python":
                orders = [[name for name in order if name not in arrays] for order in orders]
            assert orders[0] == orders[1] and len(orders[0]) >= 2, language


def test_what_bindings_call_is_not_in_the_header_of_programs():
    verbs = names_of_c("include/shoal/bindings.h")
    known = {"refuse", "refuse_data", "streams_refuse", "match", "match_data", "inq_unread_att", "speak"}
    assert known == verbs
    assert not verbs & (names_of_c() | names_of_c("include/shoal/streams.h"))
    assert "SHOAL_SPEAK_C" in source("include/shoal/bindings.h")


@pytest.mark.parametrize("language", languages)
def test_streams_have_the_same_verbs(language):
    verbs = verbs_of_streams()
    assert {"open", "axis", "field", "wants", "send", "advance", "checkpoint", "close"} <= verbs
    assert len(verbs) == source("include/shoal/streams.h").count("\nSHOAL_API ")
    assert names_of_streams(language) == verbs | set(beyond_of_streams[language])


def test_streams_have_the_same_constants():
    text = re.sub(r"/\*.*?\*/", "", source("include/shoal/streams.h"), flags=re.S)
    of_c = dict(re.findall(r"SHOAL_(\w+) *= *(\d+)", re.search(r"^enum \{(.*?)\};", text, re.M | re.S)[1]))
    assert of_c == {"AT_INSTANT": "0", "FOR_STEP": "1"}
    fortran = re.search(r"parameter, public :: (.*)", source("fortran/streams.f90"))[1]
    assert dict(re.findall(r"SHOAL_(\w+) = (\d+)", fortran)) == of_c
    found = dict(re.findall(r"(\w+) = SHOAL_(\w+)", source("include/shoal/streams.hpp")))
    assert found == {name.lower(): name for name in of_c}


def test_fortran_has_the_constants():
    of_c, of_fortran = constants_of_c(), constants_of_fortran()
    assert {"RANGE", "FLOAT", "READ", "VERSION_NUMBER", "APPEND"} <= set(of_c)
    assert set(of_c) - set(of_fortran) == set(no_constant)
    numbers = {name: value for name, value in of_c.items() if re.fullmatch(r"-?\d+", value)}
    assert {name: of_fortran[name] for name in numbers if name in of_fortran} == {
        name: value for name, value in numbers.items() if name in of_fortran
    }


def test_the_version_is_the_same_everywhere():
    parts = [constants_of_c()[f"VERSION_{part}"] for part in ("MAJOR", "MINOR", "PATCH")]
    assert re.search(r"VERSION (\d+\.\d+\.\d+)", source("CMakeLists.txt"))[1] == ".".join(parts)
    exported = source("python/src/shoal/__init__.py")
    assert all(f'"VERSION_{part}"' in exported for part in ("MAJOR", "MINOR", "PATCH", "NUMBER"))


def test_cpp_has_the_constants_as_enumerators():
    found = constants_of_cpp()
    enums = set()
    text = re.sub(r"/\*.*?\*/", "", source("include/shoal/shoal.h"), flags=re.S)
    for body in re.findall(r"^enum \{(.*?)\};", text, re.M | re.S):
        enums |= set(re.findall(r"SHOAL_(\w+) *=", body))
    assert set(found.values()) == enums
    assert all(name.removesuffix("_") == constant.lower() for name, constant in found.items())


def test_basic_settings_are_the_same_everywhere():
    """Those of the library, of the first table of docs/settings.md, and the members of C++'s Settings."""
    text = source("src/dataset/settings/settings.cpp")
    entries = re.split(r'\n(?=    \{")', text[text.index("k_keys =") :])
    basic = [found[1] for e in entries if "Level::basic}" in e and (found := re.match(r'    \{"(\w+)"', e))]
    assert 6 <= len(basic) <= 10
    page = source("docs/settings.md")
    table = page[page.index("## Basic settings") : page.index("## Expert settings")]
    assert re.findall(r"^\| `(\w+)` \|", table, re.M) == basic
    header = source("include/shoal/shoal.hpp")
    assert set(re.findall(r"^  Settings& (\w+)\(", header, re.M)) - {"set", "add"} == set(basic)
