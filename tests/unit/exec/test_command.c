/* SPDX-License-Identifier: MIT */
/* Commands: how they end and what they write, limits of time and output, what a child inherits and whom it outlives. */
#include "tests/lib/suite.h"
#include "worker/kernels/exec/command.h"
#include "worker/kernels/exec/environment.h"
#include "worker/kernels/exec/search.h"
#include "worker/kernels/exec/spawn.h"

#include <inttypes.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct command command;
static const struct command_limits no_limits = {.grace_ns = 2000000000u, .bytes = 64u << 20};

static void open_command(const struct command_limits *limits)
{
    ck_assert_int_eq(command_init(&command, limits, -1, false), 0);
}

static void start(const char *const *argv)
{
    const char *const paths[] = {argv[0], NULL};
    static char *words[16];
    for (unsigned i = 0; i < 15; i++) {
        words[i + 1] = (char *)argv[i];
        if (argv[i] == NULL)
            break;
    }
    command_start(&command, &(struct spawn){.paths = paths, .argv = words + 1, .environment = environ}, "", NULL);
}

static void wait_for_end(void)
{
    while (!command_advance(&command)) {
        struct pollfd descriptor = {command_descriptor(&command), POLLIN, 0};
        ck_assert_int_eq(poll(&descriptor, 1, 60000), 1);
    }
    ck_assert(!command_is_running(&command));
}

static void run_shell(const char *line)
{
    start((const char *[]){"/bin/sh", "-c", line, NULL});
    wait_for_end();
}

static const char *text_of(unsigned stream)
{
    static char text[1000];
    const struct capture *capture = &command.captures[stream];
    snprintf(text, sizeof text, "%.*s", (int)capture->length, capture->bytes != NULL ? capture->bytes : "");
    return text;
}

START_TEST(a_command_tells_how_it_ended)
{
    open_command(&no_limits);
    run_shell("echo out; echo err >&2; exit 7");
    ck_assert_int_eq(command.outcome.end, COMMAND_ENDED);
    ck_assert_int_eq(command.outcome.status, 7);
    ck_assert_int_eq(command.outcome.signal, 0);
    ck_assert_str_eq(text_of(COMMAND_OUT), "out\n");
    ck_assert_str_eq(text_of(COMMAND_ERR), "err\n");
    ck_assert(command.outcome.wall_ns > 0 && command.outcome.started_s > 1e9);
    run_shell("kill -SEGV $$");
    ck_assert_int_eq(command.outcome.signal, SIGSEGV);
    ck_assert_str_eq(text_of(COMMAND_OUT), "");
    start((const char *[]){"/bin/true", NULL});
    wait_for_end();
    ck_assert_int_eq(command.outcome.status, 0);
    ck_assert(!command_advance(&command));
    command_fini(&command);
}
END_TEST

START_TEST(what_cannot_be_started_has_a_status_as_a_shell_says_it)
{
    open_command(&no_limits);
    start((const char *[]){"/no/such/program", NULL});
    wait_for_end();
    ck_assert_int_eq(command.outcome.end, COMMAND_NOT_STARTED);
    ck_assert_int_eq(command.outcome.error, ENOENT);
    ck_assert_int_eq(command.outcome.status, 127);
    start((const char *[]){"/etc/passwd", NULL});
    wait_for_end();
    ck_assert_int_eq(command.outcome.status, 126);
    run_shell("exit 3"); /* and nothing is left of it */
    ck_assert_int_eq(command.outcome.status, 3);
    command_fini(&command);
}
END_TEST

START_TEST(a_script_without_an_interpreter_goes_to_the_shell)
{
    char name[] = "/tmp/hdss-script-XXXXXX";
    int file = mkstemp(name);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(dprintf(file, "echo \"$# $1\"\n"), 13);
    fchmod(file, 0700);
    close(file);
    open_command(&no_limits);
    start((const char *[]){name, "a b", "c", NULL});
    wait_for_end();
    ck_assert_str_eq(text_of(COMMAND_OUT), "2 a b\n");
    command_fini(&command);
    unlink(name);
}
END_TEST

