# SPDX-License-Identifier: MIT
"""What people type who know other programs, and slips: each is answered by a line that says what to type, and nothing is launched."""
import os
import re

from launch import HDSS, main, run
from sets import here, up, well

# The words behind `hdss`, and the line; {} is what follows `hdss: ` or `hdss COMMAND: `.
COMMANDS = (
    ('mandelbrot width=10', "'mandelbrot' is a kernel; type: hdss run mandelbrot width=10"),
    ('python:mine.roots n=5', "'python:mine.roots' is a kernel; type: hdss run python:mine.roots n=5"),
    ('./mine.so', "'./mine.so' is a kernel; type: hdss run ./mine.so"),
    ('GSS', "'GSS' is a technique; type: hdss techniques GSS, or hdss run --technique GSS ..."),
    ('tasks.txt', 'tasks.txt is a file; type, to run each of its lines: hdss run exec tasks=tasks.txt'),
    ('mine.study', 'mine.study is a study; type: hdss study mine.study'),
    ('mine.py', 'mine.py is a file of functions; type: hdss run python:mine.FUNCTION'),
    ('./fit', "./fit is a program; type: hdss exec ./fit ::: ARG..., or hdss run exec 'command=./fit {}' count=N"),
    ('gzip -9 a.dat', "gzip is a program; type: hdss exec gzip ::: ARG..., or hdss run exec 'command=gzip {}' count=N"),
    ('--workers 4 mandelbrot', '--workers is an option of run; type: hdss run --workers ...'),
    ('-j 4 run mandelbrot', '-j stands before the command; type: hdss run -j ...'),
    ('--technique gss simulate mandelbrot', '--technique stands before the command; type: hdss simulate --technique ...'),
    ('--nonsense', 'unknown option --nonsense; `hdss --help` shows what there is'),
    ('rnu', "unknown command 'rnu'; did you mean run?"),
    ('kernels gss', "kernels: 'gss' is a technique; type: hdss techniques gss"),
    ('techniques mandelbrot', "techniques: 'mandelbrot' is a kernel; type: hdss kernels mandelbrot"),
    ('status', "unknown command 'status'; here it is jobs"),
    ('help kernel', "unknown command 'kernel'; did you mean kernels?"),
    ('help nonsense', "unknown command 'nonsense'; `hdss --help` shows what there is"),
)

RUN = (
    ('mandelbrot --width=10', 'unknown option --width=10; a parameter of mandelbrot is written without dashes: width=10'),
    ('mandelbrot --width 10', 'unknown option --width; a parameter of mandelbrot is written without dashes: width=10'),
    ('--end-time=9 evrard', 'unknown option --end-time=9; a parameter of evrard is written without dashes: end_time=9'),
    ('-n 4 mandelbrot', 'unknown option -n; here it is --workers N, or -j N'),
    ('-np 4 mandelbrot', 'unknown option -np; here it is --workers N, or -j N'),
    ('--jobs=4 mandelbrot', 'unknown option --jobs=4; here it is --workers N'),
    ('-o x.npy mandelbrot', 'unknown option -o; here it is --output FILE'),
    ('--chunk-size 5 mandelbrot', 'unknown option --chunk-size; here it is --technique css:chunk=K'),
    ('--force mandelbrot', 'unknown option --force; here it is --overwrite'),
    ('--machinefile hosts mandelbrot', 'unknown option --machinefile; here it is --hostfile FILE'),
    ('-workers 4 mandelbrot', 'unknown option -workers; did you mean --workers?'),
    ('-j mandelbrot', '--workers needs a value before the kernel mandelbrot: accepted: auto, an integer from 1 to 2^20'),
    ('--technique gs mandelbrot', '--technique: technique \'gs\' is unknown; did you mean gss? accepted are static, *'),
    ('--technique css:5 mandelbrot', "--technique: technique css: '5' is a value; type css:chunk=5; the parameters are chunk="),
    ('--technique gss,tss mandelbrot', "--technique: technique 'gss,tss' is unknown: accepted is one, as NAME or NAME:PARAM=VALUE,...; or auto"),
    ('--technique dynamic mandelbrot', "--technique: technique 'dynamic' is unknown; did you mean ss? accepted are static, *"),
)

