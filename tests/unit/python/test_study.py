# SPDX-License-Identifier: MIT
"""The parts of hdss study that start nothing: the file, the matrix and its order, the table of runs, the statistics, the figures of a cell, a report's
scalars, and the page."""
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.environ['SOURCE_ROOT'], 'deploy', 'python'))
# pylint: disable=wrong-import-position
from hdss import _study_numbers as numbers
from hdss._command import Refusal
from hdss._study_matrix import STEPS_COLUMN, WORKERS_COLUMN, Matrix, Run, Table, flatten
from hdss._study_plan import AXES, AXIS_NAMES, KEYS, MEASURES, OTHER_KEYS, UNTIL_MOST, Located, Reader, real, whole
from hdss._study_plot import legend_lines
from hdss._study_report import Figures, Report, steps_panel
from hdss._study_runs import noise_of, quoted
from hdss._study_summary import FEW, SAME, SLOWER, UNCLEAR, Steps, Summary, Value, json_text, number_text
from launch import main

LOOP = 'kernel = synthetic iterations=9\n'
SECONDS = [10, 27, 30, 40, 46, 51, 52, 104, 146]
TREATED = [16, 23, 38, 94, 99, 141, 197]


class Answers:
    """Stands for HDSS, which knows what options accept."""

    refused = ('report', 'progress')

    def ask(self, *words):
        if 'wrong' in words or words == ('option', 'workers', '0'):
            raise Refusal(f'--{words[1]} {words[-1]}')
        return {}


def parse(text):
    return Reader(Answers()).read(text)


def near(found, expected):
    assert abs(found - expected) <= 1e-9 * max(1, abs(expected)), (found, expected)


def summed(text, times, columns=()):
    """The summary of a study of which the runs of all repetitions of each cell in turn took these times; None: it has failed; '': it is still to come."""
    matrix, table = Matrix(parse(text)), Table()
    runs = [Run(i, r) for i in range(matrix.count) for r in range(matrix.study.repetitions)]
    for k, (run, time) in enumerate(zip(runs, times)):
        row = {**matrix.write(run), 'status': 'failed' if time is None else 'done', 'reason': '' if time is not None else 'a worker was lost'}
        row.update({'elapsed_s': str(time)} if time is not None else {}, **(columns[k] if k < len(columns) else {}))
        if time != '':
            table.add(row)
    return Summary(matrix, table), table


def page(summary, table):
    return Report('a', 'a.study', summary, table, Figures(summary), None, False).page()


# --- the file ---

def test_what_a_file_says():
    study = parse('# two levels\n title = A  title # here\n' + LOOP + 'kernel=mandelbrot  width=64\n\ntechnique = gss css:chunk=5\nworkers = 8 1 1e1\n'
                  'masters = 2 0\nrepetitions = 3\nseed = 7\ntimeout = 60\noptions = --drain-time 3\npower = equal 1,0.8\nload = none 0,1\nmeasure = chunks time\n'
                  'slowdown = 1 1,2\ndelay = none calculation:50')
    assert study.title == 'A title' and study.values['kernel'] == ['synthetic iterations=9', 'mandelbrot width=64'] and study.kernel_lines == [3, 4]
    assert study.values['workers'] == ['1', '8', '10'] and study.values['masters'] == ['0', '2']  # numbers in their order
    assert study.values['technique'] == ['gss', 'css:chunk=5'] and study.values['weighting'] == ['none'] and study.values['load'] == ['none', '0,1']
    assert (study.options, study.repetitions, study.seed, study.timeout_s) == (['--drain-time', '3'], 3, 7, 60)
    assert study.measured == ['time', 'chunks'] and (study.x, study.series, study.heat) == ('workers', 'masters', ('workers', 'masters'))


def test_topologies_and_masters_are_one_axis():
    """Whatever the order of the file: masters as numbers, then workers alone."""
    for text, masters in (('', '0'), ('masters = 4 0 2\n', '0 2 4'), ('masters = 0 2\ntopology = hierarchical\n', '2'),
                          ('masters = 2 3\ntopology = dca-rma hierarchical central\n', '0 2 3 dca-rma'),
                          ('topology = dca-node dca-rma:atomics=2\n', 'dca-node dca-rma:atomics=2')):
        assert parse(f'{LOOP}workers = 2\n{text}').values['masters'] == masters.split(), text


