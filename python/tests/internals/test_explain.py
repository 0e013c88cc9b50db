# SPDX-License-Identifier: BSD-3-Clause
"""shoal explain and shoal.explanation."""

import dataclasses
import inspect
import json
import math
import os
import random
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import run_program

from shoal.errors import InvalidArgumentError
from shoal.explanation import Options, Tiles, explain
from shoal.programs import ProgramError, find_program
from shoal.simulation import Case, simulate
from shoal.simulation import name as plan_program
from shoal.simulation import variable as plan_variable

program = [sys.executable, "-m", "shoal.cli", "explain", "layout"]
simulation = [*program[:-1], "simulate"]


def test_runs_are_those_that_one_counts():
    """Against marking every byte, for many small grids, tiles and groups of ranks."""
    choose = random.Random(1)
    for _ in range(200):
        dims = choose.choice([1, 2, 3, 4])
        shape = tuple(choose.randint(1, 6) for _ in range(dims))
        grid = tuple(choose.randint(1, 4) for _ in range(choose.randint(1, dims)))
        tiles = Tiles(shape, grid, 2)
        ranks = choose.sample(range(tiles.ranks), choose.randint(1, tiles.ranks))
        owned = np.zeros(tiles.field_bytes + 1, bool)
        for rank in ranks:
            for offset, length in tiles.extents(rank):
                assert not owned[offset : offset + length].any()
                owned[offset : offset + length] = True
            assert tiles.runs([rank]) == len(list(tiles.extents(rank)))
        assert tiles.runs(ranks) == np.count_nonzero(owned[1:-1] & ~owned[:-2]) + owned[0]
        assert owned.sum() == sum(map(tiles.tile_bytes, ranks))
        for resolution in (0, 5, 100):
            own = sum(length * share for _, length, share in tiles.spans(ranks[0], resolution))
            assert own == pytest.approx(tiles.tile_bytes(ranks[0]))


@pytest.mark.parametrize(
    "grid, runs, length", [((1, 16), 16, 104960), ((2, 8), 1280, 1312), ((4, 4), 2560, 656)]
)
def test_known_numbers(grid, runs, length):
    """The grid of a study of the way ROMS writes."""
    plan = explain(Tiles((656, 640, 16), grid, 4), Options())
    assert plan.rank_runs(0) == (runs, length)
    assert plan.rank_runs(15) == (runs, length)
    assert (plan.writes, plan.nodes[0].runs) == (32, 1)  # slots hold whole rows of a level: 399, then 241


def test_ways_of_writing():
    tiles = Tiles((656, 640, 16), (4, 4), 4)
    plan = explain(tiles, Options(driver="pnetcdf", access="independent"))
    assert (plan.writes, plan.bytes_a_write) == (40960, 656)
    assert plan.memory_rank == tiles.tile_bytes(0)
    plan = explain(tiles, Options(driver="gather"))
    assert (plan.writes, plan.memory_rank_0) == (2, 16 * 2**20 + tiles.tile_bytes(0))
    plan = explain(tiles, Options(ranks_per_node=8))
    assert [node.runs for node in plan.nodes] == [16, 16]
    plan = explain(tiles, Options(ranks_per_node=6))
    assert [len(node.ranks) for node in plan.nodes] == [6, 6, 4]
    plan = explain(tiles, Options(slot_bytes=4 * 2**20, stage_bytes=16 * 2**20))
    assert (plan.slot, plan.slots, plan.writes) == (4 * 2**20, 4, 8)  # two levels in each
    with pytest.raises(InvalidArgumentError, match="3 dimensions"):
        Tiles((5, 6), (1, 2, 3), 4)


def test_without_the_program_that_knows():
    command = [*program, "--global", "24x18", "--tiles", "2x2"]
    result = run_program(command, env={"PLAN_ENGINE": "/none/such"})
    assert result.returncode == 2 and "PLAN_ENGINE" in result.stderr
    assert "Traceback" not in result.stderr


def test_over_several_nodes_the_way_is_counted():
    tiles = Tiles((656, 640, 5), (4, 4), 4)
    long = explain(tiles, Options(ranks_per_node=8))
    assert long.why.startswith("nodes store 10 runs of 839680 bytes; 16 I/O ranks would store 80 ")
    assert not long.boxes
    short = explain(tiles, Options(ranks_per_node=2))
    assert short.why.startswith("nodes would store 6400 runs of 1312 bytes; 16 I/O ranks store 80 ")
    assert (len(short.boxes), short.writes) == (16, 80)  # five levels in each box
    assert sum(box.bytes for box in short.boxes) == tiles.field_bytes
    assert not explain(tiles, Options(ranks_per_node=2, rearrange="off")).boxes
    chosen = explain(tiles, Options(ranks_per_node=4, io_ranks_per_node=1))
    assert [box.rank for box in chosen.boxes] == [0, 4, 8, 12]
    assert len(explain(tiles, Options(ranks_per_node=8, rearrange="on")).boxes) == 16
    for wrong in (
        Options(rearrange="off", io_ranks=2),
        Options(rearrange="on", driver="gather"),
        Options(ranks_per_node=4, io_ranks_per_node=1, io_ranks=3),
    ):
        with pytest.raises(InvalidArgumentError):
            explain(tiles, wrong)


