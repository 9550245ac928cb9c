# SPDX-License-Identifier: MIT
"""Every kind of job in a set: its results are those of a run by itself."""
import os
import signal
import struct
import sys

from dependent import DITHER, HYDRO, swinging
from journals import records_of_journal
from launch import (HDSS, MASTER, SUPERMASTER, WORKER, finish, hurry, journal_is_over, main, python_is_there, ranks_of, report, run, start,
                    techniques, wait_until)
from loops import SLEEPING
from results import read
from sets import here, job, well
from wave import BY_FOURS, MOMENTS, POINTS, WAVE, build_wave

WAVES = [*BY_FOURS, '--output', 'out.npy', '--overwrite', *WAVE]


def up(*words):
    """The set's process, which is to be ended by down()."""
    here()
    process = start([HDSS, 'up', '--foreground', '--restarts', '0', *words])
    assert process.stdout.readline() == 'main is up\n', finish(process)
    return process


def down(process):
    assert run([HDSS, 'down']).status == 0
    ended = finish(process)
    assert ended.status == 0, ended


def state(number):
    return job(number)['state']


def done(number):
    return job(number)['done']


def begin_waves(number):
    """A loop that is not over before hurry()."""
    if os.path.exists('hurry'):
        os.remove('hurry')
    assert well(['submit', *WAVES]) == f'main/{number}\n'
    wait_until(lambda: done(number) > MOMENTS // 20, 'a loop that runs')


def check_waves(number, expected):
    hurry()
    waited = run([HDSS, 'wait', number])
    assert waited.status == 0, (waited, well(['output', number]))
    assert read('out.npy')[-len(expected):] == expected, well(['output', number])


def test_a_loop_with_dependencies_runs_alone():
    build_wave()
    runs = [run([HDSS, 'run', '--workers', '3', '--output', f'{name}.npy', name]) for name in (DITHER, HYDRO)]
    process = up('--workers', '3')
    try:
        well(['submit', *SLEEPING, 'iterations=1000000'])
        wait_until(lambda: done('1') > 0, 'a job that runs')
        well(['submit', '--output', 'dithered.npy', DITHER])
        well(['submit', 'synthetic', 'iterations=1'])
        before = run([HDSS, 'submit', '--wait', '--priority', '1', 'synthetic', 'iterations=1'])
        assert before.status == 0 and [state(number) for number in '123'] == ['running', 'waiting', 'waiting'], before
        well(['cancel', '1'])
        well(['wait', '2', '3'])
        swept = run([HDSS, 'submit', '--wait', '--output', 'swept.npy', HYDRO])
        assert [run([HDSS, 'output', '2']).checksum(), swept.checksum()] == [one.checksum() for one in runs]
        assert read('dithered.npy') == read(f'{DITHER}.npy') and read('swept.npy') == read(f'{HYDRO}.npy')
        begin_waves('6')
        well(['submit', '--priority', '1', 'synthetic', 'iterations=1'])
        assert state('7') == 'waiting'
        well(['cancel', '6'])
        assert run([HDSS, 'wait', '6']).status == 4 and run([HDSS, 'wait', '7']).status == 0
    finally:
        down(process)


def test_a_loop_with_dependencies_begins_again_without_a_lost_rank():
    build_wave()
    expected = swinging(POINTS, MOMENTS)
    process = up('--workers', '4', '--masters', '2')
    try:
        begin_waves('1')
        os.kill(ranks_of(process, WORKER)[0], signal.SIGKILL)
        check_waves('1', expected)
        begin_waves('2')
        os.kill(ranks_of(process, MASTER)[0], signal.SIGKILL)
        check_waves('2', expected)
        well(['submit', *WAVES])
        check_waves('3', expected)
    finally:
        down(process)


def test_a_loop_with_dependencies_goes_without_a_worker_that_has_returned():
    """The others know only of the process that was lost."""
    build_wave()
    expected = swinging(POINTS, MOMENTS)
    process = up('--workers', '3')
    try:
        begin_waves('1')
        killed = ranks_of(process, WORKER)[0]
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: len(set(ranks_of(process, WORKER)) - {killed}) == 3, 'another worker')
        check_waves('1', expected)
        well(['submit', '--wait', 'synthetic', 'iterations=100'])
        assert '1 lost worker' not in well(['output', '2'])
        well(['submit', *WAVES])
        check_waves('3', expected)
        assert '1 lost worker' in well(['output', '3'])
    finally:
        down(process)