def test_what_is_wrong_has_a_line():
    two = LOOP + 'workers = 2\n'
    simulated = two + 'backend = simulate\n'
    for text, line, part in (
            (two + '\nworker = 3\n', 4, 'workers'), (LOOP + 'zzzzzzz = 3\n', 2, 'thread_technique, delay'), (LOOP + 'zzzzzzz = 3\n', 2, 'timeout, options'),
            ('technique\n', 1, 'KEY = VALUE'), (LOOP + 'workers =  # none\n', 2, 'no value'), (LOOP + 'workers = two\n', 2, "'two'"),
            (LOOP + 'workers = 0\n', 2, '--workers'), (LOOP + 'workers = 2 2\n', 2, 'twice'), (two + 'workers = 3\n', 3, 'second time'),
            (two + 'technique = gss wrong\n', 3, 'technique: --technique wrong'), (two + 'options = --load 2\n', 3, '--load'),
            (two + 'backend = simulat\n', 3, 'mpirun, simulate'), (two + 'platform = cluster\n', 3, 'backend = simulate'),
            (two + 'platform = cluster ranger\nbackend = mpirun simulate\n', 3, 'several platforms'),
            (simulated + 'threads = 1 auto\n', 4, 'threads = auto cannot be simulated'),
            (two + 'weighting = acp\nbackend = simulate\ntopology = dca-node central\n', 3, 'acp'), (two + 'topology = ring\n', 3, 'dca-rma'),
            (two + 'topology = dca-wrong\n', 3, 'dca-rma'), (two + 'masters = 0\ntopology = hierarchical\n', 4, 'masters'),
            (two + 'options = --technique gss\n', 3, '--technique'), (two + 'options = --report=a.json\n', 3, '--report'),
            (two + 'measure = time speed\n', 3, 'speedup'), (two + 'repetitions = 0\n', 3, '10000'), (two + 'thread_technique = gss\n', 3, 'threads'),
            (two + 'x = cores\n', 3, 'workers'), (two + 'x = workers\nseries = workers\n', 4, 'series'), (two + 'heat = workers\n', 3, 'two axes'),
            (two + 'baseline = technique=gss\n', 3, 'no such value'), (two + 'speedup_base = masters=0 workers=4\n', 3, "speedup_base = 'workers=4'"),
            (two + 'speedup_base = cores=2\n', 3, 'AXIS=VALUE'), (two + 'measure = improvement\n', 0, 'baseline'),
            (two + 'measure = thread_imbalance\n', 3, 'threads = T'), (two + 'threads = 1\nmeasure = thread_imbalance\n', 4, 'threads = T'),
            (two + 'fail_nodes = none 0@1\n', 3, 'backend = simulate'),
            (simulated + 'options = --fail-nodes 0@1\nfail_nodes = none 0@2\n', 5, 'among the options'), (two + 'costs = gamma:mean=10\n', 3, 'backend = simulate'),
            (simulated + 'options = --costs=gamma\ncosts = model pareto\n', 5, 'costs is among the options already'), (two + 'until = 0 %\n', 3, 'a percentage'),
            (two + 'until = 2 percent\n', 3, 'a percentage'), (two + 'until = 2% %\n', 3, 'a percentage'), (two + 'until = 2 %\nrepetitions = 5\n', 3, '6 or more'),
            (two + 'seeds = yes\n', 3, 'backend = simulate'), (simulated + 'options = --seed 4\nseeds = yes\n', 5, '--seed'),
            (two + 'steps = maybe\n', 3, 'yes, no'), (two + 'traces = yes no\n', 3, 'yes, no'), (LOOP, 0, 'empty: there is no line workers'),
            ('workers = 2\n', 0, 'empty: there is no line kernel'), ('kernel = wrong\n', 1, 'wrong'),
            (LOOP + 'workers = 1 2 3 4 5 6 7 8 9 10 11\nmasters = 0 1 2 3 4 5 6 7 8 9\nrepetitions = 10000\n', 0, '1000000')):
        try:
            parse(text)
        except Located as wrong:
            assert wrong.line == line and part in str(wrong) and str(wrong.at('a.study')).startswith('a.study' + (f', line {line}: ' if line else ': ')), (text, wrong)
        else:
            raise AssertionError(text)


def test_names_are_those_of_the_tables():
    assert AXIS_NAMES.split(', ') == [axis.name for axis in AXES] and len({measure.name for measure in MEASURES}) == len(MEASURES) == 26
    assert {key.name for key in KEYS} == {*AXIS_NAMES.split(', '), *OTHER_KEYS.split(', ')} and len(KEYS) == 35


