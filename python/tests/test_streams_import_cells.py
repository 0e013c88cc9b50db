# SPDX-License-Identifier: BSD-3-Clause
"""shoal streams import: regions of FMS, and what XIOS does to fields between two grids."""

import re

import pytest
from test_streams_import import file_of, fms, fms_yaml, importer, one_file, xios, xios_fields

from shoal import streams_import


@pytest.fixture
def table(tmp_path):
    return importer(tmp_path)


# ---- FMS


@pytest.mark.parametrize(
    "region, keys, noted, lost",
    [
        ("140.5 140.5 10 10 -1 -1", {"at": {"lon": 140.5, "lat": 10.0}}, "land too", None),
        ("140.5 140.5 -10 10 -1 -1", {"section": {"lon": [140.5, 140.5], "lat": [-10.0, 10.0]}},
         "called section", None),
        ("130 280 0 0 -1 -1", {"section": {"lon": [130.0, 280.0], "lat": [0.0, 0.0]}},
         "called section", None),
        ("-1 -1 -10 10 -1 -1", {"region": {"lat": [-10.0, 10.0]}}, "lie between", None),
        ("-999 -999 -10 10 0 0", {"region": {"lat": [-10.0, 10.0]}}, "lie between", None),
        ("-1 -1 -1 -1 5 50", {"region": {"lev": [5.0, 50.0]}}, None, None),
        ("-1 -1 0 0 -1 -1", {}, None, "section = { lon = [first, last], lat = [0.0, 0.0] }"),
        ("130 140 0 5 10 10", {"region": {"lon": [130.0, 140.0], "lat": [0.0, 5.0]}}, None,
         "levels 10.0 to 10.0: FMS takes the one nearest to it"),
        ("130 130 0 0 10 50", {"at": {"lon": 130.0, "lat": 0.0}}, None,
         "levels 10.0 to 50.0: places and lines have all levels"),
    ],
)  # fmt: skip
def test_fms_points_and_lines(table, region, keys, noted, lost):
    document, remarks, losses = table(
        fms('"f", 1, "days", 1, "days", "time"', f'"m", "x", "x", "f", "all", "mean", "{region}", 2')
    )
    (file,) = document["file"]
    assert {key: file[key] for key in file if key in ("at", "section", "region", "indices")} == keys
    assert noted is None or any(f"table:6: x: region '{region}'" in r and noted in r for r in remarks)
    assert losses == [] if lost is None else (len(losses) == 1 and lost in losses[0])


def test_fms_regions_of_the_same_fields(table):
    north, south = "130 140 0 5 -1 -1", "130 140 -5 0 -1 -1"

    def line(field, name, region):
        return f'"m", "{field}", "{name}", "f", "all", "mean", "{region}", 2\n'

    def document_of(*lines):
        document, remarks, losses = table(fms('"f", 1, "days", 1, "days", "time"', "".join(lines)))
        assert losses == []
        return document["file"], remarks

    lines = [
        line("t", "t_north", north),
        line("s", "so_north", north),
        line("t", "t_south", south),
        line("s", "so_south", south),
    ]
    (file,), remarks = document_of(*lines)
    assert file["regions"] == {
        "north": {"lon": [130.0, 140.0], "lat": [0.0, 5.0]},
        "south": {"lon": [130.0, 140.0], "lat": [-5.0, 0.0]},
    }
    assert file["fields"] == ["t", {"field": "s", "name": "so"}] and file["operation"] == "mean"
    assert any("table:6: regions north, south: names of variables end" in remark for remark in remarks)
    # Not with other fields, or with names that are no such ones.
    whole, part = document_of(line("t", "t", "none"), *lines)[0]
    assert "regions" not in whole and "regions" in part
    for others in (
        lines[:3],
        [lines[0], line("t", "tsouth", south)],
        [lines[0], line("u", "u_south", south)],
    ):
        assert ["regions" in file for file in document_of(*others)[0]] == [False, False]


@pytest.mark.parametrize(
    "corners, keys, losses",
    [
        (["-80, 10"] * 4, {"at": {"lon": -80.0, "lat": 10.0}}, 1),  # of its levels
        (["-80, 0", "-80, 75", "-80, 0", "-80, 75"],
         {"section": {"lon": [-80.0, -80.0], "lat": [0.0, 75.0]}}, 1),
    ],
)  # fmt: skip
def test_fms_yaml_points_and_lines(table, corners, keys, losses):
    pytest.importorskip("yaml")
    text = fms_yaml
    for number, corner in enumerate(("-80, 0", "-80, 75", "-60, 0", "-60, 75")):
        text = text.replace(f"    corner{number + 1}: {corner}", f"    corner{number + 1}: {corners[number]}")
    document, _, lost = table(text)
    box = file_of(document, "box.nc")
    assert {key: box[key] for key in box if key in ("at", "section", "region")} == keys
    assert len(lost) == losses and "37: temp: zbounds: levels 0.0 to 100.0" in lost[0]
    document, _, lost = table(text.replace("    zbounds: 100 0\n", ""))
    assert lost == [] and keys.items() <= file_of(document, "box.nc").items()


