/* SPDX-License-Identifier: MIT */
/* Whoever does not want to know why something failed passes NULL as the error. Each function of the headers that has an
 * error to fill in is called in a process of its own, with several values: where it returns with an error that is
 * there, it must return without one. Most fail, as memory that is zero is no job and no file of these names is there;
 * those that do not bear such arguments say nothing here. */
#include "tests/lib/scratch.h"
#include "tests/unit/null/table.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PARAMETERS = 16, ROOM_BYTES = 1 << 20, WAIT_S = 2 };

/* Of those that are called so many return at least: fewer, and the test has lost its use. */
#define RETURN_LEAST 0.5

static const struct {
    unsigned number;
    const char *text;
} values[] = {{0, ""}, {1, "no/such,x=1 (2): y"}, {7, "/"}};

static char rooms[PARAMETERS][ROOM_BYTES];
static char program[] = "program", option[] = "--no-such=option";
char *null_words[] = {program, option, NULL, NULL};

void *null_room(unsigned parameter)
{
    return rooms[parameter % PARAMETERS];
}

/* The process has nothing to harm: no terminal, no group but its own, no time, no big files. */
static void enter(void)
{
    const struct rlimit time = {1, 1}, bytes = {1 << 20, 1 << 20}, none = {0, 0};
    const int null = open("/dev/null", O_RDWR);
    setsid();
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &time);
    setrlimit(RLIMIT_FSIZE, &bytes);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    alarm(WAIT_S);
}

/* Returns the status of a process that makes the call. */
static int outcome(const struct null_call *call, unsigned number, const char *text, bool has_error)
{
    static struct error error;
    int status = -1;
    fflush(NULL);
    const pid_t process = fork();
    if (process == 0) {
        enter();
        call->call(number, text, has_error ? &error : NULL);
        _exit(0);
    }
    return process > 0 && waitpid(process, &status, 0) == process ? status : -1;
}

/* True where a program has gone wrong by itself, and was not too slow. */
static bool has_crashed(int status)
{
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return number == SIGSEGV || number == SIGBUS || number == SIGABRT || number == SIGILL || number == SIGFPE ||
           (WIFEXITED(status) && WEXITSTATUS(status) != 0);
}

int main(void)
{
    unsigned returned = 0, crashed = 0;
    char folder[] = "/tmp/hdss-null-XXXXXX";
    scratch_enter(folder);
    setenv("HOME", folder, 1);
    setenv("TMPDIR", folder, 1);
    setenv("HDSS_CONTROL_DIR", folder, 1);
    printf("1..2\n");
    for (unsigned i = 0; i < null_call_count; i++) {
        bool returns = false, crashes = false;
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            const int with = outcome(&null_calls[i], values[k].number, values[k].text, true);
            if (!WIFEXITED(with) || WEXITSTATUS(with) != 0)
                continue;
            returns = true;
            crashes |= has_crashed(outcome(&null_calls[i], values[k].number, values[k].text, false));
        }
        if (crashes)
            printf("# %s does not bear an error that is NULL\n", null_calls[i].name);
        if (getenv("HDSS_TEST_TELL") != NULL && !returns)
            printf("# %s does not return\n", null_calls[i].name);
        returned += returns;
        crashed += crashes;
    }
    scratch_leave(folder);
    printf("%s 1 - no function looks into an error that is NULL\n", crashed == 0 ? "ok" : "not ok");
    printf("# %u of %u functions return\n", returned, null_call_count);
    printf("%s 2 - most functions are called\n", returned >= RETURN_LEAST * null_call_count ? "ok" : "not ok");
    return crashed > 0 || returned < RETURN_LEAST * null_call_count ? EXIT_FAILURE : EXIT_SUCCESS;
}
