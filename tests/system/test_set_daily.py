# SPDX-License-Identifier: MIT
"""Sets as people use them day by day: what they type without a look at the manual works, or is answered by a line that does."""
import contextlib
import json
import os
import signal

from launch import HDSS, finish, main, run, start, wait_until
from sets import here, job, post, refused, submission, up, wait_for, well


@contextlib.contextmanager
def a_set(*words):
    """A set of the name main, and its end whatever comes."""
    here()
    up(*words)
    try:
        yield
    finally:
        assert run([HDSS, 'down']).status == 0


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def test_a_loop_of_submissions_in_one_folder():
    with a_set():
        for number in range(1, 26):
            assert well(['submit', 'exec', '--', 'echo', str(number)]) == f'main/{number}\n'
        post([submission(['exec', 'command=echo {#}', 'count=2'])] * 75)
        run([HDSS, 'wait', *map(str, range(1, 101))])
        for number in range(1, 101):
            assert read(f'exec-{number}.out') == (f'{number}\n' if number < 26 else '1\n2\n'), (number, job(str(number)))
        assert job('7')['status'] == 0 and '  output       exec-101.out\n' in well(['submit', '--wait', 'exec', '--', 'true'])
        refused(['submit', '--resume', 'exec', '--', 'true'], '--resume: each job of a set has an output of its own', 'with --output FILE')


def test_no_number_is_given_twice():
    """The numbers go on when the set is started anew, and a set of another name finds a name of its own."""
    with a_set():
        well(['submit', '--wait', 'exec', '--', 'echo', 'one'])
    up()
    try:
        assert '  output       exec-2.out\n' in well(['submit', '--wait', 'exec', '--', 'echo', 'two'])
        assert well(['up', '--workers', '1', '--name', 'night']) == 'night is up\n'
        assert '  output       exec-night-1.out\n' in well(['submit', '--set', 'night', '--wait', 'exec', '--', 'echo', 'three'])
        well(['down', 'night'])
    finally:
        assert run([HDSS, 'down']).status == 0
    assert [read(f'exec-{name}.out') for name in ('1', '2', 'night-1')] == ['one\n', 'two\n', 'three\n']


def test_a_failure_says_why():
    """In `show`, in `wait` and as JSON, also once the job is over, and in a later set."""
    with a_set():
        well(['submit', '--output', 'no/such.out', 'exec', '--', 'true'])
        well(['submit', 'exec', 'command=sh -c "echo no room for {#} >&2; exit 7"', 'count=3'])
        well(['submit', '--wait', 'exec', '--', 'true'])
        assert run([HDSS, 'wait', '1', '2']).status == 2
    up('--resume')
    try:
        why = ['no/such.out: there is no folder no; `mkdir -p no` makes it',
               "3 tasks failed with exit 7, e.g. 1 sh -c 'echo no room for 1 >&2; exit 7': no room for 1", None]
        assert [job(number)['reason'] for number in '123'] == why, [job(number) for number in '123']
        assert f'  status     2\n  reason     {why[0]}\n' in well(['show', '1']) and '  reason  ' not in well(['show', '3'])
        assert run([HDSS, 'wait', '2']).out == f'main/2: failed, 3 of 3 (100.0 %): {why[1]}\n'
        assert job('2')['output'] == 'exec-2.out'
    finally:
        assert run([HDSS, 'down']).status == 0


