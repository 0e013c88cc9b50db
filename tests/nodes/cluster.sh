#!/bin/bash
# Makes the nodes and runs the tests on them; called by run.sh, as the first process of its own namespaces.
#   cluster.sh BUILD [section...]
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1
shift
sections=("$@")
# basics two four faults drivers killed gluster
[ ${#sections[@]} -gt 0 ] || sections=(basics two four faults drivers killed gluster)

readonly net=10.77.0 most_nodes=4
# shellcheck source=tests/nodes/gluster.sh
. "$here/gluster.sh"
work=$build/tests/run/nodes  # what all nodes share, and what goes with the namespaces
folder=$work                 # where tests run
export CLUSTER=/run/cluster TMPDIR=/dev/shm
passed=0 failed=0
summary=()

note() {  # note RESULT NAME SECONDS
  summary+=("$(printf '%-8s %-44s %s s' "$1" "$2" "$3")")
  if [ "$1" = passed ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

# A node is a process that keeps namespaces; what runs on it enters them (agent.sh).
make_node() {
  local number=$1 name=node$1
  ip netns add "$name"
  ip link add "veth$number" type veth peer name eth0 netns "$name"
  ip link set "veth$number" master switch up
  ip -n "$name" link set lo up
  ip -n "$name" addr add "$net.$number/24" dev eth0
  ip -n "$name" link set eth0 up
  ip netns exec "$name" unshare --uts --mount --pid --fork --kill-child --mount-proc sh -c "
    hostname $name && mount -t tmpfs -o size=512m tmpfs /dev/shm && touch $CLUSTER/$number.ready &&
    while :; do sleep 1000 & wait \$!; done" &
  local keeper=$!
  until [ -e "$CLUSTER/$number.ready" ]; do
    kill -0 $keeper 2>/dev/null || return 1
    sleep 0.05
  done
  local inside
  read -r inside <"/proc/$keeper/task/$keeper/children"
  echo "$inside" >"$CLUSTER/$number.pid"
}

make_cluster() {
  mount --make-rprivate / && mount -t tmpfs tmpfs /run && mkdir -p "$CLUSTER" /run/netns && gluster_folders &&
    mount -t tmpfs -o size=512m tmpfs /dev/shm && mount -t tmpfs -o size=2g tmpfs "$work" &&
    mkdir "$work/small" && mount -t tmpfs -o size=1m tmpfs "$work/small" &&
    hostname login && ip link set lo up && ip link add switch type bridge &&
    ip addr add "$net.254/24" dev switch && ip link set switch up || return 1
  local number
  for ((number = 1; number <= most_nodes; number++)); do
    make_node "$number" || return 1
  done
}

# launch LIMIT SLOTS COMMAND...: SLOTS are the numbers of ranks of nodes 1, 2, ...; "i:..." deals ranks out in turn.
launch() {
  local limit=$1 slots=$2 hosts="" number=0 ranks=0 count order=slot
  shift 2
  if [ "${slots#i:}" != "$slots" ]; then order=node slots=${slots#i:}; fi
  for count in ${slots//,/ }; do
    number=$((number + 1)) ranks=$((ranks + count))
    hosts+=${hosts:+,}$net.$number:$count
  done
  local forward=() name
  while read -r name; do forward+=(-x "$name"); done < <(compgen -e | grep -E '^(SHOAL|TEST|CONFORMANCE)_')
  OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none \
    timeout -k 5 "$limit" "$LAUNCHER" --allow-run-as-root --host "$hosts" -n "$ranks" --map-by "$order" \
    --bind-to none --mca plm_rsh_agent "$here/agent.sh" --mca btl self,vader,tcp \
    --mca btl_tcp_if_include "$net.0/24" --mca oob_tcp_if_include "$net.0/24" "${forward[@]}" "$@" </dev/null
}

# check NAME LIMIT SLOTS VARIABLES PROGRAM [args...]: a test program that must pass. VARIABLES: "A=b C=d" or "".
check() {
  local name=$1 limit=$2 slots=$3 variables=$4 program=$5 begin=$SECONDS nodes
  shift 5
  nodes=${slots#i:} nodes=${nodes//[0-9]/}
  # A launcher starts ranks in its own folder, and a client of a file system is on nodes only: ranks go there.
  "$here/agent.sh" "$net.1" "mkdir -p '$folder/$name'"
  if (
    export TEST_NODES=$((${#nodes} + 1)) TEST_SMALL_FOLDER=$work/small
    for variable in $variables; do export "${variable?}"; done
    launch "$limit" "$slots" --wdir "$folder/$name" "$build/tests/${program}_tests" "$@"
  ) >"$work/log" 2>&1; then
    grep -hoE '\[doctest\] test cases.*|nodes: [0-9]+ ranks on.*|sharing: .*' "$work/log" | sed "s|^|$name: |"
    note passed "$name" $((SECONDS - begin))
  else
    local code=$?
    echo "==== $name FAILED (exit code $code; 124: not finished after $limit s) ===="
    tail -n 300 "$work/log"
    note FAILED "$name" $((SECONDS - begin))
  fi
  "$here/agent.sh" "$net.1" "rm -rf '${folder:?}/$name'"
}

section_basics() {
  check two.count 180 2,2 "" nodes
  check uneven.count 180 3,1 "" nodes
  check four.count 180 i:2,2,2,1 "" nodes
}

section_two() {
  check two.mpi 900 2,2 "" mpi
  check two.conformance 900 2,2 "" conformance
}

# Long cases that two nodes have run do not come twice.
section_four() {
  check four.mpi 900 i:2,1,1,1 "" mpi \
    "-tce=what one driver wrote*,what one decomposition wrote*,many cells*,maps through every driver*"
  check four.conformance 900 i:2,1,1,1 "" conformance
}

section_faults() {
  check two.faults 600 2,2 "" faults
  check uneven.faults 600 3,1 "" faults
  check four.faults 600 1,1,1,1 "" faults
}

# check_drivers PREFIX SLOTS [args...]: conformance with the drivers of this build that call libraries, over each MPI-IO.
check_drivers() {
  local prefix=$1 slots=$2 io libraries
  shift 2
  libraries=$(ldd "$build/tests/conformance_tests")
  for io in ompio $(ompi_info --parsable 2>/dev/null | sed -n 's/^mca:io:\(romio[0-9]*\):version:.*/\1/p' | sort -u); do
    check "${prefix}mpiio.$io" 600 "$slots" "SHOAL_DRIVER=mpiio SHOAL_FORMAT=cdf5 OMPI_MCA_io=$io" conformance "$@"
    case $libraries in *libpnetcdf*)
      check "${prefix}pnetcdf.$io" 600 "$slots" "SHOAL_DRIVER=pnetcdf SHOAL_FORMAT=cdf5 OMPI_MCA_io=$io" conformance "$@"
    esac
    case $libraries in *libnetcdf*)
      check "${prefix}netcdf.$io" 600 "$slots" "SHOAL_DRIVER=netcdf SHOAL_FORMAT=netcdf4 OMPI_MCA_io=$io" conformance "$@"
    esac
  done
  case $libraries in *libnetcdf*)
    check "${prefix}gather" 600 "$slots" "SHOAL_DRIVER=gather SHOAL_FORMAT=cdf5" conformance "$@"
  esac
}

section_drivers() {
  check_drivers "" 2,1
  check layout-process 600 2,1 "SHOAL_LAYOUT=process" conformance
}

# killed_in_format FORMAT SLOTS NAME: one rank of the last node is killed. The job must end, on all nodes and soon, and
# leave what was committed.
killed_in_format() {
  local slots=$2 name=$3 begin=$SECONDS problem="" at=$folder/$3 wait=0
  export TEST_FORMAT=$1
  local program=(--wdir "$at" "$build/tests/nodes_tests" --no-skip)
  "$here/agent.sh" "$net.1" "mkdir -p '$at'"
  if launch 120 "$slots" "${program[@]}" "-tc=killed: a rank*" >"$work/log" 2>&1; then
    problem="the launcher did not see that a rank was killed"
  fi
  if [ $((SECONDS - begin)) -ge 120 ]; then problem="the job did not end within 120 s of a rank's death"; fi
  grep -q 'signal 9' "$work/log" || problem=${problem:-"no rank was killed"}
  while pgrep -r D,R,S -x nodes_tests >/dev/null && [ $wait -lt 20 ]; do
    sleep 0.5
    wait=$((wait + 1))
  done
  if pgrep -r D,R,S -x nodes_tests >/dev/null; then
    problem=${problem:-"ranks were left behind 10 s after the job ended"}
  fi
  if [ -z "$problem" ]; then
    launch 120 1,1 "${program[@]}" "-tc=killed: what*" >"$work/log" 2>&1 || problem="what was committed cannot be read"
    grep -qE ' 1 passed \| 0 failed' "$work/log" || problem=${problem:-"nothing was read"}
  fi
  if [ -n "$problem" ]; then
    echo "==== $name FAILED: $problem ===="
    tail -n 80 "$work/log"
    note FAILED "$name" $((SECONDS - begin))
  else
    note passed "$name" $((SECONDS - begin))
  fi
  "$here/agent.sh" "$net.1" "rm -rf '${at:?}'"
  unset TEST_FORMAT
}

section_killed() {
  killed_in_format cdf5 2,1,1,1 killed.cdf5
  killed_in_format netcdf4 2,1,1,1 killed.netcdf4
}

make_cluster || {
  echo "nodes: FAILED: the nodes could not be made"
  exit 1
}
for section in "${sections[@]}"; do
  "section_$section"
done
printf '\n==== separate nodes (%s s) ====\n' "$SECONDS"
printf '%s\n' "${summary[@]}"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
