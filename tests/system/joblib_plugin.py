# SPDX-License-Identifier: MIT
"""A plugin of pytest by which joblib's own tests use HDSS: it is the default backend, and stands in the place of joblib's backends of
processes wherever a test has a list of backends. What is not about it then is left out, and so are the tests of EXCLUDED."""
import re

import hdss
import joblib
import joblib.parallel
import pytest

# By the name of the test, without its parameters: why it cannot pass. A name that joblib does not have is an error.
EXCLUDED = {}
OWN = ('loky', 'multiprocessing', 'threading', 'sequential')
BACKEND = re.compile(r'(.*_)?backend(_type)?')

hdss.register_joblib(make_default=True)


def is_hdss(value):
    return value == 'hdss' or type(value).__name__ == 'HdssBackend'


def replaced(values):
    """The values of a parameter that are backends, with HDSS for loky."""
    rest = [value for value in values if not is_hdss(value) and value not in ('loky', 'multiprocessing')]
    known = [value for value in values if is_hdss(value)]
    return (known or ['hdss']) + rest if any(is_hdss(value) or value == 'loky' for value in values) else values


@pytest.hookimpl(tryfirst=True)
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


def pytest_collection_modifyitems(config, items):
    names = {item.originalname for item in items}
    unknown = sorted(EXCLUDED.keys() - names)
    if unknown and not config.getoption('-k'):
        raise pytest.UsageError(f'tests that are to be left out are not there: {", ".join(unknown)}')
    kept = [item for item in items if is_about_it(item) and item.originalname not in EXCLUDED]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept
