#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Command lines as people type them who know GNU parallel or xargs and not hdss: each gives what the other tool gives, and succeeds
where that does. The lines are of the kinds that a newcomer tried first: pipes, redirections, variables, `sh -c`, scripts of awk and
Python, functions, odd file names, tables. Kinds in which the other tool is wrong say what is right."""
import os
import shlex
import shutil
import subprocess

from launch import HDSS, TIMEOUT_S, environment, main

# In each line T stands for the tool: hdss exec -k, or parallel -k.
AS_PARALLEL = r'''
T echo ::: a b c
T 'echo {}' ::: a b c
T echo {} {} ::: a b
T 'cat {} | wc -l' ::: one two
T "cat {} | wc -l" ::: one two
T cat {} '|' wc -l ::: one two
T cat {} \| sort -r \| head -1 ::: one two
T 'sort {} > {}.sorted; cat {}.sorted' ::: one two
T sort {} '>' {}.s2 ::: one two && cat one.s2 two.s2
T sort -r {} \> {}.s3 ::: one two && cat one.s3 two.s3
T 'sort {} > {.}.s4' ::: table.csv && cat table.s4
T 'wc -l < {}' ::: one two
T wc -l '<' {} ::: one two
T 'echo {}; echo done' ::: a b
T echo {} ';' echo then ::: a b
T 'echo {} && echo yes' ::: a
T 'false {} || echo failed' ::: a
T test -e {} '&&' echo {} exists ::: one two
T 'ls nosuch{} 2>/dev/null; echo $?' ::: a
T ls nosuch{} '2>/dev/null' '||' echo none ::: a
T 'ls nosuch{} 2>&1 | wc -l' ::: a
T 'echo $HOME/{}' ::: a b
T 'echo "$GREETING {}"' ::: a b
T 'echo $GREETING' ::: x
T 'X={}; echo $X$X' ::: a b
T 'Y=$(basename {} .csv); echo $Y' ::: table.csv
T 'echo $((1 + 2)) {}' ::: a
T 'echo $(cat {})' ::: one
T 'for i in 1 2; do echo $i {}; done' ::: a b
T 'if [ {} -gt 1 ]; then echo big; else echo small; fi' ::: 1 2
T 'if [[ {} == a* ]]; then echo yes; else echo no; fi' ::: ab ba
T '[[ {} -gt 1 ]] && echo {}' ::: 2 3
T 'case {} in a) echo A;; *) echo other;; esac' ::: a b
T 'while read l; do echo "<$l>"; done < {}' ::: one
T 'diff <(sort {}) <(sort -r {}) > /dev/null; echo $?' ::: one
T 'cat <<< {}' ::: 'a b'
T 'cd sub; ls' ::: x
T '(cd sub && ls); pwd | wc -l' ::: x
T 'cd sub && cat {}' ::: inner
T 'echo {a,b}{}' ::: 1 2
T 'echo {1..3}' ::: x
T 'ls *.csv' ::: x
T 'echo ~ | wc -l' ::: x
T 'echo a?c [xy]*' ::: x
T 'set -e; false; echo never' ::: a || echo failed
T 'exit 3' ::: a || echo failed
T false ::: a b || echo failed
T true ::: a b && echo good
T 'time true' ::: a 2>/dev/null && echo timed
T 'shout {}' ::: a b
T shout ::: a b
T shout {} x ::: a b
T 'shout {} | tr A-Z a-z' ::: a b
T 'source ./lib.sh; helper {}' ::: a b
T '. ./lib.sh; helper {}' ::: a b
T 'export Z={}; sh -c "echo \$Z"' ::: a b
T 'umask 077; umask' ::: x
T 'echo -e "a\tb{}"' ::: 1
T 'printf "%s\n" {} {}' ::: a 'b c'
T 'printf "%05d\n" {}' ::: 7 42
T "echo '{}'" ::: a 'b c'
T 'echo {} | sed "s/a/b/"' ::: aaa
T "echo {} | awk '{print \$1}'" ::: 'x y'
T "awk '{print NR}' {}" ::: one
T 'awk "{print \$1}" {}' ::: one
T 'grep -c o {}' ::: one two
T grep -c o ::: one two
T 'echo {} # a comment' ::: a
T 'seq {} | paste -sd+ | bc' ::: 3 4
T 'echo {/} {//} {.} {/.}' ::: sub/inner.txt
T 'cp {} {.}.copy && ls {.}.copy' ::: table.csv
T 'echo {#}: {}' ::: a b
T 'echo {1} {2}' ::: a b ::: 1 2
T echo {2} {1} ::: a b ::: 1 2
T echo {1}-{2} ::: a b :::+ 1 2
T --link echo {1} {2} ::: a b ::: 1 2
T -N2 echo {1} and {2} ::: a b c d
T -n 2 echo ::: a b c d
T -n2 'echo {} | wc -w' ::: a b c d
T -I% echo %.% ::: a b
T -I@@ 'echo @@ | rev' ::: abc
T --colsep , echo {2} {1} ::: a,b c,d
T --colsep ' ' 'echo {2}; echo {1}' :::: words
T --colsep '\t' echo {2} :::: tabs
T --header : echo {name} is {age} ::: name ann bob ::: age 3
T --header : --colsep , 'echo {b}' :::: table.csv
T -a one echo
T -a one 'echo got {}'
T echo :::: one two
T echo :::: one ::: x y
cat one | T echo
cat one | T 'echo {} | tr a-z A-Z'
cat one two | T -j2 echo {}
ls *.csv | T wc -l
ls *.csv | T 'wc -l {}'
find sub -name '*.txt' -print0 | T -0 ls
printf 'a;b;c' | T -d ';' echo
seq 5 | T -j 2 'echo $(({} * {}))'
cat commands | T
cat commands | T -j1
T < commands
T :::: commands
T ::: 'echo a | wc -c' 'echo "b  c"' 'test 1 -eq 1 && echo ok'
T -j1 'echo {} >> log; wc -l < log' ::: a b
T -P 2 echo ::: a b
T --jobs 2 echo ::: a b
T -j200% echo ::: a
T --tag echo ::: a b
T --tagstring '{}:' 'echo x' ::: a b
T --dry-run 'gzip -9 {}' ::: one two
T --dryrun echo {} ::: a
T --lb echo ::: a b
T -u -j1 echo ::: a b
T -t -j1 echo ::: a 2>/dev/null
T --timeout 10 echo ::: a
T --retries 2 -j1 'echo {} >> tries; false' ::: a || wc -l < tries
T --halt now,fail=1 'false {}' ::: a b c || echo stopped
T --wd sub ls ::: .
T --joblog jl echo ::: a b; cut -f 1,7 jl | sort
T --plus 'echo {..} {+.}' ::: a.b.c
T -r echo ::: '' a
T echo a '#{}' ::: 1 2
T -q echo '$HOME {}' ::: a
T -q perl -e 'print "@ARGV\n"' ::: 'a  b'
T -m -j1 echo ::: a b c
T --xargs echo ::: a b c
T --will-cite echo ::: a
T 'mkdir -p d/{} && touch d/{}/x && ls d/{}' ::: p 'q r'
T 'ls -1 {} | wc -l' ::: 'odd name' "it's"
T wc -c ::: 'odd name' "it's"
T 'wc -c {}' ::: 'odd name' "it's" 'dol$lar'
T 'basename {}' ::: 'sub/inner.txt' 'odd name'
'''

# Where GNU parallel tears the words or the quotes: T is hdss exec -k, and what is right is on the second line.
AS_OTHERS = r'''
T sh -c 'echo a; echo $0' ::: 1 2
printf '1\n2\n' | xargs -n 1 sh -c 'echo a; echo $0'
T sh -c 'sleep 0.1; echo {}' ::: x
echo x
T bash -c 'echo "$0" | rev' ::: abc
echo cba
T python3 -c 'import sys; print(sys.argv[1])' ::: a
echo a
T python3 -c 'print("{}" * 2)' ::: ab
echo abab
T awk '{print $1}' ::: words
awk '{print $1}' words
T awk '{print NR}' {} ::: one
awk '{print NR}' one
T awk -F, '{print $2}' ::: table.csv
awk -F, '{print $2}' table.csv
T awk -F '|' '{print $2}' ::: bars
awk -F '|' '{print $2}' bars
T cut -d '|' -f 1 ::: bars
cut -d '|' -f 1 bars
T cut -d ';' -f 1 {} ::: bars
cut -d ';' -f 1 bars
T sed 's/a b/x; y/' ::: words
sed 's/a b/x; y/' words
T sed -n '1p;2p' {} ::: one
sed -n '1p;2p' one
T grep '>' ::: fasta
grep '>' fasta
T grep -c '>' {} ::: fasta
grep -c '>' fasta; grep -q '>' fasta && true
T find {} -name '*.txt' -exec basename '{/}' ';' ::: sub
echo sub
T echo '$HOME' ::: x
echo '$HOME' x
T echo 'a  b' {} ::: 'c  d'
echo 'a  b' 'c  d'
T printf '%s\n' ::: 'a  b' "it's"
printf '%s\n' 'a  b' "it's"
T 'echo "{}"' ::: "it's" 'a $HOME `x`'
printf '%s\n' "it's" 'a $HOME `x`'
T "echo 'got {}'" ::: "it's" 'a "b"'
printf '%s\n' "got it's" 'got a "b"'
T perl -e 'print "@ARGV\n"' ::: 'a  b'
echo 'a  b'
T env A=1 B='x y' sh -c 'echo $A$B {}' ::: z
echo '1x y z'
C=3 T 'echo $C{}' ::: z
echo 3z
T D=5 sh -c 'echo $D' ::: z
echo 5
T echo '"{}"' ::: a
echo '"a"'
T 'echo "$GREETING {}"' ::: 'b c'
echo 'good day b c'
T --csv echo {2} :::: quoted.csv
printf '%s\n' 'x, y' 'say "hi"'
T tr a-z A-Z '<' {} ::: one
tr a-z A-Z < one
T tr ';' '|' '<' {} ::: bars
tr ';' '|' < bars
T expr {} '*' 2 ::: 3
expr 3 '*' 2
T echo '\{}' {} ::: a
echo '{}' a
T ! grep -q nosuch {} ::: one && T : ::: a && echo good
echo good
T [[ {} -gt 1 ]] '&&' echo {} ::: 2
echo 2
T '(' cd sub ';' cat {} ')' '|' wc -l ::: inner
cat sub/inner | wc -l
LC_ALL=C T env A=1 grep -m 1 '>' ::: fasta
grep -m 1 '>' fasta
T A=1 grep -c '>' {} ::: fasta
grep -c '>' fasta
'''

# Files of tasks as other task farms take them (disBatch, Launcher, GREASY, dSQ, Slurm's job arrays): a line of bash each.
TASK_FILES = r'''
echo one
echo two
---
# a comment, and an empty line

echo first
   # another
echo second
---
( cd sub ; cat inner ) &> a.log ; cat a.log
( cd sub ; cat inner.txt ) &> b.log ; cat b.log
---
( cd sub && ls ) > out1 2> err1; cat out1 err1
( cd nosuch && ls ) > out2 2> err2; wc -l < err2
---
module() { echo "loaded $2"; }; module load gcc; ./go.sh 1
---
. ./lib.sh; helper 1
source ./lib.sh && helper 2
---
cd sub; cat inner
cd sub; cat inner.txt
---
./go.sh 1
./go.sh 2 "a b"
./go.sh 3 'c  d'
---
bash go.sh 1 | tr a-z A-Z
bash go.sh 2 | tr a-z A-Z > up; cat up
---
OMP_NUM_THREADS=2 sh -c 'echo $OMP_NUM_THREADS'
OMP_NUM_THREADS=4 sh -c 'echo $OMP_NUM_THREADS'
---
export A=1; export B=$((A + 1)); echo $B
---
for i in 1 2 3; do echo $i; done
for f in *.csv; do wc -l $f; done
---
if [ -e one ]; then echo there; fi
if [[ -e nosuch ]]; then echo there; else echo none; fi
---
[[ abc == a* ]] && echo match
[[ abc =~ ^a.c$ ]] && echo match
---
diff <(sort one) <(sort two) | wc -l
paste <(seq 2) <(seq 2)
---
cat one | sort | uniq -c | awk '{print $1}'
awk -F, '{print $2}' table.csv
awk 'NR > 1 { s += $1 } END { print s }' FS=, table.csv
---
sed 's/o/0/g' one
sed -e 's/f/F/' -e 's/b/B/' one | head -1
---
python3 -c 'import sys; print(sys.argv[1:])' a 'b c'
python3 -c "print(1 + 1); print('x')"
---
perl -e 'print join(",", @ARGV), "\n"' 1 2
perl -ne 'print if /o/' one
---
echo "a;b" 'c|d' e\;f
echo 'single "double"' "double 'single'"
---
echo $((3 * 4)) $(expr 3 + 4) `expr 5 + 6`
---
x=5; y=$x$x; echo ${y:0:1} ${z:-none} ${y/5/6}
---
arr=(a b c); echo ${arr[1]} ${#arr[@]}
---
echo {a,b,c} {1..3}
---
ls *.csv
ls -d [aw]* | sort
---
echo ~ | wc -l
echo "~" '*'
---
mkdir -p work/1 && cd work/1 && echo a > x && cat x
mkdir -p work/2 && cd work/2 && echo b > x && cat x
---
sleep 0.01; echo slept
sleep 0.01 && echo slept
---
test -e one && echo yes || echo no
test -e nosuch && echo yes || echo no
---
printf '%03d\n' 1
printf '%s %s\n' a b
---
cat <<< "here"
wc -c <<< 'string'
---
{ echo a; echo b; } | wc -l
(echo a; echo b) | wc -l
---
time -p true 2> timed; wc -l < timed
---
set -o pipefail; true | cat; echo $?
set -e; echo on
---
trap 'echo bye' EXIT; echo hello
---
while read a b; do echo $b; done < words
---
case one in o*) echo O;; *) echo other;; esac
---
shout made of functions
shout again | tr A-Z a-z
---
timeout 5 echo in time
nice -n 1 echo nice
env -i sh -c 'echo $HOME.'
---
grep -c '>' fasta
grep '>' fasta | cut -d '>' -f 2
cut -d '|' -f 1 bars | tr ';' ,
---
tar cf - one two | tar tf -
gzip -c one | gunzip
---
echo a   b	c
echo "a   b"
---
true
exit 0
---
echo "tab	in" | cut -f 2
---
date +%Y > year; test -s year && echo dated
---
echo no newline at the end'''

# A mistake, the advice in its line, and a line that follows the advice: it works.
MISTAKES = [
    ('T -X echo {} ::: a', 'use -m, and {} as a word of its own', 'T -m echo {} ::: a'),
    ('T -s 100 echo ::: a', 'use -n N', 'T -n 2 echo ::: a'),
    ('T -L 2 echo ::: a', 'use -n N', 'T -n 2 echo ::: a'),
    ('T -i echo {} ::: a', 'use -I WORD', 'T -I {} echo {} ::: a'),
    ('T --load 80% echo ::: a', 'use -j 50%', 'T -j 50% echo ::: a'),
    ('T --memfree 1G echo ::: a', 'use --memory 1G', 'T --memory 1G echo ::: a'),
    ('T --noswap echo ::: a', 'use --memory 1G', 'T --memory 1G echo ::: a'),
    ('T --files echo ::: a', 'use --results TEMPLATE', 'T --results r echo ::: a'),
    ('T --tmpdir /tmp echo ::: a', 'set TMPDIR', 'export TMPDIR=/tmp; T echo ::: a'),
    ('T --color echo ::: a', 'use --tag', 'T --tag echo ::: a'),
    ('T --er .. echo ::: a', 'use {.}', 'T echo {.} ::: a'),
    ('T --sqlmaster x echo ::: a', 'use --joblog FILE', 'T --joblog l echo ::: a'),
    ('T --record-env A echo ::: a', 'use --env NAME', 'T --env HOME echo ::: a'),
    ('T --pipe wc ::: a', 'split the input into files and give their names', 'T wc ::: one'),
    ('T --interactive echo ::: a', 'look at --dry-run', 'T --dry-run echo ::: a'),
    ('T --timeout 200% echo ::: a', 'accepted: seconds, such as 90, 1.5 or 2m', 'T --timeout 2m echo ::: a'),
    ('T --delay 1x echo ::: a', 'as 1h30m', 'T --timeout 1h30m echo ::: a'),
    ('T -j x echo ::: a', 'accepted: a number, a share of the cores, +N or -N', 'T -j +1 echo ::: a'),
    ('T --halt now echo ::: a', 'now,fail=N', 'T --halt now,fail=1 echo ::: a'),
    ('T --resume echo ::: a', 'accepted: --joblog FILE --resume', 'T --joblog l2 --resume echo ::: a'),
    ('T echo :: a', '::: before arguments', 'T echo ::: a'),
    ('T commands', 'accepted: -a commands', 'T -a commands'),
    ('T lib.sh ::: a', 'accepted: -a lib.sh', 'T -a lib.sh'),
    ('T go.sh ::: a', 'accepted: ./go.sh', 'T ./go.sh ::: a'),
    ('T echo', 'accepted: ::: ARG', 'T echo ::: a'),
    ('T "echo \'x" ::: a', 'quotes that do not end', 'T "echo \'x\'" ::: a'),
    ('T echo {7} ::: a', 'accepted: 1 to 1, or \\{ for a brace', 'T echo {1} "\\{7}" ::: a'),
    ('T --header : echo {y} ::: x 1', 'accepted: a name of its first line', 'T --header : echo {x} ::: x 1'),
    ('T --no-shell "echo {} | cat" ::: a', 'accepted: a shell (no --no-shell', 'T "echo {} | cat" ::: a'),
    ('T --no-shell "echo | cat" ::: a', "or '|' in quotes", 'T --no-shell "echo \'|\' cat" ::: a'),
    ('T \'echo `echo {}`\' ::: a', '$(..) instead', 'T \'echo $(echo {})\' ::: a'),
    ('T --memory 1PB echo ::: a', 'such as 512M or 2GB', 'T --memory 512MB echo ::: a'),
    ('T -n 2 -m echo ::: a', 'accepted: one of them', 'T -m echo ::: a'),
    ('T -q --shell echo ::: a', 'accepted: one of them', 'T -q echo ::: a'),
    ('T --colsep "a(" echo ::: a', "accepted: a string such as ','", 'T --colsep , echo ::: a'),
    ('T --nice 40 echo ::: a', 'from -20 to 19', 'T --nice 19 echo ::: a'),
    ('T --env NOSUCH echo ::: a', 'accepted: a variable that is, or NAME=VALUE', 'T --env NOSUCH=1 echo ::: a'),
    ('T --workdir nosuch echo ::: a', 'accepted: a folder that is there', 'T --workdir sub echo ::: a'),
    ('T --keep-ordr echo ::: a', 'did you mean --keep-order', 'T --keep-order echo ::: a'),
    ('T --carrier x echo ::: a', 'accepted: auto, local, mpi', 'T --carrier local echo ::: a'),
]

# What no argument may do, wherever its command has it, is to be run: each of them makes a file where a shell reads it.
RUN_ME = ['x\ntouch run #', ';touch run;#', "';touch run;#", "\\';touch run;#", '";touch run;#', '\\";touch run;#', '$(touch run)', '`touch run`',
          'a[$(touch run)]', '}$(touch run)', ');touch run;#', ')";touch run;#', '$(touch run)}" \'', '&& touch run', '> run', "'\ntouch run\n'", 'x) touch run;;']

# Commands with the place of an argument, and those that refuse all arguments of that kind.
PLACES = ['echo {}', r'true; echo "\{}"', r"true; echo '\{}'", r"true; echo 'a\\{}'", 'echo "{}" \'{}\'', 'true; # {}\necho b', 'echo "$(echo a # {}\n)"', "true; echo $'{}'", r"true; echo $'it\'s {}'", r"true; echo $'\'' {} $'\''",
          'true; echo "$(echo {})" $(echo "{}")', 'true; (( {} > 3 ))', 'for ((i={};i<1;i++)); do :; done', 'true; echo $[{}]', 'true; echo "$[ 1 + {}]"', 'true; a[{}]=1',
          'true; x=a; echo "$(case $x in a) echo {};; esac)"', 'true; echo "$(case a in (a) echo {};; esac) {}"', 'true; echo "$((echo a) | echo {})"',
          'true; echo "${x:-it\'s}" {}', 'true; echo "${x#\'$(\'} {}"', 'true; echo "$$({})"', 'true; cat <<< {}\necho {}', 'cat <<E\n{}\nE', 'true; echo `echo {}`']


def make_files():
    os.makedirs('sub')
    for name, text in (('one', 'foo\nbar\n'), ('two', 'good\n'), ('sub/inner', 'within\n'), ('sub/inner.txt', 'within\n'), ('words', 'a b\nc d\n'),
                       ('tabs', 'a\tb\nc\td\n'), ('table.csv', 'a,b\n1,2\n3,4\n'), ('quoted.csv', 'a,"x, y"\nb,"say ""hi"""\n'), ('bars', 'a;1|b\nc;2|d\n'),
                       ('go.sh', '#!/bin/sh\necho go "$@"\n'), ('fasta', '>one\nACGT\n>two\nTT\n'), ('odd name', 'x\n'), ("it's", 'xy\n'), ('dol$lar', 'xyz\n'), ('lib.sh', 'helper() { echo "help $1"; }\n'),
                       ('commands', 'echo one\necho two | wc -c\n(cd sub; ls) > listed; cat listed\nX=1; echo $X\n[[ 2 -gt 1 ]] && echo more\n')):
        with open(name, 'w', encoding='ascii') as file:
            file.write(text)
    os.chmod('go.sh', 0o755)


