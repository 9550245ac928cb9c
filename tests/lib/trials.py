# SPDX-License-Identifier: MIT
"""Many trials at once, each in a process and a folder of its own."""
import multiprocessing
import os
import shutil
import tempfile
import traceback


def trial(attempt, number, rest):
    folder = tempfile.mkdtemp(prefix='hdss-trial-')
    os.chdir(folder)
    try:
        return attempt(number, *rest)
    except Exception:
        return [], f'trial {number}\n{traceback.format_exc()}'
    finally:
        os.chdir('/')
        shutil.rmtree(folder, ignore_errors=True)


def run_trials(attempt, numbers, jobs, *rest):
    """[(what was killed, what is wrong or None), ...]: attempt(number, *rest) for each of the numbers, `jobs` at once."""
    with multiprocessing.Pool(jobs) as pool:
        return pool.starmap(trial, [(attempt, number, rest) for number in numbers], chunksize=1)
