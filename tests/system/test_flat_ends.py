# SPDX-License-Identifier: MIT
"""Runs of workers alone (--dca) that are drained, fail, lose workers or are used wrongly, that wait, and that run over several nodes."""
import glob
import itertools
import os
import signal

from drains import ENDLESS, check_drained, results_have_come
from faults import lines_with
from flat import ALL_MODES, MODES, checksum_of, flat_line, synthetic
from launch import HDSS, SUPERMASTER, WORKER, catches, finish, hurried, job, main, mpirun_line, need_mpi, ranks_of, report, run, start, unhurried, wait_until
from nodes import Nodes
from openmpi import IS_5, ONE_SIDED_FAR, WITHOUT_FILES, rank_of
from processes import used_beside_one_that_spins


def refused(contexts, *parts):
    result = run(mpirun_line(contexts))
    assert result.status == 2, result
    assert len(result.err) == 1, result
    assert all(part in result.err[0] for part in parts), result


def test_wrong_use_is_one_line_and_exit_2():
    kernel = ['synthetic', 'iterations=10']

    def one(*words):
        return [(3, [WORKER, *words])]
    refused(one('--dca', 'shared', *kernel), '--dca', "'shared'", 'two-sided')
    refused(one('--dca', 'rma'), 'no kernel')
    refused(one('--dca', 'rma', 'mandelbrott'), 'mandelbrott')
    for option in (['--ask-ahead', '2'], ['--group-by', 'even']):
        refused(one('--dca', 'rma', *option, *kernel), option[0], 'supermaster')
    for mode in ('rma', 'two-sided'):
        refused(one('--recall', 'off', '--dca', mode, *kernel), '--recall', 'supermaster', '--dca node')
    refused(one('--dca', 'rma', '--technique', 'auto', *kernel), 'auto')
    refused(one('--dca', 'rma', '--technique', 'awf', *kernel), 'awf cannot run without a coordinator (--dca)')
    refused(one('--dca', 'rma', '--technique', 'static-steal', *kernel), 'static-steal cannot run without a coordinator (--dca)')
    refused(one('--dca', 'rma', '--technique', 'tap', *kernel), 'tap', 'mu=')
    refused(one('--dca', 'node', '--technique', 'af', *kernel), 'af cannot run with --dca node')
    refused(one('--dca', 'node', '--technique', 'awf-b', *kernel), 'awf-b cannot run with --dca node')
    refused(one('--dca', 'node', '--node-technique', 'dfss', *kernel), '--node-technique', 'dfss')
    refused(one('--dca', 'rma', '--node-technique', 'ss', *kernel), '--node-technique', '--dca node')
    refused(one('--dca', 'node', '--break-after', '3', *kernel), '--break-after')
    refused(one('--dca', 'rma', '--output', 'x.jpeg', *kernel), 'x.jpeg')
    refused(one('--dca', 'rma', '--output', 'nowhere/x.npy', *kernel), 'nowhere/x.npy')
    refused(one('--dca', 'rma', '--power', 'nowhere', '--technique', 'wf', *kernel), 'nowhere')
    refused([(2, [WORKER, '--dca', 'rma', *kernel]), (1, [WORKER, '--dca', 'node', *kernel])], 'rank 2')
    refused([(2, [WORKER, '--dca', 'rma', *kernel]), (1, [WORKER, '--dca', 'rma', *kernel, 'mean=3'])], 'rank 2', 'another job')
    refused([(2, [WORKER, '--dca', 'rma', *kernel]), (1, [WORKER])], 'rank 0', 'rank 2')
    refused([(1, [SUPERMASTER, *kernel]), (2, [WORKER, '--dca', 'rma', *kernel])], 'rank 1 has --dca', 'supermaster')


def test_a_signal_to_any_rank_drains():
    for mode, which in itertools.product(MODES, (0, -1)):
        process = start(flat_line(3, mode, ENDLESS))
        wait_until(results_have_come, 'the first result')
        os.kill(ranks_of(process, WORKER)[which], signal.SIGTERM)
        check_drained(finish(process))
        os.remove('out.bin')


def test_a_signal_to_all_ranks_drains():
    process = start(flat_line(3, 'rma', ENDLESS))
    wait_until(results_have_come, 'the first result')
    process.send_signal(signal.SIGUSR1)
    check_drained(finish(process))


def test_a_rank_that_fails_ends_the_run_with_one_line():
    for mode in MODES:
        # Every row of the second half lies beyond the limit, and they take seconds: a rank that starts late draws one, too.
        words = [WORKER, '--dca', mode, '--technique', 'ss', '--iterations', '1000:1000', '--output', 'out.npy', 'mandelbrot', 'width=3000',
                 'height=2000', 'max_iter=50000']
        limited = ['sh', '-c', 'ulimit -f 20000; exec "$@"', 'sh', *words]
        result = run(mpirun_line([(2, words), (1, limited)], mca=WITHOUT_FILES))
        assert result.status == 1, result
        assert len(result.err) == 1 and 'rank 2' in result.err[0] and 'File too large' in result.err[0], result


def lost_line(mode, *more):
    return [HDSS, 'run', *more, '--dca', mode, '--workers', '3', '--technique', 'ss', '--output', 'out.bin', 'synthetic', 'iterations=30000',
            'mean=40000', 'mode=sleep', 'distribution=constant']


