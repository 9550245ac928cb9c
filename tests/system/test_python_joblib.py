# SPDX-License-Identifier: MIT
"""The Python package as a backend of joblib."""
from launch import main
from pythons import needing


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


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
