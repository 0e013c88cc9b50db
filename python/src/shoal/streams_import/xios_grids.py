# SPDX-License-Identifier: BSD-3-Clause
"""What XIOS does to fields between two grids, as keys of a file: parts, other levels, joined cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Optional

from .tables import Names
from .xios_tree import Element

grid_keys = ("grid_ref", "domain_ref", "axis_ref", "scalar_ref", "grid_path")
kinds = ("domain", "axis", "scalar")
# They say how cells are spread or drawn, not what they are.
_idle = ("compute_connectivity_domain", "redistribute_domain", "redistribute_axis", "redistribute_scalar")
_reductions = {"average": "mean", "sum": "sum", "min": "minimum", "max": "maximum"}
# Operations over time before and after which cells may be joined with the same result.
_joined_as_well = {
    "mean": ("mean", "sum", "instant"),
    "sum": ("mean", "sum", "instant"),
    "minimum": ("minimum", "instant"),
    "maximum": ("maximum", "instant"),
}


class NoCounterpartError(Exception):
    """Of a grid; the text says why."""


@dataclass
class Cells:
    """Keys of a file that choose cells, and what is to be said of them."""

    keys: dict[str, Any] = field(default_factory=dict)
    label: str = ""  # the id of the grid, for the name of a file
    notes: list[tuple[str, str]] = field(default_factory=list)


Chain = list[Element]  # an element of a grid, and what it refers to


class Grids:
    """The grids of one context. sent_field(id): the field that the model sends, if it is one without
    expressions; None otherwise."""

    def __init__(
        self,
        ids: Mapping[tuple[str, str], Element],
        names: Names,
        sent_field: Callable[[str], Optional[str]],
    ) -> None:
        self.ids, self.names, self.sent_field = ids, names, sent_field
        self.unknown: dict[tuple[str, str], Element] = {}

    def add(self, cells: Cells, source: Mapping[str, str], target: Mapping[str, str], operation: str) -> None:
        """Adds what is done between the grids of two fields, by their attributes. Errors:
        NoCounterpartError."""
        before, after = self.elements(source), self.elements(target)
        if len(before) != len(after):
            raise NoCounterpartError(
                f"the grids have {len(before)} and {len(after)} domains, axes and scalars"
            )
        axes = [chain for chain in before if chain[0].tag == "axis"]
        for old, new in zip(before, after):
            steps = self.steps(old, new)
            if not steps and (old[-1] is not new[-1] and self.is_unknown(old, new)):
                raise NoCounterpartError(f"the XML does not say what {new[0].tag} '{self.name(new)}' is")
            for step in steps:
                self.step(cells, step, old, new, len(axes), operation)
        label = next((target[key] for key in grid_keys if source.get(key) != target.get(key)), "")
        cells.label = label or cells.label

    # ---- Elements

    def elements(self, attributes: Mapping[str, str]) -> list[Chain]:
        """Those of the grid of a field, in their order."""
        refs = [(kind, attributes[f"{kind}_ref"]) for kind in kinds if f"{kind}_ref" in attributes]
        if "grid_path" in attributes:
            raise NoCounterpartError("grid_path leads over grids between the two")
        if "grid_ref" not in attributes:
            return [self.chain(Element(kind, {"id": name}, 0, "")) for kind, name in refs]
        if refs:
            raise NoCounterpartError(f"a field with a grid_ref has no {refs[0][0]}_ref in XIOS")
        grid, seen = self.target("grid", attributes["grid_ref"]), 0
        if ("grid", attributes["grid_ref"]) not in self.ids:
            raise NoCounterpartError("the XML does not say what this grid is")
        while not any(child.tag in kinds for child in grid.children) and "grid_ref" in grid.attributes:
            grid, seen = self.target("grid", grid.attributes["grid_ref"]), seen + 1
            if seen > len(self.ids):
                raise NoCounterpartError("this grid refers to itself")
        found = [self.chain(child) for child in grid.children if child.tag in kinds]
        if found:
            return found
        # XIOS 1 has them as attributes.
        return self.elements({key: grid.attributes[key] for key in grid_keys[1:4] if key in grid.attributes})

    def target(self, kind: str, name: str) -> Element:
        made = self.unknown.setdefault((kind, name), Element(kind, {"id": name}, 0, ""))
        return self.ids.get((kind, name), made)

    def chain(self, element: Element) -> Chain:
        found: Chain = []
        while True:
            if "id" in element.attributes:
                element = self.target(element.tag, element.attributes["id"])
            if any(element is one for one in found):
                raise NoCounterpartError(f"{element.tag} '{self.name(found)}' refers to itself")
            found.append(element)
            reference = element.attributes.get(f"{element.tag}_ref")
            if reference is None:
                return found
            element = self.target(element.tag, reference)

    def is_unknown(self, *chains: Chain) -> bool:
        return any(element is made for chain in chains for made in self.unknown.values() for element in chain)

    @staticmethod
    def attribute(chain: Chain, *keys: str) -> Optional[str]:
        """The first one that some element of the chain has."""
        for key in keys:
            for element in chain:
                if key in element.attributes:
                    return element.attributes[key]
        return None

    def name(self, chain: Chain) -> str:
        return self.attribute(chain[:1], "id", f"{chain[0].tag}_ref") or chain[0].tag

    # ---- Transformations

    def steps(self, old: Chain, new: Chain) -> list[Element]:
        """What XIOS does to get from the old element to the new one: that of the nearest element with such
        children."""

        def of(element: Element) -> list[Element]:
            return [child for child in element.children if child.tag not in (*_idle, "variable")]

        known = {id(element) for element in old}
        changing = [element for element in new if of(element) and id(element) not in known]
        if len(changing) > 1:
            raise NoCounterpartError(
                f"{changing[0].tag} '{self.name(new)}' has transformations, and so has what it refers to"
            )
        if old_style := [key for element in new for key in element.attributes if key.startswith("zoom_")]:
            raise NoCounterpartError(f"{old_style[0]} is of XIOS 1; say indices or levels, from 0")
        return of(changing[0]) if changing else []

    def step(self, cells: Cells, step: Element, old: Chain, new: Chain, axes: int, operation: str) -> None:
        kind = (step.tag, old[0].tag, new[0].tag)
        if step.tag in ("zoom_domain", "extract_domain") and kind[1:] == ("domain", "domain"):
            self.box(cells, step, old)
        elif kind == ("extract_domain", "domain", "axis"):
            self.line(cells, step, old)
        elif step.tag in ("zoom_axis", "extract_axis") and kind[1] == "axis" and kind[2] != "domain":
            self.levels(cells, step, old, new[0].tag == "scalar", axes)
        elif kind == ("interpolate_axis", "axis", "axis"):
            self.interpolate(cells, step, old, new, axes)
        elif step.tag in ("reduce_domain", "reduce_axis") and kind[2] != "domain":
            self.reduce(cells, step, old, new[0].tag, operation)
        else:
            raise NoCounterpartError(
                f"<{step.tag}> is done to no {old[0].tag} here; parts are chosen by region, at, section, "
                "indices and levels, cells are joined by reduce"
            )

    def whole_number(self, step: Element, *keys: str) -> Optional[int]:
        for key in keys:
            if key not in step.attributes:
                continue
            try:
                return int(step.attributes[key])
            except ValueError:
                raise NoCounterpartError(
                    f"{key} of <{step.tag}> is '{step.attributes[key]}', no number"
                ) from None
        return None

    def dims(self, domain: Chain) -> list[str]:
        """Those of i and j."""
        x = self.attribute(domain, "dim_i_name") or self.names.x
        if self.attribute(domain, "type") == "unstructured":
            return [x]
        return [x, self.attribute(domain, "dim_j_name") or self.names.y]

    def axis_dim(self, axis: Chain) -> str:
        return self.attribute(axis, "dim_name", "name") or self.name(axis[-1:])

    def add_indices(self, cells: Cells, ranges: dict[str, list[int]]) -> None:
        indices = cells.keys.setdefault("indices", {})
        if set(indices) & set(ranges):
            raise NoCounterpartError("it is a part of a part; say which cells it is by indices")
        indices.update(ranges)
        cells.notes.append(
            (f"dimensions {', '.join(ranges)}", "they must be called so in the model, or change them here")
        )

    def box(self, cells: Cells, step: Element, domain: Chain) -> None:
        dims = self.dims(domain)
        ranges = {}
        for dim, i in zip(dims, "ij"):
            begin = self.whole_number(step, f"{i}begin", f"zoom_{i}begin")
            size = self.whole_number(step, f"n{i}", f"zoom_n{i}")
            if begin is None or size is None or begin < 0 or size < 1:
                raise NoCounterpartError(
                    f"<{step.tag}> has no {i}begin and n{i}, which the model may set; say at, section, "
                    "region or indices of this file"
                )
            ranges[dim] = [begin, begin + size]
        self.add_indices(cells, ranges)

    def line(self, cells: Cells, step: Element, domain: Chain) -> None:
        dims, position = self.dims(domain), self.whole_number(step, "position")
        direction = step.attributes.get("direction", "")
        if len(dims) != 2 or position is None or position < 0 or direction not in ("iDir", "jDir"):
            raise NoCounterpartError(f"<{step.tag}> has no direction (iDir, jDir) and position")
        across = dims[1] if direction == "iDir" else dims[0]
        self.add_indices(cells, {across: [position, position + 1]})
        cells.notes.append((f"<{step.tag}>", f"dimension {across} stays, with one cell"))

    def levels(self, cells: Cells, step: Element, axis: Chain, is_scalar: bool, axes: int) -> None:
        if is_scalar:
            position = self.whole_number(step, "position")
            numbers = None if position is None else [position]
            cells.notes.append((f"<{step.tag}>", f"dimension {self.axis_dim(axis)} stays, with one level"))
        elif "index" in step.attributes:
            numbers = [int(number) for number in array(step.attributes["index"]) or ()]
        else:
            numbers = self.level_range(step, axis)
        if not numbers or numbers[0] < 0 or sorted(set(numbers)) != numbers:
            raise NoCounterpartError(
                f"<{step.tag}> has no levels from 0 that go up, which the model may set; say levels = [...]"
            )
        if "interpolate" in cells.keys:
            to = cells.keys["interpolate"]["to"]
            if numbers[-1] >= len(to):
                raise NoCounterpartError(f"<{step.tag}> has level {numbers[-1]} of {len(to)}")
            cells.keys["interpolate"] = {
                **cells.keys["interpolate"],
                "to": [to[number] for number in numbers],
            }
            return
        if "levels" in cells.keys:
            raise NoCounterpartError("they are levels of levels; say which they are by levels")
        cells.keys["levels"] = numbers if axes == 1 else {self.axis_dim(axis): numbers}

    def level_range(self, step: Element, axis: Chain) -> list[int]:
        begin = self.whole_number(step, "begin", "zoom_begin") or 0
        size = self.whole_number(step, "n", "zoom_size")
        end = self.whole_number(step, "end", "zoom_end")
        whole = self.attribute(axis, "n_glo", "size")
        if size is None and end is not None:
            size = end - begin + 1
        elif size is None and whole is not None and whole.isdigit() and "begin" in step.attributes:
            size = int(whole) - begin
        return list(range(begin, begin + size)) if size is not None and size > 0 else []

    def interpolate(self, cells: Cells, step: Element, axis: Chain, new: Chain, axes: int) -> None:
        of = step.attributes
        if of.get("order", "1").strip() != "1" or of.get("type", "polynomial") != "polynomial":
            raise NoCounterpartError(f"<{step.tag}> is linear here (order 1)")
        if "coordinate_dst" in of:
            raise NoCounterpartError(f"<{step.tag}> has levels here that do not change; coordinate_dst may")
        if "interpolate" in cells.keys or "levels" in cells.keys:
            raise NoCounterpartError("it is of levels that were chosen before; say interpolate of this file")
        values = array(self.attribute(new, "value") or "")
        up = sorted(values or ())
        if not values or len(set(values)) != len(values) or values not in (up, up[::-1]):
            raise NoCounterpartError(
                f"axis '{self.name(new)}' has no values in the XML that go up or down; say interpolate = "
                "{ to = [...] }"
            )
        keys: dict[str, Any] = {"to": values}
        if axes != 1:
            keys["dim"] = self.axis_dim(axis)
        coordinate = of.get("coordinate") or of.get("coordinate_src")
        if coordinate is not None:
            keys["levels"] = self.sent_field(coordinate)
            if keys["levels"] is None:
                raise NoCounterpartError(
                    f"the levels are '{coordinate}', an expression; let the model send them as a field, and "
                    'say interpolate = { to = [...], levels = "..." }'
                )
        keys["name"] = self.axis_dim(new)
        cells.keys["interpolate"] = keys
        cells.notes.append(
            (
                f"<{step.tag}>",
                "in each step, as in XIOS; attributes are those of the axis or field of the levels",
            )
        )

    def reduce(self, cells: Cells, step: Element, old: Chain, new: str, operation: str) -> None:
        how = _reductions.get(step.attributes.get("operation", ""))
        if how is None or step.attributes.get("local", "").strip(".").lower() in ("true", "t"):
            raise NoCounterpartError(
                f"<{step.tag}> has an operation of {', '.join(_reductions)}, over all cells"
            )
        if "reduce" in cells.keys:
            raise NoCounterpartError("cells are joined twice; say reduce of this file with all dimensions")
        if operation not in _joined_as_well[how]:
            raise NoCounterpartError(
                f"reduce joins cells after the operation over time, and {how} of cells after {operation} is "
                "something else than before"
            )
        if step.tag == "reduce_axis" and old[0].tag == "axis" and new == "scalar":
            dims = [self.axis_dim(old)]
            if "interpolate" in cells.keys:
                raise NoCounterpartError("levels that were interpolated have no thickness and are not joined")
        elif step.tag == "reduce_domain" and old[0].tag == "domain":
            dims = self.dims(old)
            if new == "axis":
                direction = step.attributes.get("direction", "")
                if len(dims) != 2 or direction not in ("iDir", "jDir"):
                    raise NoCounterpartError(f"<{step.tag}> has no direction (iDir, jDir)")
                dims = [dims[1] if direction == "iDir" else dims[0]]
        else:
            raise NoCounterpartError(f"<{step.tag}> of a {old[0].tag} to a {new} is not done here")
        cells.keys["reduce"] = {"dims": dims, "operation": how, "weights": "none"}
        cells.notes.append(
            (
                f"<{step.tag}>",
                'all cells count alike, as in XIOS; by area and thickness with weights = "automatic"',
            )
        )


def array(text: str) -> Optional[list[float]]:
    """ "(0, 2)[ 1 2 3 ]" as numbers; None if it is no such array."""
    match = re.fullmatch(r"\s*\(\s*(-?\d+)\s*,\s*(-?\d+)\s*\)\s*\[([^\]]*)\]\s*", text)
    if match is None:
        return None
    try:
        found = [float(part) for part in match.group(3).replace(",", " ").split()]
    except ValueError:
        return None
    return found if len(found) == int(match.group(2)) - int(match.group(1)) + 1 else None


def grouped(items: list[tuple[Any, Cells]]) -> Iterator[tuple[Cells, list[Any]]]:
    """Of each choice of cells the fields that have it, those of all cells first."""
    groups: dict[str, tuple[Cells, list[Any]]] = {}
    for item, cells in items:
        groups.setdefault(repr(cells.keys), (cells, []))[1].append(item)
    yield from sorted(groups.values(), key=lambda group: bool(group[0].keys))
