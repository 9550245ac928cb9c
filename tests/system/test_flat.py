# SPDX-License-Identifier: MIT
"""Workers alone (--dca): the same results as the hierarchy, whatever the mode, technique and number of ranks; wrong use, drains, failures."""
import glob
import hashlib
import itertools
import os
import random
import signal
import time

from drains import ENDLESS, check_drained, results_have_come
from faults import lines_with
from launch import HDSS, SUPERMASTER, WORKER, finish, job, launched, long, main, mpirun_line, ranks_of, report, run, start, wait_until
from nodes import Nodes
from openmpi import IS_5, ONE_SIDED_FAR, RECOVERING, WITHOUT_FILES, rank_of

MODES = ['rma', 'two-sided', 'node']
ALL_MODES = MODES + ['rma:atomics=2', 'two-sided:exchanges=2']
CLOSED = ['static', 'ss', 'css:chunk=13', 'fsc:h=0.01,sigma=0.06', 'mfsc', 'gss', 'tap:mu=1,sigma=0.5', 'tss', 'tss:decrement=real', 'fac2', 'tfss',
          'fiss', 'viss', 'rnd', 'pls:swr=0.7', 'pls']
WEIGHTED = ['wf', 'dtss', 'dfss', 'dgss']
# 24 techniques by 5 lengths in 5 modes, without ss of a million; af, awf-b and awf-e not inside nodes.
FORM_LOOPS = (24 * 5 - 1) * 5 - 3 * 5
# MPICH's ranks do not leave a core that they share to the others: no more of them than there are cores anywhere.
RANKS_MOST = 2 if 'MPIRUN' in os.environ else 8
reference = {}


def flat_line(ranks, mode, words, worker_words=()):
    return mpirun_line([(ranks, [WORKER, '--dca', mode, *worker_words, *words])])


def checksum_of(words):
    """That of the same job with a supermaster."""
    key = ' '.join(words)
    if key not in reference:
        result = run(job(1, 2, words) if RANKS_MOST > 2 else job(0, 1, words))
        assert result.status == 0, result
        reference[key] = result.checksum()
    return reference[key]


def check(ranks, mode, options, kernel, line=None):
    ranks = min(ranks, RANKS_MOST)
    result = run(line or flat_line(ranks, mode, ['--report', 'report.json', *options, *kernel]))
    what = f'{ranks} ranks, {mode}, {options}, {kernel}'
    assert result.status == 0, f'{what}: {result}'
    assert not result.err, f'{what}: {result}'
    figures = report()
    assert figures['topology'] == 'dca-' + mode.split(':')[0], figures
    assert figures['outcome'] == 'done' and figures['workers'] == ranks and figures['masters'] == 0, figures
    assert sum(row['iterations'] for row in figures['worker_stats']) == figures['iterations'] == figures['done'], f'{what}: {figures}'
    assert sum(row['chunks'] for row in figures['worker_stats']) == figures['chunks'], what
    assert figures['checksum'] == checksum_of(kernel), f'{what}: {figures["checksum"]}'
    return figures


def synthetic(iterations):
    return ['synthetic', f'iterations={iterations}', 'mean=0']


# Here whole runs; dca_draws draws in all combinations of ranks, lengths, modes and techniques.


@launched
def test_every_mode_and_length():
    ranks = itertools.cycle([1, 2, 3, 8])
    for iterations, mode in itertools.product([0, 1, 7, 1000], ALL_MODES):
        figures = check(next(ranks), mode, ['--technique', 'gss'], synthetic(iterations))
        assert figures['chunks'] <= iterations


@long
def test_a_million_iterations_one_by_one():
    for ranks, mode in [(2, 'rma'), (3, 'two-sided'), (3, 'node'), (2, 'rma:atomics=2')]:
        figures = check(ranks, mode, ['--technique', 'ss', '--node-technique', 'ss'] if mode == 'node' else ['--technique', 'ss'], synthetic(10**6))
        assert figures['chunks'] == 10**6, figures['chunks']


