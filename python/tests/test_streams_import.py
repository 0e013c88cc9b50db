# SPDX-License-Identifier: BSD-3-Clause
"""shoal streams import: tables of FMS and XIOS become configurations, and nothing is lost in silence."""

import re
import sys
from pathlib import Path

import pytest
from conftest import run_program

from shoal import streams_import

try:
    import tomllib
except ModuleNotFoundError:  # before Python 3.11
    tomllib = pytest.importorskip("tomli")

program = [sys.executable, "-m", "shoal.cli", "streams", "import"]


def importer(tmp_path):
    """importer(...)(text, name): what is imported, its TOML parsed again, and the remarks as lines."""

    def make(text, name="table", **options):
        path = tmp_path / name
        path.write_text(text)
        imported = streams_import.read_table(str(path), **options)
        toml = streams_import.to_toml(imported)
        remarks = [remark.text(name) for remark in imported.all_remarks()]
        for remark in imported.all_remarks():  # each is in the configuration, too
            assert f"{path}:{remark.line}: {remark.what}" in toml
        return tomllib.loads(toml), remarks, [remark.text(name) for remark in imported.losses()]

    return make


@pytest.fixture
def table(tmp_path):
    return importer(tmp_path)


def file_of(document, name):
    found = [file for file in document["file"] if file["name"] == name]
    assert len(found) == 1, [file["name"] for file in document["file"]]
    return found[0]


# ---- FMS, the old form

fms_head = '"A run of the basin"\n1900 1 1 0 0 0\n'


def fms(files, fields):
    return fms_head + "# files\n" + files + "\n# fields\n" + fields + "\n"


def test_fms_files_and_fields(table):
    document, remarks, losses = table(
        fms(
            '"ocean%4yr%2mo%2dy", 12, "hours", 1, "days", "time", 1, "months", "1900 3 1 0 0 0", '
            '1, "months", "begin"\n'
            "'ice', 0, 'hours', 1, 'hours', 'time'",
            '"ocean_mod", "temp", "thetao", "ocean%4yr%2mo%2dy", "all", .true., "none", 2\n'
            '"ocean_mod", "salt", "salt", "ocean%4yr%2mo%2dy", "all", "average", .false., 1  # saline\n'
            "'ice_mod', 'hi', 'hi', 'ice', 'all', .false., 'none', 2",
        )
    )
    assert losses == []
    assert document["defaults"] == {
        "fms_attributes": True,
        "attributes": {"title": "A run of the basin"},
        "time_origin": "1900-01-01 00:00:00",
    }
    ocean = file_of(document, "ocean_%Y_%m_%d.nc")
    assert ocean["every"] == "12 h" and ocean["new_file"] == "1 month"
    assert ocean["from"] == "1900-03-01 00:00:00" and "until" not in ocean
    assert ocean["operation"] == "mean" and ocean["type"] == "float" and ocean["time_units"] == "days"
    assert ocean["fields"] == [{"field": "temp", "name": "thetao"}, {"field": "salt", "type": "double"}]
    ice = file_of(document, "ice.nc")
    assert ice["every"] == "1 step" and ice["operation"] == "instant" and ice["fields"] == ["hi"]
    assert any("table:7: module ocean_mod" in remark for remark in remarks)


@pytest.mark.parametrize(
    "reduction, operation",
    [
        (".true.", "mean"),
        ("average", "mean"),
        ("avg", "mean"),
        ("mean", "mean"),
        ("none", "instant"),
        (".false.", "instant"),
        ("min", "minimum"),
        ("max", "maximum"),
        ("sum", "sum"),
        ("rms", "rms"),
        ("diurnal24", "diurnal(24)"),
        ("pow1", "mean"),
    ],
)
def test_fms_reductions(table, reduction, operation):
    document, _, losses = table(
        fms('"f", 1, "days", 1, "days", "time"', f'"m", "x", "x", "f", "all", "{reduction}", "none", 2')
    )
    assert losses == []
    assert document["file"][0]["operation"] == operation and document["file"][0]["fields"] == ["x"]


