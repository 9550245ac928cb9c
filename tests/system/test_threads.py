# SPDX-License-Identifier: MIT
"""Two levels: workers with threads. The results are the same for every number of threads and pair of techniques, and what is survived or
refused by workers of one thread is by those of several."""
import os
import signal
import struct

from launch import HDSS, WORKER, finish, hurried, let_user_code_crash, main, ranks_of, report, run, start, wait_until
from loops import ENDLESS, ENDLESS_ITERATIONS, SLOW
from results import read

LOOP = ['mandelbrot', 'width=192', 'height=192']
OUTPUT = ['--isolate', 'off', '--power', 'equal', '--technique', 'css:chunk=8', '--output', 'out.bin', '--report', 'report.json']


def line(words, workers=2, masters=0):
    return [HDSS, 'run', '--workers', workers, '--masters', masters, '--progress', 'never', *words]


def side_by_side(lines):
    processes = [start(words) for words in lines]
    return [finish(process) for process in processes]


def test_results_are_the_same_for_every_number_of_threads_and_pair_of_techniques():
    pairs = [('dfss', 'fac2', 2, 0), ('awf-b', 'gss', 3, 1), ('ss', 'static', 2, 0), ('af', 'ss', 3, 0), ('static', 'awf-b', 2, 1), ('gss', 'af', 3, 0)]
    lines = [line(['--output', 'one.npy', *LOOP])]
    lines += [line(['--threads', threads, '--technique', process, '--thread-technique', thread, '--output', f'{process}.npy',
                    '--report', f'{process}.json', *LOOP],
                   masters=masters) for process, thread, threads, masters in pairs]
    lines += [line(['--threads', 'auto', *LOOP])]
    results = [*side_by_side(lines[:3]), *side_by_side(lines[3:5]), *side_by_side(lines[5:])]
    assert all(result.status == 0 for result in results), '\n'.join(map(str, results))
    assert len({result.checksum() for result in results}) == 1, [result.checksum() for result in results]
    figures = report('af.json')  # copies of chunks that are late come on top
    assert figures['threads']['count'] == 6 and figures['threads']['technique']['name'] == 'ss' and figures['threads']['chunks'] >= 192, figures['threads']
    assert all(row['threads']['count'] == 3 and row['threads']['max_over_mean'] >= 1 for row in figures['worker_stats']), figures['worker_stats']
    assert report('static.json')['threads']['imbalance']['max_over_mean'] >= 1
    for process, *_ in pairs:
        assert read(f'{process}.npy') == read('one.npy'), process


def test_iterations_that_fail_are_given_up_where_they_are():
    result = run(line(['--threads', 3, '--thread-technique', 'ss', '--retries', 1, '--report', 'report.json', 'synthetic', 'iterations=3000', 'mean=10',
                       'fail=0,5,700-702,2999']))
    assert result.status == 3, result
    figures = report()
    assert figures['failed'] == [[0, 1], [5, 1], [700, 3], [2999, 1]] and figures['done'] == 2994, figures['failed']


def test_an_iteration_that_kills_is_found_in_a_child_process():
    # On a busy machine it takes a process so long to end that its chunk looks late, and a copy of it would take down another worker.
    result = run(line(['--threads', 2, '--power', 'equal', '--copies', 'off', '--report', 'report.json', 'synthetic', 'iterations=300', 'mean=10', 'crash=77'],
                      workers=3))
    assert result.status == 3, result
    assert report()['failed'] == [[77, 1]], report()['failed']


def results_have_come():
    return os.path.exists('out.bin') and any(read('out.bin'))


def stored():
    return sum(1 for (value,) in struct.iter_unpack('<Q', read('out.bin')) if value)


def test_a_signal_drains():
    process = start(line(['--threads', 3, *OUTPUT, *ENDLESS]))
    wait_until(results_have_come, 'the first result')
    os.kill(ranks_of(process, WORKER)[0], signal.SIGTERM)
    result = finish(process)
    figures = report()
    assert result.status == 4 and figures['outcome'] == 'drained', result
    assert 0 < figures['done'] < ENDLESS_ITERATIONS and stored() == figures['done'], (stored(), figures['done'])


