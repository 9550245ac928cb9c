# SPDX-License-Identifier: MIT
"""Programs of the kinds of which users of pools have filed bugs print by hdss what they print by multiprocessing or concurrent.futures."""
import os

from calls import leaves_nothing, run_in_the_workers_python, start
from launch import TIMEOUT_S, finish, main


def compare(name, of, module):
    path = os.path.join(os.environ['SOURCE_ROOT'], 'tests/system', name)
    wanted, got = (finish(start(path, of, by), 3 * TIMEOUT_S) for by in (module, 'hdss'))
    assert wanted.status == 0 and ' raises ' not in wanted.out, wanted
    assert got.status == 0 and got.out.splitlines() == wanted.out.splitlines(), (wanted, got)


@leaves_nothing
def test_programs_of_pools():
    for name in ('python_reports.py', 'python_alike.py'):
        compare(name, 'pool', 'multiprocessing')


@leaves_nothing
def test_programs_of_executors():
    compare('python_reports.py', 'executor', 'concurrent.futures')


@leaves_nothing
def test_more_programs_of_executors():
    compare('python_alike.py', 'executor', 'concurrent.futures')


if __name__ == '__main__':
    run_in_the_workers_python()
    main([test_programs_of_pools, test_programs_of_executors, test_more_programs_of_executors])
