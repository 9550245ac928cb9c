# SPDX-License-Identifier: MIT
"""Kernels that crash in a helper: the hostile one, and what it leaves."""
from kernels import built
from results import records

SEGV = 'killed the child process: signal 11 (Segmentation fault)'


def hostile():
    return built('hostile')


def words(*more, chunk=50, isolate='on'):
    return ['--isolate', isolate, '--power', 'equal', '--technique', f'css:chunk={chunk}', '--report', 'report.json', '--output', 'out.npy',
            '--overwrite', *more, hostile()]


def check_records(count, bad):
    got = records()
    assert len(got) == count
    wrong = [i for i in range(count) if got[i] != (0 if i in bad else i * 1000003)]
    assert not wrong, wrong
