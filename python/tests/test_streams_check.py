# SPDX-License-Identifier: BSD-3-Clause
"""shoal streams check and fields: errors, tables and pictures; and every configuration of the guide."""

import json
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import test_streams_import as tables
import test_streams_import_cells as tables_of_cells
from conftest import run_program

import shoal
from shoal import streams_check, streams_import
from shoal.errors import FormatError, InvalidArgumentError
from shoal.programs import ProgramError, find_program

docs = Path(__file__).resolve().parents[2] / "docs"
program = [sys.executable, "-m", "shoal.cli", "streams"]
year = ("1850-01-01", "1851-01-01", "15 min")

try:
    find_program(streams_check.name, streams_check.variable)
except ProgramError as error:
    pytest.skip(str(error), allow_module_level=True)


def blocks(page):
    """Configurations of a page, each with the heading that is before it."""
    heading, found = "", []
    pattern = re.compile(r"^#+ ([^\n]*)$|^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)
    for part in pattern.finditer((docs / page).read_text()):
        if part[1]:
            heading = part[1]
        else:
            found.append((heading, part[2]))
    return found


def field(name, dims, **keys):
    lines = [f'name = "{name}"', f"dims = {json.dumps(dims)}", 'type = "float"', 'grid = "ocean"']
    return "\n".join(["\n[[field]]", *lines, *(f'{key} = "{value}"' for key, value in keys.items())]) + "\n"


@pytest.fixture
def fields(tmp_path):
    """The file of fields of the reference, and the other fields that the guide speaks of."""
    (text,) = (block for heading, block in blocks("reference/streams.md") if heading == "A file of fields")
    column, surface = ["lev", "lat", "lon"], ["lat", "lon"]
    text += field("salt", column, group="tracers") + field("u", column) + field("v", column)
    text += field("zeta", surface) + field("rain", surface, holds="step")
    path = tmp_path / "fields.toml"
    path.write_text(text)
    return path


@pytest.fixture
def checked(tmp_path, fields):
    """checked(text, ...): what check says of a configuration."""

    def run(text, **options):
        path = tmp_path / "output.toml"
        path.write_text(text)
        options = {"fields": fields, "calendar": "noleap", "run": year, "ranks": 16, **options}
        return streams_check.check(path, **options)

    return run


def one(found, name=None):
    (file,) = (f for f in found["files"] if name in (None, f["name"]))
    return file


guide = blocks("guide/streams.md")


@pytest.mark.parametrize("text", [text for _, text in guide], ids=[heading for heading, _ in guide])
def test_configurations_of_the_guide(checked, text):
    found = checked(text)
    if any("muParser" in problem["message"] for problem in found["problems"]):
        pytest.skip("built without muParser")
    assert found["problems"] == []
    assert found["files"] and all(file["records"] > 0 and file["bytes"] > 0 for file in found["files"])
    assert found["memory"]["bytes_of_rank"] > 0


def test_the_guide_has_thirteen():
    assert len({heading for heading, _ in guide}) == 13


@pytest.mark.usefixtures("with_streams")
@pytest.mark.parametrize("text", [text for _, text in guide], ids=[heading for heading, _ in guide])
def test_the_guide_is_what_a_model_can_have(tmp_path, monkeypatch, text):
    """A model of the guide's fields, for six days, writes all files that each configuration names."""
    monkeypatch.chdir(tmp_path)
    column, surface = ("lev", "lat", "lon"), ("lat", "lon")
    fields = {name: column for name in ("temp", "salt", "u", "v")} | {"zeta": surface, "rain": surface}
    shape = {"lev": 3, "lat": 180, "lon": 360}
    values = {name: np.ones([shape[dim] for dim in dims], "f4") for name, dims in fields.items()}
    try:
        streams = shoal.Streams.open(text, start="1850-02-28", calendar="noleap")
        streams.axis("lev", [5.0, 15.0, 30.0], [[0, 10], [10, 20], [20, 40]])
        streams.axis("lat", np.arange(-89.5, 90))
        streams.axis("lon", np.arange(0.5, 360))
        streams.grid("ocean", shoal.Decomposition.block(None, {dim: shape[dim] for dim in surface}))
        streams.area("ocean", "cell_area", np.ones((180, 360)))
        for name, dims in fields.items():
            streams.field(
                name,
                "f4",
                dims,
                "ocean",
                group="tracers" if name in ("temp", "salt") else None,
                holds="step" if name == "rain" else "instant",
            )
        length = 900 if "15 min" in text else 21600
        for end in range(length, 6 * 86400 + 1, length):
            streams.advance(end)
            for name, array in values.items():
                if streams.wants(name):
                    streams.send(name, array)
        files = [file["name"] for file in streams.report["streams"]["files"]]
        streams.close()
    except shoal.NotSupportedError as error:  # without muParser, zstd
        pytest.skip(str(error))
    for name in files:
        found = sorted(tmp_path.glob(re.sub("%.", "*", name)))
        assert found, name
        with shoal.open(found[0]) as file:
            assert file.num_records > 0


daily = """\
[[file]]
name = "ocean_%Y-%m.nc"
every = "1 day"
new_file = "1 month"
operation = "mean"
fields = ["temp", { field = "zeta", name = "high", operation = "maximum" }]
"""


run_of_hours = ("1850-01-01", "1850-01-11", "1 h")


@pytest.mark.usefixtures("with_streams")
def test_windows_that_do_not_end_with_steps(checked):
    found = checked(daily.replace('"1 day"', '"90 min"'), run=run_of_hours)
    assert found["problems"] == []
    (warning,) = (one for one in found["warnings"] if "goes past" in one["message"])
    assert (warning["line"], warning["key"]) == (3, "every")
    assert (
        "from 1850-01-01 01:00:00 to 1850-01-01 02:00:00 goes past 1850-01-01 01:30:00" in warning["message"]
    )
    found = checked(
        "strict = true\n".join(daily.replace('"1 day"', '"90 min"').split("fields", 1)[:1])
        + 'fields = ["temp"]\nstrict = true\n',
        run=run_of_hours,
    )
    assert [problem["key"] for problem in found["problems"]] == ["every"]
    found = checked(daily, run=run_of_hours)
    assert not any("goes past" in one["message"] for one in found["warnings"])


def test_the_report_of_streams_is_told_from_that_of_a_dataset(tmp_path):
    report = {
        "configuration": "output.toml",
        "calendar": "noleap",
        "start": "2001-01-01 00:00:00",
        "now": "2001-01-03 00:00:00",
        "steps": 96,
        "axes": [],
        "grids": [],
        "fields": [{}, {}],
        "files": [
            {
                "name": "a_%Y.nc",
                "every": "1 day",
                "variables": [{"name": "t", "operation": "mean", "type": "float"}],
                "files": [{"path": "a_2001.nc", "records": 2}],
            },
            {"name": "b.nc", "every": "1 year", "variables": [], "files": []},
        ],
        "accumulators": [],
        "accumulator_bytes": 4096,
    }
    (tmp_path / "r.json").write_text(json.dumps({"streams": report}))
    shown = run_program([sys.executable, "-m", "shoal.cli", "report", str(tmp_path / "r.json")])
    assert shown.returncode == 0, shown.stderr
    for part in ("96 steps of 2 fields", "a_2001.nc", "t mean", "b.nc (none)", "take 4"):
        assert part in shown.stdout
    (tmp_path / "r.json").write_text("{}")
    assert (
        run_program([sys.executable, "-m", "shoal.cli", "report", str(tmp_path / "r.json")]).returncode == 2
    )


@pytest.mark.usefixtures("with_streams")
def test_zstd_without_its_plugin(checked, tmp_path, monkeypatch):
    text = daily.replace("operation", 'format = "netcdf4"\ncompression = "shuffle+zstd:1"\noperation', 1)
    monkeypatch.setenv("HDF5_PLUGIN_PATH", str(tmp_path))
    (warning,) = checked(text)["warnings"]
    assert warning["key"] == "compression" and str(tmp_path) in warning["message"]
    assert "shuffle+deflate:1" in warning["message"]
    assert checked(text.replace("zstd", "deflate"))["warnings"] == []
    (tmp_path / "libh5zstd.so").touch()
    assert checked(text)["warnings"] == []


@pytest.mark.usefixtures("with_streams")
def test_folders_that_there_are_not(checked, tmp_path):
    text = f'report = "{tmp_path}/no/r.json"\n' + daily.replace('"ocean_', '"none/here/ocean_')
    messages = [one["message"] for one in checked(text)["warnings"]]
    assert [message.split("'")[1] for message in messages] == [f"{tmp_path}/no", "none/here"]


@pytest.mark.usefixtures("with_streams")
def test_a_run_that_is_too_short_is_one_warning(checked):
    found = checked(daily, run=("1850-01-01", "1850-01-01 12:00", "1 h"))
    (warning,) = found["warnings"]
    assert "the run ends before 1850-01-02 00:00:00, where the first window does" in warning["message"]


def test_files_dates_records_and_bytes(checked):
    found = checked(daily)
    assert found["problems"] == [] and found["warnings"] == []
    file = one(found)
    assert file["line"] == 1 and file["records"] == 365 and len(file["written"]) == 12
    record = 4 * 180 * 360 * (3 + 1)
    assert file["written"][1] == {
        "name": "ocean_1850-02.nc",
        "records": 28,
        "start": "1850-02-01 00:00:00",
        "end": "1850-03-01 00:00:00",
        "bytes": 28 * record,
    }
    assert [v["name"] for v in file["variables"]] == ["temp", "high"]
    assert [v["operation"] for v in file["variables"]] == ["mean", "maximum"]
    assert found["totals"] == {"files": 12, "records": 365, "bytes": 365 * record}
    assert file["windows"][:2] == [[0, 86400], [86400, 172800]]
    # An accumulator of a mean and one of a maximum are doubles.
    memory = found["memory"]
    assert memory["bytes"] == sum(a["bytes"] for a in memory["accumulators"])
    assert memory["bytes"] >= 8 * 180 * 360 * 4
    assert memory["bytes_of_rank"] == pytest.approx(memory["bytes"] / 16, rel=0.01)


@pytest.mark.parametrize(
    "calendar, records", [("standard", 366), ("noleap", 365), ("all_leap", 366), ("360_day", 360)]
)
def test_calendars(checked, calendar, records):
    found = checked(daily, calendar=calendar, run=("1852-01-01", "1853-01-01", "1 h"))
    assert one(found)["records"] == records


def test_a_run_that_goes_on(checked):
    """A restart in the middle of a window; the first file has a part of its windows."""
    text = daily.replace('"1 day"', '"1 month"').replace('"1 month"\noperation', '"1 year"\noperation')
    found = checked(text, run=("1850-03-17", "1851-02-10", "15 min"), start="1850-01-01")
    file = one(found)
    assert [part["records"] for part in file["written"]] == [10, 1]
    assert file["written"][0]["start"] == "1850-03-01 00:00:00"
    assert file["unfinished"] == {
        "start": "1851-02-01 00:00:00",
        "end": "1851-03-01 00:00:00",
        "seconds": [(365 - 31 - 28 - 16 + 31) * 86400.0, (365 - 31 - 28 - 16 + 31 + 28) * 86400.0],
    }
    assert any("saved by a checkpoint" in warning["message"] for warning in found["warnings"])


@pytest.mark.parametrize(
    "old, new, line, key, message",
    [
        ('"1 day"', '"1 dya"', 3, "every", "steps, s, min, h, day, month, year"),
        ("operation = ", "oparation = ", 5, "oparation", "did you mean 'operation'?"),
        ('"mean"', '"meen"', 5, "operation", "did you mean 'mean'?"),
        ('"temp"', '"tmep"', 6, "fields", "did you mean 'temp'?"),
        ('"zeta"', '"zetta"', 6, "fields", "did you mean 'zeta'?"),
        ("ocean_%Y-%m.nc", "ocean_%Y.nc", 4, "new_file", "tells them apart"),
        ("ocean_%Y-%m.nc", "ocean_%Q.nc", 2, "name", "has %Q"),
        ('"1 month"', '"1 month"\nlevels = [7]', 5, "levels", "cell 7 of"),
        ('"1 month"', '"1 month"\nregion = { lat = [95, 99] }', 5, "region.lat", "no cell of 'lat'"),
        ('"1 month"', '"1 month"\nregion = { lati = [1, 2] }', 5, "region", ""),
        ('"1 month"', '"1 month"\ncompression = "zip:1"', 5, "compression", ""),
        ('"1 month"', '"1 month"\ninterpolate = { to = [5, 1, 7] }', 5, "interpolate.to", "go up or down"),
        ('"1 day"', '"1 min"', 3, "every", "longer than windows"),
        ('"1 day"', "1 day", 3, "", ""),
    ],
)
def test_errors_have_lines(checked, old, new, line, key, message):
    found = checked(daily.replace(old, new, 1))
    fitting = [p for p in found["problems"] if p["line"] == line and p["key"].startswith(key)]
    assert fitting and message in fitting[0]["message"], found["problems"]
    assert fitting[0]["file"].endswith("output.toml")


def test_variables_in_groups(checked):
    (text,) = (text for heading, text in guide if heading == "Variables in groups")
    found = checked(text)
    assert [v["name"] for v in one(found)["variables"]] == ["ocean/temp", "ocean/surface/zeta", "rain"]
    problems = checked(text.replace('format = "netcdf4"', ""))["problems"]
    assert [(p["line"], p["key"]) for p in problems] == [(8, "fields"), (9, "fields")]
    assert "format cdf5 has no groups; netcdf4 has them" in problems[0]["message"]


def test_all_errors_are_found_at_once(checked):
    found = checked(daily.replace('"temp"', '"tmep", "slat"') + '[[file]]\nname = "b.nc"\nevery = "1 day"\n')
    assert sum("the model has no field" in problem["message"] for problem in found["problems"]) == 2
    assert any("fields" in problem["key"] and problem["line"] == 7 for problem in found["problems"])


def test_same_file_twice(checked):
    found = checked(daily + daily.replace("%Y-%m.nc", "1850-%m_%Y.nc").replace("1850-%m_%Y", "%Y-0%j"))
    assert all(problem["key"] == "name" for problem in found["problems"])
    found = checked(daily.replace("%Y-%m", "%Y%m") + daily.replace("%Y-%m", "%Y%m%%").replace("%%", ""))
    assert found["problems"] and found["problems"][0]["key"] == "name"


def test_text_alone(checked):
    """Without fields and dates the text is checked."""
    found = checked(daily.replace('"temp"', '"anything"'), fields=None, run=None)
    assert found["problems"] == [] and "run" not in found and "memory" not in found
    assert "variables" not in one(found) and "records" not in one(found)


def test_coordinates_that_are_not_known(checked, fields):
    fields.write_text(fields.read_text().replace('area = "cell_area"', 'coordinates = ["tlon"]'))
    found = checked(daily.replace("operation", "region = { tlon = [1, 2] }\noperation", 1))
    assert found["problems"] == [] and found["warnings"][0]["key"] == "region.tlon"
    assert one(found)["variables"][0]["record_bytes"] == 4 * 3 * 180 * 360


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("length = 180", "length = 0", "length of [[axis]]"),
        ('dims = ["lat", "lon"]', 'dims = ["lat", "lan"]', "'lan' is no [[axis]]"),
        ('type = "float"', 'type = "flaot"', "flaot"),
        ('group = "tracers"', 'grupp = "tracers"', "'grupp' is no key of [[field]]"),
        ("first = -89.5\n", "", "first and step go together"),
        ("[[grid]]", "[[gird]]", "is no table of a file of fields"),
        ("[[axis]]", "[[axis", ""),
    ],
)
def test_errors_in_a_file_of_fields(checked, fields, old, new, message):
    text = fields.read_text()
    assert old in text
    fields.write_text(text.replace(old, new, 1))
    found = checked(daily)
    fitting = [p for p in found["problems"] if p["file"].endswith("fields.toml")]
    assert fitting and any(message in problem["message"] for problem in fitting), found["problems"]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"calendar": "lunar"}, "'lunar' is no calendar"),
        ({"run": ("1850-02-30", "1851-01-01", "1 h")}, "1850-02-30"),
        ({"run": ("1851-01-01", "1850-01-01", "1 h")}, "--from"),
        ({"run": ("1850-01-01", "1851-01-01", "1 month")}, "--step"),
        ({"run": ("1850-01-01", "9999-01-01", "1 s")}, "steps"),
        ({"fields": "/nowhere/fields.toml"}, "/nowhere/fields.toml"),
    ],
)
def test_what_cannot_be_checked(checked, options, message):
    with pytest.raises(InvalidArgumentError, match=re.escape(message)):
        checked(daily, **options)