# What stands in the place of a kernel, and behind it.
KERNELS = (
    ('tasks.txt', 'tasks.txt is a file; type, to run each of its lines: hdss run exec tasks=tasks.txt'),
    ('python', 'a function in Python is written python:MODULE.FUNCTION'),
    ('mine.py', 'mine.py is a file of functions; type: hdss run python:mine.FUNCTION'),
    ('python:nosuch_.squares', 'kernel python:nosuch_.squares: *'),
    ('python:mine.py', 'python:mine.py is a file of functions; type: hdss run python:mine.FUNCTION'),
    ('./mine.py', './mine.py is a file of functions; type: hdss run python:mine.FUNCTION'),
    ('loop.c', 'loop.c is a source; compile it to a shared object and type: hdss run ./loop.so'),
    ('python:nosuch.f', 'kernel python:nosuch.f: there is no module nosuch; it is looked for in the current folder and in PYTHONPATH'),
    ('python:./nosuch.f', 'kernel python:./nosuch.f: a module is named without a path; type python:nosuch.f in its folder, or with this in PYTHONPATH'),
    ('src/loop.f90 n=3', 'src/loop.f90 is a source; compile it to a shared object and type: hdss run ./loop.so'),
    ('./fit', "./fit is a program; type: hdss exec ./fit ::: ARG..., or hdss run exec 'command=./fit {}' count=N"),
    ('gzip a.dat', "gzip is a program; type: hdss exec gzip ::: ARG..., or hdss run exec 'command=gzip {}' count=N"),
    ('/bin/sh', "/bin/sh is a program; type: hdss exec /bin/sh ::: ARG..., or hdss run exec 'command=/bin/sh {}' count=N"),
    ('exec tasks.txt', "'tasks.txt' after kernel exec: type tasks=tasks.txt"),
    ('exec echo hi count=3', "'echo' after kernel exec: type 'command=echo hi', with count=N or table=FILE"),
    ('exec ./fit', "'./fit' after kernel exec: type 'command=./fit', with count=N or table=FILE"),
    ('mandelbrot width 10', "'width' after kernel mandelbrot: type width=10, as one word"),
    ('mandelbrot width = 10', "'width' after kernel mandelbrot: type width=10, as one word"),
    ('mandelbrot width:10', "'width:10' after kernel mandelbrot: type width=10, as one word"),
    ('mandelbrot synthetic', "'synthetic' after kernel mandelbrot: a run has one kernel"),
    ('mandelbrot WIDTH=3', "mandelbrot: unknown parameter 'WIDTH'; did you mean width? accepted: *"),
    ('mandelbrot workers=4', "'workers=4' is written as a parameter; workers is an option: type --workers=4"),
    ('mandelbrot technique=gss', "'technique=gss' is written as a parameter; technique is an option: type --technique=gss"),
    ('--workers mandelbrot', '--workers needs a value before the kernel mandelbrot: accepted: auto, an integer from 1 to 2^20'),
    ('--technique mandelbrot', '--technique needs a value before the kernel mandelbrot: accepted: auto, *'),
    ('--dca mandelbrot', '--dca needs a value before the kernel mandelbrot: accepted: rma, *'),
    ('--journal mandelbrot width=8', '--journal needs a value before the kernel mandelbrot: accepted: a file name, off'),
    ('\u2014workers 4 mandelbrot', "'\u2014workers' begins with a dash of typesetting; options begin with '-'"),
    ('-- --workers 4 mandelbrot', "'--workers' stands behind '--', where there are no options"),
    ('Mandelbrot', "unknown kernel 'Mandelbrot'; did you mean mandelbrot? accepted: *"),
    ('--Workers=2 mandelbrot', 'unknown option --Workers; did you mean --workers?'),
    ('--iterations 10 mandelbrot', "--iterations '10': accepted: FIRST:COUNT, two integers from 0, such as 0:100"),
    ('--time-limit 1x mandelbrot', "--time-limit '1x': accepted: auto, none, or seconds, 30m, 2h, 1h30m, 1d, M:S, H:M:S or D-H:M:S"),
)

