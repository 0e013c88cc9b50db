# SPDX-License-Identifier: BSD-3-Clause
"""A Dataset, as the modules below it know it: what they call of the file that they are a part of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class OpenFile(Protocol):
    """dataset.Dataset is one."""

    _raw: Any
    _decompositions: dict[str, Any]
    _numbers: dict[str, int]

    def _number_of(self, name: str) -> int: ...
    @property
    def path(self) -> str: ...
    @property
    def variables(self) -> Mapping[str, Any]: ...
    def get(self, name: str, record: int | None = None, *, start: Any = None, count: Any = None) -> Any: ...
    def _part(self, verb: int, name: str, decomposition: Any, record: int | None) -> Any: ...
