# SPDX-License-Identifier: MIT
"""Isolation of loops with dependencies: rows that end the process which computes them cost no worker, are tried again and then given up, with a clear end:
without them where they are the last, else named with status 1. tests/system/deadly_rows.c is the kernel."""
import functools
import os
import signal

from isolation import SEGV
from kernels import built
from launch import WORKER, finish, hdss, let_user_code_crash, main, report, run, run_job, start, wait_until
from processes import helpers, pids
from results import read, records

ROWS, COLUMNS = 120, 80
TOPOLOGIES = [(0, 2), (0, 1), (1, 2), (2, 3)]


def job(*more, isolate='on', technique='css:chunk=9', rows=ROWS):
    return ['--isolate', isolate, '--power', 'equal', '--technique', technique, '--report', 'report.json', '--output', 'out.npy', '--overwrite',
            '--progress', 'never', *more, built('deadly_rows'), f'rows={rows}', f'columns={COLUMNS}']


@functools.cache
def expected(*more, rows=ROWS):
    """Computed in the rank, where no row is hostile."""
    assert run(hdss(0, 2, job(isolate='off', rows=rows) + list(more))).status == 0
    return bytes(records())


def check_rows(*more, bad=(), rows=ROWS):
    got, want = bytes(records()), expected(*more, rows=rows)
    size = COLUMNS * 8
    wrong = [row for row in range(rows) if got[row * size:][:size] != (bytes(size) if row in bad else want[row * size:][:size])]
    assert len(got) == len(want) and not wrong, wrong


def forget_marks():
    for name in os.listdir('.'):
        if name.startswith('mark.'):
            os.remove(name)


def check_no_worker_was_lost(result):
    faults = report()['faults']
    assert faults.get('lost_workers', 0) == 0, (faults, result)


def test_a_loop_yields_the_same_bytes():
    for words in ([], ['distance=3', 'reach=5']):
        for masters, workers in TOPOLOGIES:
            for technique in ('css:chunk=9', 'gss'):
                expected(*words)
                result = run(hdss(masters, workers, job(technique=technique) + words))
                assert result.status == 0, result
                check_rows(*words)
    for kernel in (['floyd-steinberg', 'width=300', 'height=200'], ['hydro', 'l=40', 'k=200']):
        sums = [run(hdss(0, 2, ['--isolate', isolate, *kernel])).checksum() for isolate in ('on', 'off')]
        assert sums[0] is not None and sums[0] == sums[1], (kernel, sums)


def test_rows_that_crash_now_and_then_cost_nothing():
    for number, (mode, words) in enumerate([('segv', []), ('exit', ['distance=3']), ('kill', ['reach=3']), ('segv', ['distance=2'])]):
        masters, workers = TOPOLOGIES[number]
        expected(*words)
        forget_marks()
        result = run(hdss(masters, workers, job() + words + ['at=17', 'every=30', 'place=40', f'mode={mode}', 'times=2', 'marks=mark.']))
        assert result.status == 0, result
        assert len([name for name in os.listdir('.') if name.startswith('mark.')]) == 8, os.listdir('.')
        check_no_worker_was_lost(result)
        check_rows(*words)


def failed_lines(result):
    return [line for line in result.err if ' failed: ' in line]


def test_a_row_that_others_need_ends_the_run_by_name():
    for masters, workers in TOPOLOGIES:
        for isolate, retries in (('on', 2), ('auto', 0)):
            result = run(hdss(masters, workers, job('--retries', retries, isolate=isolate) + ['at=50', 'mode=segv']))
            assert result.status == 1, result
            lines = failed_lines(result)
            assert len(lines) == retries + 1 and all(f'iteration 50 failed: {SEGV}; ' in line for line in lines), result
            assert [line.rsplit('; ')[-1] for line in lines] == ['tried again'] * retries + ['given up'], result
            assert any(f'iteration 50 {SEGV}: given up, and what depends on it cannot be computed' in line for line in result.err), result
            check_no_worker_was_lost(result)
            assert report()['outcome'] == 'failed', report()


def test_the_last_row_is_left_out():
    for masters, workers in TOPOLOGIES:
        for chunk in (1, 9, 200):
            expected()
            result = run(hdss(masters, workers, job(technique=f'css:chunk={chunk}') + [f'at={ROWS - 1}', 'mode=exit']))
            assert result.status == 3, result
            lines = failed_lines(result)
            assert len(lines) == 3 and all(f'iteration {ROWS - 1} failed: ended the child process with status 7; ' in line for line in lines), result
            figures = report()
            assert figures['failed'] == [[ROWS - 1, 1]] and figures['done'] == ROWS - 1, figures
            check_no_worker_was_lost(result)
            check_rows(bad=[ROWS - 1])


def test_a_row_that_takes_workers_down_ends_the_run_by_name():
    for masters in (0, 2):
        result = run(hdss(masters, 3, job(isolate='off') + ['at=50', 'mode=kill']))
        assert result.status == 1 and sum('starting again where it was' in line for line in result.err) == 3, result
        assert any('4 workers were lost while they computed iteration 50, and what depends on it cannot be computed' in line for line in result.err), result


