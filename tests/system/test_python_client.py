# SPDX-License-Identifier: MIT
"""Programs with an hdss.Executor that fork, are interrupted, are killed or lose their set: no process and no folder is left.

Calls run in the Python of the workers' version, as which this program runs itself again."""
import concurrent.futures
import fcntl
import os
import pty
import re
import resource
import select
import signal
import sys
import time
import zipapp

from calls import (FOR_EVER_S, INTERRUPTED, folders, leaves_nothing, own_places, processes, program, python, raised_by, run_in_the_workers_python,
                   square, start)
from launch import TIMEOUT_S, environment, finish, kill_tree, let_user_code_crash, main, state_of, wait_until
from processes import send


@leaves_nothing
def test_a_client_that_forks():
    with hdss.Executor(workers=2) as executor:
        assert executor.submit(square, 2).result() == 4
        waits = executor.submit(time.sleep, 0.5)
        pid = os.fork()
        if pid == 0:
            try:
                executor.submit(square, 1)
            except RuntimeError:
                executor.shutdown()
                with hdss.Executor(workers=1) as own:
                    found = own.submit(square, 4).result()
                os._exit(found)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 16
        waits.result(TIMEOUT_S)
        assert list(executor.map(square, range(10))) == [i * i for i in range(10)]


@leaves_nothing
def test_a_client_that_forks_at_once():
    """While a thread reads what the set says as it starts."""
    with hdss.Executor(workers=1) as executor:
        wait_until(lambda: executor.set._ready.locked(), 'the start of the set')
        pid = os.fork()
        if pid == 0:
            executor = None  # as where the name is used again
            os._exit(7)
        ended = []
        wait_until(lambda: ended.append(os.waitpid(pid, os.WNOHANG)) or ended[-1][0] == pid, 'the end of the child')
        assert os.waitstatus_to_exitcode(ended[-1][1]) == 7
        assert executor.submit(square, 4).result(TIMEOUT_S) == 16


@leaves_nothing
def test_many_threads():
    with hdss.Executor(workers=2) as executor:
        def user(number):
            one = executor.submit(square, number).result(TIMEOUT_S)
            return one == number * number and list(executor.map(square, range(number, number + 100))) == [i * i for i in range(number, number + 100)]
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            assert all(threads.map(user, range(24)))


@leaves_nothing
def test_an_interrupted_program():
    for wait in ('futures[0].result()', 'list(executor.map(time.sleep, [100000] * 4))', 'pass'):
        process = start(program(INTERRUPTED.format(wait=wait)))
        assert process.stdout.readline().startswith('up'), process.stderr.read()
        wait_until(lambda: is_waiting(process.pid), 'a program that waits')
        process.send_signal(signal.SIGINT)
        result = finish(process)  # which takes less time than a call
        assert result.status in (-signal.SIGINT, 1) and 'KeyboardInterrupt' in result.raw_err, (wait, result)


def is_waiting(pid):
    """True where the first thread of the process sleeps."""
    return state_of(pid) == 'S'


class Terminal:
    """An interactive Python on a terminal."""

    def __init__(self):
        self.pid, self._leader = pty.fork()
        if self.pid == 0:
            os.execve(sys.executable, [sys.executable, '-i', '-q', '-c', 'import hdss, time'], {**environment(), 'TERM': 'dumb'})
        self._text = ''

    def expect(self, pattern):
        """Waits for the pattern, and forgets what stands before it."""
        end = time.monotonic() + TIMEOUT_S
        while True:
            found = re.search(pattern, self._text)
            if found:
                self._text = self._text[found.end():]
                return found
            assert time.monotonic() < end and select.select([self._leader], [], [], TIMEOUT_S)[0], f'no {pattern!r} in {self._text!r}'
            self._text += os.read(self._leader, 4096).decode('utf-8', 'replace')

    def type(self, text):
        os.write(self._leader, text.encode())

    def run(self, line):
        """Types a line when it is asked for."""
        self.expect('>>> ')
        self.type(line + '\n')

    def end(self):
        self.run('exit()')
        try:
            self.expect('what nobody says')
        except OSError:  # nobody has the terminal open any more
            pass
        os.close(self._leader)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@leaves_nothing
