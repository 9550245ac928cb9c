# SPDX-License-Identifier: MIT
"""Random lives of real sets: jobs of all kinds are submitted and cancelled, and ranks, helpers, tasks, mpirun and `hdss up` are killed, stopped and
told to drain, while the disk is full now and then. A set that is lost is brought up again by `hdss up --resume`, with other masters and workers, until
all jobs are over. Each job then is as it should be: done with the output of an undisturbed run, failed by what its own code did, or cancelled by whom
it was cancelled. No job is lost or there twice, no task runs once more without a loss, no command hangs, and nothing stays: no process, socket, file or
shared memory.

HDSS_TEST_EVENTS says how many lives (default 6), HDSS_TEST_FIRST the number of the first one (default 0), HDSS_TEST_SEED which ones (default 1),
HDSS_TEST_JOBS how many at once (default 2). A life that fails names its number at once: HDSS_TEST_ONLY=NUMBER runs that one. With HDSS_TEST_SMALL=FOLDER,
a small file system of its own, the set keeps its files there, and it is filled up now and then.
"""
import collections
import json
import os
import random
import re
import shutil
import signal
import sys
import time

from kernels import built
from launch import HDSS, MASTER, SUPERMASTER, TIMEOUT_S, WORKER, finish, main, python_is_there, run, start
from loops import DEADLY_PYTHON
from processes import HELPER, children, members, name_of, send
from results import read
from trials import run_trials

LIVES = int(os.environ.get('HDSS_TEST_EVENTS', '6'))
FIRST = int(os.environ.get('HDSS_TEST_FIRST', '0'))
SEED = int(os.environ.get('HDSS_TEST_SEED', '1'))
JOBS = int(os.environ.get('HDSS_TEST_JOBS', '2'))
ONLY = os.environ.get('HDSS_TEST_ONLY')
SMALL = os.environ.get('HDSS_TEST_SMALL')
LIMIT_S = 1.25 * TIMEOUT_S   # what takes longer hangs
STILL_S = 0.75 * TIMEOUT_S   # as long nothing may happen while jobs are not over
LEAVE_S = 0.125 * TIMEOUT_S  # in which all processes of a set that has ended have left
LAUNCHES_MOST = 15
WORKERS_MOST = 4
TASKS = 40

SIGNALS = {'KILL': signal.SIGKILL, 'TERM': signal.SIGTERM, 'STOP': signal.SIGSTOP, 'STOP and CONT': signal.SIGSTOP, 'SEGV': signal.SIGSEGV}


# --- kinds of jobs: a second or two of three workers ---

def tasks():
    with open('tasks', 'w') as file:
        for i in range(TASKS):
            file.write(f'echo {i} >>ran; sleep 0.05; echo {i}\n')
    return ['exec', 'tasks=tasks', 'shell=yes']


def python(*more):
    with open('own.py', 'w') as file:
        file.write(DEADLY_PYTHON)
    return ['python:own.run', *more]


SLEEPING = ['synthetic', 'mean=10000', 'distribution=exponential', 'mode=sleep']
# Its line, the ending of its output ('' for none), and the status that its own code brings about.
Kind = collections.namedtuple('Kind', 'line ending status')
KINDS = {
    'tasks': Kind(lambda plugin: tasks(), 'txt', 0),
    'sleeping': Kind(lambda plugin: [*SLEEPING, 'iterations=150'], 'npy', 0),
    'sleeping, csv': Kind(lambda plugin: [*SLEEPING, 'iterations=100'], 'csv', 0),
    'without an output': Kind(lambda plugin: [*SLEEPING, 'iterations=60'], '', 0),
    'mandelbrot': Kind(lambda plugin: ['mandelbrot', 'width=500', 'height=300'], 'npy', 0),
    'python': Kind(lambda plugin: python(), 'npy', 0),
    'plug-in': Kind(lambda plugin: [plugin, 'iterations=120', 'sleep=10000'], 'npy', 0),
    'plug-in in the rank': Kind(lambda plugin: ['--isolate', 'off', plugin, 'iterations=120', 'sleep=10000'], 'npy', 0),
    'threads': Kind(lambda plugin: ['--threads', '2', plugin, 'iterations=200', 'sleep=10000'], 'npy', 0),
    'time steps': Kind(lambda plugin: [plugin, 'iterations=40', 'steps=4', 'sleep=10000'], 'npy', 0),
    'crashing once': Kind(lambda plugin: [plugin, 'iterations=100', 'sleep=10000', 'at=40', 'mode=segv', 'once=over'], 'npy', 0),
    'failing': Kind(lambda plugin: [plugin, 'iterations=50', 'sleep=5000', 'at=20', 'mode=fail'], 'npy', 3),
    'empty': Kind(lambda plugin: ['synthetic', 'iterations=0'], '', 0),
}
FOR_GOOD = [name for name in KINDS if name not in ('empty', 'failing')]
TECHNIQUES = ['ss', 'gss', 'fac2', 'dfss', 'tss', 'css:chunk=3', 'awf-b']


