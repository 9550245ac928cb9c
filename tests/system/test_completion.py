# SPDX-License-Identifier: MIT
"""Completion as the shells do it: what `hdss complete` offers in each place, and bash, fish and zsh with the key pressed."""
import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import time

from launch import HDSS, TIMEOUT_S, main, techniques

COMPLETIONS = os.path.join(os.environ['BUILD_ROOT'], 'deploy/completions')
BASH, FISH, ZSH = (shutil.which(name) for name in ('bash', 'fish', 'zsh'))


def offered(*words):
    """The candidates for the last word; `hdss complete` never fails where its words are wrong."""
    done = subprocess.run([HDSS, 'complete', *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == '', done
    return [line.split('\t')[0] for line in done.stdout.splitlines()]


def options_of(*program):
    text = subprocess.run([*program, '--help'], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r'^  (?:-\w, )?(--[a-z-]+)', text, re.MULTILINE))


def test_all_options_are_offered_and_no_others():
    supermaster = options_of(os.environ['SUPERMASTER'])
    for words, expected in ((['supermaster'], supermaster), (['master'], options_of(os.environ['MASTER'])),
                            (['worker'], options_of(os.environ['WORKER'])), (['hdss'], {'--help', '--version'}),
                            (['hdss', 'chunks'], options_of(HDSS, 'chunks')), (['hdss', 'study'], options_of(HDSS, 'study')), (['hdss', 'kernels'], options_of(HDSS, 'kernels')),
                            (['hdss', 'techniques'], options_of(HDSS, 'techniques')), (['hdss', 'top'], options_of(HDSS, 'top')), (['hdss', 'run'], options_of(HDSS, 'run') | supermaster),
                            (['hdss', 'simulate'], options_of(HDSS, 'simulate') | supermaster),
                            (['worker', '--dca', 'rma'], options_of(os.environ['WORKER']) | supermaster)):
        assert set(offered(*words, '--')) >= expected - {'--'} and set(offered(*words, '--')) <= expected | {'--help', '--version'}, words
    assert offered('/usr/bin/hdss-worker', '--slow') == ['--slowdown'] and offered('nothing', '--') == []


def test_values_of_options():
    for words, expected in ((['--weighting', ''], ['none', 'power', 'acp']), (['--weighting=p'], ['--weighting=power']), (['--power', 'e'], ['equal', ':files']),
                            (['--hostfile', ''], [':files']), (['--output='], [':files']), (['--retries', ''], []), (['--dca', 'r'], ['rma']),
                            (['--technique', 'a'], ['auto', *(name for name in techniques() if name.startswith('a'))]),
                            (['--technique', 'tap:m'], ['tap:mu=']), (['--technique=tap:mu=3,a'], ['--technique=tap:mu=3,alpha=']),
                            (['--technique', 'tss:decrement='], ['tss:decrement=floor', 'tss:decrement=real']), (['--technique', 'nope:'], []),
                            (['--technique', './fac'], [':files']), (['--technique=./fac'], [':files']), (['--technique', './factoring.so:'], []),
                            (['--candidate', '/tmp/x'], [':files']), (['--thread-technique', './fac'], []),
                            (['--dry-run', 'ad'], ['adjoint']), (['--', '--weighting', ''], [])):
        got = offered('hdss', 'run', *words)
        assert got == expected, (words, got)
    assert set(techniques()) < set(offered('hdss', 'chunks', '')) | {'auto'}
    assert offered('hdss', 'chunks', './fac') == [':files'] and offered('hdss', 'techniques', '/tmp/x') == [':files']
    assert offered('supermaster', '--resume', '')[0] == 'failed' and 'adjoint' in offered('supermaster', '--resume', '')


def test_kernels_and_their_parameters():
    for words, expected in ((['man'], ['mandelbrot']), (['mandelbrot', 'wi'], ['width=']), (['mandelbrot', 'width=3', 'wi'], []),
                            (['synthetic', 'mode='], ['mode=busy', 'mode=sleep']), (['exec', 'tasks='], [':files']), (['exec', 'keep=x'], [':folders']),
                            (['exec', 'command='], []), (['./no.so', ''], []), (['./no'], [':files']), (['--min-chunk', '5', 'exec', 'follow=y'], ['follow=yes'])):
        got = offered('hdss', 'run', *words)
        assert got == expected, (words, got)
    assert offered('hdss', 'kernels', 'mandelbrot', 'wi') == ['width='] and offered('worker', 'mand') == []
    assert offered('hdss', 'techniques', 'gs') == ['gss'] and offered('hdss', 'techniques', 'gss', '') == []
    assert {'run', 'exec', 'kernels', 'techniques', 'chunks', 'report', 'log', 'simulate', 'study', 'help', 'version'} <= set(offered('hdss', '')) and offered('hdss', 'nope', '') == []


def in_bash(line):
    """COMPREPLY for the line with the cursor at its end: bash gives the words cut at = and :."""
    words = [word for word in re.split(r'([=:]+)|\s+', line) if word]
    if line.endswith(' '):
        words.append('')
    script = (f'. {COMPLETIONS}/hdss; COMP_LINE={shlex.quote(line)}; COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=({shlex.join(words)});'
              f'COMP_CWORD={len(words) - 1}; _hdss {words[0]}; printf "%s\\n" "${{COMPREPLY[@]}}"')
    done = subprocess.run([BASH, '--norc', '-c', script], capture_output=True, text=True, check=False, env=shell_environment())
    assert done.returncode == 0 and done.stderr == '', done
    return [word for word in done.stdout.splitlines() if word]


def shell_environment():
    return dict(os.environ, PATH=os.path.dirname(HDSS) + ':' + os.environ['PATH'], TERM='dumb', HISTFILE='/dev/null')


def test_bash():
    if BASH is None:
        return 'no bash'
    os.makedirs('a folder/sub')
    with open('a file.npy', 'w', encoding='utf-8'):
        pass
    for line, expected in (('hdss te', ['techniques']), ('hdss run --technique=gs', ['gss']), ('hdss run --technique=', [*['auto'], *techniques()]),
                           ('hdss run --technique tap:mu=3,a', ['tap:mu=3,alpha='[len('tap:mu='):]]), ('hdss run --technique fsc:', ['h=', 'sigma=']),
                           ('worker --dca two', ['two-sided']), ('hdss run --output a', ['a file.npy', 'a folder']), ('hdss run --output=a', ['a file.npy', 'a folder']),
                           ('hdss run exec keep=a', ['a folder']), ('hdss run synthetic mode=', ['busy', 'sleep']), ('hdss run mandelbrot max_', ['max_iter=']),
                           ('hdss  run   --dry-run man', ['mandelbrot']), ('master --he', ['--help']), ('hdss run --retries ', []), ('hdss help kern', ['kernels']), ('nope --', [])):
        got = in_bash(line)
        assert sorted(got) == sorted(expected), (line, got)
    return None


def typed(command, setup, lines, expected):
    """Types the lines into a shell at a terminal, each after the former's answer, which says `expected`."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(command[0], command, shell_environment())
    shown = ''
    try:
        for line, wanted in [(setup + '; echo re""ady', 'ready'), *zip(lines, expected)]:
            os.write(terminal, line.encode() + b'\n')
            end, begun = time.monotonic() + TIMEOUT_S, len(shown)
            while not re.search(wanted, shown[begun:]):
                assert time.monotonic() < end and select.select([terminal], [], [], TIMEOUT_S)[0], (line, shown[begun:])
                shown += os.read(terminal, 4096).decode(errors='replace')
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


LINES = (['hdss kern\tmandel\t', 'hdss kernels synthetic mode=sl\t', 'hdss chunks gs\t --iter\t9 --workers 3 --form=recu\t', 'hdss techniques aut\t'],
         [r'escape times of', r'iterations, which wait', r'largest 3, smallest 1', r'finish first'])


def test_the_key_in_bash():
    if BASH is None:
        return 'no bash'
    typed([BASH, '--norc', '--noprofile', '-i'], f'. {COMPLETIONS}/hdss', *LINES)
    return None


def test_the_key_in_zsh():
    if ZSH is None:
        return 'no zsh'
    checked = subprocess.run([ZSH, '-n', COMPLETIONS + '/_hdss'], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked
    typed([ZSH, '-f', '-i'], f'fpath=({COMPLETIONS} $fpath); autoload -Uz compinit; compinit -u -D', *LINES)
    return None


def in_fish(line):
    script = f'source {COMPLETIONS}/hdss.fish; complete -C {shlex.quote(line)}'
    done = subprocess.run([FISH, '--no-config', '-c', script], capture_output=True, text=True, check=False, env=dict(shell_environment(), HOME=os.getcwd()))
    assert done.returncode == 0 and done.stderr == '', done
    return [text.split('\t')[0] for text in done.stdout.splitlines()]


def test_fish():
    if FISH is None:
        return 'no fish'
    os.makedirs('a folder/sub', exist_ok=True)
    with open('a file.npy', 'w', encoding='utf-8'):
        pass
    for line, expected in (('hdss te', ['techniques']), ('hdss run --technique=gs', ['--technique=gss']), ('hdss run --technique tap:mu=3,a', ['tap:mu=3,alpha=']),
                           ('worker --dca two', ['two-sided']), ('hdss run --output a', ['a file.npy', 'a folder/']), ('hdss run --output=a', ['--output=a file.npy', '--output=a folder/']),
                           ('hdss run exec keep=a', ['keep=a folder/']), ('hdss run synthetic mode=', ['mode=busy', 'mode=sleep']), ('hdss help kern', ['kernels']),
                           ('hdss  run   --dry-run man', ['mandelbrot']), ('master --he', ['--help']), (f'{HDSS} run --retri', ['--retries'])):
        got = [re.sub(r'\\ ', ' ', text) for text in in_fish(line)]
        assert sorted(got) == sorted(expected), (line, got)
    return None


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