def test_an_interrupted_prompt():
    """Ctrl-C ends what is waited for; the executor can be used after it."""
    terminal = Terminal()
    try:
        terminal.run('executor = hdss.Executor(workers=2)')
        terminal.run('executor.submit(pow, 2, 3).result()')
        terminal.expect(r'\n8\r')
        terminal.run('long = executor.submit(time.sleep, 3); print("wai" + "ts"); executor.submit(time.sleep, 3).result()')
        terminal.expect('waits')
        terminal.type('\x03')
        terminal.expect('KeyboardInterrupt')
        terminal.run('long.result(), executor.submit(pow, 3, 3).result()')
        terminal.expect(r'\(None, 27\)')
        assert terminal.end() == 0
    except BaseException:
        kill_tree(terminal.pid)
        raise


@leaves_nothing
def test_python_m():
    """Functions of the main module, of one of its package, and of a module beside it."""
    os.makedirs('package')
    program('', 'package/__init__.py')
    program('def cube(i):\n    return i ** 3\n', 'package/cubes.py')
    program('def half(i):\n    return i / 2\n', 'beside.py')
    program('''
import hdss, beside
from . import cubes
def twice(i):
    return 2 * i
if __name__ == '__main__':
    with hdss.Executor(workers=2) as executor:
        print(*(list(executor.map(f, range(4))) for f in (twice, cubes.cube, beside.half)))
''', 'package/__main__.py')
    result = finish(start('-m', 'package'))
    assert result.status == 0 and result.out == '[0, 2, 4, 6] [0, 1, 8, 27] [0.0, 0.5, 1.0, 1.5]\n', result
    result = finish(start('-c', 'import hdss; print(hdss.Executor(workers=1).submit(lambda: 7).result())'))
    assert result.status == 0 and result.out == '7\n', result


@leaves_nothing
def test_other_ways_to_start():
    """A program in a zip file, and examples in the text of a function."""
    os.makedirs('zipped')
    program('''
import hdss
SEEN = []
def twice(i):
    SEEN.append(i)
    return 2 * i, len(SEEN)
with hdss.Executor(workers=1) as executor:
    print(list(executor.map(twice, range(3))), SEEN)
''', 'zipped/__main__.py')
    zipapp.create_archive('zipped', 'zipped.pyz')
    result = finish(start('zipped.pyz'))
    assert result.status == 0 and result.out == '[(0, 1), (2, 2), (4, 3)] []\n', result
    result = finish(start('-m', 'doctest', '-v', program('''
def half(i):
    """
    >>> import hdss
    >>> whole = 7
    >>> with hdss.Executor(workers=1) as executor:
    ...     print(list(executor.map(half, [2, 4])), executor.submit(lambda: whole).result())
    [1.0, 2.0] 7
    """
    return i / 2
''', 'examples.py')))
    assert result.status == 0 and 'Test passed.' in result.out, result


def surroundings():
    """Of a call: whether an interpreter waited for it, and what the program has said of its variables and modules."""
    import colours
    with open('/proc/self/cmdline', 'rb') as file:
        return b'--spare' in file.read().split(b'\0'), os.getpid(), colours.NAME, os.environ.get('COLOUR'), sys.flags.hash_randomization, os.getcwd()


@leaves_nothing
def test_interpreters_that_wait_for_a_job():
    """An interpreter that is started before there is a job has the variables, the modules and the folder of the program; one that asks for
    another interpreter by its variables has its own."""
    def spares():
        return {pid for pid in processes() if '--spare' in words_of(pid)}
    used = set()
    here = os.getcwd()
    with hdss.Set(workers=1) as found:
        for name, variables, waited in (('red', {}, True), ('green', {'COLOUR': 'green'}, True), ('blue', {'PYTHONHASHSEED': '0'}, False)):
            wait_until(lambda: spares() - used, 'an interpreter')
            os.makedirs(name)
            os.chdir(name)
            program(f'NAME = {name!r}', 'colours.py')
            path = os.pathsep.join([os.getcwd(), os.environ.get('PYTHONPATH', '')])
            sys.path.insert(0, os.getcwd())
            with hdss.Executor(set=found, environment={**os.environ, 'PYTHONPATH': path, **variables}) as executor:
                is_spare, pid, *said = executor.submit(surroundings).result()
            sys.path.pop(0)
            assert is_spare == waited and said == [name, variables.get('COLOUR'), int(waited), os.getcwd()], (is_spare, said)
            used.add(pid)
            os.chdir(here)