def words_of(name, technique, plugin):
    kind = KINDS[name]
    output = ['--output', f'out.{kind.ending}'] if kind.ending else []
    scheduling = ['--power', 'equal', '--technique', 'ss' if name == 'tasks' else technique]
    return [*output, *scheduling, *kind.line(plugin)]


def checksum_of(text):
    found = re.findall(r'checksum +([0-9a-f]{16})', text)
    return found[-1] if found else None


def undisturbed(name, plugin):
    """What a plain run prints as its checksum, and its output."""
    result = run([HDSS, 'run', '--workers', '3', *words_of(name, 'ss', plugin)])
    assert result.status == KINDS[name].status, result
    return checksum_of(result.out), read(f'out.{KINDS[name].ending}') if KINDS[name].ending else None


# --- lives: all that is random about one is drawn before it begins ---

Wanted = collections.namedtuple('Wanted', 'number kind technique priority weight after waits umask')
Event = collections.namedtuple('Event', 'signal target place pause')


class Life:
    def __init__(self, number):
        chance = random.Random(SEED * 1000000 + number)
        self.number, self.chance = number, chance
        self.lineups = [(chance.choice([0, 0, 1, 1, 2]), chance.randint(1, WORKERS_MOST)) for _ in range(LAUNCHES_MOST)]
        self.lineups = [(masters, max(masters, workers)) for masters, workers in self.lineups]
        self.foreground = [chance.random() < 0.5 for _ in range(LAUNCHES_MOST)]
        self.at_once = chance.choice([None, None, 1, 2, 3])
        steps = [('submit', self.draw_job(i)) for i in range(chance.randint(3, 8))]
        for _ in range(chance.randint(1, 5)):
            steps.insert(chance.randint(1, len(steps)), ('event', self.draw_event()))
        for _ in range(chance.choice([0, 0, 1, 2])):
            steps.insert(chance.randint(2, len(steps)), ('cancel', chance.randrange(8)))
        if chance.random() < 0.15:
            steps.insert(chance.randint(1, len(steps)), ('down', None))
        if SMALL and chance.random() < 0.3:
            steps.insert(chance.randint(1, len(steps)), ('fill', chance.uniform(0.2, 3)))
        self.steps = [(chance.choice([0, 0, 0.05, chance.uniform(0, 1.2)]), *step) for step in steps]

    def draw_job(self, number):
        chance = self.chance
        kind = chance.choice(FOR_GOOD) if chance.random() < 0.85 else chance.choice(list(KINDS))
        after = sorted(chance.sample(range(number), 1)) if number > 0 and chance.random() < 0.2 else []
        return Wanted(number, kind, chance.choice(TECHNIQUES), chance.choice([0, 0, 0, -5, 10]), chance.choice([1, 1, 2, 7]), after,
                      chance.random() < 0.25, chance.choice([0o022, 0o077, 0o002]))

    def draw_event(self):
        chance = self.chance
        target = chance.choice(['worker'] * 4 + ['master'] * 2 + ['helper'] * 2 + ['task', 'supermaster', 'supermaster', 'mpirun', 'hdss', 'workers', 'all'])
        signals = {'all': ['TERM'], 'workers': ['KILL'], 'task': ['KILL', 'STOP and CONT'], 'helper': ['KILL', 'SEGV', 'STOP and CONT'],
                   'master': ['KILL', 'KILL', 'STOP', 'STOP and CONT', 'TERM'], 'supermaster': ['KILL', 'KILL', 'STOP', 'STOP and CONT', 'TERM'],
                   'worker': ['KILL', 'KILL', 'KILL', 'STOP and CONT', 'TERM']}.get(target, ['KILL', 'STOP and CONT', 'TERM'])
        return Event(chance.choice(signals), target, chance.randrange(100), chance.uniform(0.05, 3))

    def __str__(self):
        lines = [f'life {self.number}: {self.lineups[:4]}, in the foreground {self.foreground[:4]}, at once {self.at_once}']
        return '\n'.join(lines + [f'  +{pause:.2f} s {" ".join(map(str, step))}' for pause, *step in self.steps])