def test_command(tmp_path, fields):
    configuration = tmp_path / "output.toml"
    configuration.write_text(daily)
    options = ["--calendar", "noleap", "--from", year[0], "--to", year[1], "--step", year[2]]
    command = [*program, "check", str(configuration), *options, "--fields", str(fields), "--ranks", "4"]
    done = run_program(command, env={"COLUMNS": "160"})
    assert done.returncode == 0, done.stdout + done.stderr
    for words in (
        "ocean_1850-01.nc",
        "ocean_1850-12.nc",
        "1851-01-01 00:00:00",
        "365",
        "high maximum",
        "on one of 4 ranks",
    ):
        assert words in done.stdout
    axis = [line for line in done.stdout.splitlines() if line.endswith("ocean_%Y-%m.nc, 1 day")]
    assert len(axis) == 1 and axis[0].startswith("░" * 64)
    assert json.loads(run_program([*command, "--json"]).stdout)["totals"]["records"] == 365

    configuration.write_text(daily.replace('"temp"', '"tmep"'))
    done = run_program(command)
    assert done.returncode == 1 and f"{configuration}:6: fields: " in done.stdout
    done = run_program([*program, "check", str(configuration), "--from", year[0]])
    assert done.returncode == 2 and "go together" in done.stderr
    done = run_program([*program, "check", str(tmp_path / "nothing.toml")])
    assert done.returncode == 2 and "nothing.toml" in done.stderr


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_picture(tmp_path, fields, ending):
    pytest.importorskip("matplotlib")
    configuration = tmp_path / "output.toml"
    configuration.write_text(daily)
    picture = tmp_path / f"windows.{ending}"
    command = [*program, "check", str(configuration), "--from", "2000-01-01", "--to", "2000-02-10 12:00"]
    done = run_program([*command, "--step", "1 h", "--picture", str(picture)])
    assert done.returncode == 0, done.stdout + done.stderr
    assert picture.stat().st_size > 5000
    if ending == "svg":
        assert "days since 2000-01-01" in re.sub(r"<!-- | -->", "", picture.read_text())
    done = run_program([*command, "--step", "1 h", "--picture", str(tmp_path / "windows.txt")])
    assert done.returncode == 2 and ".png, .svg or .pdf" in done.stderr


