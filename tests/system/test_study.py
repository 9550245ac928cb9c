# SPDX-License-Identifier: MIT
"""hdss study: a matrix of real runs, ended in its middle and gone on with, with a cell that fails; what is wrong with a file."""
import csv
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import xml.etree.ElementTree as xml

from launch import HDSS, TIMEOUT_S, environment, finish, main, run, start, wait_until
from pythons import EXECUTE, PACKAGE, python_with

NOTEBOOK = os.path.join(os.environ['SOURCE_ROOT'], 'deploy/examples/studies/figures.ipynb')
SMALL = """# two techniques, two numbers of workers
kernel = synthetic iterations=40 mean=100 mode=sleep
technique = gss ss
workers = 1 2
timeout = 60
measure = time efficiency
"""


def study(*words):
    return run([HDSS, 'study', *words])


def write(name, text):
    with open(name, 'w') as file:
        file.write(text)


def rows(name='small.csv'):
    if not os.path.exists(name):
        return []
    with open(name, newline='') as file:
        return list(csv.DictReader(file))


def test_ended_and_gone_on_with():
    write('small.study', SMALL.replace('mean=100', 'mean=20000'))  # so that it is not over before it is ended
    process = start([HDSS, 'study', 'small.study'])
    wait_until(rows, 'the first row')
    os.kill(process.pid, signal.SIGINT)
    ended = finish(process)
    first = rows()
    assert ended.status == 4 and 1 <= len(first) < 4 and 'goes on' in ended.out, str(ended)
    assert not os.path.exists('small.run.json'), os.listdir()
    result = study('small.study')
    assert result.status == 0 and '4 of 4 runs are done, 0 failed' in result.out, str(result)
    assert len(result.err) - ('matplotlib' in result.raw_err) == 4 - len(first), str(result)
    table = rows()
    assert table[:len(first)] == first and {row['status'] for row in table} == {'done'}, table
    assert {(row['technique'], row['workers']) for row in table} == {(t, w) for t in ('gss', 'ss') for w in '12'}, table
    for row in table:
        assert row['topology'] == 'central' and row['masters'] == '0' and row['iterations'] == '40', row
        assert float(row['elapsed_s']) >= 0 and row['version'] == row['hdss'] and row['machine.processor'] and row['commit'], row
        assert 0 <= float(row['machine.noise_percent']) < 100 and float(row['machine.load_1min']) >= 0, row
    assert len({row['checksum'] for row in table}) == 1, table
    again = study('small.study')
    assert again.status == 0 and rows() == table, str(again)
    check_page('matplotlib' not in result.raw_err)
    python, _ = python_with('matplotlib')
    if python is not None:
        draw(python, 'small.study')
        check_page(True)


def check_page(drawn):
    with open('small.md', encoding='utf-8') as file:
        page = file.read()
    for part in ('| gss | 2 |', '| ss | 1 |', '4 runs: 4 cells', 'seed 1', 'the part of the workers', '(small.csv)'):
        assert part in page, (part, page)
    for measure in ('time', 'efficiency', 'heat-time') if drawn else ():
        assert f'(small-{measure}.svg)' in page, page
        for ending in ('svg', 'png'):
            assert os.path.getsize(f'small-{measure}.{ending}') > 1000, os.listdir()
    if drawn:
        with open('small-time.svg', encoding='utf-8') as file:
            picture = file.read()
        assert all(part in picture for part in ('loop time, s', 'workers', 'gss')), picture


def test_failures_are_marked():
    """A kernel that fails, and one that takes too long; what is done goes with them."""
    write('bad.study', 'kernel = synthetic iterations=4 mean=1 fail=2\nkernel = synthetic iterations=40 mean=1e6 mode=sleep\n'
          'kernel = synthetic iterations=4 mean=1\nworkers = 1\ntimeout = 10\nheat = none\n')
    os.mkdir('there')
    result = study('--folder', 'there', 'bad.study')
    assert result.status == 3 and '1 of 3 runs are done, 2 failed' in result.out, str(result)
    has_pictures = not any('matplotlib' in line for line in result.err)
    status = {row['kernel'].split('mean=')[1]: (row['status'], row['reason']) for row in rows('there/bad.csv')}
    assert status['1'] == ('done', ''), status
    assert status['1 fail=2'][0] == 'failed' and status['1 fail=2'][1], status
    assert status['1e6 mode=sleep'] == ('timeout', 'not done after 10 s'), status
    with open('there/bad.md', encoding='utf-8') as file:
        page = file.read()
    assert '**1 failed**' in page and '**1 timeout**' in page and '## Failed' in page and ('svg' in page) == has_pictures, page
    there = sorted(name for name in os.listdir('there') if not name.endswith(('.png', '.svg')))
    assert there == ['bad-cells.csv', 'bad-cells.json', 'bad.csv', 'bad.log', 'bad.md'] and (len(os.listdir('there')) > len(there)) == has_pictures, os.listdir('there')
    check_tried_again()


