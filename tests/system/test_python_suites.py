# SPDX-License-Identifier: MIT
"""Other people's tests of executors pass with hdss.Executor and hdss.Pool: those of CPython, of the package with Python's own tests, and
those of mpi4py.futures, of the file that HDSS_MPI4PY_TESTS names, else of Debian's source package. python_suites.py runs them, and lists
those that are left out, each with its reason."""
import glob
import hashlib
import json
import os
import subprocess
import tarfile

from launch import TIMEOUT_S, environment, finish, main, wait_until
from pythons import obstacle, python_with

SUITES = os.path.join(os.environ['SOURCE_ROOT'], 'tests/system/python_suites.py')
PACKAGE = os.path.join(os.environ['BUILD_ROOT'], 'deploy/python')

# demo/futures/test_futures.py of mpi4py, as in Debian 12.
MPI4PY = 'pool/main/m/mpi4py/mpi4py_3.1.4.orig.tar.gz'
MPI4PY_SHA256 = '9e15e552993fdc501a612c705dcaed533bbe69863fe368943e358cb04569af36'
KEPT = os.path.join(os.environ['BUILD_ROOT'], 'tests/system/mpi4py_3.1.4.tests')
APT_HELPER = '/usr/lib/apt/apt-helper'


def suite(python, *words):
    """Runs a suite in sets of its own. Returns what has been said of it, or why it cannot be run; nothing of it is left."""
    os.mkdir('temporary')
    here = {'HDSS_CONTROL_DIR': os.getcwd(), 'HDSS_PYTHON_FOLDER': os.path.abspath('temporary'), 'TMPDIR': os.path.abspath('temporary')}
    path = os.pathsep.join([os.path.dirname(python), os.environ['PATH']])  # in which the workers' Python looks for its library
    env = {**environment(), **here, 'PATH': path, 'PYTHONPATH': PACKAGE, 'PYTHONDONTWRITEBYTECODE': '1'}
    for name in ('HDSS_SET', 'SLURM_JOB_ID', 'PBS_JOBID', 'LSB_JOBID'):
        env.pop(name, None)
    process = subprocess.Popen([python, SUITES, *words], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, start_new_session=True)
    result = finish(process, 5 * TIMEOUT_S)
    assert result.out, result
    said = json.loads(result.out.splitlines()[-1])
    if 'unknown' in said:
        return said['unknown']
    assert result.status == 0 and not said['failed'], (said['failed'], result)
    wait_until(lambda: not glob.glob('temporary/*hdss-python-*'), 'the end of the folders of executors')
    return said


def summary(said):
    excluded = [f'#   {name}: {reason}' for name, reason in sorted(said['excluded'].items())]
    print('\n'.join([f'# {said["ran"]} ran, {len(said["skipped"])} of them skipped by themselves, {len(excluded)} left out:', *excluded]), flush=True)


def test_those_of_cpython():
    python, why = python_with('cloudpickle', 'test.test_concurrent_futures')
    if python is None or obstacle() is not None:
        return why or obstacle()
    said = suite(python, 'cpython')
    if isinstance(said, str):
        return said
    summary(said)
    assert said['ran'] - len(said['skipped']) >= 45, said
    return None


def test_those_of_pool():
    python, why = python_with('cloudpickle', 'test._test_multiprocessing')
    if python is None or obstacle() is not None:
        return why or obstacle()
    said = suite(python, 'pool')
    if isinstance(said, str):
        return said
    summary(said)
    assert said['ran'] - len(said['skipped']) >= 25, said
    return None


def mirror():
    """The mirror that apt takes Debian's packages from; None where there is none."""
    form = '$(ORIGIN) $(COMPONENT) $(REPO_URI)'
    try:
        listed = subprocess.run(['apt-get', 'indextargets', '--format', form, 'Created-By: Packages'], capture_output=True, text=True, check=False)
    except OSError:
        return None
    found = [words[2] for words in map(str.split, listed.stdout.splitlines()) if words[:2] == ['Debian', 'main']]
    return next((uri for uri in found if uri.startswith(('http:', 'https:'))), None)


def is_known(path):
    try:
        with open(path, 'rb') as file:
            return hashlib.sha256(file.read()).hexdigest() == MPI4PY_SHA256
    except OSError:
        return False


def unpack(archive):
    """Keeps the file for later runs of the test."""
    with tarfile.open(archive) as files:
        name = next(name for name in files.getnames() if name.endswith('/demo/futures/test_futures.py'))
        content = files.extractfile(name).read()
    with open(KEPT + '.new', 'wb') as file:
        file.write(content)
    os.rename(KEPT + '.new', KEPT)


def mpi4py_tests():
    """(the path of the file, None), or (None, why there is none)."""
    named = os.environ.get('HDSS_MPI4PY_TESTS')
    if named:
        return named, None
    if is_known(KEPT):
        return KEPT, None
    uri = mirror()
    if uri is None or not os.path.exists(APT_HELPER):
        return None, "HDSS_MPI4PY_TESTS does not name mpi4py's demo/futures/test_futures.py, and apt has no mirror of Debian"
    fetched = subprocess.run([APT_HELPER, 'download-file', uri + MPI4PY, 'mpi4py.tar.gz'], capture_output=True, text=True, check=False)
    if fetched.returncode != 0:
        return None, f"HDSS_MPI4PY_TESTS does not name mpi4py's demo/futures/test_futures.py, and {uri}{MPI4PY} cannot be had"
    unpack('mpi4py.tar.gz')
    assert is_known(KEPT), f'{KEPT} is another file'
    return KEPT, None


def test_those_of_mpi4py():
    python, why = python_with('cloudpickle')
    if python is None or obstacle() is not None:
        return why or obstacle()
    tests, why = mpi4py_tests()
    if tests is None:
        return why
    said = suite(python, 'mpi4py', tests)
    if isinstance(said, str):
        return said
    summary(said)
    assert said['ran'] - len(said['skipped']) >= 45, said
    return None


if __name__ == '__main__':
    main([test_those_of_cpython, test_those_of_pool, test_those_of_mpi4py])
