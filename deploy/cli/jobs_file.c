/* SPDX-License-Identifier: MIT */
/* Reads a list of jobs: see jobs_file.h. */
#include "deploy/cli/jobs_file.h"

#include "common/config/options.h"
#include "common/machine/machine.h"
#include "common/os/files.h"
#include "common/util/grow.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/duration.h"
#include "deploy/cli/submission.h"
#include "deploy/simulate/simulation.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

static int take_time(const char *word, uint64_t *ns, struct error *error)
{
    uint64_t seconds;
    if (duration_parse(word, &seconds) < 0)
        return error_set(error, "the time '%.100s': accepted: like 90, 30m, 2h, 10:30 or 2:00:00", word);
    *ns = seconds * NS_PER_S;
    return 0;
}

static bool is_of_queue(const struct option_row *row)
{
    static const char *const names[] = {"name", "priority", "weight", "after"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(row->name, names[i]) == 0)
            return true;
    return false;
}

static bool is_in(const struct option_section *section, const struct option_row *row)
{
    for (const struct option_row *other = section->rows; other->name != NULL; other++)
        if (other == row)
            return true;
    return false;
}

static struct options line_options(unsigned *simulation_section)
{
    struct grammar grammar;
    submit_grammar(&grammar);
    *simulation_section = 0;
    while (grammar.options.sections[*simulation_section].title != NULL)
        ++*simulation_section;
    grammar.options.sections[*simulation_section] = simulation_own_options.sections[0];
    return grammar.options;
}

static int take_option(struct submission_request *request, const struct options *all, unsigned simulation_section,
                       const struct options_word *word, struct error *error)
{
    if (is_in(&all->sections[0], word->row)) {
        if (is_of_queue(word->row))
            return option_apply(word, request, error);
        return error_set(error, "--%s: accepted for a job of a list: --name, --priority, --weight and --after",
                         word->row->name);
    }
    if (is_in(&all->sections[simulation_section], word->row) && strcmp(word->row->name, "costs") != 0)
        return error_set(error, "--%s: all jobs have one machine: accepted on the command line", word->row->name);
    return 0;
}

static int take_words(struct listed_job *job, const struct argv *words, struct error *error)
{
    struct submission_request request = SUBMISSION_DEFAULT;
    unsigned simulation_section;
    const struct options all = line_options(&simulation_section);
    struct options_reader reader;
    struct options_word word;
    int more, first, result = 0;
    options_reader_init(&reader, &all, (int)words->count, words->items);
    while (first = reader.at, (more = options_next(&reader, &word, error)) > 0 && result == 0) {
        const bool is_option = word.row != NULL;
        if (is_option)
            result = take_option(&request, &all, simulation_section, &word, error);
        if (result == 0 && (!is_option || !is_in(&all.sections[0], word.row)))
            for (int i = first; i < reader.at; i++)
                argv_add(&job->words, words->items[i]);
    }
    if (more < 0 || result < 0)
        return -1;
    if (result > 0)
        return error_set(error, "--help and --version are not for a list of jobs");
    job->priority = (int)request.priority;
    job->weight = request.weight;
    for (size_t i = 0; i < request.after_count; i++)
        argv_add(&job->after, request.after[i]);
    job->name = request.name != NULL ? strdup(request.name) : NULL;
    return job->words.failed || job->after.failed || (request.name != NULL && job->name == NULL)
               ? error_set(error, "out of memory")
               : 0;
}

static struct listed_job *find_named(const struct jobs_file *file, const char *name)
{
    for (size_t i = 0; i < file->count; i++)
        if (file->jobs[i].name != NULL && strcmp(file->jobs[i].name, name) == 0)
            return &file->jobs[i];
    return NULL;
}