START_TEST(a_task_that_closes_its_streams_wakes_nobody)
{
    open_command(&no_limits);
    start((const char *[]){"/bin/sh", "-c", "echo out; exec >&- 2>&-; exec sleep 0.1", NULL});
    while (!command_advance(&command)) {
        ck_assert_int_ge(command.captures[COMMAND_OUT].pipe, 0);
        ck_assert_int_ge(command.captures[COMMAND_ERR].pipe, 0);
        struct pollfd descriptor = {command_descriptor(&command), POLLIN, 0};
        ck_assert_int_eq(poll(&descriptor, 1, 60000), 1);
    }
    ck_assert_str_eq(text_of(COMMAND_OUT), "out\n");
    ck_assert_int_eq(command.captures[COMMAND_OUT].task_end, -1);
    command_fini(&command);
}
END_TEST

START_TEST(a_place_is_kept_where_no_folder_is_relative)
{
    static const char *const absolute[] = {"/usr/bin:/bin", "/bin"}, *const relative[] = {"", "bin:/bin",
                                                                                          "/bin:", "/bin::/usr/bin",
                                                                                          "/bin:.:/usr/bin"};
    struct search search;
    for (size_t i = 0; i < sizeof absolute / sizeof *absolute; i++) {
        ck_assert_int_eq(search_init(&search, absolute[i]), 0);
        ck_assert_ptr_nonnull(search_paths(&search, "true"));
        search.found = 1;
        search_paths(&search, "true");
        ck_assert_uint_eq(search.found, 1);
        search_paths(&search, "false");
        ck_assert_uint_eq(search.found, 0);
        search_fini(&search);
    }
    for (size_t i = 0; i < sizeof relative / sizeof *relative; i++) {
        ck_assert_int_eq(search_init(&search, relative[i]), 0);
        ck_assert_ptr_nonnull(search_paths(&search, "true"));
        search.found = 1;
        search_paths(&search, "true");
        ck_assert_uint_eq(search.found, 0);
        search_fini(&search);
    }
}
END_TEST

static int run_at(const char *const *paths, size_t *found)
{
    char name[] = "true", *argv[] = {NULL, name, NULL}, *environment[] = {NULL};
    const struct spawn spawn = {.paths = paths, .found = found, .argv = argv + 1, .environment = environment};
    command_start(&command, &spawn, "", NULL);
    wait_for_end();
    return command.outcome.status;
}

START_TEST(the_path_that_was_found_last_comes_first)
{
    const char *const paths[] = {"/no/such/folder/true", "/bin/true", NULL},
                      *const changed[] = {"/bin/false", "/bin/true", NULL},
                      *const moved[] = {"/bin/true", "/no/such/folder/true", NULL},
                      *const none[] = {"/no", "/nowhere", NULL};
    size_t found = 0;
    open_command(&no_limits);
    ck_assert_int_eq(run_at(paths, &found), 0);
    ck_assert_uint_eq(found, 1);
    ck_assert_int_eq(run_at(changed, &found), 0);
    ck_assert_uint_eq(found, 1);
    ck_assert_int_eq(run_at(moved, &found), 0);
    ck_assert_uint_eq(found, 0);
    ck_assert_int_eq(run_at(changed, &found), 1);
    ck_assert_int_eq(run_at(none, &found), 127);
    ck_assert_uint_eq(found, 0);
    command_fini(&command);
}
END_TEST