def test_numbers_are_those_of_options():
    for text, number in (('10', 10), ('1_000', 1000), ('1e3', 1000), ('2^10', 1024), ('2^64', None), ('1e', None), ('_1', None), ('-1', None), ('', None), ('1.5', None)):
        assert whole(text) == number, text
    assert (real('1e3'), real('.5'), real('nan'), real('1_0'), real(''), real('1e999')) == (1000, 0.5, None, None, None, None)


def test_some_runs_have_the_measure():
    for text in ('backend = mpirun simulate\nthreads = 1 2\n', 'threads = auto\n'):
        assert parse(f'{LOOP}workers = 2\n{text}measure = thread_imbalance\n').measured == ['thread_imbalance']
    study = parse(LOOP + 'workers = 2\nuntil = 2 %\n')
    assert (study.repetitions, study.until) == (UNTIL_MOST, 2)


# --- the matrix and the table ---

def test_the_order_is_shuffled_by_the_seed():
    """A repetition of all cells after the other, each in an order of its own, which the seed says."""
    study = parse(LOOP + 'workers = 1 2 3 4\ntechnique = gss fac2 tss\nrepetitions = 3\n')
    matrix = Matrix(study)
    order = matrix.order()
    assert matrix.count == 12 and order == matrix.order() and [run.repetition for run in order] == 12 * [0] + 12 * [1] + 12 * [2]
    blocks = [[run.cell for run in order[i:i + 12]] for i in (0, 12, 24)]
    assert all(sorted(block) == list(range(12)) != block for block in blocks) and blocks[0] != blocks[1]
    study.seed = 2
    assert matrix.order() != order


def test_a_cell_becomes_a_command_line():
    study = parse(LOOP + 'workers = 3\ntechnique = gss\nmasters = 2\ntopology = dca-rma hierarchical\nslowdown = 1,4\nthreads = 1\nthread_technique = tss\n'
                  'power = 1,0.8\nload = 0,1\nrefill_chunks = 4\nrefill = when-empty\nsync_points = 6\noptions = --drain-time 3\n')
    for cell, masters in enumerate(('--masters 2', '--dca rma')):
        assert quoted(Matrix(study).compose(cell, 'r.json', None)) == (
            'run --technique gss --power 1,0.8,1 --refill-chunks 4 --refill when-empty --sync-points 6 --workers 3 --threads 1 --thread-technique tss '
            f'--slowdown 1,4,1 --load 0,1,0 {masters} --progress never --report r.json --drain-time 3 synthetic iterations=9')
    study = parse(LOOP + 'workers = 7\nslowdown = 2*1.5,3*1\n')
    assert '--slowdown 1.5,1.5,1,1,1,1.5,1.5 ' in quoted(Matrix(study).compose(0, 'r.json', None))
    try:
        parse(LOOP + 'workers = 7\nslowdown = 0*1,1\n')
    except Refusal as refusal:
        assert str(refusal) == "slowdown: '0*1': before the * accepted: an integer from 1 to 1048576"
    else:
        assert False
    assert quoted(["it's", 'a b', '', 'c']) == "'it'\\''s' 'a b' '' c"


def test_a_table_comes_back():
    table = Table()
    table.add({'a': 'plain', 'b': 'a "quote", a comma\nand a line'})
    assert table.text() == 'a,b\nplain,"a ""quote"", a comma\nand a line"\n'
    last = table.add({'c': 'new'})
    assert table.text() == 'a,b,c\nplain,"a ""quote"", a comma\nand a line",\n,,new\n'
    again = Table.parse('a.csv', table.text())
    assert again.text() == table.text() and again.rows[0]['b'] == table.rows[0]['b']
    table.remove(last)
    table.add({'a': '1'})
    assert table.text().endswith('\n1,,\n') and Table.parse('a.csv', '').text() == ''
    assert Table.parse('a.csv', 'a,b\r\n1,"2"\r\n').rows == [{'a': '1', 'b': '2'}]
    for text, line in (('a,b\n1,2\n1\n', 3), ('a\n"1\n', 2), ('a,a\n', 1), ('a\n"x\ny"\n"1"2\n', 4)):
        try:
            Table.parse('a.csv', text)
        except Refusal as refusal:
            assert str(refusal).startswith(f'a.csv, line {line}: '), (text, refusal)
        else:
            raise AssertionError(text)


