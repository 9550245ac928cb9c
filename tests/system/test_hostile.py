# SPDX-License-Identifier: MIT
"""Launches in a hostile world: processes of sets with jobs, of pods, of programs with an Executor and of `hdss exec` are killed, stopped for a
while and asked to end at random instants. What has ended is resumed. Each launch has a verdict: nothing of it is lost, doubled or another
one, it does not hang, and it leaves no process behind.

HDSS_TEST_LAUNCHES says how many launches (default 4, one of each kind), HDSS_TEST_SEED which ones (default: today's), HDSS_TEST_JOBS how
many at once (default 2), HDSS_TEST_ONLY=NUMBER runs that one.
"""
import collections
import json
import os
import random
import signal
import socket
import sys
import time
import traceback

from calls import own_places, processes
from launch import HDSS, PATIENCE, finish, main, run, start
from leftovers import told
from processes import comm_of, parent_of, send
from pythons import PACKAGE, obstacle, python_with
from trials import run_trials

LAUNCHES = int(os.environ.get('HDSS_TEST_LAUNCHES', '4'))
SEED = os.environ.get('HDSS_TEST_SEED') or time.strftime('%Y%m%d')
JOBS = int(os.environ.get('HDSS_TEST_JOBS', '2'))
ONLY = os.environ.get('HDSS_TEST_ONLY')
SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGSEGV, signal.SIGSTOP, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
STRUCK = ('supermaster', 'master', 'worker', 'hdss-helper', 'hdss', 'mpirun', 'orterun', 'prterun')
TASKS = 40
LOOP = ['synthetic', 'iterations=60', 'mean=15000', 'mode=sleep']
TASK = 'sh -c "sleep 0.02; echo {}"'
CALLS = '''
import time
import hdss
def call(i):
    time.sleep(0.02)
    return i * i
try:
    with hdss.Executor(workers=2) as executor:
        executor.submit(call, 0).result()
        open('begun', 'w').close()
        futures = [executor.submit(call, i) for i in range(60)]
        results = []
        for i, future in enumerate(futures):
            try:
                results.append(future.result() == i * i)
            except hdss.CallDied:
                results.append(None)
    print(results.count(True), results.count(False), results.count(None))
except hdss.SetLost:
    print('the set is lost')
'''


class Wrong(Exception):
    """What is wrong: 'lost', 'doubled', 'differs', 'hangs' or 'left behind', and how that is known."""


def look(condition, what, seconds=60):
    """Waits until it is true."""
    until = time.monotonic() + seconds * PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise Wrong('hangs', what)
        time.sleep(0.05)


struck = []  # signals of this launch, and the names of the programs that got them


def may_be_struck(pid):
    """A child of a worker has its name until it becomes a task, which fails by a signal as it should."""
    name = comm_of(pid)
    return name in STRUCK and not name == 'worker' == comm_of(parent_of(pid))


def strike(chance, most=2):
    for _ in range(chance.randint(1, most)):
        time.sleep(chance.uniform(0, 0.8))
        there = sorted(filter(may_be_struck, processes()))
        if not there:
            continue
        pid, number = chance.choice(there), chance.choice(SIGNALS)
        struck.append(f'{number.name} {comm_of(pid)}')
        try:
            os.kill(pid, number)
            if number == signal.SIGSTOP:
                time.sleep(chance.uniform(0.1, 2))
                os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass


def nothing_stays():
    """All processes of the launch have ended."""
    try:
        look(lambda: not processes(), 'the end of all processes')
    except Wrong as wrong:
        raise Wrong('left behind', *wrong.args[1:]) from None


def is_over(number):
    shown = run([HDSS, 'show', number, '--format', 'json'])
    return shown.status == 0 and json.loads(shown.out)['state'] in ('done', 'failed', 'cancelled')


def answers():
    """True if there is a set that takes connections."""
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(os.path.join(os.environ['HDSS_CONTROL_DIR'], f'hdss-{os.getuid()}', 'main.sock')) == 0


