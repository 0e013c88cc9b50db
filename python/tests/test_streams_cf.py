# SPDX-License-Identifier: BSD-3-Clause
"""Files of streams follow CF: what others' checkers say of them, compliance-checker and cfchecks."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import shoal

STEP = 6 * 3600

DAILY = 'every = "1 day"\noperation = "mean"\n'

# One table each for what CF has conventions of. The fields are those of the model below.
FILES = {
    "means": 'every = "1 day"\noperation = "mean"\nfields = ["temp", "zeta", "heat", "salt"]\n',
    "instants": 'every = "12 h"\noperation = "instant"\nfields = ["temp", "zeta"]\n',
    "extremes": """every = "1 day"
fields = [
  { field = "zeta", name = "zeta_max", operation = "maximum" },
  { field = "zeta", name = "zeta_min", operation = "minimum" },
  { field = "zeta", name = "zeta_range", operation = "range" },
  { field = "zeta", name = "zeta_var", operation = "variance" },
  { field = "zeta", name = "zeta_std", operation = "standard_deviation" },
  { field = "zeta", name = "zeta_rms", operation = "rms" },
  { field = "zeta", name = "zeta_first", operation = "first" },
  { field = "zeta", name = "zeta_last", operation = "last" },
  { field = "heat", name = "heat_sum", operation = "sum" },
  { field = "zeta", name = "zeta_count", operation = "count" },
  { field = "temp", name = "temp_var", operation = "variance" },
]
""",
    "both": """every = "1 day"
fields = [
  { field = "zeta", operation = "instant" },
  { field = "zeta", name = "zeta_mean", operation = "mean" },
]
""",
    "monthly_%Y-%m": 'every = "10 days"\nnew_file = "1 month"\noperation = "mean"\nfields = ["zeta"]\n',
    "months": 'every = "1 month"\nclimatology = true\noperation = "mean"\nfields = ["temp", "zeta"]\n',
    "seasons": """every = "3 months"
offset = "-1 month"
climatology = true
operation = "maximum"
fields = ["zeta"]
""",
    "day": 'every = "10 days"\noperation = "diurnal(4)"\nfields = ["zeta"]\n',
    "region": DAILY + 'fields = ["temp", "zeta"]\nregion = { lat = [10.0, 40.0], lon = [350.0, 20.0] }\n',
    "curved_region": DAILY + 'fields = ["salt"]\nregion = { nav_lat = [41.0, 43.5] }\n',
    "levels": DAILY + 'fields = ["temp", "salt"]\nlevels = [0, 2]\n',
    "global_mean": DAILY + 'fields = ["zeta", "temp"]\nreduce = { dims = ["lat", "lon"] }\n',
    "heat_content": DAILY + 'fields = ["temp"]\nreduce = { dims = ["lev", "lat", "lon"] }\n',
    "zonal": DAILY + 'fields = ["temp"]\nreduce = { dims = ["lon"], operation = "maximum" }\n',
    "column": DAILY + 'fields = ["salt"]\nreduce = { dims = ["lev"], operation = "sum" }\n',
    "made": DAILY + 'fields = [{ expression = "zeta * 2", name = "made", attributes = { units = "m" } }]\n',
    "mesh": DAILY + 'fields = ["bottom"]\n',
    "stations": DAILY
    + 'fields = ["zeta"]\nat = [{ name = "a", lon = 20, lat = 11 }, { lon = -90, lat = 30 }]\n',
    "profiles": DAILY + 'fields = ["temp"]\nat = { lon = 20, lat = 11 }\n',
    "curved_profiles": DAILY + 'fields = ["salt"]\nat = { nav_lon = 12, nav_lat = 41.2 }\n',
    "mesh_station": DAILY + 'fields = ["bottom"]\nat = { mesh_lon = 3, mesh_lat = 3.1 }\n',
    "section": DAILY + 'fields = ["temp", "zeta"]\nsection = { lon = [0, 180], lat = [10, 40] }\n',
    "regions": DAILY
    + """fields = ["temp", "zeta"]
regions = { north = { lat = [30, 60] }, south = { lat = [0, 29], lon = [350, 100] } }
""",
    "curved_regions": DAILY
    + """fields = ["salt"]
regions = { up = { nav_lat = [41.0, 43.5] }, down = { nav_lat = [38, 41] } }
""",
    "keys": DAILY
    + """sample_every = "12 h"
