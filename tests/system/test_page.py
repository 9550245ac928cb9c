# SPDX-License-Identifier: MIT
"""hdss page: what its server answers and whom, the events that come through it, and the page in a browser where there is one."""
import contextlib
import http.client
import json
import os
import pty
import re
import signal
import socket
import threading

import chromium
from launch import HDSS, TIMEOUT_S, finish, kill_tree, main, run, start, wait_until

NO_BROWSER = 'no Chromium'
JOBS = 32
SLEEPING = ['--technique', 'ss', '--power', 'equal', 'synthetic', 'distribution=constant', 'mode=sleep', 'mean=10000', 'iterations=100000']


def here():
    """Sockets and the folders of sets in a folder of this test's own, and no display that a browser could be opened on."""
    os.environ['HDSS_CONTROL_DIR'] = os.environ['XDG_STATE_HOME'] = os.getcwd()
    for name in ('HDSS_SET', 'SLURM_JOB_ID', 'PBS_JOBID', 'LSB_JOBID', 'DISPLAY', 'WAYLAND_DISPLAY'):
        os.environ.pop(name, None)


@contextlib.contextmanager
def a_set(name, workers=2, *words):
    """A set that is up; it is nobody's child, and has to be ended whatever comes."""
    assert run([HDSS, 'up', '--name', name, '--workers', str(workers), *words]).status == 0
    try:
        yield
    finally:
        run([HDSS, 'down', name])


class Page:
    """A server of the page."""

    def __init__(self, *words):
        self.process = start([HDSS, 'page', *words])
        self.lines = [self.process.stdout.readline(), self.process.stdout.readline()]
        told = re.fullmatch(r'hdss page shows (\S+): (http://127\.0\.0\.1:(\d+)/#token=([0-9a-f]{64})(?:&job=(\d+))?)\n', self.lines[0])
        assert told, self.lines
        self.name, self.url, port, self.token, self.job = told.groups()
        self.port = int(port)

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        if self.process.poll() is None:
            kill_tree(self.process.pid)
        _, said = self.process.communicate()
        if isinstance(problem[1], AssertionError):  # what tells a session that has ended from a server that has
            problem[1].args = (f'{problem[1]}\nhdss page: status {self.process.returncode}, {said!r}\nhdss jobs: {run([HDSS, "jobs"]).out.splitlines()[-1:]}',)

    def ask(self, target, method='GET', **headers):
        """The status and the body."""
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=TIMEOUT_S)
        with contextlib.closing(connection):
            connection.request(method, target, headers={'Authorization': f'Bearer {self.token}', **headers})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def subscribe(self, room=None):
        """A socket over which events come."""
        client = socket.socket()
        if room:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        client.settimeout(30)
        client.connect(('127.0.0.1', self.port))
        client.sendall(f'GET /v1/events HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {self.token}\r\n\r\n'.encode())
        return client


class Events:
    """The events of a subscriber, one after another."""

    def __init__(self, client):
        self.file = client.makefile('r', encoding='utf-8')
        self.head = []
        for line in self.file:
            if not line.strip():
                break
            self.head.append(line.strip())

    def next(self):
        """The type and the data; None at the end."""
        kind = 'message'
        for line in self.file:
            if line.startswith('event: '):
                kind = line[7:].strip()
            elif line.startswith('data: '):
                assert line.endswith('\n'), f'the connection has ended behind {len(line)} characters of an event'
                return kind, json.loads(line[6:])
        return None


def refused(words, *parts):
    result = run([HDSS, 'page', *words])
    assert result.status == 2 and len(result.err) == 1 and result.out == '' and all(part in result.err[0] for part in parts), (words, str(result))


def test_what_cannot_be_is_said():
    here()
    refused([], 'no run or job of yours')
    refused(['nothing'], "'nothing'")
    refused(['a', 'b'], "'b'", 'one word too many')
    refused(['--port', '65536'], '--port', '65536', '65535')
    refused(['--open', 'yes'], '--open', 'auto or no')
    with a_set('a', 1), socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        taken.listen()
        refused(['--port', str(taken.getsockname()[1])], 'cannot listen at 127.0.0.1:')


