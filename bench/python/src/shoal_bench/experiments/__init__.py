# SPDX-License-Identifier: BSD-3-Clause
"""The experiments. Each file in here is one: it has `experiment`, and that is all it takes to add one."""

from __future__ import annotations

import importlib
import pkgutil

from ..study import Experiment


def all_experiments() -> dict[str, Experiment]:
    """By name, in the order of their numbers. Local."""
    modules = (importlib.import_module(f"{__name__}.{item.name}") for item in pkgutil.iter_modules(__path__))
    found = sorted((module.experiment for module in modules), key=lambda item: item.number)
    return {experiment.name: experiment for experiment in found}