def test_fms_powers_are_expressions(table):
    document, _, losses = table(
        fms('"f", 1, "days", 1, "days", "time"', '"m", "x", "x3", "f", "all", "pow3", "none", 2')
    )
    assert losses == [] and document["file"][0]["operation"] == "mean"
    assert document["file"][0]["fields"] == [{"expression": "x ** 3", "name": "x3"}]


@pytest.mark.parametrize("reduction", ["median", "diurnal1", "pow0", "diurnal"])
def test_fms_unknown_reductions_are_said(table, reduction):
    document, _, losses = table(
        fms(
            '"f", 1, "days", 1, "days", "time"',
            f'"m", "x", "x", "f", "all", "{reduction}", "none", 2\n"m", "y", "y", "f", "all", max, "none", 2',
        )
    )
    assert [loss for loss in losses if loss.startswith("table:6: x: ")] and len(losses) == 1
    assert document["file"][0]["fields"] == ["y"]


def test_fms_units(table):
    units = ["seconds", "minutes", "hours", "days", "months", "years"]
    document, _, losses = table(
        fms(
            "\n".join(f'"f{unit}", 2, "{unit}", 1, "days", "time"' for unit in units),
            "\n".join(f'"m", "x", "x", "f{unit}", "all", max, "none", 2' for unit in units),
        )
    )
    assert losses == []
    assert [file["every"] for file in document["file"]] == [
        "2 s",
        "2 min",
        "2 h",
        "2 days",
        "2 months",
        "2 years",
    ]


def test_fms_regions(table):
    document, remarks, losses = table(
        fms(
            '"f", 1, "days", 1, "days", "time"',
            '"m", "x", "x", "f", "all", max, "none", 2\n'
            '"m", "x", "xr", "f", "all", max, "140. 150.5 -10 10 -1 -1", 2\n'
            '"m", "z", "zr", "f", "all", max, "140. 150.5 -10 10 50 5", 2\n'
            '"m", "y", "y", "f", "all", max, "somewhere", 2',
        ),
        names=streams_import.Names(lon="xt", lat="yt", vertical="zt"),
    )
    assert [file["name"] for file in document["file"]] == ["f.nc", "f_region1.nc", "f_region2.nc"]
    assert "region" not in document["file"][0]
    assert document["file"][1]["region"] == {"xt": [140.0, 150.5], "yt": [-10.0, 10.0]}
    assert document["file"][2]["region"] == {"xt": [140.0, 150.5], "yt": [-10.0, 10.0], "zt": [5.0, 50.0]}
    assert len(losses) == 1 and losses[0].startswith("table:9: y: region 'somewhere'")
    assert any("table:7: another region" in remark for remark in remarks)
    assert sum("those whose coordinates lie between" in remark for remark in remarks) == 1


@pytest.mark.parametrize(
    "line, field, expected",
    [
        ('"f", -1, "days", 1, "days", "time"', None, "table:4: frequency -1"),
        ('"f", 1, "weeks", 1, "days", "time"', None, "table:4: 1 weeks"),
        ('"f", 1, "days", 2, "days", "time"', None, "table:4: format 2"),
        ('"f", 1, "days", 1, "years", "time"', None, "table:4: time in years"),
        ('"f", 1, "days", 1, "days", "when"', None, "table:4: time axis 'when'"),
        ('"f%2xx", 1, "days", 1, "days", "time"', '"m", "x", "x", "f%2xx", "all", max, "none", 2',
         "table:4: %2xx"),
        ('"f%4yr", 1, "days", 1, "days", "time", 1, "years", "now"',
         '"m", "x", "x", "f%4yr", "all", max, "none", 2', "table:4: start 'now'"),
        ('"f%4yr", 1, "days", 1, "days", "time", 1, "years", "1900 1 1 0 0 0", 2, "days"',
         '"m", "x", "x", "f%4yr", "all", max, "none", 2', "table:4: file_duration 2 days"),
        (None, '"m", "x", "x", "f", "all", max, "none", 4', "table:6: x: packing 4"),
        (None, '"m", "x", "x", "f", "all", max, "none", 3', "table:6: x: packing 3"),
        (None, '"m", "x", "x", "g", "all", max, "none", 2', "table:6: x in 'g'"),
        (None, '"m", "x"', "table:6: m, x"),
        (None, '"m", "x", "x", "f", "all", max, "none", 2, 9', "table:6: x: '9'"),
        ('"f", 1, "days", 1, "days", "time"\n"f", 2, "days", 1, "days", "time"', None, "table:5: file 'f'"),
    ],
)  # fmt: skip
def test_fms_losses_have_lines(table, line, field, expected):
    _, _, losses = table(
        fms(
            line or '"f", 1, "days", 1, "days", "time"',
            field or '"m", "x", "x", "f", "all", max, "none", 2',
        )
    )
    assert any(loss.startswith(expected) for loss in losses), losses


