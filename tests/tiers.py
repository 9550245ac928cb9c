# SPDX-License-Identifier: MIT
"""Which tests run when, in one table: what deploy/selftest reads.

quick  after an edit (`deploy/selftest quick`): unit, cluster and seeds of what was linked anew, and the rules of tests/tidy
gate   before a submission (`deploy/selftest`, and what CI runs): all that is deterministic, under sanitizers, with fresh seeds; the fixed seeds; the
       rules; SMOKE, and the system tests of what has changed; a line over MPICH; quickstart on one bare root
all    before a release (`deploy/selftest --all`): every test; the deterministic ones with every compiler and under sanitizers, and these with SMOKE on
       each bare Debian and under sanitizers; those of MPI over MPICH

A test that this file does not name belongs to quick, gate and all if its suite is deterministic, else to all, and to the gate when its area changes.
"""

# Tests of these suites have one outcome on any machine, however busy: a failure is a defect, and nothing is tried again.
DETERMINISTIC = {"unit", "cluster", "seeds", "fuzz", "tidy", "headers"}

# But for these, which wait for processes, sockets or files, or read the clock of the machine: tried again alone, as system tests are.
REAL_TIME = {
    "exec-helper", "exec-pieces", "exec-short", "exec-remote-team", "exec-pipeline", "streams", "stream-credentials", "cli-launch", "cli-follow", "control-clients",
    "control-set", "control-http", "control-socket", "lanes", "process",
}

# Names of this table that a build may lack, as what they need is optional.
OPTIONAL = {"exec-team-tsan", "agreement", "streams", "stream-credentials", "control-clients", "control-set", "control-http", "control-socket"}

# What the gate leaves to --all, and why.
LEFT_TO_ALL = {
    "sched-cover": "every pair of technique and loop to 10^15 iterations: 15 s of processor time",
    "sched-papers": "the published sequences by other arithmetic: 10 s",
    "auto": "a contest of all techniques: 15 s",
    "exec-team-tsan": "ThreadSanitizer builds and runs the team of threads once more: 10 s",
    "agreement": "the two backends of simulations: 10 s",
}

# Of the suite bench the gate runs those that have a verdict.
BENCH = {"doubling", "instructions", "regret-self-test", "selection-self-test"}

# The system tests of the gate: one function for each contract.
SMOKE = {
    # a run has the checksum, whatever its topology
    "lineups": ["each topology gives the same checksum", "zero and few iterations"],
    "flat": ["hdss run launches workers alone"],
    "recipes": ["lines for one machine"],
    # what is wrong is one line, with the exit status
    "bad_input": ["what is wrong is told once for all ranks", "line ups"],
    "mistakes": ["what is no kernel", "no command calls printed what is not"],
    "check": ["powers"],
    # a drain, and what it leaves is gone on with
    "drain": ["interrupting hdss run drains", "a full disk is one line and exit 1"],
    "resume": ["a drained run is resumed"],
    "resume_outputs": ["two runs write no output together"],
    "restarts": ["a run that loses its supermaster goes on", "a task that kills the supermaster is given up"],
    "signals": ["of a launcher that is killed nothing stays"],
    # machines that lack something
    "odd_machines": ["few descriptors", "a user without a name and home", "nowhere to write", "long names", "little shared memory", "the folder has gone",
                     "inside a launch of mpi"],
    # losses
    "faults": ["a lost worker costs nothing but time", "a lost master costs nothing but time", "an iteration that kills who computes it",
               "a line written by hand"],
    "losses": ["a lost rank costs a start"],
    "isolation": ["helpers that are killed are replaced"],
    "isolation_threads": ["an iteration that hangs is ended"],
    # tasks
    "exec": ["each task runs once and in order", "failed tasks stop nobody", "time limits end the whole group", "only what failed is done again"],
    "exec_command": ["tasks are printed whole and nothing else", "order and shell", "a signal drains", "runs end early and leave nothing",
                     "output has no bound", "tasks end with the reader of their output"],
    # what other programs lose, count as done, wait for or show as it is
    "corners_counts": ["what was complete and was changed since is refused", "lines behind a complete list are run", "bytes come as they are",
                       "each end of a task is in the log"],
    "corners_waits": ["a worker of tasks that is stopped is ended", "a task that stops itself keeps its time limit",
                      "what a task leaves in the background is told", "a pipe that nobody reads is waited for by nobody"],
    "corners_words": ["errors of tasks are shown plainly", "notes of kernels are shown plainly", "jobs of a set are shown plainly",
                      "the log of a run is cut by no other", "memory of killed python programs is removed"],
    "needs": ["tasks wait for others"],
    # sets
    "set": ["jobs go through a set", "a cancelled job ends at once"],
    "set_losses": ["a set that is killed goes on"],
    "submit": ["jobs are handed over", "a signal cancels a job or leaves it"],
    "open": ["rows are added while they run"],
    "control": ["metrics are what prometheus reads"],
    "pods": ["a pod joins takes part and leaves", "a pod without workers leaves", "a lost pod costs what it had begun"],
    "pods_without_mpi": ["a lost worker costs what it had", "tasks run and end with their pod"],
    "elastic": ["pods join a run and leave it"],
    # Python
    "python": ["maps", "maps of iterables without an end", "the threads of an executor end"],
    "python_calls": ["a call that crashes", "exceptions"],
    "python_client": ["an interrupted program"],
    "python_left": ["a process that cannot be set back ends"],
    "plugins": ["the example in c", "a kernel in python"],
    # what a person types, and sees
    "lines": ["lines that run no job"],
    "terminal": ["the progress line fits and is cleared away"],
    "trace": ["a trace gives the figures of the report"],
    "report": ["a real run"],
    "page": ["events of a run", "the page in a browser"],
    "top": ["the screen shows what goes on"],
    "chunks": ["every published sequence"],
    "simulate": ["same input same bytes"],
    "study": ["ended and gone on with"],
    "papers": ["verdicts", "chunks", "other commands", "claims", "arithmetic", "recurrence", "ciorba", "failures and short tasks"],
    "dependent": ["hydro equals the serial loop to the last bit"],
    "verify": ["the wrong results are replaced and named"],
    # the library
    "library": ["every mode covers the loop exactly once"],
    "fortran": ["loops and errors of the module hdss"],
    "dls4lb": ["each iteration is run once with every method and length"],
    "library_install": ["everything is where it is looked for", "the readme example in c and cxx"],
}