# --- a life that is lived ---

class Wrong(Exception):
    """(kind of wrong, why)"""


def program_of(pid):
    try:
        return os.path.realpath(f'/proc/{pid}/exe')
    except OSError:
        return ''


def words_of_process(pid):
    try:
        with open(f'/proc/{pid}/cmdline', 'rb') as file:
            return file.read().split(b'\0')
    except OSError:
        return []


def stacks(pids):
    """What processes that hang are at."""
    texts = []
    for pid in pids:
        texts.append(f'--- {pid} {name_of(pid)} {b" ".join(words_of_process(pid))[:200]}')
        if shutil.which('gdb'):
            texts.append(finish(start(['gdb', '-p', pid, '-batch', '-ex', 'thread apply all bt 14']), 60).out[-6000:])
    return '\n'.join(texts)


class Set:
    """The set of a life, over all of its launches."""

    def __init__(self, life, plugin):
        self.life, self.plugin = life, plugin
        self.folder, self.launches, self.attended, self.foreground = os.getcwd(), 0, [], []
        self.given = {}      # number of a job -> (its ID, what was wanted), of those whose ID was told
        self.refused = []    # numbers of those of which none was told
        self.cancelled = set()
        self.shared, self.story, self.losses, self.disk_was_full = set(), [], [], False
        self.began = time.monotonic()

    def tell(self, text):
        self.story.append(f'{time.monotonic() - self.began:7.2f} {text}')

    def members(self, target):
        programs = {'worker': WORKER, 'workers': WORKER, 'master': MASTER, 'supermaster': SUPERMASTER, 'helper': HELPER}
        found = []
        for pid in members(self.folder):
            program = program_of(pid)
            if target in programs and program == os.path.realpath(programs[target]):
                found.append(pid)
            if target == 'mpirun' and os.path.basename(program) in ('mpirun', 'orterun', 'prterun', 'prte'):
                found.append(pid)
            if target == 'hdss' and program == os.path.realpath(HDSS) and b'up' in words_of_process(pid)[1:2]:
                found.append(pid)
        if target == 'task':
            return [task for worker in self.members('worker') for task in children(worker)]
        if target == 'all':
            return [pid for name in ('hdss', 'mpirun', 'supermaster', 'master', 'worker') for pid in self.members(name)]
        return sorted(found)

    def note_shared(self):
        for pid in members(self.folder):
            try:
                with open(f'/proc/{pid}/maps') as maps:
                    self.shared.update(path for path in (line.split(None, 5)[5].strip() for line in maps if '/dev/shm/' in line)
                                       if not path.endswith(' (deleted)'))
            except OSError:
                pass

    def is_gone(self):
        return not any(self.members(name) for name in ('supermaster', 'master', 'worker', 'mpirun', 'hdss'))

    def wait_until(self, condition, what, seconds=LIMIT_S):
        end = time.monotonic() + seconds
        while not condition():
            self.note_shared()
            if time.monotonic() > end:
                raise Wrong('hung', f'{what}\n{stacks(members(self.folder))}')
            time.sleep(0.03)

    def command(self, words, folder=None, umask=0o022):
        """A command that is to be back soon."""
        os.chdir(folder or self.folder)
        before = os.umask(umask)
        process = start([HDSS, *words], begins_anew=False)
        os.umask(before)
        os.chdir(self.folder)
        end = time.monotonic() + LIMIT_S
        while process.poll() is None and time.monotonic() < end:
            self.note_shared()
            try:
                process.wait(0.05)
            except Exception:
                pass
        if process.poll() is None:
            text = stacks([process.pid, *members(self.folder)])
            raise Wrong('hung', f'{words}\n{text}')
        result = finish(process)
        self.tell(f'{" ".join(map(str, words))[:150]}: {result.status} {result.out.strip()[:200]!r} {result.err[-3:]}')
        return result

    # --- what it does ---

    def up(self):
        if self.launches == LAUNCHES_MOST:
            raise Wrong('status', 'too many launches')
        masters, workers = self.life.lineups[self.launches]
        foreground = self.life.foreground[self.launches]
        words = ['up', '--workers', workers, '--masters', masters, '--restarts', '0', *(['--resume'] if self.launches > 0 else [])]
        words += ['--jobs-at-once', self.life.at_once] if self.life.at_once else []
        words += ['--state', SMALL_STATE(self.life.number)] if SMALL else []
        self.launches += 1
        if not foreground:
            result = self.command(words)
            if result.status != 0 or result.out != 'main is up\n':
                raise Wrong('status', f'{words}: {result}')
            return
        process = start([HDSS, *words, '--foreground'], begins_anew=False)
        self.foreground.append(process)
        line = process.stdout.readline()
        self.tell(f'{" ".join(map(str, words))} --foreground: {line!r}')
        if line != 'main is up\n':
            raise Wrong('status', f'{words}: {line!r} {finish(process)}')

    def bring_up(self):
        """Where it is gone, or about to be."""
        self.wait_until(self.is_gone, 'a set that ends')
        self.look_at_foreground()
        self.up()

    def look_at_foreground(self):
        for process in self.foreground:
            result = finish(process, LIMIT_S)
            self.tell(f'the set in the foreground ended with {result.status} {result.err[-3:]}')
            accepted = {0, 1, 4, -signal.SIGKILL}
            if result.status not in accepted:
                raise Wrong('status', f'the set in the foreground: {result}')
            if result.status == 1 and not any('hdss up --resume' in line or 'No space' in line for line in result.err):
                raise Wrong('status', f'nothing is said of a set that was lost: {result}')
        self.foreground = []

    def answers(self):
        return self.jobs() is not None

    def jobs(self):
        """{name: job}; None where the set does not answer."""
        result = run([HDSS, 'jobs', '--all', '--format', 'json'], begins_anew=False)
        try:
            told = [job for job in json.loads(result.out) if job.get('session') == 'main' and job.get('id')]
        except ValueError:
            raise Wrong('status', f'hdss jobs: {result}') from None
        names = collections.Counter(job['name'] for job in told)
        if any(count > 1 for count in names.values()):
            raise Wrong('doubled', f'jobs: {names}')
        if not self.members('supermaster') or result.status != 0 or (self.given and not told) or 'silent' in {job['state'] for job in told}:
            return None
        return {job['name']: job for job in told}

    def submit(self, wanted):
        folder = os.path.join(self.folder, f'job{wanted.number}')
        os.makedirs(folder, exist_ok=True)
        os.chdir(folder)
        line = words_of(wanted.kind, wanted.technique, self.plugin)
        os.chdir(self.folder)
        after = [word for number in wanted.after if number in self.given for word in ('--after', self.given[number][0])]
        words = ['submit', '--name', f'job{wanted.number}', '--priority', wanted.priority, '--weight', wanted.weight, *after]
        if wanted.waits:
            os.chdir(folder)
            before = os.umask(wanted.umask)
            process = start([HDSS, *words, '--wait', *line], begins_anew=False)
            os.umask(before)
            os.chdir(self.folder)
            self.attended.append((wanted, process))
            told = {}

            def is_there():
                told.update((self.jobs() or {}).get(f'job{wanted.number}', {}))
                return told or (process.poll() is not None and (self.answers() or self.is_gone()))
            self.wait_until(is_there, 'a job that is submitted')
            is_there()
            if told:
                self.given[wanted.number] = str(told['id']), wanted, bool(after)
            else:
                self.attended.pop()
                refusal = finish(process, LIMIT_S)
                if refusal.status not in (1, 2):
                    raise Wrong('status', f'submit --wait: {refusal}')
                self.refused.append(wanted)
            return
        result = self.command([*words, *line], folder, wanted.umask)
        told = re.fullmatch(r'main/(\d+)\n', result.out)
        if result.status == 0 and told:
            self.given[wanted.number] = told.group(1), wanted, bool(after)
        elif result.status == 0 or len(result.err) != 1 or result.out != '':
            raise Wrong('status', f'submit: {result}')
        else:
            self.refused.append(wanted)

    def cancel(self, place):
        if not self.given:
            return
        number = sorted(self.given)[place % len(self.given)]
        result = self.command(['cancel', self.given[number][0]])
        self.cancelled.add(number)  # where the set was lost meanwhile nobody knows
        if result.status not in (0, 1, 2):
            raise Wrong('status', f'cancel: {result}')

    def strike(self, event):
        if any(name_of(pid).endswith(' T') for pid in self.members('supermaster')):
            self.wait_until(self.is_gone, 'the end of a supermaster that is stopped')  # where all ranks are, somebody wants it so
        found = self.members(event.target)
        chosen = found if event.target in ('all', 'workers') else [found[event.place % len(found)]] if found else []
        self.tell(f'{event.signal} to {event.target} {chosen}')
        if not chosen:
            return
        self.note_shared()
        send(chosen, SIGNALS[event.signal])
        self.losses.append(event)
        if event.signal == 'STOP and CONT':
            end = time.monotonic() + event.pause
            while time.monotonic() < end:
                self.note_shared()
                time.sleep(0.05)
            send(chosen, signal.SIGCONT)

    def fill(self, seconds):
        path = os.path.join(SMALL_STATE(self.life.number), 'filler')
        self.disk_was_full = True
        self.tell(f'the disk is full for {seconds:.1f} s')
        with open(path, 'wb', buffering=0) as file:
            for size in (65536, 4096, 512, 1):
                try:
                    while True:
                        file.write(b'x' * size)
                except OSError:
                    pass
        time.sleep(seconds)
        os.remove(path)

    def step(self, what, of):
        if what == 'submit':
            self.submit(of)
        elif what == 'cancel':
            self.cancel(of)
        elif what == 'event':
            self.strike(of)
        elif what == 'fill':
            self.fill(of)
        elif what == 'down':
            self.command(['down'])
            self.losses.append(Event('down', 'set', 0, 0))

    # --- its end ---

    def until_over(self):
        state, end = None, time.monotonic() + STILL_S
        while True:
            self.note_shared()
            now = self.jobs()
            if now is None and self.is_gone():
                self.bring_up()
                end = time.monotonic() + STILL_S
                continue
            if now is not None and all(job['status'] is not None for job in now.values()):
                if not self.refused:
                    return now
                # those that were refused are handed over under the same name, unless the set has them
                wanted = self.refused.pop()
                if f'job{wanted.number}' in now:
                    self.given[wanted.number] = str(now[f'job{wanted.number}']['id']), wanted, now[f'job{wanted.number}']['after'] != []
                else:
                    self.submit(wanted._replace(waits=False))
                continue
            told = now and sorted((name, job['state'], job['done'], job['status']) for name, job in now.items())
            if told != state:
                state, end = told, time.monotonic() + STILL_S
            if time.monotonic() > end:
                raise Wrong('hung', f'{json.dumps(now, indent=1)}\n{stacks(members(self.folder))}')
            time.sleep(0.1)

    def check_attended(self, jobs):
        for wanted, process in self.attended:
            result = finish(process, LIMIT_S)
            self.tell(f'submit --wait of job{wanted.number}: {result.status} {result.err[-2:]}')
            job = jobs.get(f'job{wanted.number}')
            is_out_of_sight = bool(self.losses or self.disk_was_full) and result.status in (1, 2)
            if job is not None and result.status != job['status'] and not is_out_of_sight:
                raise Wrong('status', f'submit --wait of job{wanted.number}: {result}\n{job}')

    def check_jobs(self, jobs, references):
        for number, (told, wanted, has_after) in self.given.items():
            job = jobs.get(f'job{number}')
            if job is None or str(job['id']) != told:
                raise Wrong('lost', f'job{number} of ID {told}: {jobs.keys()}')
            self.check_job(job, wanted, references[wanted.kind], jobs)

    def printed(self, number):
        """Of a set that may have been about to end when all jobs were over."""
        summary, errors = [[HDSS, 'output', number, '--stream', stream] for stream in ('summary', 'err')]
        result = run(summary, begins_anew=False)
        if result.status != 0:
            self.bring_up()
            result = run(summary, begins_anew=False)
        result.err += run(errors, begins_anew=False).err
        return result

    def check_job(self, job, wanted, reference, jobs):
        kind, folder = KINDS[wanted.kind], os.path.join(self.folder, f'job{wanted.number}')
        failed_before = [other for other in jobs.values() if other['id'] in job['after'] and other['status'] != 0]
        if job['state'] == 'cancelled' and wanted.number in self.cancelled:
            return
        if failed_before:
            if (job['state'], job['status'], job['cancelled_by']) != ('cancelled', 4, failed_before[0]['id']):
                raise Wrong('state', f'after one that is not done: {job}')
            return
        if not kind.ending and (job['state'], job['status']) == ('failed', 1) and any(loss.target in ('worker', 'workers') for loss in self.losses):
            return  # without a journal it fails with the last worker
        if job['status'] in (1, 2) and any(loss.target in ('helper', 'task') for loss in self.losses):
            printed = self.printed(job['id']).err
            if re.search(r'(\(\)|loading( or opening)? it) killed the child process', printed[-1]):
                return  # one that described its loop, or had not opened its kernel
        if job['status'] == 3 and any('were lost while they computed it; given up' in line for line in self.printed(job['id']).err):
            return  # several workers, which had it one after another
        if wanted.kind == 'tasks' and job['status'] == 3 and self.was_killed(job):
            return
        if job['status'] != kind.status or job['state'] != ('done' if kind.status == 0 else 'failed') or job['cancelled_by'] is not None:
            raise Wrong('state', f'{json.dumps(job, indent=1)}\n{run([HDSS, "output", job["id"]])}')
        if job['done'] + job['failed'] != job['total']:
            raise Wrong('state', f'figures: {json.dumps(job)}')
        printed = self.printed(job['id'])
        if not self.disk_was_full and reference[0] is not None and checksum_of(printed.out) != reference[0]:
            raise Wrong('different', f'checksum of job{wanted.number}, not {reference[0]}:\n{printed}')
        if kind.ending:
            path = os.path.join(folder, f'out.{kind.ending}')
            if not os.path.exists(path) or read(path) != reference[1]:
                raise Wrong('different', f'{wanted}: {path}')
            mode = os.stat(path).st_mode & 0o777
            if mode != 0o666 & ~wanted.umask:
                raise Wrong('different', f'{wanted}: mode {mode:o}')
            names = {name for name in os.listdir(folder) if name.startswith('out.')} - {f'out.{kind.ending}'}
            accepted = {f'out.{kind.ending}.journal'} | ({'out.txt.err', 'out.txt.log'} if wanted.kind == 'tasks' else set())
            if names - accepted:
                raise Wrong('left behind', f'{wanted}: {names}')
        if wanted.kind == 'tasks':
            self.check_tasks(job, os.path.join(folder, 'ran'))

    def was_killed(self, job):
        """True where all failed tasks of the job are those that were killed or ended here: what anybody strikes has failed."""
        printed = self.printed(job['id']).out
        # the child process of a worker is a worker until it is the task
        struck = [loss for loss in self.losses if loss.target in ('task', 'worker', 'workers', 'all') and loss.signal in ('KILL', 'TERM')]
        told = sum(map(int, re.findall(r'(\d+) tasks? w(?:as|ere) ended by SIG(?:KILL|TERM)', printed)))
        lost = re.search(r'ledger .* \+ (\d+) failed \+ 0 given up', printed)
        return lost is not None and 0 < told == int(lost[1]) <= WORKERS_MOST * len(struck)

    def check_tasks(self, job, path):
        ran = collections.Counter(int(line) for line in read(path).split())
        again = sum(ran.values()) - len(ran)
        deadly = [loss for loss in self.losses if loss.signal in ('KILL', 'SEGV', 'STOP') or loss.target in ('mpirun', 'all', 'hdss')]
        if set(ran) != set(range(TASKS)):
            raise Wrong('lost', f'tasks of {job["name"]}: {ran}')
        if again > 12 * len(deadly):
            raise Wrong('doubled', f'{again} tasks of {job["name"]} ran once more, behind {deadly}')

    def end(self):
        result = self.command(['down'])
        if result.status != 0 and not self.losses:
            raise Wrong('status', f'down: {result}')
        self.wait_until(self.is_gone, 'a set that has ended', LEAVE_S)
        self.look_at_foreground()

    def left(self):
        end = time.monotonic() + LEAVE_S
        while members(self.folder) and time.monotonic() < end:
            time.sleep(0.05)
        left = [f'process {pid} {name_of(pid)} {b" ".join(words_of_process(pid))[:100]}' for pid in members(self.folder)]
        if any(loss.signal == 'KILL' and loss.target == 'hdss' for loss in self.losses):
            return left  # nobody was there to clear away
        left += [path for path in sorted(self.shared) if os.path.exists(path)]
        # a rank that is killed while it leaves may leave an empty folder, which a later run clears away
        left += [os.path.join(folder, name) for folder, _, files in os.walk('tmp') for name in files]
        return left + [os.path.join('control', name) for name in os.listdir('control')]

    def live(self, references):
        self.up()
        for pause, what, of in self.life.steps:
            end = time.monotonic() + pause
            while time.monotonic() < end:
                self.note_shared()
                time.sleep(0.02)
            if what in ('submit', 'cancel') and self.is_gone():
                self.bring_up()
            self.step(what, of)
        jobs = self.until_over()
        self.check_attended(jobs)
        self.check_jobs(jobs, references)
        self.end()
        left = self.left()
        if left:
            raise Wrong('left behind', f'{left}')


