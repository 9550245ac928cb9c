# SPDX-License-Identifier: MIT
"""What a manual page tells its reader to type, and what it says comes out: the commands of its examples, run by a shell as they stand."""
import os
import re

from launch import HDSS, finish, start

SOURCE_ROOT = os.environ['SOURCE_ROOT']
TASK = re.compile(r'^\.Ss (\d+)\. (.+)\n((?:(?!\.S[sh] ).*\n)*)', re.MULTILINE)
BLOCK = re.compile(r'^\.Bd -literal.*\n((?:(?!\.Ed$).*\n)*)\.Ed$', re.MULTILINE)
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


def steps_of(task):
    """The commands of all examples of a task."""
    return [step for block in BLOCK.findall(task) for step in commands(plain(block))]


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


def environment():
    """The programs on the path, and nothing of the user's own sets."""
    return [f'PATH={os.path.dirname(HDSS)}:{os.environ["PATH"]}', f'HDSS_CONTROL_DIR={os.getcwd()}', f'XDG_STATE_HOME={os.getcwd()}']


def follow(steps, variables=(), placed=list, timeout=None):
    """A command succeeds, unless the next one asks for its status. `placed` makes of a command line the one that runs it at another place."""
    result = finish(start(placed(['env', *environment(), *variables, 'bash', '-c', script(steps)])), timeout)
    parts = re.split(r'^' + MARK + r'(\d+)$', result.out, flags=re.MULTILINE)
    printed, statuses = parts[0::2], parts[1::2]
    assert len(statuses) == len(steps), result
    for (command, expected), status, text, following in zip(steps, statuses, printed, [*steps[1:], ('', [])]):
        assert status == '0' or following[0] == 'echo $?', f'{command}: status {status}: {text}'
        line = missing(expected, text.splitlines())
        assert line is None, f'{command}: does not print: {line}\n{text}'
