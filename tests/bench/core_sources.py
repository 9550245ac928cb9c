# SPDX-License-Identifier: MIT
"""Prints the sources of all that is pure, and of the virtual runtime that drives it, for a build of their own (meson.build)."""
import glob
import os
import sys

FOLDERS = ['common/util', 'common/sched', 'proto', 'common/config', 'common/machine', 'common/service', 'common/predict', 'common/metrics',
           'supermaster', 'master', 'worker', 'deploy/simulate/virtual']

os.chdir(sys.argv[1])
for folder in FOLDERS:
    for source in sorted(glob.glob(f'{folder}/*.c')):
        if os.path.basename(source) not in ('main.c', 'program.c'):
            print(source)
