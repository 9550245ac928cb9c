# SPDX-License-Identifier: MIT
"""Loops with dependencies that lose ranks, also of other nodes: hdss run starts them again, and the result is that of the serial loop."""
import os
import signal

from dependent import dithered, generated, hydro
from far import on_nodes
from faults import all_are_busy, lines_with
from journals import wait_for_records
from launch import MASTER, WORKER, finish, hdss, hurried, main, mpirun_line, need_mpi, rank_of_tests, run, start, wait_until
from openmpi import FAULT_TOLERANT, OVER_TCP, RECOVERING_FAR
from processes import pids, send
from results import records_of

# Each worker waits for its --slowdown when something is recorded, until hurry().
HELD = ['env', 'LD_PRELOAD=' + os.environ['HELD_WAITS']]
SLOW = '1000'
LOOPS = {'floyd-steinberg': ['floyd-steinberg', 'width=700', 'height=500'], 'hydro': ['hydro', 'l=500', 'k=200']}
EXPECTED = {'floyd-steinberg': lambda: b''.join(dithered(generated(700, 500))), 'hydro': lambda: hydro(500, 200)}
OUTPUT = ['--output', 'out.npy', '--report', 'report.json', '--power', 'equal', '--progress', 'never']


def disturbed(masters, workers, words, places, program=WORKER):
    """Kills the ranks of the program at these places, all of which have a chunk: without one their loss would cost no start."""
    os.environ['HDSS_CONTROL_DIR'] = os.getcwd()
    for name in ('out.npy', 'out.npy.journal'):
        if os.path.exists(name):
            os.remove(name)
    process = start([*HELD, *hdss(masters, workers, [*OUTPUT, *words], '--slowdown', SLOW, '--restarts', '1')])
    wait_for_records(process)
    wait_until(all_are_busy, 'a chunk for each worker')
    running = pids(process, program)
    send([running[place] for place in places], signal.SIGKILL)  # with the first the others may have gone
    with hurried():
        return finish(process)


def check_goes_on(result, kernel, starts):
    assert result.status == 0 and records_of('out.npy') == EXPECTED[kernel](), result
    assert len(lines_with(result, 'starting again where it was')) == starts, result


def test_a_lost_rank_costs_a_start():
    for masters, kernel, technique, places, program in ((0, 'floyd-steinberg', 'css:chunk=9', [1], WORKER), (2, 'hydro', 'css:chunk=7', [1], MASTER),
                                                        (1, 'hydro', 'fac2', [0, 2], WORKER)):
        check_goes_on(disturbed(masters, 4, ['--technique', technique, *LOOPS[kernel]], places, program=program), kernel, 1)


def check_far(masters):
    """A worker of another node, which is missed after ten seconds; until then it is sent more boundary data than there is room for on the way."""
    need_mpi()
    words = ['--masters', masters, '--workers', 6, '--slowdown', SLOW, *OUTPUT, '--technique', 'css:chunk=9', '--sync-points', '200', *LOOPS['hydro']]

    def test(nodes):
        process = start([*HELD, *nodes.hdss(words)])
        wait_for_records(process)
        found = nodes.ranks()
        far = [found[rank][0] for rank in sorted(found) if found[rank][1] > 0 and found[rank][2] == os.path.realpath(WORKER)]
        os.kill(far[1], signal.SIGKILL)
        with hurried():
            result = finish(process)
        check_goes_on(result, 'hydro', 1)
    return on_nodes(test)


def test_who_sends_to_a_rank_that_has_died_goes_on():
    """Over TCP, whose connection is reset: Open MPI 4 does not come back from the second message to such a rank, and version 5 needs its ULFM."""
    result = run(mpirun_line([(2, rank_of_tests('LOST_RECEIVER'))], options=RECOVERING_FAR, mca={**OVER_TCP, **FAULT_TOLERANT}))
    assert 'then 0\n' in result.out, result


def test_results_that_nobody_waits_for_are_taken_all_the_same():
    """As those of a chunk that another worker was quicker with: else their worker waits for ever, or MPI writes to memory that is freed."""
    for way in (OVER_TCP, {}):
        result = run(mpirun_line([(1, rank_of_tests('LATE_DATA', 'leads')), (1, rank_of_tests('LATE_DATA'))], mca=way))
        assert result.status == 0 and result.out == 'all results have gone\n', result


def test_a_worker_of_another_node():
    return check_far(0)


def test_a_worker_of_another_node_with_masters():
    return check_far(3)


if __name__ == '__main__':
    main([test for name, test in list(globals().items()) if name.startswith('test_')])
