# SPDX-License-Identifier: BSD-3-Clause
"""Streams: what models in Python send, and what is in the files; the operations themselves: tests/streams."""

import datetime
import json

import numpy as np
import pytest

import shoal

pytestmark = pytest.mark.usefixtures("with_streams")

SIX_HOURS = 21600


def configuration(path, fields='"temp"', operation="mean"):
    return f'[[file]]\nname = "{path}"\nevery = "1 day"\noperation = "{operation}"\nfields = [{fields}]\n'


@pytest.fixture
def begin(tmp_path):
    """begin(configuration): streams with the levels lev, the grid sea (y, x) and the field temp."""
    opened = []

    def make(text, **times):
        grid = shoal.Decomposition.block(None, {"y": 2, "x": 3})
        streams = shoal.Streams.open(text, **{"start": "2001-01-01", "calendar": "noleap", **times})
        streams.axis("lev", [5.0, 20.0], [[0, 10], [10, 30]], attrs={"units": "m", "positive": "down"})
        streams.axis("x", length=3)
        streams.grid("sea", grid)
        streams.area("sea", "cell_area", np.full((2, 3), 2.5), attrs={"units": "m2"})
        streams.coordinate("sea", "lon", np.arange(6.0).reshape(2, 3))
        number = streams.field("temp", "f4", "lev y x", "sea", "ocean", attrs={"missing_value": -9.0})
        assert number == 0
        streams.put_att(None, "title", "a test")
        opened.append(streams)
        return streams

    yield make
    for streams in opened:
        streams.abandon()


def temp(step):
    return np.arange(12.0).reshape(2, 2, 3) + step


def test_means_bounds_and_attributes(begin, tmp_path):
    path = tmp_path / "mean.nc"
    with begin(configuration(path)) as streams:
        assert streams.wants("temp")  # before the first step, so that who asks and sends is told
        for step in range(1, 8):
            streams.advance(SIX_HOURS * step)
            assert streams.wants(0) and streams.wants("temp")
            streams.send("temp", temp(step))
        streams.advance_to("2001-01-03")
        streams.send(0, temp(8))
        assert "temp" in str(streams.report)
        assert "1 fields" in repr(streams)
    assert not streams.is_open and "closed" in repr(streams)
    streams.close()  # a second close does nothing
    with shoal.open(path) as file:
        assert np.array_equal(file.get("temp", 0), temp(2.5))
        assert np.array_equal(file.get("temp", 1), temp(6.5))
        bounds = file.get("time_bounds", 1)
        assert 0 < bounds[0] and bounds[1] == 2 * bounds[0]
        assert file.get_att("lev", "units") == "m" and file.get_att(None, "title") == "a test"
        assert file.get_att("temp", "_FillValue") == -9
        assert file.get_att("temp", "coordinates") == "lon"
        assert np.array_equal(file.get("lev_bounds"), [[0, 10], [10, 30]])


def test_the_configuration_is_a_file(begin, tmp_path, monkeypatch):
    text = configuration(tmp_path / "from_file.nc")
    (tmp_path / "output.toml").write_text(text)
    for name in (str(tmp_path / "output.toml"), tmp_path / "output.toml"):
        begin(name).abandon()
    with pytest.raises(FileNotFoundError, match=r"no_such\.toml"):
        begin(tmp_path / "no_such.toml")
    monkeypatch.setenv("SHOAL_STREAMS", str(tmp_path / "other.toml"))
    with pytest.raises(shoal.NoSuchFileError, match=r"other\.toml"):
        begin(text)


def test_dates_are_objects_too(begin, tmp_path):
    start = datetime.datetime(2001, 1, 1, 12)
    streams = begin(configuration(tmp_path / "x.nc"), calendar="standard", start=start)
    streams.advance_to(start + datetime.timedelta(hours=6))
    with pytest.raises(shoal.InvalidArgumentError, match="2001-01-01 18:00:00"):
        streams.advance_to(start)


