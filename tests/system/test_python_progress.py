# SPDX-License-Identifier: MIT
"""The bar of the Python package, as it is seen on a terminal: its width, its characters, what the program prints beside it, and Ctrl-C in a script
and at a prompt; and in a notebook."""
import contextlib
import fcntl
import io
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

from launch import HDSS, TIMEOUT_S, environment, kill_tree, main
from pythons import PACKAGE, with_modules

sys.path.insert(0, os.path.join(os.environ['SOURCE_ROOT'], 'deploy/python'))
sys.dont_write_bytecode = True
from hdss import _progress  # noqa: E402  # pylint: disable=wrong-import-position

BAR = r' *[0-9]+% ([█·]+|[#.]+) [0-9]+/{total}  [0-9.]+/s, [0-9:]+(, [0-9:]+ left)?'
# A map of 40 items, then one of 3, behind a pause; what is printed in between.
MAPS = '''
import hdss, time
def wait(i):
    time.sleep(0.05)
    return i
with hdss.Executor(workers=2, progress=True) as executor:
    print('the sum is', sum(executor.map(wait, range(40), chunksize=1)))
    for result in executor.map(wait, range(20), chunksize=1):
        print('result', result)
'''
LONG = '''
import hdss, time
with hdss.Executor(workers=2, progress=True) as executor:
    list(executor.map(lambda i: time.sleep(0.05), range(100000), chunksize=1))
'''
LOOP = '''
import hdss, time
hdss.loop(lambda i: time.sleep(0.02) or i, 100000, workers=2, technique='ss', progress=True)
'''
# Ctrl-C comes when a wait has just got its lock, is about to give it back, or has given it back to sleep: what is asked for then has its results all
# the same.
LOCKS = '''
import hdss, signal, sys, threading, time
class Interrupted:
    def __init__(self, lock, moment):
        self._lock, self._moment, self._waits = lock, moment, threading.current_thread()
    def __getattr__(self, name):
        return getattr(self._lock, name)
    def _interrupt(self, moment):
        if moment == self._moment and self._waits is threading.current_thread():
            self._waits = None
            signal.raise_signal(signal.SIGINT)
    def __enter__(self):
        self._lock.__enter__()
        self._interrupt('begin')
    def __exit__(self, *raised):
        self._interrupt('end')
        self._lock.__exit__(*raised)
    def release_save(self):
        state = self._lock._release_save()
        self._interrupt('sleep')
        return state
def interrupt(condition, moment, wait):
    condition._lock = Interrupted(condition._lock, moment)
    condition._release_save = condition._lock.release_save
    try:
        wait()
    except KeyboardInterrupt:
        print('interrupted')
wait = lambda i: time.sleep(0.05) or i
with hdss.Executor(workers=2, progress=sys.argv[1] == 'bar') as executor:
    for moment in ('begin', 'end', 'sleep'):
        results = executor.map(wait, range(100), chunksize=1)
        next(results)
        interrupt(executor._engine._sources[-1]._changed, moment, lambda: list(results))
        print(sum(executor.map(wait, range(10))))
        future = executor.submit(wait, 1)
        interrupt(future._condition, moment, future.result)
        print(executor.submit(wait, 3).result())
'''
# A call is submitted when the engine has just found nothing to do: the bar counts it all the same.
LATE = '''
import hdss, time
with hdss.Executor(workers=1, progress=True) as executor:
    engine, late = executor._engine, []
    forget = engine._forget_cancelled
    def submit_and_forget():
        if not late:
            late.append(executor.submit(abs, -2))
        forget()
    executor.submit(abs, -1).result()
    engine._forget_cancelled = submit_and_forget
    engine.wake()
    while not late:
        time.sleep(0.01)
    print(late[0].result(), engine._submitted)
'''
# Cells of a notebook: the second one is interrupted.
CELLS = ["""
import hdss, os, signal, threading, time
executor = hdss.Executor(workers=2, progress=True)
wait = lambda i: time.sleep(0.05) or i
def interrupt():
    while executor._engine._done < 5:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
""", 'threading.Thread(target=interrupt).start()\nsum(executor.map(wait, range(100000)))', 'sum(executor.map(wait, range(30)))', 'executor.shutdown()']
NOTEBOOK = """
import json, nbclient, nbformat, sys, traitlets.config
book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in json.loads(sys.argv[1])])
sockets = traitlets.config.Config(KernelManager={'transport': 'ipc'})  # by TCP, another program may take the port that was found free
nbclient.NotebookClient(book, kernel_name='python3', config=sockets, allow_errors=True).execute()
print(json.dumps([[' '.join(filter(None, [output.get('ename'), output.get('evalue')])) or output['data']['text/plain'] for output in cell.outputs]
                  for cell in book.cells]))
"""


