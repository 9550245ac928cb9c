# SPDX-License-Identifier: MIT
"""Jobs of a real Slurm by the recipes of deploy/slurm: how they are begun, asked, struck and drained."""
import contextlib
import json
import os
import time

from launch import hurried, hurry, unhurried, wait_until
from loops import STEADY
from runs import name_of_run, sockets_of_run
from slurm import Slurm, text_of

RECIPES = os.path.join(os.environ['SOURCE_ROOT'], 'deploy', 'slurm')
SHORT = ['--report', 'report.json', 'synthetic', 'iterations=2000', 'mean=20']
STORED = [*STEADY, '--output', 'out.npy']
BOTH = ['--nodes=2', '--exclusive']


def recipe(name):
    return os.path.join(RECIPES, f'{name}.sbatch')


def over(test, cores=(4, 4)):
    try:
        slurm = Slurm(cores)
        slurm.__enter__()
    except OSError as problem:
        return ' '.join(str(problem).split())[:300]
    try:
        test(slurm)
    finally:
        slurm.__exit__()


def has_crashed(status, text):
    """Under srun and PMIx any MPI program, even one that does nothing, may crash in MPI_Init() when the machine is busy (1 launch of 40). Clears away what there is."""
    if status != 139 or 'Failing at address: (nil)' not in text:
        return False
    for name in ('report.json', 'out.npy', 'out.npy.journal', 'job.out'):
        with contextlib.suppress(FileNotFoundError):
            os.remove(name)
    return True


def run(slurm, name, words, options=BOTH, status=0):
    for _ in range(5):
        found, text = slurm.wait(slurm.submit(recipe(name), words, options))
        if name != 'srun' or not has_crashed(found, text):
            break
    assert found == status, (found, text, slurm.last_words())
    return text


def run_pods(slurm, count, words, options=BOTH):
    """A run that is not over before so many pods have joined it."""
    os.environ.update(HDSS_CONTROL_DIR=os.getcwd())
    number = slurm.submit(recipe('hdss'), [*words, '--report', 'report.json', *unhurried()], options)
    wait_until(lambda: has_pods(slurm, count), f'the pods, {slurm.last_words()}', 1)
    hurry()
    found, text = slurm.wait(number)
    assert found == 0, (found, text, slurm.last_words())
    os.remove('hurry')


def workers_on(figures):
    """{node: number of workers}"""
    nodes = [row['node'] for row in figures['worker_stats']]
    return {node: nodes.count(node) for node in sorted(set(nodes))}


def results_have_come():
    return os.path.exists('out.npy') and any(text_of('out.npy')[200:].strip('\0'))


def disturbed(slurm, name, disturb, *more, job, goes_on=True):
    """Status and output of a job to which that is done once something is stored. Its loop is hurried from then on, if it is to go on."""
    for _ in range(5):
        number = slurm.submit(recipe(name), [*more, *STORED, *job], BOTH)
        # A job is begun when the nodes of the one before are free again.
        wait_until(lambda: results_have_come() or 'Failing at address: (nil)' in text_of('job.out'), f'the first result of {name}, {slurm.last_words()}', 1)
        if results_have_come() or not has_crashed(*slurm.wait(number)):
            break
    disturb(number)
    with hurried() if goes_on else contextlib.nullcontext():
        return slurm.wait(number)


def pods(slurm):
    said = slurm.ask('hdss', 'pods', '--format', 'json')
    assert said.returncode == 0, said
    return json.loads(said.stdout)


def has_pods(slurm, count=2):
    """Of a run, which does not answer before it has begun, or between two starts."""
    said = slurm.ask('hdss', 'pods', '--format', 'json', name_of_run()) if sockets_of_run() else None
    return said is not None and said.returncode == 0 and len(json.loads(said.stdout)) == count


def drain(slurm, job, who):
    """Slurm's daemons do not look whether a signal has come where it should, and one that is late is not sent again: the test looks, and asks again
    now and then, which changes nothing for a run that drains."""
    asked = []

    def ends():
        if not asked or time.monotonic() > asked[-1] + 3:
            said = slurm.ask('scancel', '--signal=USR1', *who, job)
            assert said.returncode == 0 or not slurm.is_there(job), said
            asked.append(time.monotonic())
        return not slurm.is_there(job)
    wait_until(ends, f'the end of job {job}')
