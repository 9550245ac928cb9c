# SPDX-License-Identifier: MIT
"""A set: one launch for many jobs, which are handed over, share its workers, end, go on, and leave nothing of themselves to one another."""
import contextlib
import os
import shutil
import signal
import stat
import struct

from kernels import built
from launch import HDSS, MASTER, SUPERMASTER, WORKER, Run, finish, gone, hurried, main, python_is_there, ranks_of, run, start, unhurried, wait_until
from loops import SLEEPING, SLEEPY
from processes import members, name_of, pids_in
from sets import here, job, post, submission, up, well

# Jobs of each kind that leave nothing: behind the first ones memory has what a kind needs.
JOBS_BEFORE, JOBS_BEHIND = 10, int(os.environ.get('HDSS_TEST_JOBS', '30'))


def log_of_the_set():
    with open('hdss/main/log', encoding='utf-8') as file:
        return file.read()


def test_jobs_go_through_a_set():
    here()
    up('--masters', '1')
    try:
        empty = run([HDSS, 'submit', '--wait', 'synthetic', 'iterations=0'])
        assert empty.status == 0 and empty.out.startswith('synthetic: 0 iterations done\n') and empty.err == [], empty
        alone = run([HDSS, 'run', '--workers', '2', '--output', 'alone.npy', 'mandelbrot', 'width=64', 'height=64'])
        os.mkdir('inside')
        os.chdir('inside')
        together = run([HDSS, 'run', '--set', 'main', '--output', 'together.npy', 'mandelbrot', 'width=64', 'height=64'])
        os.chdir('..')
        assert together.status == 0 and together.checksum() == alone.checksum(), together
        with open('alone.npy', 'rb') as one, open('inside/together.npy', 'rb') as other:
            assert one.read() == other.read()
        assert well(['submit', *SLEEPING, 'iterations=1000000']) == 'main/3\n'
        assert well(['submit', '--after', '3', 'synthetic', 'iterations=1']) == 'main/4\n'
        wait_until(lambda: job('3')['done'] > 0, 'a job that runs')
        urgent = run([HDSS, 'submit', '--wait', '--priority', '1', *SLEEPING, 'iterations=20'])
        assert urgent.status == 0 and job('3')['state'] == 'running' and job('4')['state'] == 'waiting', urgent
        wrong = run([HDSS, 'submit', 'synthetik'])
        assert wrong.status == 2 and len(wrong.err) == 1 and "unknown kernel 'synthetik'" in wrong.err[0], wrong
        well(['cancel', '3'])
        waited = run([HDSS, 'wait', '3', '4'])
        assert waited.status == 4 and job('4')['cancelled_by'] == 3, waited
        assert waited.out.endswith('main/4: cancelled, nothing was begun\n') and '  cancelled  as main/3 was not done\n' in well(['show', '4'])
        assert 'cancelled, and what ran was ended' in well(['output', '3'])
        os.mkdir('hdss/main/jobs/6.out')
        silent = run([HDSS, 'submit', '--wait', 'synthetic', 'iterations=1'])
        assert silent.status == 1 and job('6')['state'] == 'failed', silent
        # mpirun carries the line to the log: it may come after the answer.
        wait_until(lambda: 'supermaster: job 6: cannot write what it prints: Is a directory\n' in log_of_the_set(), 'the line in the log')
        assert run([HDSS, 'submit', '--wait', 'synthetic', 'iterations=1']).status == 0
    finally:
        assert run([HDSS, 'down']).status == 0


def test_down_returns_behind_the_last_process():
    here()
    process = start([HDSS, 'up', '--workers', '1', '--foreground'])
    assert process.stdout.readline().startswith('main is up')
    assert run([HDSS, 'down']).status == 0 and process.poll() is not None
    finish(process)


def test_tasks_of_several_jobs_run_beside_one_another():
    """No job takes the processes of another one for what its own tasks have left behind."""
    here()
    up()
    try:
        names = [well(['submit', '--output', f'{number}.txt', 'exec', 'command=echo {}', 'count=30']).strip() for number in range(8)]
        assert well(['wait', *names]).count('done, 30 of 30') == len(names)
        for number in range(len(names)):
            with open(f'{number}.txt', encoding='ascii') as file:
                assert file.read().split() == [str(task) for task in range(1, 31)], number
    finally:
        assert run([HDSS, 'down']).status == 0


