#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hdss exec: the examples of GNU parallel's tutorial that make sense here, with its output, beside it where it is installed; what is
printed, and when; what is wrong, and how runs end."""
import os
import pty
import re
import signal
import subprocess
import time

from launch import HDSS, SUPERMASTER, TIMEOUT_S, UNTIL_HURRY, WORKER, Run, catches, environment, gone, hurry, main, wait_until
from processes import pid_of, pids, pids_in


def execute(*words, stdin='', env=None, program=(HDSS, 'exec'), timeout=TIMEOUT_S):
    began = time.monotonic()
    done = subprocess.run([*program, *words], input=stdin, capture_output=True, text=True, env={**environment(), **(env or {})},
                          timeout=timeout, check=False)
    return Run(done.returncode, done.stdout, done.stderr, time.monotonic() - began)


def printed(*words, stdin='', status=0, env=None):
    """What tasks write, of a run that says nothing else."""
    run = execute(*words, stdin=stdin, env=env)
    assert run.status == status and run.raw_err == '', (words, run)
    return run.out


# --- what is run ---

ABC, DEF = 'A\nB\nC\n', 'D\nE\nF\n'

# Words, standard input, and the arguments of `echo` in each line; where the line does not begin with echo it is whole.
TUTORIAL = [
    (['echo', ':::', 'A', 'B', 'C'], '', ['A', 'B', 'C']),
    (['-a', 'abc-file', 'echo'], '', ['A', 'B', 'C']),
    (['echo'], ABC, ['A', 'B', 'C']),
    (['echo', ':::', 'A', 'B', 'C', ':::', 'D', 'E', 'F'], '', ['A D', 'A E', 'A F', 'B D', 'B E', 'B F', 'C D', 'C E', 'C F']),
    (['-a', 'abc-file', '-a', 'def-file', 'echo'], '', ['A D', 'A E', 'A F', 'B D', 'B E', 'B F', 'C D', 'C E', 'C F']),
    (['-a', '-', '-a', 'def-file', 'echo'], ABC, ['A D', 'A E', 'A F', 'B D', 'B E', 'B F', 'C D', 'C E', 'C F']),
    (['echo', '::::', '-', 'def-file'], ABC, ['A D', 'A E', 'A F', 'B D', 'B E', 'B F', 'C D', 'C E', 'C F']),
    (['echo', ':::', 'A', 'B', 'C', '::::', 'def-file'], '', ['A D', 'A E', 'A F', 'B D', 'B E', 'B F', 'C D', 'C E', 'C F']),
    (['--link', 'echo', ':::', 'A', 'B', 'C', ':::', 'D', 'E', 'F'], '', ['A D', 'B E', 'C F']),
    (['--link', 'echo', ':::', 'A', 'B', 'C', 'D', 'E', ':::', 'F', 'G'], '', ['A F', 'B G', 'C F', 'D G', 'E F']),
    (['echo', '::::', 'abc-file', ':::+', 'G', 'H', 'I', '::::', 'def-file'], '',
     ['A G D', 'A G E', 'A G F', 'B H D', 'B H E', 'B H F', 'C I D', 'C I E', 'C I F']),
    (['echo', '::::', 'abc-file', ':::', 'G', 'H', 'I', '::::+', 'def-file'], '',
     ['A G D', 'A H E', 'A I F', 'B G D', 'B H E', 'B I F', 'C G D', 'C H E', 'C I F']),
    (['echo', ':::', 'A', 'B', 'C', 'D', 'E', ':::+', 'F', 'G'], '', ['A F', 'B G']),
    (['--arg-sep', ',,', 'echo', ',,', 'A', 'B', '::::', 'def-file'], '', ['A D', 'A E', 'A F', 'B D', 'B E', 'B F']),
    (['--arg-file-sep', '//', 'echo', ':::', 'A', 'B', '//', 'def-file'], '', ['A D', 'A E', 'A F', 'B D', 'B E', 'B F']),
    (['-d', '_', 'echo', '::::', 'abc_-file'], '', ['A', 'B', 'C']),
    (['-d', r'\0', 'echo', '::::', 'abc0-file'], '', ['A', 'B', 'C']),
    (['-0', 'echo', '::::', 'abc0-file'], '', ['A', 'B', 'C']),
    (['-E', 'stop', 'echo', ':::', 'A', 'B', 'stop', 'C', 'D'], '', ['A', 'B']),
    (['--no-run-if-empty', 'echo'], '1\n\n2\n', ['1', '2']),
    ([':::', 'ls', 'echo foo', 'pwd'], '', ['|ls', '|echo foo', '|pwd']),
    (['echo', ':::', 'A/B.C'], '', ['A/B.C']),
    (['echo', '{}', ':::', 'A/B.C'], '', ['A/B.C']),
    (['echo', '{.}', ':::', 'A/B.C'], '', ['A/B']),
    (['echo', '{/}', ':::', 'A/B.C'], '', ['B.C']),
    (['echo', '{//}', ':::', 'A/B.C'], '', ['A']),
    (['echo', '{/.}', ':::', 'A/B.C'], '', ['B']),
    (['echo', '{#}', ':::', 'A', 'B', 'C'], '', ['1', '2', '3']),
    (['-I', ',,', 'echo', ',,', ':::', 'A/B.C'], '', ['A/B.C']),
    (['echo', '{1}', 'and', '{2}', ':::', 'A', 'B', ':::', 'C', 'D'], '', ['A and C', 'A and D', 'B and C', 'B and D']),
    (['echo', '/={1/}', '//={1//}', '/.={1/.}', '.={1.}', ':::', 'A/B.C', 'D/E.F'], '',
     ['/=B.C //=A /.=B .=A/B', '/=E.F //=D /.=E .=D/E']),
    (['echo', '1={1}', '2={2}', '3={3}', '-1={-1}', '-2={-2}', '-3={-3}', ':::', 'A', 'B', ':::', 'C', 'D', ':::', 'E', 'F'], '',
     ['1=A 2=C 3=E -1=E -2=C -3=A', '1=A 2=C 3=F -1=F -2=C -3=A', '1=A 2=D 3=E -1=E -2=D -3=A', '1=A 2=D 3=F -1=F -2=D -3=A',
      '1=B 2=C 3=E -1=E -2=C -3=B', '1=B 2=C 3=F -1=F -2=C -3=B', '1=B 2=D 3=E -1=E -2=D -3=B', '1=B 2=D 3=F -1=F -2=D -3=B']),
    (['--colsep', r'\t', 'echo', '1={1}', '2={2}', '::::', 'tsv-file.tsv'], '', ['1=f1 2=f2', '1=A 2=B', '1=C 2=D']),
    (['--header', ':', '--colsep', r'\t', 'echo', 'f1={f1}', 'f2={f2}', '::::', 'tsv-file.tsv'], '', ['f1=A f2=B', 'f1=C f2=D']),
    (['--header', ':', 'echo', '{x}-{y}', ':::', 'x', '1', '2', ':::', 'y', '3'], '', ['1-3', '2-3']),
    (['-N3', 'echo', ':::', 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'], '', ['A B C', 'D E F', 'G H']),
    (['-n', '2', 'echo', ':::', 'A', 'B', 'C'], '', ['A B', 'C']),
    (['-N3', 'echo', '1={1}', '2={2}', '3={3}', ':::', 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'], '',
     ['1=A 2=B 3=C', '1=D 2=E 3=F', '1=G 2=H 3=']),
    (['-C', ', *', 'echo', '{2}', '{1}', ':::', 'a,  b', 'c,d'], '', ['b a', 'd c']),
    (['echo', ':::', 'a b', "x$y", '', '*'], '', ["'a b'", "'x$y'", "''", "'*'"]),
]


def make_files():
    for name, text in (('abc-file', ABC), ('def-file', DEF), ('abc_-file', 'A_B_C_'), ('abc0-file', 'A\0B\0C\0'),
                       ('tsv-file.tsv', 'f1\tf2\nA\tB\nC\tD\n')):
        with open(name, 'w', encoding='ascii') as file:
            file.write(text)


def lines_of(expected):
    return ''.join(line[1:] + '\n' if line.startswith('|') else f'echo {line}\n' for line in expected)


def test_commands_are_those_of_the_tutorial():
    make_files()
    for words, stdin, expected in TUTORIAL:
        assert printed('--dry-run', *words, stdin=stdin) == lines_of(expected), words
    assert sorted(os.listdir('.')) == ['abc-file', 'abc0-file', 'abc_-file', 'def-file', 'tsv-file.tsv']


def test_commands_are_those_of_gnu_parallel():
    if 'GNU' not in subprocess.run('parallel --version', shell=True, capture_output=True, text=True, check=False).stdout:
        return 'no GNU parallel'
    make_files()
    for words, stdin, expected in TUTORIAL[::3]:  # all of them take 10 s
        run = execute('--will-cite', '-k', '--dry-run', *words, stdin=stdin, program=['parallel'])
        assert run.out == lines_of(expected), (words, run)
    return None


# --- what is printed ---

def test_tasks_are_printed_whole_and_nothing_else():
    """By default, with tags, in order; also what goes to standard error, and arguments with anything in them."""
    run = execute('-j2', 'sh -c "echo {}; echo {} >&2; echo {}"', ':::', *'abcdef')
    assert run.status == 0 and sorted(run.out.split('\n')[:-1:2]) == list('abcdef'), run
    assert run.out.split('\n')[:-1:2] == run.out.split('\n')[1::2] and sorted(run.raw_err.split()) == list('abcdef'), run
    odd = ["it's", 'a  b', '$(x)', 'tab\there', 'line\nbreak', '\\', '*', '', 'ü', '{1}']
    assert printed('-k', '-0', '-q', 'printf', '%s|', '{}', stdin='\0'.join(odd) + '\0') == '|'.join(odd) + '|'
    assert printed('-k', '--tag', 'echo', 'x{1}', ':::', 'a', 'b', ':::', 'c') == 'a c\txa\nb c\txb\n'
    assert printed('-k', '--tagstring', '{#}:{2/} $|', 'echo', ':::', 'a', 'b', ':::', 'c/d') == '1:d $|\ta c/d\n2:d $|\tb c/d\n'


def spilled():
    """What commands have left in the folder t; the folder of the ranks' sockets goes with the next run at the latest."""
    return [name for name in os.listdir('t') if name.startswith('hdss-exec')]


