#!/usr/bin/env python3
"""Hold the documentation to the code.

Every error code, setting and C function is described, every public name of Python has a docstring; programs
shown in the documentation are the ones that the tests run, and parts of programs are parts of these; links
between pages, and to headings in them, lead somewhere; text is wrapped; lines with mpiexec run on two cores
and as root; all that says the version says the same; words are spelled as codespell knows them, and proselint
has no objection to sentences, where these are installed. Prints every gap and exits 1 if there is one.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
# Folders with pages, beside those of the top folder.
PAGES = ("docs", "bench", "examples", "packaging", "python", "tests")
WIDTH = 120
# Here every program is one that the tests run, a part of one, or another library's.
ALL_RUN = ("docs/tutorials", "docs/howto", "docs/coming_from")
MARKS = ("<!-- file:", "<!-- part:", "<!-- theirs:")
LANGUAGES = ("fortran", "python", "c", "cpp")
# Lines to run stand here as they are to be typed. The other pages are of measurements on a machine.
TO_RUN = ("README.md", "examples", "docs")
NOT_TO_RUN = ("docs/performance.md", "docs/experiments.md", "docs/design")


def text_of(path: str) -> str:
    file = TOP / path
    return file.read_text(encoding="utf-8") if file.exists() else ""


def missing(names, page: str, what: str) -> list[str]:
    text = text_of(page)
    if not text:
        return [f"{page} does not exist"]
    return [f"{page}: {what} {name} is not described" for name in names if f"`{name}`" not in text]


def check_names() -> list[str]:
    header = text_of("include/shoal/shoal.h")
    codes = re.findall(r"^\s+(SHOAL_[A-Z_]+) = \d+,? */\*", header.split("Element types")[0], re.M)
    functions = re.findall(r"^SHOAL_API [\w \*]*?\*?(shoal_\w+)\(", header, re.M)
    keys = re.findall(r'^\s+\{"(\w+)", Kind::', text_of("src/dataset/settings/settings.cpp"), re.M)
    gaps = []
    for names, what in ((codes, "error codes"), (functions, "functions"), (keys, "settings")):
        if len(names) < 5:
            gaps.append(
                f"check_docs.py found only {len(names)} {what} in the sources: has their form changed?"
            )
    gaps += missing(codes, "docs/errors.md", "error code")
    gaps += missing(functions, "docs/collective.md", "function")
    gaps += missing(keys, "docs/settings.md", "setting")
    return gaps


# What shoal.open returns leads to these, though the package does not export them.
REACHED = ("Attributes", "Cells", "Definitions", "Dimensions", "Variables")


def check_docstrings() -> list[str]:
    """What the Python package exports, and the public members of its classes, say what they are; functions,
    methods and properties also whether they are Collective or Local."""
    trees = {
        path: ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted((TOP / "python/src/shoal").glob("*.py"))
    }
    package = trees[TOP / "python/src/shoal/__init__.py"]
    exported = next(
        ast.literal_eval(node.value)
        for node in package.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
    )
    public = {*exported, *REACHED}
    gaps, seen = [], set()

    def check(node: ast.AST, path: Path, inside: str) -> None:
        name, text = inside + node.name, ast.get_docstring(node)
        place = f"{path.relative_to(TOP)}:{node.lineno}: {name}"
        # Typed twice for those who check types; the docstring is that of the one that does the work.
        if any(isinstance(part, ast.Name) and part.id == "overload" for part in node.decorator_list):
            return
        if text is None:
            gaps.append(f"{place} has no docstring")
        elif not isinstance(node, ast.ClassDef) and not re.search(r"\b(Collective|Local)\b", text):
            gaps.append(f"{place}: the docstring does not say whether it is Collective or Local")
        for member in node.body if isinstance(node, ast.ClassDef) else []:
            if isinstance(member, (ast.FunctionDef, ast.ClassDef)) and not member.name.startswith("_"):
                check(member, path, f"{name}.")

    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in public:
                seen.add(node.name)
                check(node, path, "")
    unseen = {name for name in public - seen if not name.isupper()}
    return gaps + [f"python/src/shoal: {name} is exported, but nowhere defined" for name in sorted(unseen)]


def check_programs(page: Path) -> list[str]:
    """Comments before code `file: PATH` a copy of this file, `part: PATH` a part of it,
    `theirs: LIBRARY` a program for another library."""
    text = page.read_text(encoding="utf-8")
    name = str(page.relative_to(TOP))
    gaps = []
    for kind, path, block in re.findall(r"<!-- (file|part): (\S+) -->\s*```\w*\n(.*?)```", text, re.S):
        whole = text_of(path)
        if (kind == "file" and whole != block) or block not in whole:
            gaps.append(f"{name}: the program shown is not {'' if kind == 'file' else 'in '}{path}")
    if name.startswith(ALL_RUN):
        for before, language in re.findall(r"([^\n]*)\n```(\w+)\n", text):
            if language in LANGUAGES and not before.startswith(MARKS):
                gaps.append(f"{name}: a program ({language}) that no test runs: of which file is it a part?")
    return gaps


def anchors_of(page: Path) -> set[str]:
    """The names of a page's headings, as GitHub and the site make them."""
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.*?) *$", text, re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number = 0
        while (name := f"{anchor}-{number}" if number else anchor) in found:
            number += 1
        found.add(name)
    return found


