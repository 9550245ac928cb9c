# SPDX-License-Identifier: MIT
"""Random events in real runs: signals to ranks, helpers, tasks, mpirun and hdss, from outside and by user code, and what user code does to its own
process. A run survives with the output of an undisturbed one, or ends with a status that the manual names, and is then resumed, or begun anew where no journal is kept, to that output; no
launch takes more than a minute behind its event, and nothing of it stays: no process, no file, no shared memory.

HDSS_TEST_EVENTS says how many trials (default 14, one of each topology), HDSS_TEST_FIRST the number of the first one (default 0), HDSS_TEST_SEED
which ones (default 1), HDSS_TEST_JOBS how many at once (default 2). The table sums them up by event and by topology; a trial that fails names its
number at once: HDSS_TEST_ONLY=NUMBER runs that one. User code that sends a signal runs this file: strike NUMBER. MPIRUN=mpiexec.mpich, with programs
that are built with MPICH, makes them trials of MPICH.
"""
import collections
import itertools
import os
import random
import signal
import sys
import time
import types

from faults import is_complete
from isolation import hostile
from journals import head_of
from kernels import built
from launch import (MASTER, PROGRAM, SUPERMASTER, TIMEOUT_S, WORKER, descendants, finish, hdss, job, journal_is_over, kill_tree, main, mpirun_line, python_is_there,
                    report, run, shared_memory, start)
from loops import DEADLY_PYTHON
from openmpi import IS_5, RECOVERING
from processes import children, helpers, launcher, members, name_of, pids, send
from results import read, records_of
from trials import run_trials

TRIALS = int(os.environ.get('HDSS_TEST_EVENTS', '14'))
FIRST = int(os.environ.get('HDSS_TEST_FIRST', '0'))
SEED = int(os.environ.get('HDSS_TEST_SEED', '1'))
JOBS = int(os.environ.get('HDSS_TEST_JOBS', '2'))
ONLY = os.environ.get('HDSS_TEST_ONLY')
MPICH = 'MPIRUN' in os.environ
OWN = ' '.join([*PROGRAM, os.path.abspath(__file__)])
LIMIT_S = TIMEOUT_S / 2   # what takes longer behind its event hangs
LEAVE_S = TIMEOUT_S / 12  # in which all processes of a command that is back have left
LAUNCHES_MOST = 6
IMPATIENT_S = 5  # behind which somebody drains a run that the manual says waits

TECHNIQUES = ['ss', 'gss', 'fac2', 'dfss', 'tss', 'css:chunk=3', 'awf-b']
DEADLY = {'KILL': signal.SIGKILL, 'SEGV': signal.SIGSEGV, 'ABRT': signal.SIGABRT}
DRAINING = {name: getattr(signal, 'SIG' + name) for name in ('TERM', 'INT', 'HUP', 'USR1', 'USR2')}
ALL = {**DEADLY, **DRAINING, 'STOP': signal.SIGSTOP, 'STOP and CONT': signal.SIGSTOP}

# --- loops: a second or two of three workers ---

SYNTHETIC = ['synthetic', 'iterations=300', 'mean=20000', 'distribution=exponential', 'mode=sleep']
TASKS = 100


def hostile_words(mode, at, once):
    return [*([f'at={at}', f'mode={mode}', 'command=./deed'] if mode else []), *(['once=over'] if once else [])]


def plugin(mode, at, once):
    return [hostile(), 'iterations=300', 'sleep=20000', *hostile_words(mode, at, once)]


def steps(mode, at, once):
    return [hostile(), 'iterations=300', 'steps=6', 'sleep=15000', *hostile_words(mode, at, once)]


def rows(mode, at, once):
    hostile_part = [f'at={at}', f'mode={mode}', 'place=30', 'command=./deed', 'times=1', f'marks={os.getcwd()}/over.'] if mode else []
    return [built('deadly_rows'), 'rows=80', 'columns=60', 'spin=250', *hostile_part]


def python(mode, at, once):
    with open('own.py', 'w') as file:
        file.write(DEADLY_PYTHON)
    return ['python:own.run', *([f'at={at % 250}', f'mode={mode}'] if mode else []), *(['once=over'] if once else [])]


