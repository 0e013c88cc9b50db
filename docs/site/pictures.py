"""Pictures of the pages, written in Mermaid's language, as SVG: flowcharts by Graphviz, sequences drawn here.

So pages show pictures where Mermaid is known (GitHub, editors), and the site needs neither a browser nor a
network to be built. What of Mermaid's language is not known here is an error.
"""

from __future__ import annotations

import html
import re
import subprocess

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

_FONT = "Helvetica, Arial, sans-serif"
# Ends of node texts, longest first: shape of Graphviz.
_SHAPES = [
    ("[(", ")]", "cylinder"),
    ("{{", "}}", "hexagon"),
    ("[", "]", "box"),
    ("{", "}", "diamond"),
    ("(", ")", "box"),
]
_EDGE = re.compile(r'^(?:--\s*(?:"([^"]*)"|([^">\-][^>\-]*?))\s*-->|-\.\s*"([^"]*)"\s*\.->|-->|-\.->)\s*')


class PictureError(ValueError):
    pass


def _wrapped(text: str, width: int = 26) -> str:
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + len(word) + 1 > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return "\\n".join(part.replace("\\", "\\\\").replace('"', '\\"') for part in [*lines, line])


class _Flow:
    def __init__(self, source: str):
        self.nodes: dict[str, tuple[str, str]] = {}
        self.body: list[str] = []
        self.direction = "TB"
        for line in source.strip().splitlines():
            self._line(line.strip())

    def _line(self, line: str) -> None:
        if line.startswith("flowchart "):
            self.direction = line.split()[1]
        elif line.startswith("subgraph "):
            name, text = re.match(r"subgraph (\w+) \[(.*)\]$", line).groups()
            self.body.append(f'subgraph "cluster_{name}" {{ label="{text.strip(chr(34))}"; style="rounded";')
        elif line == "end":
            self.body.append("}")
        elif line:
            self._chain(line)

    def _chain(self, line: str) -> None:
        rest = line
        left, rest = self._group(rest)
        while rest:
            edge = _EDGE.match(rest)
            if edge is None:
                raise PictureError(f"not understood in a picture: {rest!r} of {line!r}")
            label = next((part for part in edge.groups() if part), "")
            dashed = ', style="dashed"' if edge[0].startswith("-.") else ""
            right, rest = self._group(rest[edge.end() :])
            for a in left:
                for b in right:
                    self.body.append(f'"{a}" -> "{b}" [label="{_wrapped(label, 24)}"{dashed}];')
            left = right

    def _group(self, rest: str) -> tuple[list[str], str]:
        names = []
        while True:
            name = re.match(r"\s*(\w+)", rest)
            if name is None:
                raise PictureError(f"no node at {rest!r}")
            rest = rest[name.end() :]
            names.append(name[1])
            text, shape = name[1], "box"
            for begin, end, kind in _SHAPES:
                if rest.startswith(begin):
                    stop = rest.index(end, len(begin))
                    text, shape = rest[len(begin) : stop].strip('"'), kind
                    rest = rest[stop + len(end) :]
                    break
            else:
                shape = ""
            if shape or name[1] not in self.nodes:
                self.nodes[name[1]] = (text, shape or "box")
                self.body.append(f'"{name[1]}" [label="{_wrapped(text)}", shape={shape or "box"}];')
            rest = rest.lstrip()
            if not rest.startswith("&"):
                return names, rest
            rest = rest[1:]

    def dot(self) -> str:
        rank = {"TB": "TB", "TD": "TB", "LR": "LR"}[self.direction]
        return (
            f'digraph {{ rankdir={rank}; bgcolor="transparent"; pad=0.25; nodesep=0.35; ranksep=0.5;\n'
            f'node [fontname="{_FONT}", fontsize=11, style="rounded", margin="0.18,0.08"];\n'
            f'edge [fontname="{_FONT}", fontsize=10, arrowsize=0.7];\n'
            f'graph [fontname="{_FONT}", fontsize=11];\n' + "\n".join(self.body) + "\n}"
        )