# ---- XIOS

xios_grids = """
  <axis_definition>
   <axis id="depth" n_glo="31" />
   <axis id="upper" axis_ref="depth"> <zoom_axis begin="0" n="3" /> </axis>
   <axis id="some" axis_ref="depth"> <extract_axis index="(0,2)[ 1 4 9]" /> </axis>
   <axis id="unsaid" axis_ref="depth"> <zoom_axis id="unsaid" /> </axis>
   <axis id="std" name="z_std" n_glo="3" value="(0, 2)[10. 100. 500.]">
    <interpolate_axis type="polynomial" order="1" />
   </axis>
   <axis id="plev" n_glo="2" value="(0,1)[85000 20000]"> <interpolate_axis coordinate="pressure" /> </axis>
   <axis id="plev1" axis_ref="plev"> <zoom_axis index="(0,0)[1]" /> </axis>
   <axis id="plev_heat" n_glo="1" value="(0,0)[10]"> <interpolate_axis coordinate="heat" /> </axis>
   <axis id="curved" n_glo="1" value="(0,0)[10]"> <interpolate_axis order="2" /> </axis>
   <axis id="empty" n_glo="2"> <interpolate_axis /> </axis>
  </axis_definition>
  <domain_definition>
   <domain id="T" />
   <domain id="box" domain_ref="T"> <zoom_domain ibegin="10" ni="5" jbegin="20" nj="1" /> </domain>
   <domain id="part" domain_ref="T"> <extract_domain ibegin="0" ni="2" jbegin="3" nj="4" /> </domain>
   <domain id="EqT" domain_ref="T"> <zoom_domain id="EqT" /> </domain>
   <domain id="coarse" domain_ref="T"> <interpolate_domain /> </domain>
   <domain id="old" domain_ref="T" zoom_ibegin="1" zoom_ni="5" />
  </domain_definition>
  <grid_definition>
   <grid id="grid_T_2D"> <domain domain_ref="T" /> </grid>
   <grid id="grid_T_3D"> <domain id="T" /> <axis axis_ref="depth" /> </grid>
   <grid id="same"> <domain domain_ref="T" /> <axis id="depth" /> </grid>
   <grid id="row"> <domain domain_ref="T" /> <scalar> <extract_axis position="2" /> </scalar> </grid>
   <grid id="sums"> <domain domain_ref="T" /> <scalar> <reduce_axis operation="sum" /> </scalar> </grid>
   <grid id="zonal"> <axis> <reduce_domain operation="average" direction="jDir" /> </axis>
    <axis axis_ref="depth" /> </grid>
   <grid id="line"> <axis> <extract_domain direction="iDir" position="7" /> </axis>
    <axis axis_ref="depth" /> </grid>
"""
for _name in ("upper", "some", "unsaid", "std", "plev", "plev1", "plev_heat", "curved", "empty"):
    xios_grids += f'<grid id="g_{_name}"> <domain domain_ref="T" /> <axis axis_ref="{_name}" /> </grid>\n'
for _name in ("box", "part", "EqT", "coarse", "old", "elsewhere"):
    xios_grids += f'<grid id="g_{_name}"> <domain domain_ref="{_name}" /> <axis axis_ref="depth" /> </grid>\n'
xios_grids += "</grid_definition>\n"


def with_grids(text):
    return text.replace("<file_definition", xios_grids + "<file_definition")


def cells_of(table, grid, field="toce", more="", name="a"):
    """Keys of the file of a field on this grid, and what was lost."""
    content = f'{more}<field field_ref="{field}" name="{name}" grid_ref="{grid}"/>'
    document, remarks, losses = table(
        one_file(content).replace("<file_definition", xios_grids + "<file_definition")
    )
    found = next(f for f in document["file"] if name in [e.get("name") for e in f["fields"] if e != str(e)])
    keys = ("indices", "levels", "interpolate", "reduce", "region", "at", "section")
    return {key: found[key] for key in found if key in keys}, losses


@pytest.mark.parametrize(
    "grid, keys",
    [
        ("same", {}),
        ("g_upper", {"levels": [0, 1, 2]}),
        ("g_some", {"levels": [1, 4, 9]}),
        ("row", {"levels": [2]}),
        ("g_std", {"interpolate": {"to": [10.0, 100.0, 500.0], "name": "z_std"}}),
        ("g_plev", {"interpolate": {"to": [85000.0, 20000.0], "levels": "pressure", "name": "plev"}}),
        ("g_box", {"indices": {"x": [10, 15], "y": [20, 21]}}),
        ("g_part", {"indices": {"x": [0, 2], "y": [3, 7]}}),
        ("line", {"indices": {"y": [7, 8]}}),
        ("sums", {"reduce": {"dims": ["depth"], "operation": "sum", "weights": "none"}}),
        ("zonal", {"reduce": {"dims": ["x"], "operation": "mean", "weights": "none"}}),
    ],
)
def test_xios_cells(table, grid, keys):
    found, losses = cells_of(table, grid)
    assert losses == [] and found == keys


