# SPDX-License-Identifier: MIT
"""Programs written for DLS4LB, on ours. Most of these tests fail on the original: it loses the last iteration, runs iterations in the next loop, hangs
on a message that is not its own, and ends at 128 ranks and 32 bits."""
import os

from launch import main, mpirun_line, run

PROGRAM = os.environ['DLS4LB_PROGRAM']
MPICH = 'MPIRUN' in os.environ
# MPICH's ranks do not leave a core that they share to the others.
COUNTS = [1, 2] if MPICH else [1, 2, 3, 4]


def check(ranks, command, options=()):
    result = run(mpirun_line([(ranks, [PROGRAM, command])], options))
    assert result.status == 0 and result.out == 'ok\n' and not result.err, f'{ranks} ranks, {command}: {result}'


def everywhere(command):
    for ranks in COUNTS:
        check(ranks, command)


def test_each_iteration_is_run_once_with_every_method_and_length():
    everywhere('lengths')


def test_distributed_chunk_calculation():
    everywhere('distributed')


def test_hundreds_of_loops_do_not_mix():
    everywhere('many')


def test_messages_of_the_program_are_left_alone():
    everywhere('foreign')


def test_counts_beyond_32_bits():
    everywhere('wide')


def test_fields_are_set_whatever_was_there():
    everywhere('fields')


def test_a_time_stepping_program():
    everywhere('steps')


def test_nested_loops_with_groups():
    everywhere('nested')
    if not MPICH:
        check(7, 'nested')


def test_more_than_128_ranks():
    if not MPICH:
        check(130, 'once', ['--mca', 'mpi_yield_when_idle', '1', '--mca', 'if_base_do_not_resolve', '1'])


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
