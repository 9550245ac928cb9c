# SPDX-License-Identifier: MIT
"""Pods join, leave, are killed and are cut off at random instants of a set's jobs, and nothing is lost or computed twice: every job ends, and its
output is, byte for byte, that of an undisturbed run.

HDSS_TEST_PODS says how many trials (default 2), HDSS_TEST_SEED which ones (default 1), HDSS_TEST_JOBS how many at once (default 2),
HDSS_TEST_EVENTS how many events each of them has (default 8). A trial that fails names its number: HDSS_TEST_ONLY=NUMBER runs that one.

HDSS_TEST_PODS_BY says what launches the pods: nothing, and they are of this build; the hdss of another build, as one with MPICH, whose pods join the same
set; `none`, for ranks of this build without MPI; or `srun`, for ranks that a Slurm of one's own starts on pretended nodes (slurm.py), without hdss.
"""
import collections
import contextlib
import os
import random
import signal
import time

from launch import HDSS, MASTER, WORKER, catches, descendants, finish, main, run, run_job, start, wait_until
from nodes import inside
from pods import Proxy, pods, ticket_by
from results import read
from sets import here, job, well
from slurm import Slurm
from trials import run_trials

TRIALS = int(os.environ.get('HDSS_TEST_PODS', '2'))
SEED = int(os.environ.get('HDSS_TEST_SEED', '1'))
JOBS = int(os.environ.get('HDSS_TEST_JOBS', '2'))
ONLY = os.environ.get('HDSS_TEST_ONLY')
BY = os.environ.get('HDSS_TEST_PODS_BY', HDSS)
EVENTS = int(os.environ.get('HDSS_TEST_EVENTS', '8'))
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


class Launcher:
    """Pods by the hdss of this build or another."""

    def __init__(self, program, options=()):
        self.line = [program, 'join', *options]

    def start(self, workers, ticket):
        return start([*self.line, '--workers', workers, ticket])

    @staticmethod
    def ask(pod):
        """To leave."""
        pod.send_signal(signal.SIGTERM)

    @staticmethod
    def processes(pod):
        return descendants(pod.pid)

    left, lost = (0,), (1,)  # exit statuses


class Srun:
    """Pods whose ranks srun starts itself, each a job of Slurm's on one of the nodes. Slurm's signals reach the commands that tasks run, too, which
    they end: here the ranks alone are given one, as mpirun does it, once they can take it."""

    def __init__(self, slurm):
        self.node = slurm.nodes.names[0]  # where srun is called
        os.environ.update({name: slurm.environment()[name] for name in ('SLURM_CONF', 'PATH')})

    def start(self, workers, ticket):
        name = f'pod{os.urandom(4).hex()}'
        with open(f'{name}.conf', 'w', encoding='ascii') as file:
            file.write(f'0 {MASTER} --join {os.path.abspath(ticket)}\n1-{workers} {WORKER}\n')
        line = ['srun', '--quiet', f'--job-name={name}', '--mpi=pmix', '--nodes=1', f'--ntasks={workers + 1}', '--overcommit', '--oversubscribe', '--time=5',
                '--kill-on-bad-exit=1', '--multi-prog', os.path.abspath(f'{name}.conf')]
        pod = start(inside(self.node, ['env', f'HDSS_TEST_POD={name}', *line]))
        pod.name, pod.ranks = name, workers + 1
        return pod

    def ask(self, pod):
        for pid in self.processes(pod):
            with contextlib.suppress(ProcessLookupError):  # it leaves already
                os.kill(pid, signal.SIGUSR1)

    def processes(self, pod):
        """The ranks: they are slurmstepd's, and have the variable of the pod. Waits for them."""
        wait_until(lambda: len(self.find(pod)) == pod.ranks or pod.poll() is not None, 'the ranks of a pod')
        return self.find(pod)

    @staticmethod
    def find(pod):
        """The ranks that can take a signal, and not what a worker has just forked to run a command."""
        found = {}
        for entry in os.listdir('/proc'):
            try:
                with open(f'/proc/{entry}/environ', 'rb') as file:
                    mine = f'HDSS_TEST_POD={pod.name}'.encode() in file.read().split(b'\0')
                is_rank = os.path.realpath(f'/proc/{entry}/exe') in (os.path.realpath(MASTER), os.path.realpath(WORKER))
                if mine and is_rank and catches(int(entry), signal.SIGUSR1):
                    with open(f'/proc/{entry}/stat', encoding='ascii') as file:
                        found[int(entry)] = int(file.read().rsplit(')', 1)[1].split()[1])
            except OSError:
                pass
        return [pid for pid, parent in found.items() if parent not in found]

    left, lost = (0,), (1, 137, 139, 143)


class World:
    """A set with its pods: {process: the proxy that it has joined by, or None}."""

    def __init__(self, chance, launcher):
        self.chance = chance
        self.launcher = launcher
        self.pods = {}
        self.seen = 0
        self.did = collections.Counter()

    def join(self):
        proxy = Proxy(f'proxy{self.seen}', 'hdss/main/pods.socket') if self.chance.random() < 0.5 else None
        ticket = ticket_by(f'proxy{self.seen}') if proxy is not None else './hdss/main/pods'
        self.pods[self.launcher.start(self.chance.randint(1, 3), ticket)] = proxy
        self.seen += 1

    def there(self):
        """Those that go on: under srun an MPI program may crash as it begins (test_slurm.py)."""
        return [pod for pod in self.pods if pod.poll() is None]

    def end(self, pod, statuses):
        ended = finish(pod)
        assert ended.status in statuses, ended
        del self.pods[pod]

    def leave(self, pod):
        self.launcher.ask(pod)
        self.end(pod, self.launcher.left)

    def kill(self, pod):
        for pid in self.launcher.processes(pod):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.end(pod, self.launcher.lost)

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
        wait_until(lambda: len(pods()) >= len(self.there()), f'{len(self.pods)} pods')
        self.did[what] += 1
        getattr(self, what)(self.chance.choice(self.there() or list(self.pods)))


def attempt(number, references, launcher):
    """Returns ({what was done: how often}, what is wrong)."""
    chance = random.Random(f'{SEED}:{number}')
    here()
    well(['up', '--listen', 'local', *chance.choice([['--pods-only'], ['--workers', '1']])])
    world = World(chance, launcher)
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
            world.end(pod, (0, 1, 2, *launcher.lost))
    assert down.status == 0, down
    return world.did, None


def disturb_all(launcher):
    references = undisturbed()
    numbers = [int(ONLY)] if ONLY else range(1, TRIALS + 1)
    done = run_trials(attempt, numbers, JOBS, references, launcher)
    wrong = [text for _, text in done if text is not None]
    did = sum((collections.Counter(what) for what, _ in done), collections.Counter())
    print(f'# {len(done)} trials: {dict(did)}; {len(wrong)} went wrong')
    assert not wrong, '\n'.join(wrong)


def test_pods_come_and_go():
    if BY != 'srun':
        disturb_all(Launcher(HDSS, ['--carrier', 'local']) if BY == 'none' else Launcher(BY))
        return None
    try:
        with Slurm([16, 16]) as slurm:
            disturb_all(Srun(slurm))
    except OSError as problem:
        return str(problem)
    return None


if __name__ == '__main__':
    main([test_pods_come_and_go])
