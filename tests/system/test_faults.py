# SPDX-License-Identifier: MIT
"""Ranks that die: a lost worker or master costs time and nothing else, a lost supermaster ends the run at once, and what ended is resumed,
by hand here (--restarts 0), by itself in test_restarts.

Everything runs under `hdss run`, which lets the others go on, unless a test says otherwise. Random kills are in test_kills.
"""
import os
import signal

from faults import clear, disturbed, faults, job_words, lines_with
from launch import (MASTER, SUPERMASTER, TIMEOUT_S, WORKER, descendants, finish, hdss, hurried, job, let_user_code_crash, main, mpirun_line, need_mpi,
                    report, run, start, unhurried, wait_until)
from loops import ENDLESS, SLOW, STEADY
from openmpi import IS_5, RECOVERING
from processes import pid_of, pids, ranks
from results import check, read, undisturbed


def check_survived(result, workers=0, masters=0):
    """`workers` of them and `masters` were lost, and nothing else. A worker that is on its way down at the end is not waited for."""
    check(result, undisturbed(*SLOW))
    figures = report()
    assert figures['outcome'] == 'done' and figures['done'] == 300, figures
    lost = figures['faults']['lost_workers'] + figures['faults'].get('late_workers', 0)
    assert figures['faults']['lost_masters'] == masters and lost == workers, (figures['faults'], result)
    assert len(lines_with(result, 'supermaster: worker rank')) == workers, result
    assert len(lines_with(result, 'supermaster: master rank')) == masters, result
    clear()


def resumed(masters=0, workers=3):
    with hurried():
        result = run(hdss(masters, workers, job_words('--resume')))
    check(result, undisturbed(*SLOW))
    assert report()['faults']['resumed_iterations'] > 0, report()
    clear()


def test_a_lost_worker_costs_nothing_but_time():
    for masters, place in ((0, 1), (1, 0), (2, 2)):
        check_survived(disturbed(hdss(masters, 3, job_words()), WORKER, [place]), workers=1)


def test_a_worker_that_crashes():
    # Open MPI prints where it was: that is not ours.
    for number in (signal.SIGSEGV, signal.SIGABRT):
        check_survived(disturbed(hdss(1, 3, job_words('--technique', 'gss')), WORKER, [1], number), workers=1)


def test_two_lost_workers():
    for masters, places in ((0, [0, 3]), (2, [0, 1]), (1, [2, 3])):
        check_survived(disturbed(hdss(masters, 4, job_words()), WORKER, places), workers=2)


def test_all_workers_are_lost():
    for masters in (0, 2):
        result = disturbed(hdss(masters, 2, job_words('--restarts', 0)), WORKER, [0, 1])
        assert result.status == 1 and len(lines_with(result, 'all workers are lost')) == 1, result
        assert faults()['lost_workers'] == 2 and 0 < report()['done'] < 300, report()
        resumed(masters)


def test_a_lost_master_costs_nothing_but_time():
    for place in (0, 1):
        check_survived(disturbed(hdss(2, 4, job_words()), MASTER, [place]), masters=1)


def test_all_masters_are_lost():
    check_survived(disturbed(hdss(2, 4, job_words()), MASTER, [0, 1]), masters=2)


def test_a_lost_supermaster_ends_the_run_at_once():
    for masters in (0, 2):
        # Behind the first iterations come such as never end: nobody waits for them.
        words = [*STEADY, '--output', 'out.npy', *unhurried(iterations=30, sleep_us=10000, held=20)]
        result = disturbed(hdss(masters, 3, words, '--restarts', '0'), SUPERMASTER, [0], goes_on=False)
        assert result.status == 1, result
        assert len(lines_with(result, 'the run ended without its supermaster')) == 1, result
        assert len(lines_with(result, 'the supermaster (rank 0) was lost')) <= 1, result
        clear()
        os.remove('out.npy.journal')
        result = disturbed(hdss(masters, 3, job_words(), '--restarts', '0'), SUPERMASTER, [0], goes_on=False)
        assert result.status == 1, result
        resumed(2 - masters)


def test_without_the_options_mpirun_ends_the_run():
    for program in (WORKER, SUPERMASTER):
        result = disturbed(job(1, 3, job_words(), options=()), program, [0], goes_on=False)
        assert result.status not in (0, 2), result
        resumed()


def test_a_line_written_by_hand():
    for masters, program in ((0, WORKER), (2, MASTER)):
        result = disturbed(job(masters, 4, job_words(), options=RECOVERING), program, [0])
        check_survived(result, workers=program == WORKER, masters=program == MASTER)


