# SPDX-License-Identifier: MIT
"""The processes of a run: its ranks, its launcher, its helpers, and all that it has begun."""
import os
import time

from launch import MASTER, SUPERMASTER, WORKER, descendants, ranks_of
from openmpi import rank_of

PROGRAMS = [os.path.realpath(program) for program in (SUPERMASTER, MASTER, WORKER)]
TICKS = os.sysconf('SC_CLK_TCK')
HELPER = os.path.join(os.path.dirname(WORKER), 'hdss-helper')


def ranks(process):
    """{rank: (pid, program)} of the ranks that run, as Open MPI numbers them in the environment."""
    found = {}
    for pid in descendants(process.pid):
        try:
            program = os.path.realpath(f'/proc/{pid}/exe')
            if program in PROGRAMS:
                found.setdefault(rank_of(pid), (pid, program))  # not its child, which comes after it
        except (OSError, KeyError):
            pass
    return found


def pids(process, program):
    """Those of a program, in the order of their ranks."""
    found = ranks(process)
    return [found[rank][0] for rank in sorted(found) if found[rank][1] == os.path.realpath(program)]


def pid_of(process, program):
    return next(iter(ranks_of(process, program)), None)


def launcher(process):
    """The mpirun below `hdss run`, and all else below it."""
    below = descendants(process.pid)
    return below[:1], below


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def cpu_seconds(pid):
    with open(f'/proc/{pid}/stat') as stat:
        fields = stat.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def used_beside_one_that_spins(pids):
    """Seconds of a processor that each has used while this process has spun for one."""
    before, spun = [cpu_seconds(pid) for pid in pids], time.process_time() + 1
    while time.process_time() < spun:
        pass
    return [cpu_seconds(pid) - was for pid, was in zip(pids, before)]


def parent_of(pid):
    try:
        with open(f'/proc/{pid}/stat') as stat:
            return int(stat.read().rsplit(')', 1)[1].split()[1])
    except OSError:
        return None


def comm_of(pid):
    """The name of its program as the kernel has it, of 15 characters at most; '' if it has ended."""
    try:
        with open(f'/proc/{pid}/comm', encoding='ascii') as file:
            return file.read().strip()
    except OSError:
        return ''


def members(folder):
    """Processes that run in the folder, with all that they have begun; tasks of exec, too."""
    found = []
    for entry in os.listdir('/proc'):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                if (os.readlink(f'/proc/{entry}/cwd') + '/').startswith(folder + '/'):
                    found.append(int(entry))
            except OSError:
                pass
    return found


def children(pid):
    """Not what they have begun in turn: a shell says on its own standard error which signal has ended that."""
    below = set(descendants(pid))
    return sorted(below.difference(*(descendants(child) for child in below)))


def name_of(pid):
    try:
        with open(f'/proc/{pid}/stat') as file:
            text = file.read()
        return text[text.index('(') + 1:text.rindex(')')] + ' ' + text.rsplit(')', 1)[1].split()[0]
    except (OSError, ValueError):
        return 'gone'


def program_of(pid):
    """The file that the process runs; '' where it has ended."""
    try:
        return os.path.realpath(f'/proc/{pid}/exe')
    except OSError:
        return ''


def helpers(process):
    return [pid for pid in descendants(process.pid) if program_of(pid) == os.path.realpath(HELPER)]


def pids_in(name):
    with open(name, encoding='ascii') as file:
        return [int(line) for line in file if line.endswith('\n')]
