# SPDX-License-Identifier: MIT
"""Kernels in Python with helpers: what their code does costs its iteration, and what it does before the loop begins nothing."""
import ctypes.util
import os
import re
import shutil

import hostile as hostile_python
from isolation import OVERDUE, SEGV, check_nothing_begins, check_records
from launch import (SUPERMASTER, WORKER, descendants, finish, hdss, job, kill_tree, let_user_code_crash, main, python_is_there, report, run, run_job,
                    start, wait_until)
from processes import HELPER
from results import records


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


def python_words(*more, chunk=50):
    shutil.copy(hostile_python.__file__, 'hostile.py')
    return ['--power', 'equal', '--technique', f'css:chunk={chunk}', '--report', 'report.json', '--output', 'out.npy', '--overwrite', *more,
            'python:hostile.run']


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


def test_python_that_ends_its_process_while_it_is_loaded_or_described_begins_nothing():
    if not python_is_there():
        return 'built without Python'
    for place, who in (('import', 'kernel python:hostile.run: loading it'), ('describe', r'python:hostile.run: describe\(\)')):
        for mode in ('segv', '_exit0', 'kill', 'execv'):
            check_nothing_begins(python_words(), f'{who} {hostile_python.MODES[mode][1]}', [f'HOSTILE_AT=hdss-helper:{place}:{mode}'])
        prefix = 'kernel ' if place == 'import' else ''
        check_nothing_begins(python_words(), f'{prefix}python:hostile.run: SystemExit: 9 .*', [f'HOSTILE_AT=hdss-helper:{place}:sys.exit'])


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


if __name__ == '__main__':
    let_user_code_crash()
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
