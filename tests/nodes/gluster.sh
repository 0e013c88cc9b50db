# GlusterFS over the nodes: two bricks on the machine that starts the jobs, a client on each node. Sourced by
# cluster.sh.
# The safe settings are those of docs/file_systems.md.
gluster_keys=(write-behind read-ahead io-cache quick-read stat-prefetch open-behind)
gluster_options=direct-io-mode=enable,attribute-timeout=0,entry-timeout=0

gluster_cli() { timeout 60 gluster --mode=script "$@" </dev/null; }

# Why it cannot run here; empty: it can.
gluster_missing() {
  local tool
  for tool in glusterd gluster mount.glusterfs; do
    command -v $tool >/dev/null || [ -x "/usr/sbin/$tool" ] || [ -x "/sbin/$tool" ] || {
      echo "no '$tool' here; tools/install-deps.sh --nodes installs it"
      return
    }
  done
  [ -c /dev/fuse ] || echo "no /dev/fuse here"
}

# What the servers write goes with the namespaces, as all else.
gluster_folders() {
  local folder
  for folder in /var/lib/glusterd /var/log/glusterfs; do
    [ -d $folder ] || continue
    mount -t tmpfs -o size=256m tmpfs $folder || return 1
  done
  mkdir -p /run/gluster /run/bricks && mount -t tmpfs -o size=1g tmpfs /run/bricks
}

start_gluster() {
  mkdir -p /run/bricks/{1,2,small}
  mount -t tmpfs -o size=1m tmpfs /run/bricks/small || return 1
  glusterd --no-daemon --log-level WARNING --log-file /var/log/glusterfs/glusterd.log </dev/null &
  local try
  for ((try = 0; try < 60; try++)); do
    gluster_cli pool list >/dev/null 2>&1 && break
    sleep 0.5
  done
  gluster_cli volume create shared "$net.254:/run/bricks/1" "$net.254:/run/bricks/2" force &&
    gluster_cli volume start shared
}

make_safe() {  # VOLUME
  local key
  for key in "${gluster_keys[@]}"; do
    gluster_cli volume set "$1" "performance.$key" off >/dev/null || return 1
  done
}

# mount_gluster VOLUME NODE [options]
mount_gluster() {
  "$here/agent.sh" "$net.$2" "if mountpoint -q /run/$1; then umount /run/$1; fi; mkdir -p /run/$1 &&
    mount -t glusterfs ${3:+-o $3} $net.254:/$1 /run/$1"
}

gluster_problem() {
  echo "==== gluster FAILED: $1 ===="
  tail -n 20 /var/log/glusterfs/*.log
  note FAILED gluster "$SECONDS"
}

section_gluster() {
  local why
  why=$(gluster_missing)
  if [ -n "$why" ]; then
    echo "gluster: skipped: $why"
    summary+=("$(printf '%-8s %-44s %s' skipped gluster "$why")")
    return
  fi
  start_gluster >"$work/log" 2>&1 || { cat "$work/log" && gluster_problem "no volume" && return; }
  local folder=/run/shared
  # As a volume is when nobody sets anything; safe but for one client; safe.
  mount_gluster shared 1 && mount_gluster shared 2 || { gluster_problem "no client" && return; }
  check gluster.as-it-comes 60 1,1 "TEST_SHARING=cached" nodes "-tc=nodes see*"
  make_safe shared && mount_gluster shared 1 $gluster_options && mount_gluster shared 2 ||
    { gluster_problem "no client" && return; }
  check gluster.one-client 60 1,1 "TEST_SHARING=cached" nodes "-tc=nodes see*"
  mount_gluster shared 2 $gluster_options || { gluster_problem "no client" && return; }
  check gluster.safe 60 2,2 "TEST_SHARING=coherent" nodes
  gluster_drivers
  gluster_full
  killed_in_format netcdf4 1,1 gluster.killed
}

# Each call takes one or two milliseconds there: the longest cases in one format, and for other drivers the cases
# in which nodes write beside each other and read what others wrote.
gluster_drivers() {
  local long="what one cut writes*,a stage that is far*"
  local some="files written on any number*,replicated variables in the other*,variables and attributes are added*"
  check gluster.native 900 2,1 "TEST_TIME_LIMIT=400 CONFORMANCE_FORMATS=cdf5" conformance "-tce=$long"
  check gluster.cuts 900 1,1 "TEST_TIME_LIMIT=400 CONFORMANCE_FORMATS=netcdf4" conformance "-tc=what one cut writes*"
  check_drivers gluster. 1,1 "-tc=$some"
}

# A brick that is full while two nodes write.
gluster_full() {
  { gluster_cli volume create small "$net.254:/run/bricks/small" force && gluster_cli volume start small &&
    make_safe small; } >"$work/log" 2>&1 || { cat "$work/log" && gluster_problem "no small volume" && return; }
  mount_gluster small 1 $gluster_options && mount_gluster small 2 $gluster_options ||
    { gluster_problem "no client" && return; }
  check gluster.full 60 2,1 "TEST_SMALL_FOLDER=/run/small" faults "-tc=a small tmpfs*"
}
