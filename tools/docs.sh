#!/bin/bash
# Builds the site from docs/ into build/site, in an environment of its own. Warnings are errors.
#   tools/docs.sh
# PYTHON names the interpreter (3.11 or newer); Doxygen and Graphviz: tools/install-deps.sh --docs
set -euo pipefail
cd "$(dirname "$0")/.."
build=$PWD/build/docs
site=$PWD/build/site
venv=$PWD/build/docs-venv
mkdir -p "$build"

for tool in doxygen dot; do
  if ! command -v "$tool" >/dev/null; then
    echo "docs.sh: $tool is missing: tools/install-deps.sh --docs" >&2
    exit 1
  fi
done
key=$(sha256sum docs/site/requirements.txt | cut -d' ' -f1)
if [ ! -x "$venv/bin/python" ] || [ "$(cat "$venv/.done" 2>/dev/null)" != "$key" ]; then
  found=
  for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    if "$candidate" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      found=$candidate
      break
    fi
  done
  if [ -z "$found" ]; then
    echo "docs.sh: no Python 3.11 or newer with venv was found, which Sphinx needs; PYTHON names one" >&2
    exit 1
  fi
  "$found" -m venv --clear "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r docs/site/requirements.txt
  printf '%s\n' "$key" >"$venv/.done"
fi
python=$venv/bin/python
export PYTHONDONTWRITEBYTECODE=1 SHOAL_DOCS_BUILD=$build

# doxygen_of NAME HEADER...: XML of the headers, whose comments the filter turns into Doxygen's form.
doxygen_of() {
  local name=$1
  shift
  rm -rf "${build:?}/$name"
  mkdir -p "$build/$name"
  { cat docs/site/Doxyfile
    echo "INPUT = $*"
    echo "OUTPUT_DIRECTORY = $build/$name"
    echo "STRIP_FROM_PATH = $PWD/include"
    echo "FILTER_PATTERNS = \"*.h=$python docs/site/comments.py\" \"*.hpp=$python docs/site/comments.py\""
  } | doxygen - 2>"$build/$name.log" || { cat "$build/$name.log" >&2; exit 1; }
  if grep -v '^$' "$build/$name.log" >&2; then
    echo "docs.sh: doxygen has warnings" >&2
    exit 1
  fi
}
doxygen_of c include/shoal/{shoal,groups,packing,streams,bindings}.h
doxygen_of cpp include/shoal/{shoal,groups,decomposition,library,arrays,streams}.hpp

rm -rf "$site"  # pages that are no more
"$python" docs/site/stage.py "$build/source"
# All is read anew (-E): pages depend on more than their own text, and half a minute is no matter.
"$python" -m sphinx -E -b html -n -W --keep-going -q -j auto -c docs/site -d "$build/doctrees" "$build/source" "$site"
"$python" docs/site/check_site.py "$site"
echo "docs: $site/index.html"
