# SPDX-License-Identifier: BSD-3-Clause
"""Plug-in for Veros: what a file in TOML asks for is written by Shoal, from all ranks (../README.md).

class MySetup(VerosSetup):
    __veros_plugins__ = (veros_shoal,)

    @veros_routine
    def set_parameter(self, state):
        state.settings.shoal_configuration = "output.toml"
        ...
"""

from veros.settings import Setting

from .diagnostic import Streams, begin_run, prepare

__VEROS_INTERFACE__ = {
    "name": "shoal",
    "setup_entrypoint": prepare,
    "run_entrypoint": begin_run,
    "settings": {
        "shoal_configuration": Setting(
            "streams.toml", str, "What is written: a path, which the environment's SHOAL_STREAMS replaces"
        ),
        "shoal_start": Setting("1900-01-01", str, "Date at which time is 0"),
        "shoal_calendar": Setting("360_day", str, "Calendar in which time is counted"),
    },
    "diagnostics": [Streams],
}