@long
def test_every_technique():
    ranks, modes = itertools.cycle([2, 3, 8, 3]), itertools.cycle(MODES)
    for technique in CLOSED + WEIGHTED:
        check(next(ranks), next(modes), ['--technique', technique], synthetic(1000))
    for technique, mode in [('af', 'rma'), ('af', 'two-sided'), ('gss', 'two-sided:exchanges=2'), ('wf', 'rma:atomics=2')]:
        check(3, mode, ['--technique', technique], synthetic(1000))


@long
def test_every_node_technique():
    for technique in CLOSED[:-1]:
        check(4, 'node', ['--technique', 'fac2', '--node-technique', technique], synthetic(1000))


def test_chunks_are_counted_as_the_closed_form_has_them():
    # fac2, N = 1000, P = 4: [DCA] Table 2 has 28 chunks
    for mode in ('rma', 'two-sided'):
        assert check(4, mode, ['--technique', 'fac2'], synthetic(1000))['chunks'] == 28
        assert check(4, mode, ['--technique', 'gss'], synthetic(1000))['chunks'] == 17


def uneven():
    """A loop of 96 iterations of which one in two sleeps for 20 ms, by chance, and its work in seconds."""
    draw = random.Random(3)
    costs = [draw.choice((0, 20000)) for _ in range(96)]
    with open('costs', 'w') as file:
        file.writelines(f'{cost}\n' for cost in costs)
    return ['synthetic', 'iterations=96', 'mean=0', 'distribution=file', 'file=costs', 'mode=sleep'], sum(costs) / 1e6


def test_a_node_recalls_what_has_not_begun():
    kernel, work_s = uneven()
    ranks = min(4, RANKS_MOST)
    static = ['--technique', 'static', '--node-technique', 'css:chunk=48']
    assert check(ranks, 'node', ['--recall', 'off', *static], kernel)['recalls'] == {'count': 0, 'iterations': 0, 'worth_s': 0}
    # Another one's core may be taken away for a while: once of ten times is enough.
    for _ in range(10):
        figures = check(ranks, 'node', static, kernel)
        assert figures['recalls']['count'] > 0 and figures['recalls']['iterations'] > 10, figures['recalls']
        if figures['elapsed_s'] <= 1.05 * (work_s / ranks + 0.02):
            break
    else:
        assert False, (work_s, figures['elapsed_s'])


def test_what_a_node_recalls_is_in_the_output():
    kernel = ['mandelbrot', 'width=300', 'height=200', 'max_iter=20000']
    digests = set()
    for recall in ('off', 'on'):
        figures = check(min(4, RANKS_MOST), 'node', ['--recall', recall, '--technique', 'static', '--node-technique', 'css:chunk=200', '--output',
                                                     'out.npy'], kernel)
        assert (figures['recalls']['iterations'] > 0) == (recall == 'on'), figures['recalls']
        with open('out.npy', 'rb') as file:
            digests.add(hashlib.sha256(file.read()).hexdigest())
    assert len(digests) == 1, digests


def draws(which, counts):
    for ranks in counts:
        if ranks > RANKS_MOST:
            break
        result = run(mpirun_line([(ranks, [os.environ['DCA_DRAWS'], which])]))
        assert result.status == 0, result
        loops = int(result.out.split()[0])
        assert loops == (300 if which == 'contest' else FORM_LOOPS), result
        recalls = int(result.out.split()[4])
        assert recalls > 0 if which == 'contest' else recalls == 0, result


@long
def test_the_chunks_drawn_are_those_of_the_closed_form():
    draws('forms', (1, 3))


@long
def test_nothing_is_drawn_twice_or_lost_in_60_loops_of_each_mode():
    draws('contest', (2, 8))