def test_a_row_that_hangs_counts_as_crashed():
    """Where the row is the last it is left out, else the run ends by its name; a limit that all rows keep to ends none, though all together take
    much longer."""
    limit = ['--iteration-timeout', 0.5, '--retries', 1]
    overdue = 'ran for longer than 0.5 s (--iteration-timeout)'
    result = run(hdss(0, 2, job(*limit) + ['at=50', 'mode=loop']))
    assert result.status == 1 and len(failed_lines(result)) == 2, result
    assert any(f'iteration 50 {overdue}: given up, and what depends on it cannot be computed' in line for line in result.err), result
    check_no_worker_was_lost(result)
    expected()
    result = run(hdss(2, 3, job(*limit) + [f'at={ROWS - 1}', 'mode=loop', 'place=40']))
    assert result.status == 3 and report()['failed'] == [[ROWS - 1, 1]], result
    assert len(failed_lines(result)) == 2 and all(overdue in line for line in failed_lines(result)), result
    check_rows(bad=[ROWS - 1])
    expected(rows=150)
    result = run(hdss(0, 1, job('--iteration-timeout', 5, '--retries', 1, rows=150, technique='css:chunk=150') + ['spin=500']))
    assert result.status == 0 and not failed_lines(result), result
    check_rows(rows=150)


def resumed(*more, isolate='on', retries=2):
    words = job('--retries', retries, isolate=isolate)
    at = words.index('--overwrite')
    return [*words[:at], '--resume', *more, *words[at + 1:]]


def test_a_row_that_has_crashed_too_often_is_known_to_all_runs_that_follow():
    """The row that others need is named at once, the last one is left out at once; --resume failed tries again, here with success."""
    forget_marks()
    words = ['at=50', 'mode=segv', 'times=4', 'marks=mark.']
    assert run(hdss(0, 2, job('--retries', 2) + words)).status == 1
    for _ in range(2):
        result = run(hdss(0, 2, resumed() + words))
        assert result.status == 1 and not failed_lines(result), result
        assert any('what ran iteration 50 in earlier runs has died, and what depends on it cannot be computed' in line for line in result.err), result
    forget_marks()
    expected()
    result = run(hdss(0, 2, job('--retries', 2) + [f'at={ROWS - 1}', 'mode=exit', 'times=4', 'marks=mark.']))
    assert result.status == 3, result
    result = run(hdss(1, 2, resumed() + [f'at={ROWS - 1}', 'mode=exit', 'times=4', 'marks=mark.']))
    assert result.status == 3 and report()['failures'][0]['reason'].startswith('what ran it in earlier runs has died'), (result, report())
    result = run(hdss(0, 2, resumed('failed') + [f'at={ROWS - 1}', 'mode=exit', 'times=4', 'marks=mark.']))
    assert result.status == 0, result
    check_rows()


def test_a_kernel_that_fails_ends_the_run_at_once():
    result = run(hdss(0, 2, job() + ['at=50', 'mode=fail']))
    assert result.status == 1 and not failed_lines(result) and any('does not like row 50' in line for line in result.err), result


def test_a_probe_leaves_out_what_crashes():
    expected()
    forget_marks()
    result = run(hdss(0, 2, job('--power', 'measure') + ['at=0', 'every=7', 'mode=segv', 'times=2', 'marks=mark.']))
    assert result.status == 0, result
    check_rows()


def test_it_needs_no_launcher_that_survives_losses():
    result = run_job(0, 2, job(isolate='auto') + [f'at={ROWS - 1}', 'mode=segv'])
    assert result.status == 3, result


def some_are_done():
    return os.path.exists('out.npy') and os.path.getsize('out.npy') > 128 and any(read('out.npy')[128:])


def check_kills(masters):
    expected(rows=400)
    os.remove('out.npy')
    process = start(hdss(masters, 3, job('--retries', 20, rows=400) + ['spin=100']))
    wait_until(lambda: len(helpers(process)) == 3 and some_are_done(), 'three helpers')
    for _ in range(2):  # three in a row that have not opened the kernel are the end
        before = set(helpers(process))
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: process.poll() is not None or len(set(helpers(process)) - before) == 3, 'other helpers')
    found = helpers(process)
    os.kill(pids(process, WORKER)[1], signal.SIGKILL)
    result = finish(process)
    assert result.status == 0 and any('starting again where it was' in line for line in result.err), result
    check_rows(rows=400)
    wait_until(lambda: not any(os.path.exists(f'/proc/{pid}') for pid in found), 'the end of the helpers')


def test_helpers_and_workers_that_are_killed():
    for masters in (0, 2):
        check_kills(masters)


def test_a_drain_ends_a_run_that_hangs():
    process = start(hdss(0, 2, job() + ['at=60', 'mode=loop']))
    wait_until(some_are_done, 'the first chunk')
    process.send_signal(signal.SIGTERM)
    result = finish(process)
    assert result.status == 4, result


if __name__ == '__main__':
    let_user_code_crash()
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
