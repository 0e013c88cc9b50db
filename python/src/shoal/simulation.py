# SPDX-License-Identifier: BSD-3-Clause
"""What the ranks of a large job would plan and move, worked out on this machine without starting them.

The work is done by the program shoal-plan, with the library's own code: it builds the plan of one rank after
the other and keeps what a rank would hear from the others until it is that rank's turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Optional

from .programs import ProgramError, run_program

__all__ = ["Case", "ProgramError", "simulate"]

name = "shoal-plan"
# Not SHOAL_...: such names are settings of the library, which refuses those that it does not know.
variable = "PLAN_ENGINE"


@dataclass
class Case:
    """One field, written once by ranks that need not exist. Shapes are in the model's order, the first
    dimension is the fastest.

    shape    global cells, of a field that is cut into tiles
    columns  in place of shape: ne30 or the like (a cubed sphere along a curve), or a file of a decomposition
    map_name with a file of several: which decomposition ("D1"); of PIO's text: c or fortran
    levels   with columns: of the dimension that is not cut; None: there is none
    tiles    along the first dimensions; None: the most square of two
    chunk    of the variable in one record; None: it has none
    library  through a driver of another library
    settings io_ranks, io_ranks_per_node, io_stride, io_base, rearranger, rearrange, stage_bytes,
             slot_bytes, direct_bytes, writers, machine, folder, file_system, stripes
    seconds  if all ranks would take longer, those of some nodes are taken"""

    ranks: int
    nodes: int
    shape: Optional[Sequence[int]] = None
    columns: Optional[str] = None
    levels: Optional[int] = None
    tiles: Optional[Sequence[int]] = None
    cell_bytes: int = 4
    chunk: Optional[Sequence[int]] = None
    library: bool = False
    settings: dict = field(default_factory=dict)
    seconds: int = 60
    map_name: Optional[str] = None

    def arguments(self) -> dict[str, object]:
        """Of the program. Local."""
        return {
            "ranks": self.ranks,
            "nodes": self.nodes,
            "global": self.shape,
            "columns": self.columns,
            "map_name": self.map_name,
            "levels": self.levels,
            "tiles": self.tiles,
            "cell_bytes": self.cell_bytes,
            "chunk": self.chunk,
            "seconds": self.seconds,
            **self.settings,
            "library": self.library,
        }


def _words(arguments: Mapping[str, object]) -> list[str]:
    """As the program takes them: None and False are left out, True has no value, shapes have x between."""
    words = []
    for key, value in arguments.items():
        if value is None or value is False:
            continue
        words.append(f"--{key.replace('_', '-')}")
        if isinstance(value, Sequence) and not isinstance(value, str):
            words.append("x".join(map(str, value)))
        elif value is not True:
            words.append(str(value))
    return words


def simulate(case: Case) -> dict:
    """What the program says of it, as docs/tools.md lists it. Local.

    Errors: InvalidArgumentError in the program's words; ProgramError if it is not there or fails."""
    return run(case.arguments())


def run(arguments: Mapping[str, object]) -> dict:
    """What the program says, given its options by name. Local; errors as of simulate."""
    return run_program(name, variable, _words(arguments))
