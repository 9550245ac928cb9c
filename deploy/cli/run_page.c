/* SPDX-License-Identifier: MIT */
/* Makes the page of a run: see run_page.h. */
#include "deploy/cli/run_page.h"

#include "common/os/files.h"
#include "common/util/text.h"

#include <errno.h>
#include <stdio.h>
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

static char *add_own(const struct run_page *page, const char *option, const char *ending, struct argv *job)
{
    struct text name;
    text_init(&name);
    text_add(&name, "%s.%ld%s", page->html, (long)getpid(), ending);
    char *own = text_take(&name);
    if (own != NULL) {
        argv_insert(job, 1, own); /* at the beginning, because words after `--` are no options */
        argv_insert(job, 1, option);
    }
    return own;
}

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

static int add_base64(struct text *text, const char *name, struct error *error)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char bytes[3072];
    char characters[sizeof bytes / 3 * 4];
    FILE *file = fopen(name, "re");
    if (file == NULL)
        return error_set(error, "--html: %.300s: %s", name, strerror(errno));
    for (size_t count; (count = fread(bytes, 1, sizeof bytes - 3, file)) > 0;) {
        int length = 0;
        bytes[count] = bytes[count + 1] = 0;
        for (size_t i = 0; i < count; i += 3) {
            const unsigned bits = (unsigned)bytes[i] << 16 | (unsigned)bytes[i + 1] << 8 | bytes[i + 2];
            characters[length++] = digits[bits >> 18];
            characters[length++] = digits[bits >> 12 & 63];
            characters[length++] = digits[bits >> 6 & 63];
            characters[length++] = digits[bits & 63];
        }
        for (size_t missing = (3 - count % 3) % 3; missing > 0; missing--)
            characters[length - (int)missing] = '=';
        text_add(text, "%.*s", length, characters);
    }
    const bool has_failed = ferror(file) != 0;
    fclose(file);
    return has_failed ? error_set(error, "--html: %.300s: cannot be read", name) : 0;
}

static int fill_page(struct text *text, const char *trace, const char *report, struct error *error)
{
    for (const struct page_part *part = page_parts;; part++) {
        text_add(text, "%s", part->text);
        if (part->then == NULL)
            return text->failed ? error_set(error, "--html: out of memory") : 0;
        const char *file = strcmp(part->then, "trace") == 0 ? trace : strcmp(part->then, "report") == 0 ? report : NULL;
        if (file != NULL && add_base64(text, file, error) < 0)
            return -1;
        if (strcmp(part->then, "name") == 0)
            text_add(text, "what the run has left");
    }
}

int run_page_make(const struct run_page *page, struct error *error)
{
    const char *trace = page->own_trace != NULL ? page->own_trace : page->trace;
    const char *report = page->own_report != NULL ? page->own_report : page->report;
    struct text text;
    if (trace != NULL && access(trace, R_OK) != 0)
        trace = NULL;
    if (!is_file(report) || access(report, R_OK) != 0)
        report = NULL;
    if (trace == NULL && report == NULL)
        return error_set(error, "--html: the run has left nothing to make a page of");
    text_init(&text);
    int result = fill_page(&text, trace, report, error);
    if (result == 0)
        result = file_write(page->html, text.data, text.length, error);
    text_fini(&text);
    return result;
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
