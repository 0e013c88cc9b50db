"""The fields of a small staggered model, known on every rank."""

import numpy as np

import shoal

eta, xi, levels, records = 11, 13, 3, 4
fields = {
    "temp": ("f4", ("s_rho", "eta_rho", "xi_rho")),
    "u": ("f8", ("s_rho", "eta_u", "xi_u")),
    "w": ("f4", ("s_w", "eta_rho", "xi_rho")),
    "zeta": ("i2", ("eta_rho", "xi_rho")),
}
lengths = {"s_rho": levels, "s_w": levels + 1, "eta_rho": eta, "xi_rho": xi, "eta_u": eta, "xi_u": xi - 1}


def values(name: str, record: int) -> np.ndarray:
    """The whole field of a record."""
    dtype, dims = fields[name]
    shape = [lengths[dim] for dim in dims]
    offset = 1000 * (1 + list(fields).index(name)) + 100 * record
    return (np.arange(np.prod(shape)).reshape(shape) + offset).astype(dtype)


def tiles(comm, name: str, halo=None) -> shoal.Decomposition:
    dims = fields[name][1]
    return shoal.Decomposition.block(comm, {dim: lengths[dim] for dim in dims}, split=dims[-2:], halo=halo)