def compare(path, right):
    try:
        with open(path, 'rb') as file:
            got = file.read()
    except OSError:
        raise Wrong('lost', path) from None
    if got != right:
        lines = collections.Counter(got.splitlines())
        raise Wrong('doubled' if path.endswith('.txt') and max(lines.values(), default=0) > 1 else 'differs', path, got[:200])


def task_rows():
    return ''.join(f'{i}\n' for i in range(1, TASKS + 1)).encode()


# --- kinds of launches ---

class Sets:
    """A set that is up, or resumed where it has ended."""

    def __init__(self, *words):
        self.words, self.process, self.pods = words, None, []

    def up(self):
        """False where it was up."""
        if self.process is not None and self.process.poll() is None:
            return False
        more = [] if self.process is None else ['--resume']
        if self.process is not None:
            finish(self.process)
            look(lambda: not [pid for pid in processes() if comm_of(pid) == 'supermaster'], 'the end of the set before')
        self.process = start([HDSS, 'up', '--foreground', *self.words, *more])
        look(lambda: answers() or self.process.poll() is not None, 'a set that is up')
        return True

    def join(self):
        self.pods.append(start([HDSS, 'join', '--workers', '2', 'places/hdss/main/pods']))

    def serve(self, ids, wants_pods):
        """Starts the set again, and pods, until all of the jobs are over."""
        def over():
            self.up()
            if wants_pods and all(pod.poll() is not None for pod in self.pods):
                self.join()
            return all(is_over(number) for number in ids)
        look(over, 'the end of the jobs', 120)

    def wait(self, number):
        """Waits for a job that is over. A set that was asked to end is gone once all jobs are: the next one knows how it ended."""
        waited = run([HDSS, 'wait', number])
        if waited.status == 0 or answers():
            return waited
        finish(self.process)
        self.up()
        return run([HDSS, 'wait', number])

    def down(self):
        if self.process.poll() is None:
            ended = run([HDSS, 'down'])
            if ended.status not in (0, 1) and answers():  # else it was asked to end, and leaves: finish() waits for that
                raise Wrong('hangs', ended, *map(told, processes()))
        finish(self.process)
        for pod in self.pods:
            finish(pod)


def a_set(chance, references, words=None):
    made = Sets(*(words or ['--workers', str(chance.randint(2, 4)), '--restarts', str(chance.randint(0, 2))]))
    made.up()
    if words:
        made.join()
    ids = []
    try:
        for i in range(chance.randint(2, 3)):
            job = chance.choice([['--output', f'{i}.npy', *LOOP], ['--output', f'{i}.txt', 'exec', f'command={TASK}', f'count={TASKS}']])
            made.up()
            submitted = run([HDSS, 'submit', *job])
            if submitted.status == 0:
                ids.append((submitted.out.split('/')[1].strip(), job[1]))
            strike(chance, 1)
        made.up()
        made.serve([number for number, _ in ids], words is not None)
        for number, path in ids:
            waited = made.wait(number)
            if waited.status != 0:
                raise Wrong('lost', waited.out, waited.err, run([HDSS, 'output', number]).err)
            compare(path, references[path.split('.')[1]])
    finally:
        made.down()


def pods(chance, references):
    a_set(chance, references, ['--listen', 'local', *chance.choice([['--pods-only'], ['--workers', '1']])])


