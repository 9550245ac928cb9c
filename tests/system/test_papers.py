# SPDX-License-Identifier: MIT
"""docs/papers.md: each row's figures are those that its command gives now, and its verdict follows from them.

A row is "| NAME | what | theirs | ours | command | verdict |". Where the command is a study its figures come from the functions of OURS, where it is
`hdss chunks` they are the sizes of its chunks. `--record` writes them into the page.
"""
import csv
import glob
import json
import math
import os
import re
import shlex
import statistics
import sys
from typing import NamedTuple

from launch import HDSS, finish, main, run, run_test, start

ROOT = os.environ['SOURCE_ROOT']
PAGE = os.path.join(ROOT, 'docs/papers.md')
VERDICT = re.compile(r'\*(same|same shape|differs|cannot be)\*(?: within ([\d.]+) %)?(.*)')
WORKERS = ('256', '512', '1024', '2048', '4096', '8192')
MASTERS = ('0', '2', '4', '8', '16')
TECHNIQUES = ('dtss', 'dfss', 'dgss')
SLAVES = ('4', '6', '8', '10', '12')
SIMPLE = ('css', 'gss', 'fss', 'tss')
MANDELBROT = ('width=10000 ', 'width=12500 ', 'width=15000 ')
STEINBERG = ('height=5000 --max', 'height=10000 --max', 'height=15000 --max')
HYDRO = ('l=5000 ', 'l=7500 ', 'l=10000 ')
THRESHOLDS = ('500', '750', '1000')


class Row(NamedTuple):
    name: str
    what: str
    theirs: str
    ours: str
    command: str
    verdict: str

    @property
    def study(self):
        """The study that gives its figures; '': another command does."""
        found = re.fullmatch(r'`([\w-]+)\.study`', self.command)
        return found.group(1) if found else ''


def page():
    with open(PAGE, encoding='utf-8') as file:
        return file.read()


def rows():
    cells = [[cell.strip() for cell in line[1:-1].split(' | ')] for line in page().splitlines() if re.match(r'\| [A-Z]\d+ \| ', line)]
    assert all(len(row) == 6 for row in cells), [row for row in cells if len(row) != 6]
    return [Row(*row) for row in cells]


# --- studies ---

TECHNIQUES_OF_ROWS = {'metg': 'ss dfss', 'rdlb': 'ss gss'}


class Cells:
    """The cells of a study that has been run, without the techniques that no row is of. Its pictures name their command, and have whole captions."""

    def __init__(self, study):
        folder = next(folder for folder in ('papers', 'studies') if os.path.exists(os.path.join(ROOT, f'deploy/examples/{folder}/{study}.study')))
        with open(os.path.join(ROOT, f'deploy/examples/{folder}/{study}.study'), encoding='utf-8') as file:
            lines, techniques = file.read(), TECHNIQUES_OF_ROWS.get(study)
        with open(f'{study}.study', 'w', encoding='utf-8') as file:
            file.write(re.sub('(?m)^technique = .*', f'technique = {techniques}', lines) if techniques else lines)
        result = finish(start([HDSS, 'study', f'{study}.study']), 800)
        assert result.status == 0, str(result)
        with open(f'{study}-cells.json', encoding='utf-8') as file:
            self.cells = json.load(file)['cells']
        for name in glob.glob(f'{study}-*.svg'):  # none without matplotlib
            with open(name, encoding='utf-8') as file:
                picture = file.read()
            assert f'hdss study {study}.study' in picture and ' ...<' not in picture, name

    def at(self, measure='time', kernel='', **axes):
        """The median of the one cell with these axes; of a technique its name is enough, of a kernel and its costs a part of their text."""
        found = [cell['measures'][measure]['median'] for cell in self.cells
                 if kernel in f"{cell['axes']['kernel']}; {cell['axes']['costs']}"
                 and {**cell['axes'], 'technique': cell['axes']['technique'].split(':')[0]}.items() >= axes.items()]
        assert len(found) == 1, (measure, kernel, axes, found)
        return found[0]

    def along(self, axis, values, measure='time', **axes):
        return [self.at(measure, **{axis: value}, **axes) for value in values]


RUN = {}  # Cells of the studies that have been run


def cells_of(study):
    if study not in RUN:
        RUN[study] = Cells(study)
    return RUN[study]


def text(numbers, digits=3):
    return ' '.join(f'{number:#.{digits}g}'.rstrip('.') for number in numbers)


def loop(kernel, masters, measure='time', technique='dfss'):
    return lambda cells: text(cells.along('workers', WORKERS, measure, kernel=kernel, masters=masters, technique=technique))


def at_most_workers(kernel, measure='time'):
    return lambda cells: text(cells.along('masters', MASTERS, measure, kernel=kernel, workers='8192', technique='dfss'))


def relative_speedup(kernel, masters):
    """[H] divides the time without masters on 256 workers by the time."""
    def speedups(cells):
        base = cells.at(kernel=kernel, masters='0', workers='256', technique='dfss')
        return text(base / time for time in cells.along('workers', WORKERS, kernel=kernel, masters=masters, technique='dfss'))
    return speedups


def saved(kernel, technique):
    """What weighting saves with 4 to 12 slaves, %."""
    return lambda cells: text_of_percents(cells.along('workers', SLAVES, 'improvement', kernel=kernel, technique=technique, weighting='acp'))


def text_of_percents(numbers):
    return ' '.join(f'{number:.0f}' for number in numbers)


def all_saved(cells, kernels, techniques=SIMPLE):
    return [saving for kernel in kernels for technique in techniques
            for saving in cells.along('workers', SLAVES, 'improvement', kernel=kernel, technique=technique, weighting='acp')]


def mean_saved(*kernels):
    return lambda cells: text_of_percents(statistics.mean(all_saved(cells, kernels, [technique])) for technique in SIMPLE)


def mean_of_all_saved(*kernels):
    return lambda cells: text_of_percents([statistics.mean(all_saved(cells, kernels))])


def least_and_most_saved(*kernels):
    return lambda cells: text_of_percents([min(all_saved(cells, kernels)), max(all_saved(cells, kernels))])


def saved_with_four(kernel, techniques):
    return lambda cells: text_of_percents(cells.along('technique', techniques, 'improvement', kernel=kernel, workers='4', weighting='acp'))


def speedup(kernel, serial_s, technique, weighting='none', slaves=SLAVES):
    """Over one worker as fast as the fast ones."""
    return lambda cells: text(serial_s() / time for time in cells.along('workers', slaves, kernel=kernel, technique=technique, weighting=weighting))


def fss_is_least(cells):
    """In how many sizes and numbers of slaves fss is the quickest with weighting, and how far it is above the quickest at most, %."""
    above = []
    for kernel in MANDELBROT:
        for slaves in SLAVES:
            times = cells.along('technique', SIMPLE, kernel=kernel, workers=slaves, weighting='acp')
            above.append(100 * (times[SIMPLE.index('fss')] / min(times) - 1))
    return f'{above.count(0)}; {max(above):.1f}'


def unevenness(kernel, technique):
    return lambda cells: text(cells.along('weighting', ('none', 'acp'), 'busy_imbalance', kernel=kernel, technique=technique, workers='4'))


def spread(kernel, workers, weightings):
    """The slowest technique over the quickest."""
    def spreads(cells):
        times = [cells.along('technique', SIMPLE, kernel=kernel, workers=slaves, weighting=weighting) for slaves in workers for weighting in weightings]
        return text(max(of_all) / min(of_all) for of_all in times)
    return spreads


def loop_time(command):
    result = run([HDSS, *shlex.split(command)[1:], '--report', 'report.json', '--overwrite'])
    assert result.status == 0, str(result)
    with open('report.json', encoding='utf-8') as file:
        return json.load(file)['elapsed_s']


def serial(kernel):
    return lambda: loop_time(f'hdss simulate --workers 1 --technique css --recall off {kernel}')


def speedups_by_size(cells):
    return text(serial(f'floyd-steinberg width=15000 {kernel.split()[0]}')() / cells.at(kernel=kernel, workers='12', technique='tss', weighting='none')
                for kernel in STEINBERG)


def points(kernel):
    numbers_of_points = [str(8 * i) for i in range(1, 11)]
    return lambda cells: ' '.join(f'{1000 * time:.0f}' for time in cells.along('sync_points', numbers_of_points, kernel=kernel, technique='css'))


def time_steps(command):
    """In parts of a time step: a chunk of 1000 rows of 1.2 ms, of which it is a twelfth."""
    return f'{loop_time(command) / 0.1:.0f}'


