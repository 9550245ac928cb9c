# SPDX-License-Identifier: MIT
"""HDSS from Python: calls, loops and commands over all cores of a machine or a cluster, balanced.

    with hdss.Executor(workers=8) as executor:
        for result in executor.map(simulate, parameters):
            ...

`python3 -m pydoc hdss.Executor`, and hdss-python(7), say more.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, List

if TYPE_CHECKING:
    from hdss._broadcast import Broadcast, broadcast
    from hdss._errors import CallDied, HdssError, JobFailed, NotPicklable, RemoteTraceback, SetLost
    from hdss._executor import Executor
    from hdss._jobs import Job, exec, job, loop
    from hdss._joblib import register_joblib
    from hdss._pool import Pool
    from hdss._sets import Set

_WHERE = {
    'Broadcast': '_broadcast', 'broadcast': '_broadcast', 'CallDied': '_errors', 'HdssError': '_errors', 'JobFailed': '_errors',
    'NotPicklable': '_errors', 'RemoteTraceback': '_errors', 'SetLost': '_errors', 'Executor': '_executor', 'Job': '_jobs', 'exec': '_jobs',
    'job': '_jobs', 'loop': '_jobs', 'register_joblib': '_joblib', 'Pool': '_pool', 'Set': '_sets',
}

# A list as it stands, as type checkers read it: what is in it is the package's.
__all__ = [
    'Broadcast', 'CallDied', 'Executor', 'HdssError', 'Job', 'JobFailed', 'NotPicklable', 'Pool', 'RemoteTraceback', 'Set', 'SetLost', 'broadcast', 'exec',
    'job', 'loop', 'register_joblib',
]


def __getattr__(name: str) -> Any:
    """Loads what is asked for: a worker needs little of it."""
    if name in ('mpi', 'study'):
        return importlib.import_module('hdss.' + name)
    if name not in _WHERE:
        raise AttributeError(f'module hdss has no {name!r}')
    value = getattr(importlib.import_module('hdss.' + _WHERE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted(set(globals()) | set(_WHERE))
