# SPDX-License-Identifier: MIT
"""Isolation, --isolate on: user code that crashes, exits, closes descriptors or hangs, killed helpers, limits of time, recall in the
middle of an iteration, what is refused, and that no helper stays behind. tests/system/hostile.c is the kernel, and tests/lib/hostile.py one in Python.
"""
import ctypes.util
import os
import re
import shutil
import signal
import subprocess
import tempfile

import hostile as hostile_python
from isolation import SEGV, check_records, hostile, words
from kernels import built
from launch import (HDSS, SUPERMASTER, WORKER, children_of, descendants, finish, hdss, job, kill_tree, launched, let_user_code_crash, long,
                    main, mpirun_line, python_is_there, report, run, run_job, start, wait_until)
from processes import HELPER, helpers, program_of
from results import read, records

ABORTED = 'killed the child process: signal 6 (Aborted)'
OVERDUE = 'ran for longer than 0.5 s (--iteration-timeout)'

# What an iteration does, and why it fails then; None: it does not.
MODES = {
    'segv': SEGV, 'nullcall': SEGV, 'abort': ABORTED, 'stack': SEGV, 'thread': SEGV, 'exit': 'ended the child process with status 9',
    'exit0': 'ended the child process with status 0', '_exit': 'ended the child process with status 7',
    'kill': 'killed the child process: signal 9 (Killed)', 'return1': 'run() returned 1; accepted: 0, or -1 for a failure',
    'return7': 'run() returned 7; accepted: 0, or -1 for a failure', 'fail': 'is hostile', 'term': None, 'closefds': None, 'closestd': None,
    'fork': None, 'copy': None, 'endcopy': None, 'handlers': None, 'limits': None, 'chdir': None, 'atexit': None,
}


def tricky():
    return built('tricky')


def loaders(process):
    """Processes with an interpreter of Python."""
    found = []
    for pid in descendants(process.pid):
        try:
            with open(f'/proc/{pid}/maps') as maps:
                found += [pid] if 'hdss-python.so' in maps.read() else []
        except OSError:
            pass
    return found


def check_failures(result, bad, reason, count=300, name=''):
    figures = report()
    failed = sorted(first + i for first, number in figures['failed'] for i in range(number))
    assert failed == bad and figures['done'] == count - len(bad), (name, figures['failed'], figures['done'], result)
    assert all(entry['reason'] == reason for entry in figures['failures']), (name, figures['failures'])
    assert figures['faults'].get('lost_workers', 0) == 0, (name, figures['faults'], result)
    assert result.status == (3 if bad else 0), (name, result)
    check_records(count, bad)


@long
def test_what_user_code_does_costs_its_iteration():
    for number, (mode, reason) in enumerate(MODES.items()):
        masters, workers = ((0, 2), (1, 2), (0, 1), (2, 2))[number % 4]
        bad = [] if reason is None else [77, 177, 277]
        result = run(hdss(masters, workers, words() + ['iterations=300', 'spin=20', 'at=77', 'every=100', f'mode={mode}']))
        check_failures(result, bad, reason, name=mode)


def test_it_needs_no_launcher_that_survives_losses():
    for masters, isolate in ((0, 'on'), (1, 'auto')):
        result = run_job(masters, 2, words(isolate=isolate) + ['iterations=300', 'at=100', 'mode=segv'])
        check_failures(result, [100], SEGV)


@long
def test_a_job_yields_the_same_bytes():
    outputs = set()
    for isolate, masters, workers in (('off', 0, 2), ('on', 0, 2), ('on', 1, 3), ('on', 2, 2)):
        for more in ([], ['--technique', 'af'], ['--power', 'measure', '--technique', 'dfss']):
            result = run(hdss(masters, workers, words(*more, isolate=isolate) + ['iterations=5000', 'length=300']))
            assert result.status == 0, result
            outputs.add((result.checksum(), hash(records().tobytes())))
    assert len(outputs) == 1, outputs
    alone = run(hdss(0, 2, ['--isolate', 'on', hostile(), 'iterations=5000', 'length=300']))
    assert alone.checksum() == next(iter(outputs))[0], alone


