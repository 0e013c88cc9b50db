# SPDX-License-Identifier: BSD-3-Clause
"""The published studies of parallel I/O, measured on this machine: what `shoal bench` does.

command.py    the command line, registered with `shoal` by the entry point of pyproject.toml
experiments/  one small file an experiment: what it asks, and which starts of the engine answer it
study.py      studies and starts, and how options of the command line change them
engine.py     where shoal-bench is, what it can do, what a start of it would need
machine.py    memory, disks, folders of this machine; fitting.py holds starts against them
launching.py  what MPI has to be told on this machine before a start
process.py    one start under mpiexec: its events, its end, its files; signals.py: when it can be interrupted
journal.py    results.json while it grows, and what of it can be gone on with
results.py    results as objects; results.schema.json says what they look like
campaign.py   all starts of a command, one after the other; progress.py shows them
report/       tables, plots and the page
comparing.py  Shoal in turns with other programs; promises.py: what it promises; grid.py: on labfs;
              zarr_figures.py: Zarr
zarr_worker.py  a process beside a rank of shoal-bench, for methods of Python packages
"""
