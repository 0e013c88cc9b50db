# SPDX-License-Identifier: BSD-3-Clause
"""Whether other programs of this machine find HDF5's plugin for a filter. Shoal needs none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional

# Where HDF5 looks unless HDF5_PLUGIN_PATH says: as it is built by itself, and by Debian, Fedora and Conda.
_usual = (
    "/usr/local/hdf5/lib/plugin",
    "/usr/lib/x86_64-linux-gnu/hdf5/plugins",
    "/usr/lib/x86_64-linux-gnu/hdf5/serial/plugins",
    "/usr/lib/x86_64-linux-gnu/hdf5/openmpi/plugins",
    "/usr/lib64/hdf5/plugin",
)


def folders() -> list[Path]:
    """Where HDF5 looks for plugins. Local."""
    given = os.environ.get("HDF5_PLUGIN_PATH")
    if given:
        return [Path(folder) for folder in given.split(os.pathsep) if folder]
    conda = os.environ.get("CONDA_PREFIX")
    return [Path(folder) for folder in _usual] + ([Path(conda, "lib/hdf5/plugin")] if conda else [])


def zstd_plugin() -> Optional[Path]:
    """The plugin for zstd (HDF5's filter 32015), if one of the folders has it. Local."""
    for folder in folders():
        try:
            found = sorted(path for path in folder.iterdir() if "zstd" in path.name and ".so" in path.name)
        except OSError:
            continue
        if found:
            return found[0]
    return None


def no_zstd() -> str:
    """What a reader without the plugin is told to do. Local."""
    looked = ", ".join(map(str, folders()))
    return (
        "other programs read zstd with HDF5's plugin for it, and this machine has none in "
        f"{looked}: they say 'undefined filter' or 'filter not available'. Take shuffle+deflate:1, which "
        "everybody reads, or set HDF5_PLUGIN_PATH to a folder with the plugin (of netCDF-C 4.9's, or "
        "Python's hdf5plugin: hdf5plugin.PLUGIN_PATH)"
    )