def test_time_steps_go_on_behind_a_crash():
    line = ['iterations=1000', 'steps=10', 'spin=20']
    assert run(hdss(0, 2, words(isolate='off') + line)).status == 0
    expected = records().tolist()
    for masters in (0, 1):
        result = run(hdss(masters, 2, words() + line))
        assert result.status == 0 and records().tolist() == expected, result
        # Where an iteration of a step is given up there is no next step: each crashes once.
        result = run(hdss(masters, 2, words(chunk=10) + [*line, 'at=50', 'every=100', 'mode=segv', f'once=over{masters}']))
        assert os.path.exists(f'over{masters}.950') and report()['faults'].get('lost_workers', 0) == 0
        assert result.status == 0 and records().tolist() == expected, result


@long
def test_variable_output_stays_where_an_iteration_crashes():
    for line in (['iterations=5000'], ['iterations=100', 'large_at=50', 'large=30000000'], ['iterations=500', 'failed_at=7'],
                 ['iterations=500', 'error_at=77'], ['iterations=3000', 'bytes=3000']):
        told = set()
        for isolate, masters in (('off', 0), ('on', 0), ('on', 2)):
            result = run(hdss(masters, 2, ['--isolate', isolate, '--power', 'equal', '--output', 'out.txt', '--report', 'report.json', '--overwrite',
                                           tricky(), *line]))
            figures = report()
            told.add((result.status, result.checksum(), read('out.txt'), read('out.txt.err'), str(figures['failed']), str(figures['failed_tasks'])))
        assert len(told) == 1, (line, told)
    result = run(hdss(0, 2, ['--isolate', 'on', '--power', 'equal', '--technique', 'css:chunk=50', '--output', 'out.txt', '--report', 'report.json',
                             '--overwrite', tricky(), 'iterations=500', 'crash_at=77']))
    assert result.status == 3 and report()['failed'] == [[77, 1]] and report()['done'] == 499, result
    assert [entry['reason'] for entry in report()['failures']] == [SEGV]
    assert read('out.txt').splitlines() == [b'%d %s' % (i, bytes([97 + i % 26]) * 10) for i in range(500) if i != 77]


def python_words(*more, chunk=50):
    shutil.copy(hostile_python.__file__, 'hostile.py')
    return ['--power', 'equal', '--technique', f'css:chunk={chunk}', '--report', 'report.json', '--output', 'out.npy', '--overwrite', *more,
            'python:hostile.run']


@long
def test_what_python_does_costs_its_iteration():
    if not python_is_there():
        return 'built without Python'
    reasons = {mode: reason for mode, (_, reason) in (hostile_python.MODES | hostile_python.RETURNS).items()
               if not mode.startswith('MPI') or ctypes.util.find_library('mpi') is not None}
    # Ways that end the process, or the call, at an iteration each; those that do neither at three.
    failing = [mode for mode, reason in reasons.items() if reason is not None and mode != 'memory']
    groups = [failing[i:i + 3] for i in range(0, len(failing), 3)] + [[mode] for mode in reasons if mode not in failing]
    for number, modes in enumerate(groups):
        masters, workers = ((0, 2), (1, 2), (0, 1), (2, 2))[number % 4]
        result = run_job(masters, workers, python_words('--retries', 1 if 'MPI_Init' in modes else 0) + ['mode=' + '+'.join(modes)])
        figures, expected = report(), {at: reasons[modes[i % len(modes)]] for i, at in enumerate((77, 177, 277))}
        bad = [at for at, reason in expected.items() if reason is not None]
        assert sorted(first + i for first, count in figures['failed'] for i in range(count)) == bad, (modes, figures['failed'], result)
        assert all(re.match(expected[entry['first']], entry['reason']) for entry in figures['failures']), (modes, figures['failures'])
        assert figures['faults'].get('lost_workers', 0) == 0 and result.status == (3 if bad else 0), (modes, result)
        check_records(300, bad)


def test_python_runs_in_helpers_only():
    if not python_is_there():
        return 'built without Python'
    for isolate, programs in (('auto', [HELPER] * 2), ('off', [SUPERMASTER, WORKER, WORKER])):
        process = start(job(1, 2, python_words('--isolate', isolate, chunk=1) + ['mode=stay', 'at=150']))
        wait_until(lambda: len(loaders(process)) == len(programs) and os.path.exists('out.npy') or process.poll() is not None, 'the interpreters')
        assert sorted(os.path.realpath(f'/proc/{pid}/exe') for pid in loaders(process)) == sorted(map(os.path.realpath, programs))
        kill_tree(process.pid)
        finish(process)