def check_links(page: Path) -> list[str]:
    gaps = []
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'<a href="([^"]+)"', text)
    for target in targets:
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, anchor = target.partition("#")
        to = page.parent / path if path else page
        if not to.exists():
            gaps.append(f"{page.relative_to(TOP)}: link to {path}, which does not exist")
        elif anchor and to.suffix == ".md" and anchor not in anchors_of(to):
            gaps.append(f"{page.relative_to(TOP)}: link to {target}, but the page has no such heading")
    return gaps


def check_mpiexec(page: Path) -> list[str]:
    """Open MPI starts no more ranks than cores, and nothing as root, unless it is told to: the page sets its
    variables, or leads to the section that does."""
    name = str(page.relative_to(TOP))
    if not name.startswith(TO_RUN) or name.startswith(NOT_TO_RUN):
        return []
    text = page.read_text(encoding="utf-8")
    is_set = "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1" in text and "OMPI_MCA_rmaps_base_oversubscribe=1" in text
    is_set = is_set or "install.md#open-mpi-on-few-cores-or-as-root" in text
    gaps = []
    for number, line in enumerate(text.splitlines(), 1):
        has_flags = "--oversubscribe" in line and "--allow-run-as-root" in line
        if re.search(r"\bmpi(exec|run) +-", line) and not (is_set or has_flags):
            gaps.append(
                f"{name}:{number}: mpiexec without --oversubscribe and --allow-run-as-root, and the page "
                "neither sets Open MPI's variables nor links to docs/install.md"
            )
    return gaps


def tool(name: str, what: str) -> str | None:
    """A program beside the interpreter, or in the path."""
    beside = Path(sys.executable).with_name(name)
    command = str(beside) if beside.exists() else shutil.which(name)
    if command is None:
        print(f"{what} is not checked: there is no {name} (pip install {name})")
    return command


def check_spelling(pages: list[Path]) -> list[str]:
    command = tool("codespell", "spelling")
    if command is None:
        return []
    told = subprocess.run(
        [command, "--ignore-words", str(TOP / "tools/words.txt"), *map(str, pages)],
        capture_output=True,
        text=True,
        check=False,
    )
    return [line.replace(f"{TOP}/", "") for line in told.stdout.splitlines()]


def prose_of(page: Path) -> str:
    """The sentences of a page, in the lines where they stand; code and addresses are left out."""

    def blank(found: re.Match) -> str:
        return "\n" * found[0].count("\n")

    text = page.read_text(encoding="utf-8")
    for code in (r"^ *```.*?^ *```$", r"<!--.*?-->", r"^(?: {4}|\t).*$"):
        text = re.sub(code, blank, text, flags=re.M | re.S if ".*?" in code else re.M)
    text = re.sub(r"`[^`]*`", lambda found: "¤" + blank(found), text)
    text = re.sub(r"\w*\d[\w.]*", "¤", text)
    text = re.sub(r"\]\([^)\s]*\)", "]", text)
    # A heading ends before the sentence that follows.
    return re.sub(r"^(#+ .*[^.?!])$", r"\1.", text, flags=re.M)


