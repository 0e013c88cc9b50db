#!/usr/bin/env python3
"""Hold the documentation to the code.

Every error code, setting and C function is described; programs shown in the documentation are the
ones that the tests run; links between pages lead somewhere; text is wrapped; all that says the version says
the same. Prints every gap and exits 1 if there is one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
# Folders with pages, beside those of the top folder.
PAGES = ("docs", "bench", "examples", "packaging", "python", "tests")
WIDTH = 120


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
    keys = re.findall(r'^\s+\{"(\w+)", Kind::', text_of("src/dataset/settings.cpp"), re.M)
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


def check_programs(page: Path) -> list[str]:
    """A line `<!-- file: PATH -->` before a code block says of which file it is a copy."""
    text = page.read_text(encoding="utf-8")
    gaps = []
    for path, block in re.findall(r"<!-- file: (\S+) -->\s*```\w*\n(.*?)```", text, re.S):
        if text_of(path) != block:
            gaps.append(f"{page.relative_to(TOP)}: the program shown is not {path}")
    return gaps


def check_links(page: Path) -> list[str]:
    gaps = []
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target and not (page.parent / target).exists():
            gaps.append(f"{page.relative_to(TOP)}: link to {target}, which does not exist")
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
    gaps = check_names() + check_versions()
    pages = sorted(TOP.glob("*.md"))
    for folder in PAGES:
        pages += sorted((TOP / folder).glob("**/*.md"))
    for page in pages:
        gaps += check_programs(page) + check_links(page) + check_width(page)
    for gap in gaps:
        print(gap)
    print(f"{len(pages)} pages checked, {len(gaps)} gaps")
    return 1 if gaps else 0


if __name__ == "__main__":
    sys.exit(main())
