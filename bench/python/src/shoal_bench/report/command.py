# SPDX-License-Identifier: BSD-3-Clause
"""`shoal bench report`: reads results.json; tables to the terminal, pictures and a page to a folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Optional

import typer

from shoal.cli.parallel import console, trouble
from shoal.errors import Error, InvalidArgumentError, NotSupportedError

from .document import Document, document_of
from .results import load
from .terminal import show

if TYPE_CHECKING:
    from .figures.common import Picture


def pictures_of(document: Document) -> dict[str, list[Picture]]:
    """All pictures, by experiment. Local. Errors: NotSupportedError without Matplotlib."""
    try:
        from .figures import module_of
    except ImportError as error:
        raise _no_matplotlib(error) from None
    made: dict[str, list[Picture]] = {}
    for section in document.sections:
        try:
            module = module_of(section.name)
        except ImportError as error:
            raise _no_matplotlib(error) from None
        studies = dict.fromkeys(contest.key.study for contest in section.contests)
        groups = [section.contests]
        if module.ABOUT.by_study:
            groups = [[c for c in section.contests if c.key.study == study] for study in studies]
        for study, group in zip(studies, groups):
            pictures = module.draw(group, document.names)
            if len(groups) > 1:
                for picture in pictures:
                    picture.name += f"_{study}"
            made.setdefault(section.name, []).extend(pictures)
    _make_names_distinct(made)
    return made


def _no_matplotlib(error: ImportError) -> NotSupportedError:
    return NotSupportedError(
        f"Plots need Matplotlib ({error}): pip install './bench/python[report]' in Shoal's sources, "
        "or matplotlib. Without -o there are tables alone."
    )


def _make_names_distinct(pictures: dict[str, list[Picture]]) -> None:
    seen: dict[str, int] = {}
    for picture in (picture for group in pictures.values() for picture in group):
        seen[picture.name] = seen.get(picture.name, 0) + 1
        if seen[picture.name] > 1:
            picture.name += f"_{seen[picture.name]}"


def write_report(document: Document, folder: Path) -> Path:
    """Pictures as PNG and SVG, cells.json and report.html in a folder, which is made if need be. Local.

    Returns the path of the page.

    Errors: InvalidArgumentError where the folder cannot be written; NotSupportedError without Matplotlib."""
    pictures = pictures_of(document)
    from .page import page_of

    page = folder / "report.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for picture in (picture for group in pictures.values() for picture in group):
            picture.figure.savefig(folder / f"{picture.name}.png")
            (folder / f"{picture.name}.svg").write_text(picture.svg, encoding="utf-8")
        (folder / "cells.json").write_text(cells_json(document), encoding="utf-8")
        page.write_text(page_of(document, pictures), encoding="utf-8")
    except OSError as error:
        raise InvalidArgumentError(f"-o {folder}: {error}") from None
    return page


def cells_json(document: Document) -> str:
    """All cells and how `native` did in them, as a list of objects. Local."""
    return json.dumps([verdict.as_dict() for verdict in document.verdicts], indent=1) + "\n"


def report(results: Path, output: Optional[Path], cells: bool = False) -> None:
    """Show the report of results.json; with a folder write pictures and report.html there. Local.

    cells: print a list of objects (JSON) instead, one for each cell in which `native` can be compared. Their
    `verdict` is wins, within (10 % of the best), behind, missing or unverified. A file that is no list of
    results ends the program with status 2."""
    try:
        document = document_of(load(results))
        page = None if output is None else write_report(document, output)
    except Error as error:
        typer.echo(f"shoal bench report: {error}", err=True)
        raise typer.Exit(trouble) from None
    if cells:
        sys.stdout.write(cells_json(document))
    else:
        show(console(), document)
    if page is not None:
        typer.echo(f"page: {page.resolve()}", err=True)