def test_weights_powers_thresholds_and_parts():
    for mode in MODES:
        for options in (['--weighting', 'power', '--technique', 'fac2'], ['--min-chunk', '50', '--technique', 'gss'], ['--power', 'equal', '--technique', 'wf']):
            check(3, mode, options, synthetic(2000))
    with open('powers', 'w') as file:
        file.write('0 1\n1 2.5\n2 0.5\n')
    figures = check(3, 'rma', ['--power', 'powers', '--technique', 'dfss'], synthetic(2000))
    assert [row['power'] for row in figures['worker_stats']] == [2, 5, 1], figures
    whole = int(checksum_of(synthetic(2000)), 16)
    parts = [int(run(flat_line(2, 'rma', ['--iterations', part, *synthetic(2000)])).checksum(), 16) for part in ('0:700', '700:1300')]
    assert sum(parts) % 2**64 == whole


def test_the_output_is_the_same_file():
    digests = set()
    kernel = ['mandelbrot', 'width=200', 'height=150', 'max_iter=200']
    for ranks, mode in [(1, 'rma'), (3, 'rma'), (3, 'two-sided'), (4, 'node')]:
        check(ranks, mode, ['--output', 'out.npy'], kernel)
        with open('out.npy', 'rb') as file:
            digests.add(hashlib.sha256(file.read()).hexdigest())
    assert len(digests) == 1, digests
    result = run(flat_line(2, 'rma', ['--output', 'out.png', *kernel]))
    if result.status == 2 and 'libpng' in result.err[0]:
        return 'no libpng'
    assert result.status == 0 and os.path.getsize('out.png') > 100, result
    return None


@long
def test_slow_workers_get_less():
    # asleep, so that whoever else wants the cores does not slow the quick one
    kernel = ['synthetic', 'iterations=4000', 'mean=100', 'mode=sleep']
    for mode in MODES:
        words = [WORKER, '--dca', mode, '--report', 'report.json', '--technique', 'fac2', *kernel]
        figures = check(2, mode, [], kernel, mpirun_line([(1, words), (1, [*words, '--slowdown', '4'])]))
        fast, slow = figures['worker_stats']
        assert fast['iterations'] > slow['iterations'], (mode, fast, slow)


def refused(contexts, *parts):
    result = run(mpirun_line(contexts))
    assert result.status == 2, result
    assert len(result.err) == 1, result
    assert all(part in result.err[0] for part in parts), result


@long
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


@launched
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


LOST_OVER_RMA = [HDSS, 'run', '--dca', 'rma', '--workers', '3', '--technique', 'ss', '--output', 'out.bin', 'synthetic', 'iterations=30000',
                 'mean=40000', 'mode=sleep', 'distribution=constant']
GOING_ON = ['--mpi-args', ' '.join(RECOVERING)]


def finish_lost(process):
    """The lines of a run that has lost a worker over rma and ends."""
    result = finish(process)
    assert result.status == 1, result
    os.remove('out.bin')
    return result


def test_a_lost_worker_ends_the_run_and_is_explained():
    for more in ([], GOING_ON):
        process = start([*LOST_OVER_RMA[:2], *more, *LOST_OVER_RMA[2:]])
        wait_until(results_have_come, 'the first result')
        os.kill(ranks_of(process, WORKER)[-1], signal.SIGKILL)
        result = finish_lost(process)
        told = lines_with(result, 'was lost, and what it had drawn over rma with it: the run ends')
        if not more and not told:  # mpirun, which ends all ranks by itself then, was quicker
            told = lines_with(result, 'hdss: a process of the run was ended by SIGKILL: workers alone')
        if IS_5 and not told:  # on a busy machine its mpirun loses what ranks print as it ends, and says this itself
            told = [line for line in result.raw_err.splitlines() if 'noticed that process rank 2 ' in line]
        assert len(told) == 1, result


