/* SPDX-License-Identifier: MIT */
/* The launcher's terminal: see terminal.h. */
#include "common/job/terminal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_WIDTH    80
#define FIRST_LINE_GAP_S 1
#define LAST_LINE_GAP_S  60

/* A descriptor of the terminal at which standard output or error, or the launcher's, ends; -1 if it is none. To be
 * closed. mpirun gives its ranks a terminal of its own making for their output, so only the launcher's counts there. */
static int terminal_open_terminal(int stream)
{
    char link[64];
    if (stream == STDERR_FILENO && isatty(stream))
        return dup(stream);
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)getppid(), stream);
    int fd = open(link, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && !isatty(fd)) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool locale_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0')
            return strcasestr(value, "utf-8") != NULL || strcasestr(value, "utf8") != NULL;
    }
    return false;
}

void terminal_init(struct terminal *terminal, enum job_progress progress)
{
    *terminal = (struct terminal){.width = DEFAULT_WIDTH, .utf8 = locale_is_utf8(), .line_gap_s = FIRST_LINE_GAP_S};
    struct winsize size;
    int fd = terminal_open_terminal(STDERR_FILENO), output = terminal_open_terminal(STDOUT_FILENO);
    terminal->output_too = output >= 0;
    if (output >= 0)
        close(output);
    if (fd >= 0) {
        if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 20)
            terminal->width = size.ws_col;
        close(fd);
    }
    if (progress == JOB_PROGRESS_NEVER || (progress == JOB_PROGRESS_AUTO && fd < 0))
        terminal->mode = TERMINAL_NONE;
    else
        terminal->mode = fd >= 0 ? TERMINAL_IN_PLACE : TERMINAL_LINES;
}

void terminal_show(struct terminal *terminal, const char *line, double elapsed_s)
{
    switch (terminal->mode) {
    case TERMINAL_NONE: return;
    case TERMINAL_IN_PLACE:
        fprintf(stderr, "\r%s\033[K", line);
        terminal->shown = true;
        break;
    case TERMINAL_LINES:
        if (elapsed_s < terminal->next_line_s)
            return;
        fprintf(stderr, "%s\n", line);
        terminal->next_line_s = elapsed_s + terminal->line_gap_s;
        terminal->line_gap_s *= terminal->line_gap_s < LAST_LINE_GAP_S ? 1.5 : 1;
    }
    fflush(stderr);
}

const char *terminal_text_start(const struct terminal *terminal)
{
    return terminal->shown && terminal->output_too ? "\r\033[K" : "";
}

void terminal_clear(struct terminal *terminal)
{
    if (terminal->shown)
        fputs("\r\033[K", stderr);
    fflush(stderr);
    terminal->shown = false;
}
