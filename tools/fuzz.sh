#!/bin/bash
# Builds the fuzzers of tests/fuzz with clang, and runs each one.
#   tools/fuzz.sh [SECONDS [NAME...]]     60 seconds each; NAME: chunk, classic, journal, map, raw, reference, set,
#                                     settings, streams, zarr_metadata
# What is found stays in build/fuzz/found/NAME-*; run build/fuzz/fuzz/fuzz_NAME FILE to see it again. New inputs are
# kept in build/fuzz/corpus/NAME for the next run. Exit code 1 if anything was found, 77 without clang.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -gt 0 ] && shift
if ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
  sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
clang=$(compgen -c clang++ | grep -xE 'clang\+\+(-[0-9]+)?' | sort -V | tail -1 || true)
if [ -z "$clang" ]; then
  echo "fuzz.sh: there is no clang++ (Debian: tools/install-deps.sh --fuzz)" >&2
  exit 77
fi
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  for source in tests/fuzz/fuzz_*.cpp; do
    name=$(basename "$source" .cpp)
    names+=("${name#fuzz_}")
  done
fi

cmake --preset fuzz --log-level=WARNING -DCMAKE_CXX_COMPILER="$clang" -DCMAKE_C_COMPILER="${clang/++/}" >/dev/null
cmake --build --preset fuzz -j "$(nproc 2>/dev/null || echo 2)" --target "${names[@]/#/fuzz_}"
mkdir -p build/fuzz/found
# Inputs are short; 2 GB of memory are too much for any of them. What other libraries keep is none of Shoal's.
export ASAN_OPTIONS=allocator_may_return_null=1
export LSAN_OPTIONS=suppressions=$PWD/tools/suppressions/lsan.txt:print_suppressions=0
found=0
for name in "${names[@]}"; do
  mkdir -p "build/fuzz/corpus/$name"
  log=build/fuzz/$name.log
  if build/fuzz/fuzz/fuzz_"$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/found/$name-" "build/fuzz/corpus/$name" "tests/fuzz/corpus/$name" >"$log" 2>&1; then
    result="nothing found"
  else
    result="FOUND something: $log"
    found=1
    grep -m 5 -E 'ERROR|SUMMARY|does not hold|Test unit written' "$log" || tail -5 "$log"
  fi
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  printf '%-13s %10s executions  %s\n' "$name" "${executions:-?}" "$result"
done
exit $found