def test_losses_under_ulfm():
    if not IS_5:
        return 'Open MPI 4 has no ULFM'
    for masters, program, place in ((0, WORKER, 1), (2, WORKER, 2), (2, MASTER, 0)):
        result = disturbed(hdss(masters, 4, job_words(), '--mpi-args', '--with-ft ulfm'), program, [place])
        assert not lines_with(result, 'post-failure'), result
        check_survived(result, workers=program == WORKER, masters=program == MASTER)
    result = disturbed(hdss(0, 3, job_words(), '--restarts', '0', '--mpi-args', '--with-ft ulfm'), SUPERMASTER, [0], goes_on=False)
    assert result.status == 1 and len(lines_with(result, 'the run ended without its supermaster')) == 1, result
    resumed()
    return None


def test_where_the_kernel_has_no_pidfds():
    def without(program, *words):
        return ['env', 'LD_PRELOAD=' + os.environ['NO_PIDFD'], program, *words]
    line = mpirun_line([(1, without(SUPERMASTER, *job_words())), (2, without(MASTER)), (4, without(WORKER))], RECOVERING)
    check_survived(disturbed(line, WORKER, [0]), workers=1)


def run_until_one_leaves(line, count, program):
    """Runs the line, and hurries its loop once one of `count` ranks of the program has left."""
    process, seen = start(line), set()

    def has_left():
        there = set(pids(process, program))
        seen.update(there)
        return process.poll() is not None or (len(seen) == count and there < seen)
    wait_until(has_left, 'the end of a rank')
    with hurried():
        return finish(process)


def test_a_rank_that_sends_nonsense():
    """It is dropped and named by who gets it, and leaves; nobody else does."""
    need_mpi()

    def babbling(rank, program, *words):
        return ['env', 'LD_PRELOAD=' + os.environ['BABBLE_LIBRARY'], f'BABBLER={rank}', 'BABBLE=6', program, *words]
    for masters, rank, name in ((0, 2, 'worker'), (2, 4, 'worker'), (2, 1, 'master')):
        contexts = [(1, babbling(rank, SUPERMASTER, *job_words())), (4, babbling(rank, WORKER))]
        if masters > 0:
            contexts.insert(1, (masters, babbling(rank, MASTER)))
        line = mpirun_line(contexts, RECOVERING)
        result = run_until_one_leaves(line, 4 if name == 'worker' else masters, WORKER if name == 'worker' else MASTER)
        dropped = lines_with(result, f' {name} rank {rank} sent a message that is not of the protocol')
        assert len(dropped) == 1 and dropped[0].endswith('it is taken for lost'), result
        assert len(lines_with(result, f'{name}: rank {rank}: is taken for lost by others')) <= 1, result
        check_survived(result, workers=name == 'worker', masters=name == 'master')


def test_nonsense_of_the_supermaster_ends_who_gets_it():
    need_mpi()
    line = mpirun_line([(1, ['env', 'LD_PRELOAD=' + os.environ['BABBLE_LIBRARY'], 'BABBLER=0', 'BABBLE=6', SUPERMASTER, *job_words()]),
                        (4, [WORKER])], RECOVERING)
    result = run_until_one_leaves(line, 4, WORKER)
    told = lines_with(result, 'supermaster rank 0 sent a message that is not of the protocol')
    assert len(told) == 1 and told[0].startswith('worker: rank ') and told[0].endswith('this rank leaves'), result
    check_survived(result, workers=1)


def test_a_rank_that_is_lost_at_the_start():
    process = start(hdss(1, 2, job_words(), '--restarts', '0'))
    wait_until(lambda: len(ranks(process)) == 4, 'the ranks')
    os.kill(pids(process, WORKER)[0], signal.SIGKILL)
    with hurried():
        result = finish(process)
    # Either they had begun already, and go on without it, or nothing has begun.
    if result.status == 0:
        check_survived(result, workers=1)
    else:
        assert result.status == 1 and 'checksum' not in result.out and len(lines_with(result, 'hdss:')) == 1, result
    with hurried():
        check(run(hdss(1, 2, job_words('--overwrite'))), undisturbed(*SLOW))


def test_a_worker_that_is_stopped():
    result = disturbed(hdss(0, 3, job_words()), WORKER, [1], signal.SIGSTOP)
    check(result, undisturbed(*SLOW))
    assert faults()['lost_workers'] == 0 and faults()['reissued_chunks'] >= 1, report()
    clear()


