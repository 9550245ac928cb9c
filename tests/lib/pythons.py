# SPDX-License-Identifier: MIT
"""What tests of the Python package ask before they run calls: which Python, and whether this build can; and how they run a program."""
import json
import os
import shlex
import shutil
import stat
import subprocess
import sys

from launch import HDSS, TIMEOUT_S, environment, finish, python_is_there, run

PACKAGE = os.path.join(os.environ['BUILD_ROOT'], 'deploy/python')
LIBPYTHON = os.environ['LIBPYTHON_VERSION']  # of the workers, say 3.11

# Runs the notebook whose file is named, and prints the outputs of its cells as the last line, as JSON.
EXECUTE = '''
import json, nbclient, nbformat, sys, traitlets.config
book = nbformat.read(sys.argv[1], 4)
nbformat.validate(book)
sockets = traitlets.config.Config(KernelManager={'transport': 'ipc'})  # by TCP, another program may take the port that was found free
nbclient.NotebookClient(book, kernel_name='python3', config=sockets).execute()
print(json.dumps([cell.outputs for cell in book.cells if cell.cell_type == 'code']))
'''


def python_with(*needed):
    """A Python of the workers' version that has the modules, or why there is none."""
    reasons = []
    for program in dict.fromkeys([sys.executable, shutil.which('python' + LIBPYTHON), '/usr/bin/python3']):
        if program and os.path.exists(program):
            said = subprocess.run([program, '-c', f'import sys, {", ".join(needed)}; sys.exit(sys.version_info[:2] != ({LIBPYTHON.replace(".", ", ")}))'],
                                  capture_output=True, text=True, check=False)
            if said.returncode == 0:
                return program, None
            reasons.append(f'{program}: {said.stderr.strip().splitlines()[-1] if said.stderr else "not Python " + LIBPYTHON}')
    return None, '; '.join(reasons)


def obstacle():
    """Why no calls can be run; None where they can."""
    if not python_is_there():
        return 'this build has no kernels in Python'
    if '--until-eof' not in run([HDSS, 'up', '--help']).out:
        return 'this hdss up has no --until-eof, by which a program has a set of its own'
    return None


def with_modules(*modules):
    """Of a test that takes a Python: it has one with cloudpickle and these modules, or is skipped."""
    def wrap(test):
        def checked():
            python, why = python_with('cloudpickle', *modules)
            return why or obstacle() or test(python)
        checked.__name__ = test.__name__
        return checked
    return wrap


def variables(python):
    """NAME=VALUE of a shell that types python3: this interpreter, the package, and the library, all of the build folder."""
    os.makedirs('bin', exist_ok=True)
    with open('bin/python3', 'w', encoding='utf-8') as file:
        file.write(f'#!/bin/sh\nexec {shlex.quote(python)} "$@"\n')
    os.chmod('bin/python3', stat.S_IRWXU)
    path = [os.path.abspath('bin'), os.path.dirname(HDSS), os.environ['PATH'], '/usr/sbin', '/sbin']
    return [f'PATH={":".join(path)}', f'PYTHONPATH={PACKAGE}', f'HDSS_LIBRARY={os.environ["LIBHDSS"]}', 'PYTHONDONTWRITEBYTECODE=1', 'IPYTHONDIR=ipython']


def run_python(python, words, **variables):
    """Runs Python with the package, in sets of its own; all temporary files are in the folder `temporary`."""
    os.makedirs('temporary', exist_ok=True)
    folder = os.path.abspath('temporary')
    env = {**environment(), 'HDSS_CONTROL_DIR': os.getcwd(), 'HDSS_PYTHON_FOLDER': folder, 'TMPDIR': folder,
           'PATH': os.pathsep.join([os.path.dirname(python), os.environ['PATH']]), 'PYTHONPATH': PACKAGE, 'PYTHONDONTWRITEBYTECODE': '1', **variables}
    for name in ('HDSS_SET', 'JOBLIB_TEMP_FOLDER', 'SLURM_JOB_ID', 'PBS_JOBID', 'LSB_JOBID'):
        env.pop(name, None)
    process = subprocess.Popen([python, *words], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    return finish(process, 6 * TIMEOUT_S)


def needing(*modules):
    """Makes a test of a program: the function says what is to be seen in the JSON that the program prints last, or nothing where its
    assertions are all. The program is the function's docstring from its second paragraph on."""
    def decorate(check):
        def test():
            python, why = python_with('cloudpickle', *modules)
            if python is None or obstacle() is not None:
                return why or obstacle()
            with open('program.py', 'w', encoding='ascii') as file:
                file.write(check.__doc__.split('\n\n', 1)[1])
            result = run_python(python, ['program.py'])
            assert result.status == 0, result
            left = [name for name in os.listdir('temporary') if 'hdss-python-' in name]
            assert not left, left
            return check(json.loads(result.out.splitlines()[-1]) if result.out.strip() else None)
        test.__name__ = check.__name__
        return test
    return decorate