def described(name, type, dims, **more):
    """A field as the report has it."""
    lengths = {"lev": 3, "lat": 180, "lon": 360}
    keys = dict.fromkeys(("group", "units", "long_name", "standard_name"), "")
    keys.update(name=name, type=type, grid="ocean", holds="instant", **more)
    return {**keys, "dims": [{"name": dim, "length": lengths[dim]} for dim in dims]}


grid = {"name": "ocean", "dims": ["lat", "lon"], "lengths": [180, 360], "coordinates": ["tlat"], "area": "a"}
report = {
    "streams": {
        "axes": [
            {"name": "lev", "length": 3, "values": [5.0, 15.0, 30.0], "bounds": [0, 10, 10, 20, 20, 40]},
            {"name": "lat", "length": 180, "values": [], "bounds": []},
            {"name": "lon", "length": 360, "values": [float(i) for i in range(360)], "bounds": []},
        ],
        "grids": [grid],
        "fields": [
            described(
                "temp", "float", ["lev", "lat", "lon"], group="tracers", units="degC", long_name='the "heat"'
            ),
            described("zeta", "double", ["lat", "lon"]),
        ],
    }
}


def test_fields_of_a_report(tmp_path, checked):
    saved, made = tmp_path / "r.json", tmp_path / "made.toml"
    saved.write_text(json.dumps(report))
    done = run_program([*program, "fields", str(saved)], env={"COLUMNS": "160"})
    assert done.returncode == 0, done.stderr
    for words in (
        "temp",
        "lev 3 x lat 180 x lon 360",
        "tracers",
        "degC",
        'the "heat"',
        "zeta",
        "double",
    ):
        assert words in done.stdout
    done = run_program([*program, "fields", str(saved), "-o", str(made)])
    assert done.returncode == 0, done.stderr
    found = checked(daily, fields=made)
    assert found["problems"] == []
    assert one(found)["variables"][1]["type"] == "double"


