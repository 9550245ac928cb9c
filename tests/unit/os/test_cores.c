/* SPDX-License-Identifier: MIT */
/* Binding a process that sleeps, so that it wakes where it is to; and the cores that control groups leave. */
#include "common/os/cores.h"
#include "tests/lib/suite.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that says on which CPU it wakes, each time when it is told to. */
struct sleeper {
    pid_t pid;
    int to, from;
};

static struct sleeper begin_sleeper(void)
{
    int down[2], up[2];
    ck_assert(pipe(down) == 0 && pipe(up) == 0);
    const pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        char byte;
        while (read(down[0], &byte, 1) == 1) {
            const unsigned cpu = cores_current();
            if (write(up[1], &cpu, sizeof cpu) < 0)
                break;
        }
        _exit(0);
    }
    close(down[0]);
    return (struct sleeper){pid, down[1], up[0]};
}

static unsigned wake(const struct sleeper *sleeper)
{
    unsigned cpu = 0;
    ck_assert_int_eq(write(sleeper->to, "", 1), 1);
    ck_assert_int_eq(read(sleeper->from, &cpu, sizeof cpu), sizeof cpu);
    return cpu;
}

static void end_sleeper(const struct sleeper *sleeper)
{
    kill(sleeper->pid, SIGKILL);
    waitpid(sleeper->pid, NULL, 0);
}

START_TEST(a_process_wakes_where_it_is_bound)
{
    const struct sleeper sleeper = begin_sleeper();
    cpu_set_t usable, before, after;
    ck_assert_int_eq(sched_getaffinity(0, sizeof usable, &usable), 0);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &usable))
            continue;
        const bool is_bound = cores_bind(sleeper.pid, cpu + 1, &before);
        ck_assert(is_bound == (CPU_COUNT(&usable) > 1));
        ck_assert_uint_eq(wake(&sleeper), cpu + 1);
        if (is_bound)
            cores_bind_again(sleeper.pid, &before);
        ck_assert_int_eq(sched_getaffinity(sleeper.pid, sizeof after, &after), 0);
        ck_assert(CPU_EQUAL(&after, &usable));
    }
    end_sleeper(&sleeper);
}
END_TEST

START_TEST(what_cannot_be_leaves_a_process_as_it_is)
{
    const struct sleeper sleeper = begin_sleeper();
    cpu_set_t usable, after, before;
    ck_assert_int_eq(sched_getaffinity(0, sizeof usable, &usable), 0);
    ck_assert(!cores_bind(sleeper.pid, 0, &before));
    ck_assert(!cores_bind(sleeper.pid, CPU_SETSIZE + 1, &before));
    ck_assert_int_eq(sched_getaffinity(sleeper.pid, sizeof after, &after), 0);
    ck_assert(CPU_EQUAL(&after, &usable));
    end_sleeper(&sleeper);
    ck_assert(!cores_bind(sleeper.pid, 1, &before));
}
END_TEST

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* A tree of groups of both versions, /outer/inner, below `root`. */
static void make_groups(char root[PATH_MAX])
{
    static const char *const folders[] = {"outer", "outer/inner", "cpu,cpuacct", "cpu,cpuacct/outer"};
    char path[PATH_MAX];
    strcpy(root, "/tmp/hdss-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        ck_assert_int_eq(mkdir(path, 0700), 0);
    }
}

static unsigned limit(const char *root, const char *groups)
{
    char path[PATH_MAX];
    write_file(root, "own", groups);
    snprintf(path, sizeof path, "%s/own", root);
    return cores_limit(path, root);
}

START_TEST(groups_leave_some_cores)
{
    char root[PATH_MAX], command[PATH_MAX + 8];
    make_groups(root);
    ck_assert_uint_eq(limit(root, "0::/outer/inner\n"), UINT_MAX);
    write_file(root, "outer/inner/cpu.max", "max 100000\n");
    ck_assert_uint_eq(limit(root, "0::/outer/inner\n"), UINT_MAX);
    write_file(root, "outer/cpu.max", "250000 100000\n");
    ck_assert_uint_eq(limit(root, "0::/outer/inner\n"), 3);
    write_file(root, "outer/inner/cpu.max", "50000 100000\n");
    ck_assert_uint_eq(limit(root, "0::/outer/inner\n"), 1);
    ck_assert_uint_eq(limit(root, "0::/outer\n"), 3);
    ck_assert_uint_eq(limit(root, "0::/of/the/host\n"), UINT_MAX);
    write_file(root, "cpu.max", "200000 100000\n"); /* that of the container */
    ck_assert_uint_eq(limit(root, "0::/of/the/host\n"), 2);
    write_file(root, "cpu,cpuacct/outer/cpu.cfs_quota_us", "-1\n");
    write_file(root, "cpu,cpuacct/outer/cpu.cfs_period_us", "100000\n");
    ck_assert_uint_eq(limit(root, "5:cpuset:/\n4:cpu,cpuacct:/outer\n1:name=systemd:/\n"), UINT_MAX);
    write_file(root, "cpu,cpuacct/outer/cpu.cfs_quota_us", "400000\n");
    ck_assert_uint_eq(limit(root, "5:cpuset:/\n4:cpu,cpuacct:/outer\n1:name=systemd:/\n"), 4);
    ck_assert_uint_eq(limit(root, "nonsense\n:\n0\n"), UINT_MAX);
    ck_assert_uint_eq(cores_limit("/nowhere", root), UINT_MAX);
    snprintf(command, sizeof command, "rm -r %s", root);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cores");
    TCase *all = tcase_create("all");
    tcase_add_test(all, a_process_wakes_where_it_is_bound);
    tcase_add_test(all, what_cannot_be_leaves_a_process_as_it_is);
    tcase_add_test(all, groups_leave_some_cores);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