def test_rows_are_found_again():
    """What is in the table is the run's, and no other's: of another repetition, cell or options."""
    matrix = Matrix(parse(LOOP + 'workers = 1 2\nmasters = 0 1\ntopology = central hierarchical dca-rma\nrepetitions = 2\n'))
    runs = [Run(i, r) for i in range(matrix.count) for r in range(2)]
    assert len(runs) == 12 and [matrix.read(matrix.write(run)) for run in runs] == runs
    assert matrix.read({**matrix.write(runs[0]), 'threads': ''}) == runs[0]  # as in a table from before there was that axis
    assert matrix.read({**matrix.write(runs[0]), 'repetition': '3'}) is None and matrix.read({**matrix.write(runs[0]), 'options': '--drain-time 3'}) is None
    assert matrix.read({**matrix.write(runs[0]), 'workers': '3'}) is None and matrix.read({}) is None


def test_ideal_time():
    """W/P: worker 2 has half the power, and half of that, as a process shares its core."""
    row = {'load': '0,1'}
    flatten(row, {'elapsed_s': 3, 'efficiency': 0.5, 'worker_stats': [{'compute_s': 2, 'power': 2}, {'compute_s': 1, 'power': 1}]}, False)
    assert row['ideal_s'] == '1.8', row  # (2 x 2 + 1 x 0.5) / (2 + 0.5)
    row = {'load': 'none'}
    flatten(row, {'elapsed_s': 3, 'efficiency': 0.5, 'worker_stats': [{'compute_s': 2}]}, False)
    assert 'ideal_s' not in row, row


def test_long_names_of_curves_go_on_in_the_next_line():
    assert legend_lines('gss, 2 masters') == 'gss, 2 masters'
    assert legend_lines('thread technique rnd:bounds=2l') == 'thread technique\nrnd:bounds=2l'
    assert legend_lines('lost nodes 1@1.5,2@1.5,3@1.5,4@1.5').split('\n') == ['lost nodes 1@1.5,', '2@1.5,3@1.5,4@1.5']


def test_a_reports_scalars_become_columns():
    row = {'workers': '3'}
    flatten(row, json.loads('{"hdss": "1", "workers": 4, "elapsed_s": 0.125, "imbalance": {"cov": 2}, "worker_stats": [{"rank": 1}], '
                            '"measured": {"deep": {"er": true}}, "none": null, "steps": [{"elapsed_s": 1}]}'), False)
    assert row == {'workers': '3', 'hdss': '1', 'elapsed_s': '0.125', 'imbalance.cov': '2', 'measured.deep.er': 'true'}, row
    row = {}
    flatten(row, {'elapsed_s': 1, 'worker_stats': [{'compute_s': 0.5}, {'compute_s': 2}], 'steps': [{'elapsed_s': 0.5, 'chunks': 3}, {'elapsed_s': 2}]}, True)
    assert row == {'elapsed_s': '1', WORKERS_COLUMN: '0.5 2', STEPS_COLUMN: '0.5 2'}, row
    for report in ({}, [], None, {'elapsed_s': True}):
        try:
            flatten({}, report, False)
        except Refusal as refusal:
            assert 'no elapsed_s' in str(refusal)
        else:
            raise AssertionError(report)


# --- statistics ---

def test_quartiles_are_those_of_numpy():
    for values, lower, median, upper in ((TREATED, 30.5, 94, 120), (SECONDS, 30, 46, 52), ([1, 2, 3, 4], 1.75, 2.5, 3.25), ([1, 2], 1.25, 1.5, 1.75), ([7], 7, 7, 7)):
        assert numbers.quartiles(values) == (values[0], lower, median, upper, values[-1])
    for values, ends in ((SECONDS, (10, 52)), (TREATED, (16, 197)), ([1, 10, 10, 10, 10, 10, 20], (10, 10)), ([3], (3, 3))):  # the first from quartiles 30 and 52
        assert numbers.whiskers(values) == ends