def test_a_cancelled_job_ends_at_once():
    """Tasks that sleep for a quarter of an hour are gone with their job, and the workers take the next one."""
    here()
    up('--masters', '1')
    try:
        tasks = ['exec', 'command=bash -c "test {} -gt 2 && echo \\$\\$ >> tasks && exec sleep 1000; echo {}"', 'count=20']
        assert well(['submit', '--output', 'tasks.txt', *tasks]) == 'main/1\n'
        wait_until(lambda: os.path.exists('tasks') and len(pids_in('tasks')) == 2 and job('1')['done'] == 2, 'two tasks that sleep')
        assert well(['cancel', '1']) == 'main/1 is cancelled: what runs is ended\n'
        ended = run([HDSS, 'wait', '1'])
        assert ended.status == 4 and ended.out == 'main/1: cancelled, 2 of 20 (10.0 %)\n' and all(map(gone, pids_in('tasks'))), ended
        said = well(['output', '1', '--stream', 'summary'])
        assert said.startswith('exec: cancelled, and what ran was ended\n') and 'failed' not in said.partition('ledger')[0], said
        with open('tasks.txt', encoding='ascii') as file:
            assert file.read() == '1\n2\n'
        well(['submit', *SLEEPING, 'iterations=1000000'])
        wait_until(lambda: job('2')['done'] > 0, 'a job that runs')
        assert well(['cancel', '--finish', '2']) == 'main/2 drains: what runs is finished and kept\n'
        assert run([HDSS, 'wait', '2']).status == 4 and 'after a clean drain' in well(['output', '2'])
    finally:
        assert run([HDSS, 'down']).status == 0


def test_a_kernel_that_sleeps_ends_with_its_job():
    if not python_is_there():
        return 'built without Python'
    here()
    with open('sleepy.py', 'w', encoding='ascii') as file:
        file.write(SLEEPY)
    up('--masters', '1')
    try:
        kernel = ['--technique', 'css:chunk=10', '--power', 'equal', '--output', 'kernel.npy', 'python:sleepy.work']
        well(['submit', *kernel])
        wait_until(lambda: os.path.exists('began.2') and os.path.exists('began.10'), 'iterations that sleep')
        well(['cancel', '1'])
        ended = run([HDSS, 'wait', '1'])
        assert ended.status == 4 and ended.out == 'main/1: cancelled, 2 of 20 (10.0 %)\n', ended
        assert gone(pids_in('began.2')[0]) and gone(pids_in('began.10')[0])
        with open('now', 'w', encoding='ascii'):
            pass
        rest = run([HDSS, 'submit', '--wait', '--resume', *kernel])
        assert rest.status == 0 and rest.out.startswith('python:sleepy.work: 20 iterations done') and '2 resumed' in rest.out, rest
        os.unlink('now')
        well(['submit', '--technique', 'ss', '--power', 'measure', 'python:sleepy.work', 'quick=0'])
        wait_until(lambda: len(pids_in('began.0')) >= 3, 'probes that sleep')
        well(['cancel', '3'])
        assert run([HDSS, 'wait', '3']).status == 4 and all(map(gone, pids_in('began.0')))
        assert run([HDSS, 'submit', '--wait', 'synthetic', 'iterations=1']).status == 0
    finally:
        assert run([HDSS, 'down']).status == 0
    return None


def test_what_a_cancelled_job_has_not_done_is_done_by_the_next():
    here()
    up()
    try:
        tasks = ['--output', 'tasks.txt', 'exec', 'command=bash -c "test {} -gt 2 && test ! -e now && exec sleep 1000; echo {}"', 'count=6']
        well(['submit', *tasks])
        wait_until(lambda: job('1')['done'] == 2 and job('1')['busy'] == 2, 'tasks that sleep')
        well(['cancel'])
        assert run([HDSS, 'wait', '1']).status == 4
        with open('now', 'w', encoding='ascii'):
            pass
        rest = run([HDSS, 'submit', '--wait', '--resume', *tasks])
        assert rest.status == 0 and rest.out.startswith('exec: 6 tasks done') and '2 resumed' in rest.out, rest
        with open('tasks.txt', encoding='ascii') as file:
            assert file.read().split() == ['1', '2', '3', '4', '5', '6']
    finally:
        assert run([HDSS, 'down']).status == 0