def check_tried_again():
    """Not unless it is asked for; then what failed alone, which takes the place of its row."""
    again = study('--report-only', '--folder', 'there', 'bad.study')
    assert again.status == 3 and len(rows('there/bad.csv')) == 3, str(again)
    write('bad.study', 'kernel = synthetic iterations=4 mean=1 fail=2\nkernel = synthetic iterations=4 mean=1\nworkers = 1\nheat = none\n')
    for words, runs in (((), 0), (('--retry-failed',), 1)):
        due = study('--dry-run', *words, '--folder', 'there', 'bad.study')
        assert due.status == 0 and due.out.count('\n') == runs and due.out.count('fail=2') == runs, (words, str(due))


def test_loads_and_powers():
    """Busy processes beside every other worker for the time of each run, powers for all of them, and what each worker has computed."""
    text = SMALL.replace('gss ss', 'gss').replace('workers = 1 2', 'workers = 3').replace('time efficiency', 'time compute')
    write('loads.study', text + 'weighting = none acp\npower = 1,0.8\nload = none 0,1\n')
    shown = study('--dry-run', 'loads.study').out.splitlines()
    assert len(shown) == 4 and all('--power 1,0.8,1 ' in line for line in shown) and sum('--load 0,1,0 ' in line for line in shown) == 2, shown
    result = study('loads.study')
    assert result.status == 0 and '4 of 4' in result.out, str(result)
    assert all(len(row['worker_stats.compute_s'].split()) == 3 for row in rows('loads.csv')), rows('loads.csv')
    with open('loads.md', encoding='utf-8') as file:
        page = file.read()
    assert '| weighting | load | 1 | 2 | 3 | most / mean |' in page and '| acp | 0,1 |' in page, page


def test_until_an_interval_is_narrow():
    """Simulated: orders of events that differ, six runs at least and more where they are needed; then nothing is due."""
    write('narrow.study', 'kernel = synthetic iterations=300\ntechnique = ss css:chunk=75\nworkers = 4\nbackend = simulate\nuntil = 3 %\nrepetitions = 9\nseeds = yes\nheat = none\n')
    shown = study('--dry-run', 'narrow.study').out.splitlines()
    assert len(shown) == 18 and {line.split('--seed ')[1].split()[0] for line in shown} == {str(seed) for seed in range(2, 11)}, shown
    result = study('narrow.study')
    assert result.status == 0, str(result)
    runs = {technique: [row for row in rows('narrow.csv') if row['technique'] == technique] for technique in ('ss', 'css:chunk=75')}
    assert all(6 <= len(of) <= 9 and {row['status'] for row in of} == {'done'} for of in runs.values()), runs
    assert not any(row['machine.noise_percent'] or row['machine.load_1min'] for of in runs.values() for row in of), runs
    with open('narrow-cells.json', encoding='utf-8') as file:
        cells = json.load(file)['cells']
    for cell in cells:
        (low, high), median = cell['measures']['time']['interval'], cell['measures']['time']['median']
        is_narrow = max(high - median, median - low) <= 0.03 * median
        assert is_narrow and cell['runs'] >= 6 or cell['runs'] == 9, cell
        assert is_narrow and study('--dry-run', 'narrow.study').out.count(cell['axes']['technique']) == 0 or not is_narrow, cell