@pytest.mark.parametrize(
    "name, expected, lost",
    [
        ("month%4yr-%2mo", "month_%Y_%m.nc", None),  # FMS leaves out what stands between
        ("hourly%4yr%3dy", "hourly_%Y_%j.nc", None),  # of the year, where there is no month
        ("day%2dy%2mo%4yr", "day_%Y_%m_%d.nc", None),
        ("100%", "100%%.nc", None),
        ("steps%4yr%4hr", "steps_%Y_%H.nc", "%hr without %mo, %dy"),
        ("month%4yr%4wk", "month_%Y.nc", "%4wk in"),
    ],
)
def test_fms_dates_in_names(table, name, expected, lost):
    document, _, losses = table(
        fms(f'"{name}", 1, "days", 1, "days", "time", 1, "days"',
            f'"m", "x", "x", "{name}", "all", "mean", "none", 2')
    )  # fmt: skip
    assert document["file"][0]["name"] == expected
    assert losses == [] if lost is None else [lost in loss for loss in losses] == [True]


def test_fms_same_field_of_two_modules(table):
    _, _, losses = table(
        fms(
            '"f", 1, "days", 1, "days", "time"',
            '"ocean", "t", "to", "f", "all", max, "none", 2\n"ice", "t", "ti", "f", "all", max, "none", 2',
        )
    )
    assert len(losses) == 1 and losses[0].startswith("table:7: ice, t: module ocean")


@pytest.mark.parametrize("text", ["", "title\n", "title\n1900 1 1\n", "title\n1900 1 1 0 0 0\n"])
def test_fms_tables_that_are_none(table, text):
    with pytest.raises(streams_import.ImportFailedError, match="table"):
        table(text, form="fms")


# ---- FMS, YAML

fms_yaml = """\
title: The basin
base_date: 1 1 1 0 0 0
diag_files:
- file_name: flex%4yr%2mo%2dy%2hr
  freq: 1 hours, 1 days
  time_units: hours
  unlimdim: time
  new_file_freq: 12 hours, 1 months
  start_time: 2 1 1 0 0 0
  file_duration: 4 days, 3 months
  filename_time: begin
  module: ocn
  reduction: average
  kind: r4
  varlist:
  - var_name: temp
  - var_name: salt
    kind: r8
    output_name: so
    long_name: salinity of the sea
    attributes:
    - origin: here
  - var_name: u
    write_var: false
  global_meta:
  - purpose: a test
- file_name: box
  freq: 6 hours
  time_units: days
  unlimdim: time
  write_file: .false.
  varlist:
  - module: ocn
    var_name: temp
    reduction: rms
    kind: r4
    zbounds: 100 0
  sub_region:
  - grid_type: latlon
    corner1: -80, 0
    corner2: -80, 75
    corner3: -60, 0
    corner4: -60, 75
- file_name: cells
  freq: 0
  time_units: days
  unlimdim: time
  varlist:
  - {module: ocn, var_name: temp, reduction: diurnal8, kind: r4}
  sub_region:
  - grid_type: index
    tile: 1
    corner1: 10, 15
    corner2: 20, 15
    corner3: 10, 25
    corner4: 20, 25
"""


