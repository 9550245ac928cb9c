/* SPDX-License-Identifier: MIT */
/* gnuplot as a child: see gnuplot.h.
 *
 * Script, picture and messages are files without a name, so that neither side ever waits for the other, no file name
 * gets into the script, and nothing is left behind whatever ends the two. */
#include "deploy/cli/gnuplot.h"

#include "common/os/files.h"
#include "common/util/plain.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_PATH "/usr/local/bin:/usr/bin:/bin" /* value where PATH is not set */

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static bool gnuplot_find_program(char *path, size_t size)
{
    const char *folders = getenv("PATH");
    for (const char *folder = folders != NULL ? folders : NO_PATH; folder != NULL;) {
        size_t length = strcspn(folder, ":");
        int written = snprintf(path, size, "%.*s/gnuplot", length > 0 ? (int)length : 1, length > 0 ? folder : ".");
        if (written > 0 && (size_t)written < size && is_program(path))
            return true;
        folder = folder[length] == ':' ? folder + length + 1 : NULL;
    }
    return false;
}

int gnuplot_check(struct error *error)
{
    char path[PATH_MAX];
    if (gnuplot_find_program(path, sizeof path))
        return 0;
    return error_set(error, "gnuplot, which draws, is not in PATH: install the package gnuplot "
                            "(gnuplot-nox on Debian and Ubuntu)");
}

const char *gnuplot_terminal(const char *path)
{
    static const struct {
        const char *ending, *terminal;
    } formats[] = {{".png", "pngcairo"}, {".svg", "svg"}};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        size_t ending = strlen(formats[i].ending);
        if (length > ending && strcmp(path + length - ending, formats[i].ending) == 0)
            return formats[i].terminal;
    }
    return NULL;
}

void gnuplot_quote(FILE *script, const char *text)
{
    putc('\'', script);
    for (; *text != '\0'; text = plain_next(text)) {
        if (*text == '\'')
            putc('\'', script); /* twice stands for one */
        const size_t length = plain_length(text);
        fprintf(script, "%.*s", length > 0 ? (int)length : 1, length > 0 ? text : "?");
    }
    putc('\'', script);
}

struct child {
    FILE *script; /* borrowed */
    FILE *picture, *messages;
};

static _Noreturn void gnuplot_become(const char *path, const struct child *child)
{
    if (dup2(fileno(child->script), STDIN_FILENO) < 0 || dup2(fileno(child->picture), STDOUT_FILENO) < 0 ||
        dup2(fileno(child->messages), STDERR_FILENO) < 0)
        _exit(EXIT_STATUS_FAILED);
    execl(path, "gnuplot", "-d", (char *)NULL);
    dprintf(STDERR_FILENO, "%s\n", strerror(errno));
    _exit(EXIT_STATUS_FAILED);
}

/* The exit status as waitpid() gives it; -1 where it could not be started. */
static int gnuplot_run(const char *path, const struct child *child)
{
    int status = -1;
    fflush(NULL);
    signal(SIGCHLD, SIG_DFL);
    pid_t pid = fork();
    if (pid == 0)
        gnuplot_become(path, child);
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

/* The line that says what is wrong: "line 7: ..." where there is one, else the last that says anything. */
static void find_message(FILE *messages, char *text, size_t size)
{
    char line[256];
    bool found = false;
    rewind(messages);
    while (!found && fgets(line, sizeof line, messages) != NULL) {
        const char *begin = line + strspn(line, " \t\"^");
        line[strcspn(line, "\n")] = '\0';
        found = strncmp(begin, "line ", 5) == 0;
        if (*begin != '\0')
            snprintf(text, size, "%s", begin);
    }
}

static int gnuplot_explain(const struct child *child, int status, struct error *error)
{
    char text[256] = "";
    find_message(child->messages, text, sizeof text);
    if (status >= 0 && WIFSIGNALED(status))
        snprintf(text, sizeof text, "ended by signal %d", WTERMSIG(status));
    return error_set(error, "gnuplot fails: %s", text[0] != '\0' ? text : "it says nothing and draws nothing");
}

static int gnuplot_keep(FILE *picture, const char *path, struct error *error)
{
    struct stat status;
    if (fstat(fileno(picture), &status) < 0)
        return error_set(error, "%s: %s", path, strerror(errno));
    size_t length = (size_t)status.st_size;
    char *bytes = malloc(length);
    if (bytes == NULL)
        return error_set(error, "%s: out of memory for %zu bytes", path, length);
    rewind(picture);
    int result = fread(bytes, 1, length, picture) == length ? file_write(path, bytes, length, error)
                                                            : error_set(error, "%s: %s", path, strerror(errno));
    free(bytes);
    return result;
}

static int gnuplot_draw_page(const struct child *child, const char *path, struct error *error)
{
    char program[PATH_MAX];
    struct stat drawn;
    if (gnuplot_check(error) < 0 || !gnuplot_find_program(program, sizeof program))
        return -1;
    if (fflush(child->script) != 0 || ferror(child->script))
        return error_set(error, "cannot write the script for gnuplot: %s", strerror(errno));
    rewind(child->script);
    int status = gnuplot_run(program, child);
    if (status != 0 || fstat(fileno(child->picture), &drawn) < 0 || drawn.st_size == 0)
        return gnuplot_explain(child, status, error);
    return gnuplot_keep(child->picture, path, error);
}

int gnuplot_draw(FILE *script, const char *path, struct error *error)
{
    struct child child = {script, tmpfile(), tmpfile()};
    int status = child.picture != NULL && child.messages != NULL
                     ? gnuplot_draw_page(&child, path, error)
                     : error_set(error, "cannot make a temporary file: %s", strerror(errno));
    if (child.picture != NULL)
        fclose(child.picture);
    if (child.messages != NULL)
        fclose(child.messages);
    return status;
}
