#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A line for several nodes without a batch system, written by hand: a supermaster on the first node, a master on each, and workers. mpirun
# starts them by ssh, so each node must let this one in without a password, and have the programs at the same place.
#     several-nodes.sh node1:16,node2:16 [JOB...]       workers on each node, behind its name
# The nodes must be alike; `hdss run --hosts` deals workers out to unequal ones as well.
# (Debian's packages call the programs hdss-supermaster, hdss-master and hdss-worker.)
set -euo pipefail

usage() {
  echo "several-nodes.sh: '$1': accepted: node1:16,node2:16 (the same number of workers on each)" >&2
  exit 2
}

nodes=${1:-}
[ $# -eq 0 ] || shift
job=("$@")
[ $# -gt 0 ] || job=(--output "$PWD/counts.npy" mandelbrot width=16384 height=16384)

IFS=, read -r -a list <<<"$nodes"
[ ${#list[@]} -gt 0 ] || usage "$nodes"
each=${list[0]##*:}
hosts=
for node in "${list[@]}"; do
  [[ $node =~ ^[A-Za-z0-9][A-Za-z0-9._-]*:([1-9][0-9]{0,4})$ && ${BASH_REMATCH[1]} = "$each" ]] || usage "$nodes"
  # the workers of the node, its master, and on the first one the supermaster
  hosts+=${hosts:+,}${node%:*}:$((each + 1 + (${#hosts} == 0)))
done

# Open MPI 5.0.7 to 5.0.10 at least crash at each line of several programs without this (open-mpi/ompi#13303); version 4 does not look at it.
export PMIX_MCA_pmdl=${PMIX_MCA_pmdl:-^ompi}

# Each context goes around the nodes, from the first one, until they are full.
exec mpirun --host "$hosts" --map-by node --bind-to none \
  -n 1 supermaster "${job[@]}" : -n ${#list[@]} master : -n $((each * ${#list[@]})) worker