# Lines of a study behind LOOP, what is said behind its name and line, and the lines that are right.
LOOP = 'kernel = synthetic iterations=9\nworkers = 1 2\n'
STUDY = (
    ('techniqe = gss', "unknown key 'techniqe'; did you mean technique?", 'technique = gss'),
    ('techniques = gss', "unknown key 'techniques'; did you mean technique?", 'technique = gss'),
    ('Technique = gss', "unknown key 'Technique'; did you mean technique?", 'technique = gss'),
    ('min-chunk = 2', "unknown key 'min-chunk'; did you mean min_chunk?", 'min_chunk = 2'),
    ('repeat = 3', "unknown key 'repeat'; *", 'repetitions = 3'),
    ('foo = 1', "unknown key 'foo'; accepted: kernel, technique, *", 'title = 1'),
    ('technique gss', "'technique gss' is not accepted: KEY = VALUE ..., or # and a comment", 'technique = gss'),
    ('technique: gss', "'technique: gss' is not accepted: KEY = VALUE ..., or # and a comment", 'technique = gss'),
    ('[study]', "'[study]' is not accepted: KEY = VALUE ..., or # and a comment", '# [study]'),
    ('= gss', "'= gss' is not accepted: KEY = VALUE ..., or # and a comment", 'technique = gss'),
    ('technique =', 'technique has no value; accepted: techniques', 'technique = gss'),
    ('masters =', 'masters has no value; accepted: integers from 0 to 1048576', 'masters = 1'),
    ('technique = gs', "technique: --technique: technique 'gs' is unknown; did you mean gss? accepted are static, *", 'technique = gss'),
    ('technique = dynamic', "technique: --technique: technique 'dynamic' is unknown; did you mean ss? accepted are static, *", 'technique = ss'),
    ('technique = css:5', "technique: --technique: technique css: '5' is a value; type css:chunk=5; *", 'technique = css:chunk=5'),
    ('technique = gss, tss', "technique = 'gss, tss': values stand between blanks, without commas and quotes: technique = gss tss", 'technique = gss tss'),
    ('technique = gss,tss', "technique = 'gss,tss': values stand between blanks, without commas and quotes: technique = gss tss", 'technique = gss tss'),
    ('technique = "gss"', "technique = '\"gss\"': values stand between blanks, without commas and quotes: technique = gss", 'technique = gss'),
    ('masters = 0,1', "masters = '0,1': values stand between blanks, without commas and quotes: masters = 0 1", 'masters = 0 1'),
    ('measure = time, speedup', "measure = 'time, speedup': values stand between blanks, without commas and quotes: measure = time speedup", 'measure = time speedup'),
    ('technique = gss gss', "'gss' stands twice in technique; accepted: each value once", 'technique = gss'),
    ('workers = 4', 'workers stands there for the second time; accepted: one line with all values', 'masters = 1'),
    ('masters = two', "masters = 'two' is not accepted: integers from 0 to 1048576", 'masters = 2'),
    ('masters = -1', "masters = '-1' is not accepted: integers from 0 to 1048576", 'masters = 1'),
    ('masters = 1-4', "masters = '1-4' is not accepted: integers from 0 to 1048576", 'masters = 1 2'),
    ('threads = 0', "threads: --threads '0': *", 'threads = 1'),
    ('min_chunk = 0', "min_chunk: --min-chunk '0': *", 'min_chunk = 1'),
    ('refill = never', "refill: --refill 'never': accepted: *", 'refill = ahead'),
    ('weighting = yes', "weighting: --weighting 'yes': accepted: *", 'weighting = power'),
    ('power = fast', "--power 'fast': accepted: measure, equal or a readable file (fast: *", 'power = equal'),
    ('slowdown = 0.5', "slowdown: --slowdown: '0.5': accepted: numbers from 1 to 1000", 'slowdown = 2'),
    ('load = heavy', "load: --load: 'heavy': accepted: integers from 0 to 64", 'load = 1'),
    ('delay = soon', "delay: --inject-delay 'soon': *", 'delay = assignment:10'),
    ('topology = flat', "topology = 'flat' is not accepted: central, hierarchical, dca-rma, dca-two-sided, dca-node", 'topology = central'),
    ('topology = hierarchical', 'the topology hierarchical needs a line masters = 1 ...', 'topology = hierarchical\nmasters = 1'),
    ('thread_technique = gss', 'thread_technique needs a line threads = T ...', 'thread_technique = gss\nthreads = 2'),
    ('backend = sim', "backend = 'sim' is not accepted: mpirun, simulate", 'backend = simulate'),
    ('platform = cluster', 'platform needs a line backend = simulate', 'platform = cluster\nbackend = simulate'),
    ('fail_nodes = 0@1', 'fail_nodes is accepted only where all is simulated: backend = simulate', 'fail_nodes = none 0@1\nbackend = simulate'),
    ('seeds = yes', 'seeds needs a line backend = simulate', 'seeds = yes\nbackend = simulate'),
    ('seeds = 3', "seeds = '3' is not accepted: yes, no", 'seed = 3'),
    ('seed = -1', "seed = '-1' is not accepted: an integer from 0 to 2^64-1", 'seed = 1'),
    ('steps = 3', "steps = '3' is not accepted: yes, no", 'steps = yes'),
    ('traces = on', "traces = 'on' is not accepted: yes, no", 'traces = yes'),
    ('repetitions = 0', "repetitions = '0' is not accepted: an integer from 1 to 10000", 'repetitions = 1'),
    ('repetitions = many', "repetitions = 'many' is not accepted: an integer from 1 to 10000", 'repetitions = 20'),
    ('repetitions = 2 3', "repetitions = '2 ...' is not accepted: an integer from 1 to 10000", 'repetitions = 3'),
    ('until = 0', "until = '0' is not accepted: a percentage above 0, up to 100: 2 %", 'until = 2 %'),
    ('until = 2\nrepetitions = 3', 'until needs repetitions = 6 or more: fewer runs have no interval of 95 %', 'until = 2\nrepetitions = 6'),
    ('timeout = 1h', "timeout = '1h' is not accepted: seconds, an integer from 1 to 1000000", 'timeout = 3600'),
    ('measure = runtime', "measure = 'runtime' is not accepted: time, *", 'measure = time'),
    ('measure = improvement', 'the measure improvement needs a line baseline = AXIS=VALUE ...', 'measure = improvement\nbaseline = workers=1'),
    ('measure = thread_imbalance', 'the measure thread_imbalance needs a line threads = T ... of more than 1', 'measure = thread_imbalance\nthreads = 2'),
    ('baseline = gss', "baseline = 'gss' is not accepted: AXIS=VALUE ...", 'baseline = technique=gss\ntechnique = gss ss'),
    ('baseline = technique=tss', "baseline = 'technique=tss': the study has no such value of technique; accepted: dfss", 'baseline = technique=dfss'),
    ('speedup_base = workers=3', "speedup_base = 'workers=3': the study has no such value of workers; accepted: 1, 2", 'speedup_base = workers=1'),
    ('x = size', "x = 'size' is not accepted: kernel, technique, *", 'x = workers'),
    ('x = workers technique', 'x: one axis is accepted', 'x = workers'),
    ('x = workers\nseries = workers', 'series: it is the axis x already; accepted: another one', 'x = workers\nseries = technique'),
    ('heat = workers', 'heat: accepted: two axes, or none', 'heat = workers technique'),
    ('options = --technique gss', 'options: --technique is an axis; type a line technique = VALUE ...', 'technique = gss'),
    ('options = --masters 1', 'options: --masters is an axis; type a line masters = VALUE ...', 'masters = 1'),
    ('options = --report r.json', "options = '--report' is not accepted: options of hdss run that are no axis and that the study does not set itself", 'options = --verify 0.1'),
    ('options = --powr equal', 'unknown option --powr; did you mean --power?', 'power = equal'),
    ('kernel = syntetic', "unknown kernel 'syntetic'; did you mean synthetic? accepted: *", 'kernel = synthetic'),
    ('kernel = "synthetic"', "kernel = '\"synthetic\"': values stand between blanks, without commas and quotes: kernel = synthetic", 'kernel = synthetic'),
    ('kernel = synthetic iteration=9', "synthetic: unknown parameter 'iteration'; did you mean iterations? accepted: *", 'kernel = synthetic iterations=8'),
    ('kernel = synthetic iterations 9', "'iterations' after kernel synthetic: type iterations=9, as one word", 'kernel = synthetic iterations=8'),
    ('kernel = --masters 1 synthetic', "kernel = '--masters 1 synthetic' is not accepted: a kernel and its parameters, as for hdss run; one line for each", 'kernel = synthetic\nmasters = 1'),
    ('kernel = nosuch.py', 'nosuch.py is *', 'kernel = synthetic'),
    ('kernel = exec tasks=nosuch', 'exec: nosuch: No such file or directory', 'kernel = exec command=true count=2'),
)
# A study's whole text, and the same of it.
STUDIES = (
    ('', 'the matrix is empty: there is no line kernel = ...; accepted: a kernel and its parameters, as for hdss run; one line for each', LOOP),
    ('# nothing\n', 'the matrix is empty: there is no line kernel = ...; accepted: a kernel and its parameters, as for hdss run; one line for each', LOOP),
    ('kernel = synthetic\n', 'the matrix is empty: there is no line workers = ...; accepted: integers from 1 to 1048576', LOOP),
    ('kernel = synthetic\nworkers = auto\n', "workers = 'auto' is not accepted: integers from 1 to 1048576", LOOP),
    ('kernel = synthetic\nworkers = 0\n', "workers: --workers '0': *", LOOP),
)


