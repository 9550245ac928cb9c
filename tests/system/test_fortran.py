# SPDX-License-Identifier: MIT
"""The modules hdss and DLS: programs in Fortran that share loops."""
import os

from launch import main, mpirun_line, run

LACKING = None if 'DLS4LB_FORTRAN' in os.environ else "no gfortran, or no MPI for it"


def check(ranks, expected, *words):
    result = run(mpirun_line([(ranks, words)]))
    assert result.status == 0 and result.out == expected and not result.err, f'{ranks} ranks, {words}: {result}'


def everywhere(program, *commands):
    for command in commands:
        for ranks in (1, 3):
            check(ranks, 'ok\n', os.environ[program], command)


def test_loops_and_errors_of_the_module_hdss():
    if LACKING:
        return LACKING
    return everywhere('LIBRARY_FORTRAN', 'loops', 'errors')


def test_each_iteration_is_run_once_with_every_method_of_dls4lb():
    if LACKING:
        return LACKING
    everywhere('DLS4LB_FORTRAN', 'lengths')
    return check(2, 'ok\n', os.environ['DLS4LB_FORTRAN'], 'fields')


def test_time_steps_and_nested_loops_of_dls4lb():
    if LACKING:
        return LACKING
    everywhere('DLS4LB_FORTRAN', 'steps', 'nested')
    return check(6, 'ok\n', os.environ['DLS4LB_FORTRAN'], 'nested')


def test_a_program_with_variables_of_its_own():
    if LACKING:
        return LACKING
    return check(3, '1000 iterations, sum 500500\n', os.environ['DLS4LB_PLAIN'])


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
