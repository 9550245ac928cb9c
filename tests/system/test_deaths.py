# SPDX-License-Identifier: MIT
"""Deaths belong to iterations: what has killed the process that runs it, a helper or a worker, is counted over all runs of a job, given
up and named, and not tried again by --resume, but by --resume failed; with one worker as with many. hostile.c is the kernel.
"""
import os
import signal

from isolation import SEGV, check_records, words
from launch import HDSS, descendants, finish, hdss, journal_is_over, let_user_code_crash, main, report, run, start, wait_until
from processes import program_of
from results import read

EARLIER = 'what ran it in earlier runs has died (--resume failed tries it again)'
LINE = ['iterations=300', 'at=107', 'mode=segv']


def given_up():
    figures = report()
    assert figures['done'] + sum(count for _, count in figures['failed']) == 300, figures
    return [first + i for first, count in figures['failed'] for i in range(count)], figures['failures']


def lines_of(result, text):
    return [line for line in result.err if text in line]


def runs_until_over(line, most):
    """Resumes until the run does not fail; returns the last result, and how many runs there were."""
    line = [*line[:2], '--restarts', 0, *line[2:]]
    result = run(line)
    for number in range(1, most):
        if result.status != 1:
            return result, number
        assert lines_of(result, 'all workers are lost: --resume goes on with the rest'), result
        result = run([word if word != '--overwrite' else '--resume' for word in line])
    return result, most


def resumed(line, *more):
    at = line.index('--overwrite')
    return [*line[:at], '--resume', *more, *line[at + 1:]]


def test_an_iteration_that_is_given_up_is_not_tried_again():
    for masters, workers, isolate in ((0, 1, 'on'), (0, 3, 'on'), (1, 2, 'auto'), (0, 3, 'off'), (2, 5, 'off')):
        line = hdss(masters, workers, words(isolate=isolate) + LINE)
        result = run(line)
        assert result.status == 3 and given_up()[0] == [107], result
        assert 'out.npy.journal: --resume failed tries again what was given up\n' in result.out, result
        for _ in range(2):
            result = run(resumed(line))
            bad, failures = given_up()
            assert result.status == 3 and bad == [107] and [entry['reason'] for entry in failures] == [EARLIER], (result, failures)
            assert report()['faults'].get('lost_workers', 0) == 0 and report()['faults']['resumed_iterations'] == 299, report()
            assert len(lines_of(result, f'iteration 107 failed: {EARLIER}; given up')) == 1, result
            assert 'out.npy.journal: --resume failed tries again what was given up\n' in result.out, result
        check_records(300, [107])
        result = run(resumed(line, 'failed'))
        assert result.status == 3 and given_up()[0] == [107] and given_up()[1][-1]['reason'] == SEGV, (result, given_up())
        assert run(resumed(line)).status == 3 and given_up()[1][0]['reason'] == EARLIER


def test_what_is_mended_is_done_by_resume_failed():
    line = hdss(0, 2, words(isolate='on') + [*LINE, 'once=mended'])
    alone = hdss(0, 1, words('--retries', 0, chunk=1, isolate='on') + [*LINE, 'once=mended'])  # a second worker may compute what is overdue
    result = run(alone)
    assert result.status == 3 and os.path.exists('mended.107'), result
    result = run(resumed(alone))
    assert result.status == 3 and given_up()[0] == [107], result
    result = run(resumed(line, 'failed'))
    assert result.status == 0, result
    check_records(300, [])
    assert journal_is_over('out.npy.journal')


def test_more_retries_than_were_used_up_are_made():
    line = words('--retries', 0, isolate='on') + LINE
    assert run(hdss(0, 2, line)).status == 3 and len(report()['failures']) == 1
    line = words('--retries', 3, isolate='on') + LINE
    result = run(resumed(hdss(0, 2, line)))
    assert result.status == 3 and len(lines_of(result, f'{SEGV}; tried again')) == 2 and len(lines_of(result, f'{SEGV}; given up')) == 1, result


