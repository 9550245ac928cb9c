# SPDX-License-Identifier: MIT
"""A double of a set: it answers on a control socket as docs/CONTROL.md says, and its jobs do nothing but end when they are told.

A job whose kernel is `nothing` is refused, one with iterations=0 is over at once, and any other runs until it is cancelled or end() is
called."""
import json
import os
import socket
import threading
import urllib.parse


class SetDouble:
    def __init__(self, folder, name):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self.path = os.path.join(folder, f'{name}.sock')
        self.name, self.jobs, self.submissions, self.asked, self.mode = name, [], [], [], None
        self.ranks = []  # of whatever job
        self.changed = threading.Condition()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.go()

    def go(self):
        """The set is gone."""
        with self.changed:
            if os.path.exists(self.path):
                os.unlink(self.path)
                self.listener.shutdown(socket.SHUT_RDWR)
                self.listener.close()
            self.mode = 'gone'
            self.changed.notify_all()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        stream = client.makefile('rwb')
        with client, stream:
            while line := stream.readline():
                method, target, _ = line.decode().split()
                length = 0
                while (header := stream.readline().strip()):
                    name, _, value = header.partition(b':')
                    length = int(value) if name.lower() == b'content-length' else length
                status, answer = self.answer(method, target, stream.read(length))
                if status is None:
                    return
                kind = b'text/plain' if isinstance(answer, bytes) else b'application/json'
                body = answer if isinstance(answer, bytes) else json.dumps(answer).encode() + b'\n'
                stream.write(b'HTTP/1.1 %d x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n' % (status, kind, len(body)) + body)
                try:
                    stream.flush()
                except BrokenPipeError:
                    return

    def answer(self, method, target, body):
        url = urllib.parse.urlparse(target)
        query, words = dict(urllib.parse.parse_qsl(url.query)), url.path.strip('/').split('/')[1:]
        with self.changed:
            self.asked.append((method, target))
            if words == []:
                return 200, self.session()
            if words == ['end']:
                self.mode = json.loads(body)['mode']
                return 202, self.session()
            if words == ['jobs'] and method == 'POST':
                return self.submit(json.loads(body))
            if words == ['jobs'] and 'state' in query:
                wanted = [job for job in self.jobs if query['state'] == ('over' if job['status'] is not None else job['state'])]
                return 200, {'session': self.session(), 'jobs': wanted[:int(query.get('limit', 10000))], 'next': None}
            if words == ['jobs']:
                first = int(query.get('from', 1)) - 1  # two at a time
                return 200, {'session': self.session(), 'jobs': self.jobs[first:first + 2], 'next': first + 3 if len(self.jobs) > first + 2 else None}
            if not 1 <= int(words[1]) <= len(self.jobs):
                return 404, {'error': f'the set has no job {words[1]}'}
            job = self.jobs[int(words[1]) - 1]
            if words[2:] == ['ranks']:
                first, limit = int(query.get('from', 0)), int(query.get('limit', 1000))
                more = first + limit if len(self.ranks) > first + limit else None
                return 200, {'job': job, 'ranks': self.ranks[first:first + limit], 'next': more}
            if words[2:] == ['output']:
                return 200, {'out': b'done: all of it\n', 'err': b'a note\n'}[query['stream']][int(query['from']):]
            if method == 'DELETE' and job['status'] is None:
                job.update(state='cancelled', status=4)
                self.changed.notify_all()
            elif 'wait' in query and job['status'] is None:
                self.changed.wait_for(lambda: job['status'] is not None or self.mode == 'gone', float(query['wait']))
            return (None, None) if self.mode == 'gone' else (202 if method == 'DELETE' else 200, job)

    def session(self):
        over = [job['state'] for job in self.jobs if job['status'] is not None]
        counts = {state: over.count(state) for state in ('done', 'failed', 'cancelled')}
        counts |= {state: sum(job['state'] == state for job in self.jobs) for state in ('waiting', 'running')}
        return {'program': 'hdss', 'api': 1, 'kind': 'set', 'name': self.name, 'pid': os.getpid(), 'workers': 4, 'ranks': {'masters': 0, 'workers': 4}, 'jobs': counts}

    def submit(self, submission):
        words = submission['words']
        if 'nothing' in words:
            return 400, {'error': "unknown kernel 'nothing'; accepted: one of `hdss kernels`"}
        if self.mode is not None:
            return 409, {'error': 'it drains, and takes no further jobs'}
        self.submissions.append(submission)
        is_over = 'iterations=0' in words
        job = {'id': len(self.jobs) + 1, 'name': submission['name'], 'kernel': 'synthetic', 'command': words, 'folder': submission['folder'],
               'state': 'done' if is_over else 'running', 'done': 0, 'total': 10, 'failed': 0, 'rate_per_s': 0, 'elapsed_s': 1.5, 'eta_s': None,
               'workers': 4, 'busy': 0 if is_over else 4, 'lost': 0, 'technique': 'auto', 'topology': 'central', 'output': None,
               'status': 0 if is_over else None, 'priority': submission['priority'], 'weight': submission['weight'], 'after': submission['after']}
        self.jobs.append(job)
        return 201, job

    def end(self, number, state, status):
        with self.changed:
            self.jobs[number - 1].update(state=state, status=status)
            self.changed.notify_all()