def check(words, said):
    result = run([HDSS, *words])
    assert result.status == 2 and not result.out and len(result.err) == 1, (words, result)
    line = result.err[0]
    assert line.startswith(said[:-1]) if said.endswith('*') else line == said, f'{" ".join(words)}\n    {line}\nis not\n    {said}'


def make_files():
    for name in ('tasks.txt', 'mine.study', 'mine.py', 'loop.c', 'fit'):
        with open(name, 'w') as file:
            file.write('#!/bin/sh\n')
    os.chmod('fit', 0o755)


def test_what_is_no_command():
    make_files()
    for words, said in COMMANDS:
        check(words.split(), ('hdss ' if words.split()[0] in ('kernels', 'techniques') else 'hdss: ') + said)


def test_a_program_may_have_the_name_of_something_here():
    for name in ('mandelbrot', 'rnu'):
        with open(name, 'w') as file:
            file.write('#!/bin/sh\n')
        os.chmod(name, 0o755)
    path = ['env', 'PATH=' + os.getcwd() + ':' + os.environ['PATH'], HDSS]
    for words, said in ((['run', 'mandelbrot', '--width=9'], ': width=9'), (['mandelbrot'], ' hdss run mandelbrot'), (['rnu'], ' did you mean run?')):
        result = run([*path, *words])
        assert result.status == 2 and len(result.err) == 1, result
        assert f"{said}; for the program of this name: hdss exec {words[-2 if len(words) > 2 else -1]} ::: ARG..." in result.err[0], result