def test_a_lost_worker_costs_nothing_but_time():
    process = start(line(['--threads', 3, *OUTPUT, *SLOW]))
    wait_until(results_have_come, 'the first result')
    os.kill(ranks_of(process, WORKER)[0], signal.SIGKILL)
    with hurried():
        result, alone = finish(process), run(line(['--threads', 16, *SLOW]))
    faults = report()['faults']
    # The others may be through before its end is seen.
    assert result.status == 0 and faults.get('lost_workers', 0) + faults.get('late_workers', 0) == 1, result
    assert stored() == 300 and result.checksum() == alone.checksum()


def test_a_slow_worker_of_several_threads_is_probed_as_such():
    for masters in (0, 1):
        for _ in range(3):  # beside other processes a probe may take long
            result = run(line(['--threads', 2, '--slowdown', '1,4', '--technique', 'dfss', '--report', 'report.json', 'synthetic', 'iterations=400',
                               'mean=5000', 'distribution=constant', 'mode=sleep'], masters=masters))
            assert result.status == 0, result
            fast, slow = report()['worker_stats']
            assert fast['iterations'] + slow['iterations'] == 400 and fast['threads']['count'] == slow['threads']['count'] == 2, (fast, slow)
            if 2 < fast['power'] / slow['power'] < 8 and fast['iterations'] > 1.5 * slow['iterations']:
                break
        else:
            raise AssertionError((fast, slow))


def composed(*words):
    result = run([HDSS, 'run', '--dry-run', *words, *LOOP])
    assert result.status == 0, result
    return result.out + result.raw_err


def test_hdss_run_leaves_the_cores_to_the_threads():
    assert '--bind-to none' in composed('--carrier', 'mpi', '--workers', '1', '--threads', '2')
    assert '-n 1 ' + WORKER in composed('--threads', 'auto')
    assert '-n 1 ' + WORKER in composed('--threads', '1024')
    mapped = composed('--workers', '1', '--threads', '2', '--mpi-args', '--map-by slot:PE=2')
    assert '--map-by slot:PE=2' in mapped and '--bind-to' not in mapped, mapped


def test_what_cannot_be_is_refused_in_one_line():
    for words, said in (
            (['--threads', '0', *LOOP], 'accepted: an integer from 1 to 1024, auto'),
            (['--threads', '1025', *LOOP], 'accepted: an integer from 1 to 1024, auto'),
            (['--threads', 'two', *LOOP], 'accepted: an integer from 1 to 1024, auto'),
            (['--thread-technique', 'gss', *LOOP], '--thread-technique is for --threads T'),
            (['--threads', '2', '--thread-technique', 'tap', *LOOP], 'tap measures mu=, sigma= which threads do not; accepted: mu=, sigma= with a number'),
            (['--threads', '2', '--thread-technique', 'fsc:h=0.001', *LOOP], 'accepted: sigma= with a number'),
            (['--threads', '2', '--thread-technique', 'pls', *LOOP], 'accepted here is swr= with a number from 0 to 1'),
            (['--threads', '2', '--thread-technique', 'nonsense', *LOOP], "nonsense"),
            (['--threads', '2', '--thread-technique', 'static-steal', *LOOP], '--thread-technique: static-steal says where its chunks lie'),
            (['--threads', '2', 'exec', 'command=true', 'count=4'], '--threads: exec runs on one thread of a worker only'),
            (['--dca', 'rma', '--threads', '2', *LOOP], '--threads is for launches with a supermaster, not for --dca')):
        result = run(line(words))
        assert result.status == 2 and len(result.err) == 1 and said in result.err[0], (words, str(result))


if __name__ == '__main__':
    let_user_code_crash()
    main([function for name, function in list(globals().items()) if name.startswith('test_')])
