"""Ranks that die: a lost worker or master costs time and nothing else, a lost supermaster ends the run at once, and what ended is resumed.

Random trials kill any rank, or the whole job, at any instant, and resume until it is done: HDSS_FAULT_TRIALS says how many, HDSS_FAULT_SEED
which ones. Everything runs under `hdss run`, which lets the others go on, unless a test says otherwise.
"""
import collections
import os
import random
import signal
import time

from launch import (HDSS, MASTER, SUPERMASTER, WORKER, descendants, finish, job, kill_tree, long, main, mpirun_line, report, run, start, wait_until)
from test_resume import SLOW, STEADY, TECHNIQUES, check, read, undisturbed, wait_for_records

SEED = int(os.environ.get('HDSS_FAULT_SEED', '1'))
TRIALS = int(os.environ.get('HDSS_FAULT_TRIALS', '6'))
RECOVERING = ['--mca', 'orte_abort_on_non_zero_status', '0', '--enable-recovery']
PROGRAMS = [os.path.realpath(program) for program in (SUPERMASTER, MASTER, WORKER)]


def hdss(masters, workers, words, *options):
    return [HDSS, 'run', '--masters', masters, '--workers', workers, *options, *words]


def job_words(*more):
    return [*STEADY, '--output', 'out.npy', *more, *SLOW]


def ranks(process):
    """{rank: (pid, program)} of the ranks that run, as Open MPI numbers them in the environment."""
    found = {}
    for pid in descendants(process.pid):
        try:
            program = os.path.realpath(f'/proc/{pid}/exe')
            with open(f'/proc/{pid}/environ', 'rb') as file:
                variables = dict(word.split(b'=', 1) for word in file.read().split(b'\0') if b'=' in word)
            if program in PROGRAMS:
                found[int(variables[b'OMPI_COMM_WORLD_RANK'])] = (pid, program)
        except (OSError, KeyError):
            pass
    return found


def pids(process, program):
    """Those of a program, in the order of their ranks."""
    found = ranks(process)
    return [found[rank][0] for rank in sorted(found) if found[rank][1] == os.path.realpath(program)]


def disturbed(line, program, places, number=signal.SIGKILL):
    """Runs it, and sends the signal to the ranks of the program at these places once something is done."""
    process = start(line)
    wait_for_records(process)
    running = pids(process, program)
    for place in places:
        os.kill(running[place], number)
    return finish(process)


def clear():
    os.remove('out.npy')


def faults():
    return report()['faults']


def lines_with(result, text):
    return [line for line in result.err if text in line]


def check_survived(result, workers=0, masters=0):
    """`workers` of them and `masters` were lost, and nothing else."""
    check(result, undisturbed(*SLOW))
    figures = report()
    assert figures['outcome'] == 'done' and figures['done'] == 300, figures
    assert figures['faults']['lost_masters'] == masters and figures['faults']['lost_workers'] == workers, (figures['faults'], result)
    assert len(lines_with(result, 'supermaster: worker rank')) == workers, result
    assert len(lines_with(result, 'supermaster: master rank')) == masters, result
    clear()


def resumed(masters=0, workers=3):
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
        result = disturbed(hdss(masters, 2, job_words()), WORKER, [0, 1])
        assert result.status == 1 and len(lines_with(result, 'all workers are lost')) == 1, result
        assert faults()['lost_workers'] == 2 and 0 < report()['done'] < 300, report()
        resumed(masters)


def test_a_lost_master_costs_nothing_but_time():
    for place in (0, 1):
        check_survived(disturbed(hdss(2, 4, job_words()), MASTER, [place]), masters=1)


@long
def test_all_masters_are_lost():
    check_survived(disturbed(hdss(2, 4, job_words()), MASTER, [0, 1]), masters=2)


def test_a_lost_supermaster_ends_the_run_at_once():
    for masters in (0, 2):
        # The iterations take seconds: nobody waits for them.
        words = [*STEADY, '--output', 'out.npy', 'synthetic', 'iterations=30', 'mean=2e7', 'distribution=constant', 'mode=sleep']
        process = start(hdss(masters, 3, words))
        wait_until(lambda: len(pids(process, WORKER)) == 3 and os.path.exists('out.npy'), 'the start')
        time.sleep(1)
        os.kill(pids(process, SUPERMASTER)[0], signal.SIGKILL)
        result = finish(process, timeout=30)
        assert result.status == 1 and result.seconds < 15, result
        assert len(lines_with(result, 'the run ended without its supermaster')) == 1, result
        assert len(lines_with(result, 'the supermaster (rank 0) was lost')) <= 1, result
        clear()
        result = disturbed(hdss(masters, 3, job_words()), SUPERMASTER, [0])
        assert result.status == 1, result
        resumed(2 - masters)


