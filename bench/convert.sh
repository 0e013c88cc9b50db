#!/bin/bash
# Writes a file anew, compressed and in other chunks, with `shoal convert` and with `nccopy`, in turns, and prints the
# medians, the ratio and the sizes.
#   bench/convert.sh [FOLDER_FOR_FILES]
# The program `shoal` and its python are taken from PATH or .venv, nccopy from PATH.
# SHAPE ("8 30 300 400": records, levels, y, x), LEVEL (1: of deflate), CHUNKS (1,1,300,400), INPUT (plain or deflated),
# RANKS ("1 2"), REPS (5) change what is done. Times are of whole commands.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d "${1:-/dev/shm}/convert.XXXXXX")
trap 'rm -rf "$folder"' EXIT
read -r -a shape <<<"${SHAPE:-8 30 300 400}"
read -r -a ranks <<<"${RANKS:-1 2}"
level=${LEVEL:-1} chunks=${CHUNKS:-1,1,300,400} input=${INPUT:-plain} reps=${REPS:-5}
PATH=$PATH:$top/.venv/bin
python=${PYTHON:-$(dirname "$(command -v shoal)")/python}

# seconds COMMAND...: its time, on standard output; what it prints goes to $folder/said.
seconds() {
  local begin=$EPOCHREALTIME
  "$@" >"$folder/said" 2>&1 || { cat "$folder/said" >&2; exit 1; }
  awk "BEGIN { printf \"%.3f\n\", $EPOCHREALTIME - $begin }"
}
median() { sort -n | awk '{ a[NR] = $1 } END { print NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'; }

# Smooth fields with some noise, as models have them.
"$python" - "$folder/in.nc" "$input" "${shape[@]}" <<'PY'
import sys
import netCDF4
import numpy as np

path, kind, *shape = sys.argv[1:]
shape = [int(n) for n in shape]
random = np.random.default_rng(1)
with netCDF4.Dataset(path, "w") as file:
    for name, n in zip(("time", "z", "y", "x"), (None, *shape[1:])):
        file.createDimension(name, n)
    chunk = {"chunksizes": (1, 1, *shape[2:]), "zlib": kind != "plain", "complevel": 1}
    y, x = np.ogrid[0 : 6 : shape[2] * 1j, 0 : 9 : shape[3] * 1j]
    for v in ("temp", "salt"):
        made = file.createVariable(v, "f4", ("time", "z", "y", "x"), **chunk)
        for record in range(shape[0]):
            made[record] = np.stack(
                [10 * np.sin(y + z / 9 + record) * np.cos(x) + random.normal(0, 0.01, shape[2:]) for z in range(shape[1])]
            )
PY
lengths=(${chunks//,/ }) names=(time z y x) wish=
for i in 0 1 2 3; do wish+="${wish:+,}${names[$i]}/${lengths[$i]}"; done
for ((rep = 0; rep <= reps; ++rep)); do # the first one warms up
  rm -f "$folder/nccopy.nc"
  seconds nccopy -4 -d "$level" -s -c "$wish" "$folder/in.nc" "$folder/nccopy.nc" >"$folder/now"
  [ "$rep" = 0 ] || cat "$folder/now" >>"$folder/nccopy.times"
  for n in "${ranks[@]}"; do
    rm -f "$folder/shoal.nc"
    start=("$top/tools/mpirun.sh" "$n")
    if [ "$n" = 1 ]; then start=(); fi # as a user would: no launcher
    seconds "${start[@]}" shoal convert "$folder/in.nc" "$folder/shoal.nc" --format netcdf4 \
      --compression "shuffle+deflate:$level" --chunks "${chunks//,/x}" >"$folder/now"
    [ "$rep" = 0 ] || cat "$folder/now" >>"$folder/shoal.$n.times"
    sed -n 's/.* in \([0-9.]*\) s (.*memory \(.*\)/\1 s of work, memory \2/p' "$folder/said" >"$folder/shoal.$n.said"
  done
done
shoal compare "$folder/nccopy.nc" "$folder/shoal.nc"

size() { stat -c %s "$1" | awk '{ printf "%.1f MiB", $1 / 1048576 }'; }
plain=$(median <"$folder/nccopy.times")
printf 'two fields of %s floats, %s %s, to deflate:%s, chunks %s, median of %s\n' "$(IFS=x; echo "${shape[*]}")" "$input" \
  "$(size "$folder/in.nc")" "$level" "$chunks" "$reps"
printf '%-22s %8.3f s  %s\n' nccopy "$plain" "$(size "$folder/nccopy.nc")"
for n in "${ranks[@]}"; do
  mine=$(median <"$folder/shoal.$n.times")
  printf '%-22s %8.3f s  %s  %.1f times as fast (last: %s)\n' "shoal convert, $n ranks" "$mine" \
    "$(size "$folder/shoal.nc")" "$(awk "BEGIN { print $plain / $mine }")" "$(cat "$folder/shoal.$n.said")"
done