def wait_until_waiting():
    """{rank: pid} of three ranks that KEPT_LOCK keeps in MPI."""
    wait_until(lambda: len(glob.glob('waits.*')) == 3, 'three ranks in MPI')
    found = {rank_of(int(name.split('.')[1])): int(name.split('.')[1]) for name in glob.glob('waits.*')}
    for pid in found.values():
        os.remove(f'waits.{pid}')
    return found


def test_a_rank_killed_with_the_lock_of_the_counters_ends_the_run():
    for rank, text in (2, 'worker: worker rank 2 on node 0 was lost, and what it had drawn over rma'), (0, 'rank 0 was lost: the run ends'):
        process = start(['env', 'LD_PRELOAD=' + os.environ['KEPT_LOCK'], *LOST_OVER_RMA[:2], *GOING_ON, *LOST_OVER_RMA[2:]])
        os.kill(wait_until_waiting()[rank], signal.SIGKILL)
        result = finish_lost(process)
        assert len(lines_with(result, text)) == 1, result


@long
def test_a_worker_lost_while_the_ranks_find_each_other_ends_the_run():
    process = start([HDSS, 'run', '--dca', 'rma', '--workers', '3', '--mpi-args', ' '.join(RECOVERING), '--output', 'out.bin', *synthetic(1000)])
    wait_until(lambda: len(ranks_of(process, WORKER)) == 3, 'three workers')
    victim = ranks_of(process, WORKER)[-1]
    os.kill(victim, signal.SIGSTOP)
    time.sleep(0.7)  # the others wait for it in MPI
    os.kill(victim, signal.SIGKILL)
    result = finish(process)
    assert result.status == 1 and result.err, result


@long
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


@long
def test_idle_ranks_do_not_burn_their_cores():
    # One long iteration: seven ranks have nothing to do for two seconds.
    for mode in MODES:
        before = os.times()
        result = run(flat_line(8, mode, ['--technique', 'ss', 'synthetic', 'iterations=1', 'mean=2e6', 'mode=sleep', 'distribution=constant']))
        after = os.times()
        assert result.status == 0, result
        used = after.children_user + after.children_system - before.children_user - before.children_system
        assert used < 7, f'{mode}: {used} s'


def test_hdss_run_launches_workers_alone():
    for mode in MODES:
        inside = ['--node-technique', 'ss'] if mode == 'node' else ['--break-after', '5']
        result = run([HDSS, 'run', '-v', '--dca', mode, *inside, '--workers', '3', '--slowdown', '1,1,2', '--technique', 'fac2', *synthetic(1000)])
        assert result.status == 0 and result.checksum() == checksum_of(synthetic(1000)), result
        assert 'supermaster' not in result.err[0] and f'--dca {mode}' in result.err[0], result
    far = run([HDSS, 'run', '--dry-run', '--dca', 'rma', '--hosts', 'a:2,b:2', *synthetic(10)])
    assert far.status == 0 and "--host a:2,b:2" in far.out and ("osc '^rdma'" in far.out) != IS_5, far
    for words, text in ((['--dca', 'rma', '--masters', '2'], '--masters'), (['--dca', 'shared'], 'shared'),
                        (['--dca', 'rma', '--node-technique', 'ss'], '--dca node')):
        result = run([HDSS, 'run', *words, *synthetic(10)])
        assert result.status == 2 and len(result.err) == 1 and text in result.err[0], result


@launched
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


# For a second MPI library: what two ranks can do, and what does not depend on how the launcher passes signals, statuses and nodes on.
PORTABLE = [test_every_mode_and_length, test_a_million_iterations_one_by_one, test_every_technique,
            test_the_chunks_drawn_are_those_of_the_closed_form, test_nothing_is_drawn_twice_or_lost_in_60_loops_of_each_mode,
            test_the_output_is_the_same_file, test_what_a_node_recalls_is_in_the_output]


if __name__ == '__main__':
    main(PORTABLE if RANKS_MOST == 2 else [value for name, value in list(globals().items()) if name.startswith('test_')])