START_TEST(the_paths_are_tried_in_order)
{
    const char *const paths[] = {"/no/such/folder/true", "/etc/true", "/bin/true", "/bin/false", NULL};
    char name[] = "true", *argv[] = {NULL, name, NULL}, *environment[] = {NULL};
    open_command(&no_limits);
    command_start(&command, &(struct spawn){.paths = paths, .argv = argv + 1, .environment = environment}, "", NULL);
    wait_for_end();
    ck_assert_int_eq(command.outcome.end, COMMAND_ENDED);
    ck_assert_int_eq(command.outcome.status, 0);
    command_fini(&command);
}
END_TEST

START_TEST(output_is_cut_at_its_limit_and_the_command_goes_on)
{
    struct command_limits limits = no_limits;
    limits.bytes = 100;
    open_command(&limits);
    run_shell("head -c 1000000 /dev/zero | tr '\\0' x; head -c 30 /dev/zero >&2; exit 5");
    ck_assert_int_eq(command.outcome.status, 5);
    ck_assert_uint_eq(command.captures[COMMAND_OUT].length, 100);
    ck_assert_uint_eq(command_dropped(&command, COMMAND_OUT), 999900);
    ck_assert_uint_eq(command.captures[COMMAND_ERR].length, 30);
    ck_assert_uint_eq(command_dropped(&command, COMMAND_ERR), 0);
    command_fini(&command);
}
END_TEST

START_TEST(much_output_arrives_whole)
{
    open_command(&no_limits);
    run_shell("head -c 5000000 /dev/zero");
    ck_assert_uint_eq(command.captures[COMMAND_OUT].length, 5000000);
    run_shell("echo little");
    ck_assert_uint_le(command.captures[COMMAND_OUT].capacity, 5000000); /* what it took is given back */
    command_fini(&command);
}
END_TEST

/* The group's other member writes its number before it sleeps; nobody of it may be left. */
static void check_group_is_gone(void)
{
    int pid = atoi(text_of(COMMAND_OUT));
    ck_assert_int_gt(pid, 1);
    for (int i = 0; i < 1000 && kill(pid, 0) == 0; i++) { /* killed, but nobody may have reaped it yet */
        char path[40], state = '?';
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        FILE *file = fopen(path, "r");
        if (file == NULL || fscanf(file, "%*d (%*[^)]) %c", &state) != 1 || state == 'Z')
            pid = -1;
        if (file != NULL)
            fclose(file);
        if (pid < 0)
            return;
        poll(NULL, 0, 10);
    }
    ck_assert(kill(pid, 0) < 0);
}

/* In which a shell begins and writes a line, on a busy machine, too. */
#define TIME_NS 2000000000u

START_TEST(a_time_limit_ends_the_whole_group)
{
    struct command_limits limits = no_limits;
    limits.time_ns = TIME_NS;
    open_command(&limits);
    run_shell("sleep 1000 & echo $!; wait");
    ck_assert_int_eq(command.outcome.end, COMMAND_TIMED_OUT);
    ck_assert_int_eq(command.outcome.signal, SIGTERM);
    check_group_is_gone();
    command_fini(&command);
}
END_TEST

START_TEST(who_does_not_listen_is_killed)
{
    struct command_limits limits = no_limits;
    limits.time_ns = TIME_NS;
    limits.grace_ns = 100000000u;
    open_command(&limits);
    run_shell("trap '' TERM; sleep 1000 & echo $!; while :; do sleep 1000; done");
    ck_assert_int_eq(command.outcome.end, COMMAND_TIMED_OUT);
    ck_assert_int_eq(command.outcome.signal, SIGKILL);
    check_group_is_gone();
    command_fini(&command);
}
END_TEST

