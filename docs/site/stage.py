"""Lays the pages of the site out in one folder, as Sphinx wants them.

    stage.py OUT

Copies docs/**/*.md, and the pages of other folders that belong to the site; fills in the pages of the
reference, where they have a line `<!-- generated: ... -->`; makes a page of every source that a page links
to, so that the site needs nobody else's. The navigation is docs/index.md: each of its headings with a list of
links is a part of it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import fortran_reference
import references

TOP = Path(__file__).resolve().parents[2]
# Pages outside of docs/, and where they are on the site.
ELSEWHERE = {
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "bench/README.md": "project/shoal-bench.md",
    "bench/python/README.md": "project/shoal-bench-python.md",
    "examples/README.md": "project/examples.md",
    "packaging/README.md": "project/packaging.md",
    "python/README.md": "project/python-package.md",
    "tests/model/README.md": "project/model.md",
}
LANGUAGES = {".f90": "fortran", ".F90": "fortran", ".c": "c", ".h": "c", ".cpp": "cpp", ".hpp": "cpp"}
LANGUAGES |= {".py": "python", ".sh": "bash", ".yaml": "yaml", ".toml": "toml", ".nml": "fortran"}
_GENERATED = re.compile(r"^\*The site .*\*\n\n<!-- generated: (\w+) -->$", re.M)
_LINK = re.compile(r"(\]\()([^)#\s]*)((?:#[^)\s]*)?\))")


def tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0 and listed.stdout:
        return [line for line in listed.stdout.splitlines() if (TOP / line).is_file()]
    # Sources without git: of a package.
    skipped = ("build/", ".venv/", ".git/")
    found = (str(path.relative_to(TOP)) for path in TOP.rglob("*") if path.is_file())
    return [path for path in found if not path.startswith(skipped)]


class Stage:
    def __init__(self, out: Path, generated: dict[str, str]):
        self.out = out
        self.generated = generated
        self.files = tracked()
        self.pages = {
            path: path[5:] for path in self.files if path.startswith("docs/") and path.endswith(".md")
        }
        self.pages |= {path: site for path, site in ELSEWHERE.items() if path in self.files}
        self.sources: dict[str, str] = {}  # path in the repository: page on the site
        self.written: set[str] = set()

    def write(self, page: str, text: str) -> None:
        target = self.out / page
        target.parent.mkdir(parents=True, exist_ok=True)
        self.written.add(page)
        # What did not change keeps its date, and Sphinx does not read it again.
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")

    def place(self, target: str) -> str | None:
        """The page on the site of a path in the repository."""
        if target in self.pages:
            return self.pages[target]
        if target not in self.sources and (TOP / target).exists():
            below = [path for path in self.files if path.startswith(f"{target}/")]
            if target in self.files or below:
                self.sources[target] = f"sources/{target}.md" if not below else f"sources/{target}/index.md"
        return self.sources.get(target)

    def links(self, text: str, path: str, page: str) -> str:
        """The text with links that fit the site. Code stays as it is."""

        def changed(match: re.Match) -> str:
            if not match[2] or "://" in match[2] or match[2].startswith("mailto:"):
                return match[0]
            target = os.path.normpath(os.path.join(os.path.dirname(path), match[2]))
            to = self.place(target)
            if to is None:
                raise SystemExit(f"{path}: link to {match[2]}, which is not there")
            return match[1] + os.path.relpath(to, os.path.dirname(page) or ".") + match[3]

        parts = re.split(r"(^ *```.*?^ *```$)", text, flags=re.M | re.S)
        return "".join(part if i % 2 else _LINK.sub(changed, part) for i, part in enumerate(parts))

    def copy_pages(self) -> None:
        for path, page in self.pages.items():
            text = (TOP / path).read_text(encoding="utf-8")
            if page == "index.md":
                text = self.navigation(text)
            text = _GENERATED.sub(lambda m: self.generated[m[1]], text)
            self.write(page, self.links(text, path, page))

    def navigation(self, text: str) -> str:
        out = []
        for part in re.split(r"(?=^## )", text, flags=re.M):
            out.append(part.rstrip() + "\n")
            heading = re.match(r"## (.*)", part)
            entries = re.findall(r"^- \[([^\]]*)\]\(([^)#]+\.md)\)", part, re.M)
            if heading and entries:
                places = [
                    f"{title} <{self.pages[os.path.normpath(f'docs/{entry}')].removesuffix('.md')}>"
                    for title, entry in entries
                ]
                out.append(
                    f"```{{toctree}}\n:hidden:\n:caption: {heading[1]}\n\n" + "\n".join(places) + "\n```\n"
                )
        return "\n".join(out)

    def copy_sources(self) -> None:
        done: set[str] = set()
        while left := set(self.sources) - done:
            for path in sorted(left):
                done.add(path)
                page = self.sources[path]
                if page.endswith("/index.md"):
                    below = [f for f in self.files if f.startswith(f"{path}/")]
                    places = [(f, self.place(f)) for f in below]
                    rows = [
                        f"- [{f[len(path) + 1 :]}]({os.path.relpath(to, os.path.dirname(page))})"
                        for f, to in places
                    ]
                    text = f"---\norphan: true\n---\n\n# {path}\n\n" + "\n".join(rows) + "\n"
                else:
                    code = (TOP / path).read_text(encoding="utf-8", errors="replace")
                    language = LANGUAGES.get(Path(path).suffix, "text")
                    text = f"---\norphan: true\n---\n\n# {path}\n\n"
                    text += f"````````{language}\n{code.rstrip()}\n````````\n"
                self.write(page, text)

    def remove_old(self) -> None:
        for path in self.out.rglob("*.md"):
            if str(path.relative_to(self.out)) not in self.written:
                path.unlink()


def main() -> None:
    fortran, names_of_fortran = fortran_reference.text(TOP)
    generated = {
        "c": references.text_of_c(TOP),
        "cpp": references.text_of_cpp(),
        "fortran": fortran,
        "python": references.text_of_python(TOP),
        "procedures": references.text_of_procedures(TOP, names_of_fortran),
    }
    stage = Stage(Path(sys.argv[1]), generated)
    stage.copy_pages()
    stage.copy_sources()
    stage.remove_old()


if __name__ == "__main__":
    main()
