# SPDX-License-Identifier: MIT
"""Random workers and masters are killed at random instants of runs under `hdss run`, and nothing is lost: the run goes on to its end, and its
output is, byte for byte, that of an undisturbed run.

HDSS_TEST_LOSSES says how many trials (default 8), HDSS_TEST_SEED which ones (default 1), HDSS_TEST_JOBS how many at once (default 2). The
last line sums up who was killed; a trial that fails names its number: HDSS_TEST_ONLY=NUMBER runs that one.
"""
import collections
import os
import random
import signal
import time

from faults import lines_with
from journals import has_records
from launch import MASTER, SUPERMASTER, WORKER, finish, hdss, main, report, run_job, start, wait_until
from processes import ranks
from results import read
from trials import run_trials

TRIALS = int(os.environ.get('HDSS_TEST_LOSSES', '8'))
SEED = int(os.environ.get('HDSS_TEST_SEED', '1'))
JOBS = int(os.environ.get('HDSS_TEST_JOBS', '2'))
ONLY = os.environ.get('HDSS_TEST_ONLY')
# (kernel and parameters, kind of output, how much slower the workers are made): a second of six workers, three of two.
LOOPS = [(['synthetic', 'iterations=300', 'mean=20000', 'distribution=exponential', 'mode=sleep'], 'npy', None),
         (['synthetic', 'iterations=300', 'mean=20000', 'distribution=increasing', 'mode=sleep'], 'csv', None),
         (['mandelbrot', 'width=400', 'height=300', 'max_iter=500'], 'npy', '200'),
         (['exec', 'command=sh -c "sleep 0.05; echo {}"', 'count=100'], 'out', None)]
TECHNIQUES = ['ss', 'gss', 'fac2', 'dfss', 'tss', 'css:chunk=3', 'awf-b']
NAMES = {os.path.realpath(program): os.path.basename(program) for program in (SUPERMASTER, MASTER, WORKER)}


def undisturbed():
    """{number of the loop: (checksum, output)}"""
    found = {}
    for number, (words, kind, _) in enumerate(LOOPS):
        output = f'reference{number}.{kind}'
        result = run_job(0, 3, ['--power', 'equal', '--journal', 'off', '--output', output, *words])
        assert result.status == 0, result
        found[number] = result.checksum(), read(output)
    return found


def choose(found, chance):
    """One rank or two, at least one worker is left. At the end of a run the workers may have gone before the others."""
    workers = [rank for rank in sorted(found) if NAMES[found[rank][1]] == os.path.basename(WORKER)]
    masters = [rank for rank in sorted(found) if NAMES[found[rank][1]] == os.path.basename(MASTER)]
    candidates = chance.sample(workers, max(0, len(workers) - 1)) + masters
    return chance.sample(candidates, min(len(candidates), chance.choice([1, 1, 2])))


def disturb(line, output, chance):
    """Returns (the programs that were killed, the run)."""
    process, killed = start(line), []
    # On a busy machine it may all be done before this process looks again: then nobody is killed.
    wait_until(lambda: process.poll() is not None or has_records(output + '.journal'), 'the first record')
    time.sleep(chance.uniform(0, 0.5))
    found = ranks(process)
    for rank in choose(found, chance) if process.poll() is None and found else []:
        try:
            os.kill(found[rank][0], signal.SIGKILL)
            killed.append(NAMES[found[rank][1]])
        except ProcessLookupError:
            pass
    return killed, finish(process)


def attempt(number, references):
    """One trial: who was killed, and None or what is wrong."""
    chance = random.Random(SEED * 1000000 + number)
    loop = chance.randrange(len(LOOPS))
    words, kind, slowdown = LOOPS[loop]
    masters, workers, output = chance.randint(0, 2), chance.randint(2, 6), 'out.' + kind
    line = hdss(masters, workers, ['--power', 'equal', '--technique', chance.choice(TECHNIQUES), '--report', 'report.json', '--output', output, *words],
                *(['--slowdown', slowdown] if slowdown else []))
    killed, result = disturb(line, output, chance)
    if result.status != 0:
        return killed, f'trial {number}: {killed} were killed and the run did not survive\n{line}\n{result}'
    if read(output) != references[loop][1] or result.checksum() != references[loop][0]:
        return killed, f'MISMATCH in trial {number}, {killed} were killed\n{line}\n{result}'
    faults = report()['faults']
    # Who had nothing left to do when it was killed is not missed.
    if faults['lost_workers'] > killed.count('worker') or faults['lost_masters'] > killed.count('master') or lines_with(result, ' failed'):
        return killed, f'trial {number}: {killed} were killed, {faults}\n{line}\n{result}'
    return killed, None


def test_random_losses_lose_nothing():
    numbers = [int(ONLY)] if ONLY else range(TRIALS)
    references, began = undisturbed(), time.monotonic()
    outcomes = run_trials(attempt, numbers, JOBS, references)
    wrong = [text for _, text in outcomes if text is not None]
    killed = collections.Counter(' + '.join(sorted(names)) or 'nobody' for names, _ in outcomes)
    print(f'# trials={len(outcomes)} seed={SEED} seconds={time.monotonic() - began:.0f} failed={len(wrong)} '
          f'mismatches={sum(text.startswith("MISMATCH") for text in wrong)}; killed: '
          + ', '.join(f'{what}: {count}' for what, count in sorted(killed.items())), flush=True)
    assert not wrong, '\n'.join(wrong[:5])


if __name__ == '__main__':
    main([test_random_losses_lose_nothing])
