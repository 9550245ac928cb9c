#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a tier of the tests; deploy/selftest calls it when all that is needed is installed.

    selftest.py gate|quick|smoke|all|history BUILD

The last line is "N passed, N failed, N skipped". Exit status 0 if none failed. tests/tiers.py says what each tier runs.
"""
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
# pylint: disable=wrong-import-position
import history
import house
import outcomes
import seeds
import tiers
import verdict
from progress import Progress

LEDGER = os.path.join(house.ROOT, "tests", "flaky.txt")
QUARANTINE = os.path.join(house.ROOT, "tests", "quarantine.txt")
BARE = os.path.join(house.ROOT, "deploy", "lib", "bare.sh")
SYSTEM_AT_ONCE = 6  # system tests wait most of their time
TOLD_MOST = 10  # failures that are told with their lines
QUICK_SECONDS = 40  # of tests in quick: the rest is named, and left to the gate
SANITIZERS = {
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    # Where the names of PCI devices are installed, hwloc reads them in each rank, and AddressSanitizer keeps a copy for each name: that takes 3 s.
    "HWLOC_COMPONENTS": "-pci",
    # They go on beside others, and the limits of single tests are for calm cores.
    "CK_TIMEOUT_MULTIPLIER": "10",
}
# Open MPI leaks by itself, in modules that are unloaded at the end, which no suppression can name.
WITH_LEAKS, WITHOUT_LEAKS = {**SANITIZERS, "ASAN_OPTIONS": "detect_leaks=1"}, {**SANITIZERS, "ASAN_OPTIONS": "detect_leaks=0"}


# What apt and debootstrap say if the mirror cannot be reached now.
NETWORK_SIGNS = r"Failed to fetch|Temporary failure|Could not connect|Connection (timed out|failed)|Couldn't download|Unable to fetch"


def all_text(folder):
    return "\n".join(text_of(os.path.join(folder, name)) for name in os.listdir(folder))


def text_of(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


class Aside(threading.Thread):
    """Work that goes on beside the tests. join() raises what it raised."""

    def __init__(self, work, *words, **options):
        super().__init__(daemon=True)
        self.work, self.words, self.options, self.raised = work, words, options, None
        self.start()

    def run(self):
        try:
            self.work(*self.words, **self.options)
        except Exception as problem:  # told by join()
            self.raised = problem

    def result(self):
        self.join()
        if self.raised is not None:
            raise self.raised


class Selftest:
    def __init__(self, tier, folder):
        self.tier, self.folder = tier, folder
        self.tested_for = os.environ.get("HDSS_GATE_FOR")  # another checkout, whose build/ gets the verdict and the history
        self.progress = Progress("selftest")
        self.results = []
        self.builds = {}
        self.asides = []  # processes that go on beside the tests
        self.real_time = set()  # tests that may be tried again
        self.commit = house.commit()
        self.quarantined = verdict.quarantined(text_of(QUARANTINE))
        self.state = os.path.join(folder, "selftest")
        os.makedirs(self.state, exist_ok=True)

    # --- builds ---

    def build(self, name):
        """The build of that name: gcc is the folder of users, the others stand beside it."""
        options = {
            "gcc": ("gcc", ["-Dwerror=true", "-Dtests=true"]),
            # What another compiler warns of it says at any level; the tests are then built in three quarters of the time.
            "clang": ("clang", ["-Doptimization=1", "-Ddebug=false", "-Dwerror=true"]),
            # Here, too, what is optional is absent, and the build is that for debugging.
            "mpich": ("gcc", ["--buildtype=debug", "-Dwerror=true", "-Dmpi=mpich"] + [
                f"-D{part}=disabled" for part in ("png", "control", "tls", "munge", "simgrid", "fortran")]),
            # Reports name lines; more debug information and a higher level take gcc twice the time. At this level it warns of what is no error.
            # The other linker takes half the time for each of 280 programs.
            "sanitizers": ("gcc", ["-Doptimization=1", "-Ddebug=false", "-Dc_args=-g1", "-Dwerror=false", "-Db_sanitize=address,undefined",
                                   "-Db_lundef=false", *(["-Dc_link_args=-fuse-ld=gold"] if house.shutil.which("ld.gold") else [])]),
            "fuzz": ("clang", ["-Dfuzz=true"]),
        }
        if name not in self.builds:
            compiler, words = options[name]
            folder = self.folder if name == "gcc" else f"{self.folder}-{name}"
            self.builds[name] = house.Build(name, folder, compiler, words, self.progress)
        return self.builds[name]

    def fail(self, stage, what, lines):
        self.results.append(outcomes.Result(stage, what, "", "failed", list(lines)))
        self.progress.say(f"FAILED: {what}")

    def skip(self, stage, what, why):
        self.results.append(outcomes.Result(stage, what, "", "skipped", [why]))
        self.progress.say(f"{what} is left out: {why}")

    def guarded(self, stage, work, *words, **options):
        """Runs a part of the work. False, with a failed result, if it broke: the other parts go on."""
        try:
            work(*words, **options)
            return True
        except house.Broken as problem:
            self.fail(stage, problem.what, problem.lines)
            return False

    # --- tests ---

    def take(self, found):
        """Adds results; those of tests in real time may be tried again."""
        for one in found:
            one.retried = one.program in self.real_time
        self.results += found
        bad = [one.name for one in found if one.verdict == "failed"]
        for name in bad:
            self.progress.say(f"failed: {name}")

    def learn(self, build):
        """Which tests of the build run in real time."""
        self.real_time = {test["name"] for test in build.tests()
                          if not tiers.DETERMINISTIC.intersection(test["suite"]) or test["name"] in tiers.REAL_TIME}

    def of_suites(self, build, *suites):
        return [test["name"] for test in build.tests() if set(suites) & set(test["suite"]) and "seeds" not in test["suite"]]

    def deterministic(self, build):
        left = tiers.LEFT_TO_ALL if self.tier != "all" else {}
        return [name for name in self.of_suites(build, "unit", "cluster", "fuzz") if name not in left]

    def seed_tests(self, build):
        return [test for test in build.tests() if "seeds" in test["suite"]]

    def fixed_seeds(self, build):
        return [(test["name"], test["cmd"], test["env"], 1800) for test in self.seed_tests(build)]

    def seeds_that_failed(self, build):
        return [line for line in self.fixed_seeds(build) if "kept" in line[1]]

    def fresh_seeds(self, build, share=1):
        tests, count = self.seed_tests(build), tiers.FRESH[self.tier] // share
        own = {test["name"]: test["env"] for test in tests}
        self.progress.say(f"{count} fresh seeds from number {seeds.first_fresh(self.commit)} on, drawn from {self.commit[:12]}")
        return [(name, words, own[name.removesuffix("-fresh")], 1800) for name, words in seeds.fresh_lines(tests, self.commit, count)]

    def run_seeds(self, build, lines, env=None, nice=False):
        found = build.run(lines, "seeds", 2, env, nice)
        for one in found:
            if one.verdict == "failed":
                one.lines += ["A seed stays: tests/seeds/failed*.txt gets its number and why it failed."]
        self.take(found)

    def run_all_seeds(self, build, env=None, share=1):
        self.run_seeds(build, self.fixed_seeds(build) + self.fresh_seeds(build, share), env)

    def choice_file(self, stage, only):
        """Writes which functions run, for tests/lib/launch.py; the environment that names it."""
        without = {}
        for name in self.quarantined if self.tier != "all" else []:
            program, _, function = name.partition(": ")
            without.setdefault(program, []).append(function)
        path = os.path.join(self.state, f"chosen-{stage}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"only": only, "without": without}, file)
        kept = os.path.join(self.state, "kept")
        return {"HDSS_TEST_CHOSEN": path, "HDSS_TEST_KEEP": kept, "HDSS_TEST_TIMEOUT": "360"}

    def areas(self, build):
        """The system tests of what has changed, as far as AREA_SECONDS go; what is left out is said."""
        names = {test["name"] for test in build.tests() if "system" in test["suite"]}
        files = house.changed_files()
        counts = {}
        for path in files:
            at = re.match(r"tests/system/test_(\w+)\.py$", path)
            own = [at.group(1)] if at else area_of(path)
            for name in set(own) & names:
                counts[name] = counts.get(name, 0) + (10 if at else 1)
        chosen, left, seconds = [], [], 0
        for name in sorted(counts, key=lambda name: (-counts[name] / tiers.SECONDS.get(name, tiers.USUAL_SECONDS), name)):
            cost = tiers.SECONDS.get(name, tiers.USUAL_SECONDS)
            if seconds + cost <= tiers.AREA_SECONDS:
                chosen.append(name)
                seconds += cost
            else:
                left.append(name)
        self.progress.say(f"{len(files)} files have changed: the whole of {', '.join(chosen) or 'no system test'}")
        if left:
            self.progress.say(f"beyond {tiers.AREA_SECONDS} s, left to --all: {', '.join(sorted(left))}")
        return chosen

    def run_smoke(self, build):
        whole = self.areas(build)
        if self.quarantined:
            self.progress.say(f"left out by tests/quarantine.txt: {', '.join(self.quarantined)}")
        only = {program: list(functions) for program, functions in tiers.SMOKE.items() if program not in whole}
        env = self.choice_file("gcc", only)
        present = {test["name"] for test in build.tests()}
        names = sorted(set(only) | set(whole))
        for name in sorted(set(only) - present):
            self.skip("gcc", name, "this build does not have it")
        self.take(build.test([name for name in names if name in present], "system", SYSTEM_AT_ONCE, env))

    def check_syntax(self):
        complaints = house.check_syntax(self.folder, self.progress)
        if complaints is None:
            self.skip("clang", "clang -fsyntax-only", "there is no clang")
        elif complaints:
            self.fail("clang", "clang -fsyntax-only", complaints)
        else:
            self.results.append(outcomes.Result("clang", "clang -fsyntax-only", "", "passed", []))

    # --- the stage of bare roots ---

    def bare(self, what, *words, limit=5400):
        """Runs a command of bare.sh with what others leave of the cores, and takes the results that it leaves in a folder."""
        folder = os.path.join(self.state, "bare-" + "-".join([what, *words[:1]]))
        status, log = self.run_bare(folder, what, *words, limit=limit)
        if status != 0 and re.search(NETWORK_SIGNS, all_text(folder)):
            self.progress.say(f"bare.sh {what} once more: the network failed")
            status, log = self.run_bare(folder, what, *words, limit=limit)
        logs = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".json")]
        for path in logs:
            self.take(outcomes.read_log("bare", path))
        if status != 0 and all(one.stage != "bare" or one.verdict != "failed" for one in self.results):
            self.fail("bare", f"bare.sh {what} {' '.join(words)}", ["timeout" if status == 124 else f"status {status}", *text_of(log).splitlines()])

    def run_bare(self, folder, what, *words, limit):
        """Its exit status, and its log."""
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))
        log = os.path.join(folder, "log")
        with open(log, "w", encoding="utf-8") as file:
            process = subprocess.Popen([*house.NICE, "bash", BARE, what, folder, self.folder, *words], stdin=subprocess.DEVNULL, stdout=file,
                                       stderr=file, start_new_session=True)
            self.asides.append(process)
            try:
                status = process.wait(timeout=limit)
            except subprocess.TimeoutExpired:
                process.terminate()  # it ends what it has started
                process.wait()
                status = 124
        return status, log

    # --- the end ---

    def second_try(self):
        """Runs the functions that may have failed by chance once more, each alone, now that all else is over. The names that pass."""
        passed = set()
        again = verdict.may_be_tried_again(self.results)
        for one in again:
            build = self.builds.get(one.stage)
            if build is None:
                continue
            self.progress.say(f"once more, alone: {one.name}")
            only = {self.program_of(build, one.program): [one.function]} if one.function else {}
            env = self.choice_file("again", only)
            env["HDSS_TEST_KEEP"] += "-again"
            leaks = {"sanitizers": WITHOUT_LEAKS}.get(one.stage, {})
            found = build.test([one.program], "again", 1, {**leaks, **env}, patience=5)
            if found and all(result.verdict != "failed" for result in found) and any(result.verdict == "passed" for result in found):
                passed.add((one.stage, one.name))
        return passed

    def program_of(self, build, name):
        """What tests/lib/launch.py calls the program: its file's name."""
        files = [word for test in build.tests() if test["name"] == name for word in test["cmd"] if word.endswith(".py")]
        return os.path.basename(files[-1]).removeprefix("test_").removesuffix(".py") if files else name

    def tell(self, one, why):
        path = os.path.join(self.state, "failures", re.sub(r"\W+", "-", f"{one.stage}-{one.name}")[:200] + ".txt")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write("\n".join(one.lines) + "\n")
        self.progress.print(f"\nFAILED: {one.name} ({one.stage}): {why}")
        self.progress.print("\n".join("    " + line[:200] for line in outcomes.shortened(one, path)))

    def finish(self):
        for process in self.asides:
            if process.poll() is None:
                process.terminate()  # it ends what it has started
        today = datetime.date.today()
        passed = self.second_try()
        judged = verdict.judge(self.results, passed, text_of(LEDGER), today)
        complaints = verdict.quarantine_complaints(text_of(QUARANTINE), today) if self.tier == "gate" else []
        for text in complaints:
            judged.failed.append((outcomes.Result("", "quarantine", "", "failed", [text]), "the list is not in order"))
        for one, why in judged.failed[:TOLD_MOST]:
            self.tell(one, why)
        if len(judged.failed) > TOLD_MOST:
            self.progress.print("\nFAILED as well: " + ", ".join(one.name for one, _ in judged.failed[TOLD_MOST:]))
        for one in judged.flaky:
            line = verdict.ledger_line(today, self.commit, one.name, house.load(), one.lines)
            self.progress.print(f"\nFLAKY: {one.name} ({one.stage}) failed, and passed alone. This line belongs into tests/flaky.txt:\n{line}")
            self.progress.print("\n".join("    " + text[:200] for text in outcomes.shortened(one)))
        self.note(judged)
        if not judged.failed and self.tier in ("gate", "all"):
            self.mark_passed()
        minutes = (time.monotonic() - self.progress.began) / 60
        self.progress.say(f"{self.tier} of {self.commit[:12]}: {minutes:.1f} minutes, load {house.load():.0f}")
        self.progress.print(judged.last_line)
        return 1 if judged.failed else 0

    def note(self, judged):
        flaky = {id(one) for one in judged.flaky}
        tests = {f"{one.stage} / {one.name}": ["flaky" if id(one) in flaky else one.verdict, round(one.seconds, 2)] for one in self.results}
        history.note(os.path.join(self.tested_for, "build") if self.tested_for else self.folder, {
            "date": datetime.datetime.now().isoformat(timespec="seconds"), "commit": self.commit, "tier": self.tier,
            "load": round(house.load(), 1), "minutes": round((time.monotonic() - self.progress.began) / 60, 1), "tests": tests})

    def mark_passed(self):
        """Says in the checkout that was tested which commit has passed, if all that was tested is in the commit."""
        where = self.tested_for or house.ROOT
        if not house.is_clean():
            self.progress.say("the tree has changes that no commit has: build/gate.passed stays as it is")
            return
        os.makedirs(os.path.join(where, "build"), exist_ok=True)
        with open(os.path.join(where, "build", "gate.passed"), "w", encoding="ascii") as file:
            file.write(self.commit + "\n")

    # --- the tiers ---

    def gate(self):
        """Both cores are busy all the time: the system tests wait most of theirs, in which the other build is made."""
        gcc, sanitizers = self.build("gcc"), self.build("sanitizers")
        bare = Aside(self.guarded, "bare", self.bare, "quickstart", "bookworm")
        if not self.guarded("gcc", gcc.compile):
            return
        self.learn(gcc)
        aside = [Aside(self.guarded, "sanitizers", self.test_sanitizers, sanitizers), Aside(self.check_syntax), bare]
        self.guarded("gcc", self.run_smoke, gcc)
        rules = [*(name for name in self.of_suites(gcc, "tidy", "headers") if name != "tidy-lint"), *sorted(tiers.BENCH)]
        self.guarded("gcc", lambda: self.take(gcc.test(rules, "rules", 2)))
        self.run_seeds(gcc, self.fixed_seeds(gcc))
        self.lint(gcc, house.changed_files())
        self.guarded("gcc", self.run_mpich_line, gcc)
        for work in aside:
            work.result()

    def run_mpich_line(self, build):
        if house.shutil.which("mpiexec.mpich"):
            self.take(build.test(["mpich_line"], "a line over MPICH", 1, self.choice_file("mpich", {})))
        else:
            self.skip("mpich", "a line over MPICH", "there is no mpiexec.mpich")

    def test_sanitizers(self, build):
        """The deterministic tests in the other build, with what others leave of the cores."""
        build.compile(lambda: build.files_for({*self.deterministic(build), *(test["name"] for test in self.seed_tests(build))}), nice=True)
        self.take(build.test(self.deterministic(build), "under sanitizers", 3, WITH_LEAKS, patience=40, nice=True))
        # The fixed seeds take four times as long under sanitizers. The other build runs them.
        self.run_seeds(build, self.seeds_that_failed(build) + self.fresh_seeds(build), WITH_LEAKS, nice=True)

    def smoke(self):
        """The system tests of the gate alone."""
        gcc = self.build("gcc")
        if self.guarded("gcc", gcc.compile):
            self.learn(gcc)
            self.guarded("gcc", self.run_smoke, gcc)

    def quick(self):
        """The tests whose programs are not those that passed last time."""
        gcc = self.build("gcc")
        if not self.guarded("gcc", gcc.compile):
            return
        self.learn(gcc)
        known_path = os.path.join(self.state, "quick.json")
        known = json.loads(text_of(known_path) or "{}")
        tests = [test for test in gcc.tests() if tiers.DETERMINISTIC.intersection(test["suite"]) and test["name"] not in tiers.LEFT_TO_ALL]
        digests = {test["name"]: digest_of(test) for test in tests}
        due = [test for test in tests if known.get(test["name"]) != digests[test["name"]] or "tidy" in test["suite"]]
        due = [test for test in due if test["name"] != "tidy-lint"]
        took = {name.removeprefix("gcc / "): seconds for name, seconds in program_seconds(history.runs(self.folder)).items()}
        chosen, left, seconds = [], [], 0.0
        for test in sorted(due, key=lambda test: took.get(test["name"], 0.5)):
            seconds += took.get(test["name"], 0.5) / 2
            (chosen if seconds < QUICK_SECONDS else left).append(test)
        seed = [test for test in chosen if "seeds" in test["suite"]]
        names = [test["name"] for test in chosen if "seeds" not in test["suite"]]
        self.progress.say(f"{len(chosen)} of {len(tests)} tests: the others' programs are those that passed")
        if left:
            self.progress.say(f"left to the gate, as they take long: {', '.join(test['name'] for test in left)}")
        if names:
            self.take(gcc.test(names, "quick", 3))
        if seed:
            self.take(gcc.run([(test["name"], seeds.fixed_line(test, tiers.FIXED_SHARE), test["env"], 300) for test in seed], "seeds", 2))
        self.lint(gcc, house.changed_files("HEAD"))
        bad = {one.program for one in self.results if one.verdict == "failed"}
        known.update({test["name"]: digests[test["name"]] for test in chosen if test["name"] not in bad})
        with open(known_path, "w", encoding="utf-8") as file:
            json.dump(known, file)

    def lint(self, build, changed):
        """clang-tidy on the C files among those that have changed."""
        files = [path for path in changed if path.endswith(".c") and os.path.exists(os.path.join(house.ROOT, path))]
        if not files:
            return
        words = [sys.executable, os.path.join(house.ROOT, "tests", "tidy", "lint.py"), house.ROOT, self.folder, *files]
        self.take(build.run([("tidy-lint", words, {"PYTHONDONTWRITEBYTECODE": "1"}, 300)], "clang-tidy", 1))

    def all(self):
        self.all_of_gcc()
        self.all_of_clang()
        self.all_of_mpich()
        self.all_of_sanitizers()
        for suite in ("bookworm", "trixie"):
            self.guarded("bare", self.bare, "all", suite, self.choice_file("bare", tiers.SMOKE)["HDSS_TEST_CHOSEN"])
        self.fuzz()

    def all_of_gcc(self):
        gcc = self.build("gcc")
        if not self.guarded("gcc", gcc.compile):
            raise house.Broken("nothing can be tested without the build gcc")
        self.learn(gcc)
        others = [test["name"] for test in gcc.tests() if not {"system", "seeds"} & set(test["suite"])]
        self.guarded("gcc", lambda: self.take(gcc.test(others, "units", 2)))
        self.guarded("gcc", self.run_all_seeds, gcc)
        names = self.of_suites(gcc, "system")
        env = self.choice_file("gcc", {})
        self.guarded("gcc", lambda: self.take(gcc.test(names, "system", SYSTEM_AT_ONCE, env)))
        changed = [name for name in self.areas(gcc) if name in names]
        for round_ in ("second", "third"):
            self.guarded("gcc", lambda: self.take(gcc.test(changed, f"the changed for the {round_} time", SYSTEM_AT_ONCE, env)))

    def all_of_clang(self):
        if not house.shutil.which("clang"):
            self.skip("clang", "the build with clang", "there is no clang")
            return
        clang = self.build("clang")
        if self.guarded("clang", clang.compile):
            self.guarded("clang", lambda: self.take(clang.test(self.deterministic(clang), "with clang", 3)))

    def all_of_mpich(self):
        if not house.shutil.which("mpiexec.mpich"):
            self.skip("mpich", "the build with MPICH", "there is no mpiexec.mpich")
            return
        mpich, gcc = self.build("mpich"), self.build("gcc")
        if not self.guarded("mpich", mpich.compile):
            return
        names = [*self.of_suites(mpich, "mpich"), "image", "results", "parts", "simulation-parts"]
        self.real_time |= set(self.of_suites(mpich, "mpich"))
        self.guarded("mpich", lambda: self.take(mpich.test(names, "with MPICH", 4, self.choice_file("mpich", {}))))
        env = {**self.choice_file("mpich", {}), "HDSS_TEST_EVENTS": "4", "HDSS_TEST_PODS_BY": os.path.join(mpich.folder, "deploy", "hdss")}
        self.guarded("gcc", lambda: self.take(gcc.test(["random_pods"], "pods of MPICH", 1, env)))

    def all_of_sanitizers(self):
        build = self.build("sanitizers")
        if not self.guarded("sanitizers", build.compile):
            return
        self.guarded("sanitizers", lambda: self.take(build.test(self.deterministic(build), "under sanitizers", 3, WITH_LEAKS, patience=10)))
        self.guarded("sanitizers", self.run_all_seeds, build, WITH_LEAKS, tiers.FRESH_SHARE_UNDER_SANITIZERS)
        env = {**WITHOUT_LEAKS, **self.choice_file("sanitizers", tiers.SMOKE)}
        names = [name for name in self.of_suites(build, "system") if name in tiers.SMOKE]
        self.guarded("sanitizers", lambda: self.take(build.test(names, "system under sanitizers", SYSTEM_AT_ONCE, env, 6)))

    def fuzz(self):
        if not house.shutil.which("clang"):
            self.skip("fuzz", "the fuzzers", "there is no clang")
            return
        build = self.build("fuzz")
        if self.guarded("fuzz", build.compile, ["fuzz"]):
            words = [sys.executable, os.path.join(house.ROOT, "tests", "fuzz", "run.py"), "--executions", "2e6",
                     "--seed", str(seeds.first_fresh(self.commit)), build.folder]
            self.take(build.run([("fuzzers", words, {}, 3600)], "fuzzers", 1))