def check_nothing_begins(kernel, reason, environment=()):
    """Of a kernel that cannot be described: one line of `hdss run`, which starts nothing, and one of the supermaster."""
    for program, line in (('hdss run', hdss(0, 2, kernel)), ('supermaster', job(1, 2, kernel))):
        result = run(['env', *environment, *line])
        assert result.status == 2 and len(result.err) == 1 and re.fullmatch(f'{program}: {reason}', result.err[0]), (reason, result)


@long
def test_python_that_ends_its_process_while_it_is_loaded_or_described_begins_nothing():
    if not python_is_there():
        return 'built without Python'
    for place, who in (('import', 'kernel python:hostile.run: loading it'), ('describe', r'python:hostile.run: describe\(\)')):
        for mode in ('segv', '_exit0', 'kill', 'execv'):
            check_nothing_begins(python_words(), f'{who} {hostile_python.MODES[mode][1]}', [f'HOSTILE_AT=hdss-helper:{place}:{mode}'])
        prefix = 'kernel ' if place == 'import' else ''
        check_nothing_begins(python_words(), f'{prefix}python:hostile.run: SystemExit: 9 .*', [f'HOSTILE_AT=hdss-helper:{place}:sys.exit'])


@long
def test_a_kernel_that_cannot_be_described_begins_nothing():
    for mode, reason in (('describesegv', SEGV), ('describeexit', MODES['exit'])):
        check_nothing_begins(words() + [f'mode={mode}'], r'hostile: describe\(\) ' + re.escape(reason))
    for mode, reason in (('checksegv', 'check() ' + SEGV), ('checkfail', 'is checked')): # by the supermaster only, as it is to be called once
        for line in (hdss(0, 2, words() + [f'mode={mode}']), job(1, 2, words() + [f'mode={mode}'])):
            result = run(line)
            assert result.status == 2 and result.err == [f'supermaster: hostile: {reason}'], result


def test_what_describing_leaves_alone_or_not():
    for mode in ('describeprint', 'describecopy'):
        result = run(hdss(0, 2, words() + ['iterations=300', f'mode={mode}']))
        check_failures(result, [], None)
        assert result.out.count('described') == (4 if mode == 'describeprint' else 0), result # hdss run, supermaster, two workers
    check_nothing_begins(words() + ['mode=describewrite'], r'hostile: describe\(\) wrote to the socket of its process; accepted: .*')


def test_commands_that_show_and_simulate_a_kernel_outlive_it():
    simulate = ['simulate', '--workers', '4', '--costs', 'constant']
    for mode, reason in (('describesegv', SEGV), ('describeexit', MODES['exit'])):
        for command in (['kernels'], simulate):
            result = run([HDSS, *command, hostile(), f'mode={mode}'])
            assert result.status == 2 and result.raw_err == f'hdss {command[0]}: hostile: describe() {reason}\n', result
    wrong = run([HDSS, *simulate, '--isolate', 'off', hostile(), 'mode=describesegv'])
    assert wrong.status == -signal.SIGSEGV, wrong
    for command in (['kernels'], simulate):
        result = run([HDSS, *command, hostile(), 'iterations=300'])
        assert result.status == 0 and not result.raw_err, result


def test_a_signal_ends_who_waits_for_a_description():
    for command, status, said in ((hdss(0, 2, words() + ['mode=describehang']), 4, ['hdss: stopped before the run had begun']),
                                  ([HDSS, 'kernels', hostile(), 'mode=describehang'], -signal.SIGTERM, [])):
        process = start(command)
        wait_until(lambda process=process: helpers(process), 'the helper')
        below = descendants(process.pid)
        process.send_signal(signal.SIGTERM)
        result = finish(process)
        assert result.status == status and result.err == said, result
        wait_until(lambda below=below: not any(os.path.exists(f'/proc/{pid}') for pid in below), 'the end of the helper')