def test_who_is_answered_and_what():
    here()
    with a_set('a', 1), Page('--open', 'no') as page:
        assert page.name == 'a' and page.lines[1] == f'to reach it from elsewhere: ssh -L {page.port}:127.0.0.1:{page.port} {socket.gethostname()}\n', page.lines
        status, text = page.ask('/', Authorization='')
        assert status == 200 and text.startswith('<!DOCTYPE html>') and page.token not in text
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text).group(1)
        assert "default-src 'none'" in policy and 'unsafe' not in policy and policy.count("'sha256-") == 2, policy
        assert not re.search(r'https?://|url\(|@import', text), 'an address'
        assert json.loads(page.ask('/v1')[1])['name'] == 'a' and json.loads(page.ask('/v1/jobs')[1])['jobs'] == []
        wrong = page.token[:-1] + ('0' if page.token[-1] != '0' else '1')
        for target in ('/v1', '/v1/events', '/v1/jobs/1/ranks', '/nothing'):
            for authorization in ('', 'Bearer', f'Bearer {wrong}', f'Basic {page.token}'):
                assert page.ask(target, Authorization=authorization)[0] == 401, (target, authorization)
        for host in ('evil.example', 'evil.example:80', '127.0.0.1.evil.example'):
            assert page.ask('/', Host=host)[0] == 403 and page.ask('/v1', Host=host)[0] == 403, host
        assert page.ask('/v1', Host='localhost')[0] == 200
        for target in ('/v1/jobs/1/output', '/metrics', '/v1/end', '/v1/jobs/1/items', '/v1?x=1', '/v2', '/../v1', '//v1', '/v1/jobs/1%0d%0a'):
            assert page.ask(target)[0] == 404, target
        assert page.ask('/v1/jobs/1')[0] == 404 and 'no such job' in page.ask('/v1/jobs/1')[1]
        for method in ('POST', 'PUT', 'HEAD', 'OPTIONS'):
            assert page.ask('/v1/jobs/1', method)[0] == 405 and page.ask('/', method)[0] == 405, method
        assert page.ask('/v1/jobs/1', 'DELETE')[0] == 404 and page.ask('/v1/jobs/1', 'DELETE', Authorization='')[0] == 401
        for target in ('/', '/v1', '/v1/jobs', '/v1/jobs/1/ranks', '/v1/jobs/1?x=1', '/v1/pods/1'):
            assert page.ask(target, 'DELETE')[0] == 405, target
        assert json.loads(page.ask('/v1/jobs/1/tasks')[1]) == {'failed': 0, 'failures': [], 'history': []}
        page.process.send_signal(signal.SIGINT)
        assert page.process.wait() == 0
    assert not [name for name in os.listdir() if name.startswith('hdss-')], os.listdir()  # no socket, token or folder is left


def test_it_opens_a_browser():
    """Where there is a display and a terminal: xdg-open is given a file that leads to the page, which nobody else can read."""
    here()
    with open('xdg-open', 'w', encoding='utf-8') as file:
        file.write('#!/bin/sh\ncp -p "$1" led.new && mv led.new led\n')
    os.chmod('xdg-open', 0o755)
    variables = [f'PATH={os.getcwd()}:{os.environ["PATH"]}', 'DISPLAY=:0']
    with a_set('a', 1):
        for words in (['--open', 'no'], []):
            process, terminal = pty.fork()
            if process == 0:
                os.execvp('env', ['env', *variables, HDSS, 'page', *words])
            said = ''
            while 'ssh -L' not in said:
                said += os.read(terminal, 4096).decode()
            url = re.search(r'http://\S+', said).group(0)
            if not words:
                wait_until(lambda: os.path.exists('led'), 'the file that is opened')
            os.kill(process, signal.SIGTERM)
            assert os.waitpid(process, 0)[1] == 0
            os.close(terminal)
            assert os.path.exists('led') == (not words), words
        with open('led', encoding='utf-8') as file:
            assert f'content="0; url={url}"' in file.read()
        assert os.stat('led').st_mode & 0o777 == 0o600
        assert os.listdir(f'hdss-{os.getuid()}') == ['a.sock'], os.listdir(f'hdss-{os.getuid()}')


