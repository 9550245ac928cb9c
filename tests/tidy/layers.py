#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The layers of docs/ARCHITECTURE.md as data, and the check that every #include and every call of the tree keeps them.

    layers.py ROOT          checks the tree at ROOT, TAP on standard output
    layers.py --self-test   shows on made-up trees with one breach each that the check finds it

A file belongs to the first pattern of LEVELS that fits its path; a folder that is not listed is an error, so that whoever
adds one says where it stands. A file may include its own level and those below.
"""
import collections
import fnmatch
import os
import re
import sys
import tempfile

import source
import tap

TESTS = 9  # includes anything, is included by nobody else

LEVELS = [
    ("tests/*", TESTS),
    # programs, and what has a whole cluster in one process
    ("*/main.c", 5),
    ("*/program.[ch]", 5),
    ("deploy/*", 5),
    # effects
    ("supermaster/lead/*", 4),
    ("worker/dca/*", 4),
    ("worker/exec/*", 4),
    ("worker/helper/*", 4),
    ("worker/job/*", 4),
    ("master/job/*", 4),
    ("worker/kernels/*", 4),
    ("common/dca/core*", 2),  # DCA without MPI
    ("common/dca/machine.[ch]", 2),
    ("common/dca/*", 4),
    ("common/carrier/*", 4),
    ("common/control/*", 4),
    ("common/job/*", 4),
    ("common/mpi/*", 4),
    ("common/os/*", 4),
    ("common/stream/address.[ch]", 2),  # without sockets
    ("common/stream/fifo.[ch]", 2),
    ("common/stream/session.[ch]", 2),
    ("common/stream/*", 4),
    ("common/trace/rows.[ch]", 2),
    ("common/trace/*", 4),
    ("supermaster/set/*", 4),
    ("common/results/*", 4),
    ("common/include/dls4lb/*", 4),
    ("common/include/hdss/hdss.h", 4),  # the library, which needs MPI
    # daemons
    ("supermaster/*", 3),
    ("master/*", 3),
    ("worker/*", 3),
    # pure
    ("common/service/*", 2),
    ("common/machine/*", 2),
    ("common/metrics/*", 2),
    ("common/config/*", 2),
    ("common/predict/*", 2),
    ("common/sched/*", 1),
    ("proto/*", 1),
    ("common/util/*", 0),
    ("common/include/hdss/*", 0),
]

# Parts of these groups never include each other.
STRANGERS = [
    ("common/sched/*", "proto/*"),
    ("supermaster/*", "master/*", "worker/*"),
]

# Folders of the left never include those of the right: what all programs share knows none of them.
APART = [
    ("common/*", ("supermaster/*", "master/*", "worker/*", "deploy/*")),
]

# Only these may include what is named first.
GUESTS = {"common/include/dls4lb/*": ["common/include/dls4lb/*", "deploy/library/*", "tests/*"]}

# The C files of a folder in their order: each calls those in front of it alone. What a lower one needs of a higher one is
# handed in, as a member of a structure.
ORDER = {"common/mpi": """
    folder lanes place singleton peers ranks tree local_carrier net
    doorbell detect heartbeat ulfm watch rouse guard wait meet
    ops_mpi alone start
    far_send drop deferred asks send announce early
    arbiter apply step
    far_results far receive leave returns loop link""".split()}
# A function, or a table, that other files see.
DEFINITION = re.compile(r"^(?!static\b|typedef\b)[A-Za-z_][\w *]*?\b(\w+)(?:\([^;{]*\)\n\{| = \{)", re.MULTILINE)
# Not a member (x.word, x->word).
WORD = re.compile(r"(?<![\w.>])\w+")

INCLUDE_ROOTS = ("", "common/include")
GENERATED = set()  # headers that only the build folder has

PURE = 3  # the highest level without any effect
IMPURE_HEADERS = [
    "mpi.h", "event.h", "event2/*", "evhttp.h", "simgrid/*", "smpi/*", "sys/socket.h", "sys/un.h", "sys/epoll.h",
    "sys/select.h", "poll.h", "netdb.h", "netinet/*", "arpa/*", "fcntl.h", "unistd.h", "sys/stat.h", "sys/mman.h",
    "sys/time.h", "time.h", "dirent.h", "signal.h", "pthread.h", "threads.h", "spawn.h", "dlfcn.h",
]
IMPURE_CALLS = [
    "fopen", "fdopen", "freopen", "tmpfile", "open", "openat", "creat", "read", "write", "pread", "pwrite", "readv",
    "writev", "fread", "fwrite", "fgets", "fgetc", "getc", "getchar", "getline", "getdelim", "fscanf", "scanf", "printf",
    "fprintf", "dprintf", "vprintf", "vfprintf", "puts", "fputs", "fputc", "putc", "putchar", "perror", "remove",
    "rename", "unlink", "mmap", "socket", "clock_gettime", "clock", "gettimeofday", "time", "nanosleep", "usleep",
    "sleep", "fork", "system", "popen", "dlopen", "rand", "srand",
]
# Not a member (x.read, x->read) and not a longer word.
CALL = re.compile(r"(?<![\w.])(?<!->)(" + "|".join(IMPURE_CALLS) + r")\s*\(")


def fits(path, pattern):
    return fnmatch.fnmatch(path, pattern)


def level_of(path):
    return next((level for pattern, level in LEVELS if fits(path, pattern)), None)


def is_core(path):
    return level_of(path) in (1, 3)


def strange(path, target):
    """True where the two belong to different parts of one group of strangers."""
    for group in STRANGERS:
        mine = [pattern for pattern in group if fits(path, pattern)]
        other = [pattern for pattern in group if fits(target, pattern)]
        if mine and other and mine != other and is_core(path) and is_core(target):
            return True
    return False


def is_apart(path, target):
    return any(fits(path, pattern) and any(fits(target, other) for other in others) for pattern, others in APART)


def resolve(root, name):
    """Where an include path from the project root or from common/include leads, or None."""
    for base in INCLUDE_ROOTS:
        path = os.path.normpath(os.path.join(base, name))
        if os.path.isfile(os.path.join(root, path)):
            return path
    return None


def check_target(path, target):
    """Complaints about `path` including the project's file `target`."""
    level, target_level = level_of(path), level_of(target)
    if level is None or target_level is None:
        return  # said once for the file itself
    if level == TESTS:
        return
    if target_level == TESTS:
        yield f"includes {target}, which is a test's"
    elif target_level > level:
        yield f"level {level} includes {target} of level {target_level}"
    elif strange(path, target) or is_apart(path, target):
        yield f"includes {target}, which it must not know"
    for pattern, guests in GUESTS.items():
        if fits(target, pattern) and not any(fits(path, guest) for guest in guests):
            yield f"includes {target}, which only {', '.join(guests)} may"


