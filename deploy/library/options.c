/* SPDX-License-Identifier: MIT */
/* Options of loops and their public functions: see hdss_options_set(3). */
#include "deploy/library/options.h"

#include "common/config/options.h"
#include "common/config/rank_options.h"
#include "common/config/run_spec.h"
#include "common/sched/sched.h"
#include "common/util/digest.h"
#include "common/util/error.h"
#include "common/util/number.h"
#include "hdss/hdss.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC     UINT64_C(0x6f7074696f6e7331)
#define TECHNIQUE "fac2"
/* Technique of the first time step with technique=auto: it must be adaptive, because nothing was measured yet. */
#define TECHNIQUE_AT_FIRST "awf-c"

static int api_options_take_technique(void *target, const char *value, struct error *error)
{
    struct api_settings *settings = target;
    bool is_auto = strcasecmp(value, RUN_TECHNIQUE_AUTO) == 0;
    if (sched_spec_parse(&settings->technique, is_auto ? TECHNIQUE_AT_FIRST : value, error) < 0)
        return -1;
    settings->technique_auto = is_auto;
    return 0;
}

static int api_options_take_number(uint64_t *number, const char *value, uint64_t least)
{
    uint64_t parsed;
    if (number_parse_u64(value, &parsed) < 0 || parsed < least || parsed > SCHED_ITERATIONS_MAX)
        return -1;
    *number = parsed;
    return 0;
}

static int api_options_take_iterations(uint64_t *number, const char *value)
{
    int index = option_choice("off|auto", value);
    if (index < 0)
        return api_options_take_number(number, value, 1);
    *number = index == 0 ? 0 : API_AUTO;
    return 0;
}

static int api_options_take_break_after(void *target, const char *value, struct error *error)
{
    (void)error;
    return api_options_take_iterations(&((struct api_settings *)target)->break_after, value);
}

static int take_request_when(void *target, const char *value, struct error *error)
{
    (void)error;
    return api_options_take_iterations(&((struct api_settings *)target)->request_when, value);
}

static int take_text(char *text, size_t size, const char *value, struct error *error)
{
    if (strlen(value) >= size)
        return error_set(error, "it is longer than %zu characters", size - 1);
    strcpy(text, value);
    return 0;
}

static int api_options_take_report(void *target, const char *value, struct error *error)
{
    struct api_settings *settings = target;
    return take_text(settings->report, sizeof settings->report, value, error);
}

static int api_options_take_name(void *target, const char *value, struct error *error)
{
    struct api_settings *settings = target;
    return take_text(settings->name, sizeof settings->name, value, error);
}

static const struct option_row rows[] = {
    {"mode", 0, "central|hierarchical|two-sided|rma|node", NULL, "how the ranks share the loop",
     TAKES_CHOICE(struct api_settings, mode)},
    {"technique", 0, "SPEC", "auto or a technique, as hdss techniques lists them", "how chunks are cut",
     api_options_take_technique},
    {"node-technique", 0, "SPEC", "a technique with a closed form", "in mode node: within a group",
     TAKES_TECHNIQUE(struct api_settings, node_technique)},
    {"weighting", 0, "none|power", NULL, "chunks in proportion to the powers",
     TAKES_CHOICE(struct api_settings, weighting)},
    {"min-chunk", 0, "K", NULL, "no smaller chunk but the last",
     TAKES_INTEGER(struct api_settings, min_chunk, 1, SCHED_ITERATIONS_MAX)},
    {"break-after", 0, "N", "auto, off, an integer from 1 to 2^63", "iterations between two looks",
     api_options_take_break_after},
    {"request-when", 0, "N", "auto, off, an integer from 1 to 2^63", "iterations left then", take_request_when},
    {"group", 0, "G", "node, an integer from 1 to 2^63", "ranks that make a group",
     TAKES_INTEGER(struct api_settings, group_size, 1, SCHED_ITERATIONS_MAX), .zero = "node"},
    {"thread", 0, "no|yes", NULL, "answer others from a thread of its own", TAKES_CHOICE(struct api_settings, thread)},
    {"leader", 0, "computes|coordinates", NULL, "in mode central: what rank 0 does",
     TAKES_CHOICE(struct api_settings, leader_idles)},
    {"report", 0, "FILE", "a file name", "figures as JSON", api_options_take_report},
    {"name", 0, "TEXT", "a word or two", "of the loop, in the report", api_options_take_name},
    {NULL},
};

