# SPDX-License-Identifier: MIT
"""Tasks that need cores, memory or GPUs of their node: what runs at a time is never more than there is, what can never run is refused, and nothing is left."""
import glob
import os
import signal

from launch import HDSS, WORKER, finish, job, main, ranks_of, run, run_job, start, wait_until
from openmpi import RECOVERING

CLAIMS = f'/dev/shm/hdss-needs-{os.geteuid()}-*'


def write(name, text):
    with open(name, 'w') as file:
        file.write(text)


def read(name):
    with open(name) as file:
        return file.read()


def check(result, status=0):
    assert result.status == status, result
    return result


def node_has(**amounts):
    """What the node of this test is pretended to have."""
    for name in ('cores', 'memory', 'gpus'):
        os.environ.pop(f'HDSS_{name.upper()}', None)
        if name in amounts:
            os.environ[f'HDSS_{name.upper()}'] = amounts[name]


def run_failing(words):
    """Under hdss run, as mpirun by itself takes two seconds to end when a rank has another status than 0."""
    return run([HDSS, 'run', '--workers', 1, *words])


def log(name='o.log'):
    rows = [line.split('\t') for line in read(name).splitlines()]
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def most_at_a_time(amounts):
    """The most that tasks had at a time, and the most of them that ran at a time. Times in the log are whole milliseconds."""
    events = []
    for row in log():
        began, amount = float(row['Starttime']), amounts[int(row['Seq']) - 1]
        events += [(began + 0.001, amount, 1), (began + float(row['JobRuntime']) - 0.001, -amount, -1)]
    most = tasks = has = running = 0
    for _, amount, one in sorted(events):
        has, running = has + amount, running + one
        most, tasks = max(most, has), max(tasks, running)
    return most, tasks


def test_tasks_have_no_more_cores_than_there_are():
    node_has(cores='4')
    cores = [1, 3, 1, 4, 2, 2, 1, 3, 1, 1, 2, 4, 1, 1]
    write('t.tsv', 'name\tcores\n' + ''.join(f't{i}\t{count if count > 1 else ""}\n' for i, count in enumerate(cores)))
    check(run_job(0, 4, ['--output', 'o', 'exec', 'table=t.tsv', 'shell=yes', 'command=echo {name} $HDSS_CORES; sleep 0.1']))
    assert read('o') == ''.join(f't{i} {count}\n' for i, count in enumerate(cores)), read('o')
    most, tasks = most_at_a_time(cores)
    assert most <= 4 and tasks >= 2, (most, tasks, read('o.log'))
    assert not glob.glob(CLAIMS)


def test_each_task_has_gpus_and_memory_of_its_own():
    node_has(gpus='0,5,GPU-7', memory='1G')
    words = ['--output', 'o', 'exec', 'gpus=1', 'memory=256M', 'count=12', 'shell=yes']
    check(run_job(0, 4, [*words, 'command=mkdir busy.$CUDA_VISIBLE_DEVICES && sleep 0.05 && rmdir busy.$CUDA_VISIBLE_DEVICES && '
                         'echo $HDSS_GPUS $ROCR_VISIBLE_DEVICES $HDSS_MEMORY $(ulimit -d)']))
    lines = [line.split() for line in read('o').splitlines()]
    assert len(lines) == 12 and {line[0] for line in lines} <= {'0', '5', 'GPU-7'}, lines
    assert all(line[0] == line[1] and line[2:] == [str(256 << 20), str(256 << 10)] for line in lines), lines
    most, tasks = most_at_a_time([1] * 12)
    assert 2 <= most <= 3, (most, tasks)
    write('t.tsv', 'gpus\n0\n2\n')
    check(run_job(0, 1, ['--output', 'p', 'exec', 'table=t.tsv', 'header=yes', 'shell=yes', 'command=echo "[$CUDA_VISIBLE_DEVICES]"']))
    assert read('p') == '[]\n[0,5]\n', read('p')


def test_what_a_node_does_not_have_is_refused_before_anything_starts():
    node_has(cores='4', memory='1G', gpus='0')
    write('t.tsv', 'name\tcores\tmemory\na\t4\t1G\nb\t1\t1025M\n')
    write('u.tsv', 'name\tcores\na\tmany\n')
    cases = {'table=t.tsv': 'task 2: needs 1.001G of memory; this node has 1G of memory',
             'table=u.tsv': "task 1: cores 'many': accepted: a number of cores, such as 2",
             'cores=5': 'task 1: needs 5 cores; this node has 4 cores', 'gpus=2': 'task 1: needs 2 GPUs; this node has 1 GPU',
             'memory=1.5G': "memory '1.5G': accepted: bytes, or a number with K, M, G or T behind it, such as 512M"}
    for word, line in cases.items():
        result = check(run_failing(['exec', 'command=touch ran', word]), 2)
        assert result.err[-1].endswith(f': exec: {line}') and not os.path.exists('ran'), result


def test_a_task_beyond_its_memory_fails_and_is_told_why():
    node_has(memory='1G')
    result = run_failing(['--output', 'o', 'exec', 'memory=64M', 'count=1', 'command=dd if=/dev/zero of=/dev/null bs=200M count=1'])
    assert result.status != 0 and 'task 1: it failed, maybe for want of memory: it may have 64M of memory (memory=)' in read('o.err'), (result, read('o.err'))
    check(run_job(0, 1, ['--overwrite', '--output', 'o', 'exec', 'memory=400M', 'count=1', 'command=dd if=/dev/zero of=/dev/null bs=200M count=1']))


def test_a_worker_that_is_killed_gives_back_what_it_had():
    node_has(cores='2')
    write('t.tsv', 'name\tcores\na\t2\n' + 'b\t2\n' * 4)
    line = 'command=test {#} -gt 1 || test -e first || { echo $PPID > new; mv new first; exec sleep 1000; }'
    process = start(job(0, 3, ['--output', 'o', 'exec', 'table=t.tsv', 'shell=yes', line], options=RECOVERING))
    wait_until(lambda: os.path.exists('first'), 'the task that holds all cores')
    assert glob.glob(CLAIMS)
    os.kill(int(read('first')), signal.SIGKILL)
    result = finish(process)
    assert [row['Exitval'] for row in log()] == ['0'] * 5, result
    wait_until(lambda: not glob.glob(CLAIMS), 'the end of what they shared')


def test_nothing_is_left_where_all_are_killed():
    node_has(cores='2')
    process = start(job(0, 3, ['--output', 'o', 'exec', 'cores=1', 'count=5', 'command=sh -c "touch began; exec sleep 1000"']))
    wait_until(lambda: os.path.exists('began'), 'a task')
    for worker in ranks_of(process, WORKER):
        if read(f'/proc/{worker}/comm') != 'hdss-guard\n':
            os.kill(worker, signal.SIGKILL)
    finish(process)
    wait_until(lambda: not glob.glob(CLAIMS), 'the end of what they shared')


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