def test_steps_are_timedeltas_too(begin, tmp_path):
    with begin(configuration(tmp_path / "x.nc")) as streams:
        streams.advance(datetime.timedelta(hours=6))
        streams.send("temp", temp(1))
        for step, hours in enumerate((12, 18, 24), 2):
            streams.advance(np.timedelta64(hours, "h"))
            streams.send("temp", temp(step))
        assert streams.report["streams"]["now"] == "2001-01-02 00:00:00"
    with shoal.open(tmp_path / "x.nc") as file:
        assert np.array_equal(file.get("temp", 0), temp(2.5))


def test_the_configuration_is_a_dict(begin, tmp_path):
    path = tmp_path / "dict.nc"
    field = {"field": "temp", "name": "t", "long_name": "of the sea", "missing_value": np.float32(-1)}
    file = {
        "name": path,
        "every": datetime.timedelta(days=1),
        "until": datetime.date(2001, 1, 2),
        "fields": (field,),
        "levels": np.array([1]),
        "new_file": None,
        "time_origin": datetime.datetime(1900, 1, 1),
    }
    with begin({"title": "a run", "file": [file], "defaults": {"operation": "mean"}}) as streams:
        for step in range(1, 9):
            streams.advance(SIX_HOURS * step)
            streams.send("temp", temp(step))
    with shoal.open(path) as file:
        assert file.num_records == 1 and np.array_equal(file.get("t", 0), temp(2.5)[1:])
        assert file.get_att("t", "missing_value") == -1 and file.get_att("t", "_FillValue") == -1
        assert file.get_att("t", "long_name") == "of the sea"
        assert file.get_att("time", "units") == "seconds since 1900-01-01 00:00:00"
    for wrong, kind, part in (
        ({"file": {"name": "x.nc"}}, shoal.InvalidArgumentError, "list of dicts"),
        ({"file": [{"name": 1j}]}, shoal.TypeMismatchError, "complex: 1j"),
        ({"file": [{"name": "x.nc", "every": 1, "fields": ["temp"]}]}, shoal.SettingError, "every: is text"),
    ):
        with pytest.raises(kind, match=part):
            begin(wrong)


@pytest.mark.parametrize(
    ("times", "part"),
    [
        ({"calendar": "lunar"}, "lunar"),
        ({"start": "2001-02-29"}, "2001-02-29"),
        ({"now": "2000-12-31"}, "before the start"),
    ],
)
def test_times_that_there_are_not(begin, tmp_path, times, part):
    with pytest.raises(ValueError, match=part):
        begin(configuration(tmp_path / "x.nc"), **times)


@pytest.mark.parametrize("now", ["2001-01-01 12:00:00", "43200 s", "43200.0 s", "12 h", "0.5 day", "720 min"])
def test_a_job_begins_at_a_date_or_so_long_after_the_start(begin, tmp_path, now):
    with begin(configuration(tmp_path / "x.nc"), now=now) as streams:
        with pytest.raises(shoal.InvalidArgumentError, match="it is 2001-01-01 12:00:00 already"):
            streams.advance(2 * SIX_HOURS - 1)
        assert streams.report["streams"]["now"] == "2001-01-01 12:00:00"


@pytest.mark.parametrize("now", ["12 hoors", "half a day", "-1 h", "43200"])
def test_times_of_a_job_that_there_are_not(begin, tmp_path, now):
    with pytest.raises(shoal.InvalidArgumentError, match="now"):
        begin(configuration(tmp_path / "x.nc"), now=now)


def test_the_state_at_the_start(begin, tmp_path):
    path = tmp_path / "start.nc"
    keys = f'[[file]]\nname = "{path}"\nevery = "12 h"\noperation = "instant"\nfields = ["temp"]\n'
    mean = tmp_path / "mean.nc"
    with begin(keys + configuration(mean)) as streams:
        for step in range(5):
            streams.advance(SIX_HOURS * step)
            streams.send("temp", temp(step))
    with shoal.open(path) as file:
        assert [file.get("time", record) for record in range(file.num_records)] == [0, 43200, 86400]
        assert np.array_equal(file.get("temp", 0), temp(0)) and np.array_equal(file.get("temp", 1), temp(2))
    with shoal.open(mean) as file:  # it has no length
        assert file.num_records == 1 and np.array_equal(file.get("temp", 0), temp(2.5))
    with begin(keys) as streams:
        streams.advance(SIX_HOURS)
        streams.send("temp", temp(1))
        with pytest.raises(shoal.InvalidArgumentError, match="already"):  # the start is over
            streams.advance(SIX_HOURS)


