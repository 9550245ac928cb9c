/* SPDX-License-Identifier: MIT */
/* The launcher's terminal: see terminal.h. */
#include "common/job/terminal.h"

#include "common/job/status.h"
#include "common/metrics/progress.h"
#include "common/os/say.h"
#include "common/util/plain.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_WIDTH    80
#define FIRST_LINE_GAP_S 1
#define LOOK_MS          200
#define LOG_LOOK_MS      1000

/* Opens the terminal to which a standard stream of this process or of its launcher is connected. For standard output
 * only the launcher is checked, because mpirun gives its ranks a pseudo-terminal. Returns a descriptor, which the
 * caller closes, or -1 if there is no terminal. */
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

void terminal_init(struct terminal *terminal, const struct job *job)
{
    const double every_s = (double)job->log_every_ns / 1e9;
    const bool grows = job->progress == JOB_PROGRESS_ALWAYS && !job->log_every_given;
    *terminal = (struct terminal){.width = DEFAULT_WIDTH,
                                  .utf8 = locale_is_utf8(),
                                  .line_gap_s = grows ? FIRST_LINE_GAP_S : every_s,
                                  .longest_gap_s = every_s};
    terminal->next_line_s = terminal->line_gap_s;
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
    terminal->mode = job->progress == JOB_PROGRESS_NEVER ? TERMINAL_NONE : fd >= 0 ? TERMINAL_IN_PLACE : TERMINAL_LINES;
}

void terminal_init_none(struct terminal *terminal)
{
    *terminal = (struct terminal){.mode = TERMINAL_NONE, .width = DEFAULT_WIDTH, .utf8 = locale_is_utf8()};
}

static void terminal_write(const char *text)
{
    if (!status_tell_progress(text))
        fputs(text, stderr);
    fflush(stderr);
}

void terminal_show(struct terminal *terminal, const char *line)
{
    char shown[PROGRESS_LINE_MAX], text[PROGRESS_LINE_MAX + 8];
    snprintf(shown, sizeof shown, "%s", line);
    snprintf(text, sizeof text, "\r%s\033[K", plain(shown));
    terminal_write(text);
    terminal->shown = true;
}

bool terminal_is_due(struct terminal *terminal, double elapsed_s)
{
    if (terminal->mode != TERMINAL_LINES || elapsed_s < terminal->next_line_s)
        return false;
    terminal->next_line_s = elapsed_s + terminal->line_gap_s;
    if (terminal->line_gap_s < terminal->longest_gap_s)
        terminal->line_gap_s *= 1.5;
    return true;
}

unsigned terminal_look_ms(const struct terminal *terminal)
{
    const double quarter_ms = 250 * terminal->line_gap_s;
    if (terminal->mode != TERMINAL_LINES)
        return terminal->mode == TERMINAL_NONE ? 0 : LOOK_MS;
    return quarter_ms < LOOK_MS ? LOOK_MS : quarter_ms > LOG_LOOK_MS ? LOG_LOOK_MS : (unsigned)quarter_ms;
}

const char *terminal_time(time_t when, time_t today, char text[TERMINAL_TIME_MAX])
{
    struct tm then, now;
    localtime_r(&when, &then);
    localtime_r(&today, &now);
    const bool is_same = then.tm_yday == now.tm_yday && then.tm_year == now.tm_year;
    strftime(text, TERMINAL_TIME_MAX, is_same ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &then);
    return text;
}

void terminal_log(const char *line)
{
    char stamp[TERMINAL_TIME_MAX];
    say(stderr, "%s %s", terminal_time(time(NULL), 0, stamp), line);
    fflush(stderr);
}

const char *terminal_text_start(const struct terminal *terminal)
{
    return terminal->shown && terminal->output_too ? "\r\033[K" : "";
}

void terminal_clear(struct terminal *terminal)
{
    if (terminal->shown)
        terminal_write("\r\033[K");
    terminal->shown = false;
}
