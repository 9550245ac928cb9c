# SPDX-License-Identifier: MIT
"""What tests of hdss.Executor share: places of their own, programs in the Python of the workers, and functions for these to call, which are
pickled by value as those of the program itself are."""
import ctypes
import functools
import glob
import importlib.util
import os
import subprocess
import sys

from launch import PROGRAM, TIMEOUT_S, environment, finish, main, wait_until
from pythons import PACKAGE, obstacle, python_with

HAS_NUMPY = importlib.util.find_spec('numpy') is not None
FOR_EVER_S = 100000
OF_SETS = ('HDSS_SET', 'SLURM_JOB_ID', 'PBS_JOBID', 'LSB_JOBID')


def own_places():
    """The folders that programs of this test use, all in the current one."""
    here = os.getcwd()
    os.makedirs('places', exist_ok=True)
    places = os.path.join(here, 'places')
    return {'HDSS_CONTROL_DIR': here, 'HDSS_PYTHON_FOLDER': places, 'TMPDIR': places, 'XDG_STATE_HOME': places}


def is_of_here(pid):
    """True for a process that was started in the places of this test."""
    try:
        with open(f'/proc/{pid}/environ', 'rb') as file:
            return f'HDSS_CONTROL_DIR={os.getcwd()}'.encode() in file.read().split(b'\0')
    except OSError:
        return False


def processes():
    return [int(name) for name in os.listdir('/proc') if name.isdigit() and int(name) != os.getpid() and is_of_here(name)]


def folders():
    return glob.glob('places/*hdss-python-*') + glob.glob('places/.*hdss-python-*')


def leaves_nothing(test):
    """Runs the test in places of its own. Nothing that it has started is there afterwards."""
    @functools.wraps(test)
    def checked():
        os.environ.update(own_places())
        skip = test()
        wait_until(lambda: not processes(), 'the end of all processes')
        wait_until(lambda: not folders(), 'the end of all folders')
        return skip
    return checked


def start(*words, **options):
    """A program in the Python that runs this one."""
    env = {**environment(), **options.pop('env', {})}
    return subprocess.Popen([sys.executable, *words], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            start_new_session=True, **options)


def program(text, name='program.py'):
    with open(name, 'w', encoding='utf-8') as file:
        file.write(text)
    return name


def python(text, *words, **options):
    """What has come of a program."""
    return finish(start(program(text), *words, **options))


def square(i):
    return i * i


def crash():
    ctypes.string_at(0)


def raise_it(what, *arguments):
    raise what(*arguments)


def raised_by(future, kind):
    error = future.exception(TIMEOUT_S)
    assert isinstance(error, kind), f'{error!r} is no {kind.__name__}'
    return error


INTERRUPTED = f'''
import sys, time, hdss
with hdss.Executor(workers=2) as executor:
    futures = [executor.submit(time.sleep, {FOR_EVER_S}) for _ in range(5)]
    print('up', executor.submit, flush=True) if executor.workers == 2 else None
    {{wait}}
'''


def run_in_the_workers_python():
    """As this program in that Python. The workers' Python looks for its library by the PATH."""
    if 'HDSS_TEST_PYTHON' in os.environ:
        import cloudpickle  # of that Python
        cloudpickle.register_pickle_by_value(sys.modules[__name__])
        return
    found = python_with('cloudpickle', 'numpy')[0]
    found, why = (found, None) if found else python_with('cloudpickle')
    why = why or obstacle()
    if why is not None:
        main([lambda: why])
    path = os.pathsep.join([os.path.dirname(found), os.environ['PATH']])
    env = {name: value for name, value in os.environ.items() if name not in OF_SETS}
    os.execve(found, [found, PROGRAM[-1], os.path.abspath(sys.argv[0])],
              {**env, 'PATH': path, 'PYTHONPATH': PACKAGE, 'PYTHONDONTWRITEBYTECODE': '1', 'HDSS_TEST_PYTHON': found})
