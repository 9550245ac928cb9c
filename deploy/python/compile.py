# SPDX-License-Identifier: MIT
"""Compiles the package where it was installed, as else each program of a user who may not write there would: half of the time of an import.

    compile.py FOLDER    as Meson knows it: from the prefix on, or from the root
"""
import compileall
import os
import sys

FOLDER = os.path.join(os.environ['MESON_INSTALL_DESTDIR_PREFIX'], sys.argv[1])
DESTINATION = os.environ.get('DESTDIR') or None

if os.path.isabs(sys.argv[1]):
    FOLDER = (DESTINATION or '') + sys.argv[1]
compileall.compile_dir(os.path.join(FOLDER, 'hdss'), quiet=1, stripdir=DESTINATION)
compileall.compile_file(os.path.join(FOLDER, 'DLS.py'), quiet=1, stripdir=DESTINATION)