def check_include(root, path, quoted, bracketed):
    name = quoted or bracketed
    pure = (level_of(path) or 0) <= PURE
    if pure and any(fits(name, header) for header in IMPURE_HEADERS):
        yield f"level {level_of(path)} includes <{name}>"
    target = resolve(root, name)
    if target is not None and (quoted or "/" in name):
        yield from check_target(path, target)
    elif quoted and name not in GENERATED:
        yield f'"{name}" is not a path from the project root'


def each_file(root):
    for path in source.files(root):
        yield path, source.read(root, path)


def unknown_places(root):
    return [f"{path}: no level is given for this folder in tests/tidy/layers.py"
            for path, _ in each_file(root) if level_of(path) is None]


def bad_includes(root):
    complaints = []
    for path, text in each_file(root):
        for number, quoted, bracketed in source.includes(text):
            complaints += [f"{path}:{number}: {what}" for what in check_include(root, path, quoted, bracketed)]
    return complaints


def circles(root):
    """Folders that include each other, directly or through others. A daemon's program and main() stand above all folders."""
    below = collections.defaultdict(set)
    for path, text in each_file(root):
        if level_of(path) in (None, TESTS) or fits(path, "*/main.c") or fits(path, "*/program.[ch]"):
            continue
        for _, quoted, bracketed in source.includes(text):
            target = resolve(root, quoted or bracketed)
            if target is not None and os.path.dirname(target) != os.path.dirname(path):
                below[os.path.dirname(path)].add(os.path.dirname(target))
    complaints = []
    for folder in sorted(below):
        seen, todo = set(), list(below[folder])
        while todo:
            one = todo.pop()
            if one not in seen:
                seen.add(one)
                todo += below[one]
        if folder in seen:
            complaints.append(f"{folder}: includes itself by way of " + ", ".join(sorted(one for one in seen if folder in below[one])))
    return complaints


def bad_calls(root):
    complaints = []
    for path, text in each_file(root):
        level = level_of(path)
        if level is None or level > PURE:
            continue
        for number, line in enumerate(source.code_lines(text), 1):
            complaints += [f"{path}:{number}: level {level} calls {match.group(1)}()" for match in CALL.finditer(line)]
    return complaints


def calls_upwards(root):
    """Files of a folder with an ORDER that call, or name, what is defined in one behind them."""
    complaints = []
    for folder, order in ORDER.items():
        texts = {os.path.basename(path)[:-2]: "\n".join(source.code_lines(text)) for path, text in each_file(root)
                 if os.path.dirname(path) == folder and path.endswith(".c")}
        complaints += [f"{folder}/{name}.c: has no place in the order of its folder" for name in texts if name not in order]
        place = {word: order.index(name) for name, text in texts.items() if name in order for word in DEFINITION.findall(text)}
        complaints += [f"{folder}/{name}.c: calls {word}() of {order[place[word]]}.c, which is above it"
                       for name, text in texts.items() if name in order for word in sorted(set(WORD.findall(text)))
                       if place.get(word, 0) > order.index(name)]
    return complaints


