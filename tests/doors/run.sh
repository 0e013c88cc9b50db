#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program of netCDF without and with a door: logs of calls and files are the same.
#   run.sh MPIRUN RANKS DOOR PROGRAM [what the report says of a file]...
# WITH_DOOR  lines of shell before the run with the door, in its folder: variables, files, or arguments of the program
set -eu
mpirun=$1 ranks=$2 door=$3 program=$4
shift 4
rm -rf plain door report
mkdir plain door
(cd plain && "$mpirun" "$ranks" "$program")
(
  cd door
  set --
  eval "${WITH_DOOR:-}"
  SHOAL_DOORS_REPORT=../report "$mpirun" "$ranks" env LD_PRELOAD="$door" "$program" "$@"
)
failed=0
for log in plain/log.*; do
  diff "$log" "door/${log#plain/}" >difference || { echo "$log differs:"; cat difference; failed=1; }
done
for file in plain/*.nc; do
  # Chunks that the program did not choose are the library's own affair.
  ncdump -p 9,15 "$file" >one.cdl && ncdump -p 9,15 "door/${file#plain/}" >other.cdl || failed=1
  diff one.cdl other.cdl >difference || { echo "$file differs:"; cat difference; failed=1; }
done
for file in door/*.nc; do
  [ -f "plain/${file#door/}" ] || { echo "$file is there with the door alone"; failed=1; }
done
for line in "$@"; do
  grep -q "$line" report || { echo "the report has no '$line':"; cat report; failed=1; }
done
exit $failed
