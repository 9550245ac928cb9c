# SPDX-License-Identifier: MIT
"""Where the command `hdss` is, which this package runs."""
from __future__ import annotations

import os

from hdss._errors import HdssError


def program() -> str:
    """The command `hdss`: HDSS of the environment, that of the build folder in which this package lies, or of PATH."""
    given = os.environ.get('HDSS')
    built = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), 'hdss')
    if given:
        return given
    if os.path.isfile(built) and os.access(built, os.X_OK):
        return built
    import shutil
    found = shutil.which('hdss')
    if found is None:
        raise HdssError('there is no command hdss in PATH; install HDSS, add its folder to PATH, or name it by HDSS=/path/of/hdss')
    return found
