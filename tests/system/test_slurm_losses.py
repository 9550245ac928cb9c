# SPDX-License-Identifier: MIT
"""Jobs of a real Slurm, on pretended nodes, that lose a worker, a master, a node or the supermaster."""
import os
import signal

from journals import has_records
from launch import MASTER, SUPERMASTER, WORKER, journal_is_over, main, report, wait_until
from loops import LONG
from slurm_jobs import disturbed, has_pods, over, workers_on


def test_a_lost_worker_and_a_lost_master_are_survived():
    def test(slurm):
        os.environ.update(HDSS_CONTROL_DIR=os.getcwd())
        for program, what in ((WORKER, 'lost_workers'), (MASTER, 'lost_masters')):
            def kill(_, program=program):
                wait_until(lambda: has_pods(slurm), 'the pods')
                ranks = slurm.nodes.ranks()
                os.kill(next(pid for pid, node, path in ranks.values() if node == 1 and path == os.path.realpath(program)), signal.SIGKILL)
            status, text = disturbed(slurm, 'hdss', kill, job=LONG)
            figures = report()
            assert status == 0 and figures['outcome'] == 'done' and figures['faults'][what] == 1, (status, text, figures['faults'])
            os.remove('out.npy')
    return over(test)


def test_a_lost_node_is_survived():
    def test(slurm):
        def kill(_):
            wait_until(lambda: has_pods(slurm), 'the pods')
            slurm.nodes.kill(1)
        os.environ.update(HDSS_CONTROL_DIR=os.getcwd())
        status, text = disturbed(slurm, 'hdss', kill, job=LONG)
        figures = report()
        assert status == 0 and figures['outcome'] == 'done' and figures['done'] == 1000, (status, text, figures)
        told = figures['faults']
        # Those of a lost master may be late, and nothing else, before they are found to be lost.
        assert told['lost_workers'] + told.get('late_workers', 0) == 4 and told['lost_masters'] == 1, told
    return over(test)


def test_a_lost_supermaster_is_started_again():
    def test(slurm):
        def kill(_):
            wait_until(has_records, 'the first record')
            first = slurm.nodes.running(SUPERMASTER)
            os.kill(first[0], signal.SIGKILL)
            return first

        def kill_and_wait(_):
            """By hdss the next one does not wait for its pods."""
            first = kill(_)
            wait_until(lambda: slurm.nodes.running(SUPERMASTER) not in ([], first) and has_pods(slurm), 'the pods once more')
        os.environ.update(HDSS_CONTROL_DIR=os.getcwd())
        for name, strike in (('hdss', kill_and_wait), ('mpirun', kill)):
            status, text = disturbed(slurm, name, strike, job=LONG)
            figures = report()
            assert status == 0 and figures['outcome'] == 'done' and text.count('starting again where it was, 1 of 3 times') == 1, (name, status, text)
            assert figures['faults']['resumed_iterations'] > 0 and workers_on(figures) == {0: 4, 1: 4}, (name, figures)
            assert text.count('checksum') == 1 and journal_is_over('out.npy.journal'), (name, text)
            os.remove('out.npy')
        status, text = disturbed(slurm, 'hdss', kill, '--restarts', '0', job=LONG, goes_on=False)
        assert status == 1 and 'the run ended without its supermaster; the same line with --resume' in text, (status, text)
    return over(test)


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
