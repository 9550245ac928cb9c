# SPDX-License-Identifier: MIT
"""The Python package hdss as it comes to its users: by pip into a venv, beside the programs in the build folder, and by `meson install`. Calls are run from each
place."""
import json
import os
import shutil
import subprocess
import sys

from launch import HDSS, environment, main, run
from pythons import LIBPYTHON, obstacle, python_with

SOURCE_ROOT, BUILD_ROOT, MESON = (os.environ[name] for name in ('SOURCE_ROOT', 'BUILD_ROOT', 'MESON'))
PACKAGE = os.path.join(SOURCE_ROOT, 'deploy/python')

# A function of the script itself goes by cloudpickle, one of a library by name.
CALLS = '''
import hdss, math
def square(i):
    return i * i
with hdss.Executor(workers=2) as executor:
    print(list(executor.map(square, range(5))), list(executor.map(math.factorial, [3, 4])), executor.submit(lambda: 'said').result())
'''
SAID = "[0, 1, 4, 9, 16] [6, 24] said\n"
ABOUT = '''
import importlib.metadata, json, hdss
about = importlib.metadata.distribution('hdss')
assert hdss.__all__ == sorted(hdss._WHERE)
print(json.dumps({'file': hdss.__file__, 'version': about.version, 'needs': about.requires, 'python': about.metadata['Requires-Python'],
                  'files': sorted(str(path) for path in about.files if path.parts[0] == 'hdss' and path.suffix != '.pyc')}))
'''


def modules():
    return sorted(name for name in os.listdir(os.path.join(PACKAGE, 'hdss')) if name.endswith(('.py', '.typed')))


def check_calls(python, **variables):
    with open('calls.py', 'w', encoding='ascii') as file:
        file.write(CALLS)
    env = {name: value for name, value in environment().items() if name not in ('HDSS', 'PYTHONPATH', 'HDSS_SET')}
    done = subprocess.run([python, 'calls.py'], env=dict(env, HDSS_CONTROL_DIR=os.getcwd(), **variables), capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout == SAID, (done.stdout, done.stderr)


def install_into_venv(python):
    """What pip makes of a copy of the package's folder. Returns the venv's Python."""
    shutil.copytree(PACKAGE, 'copy', ignore=shutil.ignore_patterns('__pycache__', 'build', '*.egg-info'))
    env = {name: value for name, value in os.environ.items() if not name.startswith(('PIP_', 'PYTHON'))}
    env['PIP_CONFIG_FILE'] = '/dev/null'
    for words in ([python, '-m', 'venv', '--system-site-packages', 'venv'],
                  ['venv/bin/python', '-m', 'pip', 'install', '--no-build-isolation', '--no-index', '--no-deps', '--disable-pip-version-check', './copy']):
        done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f'{words}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}'
    shutil.rmtree('copy')
    return os.path.abspath('venv/bin/python')


def test_pip_installs_it():
    python, why = python_with('cloudpickle', 'ensurepip', 'setuptools', 'venv', 'wheel')
    if python is None:
        return why
    python = install_into_venv(python)
    done = subprocess.run([python, '-c', ABOUT], env={**os.environ, 'PYTHONPATH': ''}, capture_output=True, text=True, check=True)
    about = json.loads(done.stdout)
    assert about['file'].startswith(os.path.abspath('venv') + '/'), about
    assert about['files'] == ['hdss/' + name for name in modules()], about
    version = run([HDSS, '--version']).out.split()[-1]
    assert about['version'] == version and about['python'] == '>=3.9' and about['needs'][0] == 'cloudpickle', (about, version)
    if obstacle() is not None:
        return 'all but calls: ' + obstacle()
    check_calls(python, HDSS=HDSS)
    return None


def test_the_build_folder_has_it():
    folder = os.path.join(BUILD_ROOT, 'deploy/python')
    assert sorted(name for name in os.listdir(folder + '/hdss') if name in modules()) == modules()
    python, why = python_with('cloudpickle')
    if python is None or obstacle() is not None:
        return 'all but calls: ' + (why or obstacle())
    check_calls(python, PYTHONPATH=folder)
    return None


def test_meson_installs_it():
    """Below the prefix, together, in a folder of the version of the workers' Python or of all; compiled."""
    if not MESON:
        return 'no meson'
    done = subprocess.run([MESON, 'introspect', '--installed', BUILD_ROOT], capture_output=True, text=True, check=True)
    places = [path for path in json.loads(done.stdout).values() if os.path.basename(os.path.dirname(path)) == 'hdss' and path.endswith(('.py', '.typed'))
              and os.path.basename(path) != 'hdss_python.py']
    assert sorted(os.path.basename(path) for path in places) == modules(), places
    folders = {os.path.dirname(os.path.dirname(path)) for path in places}
    folder = folders.pop()
    assert not folders and folder.endswith(tuple(f'/python{version}/{kind}-packages' for version in ('3', LIBPYTHON) for kind in ('site', 'dist'))), places
    done = subprocess.run([MESON, 'install', '-C', BUILD_ROOT, '--no-rebuild', '--quiet', '--tags', 'python-runtime', '--destdir', os.path.abspath('root')],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    compiled = {name.partition('.')[0] for name in os.listdir(f'root{folder}/hdss/__pycache__')}
    assert compiled == {name[:-3] for name in modules() if name.endswith('.py')}, compiled
    return None


def folder_below(python, prefix):
    done = subprocess.run([python, os.path.join(PACKAGE, 'folder.py'), prefix], capture_output=True, text=True, check=True)
    return os.path.join(prefix, done.stdout.strip())


def test_python_looks_where_meson_installs():
    """As soon as the folder is there: those of this Python itself and of its user, and that of Debian below /usr."""
    looks = 'import site, sys; print("\\n".join(site.getsitepackages() + [site.getusersitepackages(), sys.prefix, site.getuserbase()]))'
    for python in [program for program in (sys.executable, '/usr/bin/python3') if os.path.exists(program)]:
        *folders, prefix, user = subprocess.run([python, '-c', looks], capture_output=True, text=True, check=True).stdout.split()
        assert folder_below(python, prefix) in folders and folder_below(python, user) in folders, (python, folders)
        elsewhere = folder_below(python, '/nowhere')
        assert elsewhere.startswith('/nowhere/lib/python3.') and elsewhere.endswith('/site-packages'), elsewhere


if __name__ == '__main__':
    tests = [value for name, value in list(globals().items()) if name.startswith('test_')]
    main(tests if LIBPYTHON else [lambda: 'this build has no Python'])