def test_the_library_does_what_is_explained(mpirun, tmp_path):
    for shape, grid, size in (
        ((328, 320, 9), (2, 2), 4),
        ((656, 640, 5), (1, 4), 4),
        ((656, 640, 5), (2, 2), 2),
    ):
        tiles = Tiles(shape, grid, 4)
        plan = explain(tiles, Options(ranks_per_node=size))
        out = mpirun(4, "one_field.py", tmp_path / "f.nc", *shape, *grid, size).stdout.split()
        at = out.index("writes")
        assert int(out[at + 1]) == plan.writes
        assert int(out[at + 2]) == tiles.field_bytes
        assert int(out[at + 4]) == plan.memory_node == plan.slot * plan.slots


def test_the_library_stores_in_the_background_as_is_explained(mpirun, tmp_path):
    tiles = Tiles((656, 640, 5), (2, 2), 4)
    for background, ranks in (("thread", 4), ("ranks", 5)):
        plan = explain(tiles, Options(background=background, stage_bytes=16 * 2**20))
        path = tmp_path / f"{background}.nc"
        node = 4 if background == "thread" else 0
        mpirun(ranks, "one_field.py", path, *tiles.shape, 2, 2, node, background)
        report = json.loads(Path(f"{path}.json").read_text())
        assert report["servers"] == ranks - 4
        assert report["stage"]["bytes"] == plan.memory_node == plan.slots * plan.slot
        assert report["writers"] == 1
        assert report["counts"]["writes"] == plan.writes
        assert report["counts"]["bytes_written"] == tiles.field_bytes


def test_background():
    tiles = Tiles((656, 640, 16), (4, 4), 4)
    usual = explain(tiles, Options())
    assert usual.background == "" and usual.slots == 8 and "whichever" in usual.who[-1]
    thread = explain(tiles, Options(background="thread"))
    assert (thread.slots, thread.memory_node) == (256, 256 * 2**20)
    assert thread.memory_piled == len(thread.generations[0]) * 2**20
    assert "threads of the node's ranks, 1 at a time" in thread.who[-1]
    assert f"; {256 // len(thread.generations[0])} fields of this size have room" in thread.waits[0]
    small = explain(tiles, Options(background="thread", stage_bytes=8 * 2**20))
    assert small.memory_piled == small.memory_node == 8 * 2**20 and "stage_bytes" in small.waits[0]
    ranks = explain(tiles, Options(background="ranks", servers=2))
    assert "the 2 ranks of the node that serve, 2 at a time" in ranks.who[-1]
    assert ranks.share < ranks.slot  # each has a part of a slot
    assert "that serve" in ranks.waits[1]
    # Only what is in the stage can be stored later.
    rows = Tiles((656, 640, 16), (1, 4), 8)
    assert "past the stage" in explain(rows, Options()).who[0]
    assert "past the stage" not in "".join(explain(rows, Options(background="thread")).who)
    # Over several nodes the ranks that serve are the I/O ranks.
    rows = Tiles((656, 640), (16, 1), 4)
    plan = explain(rows, Options(background="ranks", ranks_per_node=4))
    assert [box.rank for box in plan.boxes] == [16, 17, 18, 19]
    assert sum(box.bytes for box in plan.boxes) == rows.field_bytes
    assert "that serve" in plan.who[1] and "does not shorten" in plan.waits[1]
    plan = explain(rows, Options(background="thread", ranks_per_node=4))
    assert [box.rank for box in plan.boxes] == list(range(16))
    subset = explain(rows, Options(background="thread", rearranger="subset"))
    assert "a thread of the group's I/O rank" in subset.who[-1]


def test_background_auto_counts_cores():
    tiles = Tiles((656, 640), (4, 4), 4)
    for cores, node, chosen in ((31, None, "off"), (32, None, "thread"), (8, 4, "thread"), (7, 4, "off")):
        plan = explain(tiles, Options(background="auto", cores=cores, ranks_per_node=node))
        assert plan.options.background == chosen
        assert plan.background.startswith(
            f"auto is {chosen}: a node has {node or 16} ranks and {cores} cores"
        )
    plan = explain(tiles, Options(background="auto", driver="gather"))
    assert plan.options.background == "off" and "gather" in plan.background


