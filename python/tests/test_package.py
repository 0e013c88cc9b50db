# SPDX-License-Identifier: BSD-3-Clause
"""The package itself: stubs that fit, links that are found, guide that runs."""

import ast
import re
from pathlib import Path

import pytest

import shoal
from shoal import _shoal

folder = Path(shoal.__file__).parent
guide = Path(__file__).resolve().parents[2] / "docs" / "guide" / "python.md"


def test_stub_fits_the_module():
    tree = ast.parse((folder / "_shoal.pyi").read_text())
    assert (folder / "py.typed").exists()
    names = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            names.add(node.name)
            found = {name for name in vars(getattr(_shoal, node.name)) if not name.startswith("_")}
            assert {n.name for n in node.body if isinstance(n, ast.FunctionDef)} == found
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
    assert names == {name for name in dir(_shoal) if not name.startswith("_")}


def test_versions_and_build():
    assert shoal.__version__ == shoal.version()
    parts = (shoal.VERSION_MAJOR, shoal.VERSION_MINOR, shoal.VERSION_PATCH)
    assert ".".join(map(str, parts)) == shoal.version()
    assert shoal.VERSION_NUMBER == 10000 * parts[0] + 100 * parts[1] + parts[2]
    info = shoal.build_info()
    assert info["version"] == shoal.version()
    assert {"mpi", "hdf5", "drivers", "formats", "filters", "filters_absent", "object_stores"} <= set(info)
    assert info["driver_mpiio"].split("; ") == ["cdf1 cdf2 cdf5 raw", "collective independent"]
    named = [part.split()[0] for part in f"{info['filters']}, {info['filters_absent']}".split(", ")]
    assert sorted(set(named) - {"none"}) == [
        *("blosc", "crc32c", "deflate", "fletcher32", "gzip", "lz4", "shuffle", "zstd"),
    ]
    assert set(shoal.__all__) <= set(dir(shoal))


def test_every_public_call_says_whether_it_is_collective():
    for cls in (shoal.Dataset, shoal.Decomposition):
        for name, member in vars(cls).items():
            if name.startswith("_") or not callable(getattr(member, "__func__", member)):
                continue
            text = getattr(member, "__func__", member).__doc__ or ""
            assert re.search(r"\b(Collective|Local)\b", text), f"{cls.__name__}.{name}"


def test_import_starts_no_mpi(python):
    python(
        "import shoal, sys; assert 'mpi4py.MPI' not in sys.modules; assert not shoal._shoal.mpi_is_running()"
    )


def test_another_mpi_is_refused(python):
    """Communicators of another MPI would crash: the versions are compared first."""
    code = """
import shoal
from shoal import _library
class Other:
    mpi_library = staticmethod(lambda: 'MPICH 9')
    mpi_is_running = staticmethod(lambda: True)
_library._shoal = Other
try:
    shoal.create('a.nc')
except shoal.MPIError as error:
    assert 'MPICH 9' in str(error) and 'mpi4py' in str(error)
else:
    raise SystemExit('not refused')
"""
    python(code)


def test_nothing_is_loaded_for_everybody(python):
    """The extension and its libraries stay out of the global scope."""
    python("import shoal, ctypes; assert not hasattr(ctypes.CDLL(None), 'shoal_create')")


@pytest.mark.skipif(not guide.exists(), reason="the guide is not part of this installation")
@pytest.mark.parametrize("ranks", [1, 4])
def test_programs_of_the_guide_run(tmp_path, mpirun, ranks):
    programs = re.findall(r"```python\n(.*?)```", guide.read_text(encoding="utf-8"), re.S)
    assert len(programs) >= 5
    program = tmp_path / "guide.py"
    program.write_text(f"import os\nos.chdir({str(tmp_path)!r})\n" + "\n".join(programs), encoding="utf-8")
    mpirun(ranks, program)
