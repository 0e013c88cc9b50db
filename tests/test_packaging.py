# SPDX-License-Identifier: BSD-3-Clause
"""The recipes of packaging/ held against the build: they name what it looks for, and set options that exist.

Needs nothing that is built. Package managers themselves are asked by hand (packaging/README.md)."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
import types
from contextlib import contextmanager
from pathlib import Path

import pytest

top = Path(__file__).resolve().parents[1]

# What the build looks for, and a part of the name that recipes have for it; None: of the system, or optional.
names = {
    "MPI": "mpi",
    "HDF5": "hdf5",
    "fmt": "fmt",
    "utf8proc.h": "utf8proc",
    "nlohmann/json.hpp": "json",
    "toml++/toml.h": "toml",
    "CLI/CLI.hpp": "cli11",
    "libdeflate": "libdeflate",
    "zstd": "zstd",
    "lz4": "lz4",
    "blosc": "blosc",
    "muParser.h": "muparser",
    "curl/curl.h": "curl",
    "openssl/evp.h": "ssl",
    "expat.h": "expat",
    "Threads": None,
    "PkgConfig": None,  # finds what is optional
    "hdf5.h": None,  # HDF5 again
    "pnetcdf.h": None,  # drivers of other libraries are optional
    "netcdf_par.h": None,
    "shoal": None,  # itself, in shoalConfig.cmake
}
recipes = (
    "packaging/spack/package.py",
    "packaging/easybuild/Shoal-0.2.0-gompi-2024a.eb",
    "packaging/debian/control",
    "packaging/conda/recipe/recipe.yaml",
    "packaging/docker/Dockerfile",
    "packaging/apptainer/shoal.def",
    "docs/install.md",
    "tools/install-deps.sh",
)
# Where options are set, beside Spack's.
setting = (recipes[1], "packaging/debian/rules", *recipes[3:6])


def source(path: str) -> str:
    return (top / path).read_text(encoding="utf-8")


def cmake_files() -> str:
    files = [
        top / "CMakeLists.txt",
        *sorted((top / "cmake").glob("*.cmake")),
        *sorted(top.glob("src/**/CMakeLists.txt")),
    ]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def looked_for() -> set[str]:
    """Packages, headers and codecs that CMake looks for."""
    text = cmake_files()
    found = set(re.findall(r"find_package\((\w+)", text))
    found |= set(re.findall(r"find_path\(\w+\s+([\w./+]+\.h(?:pp)?)\b", text))
    found |= set(re.findall(r"shoal_header_library\(\w+ (\S+)", text))
    for codecs in re.findall(r"foreach\(codec ([\w ]+)\)", text):
        found |= set(codecs.split())
    return found


def test_all_that_cmake_looks_for_is_known_here():
    assert looked_for() == set(names), (
        "what is new, or gone, in CMake's files is so in `names` and in the recipes"
    )


@pytest.mark.parametrize("recipe", recipes)
def test_recipes_name_what_cmake_looks_for(recipe):
    text = re.sub(r"^\s*#.*", "", source(recipe), flags=re.M).lower()
    missing = [part for part in names.values() if part and part not in text]
    assert not missing, f"{recipe} does not name {missing}"


def options_of_cmake() -> set[str]:
    python = [top / "python/CMakeLists.txt", *sorted((top / "python/cmake").glob("*.cmake"))]
    text = cmake_files() + "".join(path.read_text(encoding="utf-8") for path in python)
    found = set(re.findall(r"SHOAL_[A-Z_0-9]+\b", text))
    in_loops = ("LIBDEFLATE", "ZSTD", "LZ4", "BLOSC", "PNETCDF", "NETCDF")
    return found | {f"SHOAL_{name}" for name in in_loops}


@pytest.mark.parametrize("recipe", setting)
def test_options_of_recipes_exist(recipe):
    given = set(re.findall(r"-D(SHOAL_\w+)=", source(recipe)))
    assert given and given <= options_of_cmake()


class Directives:
    """Spack's words, as far as the recipe has them: noted, and not understood."""

    def __init__(self):
        self.dependencies: dict[str, dict] = {}
        self.variants: dict[str, str] = {}  # and of which other one they are
        self.conditions: list[str] = []

    def depends_on(self, spec: str, **more):
        more["when"] = " ".join([*self.conditions, more.get("when", "")])
        self.dependencies[re.split("[@+]", spec)[0]] = more

    @contextmanager
    def when(self, condition: str):
        self.conditions.append(condition)
        yield
        self.conditions.pop()

    def names(self) -> dict[str, object]:
        def nothing(*_, **__):
            pass

        def variant(name: str, default: bool, description: str, when: str = ""):
            self.variants[name] = when

        return {
            "depends_on": self.depends_on,
            "extends": self.depends_on,
            "when": self.when,
            "variant": variant,
            **{word: nothing for word in ("license", "version", "conflicts")},
            "python": types.SimpleNamespace(path="/python"),
            "python_platlib": "/platlib",
            "__all__": [
                *("depends_on", "extends", "when", "variant", "license", "version", "conflicts"),
                *("python", "python_platlib"),
            ],
        }