def tasks(mode, at, once):
    """A list, as a shell is needed only at the task that is hostile."""
    deeds = {'segv': 'kill -SEGV $$', 'kill': 'kill -KILL $$', 'exit': 'exit 9', 'parent': 'kill -KILL $PPID; sleep 1', 'command': './deed'}
    with open('tasks', 'w') as file:
        for i in range(TASKS):
            hostile_part = f'{"[ -e over ] || { : >over; " if once else "{ "}{deeds[mode]}; }}; ' if mode and i == at % TASKS else ''
            file.write(f'sleep 0.05; {hostile_part}echo {i}\n')
    return ['exec', 'tasks=tasks', 'shell=yes', 'retries=1']


def synthetic(mode, at, once):
    assert not once
    return [*SYNTHETIC, *([f'{mode}={at}'] if mode else [])]


def dependent(mode, _, once):
    assert not mode and not once
    return ['floyd-steinberg', 'width=700', 'height=300']


# How it is launched: the kernel, the ending of its output, the numbers of masters, options of the job, what user code may do for good or once, and
# how much slower workers are made.
Topology = collections.namedtuple('Topology', 'kernel kind masters options for_good once slowdown')
CRASHES = ['segv', 'abort', 'kill', '_exit']
DCA = [['--dca', 'rma'], ['--dca', 'two-sided'], ['--dca', 'node']]
TOPOLOGIES = {
    'central': Topology(synthetic, 'npy', [0], [[]], ['crash', 'fail'], [], None),
    '1 master': Topology(synthetic, 'npy', [1], [[]], ['crash', 'fail'], [], None),
    '2 to 4 masters': Topology(synthetic, 'csv', [2, 3, 4], [[]], ['crash', 'fail'], [], None),
    'threads': Topology(synthetic, 'npy', [0, 1, 2], [['--threads', '2']], ['fail'], [], None),
    'exec': Topology(tasks, 'out', [0, 1, 2], [[]], ['segv', 'kill', 'exit'], ['segv', 'kill', 'exit', 'parent'], None),
    'python': Topology(python, 'npy', [0, 1, 2], [['--isolate', 'on'], ['--isolate', 'off']], [*CRASHES, 'raise'], [*CRASHES, 'raise'], None),
    'plug-in, isolated': Topology(plugin, 'npy', [0, 1, 2], [['--isolate', 'on'], []], [*CRASHES, 'exit', 'fail'],
                                  [*CRASHES, 'exit', 'closefds', 'fail', 'stop', 'loop'], None),
    'plug-in, threads': Topology(plugin, 'npy', [0, 1, 2], [['--isolate', 'on', '--threads', '3'], ['--threads', '2', '--thread-technique', 'ss']],
                                 [*CRASHES, 'exit', 'fail'], [*CRASHES, 'exit', 'closefds', 'fail', 'stop', 'loop'], None),
    'plug-in in the rank': Topology(plugin, 'npy', [0, 1, 2], [['--isolate', 'off']], ['segv', 'kill', 'fail'], [*CRASHES, 'fail'], None),
    'time steps': Topology(steps, 'npy', [0, 1, 2], [['--isolate', 'on'], ['--isolate', 'off']], [], [*CRASHES, 'fail'], None),
    'dependent': Topology(dependent, 'npy', [0, 1, 2], [[]], [], [], '1000'),
    'dependent, isolated': Topology(rows, 'npy', [0, 1, 2], [['--isolate', 'on']], [], ['segv', 'kill', 'exit'], None),
    'DCA': Topology(synthetic, 'npy', [0], DCA, [], [], None),
    'DCA, plug-in': Topology(plugin, 'npy', [0], DCA, [], ['segv', 'abort', 'kill', '_exit'], None),
}
WITHOUT_MASTERS = ['DCA', 'DCA, plug-in']  # and without a supermaster, or a journal
HAS_JOURNAL = [name for name in TOPOLOGIES if name not in WITHOUT_MASTERS]
DEPENDENT = ['dependent', 'dependent, isolated']
WAITS = ['exec', 'python', *DEPENDENT, *WITHOUT_MASTERS]  # what a worker of theirs has is given to no other one
OBEYING = [name for name, topology in TOPOLOGIES.items() if topology.once]  # their user code can be told to run a command