def check(root):
    return unknown_places(root) + bad_includes(root) + circles(root) + bad_calls(root) + calls_upwards(root)


# The self-test: (what, file, its text, the complaint expected or None)
HEADERS = ["common/util/error.h", "common/include/hdss/kernel.h", "common/include/dls4lb/dls4lb.h", "common/sched/sched.h",
           "proto/message.h", "supermaster/ledger.h", "common/machine/machine.h", "supermaster/core.h",
           "master/core.h", "worker/core.h", "common/mpi/run.h", "worker/exec/exec.h", "worker/kernels/kernels.h",
           "common/dca/core.h", "common/dca/rma.h", "deploy/cli/cli.h", "tests/lib/suite.h"]

CASES = [
    ("util includes sched", "common/util/a.c", '#include "common/sched/sched.h"', "level 0 includes"),
    ("the kernel header includes util's upper neighbour", "common/include/hdss/a.h", '#include "proto/message.h"',
     "level 0 includes"),
    ("sched includes machine", "common/sched/a.c", '#include "common/machine/machine.h"', "level 1 includes"),
    ("proto includes ledger", "proto/a.c", '#include "supermaster/ledger.h"', "level 1 includes"),
    ("machine includes a daemon", "common/machine/a.c", '#include "master/core.h"', "level 2 includes"),
    ("a daemon includes a runtime", "master/a.c", '#include "common/mpi/run.h"', "level 3 includes"),
    ("a worker core includes its kernels", "worker/a.c", '#include "worker/kernels/kernels.h"', "level 3 includes"),
    ("a runtime includes a program", "common/mpi/watch.c", '#include "deploy/cli/cli.h"', "level 4 includes"),
    ("DCA's core includes its MPI half", "common/dca/core_a.c", '#include "common/dca/rma.h"', "level 2 includes"),
    ("what all share includes a daemon", "common/mpi/watch.c", '#include "master/core.h"', "must not know"),
    ("spaces and comments hide nothing", "common/util/a.c", '/* x */  #  include  "proto/message.h" // y',
     "a.c:1: level 0 includes"),
    ("the line is named", "common/util/a.c", "/* a\n b */\n\n#include \"proto/message.h\"", "a.c:4: level 0"),
    ("brackets hide nothing", "common/util/a.c", "#include <common/sched/sched.h>", "level 0 includes"),
    ("sched includes proto", "common/sched/a.c", '#include "proto/message.h"', "must not know"),
    ("proto includes sched", "proto/a.c", '#include "common/sched/sched.h"', "must not know"),
    ("supermaster includes master", "supermaster/a.c", '#include "master/core.h"', "must not know"),
    ("supermaster includes worker", "supermaster/a.c", '#include "worker/core.h"', "must not know"),
    ("master includes worker", "master/a.c", '#include "worker/core.h"', "must not know"),
    ("master includes supermaster", "master/a.c", '#include "supermaster/core.h"', "must not know"),
    ("worker includes master", "worker/a.c", '#include "master/core.h"', "must not know"),
    ("a runtime includes the DLS4LB names", "common/mpi/watch.c", '#include "dls4lb/dls4lb.h"', "which only"),
    ("a daemon includes a test", "master/a.c", '#include "tests/lib/suite.h"', "which is a test's"),
    ("an include by its bare name", "common/util/a.c", '#include "error.h"', "not a path from the project root"),
    ("an include from its own folder up", "master/a.c", '#include "../common/util/error.h"', "not a path from"),
    ("a file in a folder without level", "gadget/a.c", "", "no level is given"),
    ("a file in a folder of common without level", "common/gadget/a.c", "", "no level is given"),
    ("a daemon calls fopen", "master/a.c", "void f(void) { FILE *a = fopen(name, mode); }", "calls fopen()"),
    ("a daemon calls open", "worker/a.c", "int f(void) { return open (name, 0); }", "calls open()"),
    ("util calls read", "common/util/a.c", "\n\nint x = read(0, b, 1);", "a.c:3: level 0 calls read()"),
    ("the ledger calls write", "common/service/a.c", "if (write(1, b, 1) < 0) return;", "calls write()"),
    ("the machine calls socket", "common/machine/a.c", "int fd = socket(1, 2, 0);", "calls socket()"),
    ("sched calls clock_gettime", "common/sched/a.c", "clock_gettime(CLOCK_MONOTONIC, &t);", "calls clock_gettime()"),
    ("config calls time", "common/config/a.c", "seed = time(NULL);", "calls time()"),
    ("a daemon prints", "supermaster/a.c", 'printf("x");', "calls printf()"),
] + [
    (f"level {level} includes <{header}>", path, f"#include <{header}>", f"includes <{header}>")
    for level, path in ((0, "common/util/a.c"), (1, "proto/a.h"), (2, "common/metrics/a.c"), (3, "worker/a.c"))
    for header in ("mpi.h", "event2/event.h", "sys/socket.h", "simgrid/msg.h", "time.h")
] + [
    ("lower levels may be included", "master/a.c",
     '#include "common/machine/machine.h"\n#include "proto/message.h"\n#include "common/util/error.h"', None),
    ("the kernel header is found from its root", "worker/kernels/a.c", '#include "hdss/kernel.h"', None),
    ("main may include a runtime and the other daemons", "worker/main.c",
     '#include "common/mpi/run.h"\n#include "master/core.h"\n#include <mpi.h>', None),
    ("a simulator may include what it drives", "deploy/simulate/a.c",
     '#include "master/core.h"\n#include "worker/core.h"\n#include <mpi.h>\n#include <event2/event.h>', None),
    ("the API may include the DLS4LB names", "deploy/library/a.c", '#include "dls4lb/dls4lb.h"', None),
    ("tests include anything", "tests/unit/a.c", '#include "deploy/cli/cli.h"\n#include <mpi.h>\nint x = open(a, 0);', None),
    ("formatting into memory is pure", "common/util/a.c", 'snprintf(a, sizeof a, "x"); vsnprintf(a, n, f, v);', None),
    ("words in comments and strings are no calls", "common/util/a.c",
     '/* open(x) */ // read(y)\nconst char *a = "write(z)"; // #include "proto/message.h"', None),
    ("members are no calls", "common/machine/a.c", "kernel->open(x); ops.read(y); int (*write)(int);", None),
    ("longer words are no calls", "common/machine/a.c", "pool_open(x); random_read(y); runtime(z);", None),
    ("a file calls one below it", "common/mpi/link.c", "void link_drop(void)\n{\n    net_send(1);\n}", None),
    ("a file calls one above it", "common/mpi/lanes.c", "\nvoid lanes_take(void)\n{\n    net_send(1);\n}",
     "lanes.c: calls net_send() of net.c"),
    ("a file names a table above it", "common/mpi/lanes.c", "void *all = &net_tables;", "lanes.c: calls net_tables() of net.c"),
    ("what is handed in is no call upwards", "common/mpi/lanes.c", "void f(void)\n{\n    ops->net_send(1); /* net_send() */\n}", None),
    ("a file without a place", "common/mpi/a.c", "", "has no place"),
    ("a build folder is not read", "b/common/util/a.c", '#include "x.h"', None),
]


