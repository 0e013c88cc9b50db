#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Maps of the tsunami: the wave at three times, the highest water, the arrival times.

plot.py FOLDER reads tsunami_history.nc and tsunami_extremes.nc there, and writes wave.png, highest.png and
arrival.png.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

LAND = "#b8b2a7"
QUIET = "#eef3f6"  # sea without a value: no wave yet
LEAST, MOST = 110, 300  # degrees east that are shown


def pacific(data):
    return data.sel(lon=slice(LEAST, MOST))


def draw_map(axis, field, depth, title, **colours):
    """One map with the coast (where the sea begins) and the land behind it."""
    axis.set_facecolor(QUIET)
    land = depth.isnull().where(depth.isnull())
    axis.pcolormesh(
        depth.lon,
        depth.lat,
        land,
        shading="nearest",
        rasterized=True,
        cmap=matplotlib.colors.ListedColormap([LAND]),
    )
    picture = axis.pcolormesh(field.lon, field.lat, field, shading="nearest", rasterized=True, **colours)
    sea = np.isfinite(depth).astype(float)
    axis.contour(depth.lon, depth.lat, sea, levels=[0.5], colors="black", linewidths=0.4)
    axis.set_title(title, fontsize=11)
    axis.set_aspect(1.2)
    axis.set_xticks(range(120, MOST + 1, 30))
    axis.set_xticklabels(
        [f"{x}°E" if x <= 180 else f"{360 - x}°W" for x in range(120, MOST + 1, 30)], fontsize=8
    )
    axis.set_yticks(range(-60, 61, 30))
    axis.set_yticklabels(
        [f"{abs(y)}°{'N' if y > 0 else 'S' if y < 0 else ''}" for y in range(-60, 61, 30)], fontsize=8
    )
    return picture


def save(figure, path):
    figure.savefig(path, dpi=140)
    plt.close(figure)
    print(f"  {path}")


def hours_after(history):
    """Hours since the earthquake, the reference time of the time axis."""
    return history.time.values / 3600


def plot_waves(history, depth, folder):
    hours = hours_after(history)
    wanted = [hours[-1] * part for part in (1 / 6, 1 / 2, 11 / 12)]
    figure, axes = plt.subplots(3, 1, figsize=(6.6, 13), layout="constrained")
    for axis, hour in zip(axes, wanted):
        step = int(np.abs(hours - hour).argmin())
        zeta = pacific(history.zeta.isel(time=step))
        picture = draw_map(
            axis,
            zeta * 100,
            depth,
            f"Height of the wave {hours[step]:.0f} h after the earthquake",
            cmap="RdBu_r",
            vmin=-30,
            vmax=30,
        )
    figure.colorbar(picture, ax=axes, label="height above the sea at rest (cm)", extend="both", shrink=0.5)
    save(figure, folder / "wave.png")


def plot_highest(extremes, depth, folder):
    figure, axis = plt.subplots(figsize=(9, 5.2), layout="constrained")
    highest = pacific(extremes.highest.max("time")) * 100
    colours = matplotlib.colors.LogNorm(vmin=1, vmax=500)
    picture = draw_map(
        axis, highest.clip(min=0.1), depth, "Highest water in the whole run", cmap="magma_r", norm=colours
    )
    bar = figure.colorbar(
        picture,
        ax=axis,
        label="height above the sea at rest (cm)",
        extend="both",
        ticks=[1, 3, 10, 30, 100, 300],
    )
    bar.ax.set_yticklabels(["1", "3", "10", "30", "100", "300"])
    save(figure, folder / "highest.png")


def plot_arrival(extremes, depth, folder):
    figure, axis = plt.subplots(figsize=(9, 5.2), layout="constrained")
    arrival = pacific(extremes.arrival.isel(time=-1)) / 3600
    picture = draw_map(
        axis, arrival, depth, "Arrival of the first wave (1 cm)", cmap="viridis_r", vmin=0, vmax=24
    )
    lines = axis.contour(
        arrival.lon, arrival.lat, arrival, levels=range(1, 24), colors="white", linewidths=0.5
    )
    axis.clabel(lines, levels=range(3, 24, 3), fmt="%d h", fontsize=7)
    figure.colorbar(picture, ax=axis, label="hours after the earthquake", ticks=range(0, 25, 3))
    save(figure, folder / "arrival.png")


def opened(folder, name):
    """A file, or a store of Zarr, as the configuration says."""
    if (folder / f"{name}.zarr").is_dir():
        return xr.open_zarr(folder / f"{name}.zarr", decode_times=False)
    return xr.open_dataset(folder / f"{name}.nc", decode_times=False)


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    with (
        opened(folder, "tsunami_history") as history,
        opened(folder, "tsunami_extremes") as extremes,
    ):
        depth = pacific(history.depth).where(history.depth > 0)
        plot_waves(history, depth, folder)
        plot_highest(extremes, depth, folder)
        plot_arrival(extremes, depth, folder)


if __name__ == "__main__":
    main()
