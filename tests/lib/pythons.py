# SPDX-License-Identifier: MIT
"""What tests of the Python package ask before they run calls: which Python, and whether this build can."""
import os
import shlex
import shutil
import stat
import subprocess
import sys

from launch import HDSS, python_is_there, run

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
