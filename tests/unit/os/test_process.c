/* SPDX-License-Identifier: MIT */
/* The states of a child that waits, is stopped, goes on, ends and is buried. */
#include "common/os/launched.h"
#include "common/os/process.h"
#include "tests/lib/suite.h"

#include <signal.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(a_child_from_its_start_to_its_end)
{
    siginfo_t info;
    int pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    ck_assert_int_gt(pid, 0);
    ck_assert(process_runs(process_state(pid))); /* it may still wait for a page */
    ck_assert_int_ne(process_state(pid), PROCESS_STOPPED);
    kill(pid, SIGSTOP);
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WSTOPPED), 0);
    ck_assert_int_eq(process_state(pid), PROCESS_STOPPED);
    kill(pid, SIGCONT);
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WCONTINUED), 0);
    ck_assert_int_ne(process_state(pid), PROCESS_STOPPED);
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    ck_assert_int_eq(process_state(pid), 'Z');
    ck_assert(!process_runs('Z') && !process_runs(0) && process_runs('S') && process_runs(PROCESS_STOPPED));
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED), 0);
    ck_assert_int_eq(process_state(pid), 0);
}
END_TEST

/* The blanks between words stand for the NULs of a command line. */
static bool has_none(const char *text)
{
    char line[256];
    const size_t size = (size_t)snprintf(line, sizeof line, "%s", text) + 1;
    for (size_t i = 0; i < size; i++)
        if (line[i] == ' ')
            line[i] = '\0';
    return launched_line_has_none(line, size);
}

START_TEST(a_line_that_starts_none_of_a_program)
{
    ck_assert(has_none("mpirun -n 1 supermaster synthetic : -n 0 master : -n 2 worker"));
    ck_assert(has_none("mpirun --oversubscribe -np 0 -x A /usr/bin/supermaster synthetic"));
    ck_assert(!has_none("mpirun -n 1 supermaster exec echo -n 0 : -n 2 worker"));
    ck_assert(!has_none("mpirun -n 1 supermaster synthetic : -x 0 -n 2 worker"));
    ck_assert(!has_none("mpirun -n 0 echo : -n 2 worker"));
    ck_assert(!has_none("mpirun -n"));
    ck_assert(!launched_line_has_none("", 0));
}
END_TEST

START_TEST(this_process_runs)
{
    ck_assert_int_eq(process_state(getpid()), 'R');
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("process");
    TCase *tcase = tcase_create("process");
    tcase_add_test(tcase, a_child_from_its_start_to_its_end);
    tcase_add_test(tcase, this_process_runs);
    tcase_add_test(tcase, a_line_that_starts_none_of_a_program);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