def calls(chance, _references):
    with open('calls.py', 'w', encoding='utf-8') as file:
        file.write(CALLS)
    program = start([python_with('cloudpickle')[0] or sys.executable, 'calls.py'])
    is_up = chance.random() < 0.5
    if is_up:
        look(lambda: os.path.exists('begun') or program.poll() is not None, 'an executor that is up')
    strike(chance)
    look(lambda: program.poll() is not None, 'the end of the program', 120)
    ended = finish(program)
    both = sum(what in ('SIGKILL worker', 'SIGSEGV worker') for what in struck) > 1  # the set has no other, and says that it is lost
    costs_one = is_up and not both and all(what.split()[1] in ('worker', 'hdss-helper') and what.split()[0] in ('SIGKILL', 'SIGSEGV', 'SIGSTOP') for what in struck)
    if ended.out == '60 0 0\n' or (not costs_one and (ended.status != 0 or ended.out == 'the set is lost\n' or ended.out.split()[1:2] == ['0'])):
        return
    raise Wrong('lost' if ended.out.split()[1:2] == ['0'] or not ended.out else 'differs', ended.status, ended.out, ended.raw_err[-1500:])


def commands(chance, _references):
    """Each run of a task adds to a file of that task."""
    line = [HDSS, 'exec', '-j2', '--joblog', 'log', '--resume', '--shell', 'sleep 0.05; echo x >> ran.{}', ':::', *map(str, range(TASKS))]
    times = chance.randint(1, 3)
    for attempt in range(times + 1):
        before = {i: ran(i) for i in logged()}
        process = start(line)
        if attempt < times:
            strike(chance, 1)
        look(lambda: process.poll() is not None, 'the end of the command', 120)
        ended = finish(process)
        nothing_stays()
        for i, count in before.items():
            if ran(i) != count:
                raise Wrong('doubled', f'task {i} was done, and ran again')
    rows = collections.Counter(logged())
    if ended.status != 0 or len(rows) < TASKS or not all(map(ran, range(TASKS))):
        raise Wrong('lost', ended.status, ended.raw_err[-1500:], sorted(set(range(TASKS)) - set(rows)))
    if max(rows.values()) > 1:
        raise Wrong('doubled', rows)


def ran(i):
    try:
        return os.path.getsize(f'ran.{i}')
    except OSError:
        return 0


def logged():
    """The numbers of the tasks that the log says are done; twice if it says so twice."""
    try:
        with open('log', encoding='utf-8') as file:
            rows = [line.rstrip('\n').split('\t') for line in file if line.endswith('\n')][1:]
    except OSError:
        return []
    return [int(row[0]) - 1 for row in rows if row[6:8] == ['0', '0']]


KINDS = [a_set, pods, calls, commands]


def attempt(number, references):
    chance, kind = random.Random(f'{SEED}:{number}'), KINDS[number % len(KINDS)]
    os.environ.update(own_places())
    os.environ['PYTHONPATH'] = PACKAGE
    verdict = None
    struck.clear()
    try:
        kind(chance, references)
        nothing_stays()
    except Exception as wrong:
        there = [told(pid) for pid in processes()]
        verdict = '\n'.join(map(str, [f'launch {number} ({kind.__name__})', traceback.format_exc(), *wrong.args, *there]))
    finally:
        send(processes(), signal.SIGKILL)
    print(f'# launch {number} {kind.__name__}: {", ".join(struck) or "nothing"}: {verdict or "well"}', flush=True)
    return list(struck), verdict


def test_nothing_is_lost_doubled_or_left_behind():
    reason = obstacle()
    if reason:
        return reason
    alone = run([HDSS, 'run', '--workers', '2', '--output', 'right.npy', *LOOP])
    assert alone.status == 0, alone
    with open('right.npy', 'rb') as file:
        references = {'npy': file.read(), 'txt': task_rows()}
    done = run_trials(attempt, [int(ONLY)] if ONLY else range(LAUNCHES), JOBS, references)
    wrong = [text for _, text in done if text is not None]
    signals = collections.Counter(what.split()[0] for did, _ in done for what in did)
    print(f'# {len(done)} launches of seed {SEED}, {dict(signals)}: {len(wrong)} went wrong', flush=True)
    assert not wrong, '\n'.join(wrong)
    return None


if __name__ == '__main__':
    main([test_nothing_is_lost_doubled_or_left_behind])