@pytest.mark.parametrize(
    "domain, expected",
    [
        ('<domain id="T" />', {"lon": [10, 15], "lat": [20, 21]}),
        ('<domain id="T" dim_i_name="xi" dim_j_name="eta" />', {"xi": [10, 15], "eta": [20, 21]}),
        ('<domain id="T" type="unstructured" />', {"lon": [10, 15]}),
    ],
)
def test_xios_names_of_dimensions(table, domain, expected):
    text = with_grids(one_file('<field field_ref="toce" grid_ref="g_box"/>'))
    document, remarks, losses = table(
        text.replace('<domain id="T" />', domain, 1), names=streams_import.Names(x="lon", y="lat")
    )
    assert losses == [] and document["file"][0]["indices"] == expected
    assert any(f"toce: dimensions {', '.join(expected)}" in remark for remark in remarks)


@pytest.mark.parametrize(
    "grid, expected",
    [
        ("g_unsaid", "<zoom_axis> has no levels"),
        ("g_plev1", "axis 'plev1' has transformations, and so has what it refers to"),
        ("g_plev_heat", "the levels are 'heat', an expression"),
        ("g_curved", "<interpolate_axis> is linear here (order 1)"),
        ("g_empty", "axis 'empty' has no values in the XML"),
        ("g_EqT", "<zoom_domain> has no ibegin and ni, which the model may set"),
        ("g_coarse", "<interpolate_domain> is done to no domain here"),
        ("g_old", "zoom_ibegin is of XIOS 1"),
        ("g_elsewhere", "the XML does not say what domain 'elsewhere' is"),
        ("nowhere", "the XML does not say what this grid is"),
        ("grid_T_2D", "the grids have 2 and 1 domains, axes and scalars"),
    ],
)
def test_xios_cells_that_are_lost(table, grid, expected):
    found, losses = cells_of(table, grid)
    assert found == {} and len(losses) == 1
    assert re.match(rf"table:\d+: a: grid_ref {grid}: ", losses[0]) and expected in losses[0]


def test_xios_cells_joined_before_an_operation_over_time(table):
    definition = '<field id="top" field_ref="toce" operation="maximum" grid_ref="sums"/>'
    found, losses = cells_of(table, "sums", "top", f'<field_group enabled="true">{definition}</field_group>')
    assert found == {} and all("sum of cells after maximum is something else" in loss for loss in losses)


def test_xios_cells_of_references_in_a_row(table):
    """Each reference on another grid adds what it does; expressions are of fields on the model's grid."""
    fields = xios_fields.replace(
        '<field id="late"',
        """<field id="upper_heat" field_ref="heat" grid_ref="g_upper"/>
<field id="heat_sum" field_ref="upper_heat" grid_ref="sums"/>
<field id="on_plev" field_ref="toce" grid_ref="g_plev"/>
<field id="on_plev1" field_ref="on_plev" grid_ref="g_plev1_alone"/>
<field id="scaled"> heat_sum * 2 </field>
<field id="late\"""",
    )
    grids = xios_grids.replace(
        "</axis_definition>",
        '<axis id="one"> <zoom_axis index="(0,0)[1]"/> </axis></axis_definition>',
    ).replace(
        "</grid_definition>",
        '<grid id="g_plev1_alone"> <domain id="T"/> <axis axis_ref="one"/> </grid></grid_definition>',
    )
    content = "".join(
        f'<field field_ref="{name}"/>' for name in ("toce", "heat_sum", "on_plev1", "scaled", "upper_heat")
    )
    files = f'<file_definition><file id="f" output_freq="1d">{content}</file></file_definition>'
    document, remarks, losses = table(xios(grids + files, fields))
    names = ["f.nc", "f_sums.nc", "f_g_plev1_alone.nc", "f_g_upper.nc"]
    assert [file["name"] for file in document["file"]] == names
    whole, sums, plev, upper = document["file"]
    assert not {"levels", "reduce", "interpolate"} & set(whole)
    assert sums["levels"] == upper["levels"] == [0, 1, 2] and sums["reduce"]["dims"] == ["depth"]
    assert sums["fields"][0]["expression"] == "toce * e3t"
    assert plev["interpolate"] == {"to": [20000.0], "levels": "pressure", "name": "plev"}
    assert len(losses) == 1 and "heat_sum is on another grid" in losses[0]
    assert any(
        "other cells of heat_sum: cells are chosen for a file, so it is f_sums.nc" in r for r in remarks
    )
