# SPDX-License-Identifier: BSD-3-Clause
"""The diagnostic that sends Veros's variables to streams, and the functions that Veros calls.

Veros calls prepare once, then in each step begin_run, Streams.diagnose and Streams.output, on all ranks.
"""

from pathlib import Path

import cftime
import numpy as np
from mpi4py import MPI
from veros import logger, veros_routine
from veros import runtime_settings as rs
from veros import runtime_state as rst
from veros.diagnostics.base import VerosDiagnostic
from veros.variables import TIMESTEPS, get_fill_value

import shoal

# Dimensions that fields may have, slowest first, and those of them that are cut, with the place of their
# number in runtime_state.proc_idx.
AXES = ("zt", "zw", "yt", "yu", "xt", "xu")
CUT = {"yt": 1, "yu": 1, "xt": 0, "xu": 0}
AREAS = {("yt", "xt"): "area_t", ("yt", "xu"): "area_u", ("yu", "xt"): "area_v"}
GHOSTS = 2


@veros_routine
def prepare(state):
    """Veros calls it at the end of the set-up, before the set-up's set_diagnostics."""
    if rs.use_io_threads and _may_share_hdf5():
        raise RuntimeError(
            "This h5py was built for MPI, so Shoal may have the same libhdf5, which two threads must not "
            "call at once: set the runtime setting use_io_threads to False."
        )
    state.diagnostics[Streams.name].sampling_frequency = state.settings.dt_tracer


def _may_share_hdf5():
    """Whether h5py may have Shoal's libhdf5; wheels, which know nothing of MPI, bring one of their own."""
    import h5py

    return h5py.get_config().mpi


@veros_routine
def begin_run(state):
    """Veros calls it in each step, while time is still that of the step's begin."""
    state.diagnostics[Streams.name].begin(state)


