# SPDX-License-Identifier: MIT
"""Pods join, leave, are killed and are cut off at random instants of a set's jobs, and nothing is lost or computed twice: every job ends, and its
output is, byte for byte, that of an undisturbed run.

HDSS_TEST_PODS says how many trials (default 2, with HDSS_TEST_SHORT 1), HDSS_TEST_SEED which ones (default 1), HDSS_TEST_JOBS how many at once (default 2). A trial that
fails names its number: HDSS_TEST_ONLY=NUMBER runs that one.
"""
import collections
import os
import random
import signal
import time

from launch import HDSS, descendants, finish, main, run, run_job, start, wait_until
from test_pods import Proxy, pods, ticket_by
from test_resume import read
from test_set import here, job, well
from trials import run_trials

TRIALS = int(os.environ.get('HDSS_TEST_PODS', '1' if os.environ.get('HDSS_TEST_SHORT') else '2'))
SEED = int(os.environ.get('HDSS_TEST_SEED', '1'))
JOBS = int(os.environ.get('HDSS_TEST_JOBS', '2'))
ONLY = os.environ.get('HDSS_TEST_ONLY')
EVENTS = 8
LOOPS = [(['synthetic', 'iterations=600', 'mean=15000', 'distribution=exponential', 'mode=sleep'], 'npy'),
         (['exec', 'command=sh -c "sleep 0.02; echo {}"', 'count=300'], 'txt')]
TECHNIQUES = ['ss', 'gss', 'fac2', 'dfss', 'tss', 'css:chunk=3', 'awf-b']


def undisturbed():
    """The output of each loop."""
    found = []
    for number, (words, kind) in enumerate(LOOPS):
        result = run_job(0, 3, ['--power', 'equal', '--output', f'reference{number}.{kind}', *words])
        assert result.status == 0, result
        found.append(read(f'reference{number}.{kind}'))
    return found


class World:
    """A set with its pods: {process: the proxy that it has joined by, or None}."""

    def __init__(self, chance):
        self.chance = chance
        self.pods = {}
        self.seen = 0
        self.did = collections.Counter()

    def join(self):
        proxy = Proxy(f'proxy{self.seen}', 'hdss/main/pods.socket') if self.chance.random() < 0.5 else None
        words = [ticket_by(f'proxy{self.seen}')] if proxy is not None else []
        self.pods[start([HDSS, 'join', '--workers', str(self.chance.randint(1, 3)), *words])] = proxy
        self.seen += 1

    def end(self, pod, statuses):
        ended = finish(pod)
        assert ended.status in statuses, ended
        del self.pods[pod]

    def leave(self, pod):
        pod.send_signal(signal.SIGTERM)
        self.end(pod, (0,))

    def kill(self, pod):
        for pid in descendants(pod.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.end(pod, (1,))

    def cut(self, pod):
        if self.pods[pod] is not None:
            self.pods[pod].cut()

    def disturb(self):
        """Does one thing, to a pod that has joined where it is not its joining."""
        what = self.chance.choice(['join', 'leave', 'kill', 'cut', 'cut'])
        if what == 'join' or len(self.pods) < 2:
            self.did['join'] += 1
            self.join()
            return
        wait_until(lambda: len(pods()) >= len(self.pods), f'{len(self.pods)} pods')
        self.did[what] += 1
        getattr(self, what)(self.chance.choice(list(self.pods)))


def attempt(number, references):
    """Returns ({what was done: how often}, what is wrong)."""
    chance = random.Random(f'{SEED}:{number}')
    here()
    well(['up', '--listen', 'local', *chance.choice([['--pods-only'], ['--workers', '1']])])
    world = World(chance)
    try:
        world.join()
        kinds = [chance.randrange(len(LOOPS)) for _ in range(2)]
        for place, kind in enumerate(kinds):
            words, ending = LOOPS[kind]
            well(['submit', '--technique', chance.choice(TECHNIQUES), '--power', chance.choice(['equal', 'measure']),
                  '--results', chance.choice(['there', 'here']), '--output', f'out{place}.{ending}', *words])
        for _ in range(EVENTS):
            time.sleep(chance.uniform(0, 0.6))
            world.disturb()
        if not world.pods:
            world.join()
        for place, kind in enumerate(kinds):
            ended = run([HDSS, 'wait', str(place + 1)])
            assert ended.status == 0, (ended, job(str(place + 1)), well(['output', str(place + 1)]))
            assert read(f'out{place}.{LOOPS[kind][1]}') == references[kind], f'the output of job {place + 1} is another one'
    finally:
        down = run([HDSS, 'down'])
        for pod in list(world.pods):
            world.end(pod, (0, 1, 2))
    assert down.status == 0, down
    return world.did, None


def test_pods_come_and_go():
    references = undisturbed()
    numbers = [int(ONLY)] if ONLY else range(1, TRIALS + 1)
    done = run_trials(attempt, numbers, JOBS, references)
    wrong = [text for _, text in done if text is not None]
    did = sum((collections.Counter(what) for what, _ in done), collections.Counter())
    print(f'# {len(done)} trials: {dict(did)}; {len(wrong)} went wrong')
    assert not wrong, '\n'.join(wrong)


if __name__ == '__main__':
    main([test_pods_come_and_go])