def words_of(name, options, technique, words):
    power = [] if name in WITHOUT_MASTERS else ['--power', 'equal']
    return [*power, '--technique', technique, *options, '--report', 'report.json', '--progress', 'never', '--output', f'out.{TOPOLOGIES[name].kind}', *words]


def undisturbed(name):
    """Checksum and output."""
    result = run(hdss(0, 3, words_of(name, TOPOLOGIES[name].options[0], 'ss', TOPOLOGIES[name].kernel('', 0, False))))
    assert result.status == 0, result
    return result.checksum(), read(f'out.{TOPOLOGIES[name].kind}')


# --- trials: all that is random about one is drawn before it begins ---

class Trial:
    def __init__(self, number):
        chance = random.Random(SEED * 1000000 + number)
        self.number, self.name = number, list(TOPOLOGIES)[number % len(TOPOLOGIES)]
        self.topology = TOPOLOGIES[self.name]
        self.output = f'out.{self.topology.kind}'
        self.launcher = self.draw_launcher(chance)
        self.masters, self.workers = chance.choice(self.topology.masters), chance.randint(3, 5)
        self.workers += self.masters - 1 if self.masters > 2 else 0
        self.options, self.technique = chance.choice(self.topology.options), chance.choice(TECHNIQUES)
        if self.name in WITHOUT_MASTERS:
            self.technique = chance.choice(['ss', 'gss', 'fac2', 'tss', 'css:chunk=3'])
        self.at, self.starting = chance.randrange(50), chance.random() < 0.2
        self.mode, self.once, self.events, self.hit = '', False, [], []
        self.draw_events(chance)
        self.again = chance.randint(0, 2), chance.randint(1, 4)

    def draw_launcher(self, chance):
        return chance.choice(['hdss'] * 8 + ['mpirun' if MPICH or self.name in WITHOUT_MASTERS else 'recovering', 'mpirun'])

    def draw_events(self, chance):
        """Of what user code does to itself one thing, else signals: one by user code, or one or two from outside."""
        deeds = [(mode, False) for mode in self.topology.for_good] + [(mode, True) for mode in self.topology.once]
        kind = chance.random()
        if deeds and kind < 0.2 and self.launcher == 'hdss':
            self.mode, self.once = chance.choice(deeds)
        elif self.name in OBEYING and kind < 0.55:
            self.mode, self.once, self.starting = 'command', True, False
            self.events.append(self.draw_event(chance))
        else:
            for _ in range(chance.choice([1, 1, 1, 1, 2])):
                self.events.append(self.draw_event(chance))

    def draw_event(self, chance):
        """(name of the signal, whom it goes to, when, which of several, how long a pause is)"""
        whom = ['worker'] * 3 + ['master'] * 3 * (self.masters > 0) + ['supermaster'] * (self.name not in WITHOUT_MASTERS) * 2 + ['mpirun']
        whom += ['helper'] * 3 * self.has_helpers() + ['hdss'] * 2 * (self.launcher == 'hdss') + ['task'] * 2 * (self.name == 'exec')
        whom += ['all'] * (self.mode == '')
        target = chance.choice(whom)
        accepted = list(DRAINING) if target == 'all' else [name for name in ALL for _ in range(1 if name in DRAINING else 3)]
        if target == 'hdss' or (self.launcher != 'hdss' and target in self.waited_for_by_hand()):
            accepted = [name for name in accepted if name != 'STOP']  # it is waited for
        if self.launcher != 'hdss':
            # Open MPI's mpirun does not always return from a loss in the first moments.
            self.starting = False
        wait = chance.uniform(0, 1.2 if self.starting else 0.6)
        return chance.choice(accepted), target, wait, chance.randrange(100), chance.uniform(0.05, 4)

    def waited_for_by_hand(self):
        """MPICH's mpiexec, other than Open MPI's mpirun, does not end ranks that do not drain."""
        return ['supermaster', 'mpirun', *(['worker'] if MPICH and self.name in WITHOUT_MASTERS else [])]

    def has_helpers(self):
        return self.name in ('python', 'plug-in, isolated', 'plug-in, threads', 'time steps', 'dependent, isolated') and 'off' not in self.options

    def event(self):
        """Its row of the table."""
        named = [f'{name} to {target}' for name, target, *_ in self.events]
        if self.is_by_user_code():
            return f'{named[0]} by user code'
        if self.mode:
            return f'user code: {self.mode}{" once" if self.once else ""}'
        return named[0] if len(named) == 1 else 'two of them'

    def line(self):
        words = words_of(self.name, self.options, self.technique, self.topology.kernel(self.mode, self.at, self.once))
        slowdown = ['--slowdown', self.topology.slowdown] if self.topology.slowdown else []
        if self.launcher == 'hdss':
            return hdss(self.masters, self.workers, words, *slowdown)
        options = RECOVERING if self.launcher == 'recovering' else []
        if self.name in WITHOUT_MASTERS:
            return mpirun_line([(self.workers, [WORKER, *[word for word in words if word not in ('--progress', 'never')]])], options)
        return job(self.masters, self.workers, words, slowdown, options)

    def line_again(self):
        """With other masters and workers, where there is a journal."""
        masters, workers = self.again if self.name in HAS_JOURNAL else (self.masters, self.workers)
        words = words_of(self.name, self.options, self.technique, self.topology.kernel(self.mode, self.at, self.once))
        return [*hdss(masters, workers, ['--resume' if self.name in HAS_JOURNAL else '--overwrite', *words])]

    def is_by_user_code(self):
        """User code sends a signal."""
        return bool(self.mode and self.events)

    def bad(self):
        """The iteration that is given up."""
        if not self.mode or self.once:
            return None
        return self.at % (TASKS if self.name == 'exec' else 250 if self.name == 'python' else 300)

    def __str__(self):
        how = self.mode and f'{self.event()} at {self.at}' or ', '.join(f'{name} to {target} {wait:.2f} s behind {"the start" if self.starting else "the first result"}'
                                                                      for name, target, wait, *_ in self.events)
        return f'trial {self.number} ({self.name}, {self.launcher}): {how}\n{" ".join(map(str, self.line()))}'