time_origin = "1900-01-01"
time_units = "days"
fields = [
  { field = "zeta", long_name = "height", units = "cm", missing_value = 1e20 },
  { field = "temp", name = "t", missing_value = -1e4, type = "double" },
]
""",
    "depths": DAILY + 'fields = ["temp"]\ninterpolate = { to = [7, 20, 50] }\n',
    "fms": DAILY + 'fms_attributes = true\nfields = ["zeta"]\n',
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The folder of the files."""
    folder = tmp_path_factory.mktemp("cf")
    text = '[defaults]\nunfinished = "write"\ncommit = "close"\n'
    for name, table in FILES.items():
        text += f'[[file]]\nname = "{folder}/{name}.nc"\n{table}'
    before = os.environ.pop("SHOAL_STREAMS", None)
    try:
        run(text)
    except shoal.NotSupportedError as error:
        pytest.skip(str(error))
    finally:
        if before is not None:
            os.environ["SHOAL_STREAMS"] = before
    return folder


def run(text):
    """Forty days of a model that describes itself as CF asks."""
    lengths = {"lat": 6, "lon": 8}
    sea = shoal.Decomposition.block(None, lengths)
    sea = sea.masked(np.arange(48).reshape(6, 8) % 7 != 3)
    curved = shoal.Decomposition.block(None, {"y": 4, "x": 5})
    mesh = shoal.Decomposition.map(None, {"cell": 9}, np.arange(9)[::-1].copy())
    with shoal.Streams.open(text, start="2001-01-15 06:00:00", calendar="noleap") as streams:
        for name, value in {
            "title": "a run of a test",
            "institution": "none",
            "source": "a model of a test",
            "references": "none",
            "comment": "no physics",
            "history": "made by a test",
        }.items():
            streams.put_att(None, name, value)
        depth = {
            "units": "m",
            "positive": "down",
            "axis": "Z",
            "standard_name": "depth",
            "long_name": "depth",
        }
        streams.axis("lev", [5.0, 20.0, 60.0], [[0, 10], [10, 30], [30, 90]], attrs=depth)
        north = {"units": "degrees_north", "axis": "Y", "standard_name": "latitude", "long_name": "latitude"}
        lat = np.arange(6) * 10.0
        streams.axis("lat", lat, np.stack([lat - 5, lat + 5], 1), attrs=north)
        east = {"units": "degrees_east", "axis": "X", "standard_name": "longitude", "long_name": "longitude"}
        lon = np.arange(8) * 45.0
        streams.axis("lon", lon, np.stack([lon - 22.5, lon + 22.5], 1), attrs=east)
        streams.grid("sea", sea)
        about = {"units": "m2", "long_name": "area of cells"}
        streams.area(
            "sea", "cell_area", np.broadcast_to(np.cos(np.radians(lat))[:, None], (6, 8)), attrs=about
        )
        streams.grid("curved", curved)
        y, x = np.ix_(range(4), range(5))
        of_lat, of_lon = ({k: v for k, v in a.items() if k != "axis"} for a in (north, east))
        streams.coordinate("curved", "nav_lat", 40.0 + y - 0.1 * x, attrs=of_lat)
        streams.coordinate("curved", "nav_lon", 10.0 + x + 0.1 * y, attrs=of_lon)
        streams.grid("mesh", mesh)
        streams.coordinate("mesh", "mesh_lat", np.arange(9.0), attrs=of_lat)
        streams.coordinate("mesh", "mesh_lon", np.arange(9.0), attrs=of_lon)

        def field(name, dims, grid, units, standard_name, **more):
            attrs = {"units": units, "standard_name": standard_name, "long_name": f"{name} of the test"}
            return streams.field(name, "f4", dims, grid, attrs=attrs, **more)

        field("temp", "lev lat lon", "sea", "degC", "sea_water_temperature")
        field("zeta", "lat lon", "sea", "m", "sea_surface_height_above_geoid")
        streams.put_att("zeta", "_FillValue", np.float32(-1e30))
        field("heat", "lat lon", "sea", "W m-2", "surface_downward_heat_flux_in_sea_water", holds="step")
        field("salt", "lev y x", "curved", "1e-3", "sea_water_practical_salinity")
        field("bottom", "cell", "mesh", "m", "sea_floor_depth_below_geoid")
        random = np.random.default_rng(1)
        for step in range(1, 161):
            streams.advance(STEP * step)
            streams.send("temp", random.normal(10, 1, (3, 6, 8)))
            streams.send("zeta", random.normal(0, 1, (6, 8)))
            streams.send("heat", random.normal(0, 100, (6, 8)))
            streams.send("salt", random.normal(35, 1, (3, 4, 5)))
            streams.send("bottom", random.normal(4000, 1, 9))


