# SPDX-License-Identifier: MIT
"""A small run with all three programs under valgrind: no leak, no invalid access, no use of what was never set, but MPI's own (mpi.supp)."""
import glob
import os
import shutil

from launch import MASTER, SUPERMASTER, WORKER, main, mpirun_line, report, run

FOUND = 42  # exit status of a rank in which valgrind found something
SUPPRESSIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'mpi.supp')
# Stacks are deep enough to reach MPI's entry, by which what is not ours is known.
VALGRIND = ['valgrind', '--leak-check=full', '--show-leak-kinds=definite,indirect,possible', '--errors-for-leak-kinds=definite,indirect,possible',
            '--num-callers=60', f'--error-exitcode={FOUND}', f'--suppressions={SUPPRESSIONS}', '--gen-suppressions=all', '--log-file=valgrind.%p']


def found():
    """What valgrind wrote of the ranks that it is not content with."""
    logs = []
    for path in glob.glob('valgrind.*'):
        with open(path, errors='replace') as file:
            text = file.read()
        if 'ERROR SUMMARY: 0 errors' not in text:
            logs.append(text)
    return '\n'.join(logs)


def test_a_run_is_clean_under_valgrind():
    if shutil.which('valgrind') is None:
        return 'there is no valgrind'
    words = ['--technique', 'fac2', '--output', 'out.npy', '--report', 'report.json', 'synthetic', 'iterations=200', 'mean=100']
    result = run(mpirun_line([(1, [*VALGRIND, SUPERMASTER, *words]), (1, [*VALGRIND, MASTER]), (1, [*VALGRIND, WORKER])]))
    assert len(glob.glob('valgrind.*')) == 3, result
    assert result.status == 0, f'{result}\n{found()}'
    assert found() == '' and report()['done'] == 200, f'{result}\n{found()}'


if __name__ == '__main__':
    main([test_a_run_is_clean_under_valgrind])
