"""Veros's set-up ACC, which writes daily means twice: by Veros itself, and through streams."""

from pathlib import Path

import veros_shoal
from veros import veros_routine
from veros.setups.acc import acc

DAY = 86400.0


class ACCStreamsSetup(acc.ACCSetup):
    __veros_plugins__ = (veros_shoal,)

    @veros_routine
    def set_parameter(self, state):
        super().set_parameter(state)
        state.settings.shoal_configuration = str(Path(__file__).with_name("acc_streams.toml"))

    @veros_routine
    def set_diagnostics(self, state):
        super().set_diagnostics(state)
        averages = state.diagnostics["averages"]
        averages.output_frequency = DAY
        averages.sampling_frequency = state.settings.dt_tracer