def shares_of_rows(command):
    """The command has the first of three parts of the loop."""
    times = [loop_time(command.replace('2500:1875', part)) for part in ('2500:1875', '4375:1406', '5781:1054', '0:10000')]
    return text(100 * part / times[3] for part in [*times[:3], times[3] - sum(times[:3])])


PSIA, RAGGED = 'normal', 'gamma'  # the costs of the two loops of [DCA]
DELAYS = ('none', 'calculation:10', 'calculation:100')
DCA_TECHNIQUES = ('static', 'fsc', 'gss', 'tap', 'tss', 'fac2', 'tfss', 'fiss', 'viss', 'rnd', 'pls')


def of_psia(technique):
    return lambda cells: f'{cells.at(kernel=PSIA, technique=technique, delay="none"):.2f}'


def over_static(technique):
    def percent(cells):
        static = cells.at(kernel=PSIA, technique='static', delay='none')
        return f'{100 * (cells.at(kernel=PSIA, technique=technique, delay="none") / static - 1):.1f}'
    return percent


def apart(loop_of_costs, delay):
    """How far the two approaches are apart with any technique but af, and which way: above 0 the centralized one takes longer."""
    def percents(cells):
        centralized = cells_of('eleliemy-ciorba-cca')
        times = [[of.at(kernel=loop_of_costs, technique=technique, delay=delay) for of in (centralized, cells)] for technique in DCA_TECHNIQUES]
        found = [100 * (centralized_s / distributed_s - 1) for centralized_s, distributed_s in times]
        return f'{round(min(found), 1) + 0} to {round(max(found), 1) + 0}'
    return percents


def af_apart(loop_of_costs, delays):
    """CCA over DCA."""
    def ratios(cells):
        centralized = cells_of('eleliemy-ciorba-cca')
        times = [of.along('delay', delays, kernel=loop_of_costs, technique='af') for of in (centralized, cells)]
        return text(of_one / of_all for of_one, of_all in zip(*times))
    return ratios


def af_by_delay(loop_of_costs):
    return lambda cells: text(cells.along('delay', DELAYS, kernel=loop_of_costs, technique='af'))


ON_KNL, ON_XEON, FEW_ON_KNL = '192*4.88,96*1', '96*1,192*4.88', '96*4.88,192*1'  # [RMA], where rank 0 is; the last of 1:2
ONE_SIDED, TWO_SIDED, MASTER = 'dca-rma', 'dca-two-sided', '0'
KNL_SERVES, XEON_SERVES = 'calculation:809', 'calculation:166'
RMA_TECHNIQUES = ('ss', 'gss', 'tss', 'fac2', 'wf')


def of_rma(*cases, kernel='288000'):
    """Cases are (technique, where, by whom) and, if they are not to be none, delays."""
    return lambda cells: text((cells.at(kernel=kernel, technique=technique, slowdown=where, masters=by, delay=delay[0] if delay else 'none')
                               for technique, where, by, *delay in cases), 4)


def ratio(cells, over, under, kernel='288000'):
    times = [cells.at(kernel=kernel, technique=technique, slowdown=where, masters=by, delay=delay) for technique, where, by, delay in (over, under)]
    return times[0] / times[1]


def mandelbrot_by_place(by, on_knl, on_xeon):
    return lambda cells: text(ratio(cells, (technique, ON_KNL, by, on_knl), (technique, ON_XEON, by, on_xeon), '1327104') for technique in RMA_TECHNIQUES)


LOOPS = ('mandelbrot', 'lognormal', 'iterations=10400000')  # of [2L]: Mandelbrot, PSIA and the stellar collision
PROCESSES = ('mfsc', 'gss', 'tss', 'fac2', 'awf', 'awf-b', 'awf-c', 'awf-d', 'awf-e')
THREADS = ('ss', 'gss', 'tss', 'fac2', 'rnd')
NAMES = {'static': 'STATIC', 'fac2': 'FAC', 'mfsc': 'mFSC', 'rnd': 'RAND'}  # where theirs are not ours in capitals


def by_pair(cells, kernel):
    """What each pair saves."""
    return {(cell['axes']['technique'], cell['axes']['thread_technique'].split(':')[0]): cell['measures']['improvement']['median'] for cell in cells.cells
            if kernel in cell['axes']['kernel']}


def of_pair(technique, thread_technique, kernel=''):
    return lambda cells: f'{by_pair(cells, kernel)[technique, thread_technique]:.1f}'


def by_processes(techniques, kernel=''):
    """With FAC at the thread level."""
    return lambda cells: ' '.join(of_pair(technique, 'fac2', kernel)(cells) for technique in techniques)


def best_pair(kernel=''):
    def best(cells):
        pairs = by_pair(cells, kernel)
        technique, thread_technique = max(pairs, key=pairs.get)
        return (f'{NAMES.get(technique, technique.upper())}+{NAMES.get(thread_technique, thread_technique.upper())}, '
                f'{pairs[technique, thread_technique]:.1f} %')
    return best


def levels(kernel=''):
    """The best of the threads alone, of the processes alone, of both."""
    def best(cells):
        pairs = by_pair(cells, kernel)
        alone = [max(saving for pair, saving in pairs.items() if pair[level] == 'static' and pair[1 - level] != 'static') for level in (0, 1)]
        return ' '.join(f'{saving:.1f}' for saving in [*alone, max(pairs.values())])
    return best


def mean_by_threads(thread_techniques, kernel='', processes=PROCESSES):
    return lambda cells: ' '.join(f'{statistics.mean(by_pair(cells, kernel)[technique, threads] for technique in processes):.1f}'
                                  for threads in thread_techniques)


def uneven_without(measure):
    return lambda cells: text(cells.at(measure, kernel=kernel, technique='static', thread_technique='static') for kernel in LOOPS)


def first_steps(cells):
    with open('mohammed-evrard-steps.csv', encoding='utf-8') as file:
        steps = list(csv.DictReader(file))
    return '; '.join(text(float(step['time']) for step in steps if (step['technique'], step['thread_technique']) == pair)
                     for pair in (('static', 'static'), ('gss', 'fac2')))


def best_of_levels(cells):
    """The pair of the best technique of the processes alone and of the threads alone, the best pair, and what they save."""
    pairs = by_pair(cells, '')
    of_levels = tuple(max((pair for pair in pairs if pair[1 - level] == 'static' != pair[level]), key=pairs.get)[level] for level in (0, 1))
    return '; '.join(f'{"+".join(NAMES.get(name, name.upper()) for name in pair)}, {pairs[pair]:.1f}' for pair in (of_levels, max(pairs, key=pairs.get)))


def behind(pair, kernel=''):
    """How far a pair is behind the best."""
    return lambda cells: f'{max(by_pair(cells, kernel).values()) - by_pair(cells, kernel)[pair]:.2f} points behind'


def lead_of_fac(cells):
    """At the process level, over gss and the variants of awf."""
    pairs = by_pair(cells, LOOPS[2])
    return f'{max(pairs["fac2", "fac2"] - pairs[technique, "fac2"] for technique in ("gss", "awf-b", "awf-c", "awf-d", "awf-e")):.2f} points'


def behind_af(cells):
    """At the process level with PSIA."""
    pairs = by_pair(cells, LOOPS[1])
    names = [NAMES.get(technique, technique.upper()) for technique in PROCESSES if pairs[technique, 'fac2'] < pairs['af', 'fac2']]
    return f'AF is ahead of {", ".join(names[:-1])} and {names[-1]}'


def random_ahead_of_fac(cells):
    """At the thread level with the Evrard collapse."""
    pairs = by_pair(cells, '')
    names = [technique.upper() for technique in PROCESSES if pairs[technique, 'rnd'] > pairs[technique, 'fac2']]
    return f'with {", ".join(names[:-1])} and {names[-1]}'


def lead_of_ss(cells):
    """At the thread level, over fac."""
    pairs = by_pair(cells, LOOPS[2])
    means = [statistics.mean(pairs[technique, threads] for technique in PROCESSES) for threads in ('ss', 'fac2')]
    return f'{means[0] - means[1]:.2f} points ahead'


def of_any_masters(measure):
    """[H]'s Mandelbrot on 256 workers: the same with any number of masters."""
    def of_cells(cells):
        found = {f'{value:.0f} s' for value in cells.along('masters', MASTERS, measure, kernel='mandelbrot', workers='256', technique='dfss')}
        assert len(found) == 1, found
        return found.pop()
    return of_cells