def test_fields_of_even_axes_are_short():
    axes = [
        {"name": "lev", "length": 4, "values": [5.0, 15.0, 25.0, 40.0], "bounds": []},
        {"name": "lat", "length": 180, "values": [-89.5 + i for i in range(180)], "bounds": []},
        {"name": "lon", "length": 360, "values": [0.1 * i for i in range(360)], "bounds": []},
        {"name": "n", "length": 7, "values": [], "bounds": []},
    ]
    text = streams_check.fields_toml({"axes": axes, "grids": [], "fields": []}, "r.json")
    even, spaced = (
        'name = "lat"\nlength = 180\nfirst = -89.5\nstep = 1.0\n',
        'name = "lon"\nlength = 360\nfirst',
    )
    assert even in text and spaced in text
    assert "values = [5.0, 15.0, 25.0, 40.0]" in text and 'name = "n"\nlength = 7\n' in text


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"streams": {"fields": 3}}', '{"counts": {}}'])
def test_reports_that_are_none(tmp_path, text):
    saved = tmp_path / "r.json"
    saved.write_text(text)
    with pytest.raises(FormatError, match="no report of streams"):
        streams_check.load_report(saved)
    done = run_program([*program, "fields", str(saved)])
    assert done.returncode == 2 and os.path.basename(saved) in done.stderr


