# SPDX-License-Identifier: BSD-3-Clause
"""The report as one page of HTML that needs nothing beside it: no network, no scripts, pictures inline.

The page is well-formed XML as well, so that it can be read by either kind of parser."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Optional

from .document import Document, Section
from .figures import module_of
from .figures.common import Picture
from .tables import Table, how_to_read

_style = """
:root { --ink: #222; --grey: #666; --line: #ddd; }
body { font: 15px/1.5 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; color: var(--ink);
  max-width: 1140px; margin: 2em auto; padding: 0 1em; background: white; }
h1 { font-size: 1.7em; margin-bottom: .2em; } h2 { font-size: 1.35em; margin-top: 2.2em; padding-top:
  .6em;
  border-top: 2px solid var(--ink); } h3 { font-size: 1.08em; margin: 1.6em 0 .3em; }
p, li { max-width: 60em; } .grey { color: var(--grey); }
code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .93em; background: #f3f3f3;
  padding: 0 .25em; }
pre { background: #f3f3f3; padding: .7em 1em; border-left: 3px solid #0072b2; overflow-x: auto; }
pre code { background: none; padding: 0; }
nav a { margin-right: 1.1em; white-space: nowrap; } a { color: #0072b2; }
.scroll { overflow-x: auto; margin: .3em 0 1em; }
table { border-collapse: collapse; font-size: 12.5px; line-height: 1.35; font-variant-numeric: tabular-
  nums; }
caption { text-align: left; color: var(--grey); padding-bottom: .3em; caption-side: top; }
th { text-align: right; border-bottom: 1.5px solid var(--ink); padding: .15em .55em; vertical-align:
  bottom;
  font-weight: 600; } td { text-align: right; padding: .1em .55em; white-space: nowrap; }
th.left, td.left { text-align: left; } tr.begins td { border-top: 1px solid var(--line); }
tr.best td { font-weight: 650; background: #eef6fb; } tr.limit td { color: var(--grey); }
tr.wrong td { color: #b00020; font-weight: 600; }
.facts td { white-space: normal; max-width: 34em; vertical-align: top; }
figure { margin: 1.2em 0 1.8em; break-inside: avoid; } figure svg { max-width: 100%; height: auto;
  display: block; }
figcaption { color: var(--grey); font-size: .9em; }
.note { background: #fff6e0; border-left: 3px solid #e69f00; padding: .4em 1em; }
details > summary { cursor: pointer; font-weight: 600; margin: 1em 0 .4em; }
@media print { body { max-width: none; margin: 0; font-size: 10.5pt; } nav { display: none; }
  .scroll { overflow: visible; } table { font-size: 7.2pt; } tr { break-inside: avoid; } thead { display:
  table-header-group; }
  h2, h3 { break-after: avoid; } }
"""


def svg_of(picture: Picture) -> str:
    """A figure as an element of HTML. Its ids get the picture's name before them, as they would else be the
    same in all pictures of a page."""
    svg = picture.svg
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    name = re.sub(r"[^A-Za-z0-9_-]", "-", picture.name)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    label = f'role="img" aria-label="{escape(picture.caption)}"'
    return svg.replace("<svg ", f"<svg {label} ", 1)


def words(text: str) -> str:
    """Text with names in backquotes as HTML."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def table_html(table: Table, kind: str = "") -> str:
    """A table; the caption says what all its rows have in common."""
    heads = "".join(
        f"<th{' class=' + chr(34) + 'left' + chr(34) if i < table.left else ''}>{escape(text)}</th>"
        for i, text in enumerate(table.headings)
    )
    rows = []
    for row in table.rows:
        names = " ".join(filter(None, (row.mark, "begins" if row.begins else "")))
        cells = "".join(
            f'<td class="left">{escape(text)}</td>' if i < table.left else f"<td>{escape(text)}</td>"
            for i, text in enumerate(row.cells)
        )
        rows.append(f'<tr class="{names}">{cells}</tr>' if names else f"<tr>{cells}</tr>")
    caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
    return (
        f'<div class="scroll"><table class="{kind or "results"}">{caption}<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>{chr(10).join(rows)}</tbody></table></div>"
    )


def _list(items: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{words(item)}</li>" for item in items) + "</ul>" if items else ""


def _summary(document: Document) -> str:
    parts = ['<h2 id="summary">Summary</h2>']
    for place, advice in document.advice.items():
        parts.append(f"<h3>What to set: {escape(document.names[place])}</h3>")
        parts.append(f"<p>{words(advice.reason)}</p>")
        if advice.best is not None:
            line = ", ".join(f"{k}={v}" for k, v in {**advice.best.settings, **advice.extra}.items())
            parts.append(f"<pre><code># shoal.toml\n{escape(advice.toml)}</code></pre>")
            parts.append(f"<p>The same in a call: <code>settings=&quot;{escape(line)}&quot;</code>.</p>")
        parts.append(_list(advice.notes))
        if len(advice.by_format) > 1:
            best = advice.by_format[0].ratio
            formats = [
                f"{way.format}: driver `{way.driver}`"
                + (
                    f", access `{way.access}`"
                    if way.driver not in ("native", "gather") and way.access
                    else ""
                )
                + (f", layout `{way.layout}`" if way.layout not in ("", "one") else "")
                + f", {way.ratio / best:.2f} of the time of the best format ({way.cases} cases)"
                for way in advice.by_format
            ]
            parts.append(f"<p>The best way for each format:</p>{_list(formats)}")
        parts.append(f"<p>{words(document.native[place])}</p>")
    for section in document.sections:
        parts.append(f'<h3><a href="#{escape(section.name)}">{escape(section.title)}</a></h3>')
        for place, sentences in section.summary.items():
            if len(document.names) > 1:
                parts.append(f'<p class="grey">{escape(document.names[place])}</p>')
            parts.append(_list(sentences))
    if document.not_run:
        parts.append(f"<p>No results of: {escape('; '.join(document.not_run))}.</p>")
    return "\n".join(parts)


def _section(document: Document, section: Section, pictures: Sequence[Picture], with_pictures: bool) -> str:
    parts = [f'<h2 id="{escape(section.name)}">{escape(section.title)}</h2>']
    if section.question:
        parts.append(f"<p><strong>{escape(section.question)}</strong></p>")
    if section.source:
        parts.append(f'<p class="grey">The study: {escape(section.source)}. Measured here: ')
        parts.append(escape("; ".join(section.asks) or "see the tables") + ".</p>")
    about = module_of(section.name).ABOUT if with_pictures else None
    if about is not None and about.published:
        parts.append(f'<p class="grey">Published: {escape(about.published)}</p>')
    parts.append("<h3>What was found</h3>")
    for place, sentences in section.findings.items():
        if len(document.names) > 1:
            parts.append(f'<p class="grey">{escape(document.names[place])}</p>')
        parts.append(_list(sentences))
    if section.gaps:
        parts.append(f'<div class="note"><strong>What is missing</strong>{_list(section.gaps)}</div>')
    if about is not None:
        parts.append(f"<h3>Pictures</h3><p>How to read them: {escape(about.reading)}</p>")
        if about.limits:
            parts.append(f"<p>What they cannot show: {escape(about.limits)}</p>")
    for picture in pictures:
        parts.append(
            f"<figure>{svg_of(picture)}<figcaption>{escape(picture.caption)} Files: "
            f"{escape(picture.name)}.png, .svg</figcaption></figure>"
        )
    parts.append("<h3>Tables</h3>")
    for table in section.tables:
        parts.append(
            f'<details open="open"><summary>{escape(table.title)}</summary>{table_html(table)}</details>'
        )
    return "\n".join(parts)


def page_of(document: Document, pictures: Optional[Mapping[str, Sequence[Picture]]]) -> str:
    """The whole page. pictures: those of each experiment; None: the page has none. Local."""
    title = f"Shoal bench: {document.results.path.name}"
    links = [
        ("summary", "Summary"),
        ("machines", "Machine"),
        ("cells", "Cells"),
        ("reading", "Reading the tables"),
    ]
    links += [(section.name, section.name) for section in document.sections]
    nav = "".join(f'<a href="#{escape(target)}">{escape(text)}</a>' for target, text in links)
    sections = "\n".join(
        _section(document, section, (pictures or {}).get(section.name, ()), pictures is not None)
        for section in document.sections
    )
    cells = (
        table_html(document.cells)
        if document.cells.rows
        else "<p>There is none: <code>native</code> wins, or is within 10 %, wherever it was compared.</p>"
    )
    return f"""<!DOCTYPE html>
<html lang="en" xmlns="http://www.w3.org/1999/xhtml"><head><meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>{escape(title)}</title><style>{_style}</style></head>
<body>
<h1>Parallel output and input: what was measured</h1>
<p class="grey">{escape(document.results.path.name)}, {len(document.results.runs):,} runs. Times are
medians of repetitions that methods took in turns. A difference is larger than the spread where every run of
one method was faster than every run of the other.</p>
<nav>{nav}</nav>
{_summary(document)}
<h2 id="machines">What was run on what</h2>
{table_html(document.machines, "facts")}
<h2 id="cells">{escape(document.cells.title)}</h2>
<p>{words(document.cells.caption)}</p>
{cells.replace(f"<caption>{escape(document.cells.caption)}</caption>", "")}
<h2 id="reading">Reading the tables</h2>
<p>{escape(how_to_read)}</p>
{sections}
</body></html>
"""
