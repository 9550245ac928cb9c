# SPDX-License-Identifier: MIT
"""The interpreter of a program, and those of its workers, which become as it is: modules are found in the same places."""
from __future__ import annotations

import os
import sys
import sysconfig
from typing import Any, Dict, List, Optional

VERSION = list(sys.version_info[:2])
is_of_worker = False  # True in a process that runs the calls of an executor


def _own_library() -> List[str]:
    library = _library_of(sysconfig.get_paths())
    return [path for path in sys.path if path.rstrip('/') in library]


def _library_of(paths: Dict[str, str]) -> List[str]:
    places = [paths['stdlib'], paths['platstdlib'], os.path.join(paths['platstdlib'], 'lib-dynload')]
    name = f'python{VERSION[0]}{VERSION[1]}.zip'
    return places + [os.path.join(os.path.dirname(place), name) for place in places[:2]]


def take_path(client: Dict[str, Any]) -> None:
    """Modules are found as in the client: in its own places, its venv's among them, and in its standard library, which is of the same
    version. On a node that does not have that, this interpreter's stands in its place; else it comes last."""
    library, here = _own_library(), [path for path in sys.path if path not in client['path']]
    theirs = [path for path in client['path'] if path not in client['library']]
    before = [path for path in client['path'][:client['library_at']] if path in theirs]
    behind = [path for path in theirs if path not in before]
    rest = [path for path in here if path not in library and 'site-packages' not in path and 'dist-packages' not in path]
    is_there = any(os.path.isdir(path) for path in client['library'])
    last = [path for path in library if path not in client['library']] if is_there else []
    sys.path[:] = before + (client['library'] if is_there else library) + behind + rest + last
    sys.executable = client['executable']
    sys.argv = client['argv']
    sys.prefix, sys.exec_prefix = client['prefixes']
    _forget_moved()


def _forget_moved() -> None:
    """Forgets a cloudpickle that a warm interpreter has imported, and that is not the client's."""
    if 'cloudpickle' in sys.modules:
        from hdss_python import forget_moved  # type: ignore[import]
        forget_moved('cloudpickle')
        if 'cloudpickle' not in sys.modules and sys.modules.pop('hdss._globals', None) is not None:
            delattr(sys.modules['hdss'], '_globals')


def refusal(client: Dict[str, Any]) -> Optional[str]:
    """Why this interpreter cannot run what the client sends; None where it can."""
    if client['version'] == VERSION:
        return None
    mine, theirs = ('.'.join(map(str, version)) for version in (VERSION, client['version']))
    return (f'the workers have Python {mine}, and this program Python {theirs}; functions can be sent between equal ones only: use python{mine}, '
            f'or build HDSS with the libpython of {theirs}')


def describe_client() -> Dict[str, Any]:
    """What workers have to know of this process, to be as it is."""
    library = _own_library()
    at = min((sys.path.index(path) for path in library), default=0)
    return {'version': VERSION, 'path': [os.path.abspath(path) if path else os.getcwd() for path in sys.path], 'library': library, 'library_at': at,
            'executable': sys.executable, 'argv': sys.argv[:1], 'prefixes': [sys.prefix, sys.exec_prefix]}