def test_events_of_a_run():
    here()
    process = start([HDSS, 'run', '-j', '2', '-q', *SLEEPING])
    try:
        wait_until(lambda: ' running ' in run([HDSS, 'jobs']).out, 'a run that computes')
        with Page('--open', 'no') as page:
            events = Events(page.subscribe())
            assert events.head[0].split()[1] == '200' and 'Content-Type: text/event-stream' in events.head, events.head
            done = []
            while len(done) < 5:
                kind, event = events.next()
                assert kind == 'message' and event['session']['name'] == page.name and event['more'] == 0 and event['jobs'][0]['id'] == 1, event
                done.append(event['jobs'][0]['done'])
            assert done == sorted(done) and done[-1] > done[0], done
            ranks = json.loads(page.ask('/v1/jobs/1/ranks')[1])['ranks']
            assert [rank['rank'] for rank in ranks] == [1, 2], ranks
            process.send_signal(signal.SIGTERM)
            last = None
            while (told := events.next()) is not None:
                last = told
            assert last[0] == 'end' and last[1]['jobs'][0]['state'] == 'cancelled' and last[1]['jobs'][0]['status'] == 4, last
            assert finish(process).status == 4
            assert 'has ended' in page.process.stderr.readline()
            assert page.ask('/v1') == (410, '{"error":"the run or set has ended"}\n') and page.ask('/v1/events')[0] == 410
            assert page.process.poll() is None
    finally:
        kill_tree(process.pid)
        process.communicate()


def test_a_stuck_subscriber_is_let_go():
    """Others get their events meanwhile."""
    here()
    folder = os.path.join(os.getcwd(), *['a-folder-with-a-long-name' * 8] * 18)  # so that events are large
    os.makedirs(folder)
    with a_set('a', 1, '--jobs-at-once', str(JOBS)), Page('a', '--open', 'no') as page:
        top = os.getcwd()
        os.chdir(folder)
        for _ in range(JOBS):
            assert run([HDSS, 'submit', *SLEEPING]).status == 0
        os.chdir(top)
        stuck = page.subscribe(4096)
        events = Events(page.subscribe())
        wait_until(lambda: len(events.next()[1]['jobs']) == JOBS, 'an event with all jobs')

        def is_let_go():
            events.next()
            with open('/proc/net/tcp', encoding='ascii') as file:
                ports = [[int(place.split(':')[1], 16) for place in line.split()[1:3]] + [line.split()[3]] for line in file.readlines()[1:]]
            return [page.port, stuck.getsockname()[1], '01'] not in ports  # the server's end is not open any more
        assert not is_let_go()
        wait_until(is_let_go, 'the end of a stuck subscriber')
        before = events.next()[1]['session']
        assert events.next()[1]['session'] == before
        stuck.close()


class Tunnel:
    """Another port that leads to this one, as by ssh -L."""

    def __init__(self, port):
        self.target, self.port = port, 0

    def __enter__(self):
        self.open()
        return self

    def __exit__(self, *problem):
        self.close()

    def open(self):
        self.sockets = [socket.create_server(('127.0.0.1', self.port), reuse_port=False)]
        self.port = self.sockets[0].getsockname()[1]
        threading.Thread(target=self.accept, args=(self.sockets[0],), daemon=True).start()

    def close(self):
        for end in self.sockets:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def accept(self, listener):
        with contextlib.suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.create_connection(('127.0.0.1', self.target))
                self.sockets += [near, far]
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self.carry, args=pair, daemon=True).start()

    @staticmethod
    def carry(source, target):
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)


def text(browser, selector):
    return browser.evaluate(f'document.querySelector({json.dumps(selector)}).textContent')


