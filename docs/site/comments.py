"""Comments of the sources as pages need them, and Doxygen's filter for the headers.

The comments of shoal.h, shoal.f90 and the Python package have one form: sentences, and lists of arguments in
two columns, a name and its meaning with two blanks or more between, of which further lines are indented. As a
program: prints a header with its comments in Doxygen's form.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

_ITEM = re.compile(r"^( *)([A-Za-z_][\w.=]*(?:, [A-Za-z_][\w.=]*)*)  +(\S.*)$")


def blocks(lines: list[str]) -> list[tuple[str, str]]:
    """(name, meaning) for a line of a list, ("", text) for a paragraph."""
    found: list[tuple[str, str]] = []
    depth = -1  # how far the name of the item is indented that goes on
    for line in lines:
        item = _ITEM.match(line)
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            depth = -1
            found.append(("", ""))
        elif item:
            depth = len(item[1])
            found.append((item[2], item[3].strip()))
        elif depth >= 0 and indent > depth:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        elif found and found[-1][0] == "" and found[-1][1]:
            found[-1] = ("", f"{found[-1][1]} {line.strip()}")
        else:
            depth = -1
            found.append(("", line.strip()))
    return [block for block in found if block != ("", "")]


def to_markdown(lines: list[str]) -> str:
    def plain(text: str) -> str:
        return re.sub(r"([*<>\[\]\\]|\b_|_\b)", r"\\\1", text)

    out: list[str] = []
    for name, text in blocks(lines):
        out.append(f"- `{name}`: {plain(text)}" if name else f"\n{plain(text)}\n")
    return "\n".join(out).strip() + "\n"


def to_rst(lines: list[str]) -> list[str]:
    def plain(text: str) -> str:
        text = re.sub(r"([*|\\]|_\b)", r"\\\1", text)
        return re.sub(r"`([^`]+)`", r"``\1``", text)

    out: list[str] = []
    in_list = False
    for name, text in blocks(lines):
        if bool(name) != in_list:
            out.append("")
        in_list = bool(name)
        out += [f"* ``{name}``: {plain(text)}"] if name else [plain(text), ""]
    return [*out, ""]


def numbered(lines: list[str]) -> str:
    """The conventions at the top of a source as a list of Markdown."""
    text = textwrap.dedent("\n".join(lines))
    entries = re.split(r"^ *\d+\. +", text, flags=re.M)[1:]
    plain = (re.sub(r"([*<])", r"\\\1", " ".join(entry.split())) for entry in entries)
    return "\n".join(f"1. {entry}" for entry in plain) + "\n"


def _to_doxygen(lines: list[str]) -> str:
    def plain(text: str) -> str:
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return re.sub(r"`([^`]+)`", r"<code>\1</code>", re.sub(r"([\\@#%])", r"\\\1", text))

    out: list[str] = []
    in_list = False
    for name, text in blocks(lines):
        if in_list and not name:
            out.append("")
        in_list = bool(name)
        out.append(f"- <code>{name}</code>: {plain(text)}" if name else plain(text))
    return "\n * ".join(out)


def filter_c(text: str) -> str:
    def before(match: re.Match) -> str:
        lines = [re.sub(r"^ \*", "", line) for line in match[1].split("\n")]
        return f"{match[2] or ''}/** {_to_doxygen(lines)} */\n{match[3]}"

    # A comment before a function or a struct explains it; one behind a member or function, too.
    text = re.sub(
        r"^/\*(?! ----)((?:(?!\*/).)*?)\*/\n(enum \{[^}]*\};\n)?"
        r"(SHOAL_API|typedef struct \w+ \{|static inline)",
        before,
        text,
        flags=re.M | re.S,
    )
    # One comment for several functions: the later ones say which. Inquiries are explained by their struct.
    out, last, has_comment = [], "", False
    for line in text.split("\n"):
        function = re.match(r"SHOAL_API [\w *]*?\b(shoal_(\w+))\(", line)
        if function and not has_comment and "/*" not in line:
            kind = re.match(r"inq_(file|dim|var)$", function[2])
            if kind:
                out.append(f"/** Fills the members of shoal_{kind[1]}_info. Local. */")
            elif last and last.rpartition("_")[0] == function[1].rpartition("_")[0]:
                out.append(f"/** As {last}. */")
        if function:
            last = function[1] if has_comment or not last else last
        has_comment = line.rstrip().endswith("*/") and not line.startswith("SHOAL_API")
        out.append(line)
    text = "\n".join(out)
    text = re.sub(r"^(SHOAL_API [^;]*;|  [\w *]+\w;) +/\*(.*?)\*/", r"\1 /**<\2*/", text, flags=re.M | re.S)
    return text


def filter_cpp(text: str) -> str:
    """The inline namespace is no part of the names that programs use."""
    text = re.sub(r"^inline namespace api \{", "", text, flags=re.M)
    text = re.sub(r"^\}  // namespace api", "", text, flags=re.M)
    return re.sub(r"^( *///)(.*)$", lambda m: m[1] + re.sub(r"([@%#])", r"\\\1", m[2]), text, flags=re.M)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    source = path.read_text(encoding="utf-8")
    sys.stdout.write(filter_c(source) if path.suffix == ".h" else filter_cpp(source))