def typed(line, tool):
    """What a person sees who types the line into bash in a folder of these files, and whether it succeeds."""
    shutil.rmtree('there', ignore_errors=True)
    os.mkdir('there')
    os.chdir('there')
    try:
        make_files()
        script = f'shout() {{ echo "$*" | tr a-z A-Z; }}; export -f shout; T() {{ {tool} "$@"; }}; {line}'
        own = {**environment(), 'GREETING': 'good day', 'SHELL': '/bin/bash'}
        done = subprocess.run(['bash', '-c', script], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=own, timeout=TIMEOUT_S, check=False)
        return done.stdout, done.returncode == 0, done.stderr
    finally:
        os.chdir('..')


def agree(line, right):
    ours, good, complaint = typed(line, f'{HDSS} exec -k')
    assert (ours, good) == right[:2], (line, ours, good, complaint, right)


def test_lines_for_gnu_parallel():
    if 'GNU' not in subprocess.run('parallel --version', shell=True, capture_output=True, text=True, check=False).stdout:
        return 'no GNU parallel'
    for line in AS_PARALLEL.strip().split('\n'):
        agree(line, typed(line, 'parallel --will-cite -k'))
    return None


def test_lines_for_xargs_and_shells():
    lines = AS_OTHERS.strip().split('\n')
    for line, right in zip(lines[::2], lines[1::2]):
        agree(line, typed(right, 'false'))