def test_output_has_no_bound():
    """Of 18 MB on both streams; in order, with tags, in files and while it is written, too. Nothing is left of what was spilled."""
    long = 'seq 2500000; seq 2500000 >&2; echo end; : {}'
    expected = ''.join(f'{i}\n' for i in range(1, 2500001)) + 'end\n'
    own = {'TMPDIR': os.path.abspath('t')}
    os.mkdir('t')
    for words in (['-k', '-j2'], ['--line-buffer', '-j1']):
        run = execute(*words, long, ':::', 'a', env=own)
        assert run.status == 0 and run.out == expected and run.raw_err == expected[:-4], (run.status, len(run.out), len(run.raw_err))
    run = execute('--tag', '--results', 'r', 'seq 2500000; false {}', ':::', 'a', env=own)
    assert run.status == 3 and run.out == 'a\t' + expected[:-5].replace('\n', '\na\t') + '\n', len(run.out)
    with open('r/1/a/stdout', encoding='ascii') as file:
        assert file.read() == expected[:-4]
    run = execute('head -c 70000000 /dev/zero; : {}', ':::', 'a', env=own)
    assert run.status == 0 and run.out == '\0' * 70000000, len(run.out)
    assert spilled() == []


def test_a_full_disk_cuts_output():
    """The task that fills it has failed, and gives half of what it took back for what comes after."""
    full = ('bash', '-c', 'ulimit -f 20000; exec "$@"', 'bash', HDSS, 'exec')
    own = {'TMPDIR': os.path.abspath('t')}
    os.mkdir('t')
    for words in ((), ('--line-buffer',)):
        run = execute('-j1', *words, 'head -c {} /dev/zero; echo end >&2', ':::', '30000000', '10', env=own, program=full)
        assert run.status == 3 and run.out == '\0' * (20000 * 1024 // 2 + 10), (run.status, len(run.out), run.err)
        assert run.err[0] == 'end' and run.err[1] == 'hdss: task 1: its output: File too large: cut after 10240000 bytes; accepted: TMPDIR=FOLDER with more room'
        assert '1 task had output that could not be kept' in run.raw_err and spilled() == [], (spilled(), run)


def test_order_and_shell():
    assert printed('-j2', '-k', '--shell', 'sleep {}; echo $((1+1)) {} | cat', ':::', '0.3', '0', '0.1') == '2 0.3\n2 0\n2 0.1\n'
    assert printed('-q', 'sh', '-c', 'echo "$0  $1"', '{}', 'x', ':::', 'a  b') == 'a  b  x\n'
    assert printed('-k', '-j2', '--cores', '1', '--shell', 'echo $HDSS_CORES {}', ':::', 'x') == '1 x\n'
    assert printed('--workdir', '/', '--env', 'A=1,2', '--shell', 'echo $PWD $A {}', ':::', 'x', env={'A': 'no'}) == '/ 1,2 x\n'


def test_a_pipe_is_read_while_tasks_run():
    """The first task has run before the second one is known, and only what has a newline is a task."""
    process = subprocess.Popen([HDSS, 'exec', '-j2', 'echo'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env=environment())
    try:
        process.stdin.write('a\nb')
        process.stdin.flush()
        assert process.stdout.readline() == 'a\n'
        process.stdin.write('c\nd\n')
        process.stdin.flush()
        assert sorted([process.stdout.readline(), process.stdout.readline()]) == ['bc\n', 'd\n']
        out, err = process.communicate('e', timeout=TIMEOUT_S)
        assert (out, err, process.returncode) == ('e\n', '', 0), (out, err, process.returncode)
    finally:
        process.kill()
        process.wait()


def test_no_others_are_tried_where_none_can_start():
    """Of a list that goes on: the command ends by itself, and says so in one line. What differs, and what only few lack, ends nothing."""
    for words, begins, said in ((['echo 1', 'nosuch 2', 'nosuch 3', 'nosuch 4'], 2, '3 tasks could not be started, and the others were not tried; e.g. task 2, nosuch 2'),
                                (['./no1', './no2', './no3'], 1, 'the first 3 tasks could not be started, and the others were not tried; e.g. task 1, ./no1')):
        with subprocess.Popen([HDSS, 'exec', '-j1'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()) as process:
            try:
                process.stdin.write(words[0] + '\n')
                process.stdin.flush()
                wait_until(lambda: pid_of(process, SUPERMASTER), 'the launch with the first row')
                process.stdin.write('\n'.join(words[1:]) + '\n')
                process.stdin.flush()
                err = process.stderr.read()
                program = words[begins - 1].split()[0]
                assert process.wait(TIMEOUT_S) == 3 and err == f'hdss exec: {said}: {program}: No such file or directory; accepted: --halt never to try all\n', err
            finally:
                process.kill()
    run = execute('-j1', '-k', ':::', 'echo 1', './no1', './no2', './no3', './no3', 'echo 2')
    assert run.status == 3 and run.out == '1\n2\n' and len(run.err) == 4 and '4 tasks could not be started' in run.err[3], run
    run = execute('--halt', 'never', './nosuch{#}', stdin='1\n2\n3\n4\n')
    assert run.status == 3 and 'others' not in run.raw_err and '4 tasks could not be started' in run.raw_err, run


MISSING = 'task 1: nosuch: no such program in PATH; accepted: the name of one, or a path such as ./NAME'
NO_OTHERS = '; the next two tasks have no program either; --halt never tries all tasks'


def test_a_list_without_programs_is_refused():
    """As soon as its first three rows are there, before anything is started; each advice of the line works."""
    lines = [f'nosuch {i}' for i in range(3)] + ['touch ran'] + 500 * ['nosuch']
    with open('list', 'w', encoding='ascii') as file:
        file.write('\n'.join(lines) + '\n')
    for words, stdin in ((['-a', 'list'], ''), ([':::', *lines], ''), ([], '\n'.join(lines)), (['--output', 'o', '-a', 'list'], '')):
        run = execute(*words, stdin=stdin)
        assert run.status == 2 and run.out == '' and run.err == ['hdss exec: ' + MISSING + NO_OTHERS], run
        assert not os.path.exists('ran') and not os.path.exists('o'), os.listdir()
    run = execute('--halt', 'never', ':::', *lines[:4])
    assert run.status == 3 and os.path.exists('ran') and '3 tasks could not be started' in run.raw_err, run
    run = execute(*(['-j1', ':::'] + [f'A=1 ./gone{i}' for i in '123']))
    assert run.status == 2 and len(run.err) == 1 and 'task 1: ./gone1: there is no such program; ' in run.raw_err, run


def test_programs_are_looked_for_where_tasks_run():
    os.makedirs('in/bin')
    for path in ('in/bin/nosuch', 'in/here'):
        with open(path, 'w', encoding='ascii') as file:
            file.write('#!/bin/sh\necho it runs\n')
        os.chmod(path, 0o755)
    there = f'{os.getcwd()}/in/bin:{os.environ["PATH"]}'
    for words, line in ((['--workdir', 'in'], './here'), (['--workdir', 'in'], 'PATH=bin nosuch'), (['--env', 'PATH=' + there], 'nosuch'), ([], f'PATH={there} nosuch')):
        assert printed(*words, ':::', line, line, line) == 3 * 'it runs\n'
        run = execute(':::', *3 * [line.split()[-1]])
        assert run.status == 2 and len(run.err) == 1 and run.err[0].endswith(NO_OTHERS), run
    assert printed('--env', 'PATH=' + there, 'nosuch', stdin='1\n2\n3\n') == 3 * 'it runs\n'
    run = execute(':::', *3 * ['nosuch | cat'])
    assert run.status == 0 and 'not found' in run.raw_err, run


def test_lines_are_seen_while_their_tasks_run():
    """Each task ends only when its line was read."""
    words = ['-j2', '--line-buffer', '--tag', '--shell', 'echo begins; while ! test -e seen; do sleep 0.05; done; printf end', ':::', 'a', 'b']
    process = subprocess.Popen([HDSS, 'exec', *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    try:
        assert sorted([process.stdout.readline(), process.stdout.readline()]) == ['a\tbegins\n', 'b\tbegins\n']
        open('seen', 'w', encoding='ascii').close()
        out, err = process.communicate(timeout=TIMEOUT_S)
        assert out in ('a\tendb\tend', 'b\tenda\tend') and (err, process.returncode) == ('', 0), (out, err, process.returncode)
    finally:
        process.kill()
        process.wait()


def test_a_delay_is_between_tasks():
    """Three tasks have two delays between them, however many workers are free: a busy machine may take longer, and none takes less."""
    run = execute('-k', '-j3', '--delay', '1', 'echo', ':::', *'abc')
    assert run.status == 0 and run.out == 'a\nb\nc\n' and run.seconds >= 2, run


def drained(strike, *words, env=None):
    """Status and output of a command whose tasks wait for hurry(), which comes when `strike` has had it drain."""
    process = subprocess.Popen([HDSS, 'exec', *words], env={**environment(), **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    strike(process)
    hurry()
    out, err = process.communicate(timeout=TIMEOUT_S)
    return process.returncode, out, err


def signal_its_supermaster(process):
    wait_until(lambda: os.path.exists('ran'), 'the first task')
    os.kill(pid_of(process, SUPERMASTER), signal.SIGTERM)
    wait_until(lambda: 'as the ranks were sent a signal' in process.stderr.readline(), 'the drain')


def signal_it(process):
    """The second worker has nothing to do before a delay that does not end: when it leaves, the signal has come to the ranks."""
    wait_until(lambda: os.path.exists('a') and len(pids(process, WORKER)) == 2, 'the first task')
    workers = pids(process, WORKER)
    wait_until(lambda: all(catches(pid, signal.SIGTERM) for pid in workers), 'their signal handlers')
    process.send_signal(signal.SIGTERM)
    wait_until(lambda: not all(catches(pid, signal.SIGTERM) for pid in workers), 'a worker to leave')


def test_what_has_run_is_not_run_again():
    """Arguments behind those of the run before are run as well; other ones are refused."""
    words = ['--output', 'all', '-j1', '--shell', f'echo {{}} >>ran; {UNTIL_HURRY}; echo {{}}', ':::', *'abcde']
    status, out, err = drained(signal_its_supermaster, *words)
    assert status == 4 and out == '' and os.path.exists('all.list'), (status, out, err)
    run = execute('--resume', *words[:-1], 'x')
    assert run.status == 2 and 'changed' in run.raw_err, run
    assert execute('--resume', *words, 'f').status == 0
    for name in ('all', 'ran'):
        with open(name, encoding='ascii') as file:
            assert file.read().split() == list('abcdef'), name
    assert sorted(os.listdir('.')) == ['all', 'all.err', 'all.journal', 'all.log', 'hurry', 'ran']


def test_what_a_log_has_is_not_run_again():
    """Rows are read on from a pipe; what failed is run again where that is wanted, and what has changed is named."""
    words = ['-j2', '-k', '--joblog', 'log', '--tagstring', '{#}', '--shell', 'echo {}; test {} != b']
    run = execute(*words, ':::', 'a', 'b')
    assert (run.status, run.out) == (3, '1\ta\n2\tb\n'), run
    run = execute('--resume', *words, stdin='a\nb\nc\n')
    assert (run.status, run.out, run.raw_err) == (0, '3\tc\n', ''), run
    run = execute('--resume-failed', *words, stdin='a\nb\nc\nd\n')
    assert (run.status, run.out) == (3, '2\tb\n4\td\n') and run.err == ["hdss exec: 1 task failed with exit 1: 2 echo 'b'; test 'b' != b"], run
    with open('log', encoding='ascii') as file:
        assert [line.split('\t')[0] for line in file] == ['Seq', '1', '2', '3', '2', '4']
    run = execute('--resume', *words, stdin='a\nb\nc\nx\n')
    assert run.status == 2 and run.out == '' and run.err[0].startswith("hdss exec: log, line 6: task 4 was `echo 'd'; test 'd' != b`, and is now `echo 'x'"), run
    run = execute('--resume', *words, stdin='a\nb\nc\nd\n')
    assert run.status == 0 and 'all tasks have ended, and 1 of them failed; --resume=failed runs it again' in run.raw_err, run
    with open('log', encoding='ascii') as file:
        before = file.read()
    run = execute(*words, ':::', 'a')
    assert run.status == 2 and run.err == ['hdss exec: --joblog log: is there already; accepted: --resume, --resume-failed, --overwrite, or another name'], run
    with open('log', encoding='ascii') as file:
        assert file.read() == before
    assert execute('--overwrite', *words, ':::', 'a').status == 0
    with open('log', encoding='ascii') as file:
        assert len(file.read().splitlines()) == 2
    assert execute('-j1', '--joblog', 'mended', 'test {} != b', ':::', 'a', 'b').status == 3
    run = execute('--joblog', 'mended', '--resume-failed', 'test {} != b', ':::', 'x', 'c')
    assert run.status == 2 and 'mended, line 2: task 1 was' in run.err[0], run
    assert execute('--joblog', 'mended', '--resume-failed', 'test {} != b', ':::', 'a', 'c').status == 0
    assert execute('--joblog', 'good', 'true', ':::', 'a').status == 0
    assert 'nothing to do' in execute('--resume', '--joblog', 'good', 'true', ':::', 'a').raw_err


def test_output_goes_to_devices():
    """Also where /dev/stdout is a file, beside which nothing is made."""
    assert printed('--output', '-', 'echo', ':::', 'a') == 'a\n'
    with open('file', 'w', encoding='ascii') as file:
        subprocess.run([HDSS, 'exec', '--output', '/dev/stdout', 'echo', ':::', 'b'], stdout=file, env=environment(), check=True, timeout=TIMEOUT_S)
    with open('file', encoding='ascii') as file:
        assert file.read() == 'b\n' and os.listdir('.') == ['file'] and not os.path.exists('/dev/stdout.parts')
    run = execute('--output', '/dev/full', 'echo', ':::', 'a')
    assert run.status == 1 and 'No space left' in run.raw_err and len(run.err) == 1, run


def test_files_of_tasks():
    """--joblog, --results, --output."""
    run = execute('-k', '--joblog', 'log', '--results', 'out', '-q', 'sh', '-c', 'echo {}; exit {1}', ':::', '0', '3', ':::', 'a')
    assert run.status == 3 and run.out == '0 a\n3 a\n' and len(run.err) == 1 and 'failed with exit 3: 2 sh -c' in run.err[0], run
    with open('log', encoding='ascii') as file:
        rows = [line.rstrip('\n').split('\t') for line in file]
    assert rows[0][:9] == 'Seq Host Starttime JobRuntime Send Receive Exitval Signal Command'.split()
    assert sorted((row[0], row[6]) for row in rows[1:]) == [('1', '0'), ('2', '3')], rows
    with open('out/1/3/2/a/stdout', encoding='ascii') as file:
        assert file.read() == '3 a\n'
    assert printed('--output', 'all', 'echo', ':::', 'a', 'b') == ''
    with open('all', encoding='ascii') as file:
        assert file.read() == 'a\nb\n'
    assert sorted(os.listdir('.')) == ['all', 'all.err', 'all.journal', 'all.log', 'log', 'out']


def test_a_log_names_no_private_files():
    run = execute('--bar', '-v', 'echo', ':::', 'a', 'b')
    assert run.status == 0 and re.search('hdss run: begins exec command=echo with [0-9]+ worker', run.raw_err), run


def test_a_run_with_an_output_says_how_it_ended():
    """The lines of a run without --output, and how to look at the files."""
    run = execute('--output', 'all', 'echo no >&2; exit {}', ':::', '0', '1')
    assert run.status == 3 and run.err == ["hdss exec: 1 task failed with exit 1: 2 echo no >&2; exit '1': no",
                                           'hdss exec: `hdss log all --failed` lists what failed, and --resume=failed runs it again'], run
    assert '2' in execute('all', '--failed', program=(HDSS, 'log')).out.splitlines()[-1].split()
    run = execute('--quiet', '--output', 'other', 'exit {}', ':::', '0', '1')
    assert run.status == 3 and run.raw_err == '', run
    process = subprocess.Popen([HDSS, 'exec', '-j1', '--output', 'long', 'touch a; sleep 0.1', ':::', *map(str, range(2000))], env=environment(),
                               stderr=subprocess.PIPE, text=True)
    wait_until(lambda: os.path.exists('a'), 'the first task')
    process.send_signal(signal.SIGINT)
    err = process.communicate(timeout=TIMEOUT_S)[1]
    assert process.returncode == 4 and re.search('\nhdss exec: stopped: [0-9,]+ of 2,000 tasks have ended; the same line with --resume runs the others\n$', err), err


# --- how runs end ---

def private_folders():
    return [name for name in os.listdir('temporary') if name.startswith('hdss-exec')]


def test_runs_end_early_and_leave_nothing():
    os.mkdir('temporary')
    own = {'TMPDIR': os.path.abspath('temporary')}
    run = execute('-j1', '--halt', 'now,fail=1', '-q', 'sh', '-c', 'echo {}; sleep 0.1; exit {}', ':::', '0', '1', *['0'] * 50, env=own)
    assert run.status == 3 and run.out.startswith('0\n1\n') and run.out.count('\n') < 50 and '--halt' in run.err[0], run
    run = execute('-j1', '--timeout', '0.2', 'sleep', ':::', '100', env=own)
    assert run.status == 3 and 'time limit' in run.err[-1], run
    run = execute('-j1', '--retries', '3', '--shell', 'echo {} >>tries; exit 1', ':::', 'x', env=own)
    assert run.status == 3 and len(open('tries', encoding='ascii').readlines()) == 3, run
    assert private_folders() == []


def test_a_signal_drains():
    os.mkdir('temporary')
    words = ['-j2', '--delay', '1000', '--shell', f'touch {{}}; {UNTIL_HURRY}; echo {{}}', ':::', *'ab']
    status, out, err = drained(signal_it, *words, env={'TMPDIR': os.path.abspath('temporary')})
    assert status == 4 and out == 'a\n' and not os.path.exists('b'), (out, err)
    assert private_folders() == []


def test_a_second_signal_gives_up():
    """Nothing is kept that could be gone on with."""
    os.mkdir('temporary')
    own = {**environment(), 'TMPDIR': os.path.abspath('temporary')}
    process = subprocess.Popen([HDSS, 'exec', '-j1', '--shell', 'touch {}; sleep 100', ':::', 'a', 'b'], env=own, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    wait_until(lambda: os.path.exists('a'), 'the first task')
    process.send_signal(signal.SIGINT)
    wait_until(lambda: 'press Ctrl-C again to end it now' in process.stderr.readline(), 'the drain')
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 1 and out == '' and 'giving up' in err and '--resume' not in err, (out, err)
    assert private_folders() == [] and not os.path.exists('b')


def test_tasks_end_with_the_reader_of_their_output():
    """What has ended and was read is in the log; what was cut runs again."""
    os.mkdir('temporary')
    own = {**environment(), 'TMPDIR': os.path.abspath('temporary')}
    words = ['-j1', '--line-buffer', '--joblog', 'log', '--drain-time', '100000', '--shell',
             f'echo $$ >>ran; echo {{}}; test {{}} = a || test -e again || {{ {UNTIL_HURRY}; exec yes; }}', ':::', *'abc']
    process = subprocess.Popen([HDSS, 'exec', *words], env=own, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert [process.stdout.readline(), process.stdout.readline()] == ['a\n', 'b\n']
    wait_until(lambda: len(open('log', encoding='ascii').readlines()) == 2, 'the line of the first task')
    process.stdout.close()
    hurry()
    try:
        process.wait(TIMEOUT_S)
    finally:
        process.kill()
    err = process.stderr.read()
    assert process.returncode == 1 and err == '' and private_folders() == [], (process.returncode, err)
    wait_until(lambda: all(map(gone, pids_in('ran'))), 'the end of the tasks')
    open('again', 'w', encoding='ascii').close()
    assert printed('--resume', *words) == 'b\nc\n' and len(pids_in('ran')) == 4


def test_a_reader_that_goes_ends_the_command():
    """Also while no task prints anything."""
    words = [HDSS, 'exec', '-k', '-j2', 'echo {}; test {} -lt 3 || sleep 1000', ':::', *map(str, range(100))]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True) as process:
        assert process.stdout.readline() == '0\n'
        process.stdout.close()
        assert process.wait(TIMEOUT_S) == 1 and process.stderr.read() == '', process


def test_a_terminal_stops_the_tasks():
    """They count up; stopped they do not, and afterwards they go on."""
    words = [HDSS, 'exec', '-j2', '--shell=bash', 'while ! test -e enough; do echo >> count.{}; done', ':::', 'a', 'b']
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), start_new_session=True)
    try:
        wait_until(lambda: os.path.exists('count.a') and os.path.exists('count.b'), 'the tasks')
        os.kill(process.pid, signal.SIGTSTP)
        wait_until(lambda: states_below(process.pid) == {'T'}, 'all tasks to be stopped')
        os.kill(process.pid, signal.SIGCONT)
        wait_until(lambda: 'T' not in states_below(process.pid), 'all tasks to go on')
        open('enough', 'w', encoding='ascii').close()
        assert process.wait(TIMEOUT_S) == 0
    finally:
        process.stdout.close()
        process.stderr.close()


def states_below(pid):
    """The states of the tasks, which are scripts of bash, among the processes that this one has started."""
    with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as file:
        name, rest = file.read().rsplit(')', 1)
    states = {rest.split()[0]} if name.endswith('(bash') else set()
    for thread in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{thread}/children', encoding='ascii') as file:
            for child in file.read().split():
                try:
                    states |= states_below(int(child))
                except (FileNotFoundError, ProcessLookupError):
                    pass
    return states


# --- what is wrong ---

WRONG = [
    (['--sshlogin', 'a', 'echo'], '', 2, "GNU parallel's --sshlogin is not there: use --hosts"),
    (['--pipe', 'wc'], '', 2, "GNU parallel's --pipe is not there"),
    (['--keep-ordr', 'echo'], '', 2, 'did you mean --keep-order'),
    (['--no-shell', 'echo | cat', ':::', 'a'], '', 2, 'accepted: a shell (no --no-shell'),
    (['--no-shell', ':::', 'true', 'a | b'], '', 2, 'argument 2, a | b: column 3'),
    (['echo', '{7}', ':::', 'a'], '', 2, '{7}: the list of arguments has no such column; accepted: 1 to 1, or \\{ for a brace'),
    (['echo', '::::', 'nosuch'], '', 2, 'nosuch: No such file or directory'),
    (['echo', ':::+', 'a'], '', 2, ':::+ links'),
    (['--resume', 'echo', ':::', 'a'], '', 2, 'accepted: --joblog FILE --resume, or --output FILE --resume'),
    (['--retry-failed', 'echo', ':::', 'a'], '', 2, "GNU parallel's --retry-failed is not there: use --resume-failed"),
    (['--output', 'x', '--joblog', 'y', 'echo', ':::', 'a'], '', 2, 'FILE.log is a task log'),
    (['--cores', '1e5', 'echo', ':::', 'a'], '', 2, 'cores'),
    (['--memory', 'much', 'echo', ':::', 'a'], '', 2, "memory 'much': accepted"),
    (['--header', ':', 'echo', '{y}', ':::', 'x', '1'], '', 2, 'no such column'),
    (['--technique', 'gss', '--delay', '1', 'echo', ':::', 'a', 'b'], '', 2, 'ss'),
    (['--results', '/dev/null', 'echo', ':::', 'a'], '', 1, '/dev/null'),
    (['echo'], '', 0, 'there are no arguments, so there is nothing to do'),
    (['echo', '/etc/passwd', '/etc/group'], '', 2, 'there are no arguments, and /etc/passwd is a word of the command; type ::: before it'),
    (['echo'], 'a\0b\n', 2, 'a NUL byte; accepted: -0'),
    (['nosuchprogram', ':::', 'a', 'b'], '', 2, 'nosuchprogram: no such program in PATH'),
    (['./nosuch{#}', ':::', 'a', 'b'], '', 3, '2 tasks could not be started'),
    (['./nosuch', ':::', 'a', 'b'], '', 2, './nosuch: there is no such program; accepted: the path of one'),
    (['./abc', ':::', 'a'], '', 2, '`chmod +x ./abc`'),
    (['--cpus', '1', 'echo', ':::', 'a'], '', 2, 'here it is --cores C'),
    (['abc'], '', 2, 'abc is no program; accepted: -a abc for the commands'),
    (['run.sh', ':::', 'a'], '', 2, 'run.sh is in this folder, and not in PATH; accepted: ./run.sh'),
    (['echo', '::', 'a'], '', 2, "'::' marks nothing; accepted: ::: before arguments"),
]


def test_what_is_wrong_is_said_in_a_line():
    for name, mode in (('abc', 0o644), ('run.sh', 0o755)):
        with open(name, 'w', encoding='ascii') as file:
            file.write('#!/bin/sh\n')
        os.chmod(name, mode)
    for words, stdin, status, text in WRONG:
        run = execute(*words, stdin=stdin)
        assert run.status == status and run.out == '' and text in run.raw_err, (words, run)
        assert status == 3 or len(run.err) == 1, (words, run)
    run = execute('sleep {} &', ':::', '1000')
    assert run.status == 0 and run.err[0] == "hdss exec: the command ends in '&': what it leaves running is ended with its task", run
    assert run.err[1].startswith('hdss: task 1: what it had left in the background was killed'), run
    run = execute(stdin='true\n' + 20000 * './nosuch\n')
    assert run.status == 3 and len(run.err) == 1 and run.err[0].endswith('; accepted: --halt never to try all'), run


def test_a_terminal_has_no_arguments():
    ours, theirs = pty.openpty()
    run = subprocess.run([HDSS, 'exec', 'echo'], stdin=theirs, capture_output=True, text=True, env=environment(), check=False, timeout=TIMEOUT_S)
    os.close(ours)
    os.close(theirs)
    assert run.returncode == 2 and re.search('standard input is a terminal; accepted: ::: ARG', run.stderr), run


if __name__ == '__main__':
    main([test_commands_are_those_of_the_tutorial, test_commands_are_those_of_gnu_parallel,
          test_a_reader_that_goes_ends_the_command, test_a_terminal_stops_the_tasks, test_tasks_are_printed_whole_and_nothing_else, test_output_has_no_bound, test_a_full_disk_cuts_output, test_order_and_shell, test_no_others_are_tried_where_none_can_start,
          test_a_list_without_programs_is_refused, test_programs_are_looked_for_where_tasks_run, test_a_pipe_is_read_while_tasks_run,
          test_lines_are_seen_while_their_tasks_run, test_a_delay_is_between_tasks, test_what_has_run_is_not_run_again,
          test_what_a_log_has_is_not_run_again, test_output_goes_to_devices, test_files_of_tasks, test_a_run_with_an_output_says_how_it_ended,
          test_a_log_names_no_private_files,
          test_runs_end_early_and_leave_nothing, test_a_signal_drains, test_a_second_signal_gives_up,
          test_tasks_end_with_the_reader_of_their_output, test_what_is_wrong_is_said_in_a_line, test_a_terminal_has_no_arguments])
