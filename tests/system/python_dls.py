# SPDX-License-Identifier: MIT
"""A program as it is written for DLS.py of DLS4LB, for test_python_mpi.py: each method runs each iteration once."""
import DLS
from mpi4py import MPI

COMM = MPI.COMM_WORLD
RANKS, RANK = COMM.Get_size(), COMM.Get_rank()

for method in [*DLS.DLS_Schedulers, 99]:
    info = DLS.infoDLS(COMM, RANKS, RANK, 5, 204, 0, method, -1, -1, 2, 0.013716, 0.0005, 0.1, 0.0605, 0, 1.85, 0.414, 4, 2, .7)
    seen = []
    DLS.StartLoop(info)
    while not DLS.DLS_Terminated(info):
        start, size = DLS.DLS_StartChunk(info)
        seen += range(start, start + size)
        DLS.DLS_EndChunk(info)
    iterations, seconds = DLS.DLS_EndLoop(info)
    assert iterations == len(seen) and seconds >= 0, (method, iterations, seconds)
    assert sorted(COMM.allreduce(seen)) == list(range(5, 205)), method
if RANK == 0:
    print('ok')