def test_mistakes_of_configurations(begin, tmp_path):
    with pytest.raises(shoal.SettingError, match="line 6: evry: unknown key"):
        begin(configuration(tmp_path / "x.nc") + "evry = 3\n")
    streams = begin(configuration(tmp_path / "x.nc", '"tmp"'))
    with pytest.raises(KeyError, match="did you mean 'temp'"):
        streams.advance(1)


class OnlyArray:
    """As other libraries' arrays: what NumPy makes an array of."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)


class OnlyDlpack:
    """The same of those that have __dlpack__ alone."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **how):
        return self.values.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class Elsewhere(OnlyDlpack):
    """In the memory of a device."""

    def __dlpack__(self, **how):
        raise BufferError("the array is on device cuda:0")

    def __dlpack_device__(self):
        return (2, 0)


@pytest.mark.parametrize(
    "kind",
    [
        OnlyArray,
        OnlyDlpack,
        np.asfortranarray,
        lambda values: values[::-1, :, ::-1].copy()[::-1, :, ::-1],
        lambda values: values.astype(values.dtype.newbyteorder()),
        lambda values: values.astype("i2"),
        lambda values: values.tolist(),
        lambda values: np.ma.array(values),
    ],
)
def test_arrays_of_any_kind(begin, tmp_path, kind):
    path = tmp_path / "kinds.nc"
    with begin(configuration(path)) as streams:
        for step in range(1, 5):
            streams.advance(SIX_HOURS * step)
            streams.send("temp", kind(temp(step)))
    with shoal.open(path) as file:
        assert np.array_equal(file.get("temp", 0), temp(2.5))


def test_datasets_take_them_too(tmp_path):
    with shoal.create(tmp_path / "a.nc") as file:
        file.def_var("v", "f8", shoal.Decomposition.block(None, {"y": 4}))
        file.write("v", OnlyDlpack(np.arange(4.0)))
        with pytest.raises(shoal.TypeMismatchError, match="the host's memory"):
            file.write("v", Elsewhere(np.arange(4.0)))
    with shoal.open(tmp_path / "a.nc") as file:
        assert np.array_equal(file.get("v"), np.arange(4.0))


def test_masked_cells_are_missing(begin, tmp_path):
    path = tmp_path / "masked.nc"
    with begin(configuration(path)) as streams:
        for step in range(1, 5):
            values = temp(step)
            streams.advance(SIX_HOURS * step)
            streams.send("temp", np.ma.masked_where((values == 14) | (values < step + 1), values))
    with shoal.open(path) as file:
        mean = file.get("temp", 0)
    all_steps = np.array([temp(step) for step in range(1, 5)])
    first = np.arange(1, 5).reshape(-1, 1, 1, 1) + 1
    expected = np.ma.masked_where((all_steps == 14) | (all_steps < first), all_steps).mean(axis=0)
    assert mean[0, 0, 0] == -9 and np.allclose(mean, expected.filled(-9))


def test_descriptions_that_are_wrong(begin, tmp_path):
    def wrong(kind, part, describe):
        streams = begin(configuration(tmp_path / "x.nc"))
        with pytest.raises(kind, match=part):
            describe(streams)
        streams.abandon()

    wrong(shoal.ExistsError, "'lev'", lambda s: s.axis("lev", [1.0]))
    wrong(shoal.InvalidArgumentError, "values or length=", lambda s: s.axis("z"))
    wrong(shoal.InvalidArgumentError, "values or length=", lambda s: s.axis("z", [1.0], length=1))
    wrong(shoal.InvalidArgumentError, "bounds", lambda s: s.axis("z", [1.0, 2.0], [0.0, 1.0, 2.0]))
    wrong(shoal.InvalidArgumentError, "bounds and no values", lambda s: s.axis("z", None, [[0, 1]], length=1))
    wrong(shoal.TypeMismatchError, "complex", lambda s: s.axis("z", [1j]))
    wrong(shoal.TypeMismatchError, "give a shoal.Decomposition", lambda s: s.grid("g", "y x"))
    wrong(shoal.NotFoundError, "did you mean 'sea'", lambda s: s.field("u", "f4", "y x", "see"))
    wrong(shoal.NotFoundError, "'levs'", lambda s: s.field("u", "f4", "levs y x", "sea"))
    wrong(shoal.InvalidArgumentError, "'instant' and 'step'", lambda s: s.field("u", "f4", holds="day"))
    wrong(shoal.TypeMismatchError, "u", lambda s: s.field("u", str))
    wrong(shoal.NotFoundError, "'u'", lambda s: s.put_att("u", "units", "m"))
    wrong(shoal.InvalidArgumentError, "2 dimensions", lambda s: s.put_att("temp", "a", np.zeros((2, 2))))
    wrong(shoal.NotSupportedError, "list of strings", lambda s: s.put_att("temp", "a", ["b", "c"]))