START_TEST(a_command_is_stopped)
{
    struct command_limits limits = no_limits;
    limits.grace_ns = _i > 0 ? 100000000u : 60000000000u;
    open_command(&limits);
    start((const char *[]){"/bin/sh", "-c",
                           _i > 0 ? "trap '' TERM; sleep 1000 & echo $!; while :; do sleep 1000; done"
                                  : "sleep 1000 & echo $!; wait",
                           NULL});
    while (command.captures[COMMAND_OUT].length == 0) {
        struct pollfd descriptor = {command_descriptor(&command), POLLIN, 0};
        ck_assert_int_eq(poll(&descriptor, 1, 60000), 1);
        ck_assert(!command_advance(&command));
    }
    command_stop(&command);
    command_stop(&command);
    wait_for_end();
    ck_assert_int_eq(command.outcome.end, COMMAND_ENDED);
    ck_assert_int_eq(command.outcome.signal, _i > 0 ? SIGKILL : SIGTERM);
    check_group_is_gone();
    command_stop(&command); /* nothing runs */
    command_fini(&command);
}
END_TEST

/* Output that is written within a moment, for which a busy machine may need several attempts. */
static void check_late_output(void)
{
    for (unsigned attempt = 0; attempt < 5; attempt++) {
        run_shell("(sleep 0.01; echo late) & exit 4");
        ck_assert_int_eq(command.outcome.status, 4);
        if (strcmp(text_of(COMMAND_OUT), "late\n") == 0)
            return;
    }
    ck_abort_msg("what is still written is not taken");
}

START_TEST(who_is_left_in_the_background_ends_with_the_command)
{
    open_command(&no_limits);
    run_shell("sleep 1000 & echo $!");
    ck_assert_int_eq(command.outcome.end, COMMAND_ENDED);
    ck_assert_int_eq(command.outcome.status, 0);
    ck_assert(command.outcome.left_some);
    check_group_is_gone();
    run_shell("(kill -9 $(exec sh -c 'echo $PPID'); echo) & wait"); /* it was not killed for the end */
    ck_assert(!command.outcome.left_some);
    run_shell("(exec >&- 2>&-; (sleep 1000 & exit) & wait) & wait"); /* nobody's child any more */
    ck_assert(command.outcome.left_some);
    check_late_output();
    command_fini(&command);
}
END_TEST

START_TEST(a_child_inherits_three_descriptors_and_no_more)
{
    int extra = dup(0), high = fcntl(0, F_DUPFD, 300);
    ck_assert(extra > 2 && high >= 300);
    open_command(&no_limits);
    start((const char *[]){"/bin/ls", "/proc/self/fd", NULL});
    wait_for_end();
    ck_assert_str_eq(text_of(COMMAND_OUT), "0\n1\n2\n3\n"); /* 3 is the folder that it lists */
    run_shell("readlink /proc/$$/fd/0");
    ck_assert_str_eq(text_of(COMMAND_OUT), "/dev/null\n");
    command_fini(&command);
    close(extra);
    close(high);
}
END_TEST

/* The C library keeps 32 and 33 to itself. Who is started by posix_spawn(), as GNU make does it, may find them ignored,
 * and cannot change it; nor does it matter. */
#define KEPT_SIGNALS (UINT64_C(3) << 31)

START_TEST(signals_are_as_by_default)
{
    uint64_t is_blocked, is_ignored;
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    signal(SIGPIPE, SIG_IGN);
    open_command(&no_limits);
    run_shell("grep -E 'Sig(Blk|Ign)' /proc/self/status | tr -s '\\t\\n' '  '");
    ck_assert_int_eq(sscanf(text_of(COMMAND_OUT), "SigBlk: %" SCNx64 " SigIgn: %" SCNx64, &is_blocked, &is_ignored), 2);
    ck_assert_uint_eq(is_blocked, 0);
    ck_assert_uint_eq(is_ignored & ~KEPT_SIGNALS, 0);
    command_fini(&command);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
}
END_TEST

static void take_nothing(int number)
{
    (void)number;
}