def test_a_loop_with_dependencies_goes_on_from_its_recovery_points():
    build_wave()
    expected = swinging(POINTS, MOMENTS)
    process = up('--workers', '3')
    begin_waves('1')
    wait_until(lambda: [kind for kind, _ in records_of_journal()].count('point') > 1, 'a recovery point')
    well(['submit', 'synthetic', 'iterations=1'])
    os.kill(ranks_of(process, SUPERMASTER)[0], signal.SIGKILL)
    assert finish(process).status == 1 and read('out.npy')[-len(expected):] != expected
    process = up('--workers', '2', '--masters', '1', '--resume')
    try:
        check_waves('1', expected)
        assert 'resumed iterations' in well(['output', '1']) and run([HDSS, 'wait', '2']).status == 0
    finally:
        down(process)


SMALL = ['mandelbrot', 'width=48', 'height=48']


def submit(*words):
    return run([HDSS, 'submit', '--wait', *words])


def check_options(masters, workers):
    """Each option of a job does not change its results, nor their files."""
    here()
    reference = run([HDSS, 'run', '--workers', '3', '--output', 'alone.npy', *SMALL])
    process = up('--workers', str(workers), '--masters', str(masters))
    powers = [*range(1, workers + 1)]
    try:
        for options in ([['--technique', technique] for technique in [*techniques(), 'auto']] + [
                ['--technique', 'dtss', '--weighting', 'acp'], ['--technique', 'gss', '--weighting', 'power', '--power', ','.join(map(str, powers))],
                ['--power', 'powers'], ['--verify', '0.5:3'], ['--min-chunk', '4', '--refill-chunks', '2'], ['--recall', 'off'], ['--ask-ahead', 'off'],
                ['--inject-delay', 'calculation:10', '--inject-delay', 'assignment:10'], ['--retries', '0'], ['--drain-time', '1'],
                ['--isolate', 'on', '--iteration-timeout', '60'], ['--isolate', 'off'], ['--threads', '2'], ['--threads', 'auto', '--isolate', 'off'],
                ['--journal', 'j', '--output', 'by-journal.npy'], ['--durability', 'node', '--output', 'durable.npy'], ['--progress', 'always']]):
            with open('powers', 'w', encoding='ascii') as file:
                file.write(''.join(f'{masters + power} {power}\n' for power in powers))
            done_ = submit(*options, *SMALL)
            assert done_.status == 0 and done_.checksum() == reference.checksum(), (options, done_)
        assert read('durable.npy') == read('by-journal.npy') == read('alone.npy') and journal_is_over('j')
        os.mkdir('below')
        written = submit('--report', 'below/report.json', '--record-costs', 'below/costs', *SMALL)
        assert written.status == 0 and report('below/report.json')['iterations'] and read('below/costs'), written
        for words in (['synthetic', 'iterations=0'], ['synthetic', 'iterations=2'], ['synthetic', 'iterations=30', 'steps=3']):
            assert submit(*words).status == 0, words
        part = submit('--iterations', '10:5', '--output', 'part.csv', *SMALL)
        assert part.status == 0 and 'mandelbrot: 5 iterations done' in part.out, part
    finally:
        down(process)


def test_options_of_a_job():
    check_options(0, 3)


def test_options_of_a_job_with_masters():
    check_options(2, 4)