def test_files_of_tasks():
    files = TASK_FILES[1:].split('\n---\n')
    assert len(files) >= 40
    for text in files:
        tasks = [line for line in text.split('\n') if line.strip() and not line.strip().startswith('#')]
        right = typed('; '.join(f'bash -c {shlex.quote(task)} < /dev/null' for task in tasks), 'false')
        given = f'printf %s {shlex.quote(text)} > tasks; '
        for way in ('T < tasks', 'T :::: tasks', f'{HDSS} run --output o exec tasks=tasks > /dev/null && cat o'):
            agree(given + way, right)


def test_advice_works():
    for typed_so, advice, advised in MISTAKES:
        _, _, said = typed(typed_so, f'{HDSS} exec')
        assert len(said.splitlines()) == 1 and advice in said, (typed_so, said)
        out, good, complaint = typed(advised, f'{HDSS} exec')
        assert good and out != '' or 'lib.sh' in advised, (advised, out, complaint)


def test_no_argument_is_run():
    assert subprocess.run(['bash', '-c', "x=a; echo $(case $x in a) echo '';touch run;; esac)"], check=False).returncode == 0
    os.remove('run')  # that is how it would be made
    for shell in filter(shutil.which, ('bash', 'sh', 'zsh', 'fish')):
        for place in PLACES:
            line = [HDSS, 'exec', '--halt', 'never', f'--shell={shell}', place]
            done = subprocess.run([*line, ':::', *RUN_ME], capture_output=True, text=True, env=environment(), timeout=TIMEOUT_S, check=False)
            assert not os.path.exists('run'), (line, done.stdout, done.stderr)
            assert done.returncode != 2 or 'column' in done.stderr, (line, done.stderr)


if __name__ == '__main__':
    main([test_no_argument_is_run, test_lines_for_gnu_parallel, test_lines_for_xargs_and_shells, test_files_of_tasks, test_advice_works])