def test_intervals_are_those_of_the_exact_distribution():
    """P(median of a resample <= k-th value) is P(Bin(n, k / n) >= (n + 1) / 2): with n = 7 it is 0.0102 for the first value and 0.1083 for the second. Of the
    squares from 1 on each pair has a mean of its own; from fractions, whose distribution was found for 3 to 6 values by a list of all resamples, too."""
    for values, interval in ((TREATED, (23, 141)), (list(range(1, 12)), (3, 9)), ([1, 2, 3, 4, 5, 6], (1.5, 5.5)), ([1, 2, 4], (1, 4)), ([5, 5, 5, 5], (5, 5))):
        assert numbers.median_interval(values) == interval
    for count, low, high in ((3, 1, 9), (4, 1, 16), (5, 1, 25), (6, 2.5, 30.5), (7, 4, 36), (8, 4, 49), (9, 4, 64), (10, 9, 65), (11, 9, 81), (12, 12.5, 90.5),
                             (47, 289, 961), (60, 529, 1444)):
        assert numbers.median_interval([(k + 1)**2 for k in range(count)]) == (low, high), count
    assert all(numbers.median_interval(SECONDS[:count]) is None for count in range(3)) and numbers.saving_interval(SECONDS[:3], TREATED[:2]) is None
    near(numbers.confidence_at_most(3), 0.75)
    assert numbers.confidence_at_most(5) < numbers.CONFIDENCE < numbers.confidence_at_most(6)


def test_intervals_are_symmetric():
    """The values the other way round have the interval the other way round, also where there are so many that the probabilities of single resamples are too
    small for any number."""
    for count in [*range(3, 60), 151, 378, 2365]:
        low, high = numbers.median_interval(list(range(1, count + 1)))
        near(low + high, count + 1)
        assert low < (count + 1) / 2
    low, high = numbers.median_interval(list(range(1, 2501)))  # 1.96 standard deviations, each of half the root
    assert abs(low - (1250 - 49)) < 2 and abs(high - (1250 + 49)) < 2


def test_savings_have_intervals():
    low, high = numbers.saving_interval([5, 6, 7, 8, 9], [10, 10, 10, 10])  # the baseline does not vary: 5 .. 9 of 10
    near(low, 10)
    near(high, 50)
    assert numbers.saving_interval([5, 6, 7, 8, 9], [0, 1, 2]) is None
    low, high = numbers.saving_interval([3, 4, 6, 9, 11, 12, 17, 20, 21, 25], [10, 13, 14, 15, 19, 22, 30])  # from fractions, of all pairs
    near(low, -40)
    near(high, 200 / 3)


def test_samples_are_compared():
    """Hollander and Wolfe 1973, the example of R's wilcox.test(): permeability of membranes, W = 35, p = 0.1272 one-sided; then by enumeration; and ozone in
    New York in May and August of a year, W = 127.5, p = 0.0001208, by the normal distribution."""
    at_term, earlier = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46], [1.15, 0.88, 0.90, 0.74, 1.21]
    may = [41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23, 45, 115, 37]
    august = [39, 9, 16, 78, 35, 66, 122, 89, 110, 44, 28, 65, 22, 59, 23, 31, 44, 21, 9, 45, 168, 73, 76, 118, 84, 85]
    for a, b, p in ((at_term, earlier, 0.2544122544122544), (earlier, at_term, 0.2544122544122544), ([1, 2, 3], [4, 5, 6], 0.1), ([1, 2, 3, 4], [5, 6, 7, 8], 2 / 70),
                    ([i * 1.5 + 0.01 for i in range(20)], [i * 1.7 + 3 for i in range(20)], 0.14170503074115778), ([1, 2, 2, 3], [2, 3, 4, 5, 5], 1 / 9),
                    ([5.1, 5.3, 5.2, 5.9, 5.4], [5.0, 5.3, 5.3, 6.1, 6.2, 6.4], 0.42424242424242425), ([1, 1, 1], [1, 1, 1], 1),
                    (may, august, 0.00012080783076877434), (30 * [2], 30 * [2], 1), ([], [2, 3], 1)):
        near(numbers.mann_whitney(a, b), p)
    for a, b, p in ((3, 3, 0.1), (4, 4, 2 / 70), (1, 1, 1), (0, 9, 1)):
        near(numbers.mann_whitney_least(a, b), p)
    assert numbers.mann_whitney_least(30, 30) < 1e-9
    for p, corrected in (([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]), ([0.5, 0.9], [1, 1]), ([0.04], [0.04]), ([], [])):
        assert [round(value, 12) for value in numbers.correct_holm(p)] == corrected, p


def test_noise_is_what_quanta_lose():
    assert noise_of([10, 10, 10, 10]) == 0 and abs(noise_of([10, 10, 70, 10]) - 60) < 1e-9 and noise_of([0, 0]) == 0  # 100 for work of 40


# --- figures of cells ---

