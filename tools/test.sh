#!/bin/bash
# Runs the test sections, goes on after a failure, and ends with a summary.
#   tools/test.sh PRESET [section...]
# Sections: ctest examples memory python style includes, which are the default, quick, nodes, model, format and fuzz.
# Exit code 1 if any failed.
set -uo pipefail
cd "$(dirname "$0")/.."
preset=${1:?usage: tools/test.sh PRESET [section...]}
shift
sections=("$@")
[ ${#sections[@]} -gt 0 ] || sections=(ctest examples memory python style includes)
build=$PWD/build/$preset
jobs=$(nproc 2>/dev/null || echo 2)

names=()
results=()
notes=()
record() { names+=("$1"); results+=("$2"); notes+=("$3"); }

cache_value() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt" | head -1; }

# run NAME COMMAND...: a section that passes or fails by its exit code.
run() {
  local name=$1 begin=$SECONDS
  shift
  printf '\n==== %s ====\n' "$name"
  if "$@" </dev/null; then
    record "$name" passed "$((SECONDS - begin)) s"
  else
    record "$name" FAILED "$((SECONDS - begin)) s"
    return 1
  fi
}
# with_log LOG COMMAND...: leaves what it prints in LOG.txt, its exit code and seconds in LOG.result.
with_log() {
  local log=$1 begin=$SECONDS code=0
  shift
  mkdir -p "$(dirname "$log")"
  rm -f "$log.result"
  "$@" >"$log.txt" 2>&1 || code=$?
  echo "$code $((SECONDS - begin))" >"$log.result"
}
# run_was NAME LOG: as run, of a command that with_log has run beside others.
run_was() {
  local name=$1 code=1 seconds='?'
  printf '\n==== %s ====\n' "$name"
  cat "$2.txt"
  read -r code seconds <"$2.result"
  if [ "$code" = 0 ]; then
    record "$name" passed "$seconds s"
  else
    record "$name" FAILED "$seconds s"
    return 1
  fi
}
skip() {
  printf '\n==== %s: skipped ====\n%s\n' "$1" "$2"
  record "$1" skipped "$2"
}

# A section whose script says by exit code 77 that it cannot run here.
section_nodes() {
  local begin=$SECONDS code=0
  printf '\n==== tests on separate nodes ====\n'
  tests/nodes/run.sh "$build" </dev/null || code=$?
  case $code in
    0) record "separate nodes" passed "$((SECONDS - begin)) s" ;;
    77) record "separate nodes" skipped "the reason stands above" ;;
    *) record "separate nodes" FAILED "$((SECONDS - begin)) s" ;;
  esac
}

section_model() {
  local begin=$SECONDS code=0
  printf '\n==== model of the stage ====\n'
  tests/model/run.sh </dev/null || code=$?
  case $code in
    0) record "model of the stage" passed "$((SECONDS - begin)) s" ;;
    77) record "model of the stage" skipped "the reason stands above" ;;
    *) record "model of the stage" FAILED "$((SECONDS - begin)) s" ;;
  esac
}

# netCDF-C 4.10 and what is compiled with it are kept.
section_format() {
  local name="door as a format of netCDF-C" path=tests/doors/test_format.py code=0
  tools/doors_programs.sh "$build" format || code=$?
  case $code in
    0) TEST_ALL=1 python_tests $path </dev/null && run_was "$name" "$(python_log $path)" ;;
    77) skip "$name" "the reason stands above" ;;
    *) record "$name" FAILED "its programs cannot be made" ;;
  esac
}

section_fuzz() {
  local begin=$SECONDS code=0
  printf '\n==== fuzzers ====\n'
  tools/fuzz.sh </dev/null || code=$?
  case $code in
    0) record "fuzzers" passed "$((SECONDS - begin)) s" ;;
    77) record "fuzzers" skipped "there is no clang" ;;
    *) record "fuzzers" FAILED "$((SECONDS - begin)) s" ;;
  esac
}

# Two more than there are cores: ranks wait for each other, and some tests sleep.
section_ctest() {
  run "C, C++ and Fortran tests" ctest --test-dir "$build" -j "$((jobs + 2))" -LE examples --output-on-failure --no-tests=error
}

# A part that meets most mistakes: units, and all drivers' conformance with the native one, on few ranks.
section_quick() {
  run "quick part of the tests" ctest --test-dir "$build" -j "$jobs" --output-on-failure --no-tests=error \
    -R '^(unit\.|mpi\.1$|conformance\.(1|3)$|faults\.(late\.)?1$|fortran\..*\.1$)' -E 'unit\.test_netcdf4_kill'
}

section_examples() {
  if [ -z "$(ctest --test-dir "$build" -N -L examples | grep 'Test *#')" ]; then
    skip "examples" "no example is registered in $build"
    return
  fi
  run "examples" ctest --test-dir "$build" -j "$jobs" -L examples --output-on-failure --no-tests=error
}