def test_sends_that_are_wrong(begin, tmp_path):
    def wrong(kind, part, array, field="temp"):
        streams = begin(configuration(tmp_path / "x.nc"))
        streams.advance(SIX_HOURS)
        with pytest.raises(kind, match=part):
            streams.send(field, array)
        streams.abandon()

    wrong(shoal.NotFoundError, "no field 'tmp'; did you mean 'temp'", temp(1), "tmp")
    wrong(shoal.NotFoundError, "no field 'salt'; the model described temp", temp(1), "salt")
    wrong(shoal.InvalidArgumentError, "no field 7", temp(1), 7)
    wrong(shoal.InvalidArgumentError, "'temp'.*2x3", np.zeros((2, 3)))
    wrong(shoal.InvalidArgumentError, "17 dimensions", np.zeros((1,) * 17))
    wrong(shoal.TypeMismatchError, "complex128", temp(1) * 1j)
    wrong(shoal.TypeMismatchError, "the host's memory", Elsewhere(temp(1)))
    streams = begin(configuration(tmp_path / "x.nc"))
    streams.advance(SIX_HOURS)
    streams.send("temp", temp(1))
    with pytest.raises(shoal.StateError, match="sent already"):
        streams.send("temp", temp(1))
    with pytest.raises(shoal.StateError, match="the run has begun"):
        streams.field("late", "f4")


def test_what_nobody_wants_is_not_looked_at(begin, tmp_path):
    with begin(configuration(tmp_path / "x.nc")) as streams:
        other = streams.field("salt", "f4", "lev y x", "sea")
        for step in range(1, 5):
            streams.advance(SIX_HOURS * step)
            streams.send("temp", temp(step))
            assert not streams.wants(other)
            streams.send(other, Elsewhere(temp(step)))


def test_a_field_that_is_not_sent(begin, tmp_path):
    streams = begin(configuration(tmp_path / "hole.nc"))
    for step in range(1, 5):
        streams.advance(SIX_HOURS * step)
        if step != 2:
            streams.send("temp", temp(step))
    with pytest.raises(shoal.StateError, match=r"'temp' was not sent in the step to 2001-01-01 12:00:00"):
        streams.close()
    assert not streams.is_open


def test_the_nearest_cells_of_any_grid(tmp_path, mpirun):
    found = []
    for ranks in (1, 4):
        (tmp_path / str(ranks)).mkdir()
        mpirun(ranks, "stations.py", tmp_path / str(ranks))
        found.append((tmp_path / str(ranks) / f"cells.{ranks}.json").read_text())
    assert found[0] == found[1]


@pytest.mark.parametrize("ranks", [1, 3])
def test_other_levels(tmp_path, mpirun, ranks):
    mpirun(ranks, "levels.py", tmp_path)


