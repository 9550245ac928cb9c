# SPDX-License-Identifier: MIT
"""Workers alone (--dca): the same results as the hierarchy, whatever the mode, technique and number of ranks; wrong use, drains, failures."""
import hashlib
import itertools
import os
import random

from flat import ALL_MODES, MODES, RANKS_MOST, checksum_of, flat_line, synthetic
from launch import HDSS, WORKER, main, mpirun_line, need_mpi, rank_of_tests, report, run
from openmpi import IS_5

CLOSED = ['static', 'ss', 'css:chunk=13', 'fsc:h=0.01,sigma=0.06', 'mfsc', 'gss', 'tap:mu=1,sigma=0.5', 'tss', 'tss:decrement=real', 'fac2', 'tfss',
          'fiss', 'viss', 'rnd', 'pls:swr=0.7', 'pls']
WEIGHTED = ['wf', 'dtss', 'dfss', 'dgss']
# 24 techniques by 5 lengths in 5 modes, without ss of a million; af, awf-b and awf-e not inside nodes.
FORM_LOOPS = (24 * 5 - 1) * 5 - 3 * 5


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


def test_every_mode_and_length():
    ranks = itertools.cycle([1, 2, 3, 8])
    for iterations, mode in itertools.product([0, 1, 7, 1000], ALL_MODES):
        figures = check(next(ranks), mode, ['--technique', 'gss'], synthetic(iterations))
        assert figures['chunks'] <= iterations


def test_a_million_iterations_one_by_one():
    for ranks, mode in [(2, 'rma'), (3, 'two-sided'), (3, 'node'), (2, 'rma:atomics=2')]:
        figures = check(ranks, mode, ['--technique', 'ss', '--node-technique', 'ss'] if mode == 'node' else ['--technique', 'ss'], synthetic(10**6))
        assert figures['chunks'] == 10**6, figures['chunks']


def test_every_technique():
    ranks, modes = itertools.cycle([2, 3, 8, 3]), itertools.cycle(MODES)
    for technique in CLOSED + WEIGHTED:
        check(next(ranks), next(modes), ['--technique', technique], synthetic(1000))
    for technique, mode in [('af', 'rma'), ('af', 'two-sided'), ('gss', 'two-sided:exchanges=2'), ('wf', 'rma:atomics=2')]:
        check(3, mode, ['--technique', technique], synthetic(1000))


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
        result = run(mpirun_line([(ranks, rank_of_tests('DCA_DRAWS', which))]))
        assert result.status == 0, result
        loops = int(result.out.split()[0])
        assert loops == (300 if which == 'contest' else FORM_LOOPS), result
        recalls = int(result.out.split()[4])
        assert recalls > 0 if which == 'contest' else recalls == 0, result


def test_the_chunks_drawn_are_those_of_the_closed_form():
    draws('forms', (1, 3))


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


def test_slow_workers_get_less():
    # asleep, so that whoever else wants the cores does not slow the quick one
    kernel = ['synthetic', 'iterations=4000', 'mean=100', 'mode=sleep']
    for mode in MODES:
        words = [WORKER, '--dca', mode, '--report', 'report.json', '--technique', 'fac2', *kernel]
        figures = check(2, mode, [], kernel, mpirun_line([(1, words), (1, [*words, '--slowdown', '4'])]))
        fast, slow = figures['worker_stats']
        assert fast['iterations'] > slow['iterations'], (mode, fast, slow)


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


# For a second MPI library: what two ranks can do, and what does not depend on how the launcher passes signals, statuses and nodes on.
PORTABLE = [test_every_mode_and_length, test_a_million_iterations_one_by_one, test_every_technique,
            test_the_chunks_drawn_are_those_of_the_closed_form, test_nothing_is_drawn_twice_or_lost_in_60_loops_of_each_mode,
            test_the_output_is_the_same_file, test_what_a_node_recalls_is_in_the_output]


def test_a_rank_that_leaves_has_nothing_unloaded_that_a_thread_of_mpi_may_run():
    kernel = ['synthetic', 'iterations=10']
    for words, status in ((['--technique', 'awf', *kernel], 2), (kernel, 0)):
        need_mpi()
        result = run(mpirun_line([(3, ['env', f'LD_PRELOAD={os.environ["UNLOADED"]}', WORKER, '--dca', 'rma', *words])]))
        with open('unloaded', encoding='ascii') as file:
            assert result.status == status and file.read().split() == ['0'] * 3, result
        os.remove('unloaded')


if __name__ == '__main__':
    main(PORTABLE if RANKS_MOST == 2 else [value for name, value in list(globals().items()) if name.startswith('test_')])
