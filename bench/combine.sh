#!/bin/bash
# Joins the tiles of a set with `shoal combine` and with a plain loop over netCDF-C, in turns, and prints the
# medians, the ratio and the most memory.
#   bench/combine.sh BUILD_FOLDER [FOLDER_FOR_FILES]
# BUILD_FOLDER has bin/bare_netcdf_combine; the program `shoal` is taken from PATH or .venv.
# FORMAT (cdf5), SHAPE ("1440 1080 50"), TILES ("4 4"), RECORDS (4), RANKS ("1 2 4"), REPS (5) change what is
# done. Times are of whole commands, as a user waits for them, and of the work alone, without the start of
# MPI and Python.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
bare=${1:?usage: bench/combine.sh BUILD_FOLDER [FOLDER_FOR_FILES]}/bin/bare_netcdf_combine
folder=$(mktemp -d "${2:-/dev/shm}/combine.XXXXXX")
trap 'rm -rf "$folder"' EXIT
format=${FORMAT:-cdf5}
read -r -a shape <<<"${SHAPE:-1440 1080 50}"
read -r -a tiles <<<"${TILES:-4 4}"
read -r -a ranks <<<"${RANKS:-1 2 4}"
records=${RECORDS:-4} reps=${REPS:-5}
PATH=$PATH:$top/.venv/bin
count=$((tiles[0] * tiles[1]))

# seconds COMMAND...: its time, on standard output; what it prints goes to $folder/said.
seconds() {
  local begin=$EPOCHREALTIME
  "$@" >"$folder/said" 2>&1 || { cat "$folder/said" >&2; exit 1; }
  awk "BEGIN { printf \"%.3f\n\", $EPOCHREALTIME - $begin }"
}
median() { sort -n | awk '{ a[NR] = $1 } END { print NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'; }

"$bare" make "$folder/set.nc" "$format" "${shape[@]}" "$records" "${tiles[@]}"
# Memory for as much as is written: what was given back some seconds ago may have to be fetched from the host of a
# virtual machine, which takes longer than writing and has nothing to do with who writes.
warm() {
  rm -f "$1"
  cat "$folder"/set.nc.* >"$folder/warm"
  rm "$folder/warm"
}

for ((rep = 0; rep <= reps; ++rep)); do # the first one warms up
  warm "$folder/bare.joined"
  seconds "$bare" join "$folder/bare.joined" "$format" "$folder/set.nc" "$count" >"$folder/now"
  if [ "$rep" != 0 ]; then
    cat "$folder/now" >>"$folder/bare.times"
    awk '{ print $1 }' "$folder/said" >>"$folder/bare.work"
  fi
  awk '{ print $3 }' "$folder/said" >"$folder/bare.memory"
  for n in "${ranks[@]}"; do
    warm "$folder/shoal.joined"
    start=("$top/tools/mpirun.sh" "$n")
    if [ "$n" = 1 ]; then start=(); fi # as a user would: no launcher
    seconds "${start[@]}" shoal combine "$folder/set.nc" "$folder/shoal.joined" --format "$format" >"$folder/now"
    if [ "$rep" != 0 ]; then
      cat "$folder/now" >>"$folder/shoal.$n.times"
      sed -n 's/.* in \([0-9.]*\) s (.*/\1/p' "$folder/said" >>"$folder/shoal.$n.work"
    fi
    sed -n 's/.*memory //p' "$folder/said" >"$folder/shoal.$n.memory"
  done
done
shoal compare "$folder/bare.joined" "$folder/shoal.joined"

plain=$(median <"$folder/bare.times") plain_work=$(median <"$folder/bare.work")
printf '%s tiles of %s cells, %s records, %s, median of %s\n' "$count" "$(IFS=x; echo "${shape[*]}")" "$records" \
  "$format" "$reps"
printf '%-22s %8.3f s  work %8.3f s  memory %s MiB\n' "netCDF-C, one process" "$plain" "$plain_work" \
  "$(cat "$folder/bare.memory")"
for n in "${ranks[@]}"; do
  mine=$(median <"$folder/shoal.$n.times") mine_work=$(median <"$folder/shoal.$n.work")
  printf '%-22s %8.3f s  work %8.3f s  memory %s  %.1f times as fast, the work %.1f times\n' \
    "shoal combine, $n ranks" "$mine" "$mine_work" "$(cat "$folder/shoal.$n.memory")" \
    "$(awk "BEGIN { print $plain / $mine }")" "$(awk "BEGIN { print $plain_work / $mine_work }")"
done
