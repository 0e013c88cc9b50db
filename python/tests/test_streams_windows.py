# SPDX-License-Identifier: BSD-3-Clause
"""Windows and values of streams at their edges: one small run each. Any runs: test_streams_random.py."""

import numpy as np
import pytest

import shoal

pytestmark = pytest.mark.usefixtures("with_streams")

HOUR, DAY = 3600, 86400


@pytest.fixture
def begin(tmp_path):
    """begin(keys, **times): streams with one file, and the field temp on a grid of 3 cells."""
    opened = []

    def make(keys, dtype="f8", missing=None, name="a.nc", **times):
        text = f'[[file]]\nname = "{tmp_path}/{name}"\n{keys}\n'
        streams = shoal.Streams.open(text, **{"start": "2001-01-01", "calendar": "noleap", **times})
        opened.append(streams)
        streams.grid("line", shoal.Decomposition.block(None, {"x": 3}))
        streams.area("line", "area", [1.0, 2.0, 1.0])
        streams.field("temp", dtype, "x", "line", attrs={} if missing is None else {"_FillValue": missing})
        return streams

    yield make
    for streams in opened:
        streams.abandon()


def go(streams, ends, values=None):
    """Steps that end then, in hours; each value is the number of the step, from 1, or one of values."""
    for step, end in enumerate(ends):
        streams.advance(end * HOUR)
        streams.send("temp", np.full(3, step + 1.0) if values is None else values[step])


def read(path, name="temp"):
    with shoal.open(path) as file:
        return [file.get(name, record) for record in range(file.num_records)]


def test_a_file_has_all_windows_that_begin_in_its_period(begin, tmp_path):
    # The second window of January ends in February.
    with begin(
        'every = "20 days"\nnew_file = "1 month"\noperation = "mean"\nfields = ["temp"]', name="%Y-%m.nc"
    ) as s:
        go(s, [24 * day for day in range(5, 65, 5)])
    assert [list(v) for v in read(tmp_path / "2001-01.nc")] == [[2.5] * 3, [6.5] * 3]
    assert [list(v) for v in read(tmp_path / "2001-02.nc")] == [[10.5] * 3]


def test_instants_of_a_step_that_goes_past_the_end_of_a_period(begin, tmp_path):
    keys = """every = "1 day"
new_file = "1 day"
fields = [{ field = "temp", operation = "instant" }, { field = "temp", name = "m", operation = "mean" }]"""
    with begin(keys, name="%Y-%m-%d.nc") as s:
        go(s, [10, 20, 30, 40, 48])
    assert [list(v) for v in read(tmp_path / "2001-01-01.nc")] == [[3.0] * 3]
    assert [list(v) for v in read(tmp_path / "2001-01-01.nc", "m")] == [[1.5] * 3]
    assert [list(v) for v in read(tmp_path / "2001-01-02.nc")] == [[5.0] * 3]


def test_a_window_without_a_step_has_no_record(begin, tmp_path):
    with begin('every = "1 day"\noperation = "mean"\nfields = ["temp"]', start="2001-01-01 23:00:00") as s:
        go(s, [2, 25])  # the first one ends on the second day
    assert [list(v) for v in read(tmp_path / "a.nc")] == [[2 * 2 / 25 + 23 * 2 / 25 - 2 / 25] * 3]
    assert list(read(tmp_path / "a.nc", "time_bounds")[0]) == [0, 25 * HOUR]  # of both steps


def test_windows_of_steps_go_on_in_the_next_job(begin, tmp_path):
    keys = 'every = "4 steps"\ntime = "start"\noperation = "instant"\nfields = ["temp"]'
    first = begin(keys)
    go(first, [1, 2, 3, 4, 5, 6])
    first.checkpoint(tmp_path / "saved.nc")
    first.abandon()
    with begin(keys, now="2001-01-01 06:00:00") as second:
        second.resume(tmp_path / "saved.nc")
        go(second, [7, 8])
    assert read(tmp_path / "a.nc", "time") == [0, 4 * HOUR]


def test_until_cuts_a_window_of_steps_off(begin, tmp_path):
    keys = """every = "2 steps"
until = "2001-01-01 03:00:00"
unfinished = "write"
operation = "sum"
fields = ["temp"]"""
    with begin(keys) as s:
        go(s, [1, 2, 3, 4, 5])
    assert [list(v) for v in read(tmp_path / "a.nc")] == [[3.0] * 3]


def test_a_climatology_lies_in_the_middle_of_its_month(begin, tmp_path):
    keys = 'every = "1 month"\noffset = "-36 h"\nclimatology = true\noperation = "mean"\nfields = ["temp"]'
    with begin(keys, start="2001-01-30 12:00:00") as s:
        go(s, [12, 24 * 28])  # from 30 January, 12 h, to 27 February, 12 h
    assert read(tmp_path / "a.nc", "time") == [14 * DAY]