def area_of(path):
    """The system tests of a changed file: those of the longest beginning of its path that the table has."""
    beginning = max((folder for folder in tiers.AREAS if path.startswith(folder)), key=len, default=None)
    return tiers.AREAS.get(beginning, [])


def digest_of(test):
    """A digest of what a test runs: its program and the files and folders among its words."""
    found = hashlib.sha256(json.dumps([test["cmd"], test["env"]], sort_keys=True).encode())
    for word in test["cmd"]:
        if os.path.isdir(word) and word != house.ROOT and not word.startswith(house.ROOT + "/build"):
            for folder, _, names in sorted(os.walk(word)):
                found.update("".join(sorted(names)).encode() + folder.encode())
        elif os.path.isfile(word):
            with open(word, "rb") as file:
                found.update(file.read())
    return found.hexdigest()


def program_seconds(found):
    """{"STAGE / PROGRAM": seconds} from the last run that has the program."""
    seconds = {}
    for run in found:
        own = {}
        for name, (_, took) in run["tests"].items():
            program = name.split(": ")[0]
            own[program] = own.get(program, 0.0) + took
        seconds.update(own)
    return seconds


def main(words):
    tier, folder = words
    if tier == "history":
        print(history.text(folder))
        return 0
    folder = os.path.realpath(folder)
    selftest = Selftest(tier, folder)
    last = history.last_minutes(folder, tier)
    selftest.progress.say(f"{tier} of {selftest.commit[:12]}" + (f"; the last one took {last} minutes" if last else ""))
    try:
        getattr(selftest, tier)()
    except house.Broken as problem:
        selftest.fail("", problem.what, problem.lines)
    return selftest.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
