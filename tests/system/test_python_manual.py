# SPDX-License-Identifier: MIT
"""The tasks of docs/python.md: each is typed as it stands, with the output that the page says, by the Python that has the modules it needs. The one for a
cluster is typed on the first of two nodes of a Slurm of its own."""
import re
import subprocess

from launch import TIMEOUT_S, environment, main
from nodes import inside
from pythons import obstacle, python_with, variables
from slurm import Slurm
from typed import BLOCK, follow, read, steps_of, tasks_of

NEEDED = re.compile(r'^ *import ((?:\w+, )*\w+)$|^from (\w+) import', re.MULTILINE)
OPTIONAL = {'joblib': ['joblib'], 'mpi4py': ['mpi4py.MPI'], 'nbclient': ['nbclient', 'ipykernel'], 'nbformat': ['nbformat'], 'numpy': ['numpy']}
# `sbatch --wait` looks less and less often whether the job is over: a job of 16 s is seen to be after 43 s, one of 110 s after more than TIMEOUT_S.
SBATCH_TIMES = 3
VENDOR = 'from mpi4py import MPI; print(MPI.get_vendor()[0])'


def modules_of(body):
    """Modules that a task needs, apart from the package and the library of Python."""
    named = {name for names in NEEDED.findall(body) for name in re.findall(r'\w+', ' '.join(names))}
    return ['cloudpickle', *(module for name in sorted(named & set(OPTIONAL)) for module in OPTIONAL[name])]


def is_for_another_mpi(python):
    """Of mpi4py, which may be built with another MPI library than this is tested with."""
    said = subprocess.run([python, '-c', VENDOR], capture_output=True, text=True, check=False, env=environment())
    return said.stdout.strip() != 'Open MPI'


def follow_in_slurm(steps, with_variables):
    try:
        slurm = Slurm((4, 4))
        slurm.__enter__()
    except OSError as problem:
        return ' '.join(str(problem).split())[:300]
    try:
        follow(steps, [*with_variables, f'SLURM_CONF={slurm.configuration}'], lambda line: inside(slurm.nodes.names[0], line), SBATCH_TIMES * TIMEOUT_S)
    finally:
        slurm.__exit__()
    return None


def task(number, title, body):
    steps, needed = steps_of(body), modules_of(body)

    def test():
        assert steps, title
        python, why = python_with(*needed)
        if python is None or obstacle() is not None:
            return why or obstacle()
        if 'mpi4py' in body and is_for_another_mpi(python):
            return 'the mpi4py there is for another MPI library'
        if any(command.startswith('sbatch ') for command, _ in steps):
            return follow_in_slurm(steps, variables(python))
        return follow(steps, variables(python))
    test.__name__ = f'test_task_{number}_{title}'
    return test


TASKS = tasks_of('docs/python.md')


def test_the_tasks_are_numbered_and_need_what_they_import():
    assert [int(number) for number, _, _ in TASKS] == list(range(1, 14)), TASKS
    needs = {title: modules_of(body)[1:] for _, title, body in TASKS}
    assert needs['Map a function over parameters'] == [] and needs['Fill an array'] == ['numpy'], needs
    assert needs['Share the loop of an mpi4py program'] == ['mpi4py.MPI'] and needs['Work in a notebook'] == ['nbclient', 'ipykernel', 'nbformat'], needs


def test_all_literal_text_is_in_a_task():
    assert len(BLOCK.findall(read('docs/python.md'))) == sum(len(BLOCK.findall(body)) for _, _, body in TASKS)


if __name__ == '__main__':
    main([test_the_tasks_are_numbered_and_need_what_they_import, test_all_literal_text_is_in_a_task, *(task(*found) for found in TASKS)])
