#!/bin/sh
# Stands in for ssh: agent.sh ADDRESS COMMAND... runs the command on the node with this address.
address=$1
shift
exec nsenter --target "$(cat "$CLUSTER/${address##*.}.pid")" --net --uts --mount --pid \
  --wd="$PWD" sh -c "$*"