# --- what the manual says comes of an event ---

def of_event(trial, name, target):
    """The statuses of `hdss run`."""
    number = ALL[name]
    if target == 'hdss' and name in DEADLY:
        return {-number}
    if name == 'STOP and CONT':
        return {0}
    if target in ('helper', 'task'):
        return {0, 2} if trial.starting else {0}  # one that describes the loop, or checks its files
    if name in DRAINING:
        early = {-number} if trial.starting and target in ('hdss', 'all') else set()  # before hdss has begun anything
        # mpirun kills ranks that are in an iteration, and a rank that is not ready for the signal yet dies of it
        cut = {1} if trial.name not in HAS_JOURNAL and (trial.starting or target in ('mpirun', 'all')) else set()
        silent = {1} if IS_5 and trial.starting and target in ('mpirun', 'all') else set()  # a status of 0 of mpirun's says nothing
        return {0, 4} | early | cut | silent
    if trial.starting or target == 'supermaster' or trial.name in WITHOUT_MASTERS or (target == 'mpirun' and name in DEADLY):
        return {0, 1}
    return {0, 1} if MPICH or trial.name in DEPENDENT else {0}  # one that recorded nothing is not started again


def is_waited_for(trial, name, target):
    """The run stands until it is drained: what a worker has is given to no other one."""
    return name == 'STOP' and target in ('worker', 'helper', 'task') and trial.name in WAITS


def of_user_code(trial):
    if MPICH:  # each death of a rank is the end, and what has not begun anew after three of them is resumed by the trial
        return {0, 1, 3}
    if not trial.once:
        return {3}
    return {0, 1} if trial.name in WITHOUT_MASTERS else {0}


def is_documented(trial, status):
    if trial.launcher != 'hdss':
        return status != 2
    if trial.mode and not trial.is_by_user_code():
        return status in of_user_code(trial)
    accepted = {0}.union(*(of_event(trial, name, target) for name, target, *_ in trial.events)) if trial.hit else {0}
    if any(is_waited_for(trial, name, target) for name, target, *_ in trial.events):
        accepted |= {1, 4} if MPICH else {4}  # to end the worker that hangs ends the run
    return status in accepted


