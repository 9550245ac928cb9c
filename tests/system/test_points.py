# SPDX-License-Identifier: MIT
"""Loops with dependencies that end early and are resumed from the recovery points in their journal: killed, drained, without a rank that was lost,
started again; whatever masters, workers and technique they go on with, output and checksum are those of an undisturbed run."""
import os
import signal

from dependent import DITHER, HYDRO, swinging
from faults import lines_with
from journals import records_of_journal
from launch import (HDSS, MASTER, SUPERMASTER, WORKER, descendants, finish, hurry, job, journal_is_over, main, ranks_of, report, run_job, start,
                    wait_until)
from results import read
from wave import BY_FOURS, MOMENTS, POINTS, WAVE, build_wave


def wait_for_points(process, count=2, path='out.npy.journal'):
    def look():
        assert process.poll() is None, finish(process)
        kinds = [kind for kind, _ in records_of_journal(path)]
        return kinds.count('point') >= count and 'done' in kinds
    wait_until(look, 'a recovery point')


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def unhurry():
    if os.path.exists('hurry'):
        os.remove('hurry')


def begin(masters, workers, words, *more):
    unhurry()
    process = start(job(masters, workers, [*BY_FOURS, '--output', 'out.npy', *more, *words]))
    wait_for_points(process)
    return process


def check(result, expected, resumes=True):
    assert result.status == 0, result
    assert read('out.npy')[-len(expected):] == expected and journal_is_over('out.npy.journal'), result
    assert not resumes or 0 < report()['faults']['resumed_iterations'] < MOMENTS, report()
    os.remove('out.npy')


def test_a_killed_run_is_resumed_with_other_ranks():
    build_wave()
    expected = swinging(POINTS, MOMENTS)
    for (masters, workers), (masters_then, workers_then), technique in (((0, 3), (2, 4), 'gss'), ((2, 4), (0, 2), 'fac2')):
        process = begin(masters, workers, WAVE)
        kill(ranks_of(process, SUPERMASTER))
        result = finish(process)
        hurry()
        assert result.status != 0 and os.path.exists('out.npy.journal'), result
        refused = run_job(0, 2, ['--output', 'out.npy', *WAVE])
        assert refused.status == 2 and '--resume' in refused.err[-1], refused
        process = start(job(masters_then, workers_then, [*BY_FOURS, '--resume', '--technique', technique, '--output', 'out.npy', *WAVE]))
        check(finish(process), expected)
        assert report()['faults']['duplicate_results'] == 0, report()


def test_a_run_all_of_whose_ranks_are_killed_twice_is_resumed():
    build_wave()
    expected = swinging(POINTS, MOMENTS)
    process = begin(1, 3, WAVE)
    kill(descendants(process.pid))
    finish(process)
    done = [kind for kind, _ in records_of_journal()].count('done')
    process = start(job(0, 3, [*BY_FOURS, '--resume', '--output', 'out.npy', *WAVE]))
    wait_for_points(process, 3)
    kill(descendants(process.pid))
    finish(process)
    hurry()
    assert done > 0
    check(run_job(0, 3, [*BY_FOURS, '--resume', '--output', 'out.npy', *WAVE]), expected)


def test_a_drained_run_is_resumed():
    build_wave()
    expected = swinging(POINTS, MOMENTS)
    for masters in (0, 2):
        unhurry()
        process = start([HDSS, 'run', '--workers', '4', '--masters', str(masters), *BY_FOURS, '--output', 'out.npy', *WAVE])
        wait_for_points(process)
        os.kill(process.pid, signal.SIGTERM)
        result = finish(process)
        hurry()
        assert result.status == 4, result
        check(run_job(masters, 3, [*BY_FOURS, '--resume', '--output', 'out.npy', *WAVE]), expected)


def lose(process, program):
    """Kills the first rank of the program."""
    wait_for_points(process)
    os.kill(ranks_of(process, program)[0], signal.SIGKILL)
    return finish(process)


def test_a_lost_rank_ends_the_run_which_is_resumed():
    build_wave()
    expected = swinging(POINTS, MOMENTS)
    for masters, program, who in ((0, WORKER, 'worker rank 1 on node 0'), (2, MASTER, 'master rank 1'), (2, WORKER, 'worker rank 3 on node 0')):
        unhurry()
        result = lose(start([HDSS, 'run', '--workers', '4', '--masters', masters, '--restarts', '0', *BY_FOURS, '--output', 'out.npy', *WAVE]), program)
        hurry()
        assert result.status == 1 and report()['outcome'] == 'failed', result
        assert len(lines_with(result, f'supermaster: {who} was lost')) == 1, result
        assert len(lines_with(result, 'its last recovery point is kept')) == 1, result
        assert lines_with(result, 'hdss:') == ['hdss: the run has lost a rank that it needs; the same line with --resume goes on with what is stored'], result
        check(run_job(1, 3, [*BY_FOURS, '--resume', '--output', 'out.npy', *WAVE]), expected)