fms_table = tables.fms(
    '"f%4yr%2mo", 6, "hours", 1, "hours", "time", 1, "months", "1900 3 1 0 0 0"',
    '"m", "x", "x", "f%4yr%2mo", "all", max, "none", 2\n'
    '"m", "x", "box", "f%4yr%2mo", "all", "diurnal4", "1 1 3 3 -1 -1", 1\n'
    '"m", "x", "x_a", "f%4yr%2mo", "all", "mean", "1 2 3 4 -1 -1", 1\n'
    '"m", "x", "x_b", "f%4yr%2mo", "all", "mean", "1 2 4 5 -1 -1", 1\n'
    '"m", "x", "point", "f%4yr%2mo", "all", "mean", "1 1 3 3 -1 -1", 1\n'
    '"m", "x", "line", "f%4yr%2mo", "all", "mean", "1 1 3 4 -1 -1", 1\n'
    '"m", "x", "square", "f%4yr%2mo", "all", "pow2", "none", 2',
)
xios_table = tables.one_file(
    '<field field_ref="toce" name="t"/><field field_ref="heat2" operation="maximum"/>'
    '<variable name="n" type="double">1e-3</variable>',
    'output_freq="1d" split_freq="1mo" compression_level="2" format="netcdf4_classic" time_units="days"',
)
cells = ("g_some", "g_std", "g_plev", "g_box", "line", "sums")
xios_cells = tables_of_cells.with_grids(
    tables.one_file(
        "".join(f'<field field_ref="toce" name="{name}" freq_op="1h" grid_ref="{name}"/>' for name in cells)
    )
)


@pytest.mark.parametrize(
    "text",
    [fms_table, tables.fms_yaml, xios_table, xios_cells],
    ids=["fms", "fms-yaml", "xios", "xios-cells"],
)
def test_imported_tables_are_taken(tmp_path, checked, text):
    """What import writes has no key or value that the library does not know."""
    if text == tables.fms_yaml:
        pytest.importorskip("yaml")
    path = tmp_path / "table"
    path.write_text(text)
    imported = streams_import.read_table(str(path))
    found = checked(streams_import.to_toml(imported), fields=None, run=None)
    assert found["problems"] == []
    # Files that are not enabled are not listed.
    assert len(found["files"]) == sum(file.keys.get("enabled", True) for file in imported.files)