# --- a launch ---


def has_begun(trial):
    """Something is stored."""
    try:
        if trial.name in HAS_JOURNAL:
            return os.path.getsize(trial.output + '.journal') > head_of(trial.output + '.journal')
        return any(records_of(trial.output))
    except (OSError, IndexError):
        return False


def find(process, trial, target):
    if target in ('worker', 'master', 'supermaster'):
        return pids(process, {'worker': WORKER, 'master': MASTER, 'supermaster': SUPERMASTER}[target])
    if target == 'helper':
        return helpers(process)
    if target == 'task':
        return [task for pid in pids(process, WORKER) for task in children(pid)]
    if target == 'hdss':
        return [process.pid]
    mpirun, below = launcher(process) if trial.launcher == 'hdss' else ([process.pid], descendants(process.pid))
    return mpirun if target == 'mpirun' else [process.pid, *below]


def choose(process, trial, target, place):
    found = find(process, trial, target)
    return found if target == 'all' else [found[place % len(found)]] if found else []


def hits(name, target, chosen):
    return [f'{name} to {target} {pid}' for pid in chosen]


def strike_as_user_code(number):
    """The signal of trial `number`, in whose folder this runs. It may be the last thing that it does."""
    trial = Trial(number)
    name, target, _, place, pause = trial.events[0]
    with open('launched') as file:
        chosen = choose(types.SimpleNamespace(pid=int(file.read())), trial, target, place)
    with open('hit', 'w') as file:
        file.write('\n'.join(hits(name, target, chosen)))
    send(chosen, ALL[name])
    if name == 'STOP and CONT':
        time.sleep(pause)
        send(chosen, signal.SIGCONT)


def write_deed(number):
    """What user code that is told to run a command runs."""
    with open('deed', 'w') as file:
        file.write(f'#!/bin/sh\nexec {OWN} strike {number}\n')
    os.chmod('deed', 0o755)