def test_fms_yaml(table):
    pytest.importorskip("yaml")
    document, _, losses = table(fms_yaml)
    assert losses == []
    first = file_of(document, "flex_%Y_%m_%d_%H.nc")
    assert first["every"] == "1 h" and first["new_file"] == "12 h"
    assert first["from"] == "0002-01-01 00:00:00" and first["until"] == "0002-01-05 00:00:00"
    assert first["attributes"] == {"title": "The basin", "purpose": "a test"}
    assert first["fields"] == [
        "temp",
        {"field": "salt", "name": "so", "type": "double",
         "long_name": "salinity of the sea", "attributes": {"origin": "here"}},
        {"field": "u", "enabled": False},
    ]  # fmt: skip
    second = file_of(document, "flex_%Y_%m_%d_%H_part2.nc")
    assert (
        second["every"] == "1 day" and second["new_file"] == "1 month" and second["fields"] == first["fields"]
    )
    assert second["from"] == first["until"] and second["until"] == "0002-04-05 00:00:00"
    box = file_of(document, "box.nc")
    assert box["enabled"] is False and box["operation"] == "rms"
    assert box["region"] == {"lon": [-80.0, -60.0], "lat": [0.0, 75.0], "lev": [0.0, 100.0]}
    cells = file_of(document, "cells.nc")
    assert cells["indices"] == {"x": [9, 20], "y": [14, 25]}  # from 0, and the end behind the last
    assert cells["every"] == "1 step" and cells["operation"] == "diurnal(8)"


@pytest.mark.parametrize(
    "old, new, expected",
    [
        ("  unlimdim: time\n  write_file", "  unlimdim: records\n  write_file", "30: unlimdim records"),
        ("  write_file: .false.", "  colour: blue", "31: colour of file 'box'"),
        ("    zbounds: 100 0", "    zbounds: 100", "37: temp: zbounds 100"),
        ("    kind: r8", "    kind: r16", "18: salt: kind r16"),
        ("    corner4: -60, 75", "    corner4: -50, 75", "39: sub_region of 'box'"),
        ("    corner4: -60, 75", "", "39: sub_region of 'box'"),
        (
            "    corner4: -60, 75",
            "    corner4: -60, 75\n  - grid_type: latlon",
            "another sub_region of 'box'",
        ),
        ("    tile: 1", "    tile: 3", "52: tile 3"),
        ("  freq: 0", "  freq: -1", "44: frequency -1"),
        ("  freq: 0", "  freq: often", "45: freq of 'cells' 'often'"),
        ("  start_time: 2 1 1 0 0 0", "  start_time: soon", "9: start_time 'soon'"),
        ("  file_duration: 4 days, 3 months", "", "2 frequencies"),
        ("  file_duration: 4 days, 3 months", "  file_duration: 40 days, 3 months", "file_duration 40 days"),
        ("reduction: rms", "reduction: mode", "33: temp: reduction 'mode'"),
        (
            "  - {module: ocn, var_name: temp, reduction",
            "  - {module: ocn, reduction",
            "49: a field of 'cells'",
        ),
    ],
)
def test_fms_yaml_losses_have_lines(table, old, new, expected):
    pytest.importorskip("yaml")
    assert old in fms_yaml
    _, _, losses = table(fms_yaml.replace(old, new, 1))
    assert any(expected in loss for loss in losses), losses


def test_fms_yaml_other_word_for_a_name(table):
    pytest.importorskip("yaml")
    document, _, losses = table(fms_yaml.replace("output_name: so", "out_name: so"))
    assert losses == [] and document["file"][0]["fields"][1]["name"] == "so"


def test_fms_yaml_that_is_none(table):
    pytest.importorskip("yaml")
    with pytest.raises(streams_import.ImportFailedError, match=r"table:\d: "):
        table("title: x\ndiag_files:\n- file_name: [\n  freq: 1\n", form="fms-yaml")
    with pytest.raises(streams_import.ImportFailedError, match="diag_files"):
        table("title: x\n")


# ---- XIOS