/* A launcher sends the signal to drain to the worker's process group, to which a child belongs for a moment. */
START_TEST(a_signal_to_the_worker_is_none_to_what_it_starts)
{
    const struct sigaction taken = {.sa_handler = take_nothing, .sa_flags = SA_RESTART};
    ck_assert_int_eq(sigaction(SIGUSR1, &taken, NULL), 0);
    setpgid(0, 0);
    const pid_t group = getpgrp(), sender = fork();
    if (sender == 0) {
        setpgid(0, 0);
        while (kill(-group, SIGUSR1) == 0)
            ;
        _exit(0);
    }
    open_command(&no_limits);
    for (unsigned i = 0; i < 300; i++) {
        start((const char *[]){"/bin/true", NULL});
        while (!command_advance(&command)) {
            struct pollfd descriptor = {command_descriptor(&command), POLLIN, 0};
            poll(&descriptor, 1, 1000);
        }
        ck_assert_int_eq(command.outcome.signal, 0);
    }
    kill(sender, SIGKILL);
    ck_assert_int_eq(waitpid(sender, NULL, 0), sender);
    command_fini(&command);
}
END_TEST

START_TEST(a_child_is_not_bound_to_the_cores_of_its_worker)
{
    cpu_set_t before, one;
    char all[1000];
    sched_getaffinity(0, sizeof before, &before);
    ck_assert_int_eq(command_init(&command, &no_limits, -1, true), 0);
    run_shell("grep Cpus_allowed_list /proc/self/status");
    snprintf(all, sizeof all, "%s", text_of(COMMAND_OUT));
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; core++)
        if (CPU_ISSET(core, &before))
            CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
    run_shell("grep Cpus_allowed_list /proc/self/status");
    ck_assert_str_eq(text_of(COMMAND_OUT), all);
    sched_setaffinity(0, sizeof before, &before);
    command_fini(&command);
}
END_TEST

/* A worker that is killed: its child, and what that has begun, must not be there a moment later. */
START_TEST(what_a_child_has_begun_dies_with_its_worker)
{
    int told[2];
    ck_assert_int_eq(pipe(told), 0);
    pid_t worker = fork();
    if (worker == 0) {
        open_command(&no_limits);
        start((const char *[]){"/bin/sh", "-c", "sleep 1000 & echo; exec sleep 1000", NULL});
        while (command.captures[COMMAND_OUT].received == 0)
            command_advance(&command);
        if (write(told[1], &command.pid, sizeof command.pid) != sizeof command.pid)
            _exit(1);
        pause();
    }
    pid_t child;
    ck_assert_int_eq(read(told[0], &child, sizeof child), sizeof child);
    ck_assert_int_eq(kill(child, 0), 0);
    kill(worker, SIGKILL);
    waitpid(worker, NULL, 0);
    open_command(&no_limits);
    snprintf(command.scratch, sizeof command.scratch, "%d", (int)child);
    command.captures[COMMAND_OUT].bytes = strdup(command.scratch);
    command.captures[COMMAND_OUT].length = strlen(command.scratch);
    check_group_is_gone();
    command_fini(&command);
}
END_TEST

static bool is_there(pid_t pid)
{
    return kill(pid, 0) == 0;
}

/* Daemons: a session of its own, whose parent has ended, and which has begun another process. */
START_TEST(who_has_begun_a_session_ends_with_the_worker)
{
    pid_t own = fork(), daemon = 0, below = 0;
    if (own == 0) {
        pause();
        _exit(0);
    }
    open_command(&no_limits);
    run_shell("setsid sh -c 'sleep 1000 >/dev/null 2>&1 & echo $$ $!; exec >&- 2>&-; wait' & exec true");
    while (sscanf(text_of(COMMAND_OUT), "%d %d", &daemon, &below) != 2)
        run_shell("exec true");                     /* never: what holds the output open is waited for */
    ck_assert(is_there(daemon) && is_there(below)); /* it may serve the tasks that follow */
    run_shell("setsid true &");                     /* one that has ended by itself is collected */
    run_shell("exec true");
    ck_assert(is_there(daemon));
    command_fini(&command);
    ck_assert(!is_there(daemon) && !is_there(below));
    ck_assert(is_there(own)); /* what the worker had before is its own */
    ck_assert_int_eq(waitpid(own, NULL, WNOHANG), 0);
    kill(own, SIGKILL);
    ck_assert_int_eq(waitpid(own, NULL, 0), own);
    ck_assert_int_eq(waitpid(-1, NULL, 0), -1); /* nothing is left to be waited for */
}
END_TEST