def test_long_chunks_share_their_workers():
    """Each job has its loop in one chunk for each worker, which a helper computes: with nearly all of the weight one takes as long as it would
    alone, and the other both. Then helpers whose chunk is put off, and a worker, are killed, which costs no result."""
    here()
    def words(sleep_us):
        return ['--isolate', 'on', '--technique', 'static', '--power', 'equal', *unhurried(iterations=1800, sleep_us=sleep_us)]

    with hurried():
        assert run([HDSS, 'run', '--workers', '2', '--output', 'alone.npy', *words(0)]).status == 0
    process = start([HDSS, 'up', '--workers', '2', '--foreground'])
    assert process.stdout.readline().startswith('main is up')
    try:
        for kills in (False, True):
            both = [dict(submission(['--output', f'{name}{kills}.npy', *words(50000 if kills else 1000)]), weight=weight)
                    for name, weight in (('light', 1), ('heavy', 50))]
            light, heavy = [str(one['id']) for one in post(both)]
            if kills:
                helper = os.path.join(os.path.dirname(WORKER), 'hdss-helper')
                wait_until(lambda: len(ranks_of(process, helper)) == 4, 'helpers of both')
                for pid in ranks_of(process, helper):
                    with open(f'/proc/{pid}/cmdline', 'rb') as line:
                        if b'lightTrue.npy' in line.read().split(b'\0'):
                            os.kill(pid, signal.SIGKILL)
                os.kill(ranks_of(process, WORKER)[0], signal.SIGKILL)
            with hurried() if kills else contextlib.nullcontext():
                assert run([HDSS, 'wait', heavy, light]).status == 0
            for name in ('light', 'heavy'):
                with open('alone.npy', 'rb') as right, open(f'{name}{kills}.npy', 'rb') as got:
                    assert right.read() == got.read(), (name, kills)
            if not kills:
                assert job(light)['elapsed_s'] > job(heavy)['elapsed_s'] + 0.4, (job(light), job(heavy))
    finally:
        assert run([HDSS, 'down']).status == 0
        finish(process)


# What a record of the kernel `litter` tells. A kernel in the rank leaves the rest to those that come after it there.
FIELDS = ['folder', 'umask', 'variable', 'rounding', 'blocked', 'handled', 'files', 'files_most', 'threads', 'children', 'large']
NOT_KEPT = FIELDS[:5]


