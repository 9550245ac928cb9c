/* SPDX-License-Identifier: MIT */
/* The states of a child that waits, is stopped, goes on, ends and is buried. */
#include "common/os/process.h"
#include "tests/lib/suite.h"

#include <signal.h>
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
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