@long
def test_a_kernel_in_python():
    if not python_is_there():
        return 'built without Python'
    with open('own.py', 'w') as file:
        file.write('import os, signal\n'
                   'def describe(crash_at, hang_at):\n    return {"iterations": 300, "dtype": "int64"}\n'
                   'def run(first, count, crash_at=-1, hang_at=-1):\n'
                   '    while first <= hang_at < first + count:\n        pass\n'
                   '    if first <= crash_at < first + count:\n        os.kill(os.getpid(), signal.SIGSEGV)\n'
                   '    return [i * i for i in range(first, first + count)]\n')
    line = ['--power', 'equal', '--technique', 'css:chunk=30', '--output', 'out.npy', '--report', 'report.json', '--overwrite', 'python:own.run']
    outputs = set()
    for isolate in ('off', 'on'):
        result = run(hdss(0, 2, ['--isolate', isolate, *line]))
        assert result.status == 0, result
        outputs.add(result.checksum())
    assert len(outputs) == 1
    result = run(hdss(0, 2, ['--isolate', 'on', *line, 'crash_at=123']))
    assert result.status == 3 and report()['failed'] == [[123, 1]] and report()['failures'][0]['reason'] == SEGV, result
    assert records().tolist() == [0 if i == 123 else i * i for i in range(300)]
    result = run(hdss(0, 2, ['--isolate', 'on', '--iteration-timeout', 0.5, *line, 'hang_at=123']))
    assert result.status == 3 and report()['failed'] == [[123, 1]] and report()['failures'][0]['reason'] == OVERDUE, result


def check_refusal(result, line, pattern=None):
    assert result.status == 1 and report()['done'] == 0, result
    said = [text for text in result.err if text.startswith('supermaster: rank ')]
    assert len(said) == 1 and re.fullmatch(r'supermaster: rank \d+: ' + (pattern or re.escape(line)), said[0]), (line, pattern, result)


@long
def test_a_kernel_that_cannot_be_opened_ends_the_run_with_a_line():
    for masters, workers in ((0, 2), (1, 2), (0, 1)):
        result = run_job(masters, workers, words() + ['mode=openfail'])
        check_refusal(result, 'cannot be opened')
        result = run_job(masters, workers, words() + ['mode=opensegv'])
        check_refusal(result, f'hostile: loading or opening it {SEGV}')


def test_a_kernel_is_loaded_by_who_runs_it():
    for isolate, asked, runs in (('auto', 'hdss-helper', 'hdss-helper'), ('off', 'supermaster', 'worker')):
        for masters in (0, 1):
            if os.path.exists('told'):
                os.remove('told')
            result = run(['env', f'HOSTILE_TOLD={os.path.abspath("told")}', *job(masters, 2, words(isolate=isolate) + ['iterations=300'])])
            assert result.status == 0, result
            check_records(300, [])
            assert sorted(read('told').decode().split()) == sorted([asked, runs, runs]), read('told')


@long
def test_another_kernel_of_that_name_is_refused():
    for masters in (0, 1):
        check_refusal(run_job(masters, 2, words() + ['mode=differ']),
                      'hostile: is not the kernel of the supermaster, or describes another loop here; accepted: the same file on all nodes, and a '
                      'description that is always the same')
    result = run_job(0, 1, ['--loop', '1/hostile/1', hostile()])
    assert result.status == 2 and 'hostile: is not the kernel of the supermaster' in result.err[0], result


def test_a_probe_leaves_out_what_crashes():
    result = run(hdss(0, 2, words('--power', 'measure') + ['iterations=300', 'spin=500', 'at=0', 'every=150', 'mode=segv']))
    check_failures(result, [0, 150], SEGV)


def test_a_resumed_run_tries_again_and_keeps_the_rest():
    line = ['iterations=300', 'at=100', 'mode=exit']
    check_failures(run(hdss(0, 2, words() + line)), [100], MODES['exit'])
    result = run(hdss(0, 2, words('--resume', 'failed') + line))
    assert report()['faults']['resumed_iterations'] == 299, report()
    check_failures(result, [100], MODES['exit'])


def some_are_done():
    return os.path.exists('out.npy') and os.path.getsize('out.npy') > 128 and any(records())


# Iterations that wait in a child of their helper until the file is there.
GATE = ['at=0', 'every=20', 'mode=command', 'command=until test -e go; do sleep 0.01; done']


