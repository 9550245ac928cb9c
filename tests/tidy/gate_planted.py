#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the gate's own first and second try and its verdict on the project in FOLDER, for gate.py.

    gate_planted.py ROOT FOLDER
"""
import os
import sys

root, folder = sys.argv[1:]
sys.path[:0] = [os.path.join(root, "tests", "gate"), os.path.join(root, "tests")]
# pylint: disable=wrong-import-position
import house
import selftest

house.ROOT = folder
os.environ.pop("HDSS_GATE_FOR", None)
run = selftest.Selftest("planted", os.path.join(folder, "build"))
build = house.Build("gcc", run.folder, "gcc", [], run.progress)
run.builds["gcc"] = build
build.configure()
run.learn(build)
env = {**run.choice_file("gcc", {}), "HDSS_TEST_TIMEOUT": "12"}  # a second is enough for what is left behind
# A flake alone, then the others, so that there are not too many at once for a second try.
run.take(build.test(["flake", "crash", "good"], "first", 2, env))
passed = run.second_try()
run.take(build.test(["leak", "hang"], "second", 2, env))
run.second_try = lambda: passed
sys.exit(run.finish())