def test_differences_from_a_baseline():
    """Each cell is compared with the one that has the baseline's value."""
    summary, table = summed(LOOP + 'workers = 2\ntechnique = static gss tss\nrepetitions = 4\nbaseline = technique=static\nmeasure = time improvement\n',
                            [9, 8, 8, 7, 6, 6, 6, 6, 5, 7, 8, 10])
    difference = summary.cells[1].difference
    assert summary.cells[0].difference is None and difference.verdict == FEW and summary.runs_needed == 5  # 2 * 2 / 70 is all that four runs can show
    near(difference.p, 2 / 70)  # all four are quicker than all four
    near(difference.p_corrected, 4 / 70)
    text = page(summary, table)
    for part in ('| gss | 2 | static | 25.0 [14.3, 33.3] | 0.029 | 0.057 | too few runs to tell |\n', '## Quartiles', '| 4 | 7 .. 7.75 .. 8 .. 8.25 .. 9 |',
                 'of 4 runs lies the median with 88 %', '5 of each cell can.\n'):
        assert part in text, (part, text)


def test_differences_from_the_quickest():
    """Without a baseline from the quickest of those that differ in the technique alone: static 2, static 4, gss 2, gss 4."""
    summary, table = summed(LOOP + 'technique = static gss\nworkers = 2 4\nrepetitions = 5\nmeasure = time\n',
                            [9, 8, 8, 7, 8.5, 6, 6, 6, 6, 6.1, 9, 8, 8, 7, 8.5, 8, 9, 7, 8, 8.4])
    first, second, third, fourth = (cell.difference for cell in summary.cells)
    assert summary.compared_along == 'technique' and first is None and second is None  # the quickest are compared with none
    assert fourth.against == 1 and fourth.verdict == SLOWER and third.verdict == UNCLEAR and summary.runs_needed == 0
    near(fourth.p, 2 / 252)
    near(third.p, 1)
    text = page(summary, table)
    for part in ('the quickest of the cells that differ in nothing but technique', '| gss | 4 | static | -33.3 [', ' | 0.008 | 0.008 | slower |\n'):
        assert part in text, (part, text)


def test_few_runs_have_no_interval():
    """Two runs have no interval and show no difference, and one shows nothing at all: the page says so."""
    text = page(*summed(LOOP + 'technique = static gss\nworkers = 2\nrepetitions = 2\nmeasure = time\n', [9, 8, 6, 7]))
    for part in ('There is no interval of confidence: that takes 3 runs of a cell at least, and `repetitions` is 2.', '| static | 2 | 2 | 8.50 (8 .. 9) |\n',
                 '| static | 2 | gss | -30.8 | 0.33 | 0.33 | too few runs to tell |\n'):
        assert part in text, (part, text)
    assert '## Quartiles' not in text
    text = page(*summed(LOOP + 'technique = static gss\nworkers = 2\nmeasure = time\n', [9, 8]))
    assert 'and `repetitions` is 1.' in text and '| static | 2 | 1 | 9 |\n' in text and '## Differences' not in text, text


def test_cells_are_settled_by_their_interval():
    """gss varies by 1 % to either side, ss by 10 %, tfss by 2 % to one side alone; tss has too few runs for any interval to be sure."""
    summary, table = summed(LOOP + 'technique = gss ss tss tfss\nworkers = 2\nrepetitions = 7\nuntil = 1.5%\nmeasure = time\n',
                            [99, 101, 99, 101, 99, 101, None, 90, 110, 90, 110, 90, 110, None, 99, 99, 99, 99, 99, None, None, 99, 99, 99, 99, 101, 101, None])
    assert [cell.values['time'].is_settled(summary.study) for cell in summary.cells] == [True, False, False, False] and summary.to_come == 0  # a failed run is one
    (low, high), median = summary.cells[3].values['time'].interval, summary.cells[3].values['time'].median
    assert (high - low) / 2 < 0.015 * median
    text = page(summary, table)
    for part in ('at most 1.5 % of the median to either side, 6 times at least and 7 times at most', '| gss | 2 | 6, **1 failed** |',
                 '| ss | 2 | 6, **1 failed**, **too wide** |'):
        assert part in text, (part, text)


