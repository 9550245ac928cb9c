# SPDX-License-Identifier: MIT
"""Trials: a real run is killed at a random instant (a random rank, two of them, the supermaster, or the whole job), resumed and killed again,
until it is done; then its output is, byte for byte, that of an undisturbed run.

HDSS_TEST_TRIALS says how many (default 40), HDSS_TEST_SEED which ones (default 1), HDSS_TEST_JOBS how many at once (default 4: most of a
trial is waiting). The last lines sum up what was killed and how runs ended; a trial that fails names its number: HDSS_TEST_ONLY=NUMBER runs
that one.
"""
import collections
import os
import random
import signal
import time

from faults import is_complete, lines_with
from launch import HDSS, SUPERMASTER, finish, hdss, job, journal_is_over, kill_tree, main, run_job, start
from openmpi import IS_5
from processes import ranks
from results import read
from trials import run_trials

TRIALS = int(os.environ.get('HDSS_TEST_TRIALS', '40'))
SEED = int(os.environ.get('HDSS_TEST_SEED', '1'))
JOBS = int(os.environ.get('HDSS_TEST_JOBS', '4'))
ONLY = os.environ.get('HDSS_TEST_ONLY')
LAUNCHES = 4  # the last one is let be
# 120 iterations of 4 ms on two workers and more: some tenths of a second, as long as starting takes.
LOOP = ['synthetic', 'iterations=120', 'mean=4000', 'distribution=exponential', 'mode=sleep']
LOOP_S = 0.25
TECHNIQUES = ['ss', 'gss', 'fac2', 'dfss', 'tss', 'css:chunk=3', 'static', 'awf-b']
KINDS = ['npy', 'npy', 'csv']


def undisturbed():
    """{kind: (checksum, output)} of runs that nothing happens to."""
    found = {}
    for kind in set(KINDS):
        result = run_job(0, 3, ['--power', 'equal', '--journal', 'off', '--output', 'reference.' + kind, *LOOP])
        assert result.status == 0, result
        found[kind] = result.checksum(), read('reference.' + kind)
    return found


def line_for(chance, output):
    """Mostly under `hdss run`, which lets the others go on; plain mpirun ends all of them."""
    words = ['--power', chance.choice(['equal', 'measure']), '--technique', chance.choice(TECHNIQUES), '--output', output, '--resume', *LOOP]
    masters, workers = chance.choice([0, 1, 2]), chance.randint(2, 3)
    return job(masters, workers, words) if chance.random() < 0.2 else hdss(masters, workers, words)


def wait(process, seconds, until=lambda: False):
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None and not until():
        time.sleep(0.005)


def state(path):
    try:
        found = os.stat(path)
        return found.st_ino, found.st_size
    except OSError:
        return None


def wait_for_instant(process, chance, journal, before):
    """Three of four are while it computes, which begins with a journal that is not that of the run before; the others are at any time."""
    if chance.random() < 0.75:
        wait(process, 30, lambda: state(journal) not in (None, before))
        wait(process, chance.uniform(0, LOOP_S))
    else:
        wait(process, chance.uniform(0, 1))


def kill_something(process, chance):
    """Returns what it was."""
    found = ranks(process)
    what = chance.choice(['rank', 'rank', 'rank', 'two', 'supermaster', 'all'])
    if what == 'all' or not found:
        kill_tree(process.pid)
        return 'the whole job' if found else 'the launcher'
    count = min(len(found), 2 if what == 'two' else 1)
    leaders = [rank for rank in found if found[rank][1] == os.path.realpath(SUPERMASTER)]
    chosen = leaders if what == 'supermaster' and leaders else chance.sample(sorted(found), count)
    for rank in chosen:
        try:
            os.kill(found[rank][0], signal.SIGKILL)
        except ProcessLookupError:
            pass
    return ' + '.join(sorted(os.path.basename(found[rank][1]) for rank in chosen))


def launch(chance, output, kill):
    """Returns (what was killed, the run)."""
    before, killed = state(output + '.journal'), 'nothing'
    line = line_for(chance, output)
    process = start(line)
    if kill:
        wait_for_instant(process, chance, output + '.journal', before)
        if process.poll() is None:
            killed = kill_something(process, chance)
            # Open MPI's mpirun does not always return when a rank is killed before it has joined: it is ended, as a batch system would.
            wait(process, 20)
            if process.poll() is None:
                kill_tree(process.pid)
                killed += ', then the launcher'
    result = finish(process)
    result.is_of_mpirun = HDSS not in line
    return killed, result


def is_ended(result):
    """By a loss, or a kill. Open MPI's mpirun may crash in its PMIx as it ends after one; version 5 does so without a word. Version 4 may end by
    SIGPIPE while it says that a rank was killed. Where one is killed before the others have found it, MPI_Init() fails in these."""
    crashed = result.status == -signal.SIGSEGV and ((IS_5 and result.is_of_mpirun) or 'libpmix' in result.raw_err)
    broken = result.status == -signal.SIGPIPE and 'exited on signal' in result.raw_err
    alone = 'An error occurred in MPI_Init' in result.raw_err
    return crashed or broken or alone or result.status in (1, 137, -signal.SIGKILL)


def attempt(number, references):
    """One trial: [(what was killed, status)], and None or what is wrong."""
    chance, history = random.Random(SEED * 1000000 + number), []
    kind = chance.choice(KINDS)
    output = 'out.' + kind
    for launches in range(LAUNCHES):
        killed, result = launch(chance, output, launches + 1 < LAUNCHES)
        history.append((killed, 'complete' if is_complete(result) else result.status))
        if result.status == 0:
            break
        if not is_ended(result):
            return history, f'trial {number}: a status that cannot be\n{history}\n{result}'
    if result.status != 0:
        return history, f'trial {number}: not done at last\n{history}\n{result}'
    if read(output) != references[kind][1] or (not is_complete(result) and result.checksum() != references[kind][0]):
        return history, f'MISMATCH in trial {number}\n{history}\n{result}'
    if not journal_is_over(output + '.journal'):
        return history, f'trial {number}: the journal has no end\n{history}\n{result}'
    if lines_with(result, 'failed'):
        return history, f'trial {number}: it is done, and something failed\n{history}\n{result}'
    return history, None


def sum_up(outcomes, seconds):
    histories = [history for history, _ in outcomes]
    wrong = [text for _, text in outcomes if text is not None]
    killed = collections.Counter(what for history in histories for what, _ in history)
    statuses = collections.Counter(str(status) for history in histories for _, status in history)

    def listed(counter):
        return ', '.join(f'{what}: {count}' for what, count in sorted(counter.items()))
    print(f'# trials={len(outcomes)} seed={SEED} launches={sum(map(len, histories))} seconds={seconds:.0f} '
          f'mismatches={sum(text.startswith("MISMATCH") for text in wrong)} failed={len(wrong)}')
    print(f'# killed: {listed(killed)}\n# statuses: {listed(statuses)}', flush=True)
    return wrong


def test_killed_at_random_and_resumed_until_done():
    numbers = [int(ONLY)] if ONLY else range(TRIALS)
    references, began = undisturbed(), time.monotonic()
    outcomes = run_trials(attempt, numbers, JOBS, references)
    wrong = sum_up(outcomes, time.monotonic() - began)
    assert not wrong, '\n'.join(wrong[:5])


if __name__ == '__main__':
    main([test_killed_at_random_and_resumed_until_done])