static char folder[] = "/tmp/hdss-keep-XXXXXX";

static void run_kept(const char *line, const char *out, const char *err)
{
    const char *const paths[] = {"/bin/sh", NULL}, *const names[] = {out, err};
    char shell[] = "sh", option[] = "-c", *argv[] = {NULL, shell, option, (char *)line, NULL};
    command_start(&command, &(struct spawn){.paths = paths, .argv = argv + 1, .environment = environ}, "", names);
    wait_for_end();
}

static const char *file_text(const char *name)
{
    static char text[200];
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return NULL;
    size_t got = fread(text, 1, sizeof text - 1, file);
    text[got] = '\0';
    fclose(file);
    return text;
}

START_TEST(output_can_go_to_files)
{
    char outside[300], link[300];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(outside, sizeof outside, "%s/outside", folder);
    snprintf(link, sizeof link, "%s/2.out", folder);
    ck_assert_int_eq(command_init(&command, &no_limits, open(folder, O_RDONLY | O_DIRECTORY), false), 0);
    run_kept("echo kept", "1.out", "1.err");
    ck_assert_str_eq(file_text("1.out"), "kept\n");
    ck_assert_ptr_null(file_text("1.err")); /* who writes nothing makes no file */
    ck_assert_uint_eq(command.captures[COMMAND_OUT].length, 0);
    ck_assert_uint_eq(command.captures[COMMAND_OUT].received, 5);
    run_kept("echo bad >&2", "1.out", "1.err");
    ck_assert_ptr_null(file_text("1.out")); /* that of an earlier run */
    ck_assert_str_eq(file_text("1.err"), "bad\n");
    ck_assert_int_eq(symlink(outside, link), 0);
    run_kept("echo inside", "2.out", "2.err");
    ck_assert_ptr_null(file_text("outside"));
    ck_assert_str_eq(file_text("2.out"), "inside\n");
    command_fini(&command);
    char line[400];
    snprintf(line, sizeof line, "rm -r %s", folder);
    ck_assert_int_eq(system(line), 0);
}
END_TEST

START_TEST(time_and_memory_are_those_of_the_command)
{
    open_command(&no_limits);
    run_shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done");
    ck_assert_uint_gt(command.outcome.cpu_ns, 0);
    run_shell("head -c 300000000 /dev/zero | tail -c 200000000 >/dev/null");
    ck_assert_uint_gt(command.outcome.peak_kib, 150000);
    char *mine = malloc(400u << 20); /* what the worker has does not count for the child */
    memset(mine, 1, 400u << 20);
    run_shell("sleep 0.1");
    ck_assert_uint_lt(command.outcome.peak_kib, 50000);
    free(mine);
    command_fini(&command);
}
END_TEST