def test_a_set_that_cannot_write_says_so():
    """Its log is on the same disk."""
    here()
    os.mkdir('small')
    if run(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', 'small']).status != 0:
        return 'no file system can be mounted here'
    try:
        os.makedirs('small/hdss/main')
        with open('small/hdss/main/log', 'wb'):
            pass
        with open('small/filler', 'wb', buffering=0) as file:
            while True:
                try:
                    file.write(b'x' * 1024)
                except OSError:
                    break
        refused = run([HDSS, 'up', '--workers', '1', '--state', 'small/hdss/main'])
        assert refused.status == 2 and refused.err[-1] == \
            'hdss up: the set has ended, and cannot write why to its log: No space left on device', refused
    finally:
        run(['umount', 'small'])


def test_kernels_of_one_name_are_those_of_their_folders():
    """Also where the code stays in the rank."""
    here()
    source = open(os.path.join(os.environ['SOURCE_ROOT'], 'tests/system/hostile.c'), encoding='utf-8').read()
    for folder, parameter in (('one', 'a'), ('other', 'b')):
        os.mkdir(folder)
        with open(f'{folder}/own.py', 'w', encoding='ascii') as file:
            file.write(f'def describe({parameter}=0):\n    return {{"iterations": {parameter}, "dtype": "int64"}}\n'
                       f'def run(first, count, {parameter}=0):\n    return [{parameter}] * count\n')
        with open('changed.c', 'w', encoding='utf-8') as file:
            file.write(source.replace('i * 1000003', 'i * 1000003' if folder == 'one' else 'i * 5'))
        made = run(['cc', '-O1', '-shared', '-fPIC', '-w', '-I', os.path.join(os.environ['SOURCE_ROOT'], 'common/include'), 'changed.c', '-lpthread',
                    '-o', f'{folder}/loop.so'])
        assert made.status == 0, made
    plugin = ['./loop.so', 'iterations=3', '--output', 'own.npy', '--overwrite']
    up()
    try:
        for isolate in ('on', 'off'):
            for folder, second in (('one', 1000003), ('other', 5), ('one', 1000003)):
                os.chdir(folder)
                well(['submit', '--wait', *plugin, '--isolate', isolate])
                with open('own.npy', 'rb') as file:
                    assert struct.unpack('<3Q', file.read()[128:]) == (0, second, 2 * second), (isolate, folder)
                os.chdir('..')
        if python_is_there():
            for folder, parameter in (('one', 'a=3'), ('other', 'b=2'), ('one', 'a=4')):
                os.chdir(folder)
                assert f'{parameter[2]} iterations done' in well(['submit', '--wait', 'python:own.run', parameter])
                os.chdir('..')
        os.chdir('one')
        refused = run([HDSS, 'submit', '--isolate', 'off', 'python:own.run', 'a=3'])
        assert refused.status == 2 and (not python_is_there() or 'would keep the modules' in refused.err[0]), refused
        shutil.copy('../other/loop.so', 'new.so')
        os.rename('new.so', 'loop.so')
        refused = run([HDSS, 'submit', *plugin, '--isolate', 'off'])
        assert refused.status == 2 and 'has changed since an earlier job loaded it' in refused.err[0], refused
        well(['submit', '--wait', *plugin])
        os.chdir('..')
    finally:
        assert run([HDSS, 'down']).status == 0


def test_a_kernel_that_hangs_when_it_is_asked_holds_up_no_set():
    here()
    up()
    try:
        hung = run([HDSS, 'submit', built('hostile'), 'mode=describehang'])
        assert hung.status == 2 and 'describe() took longer than 10 s' in hung.err[0], hung
        well(['submit', '--wait', 'synthetic', 'iterations=1'])
    finally:
        assert run([HDSS, 'down']).status == 0


SLOW = """import os, time
while not os.path.exists('open'):
    time.sleep(0.01)
def describe():
    return {'iterations': 5, 'dtype': 'int64'}
def run(first, count):
    return [1] * count
"""


def test_a_kernel_that_is_long_to_load_is_waited_for_and_holds_up_no_set():
    if not python_is_there():
        return 'built without Python'
    here()
    with open('slow.py', 'w', encoding='ascii') as file:
        file.write(SLOW)
    up()
    try:
        well(['submit', 'python:slow.run'])
        well(['submit', 'python:slow.run'])
        wait_until(lambda: job(1)['began'] is not None and job(2)['began'] is not None, 'two jobs that load')
        assert job(1)['state'] == 'waiting' and job(2)['state'] == 'waiting', (job(1), job(2))
        well(['submit', '--wait', 'synthetic', 'iterations=1'])
        well(['cancel', '2'])
        wait_until(lambda: job(2)['state'] == 'cancelled', 'the end of one that loads')
        with open('open', 'w', encoding='ascii'):
            pass
        assert 'main/1: done' in well(['wait', '1']) and job(1)['done'] == 5, job(1)
        os.remove('open')
        well(['submit', 'python:slow.run'])
        wait_until(lambda: job(4)['began'] is not None, 'another one that loads')
    finally:
        assert run([HDSS, 'down']).status == 0


def look_around(litter, *options):
    """What a job finds in each of its processes."""
    os.makedirs('looks', exist_ok=True)
    os.chdir('looks')
    before = os.umask(0o027)
    well(['submit', '--wait', '--output', 'found.npy', '--overwrite', *options, litter])
    os.umask(before)
    assert stat.S_IMODE(os.stat('found.npy').st_mode) == 0o640
    here_is = os.stat('.').st_ino
    os.chdir('..')
    with open('looks/found.npy', 'rb') as file:
        numbers = [number for number, in struct.iter_unpack('<Q', file.read()[128:])]
    rows = [dict(zip(FIELDS, numbers[i:i + len(FIELDS)])) for i in range(0, len(numbers), len(FIELDS))]
    assert len(rows) == 8 and all(row['folder'] == here_is and row['umask'] == 0o027 for row in rows), rows
    return rows


def test_jobs_find_nothing_of_others():
    here()
    litter = built('litter')
    up()
    try:
        clean = look_around(litter)
        picture = ['--wait', '--output', 'picture.npy', '--overwrite', 'mandelbrot', 'width=64', 'height=64']
        first = well(['submit', *picture])
        for mode, status in (('litter', 0), ('exit', 3)):
            left = run([HDSS, 'submit', '--wait', '--retries', '0', litter, f'mode={mode}', 'iterations=3'])
            assert left.status == status, left
            assert look_around(litter) == clean, mode
        own = look_around(litter, '--isolate', 'off')
        assert all(row[name] == clean[0][name] for row in own for name in NOT_KEPT), own
        well(['submit', '--wait', '--isolate', 'off', litter, 'mode=litter', 'iterations=3'])
        behind = look_around(litter, '--isolate', 'off')
        assert all(row[name] == clean[0][name] for row in behind for name in NOT_KEPT), behind
        assert Run(0, well(['submit', *picture]), '', 0).checksum() == Run(0, first, '', 0).checksum()
    finally:
        assert run([HDSS, 'down']).status == 0


def test_jobs_leave_no_process():
    here()
    up()
    try:
        hostile = built('hostile')
        well(['submit', '--wait', hostile, 'iterations=4', 'at=0', 'every=1', 'mode=command', 'command=sleep 1000 &'])
        wait_until(lambda: not [pid for pid in members(os.getcwd()) if name_of(pid).startswith('sleep')], 'the end of what a job has left')
    finally:
        assert run([HDSS, 'down']).status == 0


def test_a_job_that_hangs_at_its_end_holds_up_no_other():
    here()
    hostile = built('hostile')
    process = start([HDSS, 'up', '--workers', '1', '--foreground'])
    assert process.stdout.readline().startswith('main is up')
    try:
        well(['submit', '--wait', hostile, 'iterations=4', 'at=1', 'mode=atexit'])
        beside = well(['submit', *SLEEPING, 'iterations=1000000']).split('/')[1].strip()
        wait_until(lambda: job(beside)['done'] > 0, 'a job that runs')
        assert [pid for pid in members(os.getcwd()) if name_of(pid).startswith('hdss-helper')], 'the other one is there still'
        wait_until(lambda: not [pid for pid in members(os.getcwd()) if name_of(pid).startswith('hdss-helper')], 'its end')
        well(['cancel', beside])
    finally:
        assert run([HDSS, 'down']).status == 0
        finish(process)


def opened(pid):
    """What the descriptors of a process lead to, but for one tasks file: those of the latest job are kept by who has not run any of them."""
    found = []
    for name in os.listdir(f'/proc/{pid}/fd'):
        with contextlib.suppress(FileNotFoundError):  # it is closed by now
            found.append(os.readlink(f'/proc/{pid}/fd/{name}'))
    if os.path.abspath('tasks') in found:
        found.remove(os.path.abspath('tasks'))
    return found


def held(pids):
    """Descriptors, threads and memory of its own, in KiB, of each process."""
    found = {}
    for pid in pids:
        with open(f'/proc/{pid}/status', encoding='ascii') as file:
            status = dict(line.split(':', 1) for line in file)
        found[pid] = len(opened(pid)), int(status['Threads']), int(status['RssAnon'].split()[0])
    return found


def let_go(ranks, before, words):
    """Waits until no rank has more descriptors open than before."""
    def has_let_go():
        now = held(ranks)
        return all(now[pid][0] <= before[pid][0] for pid in ranks)
    try:
        wait_until(has_let_go, f'descriptors of {words}')
    except AssertionError as problem:
        raise AssertionError(f'{problem}: {before}, {held(ranks)}, { {pid: opened(pid) for pid in ranks} }') from None


def hand_over(words, count):
    """Many jobs by one request. Waits until they are over."""
    run([HDSS, 'wait', *(str(one['id']) for one in post([submission(words)] * count))])


def has_grown(ranks, before, after):
    """What is lost with each job is lost again with the next ones. MPI takes memory in pieces of a MiB as messages happen to come, once or twice."""
    return any(after[pid][1] != before[pid][1] or after[pid][2] >= before[pid][2] + 512 for pid in ranks)


def test_jobs_of_each_kind_leave_nothing_with_the_ranks():
    """The supermaster remembers jobs that are over, some 3 kB each."""
    here()
    hostile = built('hostile')
    with open('tasks', 'w', encoding='ascii') as file:
        file.write('echo 1\nfalse\n')
    kinds = [
        ['synthetic', 'iterations=0'],
        ['--power', 'equal', '--output', 'a.npy', '--overwrite', 'synthetic', 'iterations=20', 'mean=1'],
        ['--output', 'b.txt', '--overwrite', 'exec', 'tasks=tasks', 'shell=yes'],
        ['--output', 'c.npy', '--overwrite', hostile, 'iterations=4'],
        ['--output', 'd.npy', '--overwrite', '--isolate', 'off', hostile, 'iterations=4'],
        [hostile, 'iterations=4', 'at=1', 'mode=segv'],
        [hostile, 'iterations=4', 'at=1', 'mode=fail'],
        ['--threads', '2', hostile, 'iterations=4'],
        ['--report', 'r.json', '--record-costs', 'costs.csv', '--power', 'equal', 'synthetic', 'iterations=20', 'mean=1'],
    ]
    process = start([HDSS, 'up', '--workers', '2', '--masters', '1', '--jobs-at-once', '1', '--foreground'])
    assert process.stdout.readline() == 'main is up\n'
    ranks = [pid for program in (SUPERMASTER, MASTER, WORKER) for pid in ranks_of(process, program)]
    try:
        for words in kinds:
            hand_over(words, JOBS_BEFORE)
            seen = [held(ranks)]
            while len(seen) <= 3 and (len(seen) == 1 or has_grown(ranks, *seen[-2:])):
                hand_over(words, JOBS_BEHIND)
                let_go(ranks, seen[0], words)
                seen.append(held(ranks))
            assert not has_grown(ranks, *seen[-2:]), (words, seen)
    finally:
        assert run([HDSS, 'down']).status == 0
        finish(process)


def test_the_figures_of_a_set_go_to_a_file():
    here()
    up('--metrics-file', 'set.prom')
    try:
        os.mkdir('inside')
        os.chdir('inside')  # as the set does for the job
        assert run([HDSS, 'submit', '--wait', 'synthetic', 'iterations=10']).status == 0
        wrong = run([HDSS, 'submit', '--metrics-file', 'a.prom', 'synthetic', 'iterations=10'])
        assert wrong.status == 2 and '`hdss up --metrics-file`' in wrong.err[0], wrong
        os.chdir('..')
        assert well(['drain', '--wait']) == 'main has ended\n'
    finally:
        run([HDSS, 'down'])
    with open('set.prom', encoding='utf-8') as file:
        text = file.read()
    for line in ('hdss_jobs_ended_total{session="main",state="done"} 1', 'hdss_jobs{session="main",state="running"} 0', 'hdss_workers{session="main"} 2'):
        assert f'\n{line}\n' in text, (line, text)
    assert '\nhdss_end_time_seconds{session="main"} ' in text and os.listdir('inside') == [], text
    here()
    refused = run([HDSS, 'up', '--workers', '1', '--metrics-file', 'nowhere/set.prom'])
    assert refused.status == 2 and 'supermaster: --metrics-file: ' in refused.err[0] and 'there is no folder' in refused.err[0], refused


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
