# SPDX-License-Identifier: MIT
"""The first second: whole commands on one machine, as a user waits for them.

hdss run of a loop that is empty, by shared memory and over MPI, beside a bare MPI program launched with the same settings, and launched as mpirun does it
by itself; one task and 100 tasks of 10 ms beside xargs. HDSS_BEFORE names the hdss of another build, to be timed in turn with this one.

Targets, by shared memory: an empty loop 25 ms, one task 30 ms, 100 tasks 1.05 of xargs.
"""
import os
import shlex
import subprocess
import tempfile
import time

from measure import header, show, side_by_side, sized

from launch import HDSS, environment, mpirun_line

BARE_MPI, BEFORE = os.environ['BARE_MPI'], os.environ.get('HDSS_BEFORE')
EMPTY = ['--workers', '2', 'synthetic', 'iterations=10', 'mean=0']
TASKS = sized(100, 4)


def timed(words):
    began = time.monotonic()
    subprocess.run([str(word) for word in words], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
    return time.monotonic() - began


def same_settings():
    """The line of hdss run with a program that only finds its peers in the place of the daemons."""
    line = subprocess.run([HDSS, 'run', '--carrier', 'mpi', '--dry-run', *EMPTY], capture_output=True, text=True, check=True, env=environment()).stdout.splitlines()[0]
    words = shlex.split(line)
    bare = [BARE_MPI, 'hold', os.path.abspath('done')]
    return ['env', *words[:words.index('-n')], '-n', '1', *bare, ':', '-n', '2', *bare]


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header('The first second: whole commands')
    open('done', 'w', encoding='ascii').close()
    with open('tasks.txt', 'w', encoding='ascii') as file:
        file.writelines('sleep 0.01\n' for _ in range(TASKS))
    with open('times.txt', 'w', encoding='ascii') as file:
        file.writelines('0.01\n' for _ in range(TASKS))
    settings = same_settings()
    as_it_is = mpirun_line([(3, [BARE_MPI, 'hold', os.path.abspath('done')])])
    run = {'hdss run, an empty loop': lambda: timed([HDSS, 'run', *EMPTY]),
           'the same over MPI': lambda: timed([HDSS, 'run', '--carrier', 'mpi', *EMPTY]),
           'bare, the same settings': lambda: timed(settings),
           'bare, mpirun by itself': lambda: timed(as_it_is)}
    one = {'hdss exec true ::: 1': lambda: timed([HDSS, 'exec', 'true', ':::', 1]), 'xargs true': lambda: timed(['sh', '-c', 'echo 1 | xargs true'])}
    tasks = {'hdss exec': lambda: timed([HDSS, 'exec', '-j', 2, '-a', 'times.txt', 'sleep']),
             'hdss run exec': lambda: timed([HDSS, 'run', '--workers', '2', '--overwrite', 'exec', 'tasks=tasks.txt']),
             'xargs -P2': lambda: timed(['sh', '-c', 'cut -d " " -f 2 tasks.txt | xargs -P 2 -n 1 sleep'])}
    base = {'hdss run, an empty loop': 'bare, the same settings', 'the same over MPI': 'bare, the same settings', 'hdss exec': 'xargs -P2',
            'hdss run exec': 'xargs -P2', 'hdss exec true ::: 1': 'xargs true'}
    if BEFORE:
        run['before: hdss run, an empty loop'] = lambda: timed([BEFORE, 'run', *EMPTY])
        base['before: hdss run, an empty loop'] = 'hdss run, an empty loop'
    show('run', 'Three ranks', side_by_side(run), 's', base=base)
    show('run', 'One task', side_by_side(one), 's', base=base)
    show('run', f'{TASKS} tasks of 10 ms', side_by_side(tasks), 's', base=base)


main()
