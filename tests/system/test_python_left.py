# SPDX-License-Identifier: MIT
"""What a call by hdss.Executor leaves behind in its process costs no other call: it is set back, or the process ends.

Calls run in the Python of the workers' version, as which this program runs itself again."""
import os

from calls import leaves_nothing, run_in_the_workers_python
from launch import TIMEOUT_S, main

NAMES = """
import asyncio, atexit, builtins, faulthandler, gc, io, locale, os, pickle, random, resource, signal, subprocess, sys, tempfile, threading, time, warnings
class Quiet:
    def write(self, text):
        return len(text)
def raises(*words, **options):
    raise RuntimeError('left behind')
def limit(name, soft, hard=None):
    number = getattr(resource, 'RLIMIT_' + name)
    resource.setrlimit(number, (soft, resource.getrlimit(number)[1] if hard is None else hard))
"""

# What is set back, or does no harm.
SET_BACK = r"""
sys.stdout = None
sys.stderr = None
sys.stdin = None
sys.stdout = Quiet()
sys.stdout = io.StringIO()
sys.stdout.write('no end of a line')
sys.path.clear()
sys.path = None
sys.meta_path.clear()
sys.setrecursionlimit(60)
sys.excepthook = None
gc.disable()
builtins.len = None
builtins.print = raises
builtins.__import__ = None
del builtins.range
os.chdir('/')
os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')
os.umask(0o777)
os.environ.clear()
os.environ = {}
os.environ['LEFT'] = 'behind'
del os.environ['PATH']
limit('FSIZE', 0)
limit('NOFILE', 3)
limit('AS', 1 << 20)
limit('CPU', 1)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.signal(signal.SIGALRM, raises); signal.setitimer(signal.ITIMER_REAL, .001, .001)
signal.signal(signal.SIGPROF, raises); signal.setitimer(signal.ITIMER_PROF, .001, .001)
signal.alarm(1)
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
threading.Thread(target=time.sleep, args=(100000,)).start()
threading.settrace(raises)
locale.setlocale(locale.LC_ALL, 'C'); locale.setlocale(locale.LC_CTYPE, 'C.UTF-8')
random.seed(1)
warnings.simplefilter('error')
warnings.showwarning = raises
subprocess.Popen(['sleep', '100000'])
atexit.register(raises)
faulthandler.dump_traceback_later(100000)
asyncio.set_event_loop(asyncio.new_event_loop())
tempfile.tempdir = '/nonexistent'
pickle.dumps = pickle.loads = raises
raise SystemExit(3)
raise KeyboardInterrupt
"""

# What ends its process.
ENDS = r"""
sys.stdout.close()
sys.stdout.detach()
sys.stdout.reconfigure(encoding='ascii', errors='strict')
sys.settrace(raises)
sys.modules.clear()
sys.modules = {}
sys.modules['os'] = None
os.close(1)
os.closerange(3, 4096)
os.closerange(0, 4096)
os.closerange(5, 4096); globals().update(kept=[open(os.devnull) for _ in range(30)])
os.dup2(os.open(os.devnull, os.O_RDWR), 2)
limit('FSIZE', 0, 0)
limit('NOFILE', 3, 3)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.nice(5)
os.write = raises
os.getpid = None
time.perf_counter_ns = raises
os._exit(0)
"""


def leave(line):
    exec(NAMES + line, {'__name__': 'left'})  # pylint: disable=exec-used


def good(i, here):
    """Needs all that the others have changed."""
    import locale
    import signal
    import subprocess
    import sys
    import warnings

    def deep(n):
        return n and deep(n - 1)
    assert os.getcwd() == here and 'LEFT' not in os.environ and 'PATH' in os.environ
    assert os.umask(0o22) == 0o22
    with open('good', 'w', encoding='utf-8') as file:
        print('good', file=file)
    print('good \u00e9', i)
    print('good', file=sys.stderr)
    sys.stdout.flush()
    warnings.warn('good')
    assert deep(200) == 0 and len(list(range(3))) == 3 and f'{1.5:n}' == '1.5' and locale.setlocale(locale.LC_ALL)
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL and not signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert sys.stdin is not None
    if i == 0:
        assert subprocess.run(['true'], check=True).returncode == 0
    return i * i


def check(lines):
    """Each line is left behind by a call, and 40 others follow in the process that it ran in."""
    os.umask(0o22)
    with hdss.Executor(workers=1, retries=0, prints=False) as executor:
        for line in lines.strip().splitlines():
            executor.submit(leave, line)
            behind = [executor.submit(good, i, os.getcwd()) for i in range(40)]
            errors = [future.exception(TIMEOUT_S) for future in behind]
            assert not any(errors), (line, [repr(error) for error in errors if error][:3])
            assert [future.result() for future in behind] == [i * i for i in range(40)]


@leaves_nothing
def test_what_a_call_leaves_behind_is_set_back():
    check(SET_BACK)


@leaves_nothing
def test_a_process_that_cannot_be_set_back_ends():
    check(ENDS)


if __name__ == '__main__':
    run_in_the_workers_python()
    import hdss
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
