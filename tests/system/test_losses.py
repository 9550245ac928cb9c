# SPDX-License-Identifier: MIT
"""Loops with dependencies that lose workers: the result is that of the serial loop, in both topologies, whoever is lost and how many, early or late;
nothing of it is left out of the output, also where a master is lost; the loss of all workers ends the run."""
import os
import signal

from dependent import dithered, generated, hydro, swinging
from far import on_nodes
from faults import lines_with
from journals import wait_for_records
from kernels import build
from launch import MASTER, WORKER, finish, hdss, hurried, main, mpirun_line, report, run, start, wait_until
from openmpi import FAULT_TOLERANT, IS_5, OVER_TCP, RECOVERING_FAR
from processes import pids
from results import records_of

SOURCE = os.environ['SOURCE_ROOT']
# Each worker waits for its --slowdown when something is recorded, until hurry().
HELD = ['env', 'LD_PRELOAD=' + os.environ['HELD_WAITS']]
SLOW = '1000'
LOOPS = {'floyd-steinberg': ['floyd-steinberg', 'width=700', 'height=500'], 'hydro': ['hydro', 'l=500', 'k=200']}
EXPECTED = {'floyd-steinberg': lambda: b''.join(dithered(generated(700, 500))), 'hydro': lambda: hydro(500, 200)}
OUTPUT = ['--output', 'out.npy', '--report', 'report.json', '--power', 'equal', '--progress', 'never']


def go_on():
    """Until something else is recorded."""
    with open('more', 'a', encoding='ascii') as file:
        file.write('.')


def bytes_stored():
    return sum(map(bool, records_of('out.npy')))


def disturbed(masters, workers, words, places, program=WORKER, later=0):
    """Kills the ranks of the program at these places, one after the other, each when so many more bytes of the results are there."""
    for name in ('out.npy', 'out.npy.journal', 'more'):
        if os.path.exists(name):
            os.remove(name)
    process = start([*HELD, *hdss(masters, workers, [*OUTPUT, *words], '--slowdown', SLOW)])
    wait_for_records(process)
    running = pids(process, program)
    for place in places:
        os.kill(running[place], signal.SIGKILL)
        least = bytes_stored() + later
        if later > 0 and place != places[-1]:
            wait_until(lambda: go_on() or bytes_stored() > least, 'another chunk')
    with hurried():
        return finish(process)


def check_survived(kernel, masters, workers, technique, places, *words, later=0):
    """Also by the checksum of a run that nothing happens to, which has no output."""
    result = disturbed(masters, workers, ['--technique', technique, *words, *LOOPS[kernel]], places, later=later)
    assert result.status == 0, result
    assert records_of('out.npy') == EXPECTED[kernel](), (kernel, masters, technique, places)
    faults = report()['faults']
    assert faults['lost_workers'] == len(places) == len(lines_with(result, 'computed again')), (faults, result)
    assert faults['lost_masters'] == 0 and report()['outcome'] == 'done', report()
    whole = run(hdss(0, 2, LOOPS[kernel]))
    assert result.checksum() == whole.checksum(), (result, whole)


def test_a_lost_worker_costs_nothing_but_time():
    check_survived('floyd-steinberg', 0, 4, 'css:chunk=9', [1])
    check_survived('hydro', 2, 4, 'css:chunk=7', [2])


def test_by_any_technique_and_whoever_it_is():
    for place, (kernel, masters, technique, words) in enumerate([
            ('floyd-steinberg', 2, 'fac2', []), ('hydro', 0, 'gss', ['--sync-points', '100']), ('hydro', 1, 'tss', ['--ask-ahead', '3']),
            ('floyd-steinberg', 0, 'ss', ['--sync-points', '2'])]):
        check_survived(kernel, masters, 4, technique, [place], *words)


def test_several_lost_workers():
    check_survived('hydro', 0, 4, 'css:chunk=7', [0, 2, 3])
    check_survived('floyd-steinberg', 2, 5, 'css:chunk=9', [3, 1], later=1)