@pytest.mark.parametrize(
    ("keys", "part"),
    [
        ('{ to = [5, 20], levels = "pres" }', "line 6: interpolate.levels: the model has no field 'pres'"),
        ('{ to = [5, 20], dim = "depth" }', "no field of the file has the dimension 'depth'"),
        ("{ to = [5, 5] }", "line 6: interpolate.to: is a list of numbers that go up or down"),
        (
            '{ to = [0, 5], scale = "logarithmic" }',
            "line 6: interpolate.to: has numbers that are not above 0",
        ),
        ('{ to = [5], when = "during" }', "line 6: interpolate.when: 'during' is not one of: before, after"),
        ('{ to = [5], levels = "zeta" }', "'zeta' .* has other dimensions than 'temp'"),
        ("{ to = [5] }\nlevels = [0]", "line 7: levels: interpolate says which levels the file has"),
        (
            '{ to = [5] }\nreduce = { dims = ["lev"] }',
            "line 7: reduce.dims: 'lev' has the levels that interpolate",
        ),
        (
            '{ to = [5], when = "after" }\nreduce = { dims = ["y"] }',
            'of values that reduce joins it is "before"',
        ),
    ],
)
def test_levels_that_there_are_not(begin, tmp_path, keys, part):
    with pytest.raises((shoal.SettingError, shoal.NotFoundError), match=part):
        streams = begin(configuration(tmp_path / "x.nc") + f"interpolate = {keys}\n")
        streams.field("zeta", "f4", "y x", "sea")
        streams.advance(1)


def test_a_run_of_two_jobs(begin, tmp_path):
    text = configuration(tmp_path / "split.nc")
    streams = begin(text)
    for step in (1, 2):
        streams.advance(SIX_HOURS * step)
        streams.send("temp", temp(step))
    streams.checkpoint(tmp_path / "saved.nc")
    streams.abandon()
    with begin(text, now="2001-01-01 12:00:00") as streams:
        streams.resume(tmp_path / "saved.nc")
        for step in (3, 4):
            streams.advance(SIX_HOURS * step)
            streams.send("temp", temp(step))
    with shoal.open(tmp_path / "split.nc") as file:
        assert np.array_equal(file.get("temp", 0), temp(2.5))
    with pytest.raises(FileNotFoundError, match="lost"):
        begin(text, now="2001-01-02").resume(tmp_path / "lost.nc")
    with pytest.raises(shoal.InvalidArgumentError):
        begin(text, now="2001-01-02").resume(tmp_path / "saved.nc")


def test_closed(begin, tmp_path):
    streams = begin(configuration(tmp_path / "x.nc"))
    streams.abandon()
    for call in (
        lambda: streams.axis("z", [1.0]),
        lambda: streams.wants("temp"),
        lambda: streams.send("temp", temp(1)),
        lambda: streams.advance(1),
        lambda: streams.checkpoint(tmp_path / "saved.nc"),
        lambda: streams.report,
    ):
        with pytest.raises(shoal.StateError, match="closed"):
            call()


forgetful = """
import sys
import numpy as np
import shoal
streams = shoal.Streams.open(sys.argv[1], start="2001-01-01")
streams.field("temp", "f8")
for step in range(1, 7):
    streams.advance(21600 * step)
    streams.send("temp", np.float64(step))
"""


@pytest.mark.parametrize(
    "settings", ["", 'commit = "close"\n', 'background = "thread"\nbackground_close = true\n']
)
def test_forgotten_streams_are_closed_at_the_end(tmp_path, python, settings):
    keys = settings + 'unfinished = "write"\n'
    warned = python(forgetful, configuration(tmp_path / "x.nc") + keys).stderr
    assert warned.count("the streams were not closed before MPI_Finalize; they are closed now") == 1
    with shoal.open(tmp_path / "x.nc") as file:
        assert [float(file.get("temp", record)) for record in range(file.num_records)] == [2.5, 5.5]


def test_forgotten_streams_whose_close_fails(tmp_path, python):
    warned = python(forgetful + "streams.advance(48 * 3600)\n", configuration(tmp_path / "x.nc")).stderr
    assert "closing them now failed: " in warned and "'temp' was not sent" in warned


def test_streams_that_are_no_longer_used_are_dropped_with_a_warning(tmp_path, python):
    warned = python(forgetful + "del streams\n", configuration(tmp_path / "x.nc")).stderr
    assert "dropped when they were no longer used" in warned


def test_forgotten_streams_of_a_program_that_fails(tmp_path, python):
    result = python(forgetful + "raise KeyError('bug')", configuration(tmp_path / "x.nc"), expect=1)
    assert "dropped at the end of the program" in result.stderr