def rows(browser):
    """The cells of the table of jobs, by the number of the job."""
    return browser.evaluate('''Object.fromEntries([...document.querySelectorAll('#jobs tbody tr')].map(row => [row.dataset.job, [...row.cells].map(cell => cell.textContent)]))''')


def done_of(browser, job):
    return float(browser.evaluate(f'''document.querySelector('#jobs [data-job="{job}"] progress').value'''))


def test_the_page_in_a_browser():
    if not chromium.program():
        return NO_BROWSER
    here()
    evil = '<img src=x onerror=alert(1)>'
    with a_set('night'), Page('night', '--open', 'no') as page, chromium.Browser(1000, 900) as browser:
        assert run([HDSS, 'submit', '--name', evil, *SLEEPING]).status == 0
        assert run([HDSS, 'submit', '--name', 'second', '--weight', '3', *SLEEPING]).status == 0
        assert run([HDSS, 'submit', '--after', '1', 'synthetic']).status == 0
        browser.visit(page.url)
        wait_until(lambda: set(rows(browser)) == {'1', '2', '3'} and done_of(browser, 2) > 0, 'three jobs in the table')
        assert rows(browser)['1'][1:4] == [evil, 'synthetic', 'running'] and rows(browser)['3'][3] == 'waits: job 1' and rows(browser)['2'][-1] == '3', rows(browser)
        assert page.token not in browser.evaluate('location.href') and text(browser, '#link') == 'live'
        before = done_of(browser, 2)
        wait_until(lambda: done_of(browser, 2) > before, 'progress without a reload')
        browser.evaluate('''document.querySelector('#jobs [data-job="1"] button').focus()''')
        browser.key('ArrowDown')
        browser.key('Enter')
        assert browser.evaluate('location.hash') == '#job=2' and text(browser, '#detail-title') == 'Job 2, second: synthetic'
        wait_until(lambda: 'worker 2' in text(browser, '#ranks') and 'node 0' in text(browser, '#ranks'), 'the workers of the job')
        browser.evaluate('''document.querySelector('#ranks button').focus()''')
        wait_until(lambda: text(browser, '#rate-story').startswith('Now '), 'a line of the rate')
        browser.key('Enter')
        assert 'worker 2' not in text(browser, '#ranks') and browser.evaluate('''document.activeElement.getAttribute('aria-expanded')''') == 'false'
        browser.key('Enter')
        assert ' of the jobs run, ' in text(browser, '#summary'), text(browser, '#summary')
        for width, dark in ((1000, False), (1000, True), (2560, False)):
            browser.show(width, 900, dark)
            browser.frame()
            assert browser.evaluate('document.documentElement.scrollWidth <= innerWidth'), width
        browser.reload()
        wait_until(lambda: text(browser, '#link') == 'live', 'the page after a reload')
        assert text(browser, '#detail-title') == 'Job 2, second: synthetic' and browser.evaluate('location.hash') == '#job=2'
        assert run([HDSS, 'cancel', 'night/2']).status == 0
        wait_until(lambda: rows(browser)['2'][3] == 'cancelled', 'the end of a job')
        assert not browser.complaints, browser.complaints
        assert run([HDSS, 'down', 'night']).status == 0
        wait_until(lambda: text(browser, '#link') == 'ended', 'the end of the set')
        assert text(browser, '#note').startswith('night has ended at ') and rows(browser)['2'][3] == 'cancelled'
        browser.reload()
        wait_until(lambda: text(browser, '#link') == 'ended', 'the page after the end')
        assert text(browser, '#note').startswith('night has ended at ') and text(browser, '#detail-title') == 'Job 2, second: synthetic'
        assert run([HDSS, 'up', '--name', 'night', '--workers', '1', '--resume']).status == 0
        wait_until(lambda: text(browser, '#link') == 'live' and text(browser, '#session').startswith('1 worker '), 'the next set of that name')
        others = [complaint for complaint in browser.complaints if 'Failed to load resource' not in complaint]
        assert not others, others
    return None


