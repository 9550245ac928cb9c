# SPDX-License-Identifier: MIT
"""Runs a test program, which imports the modules of this folder: program.py tests/system/test_NAME.py [ARGUMENT...]"""
import runpy
import sys

if __name__ == '__main__':
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name='__main__')