def test_tasks_of_a_set():
    process = up('--workers', '3')
    try:
        with open('tasks.csv', 'w', encoding='ascii') as file:
            file.write('name,after\na,\nb,a\nc,b\n')
        ordered = submit('--output', 'ordered.out', 'exec', 'table=tasks.csv', 'command=echo {name}')
        assert ordered.status == 0 and read('ordered.out') == b'a\nb\nc\n' and os.path.exists('ordered.log'), ordered
        failed = submit('--output', 'go.out', 'exec', 'command=test -e go', 'count=3')
        assert failed.status == 3 and 'go.out.journal: --resume failed' in failed.out, failed
        with open('go', 'w', encoding='ascii'):
            pass
        again = submit('--output', 'go.out', '--resume', 'failed', 'exec', 'command=test -e go', 'count=3')
        assert again.status == 0 and '3 submitted = 3 done' in again.out, again
        # each takes all cores of the node: no two of them run at once, of whatever jobs
        cores = str(os.cpu_count())
        names = [well(['submit', '--output', f'{n}.out', 'exec', 'command=mkdir busy && sleep 0.01 && rmdir busy', 'shell=yes', 'count=5', f'cores={cores}']).strip()
                 for n in range(3)]
        assert well(['wait', *names]).count('done, 5 of 5') == 3
    finally:
        down(process)


def test_no_two_jobs_write_the_same_output():
    process = up('--workers', '2')
    try:
        for journal in (['--journal', 'off'], []):
            first = well(['submit', *journal, '--output', 'same.npy', '--overwrite', *SLEEPING, 'iterations=1000000']).strip()
            wait_until(lambda: job(first.split('/')[1])['done'] > 0, 'a job that runs')
            second = submit(*journal, '--output', './same.npy', '--overwrite', *SMALL)
            assert second.status == 2 and len(second.err) == 1 and second.err[0].endswith('another run is writing it'), second
            well(['cancel', first])
            assert run([HDSS, 'wait', first]).status == 4
    finally:
        down(process)


def test_a_kernel_is_asked_in_the_environment_of_its_job():
    os.environ.pop('PYTHONPATH', None)
    os.mkdir('modules')
    with open('modules/mine.py', 'w', encoding='ascii') as file:
        file.write("def describe():\n    return {'iterations': 3, 'dtype': 'float64'}\ndef run(first, count):\n    return [5] * count\n")
    process = up('--workers', '2')
    try:
        if not python_is_there():
            return 'this build has no Python'
        missing = submit('python:mine.run')
        assert missing.status == 2 and 'there is no module mine' in missing.err[0], missing
        os.environ['PYTHONPATH'] = os.path.abspath('modules')
        found = submit('--output', 'mine.bin', 'python:mine.run')
        assert found.status == 0 and read('mine.bin') == struct.pack('<3d', 5, 5, 5), found
    finally:
        down(process)


def test_what_a_set_cannot_have_is_refused():
    process = up('--workers', '2')
    try:
        for words, line in (
                (['--threads', '2', '--thread-technique', 'af', *SMALL], '--threads: in a set, and where pods may join, a process of its own has the threads'),
                (['--threads', '2', '--weighting', 'acp', *SMALL], '--threads: in a set, and where pods may join, a process of its own has the threads'),
                (['--group-by', 'even', *SMALL], '--group-by even is for a launch')):
            refused = submit(*words)
            assert refused.status == 2 and len(refused.err) == 1 and line in refused.err[0], refused
        assert well(['jobs']) == 'set main: 0 running, 0 waiting, 0 over\n'
    finally:
        down(process)


if __name__ == '__main__':
    sys.exit(main([
        test_a_loop_with_dependencies_runs_alone,
        test_a_loop_with_dependencies_begins_again_without_a_lost_rank,
        test_a_loop_with_dependencies_goes_without_a_worker_that_has_returned,
        test_a_loop_with_dependencies_goes_on_from_its_recovery_points,
        test_options_of_a_job,
        test_options_of_a_job_with_masters,
        test_tasks_of_a_set,
        test_no_two_jobs_write_the_same_output,
        test_a_kernel_is_asked_in_the_environment_of_its_job,
        test_what_a_set_cannot_have_is_refused,
    ]))
