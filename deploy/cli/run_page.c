/* SPDX-License-Identifier: MIT */
/* The page of a run: see run_page.h. */
#include "deploy/cli/run_page.h"

#include "common/os/files.h"
#include "common/util/text.h"
#include "deploy/cli/report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void run_page_note(struct run_page *page, const char *name, const char *value)
{
    if (strcmp(name, "trace") == 0)
        page->trace = value;
    else if (strcmp(name, "report") == 0)
        page->report = value;
}

/* Names a file beside the page, and has the job write it. */
static char *add_own(const struct run_page *page, const char *option, const char *ending, struct argv *job)
{
    struct text name;
    text_init(&name);
    text_add(&name, "%s.%ld%s", page->html, (long)getpid(), ending);
    char *own = text_take(&name);
    if (own != NULL) {
        argv_insert(job, 1, own); /* options come first: behind `--` there are none */
        argv_insert(job, 1, option);
    }
    return own;
}

/* A report that goes to a device is not there when the run is over. */
static bool is_file(const char *name)
{
    return name != NULL && strcmp(name, "-") != 0 && strncmp(name, "/dev/", 5) != 0;
}

int run_page_prepare(struct run_page *page, struct argv *job, bool has_trace, struct error *error)
{
    struct error inner;
    if (page->html[0] == '\0')
        return 0;
    if (file_check_writable(page->html, &inner) < 0)
        return error_set(error, "--html: cannot write %s", inner.text);
    if (page->trace != NULL && (strlen(page->trace) < 4 || strcmp(page->trace + strlen(page->trace) - 4, ".csv") != 0))
        return error_set(error, "--html: the page is made of a trace of the form .csv; accepted: without --trace, or "
                                "with --trace FILE.csv");
    if (page->trace == NULL && has_trace)
        page->own_trace = add_own(page, "--trace", ".csv", job);
    if (page->report == NULL)
        page->own_report = add_own(page, "--report", ".json", job);
    return 0;
}

int run_page_make(const struct run_page *page, struct error *error)
{
    const char *trace = page->own_trace != NULL ? page->own_trace : page->trace;
    const char *report = page->own_report != NULL ? page->own_report : page->report;
    const char *files[2];
    unsigned count = 0;
    if (trace != NULL && access(trace, R_OK) == 0)
        files[count++] = trace;
    if (is_file(report) && access(report, R_OK) == 0)
        files[count++] = report;
    if (count == 0)
        return error_set(error, "--html: the run has left nothing to make a page of");
    return report_write_page(files, count, page->html, error);
}

void run_page_fini(struct run_page *page)
{
    if (page->own_trace != NULL)
        unlink(page->own_trace);
    if (page->own_report != NULL)
        unlink(page->own_report);
    free(page->own_trace);
    free(page->own_report);
    *page = (struct run_page){.html = ""};
}
