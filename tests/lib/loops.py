# SPDX-License-Identifier: MIT
"""Loops and options that several test programs run."""
from launch import unhurried

# None of these is over before hurry(). SLOW and LONG go on to their ends then, which no drain comes to without it; ENDLESS is for drains.
SLOW = unhurried(iterations=300, sleep_us=10000, held=100)
# Longer, to be killed several times.
LONG = unhurried(iterations=1000, sleep_us=8000, held=200)
ENDLESS_ITERATIONS = 40000
ENDLESS = unhurried(ENDLESS_ITERATIONS, sleep_us=10000)
STEADY = ['--isolate', 'off', '--power', 'equal', '--technique', 'ss', '--report', 'report.json']
SLEEPING = ['--technique', 'ss', '--power', 'equal', 'synthetic', 'distribution=constant', 'mode=sleep', 'mean=1000']
SLEEPY = '''
import array, os, time

def describe(quick):
    return 20

def work(first, count, *, quick=2):
    for i in range(first, first + count):
        with open(f'began.{i}', 'a', encoding='ascii') as file:
            file.write(f'{os.getpid()}\\n')
        time.sleep(0 if i < quick or os.path.exists('now') else 1000)
    return array.array('d', range(first, first + count))
'''
DEADLY_PYTHON = '''import os, signal, time
DEEDS = {'segv': lambda: os.kill(os.getpid(), signal.SIGSEGV), 'abort': os.abort, 'kill': lambda: os.kill(os.getpid(), signal.SIGKILL),
         '_exit': lambda: os._exit(7), 'raise': lambda: 1 / 0, 'command': lambda: os.system('./deed')}
def describe(at=-1, mode='', once=''):
    return {"iterations": 250, "dtype": "int64"}
def is_over(once, i):
    try:
        return once and os.close(os.open(f'{once}.{i}', os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return True
def run(first, count, at=-1, mode='', once=''):
    for i in range(first, first + count):
        time.sleep(0.02)
        if i == at and not is_over(once, i):
            DEEDS[mode]()
    return [i * i + 1 for i in range(first, first + count)]
'''