xios_fields = """\
  <field_definition prec="4" operation="average" freq_op="1ts">
   <field_group id="grid_T" grid_ref="grid_T_3D">
    <field id="toce" long_name="temperature" standard_name="sea_water_temperature" unit="degC"/>
    <field id="soce" unit="1e-3"/>
    <field id="e3t" unit="m"/>
    <field id="heat" unit="J"> toce * e3t </field>
    <field id="heat2" unit="J"> (heat + 1.5e3)^2 </field>
    <field id="late" > @toce * 2 </field>
   </field_group>
   <field_group id="surface" grid_ref="grid_T_2D">
    <field id="ssh" unit="m" operation="instant" />
    <field id="deep" unit="m" level="10" />
    <field id="area" operation="once" />
   </field_group>
  </field_definition>
"""


def xios(files, fields=xios_fields):
    head = '<?xml version="1.0"?>\n<simulation>\n <context id="ocean">\n'
    return f"{head}{fields}{files}\n </context>\n</simulation>\n"


def one_field(name):
    field = f'<field field_ref="{name}"/>'
    return f'<file_definition><file id="f" output_freq="1d">{field}</file></file_definition>'


def one_file(content, attributes='output_freq="1d"'):
    return xios(f'<file_definition>\n<file id="f" {attributes}>\n{content}\n</file>\n</file_definition>')


def test_xios_inheritance(table):
    document, _, losses = table(
        xios(
            """
  <file_definition type="one_file">
   <file_group id="daily" output_freq="1d" compression_level="2">
    <file id="f1" name="ocean_T" split_freq="1mo" split_freq_format="%y-%mo" time_units="days"
       description="means">
     <field field_ref="toce" name="thetao" />
     <field field_ref="soce" prec="8" />
     <field field_ref="heat" />
     <field_group operation="maximum"><field field_ref="ssh" name="zosmax" /></field_group>
     <variable name="contact" type="string">nobody</variable>
     <variable name="number" type="int">7</variable>
    </file>
    <file id="f2" output_freq="6h" enabled=".FALSE." compression_level="0">
     <field_group group_ref="surface" operation="minimum" />
    </file>
   </file_group>
  </file_definition>"""
        )
    )
    assert losses == []
    first = file_of(document, "ocean_T_%Y-%m-%EY-%Em.nc")
    assert first["every"] == "1 day" and first["new_file"] == "1 month" and first["time_units"] == "days"
    assert first["compression"] == "shuffle+deflate:2"
    assert first["attributes"] == {"description": "means", "contact": "nobody", "number": 7}
    assert first["operation"] == "mean" and first["type"] == "float"
    assert first["fields"] == [
        {"field": "toce", "name": "thetao", "long_name": "temperature",
         "standard_name": "sea_water_temperature", "units": "degC"},
        {"field": "soce", "type": "double", "units": "1e-3"},
        {"expression": "toce * e3t", "name": "heat", "units": "J"},
        {"field": "ssh", "name": "zosmax", "operation": "maximum", "units": "m"},
    ]  # fmt: skip
    second = file_of(document, "f2.nc")
    assert second["enabled"] is False and "compression" not in second and second["every"] == "6 h"
    # The group's own operation comes before that of the field which it refers to.
    assert second["operation"] == "minimum"
    assert [f if isinstance(f, str) else f["field"] for f in second["fields"]] == ["ssh", "area"]


@pytest.mark.parametrize(
    "length, expected",
    [
        ("1d", "1 day"),
        ("6h", "6 h"),
        ("1mo", "1 month"),
        ("1ts", "1 step"),
        ("3ts", "3 steps"),
        ("1y", "1 year"),
        ("1y6mo", "18 months"),
        ("1d6h", "30 h"),
        ("90mi", "90 min"),
        ("0.5h", "30 min"),
        ("1h 30mi", "90 min"),
        ("10s", "10 s"),
        ("0.25s", "0.25 s"),
    ],
)
def test_xios_lengths_of_time(table, length, expected):
    document, _, losses = table(one_file('<field field_ref="toce"/>', f'output_freq="{length}"'))
    assert losses == [] and document["file"][0]["every"] == expected


