# SPDX-License-Identifier: MIT
"""What a program in Python is told that cannot run its calls: one line each, which says what, where, what is accepted, and what to type."""
import os
import re
import subprocess

from launch import HDSS, TIMEOUT_S, environment, main, run
from pythons import LIBPYTHON, PACKAGE, obstacle, python_with

CALL = 'with hdss.Executor(workers=1) as executor:\n    print(executor.submit({}).result())'
SOME = CALL.format('abs, -1')
MISSING_MODULE = '''
import sys, types
absent = types.ModuleType('absent')
exec('def one(i): return i', absent.__dict__)
absent.one.__module__, sys.modules['absent'] = 'absent', absent
'''
ACCEPTED_WORKERS = 'accepted: a whole number of at least 1, or None for one for each core'
# What is typed behind `import hdss`, and the last line of what is said; '...' stands for what differs.
PLAIN = [
    ('hdss.Executor(0)', 'ValueError: workers, max_workers must be greater than 0: 0; None is one for each core'),
    ('hdss.Set(workers=-3)', 'ValueError: workers, max_workers must be greater than 0: -3; None is one for each core'),
    ('hdss.Pool("four")', f"TypeError: workers: 'four'; {ACCEPTED_WORKERS}"),
    ('hdss.loop(abs, 3, workers=2.5)', f'TypeError: workers: 2.5; {ACCEPTED_WORKERS}'),
    ('hdss.Executor(2, workers=2)', 'TypeError: max_workers and workers are the same; accepted: one of them'),
    ('hdss.Executor(2, set="main")', 'ValueError: workers=2 and set: accepted: one of them; a set has its own workers'),
    ('hdss.Executor(1, timeout=0)', 'ValueError: timeout: 0; accepted: seconds above 0, or None'),
    ('hdss.Executor(1, retries=-1)', 'ValueError: retries: -1; accepted: 0 or more'),
    ('hdss.Executor(set="absent")', "hdss.HdssError: no set 'absent' of yours is up on this machine; up: none; `hdss up --name absent` starts it"),
    ('hdss.loop(abs, -1)', 'ValueError: n: -1; accepted: 0 or more'),
    ('hdss.loop(abs, 3, dtype="datetime64[s]")', 'ValueError: dtype: datetime64[s]; accepted: uint8, uint16, ...'),
    ('hdss.loop(abs, 3, output="a.csv")', 'ValueError: output: a.csv; accepted: a name that ends in .npy'),
    ('hdss.loop(lambda a, b, c: a, 3, workers=1)', 'TypeError: <lambda> needs 3 arguments; accepted: f(i), or f(first, count)'),
    ('hdss.loop(lambda i: None, 2, workers=1)',
     'hdss.JobFailed: job 1 has failed: iteration 0 and 1 more: TypeError: the function returns NoneType, which cannot become float64; say another dtype= ...'),
    ('hdss.loop(lambda i: [1, 2], 2, workers=1)',
     'hdss.JobFailed: job 1 has failed: iteration 0 and 1 more: ValueError: the function returns something of shape (2,); accepted: (), or say another shape= ...'),
    ('hdss.loop(abs, 3, technique="none", workers=1)', "hdss.JobFailed: the job is refused: --technique: technique 'none' is unknown: accepted are static, ..."),
    ('hdss.job("mandelbort", workers=1)', "hdss.JobFailed: the job is refused: unknown kernel 'mandelbort'; did you mean mandelbrot? ..."),
    ('hdss.exec(["a\\nb"], workers=1)', "ValueError: a command has a line end: 'a\\nb'"),
    (MISSING_MODULE + CALL.format('absent.one, 1'),
     "ModuleNotFoundError: No module named 'absent': a worker on ... needs it for what it was sent, and looks for modules where the program does: install it for all "
     'nodes, or name its folder by PYTHONPATH'),
    (CALL.format('lambda: __import__("threading").Lock()'), "TypeError: cannot pickle '_thread.lock' object"),
]
# Variables, what is typed, and what is said.
PLACES = [
    ({'HDSS': '/absent/hdss'}, SOME, 'hdss.HdssError: cannot start /absent/hdss: No such file or directory; HDSS or PATH has to name the command hdss'),
    ({'HDSS': '/bin/false'}, SOME, 'hdss.SetLost: no set could be started: /bin/false has ended with status 1 and said nothing; HDSS or PATH has to name the command hdss'),
    ({'HDSS_MODULES': '/absent'}, SOME, 'hdss.SetLost: kernel python:hdss._worker.calls: this HDSS has no Python: there is no hdss-python.so in /absent; ...'),
    ({'HDSS_PYTHON_FOLDER': '/absent'}, SOME,
     'hdss.HdssError: /absent: cannot make a folder for calls and results: No such file or directory; name another one by HDSS_PYTHON_FOLDER'),
    ({'HDSS_SET': 'absent'}, 'hdss.Executor()', "hdss.HdssError: HDSS_SET: no set 'absent' of yours is up on this machine; up: none; `hdss up --name absent` starts it"),
]
# As of another release, without cloudpickle, and where no command is looked for that the build folder has.
OTHER_VERSION = f'import hdss._interpreter\nhdss._interpreter.VERSION = [3, 1]\n{SOME}'
NO_CLOUDPICKLE = f'import sys\nsys.modules["cloudpickle"] = None\n{CALL.format("lambda: 1")}'
NO_PROGRAM = 'import os, hdss._program\nhdss._program.__file__ = "/absent/python/hdss/_program.py"\nos.environ["PATH"] = "/absent"\nhdss.Executor(1)'
LATE = '''
executor = hdss.Executor(1)
executor._engine.is_over.wait()
executor._check = lambda: None  # as for a call that comes at that very moment
try:
    executor.submit(abs, 1).result(60)
except hdss.SetLost:
    list(executor.map(abs, [1, 2], timeout=60))
'''


