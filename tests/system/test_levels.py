# SPDX-License-Identifier: MIT
"""The level of threads that ranks ask MPI for is the least that suffices: MPI locks at each message for more."""
import os

from launch import MASTER, SUPERMASTER, WORKER, main, mpirun_line, need_mpi, run
from nodes import Nodes
from openmpi import IS_5, OVER_TCP

JOB = ['synthetic', 'iterations=30', 'mean=10']


def least(level):
    """What suffices on one node. The launcher of Open MPI 5 is kept from telling how many ranks are there, and a level that allows for beats costs
    nothing: it locks for MPI_THREAD_MULTIPLE alone."""
    return {'serialized' if IS_5 else level}


def levels(line):
    """{program: levels} of a run."""
    need_mpi()
    path = os.path.abspath('levels')
    result = run(['env', f'LD_PRELOAD={os.environ["SAY_LEVEL"]}', f'LEVELS={path}', *line])
    assert result.status == 0, result
    found = {}
    with open(path, encoding='ascii') as file:
        for program, level in map(str.split, file):
            found.setdefault(program, set()).add(level)
    os.remove(path)
    return found


def hierarchical(workers=3, before=()):
    return [(1, [SUPERMASTER, *JOB]), (1, [MASTER]), (workers, [*before, WORKER])]


def test_on_one_node_no_second_thread_uses_mpi():
    assert levels(mpirun_line(hierarchical())) == {'supermaster': least('single'), 'master': least('single'), 'worker': least('funneled')}


def test_a_worker_that_has_no_threads_says_so():
    contexts = [(1, [SUPERMASTER, *JOB]), (2, [WORKER, '--no-threads'])]
    assert levels(mpirun_line(contexts)) == {'supermaster': least('single'), 'worker': least('single')}
    contexts[0] = (1, [SUPERMASTER, '--threads', 2, *JOB])
    result = run(mpirun_line(contexts))
    line = '--no-threads: the job has --threads 2; accepted: --threads 1, or workers without --no-threads'
    if any('no OpenMP' in said for said in result.err):
        return 'the second half needs OpenMP'
    assert result.status != 0 and any(line in said for said in result.err), result
    return None


def test_without_a_supermaster_the_kernel_is_known_before_mpi_begins():
    # Each rank has a thread that looks for losses, and uses no MPI.
    for mode in 'rma', 'two-sided', 'node':
        assert levels(mpirun_line([(3, [WORKER, '--dca', mode, *JOB])])) == {'worker': least('funneled')}, mode


def test_on_several_nodes_a_thread_sends_beats():
    try:
        with Nodes(2) as nodes:
            found = levels(nodes.line(hierarchical()))
    except OSError as problem:
        return str(problem)
    assert found == {'supermaster': {'serialized'}, 'master': {'serialized'}, 'worker': {'serialized'}}, found
    return None


def test_a_worker_with_process_ids_of_its_own_beats():
    if os.getuid() != 0:
        return 'process namespaces need root'
    found = levels(mpirun_line(hierarchical(2, ['unshare', '--pid', '--fork']), mca=OVER_TCP))
    assert found['worker'] == {'serialized'} and found['supermaster'] == least('single'), found
    return None


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
