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
from sets import down, here, up, well

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

# The same of other commands, and of options and values that are misspelt or another system's.
MORE_MISTAKES = r'''
hdss exec --jobz 2 echo ::: a => did you mean --jobs => hdss exec --jobs 2 echo ::: a
hdss exec -j 2.5 echo ::: a => a number, a share of the cores => hdss exec -j 50% echo ::: a
hdss exec --retries many echo ::: a => an integer from 0 => hdss exec --retries 2 echo ::: a
hdss exec --cores 1000 echo ::: a => needs 1000 cores; this node has => hdss exec --cores 1 echo ::: a
hdss exec --cores two echo ::: a => an integer from 0 => hdss exec --cores 1 echo ::: a
hdss exec --memory 9999T echo ::: a => needs 9999T of memory; this node has => hdss exec --memory 10M echo ::: a
hdss exec -a nosuch echo => nosuch: No such file => hdss exec -a one echo
hdss exec echo :::: nosuch => nosuch: No such file => hdss exec echo :::: one
hdss exec -a sub echo => accepted: a file with an argument on each line => hdss exec -a one echo
hdss exec ehco ::: a => no such program in PATH => hdss exec echo ::: a
hdss exec ./go.sj ::: a => accepted: the path of one => hdss exec ./go.sh ::: a
hdss exec ./table.csv ::: a => accepted: a program before it => hdss exec cat ./table.csv ::: one
hdss exec ./lib.sh ::: a => `chmod +x ./lib.sh` => chmod +x ./lib.sh; hdss exec ./lib.sh ::: a; echo run
hdss exec sub ::: a => the name of one, or a path => hdss exec ls sub ::: one
hdss exec table.csv => accepted: -a table.csv => hdss exec -a table.csv echo
hdss exec --joblog nosuch/l echo ::: a => nosuch/l: No such file => hdss exec --joblog l echo ::: a
hdss exec --joblog sub echo ::: a => sub: Is a directory => hdss exec --joblog l echo ::: a
hdss exec --output one echo ::: a => accepted: --overwrite => hdss exec --output one --overwrite echo ::: a; cat one
hdss exec --output nosuch/o echo ::: a => `mkdir -p nosuch` => mkdir -p nosuch; hdss exec --output nosuch/o echo ::: a; cat nosuch/o
hdss exec --output o --joblog l echo ::: a => FILE.log is a task log => hdss exec --output o echo ::: a; cat o.log
hdss exec --html nosuch/x.html echo ::: a => `mkdir -p nosuch` => hdss exec --html x.html echo ::: a
hdss exec --max-output 1x echo ::: a => an integer from -1 => hdss exec --max-output 100 echo ::: a
hdss exec --halt soon,fail=0 echo ::: a => soon,fail=N => hdss exec --halt soon,fail=1 echo ::: a
hdss exec --halt later,fail=1 echo ::: a => now,fail=N => hdss exec --halt now,fail=1 echo ::: a
hdss exec -N 0 echo ::: a => an integer from 1 => hdss exec -N 1 echo ::: a
hdss exec -n x echo ::: a => an integer from 1 => hdss exec -n 1 echo ::: a
hdss exec -d ab echo ::: a => one character, or \n => printf 'a;b' | hdss exec -d ';' echo
hdss exec --header yes echo ::: x 1 => accepted: : => hdss exec --header : echo {x} ::: x 1
hdss exec --header : --csv echo {z} :::: table.csv => a name of its first line => hdss exec --header : --csv echo {a} :::: table.csv
hdss exec echo ::: a :::: => :::: needs the name of a file => hdss exec echo ::: a :::: one
hdss exec --shell=perl echo ::: a => accepted: bash, dash => hdss exec --shell=bash echo ::: a
hdss exec --shell=/no/such/bash echo ::: a => accepted: bash, or sh => hdss exec --shell=sh echo ::: a
hdss exec 'echo "x' ::: a => quotes that do not end => hdss exec 'echo "x"' ::: a
hdss exec 'echo {= s/a/b/ =}' ::: a => is Perl, which is not run here => hdss exec 'echo {} | sed s/a/b/' ::: a
hdss exec --help-me echo ::: a => did you mean --help => hdss exec --help
hdss exec --set nosuch echo ::: a => `hdss jobs` shows those that are up => hdss jobs; hdss exec echo ::: a
hdss exec --techniqe ss echo ::: a => did you mean --technique => hdss exec --technique ss echo ::: a
hdss exec --technique sss echo ::: a => did you mean ss => hdss exec --technique ss echo ::: a
hdss exec --hosts "" echo ::: a => is no host name => hdss exec --hosts localhost:2 echo ::: a
hdss exec --masters x echo ::: a => an integer from 0 => hdss exec --masters 1 echo ::: a
hdss exec --eta=x echo ::: a => takes no value => hdss exec --eta echo ::: a
hdss exec --bar=yes echo ::: a => takes no value => hdss exec --bar echo ::: a
hdss exec --progres echo ::: a => did you mean --progress => hdss exec --progress echo ::: a
hdss exec --keeporde echo ::: a => did you mean --keep => hdss exec --keep-order echo ::: a
hdss exec --line-buffr echo ::: a => did you mean --line-buffer => hdss exec --line-buffer echo ::: a
hdss exec --dry echo ::: a => did you mean --dry-run => hdss exec --dry-run echo ::: a
hdss exec --time 10 echo ::: a => did you mean --timeout => hdss exec --timeout 10 echo ::: a
hdss exec --mem 10M echo ::: a => did you mean --memory => hdss exec --memory 10M echo ::: a
hdss exec --cpus 1 echo ::: a => here it is --cores C => hdss exec --cores 1 echo ::: a
hdss exec --cpus-per-task 1 echo ::: a => here it is --cores C => hdss exec --cores 1 echo ::: a
hdss exec --ntasks 2 echo ::: a => here it is -j N => hdss exec -j 2 echo ::: a
hdss exec --walltime 1h echo ::: a => here it is --timeout TIME => hdss exec --timeout 1h echo ::: a
hdss exec --cwd sub ls ::: . => here it is --workdir FOLDER => hdss exec --workdir sub ls ::: .
hdss exec --array 1-3 echo => ::: {1..100} => hdss exec echo ::: {1..3}
hdss exec --log l echo ::: a => here it is --joblog FILE => hdss exec --joblog l echo ::: a
hdss exec -f one echo => here it is -a FILE => hdss exec -a one echo
hdss exec --joblog l --resume=everything echo ::: a => accepted: failed => hdss exec --joblog l --resume=failed echo ::: a
hdss exec --delay 5mins echo ::: a => as 1h30m => hdss exec --delay 50ms echo ::: a
hdss exec --timeout 1h30 echo ::: a => as 1h30m => hdss exec --timeout 1h30m echo ::: a
hdss exec --env =x echo ::: a => or NAME=VALUE => hdss exec --env A=x echo ::: a
hdss exec --workdir one echo ::: a => a folder that is there => hdss exec --workdir sub echo ::: a
hdss exec --sshlogin host echo ::: a => use --hosts NAME:CORES => hdss exec --hosts localhost:2 echo ::: a
hdss exec --block 1M wc ::: a => it goes with --pipe => hdss exec wc ::: one
hdss exec --max-args x echo ::: a => an integer from 1 => hdss exec --max-args 2 echo ::: a
hdss exec --rpl '{x} s/a/b/' echo ::: a => {.} {/} {//} => hdss exec echo {.} ::: a.b
hdss exec --limit x echo ::: a => use -j N => hdss exec -j 2 echo ::: a
hdss exec -J prof echo ::: a => write the options out => hdss exec -k echo ::: a
hdss exce echo ::: a => did you mean exec => hdss exec echo ::: a
hdss parallel echo ::: a => here it is exec => hdss exec echo ::: a
hdss xargs echo ::: a => here it is exec => hdss exec echo ::: a
hdss echo ::: a => type: hdss exec echo ::: ARG => hdss exec echo ::: a
hdss commands => hdss run exec tasks=commands => hdss run --output o exec tasks=commands; cat o
hdss --jobs 2 exec echo ::: a => type: hdss exec --jobs => hdss exec --jobs 2 echo ::: a
hdss -j 2 echo ::: a => type: hdss exec -j => hdss exec -j 2 echo ::: a
hdss -j 2 mandelbrot => type: hdss run -j => hdss run -j 2 mandelbrot width=8 height=8
hdss mandelbrot width=8 => type: hdss run mandelbrot width=8 => hdss run mandelbrot width=8 height=8
hdss gss => hdss techniques gss => hdss techniques gss
hdss help exce => did you mean exec => hdss help exec
hdss run mandelbort => did you mean mandelbrot => hdss run mandelbrot width=8 height=8
hdss run => `hdss kernels` lists them => hdss kernels
hdss run -j 2 echo a => type: hdss exec echo ::: ARG => hdss exec echo ::: a
hdss run ./lib.sh => a shared object, or python:MODULE.FUNCTION => hdss exec 'bash ./lib.sh; echo {}' ::: a
hdss run mandelbrot widht=8 => did you mean width => hdss run mandelbrot width=8 height=8
hdss run mandelbrot width=x => an integer from 1 => hdss run mandelbrot width=8 height=8
hdss run mandelbrot width 8 => type width=8, as one word => hdss run mandelbrot width=8 height=8
hdss run mandelbrot --width 8 => without dashes: width=8 => hdss run mandelbrot width=8 height=8
hdss run --technique gsss mandelbrot => did you mean gss => hdss run --technique gss mandelbrot width=8 height=8
hdss run --technique gss:k=1 mandelbrot => the parameters are round= => hdss run --technique gss:round=floor mandelbrot width=8 height=8
hdss run --workers two mandelbrot => auto, an integer from 1 => hdss run --workers auto mandelbrot width=8 height=8
hdss run --output o.jpg mandelbrot => names that end in .npy, .png => hdss run --output o.npy mandelbrot width=8 height=8
hdss run --resume mandelbrot => accepted: with --output FILE => hdss run --output o.npy --resume mandelbrot width=8 height=8
hdss run --trace t mandelbrot => a file name that ends in .csv => hdss run --trace t.csv mandelbrot width=8 height=8
hdss run --report mandelbrot => the name of a file that ends in .json => hdss run --report r.json mandelbrot width=8 height=8
hdss run --dca nodes mandelbrot => two-sided:exchanges=2, node => hdss run --dca node mandelbrot width=8 height=8
hdss run exec => accepted: tasks=FILE => hdss run --output o exec tasks=commands; cat o
hdss run exec taks=commands => did you mean tasks => hdss run --output o exec tasks=commands; cat o
hdss run exec command='echo {x}' table=table.csv => a name of its first line => hdss run --output o exec command='echo {a}' table=table.csv; cat o
hdss run synthetic mode=slep => accepted: one of busy, sleep => hdss run synthetic mode=sleep mean=1 iterations=2
hdss run synthetic mean=10x => a number from 0 => hdss run synthetic mean=10 iterations=2
hdss chunks => hdss chunks SPEC --iterations N --workers P => hdss chunks gss --iterations 100 --workers 4
hdss chunks gss --iteration 100 => did you mean --iterations => hdss chunks gss --iterations 100 --workers 4
hdss chunks gss --workers 4 => no --iterations given => hdss chunks gss --workers 4 --iterations 100
hdss chunks gsss --iterations 100 --workers 4 => did you mean gss => hdss chunks gss --iterations 100 --workers 4
hdss chunks gss --iterations 100x --workers 4 => an integer from 0 => hdss chunks gss --iterations 100 --workers 4
hdss techniqes => did you mean techniques => hdss techniques
hdss kernels mandelbort => did you mean mandelbrot => hdss kernels mandelbrot
hdss simulate --workers 4 => `hdss kernels` lists them => hdss simulate --workers 4 mandelbrot width=8 height=8
hdss simulate --worker 4 mandelbrot => did you mean --workers => hdss simulate --workers 4 mandelbrot width=8 height=8
hdss simulate --workers 4 --costs gama:mean=10 synthetic => did you mean gamma => hdss simulate --workers 4 --costs gamma:mean=10 synthetic iterations=9
hdss simulate --platform rangr mandelbrot => did you mean ranger => hdss simulate --platform ranger:nodes=2 mandelbrot width=8 height=8
hdss simulate --workers 4 exec command=true => accepted: with --costs => hdss simulate --workers 4 --costs gamma:mean=10 exec command=true count=5
hdss log nosuch => there is no such file => hdss exec --joblog l echo ::: a; hdss log l
hdss log one => is no task log => hdss exec --joblog l echo ::: a; hdss log l
hdss show 1 => `hdss jobs` lists those that are there => hdss jobs; echo listed
hdss submti exec -- echo a => did you mean submit => hdss submit --help
'''

