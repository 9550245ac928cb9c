/* SPDX-License-Identifier: MIT */
/* Separates the options of a worker without a supermaster from those of its job: see dca_options.h. */
#include "common/config/dca_options.h"

#include "common/config/job.h"
#include "common/config/options.h"
#include "common/config/rank_options.h"
#include "common/util/error.h"

#include <stdlib.h>
#include <string.h>

bool dca_is_asked(int argc, char *const *argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--dca") == 0 || strncmp(argv[i], "--dca=", 6) == 0)
            return true;
    return false;
}

static unsigned add_sections(struct options *all, unsigned count, const struct options *from)
{
    for (const struct option_section *section = from->sections; section->title != NULL; section++)
        if (section->rows != options_common && count + 2 < OPTIONS_SECTIONS_MAX)
            all->sections[count++] = *section;
    return count;
}

struct options dca_options_all(void)
{
    struct options all = {0};
    unsigned count = add_sections(&all, add_sections(&all, 0, worker_options()), job_options());
    all.sections[count] = (struct option_section){"Help", options_common};
    return all;
}

int dca_options_parse(struct dca_options *options, int argc, char *const *argv, struct error *error)
{
    const struct options all = dca_options_all();
    struct options_reader reader;
    struct options_word word;
    /* The last option read so far that requires --dca node. It is checked after the last word, because --dca may come
     * later. */
    const struct option_row *of_node = NULL;
    int more = 0, first;
    *options = (struct dca_options){.word = calloc((size_t)argc + 1, sizeof *options->word)};
    worker_options_init(&options->worker);
    if (options->word == NULL)
        return error_set(error, "out of memory for the command line");
    options->word[options->words++] = argv[0];
    options_reader_init(&reader, &all, argc, argv);
    while (first = reader.at, (more = options_next(&reader, &word, error)) > 0) {
        bool own = word.row != NULL && options_find(worker_options(), word.row->name) != NULL;
        int result = own ? option_apply(&word, &options->worker, error) : 0;
        if (!own && word.row != NULL && (word.row->not_for & OPTION_DCA) != 0)
            result = error_set(error, "--%s is for launches with a supermaster, not for --dca", word.row->name);
        if (result != 0)
            return result;
        if (!own && word.row != NULL && (word.row->not_for & OPTION_COUNTERS) != 0)
            of_node = word.row;
        for (int i = first; !own && i < reader.at; i++)
            options->word[options->words++] = argv[i];
    }
    if (more < 0 || worker_options_check(&options->worker, error) < 0)
        return -1;
    if (of_node == NULL || options->worker.dca == WORKER_DCA_NODE)
        return 0;
    return error_set(error,
                     "--%s is for launches with a supermaster and for --dca node, not for --dca rma or two-sided",
                     of_node->name);
}

void dca_options_fini(struct dca_options *options)
{
    free(options->word);
    options->word = NULL;
}