def test_without_the_options_mpirun_ends_the_run():
    for program in (WORKER, SUPERMASTER):
        result = disturbed(job(1, 3, job_words()), program, [0])
        assert result.status not in (0, 2), result
        # mpirun takes its time: the others may have done the rest.
        if os.path.exists('out.npy.journal'):
            resumed()
        else:
            assert read('out.npy') == undisturbed(*SLOW)[1]
            clear()


def test_a_line_written_by_hand():
    for masters, program in ((0, WORKER), (2, MASTER)):
        result = disturbed(job(masters, 4, job_words(), options=RECOVERING), program, [0])
        check_survived(result, workers=program == WORKER, masters=program == MASTER)


@long
def test_where_the_kernel_has_no_pidfds():
    def without(program, *words):
        return ['env', 'LD_PRELOAD=' + os.environ['NO_PIDFD'], program, *words]
    line = mpirun_line([(1, without(SUPERMASTER, *job_words())), (2, without(MASTER)), (4, without(WORKER))], RECOVERING)
    check_survived(disturbed(line, WORKER, [0]), workers=1)


def test_a_rank_that_is_lost_at_the_start():
    process = start(hdss(1, 2, job_words()))
    wait_until(lambda: len(ranks(process)) == 4, 'the ranks')
    os.kill(pids(process, WORKER)[0], signal.SIGKILL)
    result = finish(process, timeout=60)
    # Where it was quick they had begun already.
    assert result.status in (0, 1), result
    if result.status == 1 and not os.path.exists('out.npy'):
        assert len(lines_with(result, 'hdss:')) == 1, result
    result = run(hdss(1, 2, job_words('--overwrite')))
    check(result, undisturbed(*SLOW))


def test_a_worker_that_is_stopped():
    result = disturbed(hdss(0, 3, job_words()), WORKER, [1], signal.SIGSTOP)
    check(result, undisturbed(*SLOW))
    assert faults()['lost_workers'] == 1 and faults()['reissued_chunks'] >= 1, report()
    clear()


def test_a_flat_run_ends_when_a_rank_is_lost():
    line = mpirun_line([(3, [WORKER, '--dca', 'rma', '--technique', 'ss', '--output', 'out.npy', *SLOW[:1], 'iterations=3000', *SLOW[2:]])])
    process = start(line)
    wait_until(lambda: os.path.exists('out.npy') and any(read('out.npy')[200:]), 'the first result')
    os.kill(pids(process, WORKER)[1], signal.SIGKILL)
    result = finish(process, timeout=60)
    assert result.status not in (0, 2), result


def kill_something(process, chance):
    """A random rank, two of them, or all. Returns what it was."""
    found = ranks(process)
    what = chance.choice(['rank', 'rank', 'rank', 'rank', 'two', 'all'])
    if what == 'all' or not found:
        kill_tree(process.pid)
        return 'all'
    chosen = chance.sample(sorted(found), min(len(found), 2 if what == 'two' else 1))
    for rank in chosen:
        try:
            os.kill(found[rank][0], signal.SIGKILL)
        except ProcessLookupError:
            pass
    return '+'.join(os.path.basename(found[rank][1]) for rank in chosen)


def one_launch(chance, kill):
    """Returns (what was killed, the run)."""
    line = hdss(chance.choice([0, 1, 2]), chance.randint(2, 4), job_words('--technique', chance.choice(TECHNIQUES), '--resume'))
    process, killed = start(line), 'nothing'
    if kill:
        deadline = time.monotonic() + chance.uniform(0.05, 1.1)
        while time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.005)
        if process.poll() is None:
            killed = kill_something(process, chance)
    return killed, finish(process, timeout=60)


def is_complete(result):
    """It was killed when all was done, and there is nothing to resume."""
    return result.status == 2 and len(lines_with(result, 'it is complete')) == 1


def trial(number):
    chance, history = random.Random(SEED * 100000 + number), []
    for launches in range(5):
        killed, result = one_launch(chance, launches < 4)
        history.append(f'{killed}: {result.status}' + (' at the start' if lines_with(result, 'before the run had begun') else ''))
        assert result.status in (0, 1, -9) or is_complete(result), (number, history, result)
        if result.status == 0 or is_complete(result):
            break
    assert result.status == 0 or is_complete(result), (number, history, result)
    assert read('out.npy') == undisturbed(*SLOW)[1], (number, history, result)
    assert result.status != 0 or result.checksum() == undisturbed(*SLOW)[0], (number, history, result)
    clear()
    return history


@long
def test_random_kills():
    came = collections.Counter()
    for number in range(TRIALS):
        came.update(trial(number))
    print('# ' + ', '.join(f'{count} x {what}' for what, count in sorted(came.items())), flush=True)


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
