# SPDX-License-Identifier: MIT
"""The library for MPI programs: real runs of a program that shares its loops, in every mode, on as many ranks as it may meet."""
import itertools
import os

from launch import finish, main, mpirun_line, report, run, start
from nodes import Nodes
from openmpi import ONE_SIDED_FAR

MODES = ['central', 'hierarchical', 'two-sided', 'rma', 'node']
LOOPS = os.environ['LIBRARY_LOOPS']
MPICH = 'MPIRUN' in os.environ
# MPICH's ranks do not leave a core that they share to the others.
RANKS_MOST = 2 if MPICH else 8


def loops(ranks, *words):
    result = run(mpirun_line([(min(ranks, RANKS_MOST), [LOOPS, *words])]))
    assert result.status == 0 and result.out.startswith('ok'), f'{ranks} ranks, {words}: {result}'
    return result.out.split()


def cover(ranks, iterations, *options):
    return int(loops(ranks, 'cover', iterations, *options)[-1])


def test_every_mode_covers_the_loop_exactly_once():
    ranks = itertools.cycle([1, 2, 3, 4])
    for mode in MODES:
        for iterations in (0, 10000):
            cover(next(ranks), iterations, 'mode', mode, 'technique', 'gss')


def test_few_iterations_are_covered_exactly_once():
    for mode in MODES:
        for iterations in (1, 7):
            cover(2, iterations, 'mode', mode, 'technique', 'gss')


def test_more_ranks_than_iterations_and_groups_of_two():
    for mode in MODES:
        cover(6, 4, 'mode', mode, 'group', '2')
        cover(5, 1000, 'mode', mode, 'group', '2', 'technique', 'tss')


def test_techniques():
    for technique in ('static', 'static-steal', 'ss', 'fsc:h=0.01,sigma=0.06', 'mfsc', 'fac2', 'wf',
                      'awf', 'awf-b', 'awf-c', 'awf-d', 'awf-e', 'af', 'dtss', 'dfss', 'pls:swr=0.7'):
        cover(3, 500, 'technique', technique)
    for technique in ('wf', 'awf-c', 'af', 'static', 'static-steal:chunk=3'):
        cover(4, 500, 'mode', 'hierarchical', 'group', '2', 'technique', technique)
    cover(3, 500, 'mode', 'rma', 'technique', 'af')


def test_auto_chooses_for_the_next_time_step():
    for mode in ('central', 'hierarchical'):
        cover(3, 5000, 'mode', mode, 'technique', 'auto', 'report', 'report.json')
        technique = report()['technique']
        assert technique['auto']['decisions'] == 2 and len(technique['auto']['predicted_s']) > 5, technique


def test_asking_ahead_and_breaking_off():
    for mode in ('central', 'hierarchical', 'two-sided'):
        for options in (['request-when', 'auto'], ['request-when', '10'], ['break-after', '3'], ['break-after', 'off', 'request-when', '1000000']):
            cover(3, 1000, 'mode', mode, *options)


def test_chunks_are_those_of_the_technique():
    # recursive and closed form of fac2 and gss, N = 1000, P = 4
    if RANKS_MOST >= 4:
        assert cover(4, 1000, 'technique', 'css:chunk=100') == 10
        assert cover(4, 1000, 'technique', 'fac2', 'mode', 'rma') == 28
        assert cover(4, 1000, 'technique', 'gss', 'mode', 'two-sided') == 17


def test_hundreds_of_loops_right_after_one_another():
    for mode in MODES:
        loops(4, 'many', 'mode', mode)
        loops(3, 'steps', 'mode', mode, 'technique', 'ss')
    loops(4, 'steps', 'mode', 'hierarchical', 'group', '2', 'technique', 'awf-c', 'request-when', 'auto')
    loops(4, 'steps', 'mode', 'central', 'technique', 'awf')


def test_two_loops_open_at_once():
    for ranks in (1, 2, 4):
        loops(ranks, 'two')


def test_messages_of_the_program_meanwhile():
    for ranks in (1, 2, 3):
        loops(ranks, 'foreign')


def test_threads():
    for ranks in (1, 2, 3):
        loops(ranks, 'threads')


def test_leaving_before_the_end():
    for ranks in (1, 2, 3):
        loops(ranks, 'leave')


def test_more_iterations_than_32_bits_hold():
    loops(3, 'wide')


def test_wrong_use_is_refused():
    for ranks in (1, 2, 3):
        loops(ranks, 'wrong')


def test_others_are_answered_by_progress():
    loops(3, 'starve')


def test_others_are_answered_between_short_chunks():
    loops(3, 'quick')


def test_several_nodes():
    if MPICH:
        return 'nodes are made for Open MPI'
    try:
        with Nodes(3) as nodes:
            for mode in MODES:
                words = [LOOPS, 'cover', 5000, 'mode', mode, 'report', os.path.abspath('report.json')]
                result = finish(start(nodes.line([(6, words)], options=ONE_SIDED_FAR)))
                assert result.status == 0 and result.out.startswith('ok'), (mode, result)
                assert report()['nodes'] == 3, report()
    except OSError as problem:
        return str(problem)
    return None


def test_the_report():
    for mode, topology in zip(MODES, ('central', 'hierarchical', 'dca-two-sided', 'dca-rma', 'dca-node')):
        cover(2, 1000, 'mode', mode, 'technique', 'css:chunk=7', 'report', 'report.json', 'name', 'waves')
        figures = report()
        assert figures['topology'] == topology and figures['kernel'] == {'name': 'waves', 'params': {}}, figures
        assert figures['iterations'] == figures['done'] == 1000 and figures['outcome'] == 'done', figures
        assert sum(row['iterations'] for row in figures['worker_stats']) == 1000, figures
        assert sum(row['chunks'] for row in figures['worker_stats']) == figures['chunks'] > 0, figures
        assert figures['technique']['name'] == 'css' and figures['workers'] == 2, figures
        os.remove('report.json')


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