@pytest.mark.parametrize("sent_as", ["f4", "f8"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_missing_values_are_found_in_both_floating_types(begin, tmp_path, dtype, sent_as, reverse):
    keys = """every = "2 h"
fields = [
  { field = "temp", operation = "mean" },
  { field = "temp", name = "n", operation = "count" },
  { field = "temp", name = "now", operation = "instant", type = "double" },
  { expression = "temp * 2", name = "twice", operation = "last" },
]"""
    with begin(keys, dtype, missing=0.1) as s:
        values = [np.array([0.1, 3, 0.1], sent_as), np.array([5, 5, 0.1], sent_as)]
        go(s, [1, 2], [v[::-1].copy()[::-1] for v in values] if reverse else values)
    with shoal.open(tmp_path / "a.nc") as file:
        fill = float(np.array(0.1, dtype))
        assert np.array_equal(file.get("temp", 0), np.array([5, 4, 0.1], dtype))
        assert list(file.get("n", 0)) == [1, 2, 0]
        assert file.get_att("now", "_FillValue") == fill
        assert list(file.get("now", 0)) == [5, 5, fill]
        assert list(file.get("twice", 0))[:2] == [10, 10]
        assert file.get("twice", 0)[2] == file.get_att("twice", "_FillValue")


@pytest.mark.parametrize("missing", [None, -(2**63) + 2, 7])
@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_whole_numbers_of_8_bytes_stay_as_they_are(begin, tmp_path, dtype, missing):
    if dtype == "u8" and missing is not None and missing < 0:
        missing += 2**64
    keys = 'every = "4 h"\nfields = [' + ", ".join(
        f'{{ field = "temp", name = "{operation}", operation = "{operation}" }}'
        for operation in ("instant", "first", "last", "minimum", "maximum", "range", "mean")
    )
    keys += ', { field = "temp", name = "wide", operation = "maximum", type = "double" }]'
    large = 2**62 + 5 if dtype == "i8" else 2**63 + 2**62 + 5
    values = np.array(
        [[2**60 + 1, large - 4, 3], [2**60 - 1, 5, 3], [2**60 + 3, 8, 3], [2**60 + 2, 9, 3]], dtype
    )
    if missing is not None:
        values[[0, 3], 0] = values[:, 2] = missing
    first = begin(keys, dtype, missing=None if missing is None else np.array(missing, dtype)[()])
    go(first, [1, 2], values[:2])
    first.checkpoint(tmp_path / "saved.nc")
    first.abandon()
    with begin(keys, dtype, None if missing is None else np.array(missing, dtype)[()], now="2 h") as second:
        second.resume(tmp_path / "saved.nc")
        go(second, [3, 4], values[2:])
    with shoal.open(tmp_path / "a.nc") as file:
        found = {
            name: file.get(name, 0) for name in ("first", "last", "minimum", "maximum", "range", "instant")
        }
        fill = file.get_att("maximum", "_FillValue")
        wide = file.get("wide", 0)
        assert np.allclose(file.get("mean", 0)[:2], [2**60, float(values[:, 1].mean(dtype="f8"))])
    skip = [] if missing is None else [0, 3]
    counted = np.delete(values[:, 0], skip)
    expected = {
        "first": counted[0],
        "last": counted[-1],
        "minimum": counted.min(),
        "maximum": counted.max(),
        "range": counted.max() - counted.min(),
    }
    for name, value in expected.items():
        assert found[name].dtype == dtype and found[name][0] == value, name
    assert found["maximum"][1] == large - 4 and found["minimum"][1] == 5
    assert wide[0] == float(expected["maximum"])
    if missing is None:
        assert list(found["instant"]) == list(values[3]) and found["last"][2] == 3
    else:
        assert all(found[name][2] == fill for name in expected)
        assert found["instant"][0] == fill and found["instant"][1] == 9


def test_a_value_that_does_not_fit_changes_nothing(begin, tmp_path):
    keys = """every = "2 h"
fields = [
  { field = "temp", operation = "minimum" },
  { field = "temp", name = "n", operation = "count" },
]"""
    with begin(keys, "u8") as s:
        s.advance(HOUR)
        s.send("temp", np.array([5, 6, 7]))
        s.advance(2 * HOUR)
        with pytest.raises(shoal.RangeError, match="1 value of the array does not fit type uint64.*cell 1"):
            s.send("temp", np.array([5, -6, 7]))
        s.send("temp", np.array([4, 8, 7]))
    assert list(read(tmp_path / "a.nc")[0]) == [4, 6, 7]
    assert list(read(tmp_path / "a.nc", "n")[0]) == [2, 2, 2]


def test_a_missing_value_that_the_type_of_a_file_does_not_have(begin, tmp_path):
    with begin('every = "1 h"\noperation = "instant"\ntype = "float"\nfields = ["temp"]', missing=1e300) as s:
        go(s, [1], [np.array([1, 1e300, 2])])
    with shoal.open(tmp_path / "a.nc") as file:
        assert (
            file.get("temp", 0)[1] == file.get_att("temp", "_FillValue") == np.float32(9.9692099683868690e36)
        )


@pytest.mark.parametrize(
    ("dtype", "value"), [("f4", 1e300), ("i2", 0.5), ("i2", 40000), ("u1", -1), ("i4", np.nan)]
)
def test_a_missing_value_that_the_field_cannot_have_is_refused(begin, dtype, value):
    with pytest.raises(shoal.RangeError, match="'temp': _FillValue is .*, which type .* does not have"):
        begin('every = "1 h"\noperation = "mean"\nfields = ["temp"]', dtype, missing=value)


def test_a_count_of_nothing_is_a_value(begin, tmp_path):
    keys = """every = "2 h"
operation = "count"
fields = ["temp"]
reduce = { dims = ["x"], operation = "minimum" }"""
    with begin(keys, missing=0.0) as s:
        go(s, [1, 2], [np.array([0.0, 1, 1]), np.array([0.0, 0, 1])])
    assert read(tmp_path / "a.nc") == [0]
    with shoal.open(tmp_path / "a.nc") as file:
        assert file.get_att("temp", "_FillValue") != 0


def test_variances_of_steps_of_very_different_lengths(begin, tmp_path):
    with begin('every = "1 day"\noperation = "variance"\nfields = ["temp"]') as s:
        ends, values = [1e-6 / 3600 * 100, 24], [np.full(3, 6.0), np.full(3, 6.1)]
        go(s, ends, values)
    w = np.array([100, DAY * 10**6 - 100], np.longdouble)
    x = np.array([6.0, 6.1], np.longdouble)
    mean = (w * x).sum() / w.sum()
    expected = float((w * (x - mean) ** 2).sum() / w.sum())
    assert np.allclose(read(tmp_path / "a.nc")[0], expected, rtol=1e-13, atol=0)


def test_dimensions_that_are_joined_stay_as_scalar_coordinates(tmp_path):
    text = f'[[file]]\nname = "{tmp_path}/a.nc"\nevery = "1 h"\noperation = "mean"\nfields = ["temp"]\n'
    text += 'region = { lon = [330, 30] }\nreduce = { dims = ["lev", "lon"], weights = "none" }\n'
    with shoal.Streams.open(text, start="2001-01-01") as s:
        s.axis("lev", [5.0, 20.0], [[0, 10], [10, 30]], attrs={"units": "m"})
        s.axis("lat", [1.0, 2.0])
        s.axis("lon", np.arange(12) * 30.0, attrs={"units": "degrees_east"})
        s.grid("sea", shoal.Decomposition.block(None, {"lat": 2, "lon": 12}))
        s.field("temp", "f8", "lev lat lon", "sea")
        s.advance(3600)
        s.send("temp", np.ones((2, 2, 12)))
    with shoal.open(tmp_path / "a.nc") as file:
        assert file.get("lev") == 15 and list(file.get("lev_bounds")) == [0, 30]
        assert file.get("lon") == 0 and list(file.get("lon_bounds")) == [-30, 30]
        assert file.get_att("temp", "coordinates") == "lev lon"
        assert file.get_att("temp", "cell_methods") == "time: mean lev: lon: mean"
        assert file.get_att("lon", "units") == "degrees_east"


def test_another_checkpoint_may_be_tried(begin, tmp_path):
    keys = 'every = "1 day"\noperation = "mean"\nfields = ["temp"]'
    for end, name in ((6, "early.nc"), (12, "right.nc")):
        first = begin(keys)
        go(first, range(6, end + 1, 6))
        first.checkpoint(tmp_path / name)
        first.abandon()
    with begin(keys, now="2001-01-01 12:00:00") as second:
        with pytest.raises(shoal.NoSuchFileError):
            second.resume(tmp_path / "none.nc")
        with pytest.raises(shoal.InvalidArgumentError, match="now of the checkpoint"):
            second.resume(tmp_path / "early.nc")
        second.resume(tmp_path / "right.nc")
        with pytest.raises(shoal.StateError, match="the run has begun"):
            second.resume(tmp_path / "right.nc")
        go(second, [18, 24], [np.full(3, 3.0), np.full(3, 4.0)])
    assert [list(v) for v in read(tmp_path / "a.nc")] == [[2.5] * 3]


def test_a_step_that_is_too_long_may_be_made_shorter(begin, tmp_path):
    with begin('every = "1 day"\noperation = "mean"\nfields = ["temp"]') as s:
        s.advance(12 * HOUR)
        s.send("temp", np.ones(3))
        with pytest.raises(shoal.InvalidArgumentError, match="longer than windows"):
            s.advance(60 * HOUR)
        s.advance(24 * HOUR)
        s.send("temp", np.full(3, 2.0))
    assert [list(v) for v in read(tmp_path / "a.nc")] == [[1.5] * 3]


def test_a_wrong_time_is_an_error_where_a_step_went_past_the_end_of_a_window(begin, tmp_path):
    # The step to 30 h has the instants of a window which no file wants, and so is nothing due with it.
    with begin('every = "1 day"\noperation = "mean"\nfields = ["temp"]') as s:
        go(s, [18, 30])
        for wrong in (120, 30, float("nan")):
            with pytest.raises(shoal.InvalidArgumentError):
                s.advance(wrong * HOUR)
        s.advance(48 * HOUR)
        s.send("temp", np.full(3, 5.0))
    assert [list(v) for v in read(tmp_path / "a.nc")] == [[1.0] * 3, [3.8] * 3]


def test_one_expression_in_two_files_is_one(tmp_path):
    table = """[[file]]
name = "{}"
every = "4 h"
fields = [{{ expression = "temp * 2", name = "twice", operation = "{}" }}]
"""
    text = table.format(tmp_path / "a.nc", "mean") + table.format(tmp_path / "b.nc", "count")

    def begin(**times):
        s = shoal.Streams.open(text, start="2001-01-01", calendar="noleap", **times)
        s.grid("line", shoal.Decomposition.block(None, {"x": 3}))
        s.field("temp", "f8", "x", "line")
        return s

    first = begin()
    go(first, [1, 2])
    first.checkpoint(tmp_path / "saved.nc")
    first.abandon()
    with begin(now="2001-01-01 02:00:00") as second:
        second.resume(tmp_path / "saved.nc")
        go(second, [3, 4], [np.full(3, 3.0), np.full(3, 4.0)])
    assert [list(v) for v in read(tmp_path / "a.nc", "twice")] == [[5.0] * 3]
    assert [list(v) for v in read(tmp_path / "b.nc", "twice")] == [[4] * 3]


def test_a_region_of_a_mesh_has_its_cells_alone(tmp_path):
    text = f'[[file]]\nname = "{tmp_path}/a.nc"\nevery = "1 h"\noperation = "mean"\nfields = ["temp"]\n'
    text += "region = { lat = [10, 20] }\n"
    with shoal.Streams.open(text, start="2001-01-01") as s:
        s.grid("mesh", shoal.Decomposition.map(None, {"cell": 6}, [5, 4, 3, 2, 1, 0]))
        s.coordinate("mesh", "lat", np.array([0.0, 10, 0, 20, 0, 15])[::-1].copy())
        s.field("temp", "f8", "cell", "mesh")
        s.advance(3600)
        s.send("temp", np.arange(6.0)[::-1].copy())
    with shoal.open(tmp_path / "a.nc") as file:
        assert list(file.get("temp", 0)) == [1, 3, 5]
        assert list(file.get("lat")) == [10, 20, 15]


@pytest.mark.parametrize("kinds", ["fff", "fdf", "dff", "ffd"])
@pytest.mark.parametrize("saved_after", [None, 1, 2, 4])
def test_extremes_of_floats_and_doubles(begin, tmp_path, kinds, saved_after):
    """Extremes are kept as floats or as doubles, by what comes: each window has those of the exact values."""
    keys = """every = "3 h"
type = "double"
fields = [{ field = "temp", name = "low", operation = "minimum" },
          { field = "temp", name = "high", operation = "maximum" },
          { field = "temp", name = "range", operation = "range" }]"""
    wanted = [[1.1, -2.3, 5.7], [0.3, 2.9, np.pi], [1.7, 0.1, 5.9]]
    steps = [np.array(v, "f4" if kind == "f" else "f8") for v, kind in zip(wanted, kinds)]
    steps += [np.array(v, "f4") - 1 for v in wanted]  # the next window, of floats
    run = begin(keys, dtype="f4")
    for number, values in enumerate(steps, 1):
        run.advance(number * HOUR)
        run.send("temp", values)
        if number == saved_after:
            run.checkpoint(tmp_path / "saved.nc")
            run.abandon()
            run = begin(keys, dtype="f4", now=f"{number} h")
            run.resume(tmp_path / "saved.nc")
    run.close()
    for record, window in enumerate((steps[:3], steps[3:])):
        exact = np.array([values.astype("f8") for values in window])
        low, high = exact.min(axis=0), exact.max(axis=0)
        for name, expected in (("low", low), ("high", high), ("range", high - low)):
            assert read(tmp_path / "a.nc", name)[record].tolist() == expected.tolist(), (record, name)
