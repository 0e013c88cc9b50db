# SPDX-License-Identifier: BSD-3-Clause
"""shoal explain and shoal.explanation."""

import math
import random
import sys

import numpy as np
import pytest
from conftest import run_program

from shoal.errors import InvalidArgumentError
from shoal.explanation import Options, Tiles, explain

program = [sys.executable, "-m", "shoal.cli", "explain"]


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


def test_command(tmp_path):
    picture = tmp_path / "tiles.png"
    command = [*program, "--global", "656x640x16", "--tiles", "4x4"]
    result = run_program([*command, "--plot", str(picture)])
    assert result.returncode == 0, result.stderr
    for words in ("2,560", "40,960", "656", "first dimension fastest on disk", "fillings"):
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
