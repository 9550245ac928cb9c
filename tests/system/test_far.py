# SPDX-License-Identifier: MIT
"""Ranks that die on other nodes, where no kernel tells of it: each kind of them, and one that is only stopped. The nodes are
pretended (nodes.py). A loss takes ten seconds to be noticed; everything else is as on one node.
"""
import os
import signal
import time

from far import check_survived, disturbed, on_nodes, words
from faults import lines_with
from journals import wait_for_records
from launch import MASTER, SUPERMASTER, WORKER, finish, hurried, main, mpirun_line, report, run, start, unhurried, wait_until
from loops import STEADY
from openmpi import IS_5, OVER_TCP, RECOVERING, RECOVERING_FAR
from processes import pid_of
from results import check, undisturbed


def far(ranks, program, place=0):
    """The pids of those of a program that are not on the first node, where the supermaster is."""
    found = [ranks[rank][0] for rank in sorted(ranks) if ranks[rank][1] > 0 and ranks[rank][2] == os.path.realpath(program)]
    return found[place]


def test_a_far_worker_of_the_supermaster():
    def test(nodes):
        check_survived(disturbed(nodes, nodes.hdss(['--masters', 0, '--workers', 6, *words()]), lambda ranks: far(ranks, WORKER)), workers=1)
    return on_nodes(test)


def test_a_far_worker_of_a_master():
    def test(nodes):
        # 2 masters serve the workers of 3 nodes: those of the third are dealt out.
        contexts = [(1, [SUPERMASTER, *words()]), (2, [MASTER]), (6, [WORKER])]
        result = disturbed(nodes, nodes.line(contexts, options=RECOVERING_FAR), lambda ranks: far({r: v for r, v in ranks.items() if v[1] == 2}, WORKER))
        assert (result.status == 0) == IS_5 and 'iterations done in' in result.out, result  # version 4 says that a rank died
        result.status = 0
        check_survived(result, workers=1)
    return on_nodes(test)


def test_a_far_master():
    def test(nodes):
        check_survived(disturbed(nodes, nodes.hdss(['--masters', 3, '--workers', 6, *words()]), lambda ranks: far(ranks, MASTER)), masters=1)
    return on_nodes(test)


def test_a_stopped_worker_is_lost_or_goes_on_at_the_end():
    def test(nodes):
        process = start(nodes.hdss(['--masters', 0, '--workers', 4, *words()]))
        wait_for_records(process)
        pid = far(nodes.ranks(), WORKER)
        os.kill(pid, signal.SIGSTOP)
        with hurried():
            result = finish(process)
        check_survived(result, workers=0 if lines_with(result, 'it goes on, to leave') and not report()['faults']['lost_workers'] else 1)
        wait_until(lambda: not os.path.exists(f'/proc/{pid}'), 'its end')
    return on_nodes(test, 2)


def test_a_cut_of_four_seconds_costs_nothing_else():
    """TCP has sent again by then, whatever moment the cut began at; it would not have after eight seconds, see heartbeat.c."""
    loop = unhurried(iterations=1200, sleep_us=40000, held=200)

    def test(nodes):
        for masters in (0, 3):
            process = start(nodes.hdss(['--masters', masters, '--workers', 6, *STEADY, '--output', 'out.npy', *loop]))
            wait_for_records(process)
            nodes.cut(2)
            time.sleep(4)
            nodes.mend(2)
            before = nodes.packets_from(2)
            wait_until(lambda before=before: nodes.packets_from(2) > before + 50, 'workers that are heard again')
            with hurried():
                result = finish(process)
            check(result, undisturbed(*loop))
            told = report()['faults']
            assert told['lost_masters'] == told['lost_workers'] == told.get('late_workers', 0) == 0, (told, result)
            os.remove('out.npy')
    return on_nodes(test)


def test_where_ranks_do_not_see_each_others_processes():
    if os.getuid() != 0:
        return 'process namespaces need root'
    # Each worker has its own, as in a container; Open MPI's shared memory does not come up then.
    contexts = [(1, [SUPERMASTER, *words()]), (3, ['unshare', '--pid', '--fork', WORKER])]
    # Over TCP version 5 needs its ULFM: see openmpi.py.
    options, more = (RECOVERING_FAR, {'mpi_ft_enable': 'true'}) if IS_5 else (RECOVERING, {})
    process = start(mpirun_line(contexts, options, {**OVER_TCP, **more}))
    wait_for_records(process)
    os.kill(pid_of(process, WORKER), signal.SIGKILL)
    with hurried():
        check_survived(finish(process), workers=1)
    return None


def test_a_worker_that_computes_for_long_is_not_lost():
    def test(nodes):
        long = [*STEADY, '--output', 'out.npy', 'synthetic', 'iterations=6', 'mean=1.3e7', 'distribution=constant', 'mode=sleep']
        result = run(nodes.hdss(['--masters', 0, '--workers', 6, *long]))
        assert result.status == 0 and report()['faults']['lost_workers'] == 0, (result, report()['faults'])
    return on_nodes(test, 2)


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