START_TEST(an_environment_has_nothing_of_the_run)
{
    struct environment environment;
    const char *const mine[] = {"A=1",
                                "OMPI_X=1",
                                "PMIX_RANK=0",
                                "PMI_FD=3",
                                "B=2",
                                "HDSS_STATUS_FILE=x",
                                "PMIX_Y=1",
                                "HDSS_RANKS_MAY_END=1",
                                "HDSS_SUMMARY_FILE=x",
                                "HDSS_PROGRESS_FILE=x",
                                NULL};
    ck_assert_int_eq(environment_init(&environment, (char *const *)mine, false), 0);
    ck_assert_int_eq(environment_begin(&environment, 2), 0);
    environment_set(&environment, "C=3");
    environment_set(&environment, "A=4");
    char *const *vector = environment_vector(&environment);
    ck_assert_str_eq(vector[0], "A=4");
    ck_assert_str_eq(vector[1], "B=2");
    ck_assert_str_eq(vector[2], "OMPI_MCA_hwloc_base_binding_policy=none");
    ck_assert_str_eq(vector[3], "PRTE_MCA_hwloc_default_binding_policy=none");
    ck_assert_str_eq(vector[4], "SLURM_CPU_BIND=none");
    ck_assert_str_eq(vector[5], "C=3");
    ck_assert_ptr_null(vector[6]);
    ck_assert_int_eq(environment_begin(&environment, 0), 0);
    ck_assert_str_eq(environment_vector(&environment)[0], "A=1");
    environment_fini(&environment);
    ck_assert_int_eq(environment_init(&environment, (char *const *)mine, true), 0);
    ck_assert_uint_eq(environment.own_count, 9); /* the launcher's, and none by which the ranks say how the run goes */
    environment_fini(&environment);
    const char *const users[] = {"OMPI_MCA_hwloc_base_binding_policy=core", "SLURM_CPU_BIND=cores", NULL};
    ck_assert_int_eq(environment_init(&environment, (char *const *)users, false), 0); /* no launcher has started it */
    ck_assert_str_eq(environment_value(&environment, "OMPI_MCA_hwloc_base_binding_policy"), "core");
    ck_assert_str_eq(environment_value(&environment, "SLURM_CPU_BIND"), "cores");
    ck_assert_uint_eq(environment.own_count, 3);
    environment_fini(&environment);
}
END_TEST

START_TEST(a_command_begins_in_its_folder)
{
    const char *const paths[] = {"/bin/pwd", NULL};
    char name[] = "pwd", *argv[] = {NULL, name, NULL}, *environment[] = {NULL};
    const struct spawn spawn = {.paths = paths, .argv = argv + 1, .environment = environment};
    open_command(&no_limits);
    command_start(&command, &spawn, "/usr", NULL);
    wait_for_end();
    ck_assert_str_eq(text_of(COMMAND_OUT), "/usr\n");
    command_start(&command, &spawn, "/no/such", NULL);
    wait_for_end();
    ck_assert(command.outcome.end == COMMAND_NOT_STARTED && command.outcome.has_no_folder);
    ck_assert_int_eq(command.outcome.error, ENOENT);
    command_start(&command, &spawn, "/etc/passwd", NULL);
    wait_for_end();
    ck_assert(command.outcome.has_no_folder && command.outcome.error == ENOTDIR);
    command_fini(&command);
}
END_TEST

START_TEST(a_command_has_no_more_memory_than_it_may)
{
    const char *const paths[] = {"/bin/sh", NULL};
    static char line[] = "ulimit -d; dd if=/dev/zero of=/dev/null bs=100M count=1", option[] = "-c", name[] = "sh";
    char *words[] = {NULL, name, option, line, NULL};
    const struct spawn spawn = {.paths = paths, .argv = words + 1, .environment = environ, .memory = 64 << 20};
    open_command(&no_limits);
    command_start(&command, &spawn, "", NULL);
    wait_for_end();
    ck_assert_int_eq(command.outcome.end, COMMAND_ENDED);
    ck_assert_int_eq(command.outcome.status, 1);
    ck_assert_str_eq(text_of(COMMAND_OUT), "65536\n");
    run_shell("ulimit -d");
    ck_assert_str_ne(text_of(COMMAND_OUT), "65536\n");
    command_fini(&command);
}
END_TEST