def SMALL_STATE(number):
    return os.path.join(SMALL, str(number))


def attempt(number, plugin, references):
    """One life: what struck it, and what is wrong."""
    for ignored in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):  # by nohup, or behind a shell's &
        signal.signal(ignored, signal.SIG_DFL)
    for name in ('tmp', 'control', 'state'):
        os.mkdir(name)
    os.environ.update(TMPDIR=os.path.join(os.getcwd(), 'tmp'), HDSS_CONTROL_DIR=os.path.join(os.getcwd(), 'control'),
                      XDG_STATE_HOME=os.path.join(os.getcwd(), 'state'), PYTHONDONTWRITEBYTECODE='1')
    for name in ('XDG_RUNTIME_DIR', 'HDSS_SET', 'SLURM_JOB_ID', 'PBS_JOBID', 'LSB_JOBID'):
        os.environ.pop(name, None)
    life = Life(number)
    one = Set(life, plugin)
    kind = text = None
    try:
        one.live(references)
    except Wrong as wrong:
        kind, text = wrong.args
    finally:
        send(members(one.folder), signal.SIGKILL)
        for path in one.shared:
            if os.path.exists(path):
                os.remove(path)
    if kind is not None:
        logs = [os.path.join(SMALL_STATE(number) if SMALL else 'state/hdss/main', 'log')]
        log = '\n'.join(read(path).decode(errors='replace')[-6000:] for path in logs if os.path.exists(path))
        text = '\n'.join([f'{kind}: {life}', text, '--- story', *one.story, '--- log', log])
        print('# ' + text.replace('\n', '\n# '), flush=True)
    if SMALL:
        shutil.rmtree(SMALL_STATE(number), ignore_errors=True)
    return ([f'{loss.signal} to {loss.target}' for loss in one.losses], one.launches, kind, time.monotonic() - one.began), text