# A part of the tests with the address sanitizer each time: of all that reads files, and needs no MPI.
section_memory() {
  if [ -n "$memory_builder" ]; then
    wait "$memory_builder"
  else
    build_memory
  fi
  run_was "reading files, with sanitizers: build" "$memory_log" || return 0
  run "reading files, with sanitizers" ctest --preset memory -j "$jobs" -R '^memory\.' --no-tests=error
}
memory_log=$build/tests/memory-build
build_memory() {
  with_log "$memory_log" nice -n 10 bash -c "cmake --preset memory --log-level=WARNING >/dev/null &&
    cmake --build --preset memory -j $jobs --target file_tests" </dev/null
}

# The section ctest leaves much of the cores, as ranks wait for each other. What takes long on one core goes on beside
# it: the build of the section memory, and the Python tests but for those that look at the clock.
memory_builder=
python_beside=
by_clock=python/tests/test_lost_calls.py
begin_beside_ctest() {
  build_memory &
  memory_builder=$!
  has_package || return
  {
    tail --pid="$memory_builder" -f /dev/null
    local path
    for path in $(python_paths); do
      python_tests "$path" --ignore="$by_clock" </dev/null
    done
  } &
  python_beside=$!
}

# Folders with Python tests. Those of tests/ come first, in one process: what each found of crashes is one table.
python_paths() {
  local path
  for path in tests python/tests bench/python/tests examples; do
    [ "$path" != bench/python/tests ] || [ "$(cache_value SHOAL_BENCH)" = ON ] || continue
    [ -z "$(find "$path" -name 'test_*.py' -print -quit 2>/dev/null)" ] || echo "$path"
  done
}
has_package() { [ -x .venv/bin/python ] && .venv/bin/python -c 'import shoal'; }
section_python() {
  if ! has_package; then
    record "Python tests" FAILED "the package cannot be imported from .venv; run make build"
    return
  fi
  local path paths
  paths=$(python_paths)
  if [ -z "$paths" ]; then
    skip "Python tests" "no test was found"
    return
  fi
  if [ -n "$python_beside" ]; then
    wait "$python_beside"
    python_tests "$by_clock" </dev/null
    paths+=" $by_clock"
  else
    for path in $paths; do
      python_tests "$path" </dev/null
    done
  fi
  for path in $paths; do
    run_was "Python tests of $path" "$(python_log "$path")"
  done
}
python_log() { echo "$build/tests/python-${1//\//-}"; }
# python_tests PATH [option...]
# A test waits for what it starts, so there are as many processes as cores, which take file after file.
python_tests() {
  local path=$1 workers=()
  shift
  [ "$path" = tests ] || workers=(-n "$jobs" --dist loadfile)
  # What takes long is done where all is asked for (make test-all), or by TEST_ALL in the environment. No test needs
  # threads of OpenBLAS, which numpy starts in each of some thousand interpreters.
  MPIRUN_LAUNCHER=$(cache_value MPIEXEC_EXECUTABLE) TEST_BUILD_DIR=$build OPENBLAS_NUM_THREADS=1 \
    TEST_ALL=${TEST_ALL:-$(cache_value SHOAL_TEST_ALL)} \
    PATH="$PWD/.venv/bin:$PATH" with_log "$(python_log "$path")" .venv/bin/python -m pytest -q -ra -p no:cacheprovider "${workers[@]}" "$@" "$path"
}

format_check() {
  git ls-files -z --cached --others --exclude-standard -- '*.c' '*.h' '*.cpp' '*.hpp' |
    xargs -0 .venv/bin/clang-format --dry-run -Werror
}
section_style() {
  if [ ! -x .venv/bin/ruff ]; then
    skip "style" "no .venv with clang-format and ruff; run make build"
    return
  fi
  run "style of C and C++ (clang-format)" format_check
  run "style of Python (ruff check)" .venv/bin/ruff check --no-cache .
  run "style of Python (ruff format)" .venv/bin/ruff format --no-cache --check .
}

section_includes() {
  run "modules and includes" python3 tools/check_includes.py
  # codespell and proselint are in .venv.
  local python=python3
  [ ! -x .venv/bin/python ] || python=.venv/bin/python
  run "documentation" "$python" tools/check_docs.py
}

[[ " ${sections[*]} " != *" ctest "*" memory python "* ]] || begin_beside_ctest
for section in "${sections[@]}"; do
  if ! declare -F "section_$section" >/dev/null; then
    echo "test.sh: unknown section '$section'; known are ctest, examples, memory, python, style, includes, quick, nodes, model, format, fuzz" >&2
    exit 2
  fi
  "section_$section"
done

passed=0 failed=0 skipped=0
printf '\n==== summary (%s, %s s) ====\n' "$preset" "$SECONDS"
for i in "${!names[@]}"; do
  printf '%-8s %-36s %s\n' "${results[$i]}" "${names[$i]}" "${notes[$i]}"
  case ${results[$i]} in
    passed) passed=$((passed + 1)) ;;
    FAILED) failed=$((failed + 1)) ;;
    skipped) skipped=$((skipped + 1)) ;;
  esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