def test_a_master_that_loses_all_its_workers_leaves_the_rest_to_others():
    # Dealt out in turn.
    result = disturbed(2, 4, ['--group-by', 'even', '--technique', 'css:chunk=7', *LOOPS['hydro']], [0, 2])
    assert result.status == 0 and records_of('out.npy') == EXPECTED['hydro'](), result


def test_a_dependence_over_several_iterations_is_kept():
    build('wave.so', os.path.join(SOURCE, 'deploy/examples/kernels/wave.c'))
    result = disturbed(0, 3, ['--technique', 'css:chunk=3', './wave.so', 'points=600', 'moments=500'], [2])
    assert result.status == 0 and records_of('out.npy') == swinging(600, 500), result


def check_far(masters):
    """A worker of another node, which is missed after ten seconds; until then it is sent more boundary data than there is room for on the way."""
    words = ['--masters', masters, '--workers', 6, '--slowdown', SLOW, *OUTPUT, '--technique', 'css:chunk=9', '--sync-points', '200', *LOOPS['hydro']]

    def test(nodes):
        process = start([*HELD, *nodes.hdss(words)])
        wait_for_records(process)
        found = nodes.ranks()
        far = [found[rank][0] for rank in sorted(found) if found[rank][1] > 0 and found[rank][2] == os.path.realpath(WORKER)]
        os.kill(far[1], signal.SIGKILL)
        with hurried():
            result = finish(process)
        assert result.status == 0 and records_of('out.npy') == EXPECTED['hydro'](), result
        # Version 5 may crash a rank that sends to the one that is dead, and so lose it, too.
        crashed = result.raw_err.count('(mca_pml_ob1_isend') if IS_5 else 0
        assert report()['faults']['lost_workers'] == 1 + crashed, (report(), result)
    return on_nodes(test)


def test_who_sends_to_a_rank_that_has_died_goes_on():
    """Over TCP, whose connection is reset: Open MPI 4 does not come back from the second message to such a rank, and version 5 needs its ULFM."""
    result = run(mpirun_line([(2, [os.environ['LOST_RECEIVER']])], options=RECOVERING_FAR, mca={**OVER_TCP, **FAULT_TOLERANT}))
    assert 'then 0\n' in result.out, result


def test_results_that_nobody_waits_for_are_taken_all_the_same():
    """As those of a chunk that another worker was quicker with: else their worker waits for ever, or MPI writes to memory that is freed."""
    for way in (OVER_TCP, {}):
        result = run(mpirun_line([(1, [os.environ['LATE_DATA'], 'leads']), (1, [os.environ['LATE_DATA']])], mca=way))
        assert result.status == 0 and result.out == 'all results have gone\n', result


def test_a_worker_of_another_node():
    return check_far(0)


def test_a_worker_of_another_node_with_masters():
    return check_far(3)


def test_the_workers_of_a_lost_master_go_on_with_the_supermaster():
    for masters, places in ((2, [1]), (2, [0, 1])):
        result = disturbed(masters, 4, ['--technique', 'css:chunk=7', *LOOPS['hydro']], places, program=MASTER, later=1)
        assert result.status == 0 and records_of('out.npy') == EXPECTED['hydro'](), result
        faults = report()['faults']
        assert faults['lost_masters'] == len(places) == len(lines_with(result, 'its workers go on')), (faults, result)
        assert faults['lost_workers'] == 0, (faults, result)


def test_without_workers_the_run_ends():
    for masters in (0, 2):
        result = disturbed(masters, 2, ['--technique', 'css:chunk=7', *LOOPS['hydro']], [0, 1])
        assert result.status == 1 and len(lines_with(result, 'all workers are lost')) == 1, result


if __name__ == '__main__':
    main([test for name, test in list(globals().items()) if name.startswith('test_')])
