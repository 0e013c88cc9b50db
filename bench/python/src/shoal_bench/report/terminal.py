# SPDX-License-Identifier: BSD-3-Clause
"""The report on the terminal."""

from __future__ import annotations

import re

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table as RichTable

from .document import Document
from .tables import Table, how_to_read

_styles = {"best": "bold green", "limit": "dim", "wrong": "bold red"}


def _words(text: str) -> str:
    """Names of methods, which stand in backquotes, in bold."""
    return re.sub(r"`([^`]+)`", r"[bold]\1[/bold]", escape(text))


def show_table(out: Console, table: Table) -> None:
    """A table with a line between contests."""
    shown = RichTable(
        title=escape(table.title),
        caption=escape(table.caption) or None,
        title_justify="left",
        caption_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for number, heading in enumerate(table.headings):
        words = number < table.left
        shown.add_column(heading, justify="left" if words else "right", no_wrap=not words, overflow="fold")
    for number, row in enumerate(table.rows):
        if row.begins and number:
            shown.add_section()
        shown.add_row(*map(escape, row.cells), style=_styles.get(row.mark))
    out.print(shown)


def show(out: Console, document: Document) -> None:
    """Tables of all experiments, and the summary at the end, where one sees it."""
    show_table(out, document.machines)
    for section in document.sections:
        out.rule(escape(section.title), align="left")
        if section.question:
            out.print(Padding(escape(section.question), (0, 0, 1, 0)))
        for table in section.tables:
            show_table(out, table)
        for gap in section.gaps:
            out.print(f"[yellow]-[/yellow] {_words(gap)}", soft_wrap=True)
    out.print(f"\n{how_to_read}", soft_wrap=True)
    if document.cells.rows:
        show_table(out, document.cells)
    out.rule("Summary", align="left")
    for section in document.sections:
        for place, sentences in section.summary.items():
            out.print(
                f"[bold]{escape(section.title)}[/bold], {escape(document.names[place])}", soft_wrap=True
            )
            for sentence in sentences:
                out.print(f"  {_words(sentence)}", soft_wrap=True)
    for title in document.not_run:
        out.print(f"[bold]{escape(title)}[/bold]: no results", soft_wrap=True)
    for place, advice in document.advice.items():
        out.print(f"[bold]What to set: {escape(document.names[place])}[/bold]", soft_wrap=True)
        for line in (document.native[place], advice.reason, *advice.notes):
            out.print(f"  {_words(line)}", soft_wrap=True)
        if advice.best is not None:
            out.print(f"  shoal.toml:  {escape(advice.toml.replace(chr(10), '; '))}", soft_wrap=True)
