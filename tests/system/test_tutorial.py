# SPDX-License-Identifier: MIT
"""What the documents tell a beginner to type: the eleven tasks of docs/tutorial.md, each with what the page says comes out, and the three starts
of the README. Each is one shell script in a folder of its own, with the programs on its path and the library as it is installed.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

from launch import main, python_is_there
from pythons import obstacle, python_with, variables
from typed import commands, follow, missing, read, steps_of, tasks_of

BUILD_ROOT, MESON = os.environ['BUILD_ROOT'], os.environ['MESON']
START = re.compile(r'^### (My .+)\n((?:(?!##).*\n)*)', re.MULTILINE)
FENCE = re.compile(r'^```(sh|python|c)\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def install():
    stage = os.path.abspath('stage')
    done = subprocess.run([MESON, 'install', '-C', BUILD_ROOT, '--no-rebuild', '--quiet', '--destdir', stage],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return stage


def library():
    """The variables by which the library is found where it is installed."""
    stage = install()
    folder = os.path.dirname(glob.glob(stage + '/**/libhdss.so', recursive=True)[0])
    return [f'PKG_CONFIG_SYSROOT_DIR={stage}', f'PKG_CONFIG_PATH={folder}/pkgconfig', f'LD_LIBRARY_PATH={folder}']


def try_out(steps):
    """Programs in Python are left out where no Python can run them. Returns why."""
    programs = any(command.startswith('python3 ') for command, _ in steps)
    python, why = python_with('cloudpickle') if programs else (None, None)
    why = why or (obstacle() if programs else None)
    needed = variables(python) if python else library() if any('pkg-config' in command for command, _ in steps) else ()
    follow([step for step in steps if not (why and step[0].startswith('python3 '))], needed)
    return f'all but programs in Python: {why}' if why else None


def without(what):
    """Why this build cannot do what a task or a start is about."""
    if 'python:' in what and not python_is_there():
        return 'built without Python'
    if 'pkg-config' in what and not MESON:
        return 'no Meson to install the library with'
    return None


def task(number, title, body):
    steps = steps_of(body)

    def test():
        assert steps, title
        return without(body) or try_out(steps)
    test.__name__ = f'test_task_{number}_{title}'
    return test


def readme_start(title, body):
    """Blocks of C and Python are the files that the text before them names; *.dat are the reader's own."""
    def test():
        shown = FENCE.findall(body)
        files = re.findall(r'This is `([\w./]+)`:', body)
        assert len(files) == len([language for language, _ in shown if language != 'sh']) and len(shown) > len(files), files
        for name, text in zip(files, [text for language, text in shown if language != 'sh']):
            with open(os.path.basename(name), 'w', encoding='utf-8') as file:
                file.write(text)
        if '*.dat' in body:
            for name in ('a.dat', 'b.dat'):
                with open(name, 'w', encoding='utf-8') as file:
                    file.write(name)
        return without(body) or try_out([(line, []) for language, text in shown if language == 'sh' for line in text.splitlines()])
    test.__name__ = 'test_readme_' + title
    return test


def test_what_is_said_to_be_printed_is_looked_for():
    """The checks of this file, on lines of their own."""
    assert commands("$ a\n1\n$ b \\\n  c\n$ cat <<'END'\nx\nEND\n2\n") == [('a', ['1']), ('b \\\n  c', []), ("cat <<'END'\nx\nEND", ['2'])]
    assert missing(['a ...', '  c  d'], ['a 1', 'b', 'c d']) is None
    assert missing(['c', 'a'], ['a', 'b', 'c']) == 'a' and missing(['a'], ['ab']) == 'a'
    assert missing(['... b', '...'], ['x a b', 'y']) is None
    for steps, why in (([('false', []), ('true', [])], 'false: status 1'), ([('echo a', ['b'])], 'echo a: does not print: b')):
        try:
            follow(steps)
        except AssertionError as problem:
            assert str(problem).startswith(why), problem
        else:
            raise AssertionError(f'passes: {steps}')
    follow([('(exit 3)', []), ('echo $?', ['3'])])


TASKS = tasks_of('docs/tutorial.md')
STARTS = START.findall(read('README.md'))


def test_there_are_eleven_tasks_and_three_starts():
    assert [int(number) for number, _, _ in TASKS] == list(range(1, 12)), TASKS
    assert len(STARTS) == 3 and shutil.which('bash'), STARTS


if __name__ == '__main__':
    sys.exit(main([test_there_are_eleven_tasks_and_three_starts, test_what_is_said_to_be_printed_is_looked_for,
                   *(task(*found) for found in TASKS), *(readme_start(*found) for found in STARTS)]))