def test_a_flat_run_ends_when_a_rank_is_lost():
    for mode in ('rma', 'two-sided', 'node'):
        process = start(mpirun_line([(3, [WORKER, '--dca', mode, '--technique', 'ss', '--output', 'out.npy', *ENDLESS])]))
        wait_until(lambda: os.path.exists('out.npy') and any(read('out.npy')[200:]), 'the first result')
        os.kill(pids(process, WORKER)[1], signal.SIGKILL)
        result = finish(process)
        assert result.status not in (0, 2), result
        os.remove('out.npy')


BAD = ['synthetic', 'iterations=300', 'mean=2000', 'mode=sleep']


def without(data, bad):
    """The records of the undisturbed run, those of the bad iterations zero."""
    records = bytearray(data)
    for iteration in bad:
        place = len(data) - 8 * (300 - iteration)
        records[place:place + 8] = bytes(8)
    return bytes(records)


def bad_words(*more, technique='css:chunk=10'):
    return ['--power', 'equal', '--technique', technique, '--report', 'report.json', '--output', 'out.npy', *more, *BAD]


def check_given_up(result, bad, reasons):
    """Exactly these iterations are missing, each for its reason, and everybody is told."""
    assert result.status == 3, result
    figures = report()
    given_up = [first + i for first, count in figures['failed'] for i in range(count)]
    assert given_up == bad and figures['done'] == 300 - len(bad) and figures['outcome'] == 'tasks-failed', (figures['failed'], result)
    told = {entry['first'] + i: entry['reason'] for entry in figures['failures'] for i in range(entry['count'])}
    assert told == reasons, (told, result)
    assert '  given up     ' in result.out, result
    for iteration, reason in reasons.items():
        assert len(lines_with(result, f'iteration {iteration} failed: {reason}; given up')) == 1, (iteration, result)
    assert read('out.npy') == without(undisturbed(*BAD)[1], bad), result


FAILING = {5: 'fail= names iteration 5', 17: 'fail= names iteration 17', 18: 'fail= names iteration 18'}
KILLED = 'killed the child process: signal 11 (Segmentation fault)'


def test_iterations_at_which_the_kernel_fails():
    for masters, workers, retries in ((0, 3, 2), (2, 4, 0), (0, 1, 1), (1, 2, 5)):
        line = hdss(masters, workers, bad_words('--retries', retries))
        result = run([*line, 'fail=5,17-18'])
        check_given_up(result, sorted(FAILING), FAILING)
        assert len(lines_with(result, 'iteration 5 failed')) == retries + 1, result
        assert faults()['lost_workers'] == 0, report()
        resumed = run([*line[:-len(BAD)], '--resume', *BAD, 'fail=5,17-18'])
        check_given_up(resumed, sorted(FAILING), FAILING)
        assert faults()['resumed_iterations'] == 297 and sum(w['iterations'] for w in report()['worker_stats']) == 0, report()
        clear()
        os.remove('out.npy.journal')


def test_more_workers_than_iterations_and_all_of_them_fail():
    result = run(hdss(1, 4, ['--power', 'equal', '--technique', 'ss', '--report', 'report.json', *BAD[:1], 'iterations=3', 'fail=0-2']))
    assert result.status == 3 and report()['failed'] == [[0, 3]] and report()['done'] == 0, (report(), result)


def test_an_iteration_that_kills_who_computes_it():
    for masters, workers in ((0, 4), (2, 6), (1, 3)):
        result = run([*hdss(masters, workers, bad_words()), 'crash=8', 'fail=17'])
        check_given_up(result, [8, 17], {8: KILLED, 17: FAILING[17]})
        # At the end they may still be on their way down, and another may have been given a copy before the first was known to be lost.
        assert faults()['lost_workers'] < workers and faults()['lost_workers'] + faults().get('late_workers', 0) >= 1, (faults(), result)
        clear()
        os.remove('out.npy.journal')


def test_a_drain_waits_for_a_chunk_that_is_run_with_care():
    """All iterations are one chunk. Where one of them has killed two workers, a child of the third computes it, and is there until hurry()."""
    words = ['--isolate', 'off', '--power', 'equal', '--technique', 'css:chunk=100', '--report', 'report.json', '--output', 'out.npy',
             '--drain-time', str(TIMEOUT_S), *unhurried(iterations=100, sleep_us=0), 'crash=8']
    process = start(hdss(0, 3, words))
    wait_until(lambda: any(len(descendants(pid)) > 0 for pid in pids(process, WORKER)), 'a child process')
    os.kill(pid_of(process, SUPERMASTER), signal.SIGTERM)
    wait_until(lambda: 'as the ranks were sent a signal' in process.stderr.readline(), 'the drain')
    with hurried():
        result = finish(process)
    assert result.status == 3 and report()['failed'] == [[8, 1]] and report()['done'] == 99, (report(), result)


if __name__ == '__main__':
    let_user_code_crash()
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
