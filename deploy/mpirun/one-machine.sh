#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Lines for one machine, written by hand. From the folder of the programs, or with it in the PATH:
#     one-machine.sh [hierarchical|central|flat] [JOB...]
# The topology is what is launched: each line names how many of which program there are, and the job is given once, to the
# supermaster (flat: to each worker). `hdss run` composes such lines; this is what they are made of.
# (Debian's packages call the programs hdss-supermaster, hdss-master and hdss-worker.)
set -euo pipefail

topology=${1:-hierarchical}
[ $# -eq 0 ] || shift
job=("$@")
[ $# -gt 0 ] || job=(--output counts.npy mandelbrot width=2048 height=2048)
workers=${WORKERS:-$(nproc)}
masters=${MASTERS:-2}

# More ranks than cores share them, bound to none. A rank that dies ends the run; with --mca orte_abort_on_non_zero_status 0 --enable-recovery
# (Open MPI 5: --enable-recovery --prtemca state_base_error_non_zero_exit 0) the others go on, but mpirun then returns 0 however the run went.
options=(--oversubscribe --bind-to none)

# Open MPI 5.0.7 to 5.0.10 at least crash at each line of several programs without this (open-mpi/ompi#13303); version 4 does not look at it.
export PMIX_MCA_pmdl=${PMIX_MCA_pmdl:-^ompi}

case $topology in
  hierarchical) exec mpirun "${options[@]}" -n 1 supermaster "${job[@]}" : -n "$masters" master : -n "$workers" worker ;;
  central) exec mpirun "${options[@]}" -n 1 supermaster "${job[@]}" : -n "$workers" worker ;;
  flat) exec mpirun "${options[@]}" -n "$workers" worker --dca rma "${job[@]}" ;;
  *)
    echo "one-machine.sh: '$topology': accepted: hierarchical, central, flat" >&2
    exit 2
    ;;
esac