def test_background_refuses_what_it_would_not_use():
    tiles = Tiles((656, 640), (4, 4), 4)
    for wrong, words in (
        ({"background": "on"}, "off, thread"),
        ({"background": "thread", "driver": "gather"}, "gather does not store"),
        ({"background": "ranks", "driver": "pnetcdf"}, "pnetcdf does not store"),
        ({"background": "ranks", "io_ranks": 2}, "leave io_ranks"),
        ({"background": "ranks", "rearranger": "subset"}, "rearranger=subset"),
        ({"background": "thread", "servers": 1}, "leave servers out"),
        ({"background": "ranks", "cores": 4}, "leave cores out"),
        ({"background": "auto"}, "give cores"),
    ):
        with pytest.raises(InvalidArgumentError, match=words):
            explain(tiles, Options(**wrong))
    command = [*program, "--global", "656x640x16", "--tiles", "4x4"]
    for wrong, words in (
        (["--background", "threads"], "thread, ranks or auto"),
        (["--background", "thread", "--servers", "1"], "--servers needs --background ranks"),
        (["--cores", "4"], "--cores needs --background auto"),
        (["--background", "ranks", "--servers", "0"], "1 or more"),
        (["--background", "ranks", "--driver", "gather"], "driver native"),
        (["--background", "ranks", "--io-ranks", "2"], "leave io_ranks"),
        (["--ranks", "4"], "No such option: --ranks"),
        (["--chunk-shape", "map"], "No such option: --chunk-shape"),
    ):
        result = run_program([*command, *wrong])
        assert result.returncode == 2 and words in result.stderr, result.stderr
        assert "Traceback" not in result.stderr


def test_background_at_the_command_line():
    command = [*program, "--global", "656x640x16", "--tiles", "4x4"]
    result = run_program([*command, "--background", "ranks", "--servers", "2", "--stage-bytes", "64MiB"])
    assert result.returncode == 0, result.stderr
    text = " ".join(result.stdout.split())
    for words in ("2 ranks of the node that serve", "What the model waits for", "at most 64 MiB shared"):
        assert words in text
    result = run_program([*command, "--background", "auto", "--cores", "16"])
    assert result.returncode == 0, result.stderr
    assert "auto is off: a node has 16 ranks and 16 cores" in " ".join(result.stdout.split())


def test_command(tmp_path):
    picture = tmp_path / "tiles.png"
    command = [*program, "--global", "656x640x16", "--tiles", "4x4"]
    result = run_program([*command, "--plot", str(picture)])
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("Do this: leave it so: 32 writes of 820 KiB store a field\n")
    for words in ("2,560", "40,960", "656", "first dimension fastest on disk", "slot generations"):
        assert words in result.stdout
    from PIL import Image

    pixels = np.asarray(Image.open(picture).convert("RGB")).reshape(-1, 3)
    assert len(np.unique(pixels, axis=0)) > 16
    result = run_program([*command, "--format", "netcdf4"])
    assert "chunks of 656 x 640 x 2" in result.stdout


def test_refusals():
    command = [*program, "--global", "656x640x16", "--tiles"]
    for wrong, words in (
        (["4*4"], "656x640x16"),
        (["4x4", "--format", "netcdf5"], "netcdf4"),
        (["4x4", "--driver", "natve"], "native"),
        (["4x4", "--type", "real"], "double"),
        (["1x2x3x4"], "4 dimensions"),
        (["4x4", "--driver", "gather", "--writers", "2"], "native"),
        (["4x4", "--access", "independent"], "has but one"),
        (["100x100", "--plot", "x.png"], "at most 64"),
    ):
        result = run_program([*command, *wrong])
        assert result.returncode == 2 and words in result.stderr, result.stderr
        assert "Traceback" not in result.stderr and "/tmp" not in result.stderr


def test_shares_of_slots():
    """With several writers a slot is stored in shares of whole pages."""
    plan = explain(Tiles((1024, 1024), (2, 2), 8), Options(writers=2))
    assert plan.share % 4096 == 0 and math.ceil(plan.slot / plan.share) == 2
    assert plan.writes == 16


