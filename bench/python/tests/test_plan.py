"""Which starts of the engine a command of shoal bench run means. Nothing is run here."""

import pytest

from shoal_bench.engine import Capabilities
from shoal_bench.experiments import all_experiments
from shoal_bench.planning import planned
from shoal_bench.study import Choice, StudyError, plan, tilings


def test_plans():
    assert tilings("all", 4) == ["1x4", "2x2", "4x1"] and tilings("square", 8) == ["2x4"]
    assert tilings("1xR", 3) == ["1x3"] and tilings("2x2", 6) == []
    with pytest.raises(StudyError):
        tilings("2y2", 4)
    experiments = all_experiments()
    tiles = experiments["roms-tiles"]
    assert [s.tiles for s in plan(tiles, Choice(paper=True)).starts] == ["1x16", "2x8", "4x4"]
    (start,) = plan(tiles, Choice(tiles=("3x2",))).starts
    assert start.ranks == 6
    domains = plan(experiments["mom-output"], Choice(io_layouts=("2x1",)), "io-layout")
    (start,) = domains.starts
    assert start.methods == ("native", "native-per-domain") and start.io_layout == "2x1"
    for experiment in experiments.values():
        for paper in (False, True):
            found = plan(experiment, Choice(paper=paper))
            assert found.starts and not found.unheeded and not found.notes


def able(*without):
    """All that studies name, but for some methods."""
    studies = [s for e in all_experiments().values() for s in (*e.studies, *e.paper_studies)]
    methods = {m.split("+")[0] for s in studies for m in s.methods} - set(without)
    return Capabilities({name: {} for name in all_experiments()}, {name: {} for name in methods})


def test_options_that_some_studies_cannot_heed():
    """They are left out and named; the rest is run."""
    every = ("native", "limit")
    for name in ("restart", "mom-output"):
        starts, notes = planned([name], Choice(methods=every), able())
        assert {s.methods for s in starts} == {every}
        assert not any(s.hints or s.mpi_io != "default" for s in starts)
        assert any("left out with hints" in note for note in notes)
    starts, notes = planned(["mom-output"], Choice(io_layouts=("2x2",)), able())
    assert {s.study for s in starts} == {"layouts", "io-layout"} and {s.io_layout for s in starts} == {"2x2"}
    unheeding = "mom-output:hints, mom-output:chunks, mom-output:compression, mom-output:pio"
    assert f"--io-layout means nothing to {unheeding}: left out." in notes
    starts, notes = planned(["mom-output"], Choice(hints=("cb_nodes=3",)), able())
    assert {s.study for s in starts} == {"layouts", "hints", "chunks", "compression", "pio"}
    assert {s.hints for s in starts} == {"cb_nodes=3"}
    starts, notes = planned(["all"], Choice(records=(3,)), able())
    assert {s.experiment for s in starts} == set(all_experiments()) - {"seven-ways", "restart"}
    assert {s.records for s in starts} == {3} and "--records means nothing to seven-ways:ways" in notes[-1]
    starts, notes = planned(["all"], Choice(steps=100), able())
    assert {s.experiment for s in starts} == {"roms-benchmark", "streams"}
    assert all("--steps" in s.arguments() for s in starts)
    starts, notes = planned(["roms-ranks"], Choice(ranks=(4, 8), tiles=("2x2",)), able())
    assert [s.ranks for s in starts] == [4] and "none of the --tiles is for 8 ranks" in notes[0]
    # A build without what heeds hints.
    starts, _ = planned(["restart:io-tasks"], Choice(), able("pnetcdf-collective", "mpiio-collective"))
    assert [s.hints for s in starts] == [""]


@pytest.mark.parametrize(
    "names, choice, option",
    [
        (["restart"], Choice(records=(3,)), "--records"),
        (["roms-size"], Choice(io_layouts=("2x2",)), "--io-layout"),
        (["mom-output"], Choice(hints=("cb_nodes=1",), methods=("native",)), "--hints"),
        (["mom-output"], Choice(mpi_ios=("ompio",), methods=("native",)), "--mpi-io"),
        (["restart"], Choice(steps=3), "--steps"),
        (["restart"], Choice(switches="x"), "--switches"),
        (["streams"], Choice(switches="x"), "--switches"),
        (["restart:io-tasks", "roms-benchmark"], Choice(cold=True), "--cold"),
    ],
)
def test_options_that_nothing_heeds(names, choice, option):
    with pytest.raises(StudyError, match=option):
        planned(names, choice, able())


def test_cold_where_some_read_nothing():
    starts, notes = planned(["restart"], Choice(cold=True), able())
    assert {s.study: s.cold for s in starts} == {"methods": True, "io-tasks": False, "pio": True}
    assert "--cold is about reading, which is not timed in restart:io-tasks." in notes


def test_sweeps_have_a_baseline():
    """Variants that take no hints are measured once, without any; plain methods beside the others."""
    for name, study in (("restart", "io-tasks"), ("mom-output", "hints")):
        for paper in (False, True):
            starts = plan(all_experiments()[name], Choice(paper=paper), study).starts
            (plain,) = (s for s in starts if not s.hints)
            assert len(starts) > 3 and all("native" in s.methods for s in starts)
            variants = [m for s in starts if s.hints for m in s.methods if "+" in m]
            assert not variants and set(starts[-1].methods) <= set(plain.methods)
    for study in ("io-layout", "chunks"):
        (start,) = plan(all_experiments()["mom-output"], Choice(), study).starts
        assert "native" in start.methods