static int add_job(struct jobs_file *file, unsigned line, const struct argv *words, struct error *error)
{
    struct listed_job job = {.line = line, .cancel_at_ns = NEVER};
    if (take_time(words->items[0], &job.at_ns, error) < 0)
        return -1;
    struct listed_job *jobs = grow(file->jobs, file->count, &file->room, sizeof *jobs);
    if (jobs == NULL)
        return error_set(error, "out of memory");
    file->jobs = jobs;
    jobs[file->count] = job;
    if (take_words(&jobs[file->count++], words, error) < 0)
        return -1;
    const struct listed_job *last = &jobs[file->count - 1];
    if (last->words.count == 0)
        return error_set(error, "a kernel is missing");
    if (last->name != NULL && find_named(file, last->name) != last)
        return error_set(error, "--name %.100s: line %u has a job of that name", last->name,
                         find_named(file, last->name)->line);
    return 0;
}

static int cancel_job(struct jobs_file *file, const struct argv *words, struct error *error)
{
    if (words->count != 3)
        return error_set(error, "accepted: cancel TIME NAME");
    struct listed_job *job = find_named(file, words->items[2]);
    if (job == NULL)
        return error_set(error, "cancel: no job before this line has the name '%.100s'", words->items[2]);
    return take_time(words->items[1], &job->cancel_at_ns, error);
}

static int take_line(struct jobs_file *file, unsigned line, const char *text, struct error *error)
{
    struct argv words = {0};
    int result = 0;
    argv_add_split(&words, text);
    if (words.failed)
        result = error_set(error, "out of memory");
    else if (words.count > 0 && words.items[0][0] != '#')
        result = strcmp(words.items[0], "cancel") == 0 ? cancel_job(file, &words, error)
                                                       : add_job(file, line, &words, error);
    argv_fini(&words);
    return result;
}

static int compare_times(const void *a, const void *b)
{
    const struct listed_job *first = a, *second = b;
    if (first->at_ns != second->at_ns)
        return first->at_ns < second->at_ns ? -1 : 1;
    return first->line < second->line ? -1 : 1;
}

static int find_before(struct jobs_file *file, const char *path, struct error *error)
{
    for (size_t i = 0; i < file->count; i++) {
        struct listed_job *job = &file->jobs[i];
        job->before = calloc(job->after.count + 1, sizeof *job->before);
        if (job->before == NULL)
            return error_set(error, "out of memory");
        for (unsigned k = 0; k < job->after.count; k++) {
            const struct listed_job *other = find_named(file, job->after.items[k]);
            if (other == NULL || other >= job)
                return error_set(error, "%s, line %u: --after %.100s: no job of that name is submitted before this one",
                                 path, job->line, job->after.items[k]);
            job->before[k] = (uint32_t)(other - file->jobs) + 1;
        }
    }
    return 0;
}

static int read_lines(struct jobs_file *file, const char *path, char *text, struct error *error)
{
    struct error inner;
    unsigned line = 0;
    for (char *next; text != NULL; text = next) {
        next = strchr(text, '\n');
        if (next != NULL)
            *next++ = '\0';
        if (take_line(file, ++line, text, &inner) < 0)
            return error_set(error, "%s, line %u: %s", path, line, inner.text);
    }
    if (file->count == 0)
        return error_set(error, "%s: there is no job in it", path);
    qsort(file->jobs, file->count, sizeof *file->jobs, compare_times);
    return find_before(file, path, error);
}

int jobs_file_read(struct jobs_file *file, const char *path, struct error *error)
{
    struct error inner;
    *file = (struct jobs_file){.jobs = NULL};
    char *text = file_read(path, &inner);
    if (text == NULL)
        return error_set(error, "--jobs '%s': accepted: a readable file (%s)", path, inner.text);
    const int result = read_lines(file, path, text, error);
    free(text);
    return result;
}

void jobs_file_fini(struct jobs_file *file)
{
    for (size_t i = 0; i < file->count; i++) {
        struct listed_job *job = &file->jobs[i];
        free(job->name);
        free(job->before);
        argv_fini(&job->after);
        argv_fini(&job->words);
    }
    free(file->jobs);
    *file = (struct jobs_file){.jobs = NULL};
}