def put(root, path, text):
    tap.write(root, {path: text + "\n" if text else ""})


def self_test_case(root, path, text, expected):
    """Adds one file to the tree at `root`, checks, and takes it away again."""
    put(root, path, text)
    complaints = check(root)
    os.remove(os.path.join(root, path))
    if expected is None:
        return complaints
    if len(complaints) == 1 and expected in complaints[0]:
        return []
    return [f"expected one complaint with '{expected}', got {complaints}"]


def self_test_circle(root):
    """Three folders of one level, each of which may include the next."""
    for path, text in (("common/mpi/a.h", '#include "common/job/a.h"'), ("common/job/a.h", '#include "common/os/a.h"')):
        put(root, path, text)
    complaints = self_test_case(root, "common/os/a.h", "", None)
    put(root, "common/os/a.h", '#include "common/mpi/a.h"')
    found = circles(root)
    for path in ("common/mpi/a.h", "common/job/a.h", "common/os/a.h"):
        os.remove(os.path.join(root, path))
    return complaints + ([] if len(found) == 3 else [f"expected three folders, got {found}"])


def self_test():
    with tempfile.TemporaryDirectory() as root:
        for path in HEADERS + ["b/meson-private/x"]:
            put(root, path, "")
        put(root, "common/mpi/net.c", "int net_send(int x)\n{\n}\nconst struct x net_tables = {0};")
        return tap.run([("nothing to complain about", lambda: check(root))]
                       + [(what, lambda case=case: self_test_case(root, *case)) for what, *case in CASES]
                       + [("folders that include each other", lambda: self_test_circle(root))])


def main(words):
    if words == ["--self-test"]:
        return self_test()
    if len(words) != 1:
        sys.exit(__doc__)
    root = words[0]
    return tap.run([
        ("every folder has a level", lambda: unknown_places(root)),
        ("every include keeps the layers", lambda: bad_includes(root)),
        ("no folders include each other in a circle", lambda: circles(root)),
        ("levels 0 to 3 call no file, socket or clock", lambda: bad_calls(root)),
        ("files of one folder call those in front of them alone", lambda: calls_upwards(root)),
    ])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