def check_killed(process, are_there, count):
    """Kills helpers again and again, each time once `are_there` says of the number of helpers that all are. The first helper of each
    worker has opened the kernel by then, as both are at the GATE: a kernel that nobody can open ends the run."""
    wait_until(lambda: sum(1 for pid in helpers(process) if children_of(pid)) == 2, 'two helpers that compute')
    with open('go', 'w', encoding='ascii'):
        pass
    wait_until(lambda: are_there(len(helpers(process))) and some_are_done(), 'two helpers')
    killed = 0
    while process.poll() is None and killed < 9:  # ten in a row that have not begun are given up
        for pid in helpers(process)[:1]:
            try:
                os.kill(pid, signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                pass
        before = set(helpers(process))
        wait_until(lambda: process.poll() is not None or set(helpers(process)) - before or are_there(len(helpers(process))), 'another helper')
    result = finish(process)
    assert killed > 3
    check_failures(result, [], None, count)


def test_helpers_that_are_killed_are_replaced():
    check_killed(start(hdss(0, 2, words('--retries', 20, chunk=20) + ['iterations=2000', 'spin=1000', *GATE])), lambda there: there == 2, 2000)


def test_signals_to_all_processes_end_no_helper():
    process = start(hdss(0, 2, words() + ['iterations=400', 'spin=10000']))
    wait_until(lambda: len(helpers(process)) == 2 and some_are_done(), 'two helpers')
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP):
        for pid in helpers(process):
            os.kill(pid, number)
    check_failures(finish(process), [], None, 400)


def test_work_goes_to_others_in_the_middle_of_an_iteration():
    # One worker hangs at its first iteration; all of the others of its chunk are done elsewhere, and a drain ends the run.
    process = start(hdss(0, 2, words('--drain-time', 1, chunk=150) + ['iterations=300', 'spin=100', 'at=0', 'mode=loop', 'effects=yes']))
    wait_until(lambda: os.path.exists('out.npy') and sum(1 for n in records() if n) == 299, 'all but one iteration')
    hung = helpers(process)
    os.kill(process.pid, signal.SIGTERM)
    result = finish(process)
    assert result.status == 4 and report()['done'] == 299, (report(), result)
    check_records(300, [0])
    wait_until(lambda: not any(os.path.exists(f'/proc/{pid}') for pid in hung), 'the end of the helpers')


# With threads a crash ends all iterations that run in the helper: those that did nothing are computed again, and count.
THREADED = ('--threads', 3)


