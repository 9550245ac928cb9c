# SPDX-License-Identifier: MIT
"""The Python package under those who bring a pool or a backend: scikit-learn, emcee, scipy."""
from launch import main
from pythons import needing


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


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