def test_options_that_other_programs_have():
    for words, said in RUN:
        check(['run', *words.split()], 'hdss run: ' + said)
    check(['run', 'mandelbrot width=8'], "hdss run: 'mandelbrot width=8' is one word, with blanks in it; type it without the quotes")
    check(['simulate', 'mandelbrot', 'workers=4'], "hdss simulate: 'workers=4' is written as a parameter; workers is an option: type --workers=4")
    check(['simulate', 'mandelbrot', '--width=3'], 'hdss simulate: unknown option --width=3; a parameter of mandelbrot is written without dashes: width=3')


def test_what_is_no_kernel():
    make_files()
    for words, said in KERNELS:
        check(['run', *words.split()], 'hdss run: ' + said)
    with open('slip.study', 'w') as file:
        file.write('kernel = mandelbrt\n')
    check(['study', 'slip.study'], "hdss study: slip.study, line 1: unknown kernel 'mandelbrt'; did you mean mandelbrot? accepted: *")


def test_studies():
    """What is typed as the line says is accepted."""
    for i, (lines, said, right) in enumerate([*STUDIES, *((LOOP + lines + '\n', said, LOOP + right + '\n') for lines, said, right in STUDY)]):
        for name, text in (('wrong.study', lines), ('right.study', right)):
            with open(name, 'w', encoding='utf-8') as file:
                file.write(text)
        result = run([HDSS, 'study', 'wrong.study'])
        line = re.sub('^hdss study: wrong.study(, line [0-9]+)?: ', '', result.raw_err.rstrip('\n'))
        assert result.status == 2 and not result.out and len(result.err) == 1 and line != result.raw_err, (i, lines, str(result))
        assert line.startswith(said[:-1]) if said.endswith('*') else line == said, f'{lines}\n    {line}\nis not\n    {said}'
        result = run([HDSS, 'study', '--dry-run', 'right.study'])
        assert result.status == 0 and result.out, (right, str(result))
    for words, said in (('', 'no study file is given: hdss study FILE'), ('nosuch.study', 'nosuch.study: No such file or directory'),
                        ('right', 'right: No such file or directory; did you mean right.study?'), ('.', '.: *'), ('right.study wrong.study', "'wrong.study' is one argument *"),
                        ('--folder nowhere right.study', "--folder 'nowhere': accepted: a folder that exists"), ('--folder', '--folder needs a value: accepted: *'),
                        ('--dryrun right.study', 'unknown option --dryrun; did you mean --dry-run?'), ('--report right.study', 'unknown option --report; did you mean --report-only?'),
                        ('--dry-run=yes right.study', '--dry-run takes no value')):
        check(['study', *words.split()], 'hdss study: ' + said)
    assert sorted(os.listdir()) == ['right.study', 'wrong.study'], os.listdir()


