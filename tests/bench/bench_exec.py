# SPDX-License-Identifier: MIT
"""Tasks that do nothing (true) beside xargs and GNU parallel, two at a time, from lists of 10^2 to 10^6 lines, and beside a program that does
nothing but posix_spawn() and wait(). All run `true` alone: with an argument, as `xargs -n 1` has it, it reads the locale and takes half as long again.

Of a long list the first 3,000 tasks are run, of which the rate shows whether the length of the list matters; HDSS_BENCH_TASKS sets another number.
GNU parallel, where it is there, gets 1,000 at most, as it is slow. Ours is taken from the first assignment to the last commit, as mpirun's start is not
the tasks'; that of the others is their whole time, which has next to no start. Target: at least xargs.
"""
import os
import shutil
import subprocess
import tempfile
import time

from measure import header, show, side_by_side, sized

from launch import environment, finish, job, report, start

LENGTHS = sized((100, 1000, 10000, 100000, 1000000), (100,))
RUN = int(os.environ.get('HDSS_BENCH_TASKS', sized(3000, 50)))
RUN_PARALLEL = 1000
WORKERS = 2


def timed(command, **options):
    began = time.monotonic()
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(), **options)
    return time.monotonic() - began


def ours(name, count):
    words = ['--overwrite', '--iterations', f'0:{count}', '--report', 'report.json', 'exec', f'tasks={name}']
    result = finish(start(job(0, WORKERS, words)), timeout=600)
    assert result.status == 0, result
    return count / report()['elapsed_s']


def xargs(name, count):
    return count / timed(['sh', '-c', f'head -n {count} {name} | xargs -P {WORKERS} -I {{}} true'])


def floor(count):
    return count / timed([os.environ['SPAWN_FLOOR'], count, WORKERS, 'true'])


def parallel(name, count):
    return count / timed(['sh', '-c', f'head -n {count} {name} | parallel -j {WORKERS}'])


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header(f'Tasks that do nothing, {WORKERS} at a time')
    cases, base = {}, {}
    for length in LENGTHS:
        name, count = f'tasks-{length}', min(length, RUN)
        with open(name, 'w') as file:
            file.writelines('true\n' for _ in range(length))
        cases[f'exec, {length} in the list'] = lambda name=name, count=count: ours(name, count)
        cases[f'xargs -P {WORKERS}, {length} in the list'] = lambda name=name, count=count: xargs(name, count)
        base[f'exec, {length} in the list'] = f'xargs -P {WORKERS}, {length} in the list'
        if shutil.which('parallel'):
            cases[f'GNU parallel, {length} in the list'] = lambda name=name, count=count: parallel(name, min(count, RUN_PARALLEL))
    cases['posix_spawn() and wait() alone'] = lambda: floor(RUN)
    show('exec', 'Tasks a second', side_by_side(cases), 'tasks/s', '{:.0f}', base)


main()
