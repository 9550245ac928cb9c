# SPDX-License-Identifier: MIT
"""Real runs in every line-up: the same checksum, each iteration once, whatever the technique, topology and counts."""
import itertools

from flat import MODES, flat_line
from launch import MASTER, SUPERMASTER, WORKER, fork_line, main, mpirun_line, report, run, techniques
from lineups import SYNTHETIC, check, reference


def test_every_line_up_gives_the_same_checksum():
    names = itertools.cycle(techniques())
    for masters, workers in itertools.product([0, 1, 2, 4], [1, 2, 3, 7, 16]):
        figures = check(masters, workers, ['--technique', next(names), *SYNTHETIC], 'synthetic')
        assert figures['masters'] == masters and figures['workers'] == workers
        assert figures['topology'] == ('hierarchical' if masters else 'central')


def test_each_topology_gives_the_same_checksum():
    for masters, workers in ((0, 3), (1, 2), (2, 3)):
        for options in (None, ()):
            figures = check(masters, workers, SYNTHETIC, 'synthetic', options=options)
            assert figures['carrier'] == 'memory' if options is None else 'MPI' in figures['carrier'], figures
    for mode in MODES:
        result = run(flat_line(3, mode, ['--report', 'report.json', '--technique', 'fac2', *SYNTHETIC]))
        assert result.status == 0 and not result.err, (mode, result)
        assert report()['checksum'] == reference['synthetic'] and report()['topology'] == f'dca-{mode}', (mode, report())
    for mode in ('node', 'rma'):
        result = run(fork_line([(3, [WORKER, '--dca', mode, '--report', 'report.json', '--technique', 'fac2', *SYNTHETIC])]))
        assert result.status == 0 and not result.err, (mode, result)
        assert report()['checksum'] == reference['synthetic'] and report()['topology'] == f'dca-{mode}', (mode, report())
    result = run(fork_line([(2, [WORKER, '--dca', 'two-sided', *SYNTHETIC])]))
    assert result.status == 2 and len(result.err) == 1 and 'accepted in a launch without it: node, rma' in result.err[0], result


def test_masters_that_compute_give_the_same_checksum():
    for masters, workers, options in ((0, 2, []), (2, 1, ['--break-after', '3']), (1, 2, ['--technique', 'af', '--isolate', 'on']), (0, 3, ['--technique', 'ss', '--output', 'o.npy', '--overwrite']), (0, 0, []),
                                      (2, 0, [])):
        both = max(masters, 1)
        figures = check(masters, workers, ['--masters-compute', *options, *SYNTHETIC], 'synthetic')
        assert figures['workers'] == workers + both, figures
    for words, expected in ((['--break-after', '3', *SYNTHETIC], '--break-after is for --masters-compute'),
                            (['--masters-compute', '--threads', '2', *SYNTHETIC], '--threads 1'),
                            (['--masters-compute', 'hydro'], 'depend on one another')):
        result = run(mpirun_line([(1, [SUPERMASTER, *words]), (1, [WORKER])]))
        assert result.status == 2 and len(result.err) == 1 and expected in result.err[0], result


def test_ranks_in_any_order_share_a_job_of_many_words():
    # The words alone take more than one message of the start; the supermaster is the first rank, the last, and between.
    far = './' * 490
    job = [SUPERMASTER, '--report', far + 'report.json', '--record-costs', far + 'costs', '--output', far + 'out.npy', *SYNTHETIC]
    for contexts in ([(1, job), (6, [WORKER])], [(2, [WORKER]), (1, job), (2, [MASTER]), (5, [WORKER])], [(7, [WORKER]), (1, [MASTER]), (1, job)]):
        result = run(mpirun_line(contexts))
        assert result.status == 0 and not result.err, result
        assert report()['checksum'] == reference.setdefault('synthetic', report()['checksum']), report()


def test_every_technique_gives_the_same_checksum():
    for masters, technique in itertools.product([0, 2], [*techniques(), 'css:chunk=13', 'fsc:h=1e-5,sigma=2e-6', 'auto']):
        check(masters, 3, ['--technique', technique, *SYNTHETIC], 'synthetic')


def test_every_way_of_asking_ahead_gives_the_same_checksum():
    for masters, ahead in itertools.product([0, 1], ['off', '1', '8']):
        check(masters, 3, ['--ask-ahead', ahead, '--technique', 'ss', *SYNTHETIC], 'synthetic')


def test_weighting_grouping_and_powers_give_the_same_checksum():
    for options in (['--weighting', 'power', '--technique', 'gss'], ['--group-by', 'even'], ['--power', 'equal'], ['--min-chunk', '50']):
        check(2, 3, [*options, *SYNTHETIC], 'synthetic')
    with open('powers', 'w') as file:
        file.write('# two masters at ranks 1 and 2\n3 1\n4 2.5\n5 1e-1\n')
    figures = check(2, 3, ['--power', 'powers', *SYNTHETIC], 'synthetic')
    powers = [row['power'] for row in figures['worker_stats']]
    assert [round(power, 6) for power in powers] == [10, 25, 1], powers


def test_zero_and_few_iterations():
    for masters, iterations in ((0, 0), (2, 0), (0, 1), (1, 3)):
        figures = check(masters, 4, ['synthetic', f'iterations={iterations}'], f'synthetic {iterations}')
        assert figures['iterations'] == iterations
        assert figures['chunks'] <= iterations


def test_a_part_of_the_loop():
    for masters in (0, 2):
        for part, key in (('0:700', 'head'), ('700:1300', 'tail')):
            check(masters, 3, ['--iterations', part, *SYNTHETIC], key)
    whole = (int(reference['head'], 16) + int(reference['tail'], 16)) % 2**64
    check(0, 2, SYNTHETIC, 'synthetic')
    assert f'{whole:016x}' == reference['synthetic'], 'the checksums of two parts must add up to that of the whole'


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