# The system tests of an area: a changed file whose path begins so has the gate run them whole, within AREA_SECONDS.
AREAS = {
    "supermaster/set": ["set", "set_daily", "set_losses", "set_kinds", "open", "until_eof"],
    "supermaster": ["lines", "faults", "losses", "resume", "restarts", "set_losses"],
    "master": ["faults", "nodes"],
    "worker/dca": ["flat", "flat_ends"],
    "common/dca": ["flat", "flat_ends"],
    "worker/exec": ["isolation", "isolation_threads", "deaths", "rows", "threads"],
    "worker/helper": ["isolation", "isolation_python", "plugins", "python_errors"],
    "worker/kernels/exec": ["exec", "exec_command", "needs", "killed_tasks", "corners_waits"],
    "worker/kernels": ["lineups_outputs", "plugins", "dependent"],
    "worker": ["lineups", "faults"],
    "common/mpi": ["faults", "losses", "kills", "stopped", "stopped_drains", "far", "lost_nodes"],
    "common/stream": ["pods", "pods_without_mpi", "pods_results", "pod_strangers", "elastic"],
    "common/control": ["control", "page", "submit", "strangers"],
    "common/config": ["lines"],
    "common/results": ["lineups", "lineups_outputs", "resume_outputs", "points", "corners_counts"],
    "common/job": ["resume", "points", "deaths", "corners_counts"],
    "common/trace": ["trace", "report"],
    "common/metrics": ["report", "efficiency", "metrics", "terminal"],
    "common/sched": ["techniques", "lineups"],
    "common/service": ["losses", "verify"],
    "deploy/cli/for_study": ["study"],
    "deploy/python/hdss/_study": ["study"],
    "deploy/cli/report": ["report", "trace"],
    "deploy/cli/web": ["page"],
    "deploy/python/hdss/_web.py": ["page"],
    "deploy/python/hdss/_trace.py": ["report", "trace"],
    "deploy/python/hdss/_explain.py": ["trace", "lines"],
    "deploy/python/hdss/_report.py": ["report"],
    "deploy/python/hdss/_gantt.py": ["report"],
    "deploy/cli/launch": ["launcher", "signals", "signals_early", "drain", "restarts"],
    "deploy/cli": ["lines", "mistakes", "check", "exec_command", "terminal", "corners_words"],
    "deploy/one": ["one_file"],
    "deploy/fork": ["pods_without_mpi", "odd_machines", "losses"],
    "deploy/python": ["top", "python_calls", "python_left", "python_errors", "python_progress", "python_examples"],
    "deploy/library": ["library", "dls4lb", "fortran", "library_install", "library_cmake"],
    "deploy/simulate": ["simulate", "simgrid", "simulate_jobs"],
    "deploy/debian": ["debian"],
    "deploy/slurm": ["slurm", "slurm_drains", "slurm_losses", "slurm_sets"],
    "deploy/completions": ["completion"],
    "deploy/examples/kernels/papers": ["dependent", "lineups_outputs", "losses"],
    "deploy/examples": ["plugins", "techniques", "papers"],
}

# The time, on two calm cores, that the tests of changed areas may take in a gate: those left out are named. Programs that take more than
# USUAL_SECONDS have theirs here; `deploy/selftest --history` measures them.
AREA_SECONDS = 80
USUAL_SECONDS = 8
SECONDS = {
    "corners_counts": 12, "corners_waits": 60, "corners_words": 14, "hostile": 15, "resume": 50, "resume_outputs": 40,
    "deaths": 34, "debian": 70, "dls4lb": 28, "drain": 14, "elastic": 22, "events": 30, "exec": 55, "exec_command": 13, "far": 40, "faults": 48,
    "flat": 30, "flat_ends": 38, "isolation": 30, "isolation_python": 37, "isolation_threads": 58, "kills": 25, "library": 25,
    "library_cmake": 61, "library_install": 11, "lineups": 18, "lineups_outputs": 10, "loads": 36, "losses": 39, "lost_nodes": 28, "open": 24,
    "papers": 120, "plugins": 25, "pod_strangers": 10, "pods": 25, "pods_results": 20, "pods_without_mpi": 14, "points": 42, "python": 52,
    "python_calls": 27, "python_client": 49, "python_joblib": 14, "python_joblib_suite": 50, "python_large": 20, "python_left": 20,
    "python_manual": 20, "python_pools": 15, "python_reports": 50, "rows": 25, "scale": 27, "set": 25, "set_events": 30, "set_losses": 30, "signals": 24,
    "simgrid": 17, "slurm": 30, "slurm_drains": 35, "slurm_losses": 30, "slurm_sets": 14, "stopped": 30, "stopped_drains": 30, "techniques": 14,
}

# Fresh seeds of a gate, which run under sanitizers, and of --all: dealt out to the generators by the shares of the fixed ones.
FRESH = {"gate": 4000, "all": 100000}
# Of those of --all, one in so many under sanitizers, too, which take four times as long.
FRESH_SHARE_UNDER_SANITIZERS = 5
# `quick` runs one in so many of the fixed seeds.
FIXED_SHARE = 5
