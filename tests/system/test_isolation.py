# SPDX-License-Identifier: MIT
"""Isolation, --isolate on: user code that crashes, exits or closes descriptors, killed helpers, recall in the middle of an
iteration, what is refused, and that no helper stays behind. tests/system/hostile.c is the kernel, and tests/lib/hostile.py one in Python.
"""
import os
import re
import shutil
import signal
import subprocess
import tempfile

from isolation import GATE, MODES, SEGV, check_failures, check_killed, check_nothing_begins, check_records, hostile, some_are_done, words
from kernels import built
from launch import (HDSS, SUPERMASTER, WORKER, descendants, finish, fork_line, hdss, job, let_user_code_crash, main, mpirun_line, report, run, run_job, start,
                    wait_until)
from processes import HELPER, helpers, program_of
from results import read, records


def tricky():
    return built('tricky')


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


def check_refusal(result, line, pattern=None):
    assert result.status == 1 and report()['done'] == 0, result
    said = [text for text in result.err if text.startswith('supermaster: rank ')]
    assert len(said) == 1 and re.fullmatch(r'supermaster: rank \d+: ' + (pattern or re.escape(line)), said[0]), (line, pattern, result)


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


def test_another_kernel_of_that_name_is_refused():
    for masters in (0, 1):
        check_refusal(run_job(masters, 2, words() + ['mode=differ']),
                      'hostile: is not the kernel of the supermaster, or describes another loop here; accepted: the same file on all nodes, and a '
                      'description that is always the same')


def test_a_probe_leaves_out_what_crashes():
    result = run(hdss(0, 2, words('--power', 'measure') + ['iterations=300', 'spin=500', 'at=0', 'every=150', 'mode=segv']))
    check_failures(result, [0, 150], SEGV)


def test_a_resumed_run_tries_again_and_keeps_the_rest():
    line = ['iterations=300', 'at=100', 'mode=exit']
    check_failures(run(hdss(0, 2, words() + line)), [100], MODES['exit'])
    result = run(hdss(0, 2, words('--resume', 'failed') + line))
    assert report()['faults']['resumed_iterations'] == 299, report()
    check_failures(result, [100], MODES['exit'])


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
    wait_until(lambda: os.path.exists('out.npy') and os.path.getsize('out.npy') > 128 and sum(1 for n in records() if n) == 299, 'all but one iteration')
    hung = helpers(process)
    os.kill(process.pid, signal.SIGTERM)
    result = finish(process)
    assert result.status == 4 and report()['done'] == 299, (report(), result)
    check_records(300, [0])
    wait_until(lambda: not any(os.path.exists(f'/proc/{pid}') for pid in hung), 'the end of the helpers')


def test_no_helper_outlives_its_worker():
    process = start(hdss(0, 2, words() + ['iterations=2000', 'spin=10000']))
    wait_until(lambda: len(helpers(process)) == 2, 'two helpers')
    found = helpers(process)
    for pid in descendants(process.pid):
        if os.path.basename(program_of(pid)) in ('supermaster', 'worker'):
            os.kill(pid, signal.SIGKILL)
    finish(process)
    wait_until(lambda: not any(os.path.exists(f'/proc/{pid}') for pid in found), 'the end of the helpers')


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
        result = run(fork_line([(1, [SUPERMASTER, '--isolate', 'on', hostile()]), (2, [worker])]))
        assert result.status == 1 and 'the program hdss-helper is neither in' in result.raw_err, result
        result = run(fork_line([(1, [SUPERMASTER, '--iteration-timeout', 5, hostile()]), (2, [worker])]))
        assert result.status == 1 and 'the program hdss-helper is neither in' in result.raw_err, result
        result = run(fork_line([(1, [SUPERMASTER, hostile()]), (2, [worker])]))
        assert result.status == 0 and not result.err, result
    alone = subprocess.run([HELPER], capture_output=True, text=True, check=False)
    assert alone.returncode == 2 and alone.stderr == 'hdss-helper: is begun by workers only\n', alone


if __name__ == '__main__':
    let_user_code_crash()
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
