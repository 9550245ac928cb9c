# SPDX-License-Identifier: MIT
"""Prints the sources of all that is pure, and of the virtual runtime that drives it, for a build of their own (meson.build)."""
import glob
import os
import sys

FOLDERS = ['common/util', 'common/sched', 'proto', 'common/ledger', 'common/config', 'common/machine', 'common/predict', 'common/metrics',
           'supermaster', 'master', 'worker', 'common/runtime/virtual']

os.chdir(sys.argv[1])
for folder in FOLDERS:
    for source in sorted(glob.glob(f'{folder}/*.c')):
        if os.path.basename(source) != 'main.c':
            print(source)
