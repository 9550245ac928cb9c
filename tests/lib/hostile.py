# SPDX-License-Identifier: MIT
"""A kernel in Python for the tests of isolation: at the iterations that are named it does what user code must not do to the worker that
runs it. MODES says of each way why the iteration fails then, as a pattern; None: it does not. The environment names what the module
does while it is loaded or describes its loop, and in which program: HOSTILE_AT=PROGRAM:import|describe:MODE.
"""
import ctypes
import ctypes.util
import functools
import multiprocessing
import os
import resource
import signal
import sys
import threading

SEGV = r'killed the child process: signal 11 \(Segmentation fault\)'
GIB = 1 << 30
HERE = os.path.basename(os.path.realpath('/proc/self/exe'))


class Leaves:
    """A result that ends the process where it is looked at."""

    def __iter__(self):
        os._exit(5)


def interrupt():
    raise KeyboardInterrupt


def deepen():
    return deepen() + 1


def crash():
    ctypes.string_at(0)


def in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def leave_thread():
    threading.Thread(target=threading.Event().wait).start()


def in_child(function):
    """`function` in a copy, which then comes back from the kernel as this process does."""
    child = os.fork()
    if child == 0:
        function()
    else:
        os.waitpid(child, 0)


def in_process(function):
    process = multiprocessing.get_context('fork').Process(target=function)
    process.start()
    process.join()


def end_process():
    process = multiprocessing.get_context('fork').Process(target=threading.Event().wait)
    process.start()
    process.terminate()
    process.join()


def use_pool():
    with multiprocessing.get_context('fork').Pool(2) as pool:
        assert pool.map(abs, range(-9, 0)) == list(range(9, 0, -1))


def set_handlers(handler):
    for number in range(1, signal.NSIG):
        try:
            signal.signal(number, handler)
        except (OSError, ValueError):
            pass


def eat(kept):
    resource.setrlimit(resource.RLIMIT_AS, (GIB, GIB))
    while True:
        kept.append(bytes(1 << 24))


def call_mpi(name):
    library = ctypes.CDLL(ctypes.util.find_library('mpi'), mode=ctypes.RTLD_GLOBAL)
    getattr(library, name)(None, None)


@functools.cache
def start_mpi():
    call_mpi('MPI_Init')


def close_all():
    for descriptor in range(21):
        try:
            os.close(descriptor)
        except OSError:
            pass


MODES = {
    'nothing': (lambda: None, None),
    '_exit': (lambda: os._exit(7), 'ended the child process with status 7'),
    '_exit0': (lambda: os._exit(0), 'ended the child process with status 0'),
    'sys.exit': (lambda: sys.exit(9), r'SystemExit: 9 \(at hostile'),
    'segv': (crash, SEGV),
    'abort': (os.abort, r'killed the child process: signal 6 \(Aborted\)'),
    'kill': (lambda: os.kill(os.getpid(), 9), r'killed the child process: signal 9 \(Killed\)'),
    'term': (lambda: os.kill(os.getpid(), 15), None),
    'execv': (lambda: os.execv('/bin/true', ['true']), 'ended the child process with status 0'),
    'interrupt': (interrupt, r'KeyboardInterrupt \(at hostile'),
    'recursion': (deepen, 'RecursionError: maximum recursion depth exceeded'),
    'thread': (lambda: in_thread(int), None),
    'thread_crashes': (lambda: in_thread(crash), SEGV),
    'thread_stays': (leave_thread, None),
    'close': (close_all, None),
    'fork_exits': (lambda: in_child(lambda: os._exit(3)), None),
    'fork_raises': (lambda: in_child(sys.exit), None),
    'fork_comes_back': (lambda: in_child(int), None),
    'fork_crashes': (lambda: in_child(crash), None),
    'ignore_signals': (lambda: set_handlers(signal.SIG_IGN), None),
    'handle_signals': (lambda: set_handlers(lambda *_: None), None),
    'pool': (use_pool, None),
    'process_ends': (end_process, None),
    'process_crashes': (lambda: in_process(crash), None),
    'memory': (lambda: eat([]), 'MemoryError'),
    'MPI_Finalize': (lambda: call_mpi('MPI_Finalize'), '.*the child process'),
    'MPI_Init': (start_mpi, None),
    'files': (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0)), None),
    'chdir': (lambda: os.chdir('/'), None),
}
RETURNS = {
    'none': (lambda count: None, 'returned nothing; accepted: an item for each iteration'),
    'number': (lambda count: 5, 'returned int; accepted: an item for each iteration'),
    'few': (lambda count: [], 'returned 0 items for 1 iterations'),
    'many': (lambda count: [1] * (count + 1), 'returned 2 items for 1 iterations'),
    'text': (lambda count: 'x' * count, 'returned what is no number of type int64'),
    'large': (lambda count: [1 << 70] * count, 'returned what is no number of type int64'),
    'bytes': (lambda count: b'123', 'returned 3 bytes for 1 iterations, not 8'),
    'nested': (lambda count: [[1, 2]] * count, 'returned 2 numbers for 1 iterations of 1'),
    'leaves': (lambda count: Leaves(), 'ended the child process with status 5'),
}


def be_hostile_at(place):
    program, _, rest = os.environ.get('HOSTILE_AT', '').partition(':')
    where, _, mode = rest.partition(':')
    if program == HERE and where == place:
        MODES[mode][0]()


def describe(**_):
    be_hostile_at('describe')
    return {'iterations': 300, 'dtype': 'int64'}


def run(first, count, mode='nothing', at=77, every=100):
    records, modes = [], mode.split('+')
    for iteration in range(first, first + count):
        if iteration >= at and (iteration - at) % every == 0:
            mode = modes[(iteration - at) // every % len(modes)]
            if mode == 'stay':
                threading.Event().wait()
            if mode in RETURNS:
                return RETURNS[mode][0](count)
            MODES[mode][0]()
        records.append(iteration * 1000003)
    return records


be_hostile_at('import')