def test_xios_expressions_are_put_in(table):
    document, _, losses = table(
        one_file(
            '<field field_ref="heat2" name="h"/><field id="d" operation="instant"> -ssh / 2. </field>'
            '<field id="s" operation="average"> sqrt(toce^2+ ( soce ^2 )) </field>'
        )
    )
    assert losses == []
    fields = document["file"][0]["fields"]
    assert fields[0]["expression"] == "((toce * e3t) + 1.5e3) ** 2"
    assert fields[1] == {"expression": "- ssh / 2.", "name": "d", "operation": "instant"}
    assert fields[2]["expression"] == "sqrt(toce ** 2 + (soce ** 2))"


@pytest.mark.parametrize(
    "content, attributes, expected",
    [
        ('<field field_ref="late"/>', 'output_freq="1d"', "expression '@toce * 2'"),
        ('<field field_ref="area"/>', 'output_freq="1d"', "area: operation once"),
        ('<field field_ref="toce" operation="median"/>', 'output_freq="1d"', "toce: operation median"),
        ('<field field_ref="toce" freq_op="1d1mo"/>', 'output_freq="1y"', "toce: freq_op 1d1mo"),
        ('<field field_ref="ssh" freq_op="2ts"/>', 'output_freq="1d"', "ssh: freq_op 2ts"),
        ('<field field_ref="ssh" freq_op="7h"/>', 'output_freq="1d"', "ssh: freq_op 7h"),
        ('<field field_ref="toce" freq_offset="1ts"/>', 'output_freq="1d"', "toce: freq_offset 1ts"),
        ('<field field_ref="toce" grid_ref="other"/>', 'output_freq="1d"', "toce: grid_ref other"),
        ('<field field_ref="toce" prec="2"/>', 'output_freq="1d"', "toce: prec 2"),
        ('<field field_ref="toce" prec="2" add_offset="x"/>', 'output_freq="1d"', "toce: add_offset"),
        ('<field field_ref="toce" scale_factor="0.1"/>', 'output_freq="1d"', 'toce: scale_factor="0.1"'),
        ('<field field_ref="toce" colour="blue"/>', 'output_freq="1d"', 'toce: colour="blue"'),
        ('<field field_ref="toce"/>', 'output_freq="1mo2d"', "file f: output_freq 1mo2d"),
        ('<field field_ref="toce"/>', "", "file f: output_freq: it is missing"),
        ('<field field_ref="toce"/>', 'output_freq="1d" type="multiple_file"', "type multiple_file"),
        ('<field field_ref="toce"/>', 'output_freq="1d" sync_freq="1d"', 'sync_freq="1d"'),
        ('<field field_ref="toce"/>', 'output_freq="1d" mode="read"', "file f: the model reads"),
        ('<field field_ref="toce"/>', 'output_freq="1d" split_freq="1y" split_freq_format="%D"',
         "%D in split_freq"),
        ('<field field_ref="toce"/>', 'output_freq="1d" enabled="_AUTO_"', "file f: enabled _AUTO_"),
        ('<field field_ref="toce" enabled="maybe"/>', 'output_freq="1d"', "toce: enabled maybe"),
        ('<field field_ref="toce"/><thing/>', 'output_freq="1d"', "<thing> in a file"),
        ("", 'output_freq="1d"', "file f: it has no fields"),
        ('<field field_ref="toce"/><variable name="n" type="int">x</variable>', 'output_freq="1d"',
         "variable n"),
    ],
)  # fmt: skip
def test_xios_losses_have_lines(table, content, attributes, expected):
    _, _, losses = table(one_file(content, attributes))
    found = [loss for loss in losses if expected in loss]
    assert found and all(re.match(r"table:(20|21):", loss) for loss in found), losses


def test_xios_packed_fields(table):
    content = '<field field_ref="toce" name="a" prec="2" scale_factor="0.01" add_offset="20"/>'
    document, _, losses = table(one_file(content, 'output_freq="1d"'))
    entry = document["file"][0]["fields"][0]
    keys = {**document["file"][0], **entry}
    assert (keys["type"], keys["scale_factor"], keys["add_offset"]) == ("short", 0.01, 20.0)
    assert not any("prec" in loss or "scale" in loss for loss in losses)