def test_tasks_in_a_browser():
    """Tasks that ended before the page was opened, those that failed, with the reason, and the end of the job."""
    if not chromium.program():
        return NO_BROWSER
    here()
    line = 'echo begins >&2; [ {} != 3 ] || { echo "no <b>luck</b> with {}" >&2; exit 4; }; [ {} -lt 9 ] || sleep 1000'
    with a_set('night'), Page('night', '--open', 'no') as page, chromium.Browser(1000, 900) as browser:
        assert run([HDSS, 'submit', 'exec', line, ':::', *map(str, range(1, 11))]).status == 0
        wait_until(lambda: json.loads(page.ask('/v1/jobs/1')[1]).get('done') == 8, 'eight tasks')
        told = json.loads(page.ask('/v1/jobs/1/tasks')[1])
        assert told['failed'] == 1 and told['history'][-1][1] == 8, told
        assert [(row['task'], row['end'], row['error']) for row in told['failures']] == [(3, 'exit 4', 'no <b>luck</b> with 3')] and '3 != 3' in told['failures'][0]['command'].replace("'", ''), told
        browser.visit(page.url)
        wait_until(lambda: 'no <b>luck</b> with 3' in text(browser, '#failures'), 'the failed task')
        wait_until(lambda: text(browser, '#rate-story').startswith('Now ') and 'sleep 1000' in text(browser, '#ranks'), 'the rate, and what runs')
        assert text(browser, '#rate-title') == 'Rate since the beginning'
        for width, dark in ((1000, True), (2560, False)):
            browser.show(width, 900, dark)
            browser.frame()
            assert browser.evaluate('document.documentElement.scrollWidth <= innerWidth'), width
        browser.evaluate('window.confirm = () => false, document.querySelector("#cancel").click()')
        browser.evaluate('window.confirm = () => true, document.querySelector("#cancel").click()')
        wait_until(lambda: json.loads(page.ask('/v1/jobs/1')[1])['state'] == 'cancelled', 'the end of the job')
        assert not browser.complaints, browser.complaints
        with Page('night/1', '--open', 'no') as later:
            browser.visit(later.url)
            wait_until(lambda: 'no <b>luck</b> with 3' in text(browser, '#failures'), 'the failed task of a job that was over before')
            browser.reload()
            wait_until(lambda: 'no <b>luck</b> with 3' in text(browser, '#failures'), 'the failed task after a reload')
            told = json.loads(later.ask('/v1/jobs/1/tasks')[1])
            assert told['failed'] >= 1 and told['history'][-1][1] >= 8, told
            assert not browser.complaints, browser.complaints
    return None


def test_a_lost_connection_comes_back():
    """The page is reached through another port, as by ssh -L, which is closed and opened again."""
    if not chromium.program():
        return NO_BROWSER
    here()
    with a_set('night', 1), Page('night', '--open', 'no') as page, Tunnel(page.port) as tunnel, chromium.Browser() as browser:
        assert run([HDSS, 'submit', *SLEEPING]).status == 0
        url = page.url.replace(f':{page.port}/', f':{tunnel.port}/')
        browser.visit(url)
        wait_until(lambda: text(browser, '#link') == 'live' and '1' in rows(browser), 'the page')
        tunnel.close()
        wait_until(lambda: text(browser, '#link') == 'connection lost' and 'is lost' in text(browser, '#note'), 'the loss')
        before = done_of(browser, 1)
        tunnel.open()
        wait_until(lambda: text(browser, '#link') == 'live' and done_of(browser, 1) > before, 'the connection')
        browser.visit('about:blank')
        browser.visit(url.replace(page.token, '0' * 64))
        wait_until(lambda: text(browser, '#link') == 'refused' and 'The token' in text(browser, '#note'), 'a wrong token')
    return None


if __name__ == '__main__':
    main([test_what_cannot_be_is_said, test_who_is_answered_and_what, test_it_opens_a_browser, test_events_of_a_run, test_a_stuck_subscriber_is_let_go,
          test_the_page_in_a_browser, test_tasks_in_a_browser, test_a_lost_connection_comes_back])