# Likewise, where the set main is up.
SET_MISTAKES = r'''
hdss submit --nam x echo a => did you mean --name => hdss submit --name x echo a
hdss submit -J x echo a => here it is --name NAME => hdss submit --name x echo a
hdss submit --dependency 1 echo a => here it is --after ID => hdss submit --after 1 echo a
hdss submit --after nosuch echo a => IDs and names of jobs => hdss submit --after main/1 echo a
hdss submit --priority high echo a => an integer from -1000 => hdss submit --priority 5 echo a
hdss submit --array x echo a => as 1-100 => hdss submit --array 1-3 echo a
hdss submit --timeout 5 exec -- echo a => without dashes: timeout=5 => hdss submit exec timeout=5 command=date
hdss submit mandelbort => did you mean mandelbrot => hdss submit mandelbrot width=8 height=8
hdss show 999 => there is no such job => hdss show 1
hdss show nosuch => `hdss jobs --all` lists them => hdss jobs --all
hdss cancel all => --all stands for all => hdss cancel --all; echo cancelled
hdss wait all => --all stands for all => hdss wait --all; echo waited
hdss jobs --al => did you mean --all => hdss jobs --all
hdss up => --name NAME => hdss up --name other && hdss down other; echo $?
hdss exec --set main -j 2 echo ::: a => accepted: --cores C => hdss exec --set main --cores 1 echo ::: a
hdss exec --set mian echo ::: a => `hdss jobs` shows those that are up => hdss exec --set main echo ::: a
hdss down nosuch => `hdss jobs` shows those that are up => hdss jobs
hdss delete 1 => here it is cancel => hdss cancel --all; echo cancelled
'''

