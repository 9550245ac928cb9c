# SPDX-License-Identifier: MIT
"""What some 200 command lines do: exit status, standard output, standard error and files, against what lines.txt has of each.

A change that users see is a change of lines.txt, in the same commit:

    meson test -C build lines --test-args=--record    writes it anew; git shows what has changed
"""
import difflib
import hashlib
import os
import re
import sys

from launch import HDSS, main, need_papers, run, run_test
from sets import here

FILE = os.path.join(os.environ['SOURCE_ROOT'], 'tests/system/lines.txt')
IGNORED = re.compile(r'hdss/|.*\.parts/|.*\.journal$|a-[-a-z0-9]+\.(svg|png)$')  # what daemons write for themselves, and when they like; pictures of a study
LONGEST = 40  # lines of a file that are compared as text; of longer ones the hash is

# Names of this machine, of a folder of the test, and the words of mpirun, which differ between its versions.
MASKS = ((re.escape(os.path.dirname(HDSS)), 'BIN'), (re.escape(os.environ['BUILD_ROOT']), 'BUILD'), (re.escape(os.environ['SOURCE_ROOT']), 'SOURCE'),
         (r'[^\s"\'=]*/hdss-test-\w+', 'FOLDER'), (rf'\b{re.escape(os.uname().nodename)}\b', 'HOST'), (r'(\w+=\S* )*\S*mpirun .*?(?=-n \d+ BIN)', 'mpirun .. '))
# What differs from run to run: times of day, durations and counts.
NUMBERS = ((r'\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[\d.:Z+-]*', 'TIME'), (r'(?<![\w.])-?\d+(\.\d+)?(e[-+]?\d+)?( (ns|us|ms|s|min|h|k?B|MB)\b| ?[kMG]?/s)?(?!\w)', 'N'),
           ('[▏▎▍▌▋▊▉█]+', ''), (' +', ' '))
# Lines of which a busy machine has more; and of studies where there is no matplotlib.
BUSY = re.compile(r'\|   (recall |faults +\d+ reissued chunks?$)|! hdss study: no pictures are drawn: ')


def masked(text, masks):
    for pattern, name in masks:
        text = re.sub(pattern, name, text)
    return text


def lines_of(mark, text, exact):
    """The text behind the mark. If it is of a real run numbers are not compared, and lines that differ in nothing else are one."""
    lines = [f'{mark} {line}'.rstrip(' ') for line in masked(text, MASKS).splitlines()]
    if exact:
        return lines + ['\\'] * (text != '' and not text.endswith('\n'))
    lines = [masked(line, NUMBERS) for line in lines if not BUSY.match(line)]
    return [line for line, before in zip(lines, [None, *lines]) if line != before]


def files():
    found = {}
    for folder, _, names in os.walk('.'):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name))
            if os.path.isfile(path) and not IGNORED.match(path):
                with open(path, 'rb') as file:
                    found[path] = file.read()
    return found


def file_lines(path, content, exact):
    """A text of a real run has its name alone."""
    try:
        text = content.decode()
        if not exact or text.count('\n') <= LONGEST and '\0' not in text:
            return [f'+ {path}', *(lines_of(':', text, exact) if exact else [])]
        content = masked(text, MASKS).encode()
    except UnicodeDecodeError:
        pass
    return [f'+ {path} {len(content)} bytes {hashlib.sha256(content).hexdigest()[:16]}']


def outcome(line, exact):
    before = files()
    result = run(['/bin/sh', '-c', line])
    after = files()
    lines = lines_of('|', result.out, exact) + lines_of('!', result.raw_err if exact else '\n'.join(result.err), exact)
    for path in sorted(set(before) | set(after)):
        if path not in after:
            lines.append(f'- {path}')
        elif before.get(path) != after[path]:
            lines += file_lines(path, after[path], exact)
    return lines + ([f'= {result.status}'] if result.status else [])


def groups():
    """The text at the head of the file, and its groups: a heading with the lines below it."""
    with open(FILE, encoding='utf-8') as file:
        head, *found = re.split(r'^(?=# )', file.read(), flags=re.M)
    return head, [group.rstrip('\n').splitlines() for group in found]


def played(group):
    """The group with what its command lines do now, one after another in a folder of their own."""
    here()
    os.environ['PATH'] = os.path.dirname(HDSS) + ':' + os.environ['PATH']
    lines = [group[0]]
    for line in group[1:]:
        if line[:2] in ('$ ', '~ '):
            lines += [line, *outcome(line[2:], line[0] == '$')]
    return lines


def compare(real):
    need_papers()
    for group in groups()[1]:
        if group[0].startswith('# runs') == real:
            run_test(lambda group=group: compare_group(group))


def compare_group(group):
    differences = difflib.unified_diff(group, played(group), 'lines.txt', 'now', lineterm='')
    assert not (text := '\n'.join(differences)), f'{group[0]}; if this is meant, see the head of the program\n{text}'


def test_lines_that_run_no_job():
    compare(False)


def test_lines_that_run_jobs():
    compare(True)


def record():
    head, found = groups()
    new = []
    for group in found:
        run_test(lambda group=group: new.extend([*played(group), '']))
    with open(FILE, 'w', encoding='utf-8') as file:
        file.write(head + '\n'.join(new))


if __name__ == '__main__':
    if sys.argv[1:] == ['--record']:
        record()
    else:
        main([test_lines_that_run_no_job, test_lines_that_run_jobs])
