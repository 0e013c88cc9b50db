# SPDX-License-Identifier: BSD-3-Clause
"""tools/check_includes.py and tools/check_circles.py find what they forbid. Needs nothing that is built."""

import importlib.util
from pathlib import Path

import pytest

top = Path(__file__).resolve().parents[1]


@pytest.fixture
def tool(monkeypatch, tmp_path):
    """The tool, over a tree that is empty."""
    monkeypatch.syspath_prepend(top / "tools")
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


# ---- Circles


def circles(tool, folder: str, files: dict[str, str]) -> list[str]:
    """What is found in a tree with these files in a folder."""
    for name, text in files.items():
        path = tool.TOP / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tool.check_circles.check(tool.TOP)


@pytest.mark.parametrize("root", ["python/src", "bench/python/src"])
@pytest.mark.parametrize(
    "back",
    [
        "from .upper import name",
        "from . import upper",
        "from package.upper import name",
        "import package.upper",
        "def late():\n    from .upper import name",
        "if TYPE_CHECKING:\n    from .upper import name",
        "from .middle import name",  # which knows upper
    ],
)
def test_circle_of_modules(tool, root, back):
    files = {
        "package/__init__.py": "from .upper import name",
        "package/upper.py": "from .lower import name",
        "package/lower.py": "# a line\n" + back,
        "package/middle.py": "from . import upper",
    }
    found = circles(tool, root, files)
    assert any(breach.startswith(f"{root}/package/lower.py:") for breach in found)
    assert any(
        f"{root}/package/upper.py:1: imports package.lower (a circle of " in breach for breach in found
    )
    assert circles(tool, root, {"package/lower.py": "import json"}) == []


def test_circle_of_packages(tool):
    files = {
        "package/__init__.py": "from .inner import part",
        "package/lower.py": "",
        "package/_compiled.pyi": "",
        "package/inner/__init__.py": "",
        "package/inner/part.py": "from .. import _compiled\nfrom ..lower import name",
    }
    assert circles(tool, "python/src", files) == []
    (found, _) = circles(tool, "python/src", {"package/inner/part.py": "from .. import name"})
    assert found.endswith("imports package.inner.part (a circle of package, package.inner.part)")


HEADER = """/* The table:
 *
 *   source    owns
 *   lower.c   ids
 *   upper.c   files
 */
#define CALLS_UP(X) \\
  if (X) upper_inner()
#define CALLS_MORE(X) CALLS_UP(X)
"""
UPPER = (
    "static int own(void) { return lower(); }\n\nint upper(int a,\n          int b) {\n  return own();\n}\n\n"
)
UPPER += "void upper_inner(void) {\n}\n"


@pytest.mark.parametrize("call", ["upper(1, 2);", "take(&upper);", "upper_inner();", "CALLS_MORE(1);"])
def test_circle_of_calls(tool, call):
    """Of the PIO drop-in: functions by their names, also in macros of headers."""
    lower = f"int lower(void) {{\n  {call}\n  return 0;\n}}\n"
    found = circles(tool, "compat/pio/c", {"internal.h": HEADER, "lower.c": lower, "upper.c": UPPER})
    name = "upper_inner" if "upper(" not in call and "&upper" not in call else "upper"
    assert f"compat/pio/c/lower.c:2: calls {name} of upper.c (a circle of lower.c, upper.c)" in found
    assert "compat/pio/c/upper.c:1: calls lower of lower.c (a circle of lower.c, upper.c)" in found


def test_order_of_calls(tool):
    files = {
        "internal.h": HEADER,
        "upper.c": UPPER,
        "lower.c": 'int lower(void) {\n  say("upper()"); /* upper() */\n}\n',
    }
    assert circles(tool, "compat/pio/c", files) == []
    files |= {
        "upper.c": "int upper(void) {\n}\n",
        "lower.c": "int lower(void) {\n  upper();\n}\n",
        "new.c": "",
    }
    assert sorted(circles(tool, "compat/pio/c", files)) == [
        "compat/pio/c/internal.h: its table has no line of new.c",
        "compat/pio/c/lower.c:2: calls upper of upper.c, which stands below it in the table of "
        "compat/pio/c/internal.h",
    ]


def test_circle_of_units(tool):
    files = {
        "base/a.hpp": '#include "comm/b.hpp"\n',
        "comm/b.hpp": '#include "comm/c.hpp"\n',
        "comm/c.hpp": "\n",
    }
    assert circles(tool, "src", files) == []
    for name in ("comm/c.hpp", "comm/c.cpp"):
        found = circles(tool, "src", {name: '\n#include "base/a.hpp"\n'})
        assert f"src/{name}:2: includes base/a.hpp (a circle of base/a, comm/b, comm/c)" in found
        assert len(found) == 3
        circles(tool, "src", {name: "\n"})


def test_circle_of_units_of_streams(tool):
    files = {"streams/a.hpp": "\n", "streams/b.hpp": '#include "streams/a.hpp"\n'}
    assert circles(tool, "src", files | {"streams/b.cpp": '#include "streams/b.hpp"\n'}) == []
    found = circles(tool, "src", {"streams/a.cpp": '#include "streams/b.hpp"\n'})
    assert "src/streams/a.cpp:1: includes streams/b.hpp (a circle of streams/a, streams/b)" in found
    assert len(found) == 2