static const struct options table = {.usage = "", .about = "", .sections = {{"Options", rows}, {NULL, NULL}}};

void api_settings_init(struct api_settings *settings)
{
    struct error none;
    *settings = (struct api_settings){.min_chunk = 1, .break_after = API_AUTO, .name = "loop"};
    sched_spec_parse(&settings->technique, TECHNIQUE, &none);
    sched_spec_parse(&settings->node_technique, WORKER_NODE_TECHNIQUE, &none);
}

/* Hashes the members one by one, because the padding between them has no defined value. */
uint64_t api_settings_digest(const struct api_settings *settings)
{
    char technique[SCHED_SPEC_TEXT_MAX], node_technique[SCHED_SPEC_TEXT_MAX];
    sched_spec_format(&settings->technique, technique, sizeof technique);
    sched_spec_format(&settings->node_technique, node_technique, sizeof node_technique);
    const uint64_t numbers[] = {settings->mode,       settings->technique_auto, settings->weighting,
                                settings->min_chunk,  settings->break_after,    settings->request_when,
                                settings->group_size, settings->thread,         settings->leader_idles};
    return digest_record(0, numbers, sizeof numbers) + digest_record(1, technique, strlen(technique)) +
           digest_record(2, node_technique, strlen(node_technique)) +
           digest_record(3, settings->report, strlen(settings->report));
}

bool api_options_are_valid(const struct hdss_options *options)
{
    return options != NULL && options->magic == MAGIC;
}

struct hdss_options *hdss_options_new(void)
{
    struct hdss_options *options = calloc(1, sizeof *options);
    if (options == NULL)
        return NULL;
    options->magic = MAGIC;
    api_settings_init(&options->settings);
    return options;
}

void hdss_options_free(struct hdss_options *options)
{
    if (!api_options_are_valid(options))
        return;
    options->magic = 0;
    free(options->powers);
    free(options);
}

int hdss_options_set(struct hdss_options *options, const char *name, const char *value)
{
    if (!api_options_are_valid(options))
        return HDSS_ERROR_USE;
    options->error.text[0] = '\0';
    if (name == NULL || value == NULL)
        return error_set(&options->error, "an option's name or value is a null pointer"), HDSS_ERROR_USE;
    const struct option_row *row = options_find(&table, name);
    if (row == NULL)
        return error_set(&options->error, "there is no option '%.60s'", name), HDSS_ERROR_OPTION;
    const struct options_word word = {.row = row, .value = value};
    return option_apply(&word, &options->settings, &options->error) == 0 ? HDSS_OK : HDSS_ERROR_OPTION;
}

int hdss_options_set_powers(struct hdss_options *options, const double *powers, int count)
{
    if (!api_options_are_valid(options))
        return HDSS_ERROR_USE;
    options->error.text[0] = '\0';
    if (powers == NULL || count < 1)
        return error_set(&options->error, "no powers, or %d of them: accepted is one for each rank", count),
               HDSS_ERROR_USE;
    for (int i = 0; i < count; i++)
        if (!(powers[i] >= SCHED_POWER_MIN && powers[i] <= SCHED_POWER_MAX))
            return error_set(&options->error, "the power of rank %d is %g: accepted is a number from %g to %g", i,
                             powers[i], SCHED_POWER_MIN, SCHED_POWER_MAX),
                   HDSS_ERROR_OPTION;
    double *copy = malloc((size_t)count * sizeof *copy);
    if (copy == NULL)
        return error_set(&options->error, "out of memory for %d powers", count), HDSS_ERROR_MEMORY;
    memcpy(copy, powers, (size_t)count * sizeof *copy);
    free(options->powers);
    options->powers = copy;
    options->power_count = count;
    return HDSS_OK;
}

const char *hdss_options_error(const struct hdss_options *options)
{
    return api_options_are_valid(options) ? options->error.text : hdss_error_text(HDSS_ERROR_USE);
}
