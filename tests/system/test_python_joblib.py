# SPDX-License-Identifier: MIT
"""The Python package under those who bring a pool or a backend: joblib and its own tests, scikit-learn, emcee, scipy. And what is large:
arrays as arguments and results, those that all workers of a node share, and maps of very many items."""
import json
import os
import subprocess
import xml.etree.ElementTree

from launch import TIMEOUT_S, environment, finish, main
from pythons import obstacle, python_with

SYSTEM = os.path.join(os.environ['SOURCE_ROOT'], 'tests/system')
PACKAGE = os.path.join(os.environ['BUILD_ROOT'], 'deploy/python')


def run_python(python, words, **variables):
    """Runs Python with the package, in sets of its own; all temporary files are in the folder `temporary`."""
    os.makedirs('temporary', exist_ok=True)
    folder = os.path.abspath('temporary')
    env = {**environment(), 'HDSS_CONTROL_DIR': os.getcwd(), 'HDSS_PYTHON_FOLDER': folder, 'TMPDIR': folder,
           'PATH': os.pathsep.join([os.path.dirname(python), os.environ['PATH']]), 'PYTHONPATH': PACKAGE, 'PYTHONDONTWRITEBYTECODE': '1', **variables}
    for name in ('HDSS_SET', 'JOBLIB_TEMP_FOLDER', 'SLURM_JOB_ID', 'PBS_JOBID', 'LSB_JOBID'):
        env.pop(name, None)
    process = subprocess.Popen([python, *words], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    return finish(process, 6 * TIMEOUT_S)


def needing(*modules):
    """Makes a test of a program: the function says what is to be seen in the JSON that the program prints last, or nothing where its
    assertions are all. The program is the function's docstring from its second paragraph on."""
    def decorate(check):
        def test():
            python, why = python_with('cloudpickle', *modules)
            if python is None or obstacle() is not None:
                return why or obstacle()
            with open('program.py', 'w', encoding='ascii') as file:
                file.write(check.__doc__.split('\n\n', 1)[1])
            result = run_python(python, ['program.py'])
            assert result.status == 0, result
            left = [name for name in os.listdir('temporary') if 'hdss-python-' in name]
            assert not left, left
            return check(json.loads(result.out.splitlines()[-1]) if result.out.strip() else None)
        test.__name__ = check.__name__
        return test
    return decorate


# --- joblib ---

def test_joblibs_own_tests():
    """joblib/test/test_parallel.py as it is installed, by a plugin that puts HDSS in the place of joblib's backends of processes."""
    python, why = python_with('cloudpickle', 'pytest', 'joblib.test.test_parallel')
    if python is None or obstacle() is not None:
        return why or obstacle()
    os.mkdir('site')
    words = ['-m', 'pytest', '-p', 'joblib_plugin', '-p', 'no:cacheprovider', '--tb=short', '-q', '--junitxml=report.xml', '--basetemp=pytest',
             '--pyargs', 'joblib.test.test_parallel']
    result = run_python(python, words, PYTHONPATH=os.pathsep.join([PACKAGE, SYSTEM]), HDSS_TEST_SITE=os.path.abspath('site'))
    assert result.status == 0, result
    cases = list(xml.etree.ElementTree.parse('report.xml').iter('testcase'))
    passed = [case for case in cases if len(case) == 0 or case[0].tag not in ('skipped', 'failure', 'error')]
    ours = [case for case in passed if 'hdss' in case.get('name')]
    print(f'# {len(passed)} of {len(cases)} passed, {len(ours)} of them name HDSS')
    assert len(passed) >= 90 and len(ours) >= 42, result
    return None


@needing('joblib')
def test_workers_stay_for_the_next_call(said):
    """Workers stay for the next call; a set that was given stays up, with the workers that it has; nested calls know the backend.

import glob, json, os, time, warnings
import hdss, joblib
from joblib import Parallel, delayed, parallel_backend

hdss.register_joblib()
folder = os.getcwd()

def meet():
    with open(f'{folder}/met.{os.getpid()}', 'w'):
        pass
    end = time.monotonic() + 60
    while len(glob.glob(f'{folder}/met.*')) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    return os.getpid()

def pids():
    for name in glob.glob('met.*'):
        os.remove(name)
    return sorted(set(Parallel()(delayed(meet)() for _ in range(8))))

def nested(i):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        with parallel_backend('hdss', n_jobs=2):
            return os.getpid(), Parallel(n_jobs=2)(delayed(os.getpid)() for _ in range(2))

with hdss.Set(2) as given:
    with parallel_backend('hdss', n_jobs=2, set=given):
        first, second = pids(), pids()
        inner = Parallel()(delayed(nested)(i) for i in range(2))
    workers = given.workers
    with hdss.Executor(set=given) as executor:
        executor.submit(os.getpid).result()
try:
    with parallel_backend('hdss', n_jobs=2, workres=3):
        refused = None
except TypeError as error:
    refused = str(error)
print(json.dumps({'first': first, 'second': second, 'own': os.getpid(), 'workers': workers, 'inner': inner, 'refused': refused}))
    """
    assert said['first'] == said['second'] and len(said['first']) == 2 and said['own'] not in said['first'], said
    assert said['workers'] == 2 and all(inner == [pid] * 2 for pid, inner in said['inner']), said
    assert said['refused'].startswith('workres: no option'), said


@needing()
def test_without_joblib(said):
    """Where joblib is not there, or too old, registering says so.

import json, sys, types
sys.modules['joblib'] = None
import hdss
try:
    hdss.register_joblib()
except ImportError as error:
    said = [str(error)]
sys.modules['joblib'] = types.SimpleNamespace(__version__='1.1.1')
try:
    hdss.register_joblib()
except hdss.HdssError as error:
    said.append(str(error))
print(json.dumps(said))
    """
    assert 'joblib' in said[0] and said[1] == 'joblib 1.1.1; accepted: 1.2 or later', said


@needing('joblib', 'numpy')
def test_joblib_sends_arrays_once(said):
    """One file for an array that all tasks have, which is read only and goes with the call; results are right, also those of a
    call that follows when the array has changed.

import json, os
import hdss, joblib, numpy
from joblib import Parallel, delayed, parallel_backend

hdss.register_joblib()
array = numpy.arange(1 << 20, dtype='f8')
folded = numpy.asfortranarray(array.reshape(1024, 1024))

def look(a, i):
    folder = os.path.dirname(a.filename)
    return sorted(name for name in os.listdir(folder) if name.startswith('array-')), float(a[i]), a.flags.writeable, folder

with parallel_backend('hdss', n_jobs=2):
    seen = Parallel()(delayed(look)(array, i) for i in range(40))
    same = Parallel()(delayed(lambda a: bool((a == folded).all()))(part) for part in (folded, folded[::2].repeat(2, 0)))
    with Parallel() as parallel:
        sums = []
        for _ in range(2):
            sums += parallel(delayed(lambda a: float(a[:4].sum()))(array) for _ in range(2))
            array[0] += 1
print(json.dumps({'sums': sums, 'files': sorted({tuple(names) for names, *_ in seen}), 'values': [value for _, value, *_ in seen],
                  'writeable': any(can for *_, can, _ in seen), 'left': any(os.path.exists(folder) for *_, folder in seen), 'same': same}))
    """
    assert said == {'sums': [6, 6, 7, 7], 'files': [['array-1']], 'values': list(range(40)), 'writeable': False, 'left': False, 'same': [True, False]}, said


# --- others ---

@needing('sklearn', 'joblib')
def test_grid_search_of_scikit_learn(said):
    """A grid search finds in workers what it finds here.

import json, os
import hdss, numpy
from joblib import parallel_backend
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC

hdss.register_joblib()
x, y = make_classification(300, random_state=1)
os.mkdir('pids')

def scored(model, x, y):
    open(f'pids/{os.getpid()}', 'w').close()
    return model.score(x, y)

def search():
    grid = GridSearchCV(SVC(random_state=1), {'C': [0.1, 1, 10], 'gamma': [0.01, 0.1]}, cv=3, scoring=scored)
    forest = RandomForestClassifier(20, random_state=1)
    return grid.fit(x, y).cv_results_['mean_test_score'].tolist(), cross_val_score(forest, x, y).tolist(), grid.best_params_

with parallel_backend('hdss', n_jobs=2):
    found = search()
pids = os.listdir('pids')
print(json.dumps({'found': found, 'here': search(), 'pids': pids, 'own': str(os.getpid())}))
    """
    assert said['found'] == said['here'] and 1 <= len(said['pids']) <= 2 and said['own'] not in said['pids'], said


@needing('emcee', 'numpy')
def test_emcee(said):
    """A sampler with pool= walks the chain that it walks without.

import json, os
import emcee, hdss, numpy

def log_probability(x):
    return -0.5 * numpy.sum(x ** 2), os.getpid()

def chain(pool):
    numpy.random.seed(1)
    start = numpy.random.randn(16, 3)
    sampler = emcee.EnsembleSampler(16, 3, log_probability, pool=pool, blobs_dtype=int)
    sampler.run_mcmc(start, 30)
    return sampler.get_chain(), sampler.get_blobs()

with hdss.Pool(2) as pool:
    chain_there, pids = chain(pool)
chain_here, _ = chain(None)
print(json.dumps({'same': bool((chain_there == chain_here).all()), 'pids': len(numpy.unique(pids)), 'own': os.getpid() in pids}))
    """
    assert said['same'] and said['pids'] >= 1 and not said['own'], said


@needing('scipy')
def test_differential_evolution_of_scipy(said):
    """workers=pool.map finds what one worker finds.

import json
import hdss
from scipy.optimize import differential_evolution, rosen

def search(workers):
    found = differential_evolution(rosen, [(0, 2)] * 4, workers=workers, updating='deferred', seed=1, maxiter=40, polish=False)
    return found.x.tolist(), found.nfev

with hdss.Pool(2) as pool:
    print(json.dumps(search(pool.map) == search(1)))
    """
    assert said is True, said


# --- what is large ---

@needing('numpy')
def test_large_arguments_and_results(said):
    """They have files of their own, which go when they have been read.

import json, os
import hdss, numpy

array = numpy.random.default_rng(1).bytes(40 << 20)
with hdss.Executor(2) as executor:
    back = executor.submit(lambda a: a[::-1], array).result()
    mapped = list(executor.map(lambda a: a[:3 << 20], [array] * 4))
    names = [name for folder in os.scandir('temporary') if folder.is_dir() for name in os.listdir(folder.path) if 'unit-' in name]
print(json.dumps([back == array[::-1], all(one == array[:3 << 20] for one in mapped), names]))
    """
    assert said == [True, True, []], said


@needing('numpy')
def test_workers_of_a_node_share_what_is_broadcast(said):
    """All workers have read all of the array, and it is in memory once: a worker's part of it is what it takes, divided by their number.

import json, os, time
import hdss, numpy

SIZE, WORKERS = 48 << 20, 4
array = numpy.arange(SIZE // 8)
data = hdss.broadcast(array)
os.mkdir('read')

def look(total):
    assert int(data.value.sum()) == total
    assert not data.value.flags.writeable
    open(f'read/{os.getpid()}', 'w').close()
    while len(os.listdir('read')) < WORKERS:
        time.sleep(0.01)
    found, ours = {}, False
    with open('/proc/self/smaps') as file:
        for line in file:
            words = line.split()
            if '-' in words[0] and not words[0].endswith(':'):
                ours = 'broadcast-' in line
            elif ours and words[0] in ('Rss:', 'Pss:', 'Private_Dirty:'):
                found[words[0]] = found.get(words[0], 0) + int(words[1]) * 1024
    open(f'read/{os.getpid()}-done', 'w').close()
    while len(os.listdir('read')) < 2 * WORKERS:
        time.sleep(0.01)
    return found

with hdss.Executor(WORKERS) as executor:
    found = [future.result() for future in [executor.submit(look, int(array.sum())) for _ in range(WORKERS)]]
del data
print(json.dumps([SIZE, found]))
    """
    size, found = said
    for part in found:
        assert part['Rss:'] >= size and part['Private_Dirty:'] == 0, said
    assert size <= sum(part['Pss:'] for part in found) < 1.3 * size, said


@needing('numpy')
def test_maps_of_many_items_take_bounded_memory(said):
    """Ten times the items of a generator take no more memory.

import json, resource, sys
import hdss

def peak_kib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

with hdss.Executor(2) as executor:
    peaks = []
    for count in (100000, 1000000):
        for way in (executor.map, executor.imap_unordered):
            total = sum(way(lambda i: i + 1, (i for i in range(count))))
            assert total == count * (count + 1) // 2, total
        peaks.append(peak_kib())
print(json.dumps(peaks))
    """
    few, many = said
    assert many < 1.2 * few, said


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
