# SPDX-License-Identifier: BSD-3-Clause
"""The names in docs/design.md, docs/design/ and docs/glossary.md held against the sources.

Needs nothing that is built.

A code span is checked by its form:
  `src/comm/comm.cpp`, `stage.cpp`   the file or folder exists (without a folder: a file of this name)
  `Stage::open`, `Slot::uses`        the class is declared, and has this function, member or value
  `NativeDriver`                     the class is declared
  `change_in_place`, `finish()`      some source has this word (with brackets: as a function)
  `background=thread`                the setting exists
Other spans (paths of the system, commands, file names of users) are not names of the tree. Of the glossary
the first column is checked: the others have the words of other programs.

Tables of the pages follow_one_*.md with the columns function and file: the function is defined in this file,
and one of the functions above it calls it.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pytest

# A copy of the tree with a wrong name in it shows that the test can fail: DESIGN_TREE=/tmp/copy.
top = Path(os.environ.get("DESIGN_TREE", Path(__file__).resolve().parents[1]))

pages = [top / "docs/design.md", *sorted((top / "docs/design").glob("*.md"))]
glossary = top / "docs/glossary.md"
ways = [page for page in pages if page.name.startswith("follow_")]

# Words in code spans that are not of the tree: of the system, of other programs, of values.
foreign = {
    "pwrite", "pread", "mmap", "statx", "cdf1", "cdf2", "cdf5", "netcdf4", "libshoal", "md5sum",
    "mpiexec", "lfs",
}  # fmt: skip

source_folders = ("src", "include", "fortran", "python/src", "bench", "lab", "tests")
code_suffixes = {".c", ".h", ".cpp", ".hpp", ".f90", ".py", ".pml", ".sh"}
file_suffixes = r"\.(?:c|h|cpp|hpp|f90|py|pml|sh|md|txt|toml|in)"


@cache
def sources() -> dict[Path, str]:
    """The sources of the tree without the comments of C and C++."""
    found = {}
    for folder in source_folders:
        for path in sorted((top / folder).rglob("*")):
            if path.suffix not in code_suffixes or path.name == "test_design_names.py":
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            in_c = path.suffix in {".c", ".h", ".cpp", ".hpp"}
            found[path] = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S) if in_c else text
    return found


@cache
def words() -> frozenset:
    return frozenset(word for text in sources().values() for word in re.findall(r"\w+", text))


@cache
def settings() -> frozenset:
    text = (top / "src/dataset/settings/settings.cpp").read_text(encoding="utf-8")
    return frozenset(re.findall(r'^\s+\{"(\w+)", Kind::', text, re.M))


def spans(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    if page == glossary:
        text = "\n".join(re.findall(r"^\|([^|]*)\|", text, re.M))
    return [re.sub(r"\s+", " ", span) for span in re.findall(r"`([^`]+)`", text)]


def end_of_block(text: str, start: int) -> int:
    """The end of what the first brace from `start` on opens. Braces in texts of the sources are in pairs."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.end()
    return len(text)


@cache
def classes() -> dict[str, list[tuple[str, int]]]:
    """Classes, structures, enumerations and namespaces by name: their source, and where they open."""
    head = re.compile(
        r"\b(?:class|struct|enum|namespace)\s+(?:class\s+)?(?:alignas\([^)]*\)\s*)?"
        r"(?:\w+::)*(\w+)\b(?!\s*[>,])[^;{}()]*\{"  # no parameter of a template
    )
    found = {}
    for text in sources().values():
        for match in head.finditer(text):
            found.setdefault(match.group(1), []).append((text, match.end() - 1))
    return found


@cache
def class_bodies(name: str) -> tuple[str, ...]:
    return tuple(text[start : end_of_block(text, start)] for text, start in classes().get(name, []))


def is_of_class(scope: str, name: str) -> bool:
    outer = scope.split("::")[-1]
    member = re.compile(re.escape(name) + r"\b") if name.startswith("~") else re.compile(rf"\b{name}\b")
    if any(member.search(body) for body in class_bodies(outer)):
        return True
    return any(f"{scope}::{name}(" in text for path, text in sources().items() if path.suffix == ".cpp")


def file_exists(name: str) -> bool:
    if "/" in name:
        return any((top / folder / name).exists() for folder in ("", "src", "src/driver", "tests", "include"))
    return any(path.name == name for path in [*sources(), *(top / "docs").rglob("*.md")])


