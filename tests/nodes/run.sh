#!/bin/bash
# Runs the compiled tests on separate nodes: network namespaces of this machine, joined by a bridge. Each has its
# own address, host name, processes and /dev/shm, so MPI starts them as it starts machines, and ranks of two of
# them share no memory.
#   tests/nodes/run.sh BUILD [section...]     sections: see cluster.sh (default: all)
# Everything lives in namespaces that end with this script, however it ends: no process, mount, interface or file
# stays behind, and several runs at a time do not see each other.
# Exit code: 0 passed, 1 failed or out of time, 77 skipped, with the reason.
# TEST_NODES_LIMIT   seconds for all of it (default 3600)
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: tests/nodes/run.sh BUILD [section...]}" && pwd) || exit 2
shift
limit=${TEST_NODES_LIMIT:-3600}

skip() {
  echo "nodes: skipped: $*"
  exit 77
}
private=(unshare --net --mount --uts --pid --fork --kill-child --mount-proc)

[ "$(uname)" = Linux ] || skip "this is no Linux"
[ "$(id -u)" -eq 0 ] || skip "network namespaces are made by root, and this is user $(id -un)"
launcher=$(sed -n 's/^MPIEXEC_EXECUTABLE:[A-Z]*=//p' "$build/CMakeCache.txt")
"$launcher" --version 2>/dev/null | grep -qE 'Open ?MPI|OpenRTE' || skip "the build is not for Open MPI, whose launcher is used here"
export LAUNCHER=$launcher
for tool in ip unshare nsenter setpriv timeout pgrep; do
  command -v "$tool" >/dev/null || skip "no '$tool' here; tools/install-deps.sh --nodes installs it"
done
why=$("${private[@]}" sh -c 'mount -t tmpfs tmpfs /mnt && ip link add v0 type veth peer name v1 &&
  ip link add bridge0 type bridge && hostname probe' 2>&1) || skip "this machine allows no namespaces: $why"
for program in mpi conformance faults internals nodes; do
  [ -x "$build/tests/${program}_tests" ] || {
    echo "nodes: $build/tests/${program}_tests is missing; build it first" >&2
    exit 1
  }
done

# A process that loses its parent is killed, the first of a process namespace takes all others with it.
mkdir -p "$build/tests/run/nodes"
setpriv --pdeathsig KILL "${private[@]}" "$here/cluster.sh" "$build" "$@" </dev/null &
child=$!
trap 'kill -KILL $child 2>/dev/null' EXIT
trap 'exit 1' INT TERM HUP
while kill -0 $child 2>/dev/null; do
  if [ $SECONDS -ge "$limit" ]; then
    echo "nodes: FAILED: not finished after $limit s"
    exit 1
  fi
  sleep 0.5
done
wait $child