def test_the_same_run_again_has_no_interval():
    """The times of a simulated cell tell nothing of chance, unless each repetition has a seed of its own; nor do those that are compared with them. Such a
    cell needs no interval to be settled."""
    times = 6 * [8] + 6 * [6]
    text = LOOP + 'workers = 2\ntechnique = static gss\nbackend = simulate\nrepetitions = 6\n'
    summary, table = summed(text + 'until = 1 %\nbaseline = technique=static\nmeasure = time improvement\n', times)
    assert summary.cells[0].values['time'].is_settled(summary.study) and summary.runs_needed == 0
    row = summary.cells_table().rows[1]
    assert row['saved'] == '25' and row['verdict'] == SAME and not any(row[name] for name in ('time.low', 'time.high', 'saved.low', 'saved.high', 'p', 'p.corrected'))
    cell = json.loads(json_text(summary.cells_data()))['cells'][1]
    assert cell['measures']['time']['interval'] is cell['difference']['interval'] is cell['difference']['p'] is cell['difference']['p_corrected'] is None
    said = page(summary, table)
    assert '| gss | 2 | 6 | 6 (6 .. 6) | 25.0 (25.0 .. 25.0), the same run each time |\n' in said and 'in square brackets its' not in said, said
    assert '| gss | 2 | static | 25.0 | - | - | the same run each time |\n' in said, said
    summary, _ = summed(LOOP + 'workers = 2\ntechnique = gss\nbackend = mpirun simulate\nrepetitions = 6\nbaseline = backend=mpirun\nmeasure = time improvement\n', times)
    assert summary.cells[0].values['time'].interval is not None and summary.cells[1].difference.p is None
    summary, _ = summed(text + 'seeds = yes\n', times)
    assert summary.cells[0].values['time'].interval is not None and summary.cells[0].difference.p is not None


def test_cells_are_there_for_programs():
    summary, _ = summed(LOOP + 'workers = 2\ntechnique = static gss\nrepetitions = 4\nbaseline = technique=static\nmeasure = time\n', [9, 8, 8, 7, 6, 6, 6, None])
    first, second = Table.parse('a-cells.csv', summary.cells_table().text()).rows
    for name, one, two in (('technique', 'static', 'gss'), ('runs', '4', '3'), ('failed', '0', '1'), ('time', '8', '6'), ('time.low', '7', '6'), ('time.high', '9', '6'),
                           ('time.least', '7', '6'), ('time.q1', '7.75', '6'), ('time.q3', '8.25', '6'), ('time.most', '9', '6'), ('saved', '', '25'),
                           ('p', '', '0.0571428571'), ('p.corrected', '', '0.0571428571'), ('verdict', '', FEW), ('against', '', 'static, 2 workers')):
        assert (first[name], second[name]) == (one, two), name
    told = json.loads(json_text(summary.cells_data()))
    time = told['cells'][1]['measures']['time']
    assert time == {'unit': 's', 'runs': 3, 'median': 6, 'interval': [6, 6], 'quartiles': [6, 6, 6, 6, 6]} and told['cells'][0]['difference'] is None
    assert told['cells'][1]['difference']['verdict'] == FEW and json_text({'a': [], 'b': 1e-7, 'c': 2.0, 'd': 'x"\udcff'}) == '{\n  "a": [],\n  "b": 1e-7,\n  "c": 2.0,\n  "d": "x\\"?"\n}'


def test_medians_speedups_and_failures():
    """Cells: static 2, static 4, gss 2, gss 4."""
    summary, table = summed(LOOP + 'workers = 2 4\ntechnique = static gss\nrepetitions = 4\nbaseline = technique=static\nmeasure = time speedup improvement\n',
                            [9, 8, 8, 7, 4, 5, 6, None, 6, 6, 6, 6, '', None])
    for cell, name, median, least, most in ((0, 'time', 8, 7, 9), (1, 'time', 5, 4, 6), (1, 'speedup', 12 / 5, 12 / 6, 12 / 4), (2, 'improvement', 25, 25, 25),
                                            (0, 'improvement', 0, -12.5, 12.5)):
        value = summary.cells[cell].values[name]
        assert (value.median, value.quartiles.least, value.quartiles.most) == (median, least, most), (cell, name)
    assert (summary.done, summary.failed, summary.cells[3].reason, summary.cells[3].values['time'].count) == (11, 2, 'a worker was lost', 0)
    text = page(summary, table)
    for part in ('| technique | workers | runs | loop time, s | speedup | improvement over the baseline, % |\n',
                 '| static | 4 | 3, **1 failed** | 5 [4, 6] | 2.40 [2, 3] | 0.0 (-20.0 .. 20.0) |\n',
                 '| gss | 2 | 4 | 6 [6, 6] | 2 [2, 2] | 25.0 [14.3, 33.3], p 0.029: quicker |\n', '| gss | 4 | 0, **1 failed**, 3 to come | - | - | - |\n'):
        assert part in text, (part, text)