def test_a_notebook_draws_figures():
    """That of the examples, as Jupyter runs it: bars of the medians of the tables, with their intervals, lines along an axis, and what pandas reads of the same table."""
    python, why = python_with('nbclient', 'nbformat', 'ipykernel')
    if why:
        return why
    with open(NOTEBOOK, encoding='utf-8') as file:
        assert all(cell['outputs'] == [] and cell['execution_count'] is None for cell in json.load(file)['cells'] if cell['cell_type'] == 'code')
    done = subprocess.run([python, '-c', EXECUTE, NOTEBOOK], env={**environment(), 'HDSS': HDSS, 'IPYTHONDIR': 'ipython'}, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    outputs = json.loads(done.stdout.splitlines()[-1])
    said = [output['text'] for cell in outputs for output in cell if output['output_type'] == 'stream']
    assert '96 of 96 runs are done, 0 failed' in said[0] and said[1] == '96 runs of 16 cells: static, gss, fac2, awf-c\n', said
    assert said[2].count(r'\\') == 12, said
    cells = rows('comparison-cells.csv')
    for measure in ('time', 'degradation'):
        picture = xml.parse(f'comparison-figure-{measure}.svg').getroot()
        bars = [float(bar.get('data-value')) for bar in picture.iter('{http://www.w3.org/2000/svg}rect') if bar.get('class') == 'bar']
        undisturbed = {cell['technique']: float(cell['time']) for cell in cells if cell['slowdown'] == '1'}
        times = [float(cell['time']) for cell in cells]
        longer = [100 * (time / undisturbed[cell['technique']] - 1) for time, cell in zip(times, cells)]
        assert bars == (times if measure == 'time' else longer) and len(bars) == 16, (bars, cells)
    for measure in ('time', 'speedup'):
        points = [float(point.get('data-value')) for point in xml.parse(f'scaling-figure-{measure}.svg').getroot().iter('{http://www.w3.org/2000/svg}circle')]
        assert sorted(points) == sorted(float(cell[measure]) for cell in rows('scaling-cells.csv')) and len(points) == 21, points
    least = min(statistics.median(float(row['elapsed_s']) for row in rows('comparison.csv') if all(row[axis] == cell[axis] for axis in ('technique', 'slowdown'))) for cell in cells)
    assert said[3] in ('pandas is not installed\n', f'16 medians, the least {round(least, 6)}\n'), (said[3], least)
    return None


def test_workloads():
    """Costs as an axis of simulated runs: the loops are those of their seeds, and an unsuitable value is named with its line."""
    text = 'kernel = synthetic iterations=300\nbackend = simulate\ntechnique = static ss\nworkers = 4\nmeasure = time\nheat = none\noptions = --recall off\n'
    write('loads.study', text + 'costs = model pareto:mean=10,seed=1 pareto:mean=10,seed=2 1*constant:mean=5+1*constant:mean=15\n')
    result = study('loads.study')
    assert result.status == 0 and '8 of 8' in result.out, str(result)
    compute = {row['costs']: float(row['compute_s']) for row in rows('loads.csv') if row['technique'] == 'ss'}
    assert len(set(compute.values())) == 4 and all(row['status'] == 'done' for row in rows('loads.csv')), compute
    assert abs(compute['1*constant:mean=5+1*constant:mean=15'] / 300e-5 - 1) < 0.2, compute
    write('bad.study', text + 'costs = model weibull\n')
    result = study('bad.study')
    assert result.status == 2 and len(result.err) == 1 and 'line 8' in result.err[0] and "--costs 'weibull'" in result.err[0], str(result)


def test_traces():
    """Each run leaves its trace, but workers alone; a second start adds none."""
    write('traced.study', SMALL.replace('workers = 1 2', 'workers = 2').replace('gss ss', 'gss') + 'topology = central dca-two-sided\ntraces = yes\n')
    for _ in range(2):
        assert study('traced.study').status == 0
        table = rows('traced.csv')
        traces = [row['trace'] for row in table if row['topology'] == 'central']
        assert sorted(os.listdir('traced-traces')) == sorted(name.split('/')[1] for name in traces) and len(set(traces)) == len(traces) > 0, table
        assert all(not row['trace'] for row in table if row['topology'] != 'central'), table
    told = run([HDSS, 'explain', traces[0], '--iteration', 0])
    assert told.status == 0 and 'done, and stored' in told.out, told


def test_simulated_beside_measured():
    """The same cells by both; what is real is in the table as it was, and the maps are on the terminal and in the page, also without pictures."""
    write('both.study', 'kernel = synthetic iterations=200 mean=2000 mode=sleep\ntechnique = gss fac2\nworkers = 1 2\nbackend = mpirun simulate\n'
          'platform = cluster\ntimeout = 60\nmeasure = time speedup\nx = workers\nseries = backend\nheat = technique workers\n')
    os.mkdir('bin')
    result = study('both.study')
    assert result.status == 0 and '8 of 8 runs are done, 0 failed' in result.out, str(result)
    table = rows('both.csv')
    assert sorted(row['backend'] for row in table) == 4 * ['mpirun'] + 4 * ['simulate'], table
    for row in table:
        assert row['iterations'] == '200' and 0.19 < float(row['elapsed_s']) * int(row['workers']), row
    with open('both.md', encoding='utf-8') as file:
        page = file.read()
    for part in ('## Tables of two axes' if 'matplotlib' in result.raw_err else '## Pictures', '| technique, below: workers | gss | fac2 |', 'measured', 'simulated'):
        assert part in page, (part, page)
    assert 'Loop time by technique and workers, s' in result.out and 'fac2' in result.out, result.out
    lines = study('--dry-run', '--folder', 'bin', 'both.study').out.splitlines()
    assert sum(line.startswith('hdss simulate --platform cluster ') for line in lines) == 4 and len(lines) == 8, lines


COMPARED = """kernel = synthetic iterations=200 mean=500 steps=4 mode=sleep
technique = gss fac2
workers = 1 2
masters = 0 1
repetitions = 3
timeout = 60
steps = yes
measure = time speedup
x = workers
series = masters
heat = none
"""


def test_techniques_are_compared_in_one():
    """All techniques in one picture with what would be ideal, the runs as boxes, the time steps, and what the differences mean."""
    write('compared.study', COMPARED)
    result = study('compared.study')
    assert result.status == 0 and '24 of 24 runs are done, 0 failed' in result.out, str(result)
    with open('compared.md', encoding='utf-8') as file:
        page = file.read()
    for part in ('95 % interval of confidence', 'of 3 runs lies the median with 75 %', '## Quartiles', '## Differences', 'too few runs to tell', '## Time steps',
                 'differ in nothing but technique', '(compared-cells.json)', '(compared-steps.csv)'):
        assert part in page, (part, page)
    cells = rows('compared-cells.csv')
    assert len(cells) == 8 and len(rows('compared-steps.csv')) == 8 * 4, cells
    for cell in cells:
        least, low, median, high, most = (float(cell[f'time{ending}']) for ending in ('.least', '.low', '', '.high', '.most'))
        assert cell['runs'] == '3' and 0 < least <= low <= median <= high <= most, cell
    assert sum(cell['verdict'] == 'too few runs to tell' for cell in cells) == 4, cells  # of each pair the quicker one is compared with none
    with open('compared-cells.json', encoding='utf-8') as file:
        told = json.load(file)
    assert told['confidence'] == 0.95 and len(told['cells']) == 8 and len(told['cells'][0]['measures']['time']['interval']) == 2, told
    python, _ = python_with('matplotlib')
    if python is not None:
        draw(python, 'compared.study')
        check_pictures()


def draw(python, file):
    """The report once more, by a Python that has matplotlib."""
    done = subprocess.run([python, '-c', 'import sys\nfrom hdss._study import main\nsys.exit(main(sys.argv[1:]))', '--report-only', file],
                          env={**environment(), 'HDSS': HDSS, 'PYTHONPATH': PACKAGE}, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 0 and done.stderr == '', done


def check_pictures():
    for name, parts in (('all-time', ('ideal', 'gss, central', 'fac2, 1 master', '95 % interval of confidence')), ('all-speedup', ('ideal', 'fac2, central')),
                        ('box-time', ('Loop time of the runs', 'quartiles of 3 runs', 'gss, 1 master')), ('steps-1', ('time step', 'gss', 'fac2', 'median and quartiles'))):
        assert os.path.getsize(f'compared-{name}.png') > 1000, os.listdir()
        with open(f'compared-{name}.svg', encoding='utf-8') as file:
            picture = file.read()
        assert all(part in picture for part in (*parts, 'hdss study compared.study')), (name, parts, picture)


def test_workers_alone_are_simulated():
    """All topologies in one table; where a worker draws from the queue of its node, the option is for these runs alone."""
    write('alone.study', 'kernel = synthetic iterations=2000 mean=100\ntechnique = fac2\nworkers = 1 8\nmasters = 1\nbackend = simulate\n'
          'topology = central hierarchical dca-rma dca-rma:atomics=2 dca-two-sided dca-node\ndelay = none calculation:100\nheat = none\n')
    result = study('alone.study')
    assert result.status == 0 and '24 of 24 runs are done, 0 failed' in result.out, str(result)
    assert {row['topology'] for row in rows('alone.csv')} == {'central', 'hierarchical', 'dca-rma', 'dca-rma:atomics=2', 'dca-two-sided', 'dca-node'}
    os.mkdir('other')
    lines = study('--dry-run', '--folder', 'other', 'alone.study').out.splitlines()
    assert sum('hdss simulate' in line and ' --dca node ' in line and '--masters' not in line for line in lines) == 4, lines
    assert not [name for name in os.listdir('.') if '.run' in name], 'what was simulated ahead is left'
    write('queue.study', 'kernel = synthetic iterations=2000 mean=100\nworkers = 8\nbackend = simulate\ntopology = dca-node\ntechnique = static\n'
          'options = --node-technique ss\n')
    result = study('queue.study')
    assert result.status == 0 and rows('queue.csv')[0]['chunks'] == '2000', (str(result), rows('queue.csv'))


def test_what_is_simulated_can_be_ended():
    write('long.study', 'kernel = synthetic iterations=1e9 mean=1\ntechnique = ss\nworkers = 2\nbackend = simulate\ntimeout = 1\nheat = none\n')
    result = study('long.study')
    assert result.status == 3 and [row['status'] for row in rows('long.csv')] == ['timeout'], (str(result), rows('long.csv'))


def test_what_is_due_is_shown():
    write('small.study', SMALL + 'repetitions = 3\nseed = 5\nmasters = 0 1\nslowdown = 1,2\n')
    shown = study('--dry-run', 'small.study')
    lines = shown.out.splitlines()
    assert shown.status == 0 and len(lines) == 24 and os.listdir() == ['small.study'], str(shown)
    assert all(line.startswith('hdss run --technique ') for line in lines) and sorted(lines[:8]) == sorted(lines[8:16]), lines
    assert lines == study('--dry-run', 'small.study').out.splitlines() and lines[:8] != lines[8:16], lines


def test_keys_are_told():
    """Each key of the table, by the help."""
    with open(os.path.join(os.environ['SOURCE_ROOT'], 'deploy/python/hdss/_study_plan.py'), encoding='utf-8') as file:
        keys = re.findall(r"^    Key\('(\w+)', Reader\.take_", file.read(), re.MULTILINE)
    told = re.findall(r'\w+', study('--help').out)
    assert len(keys) > 30 and set(keys) <= set(told), set(keys) - set(told)


def test_the_module():
    """What a notebook has of a study: the lines that are due, its runs, and the figures of its cells."""
    write('module.study', 'kernel = synthetic iterations=90 mean=100\ntechnique = gss ss\nworkers = 2\nbackend = simulate\nmeasure = time\nheat = none\n')
    write('look.py', 'from hdss import study\nmine = study.Study("module.study")\nprint(len(mine.due()), len(mine.rows()))\nmine.run()\n'
          'print(len(mine.due()), *[row["status"] for row in mine.rows()], *[cell["measures"]["time"]["runs"] for cell in mine.cells()])\n'
          'try:\n    study.Study("none.study")\nexcept Exception as error:\n    print(type(error).__name__, error)\n')
    done = subprocess.run([sys.executable, 'look.py'], env={**environment(), 'HDSS': HDSS, 'PYTHONPATH': PACKAGE}, capture_output=True, text=True, check=False,
                          timeout=TIMEOUT_S)
    assert done.stdout == '2 0\n0 done done 1 1\nHdssError none.study: No such file or directory\n', done
    assert {'module.csv', 'module.md', 'module-cells.json'} <= set(os.listdir()), os.listdir()


def test_without_python_it_says_what_to_install():
    os.mkdir('alone')
    shutil.copy(HDSS, 'alone/hdss')
    result = run(['alone/hdss', 'study', 'small.study'])
    assert result.status == 2 and len(result.err) == 1 and 'hdss study: it takes Python 3.9' in result.err[0] and 'python3-hdss' in result.err[0], str(result)


def test_questions():
    """Those of hdss-study, by which it checks what only HDSS knows."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen([HDSS, 'for-study'], stdin=theirs)
    with ours, ours.makefile('rw') as stream:
        assert set(json.loads(stream.readline())) == {'version', 'commit', 'cores', 'refused'}

        def ask(*words):
            stream.write(' '.join(words) + '\n')
            stream.flush()
            return json.loads(stream.readline())
        assert ask('option', 'workers', '2') == {} and 'an integer' in ask('option', 'workers', '0')['error']
        assert ask('kernel', 'synthetic') == {} and 'mandelbrot' in ask('kernel', 'mandelbrt')['error']
        halves = [[ask('half', workers, *kernel.split())['chunk'] for kernel in (one, other)] for one, other, workers in (
            ('mandelbrot height=1000 width=8', 'synthetic iterations=1000 steps=5', '4'), ('synthetic iterations=3', 'synthetic iterations=2', '2'),
            ('synthetic iterations=1000 --costs gamma:mean=5 --output a.npy', 'synthetic iterations=1000', '4'))]
        assert all(one == other for one, other in halves) and halves[1][0] == 1 and halves[0][0] >= 10, halves
        for words in ((), ('half', '2', 'nothing'), ('half', 'two', 'synthetic'), ('option',), ('nonsense',), ('run', '--help'), ('simulate', 'synthetic', 'mean=x')):
            assert ask(*words)['error'], words
    assert process.wait(TIMEOUT_S) == 0
    result = run([HDSS, 'for-study', 'x', 'y', 'z'])
    assert result.status == 2 and len(result.err) == 1, str(result)


def test_bad_files():
    for text, *parts in (('worker = 2\n', 'line 1', 'workers'), (SMALL + 'backend = simulat\n', 'line 7', 'mpirun, simulate'),
                         (SMALL + 'backend = simulate\nplatform = cluster moon\n', 'line 8', 'moon'),
                         (SMALL + 'backend = simulate\nplatform = cluster:nodes=1,cores=1\n', 'line 8', 'cores'), ('workers = 2\nkernel = synthetic\nkernel = syntetic\n', 'line 3', 'synthetic'),
                         (SMALL + 'threads = 1\nthread_technique = gss fsc\n', 'line 8', 'fsc'), (SMALL + 'backend = simulate\noptions = --fail-nodes soon\n', 'line 8', 'soon'),
                         ('kernel = synthetic iterations=9\nbackend = simulate\nworkers = 1e6\nmasters = 0 100000\n', 'line 3', '1100001 ranks'),
                         ('kernel = hydro\nworkers = 2\nbackend = simulate\ntopology = dca-two-sided\n', 'line 1', 'hydro'),
                         (SMALL + 'slowdown = 0.5\n', 'line 7', '0.5'), (SMALL + 'delay = soon\n', 'line 7', 'soon'), (SMALL + 'load = 0,65\n', 'line 7', '65'),
                         (SMALL.replace('1 2', '0'), 'line 4', '--workers'),
                         (SMALL + 'kernel = synthetic mode=doze\n', 'line 7', 'mode'), ('kernel = synthetic\n', 'empty', 'workers'),
                         (SMALL + 'options = --powr equal\n', 'line 7', '--power'), (SMALL.replace('gss', 'gus'), 'line 3', 'gus'),
                         (SMALL + 'power = equal none.powers\n', 'line 7', 'none.powers', 'No such file'), (SMALL + 'power = 1,0\n', 'line 7', '--power 1,0'),
                         (SMALL + 'power = 0\nbackend = simulate\n', 'line 7', "--power '0'"),
                         (SMALL + 'sync_points = auto 3\n', 'line 7', 'iterations of this synthetic are independent'),
                         (SMALL + 'backend = simulate\nsync_points = 3\n', 'line 8', 'iterations of this synthetic are independent'),
                         (SMALL.replace('gss', './none.so'), 'line 3', './none.so', 'No such file')):
        write('bad.study', text)
        result = study('bad.study')
        assert result.status == 2 and len(result.err) == 1 and not result.out, (text, str(result))
        assert all(part in result.err[0] for part in ('hdss study: bad.study', *parts)), (parts, result.err)
    write('bad.csv', 'status,kernel\ndone\n')
    write('bad.study', SMALL)
    for words, part in ((['bad.study'], 'bad.csv, line 2'), ([], 'no study file'), (['--folder', 'nowhere', 'bad.study'], 'a folder that exists'), (['none.study'], 'none.study'), (['a', 'b'], "'b'")):
        result = study(*words)
        assert result.status == 2 and len(result.err) == 1 and part in result.err[0], (words, str(result))
    assert sorted(os.listdir()) == ['bad.csv', 'bad.study'], os.listdir()


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