def print_table(outcomes):
    rows = collections.defaultdict(collections.Counter)
    for struck, launches, wrong, _ in outcomes:
        for row in ('all', *set(struck)):
            rows[row].update(['lives', *([wrong] if wrong else [])])
        rows['launches']['lives'] += launches
    for row, counts in sorted(rows.items()):
        print(f'# {row:32} ' + ', '.join(f'{name} {count}' for name, count in counts.most_common()))
    sys.stdout.flush()


def test_random_lives_of_sets():
    numbers = [int(number) for number in ONLY.split(',')] if ONLY else range(FIRST, FIRST + LIVES)
    plugin, began, references = built('hostile'), time.monotonic(), {}
    if not python_is_there():
        KINDS['python'] = KINDS['sleeping']
    for name in KINDS:
        os.mkdir(name)
        os.chdir(name)
        references[name] = undisturbed(name, plugin)
        os.chdir('..')
    outcomes = run_trials(attempt, numbers, JOBS, plugin, references)
    broken = [text for outcome, text in outcomes if not outcome]
    wrong = [text for _, text in outcomes if text is not None]
    print_table([outcome for outcome, _ in outcomes if outcome])
    print(f'# seed={SEED} seconds={time.monotonic() - began:.0f} failed={len(wrong)} without an outcome={len(broken)}', flush=True)
    assert not wrong, '\n'.join(broken[:5] or wrong[:3])


if __name__ == '__main__':
    main([test_random_lives_of_sets])
