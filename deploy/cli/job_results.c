/* SPDX-License-Identifier: MIT */
/* Prints the output of tasks: see job_results.h. */
#include "deploy/cli/job_results.h"

#include "common/results/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const endings[] = {"", ".err"};

bool job_results_has(const struct job_view *view)
{
    return strcmp(view->kernel, "exec") == 0 && view->output[0] != '\0';
}

static int begin_parts(struct job_printed *results, struct error *error)
{
    const struct follow_options options = {
        .output = results->output, .out = results->to[0], .err = results->to[1], .in_order = true, .only_looks = true};
    results->is_followed = follow_begin(&results->follow, &options, error) == 0;
    return results->is_followed ? 0 : -1;
}

int job_results_begin(struct job_printed *results, const struct job_view *view, int out, int err, struct error *error)
{
    const bool is_absolute = view->output[0] == '/';
    *results = (struct job_printed){.to = {out, err}};
    if (snprintf(results->output, PATH_MAX, "%s%s%s", is_absolute ? "" : view->folder, is_absolute ? "" : "/",
                 view->output) >= PATH_MAX)
        return error_set(error, "the path of its output is too long");
    return view->status >= 0 ? 0 : begin_parts(results, error);
}

int job_results_look(struct job_printed *results, struct error *error)
{
    return results->is_followed ? follow_look(&results->follow, error) : 0;
}

static int write_all(int fd, const char *bytes, size_t count, struct error *error)
{
    while (count > 0) {
        const ssize_t done = write(fd, bytes, count);
        if (done < 0 && errno != EINTR)
            return error_set(error, "cannot write: %s", strerror(errno));
        bytes += done > 0 ? done : 0;
        count -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}

static int copy_file(const char *path, uint64_t from, int to, struct error *error)
{
    char bytes[65536];
    ssize_t count;
    int result = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return 1;
    if (fd < 0 || lseek(fd, (off_t)from, SEEK_SET) < 0)
        result = error_set(error, "%.300s: %s", path, strerror(errno));
    while (result == 0 && (count = read(fd, bytes, sizeof bytes)) != 0)
        result = count < 0 ? error_set(error, "%.300s: %s", path, strerror(errno))
                           : write_all(to, bytes, (size_t)count, error);
    if (fd >= 0)
        close(fd);
    return result;
}

int job_results_end(struct job_printed *results, bool is_over, struct error *error)
{
    uint64_t printed[2] = {0};
    char path[PATH_MAX];
    int result = results->is_followed ? follow_end(&results->follow, error) : 0;
    if (results->is_followed) {
        printed[0] = results->follow.out.written;
        printed[1] = results->follow.err.written;
    }
    if (!is_over)
        return result;
    /* The parts may have been joined into the output files since the last look. */
    for (int i = 0; i < 2; i++) {
        result = results->to[i] >= 0 ? copy_file(parts_stream_file(results->output, endings[i], path), printed[i],
                                                 results->to[i], error)
                                     : 0;
        if (result != 0)
            break;
    }
    if (result <= 0 || results->is_followed)
        return result < 0 ? -1 : 0;
    if (!parts_exist(results->output))
        return error_set(error, "%.300s: is not there any more", results->output);
    return begin_parts(results, error) < 0 ? -1 : follow_end(&results->follow, error);
}
