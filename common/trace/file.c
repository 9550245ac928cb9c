/* SPDX-License-Identifier: MIT */
/* A trace that is one file: what its forms have in common. See writer.h. */
#include "common/trace/writer.h"

#include "common/os/files.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int trace_file_check(const char *path, struct error *error)
{
    return file_check_writable(path, error);
}

int trace_file_open(struct trace_writer *writer, struct error *error)
{
    writer->file = fopen(writer->unfinished, "we");
    return writer->file != NULL ? 0 : error_set(error, "%.300s: %.100s", writer->unfinished, strerror(errno));
}

int trace_file_finish(struct trace_writer *writer, const char *path, struct error *error)
{
    const bool failed = ferror(writer->file) != 0;
    const bool is_closed = fclose(writer->file) == 0;
    writer->file = NULL;
    if (failed || !is_closed)
        return error_set(error, "%.300s: cannot be written: %.100s", writer->unfinished, strerror(errno));
    return rename(writer->unfinished, path) == 0 ? 0 : error_set(error, "%.300s: %.100s", path, strerror(errno));
}

void trace_file_discard(struct trace_writer *writer)
{
    if (writer->file != NULL)
        fclose(writer->file);
    writer->file = NULL;
    unlink(writer->unfinished);
}