@long
def test_what_user_code_does_in_a_thread_costs_its_iteration():
    techniques = ('fac2', 'ss', 'static', 'css:chunk=4')
    for number, (mode, reason) in enumerate(MODES.items()):
        if mode in ('closestd', 'fork', 'limits', 'chdir'):
            continue
        masters, workers = ((0, 2), (1, 2), (0, 1), (2, 2))[number % 4]
        bad = [] if reason is None else [77, 177, 277]
        result = run(hdss(masters, workers, words(*THREADED, '--thread-technique', techniques[number // 4 % 4]) +
                          ['iterations=300', 'spin=20', 'at=77', 'every=100', f'mode={mode}']))
        check_failures(result, bad, reason, name=mode)


def test_many_crashes_in_threads_cost_their_iterations():
    for technique, chunk in (('ss', 1), ('fac2', 100), ('static', 1000)):
        line = ['iterations=1000', 'length=100', 'spin=50', 'at=3', 'every=20', 'mode=segv']
        result = run(hdss(0, 2, words(*THREADED, '--thread-technique', technique, '--retries', 0, chunk=chunk) + line))
        figures = report()
        assert figures['failed'] == [[i, 1] for i in range(3, 1000, 20)] and figures['done'] == 950 and result.status == 3, result
        assert figures['faults'].get('lost_workers', 0) == 0, result


@long
def test_a_job_with_threads_yields_the_same_bytes():
    outputs = set()
    for isolate, masters, workers in (('off', 0, 2), ('on', 0, 2), ('auto', 1, 3)):
        for more in (['--thread-technique', 'ss'], ['--technique', 'af'], ['--power', 'measure', '--technique', 'dfss'], ['--verify', 0.2]):
            result = run(hdss(masters, workers, words(*THREADED, *more, isolate=isolate) + ['iterations=5000', 'length=300']))
            assert result.status == 0, result
            outputs.add((result.checksum(), hash(records().tobytes())))
    assert len(outputs) == 1, outputs
    alone = run(hdss(0, 2, ['--isolate', 'on', *THREADED, hostile(), 'iterations=5000', 'length=300']))
    assert alone.checksum() == next(iter(outputs))[0], alone


def test_time_steps_go_on_behind_a_crash_in_a_thread():
    line = ['iterations=1000', 'steps=10', 'spin=20']
    assert run(hdss(0, 2, words(isolate='off') + line)).status == 0
    expected = records().tolist()
    for masters in (0, 1):
        result = run(hdss(masters, 2, words(*THREADED) + line))
        assert result.status == 0 and records().tolist() == expected, result
        result = run(hdss(masters, 2, words(*THREADED, chunk=10) + [*line, 'at=50', 'every=100', 'mode=segv', f'once=threads{masters}']))
        assert os.path.exists(f'threads{masters}.950') and report()['faults'].get('lost_workers', 0) == 0
        assert result.status == 0 and records().tolist() == expected, result


@long
def test_an_iteration_that_hangs_in_a_thread_is_ended():
    for number, (masters, workers, mode) in enumerate(((0, 1, 'loop'), (0, 2, 'stop'), (1, 2, 'loop'))):
        power = ('measure', 'equal')[number % 2]
        result = run(hdss(masters, workers, words(*THREADED, '--power', power, '--iteration-timeout', 0.5, '--retries', 1) +
                          ['iterations=300', 'spin=100', 'at=0', 'every=150', f'mode={mode}']))
        check_failures(result, [0, 150], OVERDUE, name=(masters, workers, mode))
    # One that hangs once costs nothing but time.
    result = run(hdss(0, 2, words(*THREADED, '--iteration-timeout', 0.5) + ['iterations=300', 'spin=100', 'at=120', 'mode=loop', 'once=hung']))
    check_failures(result, [], None)
    assert os.path.exists('hung.120')


def test_killed_helpers_with_threads_are_replaced():
    process = start(hdss(0, 2, words(*THREADED, '--retries', 20, chunk=50) + ['iterations=6000', 'spin=1000', *GATE]))
    check_killed(process, lambda there: there >= 2, 6000)


def test_a_drain_ends_a_run_whose_threads_hang():
    process = start(hdss(0, 1, words(*THREADED, '--drain-time', 1) + ['iterations=300', 'at=0', 'mode=loop', 'once=stands']))
    wait_until(lambda: os.path.exists('stands.0'), 'the iteration that hangs')
    hung = helpers(process)
    os.kill(process.pid, signal.SIGINT)
    result = finish(process, 60)
    assert result.status in (3, 4) and report()['done'] < 300, result
    wait_until(lambda: not any(os.path.exists(f'/proc/{pid}') for pid in hung), 'the end of the helper')


@long
def test_an_iteration_that_hangs_is_ended():
    # A probe begins with iterations 0 and 150.
    for number, (masters, workers, mode) in enumerate(((0, 1, 'loop'), (0, 2, 'loop'), (1, 2, 'stop'), (1, 1, 'loop'), (2, 3, 'loop'))):
        power = ('measure', 'equal')[number % 2]
        result = run(hdss(masters, workers, words('--power', power, '--iteration-timeout', 0.5, '--retries', 1) +
                          ['iterations=300', 'spin=100', 'at=0', 'every=150', f'mode={mode}']))
        check_failures(result, [0, 150], OVERDUE, name=(masters, workers, mode))


def test_an_iteration_that_hangs_once_costs_nothing_else():
    line = ['iterations=500', 'steps=5', 'spin=20']
    assert run(hdss(0, 2, words(isolate='off') + line)).status == 0
    expected = records().tolist()
    for masters, timeout in ((0, '0.5'), (1, '0.5'), (0, 'auto'), (1, 'none')):
        hangs = ['at=50', 'every=100', 'mode=loop', f'once=over{masters}'] if timeout == '0.5' else []
        result = run(hdss(masters, 2, words('--iteration-timeout', timeout) + [*line, *hangs]))
        assert os.path.exists(f'over{masters}.450') and report()['faults'].get('lost_workers', 0) == 0
        assert result.status == 0 and records().tolist() == expected, result


def drain_hanging_run(power, timeout):
    name = f'hangs-{power}-{timeout}'
    process = start(hdss(0, 1, words('--power', power, '--drain-time', 1, '--iteration-timeout', timeout) +
                         ['iterations=300', 'at=0', 'mode=loop', f'once={name}']))
    wait_until(lambda: os.path.exists(f'{name}.0'), 'the iteration that hangs')
    hung = helpers(process)
    os.kill(process.pid, signal.SIGINT)
    result = finish(process, 60)
    assert result.status == 4 and report()['done'] == 0, (name, result)
    wait_until(lambda: not any(os.path.exists(f'/proc/{pid}') for pid in hung), 'the end of the helper')


@launched
def test_a_drain_ends_a_run_that_hangs():
    for power, timeout in (('equal', 'none'), ('measure', 'none'), ('equal', '100')):
        drain_hanging_run(power, timeout)


@long
def test_no_helper_outlives_its_worker():
    process = start(hdss(0, 2, words() + ['iterations=2000', 'spin=10000']))
    wait_until(lambda: len(helpers(process)) == 2, 'two helpers')
    found = helpers(process)
    for pid in descendants(process.pid):
        if os.path.basename(program_of(pid)) in ('supermaster', 'worker'):
            os.kill(pid, signal.SIGKILL)
    finish(process)
    wait_until(lambda: not any(os.path.exists(f'/proc/{pid}') for pid in found), 'the end of the helpers')


@long
def test_what_cannot_be_isolated_is_refused():
    for job, name in ((['exec', 'command=true'], 'exec'), (['--threads', 2, '--thread-technique', 'awf', hostile()], 'hostile'),
                      (['--weighting', 'acp', hostile()], 'hostile')):
        result = run_job(0, 2, ['--isolate', 'on', *job])
        assert result.status == 2 and len(result.err) == 1 and f'--isolate on: {name} cannot run in a process of its own here; accepted: auto, off' \
            in result.err[0], result
        assert run(hdss(0, 2, ['--isolate', 'on', *job])).status == 2
        if name == 'hostile':
            assert run(hdss(0, 2, job)).status == 0
    result = run(mpirun_line([(2, [WORKER, '--dca', 'rma', '--isolate', 'on', hostile()])]))
    assert result.status == 2 and '--isolate' in result.err[0], result
    result = run(mpirun_line([(1, [SUPERMASTER, '--isolate', 'on', 'mandelbrot', 'width=64', 'height=64']), (2, [WORKER])]))
    assert result.status == 0, result


@long
def test_a_limit_of_time_without_a_helper_is_refused():
    for job, accepted in ((['exec', 'command=true'], 'or a parameter of the kernel, as timeout=SECONDS of exec'),
                          (['mandelbrot'], 'or --isolate on with it'), (['--isolate', 'off', hostile()], 'or --isolate on with it'),
                          (['--threads', 2, '--thread-technique', 'awf', hostile()],
                           'or a kernel without --weighting acp, and with --threads without dependencies and with a --thread-technique that learns nothing')):
        result = run_job(0, 2, ['--iteration-timeout', 5, *job])
        assert result.status == 2 and len(result.err) == 1 and 'no iteration can be ended; accepted: auto, none, ' + accepted in result.err[0], result
        assert run(hdss(0, 2, ['--iteration-timeout', 5, *job])).status == 2
    result = run_job(0, 2, ['--isolate', 'off', '--iteration-timeout', 5, 'floyd-steinberg'])
    assert result.status == 2 and len(result.err) == 1 and 'no iteration can be ended; accepted: auto, none, or --isolate on' in result.err[0], result
    result = run(hdss(0, 2, ['--isolate', 'on', '--iteration-timeout', 5, 'floyd-steinberg', 'width=64', 'height=64']))
    assert result.status == 0, result
    result = run(hdss(0, 2, ['--iteration-timeout', 'auto', 'mandelbrot', 'width=64', 'height=64']))
    assert result.status == 0, result


def test_a_helper_that_is_not_installed_is_missed():
    with tempfile.TemporaryDirectory() as folder:
        worker = shutil.copy(WORKER, folder)
        result = run(mpirun_line([(1, [SUPERMASTER, '--isolate', 'on', hostile()]), (2, [worker])]))
        assert result.status == 1 and 'the program hdss-helper is neither in' in result.raw_err, result
        result = run(mpirun_line([(1, [SUPERMASTER, '--iteration-timeout', 5, hostile()]), (2, [worker])]))
        assert result.status == 1 and 'the program hdss-helper is neither in' in result.raw_err, result
        result = run(mpirun_line([(1, [SUPERMASTER, hostile()]), (2, [worker])]))
        assert result.status == 0 and not result.err, result
    alone = subprocess.run([HELPER], capture_output=True, text=True, check=False)
    assert alone.returncode == 2 and alone.stderr == 'hdss-helper: is begun by workers only\n', alone


if __name__ == '__main__':
    let_user_code_crash()
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
