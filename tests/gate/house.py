# SPDX-License-Identifier: MIT
"""The checkout that a gate runs for, its builds, and the programs that run in them: all effects of the gate but what it prints."""
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import outcomes

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
NICE = ["nice", "-n", "19"]  # for what goes on beside tests that run in real time
NICE_TESTS = ["nice", "-n", "5"]  # for tests that go on beside these
NINJA_STATUS = re.compile(r"^\[(\d+)/(\d+)\]")
MESON_STATUS = re.compile(r"^\s*(\d+)/(\d+) ")
TEST_MINUTES = 60  # the most that one call of Meson may take


class Broken(Exception):
    """Something could not be built or run: the words say what, the lines why."""

    def __init__(self, what, lines=()):
        super().__init__(what)
        self.what, self.lines = what, list(lines)


def git(*words, where=ROOT):
    done = subprocess.run(["git", "-C", where, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def commit():
    return git("rev-parse", "HEAD").strip() or "no commit"


def is_clean():
    return git("rev-parse", "HEAD") != "" and git("status", "--porcelain") == ""


def changed_files(base=None):
    """Files that differ from `base` (HDSS_GATE_BASE; else what the branch follows, or, where it has gone no further, the last 20 commits)."""
    base = base or os.environ.get("HDSS_GATE_BASE") or git("merge-base", "HEAD", "@{upstream}").strip()
    if not base or base == commit():
        base = git("rev-list", "--max-count=1", "--skip=20", "HEAD").strip() or git("rev-list", "--max-parents=0", "HEAD").split("\n", maxsplit=1)[0]
    named = git("diff", "--name-only", base) + git("ls-files", "--others", "--exclude-standard")
    return sorted(set(named.split("\n")) - {""})


def with_cache(compiler):
    """The compiler behind ccache, if that is there: a checkout elsewhere then finds the objects of an earlier one."""
    return f"ccache {compiler}" if shutil.which("ccache") else compiler


def environment(**more):
    env = {**os.environ, "CCACHE_BASEDIR": os.path.dirname(ROOT), "CCACHE_NOHASHDIR": "1", "NINJA_STATUS": "[%f/%t] ", **more}
    # The python3 that tests start is this one, not a script that looks for one each time.
    env["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), env["PATH"]])
    env.pop("MAKEFLAGS", None)
    return env


def watched(words, label, progress, pattern, log, env=None):
    """Runs a program that says how far it is in lines that `pattern` matches; its output goes to the file `log`. Returns its status."""
    with open(log, "w", encoding="utf-8", errors="replace") as file:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, errors="replace", env=env or environment(), start_new_session=True)
        try:
            for line in process.stdout:
                file.write(line)
                at = pattern.match(line)
                if at:
                    progress.set(label, int(at.group(1)), int(at.group(2)))
            return process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        finally:
            progress.end(label)


class Build:
    """A build folder. `options` are Meson's."""

    def __init__(self, name, folder, compiler, options, progress):
        self.name, self.folder, self.compiler, self.options, self.progress = name, folder, compiler, options, progress
        self.logs = os.path.join(folder, "selftest")

    def log(self, name):
        os.makedirs(self.logs, exist_ok=True)
        return os.path.join(self.logs, f"{name}.log")

    def info(self, what):
        with open(os.path.join(self.folder, "meson-info", f"intro-{what}.json"), encoding="utf-8") as file:
            return json.load(file)

    def tests(self):
        """Meson's entries of all tests, with the plain names of their suites."""
        return [{**test, "suite": [suite.split(":")[-1] for suite in test["suite"]]} for test in self.info("tests")]

    def source(self):
        """The checkout that the folder was made for."""
        try:
            return self.info_of_folder()["directories"]["source"]
        except (OSError, ValueError, KeyError):
            return None

    def info_of_folder(self):
        with open(os.path.join(self.folder, "meson-info", "meson-info.json"), encoding="utf-8") as file:
            return json.load(file)

    def configure(self):
        how = []
        if os.path.exists(os.path.join(self.folder, "meson-private", "coredata.dat")):
            how = ["--reconfigure"] if self.source() == ROOT else ["--wipe"]  # of another checkout, or cut off in the middle
        # A folder that is there keeps its compiler: Meson asks for it once.
        words = ["meson", "setup", *how, self.folder, ROOT, *self.options]
        with open(self.log("configure"), "w", encoding="utf-8") as log:
            done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False,
                                  env=environment(CC=with_cache(self.compiler)))
        if done.returncode != 0:
            raise Broken(f"configuring the build {self.name} failed", first_error(self.log("configure"), r"ERROR:|error:"))

    def compile(self, targets=(), nice=False):
        """Configures and builds the targets, or all."""
        began = time.monotonic()
        self.configure()
        chosen = targets() if callable(targets) else targets
        label = f"building {self.name}"
        words = [*(NICE if nice else []), "ninja", "-C", self.folder, *chosen]
        status = watched(words, label, self.progress, NINJA_STATUS, self.log("build"))
        if status != 0:
            raise Broken(f"building {self.name} failed", first_error(self.log("build"), r"^FAILED:|error:"))
        self.progress.say(f"built {self.name} in {time.monotonic() - began:.0f} s")

    def files_for(self, names):
        """The targets that tests of these names need, for ninja."""
        needed = {target for test in self.tests() if test["name"] in names for target in test["depends"]}
        return [os.path.relpath(path, os.path.realpath(self.folder)) for target in self.info("targets") if target["id"] in needed
                for path in target["filename"]]

    def test(self, names, what, at_once, env=None, patience=3, nice=False):
        """Runs tests by their names; their results. `patience`: how many times Meson's limits each may take."""
        if not names:
            return []
        base = "testlog-" + what.replace(" ", "-")
        log = os.path.join(self.folder, "meson-logs", f"{base}.json")
        if os.path.exists(log):
            os.remove(log)
        words = [*(NICE_TESTS if nice else []), "meson", "test", "-C", self.folder, "--no-rebuild", "--logbase", base, "--timeout-multiplier", str(patience),
                 "--num-processes", str(at_once), *names]
        watched(words, f"testing {what}", self.progress, MESON_STATUS, self.log(base), env=environment(**(env or {})))
        if not os.path.exists(log) or os.path.getsize(log) == 0:
            raise Broken(f"testing {what} failed", first_error(self.log(base), r"ERROR"))
        return outcomes.read_log(self.name, log)

    def run(self, lines, what, at_once, env=None, nice=False):
        """Runs programs that print TAP, by (name, words, environment, seconds); their results."""
        done = 0

        def one(line):
            nonlocal done
            name, words, own, seconds = line
            result = run_one(name, (NICE_TESTS if nice else []) + words, environment(**own, **(env or {})), seconds)
            done += 1
            self.progress.set(f"running {what}", done, len(lines))
            return result

        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            return [result for test in pool.map(one, lines) for result in outcomes.read_test(self.name, test)]


def run_one(name, words, env, seconds):
    """Runs a program. What came of it, as Meson's log says it."""
    began = time.monotonic()
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                               env=env, start_new_session=True)
    try:
        out, err = process.communicate(timeout=seconds)
        result = "OK" if process.returncode == 0 else "ERROR"
        if process.returncode < 0:
            err += f"\n{signal.Signals(-process.returncode).name}"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        result = "TIMEOUT"
    return {"name": name, "result": result, "stdout": out, "stderr": err, "duration": time.monotonic() - began}