def test_xios_levels_are_as_in_xios(table):
    document, remarks, losses = table(one_file('<field field_ref="deep"/><field field_ref="ssh"/>'))
    assert losses == [] and any("deep: its level 10 is above" in remark for remark in remarks)
    assert [field["field"] for field in document["file"][0]["fields"]] == ["ssh"]
    document, _, losses = table(one_file('<field field_ref="deep"/>', 'output_freq="1d" output_level="10"'))
    assert losses == [] and document["file"][0]["fields"][0]["field"] == "deep"


def test_xios_names_and_losses_that_all_files_have(table):
    files = """<file_definition name="@expname@_@freq@" type="multiple_file" sync_freq="1d" output_freq="1d">
<file id="f1" name_suffix="_T"><field field_ref="toce"/></file>
<file id="f2" name_suffix="_U"><field field_ref="ssh"/></file>
<file id="f3" name="own"><field field_ref="ssh"/></file>
</file_definition>"""
    document, _, losses = table(xios(files))
    names = [file["name"] for file in document["file"]]
    assert names == ["@expname@_@freq@_T.nc", "@expname@_@freq@_U.nc", "own.nc"]
    assert [re.match(r"table:\d+: (\S+)", loss)[1] for loss in losses] == [
        "@expname@,",
        "type",
        'sync_freq="1d"',
    ]


def test_xios_fields_of_a_group_keep_their_names(table):
    fields = xios_fields.replace(
        "  </field_definition>",
        """<field_group id="chosen"><field field_ref="toce" name="thetao" unit="K"/>
<field field_ref="soce"/><field field_ref="heat" name="ohc"/></field_group></field_definition>""",
    )
    files = '<file_definition><file id="f" output_freq="1d"><field_group group_ref="chosen"/></file>'
    document, _, losses = table(xios(files + "</file_definition>", fields))
    assert losses == []
    assert document["file"][0]["fields"] == [
        {"field": "toce", "name": "thetao", "units": "K", "long_name": "temperature",
         "standard_name": "sea_water_temperature"},
        {"field": "soce", "units": "1e-3"},
        {"expression": "toce * e3t", "name": "ohc", "units": "J"},
    ]  # fmt: skip


def test_xios_files_of_definitions(table, tmp_path):
    (tmp_path / "field_def.xml").write_text(xios_fields)
    document, _, losses = table(
        '<simulation>\n<context id="o">\n<field_definition src="./field_def.xml"/>\n<file_definition>\n'
        '<file name="a" output_freq="1d"><field field_ref="soce"/>\n<field field_ref="late"/></file>\n'
        "</file_definition></context></simulation>"
    )
    assert document["file"][0]["fields"] == [{"field": "soce", "units": "1e-3"}]
    assert len(losses) == 1
    with pytest.raises(streams_import.ImportFailedError, match=r"table:1: src=.missing.xml"):
        table('<context><field_definition src="missing.xml"/></context>')


@pytest.mark.parametrize(
    "text, expected",
    [
        (one_file('<field field_ref="tocce"/>'), r"table:21: there is no field 'tocce'"),
        (one_file('<field_group group_ref="T"/>'), r"table:21: there is no field_group 'T'"),
        ("<simulation><context>", r"table:1: "),
        ("<simulation/>", "there is no file"),
        (xios(one_field("a"),
              '<field_definition><field id="a" field_ref="b"/>'
              '<field id="b" field_ref="a"/></field_definition>'),
         "refers to itself"),
    ],
)  # fmt: skip
def test_xios_that_is_none(table, text, expected):
    with pytest.raises(streams_import.ImportFailedError, match=expected):
        table(text)


