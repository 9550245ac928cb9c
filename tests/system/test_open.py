# SPDX-License-Identifier: MIT
"""Open jobs: rows and iterations are added while they run, by whomever, each is run once, and none that was acknowledged is lost."""
import concurrent.futures
import http.client
import json
import os
import signal
import socket
import subprocess
import sys

from launch import HDSS, SUPERMASTER, finish, main, python_is_there, ranks_of, run, start, wait_until

MODULE = """
import os, time
def lines(first, count, *, n=0):
    return [f'{i}\\n' for i in range(first, first + count)]
lines.describe = lambda n: n
def deadly(first, count):
    for i in range(first, first + count):
        if i in (3, 8):
            os.kill(os.getpid(), 9 if i == 3 else 6)  # not 11: a sanitizer has a handler for that
        if i == 9:
            time.sleep(1000)
    return [f'{i}\\n' for i in range(first, first + count)]
deadly.describe = lambda: 0
def numbers(first, count):
    return [0.0] * count
numbers.describe = lambda: {'iterations': 3, 'dtype': 'float64'}
"""


def here():
    """Sockets and the folders of sets in a folder of this test's own."""
    os.environ['HDSS_CONTROL_DIR'] = os.environ['XDG_STATE_HOME'] = os.getcwd()
    for name in ('HDSS_SET', 'SLURM_JOB_ID', 'PBS_JOBID', 'LSB_JOBID'):
        os.environ.pop(name, None)
    with open('mine.py', 'w', encoding='ascii') as file:
        file.write(MODULE)


def well(words, text=None):
    """What a command prints that is given the text on standard input, or nothing."""
    done = subprocess.run([HDSS, *words], input='' if text is None else text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done)
    return done.stdout