class Package:
    def define(self, name: str, value: object) -> str:
        return f"-D{name}={value}"

    def define_from_variant(self, name: str, variant: str) -> str:
        return self.define(name, self.spec.variants[variant])


class Spec:
    def __init__(self, variants: dict[str, bool]):
        self.variants = variants

    def satisfies(self, text: str) -> bool:
        assert text.startswith("+"), text
        return self.variants.get(text[1:], False)

    def __getitem__(self, name: str):
        paths = {"mpi": {"mpicc": "/mpicc", "mpifc": "/mpifc"}, "hdf5": {"prefix": "/hdf5"}}
        return types.SimpleNamespace(**paths[name])


def test_the_recipe_of_spack(monkeypatch):
    """Its class is made, and gives options that exist for all variants."""
    directives = Directives()
    modules = {
        "spack": {},
        "spack.package": directives.names(),
        "spack_repo": {},
        "spack_repo.builtin": {},
        "spack_repo.builtin.build_systems": {},
        "spack_repo.builtin.build_systems.cmake": {"CMakePackage": Package},
    }
    for name, contents in modules.items():
        module = types.ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)
    scope: dict[str, object] = {}
    exec(compile(source(recipes[0]), recipes[0], "exec"), scope)
    package = scope["Shoal"]()
    assert {"fmt", "utf8proc", "hdf5", "mpi", "nlohmann-json", "cli11", "tomlplusplus"} <= set(
        directives.dependencies
    )
    assert "+python" in directives.dependencies["py-numpy"]["when"]
    variants = list(directives.variants)
    for chosen in itertools.product((True, False), repeat=len(variants)):
        all_of_them = Spec(dict(zip(variants, chosen)))
        there = {
            name: on
            for name, on in all_of_them.variants.items()
            if not directives.variants[name] or all_of_them.satisfies(directives.variants[name])
        }
        package.spec = Spec(there)
        given = dict(arg[2:].split("=", 1) for arg in package.cmake_args())
        assert {name for name in given if name.startswith("SHOAL_")} <= options_of_cmake()
        for variant, on in package.spec.variants.items():
            compression = ("LIBDEFLATE", "ZSTD", "LZ4", "BLOSC")
            for option in compression if variant == "compression" else (variant.upper(),):
                assert given[f"SHOAL_{option}"] in ((str(on), "ON") if on else (str(on), "OFF"))


@pytest.mark.parametrize(
    "recipe", sorted((top / "packaging/easybuild").glob("*.eb")), ids=lambda path: path.name
)
def test_the_recipes_of_easybuild(recipe):
    """They are Python, and their names, versions and toolchains are those of their file names."""
    words = ("SOURCELOWER_TAR_GZ", "SOURCE_TAR_GZ", "PYPI_SOURCE", "SHLIB_EXT", "SYSTEM")
    scope: dict[str, object] = {word: word for word in words}
    exec(compile(recipe.read_text(encoding="utf-8"), recipe.name, "exec"), scope)
    chain = scope["toolchain"]
    assert recipe.name == f"{scope['name']}-{scope['version']}-{chain['name']}-{chain['version']}.eb"
    entries = scope["dependencies"] + scope["builddependencies"]
    assert all(len(entry) == 2 or entry[2:] == ("", "SYSTEM") for entry in entries)


def test_placeholders_are_listed():
    """Every address that is none stands in the table of packaging/README.md."""
    table = source("packaging/README.md").split("## Placeholders")[1].split("\n## ")[0]
    rows = {
        cells[1].strip(): cells[2]
        for cells in (line.split("|") for line in table.splitlines())
        if len(cells) > 3
    }
    found = [path for path in packaging_files() if "localhost" in path.read_text(encoding="utf-8")]
    assert found, "no placeholder is left: take this test and the table away"
    for path in found:
        name = path.relative_to(top / "packaging").parts[0]
        assert "localhost" in rows.get(name, ""), f"{path} has a placeholder that the table does not have"


def packaging_files() -> list[Path]:
    return [
        path for path in sorted((top / "packaging").rglob("*")) if path.is_file() and path.name != "README.md"
    ]


def test_make_dist_names_the_version():
    """What it would do; the archive itself is of the commit that is checked out."""
    if shutil.which("make") is None:
        pytest.skip("there is no make")
    clean = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
    told = subprocess.run(
        ["make", "-n", "dist"], cwd=top, capture_output=True, text=True, env=clean, check=False
    )
    assert told.returncode == 0, told.stderr
    assert "git archive --prefix=$name/ -o build/$name.tar.gz HEAD" in told.stdout