# What no argument may do, wherever its command has it, is to be run: each of them makes a file where a shell reads it.
RUN_ME = ['x\ntouch run #', ';touch run;#', "';touch run;#", "\\';touch run;#", '";touch run;#', '\\";touch run;#', '$(touch run)', '`touch run`',
          'a[$(touch run)]', '}$(touch run)', ');touch run;#', ')";touch run;#', '$(touch run)}" \'', '&& touch run', '> run', "'\ntouch run\n'", 'x) touch run;;']

# Commands with the place of an argument, and those that refuse all arguments of that kind.
PLACES = ['echo {}', r'true; echo "\{}"', r"true; echo '\{}'", r"true; echo 'a\\{}'", 'echo "{}" \'{}\'', 'true; # {}\necho b', 'echo "$(echo a # {}\n)"', "true; echo $'{}'", r"true; echo $'it\'s {}'", r"true; echo $'\'' {} $'\''",
          'true; echo "$(echo {})" $(echo "{}")', 'true; (( {} > 3 ))', 'for ((i={};i<1;i++)); do :; done', 'true; echo $[{}]', 'true; echo "$[ 1 + {}]"', 'true; a[{}]=1',
          'true; x=a; echo "$(case $x in a) echo {};; esac)"', 'true; echo "$(case a in (a) echo {};; esac) {}"', 'true; echo "$((echo a) | echo {})"',
          'true; echo "${x:-it\'s}" {}', 'true; echo "${x#\'$(\'} {}"', 'true; echo "$$({})"', 'true; cat <<< {}\necho {}', 'cat <<E\n{}\nE', 'true; echo `echo {}`']


