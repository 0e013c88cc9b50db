# SPDX-License-Identifier: BSD-3-Clause
"""One file for each experiment: ABOUT, how to read it, and draw(contests, names), its pictures.

A file in this folder whose ABOUT has a name is found by itself; experiments without one get general.py."""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from types import ModuleType


@lru_cache(maxsize=1)
def modules() -> dict[str, ModuleType]:
    """The files of this folder by the name of their experiment. Needs Matplotlib."""
    found = (importlib.import_module(f"{__name__}.{item.name}") for item in pkgutil.iter_modules(__path__))
    about = [(module.ABOUT, module) for module in found if hasattr(module, "ABOUT")]
    return {item.name: module for item, module in about if item.name}


def module_of(experiment: str) -> ModuleType:
    """The file of an experiment, or the general one. Needs Matplotlib."""
    return modules().get(experiment) or importlib.import_module(f"{__name__}.general")