def problem(span: str) -> str | None:
    """What is wrong with a code span; None: nothing, or it is no name of the tree."""
    scoped = re.fullmatch(r"((?:\w+::)+)(~?\w+)(?:\(\))?", span)
    if scoped:
        scope = scoped.group(1).removesuffix("::").removeprefix("shoal::")
        if scope == "shoal":
            return None if scoped.group(2) in classes() else "no such class"
        return None if is_of_class(scope, scoped.group(2)) else "no such member"
    if re.fullmatch(rf"[\w./-]+{file_suffixes}", span) and not span.startswith(("/", ".")):
        return None if file_exists(span) else "no such file"
    if re.fullmatch(r"(?:src|include|tests|bench|lab|examples|tools|docs|fortran|python|cmake)/[\w/]*", span):
        return None if (top / span).is_dir() else "no such folder"
    setting = re.fullmatch(r"(\w+)=[\w.-]+", span)
    if setting:
        return None if setting.group(1) in settings() else "no such setting"
    function = re.fullmatch(r"(\w+)\(\)", span)
    if function:
        return None if any(f"{function.group(1)}(" in t for t in sources().values()) else "no such function"
    if re.fullmatch(r"[A-Z][a-z]\w*", span):
        return None if span in classes() else "no such class"
    if re.fullmatch(r"[A-Za-z_]\w*", span):
        return None if span in words() or span in foreign else "no source has this word"
    return None


@pytest.mark.parametrize("page", [*pages, glossary], ids=lambda page: page.stem)
def test_names_of_the_pages_are_in_the_tree(page):
    found = spans(page)
    assert found, f"{page.name} names nothing: has its form changed?"
    wrong = {span: problem(span) for span in found}
    assert not {span: why for span, why in wrong.items() if why}


def steps(page: Path) -> list[list[tuple[str, str]]]:
    """The tables of a page that have the columns function and file."""
    tables = []
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("| function | file |"):
            tables.append([])
        match = re.match(r"\| `([\w:]+)` \| `([\w./]+)` \|", line)
        if match and tables:
            tables[-1].append((match.group(1), match.group(2)))
    return tables


def body_of(function: str, file: str) -> str | None:
    """The definition of a function: from its name to the brace that closes it."""
    text = (top / file).read_text(encoding="utf-8")
    scope, _, name = function.rpartition("::")
    forms = [rf"^[^\s/#][^\n;]*\b{re.escape(function)}\("]  # out of its class, or a free function
    if scope:
        forms.append(rf"^  +[^\n;/]*\b{name}\([^;{{}}]*\)[^;{{}}]*\{{")  # within the class
    for form in forms:
        for match in re.finditer(form, text, re.M):
            if scope and form != forms[0] and not re.search(rf"\b(?:class|struct) {scope}\b", text):
                continue
            brace, end = text.find("{", match.start()), text.find(";", match.start())
            if brace >= 0 and (end < 0 or brace < end):
                return text[match.end() : end_of_block(text, brace)]
    return None


@pytest.mark.parametrize("page", ways, ids=lambda page: page.stem)
def test_the_way_is_the_one_of_the_sources(page):
    tables = steps(page)
    assert tables and all(len(table) > 5 for table in tables), "the tables have changed their form"
    for table in tables:
        above = []
        for function, file in table:
            assert (top / file).exists(), f"{file} does not exist"
            body = body_of(function, file)
            assert body is not None, f"{function} is not defined in {file}"
            name = function.rpartition("::")[2]
            called = not above or any(re.search(rf"\b{name}(?:<[^;()]*>)?\(", other) for other in above)
            assert called, f"no function above {function} calls it"
            above.append(body)


def test_a_wrong_name_is_found():
    for wrong in (
        "Stage::opens", "Stages", "src/comm/com.cpp", "stages.cpp", "src/com/", "backgrounds=thread",
        "change_in_places", "change_in_places()",
    ):  # fmt: skip
        assert problem(wrong), f"{wrong} was taken for a name of the tree"
    assert body_of("FieldWriter::writes", "src/driver/native/stage/field_writer.cpp") is None
    assert body_of("Stage::open", "src/driver/native/stage/field_writer.cpp") is None