def make_files():
    os.makedirs('sub', exist_ok=True)
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
    os.makedirs('there', exist_ok=True)  # a job of a set may still write there
    os.chdir('there')
    try:
        make_files()
        script = f'shout() {{ echo "$*" | tr a-z A-Z; }}; export -f shout; T() {{ {tool} "$@"; }}; hdss() {{ {HDSS} "$@"; }}; {line}'
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


def follow_advice(mistakes):
    for typed_so, advice, advised in mistakes:
        _, _, said = typed(typed_so, f'{HDSS} exec')
        assert len(said.splitlines()) == 1 and advice in said, (typed_so, said)
        out, good, complaint = typed(advised, f'{HDSS} exec')
        assert good and out != '' or 'lib.sh' in advised, (advised, out, complaint)


def test_advice_works():
    others = [line.split(' => ') for line in MORE_MISTAKES.strip().split('\n')]
    assert len(MISTAKES) + len(others) >= 150
    follow_advice(MISTAKES + others)


def test_advice_for_a_set_works():
    here()
    up()
    try:
        well(['submit', '--wait', 'echo', 'first'])
        follow_advice([line.split(' => ') for line in SET_MISTAKES.strip().split('\n')])
    finally:
        down()


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
    main([test_no_argument_is_run, test_lines_for_gnu_parallel, test_lines_for_xargs_and_shells, test_files_of_tasks, test_advice_works, test_advice_for_a_set_works])