def test_a_speedup_has_the_base_that_is_given():
    """The quickest with the fewest workers is gss; a base says that it is to be of the cell's own technique."""
    for base, expected in (('', (4, 2)), ('speedup_base = workers=2\n', (8 * 2 / 3, 2)), ('speedup_base = workers=4\n', (4, 4))):
        summary, _ = summed(f'{LOOP}workers = 2 4\ntechnique = static gss\nmeasure = speedup\n{base}', [8, 3, 6, 6])
        assert (summary.cells[1].values['speedup'].median, summary.cells[3].values['speedup'].median) == expected, base


def test_each_worker_has_its_time():
    """Of three runs the medians; one that lacks the figures is left out, and so is a cell without any, and one that was cut off."""
    columns = [{WORKERS_COLUMN: text} for text in ('3 1', '5 1.5', '4 2', '', '0 0', '7 7')]
    text = page(*summed(LOOP + 'workers = 2\nweighting = none acp\ntechnique = css gss\nrepetitions = 4\nmeasure = compute\n', [1, 1, 1, 1, 1, None], columns))
    assert '| technique | weighting | 1 | 2 | most / mean |\n|---|---|---|---|---|\n| css | none | 4 | 1.50 | 1.45 |\n| css | acp | 0 | 0 | 1.00 |\n' in text, text


def test_time_steps_have_medians():
    """Of three runs; one with another number of steps, and a cell whose only run failed, are left out. Programs read no file without columns."""
    text = LOOP + 'workers = 2\ntechnique = gss ss\nrepetitions = 4\nmeasure = time\nsteps = yes\n'
    columns = [{STEPS_COLUMN: seconds} for seconds in ('0.5 0.1 0.3', '0.4 0.1 0.2', '0.6 0.4 0.3', '0.5 0.5', '7 7 7')]
    steps = Steps(summed(text, [1, 1, 1, 1, None], columns)[0])
    assert [len(cell) for cell in steps.cells] == [3, 0] and len(steps.panels) == 1 and steps.name(0) == 'steps'
    assert steps_panel(steps, steps.panels[0]) == 'synthetic iterations=9, 2 workers' and [value.median for value in steps.cells[0]] == [0.5, 0.1, 0.3]
    row = steps.table().rows[1]
    for name, expected in (('technique', 'gss'), ('step', '2'), ('runs', '3'), ('time', '0.1'), ('time.low', '0.1'), ('time.high', '0.4'), ('time.least', '0.1'),
                           ('time.most', '0.4')):
        assert row[name] == expected, (name, row)
    empty = Steps(summed(text, [1])[0]).table().text()
    assert empty.startswith('kernel,technique,') and empty.endswith(',step,runs,time,time.low,time.high,time.least,time.most\n') and empty.count('\n') == 1


def test_figures_read_well():
    for value, text in ((0, '0'), (0.00123, '0.00123'), (0.0123, '0.0123'), (0.123, '0.123'), (1.234, '1.23'), (12.34, '12.3'), (123.4, '123'), (1234.5, '1,235'),
                        (-1234.4, '-1,234'), (7, '7'), (-12.54, '-12.5')):
        assert number_text(value) == text, value
    assert Value((), True).count == 0 and not math.isnan(Value((2, 1), False).median)


def test_pictures_have_names():
    """Lines of each technique, all of them together, boxes of these, and one map; each panel by its number."""
    summary, _ = summed(LOOP + 'workers = 2 4\ntechnique = gss ss\nmasters = 0 1\nrepetitions = 3\nmeasure = time cov\n', 24 * [1])
    figures = Figures(summary)
    assert [figures.name(figure) for figure in figures.all] == ['time-1', 'time-2', 'all-time', 'box-time', 'heat-time-1', 'heat-time-2', 'cov-1', 'cov-2', 'all-cov',
                                                                'box-cov']
    first, together = figures.all[0], figures.all[2]
    assert figures.title(first) == 'Loop time against workers' and figures.panel(first) == 'synthetic iterations=9, gss'
    assert [figures.line(together, y) for y in range(4)] == ['gss, central', 'gss, 1 master', 'ss, central', 'ss, 1 master']
    assert figures.has_data(first) and not figures.has_data(figures.all[6])


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