def refused(words, line, text=''):
    done = subprocess.run([HDSS, *words], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.count('\n') == 1 and line in done.stderr, (words, done)


def job(number):
    return json.loads(well(['show', number, '--format', 'json']))


def lines_of(path):
    with open(path, encoding='utf-8') as file:
        return file.read().split('\n')[:-1]


def ask(path, body):
    """The status and the answer of a request to add to a job."""
    client = socket.socket(socket.AF_UNIX)
    client.connect(f'hdss-{os.getuid()}/main.sock')
    text = body if isinstance(body, str) else json.dumps(body)
    client.sendall(f'POST /v1/jobs/{path} HTTP/1.1\r\nHost: h\r\nContent-Length: {len(text)}\r\nConnection: close\r\n\r\n{text}'.encode())
    answer = b''
    while part := client.recv(65536):
        answer += part
    client.close()
    head, _, said = answer.partition(b'\r\n\r\n')
    return int(head.split()[1]), json.loads(said)


def failures(number, query):
    """What is given up of a job, as it is answered at once or after some time."""
    connection = http.client.HTTPConnection('hdss')
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(f'hdss-{os.getuid()}/main.sock')
    connection.request('GET', f'/v1/jobs/{number}/failures?{query}')
    answer = connection.getresponse()
    assert answer.status == 200, answer.status
    told = json.loads(answer.read())
    connection.close()
    return told


def next_failures(number, place):
    """Waits for the next ones, whatever else answers who waits."""
    while True:
        told = failures(number, f'from={place}&wait=30')
        if told['failures']:
            return told


def test_what_is_given_up_is_told():
    """Who waits is answered by an iteration whose process dies or hangs, in the order in which that becomes known."""
    if not python_is_there():
        return 'built without Python'
    here()
    for masters in ('0', '1'):
        well(['up', '--workers', '2', '--masters', masters])
        try:
            number = well(['submit', '--open', '--output', f'deadly.{masters}', '--iteration-timeout', '1', 'python:mine.deadly']).strip().split('/')[1]
            with concurrent.futures.ThreadPoolExecutor() as pool:
                waits = pool.submit(next_failures, number, 0)
                well(['add', number, '--iterations', '5'])
                told = waits.result()
                assert told['job']['state'] == 'running' and told['job']['failed'] == 1 and told['next'] == 1, told
                (failure,) = told['failures']
                assert [failure[what] for what in ('first', 'count', 'node')] == [3, 1, 0] and failure['rank'] > 0, failure
                assert 'signal 9' in failure['reason'], failure
                waits = pool.submit(next_failures, number, 1)
                well(['add', number, '--iterations', '5', '--end'])
                told = waits.result()
                assert [failure['first'] for failure in told['failures']] == [8] and 'signal 6' in told['failures'][0]['reason'], told
            assert run([HDSS, 'wait', number]).status == 3
            told = failures(number, 'from=0&wait=30')  # the job is over: there is nothing to wait for
            assert told['job']['failed'] == 3 and told['next'] == 3 and told['job']['state'] == 'failed', told
            assert [(failure['first'], failure['count']) for failure in told['failures']] == [(3, 1), (8, 1), (9, 1)], told
            assert '--iteration-timeout' in told['failures'][2]['reason'], told
            assert failures(number, 'from=3')['failures'] == [] and failures(number, 'from=2')['failures'] == told['failures'][2:]
            assert lines_of(f'deadly.{masters}') == ['0', '1', '2', '4', '5', '6', '7']
        finally:
            run([HDSS, 'down'])
    return None


def test_rows_are_added_while_they_run():
    here()
    well(['up', '--workers', '2'])
    try:
        assert well(['submit', '--open', '--output', 'a', 'exec', 'command=echo {1}-{2}']) == 'main/1\n'
        assert well(['add', '1', 'x', '--', '-y']) == 'main/1: 2 added, 2 in all\n'
        wait_until(lambda: job('1')['done'] == 2, 'the first rows')
        shown = job('1')
        assert [shown[what] for what in ('state', 'open', 'total', 'eta_s')] == ['running', True, None, None], shown
        assert '  open       hdss add gives it more\n' in well(['show', '1'])
        assert well(['add', '1', ':::', 'p', 'q', ':::', '1', '2']) == 'main/1: 4 added, 6 in all\n'
        assert well(['add', '1', '--colsep', ','], 'one,two\nth\\ree\tfour\n') == 'main/1: 2 added, 8 in all\n'
        with open('file', 'w', encoding='utf-8') as file:
            file.write("\"quoted\" $HOME\0new\nline\0")
        assert json.loads(well(['add', '1', '-0', '-a', 'file', '--end', '--format', 'json'])) == {'id': 1, 'added': 2, 'items': 10, 'complete': True}
        well(['wait', '1'])
        assert lines_of('a') == ['x-', '-y-', 'p-1', 'p-2', 'q-1', 'q-2', 'one-two', 'th\\ree\tfour-', '"quoted" $HOME-', 'new', 'line-']
        assert job('1')['open'] is False and job('1')['total'] == 10 and not os.path.exists('hdss/main/jobs/1.list')
        fed = run(['sh', '-c', f'(echo 1; echo 2; echo 3) | {HDSS} submit --open --wait --output b exec command="echo {{}}"'])
        assert fed.status == 0 and fed.out.startswith('exec: 3 tasks done') and lines_of('b') == ['1', '2', '3'], fed
        # more open jobs than run at once do not keep others from beginning, and a row that cannot be a command is a task that fails
        for number in range(3, 13):
            assert well(['submit', '--open', '--output', f'o{number}', 'exec']) == f'main/{number}\n'
        assert run([HDSS, 'submit', '--wait', 'synthetic', 'iterations=10']).status == 0
        well(['add', '--end', '3', 'echo fine', 'echo "open', 'echo too'])
        waited = run([HDSS, 'wait', '3'])
        assert waited.status == 3 and lines_of('o3') == ['fine', 'too'] and 'quotes that do not end' in lines_of('o3.err')[0], waited
        well(['cancel', '4'])
        run([HDSS, 'wait', '4'])
        refused(['add', '4', 'x'], 'job 4 is over')
        assert well(['drain', '--wait']) == 'main has ended\n'
        assert os.path.exists('o12') and not os.path.exists('hdss/main/jobs/12.list')
    finally:
        run([HDSS, 'down'])


def test_several_add_at_once():
    here()
    well(['up', '--workers', '2'])
    try:
        well(['submit', '--open', '--output', 'all', 'exec', 'command=echo {}'])
        adders = [subprocess.Popen([HDSS, 'add', '1'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)]
        for row in range(200):
            for number, adder in enumerate(adders):
                adder.stdin.write(f'{number} {row}\n')
                if row % 20 == 0:
                    adder.stdin.flush()
        for adder in adders:
            assert adder.communicate()[0].startswith('main/1: 200 added'), adder.args
        well(['add', '--end', '1'])
        well(['wait', '1'])
        printed = [line.split() for line in lines_of('all')]
        assert len(printed) == 800, len(printed)
        for number in range(4):
            assert [int(row) for one, row in printed if int(one) == number] == list(range(200)), number
    finally:
        run([HDSS, 'down'])


def test_iterations_are_added():
    if not python_is_there():
        return 'built without Python'
    here()
    well(['up', '--workers', '2', '--masters', '1'])
    try:
        well(['submit', '--open', '--output', 'lines', 'python:mine.lines', 'n=5'])
        assert well(['add', '--iterations', '20', '1']) == 'main/1: 20 added, 20 in all\n'
        wait_until(lambda: job('1')['done'] == 25, 'what was added')
        refused(['add', '1', 'row'], 'job 1 takes no rows, as its kernel is not exec; accepted: iterations')
        well(['add', '--iterations', '1000', '--end', '1'])
        well(['wait', '1'])
        assert lines_of('lines') == [str(i) for i in range(1025)]
        refused(['submit', '--open', 'python:mine.numbers'], 'yields records, and the array of those is as large as the loop')
        refused(['submit', '--open', 'synthetic'], 'the end of its loop is its own')
        refused(['submit', '--open', 'exec', 'command=x', 'count=3'], 'count=3: the tasks of an open job are those that are added to it')
        refused(['submit', '--open', '--technique', 'gss', 'exec', 'command=x'], 'gss cuts by the number of iterations')
        well(['submit', 'synthetic', 'iterations=1'])
        well(['wait', '2'])
        refused(['add', '2', 'x'], 'job 2 is not open')
        refused(['add', '99', 'x'], 'there is no such job')
        refused(['add'], 'no job is named')
        refused(['add', '1', '--iterations', '0'], "--iterations '0': accepted: an integer from 1 to 1e12")
        refused(['add', '1', 'a', '--iterations', '1'], '--iterations and rows are both given')
        well(['submit', '--open', '--output', 'e', 'exec', 'command=echo {}'])
        refused(['add', '3', '--iterations', '1'], 'job 3 takes no iterations, as its kernel is exec; accepted: rows')
        assert ask('3/items', {'rows': ['a', ['b', 'c']]}) == (200, {'id': 3, 'added': 2, 'items': 2, 'complete': False})
        assert ask('3/items', '{"rows": [')[0] == 400 and ask('3/items', [])[0] == 400
        for wrong, line in (({'rows': 3}, "'rows' is no list of rows"), ({'rows': [[]]}, "row 1 of 'rows' has 0 fields"),
                            ({'rows': ['a', 1]}, "row 2 of 'rows' is neither a text nor a list of texts"), ({'x': 1}, "the field 'x' is unknown"),
                            ({'end': 1}, "'end' is neither true nor false"), ({'iterations': -1}, "'iterations' is no integer"),
                            ({'rows': [], 'iterations': 1}, "either 'rows' or 'iterations'")):
            status, answer = ask('3/items', wrong)
            assert status == 400 and line in answer['error'], (wrong, status, answer)
        assert ask('99/items', {'rows': []})[0] == 404 and ask('2/items', {'rows': []})[0] == 409
        assert ask('3/items', {'end': True}) == (200, {'id': 3, 'added': 0, 'items': 2, 'complete': True})
        assert ask('3/items', {'rows': ['late']})[0] == 409
        well(['wait', '3'])
        assert lines_of('e') == ['a', 'b c']
    finally:
        run([HDSS, 'down'])
    return None


def test_a_set_that_is_killed_goes_on_with_open_jobs():
    """Every row whose addition was acknowledged is run once in all, however the supermaster ends, and the job is still open."""
    if not python_is_there():
        return 'built without Python'
    here()
    process = start([HDSS, 'up', '--workers', '2', '--restarts', '0', '--foreground'])
    assert process.stdout.readline() == 'main is up\n'
    well(['submit', '--open', '--output', 'kept', 'exec', 'command=sh -c "echo {} >> ran; echo {}"'])
    well(['submit', '--open', '--output', 'lines', 'python:mine.lines'])
    well(['submit', '--open', '--output', 'waits', '--after', '1', 'exec', 'command=echo {}'])
    well(['add', '2', '--iterations', '30'])
    well(['add', '3', 'first'])
    acknowledged = []
    for part in range(10):
        rows = [f'{part}-{row}' for row in range(10)]
        well(['add', '1', *rows])
        acknowledged += rows
    wait_until(lambda: job('1')['done'] >= 20, 'some of the tasks')
    supermaster = ranks_of(process, SUPERMASTER)[0]
    adder = subprocess.Popen([HDSS, 'add', '1'], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    adder.stdin.write(''.join(f'doubtful-{row}\n' for row in range(50)))
    stored = job('1')['done']
    os.kill(supermaster, signal.SIGKILL)
    said = adder.communicate()[1]
    finish(process)
    begun = len(lines_of('ran')) + 2  # a task of each worker may outlive it for a moment
    with open('hdss/main/jobs/1.list', 'a', encoding='ascii') as file:
        file.write('never acknowledged\ntor')  # as of a supermaster that was killed between the list and the journal
    well(['up', '--workers', '2', '--resume'])
    try:
        assert job('1')['open'] and job('2')['open'] and job('3')['state'] == 'waiting', job('1')
        well(['add', '3', 'second', '--end'])
        well(['add', '2', '--iterations', '3', '--end'])
        well(['add', '1', 'last', '--end'])
        done = run([HDSS, 'wait', '1', '2', '3'])
        assert done.status == 0, (done, well(['output', '1']), said)
        printed = lines_of('kept')
        doubtful = [row for row in printed if row.startswith('doubtful')]
        assert [row for row in printed if not row.startswith('doubtful')] == acknowledged + ['last'], printed
        assert doubtful in ([], [f'doubtful-{row}' for row in range(50)]), doubtful
        assert lines_of('waits') == ['first', 'second'] and lines_of('lines') == [str(i) for i in range(33)]
        ran = lines_of('ran')
        again = len(ran) - len(set(ran))
        assert set(ran) == set(printed) and again <= begun - stored, (again, begun, stored, ran)  # none that was stored runs again
    finally:
        assert run([HDSS, 'down']).status == 0
    return None


def test_a_set_that_goes_down_keeps_open_jobs():
    here()
    well(['up', '--workers', '2'])
    well(['submit', '--open', '--output', 'kept', 'exec', 'command=echo {}'])
    well(['add', '1', 'a', 'b'])
    wait_until(lambda: job('1')['done'] == 2, 'the first rows')
    assert run([HDSS, 'down']).status == 0
    well(['up', '--workers', '2', '--resume'])
    try:
        assert job('1')['open'], job('1')
        well(['add', '1', '--end', 'c'])
        well(['wait', '1'])
        assert lines_of('kept') == ['a', 'b', 'c']
    finally:
        assert run([HDSS, 'down']).status == 0


def test_an_attached_job_ends_with_its_client():
    here()
    well(['up', '--workers', '2'])
    try:
        client = http.client.HTTPConnection('hdss')
        client.sock = socket.socket(socket.AF_UNIX)
        client.sock.connect(f'hdss-{os.getuid()}/main.sock')
        body = {'words': ['--overwrite', 'exec', 'command=sleep {}'], 'folder': os.getcwd(), 'open': True, 'attached': True}
        client.request('POST', '/v1/jobs', json.dumps(body))
        answer = client.getresponse()
        assert answer.status == 201, (answer.status, answer.read())
        answer.read()
        well(['add', '1', '0', '100'])
        wait_until(lambda: job('1')['done'] == 1, 'the first row')
        assert job('1')['state'] == 'running'
        client.close()
        wait_until(lambda: job('1')['state'] == 'cancelled', 'the end of the job')
        client.connect = lambda: None
        client.sock = socket.socket(socket.AF_UNIX)
        client.sock.connect(f'hdss-{os.getuid()}/main.sock')
        client.request('POST', '/v1/jobs', json.dumps(body))
        client.getresponse().read()
        well(['add', '2', '100'])
        run([HDSS, 'down'])
        well(['up', '--workers', '2', '--resume'])
        assert job('2')['state'] == 'cancelled', job('2')
        assert run([HDSS, 'submit', '--wait', 'synthetic', 'iterations=10']).status == 0
    finally:
        run([HDSS, 'down'])


if __name__ == '__main__':
    sys.exit(main([
        test_rows_are_added_while_they_run,
        test_several_add_at_once,
        test_iterations_are_added,
        test_what_is_given_up_is_told,
        test_a_set_that_is_killed_goes_on_with_open_jobs,
        test_a_set_that_goes_down_keeps_open_jobs,
        test_an_attached_job_ends_with_its_client,
    ]))