def test_forgotten_on_several_ranks(tmp_path, mpirun):
    result = mpirun(3, "forgotten_streams.py", tmp_path)
    assert result.stderr.count("the streams were not closed before MPI_Finalize; they are closed now") == 1
    with shoal.open(tmp_path / "a.nc") as file:
        assert np.array_equal(file.get("temp", 0), np.full((3, 4), 2.5))


def test_what_is_sent_before_the_first_advance_is_refused(begin, tmp_path):
    streams = begin(configuration(tmp_path / "x.nc"))
    assert streams.wants("temp")
    with pytest.raises(shoal.StateError, match="field 'temp' was sent before the first step; advance first"):
        streams.send("temp", temp(1))


def test_what_several_ranks_send_before_the_first_advance_is_told_once(tmp_path, mpirun):
    told = mpirun(3, "sent_early.py", tmp_path).stderr
    early = "shoal: streams: field 'level' was sent before the first step; advance first"
    assert told.count(early) == 1 and told.index(early) < told.index("SENT")
    with shoal.open(tmp_path / "a.nc") as file:
        assert file.get("level", 0) == 2.5


def test_windows_that_do_not_end_with_steps_are_told_once(begin, tmp_path, capfd):
    text = configuration(tmp_path / "x.nc").replace("1 day", "9 h")
    with begin(text) as streams:
        for step in range(1, 9):
            streams.advance(SIX_HOURS * step)
            streams.send("temp", temp(step))
    told = capfd.readouterr().err
    assert told.count("goes past 2001-01-01 09:00:00, where a window of 9 h ends") == 1
    assert told.count("goes past") == 1
    with pytest.raises(shoal.SettingError, match="strict = true"), begin(text + "strict = true\n") as streams:
        for step in range(1, 9):
            streams.advance(SIX_HOURS * step)
            streams.send("temp", temp(step))


def test_a_clock_in_hours(begin, tmp_path, capfd):
    with begin(configuration(tmp_path / "x.nc")) as streams:
        for step in range(1, 49):
            streams.advance(step)
            streams.send("temp", temp(step))
    told = capfd.readouterr().err.splitlines()
    assert len(told) == 1, told
    assert "no file got a record: 48 steps of 1 s, from 2001-01-01 00:00:00 to 2001-01-01 00:00:48" in told[0]
    assert "the shortest is of 1 day" in told[0] and "in seconds?" in told[0]
    with begin(configuration(tmp_path / "x.nc")) as streams:  # with a checkpoint it is as it should be
        streams.advance(SIX_HOURS)
        streams.send("temp", temp(1))
        streams.checkpoint(tmp_path / "saved.nc")
    told = capfd.readouterr().err
    assert "what was sent is in the checkpoint" in told and "seconds?" not in told


checks = """
import sys
import numpy as np
import shoal
from mpi4py import MPI
tiles = shoal.Decomposition.block(MPI.COMM_WORLD, {"y": 4, "x": 6}, split=("y",))
streams = shoal.Streams.open(sys.argv[1], MPI.COMM_WORLD, start="2001-01-01")
streams.axis("lev", [1.0, 2.0, 3.0])
streams.grid("sea", tiles)
streams.field("temp", "f4", ("lev", "y", "x"), "sea")
streams.advance(1.0)
print("went on")
"""


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_model_checks_a_configuration_and_stops(tmp_path, python, mpirun, monkeypatch, ranks):
    (tmp_path / "model.py").write_text(checks)
    run = (
        (lambda text, code: python(checks, text, expect=code))
        if ranks == 1
        else (lambda text, code: mpirun(3, tmp_path / "model.py", text, expect=code))
    )
    monkeypatch.setenv("SHOAL_STREAMS_CHECK", "1")
    path, report = tmp_path / "x.nc", tmp_path / "report.json"
    good = f'report = "{report}"\n' + configuration(path)
    result = run(good, 0)
    assert "went on" not in result.stdout and not path.exists()
    assert result.stderr.count("nothing is wrong with it for this model; the program ends here") == 1
    assert "  temp: mean, float (lev 3, y 4, x 6), 288" in result.stderr
    assert json.loads(report.read_text())["streams"]["fields"][0]["name"] == "temp"
    bad = configuration(path, '"tmp", { field = "salt", name = "s" }') + "levels = [7]\n"
    result = run(bad, 1 if ranks == 1 else None)
    assert result.returncode != 0
    assert "line 5: fields: the model has no field 'tmp'; did you mean 'temp'?" in result.stderr
    assert "line 5: fields: the model has no field 'salt'" in result.stderr
    assert "2 things are wrong with it" in result.stderr
    bad = f'report = "{tmp_path}/none/r.json"\n' + configuration(tmp_path / "no" / "x.nc")
    result = run(bad, 1 if ranks == 1 else None)
    assert result.returncode != 0
    assert f"line 3: name: there is no folder '{tmp_path}/no'; make it" in result.stderr
    assert f"report: there is no folder '{tmp_path}/none'; make it" in result.stderr
    assert "2 things are wrong with it" in result.stderr


