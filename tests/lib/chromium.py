# SPDX-License-Identifier: MIT
"""Drives a Chromium without a window over a pipe, by the DevTools protocol: opens a file, presses keys, evaluates, and gathers what it complains of.

Each browser has a profile of its own in the current folder. Chromium reads commands at descriptor 3 and answers at 4, JSON with a NUL behind it.
"""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time

TIMEOUT_S = float(os.environ.get('HDSS_TEST_TIMEOUT', '120'))
PROGRAMS = ('chromium', 'chromium-browser', 'google-chrome')
# What keys are called by the protocol: code, and the number that scripts of old times saw.
KEYS = {'Enter': ('Enter', 13), 'Escape': ('Escape', 27), 'Tab': ('Tab', 9), 'Home': ('Home', 36), 'End': ('End', 35), 'ArrowLeft': ('ArrowLeft', 37),
        'ArrowUp': ('ArrowUp', 38), 'ArrowRight': ('ArrowRight', 39), 'ArrowDown': ('ArrowDown', 40)}


def program():
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


def aside(descriptor):
    """The descriptor under a number that is not in the way."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 20)
    os.close(descriptor)
    return moved


class Browser:
    def __init__(self, width=1000, height=900, dark=False):
        to_read, self.commands = map(aside, os.pipe())
        self.answers, to_write = map(aside, os.pipe())
        words = [program(), '--headless=new', '--remote-debugging-pipe', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-extensions',
                 '--disable-background-networking', '--disable-component-update', '--hide-scrollbars', f'--user-data-dir={os.getcwd()}/profile']
        words += ['--no-sandbox'] if os.getuid() == 0 else []

        def place():
            os.dup2(to_read, 3)
            os.dup2(to_write, 4)
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=place, pass_fds=(3, 4),
                                        start_new_session=True)
        os.close(to_read)
        os.close(to_write)
        self.last, self.session, self.buffer, self.complaints, self.events = 0, None, b'', [], []
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log'):
            self.call(domain + '.enable')
        self.show(width, height, dark)

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        os.close(self.commands)
        os.close(self.answers)
        self.process.kill()
        self.process.wait()

    def receive(self, deadline):
        while b'\0' not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0, deadline - time.monotonic()))
            assert ready, 'the browser does not answer'
            piece = os.read(self.answers, 1 << 20)
            assert piece, 'the browser has ended'
            self.buffer += piece
        text, self.buffer = self.buffer.split(b'\0', 1)
        message = json.loads(text)
        self.note(message)
        return message

    def note(self, message):
        """Keeps what a console would show as an error."""
        method, params = message.get('method'), message.get('params', {})
        self.events.append(method)
        if method == 'Runtime.exceptionThrown':
            self.complaints.append(params['exceptionDetails'].get('exception', {}).get('description') or params['exceptionDetails']['text'])
        elif method == 'Log.entryAdded' and params['entry']['level'] in ('error', 'warning'):
            self.complaints.append(params['entry']['text'])
        elif method == 'Runtime.consoleAPICalled' and params['type'] in ('error', 'warning', 'assert'):
            self.complaints.append(str(params['args']))

    def call(self, method, **params):
        self.last += 1
        message = {'id': self.last, 'method': method, 'params': params}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.commands, json.dumps(message).encode() + b'\0')
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            answer = self.receive(deadline)
            if answer.get('id') == self.last:
                assert 'error' not in answer, (method, answer)
                return answer['result']

    def show(self, width, height, dark, scale=1):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=scale, mobile=False)
        self.call('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])

    def open(self, path):
        """Returns the seconds until the page has loaded and its script has run."""
        return self.visit('file://' + os.path.abspath(path))

    def visit(self, url):
        """As open()."""
        return self.load('Page.navigate', url=url)

    def reload(self):
        """As open()."""
        return self.load('Page.reload')

    def load(self, method, **params):
        began, deadline = time.monotonic(), time.monotonic() + TIMEOUT_S
        self.events.clear()
        self.call(method, **params)
        while 'Page.loadEventFired' not in self.events:
            self.receive(deadline)
        return time.monotonic() - began

    def evaluate(self, expression):
        result = self.call('Runtime.evaluate', expression=expression, awaitPromise=True, returnByValue=True)
        assert 'exceptionDetails' not in result, (expression, result)
        return result['result'].get('value')

    def open_report(self, path):
        """Opens a page of `hdss report`. Returns the seconds until its script has made it, or has complained."""
        began = time.monotonic()
        self.open(path)
        while not self.evaluate('Boolean(document.documentElement.dataset.ready)') and not self.complaints:
            assert time.monotonic() < began + TIMEOUT_S, 'the page is not made'
            self.frame()
        return time.monotonic() - began

    def key(self, name):
        code, number = KEYS.get(name, ('', 0))
        params = {'key': name, 'code': code, 'windowsVirtualKeyCode': number}
        if len(name) == 1 or name == 'Enter':
            params['text'] = '\r' if name == 'Enter' else name
        self.call('Input.dispatchKeyEvent', type='keyDown', **params)
        self.call('Input.dispatchKeyEvent', type='keyUp', **params)
        self.frame()

    def mouse(self, kind, x, y, **more):
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)
        self.frame()

    def frame(self):
        """Lets what is due be drawn."""
        self.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))')

    def screenshot(self, path):
        with open(path, 'wb') as file:
            file.write(base64.b64decode(self.call('Page.captureScreenshot', format='png', captureBeyondViewport=True)['data']))

    def pdf(self):
        return base64.b64decode(self.call('Page.printToPDF', printBackground=True)['data'])
