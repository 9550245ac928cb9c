# SPDX-License-Identifier: MIT
"""A plugin of pytest by which joblib's own tests use HDSS: it is the default backend, and stands in the place of joblib's backends of
processes wherever a test has a list of backends. What is not about it then is left out, and so are the tests of EXCLUDED and of REPEATED.
Programs that tests start know the backend, too: they find this file as `sitecustomize`.
"""
import os
import re

# By a pattern of the name of the test with its parameters: why it cannot pass. A pattern that is no test's is an error.
EXCLUDED = {
    r'test_backend_hinting_and_constraints(\[.*\])?': "compares with the classes of joblib's backends, as the default is one of them",
    r'test_nested_loop\[back_compat_backend-hdss\]': 'processes of loky do not know the backend; they know only what joblib itself brings',
    r'test_nested_backend_in_sequential\[.*None\]': 'wants one job where nobody says how many; with HDSS, as with Dask, it is all workers',
}
# Tests that say for HDSS what other tests, or other cases of the same, say, too; each case has processes of its own.
REPEATED = {
    r'test_loky_reuse_workers\[.*\]': 'asks only for the workers of loky; test_python_joblib.py asks for those of HDSS',
    r'test_nested_loop_with_exception_with_loky': 'names loky alone',
    r'test_simple_parallel\[(2|11)-.*\]': 'how much joblib itself says; 100 is the most',
    r'test_threadpool_limitation_in_child_override\[(?!OMP_NUM_THREADS-2\b).*\]': 'one variable of the environment goes the way of all',
}
LEFT_OUT = {**EXCLUDED, **REPEATED}
# These take it that joblib's default is loky, and name another backend where they mean that.
WITH_LOKY_AS_DEFAULT = ('test_nested_backend_in_sequential',)
BACKEND = re.compile(r'(.*_)?backend(_type)?')
REGISTERS = 'HDSS_TEST_REGISTERS_JOBLIB'  # a variable of programs that tests start

if __name__ == 'sitecustomize':
    if os.environ.pop(REGISTERS, None):  # not for workers, which are to know it by themselves
        import hdss
        hdss.register_joblib()
else:
    import hdss
    import joblib.parallel
    import pytest
    hdss.register_joblib(make_default=True)


def is_hdss(value):
    return value == 'hdss' or type(value).__name__ == 'HdssBackend'


def replaced(values):
    """The values of a parameter that are backends, with HDSS for loky."""
    rest = [value for value in values if not is_hdss(value) and value not in ('loky', 'multiprocessing')]
    known = [value for value in values if is_hdss(value)]
    return (known or ['hdss']) + rest if any(is_hdss(value) or value == 'loky' for value in values) else values


def pytest_generate_tests(metafunc):
    marks = metafunc.definition.own_markers
    for place, mark in enumerate(marks):
        if mark.name == 'parametrize' and isinstance(mark.args[0], str) and BACKEND.fullmatch(mark.args[0]):
            marks[place] = pytest.mark.parametrize(mark.args[0], replaced(list(mark.args[1])), *mark.args[2:], **mark.kwargs).mark


def is_about_it(item):
    """True for a test whose backends are HDSS, or which uses the default."""
    if not hasattr(item, 'callspec'):
        return True
    backends = [value for name, value in item.callspec.params.items() if BACKEND.fullmatch(name)]
    return not backends or any(value is None or is_hdss(value) for value in backends)


def is_excluded(item):
    return any(re.fullmatch(pattern, item.name) for pattern in LEFT_OUT)


def pytest_collection_modifyitems(config, items):
    unknown = [pattern for pattern in LEFT_OUT if not any(re.fullmatch(pattern, item.name) for item in items)]
    unknown += sorted(set(WITH_LOKY_AS_DEFAULT) - {item.originalname for item in items})
    if unknown and not config.getoption('-k'):
        raise pytest.UsageError(f'tests that are named in {os.path.basename(__file__)} are not there: {", ".join(unknown)}')
    kept = [item for item in items if is_about_it(item) and not is_excluded(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def pytest_runtest_setup(item):
    default = 'loky' if item.originalname in WITH_LOKY_AS_DEFAULT else 'hdss'
    joblib.parallel.DEFAULT_BACKEND = item.module.DEFAULT_BACKEND = default


def pytest_sessionstart(session):
    """Has the programs that tests start know the backend."""
    folder = os.environ['HDSS_TEST_SITE']
    with open(os.path.join(folder, 'sitecustomize.py'), 'w', encoding='utf-8') as file, open(__file__, encoding='utf-8') as own:
        file.write(own.read())
    os.environ['PYTHONPATH'] = os.pathsep.join([folder, os.environ.get('PYTHONPATH', '')])
    from joblib.test import test_parallel
    check = test_parallel.check_subprocess_call

    def check_registered(words, timeout=5, **expected):
        os.environ[REGISTERS] = '1'
        try:
            check(words, timeout=timeout and 10 * timeout, **expected)
        finally:
            del os.environ[REGISTERS]

    test_parallel.check_subprocess_call = check_registered