def test_a_rerun_that_is_shorter_is_told(begin, tmp_path, capfd):
    for days, told in ((3, 0), (1, 1), (1, 0), (2, 0)):
        with begin(configuration(tmp_path / "x.nc")) as streams:
            for step in range(1, 4 * days + 1):
                streams.advance(SIX_HOURS * step)
                streams.send("temp", temp(step))
        err = capfd.readouterr().err
        assert err.count("files replaced longer ones of the same name: ") == told
        assert not told or "x.nc (1 record, before 3)" in err


def test_names_in_messages_are_few(begin, tmp_path):
    path = tmp_path / "x.nc"
    with pytest.raises(shoal.SettingError, match=r"line 6: zzzz: unknown key of \[\[file\]\], and none") as e:
        begin(configuration(path) + "zzzz = 3\n")
    assert len(str(e.value)) < 250
    with pytest.raises(shoal.SettingError, match=r"line 1: file: files are tables in a list: \[\[file\]\]"):
        begin(configuration(path).replace("[[file]]", "[file]"))
    with pytest.raises(shoal.SettingError, match=r"line 1: file: files are tables in a list: \[\[file\]\]"):
        begin(2 * configuration(path).replace("[[file]]", "[file]  # one"))
    streams = begin(configuration(path, '"q*"'))
    for i in range(30):
        streams.field(f"f{i}", "f4")
    with pytest.raises(shoal.NotFoundError, match="it has: temp, f0, f1, f2, f3, f4, f5, f6 and 23 more"):
        streams.advance(1)


def test_the_folder_of_the_report_is_known_at_once(begin, tmp_path):
    streams = begin(f'report = "{tmp_path}/none/r.json"\n' + configuration(tmp_path / "x.nc"))
    with pytest.raises(shoal.NotFoundError, match="there is no folder"):
        streams.advance(1)


def test_packed_values_as_others_read_them(begin, tmp_path):
    xarray = pytest.importorskip("xarray")
    for form in ("cdf5", "netcdf4"):
        path = tmp_path / f"{form}.nc"
        keys = f'type = "short"\nscale_factor = 0.01\nadd_offset = 3.0\nformat = "{form}"\n'
        with begin(configuration(path) + keys) as streams:
            for step in range(1, 5):
                values = temp(step) * 1.37
                values[0, 0, 0] = -9  # missing
                streams.advance(SIX_HOURS * step)
                streams.send("temp", values)
        with xarray.open_dataset(path, decode_times=False) as file:
            found = file["temp"].values[0]
        assert np.isnan(found[0, 0, 0])
        expected = temp(2.5) * 1.37
        assert np.nanmax(np.abs(found - expected)) <= 0.005 + 1e-6
        assert np.nanmax(np.abs(found - expected)) > 1e-4
        with shoal.open(path) as file:
            assert file.get("temp", 0).dtype == np.int16 and file.get_att("temp", "_FillValue") == -32767


def test_an_exception_in_the_block(begin, tmp_path):
    with pytest.raises(ZeroDivisionError), begin(configuration(tmp_path / "x.nc")) as streams:
        streams.advance(SIX_HOURS)
        streams.send("temp", temp(1))
        raise ZeroDivisionError
    assert not streams.is_open


@pytest.mark.parametrize("ranks", [1, 3])
def test_on_several_ranks(mpirun, tmp_path, ranks):
    mpirun(ranks, "streams.py", tmp_path)