def test_io_ranks_are_spread_and_have_even_boxes():
    def io_ranks(ranks, **settings):
        plan = explain(Tiles((ranks,), (ranks,), 4), Options(rearranger="box", **settings))
        return [box.rank for box in plan.boxes]

    assert io_ranks(16, io_ranks=4) == [0, 4, 8, 12]
    assert io_ranks(7, io_stride=3, io_base=1) == [1, 4]
    assert io_ranks(5, io_ranks=5) == [0, 1, 2, 3, 4]
    for wrong in (
        (4, {"io_ranks": 5}),
        (4, {"io_base": 4}),
        (8, {"io_ranks": 3, "io_stride": 4}),
    ):
        with pytest.raises(InvalidArgumentError):
            io_ranks(wrong[0], **wrong[1])
    choose = random.Random(3)
    for _ in range(100):
        shape = [choose.randint(1, 9) for _ in range(choose.randint(1, 3))]
        parts = choose.randint(1, 12)
        align = [choose.randint(1, 4) for _ in shape] if choose.random() < 0.5 else None
        plan = explain(Tiles(tuple(shape), (12,), 4), Options(io_ranks=parts, chunk=align))
        assert len(plan.boxes) == parts
        owned = np.full(shape[::-1], -1)
        for number, box in enumerate(plan.boxes):
            where = tuple(slice(cells.start, cells.stop) for cells in box.cells[::-1])
            assert (owned[where] == -1).all()
            owned[where] = number
            mine = np.pad((owned == number).ravel().astype(int), 1)
            assert box.runs == np.count_nonzero(np.diff(mine) == 1)
        assert (owned >= 0).all()


def test_boxes_of_io_ranks():
    tiles = Tiles((656, 640, 16), (4, 4), 4)
    plan = explain(tiles, Options(io_ranks=4))
    assert [box.rank for box in plan.boxes] == [0, 4, 8, 12]
    assert sum(box.bytes for box in plan.boxes) == tiles.field_bytes
    assert all(box.runs == 1 and box.sources == 16 for box in plan.boxes)  # whole levels
    assert plan.writes == 4
    assert plan.boxes[1].cells == [range(656), range(640), range(4, 8)]
    plan = explain(tiles, Options(io_ranks=16, io_stride=1, driver="pnetcdf", access="collective"))
    assert len(plan.boxes) == 16
    plan = explain(Tiles((656, 640), (4, 4), 4), Options(io_ranks=2))
    assert [box.sources for box in plan.boxes] == [8, 8]


def test_several_nodes_exchange_where_that_makes_runs_longer():
    tiles = Tiles((656, 640), (16, 1), 4)
    plan = explain(tiles, Options(ranks_per_node=4))
    assert len(plan.boxes) == 16 and "would store 2560 runs of 656 bytes" in plan.why
    assert [box.rank for box in plan.boxes] == list(range(16))
    assert "one message goes from each node" in plan.who[0]
    plan = explain(tiles, Options(ranks_per_node=4, rearrange="off"))
    assert not plan.boxes and plan.why.startswith("rearrange=off") and plan.writes == 2560
    # Boxes of more I/O ranks than rows are no longer in the file than what nodes have.
    plan = explain(Tiles((64, 8, 4), (4, 16), 4), Options(ranks_per_node=4, io_ranks=0))
    assert not plan.boxes and "would" in plan.why
    plan = explain(tiles, Options(ranks_per_node=8, io_ranks_per_node=1, io_base=2))
    assert [box.rank for box in plan.boxes] == [2, 10]
    for wrong in (
        Options(ranks_per_node=4, io_ranks=2, rearrange="off"),
        Options(ranks_per_node=8, io_ranks_per_node=2, io_ranks=3),
    ):
        with pytest.raises(InvalidArgumentError):
            explain(tiles, wrong)


def test_io_ranks_that_serve_groups():
    tiles = Tiles((656, 640), (16, 1), 4)
    plan = explain(tiles, Options(ranks_per_node=8, io_ranks_per_node=2, io_base=1, rearranger="subset"))
    served = [(node.io_rank, list(node.ranks)) for node in plan.nodes]
    assert served == [
        (1, [0, 1, 2, 3]),
        (4, [4, 5, 6, 7]),
        (9, [8, 9, 10, 11]),
        (12, [12, 13, 14, 15]),
    ]
    assert not plan.boxes and sum(node.runs for node in plan.nodes) == 4 * 640
    assert sum(node.bytes for node in plan.nodes) == tiles.field_bytes
    assert "I/O rank" in plan.who[-1]
    assert [n.io_rank for n in explain(tiles, Options(ranks_per_node=8, rearranger="subset")).nodes] == [0, 8]
    strided = explain(tiles, Options(ranks_per_node=5, io_stride=3, rearranger="subset"))
    assert [node.io_rank for node in strided.nodes] == [0, 3, 5, 8, 10, 13, 15]
    assert len(explain(tiles, Options(rearranger="box")).boxes) == 8
    # Groups share what their node has of memory.
    usual = explain(tiles, Options(rearranger="subset", io_ranks_per_node=4))
    assert (usual.slots, usual.memory_node) == (4, 4 * 4 * usual.slot)
    small = explain(tiles, Options(rearranger="subset", io_ranks_per_node=4, stage_bytes=2**20))
    assert small.slot * small.slots <= 2**18 and small.memory_node <= 2**20
    for wrong in (
        Options(rearranger="subset", rearrange="on"),
        Options(rearranger="subset", writers=2),
        Options(rearranger="subset", driver="pnetcdf"),
        Options(writers=17),
        Options(writers=9, ranks_per_node=8),
        Options(background="ranks", servers=2, writers=3),
        Options(driver="mpiio", io_ranks=2, rearrange="on"),
        Options(rearranger="box", rearrange="off"),
        Options(ranks_per_node=4, io_ranks=2, rearranger="subset"),
    ):
        with pytest.raises(InvalidArgumentError):
            explain(tiles, wrong)
    assert len(explain(tiles, Options(rearranger="box", driver="mpiio", ranks_per_node=4)).boxes) == 16
    assert [box.rank for box in explain(tiles, Options(rearranger="box", driver="gather")).boxes] == [0]
    command = [*program, "--global", "656x640", "--tiles", "4x4"]
    assert "16 ranks" in run_program([*command, "--writers", "17"]).stderr
    assert run_program([*command, "--writers", "16"]).returncode == 0
    reported = run_program([*command, "--io-ranks-per-node", "2", "--rearranger", "subset"])
    assert reported.returncode == 0, reported.stderr
    assert "by group of an I/O rank" in reported.stdout and "Strategy: subset" in reported.stdout