def flowchart(source: str) -> str:
    done = subprocess.run(
        ["dot", "-Tsvg"], input=_Flow(source).dot(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise PictureError(f"dot failed: {done.stderr}")
    svg = done.stdout[done.stdout.index("<svg") :]
    svg = re.sub(r"<!--.*?-->|<title>.*?</title>", "", svg, flags=re.S)
    svg = re.sub(r' id="[^"]*"', "", svg)
    svg = svg.replace('stroke="black"', 'stroke="currentColor"').replace(
        'fill="black"', 'fill="currentColor"'
    )
    return svg.replace("<text ", '<text fill="currentColor" ')


def sequence(source: str) -> str:
    """Participants in columns, messages downwards, notes, and frames around alternatives."""
    names: dict[str, str] = {}
    rows: list[tuple] = []
    for line in (part.strip() for part in source.strip().splitlines()[1:]):
        if match := re.match(r"participant (\w+) as (.+)$", line):
            names[match[1]] = match[2]
        elif match := re.match(r"(\w+)->>(\w+): (.+)$", line):
            rows.append(("message", *match.groups()))
        elif match := re.match(r"Note over (\w+): (.+)$", line):
            rows.append(("note", *match.groups()))
        elif match := re.match(r"(alt|else) (.+)$", line):
            rows.append(match.groups())
        elif line == "end":
            rows.append(("end",))
        elif line:
            raise PictureError(f"not understood in a picture: {line!r}")
    columns = list(names)
    longest = max(
        len(row[3]) / max(abs(columns.index(row[1]) - columns.index(row[2])), 0.8)
        for row in rows
        if row[0] == "message"
    )
    wide, step, left = max(210, int(6.3 * longest) + 16), 36, 90
    at = {name: left + wide * i for i, name in enumerate(names)}
    width, y, out, frames = left * 2 + wide * (len(names) - 1), 70, [], []

    def text(x: float, where: float, what: str, anchor: str = "middle") -> str:
        return (
            f'<text x="{x}" y="{where}" text-anchor="{anchor}" fill="currentColor" font-size="12">'
            f"{html.escape(what)}</text>"
        )

    for row in rows:
        if row[0] == "message":
            _, a, b, what = row
            if a == b:
                x = at[a]
                out.append(f'<path d="M{x} {y - 4} h34 v14 h-30" class="line" marker-end="url(#tip)"/>')
                out.append(text(x + 40, y + 6, what, "start"))
            else:
                end = at[b] + (-2 if at[b] > at[a] else 2)
                out.append(f'<path d="M{at[a]} {y} H{end}" class="line" marker-end="url(#tip)"/>')
                out.append(text((at[a] + at[b]) / 2, y - 5, what))
        elif row[0] == "note":
            x, half = at[row[1]], 8 * len(row[2]) / 2 + 8
            out.append(f'<rect x="{x - half}" y="{y - 16}" width="{2 * half}" height="24" class="note"/>')
            out.append(text(x, y, row[2]))
        elif row[0] in ("alt", "else"):
            if row[0] == "alt":
                frames.append(y - 22)
            else:
                out.append(f'<path d="M20 {y - 22} H{width - 20}" class="line dashed"/>')
            out.append(text(28, y - 6, f"{'if' if row[0] == 'alt' else 'else'}: {row[1]}", "start"))
        else:
            top = frames.pop()
            out.append(
                f'<rect x="20" y="{top}" width="{width - 40}" height="{y - 22 - top}" class="line dashed"/>'
            )
        y += step
    heads = []
    for name, words in names.items():
        x = at[name]
        heads.append(f'<path d="M{x} 40 V{y}" class="line life"/>')
        heads.append(f'<rect x="{x - 80}" y="12" width="160" height="28" rx="6" class="line"/>')
        heads.append(text(x, 30, words))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}pt" height="{y + 10}pt" '
        f'viewBox="0 0 {width} {y + 10}" font-family="{_FONT}" class="sequence">'
        '<defs><marker id="tip" markerWidth="9" markerHeight="9" refX="8" refY="4" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="currentColor"/></marker></defs>' + "".join(heads + out) + "</svg>"
    )


def picture(source: str) -> str:
    return sequence(source) if source.strip().startswith("sequenceDiagram") else flowchart(source)


class Mermaid(SphinxDirective):
    has_content = True

    def run(self) -> list[nodes.Node]:
        try:
            svg = picture("\n".join(self.content))
        except (PictureError, AttributeError, KeyError, ValueError) as problem:
            raise self.error(f"mermaid: {problem}") from problem
        return [nodes.raw("", f'<div class="picture">{svg}</div>', format="html")]


def setup(app):
    app.add_directive("mermaid", Mermaid)
    return {"parallel_read_safe": True}
