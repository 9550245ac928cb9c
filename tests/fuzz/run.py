#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the fuzz targets and prints what they did.

    run.py [OPTION]... BUILD [TARGET]...

BUILD is a build folder made with clang and -Dfuzz=true, in which `ninja -C BUILD fuzz` was run:

    CC=clang meson setup build-fuzz -Dfuzz=true && ninja -C build-fuzz fuzz
    tests/fuzz/run.py --executions 1e8 build-fuzz

    --executions N   in all, dealt out by the table SHARES below (default 1e6)
    --jobs J         targets at once (default: one for each core)
    --seed S         of libFuzzer's random numbers (default 1), so that a run can be repeated
    --keep FOLDER    where the inputs go that run new code, FOLDER/TARGET, and those that fail (default: a temporary folder,
                     which stays only where something failed)

An input that failed belongs into the corpus, as failed-NAME, when its cause is mended. With AFL++ instead of libFuzzer:

    CC=afl-clang-fast AFL_USE_ASAN=1 AFL_USE_UBSAN=1 meson setup build-afl && AFL_USE_ASAN=1 AFL_USE_UBSAN=1 ninja -C build-afl
    afl-fuzz -i tests/fuzz/corpus/TARGET -o FOLDER -- build-afl/tests/fuzz/replay-TARGET
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))

# Parts of all executions: more for what reads what another process wrote, fewer for what takes long.
SHARES = {
    "message": 250, "announcement": 40, "frame": 40, "machines": 100, "lineup": 120, "journal": 100, "technique": 100, "power": 80, "availability": 60, "description": 40, "blocks": 40, "hosts": 60, "route": 40, "submission": 40, "items": 40, "http": 10, "jobs": 40, "nodes": 260, "options": 50,
    "chunks": 40, "tasks": 13, "list": 13, "task_log": 40, "exec": 20, "earlier": 10, "costs": 40, "simulated": 60, "platform": 60, "banner": 13, "vigil": 10,
    "off": 60, "obj": 40, "ply": 60, "image": 60, "results": 2, "parts": 2,
}
LONGEST = {"message": 4200, "machines": 2000, "lineup": 1600, "technique": 300, "options": 1200, "chunks": 600}  # bytes of an input
OTHERWISE_LONGEST = 1024
TIMEOUT_S = 20  # of one input: a hang


def command(arguments, target, runs, new):
    binary = os.path.join(arguments.build, "tests", "fuzz", "fuzz-" + target)
    words = [binary, f"-runs={runs}", f"-seed={arguments.seed}", f"-timeout={TIMEOUT_S}", "-print_final_stats=1",
             f"-max_len={LONGEST.get(target, OTHERWISE_LONGEST)}", f"-artifact_prefix={new}-failed-"]
    dictionary = os.path.join(HERE, "dictionary", target)
    if os.path.exists(dictionary):
        words.append("-dict=" + dictionary)
    return words + [new, os.path.join(HERE, "corpus", target)]


def number(pattern, log):
    found = re.findall(pattern, log)
    return int(found[-1]) if found else 0


def run(arguments, target, runs):
    """One line of the table: target, status, executions, seconds, edges, inputs; and the log."""
    new = os.path.join(arguments.keep, target)
    os.makedirs(new, exist_ok=True)
    began = time.monotonic()
    env = dict(os.environ, HDSS_MODULES=os.path.join(os.path.abspath(arguments.build), "deploy"))
    done = subprocess.run(command(arguments, target, runs, new), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, check=False)
    log = done.stdout.decode(errors="replace")
    return (target, done.returncode, number(r"number_of_executed_units: +(\d+)", log), time.monotonic() - began,
            number(r"cov: (\d+)", log), number(r"corp: (\d+)", log), log)


def show(row):
    target, status, executions, seconds, edges, inputs, log = row
    print(f"| {target} | {executions:,} | {seconds:.0f} | {executions / max(seconds, 1e-3):,.0f} | {edges} | {inputs} |"
          f" {'ok' if status == 0 else 'FAILED'} |", flush=True)
    if status != 0:
        print("\n".join(log.splitlines()[-60:]), file=sys.stderr)


def options(words):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--executions", type=float, default=1e6)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    arguments = parser.parse_args(words)
    arguments.targets = arguments.targets or list(SHARES)
    for target in arguments.targets:
        if target not in SHARES:
            sys.exit(f"run.py: '{target}' is no target: accepted: {', '.join(SHARES)}")
        if not os.access(os.path.join(arguments.build, "tests", "fuzz", "fuzz-" + target), os.X_OK):
            sys.exit(f"run.py: there is no fuzz-{target} in {arguments.build}: it takes clang, -Dfuzz=true and `ninja fuzz`")
    return arguments


def main(words):
    arguments = options(words)
    temporary = arguments.keep is None
    arguments.keep = arguments.keep or tempfile.mkdtemp(prefix="hdss-fuzz-")
    whole = sum(SHARES[target] for target in arguments.targets)
    print("| target | executions | s | per second | edges | inputs | |\n|---|---|---|---|---|---|---|", flush=True)
    began, rows = time.monotonic(), []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        waiting = [pool.submit(run, arguments, target, int(arguments.executions * SHARES[target] / whole) + 1)
                   for target in arguments.targets]
        for one in concurrent.futures.as_completed(waiting):
            rows.append(one.result())
            show(rows[-1])
    failed = [row[0] for row in rows if row[1] != 0]
    outcome = f"failed: {', '.join(failed)}; see {arguments.keep}" if failed else "nothing failed"
    print(f"\n{sum(row[2] for row in rows):,} executions in {time.monotonic() - began:.0f} s, {arguments.jobs} at once,"
          f" seed {arguments.seed}: {outcome}")
    if temporary and not failed:
        shutil.rmtree(arguments.keep)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
