/* SPDX-License-Identifier: MIT */
/* Runs hdss-plot: see picture.h.
 *
 * The data, the picture and the messages are in unnamed files. With pipes, the two processes would wait for each other;
 * with named files, some might be left behind. */
#include "deploy/cli/picture.h"

#include "common/os/files.h"
#include "common/os/modules.h"
#include "common/util/plain.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char *picture_format(const char *path)
{
    const char *ending = strrchr(path, '.');
    if (ending == NULL || ending == path || (strcmp(ending, ".png") != 0 && strcmp(ending, ".svg") != 0))
        return NULL;
    return ending + 1;
}

struct child {
    FILE *data;
    FILE *picture, *messages;
};

static _Noreturn void become_program(const char *program, const char *format, const struct child *child)
{
    if (dup2(fileno(child->data), STDIN_FILENO) < 0 || dup2(fileno(child->picture), STDOUT_FILENO) < 0 ||
        dup2(fileno(child->messages), STDERR_FILENO) < 0)
        _exit(EXIT_STATUS_FAILED);
    execl(program, program, format, (char *)NULL);
    dprintf(STDERR_FILENO, "%s\n", strerror(errno));
    _exit(EXIT_STATUS_FAILED);
}

static int run_program(const char *program, const char *format, const struct child *child)
{
    int status = -1;
    fflush(NULL);
    signal(SIGCHLD, SIG_DFL);
    pid_t pid = fork();
    if (pid == 0)
        become_program(program, format, child);
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

static int explain_failure(const struct child *child, int status, struct error *error)
{
    char line[300], text[300] = "";
    rewind(child->messages);
    while (fgets(line, sizeof line, child->messages) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '\0')
            snprintf(text, sizeof text, "%s", plain(line));
    }
    if (status >= 0 && WIFSIGNALED(status))
        snprintf(text, sizeof text, "hdss-plot was ended by signal %d", WTERMSIG(status));
    return error_set(error, "no picture: %s", text[0] != '\0' ? text : "hdss-plot says nothing and draws nothing");
}

static int keep_picture(FILE *picture, size_t length, const char *path, struct error *error)
{
    char *bytes = malloc(length);
    if (bytes == NULL)
        return error_set(error, "%s: out of memory for %zu bytes", path, length);
    rewind(picture);
    int result = fread(bytes, 1, length, picture) == length ? file_write(path, bytes, length, error)
                                                            : error_set(error, "%s: %s", path, strerror(errno));
    free(bytes);
    return result;
}

static int draw_by(const char *program, const struct child *child, const char *path, struct error *error)
{
    struct stat drawn;
    if (fflush(child->data) != 0 || ferror(child->data))
        return error_set(error, "cannot write the data of the picture: %s", strerror(errno));
    rewind(child->data);
    const int status = run_program(program, picture_format(path), child);
    if (status != 0 || fstat(fileno(child->picture), &drawn) < 0 || drawn.st_size == 0)
        return explain_failure(child, status, error);
    return keep_picture(child->picture, (size_t)drawn.st_size, path, error);
}

int picture_draw(FILE *data, const char *path, struct error *error)
{
    char folder[PATH_MAX], program[PATH_MAX];
    if (program_folder(folder, error) < 0)
        return -1;
    if (program_find(folder, "hdss-plot", program, error) < 0)
        return error_set(error, "pictures take Python 3.9 or later with matplotlib and the Python package of HDSS; "
                                "install them (Debian: python3-hdss, python3-matplotlib)");
    struct child child = {data, tmpfile(), tmpfile()};
    int status = child.picture != NULL && child.messages != NULL
                     ? draw_by(program, &child, path, error)
                     : error_set(error, "cannot make a temporary file: %s", strerror(errno));
    if (child.picture != NULL)
        fclose(child.picture);
    if (child.messages != NULL)
        fclose(child.messages);
    return status;
}