def first_error(path, pattern):
    """The lines of a log from the first that matches on, or its last ones; then the log's name."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    first = next((i for i, line in enumerate(lines) if re.search(pattern, line)), max(0, len(lines) - outcomes.SHOWN))
    return [*lines[first:first + outcomes.SHOWN - 1], f"(all of it: {path})"]


def syntax_commands(folder):
    """(folder, words) by which clang reads each C file that gcc compiles in the build folder, once for each set of macros."""
    with open(os.path.join(folder, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        if not entry["file"].endswith(".c"):
            continue
        words = shlex.split(entry["command"])
        words = words[next(i for i, word in enumerate(words) if os.path.basename(word) not in ("ccache", "gcc", "cc")):]
        kept, skip = [], False
        for word in words:
            if skip or word in ("-c", "-MD", "-MMD", "-g") or word.startswith(("-O", "-fdiagnostics-color")):
                skip = False
            elif word in ("-o", "-MF", "-MQ", "-MT"):
                skip = True
            else:
                kept.append(word)
        macros = frozenset(word for word in kept if word.startswith("-D"))
        found.setdefault((os.path.realpath(os.path.join(entry["directory"], entry["file"])), macros), (entry["directory"], kept))
    return list(found.values())


def header_folder(folder):
    """A folder with gcc's omp.h, which clang may lack, and with none of gcc's other headers, which clang has of its own."""
    own = os.path.join(folder, "selftest", "include")
    header = subprocess.run(["gcc", "-print-file-name=include/omp.h"], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    os.makedirs(own, exist_ok=True)
    if os.path.isabs(header) and not os.path.lexists(os.path.join(own, "omp.h")):
        os.symlink(header, os.path.join(own, "omp.h"))
    return own


def check_syntax(folder, progress, at_once=2):
    """Has clang warn of all files. The complaints, or None where there is no clang."""
    if not shutil.which("clang"):
        return None
    include = header_folder(folder)
    commands, done = syntax_commands(folder), 0
    # A file that ccache has seen need not be read again; what it keeps are objects.
    cached = shutil.which("ccache") is not None
    objects = os.path.join(folder, "selftest", "clang")
    os.makedirs(objects, exist_ok=True)

    def one(numbered):
        nonlocal done
        number, (directory, words) = numbered
        how = ["ccache", "clang", "-O0", "-c", "-o", os.path.join(objects, f"{number}.o")] if cached else ["clang", "-fsyntax-only"]
        line = [*NICE, *how, "-Werror", "-Wno-unknown-warning-option", "-Wno-unused-command-line-argument", *words, "-idirafter", include]
        checked = subprocess.run(line, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 errors="replace", check=False, env=environment())
        done += 1
        progress.set("reading with clang", done, len(commands))
        return checked.stdout.splitlines() or [f"clang ended with {checked.returncode}"] if checked.returncode != 0 else []

    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        complaints = [line for lines in pool.map(one, enumerate(commands)) for line in lines]
    shutil.rmtree(objects)
    return complaints


def load():
    return os.getloadavg()[0]


def die(text):
    print(f"selftest: {text}", file=sys.stderr)
    sys.exit(2)
