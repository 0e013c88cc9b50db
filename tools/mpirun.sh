#!/bin/sh
# Runs a program on N ranks with the launcher of the MPI it was built with.
#   tools/mpirun.sh N program [args...]
# MPIRUN_LAUNCHER      the launcher (default: mpiexec.openmpi, mpiexec.mpich or mpiexec, the first that exists)
# MPIRUN_FLAVOUR  openmpi or mpich (default: asked of the launcher)
# (Names that begin with SHOAL_ are settings of the library, which knows no others.)
# More ranks than cores, root and no terminal are all normal here.
set -eu
if [ $# -lt 2 ]; then
  echo "usage: mpirun.sh N program [args...]" >&2
  exit 2
fi
ranks=$1
shift

launcher=${MPIRUN_LAUNCHER:-}
if [ -z "$launcher" ]; then
  for candidate in mpiexec.openmpi mpiexec.mpich mpiexec; do
    if command -v "$candidate" >/dev/null 2>&1; then
      launcher=$candidate
      break
    fi
  done
fi
if [ -z "$launcher" ]; then
  echo "mpirun.sh: no mpiexec found; install an MPI (tools/install-deps.sh) or set MPIRUN_LAUNCHER" >&2
  exit 127
fi
flavour=${MPIRUN_FLAVOUR:-}
if [ -z "$flavour" ]; then
  if "$launcher" --version 2>/dev/null | grep -qiE 'open ?mpi|open-?rte'; then flavour=openmpi; else flavour=mpich; fi
fi

if [ "$flavour" = openmpi ]; then
  # Ranks that wait give up the core, since there may be fewer cores than ranks.
  export OMPI_MCA_mpi_yield_when_idle=1
  export OMPI_MCA_rmaps_base_oversubscribe=1
  export OMPI_MCA_hwloc_base_binding_policy="${OMPI_MCA_hwloc_base_binding_policy:-none}"
  # One machine: no search for networks, and no complaint where process_vm_readv is forbidden.
  export OMPI_MCA_pml="${OMPI_MCA_pml:-ob1}"
  export OMPI_MCA_btl="${OMPI_MCA_btl:-self,vader}"
  export OMPI_MCA_btl_vader_single_copy_mechanism="${OMPI_MCA_btl_vader_single_copy_mechanism:-none}"
  export PRTE_MCA_rmaps_default_mapping_policy="${PRTE_MCA_rmaps_default_mapping_policy:-:oversubscribe}"
  exec "$launcher" --allow-run-as-root --oversubscribe -n "$ranks" "$@" </dev/null
fi
exec "$launcher" -n "$ranks" "$@" </dev/null