def test_output_is_what_was_printed():
    """While the job runs, at its end, and after it was cancelled; the summary is another stream."""
    with a_set():
        run([HDSS, 'submit', '--wait', 'exec', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3'])
        both = run([HDSS, 'output', '1'])
        assert (both.status, both.out, both.err) == (0, 'out\n', ['err']), both
        assert well(['output', '1', '--stream', 'out']) == 'out\n' and well(['output', '1', '--stream', 'err']) == ''
        assert well(['output', '1', '--stream', 'summary']).startswith('exec: 1 of 1 task failed')
        well(['submit', 'exec', 'command=sh -c "echo {#}; while [ {#} -gt 2 -a ! -e go ]; do sleep 0.02; done; echo again"', 'count=5'])
        wait_until(lambda: well(['output', '2']) == '1\nagain\n2\nagain\n', 'the first two tasks')
        follower = start([HDSS, 'output', '--follow', '2'])
        with open('go', 'w', encoding='ascii'):
            pass
        all_of_it = ''.join(f'{number}\nagain\n' for number in range(1, 6))
        assert finish(follower).out == all_of_it == well(['output', '2']) == read('exec-2.out')
        well(['submit', 'exec', 'command=sh -c "echo {#}; [ {#} = 1 ] || sleep 1000"', 'count=9'])
        wait_until(lambda: well(['output', '3']) == '1\n', 'the first task')
        well(['cancel', '3'])
        assert run([HDSS, 'wait', '3']).status == 4 and well(['output', '3']) == '1\n'
        refused(['wait', '--all', '3'], "--all and '3' are both given; accepted: one of them")
        whole = run([HDSS, 'output', '--all'])
        assert (whole.status, whole.out, whole.err) == (0, f'out\n{all_of_it}1\n', ['err']), whole
        for number in (4, 5):
            assert well(['submit', 'exec', '--', 'sleep', '1000']) == f'main/{number}\n'
        for command, others in (('wait', ', or --all'), ('cancel', ', or --all'), ('output', ', or --all'), ('show', '')):
            refused([command], f'2 jobs are there: say which{others}; `hdss jobs` lists them')
        well(['cancel', '--all'])
        os.remove('exec-2.out')
        gone = run([HDSS, 'output', '2'])
        assert gone.status == 1 and gone.err[0].endswith('/exec-2.out: is not there any more'), gone
    for number, left in ((3, '; exec-3.out here is the output of a job 3 of a set that is over'), (2, '')):
        refused(['output', str(number)], f"'{number}' is no run of yours on this machine; `hdss jobs` lists those that are there{left}")


def test_names_stand_for_ids():
    """Of jobs of one name the one that is not over is meant, or else the latest."""
    with a_set():
        long = ['exec', '--', 'sleep', '1000']
        well(['submit', '--wait', '--name', 'fit', 'exec', '--', 'echo', 'one'])
        well(['submit', '--wait', '--name', 'fit', 'exec', '--', 'echo', 'two'])
        assert [well(['output', name]) for name in ('fit', 'main/fit', '1')] == ['two\n', 'two\n', 'one\n']
        well(['submit', '--name', 'open', '--open', 'exec', 'command=echo {}'])
        assert well(['add', '--end', 'open', 'a', 'b']) == 'main/3: 2 added, 2 in all, complete\n'
        assert well(['wait', 'open']).startswith('main/3: done') and well(['output', 'open']) == 'a\nb\n'
        assert well(['submit', '--name', 'fit', *long]) == 'main/4\n' and job('fit')['id'] == 4
        assert well(['submit', '--after', 'fit', '--after', 'main/open', *long]) == 'main/5\n' and job('5')['after'] == [4, 3]
        refused(['show', 'nosuch'], "'nosuch' is neither the ID nor the name of a job of the set main; `hdss jobs --all` lists them")
        refused(['submit', '--after', 'nosuch', *long], "--after 'nosuch'; accepted: IDs and names of jobs of the set main, as main/3, 3 or fit")
        well(['submit', '--name', 'fit', *long])
        refused(['cancel', 'fit'], "2 jobs of the set main that are not over have the name 'fit'; `hdss jobs` has their IDs")
        assert 'main/1 ' in well(['jobs', '-a']) and 'main/1 ' not in well(['jobs'])
        assert well(['jobs', '--set', 'main']) == well(['jobs']) and 'main/1 ' in well(['jobs', '-a', '--set', 'main'])
        refused(['jobs', '--set', 'nosuch'], "'nosuch' is no set of yours on this machine; `hdss jobs` shows those that are up")
        waiter = start([HDSS, 'wait', '--all'])
        assert well(['cancel', '-a']).count('main/') == 3
        assert finish(waiter).status == 4 and [job(number)['state'] for number in '3456'] == ['done', *3 * ['cancelled']]
        assert well(['wait', '--all']) == ''
        refused(['cancel', '--all', '3'], "--all and '3' are both given; accepted: one of them")


def test_nobody_takes_the_set_of_a_program():
    """Without a name a command means none of the sets that programs start for themselves."""
    here()
    assert well(['up', '--workers', '1', '--name', 'own-of-a-program']) == 'own-of-a-program is up\n'
    try:
        well(['submit', '--set', 'own-of-a-program', 'exec', '--', 'sleep', '1000'])
        for command in ('wait', 'cancel', 'show', 'output'):
            refused([command], 'no run or job of yours goes on on this machine')
        refused(['cancel', '--all'], 'no set of yours is up on this machine; `hdss up` starts one')
        refused(['submit', 'exec', '--', 'true'], 'no set of yours is up on this machine')
        refused(['page'], 'no run or job of yours goes on on this machine')
        refused(['down'], 'no set of yours is up on this machine')
        well(['cancel', 'own-of-a-program/1'])
    finally:
        assert run([HDSS, 'down', 'own-of-a-program']).status == 0


def test_jobs_that_are_left_over():
    """Both ways out are said, and do what they say. HDSS_SET names the set for `up`, too."""
    here()
    os.environ['HDSS_SET'] = 'night'
    assert well(['up', '--workers', '1']) == 'night is up\n'
    well(['submit', '--open', 'exec', 'command=echo {}'])
    well(['submit', 'exec', 'command=echo {}', 'count=1'])
    wait_for('2')
    assert well(['down']) == 'night has ended\n'
    refused(['up'], 'night/queue: has 1 job that is not over; --resume goes on with it, --forget drops it')
    refused(['up', '--resume', '--forget'], '--resume goes on with the jobs that --forget drops; accepted: one of them')
    assert well(['up', '--workers', '1', '--resume']) == 'night is up\n' and job('1')['open']
    assert well(['down']) == 'night has ended\n' and well(['up', '--workers', '1', '--forget']) == 'night is up\n'
    try:
        assert 'night/' not in well(['jobs', '-a']) and well(['submit', 'echo']) == 'night/3\n'
    finally:
        well(['down'])
    os.environ['HDSS_SET'] = '.no'
    refused(['up'], "HDSS_SET: '.no' cannot be the name of a set")


def test_commands_are_tasks():
    """What is no kernel's name is a command, and its words and arguments are those of `hdss exec`."""
    with a_set():
        for number, (words, printed) in enumerate([
                (['echo', 'hello'], 'hello\n'),
                (['echo a b | tr a-z A-Z'], 'A B\n'),
                (['exec', 'echo', 'hello'], 'hello\n'),
                (['sh', '-c', 'echo "$1"', 'x', 'a  b'], 'a  b\n'),
                (['echo', '{}-{#}', ':::', 'a b', 'c'], 'a b-1\nc-2\n'),
                (['exec', 'echo', '{2}{1}', ':::', 'a', 'b', ':::', 'c', 'd'], 'ca\nda\ncb\ndb\n'),
                (['exec', '--shell', '-a', 'lines', 'echo {} | rev'], 'cba\nfed\n'),
                (['--array', '3-5', 'sh', '-c', 'echo $HDSS_TASK {}'], '3 3\n4 4\n5 5\n'),
                (['--output', 'own.txt', 'exec', '--env', 'COLOUR=red', 'sh', '-c', 'echo $COLOUR'], 'red\n'),
                (['exec', 'command=echo {#}', 'count=2'], '1\n2\n')], 1):
            with open('lines', 'w', encoding='ascii') as file:
                file.write('abc\ndef\n')
            assert well(['submit', *words]) == f'main/{number}\n', words
            assert well(['wait', str(number)]).startswith(f'main/{number}: done') and well(['output', str(number)]) == printed, words
        assert read('own.txt') == 'red\n'
        many = run(['sh', '-c', f'seq 3000 | {HDSS} submit --wait --quiet echo :::: -'])
        assert many.status == 0 and well(['output', '11']) == ''.join(f'{number}\n' for number in range(1, 3001))
        assert well(['submit', '--open', 'echo', ':::', 'a']) == 'main/12\n' and well(['add', '--end', '12', 'b']).endswith(' 1 added, 2 in all, complete\n')
        assert well(['submit', ':::', 'echo a', 'echo b | rev']) == 'main/13\n' and well(['wait', '13']) and well(['output', '13']) == 'a\nb\n'
        refused(['submit', "echo it's"], "echo it's: column 8: quotes that do not end")
        refused(['submit', 'exec', 'echo "', ':::', 'a'], 'quotes that do not end')
        refused(['submit', 'nosuch', 'a'], "'nosuch' is neither a kernel nor a program; `hdss kernels` lists the kernels")
        refused(['submit', 'synthetik'], "unknown kernel 'synthetik'; did you mean synthetic?")
        refused(['submit', 'exec', '--tag', 'echo', ':::', 'a'], '--tag and --tagstring go with what is printed here; accepted: by `hdss exec --set SET`')
        refused(['submit', 'exec', '--hosts', 'a:1', 'echo'], '--hosts is for a launch; accepted: options of a job')
        refused(['submit', '--array', '1-3', 'echo', ':::', 'a'], '--array counts the tasks, and ::: has arguments for them; accepted: one of them')
        refused(['submit', '--array', '3-1', 'echo'], "--array '3-1': accepted: two numbers from 1, as 1-100")
        refused(['submit', '--array', '1-3', 'synthetic'], '--array: accepted with a command')


def test_exec_in_a_set():
    """As a run of its own: what is printed, tagged, logged, followed and ended early, and nothing is left of it."""
    with a_set():
        for words in (['-k', 'echo', '{}', ':::', 'a b', 'c'], ['-k', '--tag', 'echo {} | rev', ':::', 'ab', 'cd'],
                      ['-k', '--header', ':', 'echo', '{x}-{y}', ':::', 'x', '1', '2', ':::', 'y', '3'], ['sh', '-c', 'echo {}; exit {}', ':::', '3'],
                      ['--line-buffer', 'echo', ':::', 'a'], ['--halt', 'now,fail=1', '-k', 'false', ':::', 'a'],
                      ['--dry-run', 'echo', '{}', ':::', 'a'], ['--output', 'no/such', 'echo', ':::', 'a']):
            alone, there = run([HDSS, 'exec', *words]), run([HDSS, 'exec', '--set', 'main', *words])
            assert (alone.status, alone.out, alone.err) == (there.status, there.out, there.err), (alone, there)
        assert well(['exec', '--set', 'main', '--joblog', 'log', '--results', 'r/{}', 'echo', ':::', *'12345']).count('\n') == 5
        assert len(read('log').splitlines()) == 6 and read('r/3') == '3\n'
        many = run(['sh', '-c', f'seq 3000 | {HDSS} exec -k --set main echo'])
        assert many.status == 0 and many.out == ''.join(f'{number}\n' for number in range(1, 3001))
        gone = start([HDSS, 'exec', '--set', 'main', 'sleep', ':::', '1000'])
        wait_until(lambda: '"running"' in well(['jobs', '--format', 'json']), 'its job')
        gone.kill()
        finish(gone)
        wait_until(lambda: json.loads(well(['jobs', '-a', '--format', 'json']))[-1]['state'] == 'cancelled', 'the end of its job')
        stopped = start([HDSS, 'exec', '--set', 'main', 'sh', '-c', 'sleep 0.1; echo {}', ':::', *map(str, range(1000))])
        wait_until(lambda: '"done": 2' in well(['jobs', '--format', 'json']), 'some tasks')
        stopped.send_signal(signal.SIGINT)
        ended = finish(stopped)
        assert ended.status == 4 and 'stops: what runs is finished; Ctrl-C again ends it' in ended.err[0] and ' of 1,000 tasks have ended' in ended.err[1], ended
        refused(['exec', '--set', 'main', '-j', '3', 'true', ':::', '1'], '--jobs: a set has the workers that it was started with')
        refused(['exec', '--set', 'main', '--hosts', 'a:1', 'true', ':::', '1'], '--hosts is for a launch; accepted: options of a job')
        refused(['exec', '--set', 'nosuch', 'true', ':::', '1'], "'nosuch' is no set of yours on this machine")
        run([HDSS, 'exec', '--set', 'main', 'true', ':::', '1'])
    assert not [name for name in os.listdir() if name.startswith('.hdss')], os.listdir()


def test_what_a_job_waits_for_is_its_state():
    """And workers that compute jobs of a higher priority are not counted as busy for it."""
    with a_set('--jobs-at-once', '3'):
        long = ['synthetic', 'iterations=1000000', 'mean=100', 'mode=sleep', '--technique', 'ss']
        well(['submit', '--name', 'low', *long])
        wait_until(lambda: job('low')['done'] > 0 and job('low')['busy'] == 2, 'a job that runs')
        assert job('low')['waits_for'] is None
        well(['submit', '--name', 'high', '--priority', '5', *long])
        wait_until(lambda: job('low')['waits_for'] == 'priority', 'the other one')
        assert job('low')['busy'] == 0 and job('low')['state'] == 'running' and job('high')['busy'] == 2, (job('low'), job('high'))
        well(['submit', '--after', 'low', '--name', 'late', *long])
        well(['submit', '--name', 'third', *long])
        well(['submit', '--name', 'fourth', *long])
        well(['submit', '--name', 'open', '--open', 'exec', 'command=echo {}'])
        wait_until(lambda: job('open')['waits_for'] == 'rows', 'the beginning of the open one')
        table = well(['jobs'])
        for name, state in (('low', 'waits: priority'), ('high', 'running'), ('late', 'waits: job 1'), ('fourth', 'waits: its turn (3 jobs run)'), ('open', 'waits: rows')):
            assert any(name in line and f' {state} ' in line for line in table.splitlines()), (name, table)
        assert well(['show', 'low']).startswith('main/1: synthetic, waits: priority\n') and 'waits: priority' in well(['top', '--once'])
        well(['cancel', 'high'])
        wait_until(lambda: job('low')['waits_for'] is None and job('fourth')['state'] == 'running', 'the end of the other one')
        well(['cancel', '--all'])


def test_no_task_waits_behind_one_of_another_job():
    """A worker that has a task asks for none of the other jobs: another one has nothing to do."""
    with a_set():
        well(['submit', '--name', 'long', 'sh', '-c', 'touch begun; while [ ! -e go ]; do sleep 0.02; done'])
        wait_until(lambda: os.path.exists('begun'), 'the long task')
        well(['submit', '--name', 'open', '--open', 'exec', 'command=echo {}'])
        wait_until(lambda: job('open')['waits_for'] == 'rows', 'the beginning of the open one')
        for number in range(3, 9):
            assert well(['submit', 'echo', ':::', 'a', 'b', 'c']) == f'main/{number}\n'
        assert well(['wait', *map(str, range(3, 9))]).count(': done, 3 of 3') == 6
        well(['add', '--end', 'open', *map(str, range(20))])
        assert well(['wait', 'open']).startswith('main/2: done, 20 of 20') and job('long')['state'] == 'running'
        with open('go', 'w', encoding='ascii'):
            pass
        assert well(['wait', 'long']).startswith('main/1: done')


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