class Launch:
    """A run that is watched: who is hit, what it leaves."""

    def __init__(self, trial):
        self.trial, self.shared, self.hung = trial, set(), False
        self.process = start(trial.line())
        with open('launched', 'w') as file:
            file.write(str(self.process.pid))

    def watch(self, seconds, until=lambda: False):
        """True where the command is back."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end and not until():
            self.shared |= shared_memory(self.process)
            time.sleep(0.02)
        return self.process.poll() is not None

    def strike(self, name, target, wait, place, pause):
        if self.watch(wait):
            return
        chosen = choose(self.process, self.trial, target, place)
        send(chosen, ALL[name])
        self.trial.hit += hits(name, target, chosen)
        if name == 'STOP and CONT':
            self.watch(pause)
            send(chosen, signal.SIGCONT)

    def go(self):
        trial = self.trial
        if trial.is_by_user_code():
            self.watch(LIMIT_S, lambda: os.path.exists('hit'))
        else:
            if trial.events and not trial.starting:
                self.watch(LIMIT_S, lambda: has_begun(trial))
            for event in trial.events:
                self.strike(*event)
        if any(is_waited_for(trial, name, target) for name, target, *_ in trial.events) and not self.watch(IMPATIENT_S):
            send([self.process.pid], signal.SIGTERM)
        self.hung = not self.watch(LIMIT_S)
        if os.path.exists('hit'):
            trial.hit = read('hit').decode().splitlines()
        standing = ', '.join(f'{pid} {name_of(pid)}' for pid in members(os.getcwd())) if self.hung else ''
        if self.hung:
            kill_tree(self.process.pid)
            self.process.wait()
        left = self.left()
        result = finish(self.process, LIMIT_S)
        return result, left, f'hangs with {standing}' if self.hung else ''

    def left(self):
        """What a command that is back has left; processes among it are ended."""
        end = time.monotonic() + LEAVE_S
        while members(os.getcwd()) and time.monotonic() < end:
            time.sleep(0.05)
        left = [f'process {pid} {name_of(pid)}' for pid in members(os.getcwd())]
        send(members(os.getcwd()), signal.SIGKILL)
        left += [path for path in sorted(self.shared) if os.path.exists(path)]
        for path in self.shared:
            if os.path.exists(path):
                os.remove(path)
        return left + [os.path.join(folder, name) for folder, below, files in os.walk('tmp') for name in files or ([] if below else ['.'])
                       if folder != 'tmp' or files]


# --- what is right ---

def compare(trial, got, expected):
    """The kinds of wrong among 'lost', 'doubled', 'different'; the iteration that was given up is empty."""
    if got == expected:
        return set()
    bad = trial.bad()
    if trial.name == 'exec':
        lines, right = got.splitlines(), [line for i, line in enumerate(expected.splitlines()) if i != bad]
        missing, counted = set(right) - set(lines), collections.Counter(lines)
        wrong = ({'lost'} if missing else set()) | ({'doubled'} if any(count > 1 for count in counted.values()) else set())
        return wrong or (set() if lines == right else {'different'})
    if trial.topology.kind == 'csv':
        pairs = list(itertools.zip_longest(got.splitlines()[1:], expected.splitlines()[1:], fillvalue=b''))
        nothing = [f'{i},0'.encode() for i in range(len(pairs))]
    elif len(got) != len(expected):
        return {'different'}
    else:
        size = 1 if trial.name == 'dependent' else 8
        pairs = [(got[i:i + size], expected[i:i + size]) for i in range(len(expected) % size + 128, len(expected), size)]
        nothing = [bytes(size)] * len(pairs)
    wrong = [i for i, (one, other) in enumerate(pairs) if one != (nothing[i] if i == bad else other)]
    return {'lost' if pairs[i][0] == nothing[i] else 'different' for i in wrong}


def check_done(trial, result, reference):
    """(kinds of wrong, why) of a run that says that it is done."""
    wrong = compare(trial, read(trial.output), reference[1])
    why = [f'{kind}: see the output' for kind in wrong]
    if is_complete(result):
        return wrong, why
    if result.status == 0 and 'checksum' not in result.out:
        wrong.add('lost')
        why.append('lost: the summary')
    elif trial.bad() is None and result.status == 0 and result.checksum() != reference[0]:
        wrong.add('different')
        why.append(f'checksum {result.checksum()}, not {reference[0]}')
    if result.status in (0, 3):
        figures = report()
        if figures['done'] != figures['iterations'] - (result.status == 3 and trial.name != 'exec'):
            wrong.add('doubled' if figures['done'] > figures['iterations'] else 'lost')
            why.append(f"{figures['done']} of {figures['iterations']} are done")
    if result.status != 3:
        over = trial.output + '.journal' if journal_is_over(trial.output + '.journal') else None
        stays = [name for name in os.listdir('.') if name.startswith(trial.output) and name not in (trial.output, over)]
        if stays:
            wrong.add('left behind')
            why.append(f'left behind: {stays}')
    return wrong, why


def is_done(trial, result):
    """A line by hand has the status of mpirun: the summary says it."""
    if trial.launcher == 'hdss':
        return result.status in (0, 3)
    return result.status == 0 and 'iterations done in' in result.out and report()['outcome'] == 'done'


def go_on(trial):
    """The run that goes on. MPICH ends the supermaster with each worker that user code ends for good, so that a death may not be counted: it takes more
    than one."""
    for _ in range(LAUNCHES_MOST if MPICH and trial.bad() is not None else 1):
        final = run(trial.line_again())
        if final.status != 1:
            break
    return final


def attempt(number, references):
    """One trial: its event, its topology, and what is wrong."""
    trial = Trial(number)
    os.mkdir('tmp')
    os.environ['TMPDIR'] = os.path.join(os.getcwd(), 'tmp')
    os.environ['PYTHONDONTWRITEBYTECODE'] = '1'
    os.environ.pop('XDG_RUNTIME_DIR', None)
    write_deed(number)
    launch = Launch(trial)
    result, left, why = launch.go()
    wrong, why = ({'hung'} if why else set()), [why] if why else []
    if trial.launcher != 'hdss' or any(word.startswith(f'{name} to hdss') for word in trial.hit for name in DEADLY):
        left = [word for word in left if word.startswith('process')]  # nobody is there to clear away
    if MPICH and trial.starting:
        left = [word for word in left if not word.startswith('/dev/shm/mpich_shar_tmp')]  # of ranks that are killed in MPI_Init
    if left:
        wrong.add('left behind')
        why.append(f'left behind: {left}')
    if not launch.hung and not is_documented(trial, result.status):
        wrong.add('status')
        why.append(f'status {result.status}')
    final = result
    if not is_done(trial, result):
        final = go_on(trial)
        if final.status != (0 if trial.bad() is None else 3) and not is_complete(final):
            wrong.add('status')
            why.append(f'status {final.status} of the run that goes on:\n{final}')
    if final.status in (0, 3) or is_complete(final):
        kinds, more = check_done(trial, final, references[trial.name])
        wrong |= kinds
        why += more
    text = None
    if wrong:
        text = f'{trial}\nwho was hit: {trial.hit}\n' + '\n'.join(why) + f'\n{result}'
        print('\n# '.join([f'# {", ".join(sorted(wrong))}', *text.splitlines()]), flush=True)
    return (trial.event(), trial.name, trial.launcher, result.status, sorted(wrong), bool(trial.hit or (trial.mode and not trial.events))), text


KINDS = ['too late', 'lost', 'doubled', 'different', 'hung', 'left behind', 'status']


def print_table(outcomes):
    rows = collections.defaultdict(collections.Counter)
    for event, name, by, status, wrong, hit in outcomes:
        for row in (f'  {event}', name, f'by {by}', 'all'):
            rows[row].update(['trials', *wrong, *([] if hit else ['too late']), f'= {status}'])
    print('# ' + ' '.join([f'{"event, topology, launcher":32}', f'{"trials":>7}', *(f'{kind:>11}' for kind in KINDS), ' statuses']))
    for row, counts in sorted(rows.items()):
        statuses = ', '.join(f'{name[2:]}: {count}' for name, count in sorted(counts.items()) if name.startswith('= '))
        print('# ' + ' '.join([f'{row:32}', f'{counts["trials"]:7}', *(f'{counts[kind]:11}' for kind in KINDS), ' ' + statuses]))
    sys.stdout.flush()


def check_trials(names):
    """Those of the topologies."""
    numbers = [int(number) for number in ONLY.split(',')] if ONLY else range(FIRST, FIRST + TRIALS)
    numbers = [number for number in numbers if Trial(number).name in names and (Trial(number).name != 'python' or python_is_there())]
    references, began = {}, time.monotonic()
    for name in {Trial(number).name for number in numbers}:
        folder = f'reference {name}'
        os.mkdir(folder)
        os.chdir(folder)
        references[name] = undisturbed(name)
        os.chdir('..')
    outcomes = run_trials(attempt, numbers, JOBS, references)
    broken = [text for outcome, text in outcomes if not outcome]
    wrong = [text for _, text in outcomes if text is not None]
    print_table([outcome for outcome, _ in outcomes if outcome])
    print(f'# seed={SEED} seconds={time.monotonic() - began:.0f} failed={len(wrong)} without an outcome={len(broken)}', flush=True)
    assert not wrong, '\n'.join(broken[:5] or wrong[:3])


BUILT_IN = ['central', '1 master', '2 to 4 masters', 'threads', 'dependent', 'DCA']
BY_CHILDREN = ['exec', 'python', 'plug-in, isolated', 'dependent, isolated']


def test_random_events_cost_loops_of_the_product_nothing():
    check_trials(BUILT_IN)


def test_random_events_cost_tasks_and_helpers_nothing():
    check_trials(BY_CHILDREN)


def test_random_events_cost_other_plugins_nothing():
    check_trials(set(TOPOLOGIES) - {*BUILT_IN, *BY_CHILDREN})


if __name__ == '__main__' and sys.argv[1:2] == ['strike']:
    strike_as_user_code(int(sys.argv[2]))
elif __name__ == '__main__':
    main([test_random_events_cost_loops_of_the_product_nothing, test_random_events_cost_tasks_and_helpers_nothing,
          test_random_events_cost_other_plugins_nothing])