def checker(name, package):
    """The path of a program, beside this Python or on the path."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: python3 -m pip install {package}")
    return found


def ask(command, folder):
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL
    )


def paths_of(folder):
    paths = sorted(path.name for path in folder.glob("*.nc"))
    assert len(paths) == len(FILES) + 1  # two of the months
    return paths


def unknown(findings, known):
    return [finding for finding in findings if not any(re.search(pattern, finding) for pattern in known)]


# What the checkers do not know of CF 1.8.
OF_COMPLIANCE_CHECKER = [
    # Appendix E: a variance has the square of the units.
    r"extremes\.nc: Units .* for variable (zeta|temp)_var must be convertible to canonical units",
    # 7.1: bounds have one dimension more than their coordinate, those of a scalar coordinate (5.7) one.
    r"(column|heat_content|zonal)\.nc: Boundary variable (lev|lon)_bounds .* at least two dimensions",
    # 5.2: dimensions of coordinates in two dimensions need no coordinates of their own.
    r"\.nc: salt's spatio-temporal dimensions .* time \(L, unlimited\), lev \(Z\), y\w* \(A\), x\w* \(A\)",
    r"salt_(up|down)'s spatio-temporal dimensions .* lev \(Z\), y\w* \(A\), x\w* \(A\)",
    # 2.4: others are left of time where that is possible; records are of the first dimension.
    r"(profiles|section)\.nc: .*'s spatio-temporal dimensions .* lev \(Z\), (station|section) \([IU]\)",
    # The name of CF's own example 7.10; the attribute that points to it is `climatology`, not `bounds`.
    r"(months|seasons)\.nc: climatology_bounds might be a cell boundary variable",
]
OF_CFCHECKS = [
    # Methods that Appendix E has since CF 1.7.
    r"extremes\.nc: ERROR: \(7\.3\): Invalid cell_method: (range|root_mean_square)$",
    # 7.3: names of scalar coordinates are taken, too.
    r"(column|heat_content|zonal)\.nc: ERROR: \(7\.3\): Invalid 'name' in cell_methods attribute: (lev|lon)$",
    # 9.5: there is one; it counts those of the files before, too.
    r"CF Files containing timeSeries\w* featureType (should only include|may contain) .* of a cf_role",
]


def test_compliance_checker_finds_nothing(files):
    """By hand: compliance-checker --test cf:1.8 --criteria strict FILE."""
    program = checker("compliance-checker", "compliance-checker")
    options = ["--test", "cf:1.8", "--criteria", "strict", "--format", "json_new", "--output", "found.json"]
    result = ask([program, *options, *paths_of(files)], files)
    answers = files / "found.json"
    assert answers.exists(), result.stdout + result.stderr
    found = []
    for path, of_tests in json.loads(answers.read_text()).items():
        for answer in of_tests.values():
            assert answer["possible_points"] > 50
            for level in ("high", "medium", "low"):
                for check in answer[f"{level}_priorities"]:
                    found += [f"{Path(path).name}: {message}" for message in check["msgs"]]
    assert unknown(found, OF_COMPLIANCE_CHECKER) == []


def test_cfchecks_finds_nothing(files):
    """By hand: cfchecks -v auto FILE. It gets the tables of CF from the network; those of compliance-checker
    are taken here, where it is installed."""
    program = checker("cfchecks", "cfchecker")
    command = [program, "-v", "auto"]
    if spec := importlib.util.find_spec("compliance_checker"):
        names = Path(spec.origin).parent / "data" / "cf-standard-name-table.xml"
        if names.exists():
            empty = files / "no_names.xml"  # no file names an area type or a region
            empty.write_text("<table><version_number>0</version_number><date>2000-01-01</date></table>")
            command += ["-s", names, "-a", empty, "-r", empty]
    paths = paths_of(files)
    result = ask([*command, *paths], files)
    for sign, reason in {
        "URLError": "cfchecks could not get the tables of CF from the network",
        "UDUNITS": "cfchecks needs the library of UDUNITS-2 (Debian: libudunits2-0)",
    }.items():
        if sign in result.stderr + result.stdout:
            pytest.skip(reason)
    lines = result.stdout.splitlines()
    assert sum(line.startswith("ERRORS detected:") for line in lines) == len(paths), (
        result.stdout + result.stderr
    )
    found, path = [], ""
    for line in lines:
        if line.startswith("CHECKING NetCDF FILE:"):
            path = Path(line.split(":", 1)[1].strip()).name
        elif line.startswith(("ERROR:", "WARN:", "FATAL:")):
            found.append(f"{path}: {line}")
    assert unknown(found, OF_CFCHECKS) == []
