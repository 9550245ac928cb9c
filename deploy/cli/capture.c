/* SPDX-License-Identifier: MIT */
/* Captures a program's output: see capture.h. */
#include "deploy/cli/capture.h"

#include "common/os/clock.h"
#include "deploy/cli/colour.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int64_t left_ms(int64_t until_ms)
{
    const int64_t left = until_ms - (int64_t)(clock_ns(CLOCK_MONOTONIC) / 1000000);
    return left > 0 ? left : 0;
}

static bool start(char *const *argv, int out, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const bool is_started = posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ) == 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return is_started;
}

static bool read_text(int file, char *text, size_t size, int64_t until_ms)
{
    ssize_t count = 1;
    for (size_t length = 0; count > 0 && length + 1 < size; length += count > 0 ? (size_t)count : 0) {
        struct pollfd input = {.fd = file, .events = POLLIN};
        if (poll(&input, 1, (int)left_ms(until_ms)) == 0)
            return false;
        count = read(file, text + length, size - 1 - length);
        text[length + (count > 0 ? (size_t)count : 0)] = '\0';
    }
    return true;
}

static bool await_end(pid_t pid, int64_t until_ms)
{
    pid_t ended;
    while ((ended = waitpid(pid, NULL, WNOHANG)) == 0 && left_ms(until_ms) > 0)
        poll(NULL, 0, 1);
    return ended != 0;
}

void capture(char *const *argv, char *text, size_t size, int limit_ms)
{
    const int64_t until_ms = (int64_t)(clock_ns(CLOCK_MONOTONIC) / 1000000) + limit_ms;
    char said[200];
    int ends[2];
    pid_t pid;
    text[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) < 0)
        return;
    const bool is_started = start(argv, ends[1], &pid);
    close(ends[1]);
    const bool is_read = !is_started || read_text(ends[0], text, size, until_ms);
    close(ends[0]); /* if the program writes more, SIGPIPE ends it */
    if (!is_started || (is_read && await_end(pid, until_ms)))
        return;
    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0);
    text[0] = '\0';
    snprintf(said, sizeof said, "%.80s %.40s has not ended for %g seconds: it is ended", argv[0], argv[1],
             (double)limit_ms / 1000);
    say_note("hdss", said);
}
