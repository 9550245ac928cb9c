#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small defects, planted one at a time: does the gate see them?

    mutants.py [--only NAME,..] FOLDER

FOLDER becomes a clone of this checkout's commit with a build. For each mutant a file is changed, and the test of the gate that should see it is built and
run; if that passes, all that the gate would run of what has changed: the deterministic tests, then the smoke and the tests of the file's area. Prints a line
for each, and how many were caught. A mutant whose text is not in its file any more is said: take its defect to where the code has gone.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
# pylint: disable=wrong-import-position
import house
from progress import Progress

ROOT = house.ROOT

# (name, test of the gate that should see it, or PROGRAM: FUNCTION of the smoke, file, text as it stands, text of the defect)
MUTANTS = [
    ("the trapezoid is cut a step early", "sched-golden", "common/sched/tss.c",
     "    if (step > constant[TRAPEZOID_END])\n        return constant[TRAPEZOID_LAST];",
     "    if (step >= constant[TRAPEZOID_END])\n        return constant[TRAPEZOID_LAST];"),
    ("a stopped task keeps its cores", "tasks", "worker/kernels/exec/exec.c",
     "    if (k->state != TASK_NONE)\n        allotment_end(&k->allotment);\n    k->state = TASK_NONE;\n    snprintf",
     "    k->state = TASK_NONE;\n    snprintf"),
    ("a client that is interrupted has failed", "submit: a signal cancels a job or leaves it", "deploy/cli/attend.c",
     "take_signals(at))\n            return EXIT_STATUS_DRAINED;", "take_signals(at))\n            return EXIT_STATUS_FAILED;"),
    ("a journal that is written anew has what has grown behind what is done", "journal", "common/job/journal.c",
     "    for (unsigned i = 0; i < journal->growth_count; i++, at += journal_record_size(1))\n"
     "        *crc = journal_growth_put(journal->loop.first, &journal->growths[i], *crc, journal->bytes + at);\n"
     "    if (ranges > 0) {\n"
     "        *crc = journal_record_put(ranges_at(&journal->done, 0), ranges, journal->digest, *crc, journal->bytes + at);\n"
     "        at += journal_record_size(ranges);\n    }\n",
     "    if (ranges > 0) {\n"
     "        *crc = journal_record_put(ranges_at(&journal->done, 0), ranges, journal->digest, *crc, journal->bytes + at);\n"
     "        at += journal_record_size(ranges);\n    }\n"
     "    for (unsigned i = 0; i < journal->growth_count; i++, at += journal_record_size(1))\n"
     "        *crc = journal_growth_put(journal->loop.first, &journal->growths[i], *crc, journal->bytes + at);\n"),
    ("a message in shared memory is there before its bytes", "lanes", "common/mpi/lanes.c",
     "    copy_in(lane, MESSAGES_ROOM, 0, &told, SIZE_BYTES);\n    copy_in(lane, MESSAGES_ROOM, SIZE_BYTES, bytes, size);\n"
     "    note_put(lane, SIZE_BYTES + size);\n",
     "    note_put(lane, SIZE_BYTES + size);\n    copy_in(lane, MESSAGES_ROOM, 0, &told, SIZE_BYTES);\n"
     "    copy_in(lane, MESSAGES_ROOM, SIZE_BYTES, bytes, size);\n"),
    ("awf keeps old speeds in the sum of the weights", "sched-adaptive", "common/sched/awf.c",
     "        learn_sum_add(&awf->speeds, -worker->speed);\n", "        learn_sum_add(&awf->speeds, 0);\n"),
    ("1-12:00 is a day and twelve minutes", "cli-allocation", "deploy/cli/duration.c", "        least = 3;\n", "        least = 2;\n"),
    ("the report counts recalls as iterations", "metrics-report", "common/metrics/report_json.c",
     "json_of_count(report->recalls.iterations)", "json_of_count(report->recalls.count)"),
    ("a map that its executor left is complete", "python: maps of iterables without an end", "deploy/python/hdss/_map.py",
     "        for _ in () if self._is_complete else itertools.islice(self._source, 1):\n            raise self._end\n", "        return\n"),
    ("what the launcher wrote last is not read", "cli-launch-script", "deploy/cli/launch.c",
     "    if (child->errors >= 0)\n        pass_errors(child); /* somebody", "    if (child->errors >= 0 && !child->ended)\n        pass_errors(child); /* somebody"),
    ("the descriptor of a dead helper stays open", "helper-deaths", "worker/exec/helper.c",
     "    release_process(helper->start.world, helper->process);\n    helper->process = -1;\n", "    helper->process = -1;\n"),
    ("a chunk in parts is stored when its first part is", "trace-rows", "common/trace/rows.c",
     "        part->count += record->count;\n        part->settled_ns = record->at_ns;\n", "        part->count += record->count;\n"),
    # of the launcher's watch
    ("ranks outlive a launcher that is killed", "cli-launch-script", "deploy/cli/launch.c",
     "    } else if (child->now_ms >= child->course.end_ms) {\n        send_ranks(child, SIGKILL);\n",
     "    } else if (child->now_ms >= child->course.end_ms) {\n"),
    ("a launcher that was ended counts as cut", "cli-launch-script", "deploy/cli/launch_verdict.c",
     "    return course->end_ms == 0 && (has_killed", "    return (has_killed"),
    ("what could not be read at once is the end", "cli-launch-script", "deploy/cli/launch.c",
     "    if (count == 0 || errno != EAGAIN) {", "    if (count <= 0) {"),
    ("the end of the time is no reason to drain", "cli-launch-script", "deploy/cli/launch.c", "child->now_ms < child->how->drain_ms)", "child->now_ms > child->how->drain_ms)"),
    # of streams
    ("an end that stood still for half the silence takes others for silent", "stream-time", "common/stream/streams.c",
     "now >= streams->due_ns + streams->times.silence_ns / 2;", "now >= streams->due_ns + streams->times.silence_ns;"),
    ("who closes has the patience of who is silent", "stream-time", "common/stream/peer.c",
     "(has_patience ? streams->setup.grace_ns : streams->setup.closed_ns)", "(has_patience ? streams->setup.closed_ns : streams->setup.grace_ns)"),
    ("a pod that was welcomed comes back as late as before", "stream-time", "common/stream/joiner.c",
     "            return FRAME_IS_BAD;\n        joiner->backoff_ns = STREAM_RETRY_LEAST_NS;\n", "            return FRAME_IS_BAD;\n"),
    # of helpers
    ("the helper after one that was killed is killed too", "helper-deaths", "worker/exec/helper.c",
     "    helper->pid = 0;\n    helper->killed = false;\n", "    helper->pid = 0;\n"),
    ("a rank sleeps while what it killed is waited for", "helper-deaths", "worker/exec/helper.c",
     "    if (helper->killed || !helper_is_busy(helper))\n        return true;", "    if (!helper_is_busy(helper))\n        return true;"),
    # of the link
    ("of several beats one is taken", "link", "common/mpi/heartbeat.c", "    while (has_beat(", "    if (has_beat("),
    # of the Python client
    ("a request that is refused was granted", "python-control", "deploy/python/hdss/_control.py", "        if status >= 400:\n", "        if status >= 500:\n"),
    ("an answer that is cut off is whole", "python-control", "deploy/python/hdss/_control.py", "        if len(answer) < wanted:\n", "        if not answer and wanted:\n"),
]


