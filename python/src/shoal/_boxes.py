# SPDX-License-Identifier: BSD-3-Clause
"""Cells that ranks write or read together, each its own boxes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Callable

import numpy as np

from . import _shoal
from ._independent import Independent
from ._refusals import in_own_kind, taking_part
from .errors import Error, InvalidArgumentError


def _refuse_boxes(verb: int) -> Callable[[Mapping[str, Any], TypeError], object]:
    """For taking_part: of a call with boxes."""

    def refuse(given: Mapping[str, Any], error: TypeError) -> None:
        given["self"]._refuse_boxes(verb, in_own_kind(error))

    return refuse


class Boxes(Independent):
    """The calls of a dataset in which each rank brings boxes."""

    @taking_part(_refuse_boxes(_shoal.VERB_WRITE_BOXES))
    def write_boxes(self, boxes: Iterable[tuple[Any, ...]]) -> None:
        """Write boxes of variables; each rank brings its own, any number of them, or none.

        boxes  (name, values) or (name, values, key) each; values and key as of write_independent. A key may
               name new records, whose number is then the file's

        Cells that several ranks write get the values of the first of these ranks, those in several boxes of a
        rank the last one's; the same box on all ranks is a replicated value. Cells in no box stay as they
        are. What is wrong on one rank all ranks learn at sync(), and that rank writes nothing. Collective.
        """

        def one(name: str, values: Any, key: Any = ...) -> tuple[Any, ...]:
            variable, along = self._cells_alone(name, key, grows=True)
            return self._box(name, along, self._values_of(variable, along, values))

        self._move_boxes(_shoal.VERB_WRITE_BOXES, lambda: [one(*box) for box in boxes])

    @taking_part(_refuse_boxes(_shoal.VERB_READ_BOXES))
    def read_boxes(self, boxes: Iterable[tuple[Any, ...]]) -> list[np.ndarray]:
        """Read boxes of variables; each rank names its own, also the same cells as others. Returns an array
        for each box.

        boxes  (name,) or (name, key) each; the key as of read_independent. Collective.
        """
        arrays: list[np.ndarray] = []

        def one(name: str, key: Any = ...) -> tuple[Any, ...]:
            variable, along = self._cells_alone(name, key)
            shape = tuple(item.count for item in along if not item.drop)
            arrays.append(np.empty(shape, np.dtype(variable.array_dtype)))
            return self._box(name, along, arrays[-1])

        self._move_boxes(_shoal.VERB_READ_BOXES, lambda: [one(*box) for box in boxes])
        return arrays

    def _move_boxes(self, verb: int, made: Callable[[], list[tuple[Any, ...]]]) -> None:
        self._need_open()  # type: ignore[attr-defined]
        try:
            boxes = made()
        except Exception as problem:
            error = in_own_kind(problem)
            self._refuse_boxes(verb, error)
            raise error from (None if error is problem else problem)
        self._raw.move_boxes(verb == _shoal.VERB_READ_BOXES, boxes)

    def _refuse_boxes(self, verb: int, error: Exception) -> None:
        code = error.code if isinstance(error, Error) else InvalidArgumentError.code
        if self._raw.is_open():
            self._raw.take_part(verb, -1, None, None, code, str(error))