def test_xios_samples_missing_values_and_the_origin_of_time(table):
    calendar = '<calendar type="NoLeap" start_date="2001-01-01" time_origin="1900-01-01 00:00:00"/>'
    fields = (
        '<field field_ref="toce" freq_op="6h" default_value="1e20"/>'
        '<field field_ref="soce" default_value="-9" prec="2" scale_factor="0.1"/>'
        '<field field_ref="ssh" freq_op="1d"/><field field_ref="ssh" name="often" freq_op="6h"/>'
    )
    document, remarks, losses = table(
        one_file(fields).replace("<field_definition", calendar + "<field_definition", 1)
    )
    assert losses == []
    assert document["defaults"]["time_origin"] == "1900-01-01 00:00:00"
    toce, soce, ssh, often = document["file"][0]["fields"]
    assert toce["sample_every"] == "6 h" and toce["missing_value"] == 1e20
    assert "missing_value" not in soce and any("soce: default_value" in remark for remark in remarks)
    assert "sample_every" not in ssh and "sample_every" not in often  # instants: of the window's end
    _, _, losses = table(
        one_file("").replace("<field_definition", calendar.replace("1900-", "") + "<field_definition")
    )
    assert any("time_origin 01-01 00:00:00: it is no date" in loss for loss in losses)


@pytest.mark.parametrize(
    "when, expected", [("begin", "ocean_%Y_%m.nc"), ("end", "ocean_%EY_%Em.nc"), ("middle", "ocean_%Y_%m.nc")]
)
def test_fms_dates_of_the_end_in_names(table, when, expected):
    document, remarks, losses = table(
        fms(
            '"ocean%4yr%2mo", 1, "days", 1, "days", "time", 1, "months", "1900 3 1 0 0 0", 1, "months", '
            f'"{when}"',
            '"m", "temp", "temp", "ocean%4yr%2mo", "all", .true., "none", 2',
        )
    )
    assert losses == [] and document["file"][0]["name"] == expected
    assert any(f"filename_time {when}" in remark for remark in remarks) == (when != "begin")


def test_xios_origins_of_time_of_contexts(table):
    def context(name, origin):
        return f"""<context id="{name}"><calendar type="NoLeap" time_origin="{origin}"/>
<field_definition><field id="a" operation="average"/></field_definition>
<file_definition><file id="{name}" output_freq="1d"><field field_ref="a"/></file></file_definition>
</context>"""

    text = f"<simulation>{context('o', '1900-01-01')}{context('i', '1850-01-01 06:00:00')}</simulation>"
    document, _, losses = table(text)
    assert losses == [] and "defaults" not in document
    assert [file["time_origin"] for file in document["file"]] == ["1900-01-01", "1850-01-01 06:00:00"]


# ---- The command


def test_command(tmp_path):
    good = tmp_path / "diag_table"
    good.write_text(fms('"f", 1, "days", 1, "days", "time"', '"m", "x", "x", "f", "all", max, "none", 2'))
    out = tmp_path / "out.toml"
    done = run_program([*program, str(good), "-o", str(out)])
    assert done.returncode == 0, done.stdout + done.stderr
    assert tomllib.loads(out.read_text())["file"][0]["fields"] == ["x"]
    assert f"note: {good}:6: module m" in done.stderr
    # What is there stays, unless it is said.
    again = run_program([*program, str(good), "-o", str(out)])
    assert again.returncode == 2 and "--replace" in again.stderr
    assert run_program([*program, str(good), "-o", str(out), "--replace"]).returncode == 0

    bad = tmp_path / "bad"
    bad.write_text(fms('"f", 1, "days", 1, "days", "time"', '"m", "x", "x", "f", "all", max, "none", 4'))
    done = run_program([*program, str(bad)])
    assert done.returncode == 1 and tomllib.loads(done.stdout)
    assert f"{bad}:6: x: packing 4" in done.stderr and "1 thing has no counterpart" in done.stderr

    done = run_program([*program, str(tmp_path / "nothing")])
    assert done.returncode == 2 and "nothing" in done.stderr
    done = run_program([*program, str(good), "--from", "pio"])
    assert done.returncode == 2 and "fms-yaml" in done.stderr


def test_texts_of_toml():
    from shoal.streams_import.toml_text import value_text

    values = {"a": 'quotes " and \\ and \n and é and \x7f', "b c": [1, 2.5, True, "x"], "d": {"e": -1e30}}
    assert tomllib.loads("v = " + value_text(values))["v"] == values
    assert Path(streams_import.__file__).name == "__init__.py"
