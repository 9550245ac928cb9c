# SPDX-License-Identifier: MIT
"""What a test function leaves behind: processes that it has started, found by a mark in their environment, and, if HDSS_TEST_KEEP names a
folder, what is needed to explain its failure: its commands with all that they printed, the processes, and its scratch folder.
"""
import os
import re
import shutil
import signal
import sys
import time

MARK = 'HDSS_TEST_MARK'
count = 0
runs = []       # (words, status, standard output, standard error) of each command of the function
processes = []  # lines about processes at the time of a hang


def begin():
    global count
    count += 1
    os.environ[MARK] = f'{os.getpid()}.{count}'
    runs.clear()
    processes.clear()


def read(path):
    try:
        with open(path, 'rb') as file:
            return file.read()
    except OSError:
        return b''


def environment(pid):
    """The variables of a process. Those of a child are empty for a moment after vfork(), until the kernel has set up its program, as its words are."""
    for _ in range(1000):
        words, values = read(f'/proc/{pid}/cmdline'), read(f'/proc/{pid}/environ')
        if values or words or b'\nVmSize:' not in read(f'/proc/{pid}/status'):  # one that has ended, or is of the kernel, has no memory
            break
        time.sleep(0.001)
    return values.split(b'\0')


def marked():
    """Processes with the mark that have not ended."""
    mark = f'{MARK}={os.environ.get(MARK)}'.encode()
    return [int(name) for name in os.listdir('/proc') if name.isdigit() and int(name) != os.getpid() and mark in environment(name)]


def told(pid):
    """A line about the process: its state, what it waits for, its words."""
    status = read(f'/proc/{pid}/status').decode(errors='replace')
    fields = [re.search(rf'^{field}:\s*(.+)$', status, re.MULTILINE) for field in ('State', 'PPid')]
    words = read(f'/proc/{pid}/cmdline').replace(b'\0', b' ').decode(errors='replace').strip()
    waits = read(f'/proc/{pid}/wchan').decode(errors='replace')
    return ' '.join([str(pid), *(field.group(1) if field else '?' for field in fields), waits, words])


def end():
    """Kills what is left, and what that has started meanwhile."""
    for _ in range(20):
        left = marked()
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.05)


def check(seconds):
    """Fails if processes of the function do not end within that time."""
    until = time.monotonic() + seconds
    left = marked()
    while left and time.monotonic() < until:
        time.sleep(0.05)
        left = marked()
    if left:
        keep_processes()
        raise AssertionError('left behind: ' + '; '.join(told(pid) for pid in left))


def keep_run(words, status, out, err):
    runs.append((words, status, out, err))


def keep_processes():
    processes.extend(told(pid) for pid in marked())


def keep(function, folder):
    """Keeps what explains a failure, in a folder of the function's name."""
    kept = os.environ.get('HDSS_TEST_KEEP')
    if not kept:
        return
    program = os.path.basename(sys.argv[0]).removeprefix('test_').removesuffix('.py')
    target = os.path.join(kept, f'{program} {function}'.replace(' ', '-').replace('/', '-'))
    keep_processes()
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    with open(os.path.join(target, 'commands.txt'), 'w', encoding='utf-8', errors='backslashreplace') as file:
        for words, status, out, err in runs:
            print(f'$ {words}\nstatus {status}\n--- standard output\n{out}\n--- standard error\n{err}\n', file=file)
    with open(os.path.join(target, 'processes.txt'), 'w', encoding='utf-8', errors='backslashreplace') as file:
        print('\n'.join(processes), file=file)
    shutil.copytree(folder, os.path.join(target, 'folder'), symlinks=True, ignore_dangling_symlinks=True, ignore=too_large)


def too_large(folder, names):
    """Files of more than 16 MiB, and what is neither file nor folder, are not kept."""
    paths = {name: os.path.join(folder, name) for name in names}
    return [name for name, path in paths.items()
            if not os.path.islink(path) and not os.path.isdir(path) and (not os.path.isfile(path) or os.path.getsize(path) > 1 << 24)]
