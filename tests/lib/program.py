# SPDX-License-Identifier: MIT
"""Runs a test program, which imports the modules of this folder: program.py tests/system/test_NAME.py [ARGUMENT...]"""
import runpy
import signal
import sys

if __name__ == '__main__':
    for ignored in (signal.SIGHUP, signal.SIGQUIT):  # by nohup, or behind a shell's &, and so by all that the tests start
        signal.signal(ignored, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name='__main__')
