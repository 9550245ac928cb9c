#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the gate many times over one commit, beside processes that keep the cores busy, and prints a line for each run: whether its verdict is luck.

    repeat.py [--times N] [--loads L,L..] [--keep] FOLDER

FOLDER becomes a clone of this checkout, and is removed at the end unless --keep is there or something failed. The loads, numbers of busy processes, take
turns (default 0,2,4,8,12). Exit status 1 if a gate failed. The files of failed and flaky tests are in FOLDER/build/selftest.
"""
import argparse
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
BUSY = "while True: pass"


def run_gate(folder, log):
    """(minutes, the last line, the names of flaky and failed tests)"""
    began = time.monotonic()
    with open(log, "w", encoding="utf-8") as file:
        subprocess.run(["bash", os.path.join(folder, "deploy", "selftest")], stdin=subprocess.DEVNULL, stdout=file, stderr=file, check=False)
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    named = [line for line in lines if line.startswith(("FLAKY: ", "FAILED: "))]
    return (time.monotonic() - began) / 60, lines[-1] if lines else "no word", named


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--loads", default="0,2,4,8,12")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("folder")
    given = parser.parse_args()
    folder = os.path.abspath(given.folder)
    loads = [int(word) for word in given.loads.split(",")]
    subprocess.run(["git", "clone", "-q", ROOT, folder], check=True)
    failed = 0
    print("run  busy  load   minutes  verdict")
    for number in range(given.times):
        busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(loads[number % len(loads)])]
        try:
            minutes, last, named = run_gate(folder, os.path.join(folder, f"gate-{number + 1}.log"))
        finally:
            for process in busy:
                process.kill()
        failed += ", 0 failed," not in last
        print(f"{number + 1:3}  {len(busy):4}  {os.getloadavg()[1]:4.0f}  {minutes:8.1f}  {last}", *named, sep="\n       " if named else "", flush=True)
    if not given.keep and failed == 0:
        shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