START_TEST(another_descriptor_can_be_waited_for_as_well)
{
    int ends[2];
    open_command(&no_limits);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(command_watch_also(&command, ends[0]), 0);
    struct pollfd descriptor = {command_descriptor(&command), POLLIN, 0};
    ck_assert_int_eq(poll(&descriptor, 1, 0), 0);
    ck_assert_int_eq(write(ends[1], "x", 1), 1);
    ck_assert_int_eq(poll(&descriptor, 1, 0), 1);
    ck_assert(!command_advance(&command));
    run_shell("exit 3");
    ck_assert_int_eq(command.outcome.status, 3);
    command_fini(&command);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

START_TEST(an_environment_has_what_the_user_gives)
{
    static const char *const mine[] = {"A=1", "OMPI_X=2", "BASH_FUNC_f%%=() { x, }", "PMI_RANK=0", NULL};
    char *const *worker = (char *const *)mine;
    struct environment environment;
    struct error error;
    ck_assert_int_eq(environment_init(&environment, worker, false), 0);
    ck_assert_int_eq(environment_give(&environment, worker, "OMPI_X,B=x\\,y\\\\z\\n=,A=,BASH_FUNC_f%%", &error), 0);
    ck_assert_int_eq(environment_begin(&environment, 0), 0);
    char *const *vector = environment_vector(&environment);
    ck_assert_str_eq(vector[0], "A=");
    ck_assert_str_eq(vector[1], "BASH_FUNC_f%%=() { x, }");
    ck_assert_str_eq(vector[5], "OMPI_X=2");
    ck_assert_str_eq(vector[6], "B=x,y\\z\\n=");
    ck_assert_ptr_null(vector[7]);
    ck_assert_str_eq(environment_value(&environment, "B"), "x,y\\z\\n=");
    ck_assert_ptr_null(environment_value(&environment, "OMPI"));
    environment_fini(&environment);
    const char *const bad[] = {"A,,B=1", "=x", "NONE", "A,NONE"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_int_eq(environment_init(&environment, worker, false), 0);
        ck_assert_int_eq(environment_give(&environment, worker, bad[i], &error), -1);
        ck_assert_ptr_nonnull(strstr(error.text, i < 2 ? "env: a variable without a name" : "env=NONE: it is not set"));
        environment_fini(&environment);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("command");
    TCase *all = tcase_create("command");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, a_command_tells_how_it_ended);
    tcase_add_test(all, what_cannot_be_started_has_a_status_as_a_shell_says_it);
    tcase_add_test(all, a_script_without_an_interpreter_goes_to_the_shell);
    tcase_add_test(all, the_paths_are_tried_in_order);
    tcase_add_test(all, a_task_that_closes_its_streams_wakes_nobody);
    tcase_add_test(all, the_path_that_was_found_last_comes_first);
    tcase_add_test(all, a_place_is_kept_where_no_folder_is_relative);
    tcase_add_test(all, output_is_cut_at_its_limit_and_the_command_goes_on);
    tcase_add_test(all, much_output_arrives_whole);
    tcase_add_test(all, a_time_limit_ends_the_whole_group);
    tcase_add_test(all, who_does_not_listen_is_killed);
    tcase_add_loop_test(all, a_command_is_stopped, 0, 2);
    tcase_add_test(all, who_is_left_in_the_background_ends_with_the_command);
    tcase_add_test(all, a_child_inherits_three_descriptors_and_no_more);
    tcase_add_test(all, signals_are_as_by_default);
    tcase_add_test(all, a_signal_to_the_worker_is_none_to_what_it_starts);
    tcase_add_test(all, a_child_is_not_bound_to_the_cores_of_its_worker);
    tcase_add_test(all, what_a_child_has_begun_dies_with_its_worker);
    tcase_add_test(all, who_has_begun_a_session_ends_with_the_worker);
    tcase_add_test(all, output_can_go_to_files);
    tcase_add_test(all, time_and_memory_are_those_of_the_command);
    tcase_add_test(all, an_environment_has_nothing_of_the_run);
    tcase_add_test(all, a_command_begins_in_its_folder);
    tcase_add_test(all, an_environment_has_what_the_user_gives);
    tcase_add_test(all, a_command_has_no_more_memory_than_it_may);
    tcase_add_test(all, another_descriptor_can_be_waited_for_as_well);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