def test_a_run_that_loses_ranks_goes_on_by_itself():
    build_wave()
    for masters, program in ((0, WORKER), (1, MASTER)):
        unhurry()
        process = start([HDSS, 'run', '--workers', '3', '--masters', masters, *BY_FOURS, '--output', 'out.npy', *WAVE])
        for count in (2, 4):
            wait_for_points(process, count)
            victim = ranks_of(process, program)[0]
            os.kill(victim, signal.SIGKILL)
            wait_until(lambda: len(ranks_of(process, WORKER)) == 3 and victim not in ranks_of(process, program), 'another start')
        hurry()
        result = finish(process)
        assert len(lines_with(result, 'the run has lost a rank that it needs: starting again where it was')) == 2, result
        check(result, swinging(POINTS, MOMENTS))
        assert result.out.count('checksum') == 1, result


def test_a_run_goes_on_by_itself():
    build_wave()
    for masters in (0, 1):
        unhurry()
        process = start([HDSS, 'run', '--workers', '3', '--masters', str(masters), *BY_FOURS, '--output', 'out.npy', *WAVE])
        wait_for_points(process)
        kill(ranks_of(process, SUPERMASTER))
        hurry()
        result = finish(process)
        assert any('starting again where it was' in line for line in result.err), result
        check(result, swinging(POINTS, MOMENTS))


def test_without_an_output_the_checksum_is_resumed():
    build_wave()
    hurry()
    undisturbed = run_job(0, 3, ['--power', 'equal', *WAVE])
    unhurry()
    process = start(job(0, 3, [*BY_FOURS, '--journal', 'j', *WAVE]))
    wait_for_points(process, path='j')
    kill(ranks_of(process, SUPERMASTER))
    finish(process)
    hurry()
    result = run_job(0, 2, [*BY_FOURS, '--journal', 'j', '--resume', *WAVE])
    assert result.status == 0 and result.checksum() == undisturbed.checksum() and journal_is_over('j'), result


def check_changed(journal, output, expected, content):
    with open('out.npy.journal', 'wb') as file:
        file.write(content)
    with open('out.npy', 'wb') as file:
        file.write(output)
    result = run_job(0, 3, [*BY_FOURS, '--resume', '--technique', 'gss', '--output', 'out.npy', *WAVE_SHORT])
    if result.status == 2:
        assert len(result.err) >= 1 and 'out.npy.journal' in result.err[-1] and read('out.npy.journal') == content, result
    else:
        check(result, expected, resumes=False)
    if content == journal:
        assert result.status == 0, result


WAVE_SHORT = ['./wave.so', 'points=20', 'moments=600']


def changes(journal, step):
    """The journal with each so manyth byte changed, and of each so manyth length; of each record the first bytes and some of its data."""
    places = sorted({*range(0, len(journal), step), *(at + i for _, at in records_of_journal() for i in (0, 3, 5, 9, 17, 25))})
    for at in (place for place in places if place < len(journal)):
        yield journal[:at] + bytes([journal[at] ^ 0x41]) + journal[at + 1:]
    for at in places:
        yield journal[:at]


def test_a_changed_journal_is_refused_or_right():
    """A few; tests/unit/job/test_journal.c changes each bit, and cuts at each byte."""
    build_wave()
    expected = swinging(20, 600)
    process = begin(0, 3, WAVE_SHORT)
    kill(ranks_of(process, SUPERMASTER))
    finish(process)
    hurry()
    journal, output = read('out.npy.journal'), read('out.npy')
    check_changed(journal, output, expected, journal)
    contents = list(changes(journal, 97))
    for content in contents[::max(1, len(contents) // 4)]:
        check_changed(journal, output, expected, content)


def test_the_built_in_loops_are_resumed():
    for loop in ([DITHER, 'width=3000', 'height=10000'], [HYDRO, 'l=4000', 'k=3000']):
        result = run_job(0, 2, ['--power', 'equal', '--journal', 'off', '--output', 'reference.npy', *loop])
        assert result.status == 0, result
        process = start(job(1, 2, ['--power', 'equal', '--technique', 'css:chunk=50', '--output', 'out.npy', *loop], ['--slowdown', '200']))
        wait_for_points(process, 2)
        kill(ranks_of(process, SUPERMASTER))
        finish(process)
        resumed = run_job(0, 2, ['--power', 'equal', '--resume', '--output', 'out.npy', *loop])
        assert resumed.status == 0 and resumed.checksum() == result.checksum(), resumed
        assert read('out.npy') == read('reference.npy')
        os.remove('out.npy')


if __name__ == '__main__':
    main([test for name, test in list(globals().items()) if name.startswith('test_')])