class Streams(VerosDiagnostic):
    """Active variables that change with time are fields of the streams, with the names, units and values that
    other diagnostics write. Set sampling_frequency in set_diagnostics to send less often than each step (a
    sample then stands for the time since the one before), or to 0 to switch it off.

    Windows that are not finished are saved beside each restart file of Veros, and taken up by a run that
    begins with that restart file.
    """

    name = "shoal"

    def __init__(self):
        self._streams = None
        self._fields = []  # name in Veros, and number in the streams
        self._began = None  # time at which the run began
        self._saved = None  # path of the last checkpoint

    def initialize(self, state):
        if state.settings.restart_input_filename:
            self._saved = _checkpoint_of(state, state.settings.restart_input_filename)

    def begin(self, state):
        """Open the streams in the first step of a run. Collective."""
        if self._streams is not None or not self.sampling_frequency:
            return
        settings, time = state.settings, float(state.variables.time)
        self.output_frequency = settings.dt_tracer  # so that output sees the end of the run
        self._began = time
        units = f"seconds since {settings.shoal_start}"
        self._streams = shoal.Streams.open(
            settings.shoal_configuration,
            _communicator(),
            start=settings.shoal_start,
            calendar=settings.shoal_calendar,
            now=cftime.num2date(time, units, settings.shoal_calendar),
        )
        self._describe(state)
        if self._saved is not None:
            if _communicator().bcast(self._saved.exists()):
                self._streams.resume(self._saved)
            else:
                logger.warning(f" There is no {self._saved}: windows of streams begin anew")

    def diagnose(self, state):
        """Send what files need of this step. Collective."""
        self._streams.advance(float(state.variables.time))
        for name, number in self._fields:
            if self._streams.wants(number):
                self._streams.send(number, _values(state, name))

    def output(self, state):
        """Save windows where Veros writes a restart file, and close the streams with the run. Collective."""
        settings, time = state.settings, float(state.variables.time)
        ends = time - self._began >= settings.runlen
        restart = settings.restart_frequency and time % settings.restart_frequency < settings.dt_tracer
        if (ends or restart) and settings.restart_output_filename and not rs.diskless_mode:
            self._saved = _checkpoint_of(state, settings.restart_output_filename)
            self._streams.checkpoint(self._saved)
        if ends:
            self._streams.close()
            self._streams = None

    def _describe(self, state):
        for dim in AXES:
            values, bounds = _axis(state, dim)
            attributes = {"axis": dim[0].upper(), **_attributes(state.var_meta[dim])}
            self._streams.axis(dim, values, bounds, attrs=attributes)
        grids = {}
        self._fields = []
        for name, meta in state.var_meta.items():
            dims = tuple(dim for dim in (meta.dims or ())[::-1] if dim not in TIMESTEPS)
            if not meta.active or not meta.time_dependent or not dims or not set(dims) <= set(AXES):
                continue
            cut = tuple(dim for dim in dims if dim in CUT)
            if cut and cut not in grids:
                grids[cut] = self._grid(state, cut)
            kind = np.dtype(getattr(state.variables, name).dtype)
            kind = np.dtype("u1") if kind.kind == "b" else kind
            attributes = {**_attributes(meta), "_FillValue": kind.type(get_fill_value(kind))}
            number = self._streams.field(name, kind, dims, grid=grids.get(cut), attrs=attributes)
            self._fields.append((name, number))

    def _grid(self, state, dims):
        lengths = {dim: state.dimensions[dim] for dim in dims}
        counts = {dim: lengths[dim] // rs.num_proc[CUT[dim]] for dim in dims}
        first = {dim: counts[dim] * rst.proc_idx[CUT[dim]] for dim in dims}
        # Where x or y is missing, the ranks along it have the same cells: the first of them sends.
        missing = {0, 1} - {CUT[dim] for dim in dims}
        if any(rst.proc_idx[direction] > 0 for direction in missing):
            first, counts = dict.fromkeys(dims, 0), dict.fromkeys(dims, 0)
        tiles = shoal.Decomposition.block(_communicator(), lengths, first, counts, halo=GHOSTS)
        name = "_".join(dims)
        self._streams.grid(name, tiles)
        if dims in AREAS:
            area = AREAS[dims]
            values = np.asarray(getattr(state.variables, area)).T
            self._streams.area(name, area, values, attrs=_attributes(state.var_meta[area]))
        return name


def _communicator():
    return MPI.COMM_SELF if rs.mpi_comm is None else rs.mpi_comm


def _checkpoint_of(state, restart):
    """The checkpoint that lies beside a restart file. restart: its name as Veros's settings have it."""
    name = restart.format(**{**dict(state.variables.items()), **dict(state.settings.items())})
    return Path(name.removesuffix(".h5") + ".streams.nc")


def _attributes(meta):
    return {"long_name": meta.name, "units": meta.units, **meta.extra_attributes}


def _axis(state, dim):
    """Values of all cells of a dimension, and their bounds where it is vertical. Collective."""
    variables = state.variables
    values = np.asarray(getattr(variables, dim)) * state.var_meta[dim].scale
    if dim in CUT:
        direction = CUT[dim]
        parts = _communicator().allgather((rst.proc_idx, values[GHOSTS:-GHOSTS]))
        parts = {at[direction]: part for at, part in parts}
        return np.concatenate([parts[place] for place in sorted(parts)]), None
    if dim == "zt":
        bottom, top = variables.zw - variables.dzt, variables.zw
    else:
        bottom, top = variables.zt, variables.zt + variables.dzw
    return values, np.stack([np.asarray(bottom), np.asarray(top)], axis=1)


def _values(state, name):
    """A variable as Veros's diagnostics have it, z, y, x, with ghost cells; outside of its mask the fill
    value."""
    meta = state.var_meta[name]
    values = getattr(state.variables, name)
    if meta.dims[-1] in TIMESTEPS:
        values = values[..., state.variables.tau]
    values = np.asarray(values)
    if meta.scale != 1:
        values = values * meta.scale
    mask = meta.get_mask(state.settings, state.variables)
    if mask is not None:
        mask = np.asarray(mask, bool)
        mask = mask.reshape(mask.shape + (1,) * (values.ndim - mask.ndim))
        values = np.where(mask, values, get_fill_value(values.dtype))
    return values.T