def fails(build, test):
    """Whether the test fails, built anew. A mutant that cannot be built is none."""
    program, _, function = test.partition(": ")
    build.compile(lambda: build.files_for({program}))
    chosen = build.log("chosen")
    with open(chosen, "w", encoding="utf-8") as file:
        json.dump({"only": {program: [function]} if function else {}, "without": {}}, file)
    return any(result.verdict == "failed" for result in build.test([program], "a mutant", 1, {"HDSS_TEST_CHOSEN": chosen}))


def caught_by_tier(folder):
    """The first test of the gate that fails; None if none does."""
    for tier in ("quick", "smoke"):
        done = subprocess.run([sys.executable, os.path.join(folder, "tests", "gate", "selftest.py"), tier, os.path.join(folder, "build")],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        failed = [line for line in done.stdout.splitlines() if "] failed: " in line or line.startswith("FAILED: ")]
        if done.returncode != 0:
            return f"{tier}: {failed[0].split('failed: ')[-1] if failed else done.stdout.splitlines()[-1]}"
    return None


def caught_by(build, folder, test):
    return test if fails(build, test) else caught_by_tier(folder)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("folder")
    given = parser.parse_args()
    folder = os.path.abspath(given.folder)
    if not os.path.isdir(folder):
        subprocess.run(["git", "clone", "-q", ROOT, folder], check=True)
    house.ROOT = folder
    build = house.Build("gcc", os.path.join(folder, "build"), "gcc", ["-Dwerror=true", "-Dtests=true"], Progress("mutants", sys.stderr))
    chosen = [mutant for mutant in MUTANTS if not given.only or any(word in mutant[0] for word in given.only.split(","))]
    for test in sorted({mutant[1] for mutant in chosen}):
        if fails(build, test):
            raise SystemExit(f"{test} fails without a mutant")
    caught = 0
    for name, test, path, text, defect in chosen:
        source = os.path.join(folder, path)
        with open(source, encoding="utf-8") as file:
            whole = file.read()
        if whole.count(text) != 1:
            print(f"GONE    {name}: {path} has its text {whole.count(text)} times", flush=True)
            continue
        began = time.monotonic()
        with open(source, "w", encoding="utf-8") as file:
            file.write(whole.replace(text, defect))
        try:
            seen = caught_by(build, folder, test)
        finally:
            with open(source, "w", encoding="utf-8") as file:
                file.write(whole)
        caught += seen is not None
        print(f"{'caught' if seen else 'MISSED'}  {name} ({time.monotonic() - began:.0f} s): {seen or path}", flush=True)
    print(f"{caught} of {len(chosen)} caught")
    return 0


if __name__ == "__main__":
    sys.exit(main() if shutil.which("ninja") else 2)