def said_by(python, text, **variables):
    """The last line of what is said of a program that fails."""
    here = {'HDSS': HDSS, 'HDSS_CONTROL_DIR': os.getcwd(), 'PYTHONPATH': PACKAGE, 'PYTHONDONTWRITEBYTECODE': '1'}
    env = {name: value for name, value in environment().items() if name != 'HDSS_SET'} | here | variables
    for name in [name for name, value in env.items() if value is None]:
        del env[name]
    done = subprocess.run([python, '-c', 'import hdss\n' + text], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 1 and done.stdout == '', (text, done)
    return done.stderr.rstrip().splitlines()[-1]


def check(python, text, expected, **variables):
    said = said_by(python, text, **variables)
    assert re.fullmatch('.*'.join(re.escape(part) for part in expected.split('...')), said), f'{text}\n{said}\n{expected}'


def with_python(test):
    def checked():
        python, why = python_with('cloudpickle', 'numpy')
        return why or obstacle() or test(python)
    checked.__name__ = test.__name__
    return checked


@with_python
def test_wrong_words(python):
    for text, expected in PLAIN:
        check(python, text, expected)


@with_python
def test_places_where_nothing_is(python):
    for variables, text, expected in PLACES:
        check(python, text, expected, **variables)


@with_python
def test_no_command_hdss(python):
    check(python, NO_PROGRAM, 'hdss.HdssError: there is no command hdss in PATH; install HDSS, add its folder to PATH, or name it by HDSS=/path/of/hdss', HDSS=None)


@with_python
def test_a_launcher_that_is_killed_before_its_set_is_up(python):
    """What it has begun keeps its output open."""
    here = os.getcwd()
    with open('killed', 'w', encoding='ascii') as file:
        file.write(f'#!/bin/sh\n(while test -e {here}/killed; do sleep 0.1; done) &\nkill -SEGV $$\n')
    os.chmod('killed', 0o755)
    check(python, SOME, f'hdss.SetLost: no set could be started: {here}/killed has ended with status -11 and said nothing; HDSS or PATH has to name the command hdss',
          HDSS=f'{here}/killed')
    os.remove('killed')


STOPPED_EARLY = """
import hdss._sets
hdss._sets.STOPPED_S = 0.5
hdss.Set(1).session()
"""

STOPPED_LATE = """
import os, signal
import hdss._sets
hdss._sets.STOPPED_S = 0.5
with hdss.Set(1) as own:
    own.session()
    os.kill(own._process.pid, signal.SIGSTOP)
raise SystemExit('the set has ended')
"""


@with_python
def test_a_launcher_that_is_stopped_is_not_waited_for(python):
    here = os.getcwd()
    with open('stopped', 'w', encoding='ascii') as file:
        file.write('#!/bin/sh\nkill -STOP $$\n')
    os.chmod('stopped', 0o755)
    check(python, STOPPED_EARLY, f'hdss.SetLost: no set could be started: {here}/stopped up had been stopped for 0.5 seconds, and was ended',
          HDSS=f'{here}/stopped')
    check(python, STOPPED_LATE, 'the set has ended')


@with_python
def test_no_cloudpickle(python):
    check(python, NO_CLOUDPICKLE, 'ModuleNotFoundError: ... has no cloudpickle, by which functions are sent; install it: pip install cloudpickle, or apt install '
          'python3-cloudpickle')


@with_python
def test_another_release_of_python(python):
    check(python, OTHER_VERSION, f'hdss.SetLost: the workers have Python {LIBPYTHON}, and this program Python 3.1; functions can be sent between equal ones only: '
          f'use python{LIBPYTHON}, or build HDSS with the libpython of 3.1')


@with_python
def test_several_sets_are_up(python):
    env = {**environment(), 'HDSS_CONTROL_DIR': os.getcwd(), 'XDG_STATE_HOME': os.getcwd()}
    for name in ('one', 'two'):
        done = subprocess.run([HDSS, 'up', '--workers', '1', '--name', name, '--idle-timeout', '10m'], env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done
    try:
        check(python, 'hdss.Executor()', 'hdss.HdssError: 2 sets are up: one, two; say which by set= or HDSS_SET')
        check(python, 'hdss.Executor(set="three")', "hdss.HdssError: no set 'three' of yours is up on this machine; up: ...; `hdss up --name three` starts it")
    finally:
        for name in ('one', 'two'):
            run(['env', f'HDSS_CONTROL_DIR={os.getcwd()}', HDSS, 'down', '--set', name])


@with_python
def test_a_call_that_comes_when_its_executor_has_ended(python):
    check(python, LATE, 'hdss.SetLost: no set could be started: ...', HDSS='/bin/false')


@with_python
def test_tasks_that_fail_are_counted_with_their_reasons(python):
    check(python, 'hdss.exec(["true", "false", "exit 4", "exit 4"], shell=True, workers=1).wait()',
          'hdss.JobFailed: job 1 has failed: 3 of 4 tasks failed; 2 tasks failed with exit 4...; 1 task failed with exit 1...')


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