KILLED = f'''
import os, time, hdss
executor = hdss.Executor(workers=2)
calls = [executor.submit(time.sleep, {FOR_EVER_S}) for _ in range(5)]
while not calls[0].running():
    time.sleep(0.01)
print('runs', flush=True)
time.sleep({FOR_EVER_S})
'''


@leaves_nothing
def test_a_client_that_is_killed():
    """Its set ends. Its folders are those of nobody, and the next program removes them."""
    process = start(program(KILLED))
    assert process.stdout.readline() == 'runs\n', process.stderr.read()
    state = state_folder()
    assert folders() and os.path.isdir(state)
    process.kill()
    finish(process)
    wait_until(lambda: not processes(), 'the end of the set')
    before = folders()
    with hdss.Executor(workers=1) as executor:
        assert executor.submit(square, 5).result() == 25
        assert not set(before) & set(folders()) and not os.path.exists(state), 'folders of the one that was killed are left'


def words_of(pid):
    """The command line of a process; nothing of one that has ended."""
    try:
        with open(f'/proc/{pid}/cmdline', encoding='utf-8') as file:
            return file.read().split('\0')
    except OSError:
        return []


def state_folder():
    """That of the set of this test."""
    for pid in processes():
        words = words_of(pid)
        if '--state' in words and '--until-eof' in words:
            return os.path.dirname(words[words.index('--state') + 1])
    raise AssertionError('there is no set')


@leaves_nothing
def test_a_set_that_is_killed():
    executor = hdss.Executor(workers=2)
    calls = [executor.submit(time.sleep, FOR_EVER_S) for _ in range(50)]
    assert executor.workers == 2
    wait_until(calls[0].running, 'a call')
    send(processes(), signal.SIGKILL)
    for call in calls:
        raised_by(call, hdss.SetLost)
    try:
        executor.submit(square, 1)
        raise AssertionError('a set that is gone takes calls')
    except hdss.SetLost as error:
        assert isinstance(error, concurrent.futures.BrokenExecutor)
    executor.shutdown()


@leaves_nothing
def test_many_executors():
    for number in range(20):
        with hdss.Executor(workers=1) as executor:
            assert executor.submit(square, number).result() == number ** 2
    several = [hdss.Executor(workers=2) for _ in range(4)]
    futures = [executor.submit(square, i) for i in range(10) for executor in several]
    assert [future.result(TIMEOUT_S) for future in futures] == [i * i for i in range(10) for _ in several]
    for executor in several:
        executor.shutdown()


@leaves_nothing
def test_forgotten_executors():
    """What was submitted is done, as with those of the standard library; then the set ends with the process."""
    result = python('''
import hdss
def say(i):
    print('said', i)
executor = hdss.Executor(workers=2)
for i in range(5):
    executor.submit(say, i)
hdss.Executor(workers=1)
print('end', flush=True)
''')
    assert result.status == 0 and sorted(result.out.splitlines()) == ['end', *(f'said {i}' for i in range(5))], result
    executor = hdss.Executor(workers=1)
    future = executor.submit(square, 3)
    del executor
    assert future.result(TIMEOUT_S) == 9
    result = python('import hdss, itertools\nexecutor = hdss.Executor(workers=1)\nresults = executor.map(abs, itertools.count())\n'
                    'print(next(results), next(results))\n')
    assert result.status == 0 and result.out == '0 1\n', result


@leaves_nothing
def test_a_program_with_many_files():
    """Those of its set have numbers that select() does not take."""
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 2048:
        return 'at most 2047 files may be open'
    result = python("""
import hdss, os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (2048, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
files = [os.dup(0) for _ in range(1100)]
with hdss.Executor(workers=1) as executor:
    print(executor.submit(abs, -3).result())
""")
    assert result.status == 0 and result.out == '3\n', result
    return None


def test_a_folder_that_others_sweep_as_it_is_made():
    os.environ.update(own_places())
    hold = fcntl.flock

    def sweep_and_hold(*words):
        fcntl.flock = hold
        _sets._sweep('places', _sets.PREFIX)
        hold(*words)

    fcntl.flock = sweep_and_hold
    folder = _sets.Folder('places')
    _sets._sweep('places', _sets.PREFIX)
    assert os.path.isdir(folder.path), 'it was taken for that of a process that was killed'
    folder.remove()
    assert not folders()


if __name__ == '__main__':
    run_in_the_workers_python()
    import hdss
    from hdss import _sets
    let_user_code_crash()
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
