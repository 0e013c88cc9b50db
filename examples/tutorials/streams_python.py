"""Monthly means of a model that runs in jobs of twenty days. Run it twice: on 4 ranks, then on 3."""

from datetime import timedelta
from pathlib import Path

import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
rows = shoal.Decomposition.block(comm, {"lat": 10, "lon": 12}, split=("lat",))
saved = Path("streams_saved_python.nc")

# The same as a file in TOML would say.
output = {
    "file": [
        {
            "name": "means_python_%Y-%m.nc",
            "every": "1 month",
            "new_file": "1 month",
            "operation": "mean",
            "fields": [{"field": "temp", "long_name": "temperature", "units": "degC"}],
        },
        {
            "name": "point_python.nc",
            "every": "1 day",
            "operation": "maximum",
            "fields": ["temp"],
            "at": {"lon": 3.2, "lat": 7.9, "name": "buoy"},
        },
    ]
}

# Which job is this? The restart file of the model would say it; here the checkpoint of the streams does.
goes_on = comm.bcast(saved.exists())
now = timedelta(days=20 if goes_on else 0)
since_start = f"{now.total_seconds()} s"
with shoal.Streams.open(output, comm, calendar="noleap", start="2001-01-01", now=since_start) as streams:
    streams.axis("lon", np.arange(12.0) + 1, attrs={"units": "degrees_east"})
    streams.axis("lat", np.arange(10.0) + 1, attrs={"units": "degrees_north"})
    streams.grid("sea", rows)
    streams.field("temp", "f4", rows.dims, grid="sea")
    if goes_on:
        streams.resume(saved)
    for _ in range(20 * 4):
        now += timedelta(hours=6)
        temp = np.full(rows.shape, now / timedelta(days=1), "f4")  # the model's step
        streams.advance(now)  # the clock first: the step ends here
        if streams.wants("temp"):
            streams.send("temp", temp)
    streams.checkpoint(saved)  # the half of a month that this job ends in

if comm.rank == 0:
    print("day", now.days, "on", comm.size, "ranks")
if goes_on:  # January is whole: days 0 to 31, and their mean
    with shoal.open("means_python_2001-01.nc", comm) as file:
        assert np.allclose(file.read("temp", record=0, decomposition=rows), 15.625)