class Screen:
    """What a terminal of so many columns shows, of text without escapes: the lines."""

    def __init__(self, columns):
        self.columns, self.lines, self.at = columns, [''], 0

    def show(self, text):
        for one in text:
            if one == '\n':
                self.lines.append('')
                self.at = 0
            elif one == '\r':
                self.at = 0
            elif one == '\b':
                self.at = max(0, self.at - 1)
            elif one != '\a':
                if self.at == self.columns:
                    self.show('\n')
                line = self.lines[-1].ljust(self.at)
                self.lines[-1] = line[:self.at] + one + line[self.at + 1:]
                self.at += 1
        return self

    def text(self):
        return [line.rstrip() for line in self.lines]


class Terminal:
    """A Python program on a terminal."""

    def __init__(self, words, columns=80, **variables):
        self.leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
        here = {'HDSS': HDSS, 'HDSS_CONTROL_DIR': os.getcwd(), 'PYTHONPATH': PACKAGE, 'PYTHONDONTWRITEBYTECODE': '1', 'TERM': 'dumb'}
        env = {name: value for name, value in environment().items() if name != 'HDSS_SET'} | here | variables
        self.process = subprocess.Popen(words, stdin=follower, stdout=follower, stderr=follower, env=env, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(follower)
        self.bytes, self.seen, self.columns = b'', 0, columns

    def _read(self):
        if not select.select([self.leader], [], [], TIMEOUT_S)[0]:
            kill_tree(self.process.pid)
            raise AssertionError(f'hangs:\n{self.bytes.decode()}')
        try:
            piece = os.read(self.leader, 4096)
        except OSError:
            piece = b''
        self.bytes += piece
        return piece != b''

    def until(self, pattern):
        """Waits for what is shown behind what the last call has seen."""
        end = time.monotonic() + TIMEOUT_S
        while True:
            found = re.compile(pattern).search(self.bytes.decode(errors='ignore'), self.seen)
            if found:
                self.seen = found.end()
                return
            assert self._read() and time.monotonic() < end, f'never shown: {pattern}\n{self.bytes.decode(errors="ignore")}'

    def press(self, keys):
        os.write(self.leader, keys.encode())

    def end(self):
        """(status, screen)"""
        while self._read():
            pass
        os.close(self.leader)
        try:
            status = self.process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            kill_tree(self.process.pid)
            raise
        return status, self.screen()

    def screen(self):
        return Screen(self.columns).show(self.bytes.decode()).text()


with_python = with_modules('numpy')


def program(text):
    with open('program.py', 'w', encoding='utf-8') as file:
        file.write(text)
    return 'program.py'


def run_python(python, *words, **variables):
    env = {**environment(), 'HDSS': HDSS, 'HDSS_CONTROL_DIR': os.getcwd(), 'PYTHONPATH': PACKAGE, **variables}
    return subprocess.run([python, *words], env=env, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)


def test_a_line_has_at_most_the_columns_that_there_are():
    for width in (0, 1, 20, 39, 40, 60, 79, 80, 100, 200):
        for counts in ((0, 10, 0.0), (3, 10, 1.0), (10**9, 10**10, 90000.0), (7, 10, 1.0, 2), (10, 10, 0.1)):
            for is_ascii in (False, True):
                text = _progress.line(*counts, width=width, is_ascii=is_ascii)
                assert len(text) <= width and (text.isascii() or not is_ascii), (width, counts, text)
    assert _progress.line(3, 10, 6.0, width=60) == ' 30% ███████··················· 3/10  0.5/s, 0:06, 0:14 left', _progress.line(3, 10, 6.0, width=60)
    assert _progress.line(6, 10, 6.0, 2, width=50, is_ascii=True) == ' 80% ######.. 6/10, 2 failed  1/s, 0:06, 0:01 left', _progress.line(6, 10, 6.0, 2, width=50, is_ascii=True)
    assert _progress.line(10, 10, 4000.0) == '100% ' + 30 * '█' + ' 10/10  0.0025/s, 1:06:40', _progress.line(10, 10, 4000.0)


def test_a_bar_that_was_hidden_comes_back_with_what_is_added():
    class Shown(io.StringIO):
        encoding = 'utf-8'

        def isatty(self):
            return True

    for is_told in (True, False):  # that nobody waits for the rest
        with contextlib.redirect_stderr(Shown()) as shown:
            bar = _progress.Bar()
            bar.draw(4, 100)
            bar.hide()
            bar.draw(4, 4 if is_told else 100)
            assert shown.getvalue().count('\r') == 1, shown.getvalue()
            bar.go_on(4, 0)
            bar.draw(4, 34)
            time.sleep(_progress.DRAW_S)
            bar.draw(6, 34)
            assert ' 2/30 ' in shown.getvalue().splitlines()[-1], shown.getvalue()
            bar.leave()


def check_maps(python, columns, **variables):
    status, screen = Terminal([python, program(MAPS)], columns, **variables).end()
    results = [f'result {i}' for i in range(20)]
    assert status == 0 and screen[:21] == ['the sum is 780', *results] and screen[22:] == [''], screen
    assert re.fullmatch(BAR.format(total=60), screen[21]) and len(screen[21]) < columns, screen


@with_python
def test_the_bar_fits_and_leaves_its_line_to_what_is_printed(python):
    for columns in (60, 100, 200):
        check_maps(python, columns)


@with_python
def test_a_locale_without_its_characters(python):
    plain = {'LC_ALL': 'C', 'PYTHONCOERCECLOCALE': '0', 'PYTHONUTF8': '0'}
    terminal = Terminal([python, program(MAPS)], **plain)
    status, screen = terminal.end()
    assert status == 0 and terminal.bytes.isascii() and '100% ' + 30 * '#' + ' 60/60  ' in screen[21], (status, screen)


@with_python
def test_ctrl_c_ends_a_script(python):
    for text in (LONG, LOOP):
        terminal = Terminal([python, program(text)])
        terminal.until('[1-9][0-9]*/100000')
        terminal.press('\x03')
        status, screen = terminal.end()
        bar, *trace, last, rest = screen
        assert status == -2 and re.fullmatch(BAR.format(total=100000) + r'\^C', bar), (status, screen)
        assert trace[0] == 'Traceback (most recent call last):' and last == 'KeyboardInterrupt' and rest == '', screen


@with_python
def test_ctrl_c_gives_back_the_prompt(python):
    terminal = Terminal([python, '-q'])

    def type_line(text):
        terminal.until('>>> $')
        terminal.press(text + '\n')

    type_line('import hdss, time')
    type_line('wait = lambda i: time.sleep(0.05) or i')
    type_line('executor = hdss.Executor(workers=2, progress=True)')
    type_line('sum(executor.map(wait, range(100000)))')
    terminal.until('[1-9][0-9]*/100000')
    terminal.press('\x03')
    type_line('sum(executor.map(wait, range(30)))')
    terminal.until('435')
    type_line('executor.submit(time.sleep, 1000).result()')
    terminal.until('[0-9]/s, ')
    terminal.press('\x03')
    type_line('executor.submit(wait, 3).result() + 1')
    terminal.until('4')
    type_line('executor.kill()')
    type_line('exit()')
    status, screen = terminal.end()
    assert status == 0, screen
    typed = [line for line in screen if line.startswith('>>> ')]
    assert len(typed) == 9 and typed[-1] == '>>> exit()', screen
    at = screen.index('>>> sum(executor.map(wait, range(100000)))')
    assert re.fullmatch(BAR.format(total=100000) + r'\^C', screen[at + 1]) and screen[at + 2].startswith('Traceback'), screen
    at = screen.index('>>> sum(executor.map(wait, range(30)))')
    assert screen[at - 1] == 'KeyboardInterrupt' and screen[at + 1] == '435' and screen[at + 2].startswith('>>> '), screen


@with_python
def test_an_interrupt_keeps_no_lock(python):
    for bar in ('bar', 'none'):
        done = run_python(python, program(LOCKS), bar)
        assert done.returncode == 0 and done.stdout.split() == ['interrupted', '45', 'interrupted', '3'] * 3, (bar, done)


@with_python
def test_a_call_that_comes_while_others_are_forgotten_is_counted(python):
    done = run_python(python, program(LATE))
    assert done.returncode == 0 and done.stdout.split() == ['2', '2'], done


@with_python
def test_silent_where_not_asked_for_or_without_a_terminal(python):
    done = run_python(python, program(MAPS))
    assert done.returncode == 0 and done.stderr == '' and len(done.stdout.splitlines()) == 21, done
    status, screen = Terminal([python, program(MAPS.replace(', progress=True', ''))]).end()
    assert status == 0 and len(screen) == 22 and screen[21] == '', screen


@with_modules('nbclient', 'nbformat', 'ipykernel')
def test_a_notebook_has_a_line_in_each_cell(python):
    done = run_python(python, '-c', NOTEBOOK, json.dumps(CELLS), IPYTHONDIR='ipython')
    assert done.returncode == 0, done
    first, interrupted, second, last = json.loads(done.stdout.splitlines()[-1])
    assert first == last == [] and len(interrupted) == len(second) == 2, (first, interrupted, second, last)
    assert re.fullmatch(BAR.format(total=100000), interrupted[0]) and interrupted[1] == 'KeyboardInterrupt', interrupted
    assert re.fullmatch(BAR.format(total=30), second[0]) and second[0].startswith('100% ') and second[1] == '435', second


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