def check_lost(process, rank):
    """The run of three workers ends, as `rank` was lost, and one line says so."""
    result = finish(process)
    told = lines_with(result, f'worker rank {rank} on node 0 was lost: the run ends, and nothing of it can be resumed; without --dca')
    if IS_5 and not told:  # on a busy machine its mpirun loses what ranks print as it ends, and says this itself
        told = [line for line in result.raw_err.splitlines() if f'noticed that process rank {rank} ' in line]
    assert result.status == 1 and len(told) == 1 and 'checksum' not in result.out, result
    assert not lines_with(result, 'hdss: '), result
    os.remove('out.bin')


def test_a_lost_rank_ends_the_run_and_is_explained():
    for mode, rank in itertools.product(MODES, (0, 2)):
        process = start(lost_line(mode))
        wait_until(results_have_come, 'the first result')
        os.kill(ranks_of(process, WORKER)[rank], signal.SIGKILL)
        check_lost(process, rank)


def test_a_rank_lost_where_the_launcher_ends_the_others_is_explained():
    process = start(lost_line('two-sided', '--mpi-args', '--disable-recovery'))
    wait_until(results_have_come, 'the first result')
    os.kill(ranks_of(process, WORKER)[2], signal.SIGKILL)
    result = finish(process)
    told = lines_with(result, 'without --dca ')  # by the rank that found it, or by hdss run where mpirun was quicker
    assert result.status == 1 and told, result
    os.remove('out.bin')


def wait_until_waiting():
    """{rank: pid} of three ranks that KEPT_LOCK keeps in MPI."""
    wait_until(lambda: len(glob.glob('waits.*')) == 3, 'three ranks in MPI')
    found = {rank_of(int(name.split('.')[1])): int(name.split('.')[1]) for name in glob.glob('waits.*')}
    for pid in found.values():
        os.remove(f'waits.{pid}')
    return found


def test_a_rank_killed_with_the_lock_of_the_counters_ends_the_run():
    need_mpi()
    for rank in (2, 0):
        process = start(['env', 'LD_PRELOAD=' + os.environ['KEPT_LOCK'], *lost_line('rma')])
        os.kill(wait_until_waiting()[rank], signal.SIGKILL)
        check_lost(process, rank)


def test_a_worker_lost_while_the_ranks_find_each_other_ends_the_run():
    process = start(lost_line('rma'))
    wait_until(lambda: len(ranks_of(process, WORKER)) == 3, 'three workers')
    *others, victim = ranks_of(process, WORKER)
    os.kill(victim, signal.SIGSTOP)
    wait_until(lambda: all(catches(pid, signal.SIGTERM) for pid in others), 'the others, which go on into MPI and wait for it there')
    os.kill(victim, signal.SIGKILL)
    result = finish(process)
    assert result.status == 1 and result.err, result


def test_injected_delays_are_waited_for():
    # ss, 10 chunks: 20 ms each, where they are served one after another, or drawn by one rank
    kernel = ['--power', 'equal', '--technique', 'ss', '--report', 'report.json', *synthetic(10)]
    for where in ('calculation', 'assignment'):
        delay = ['--inject-delay', f'{where}:20000']
        for line in (job(0, 2, [*delay, *kernel]), job(1, 2, [*delay, *kernel]),
                     *(flat_line(1, mode, [*delay, '--node-technique', 'ss', *kernel] if mode == 'node' else [*delay, *kernel]) for mode in ALL_MODES)):
            result = run(line)
            assert result.status == 0, result
            figures = report()
            served = figures['chunks'] if where == 'assignment' or figures['topology'] != 'hierarchical' else figures['refills']
            assert figures['elapsed_s'] > 0.02 * (served - 1), (line, figures['elapsed_s'])
            assert figures['checksum'] == checksum_of(synthetic(10))


def test_idle_ranks_do_not_burn_their_cores():
    """Seven ranks have nothing to do while one waits in an iteration: none uses a quarter of the processor time of this process,
    which spins."""
    for mode in MODES:
        process = start(flat_line(8, mode, ['--technique', 'ss', '--output', 'out.bin', *unhurried(iterations=2, sleep_us=0, held=1)]))
        wait_until(results_have_come, 'the first result')
        used = used_beside_one_that_spins(ranks_of(process, WORKER))
        with hurried():
            result = finish(process)
        assert result.status == 0 and len(used) == 8 and max(used) < 0.25, (mode, used, result)
        os.remove('out.bin')


def test_several_nodes():
    kernel = ['synthetic', 'iterations=2000', 'mean=20']
    expected = checksum_of(kernel)
    try:
        with Nodes(3) as nodes:
            # Again and again by node, where rank 0 may wait in shared memory while the others need it inside MPI.
            for mode in [*ALL_MODES, *4 * ['node']]:
                words = [WORKER, '--dca', mode, '--technique', 'fac2', '--report', os.path.abspath('report.json'), *kernel]
                result = finish(start(nodes.line([(6, words)], options=ONE_SIDED_FAR)))
                assert result.status == 0, (mode, result)
                figures = report()
                assert figures['nodes'] == 3 and figures['checksum'] == expected, (mode, figures)
                if mode == 'node':
                    assert figures['refills'] == 23, figures['refills']  # fac2 for three nodes
    except OSError as problem:
        return str(problem)


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