def test_many_workers_are_noted():
    result = run([HDSS, 'run', '--dry-run', '-j', '999', 'synthetic'])
    assert result.status == 0 and len(result.err) == 1 and re.match('hdss run: 999 workers share [0-9]+ cores?, more than 8 each: ', result.err[0]), result
    assert not run([HDSS, 'run', '--dry-run', '-q', '-j', '999', 'synthetic']).err and not run([HDSS, 'run', '--dry-run', '-j', '2', 'synthetic']).err


def test_pages_and_versions():
    pages = {words: run([HDSS, *words.split()]) for words in ('--help', '-h', 'help', 'run --help', 'help run', '--help run', 'help help', '--version', '-V', 'version', 'run -V')}
    assert all(page.status == 0 and page.out and not page.err for page in pages.values()), pages
    assert pages['--help'].out == pages['-h'].out == pages['help'].out == pages['help help'].out != pages['run --help'].out == pages['help run'].out == pages['--help run'].out
    assert pages['--version'].out == pages['-V'].out == pages['version'].out == pages['run -V'].out
    for words in ('--help', 'version', 'help run'):
        result = run(['sh', '-c', f'{HDSS} {words} > /dev/full'])
        assert result.status == 1 and len(result.err) == 1 and result.err[0].endswith('cannot write: No space left on device'), result


# Each command with words by which it prints something, in an order in which they can be typed beside a set that is up and has had a job; None: it
# prints to files and standard error alone.
PRINTS = {
    'run': '--dry-run -j1 synthetic', 'exec': '--dry-run echo ::: 1', 'up': '--dry-run --name other', 'join': '--dry-run', 'alloc': '', 'pods': '',
    'submit': '--open --output {open}.txt exec command=echo', 'add': '{open} a', 'jobs': '--all', 'top': '--once', 'page': 'main', 'show': '{done}',
    'wait': '{done}', 'output': '{done}', 'cancel': '{open}', 'simulate': 'synthetic iterations=9', 'study': '--dry-run a.study', 'kernels': '', 'techniques': '',
    'chunks': 'gss --iterations 9 --workers 2', 'log': 'exec.log', 'report': None, 'explain': '--iteration 3 a.csv',
    'drain': '--wait', 'down': '',
}


