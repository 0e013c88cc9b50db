# SPDX-License-Identifier: BSD-3-Clause
"""tools/check_includes.py finds what it forbids. Needs nothing that is built."""

import importlib.util
from pathlib import Path

import pytest

top = Path(__file__).resolve().parents[1]


@pytest.fixture
def tool(monkeypatch, tmp_path):
    """The tool, over a tree that is empty."""
    spec = importlib.util.spec_from_file_location("check_includes", top / "tools/check_includes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "TOP", tmp_path)
    return module


def breaches(tool, name: str, text: str) -> list[str]:
    """Of a source of the tree with this text."""
    path = tool.TOP / "src" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    module = name.split("/")[0]
    return tool.check_module(module, path) + tool.check_paths(module, path) + tool.check_length(path)


asks_for_paths = [
    "#include <filesystem>",
    "#include <fcntl.h>",
    "#include <glob.h>",
    "#include <sys/stat.h>",
    "#include <unistd.h>",
    "if (std::filesystem::exists(path)) return;",
    "return ::stat(path.c_str(), &status) == 0;",
    "return (::lstat(path.c_str(), &status) == 0);",
    "good = ::access(path.c_str(), W_OK) == 0;",
    "::unlink(path.c_str());",
    "::rename(from.c_str(), to.c_str());",
    "std::rename(from.c_str(), to.c_str());",
    "std::remove(path.c_str());",
]


@pytest.mark.parametrize("line", asks_for_paths)
@pytest.mark.parametrize("module", ["base", "format", "machine", "driver", "dataset", "streams", "capi"])
def test_paths_are_for_storage(tool, module, line):
    found = breaches(tool, f"{module}/part.cpp", f"int one = 1;\n{line}\n")
    assert any("paths of files are for src/storage/" in breach for breach in found)
    assert all(breach.startswith(f"src/{module}/part.cpp:2: ") for breach in found)


@pytest.mark.parametrize("line", asks_for_paths)
@pytest.mark.parametrize("module", ["storage", "comm", "tune", "plan", "streams_program"])
def test_who_may_ask_for_paths(tool, module, line):
    assert breaches(tool, f"{module}/part.cpp", line + "\n") == []


@pytest.mark.parametrize(
    "line",
    [
        "names.erase(std::remove(names.begin(), names.end(), name), names.end());",
        "auto dataset = Dataset::open(comm, path);",
        "void Definitions::rename(int variable, std::string name) {",
        "Access Parts<Access>::access(int i) {",
        "// what ::stat( and std::filesystem know",
        "remove_file(path);",
    ],
)
def test_what_only_looks_like_a_path(tool, line):
    assert breaches(tool, "driver/part.cpp", line + "\n") == []


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("format/part.cpp", '#include "driver/driver.hpp"', "may include: base, codec, storage"),
        (
            "driver/native/part.cpp",
            '#include "driver/tiles/tiles_driver.hpp"',
            "driver native sees driver tiles",
        ),
        ("dataset/part.cpp", '#include "shoal/shoal.h"', "only capi may"),
        ("dataset/part.cpp", "#include <hdf5.h>", "must know nothing of hdf5.h"),
        ("base/part.cpp", "// " + 110 * "x", "113 characters"),
    ],
)
def test_other_rules(tool, name, line, said):
    assert any(said in found for found in breaches(tool, name, line + "\n"))