def test_io_ranks_in_text_and_picture(tmp_path):
    picture = tmp_path / "boxes.png"
    command = [*program, "--global", "656x640x16", "--tiles", "4x4", "--io-ranks", "4"]
    result = run_program([*command, "--plot", str(picture)])
    assert result.returncode == 0, result.stderr
    for words in ("Boxes of the field, by I/O rank", "even box", "4-7"):
        assert words in result.stdout
    assert picture.stat().st_size > 10000


def needs_plan_program():
    try:
        return find_program(plan_program, plan_variable)
    except ProgramError as error:
        pytest.skip(str(error))


def test_simulation_of_all_ranks_and_of_a_sample():
    needs_plan_program()
    reported = simulate(Case(ranks=1200, nodes=30, shape=(240, 180, 5), settings={"io_ranks": 20}))
    assert reported["ranks_simulated"] == 1200 and reported["strategy"] == "rearrange"
    assert reported["loads"]["sum"] == reported["extent_bytes"]["sum"] == 240 * 180 * 5 * 4
    assert reported["rank_messages"]["sum"] == reported["writer_messages"]["sum"] > 0
    assert 0 < reported["plan_bytes"]["most"] < 64 * 2**20
    assert reported["tiles"] == "40x30x1"
    boxes = explain(Tiles((240, 180, 5), (40, 30), 4), Options(io_ranks=20)).boxes
    assert reported["loads"]["most"] == max(box.bytes for box in boxes)
    assert reported["extents"]["sum"] == sum(box.runs for box in boxes)
    part = simulate(Case(ranks=1200, nodes=30, shape=(240, 180, 5), settings={"io_ranks": 20}, seconds=0))
    assert 2 <= part["nodes_simulated"] <= 6 and part["ranks_simulated"] == 40 * part["nodes_simulated"]
    assert part["loads"]["most"] <= reported["loads"]["most"]
    chunked = simulate(Case(ranks=12, nodes=3, shape=(24, 18, 5), chunk=(12, 9, 1)))
    assert chunked["strategy"] == "local" and chunked["loads"]["sum"] == 24 * 18 * 5 * 4


def test_simulation_of_columns_and_of_a_file(tmp_path):
    needs_plan_program()
    reported = simulate(
        Case(ranks=300, nodes=10, columns="ne8", levels=3, cell_bytes=8, settings={"rearrange": "on"})
    )
    assert reported["shape"] == [3458, 3] and reported["writers"] == 80
    assert reported["loads"]["sum"] == 3458 * 3 * 8
    import shoal

    cells = np.random.default_rng(1).permutation(500)
    path = tmp_path / "map.nc"
    shoal.Decomposition.map(None, {"cell": 500}, cells).save(path)
    reported = simulate(Case(ranks=7, nodes=7, columns=str(path)))
    assert reported["loads"]["sum"] == 2000 and reported["ranks_simulated"] == 7


