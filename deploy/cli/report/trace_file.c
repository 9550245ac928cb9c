/* SPDX-License-Identifier: MIT */
/* Reading the file of a trace: see trace_file.h. */
#include "deploy/cli/report/trace_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PIECE (256u << 10)

FILE *trace_file_open_input(const char *name, struct error *error)
{
    struct stat status;
    FILE *file = fopen(name, "re");
    if (file == NULL) {
        error_set(error, "%.300s: %s", name, strerror(errno));
        return NULL;
    }
    if (fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
        error_set(error, "%.300s: it is a folder; accepted: a trace that --trace FILE.csv has written", name);
        fclose(file);
        return NULL;
    }
    return file;
}

int trace_file_read(struct run_trace *trace, FILE *file, const char *name, struct error *error)
{
    struct trace_reader reader;
    char *piece = malloc(PIECE);
    int result = piece == NULL ? error_set(error, "%.200s: out of memory", name) : 0;
    if (result == 0 && (result = trace_reader_init(&reader, name, run_trace_take, trace, error)) == 0) {
        for (size_t count; result == 0 && (count = fread(piece, 1, PIECE, file)) > 0;)
            result = trace_reader_take(&reader, piece, count, error);
        if (result == 0 && ferror(file))
            result = error_set(error, "%.200s: %s", name, strerror(errno));
        if (result == 0)
            result = trace_reader_end(&reader, error);
        trace_reader_fini(&reader);
    }
    free(piece);
    return result == 0 ? run_trace_order(trace, error) : -1;
}
