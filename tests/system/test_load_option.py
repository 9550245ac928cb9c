# SPDX-License-Identifier: MIT
"""--load: what is busy beside a worker is on the worker's core, and gone with it; the same in a simulation."""
import contextlib
import os
import signal
import uuid

from launch import HDSS, WORKER, finish, kill_tree, main, mpirun_line, ranks_of, report, run, start, wait_until

# A core for each of the two workers.
CORES = sorted(os.sched_getaffinity(0))[:2]


def marked(mark):
    """Processes that run, anywhere on the machine, and were begun with this in their environment: workers, and what is busy beside them."""
    found = []
    for entry in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(OSError):
            with open(f'/proc/{entry}/environ', 'rb') as file:  # that of a process which has ended is empty
                if mark.encode() in file.read() and os.path.realpath(f'/proc/{entry}/exe') == os.path.realpath(WORKER):
                    found.append(int(entry))
    return found


def begin_loaded(words):
    mark = uuid.uuid4().hex
    os.environ['HDSS_TEST_MARK'] = mark
    process = start(words)
    del os.environ['HDSS_TEST_MARK']
    return process, mark


def are_placed(pids, launched):
    """Each is on one core: of two workers one on either, and what is busy beside its own. MPI_Init() goes from core to core for a moment."""
    cores = [os.sched_getaffinity(pid) for pid in pids]
    most = max(cores.count(one) for one in cores)
    return all(len(one) == 1 for one in cores) and len(set(map(frozenset, cores))) == len(CORES) and (not launched or most == (3 if len(CORES) > 1 else 4))


def test_a_load_of_the_run_itself():
    """It is on the core of its worker alone, and gone with it, whatever ends it."""
    loop = ['--technique', 'ss', 'synthetic', 'iterations=100000', 'mean=1e4', 'mode=sleep']
    launched = [HDSS, 'run', '--workers', '2', '--load', '0,2', '--power', '1,0.8', '--progress', 'never', *loop]
    alone = mpirun_line([(1, [WORKER, '--dca', 'rma', '--load', '1', *loop]), (1, [WORKER, '--dca', 'rma', '--load', '1', *loop])], ['--bind-to', 'none'])
    for words, end in ((launched, lambda process: kill_tree(process.pid)), (launched, lambda process: os.kill(process.pid, signal.SIGTERM)),
                       (alone, lambda process: [os.kill(worker, signal.SIGKILL) for worker in ranks_of(process, WORKER)[:1]])):
        process, mark = begin_loaded(words)
        wait_until(lambda: len(marked(mark)) == 4, 'two workers and two processes beside them')
        wait_until(lambda: are_placed(marked(mark), words is launched), 'each of them on its core')
        end(process)
        if words is alone:  # the others end by what their launcher does, which is not looked at here
            wait_until(lambda: len(marked(mark)) <= 2, 'the end of one and of what is beside it')
            kill_tree(process.pid)
        wait_until(lambda: not marked(mark), 'the end of them all')
        finish(process)


def test_what_no_load_is():
    for words, part in ((['--load', '0,x'], "'x': accepted: integers from 0 to 64"), (['--workers', '3', '--load', '1,0'], 'one for each of the 3 workers'),
                        (['--load', '65'], '65')):
        result = run([HDSS, 'run', *words, 'synthetic'])
        assert result.status == 2 and len(result.err) == 1 and part in result.err[0], result
    shown = run([HDSS, 'run', '--dry-run', '--load', '0,2,2', '--slowdown', '1,1,2', 'synthetic']).out
    assert '--load 0 ' in shown and '--load 2 --no-threads : ' in shown and '--slowdown 2 --load 2' in shown, shown


def simulated(weighting, *kernel):
    result = run([HDSS, 'simulate', '--workers', '4', '--technique', 'gss', '--power', '1,0.8,1,0.8', '--slowdown', '1,1.25,1,1.25', '--load', '0,1,0,1',
                  '--recall', 'off', '--weighting', weighting, '--report', 'simulated.json', *kernel])
    assert result.status == 0 and not result.err, result
    return report('simulated.json')


def test_a_simulated_load():
    """Half of the workers have four fifths of the power and half of a core: by acp they get two fifths of what the others get. Without recall, which
    makes up for a share that is too large."""
    for kernel in (['floyd-steinberg', 'width=600', 'height=600'], ['hydro', 'l=600', 'k=300'], ['synthetic', 'iterations=10000', 'mean=100']):
        plain, weighted = simulated('none', *kernel), simulated('acp', *kernel)
        assert weighted['elapsed_s'] < 0.9 * plain['elapsed_s'], (kernel, plain, weighted)
    share = [row['iterations'] for row in weighted['worker_stats']]
    assert abs(sum(share[1::2]) / sum(share[0::2]) - 0.4) < 0.05 and [row['load'] for row in weighted['worker_stats']] == [1, 2, 1, 2], weighted
    for words, part in ((['--load', '1,x'], "'x': accepted: integers from 0 to 64"), (['--load', '1,2'], '2 numbers for 16 workers')):
        result = run([HDSS, 'simulate', *words, 'synthetic'])
        assert result.status == 2 and len(result.err) == 1 and part in result.err[0], result


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