def widest_box(cells):
    quartiles = [cell['measures']['time']['quartiles'] for cell in cells.cells]
    assert len(quartiles) == 4, quartiles
    return f'{max(100 * (box[4] - box[0]) / box[2] for box in quartiles):.1g}'


def half_of_mfsc(command):
    result = run([HDSS, *shlex.split(command)[1:], '--format', 'json'])
    assert result.status == 0, str(result)
    return str(json.loads(result.out)[0]['count'] // 2)


FAILURES = ('none', *(','.join(f'{node}@1.5' for node in range(1, 1 + count)) for count in (1, 8, 15)))
NEAR, APART = 'cluster:nodes=17,cores=1', 'two-sites:nodes=17,cores=1'


def by_failures(copies):
    return lambda cells: text(cells.along('fail_nodes', FAILURES, kernel=f'--copies {copies}', technique='ss', platform=NEAR, slowdown='1'))


def perturbed(technique):
    """Without any, with a slower core, with messages that take longer, with both."""
    return lambda cells: text(cells.at(kernel='--copies on', technique=technique, platform=platform, slowdown=slowdown, fail_nodes='none')
                              for platform, slowdown in ((NEAR, '1'), (NEAR, '4,15*1'), (APART, '1'), (APART, '4,15*1')))


STEPS, STEPS_NOT_AHEAD = 'steps=250;', 'steps=250 --ask-ahead off;'


def metg(technique, masters, kernel):
    """Where efficiency crosses one half, in microseconds, by straight lines over the logarithm of the mean; of tasks of equal and of different length."""
    def of_costs(cells, form):
        grains = (0.1, 0.3, 1, 3, 10, 30)
        found = [cells.at('efficiency', kernel=kernel, technique=technique, masters=masters, costs=form.format(grain)) for grain in grains]
        if found[0] >= 0.5:
            return 'below 0.1'
        after = next((i for i, efficiency in enumerate(found) if efficiency >= 0.5), None)
        if after is None:
            return 'above 30'
        part = (0.5 - found[after - 1]) / (found[after] - found[after - 1])
        return f'{grains[after - 1] * (grains[after] / grains[after - 1])**part:.2g}'
    return lambda cells: '; '.join(of_costs(cells, form) for form in ('constant:mean={}', 'uniform:mean={},cov=0.577'))


# --- a recurrence beside the simulation ---

def sizes_of_technique(technique, rows, slaves):
    """Chunks of at least 10 and at most 1000 rows."""
    sizes, left, size = [], rows, 0
    first = rows // (2 * slaves)
    decrement = (first - 10) // (math.ceil(2 * rows / (first + 10)) - 1)
    while left > 0:
        if technique == 'css':
            size = math.ceil(rows / (2 * slaves))
        elif technique == 'gss':
            size = left // slaves
        elif technique == 'fss':
            size = size if len(sizes) % slaves else math.ceil(left / (2 * slaves))
        else:
            size = first - decrement * len(sizes)
        sizes.append(min(max(10, min(1000, size)), left))
        left -= sizes[-1]
    return sizes


def speedup_by_recurrence(technique, rows, columns, slaves, behind=None):
    """[SW]: of rows by columns on slaves of power 1, 0.4, 1, 0.4, .. with 3 points for each. A part of a chunk begins after the one before it, and after
    the previous chunk is so many points ahead: by None as many as its rows take that are a column behind one another."""
    points = 3 * slaves
    free, before, last, begun = [0.0] * slaves, [], 0.0, 0
    for size in sizes_of_technique(technique, rows, slaves):
        slave = free.index(min(free))
        now, ends = free[slave], []
        for point in range(points):
            if before:
                ahead = behind or 1 + math.ceil(begun / math.ceil(columns / points))
                now = max(now, before[min(point + ahead, points) - 1])
            now += size / points / (0.4 if slave % 2 else 1)
            ends.append(now)
        free[slave], before, begun, last = now, ends, size, max(last, now)
    return rows / last


def one_point_behind(rows):
    return lambda: text(speedup_by_recurrence('gss', rows, rows, int(slaves), 1) for slaves in SLAVES)


RECURRENCES = {'S72': one_point_behind(15000), 'S73': one_point_behind(10000)}
SIMULATED_SPEEDUPS = {15000: dict(zip(('css', 'fss', 'gss', 'tss'), ('S27', 'S28', 'S29', 'S30'))),
                      10000: dict(zip(('css', 'fss', 'gss', 'tss'), ('S32', 'S33', 'S34', 'S35')))}

LARGE_STEINBERG, LARGE_HYDRO = serial('floyd-steinberg width=15000 height=15000'), serial('hydro l=10000 k=10000')

# Rows whose command is another one of hdss: its figures are made by it.
OTHERS = {'S7': time_steps, 'S46': shares_of_rows, 'L14': half_of_mfsc, 'L15': half_of_mfsc, 'L16': half_of_mfsc, 'L17': half_of_mfsc}

OURS = {
    'han-chronopoulos': {
        'H11': loop('mandelbrot', '2'),
        'H12': loop('adjoint', '2'),
        'H13': loop('mandelbrot', '16'),
        'H14': loop('adjoint', '16'),
        'H15': at_most_workers('mandelbrot'),
        'H16': at_most_workers('adjoint'),
        'H17': lambda cells: '; '.join(text(cells.along('technique', TECHNIQUES, kernel='mandelbrot', masters='16', workers=workers))
                                       for workers in WORKERS),
        'H18': lambda cells: text(cells.along('technique', TECHNIQUES, kernel='adjoint', masters='16', workers='4096')),
        'H19': at_most_workers('mandelbrot', 'overhead'),
        'H20': at_most_workers('adjoint', 'overhead'),
        'H21': relative_speedup('mandelbrot', '16'),
        'H22': relative_speedup('adjoint', '16'),
        'H23': relative_speedup('mandelbrot', '0'),
        'H24': relative_speedup('adjoint', '0'),
        'H25': lambda cells: text(cells.along('masters', MASTERS, kernel='adjoint', workers='256', technique='dfss')),
    },
    'ciorba-mandelbrot': {
        'S16': saved_with_four(MANDELBROT[0], ('css', 'fss', 'gss', 'tss')),
        **{name: saved(MANDELBROT[0], technique) for name, technique in zip(('S38', 'S39', 'S40', 'S41'), SIMPLE)},
        'S42': mean_saved(*MANDELBROT),
        'S43': mean_of_all_saved(*MANDELBROT),
        'S47': unevenness(MANDELBROT[0], 'gss'),
        'S66': least_and_most_saved(*MANDELBROT),
        'S67': spread(MANDELBROT[0], SLAVES[:1], ('none', 'acp')),
        'S68': fss_is_least,
    },
    'ciorba-synchronized': {
        'S25': saved_with_four('width=10000', ('css', 'fss', 'gss', 'tss')),
        **{name: speedup(STEINBERG[2], LARGE_STEINBERG, technique) for name, technique in zip(('S27', 'S28', 'S29', 'S30'), ('css', 'fss', 'gss', 'tss'))},
        'S31': speedup(STEINBERG[2], LARGE_STEINBERG, 'tss', 'acp'),
        **{name: speedup(HYDRO[2], LARGE_HYDRO, technique) for name, technique in zip(('S32', 'S33', 'S34', 'S35'), ('css', 'fss', 'gss', 'tss'))},
        'S36': speedup(HYDRO[2], LARGE_HYDRO, 'tss', 'acp'),
        'S37': speedup(STEINBERG[2], LARGE_STEINBERG, 'tss', 'acp', SLAVES[:2]),
        **{name: saved(STEINBERG[2], technique) for name, technique in zip(('S48', 'S49', 'S50', 'S51'), SIMPLE)},
        'S52': mean_saved(*STEINBERG),
        'S53': mean_of_all_saved(*STEINBERG),
        **{name: saved(HYDRO[2], technique) for name, technique in zip(('S54', 'S55', 'S56', 'S57'), SIMPLE)},
        'S58': mean_saved(*HYDRO),
        'S59': mean_of_all_saved(*HYDRO),
        'S61': unevenness(STEINBERG[2], 'css'),
        'S62': unevenness(HYDRO[1], 'gss'),
        'S65': speedups_by_size,
        'S69': least_and_most_saved(*STEINBERG),
        'S70': least_and_most_saved(*HYDRO),
        'S71': lambda cells: '; '.join(spread(kernel, SLAVES, ['acp'])(cells) for kernel in (STEINBERG[2], HYDRO[2])),
    },
    'eleliemy-ciorba-cca': {
        'D33': of_psia('static'), 'D34': of_psia('fac2'), 'D35': of_psia('pls'), 'D36': over_static('fac2'), 'D37': over_static('gss'),
        'D38': over_static('rnd'), 'D45': af_by_delay(RAGGED), 'D47': af_by_delay(PSIA),
    },
    'eleliemy-ciorba-dca': {
        **{name: apart(PSIA, delay) for name, delay in zip(('D39', 'D40', 'D41'), DELAYS)},
        **{name: apart(RAGGED, delay) for name, delay in zip(('D42', 'D43', 'D44'), DELAYS)},
        'D46': af_by_delay(RAGGED),
        'D49': af_apart(PSIA, DELAYS), 'D51': af_apart(RAGGED, DELAYS[:2]),
    },
    'eleliemy-ciorba-rma': {
        'R15': of_rma(('ss', ON_KNL, ONE_SIDED), ('ss', ON_XEON, ONE_SIDED)),
        'R16': of_rma(('ss', FEW_ON_KNL, ONE_SIDED)),
        'R17': of_rma(('ss', ON_KNL, MASTER, KNL_SERVES)),
        'R18': of_rma(('ss', FEW_ON_KNL, MASTER, KNL_SERVES)),
        'R19': of_rma(('ss', ON_XEON, MASTER, XEON_SERVES)),
        'R20': of_rma(('ss', ON_KNL, TWO_SIDED), ('ss', ON_XEON, TWO_SIDED)),
        'R21': of_rma(('gss', ON_KNL, ONE_SIDED)),
        'R22': of_rma(('gss', ON_XEON, ONE_SIDED)),
        'R23': of_rma(('gss', ON_KNL, TWO_SIDED), ('gss', ON_XEON, TWO_SIDED)),
        'R24': of_rma(('tss', ON_KNL, ONE_SIDED), ('tss', ON_XEON, ONE_SIDED)),
        'R25': of_rma(('tss', ON_KNL, TWO_SIDED), ('tss', ON_XEON, TWO_SIDED)),
        'R26': of_rma(('fac2', ON_XEON, ONE_SIDED), ('fac2', ON_XEON, TWO_SIDED)),
        'R27': of_rma(('wf', ON_XEON, ONE_SIDED), ('wf', ON_XEON, TWO_SIDED)),
        'R28': lambda cells: text(ratio(cells, (technique, ON_KNL, TWO_SIDED, 'none'), (technique, ON_KNL, ONE_SIDED, 'none')) for technique in ('fac2', 'wf')),
        'R29': mandelbrot_by_place(ONE_SIDED, 'none', 'none'),
        'R33': lambda cells: text(ratio(cells, (technique, FEW_ON_KNL, TWO_SIDED, 'none'), (technique, ON_KNL, TWO_SIDED, 'none'))
                                  for technique in ('gss', 'tss')),
        'R30': mandelbrot_by_place(MASTER, KNL_SERVES, XEON_SERVES),
    },
    'mohammed-two-level': {
        'L21': of_pair('tss', 'ss', LOOPS[0]), 'L22': best_pair(LOOPS[0]), 'L23': best_pair(LOOPS[1]), 'L24': of_pair('awf-c', 'fac2', LOOPS[2]),
        'L25': best_pair(LOOPS[2]), 'L30': levels(LOOPS[0]), 'L31': levels(LOOPS[1]), 'L32': levels(LOOPS[2]), 'L35': mean_by_threads(THREADS, LOOPS[2]),
        'L36': mean_by_threads(['ss', 'fac2'], LOOPS[2]),
        'L37': by_processes([technique for technique in PROCESSES if technique != 'awf'], LOOPS[2]),
        'L38': lambda cells: ' '.join(of_pair('af', 'fac2', kernel)(cells) for kernel in LOOPS),
        'L41': uneven_without('imbalance'), 'L42': uneven_without('thread_imbalance'),
    },
    'mohammed-evrard': {
        'L26': of_pair('gss', 'fac2'), 'L27': best_pair(), 'L33': levels(), 'L39': of_pair('af', 'fac2'),
        'L40': mean_by_threads(['rnd', 'fac2'], '', PROCESSES[:4]), 'L43': first_steps, 'L46': best_of_levels, 'L50': by_processes(PROCESSES),
        'L45': lambda cells: text(cells.at(measure, technique='static', thread_technique='static') for measure in ('imbalance', 'thread_imbalance')),
    },
    'mohammed-boxes-mandelbrot': {'L47': widest_box},
    'mohammed-boxes-stellar': {'L48': widest_box},
    'mohammed-boxes-evrard': {'L49': widest_box},
    'mohammed-large': {'L28': of_pair('gss', 'fac2'), 'L29': best_pair(), 'L34': levels()},
    'rdlb': {'B1': by_failures('off'), 'B2': by_failures('on'), 'B3': perturbed('ss'), 'B4': perturbed('gss')},
    'metg': {
        'B5': metg('ss', '0', 'iterations=64000'), 'B6': metg('ss', '4', 'iterations=64000'), 'B7': metg('dfss', '0', 'iterations=64000'),
        'B8': metg('ss', '0', STEPS), 'B9': metg('ss', '4', STEPS), 'B10': metg('dfss', '0', STEPS),
        'B11': metg('ss', '0', STEPS_NOT_AHEAD), 'B12': metg('ss', '4', STEPS_NOT_AHEAD),
    },
    'ciorba-points': {'S63': points('floyd'), 'S64': points('hydro')},
}

# What reasons give of the cells of these studies.
REASONS_OF_CELLS = {
    'han-chronopoulos': {'H15': of_any_masters('time'), 'H19': of_any_masters('overhead')},
    'mohammed-two-level': {'L22': behind(('tss', 'ss'), LOOPS[0]), 'L25': behind(('awf-c', 'fac2'), LOOPS[2]), 'L35': lead_of_ss, 'L37': lead_of_fac},
    'mohammed-large': {'L29': behind(('gss', 'fac2'))},
}


# --- chunks ---

def sizes_of(text_of_sizes):
    """"4 x 125, 63" as [125, 125, 125, 125, 63]."""
    sizes = []
    for part in text_of_sizes.split(', '):
        times, _, size = part.rpartition(' x ')
        sizes += [int(size)] * int(times or 1)
    return sizes


def text_of_sizes(sizes):
    parts, begin = [], 0
    for i in range(1, len(sizes) + 1):
        if i == len(sizes) or sizes[i] != sizes[begin]:
            parts.append(f'{i - begin} x {sizes[begin]}' if i - begin > 1 else str(sizes[begin]))
            begin = i
    return ', '.join(parts)


def is_of_chunks(row):
    return row.name not in OTHERS and row.command.startswith('`hdss chunks ') and re.fullmatch(r'(\d+ x )?\d+(, (\d+ x )?\d+)*', row.theirs)


def chunks_of(row):
    result = run([HDSS, *shlex.split(row.command.strip('`'))[1:], '--format', 'json'])
    assert result.status == 0, str(result)
    sizes = [chunk['count'] for chunk in json.loads(result.out)]
    return 'the same' if sizes == sizes_of(row.theirs) else text_of_sizes(sizes)


# --- rows of words: what they claim of their command ---

def report_of(command):
    loop_time(command)
    with open('report.json', encoding='utf-8') as file:
        return json.load(file)


def chunk_sizes(spec, workers=4, iterations=1000, *options):
    result = run([HDSS, 'chunks', spec, '--iterations', iterations, '--workers', workers, *options, '--format', 'json'])
    assert result.status == 0, str(result)
    return [chunk['count'] for chunk in json.loads(result.out)]


def is_of_topology(topology):
    return lambda command: report_of(command)['topology'] == topology


def is_of_powers(*powers):
    return lambda command: [round(worker['power'], 2) for worker in report_of(command)['worker_stats']] == list(powers)


def is_within(low, high):
    """But for the last chunk, which is what remains."""
    def check(command):
        words = shlex.split(command)
        sizes = chunk_sizes(words[2], 4, int(words[words.index('--iterations') + 1]), *words[words.index('--workers') + 2:])
        return all(low <= size <= high for size in sizes[:-1]) and sum(sizes) == 1000 and sizes[-1] <= high
    return check


def traced(command, kind='cut'):
    """The rows of one kind of a run's trace."""
    report_of(f'{command} --trace trace.csv')
    with open('trace.csv', encoding='utf-8') as file:
        return [row for row in csv.DictReader(file) if row['kind'] == kind]


def cuts(command):
    return [int(row['count']) for row in traced(command)]


def begins_with_cuts(*sizes):
    return lambda command: cuts(command)[:len(sizes)] == list(sizes)


def is_of_sizes_between(low, high):
    """The largest is `high`."""
    return lambda command: max(cuts(command)) == high and min(sorted(cuts(command))[1:]) >= low


def is_refilled_when_empty(command):
    """Whenever chunks are cut for a master, its workers have all that were cut for it before."""
    given = traced(command, 'chunk')
    master = {row['worker']: row['master'] for row in given}
    at = {row['first']: float(row['time_s']) for row in given}
    cut = [(master[row['worker']], float(row['time_s']), row['first']) for row in traced(command)]
    return all(at[first] <= later_s for of, cut_s, first in cut for of_later, later_s, _ in cut if of_later == of and later_s > cut_s)


def is_of_iterations(count):
    return lambda command: report_of(command)['iterations'] == count


def is_like(*changes):
    """The time is that with the first change of the words, and not with the others."""
    def check(command):
        times = [loop_time(command.replace(*change)) for change in changes]
        return [time == loop_time(command) for time in times] == [True] + [False] * (len(times) - 1)
    return check


def learns_from_steps(command):
    """Beside a worker of half the speed the first chunk is a quarter; in the second time step, of the other, it is a third more."""
    found = [(row['worker'], int(row['first']), int(row['count'])) for row in traced(command)]
    later = {worker: count for worker, first, count in reversed(found) if first >= 1000}
    return found[0][2] == 250 and 1.3 < later['1'] / found[0][2] < 1.4 and later['2'] / found[0][2] < 0.7


def is_of_thread_techniques(command):
    """The seven are accepted, and the report names them."""
    names = [report_of(command.replace('tss', spec))['threads']['technique']['name'] for spec in (
        'static', 'ss', 'gss', 'fsc:h=1,sigma=1', 'tss', 'fac', 'rnd:bounds=2l')]
    return names == ['static', 'ss', 'gss', 'fsc', 'tss', 'fac', 'rnd']


def is_of_costs(mean_s, cov):
    """Within 2 %, of a hundred thousand iterations."""
    def check(command):
        line = f'{command.replace("iterations=1000", "iterations=100000")} --technique ss'
        found = [float(row['compute_s']) for row in traced(line, 'chunk')]
        mean = statistics.mean(found)
        return len(found) == 100000 and abs(mean / mean_s - 1) < 0.02 and abs(statistics.stdev(found) / mean / cov - 1) < 0.02
    return check


def names_all(*words):
    def check(command):
        result = run([HDSS, *shlex.split(command)[1:]])
        return result.status == 0 and all(re.search(rf'\b{word}\b', result.out) for word in words)
    return check


def has_letters(first, **of_others):
    """Of the rule of the command's technique, and of other techniques."""
    return lambda command: names_all(*first)(command) and all(names_all(*letters)(f'hdss techniques {name}') for name, letters in of_others.items())


def is_of_master_by_node(command):
    """Each node has the workers of one master, which is there and computes, too."""
    workers = report_of(command)['worker_stats']
    places = {(worker['node'], worker['master']) for worker in workers}
    of_masters = [(worker['rank'], worker['node']) for worker in workers if worker['rank'] <= 4 and worker['iterations'] > 0]
    return places == {(0, 1), (1, 2), (2, 3), (3, 4)} and of_masters == [(1, 0), (2, 1), (3, 2), (4, 3)]


def is_of_all_kinds(command):
    """CSS, FSS, GSS and TSS with and without weighting on both loops with dependencies."""
    return all(report_of(line.replace('hydro l=100 k=100', kernel).replace('--technique tss', f'--technique {technique}'))['outcome'] == 'done'
               for line in (command, command.replace('--weighting acp', '')) for technique in SIMPLE
               for kernel in ('hydro l=100 k=100', 'floyd-steinberg width=100 height=100'))


def begins_with(*batches):
    """Each batch of four."""
    return lambda command: chunk_sizes(shlex.split(command)[2])[:4 * len(batches)] == [size for size in batches for _ in range(4)]


def computing_ranks(command):
    report = report_of(command)
    return report['workers'] == len(report['worker_stats']) and report['worker_stats'][0]['rank'] == 0 and report['worker_stats'][0]['iterations'] > 0


def calculates_at_once(command):
    """By all, and by one."""
    return f'{loop_time(command):.2f} {loop_time(command.replace("--dca two-sided", "--masters-compute")):.1f}' == '0.64 10.0'


def synchronizes_more(command):
    reports = [report_of(line) for line in (command, command.replace('af', 'gss'))]
    return [(report['topology'], report['messages'], report['chunks']) for report in reports] == [('dca-two-sided', 406, 59), ('dca-two-sided', 138, 55)]


def is_out_of_order(command):
    """The later step has the earlier iterations with two operations, not with one."""
    computed = [report_of(line)['worker_stats'][1]['compute_s'] for line in (command, command.replace(':atomics=2', ''))]
    return [round(1000 * time, 1) for time in computed] == [25.5, 19.5]


def serves_after(command, *others):
    """A rank that computes, too, and other values of --break-after change the time."""
    value = re.search(r'--break-after \d+', command).group(0)
    return computing_ranks(command) and is_like((value, value), *((value, f'--break-after {other}') for other in others))(command)


TWO_ATOMICS = is_like((':atomics=2', ':atomics=2'), (':atomics=2', ''))


def batches_of_fac(command):
    """The batches that fiss plans by default are as many as those of fac2 in Table 2."""
    batches = math.ceil(len(chunk_sizes('fac2', 4, 1000, '--form', 'closed')) / 4)
    return chunk_sizes('fiss') == chunk_sizes(f'fiss:stages={batches}') and batches == 7


CLAIMS = {
    'H1': is_of_topology('central'), 'H2': is_of_topology('hierarchical'), 'H5': is_of_powers(2, 1), 'H8': is_within(5, 250),
    'H3': lambda command: chunk_sizes('dtss', 4, 1001)[:3] == [125, 117, 109],
    'H6': lambda command: (report := report_of(command))['chunks'] == report['refills'] * report['workers'] // report['masters'],
    'H7': is_refilled_when_empty, 'H9': is_of_iterations(200000),
    'H10': lambda command: report_of(command)['nodes'] == 3 and is_like(('ranger', 'ranger:bandwidth=1GB/s'), ('ranger', 'ranger:bandwidth=2GB/s'))(command),
    'S1': is_of_all_kinds, 'S3': begins_with_cuts(50, 20, 50, 20), 'S4': is_like(('34', '49'), ('34', '33'), ('34', '50')),
    'S5': is_like(('auto', '12'), ('auto', '11'), ('auto', '13')), 'S6': begins_with_cuts(50, 25, 50, 25), 'S26': is_of_sizes_between(10, 500),
    'D1': has_letters('NPibR', tss='SFL', fiss='B'), 'D13': lambda command: sum(sizes := chunk_sizes('af', 4, 1000, '--power', '1,1,1,1')) == 1000 > max(sizes),
    'D22': lambda command: 0 < report_of(command)['technique']['measured']['swr'] < 1, 'D29': is_of_iterations(262144),
    'D30': is_of_costs(0.01025, 1.824), 'D31': is_of_costs(0.07298, 0.1213),
    'D48': lambda command: (report := report_of(command))['topology'] == 'central' and report['technique']['name'] != 'auto',
    'R1': has_letters(['N', 'P', 'i', 'b', 'R', 'w_j'], tss='SFL'), 'R3': begins_with(125, 63, 31),
    'R11': is_of_iterations(1327104), 'R12': is_of_costs(0.0512, 0.1213),
    'L1': names_all('static', 'ss', 'fsc', 'mfsc', 'gss', 'tss', 'fac', 'wf', 'awf', 'awf-b', 'awf-c', 'awf-d', 'awf-e', 'af'),
    'L2': is_of_thread_techniques, 'L5': learns_from_steps,
    'L6': lambda command: all(learns_from_steps(command.replace('awf-b', f'awf-{letter}')) for letter in 'bcde'),
    'L7': lambda command: ((report := report_of(command))['technique']['name'], report['threads']['technique']['name']) == ('gss', 'fac2')
    and (report['threads']['chunks'], report['chunks']) == (677, 74),
    'L8': lambda command: run([HDSS, *shlex.split(f'{command} --masters 1 --masters-compute')[1:]]).status == 2,
    'L10': is_of_iterations(768 * 768), 'L11': names_all('spinimage', 'image_width', 'bin_size', 'support_angle'),
    'L12': names_all('evrard', 'gravity'), 'L13': lambda command: not names_all('collision')(command), 'L44': names_all('gravity'),
    'D14': lambda command: chunk_sizes('rnd') != chunk_sizes('rnd:seed=2'), 'D15': lambda command: set(chunk_sizes(shlex.split(command)[2])[:-1]) == {17},
    'D16': begins_with(113, 81), 'D17': begins_with(50, 83, 116), 'D18': lambda command: chunk_sizes('viss')[:11] == 4 * [62] + 4 * [93] + 3 * [108],
    'D20': batches_of_fac, 'D21': is_within(1, 250), 'D23': synchronizes_more,
    'D24': lambda command: is_of_topology('dca-two-sided')(command) and calculates_at_once(command), 'D25': lambda command: serves_after(command, 5, 50),
    'D26': is_of_master_by_node, 'D27': lambda command: is_of_topology('dca-rma')(command) and TWO_ATOMICS(command),
    'D50': lambda command: chunk_sizes('pls:swr=0.7', 4, 1000, '--form', 'closed')[4:7] == [75, 57, 43],
    'R4': lambda command: chunk_sizes('wf:variant=paper', 4, 1000, '--power', '1,2,1,2')[:6] == [84, 167, 84, 167, 42, 84],
    'R6': lambda command: chunk_sizes('gss', 2, 10, '--form', 'closed')[:2] == [5, 3], 'R7': is_out_of_order, 'R8': TWO_ATOMICS,
    'R9': computing_ranks, 'R10': lambda command: serves_after(command, 1, 50),
    'L3': lambda command: len(set(chunk_sizes('mfsc')[:-1])) == 1 and [len(chunk_sizes(spec)) for spec in ('mfsc', 'fac2')] == [33, 32],
    'L4': is_within(3, 125),
}
# Of the second command.
ITERATIONS_OF_SECOND = {'H9': 640000, 'D29': 262144, 'R11': 288000}
EXPRESSION = r'(?:floor)?[(\d](?:[\d.()+*/x -]|,(?=\d{3}))*(?<=[\d)])'
EQUATION = re.compile(rf'(?<![\w.^)/])({EXPRESSION})(?: \w+)? (?:is|=) ({EXPRESSION})( %)?')


def equations(text_of_row):
    """(text, whether it is true) of each "3 x 4 is 12" in it: a number may be rounded to its last digit, or up or down to a whole one."""
    for found in EQUATION.finditer(text_of_row):
        sides = [side.strip().rstrip(',.').replace(' x ', ' * ').replace(',', '') for side in found.groups()[:2]]
        if not any(re.search(r'\d\)? [-+*] |/', side) for side in sides) or any(side.count('(') != side.count(')') for side in sides):
            continue
        values = [eval(side, {'__builtins__': {}, 'floor': math.floor}) for side in sides]  # of digits and operators alone, see EXPRESSION
        decimals = min(len(side.partition('.')[2]) for side in sides if not re.search('[-+*/(]', side)) if any(
            not re.search('[-+*/(]', side) for side in sides) else 6
        values[1] /= 100 if found.group(3) else 1
        decimals += 2 if found.group(3) else 0
        step = 10 ** -decimals
        yield found.group(0), abs(values[0] - values[1]) < (step if decimals == 0 else 0.501 * step)


# --- figures that reasons give ---

FAST, SLOW = {'power': '1', 'slowdown': '1', 'load': '0'}, {'power': '0.8', 'slowdown': '1.25', 'load': '1'}


def on_slaves(order, options, kernel):
    """The time on fast and slow slaves in this order, "fsfs"; of the studies of [SW]."""
    of_all = ' '.join(f'--{name} {",".join((FAST if letter == "f" else SLOW)[name] for letter in order)}' for name in FAST)
    return loop_time(f'hdss simulate --workers {len(order)} {of_all} --recall off {options} {kernel}')


def saved_on_slaves(order, options, kernel):
    return 100 * (1 - on_slaves(order, f'{options} --weighting acp', kernel) / on_slaves(order, options, kernel))


def fast_first():
    return f'{LARGE_HYDRO() / on_slaves("ffss", "--technique css --min-chunk 10 --max-chunk 1000", "hydro l=10000 k=10000"):.2f}'


PICTURE = 'xmin=-2 xmax=1.25 ymin=-1.25 ymax=1.25 escape=100 max_iter=500'


def by_order():
    found = [saved_on_slaves(order, '--technique tss:last=80 --min-chunk 80', f'mandelbrot width=10000 height=10000 {PICTURE}')
             for order in ('fsfsfs', 'sfsfsf', 'fffsss', 'sssfff', 'ffssfs')]
    return f'{min(found):.0f} to {max(found):.0f}'


def fss_by_order():
    """How much another order changes the time at most, %."""
    changes = []
    for kernel in MANDELBROT:
        for slaves in map(int, SLAVES):
            orders = ['fs' * (slaves // 2), 'sf' * (slaves // 2), 'f' * (slaves // 2) + 's' * (slaves // 2), 's' * (slaves // 2) + 'f' * (slaves // 2)]
            first, *others = [on_slaves(order, '--technique fss --min-chunk 80 --weighting acp',
                                        f'mandelbrot {kernel} {kernel.replace("width", "height")} {PICTURE}') for order in orders]
            changes += [100 * abs(other / first - 1) for other in others]
    return f'{max(changes):.1f} %'


def shares_of_the_listing():
    command = next(first_command(row) for row in rows() if row.name == 'S46')
    return shares_of_rows(command.replace(PICTURE, 'xmin=-2.2 xmax=0.8 ymin=-1.5 ymax=1.5 escape=100 max_iter=250'))


def of_dca(words):
    """The report of a run of the studies of [DCA]."""
    return report_of('hdss simulate --platform cluster:nodes=17,cores=16 --recall off --ask-ahead off --power equal --workers 256 '
                     f'{words} synthetic iterations=262144')


OF_PSIA, OF_MANDELBROT = '--costs normal:mean=72980,cov=0.1213', '--costs gamma:mean=10250,cov=1.824'


def rnd_by_seed():
    static, *found = [of_dca(f'--masters-compute {OF_PSIA} --technique {technique}')['elapsed_s']
                      for technique in ('static', *(f'rnd:seed={seed}' for seed in range(1, 8)))]
    return f'{100 * (min(found) / static - 1):.0f} to {100 * (max(found) / static - 1):.0f}'


def beside_computing():
    """T' of dfss on adjoint with 16 masters."""
    found = [report_of('hdss simulate --platform ranger --masters 16 --recall off --copies off --technique dfss --min-chunk 5 --refill when-empty '
                       f'--output adjoint.npy --workers {workers} adjoint n=800')['overhead_s'] for workers in (4096, 8192)]
    return '{:.4f} s with 4096 workers, {:.4f} s with 8192'.format(*found)


def of_columns(technique, workers, platform='ranger'):
    """The picture of [H] with 16 masters."""
    return (f'hdss simulate --platform {platform} --masters 16 --recall off --copies off --min-chunk 5 --refill when-empty --workers {workers} '
            f'--output mandelbrot.npy --technique {technique} mandelbrot width=200000 height=200000 xmin=-2 xmax=2 ymin=-2 ymax=2 unit=column escape=2 '
            'max_iter=16000')


def without_bytes():
    return '{:.1f} and {:.1f} s'.format(*(loop_time(of_columns('dfss', workers, 'ranger:byte=0.1ns')) for workers in (4096, 8192)))


def most_columns(technique):
    """Of the masters of 8192 workers the one that has most; collecting them takes all of the time but for a hundredth."""
    report, of_master = report_of(of_columns(technique, 8192)), {}
    for worker in report['worker_stats']:
        of_master[worker['master']] = of_master.get(worker['master'], 0) + worker['iterations']
    columns = max(of_master.values())
    assert 0.99 < columns * 1.92e-3 / report['elapsed_s'] <= 1, (columns, report['elapsed_s'])
    return f'{columns:,}'


def most_columns_of_each():
    return '{} columns by HDTSS, {} by HDFSS, {} by HDGSS'.format(*map(most_columns, TECHNIQUES))


def chunks_of_adjoint():
    report = report_of('hdss simulate --platform ranger --masters 2 --recall off --copies off --technique dfss --min-chunk 5 --refill when-empty '
                       '--output adjoint.npy --workers 8192 adjoint n=800')
    return f'{report["chunks"]:,} chunks with 8192 workers'


def on_one_worker():
    return f'one worker takes {loop_time("hdss simulate --platform ranger --workers 1 --technique dfss adjoint n=800"):.1f} s'


def longest_column_chunk(technique):
    """Of the picture of [H] on 256 workers: how many columns, and that it takes all of the time but for a second."""
    chunks = traced(of_columns(technique, 256), 'chunk')
    longest = max(chunks, key=lambda chunk: float(chunk['ended_s']) - float(chunk['begun_s']))
    assert float(longest['begun_s']) < 1 and longest['ended_s'] == max((chunk['ended_s'] for chunk in chunks), key=float), longest
    return longest['count']


def columns_of_longest_chunks():
    return f'{longest_column_chunk("dgss")} columns by HDGSS, {longest_column_chunk("dfss")} by HDFSS'


def on_slow_network():
    """S-TSS of [SW]'s Floyd-Steinberg on 12 slaves: how many chunks the three sizes have, and their speedups where messages take long."""
    chunks, found = [], []
    for kernel in STEINBERG:
        height, threshold = re.findall(r'\d+', kernel)[0], THRESHOLDS[STEINBERG.index(kernel)]
        chunks.append(len(chunk_sizes('tss', 12, int(height), '--min-chunk', '10', '--max-chunk', threshold)))
        line = f'--platform cluster:nodes=13,cores=1,bandwidth=12.5MB/s floyd-steinberg width=15000 height={height}'
        found.append(serial(line)() / on_slaves(6 * 'fs', f'--technique tss --min-chunk 10 --max-chunk {threshold}', line))
    assert chunks == [36, 37, 42], chunks
    return f'it grows, {text(found)}'


def of_last_80():
    """What weighting saves of Table 3's S-TSS."""
    return f'tss saves {saved_on_slaves("fsfs", "--technique tss:last=80 --min-chunk 80", "floyd-steinberg width=10000 height=10000"):.0f} %'


def chunks_of_short_tasks():
    report = report_of('hdss simulate --platform cluster:nodes=4,cores=32 --power equal --workers 64 --technique dfss --costs constant:mean=0.1 '
                       'synthetic iterations=64000')
    return f'{report["chunks"]} chunks'


def speedup_with_weighting(technique, slaves, serial_s, kernel):
    options = f'--technique {technique} --min-chunk 10 --max-chunk 1000 --weighting acp'
    return lambda: f'{serial_s() / on_slaves("fs" * (slaves // 2), options, kernel):.2f} here'


def second_chunk(words):
    """The largest of a rank that has two, of which the first is one iteration."""
    return lambda: f'{max(worker["iterations"] for worker in of_dca(f"--technique af:first=1 {words}")["worker_stats"] if worker["chunks"] == 2) - 1:,}'


def last_of_master():
    """The techniques, but for AF, with which the master that computes is the last to end with 100 us and Mandelbrot."""
    with open(os.path.join(ROOT, 'deploy/examples/papers/eleliemy-ciorba-cca.study'), encoding='utf-8') as file:
        specs = re.search('(?m)^technique = (.*)', file.read()).group(1).split()
    names = []
    for spec in specs[:-1]:
        workers = of_dca(f'--masters-compute --technique {spec} --inject-delay calculation:100 {OF_MANDELBROT}')['worker_stats']
        if max(workers, key=lambda worker: worker['finish_s'])['rank'] == 0:
            names.append(spec.split(':')[0].upper())
    return f'With {", ".join(names[:-1])} and {names[-1]} the master is the last'


def second_chunks_of_psia():
    without, with_delay = (second_chunk(f'--dca two-sided {delay} {OF_PSIA}')() for delay in ('', '--inject-delay calculation:100'))
    return f'by DCA one has {without} ({with_delay} with 100 us)'


def times_within_smaller_bounds(*pairs):
    """Of [2L]'s Mandelbrot by pairs."""
    return [loop_time(f'hdss simulate --platform cluster:nodes=41,cores=11 --recall off --power equal --workers 40 --threads 10 --min-chunk 532 '
                              f'{pair} --slowdown 200 mandelbrot width=768 height=768 exponent=4 unit=pixel max_iter=20000 xmin=-0.75 xmax=0.75 '
                              'ymin=-0.75 ymax=0.75') for pair in (f'--technique {technique} --thread-technique {threads}' for technique, threads in pairs)]


def saved_within_smaller_bounds():
    static, tss = times_within_smaller_bounds(('static', 'static'), ('tss', 'ss'))
    return f'{100 * (1 - tss / static):.1f}'


def lead_within_smaller_bounds():
    static, tss, fac = times_within_smaller_bounds(('static', 'static'), ('tss', 'ss'), ('fac2', 'ss'))
    return f'{100 * (fac - tss) / static:.1f} points ahead of FAC+SS'


def longest_of_gss():
    chunks = traced('hdss simulate --platform cluster:nodes=13,cores=11 --recall off --technique gss --power equal --workers 12 --threads 10 '
                    '--thread-technique fac2 --min-chunk 2549 --costs phases:mean=240,spread=0.9,phases=57 synthetic iterations=1000000 steps=4', 'chunk')
    time_s, count = max((float(chunk['ended_s']) - float(chunk['begun_s']), int(chunk['count'])) for chunk in chunks)
    return f'{count:,} iterations of which almost all are costly, takes {time_s:.2f} s'


STEINBERG_KERNEL, HYDRO_KERNEL = 'floyd-steinberg width=15000 height=15000', 'hydro l=10000 k=10000'
REASONS = {
    'H14': beside_computing, 'H17': columns_of_longest_chunks,
    **{name: speedup_with_weighting(technique, slaves, LARGE_STEINBERG, STEINBERG_KERNEL)
       for name, technique, slaves in (('S48', 'css', 10), ('S49', 'gss', 12), ('S50', 'fss', 12))},
    **{name: speedup_with_weighting(technique, 12, LARGE_HYDRO, HYDRO_KERNEL) for name, technique in (('S54', 'css'), ('S55', 'gss'), ('S56', 'fss'))},
    'S32': fast_first, 'D44': last_of_master, 'S41': by_order, 'S45': shares_of_the_listing, 'S68': fss_by_order, 'D38': rnd_by_seed,
    'D45': second_chunk(f'--masters-compute --inject-delay calculation:100 {OF_MANDELBROT}'), 'D46': second_chunk(f'--dca two-sided {OF_MANDELBROT}'),
    'D47': second_chunk(f'--masters-compute {OF_PSIA}'), 'D49': second_chunk(f'--dca two-sided {OF_PSIA}'), 'L21': saved_within_smaller_bounds,
    'L22': lead_within_smaller_bounds, 'L26': longest_of_gss, 'H12': chunks_of_adjoint, 'H13': without_bytes, 'S25': of_last_80,
    'S65': on_slow_network, 'B7': chunks_of_short_tasks,
}
MORE_REASONS = {'H14': on_one_worker, 'H17': most_columns_of_each}  # of rows that REASONS has, too


# --- the page and what is measured ---

def first_command(row):
    return re.match('`(hdss [^`]+)`', row.command).group(1)


def measured(study):
    cells = cells_of(study)
    return {name: ours(cells) for name, ours in OURS[study].items()}


def check_study(study):
    found, printed = measured(study), {row.name: row.ours for row in rows()}
    verdicts = {row.name: row.verdict for row in rows()}
    wrong = [f'{name}: "{printed[name]}" on the page, "{ours}" by the study' for name, ours in found.items() if printed[name] != ours]
    wrong += [f'{name}: no "{given}" in "{verdicts[name]}"' for name, reason in REASONS_OF_CELLS.get(study, {}).items()
              if (given := reason(cells_of(study))) not in verdicts[name]]
    assert not wrong, '\n'.join(wrong)


def numbers(cell):
    return [float(number) for number in re.findall(r'-?\d+(?:\.\d+)?', cell)]


def complaint(row):
    """What is wrong with a row, by itself: '' is nothing."""
    verdict = VERDICT.fullmatch(row.verdict)
    if not verdict:
        return f'the verdict "{row.verdict}" is none of *same*, *same* within x %, *same shape*, *differs*: why, *cannot be*: why'
    kind, within, why = verdict.groups()
    if kind in ('differs', 'cannot be') and ': ' not in why and ', ' not in why:
        return 'the verdict does not say why'
    if not (row.theirs and row.ours and ('`' in row.command or kind == 'cannot be')):
        return 'a cell is empty, or the command is none'
    if row.study and row.name not in OURS.get(row.study, {}):
        return f'no figure of {row.study}.study'
    if is_of_chunks(row) and (kind == 'same') != (row.ours == 'the same'):
        return 'the verdict does not follow from the chunks'
    if within and float(within) > 20:
        return 'more than 20 % apart are not the same'
    if within:
        theirs, ours = numbers(row.theirs), numbers(row.ours)
        if len(theirs) != len(ours) or not theirs:
            return f'{len(theirs)} numbers of theirs and {len(ours)} of ours'
        far = max(100 * abs(own - other) / abs(other) for own, other in zip(ours, theirs))
        if far > float(within):
            return f'as far as {far:.1f} % apart'
    return ''


def test_verdicts():
    found = rows()
    assert len({row.name for row in found}) == len(found) > 20
    wrong = [f'{row.name}: {what}' for row in found if (what := complaint(row))]
    known = {row.name for row in found}
    wrong += [f'{name}: {study}.study measures it and the page has no such row' for study, of_rows in OURS.items() for name in of_rows if name not in known]
    commands = {row.name: row.command for row in found}
    wrong += [f'{name}: its command does not name {study}.study' for study, of_rows in OURS.items() for name in of_rows
              if f'{study}.study' not in commands.get(name, '')]
    wrong += [f'{name}: its figure is of CCA and DCA, and its command names one' for name in ('D39', 'D40', 'D41', 'D42', 'D43', 'D44', 'D49', 'D51')
              if 'eleliemy-ciorba-cca.study' not in commands[name]]
    assert not wrong, '\n'.join(wrong)


def test_chunks():
    of_chunks = [row for row in rows() if is_of_chunks(row)]
    wrong = [f'{row.name}: "{row.ours}" on the page, "{ours}" by the command' for row in of_chunks if (ours := chunks_of(row)) != row.ours]
    assert not wrong, '\n'.join(wrong)


def test_other_commands():
    """Lines of hdss that are no study are accepted, and what tests are named there are."""
    wrong = []
    for row in rows():
        for command in re.findall(r'`(hdss [^`]+)`', row.command):
            if not command.startswith('hdss study') and (result := run([HDSS, *shlex.split(command)[1:]])).status:
                wrong.append(f'{row.name}: {result.err}')
    wrong += [f'{row.name}: "{row.ours}" on the page, "{ours}" by the command' for row in rows()
              if row.name in OTHERS and (ours := OTHERS[row.name](first_command(row))) != row.ours]
    assert not wrong, '\n'.join(wrong)


def test_claims():
    wrong = [name for row in rows() if (name := row.name) in CLAIMS and not CLAIMS[name](first_command(row))]
    wrong += [f'{row.name}: the second loop has {found} iterations' for row in rows() if row.name in ITERATIONS_OF_SECOND
              and (found := report_of(re.findall('`(hdss [^`]+)`', row.command)[1])['iterations']) != ITERATIONS_OF_SECOND[row.name]]
    assert not wrong and set(CLAIMS) <= {row.name for row in rows()}, wrong


def test_reasons():
    verdicts = {row.name: row.verdict for row in rows()}
    wrong = [f'{name}: no "{found}" in "{verdicts[name]}"' for name, reason in [*REASONS.items(), *MORE_REASONS.items()]
             if (found := reason()) not in verdicts[name]]
    assert not wrong, '\n'.join(wrong)


def test_library():
    """L9: the calls of Algorithm 1 of [2L] are in the manual of the library."""
    with open(os.path.join(ROOT, 'deploy/library/dls4lb.3'), encoding='utf-8') as file:
        manual = file.read()
    calls = ('Setup', 'StartLoop', 'EndLoop', 'Terminated', 'StartChunk', 'EndChunk', 'Finalize')
    assert not (wrong := [call for call in calls if not re.search(rf'^\.Fn DLS_{call} ', manual, re.M)]), wrong


def test_arithmetic():
    """The equations that verdicts give as reasons."""
    found = [(row.name, *equation) for row in rows() for equation in equations(row.verdict)]
    sizes = next(row.theirs for row in rows() if row.name == 'S13')
    assert sum(sizes_of(sizes)) == 10648, sizes
    assert len(found) > 20 and not (wrong := [(name, equation) for name, equation, is_true in found if not is_true]), (found, wrong)
    assert [is_true for _, is_true in equations('3 x 4 is 13; 2500/8 is 313, 1 - 1.63/2.86 is 43 %, (1 + 2)/4 = 0.6')] == [False, True, True, False]


def test_computed():
    """S71: theirs are those of Tables 5 and 8, which other rows have."""
    theirs = {row.name: numbers(row.theirs) for row in rows() if row.name[0] == 'S'}
    of_loops = []
    for weighted, without, savings in (('S31', ('S27', 'S28', 'S29'), ('S48', 'S50', 'S49')), ('S36', ('S32', 'S33', 'S34'), ('S54', 'S56', 'S55'))):
        speedups = [theirs[weighted]] + [[speedup / (1 - saving / 100) for speedup, saving in zip(theirs[one], theirs[other])]
                                         for one, other in zip(without, savings)]
        of_loops.append(text(max(of_all) / min(of_all) for of_all in zip(*speedups)))
    printed = next(row.theirs for row in rows() if row.name == 'S71')
    assert printed == '; '.join(of_loops), (printed, of_loops)


def test_recurrence():
    """A recurrence of [SW]'s points gives the speedups that are simulated, within 6 %."""
    printed = {row.name: row for row in rows()}
    wrong = [f'{name}: "{printed[name].ours}" on the page, "{ours()}" by the recurrence' for name, ours in RECURRENCES.items() if printed[name].ours != ours()]
    for size, names in SIMULATED_SPEEDUPS.items():
        for technique, name in names.items():
            for slaves, simulated in zip(SLAVES, numbers(printed[name].ours)):
                found = speedup_by_recurrence(technique, size, size, int(slaves))
                if abs(found / simulated - 1) > 0.06:
                    wrong.append(f'{name}: {simulated} simulated with {slaves} slaves, {found:.2f} by the recurrence')
    assert not wrong, '\n'.join(wrong)


def test_han_chronopoulos():
    check_study('han-chronopoulos')


def test_eleliemy_ciorba():
    for study in ('eleliemy-ciorba-cca', 'eleliemy-ciorba-dca', 'eleliemy-ciorba-rma'):
        check_study(study)
    for study in ('eleliemy-ciorba-cca', 'eleliemy-ciorba-dca'):  # D32: techniques, loops and delays
        assert len(cells_of(study).cells) == 12 * 2 * 3, study
    slowdowns = {cell['axes']['slowdown'] for cell in cells_of('eleliemy-ciorba-rma').cells}  # R13
    ranks = [sorted((int(times), speed) for times, speed in (part.split('*') for part in slowdown.split(','))) for slowdown in slowdowns]
    assert sorted(ranks) == 2 * [[(96, '1'), (192, '4.88')]] + 2 * [[(96, '4.88'), (192, '1')]], slowdowns


def test_mohammed():
    for study in ('mohammed-evrard', 'mohammed-large', 'mohammed-two-level'):
        check_study(study)


def test_boxes():
    for study in ('mohammed-boxes-mandelbrot', 'mohammed-boxes-stellar', 'mohammed-boxes-evrard'):
        check_study(study)


def test_ciorba():
    for study in ('ciorba-mandelbrot', 'ciorba-synchronized', 'ciorba-points'):
        check_study(study)


def test_failures_and_short_tasks():
    for study in ('rdlb', 'metg'):
        check_study(study)


def record(names):
    """Writes the figures of these studies, or of all, and of `hdss chunks` into the page."""
    found = {row.name: chunks_of(row) for row in rows() if is_of_chunks(row)}
    found.update({name: ours() for name, ours in RECURRENCES.items()})
    run_test(lambda: found.update({row.name: OTHERS[row.name](first_command(row)) for row in rows() if row.name in OTHERS}))
    for study in names or OURS:
        run_test(lambda study=study: found.update(measured(study)))
    lines = page().splitlines()
    for i, line in enumerate(lines):
        cells = line[1:-1].split(' | ') if re.match(r'\| [A-Z]\d+ \| ', line) else []
        if cells and cells[0].strip() in found:
            cells[3] = found[cells[0].strip()]
            lines[i] = f'|{" | ".join(cells)}|'
    with open(PAGE, 'w', encoding='utf-8') as file:
        file.write('\n'.join(lines) + '\n')


if __name__ == '__main__':
    if sys.argv[1:2] == ['--record']:
        record(sys.argv[2:])
    else:
        main([value for name, value in list(globals().items()) if name.startswith('test_')])
