# SPDX-License-Identifier: MIT
"""The commands that a document tells its reader to type: a shell runs them as they stand, and the output must be what the document says."""
import os
import re

from launch import HDSS, finish, start

SOURCE_ROOT = os.environ['SOURCE_ROOT']
SECTION = re.compile(r'^## (.+)\n((?:(?!## ).*\n)*)', re.MULTILINE)
TASK = re.compile(r'(\d+)\. (.+)')
BLOCK = re.compile(r'^```console\n(.*?)^```$', re.MULTILINE | re.DOTALL)
MARK = '@@ status '


def read(name):
    with open(os.path.join(SOURCE_ROOT, name), encoding='utf-8') as file:
        return file.read()


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


def steps_of(section):
    """The commands of all examples of a section."""
    return [step for block in BLOCK.findall(section) for step in commands(block)]


def sections_of(name):
    """[(title, text)] of a document."""
    return SECTION.findall(read(name))


def tasks_of(name):
    """[(number, title, text)] of the sections with a number."""
    return [(*TASK.fullmatch(title).groups(), body) for title, body in sections_of(name) if TASK.fullmatch(title)]


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
