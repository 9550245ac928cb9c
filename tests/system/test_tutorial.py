# SPDX-License-Identifier: MIT
"""What the documents tell a beginner to type: the eleven tasks of hdss-tutorial(7), each with what the page says comes out, and the three starts
of the README. Each is one shell script in a folder of its own, with the programs on its path and the library as it is installed.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

from launch import HDSS, finish, long, main, python_is_there, start

SOURCE_ROOT, BUILD_ROOT, MESON = os.environ['SOURCE_ROOT'], os.environ['BUILD_ROOT'], os.environ['MESON']
TASK = re.compile(r'^\.Ss (\d+)\. (.+)\n((?:(?!\.S[sh] ).*\n)*)', re.MULTILINE)
BLOCK = re.compile(r'^\.Bd -literal.*\n((?:(?!\.Ed$).*\n)*)\.Ed$', re.MULTILINE)
START = re.compile(r'^### (My .+)\n((?:(?!##).*\n)*)', re.MULTILINE)
FENCE = re.compile(r'^```(sh|python|c)\n(.*?)^```$', re.MULTILINE | re.DOTALL)
MARK = '@@ status '


def read(name):
    with open(os.path.join(SOURCE_ROOT, name), encoding='utf-8') as file:
        return file.read()


def plain(roff):
    return roff.replace('\\&', '').replace('\\e', '\\')


def commands(block):
    """[(command, [line that it prints])]. A command goes on behind a backslash, and up to the end of what it is given to read."""
    found, lines = [], iter(block.splitlines())
    for line in lines:
        if not line.startswith('$ '):
            found[-1][1].append(line)
            continue
        command = line[2:]
        end = re.search(r"<<'(\w+)'", command)
        while command.endswith('\\') or (end and not command.endswith('\n' + end.group(1))):
            command += '\n' + next(lines)
        found.append((command, []))
    return found


def words_of(line):
    return ' '.join(line.split())


def missing(expected, printed):
    """The first expected line that is not printed behind those before it; '...' in it stands for anything, also nothing."""
    printed = iter(printed)
    for line in expected:
        pattern = re.compile('.*'.join(re.escape(part) for part in words_of(line).split('...')))
        if not any(pattern.fullmatch(words_of(one)) for one in printed):
            return line
    return None


def script(steps):
    """Each command with the status of the one before it, and a line with its own behind what it prints."""
    lines = ['exec 2>&1', 's=0']
    for command, _ in steps:
        lines += ['(exit $s)', command, 's=$?', f"printf '\\n{MARK}%s\\n' $s"]
    return '\n'.join(lines) + '\n'


def environment(needs_library):
    env = [f'PATH={os.path.dirname(HDSS)}:{os.environ["PATH"]}', f'HDSS_CONTROL_DIR={os.getcwd()}', f'XDG_STATE_HOME={os.getcwd()}']
    if needs_library:
        stage = install()
        folder = os.path.dirname(glob.glob(stage + '/**/libhdss.so', recursive=True)[0])
        env += [f'PKG_CONFIG_SYSROOT_DIR={stage}', f'PKG_CONFIG_PATH={folder}/pkgconfig', f'LD_LIBRARY_PATH={folder}']
    return env


def install():
    stage = os.path.abspath('stage')
    done = subprocess.run([MESON, 'install', '-C', BUILD_ROOT, '--no-rebuild', '--quiet', '--destdir', stage],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return stage


def follow(steps):
    """A command succeeds, unless the next one asks for its status."""
    text = script(steps)
    result = finish(start(['env', *environment('pkg-config' in text), 'bash', '-c', text]))
    parts = re.split(r'^' + MARK + r'(\d+)$', result.out, flags=re.MULTILINE)
    printed, statuses = parts[0::2], parts[1::2]
    assert len(statuses) == len(steps), result
    for (command, expected), status, text, following in zip(steps, statuses, printed, [*steps[1:], ('', [])]):
        assert status == '0' or following[0] == 'echo $?', f'{command}: status {status}: {text}'
        line = missing(expected, text.splitlines())
        assert line is None, f'{command}: does not print: {line}\n{text}'


def without(what):
    """Why this build cannot do what a task or a start is about."""
    if 'python:' in what and not python_is_there():
        return 'built without Python'
    if 'pkg-config' in what and not MESON:
        return 'no Meson to install the library with'
    return None


def task(number, title, body):
    steps = [step for block in BLOCK.findall(body) for step in commands(plain(block))]

    def test():
        assert steps, title
        return without(body) or follow(steps)
    test.__name__ = f'test_task_{number}_{title}'
    return long(test) if 'pkg-config' in body else test


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
        return without(body) or follow([(line, []) for language, text in shown if language == 'sh' for line in text.splitlines()])
    test.__name__ = 'test_readme_' + title
    return long(test) if 'pkg-config' in body else test


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


TASKS = TASK.findall(read('deploy/cli/hdss-tutorial.7'))
STARTS = START.findall(read('README.md'))


def test_there_are_eleven_tasks_and_three_starts():
    assert [int(number) for number, _, _ in TASKS] == list(range(1, 12)), TASKS
    assert len(STARTS) == 3 and shutil.which('bash'), STARTS


if __name__ == '__main__':
    sys.exit(main([test_there_are_eleven_tasks_and_three_starts, test_what_is_said_to_be_printed_is_looked_for,
                   *(task(*found) for found in TASKS), *(readme_start(*found) for found in STARTS)]))