@pytest.mark.parametrize(("records", "shard_bytes"), [(2, 4 << 20), (3, 256 << 20)])
def test_files_of_a_store_are_those_that_a_run_makes(tmp_path, records, shard_bytes):
    import shoal
    from shoal import store_counts

    shape, names = (300, 260, 40), ("temp", "salt", "rho")
    settings = {"shard_bytes": shard_bytes}
    counts = store_counts.count(shape, (2, 3), 4, records=records, variables=len(names), settings=settings)
    path = tmp_path / "his.zarr"
    cut = dict(zip("zyx", reversed(shape)))
    tile = shoal.Decomposition.block(None, cut, [0] * 3, [0] * 3)
    with shoal.create(str(path), None, **settings) as file:
        file.def_var("time", np.float64, record="time")
        for name in names:
            file.def_var(name, np.float32, tile, record="time")
        for record in range(records):
            file.put("time", float(record), record=record)
            for name in names:
                file.write(name, np.ones(tile.shape, np.float32), record=record)
            file.sync()
    files = [found for found in path.rglob("*") if found.is_file()]
    shards = [found for found in files if found.parts[-6] in names]
    assert len(files) == counts["files"] and len(shards) == counts["files_a_record"] * records
    assert counts["bytes"] == records * len(names) * math.prod(shape) * 4
    assert max(found.stat().st_size for found in shards) >= counts["shard_bytes"]
    assert counts["ranks_a_shard"] == {"least": 6, "most": 6}