def test_commands_in_python_bear_any_streams():
    """Closed, full, or with nobody who reads: the status is what it is, and no line goes where the others belong."""
    long_name = 'n' * 253
    for command, status, err in (('report nope --html o.html 2>/dev/full', 2, ''), ('report nope --html o.html 2>&-', 2, ''),
                                 ('explain --help >&-', 1, 'hdss explain: cannot write: Bad file descriptor\n'),
                                 ('study --help >/dev/full', 1, 'hdss study: cannot write: No space left on device\n'),
                                 ('explain /dev/zero -w 1', 2, 'hdss explain: /dev/zero:1: this is no trace: its first line is not '
                                                               'kind,time_s,worker,...,formula,text\n'),
                                 ('report /dev/zero --html o.html', 2, 'hdss report: /dev/zero:1: this is no trace: its first line is not '
                                                                       'kind,time_s,worker,...,formula,text\n'),
                                 (f'report /dev/null --html {long_name}', 2, f'hdss report: {long_name[:200]}: File name too long\n')):
        result = run(['sh', '-c', f'ulimit -v 700000; exec "$0" {command}', HDSS])
        assert (result.status, result.out, result.raw_err) == (status, '', err), (command, result)
    assert not os.path.exists('o.html')


def set_with_a_job():
    """The number of its job, which is done."""
    up('--listen', '127.0.0.1:0')
    number = well(['submit', 'synthetic', 'iterations=1']).strip().split('/')[1]
    well(['wait', number])
    return int(number)


def test_no_command_calls_printed_what_is_not():
    """On a disk that is full, and where standard output is closed: what is printed goes into no other file."""
    here()
    commands = re.findall('^  ([a-z]+) ', run([HDSS, '--help']).out, re.MULTILINE)
    assert sorted(commands) == sorted(PRINTS), commands
    well(['run', '-qj1', 'exec', 'command=echo', 'count=2'])
    well(['run', '-qj1', '--trace', 'a.csv', 'synthetic', 'iterations=9'])
    with open('a.study', 'w') as file:
        file.write('kernel = synthetic iterations=9\ntechnique = ss\nworkers = 1\n')
    done = set_with_a_job()
    try:
        for output in ('> /dev/full', '>&-'):
            for name, words in PRINTS.items():
                if words is None:
                    continue  # nothing is printed
                result = run(['sh', '-c', f'{HDSS} {name} {words.format(done=done, open=done + 1)} {output}'])
                assert result.status == 1 and len(result.err) == 1 and 'cannot write: ' in result.err[0], (name, output, result)
                if name in ('drain', 'down'):
                    done = set_with_a_job()
    finally:
        run([HDSS, 'down'])


def test_the_line_is_shown_where_it_is_wanted():
    job = ['-j', '2', 'synthetic', 'iterations=10']
    result = run([HDSS, 'run', *job])
    assert result.status == 0 and result.checksum() and not result.err, result
    result = run([HDSS, 'run', '-v', *job])
    assert result.status == 0 and len(result.err) == 1 and ' -n 2 ' in result.err[0], result
    result = run([HDSS, 'run', '-q', *job])
    assert result.status == 0 and not result.err and not result.out, result
    result = run([HDSS, 'run', '-j2', '--report', '-', *job[2:]])
    assert result.status == 0 and result.out.startswith('{') and result.err[0].startswith('synthetic: 10 iterations done'), result
    result = run([HDSS, 'run', '-j2', '--summary', 'json', *job[2:]])
    assert result.status == 0 and result.out.startswith('{') and result.out.endswith('}\n') and not result.err, result
    result = run(['sh', '-c', f'{HDSS} run {" ".join(job)} > /dev/full'])
    assert result.status == 1 and result.err == ['hdss: cannot write the summary: No space left on device'], result


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