def test_one_worker_that_dies_itself_gets_past_the_iteration():
    for masters in (0, 1):
        line = hdss(masters, 1, words(isolate='off') + LINE)
        result, runs = runs_until_over(line, 5)
        assert result.status == 3 and runs == 3 and given_up()[0] == [107] and given_up()[1][-1]['reason'] == SEGV, (result, runs)
        check_records(300, [107])
        assert run(resumed(line)).status == 3 and given_up()[1][0]['reason'] == EARLIER


def test_workers_that_die_in_the_probe_are_counted():
    """Once for the run, however many they are; the runs behind it do without a probe, and find the iteration in the loop."""
    for masters, workers, most, options in ((0, 1, 3, ()), (0, 3, 2, ()), (2, 4, 2, ()), (0, 1, 3, ('--threads', 2)), (0, 1, 3, ('--technique', 'auto'))):
        line = hdss(masters, workers, words('--power', 'measure', *options, isolate='off') + ['iterations=300', 'at=0', 'every=150', 'mode=segv', 'spin=500'])
        line[2:2] = ['--restarts', 0]
        result = run(line)
        assert result.status == 1, result
        assert lines_of(result, 'before the loop has begun: where the kernel ends them, --isolate on keeps them; --resume goes on without a probe'), result
        for number in range(1, 8):
            result = run(resumed(line))
            if result.status != 1:
                break
            assert lines_of(result, 'all workers are lost: --resume goes on with the rest'), result
        assert result.status == 3 and given_up()[0] == [0, 150] and number <= 2 * most, (number, result, given_up())
        check_records(300, [0, 150])


def test_a_time_step_that_others_need_is_not_tried_again():
    line = hdss(0, 2, words(isolate='on') + [*LINE, 'steps=3'])
    assert run(line).status == 1
    for _ in range(2):
        result = run(resumed(line))
        assert result.status == 1 and lines_of(result, f'iteration 107 failed: {EARLIER}; given up'), result
        assert lines_of(result, 'time step 1 is not complete, and the one after it needs its results: --resume failed tries again'), result
    result = run(resumed(line, 'failed'))
    assert result.status == 1 and lines_of(result, f'{SEGV}; given up'), result


def test_a_task_that_kills_its_worker():
    with open('tasks', 'w') as file:
        file.writelines('kill -9 $PPID\n' if i == 7 else f'echo {i}\n' for i in range(20))
    expected = b''.join(b'%d\n' % i for i in range(20) if i != 7)
    for workers, most in ((1, 4), (2, 2), (5, 1)):
        line = [HDSS, 'run', '--workers', workers, '--report', 'report.json', '--output', 'out.txt', '--overwrite', 'exec', 'tasks=tasks', 'shell=yes']
        result, runs = runs_until_over(line, most + 1)
        assert result.status == 3 and runs <= most and report()['failed'] == [[7, 1]] and report()['done'] == 19, (result, runs, report())
        assert read('out.txt') == expected
        result = run(resumed(line))
        assert result.status == 3 and len(lines_of(result, f'task 8 failed: {EARLIER}; given up')) == 1, result
        assert report()['faults'].get('lost_workers', 0) == 0 and read('out.txt') == expected


def test_a_run_that_is_killed_has_counted():
    line = hdss(0, 2, words('--retries', 2, chunk=10, isolate='on') + ['iterations=300', 'at=3', 'mode=segv', 'spin=20000'])
    line[2:2] = ['--restarts', 0]
    process = start(line)
    wait_until(lambda: os.path.exists('out.npy.journal') and os.path.getsize('out.npy.journal') > 600, 'a journal with deaths and more')
    for pid in descendants(process.pid):
        if os.path.basename(program_of(pid)) == 'supermaster':
            os.kill(pid, signal.SIGKILL)
    assert finish(process).status == 1
    result = run(resumed(line))
    assert result.status == 3 and report()['failed'] == [[3, 1]], result
    assert lines_of(result, EARLIER) or len(lines_of(result, SEGV)) < 3, result
    assert report()['faults']['resumed_iterations'] > 0
    check_records(300, [3])


if __name__ == '__main__':
    let_user_code_crash()
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