def check_prose(pages: list[Path]) -> list[str]:
    """What proselint finds with the checks of tools/proselint.json."""
    command = tool("proselint", "prose")
    if command is None:
        return []
    gaps = []
    with tempfile.TemporaryDirectory() as folder:
        copies = {}
        for number, page in enumerate(pages):
            copy = Path(folder, f"{number}.md")
            copy.write_text(prose_of(page), encoding="utf-8")
            copies[copy.name] = page.relative_to(TOP)
        options = ["--config", str(TOP / "tools/proselint.json"), "--output-format", "json"]
        told = subprocess.run(
            [command, "check", *options, *(str(Path(folder, name)) for name in copies)],
            capture_output=True,
            text=True,
            check=False,
        )
        if not told.stdout.startswith("{"):
            return [f"proselint failed: {told.stderr.strip()}"]
        for path, found in json.loads(told.stdout)["result"].items():
            page = copies[Path(path.removeprefix("file://")).name]
            if "error" in found:
                gaps.append(f"{page}: proselint: {found['error']}")
            for one in found.get("diagnostics", []):
                line = one["pos"][0]
                gaps.append(f"{page}:{line}: {one['check_path']}: {one['message']}".replace("\n", " "))
    return gaps


def check_width(page: Path) -> list[str]:
    """Tables, code and links cannot be wrapped."""
    gaps, is_code = [], False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        is_code ^= line.lstrip().startswith("```")
        is_free = is_code or line.startswith(("    ", "|")) or "://" in line
        if len(line) > WIDTH and not is_free:
            gaps.append(f"{page.relative_to(TOP)}:{number}: {len(line)} characters, more than {WIDTH}")
    return gaps


def check_merged(page: Path) -> list[str]:
    """No line of git's stands in a page whose merge was not finished."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return [
        f"{page.relative_to(TOP)}:{number}: the merge is not finished"
        for number, line in enumerate(lines, 1)
        if line.startswith(("<<<<<<< ", ">>>>>>> "))
    ]


def check_versions() -> list[str]:
    """CMakeLists.txt says the version; what cannot read it there says the same."""
    found = re.search(r"^project\(shoal VERSION ([0-9.]+)", text_of("CMakeLists.txt"), re.M)
    if found is None:
        return ["CMakeLists.txt: there is no project(shoal VERSION ...)"]
    version = found[1]
    series, following = ".".join(version.split(".")[:2]), int(version.split(".")[1]) + 1
    said = {
        "CITATION.cff": f"\nversion: {version}\n",
        "python/pyproject.toml": f'\nversion = "{version}"\n',
        "bench/python/pyproject.toml": f'\nversion = "{version}"\n',
        "bench/CMakeLists.txt": f"project(shoal_bench VERSION {version} ",
        "python/cmake/FindInstalledShoal.cmake": f"find_package(shoal {series} ",
        "tests/install/CMakeLists.txt": f"find_package(shoal {series} ",
        "docs/install.md": f"modulefiles/shoal/{version}`",
        "packaging/spack/package.py": f'version("{version}"',
        f"packaging/easybuild/Shoal-{version}-gompi-2024a.eb": f"\nversion = '{version}'\n",
        f"packaging/easybuild/Shoal-Python-{version}-foss-2024a.eb": f"('Shoal', '{version}')",
        "packaging/debian/changelog": f"shoal ({version}-",
        "packaging/debian/control": f"\nPackage: libshoal{series}\n",
        f"packaging/debian/libshoal{series}.install": "libshoal.so",
        "packaging/conda/recipe/recipe.yaml": f'\n  version: "{version}"\n',
        "packaging/docker/Dockerfile": f'image.version="{version}"',
        "packaging/apptainer/shoal.def": f"\n    version {version}\n",
    }
    gaps = [
        f"{path}: '{words.strip()}' is missing; CMakeLists.txt has version {version}"
        for path, words in said.items()
        if words not in text_of(path)
    ]
    if f'"shoal>={series},<{version.split(".")[0]}.{following}"' not in text_of(
        "bench/python/pyproject.toml"
    ):
        gaps.append(f"bench/python/pyproject.toml: shoal-bench must need shoal>={series} and no later series")
    if text_of("python/LICENSE") != text_of("LICENSE"):
        gaps.append("python/LICENSE, which goes into wheels, is not the LICENSE of the top folder")
    return gaps


def main() -> int:
    gaps = check_names() + check_docstrings() + check_versions()
    pages = sorted(TOP.glob("*.md"))
    for folder in PAGES:
        pages += sorted((TOP / folder).glob("**/*.md"))
    for page in pages:
        gaps += check_programs(page) + check_links(page) + check_width(page) + check_merged(page)
        gaps += check_mpiexec(page)
    gaps += check_spelling(pages) + check_prose(pages)
    for gap in gaps:
        print(gap)
    print(f"{len(pages)} pages checked, {len(gaps)} gaps")
    return 1 if gaps else 0


if __name__ == "__main__":
    sys.exit(main())