def test_ranks_of_shards_are_those_that_one_counts():
    from shoal import store_counts

    choose = random.Random(2)
    for _ in range(200):
        length = choose.randint(1, 40)
        tiles, shard = choose.randint(1, length), choose.randint(1, 45)
        owner = [next(t for t in range(tiles) if cell < length * (t + 1) // tiles) for cell in range(length)]
        each = [len(set(owner[first : first + shard])) for first in range(0, length, shard)]
        assert store_counts._overlaps(length, tiles, shard) == (min(each), max(each))


def test_simulation_counts_files_of_a_store():
    needs_plan_program()
    command = [*simulation, "--global", "240x180x5", "--ranks", "1200", "--nodes", "30", "--json"]
    result = run_program([*command, "--format", "zarr", "--records", "100", "--variables", "20"])
    assert result.returncode == 0, result.stderr
    store = json.loads(result.stdout)["store"]
    assert store["files_a_record"] == 20 and store["files"] == 20 * 100 + 1 + 20 + 2
    assert store["ranks_a_shard"] == {"least": 1200, "most": 1200}
    assert store["commit"] == {
        "made_by_ranks": 20,
        "indexes_by_rank_0": 20,
        "written_and_renamed_by_rank_0": 23,
    }
    for words, said in (
        (["--records", "3"], "--records goes with --format zarr"),
        (["--format", "zarr", "--variables", "0"], "--variables 0: it is 1 or more"),
    ):
        result = run_program([*command, *words])
        assert result.returncode == 2 and said in " ".join(result.stderr.split())


def test_simulation_of_one_node_says_what_a_map_costs():
    needs_plan_program()
    reported = simulate(Case(ranks=12, nodes=1, columns="ne4", levels=3))
    assert (reported["strategy"], reported["why"], reported["writers"]) == ("local", "there is one node", 1)
    assert reported["loads"]["sum"] == 866 * 3 * 4 and reported["extents"]["sum"] == 1
    assert reported["plan_bytes"]["least"] > 0 and reported["rank_messages"]["sum"] == 0
    assert reported["boxes"] == reported["served"] == []


def test_simulation_tells_who_stores_what_of_a_map():
    needs_plan_program()
    command = [*simulation, "--columns", "ne4", "--levels", "6", "--ranks", "12", "--nodes", "3"]
    result = run_program([*command, "--io-ranks", "4", "--json"])
    assert result.returncode == 0, result.stderr
    reported = json.loads(result.stdout)
    assert [box["rank"] for box in reported["boxes"]] == [0, 3, 6, 9] and reported["served"] == []
    assert [box["first"] for box in reported["boxes"]] == [[0, 0], [0, 2], [0, 4], [0, 5]]
    assert sum(box["bytes"] for box in reported["boxes"]) == reported["loads"]["sum"] == 866 * 6 * 4
    plan = explain(Tiles((866, 6), (12,), 4), Options(io_ranks=4))
    for box, explained in zip(reported["boxes"], plan.boxes):
        assert box["first"] == [cells.start for cells in explained.cells]
        assert box["count"] == [len(cells) for cells in explained.cells]
    result = run_program([*command, "--io-ranks", "4"])
    assert result.returncode == 0, result.stderr
    assert "Boxes of the field, by I/O rank" in result.stdout and "0-865" in result.stdout
    subset = ["--io-ranks-per-node", "2", "--io-base", "1", "--rearranger", "subset"]
    result = run_program([*command, *subset, "--json"])
    assert result.returncode == 0, result.stderr
    reported = json.loads(result.stdout)
    plan = explain(
        Tiles((12,), (12,), 4), Options(ranks_per_node=4, io_ranks_per_node=2, io_base=1, rearranger="subset")
    )
    assert [(group["rank"], group["first"], group["count"]) for group in reported["served"]] == [
        (node.io_rank, node.ranks.start, len(node.ranks)) for node in plan.nodes
    ]
    assert reported["boxes"] == []
    result = run_program([*command, *subset])
    assert "Served by I/O rank" in result.stdout and "10-11" in result.stdout
    tiles = [*simulation, "--global", "24x18", "--ranks", "4", "--nodes", "2", "--driver", "mpiio"]
    assert run_program(tiles).returncode == 2
    result = run_program([*tiles, "--rearranger", "box", "--json"])
    assert result.returncode == 0, result.stderr
    assert len(json.loads(result.stdout)["boxes"]) == 4


def test_simulation_of_one_map_of_a_file_of_several(tmp_path):
    needs_plan_program()
    pio = tmp_path / "map.txt"
    pio.write_text("version 2001 npes 1 ndims 2 \n2 3 \n0 6\n1 2 3 4 5 6 \n\n")
    case = {"ranks": 2, "nodes": 2, "columns": str(pio)}
    assert simulate(Case(**case))["shape"] == [2, 3]
    assert simulate(Case(**case, map_name="c"))["shape"] == [3, 2]
    command = [*simulation, "--ranks", "4", "--nodes", "2"]
    for wrong, words in (
        (["--columns", str(pio), "--map-name", "D1"], "'D1'"),
        (["--columns", "ne4", "--map-name", "D1"], "--map-name goes with --columns FILE"),
        (["--global", "24x18", "--map-name", "D1"], "--map-name goes with --columns FILE"),
    ):
        result = run_program([*command, *wrong])
        assert result.returncode == 2 and words in result.stderr, result.stderr
    result = run_program([*program, "--global", "24x18", "--tiles", "2x2", "--map-name", "D1"])
    assert result.returncode == 2 and "No such option: --map-name" in result.stderr


def test_simulation_of_a_map_of_e3sm():
    needs_plan_program()
    beside = Path(__file__).resolve().parents[4] / "shared" / "data" / "e3sm"
    path = Path(os.environ.get("E3SM_MAPS", beside)) / "map_f_case_16p.nc"
    if not path.exists():
        pytest.skip(f"there is no {path} (E3SM_MAPS names the folder of E3SM's map files)")
    command = [*simulation, "--columns", str(path), "--ranks", "16", "--nodes", "4"]
    result = run_program(command)
    assert result.returncode == 2 and "name one of D1, D2, D3, by --map-name" in result.stderr
    result = run_program([*command, "--map-name", "D3", "--io-ranks", "4", "--json"])
    assert result.returncode == 0, result.stderr
    reported = json.loads(result.stdout)
    assert reported["shape"] == [866, 72] and [box["rank"] for box in reported["boxes"]] == [0, 4, 8, 12]
    assert reported["loads"]["sum"] == 866 * 72 * 4


@pytest.mark.parametrize("field", ["--global 3600x2700x75", "--columns ne120 --levels 26"])
def test_plans_of_100000_ranks_are_small_and_quick(field):
    """Of all ranks, or of a sample where all would take over a minute."""
    needs_plan_program()
    command = [*simulation, *field.split(), "--ranks", "100000", "--nodes", "1000", "--json"]
    result = run_program(command)
    assert result.returncode == 0, result.stderr
    reported = json.loads(result.stdout)
    assert reported["ranks"] == 100_000 and reported["ranks_simulated"] >= 1000
    assert 0 < reported["plan_seconds"]["most"] < 1, reported["plan_seconds"]
    assert 0 < reported["plan_bytes"]["most"] < 64 * 2**20, reported["plan_bytes"]


def test_simulation_refuses_what_it_would_not_use():
    needs_plan_program()
    with pytest.raises(InvalidArgumentError, match="no node has more than 2 ranks"):
        simulate(Case(ranks=4, nodes=2, shape=(24, 18), settings={"writers": 3}))
    for settings in ({"rearrange": "on"}, {"writers": 2}, {"slot_bytes": 4096}):
        with pytest.raises(InvalidArgumentError, match="for driver native"):
            simulate(Case(ranks=4, nodes=2, shape=(24, 18), library=True, settings=settings))
    with pytest.raises(InvalidArgumentError, match="2\\^62 bytes"):
        simulate(Case(ranks=4, nodes=2, shape=(2**32, 2**32, 4)))


def test_simulation_of_groups_is_as_explained():
    needs_plan_program()
    settings = {"rearranger": "subset", "io_ranks_per_node": 2}
    reported = simulate(Case(16, 2, (656, 640, 16), tiles=(4, 4), settings=settings))
    options = Options(ranks_per_node=8, io_ranks_per_node=2, rearranger="subset")
    plan = explain(Tiles((656, 640, 16), (4, 4), 4), options)
    assert (reported["strategy"], reported["writer"], reported["groups_simulated"]) == (
        "subset",
        "I/O rank",
        len(plan.nodes),
    )
    assert reported["loads"]["who_least"] in [node.io_rank for node in plan.nodes]
    assert reported["loads"]["least"] == plan.nodes[0].bytes and reported["extents"]["sum"] == plan.writes
    assert reported["rank_messages"]["sum"] == 0
    for wrong in ({"rearrange": "on"}, {"writers": 2}, {"io_ranks_per_node": 0, "io_ranks": 1}):
        chosen = {key: value for key, value in {**settings, **wrong}.items() if value}
        with pytest.raises(InvalidArgumentError, match="rearranger=subset"):
            simulate(Case(16, 2, (656, 640), tiles=(4, 4), settings=chosen))
    with pytest.raises(InvalidArgumentError, match="rearrange=off"):
        simulate(Case(16, 2, (656, 640), settings={"rearranger": "box", "rearrange": "off"}))
    way = ["--rearranger", "subset", "--ranks", "1200", "--nodes", "30"]
    result = run_program([*simulation, "--global", "240x180x5", *way])
    assert result.returncode == 0, result.stderr
    assert "subset: each of 30 I/O ranks stores what its group" in result.stdout
    assert "Messages between nodes: none" in result.stdout


def test_simulation_at_the_command_line():
    needs_plan_program()
    command = [*simulation, "--global", "240x180x5", "--ranks", "1200", "--nodes", "30"]
    result = run_program(command)
    assert result.returncode == 0, result.stderr
    for words in ("Do this: ", "all 1,200 ranks", "Strategy:", "most memory at a time", "stores, extents"):
        assert words in result.stdout
    result = run_program([*command, "--io-ranks", "30", "--format", "netcdf4", "--json"])
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["chunk"] != []
    for wrong, words in (
        (["--nodes", "2000"], "each node needs one"),
        (["--tiles", "7x9"], "63 tiles"),
        (["--io-ranks", "1201"], "1201"),
        (["--plot", "x.png"], "No such option: --plot"),
        (["--driver", "pnetcdf", "--io-ranks", "4", "--access", "independent"], "No such option: --access"),
        (["--driver", "gather"], "gather"),
        (["--levels", "3"], "--columns"),
        (["--columns", "ne4"], "one of"),
        (["--tiles", "4294967296x4294967296"], "more tiles than"),
        (["--io-stride", "-1"], "0 or more"),
    ):
        result = run_program([*command, *wrong])
        assert result.returncode == 2 and words in result.stderr, result.stderr
        assert "Traceback" not in result.stderr
    result = run_program(command, env={"PLAN_ENGINE": "/none/such"})
    assert result.returncode == 2 and "PLAN_ENGINE" in result.stderr


@pytest.mark.parametrize(
    "given, kind",
    [
        ("--global 24x18 --tiles 2x2", "layout"),
        ("--global 24x18 --tiles 2x2 --simulate --nodes 2", "simulate"),
        ("his.nc --chunks --variables a", "chunks"),
        ("his.nc --variables a", "chunks"),
        ("--global 24x18 --ranks 4", "simulate"),
        ("--global 24x18 --ranks=4", "simulate"),
    ],
)
def test_the_spelling_of_0_1_says_the_new_one(given, kind):
    result = run_program([*program[:-1], *given.split()])
    now = given.replace("--simulate ", "").replace("--chunks ", "")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"shoal: this is now: shoal explain {kind} {now}\n"


def test_what_to_do_comes_first():
    short = run_program([*program, "--global", "656x640x16", "--tiles", "4x4", "--driver", "pnetcdf",
                         "--access", "independent"])  # fmt: skip
    assert short.stdout.startswith("Do this: choose access collective, or driver native"), short.stdout
    gather = run_program([*program, "--global", "656x640x16", "--tiles", "4x4", "--driver", "gather"])
    assert gather.stdout.startswith("Do this: choose driver native"), gather.stdout


def test_no_option_is_forgotten():
    from shoal.cli.explain_layout import layout
    from shoal.cli.explain_simulate import simulate as command

    fields = {field.name for field in dataclasses.fields(Options)} - {"chunk"}  # which the library chooses
    of_layout = {"access", "ranks_per_node", "background", "servers", "cores"}
    assert fields <= set(inspect.signature(layout).parameters)
    assert fields - of_layout <= set(inspect.signature(command).parameters)
    planned = fields - of_layout - {"driver", "format"}
    assert Options(**{name: 7 for name in planned}).settings_of_plan() == {name: 7 for name in planned}
    assert Options().settings_of_plan() == {}
