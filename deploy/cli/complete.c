/* SPDX-License-Identifier: MIT */
/* Shell completion: `hdss complete PROGRAM WORD...` completes the last word. Each candidate is a line: the word, a tab,
 * and its description. Instead of a word, a line may begin with ":files" or ":folders": the shell then completes names
 * of files or folders. The text after its tab is the part of the last word that precedes the file's name.
 *
 * Candidates come from the option tables. Only built-in kernels are described: completion loads no user code. */
#include "deploy/cli/ask_control.h"
#include "common/os/say.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/outside.h"
#include "deploy/cli/sets.h"
#include "common/config/dca_options.h"
#include "common/config/job.h"
#include "common/config/params.h"
#include "common/config/rank_options.h"
#include "common/config/run_spec.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "worker/kernels/kernels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
    struct grammar grammar;
    const char *word;
    const struct option_row *row;
    bool operands_only;
    const char *kernel;
    int operands;
    char *const *words;
    int count;
};

static void offer(const struct place *place, size_t kept, const char *text, const char *ending, const char *about)
{
    const char *begun = place->word + kept;
    size_t length = strlen(text), begun_length = strlen(begun);
    if (strncmp(text, begun, begun_length < length ? begun_length : length) != 0)
        return;
    if (begun_length > length && strncmp(ending, begun + length, begun_length - length) != 0)
        return;
    printf("%.*s%s%s\t%s\n", (int)kept, place->word, text, ending, about);
}

static void offer_names(const struct place *place, size_t kept, const char *what)
{
    printf(":%s\t%.*s\n", what, (int)kept, place->word);
}

static void offer_choices(const struct place *place, size_t kept, const char *choices)
{
    for (size_t length; *choices != '\0'; choices += length + (choices[length] == '|')) {
        char word[64];
        length = strcspn(choices, "|");
        snprintf(word, sizeof word, "%.*s", (int)length, choices);
        if (word[0] < 'A' || word[0] > 'Z')
            offer(place, kept, word, "", "");
    }
}

static bool complete_is_given(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (; list != NULL; list = strchr(list, ',')) {
        list += *list == ',';
        if (strncmp(list, name, length) == 0 && list[length] == '=')
            return true;
    }
    return false;
}

static void offer_technique_params(const struct place *place, const char *name, const char *list)
{
    const struct technique *technique = sched_find(name);
    const char *last = strrchr(list, ','), *word = last != NULL ? last + 1 : list, *value = strchr(word, '=');
    if (technique == NULL)
        return;
    for (const struct technique_param *param = technique->params; param != NULL && param->name != NULL; param++) {
        size_t length = strlen(param->name);
        if (value == NULL && !complete_is_given(list, param->name))
            offer(place, (size_t)(word - place->word), param->name, "=", param->summary);
        else if (value != NULL && param->choices != NULL && (size_t)(value - word) == length &&
                 strncmp(param->name, word, length) == 0)
            offer_choices(place, (size_t)(value + 1 - place->word), param->choices);
    }
}

/* Plug-ins are not loaded, so their parameters are unknown. */
static void offer_plugins(const struct place *place, size_t kept)
{
    const char *spec = place->word + kept;
    if ((spec[0] == '.' || spec[0] == '/') && strchr(spec, ':') == NULL)
        offer_names(place, kept, "files");
}

static void offer_techniques(const struct place *place, size_t kept, bool with_params)
{
    const char *spec = place->word + kept, *params = strchr(spec, ':');
    char name[64];
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
    if (params != NULL && with_params)
        offer_technique_params(place, name, params + 1);
    for (size_t i = 0; params == NULL && i < count; i++)
        offer(place, kept, techniques[i]->name, "", techniques[i]->title);
}

struct offer_behind {
    const struct place *place;
    size_t kept;
};

static void offer_set(void *context, const char *path, const char *name)
{
    const struct offer_behind *behind = context;
    (void)path;
    offer(behind->place, behind->kept, name, "", "");
}

static void offer_sets(const struct place *place, size_t kept)
{
    sets_each(offer_set, &(struct offer_behind){place, kept});
}

static void offer_jobs(const struct place *place, size_t kept)
{
    struct job_list list = {0};
    control_list_jobs(&list, LISTED_ALIVE, NULL);
    for (size_t i = 0; i < list.count; i++)
        offer(place, kept, list.items[i].id, "", "");
    job_list_fini(&list);
}

static void offer_values(const struct place *place, size_t kept, const struct option_row *row)
{
    bool optional = row->value[0] == '[';
    char value[64];
    snprintf(value, sizeof value, "%.*s", (int)strcspn(row->value + optional, "]"), row->value + optional);
    offer_choices(place, kept, value);
    if (strstr(value, "SPEC") != NULL)
        offer_techniques(place, kept, true);
    if (strstr(value, "PLUGIN") != NULL)
        offer_plugins(place, kept);
    if (strstr(value, "FILE") != NULL || strstr(value, "PROGRAM") != NULL)
        offer_names(place, kept, "files");
    if (strstr(value, "FOLDER") != NULL)
        offer_names(place, kept, "folders");
    if (strcmp(value, "SET") == 0)
        offer_sets(place, kept);
    if (strcmp(value, "ID") == 0)
        offer_jobs(place, kept);
}

static void offer_options(const struct place *place)
{
    for (const struct option_section *section = place->grammar.options.sections; section->title != NULL; section++)
        for (const struct option_row *row = section->rows; row->name != NULL; row++) {
            char name[64];
            snprintf(name, sizeof name, "--%s", row->name);
            offer(place, 0, name, "", row->summary);
        }
}

static void offer_kernels(const struct place *place)
{
    size_t count;
    const struct hdss_kernel *const *all = kernels(&count);
    for (size_t i = 0; i < count; i++)
        offer(place, 0, all[i]->name, "", all[i]->summary);
    if (place->word[0] == '.' || place->word[0] == '/')
        offer_names(place, 0, "files");
}

static bool complete_is_among(const struct place *place, const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; i < place->count; i++)
        if (strncmp(place->words[i], name, length) == 0 && place->words[i][length] == '=')
            return true;
    return false;
}

static void offer_param_values(const struct place *place, const struct hdss_param *param)
{
    size_t kept = strlen(param->name) + 1;
    if (param->kind == HDSS_PARAM_CHOICE)
        offer_choices(place, kept, param->choices);
    else if (param->kind == HDSS_PARAM_TEXT && strcmp(param->unit, "file") == 0)
        offer_names(place, kept, "files");
    else if (param->kind == HDSS_PARAM_TEXT && strcmp(param->unit, "folder") == 0)
        offer_names(place, kept, "folders");
}

static void offer_params(const struct place *place)
{
    const struct hdss_kernel *kernel = kernel_find(place->kernel);
    size_t length = strcspn(place->word, "=");
    if (kernel == NULL)
        return;
    for (unsigned i = 0; i < kernel_params_count(kernel); i++) {
        const struct hdss_param *param = &kernel->params[i];
        if (place->word[length] == '\0' && !complete_is_among(place, param->name))
            offer(place, 0, param->name, "=", param->summary);
        else if (place->word[length] == '=' && strlen(param->name) == length &&
                 strncmp(param->name, place->word, length) == 0)
            offer_param_values(place, param);
    }
}

static void offer_operands(const struct place *place)
{
    switch (place->grammar.operands) {
    case OPERANDS_NONE: break;
    case OPERANDS_KERNEL:
        if (place->kernel == NULL)
            offer_kernels(place);
        else
            offer_params(place);
        break;
    case OPERANDS_TECHNIQUE:
        if (place->operands > 0)
            break;
        offer(place, 0, RUN_TECHNIQUE_AUTO, "", "the one that promises to finish first");
        offer_techniques(place, 0, false);
        offer_plugins(place, 0);
        break;
    case OPERANDS_TECHNIQUES:
        offer_techniques(place, 0, true);
        offer_plugins(place, 0);
        break;
    case OPERANDS_FILE:
        if (place->operands == 0)
            offer_names(place, 0, "files");
        break;
    case OPERANDS_RUNS: offer_jobs(place, 0); break;
    case OPERANDS_SETS:
        if (place->operands == 0)
            offer_sets(place, 0);
        break;
    case OPERANDS_SESSIONS:
        if (place->operands == 0) {
            offer_sets(place, 0);
            offer_jobs(place, 0);
        }
        break;
    case OPERANDS_COMMAND: offer_names(place, 0, "files"); break;
    }
}

static void complete_find_place(struct place *place, int argc, char *const *argv)
{
    struct options_reader reader;
    struct options_word word;
    struct error error;
    int more;
    options_reader_init(&reader, &place->grammar.options, argc, argv);
    place->row = NULL;
    while ((more = options_next(&reader, &word, &error)) != 0) {
        const struct option_row *row = word.row;
        bool lacks = row != NULL && row->value != NULL && (more < 0 || (row->value[0] == '[' && word.value == NULL));
        place->row = lacks && reader.at >= argc && strchr(argv[argc - 1], '=') == NULL ? row : NULL;
        if (more > 0 && row == NULL && place->operands++ == 0)
            place->kernel = word.value;
    }
    place->operands_only = reader.operands_only;
}

static void complete_word(const struct place *place)
{
    const char *value = strchr(place->word, '=');
    bool is_option = !place->operands_only && place->word[0] == '-';
    if (place->row != NULL)
        offer_values(place, 0, place->row);
    if (place->row != NULL && place->row->value[0] != '[')
        return;
    if (is_option && value != NULL) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(value - place->word), place->word);
        const struct option_row *row = strlen(name) > 2 ? options_find(&place->grammar.options, name + 2) : NULL;
        if (row != NULL && row->value != NULL)
            offer_values(place, (size_t)(value + 1 - place->word), row);
    } else if (is_option) {
        offer_options(place);
    } else {
        offer_operands(place);
    }
}

static void complete_command(const struct place *place)
{
    static const struct options options = {.sections = {{"Help", options_common}}};
    struct place alone = *place;
    alone.grammar.options = options;
    if (place->word[0] == '-')
        offer_options(&alone);
    for (const struct command *command = commands; command->name != NULL; command++)
        offer(place, 0, command->name, "", command->summary);
}

static void complete_first_word(const struct place *place)
{
    complete_command(place);
    offer(place, 0, "help", "", "show a command's options");
    offer(place, 0, "version", "", "show the version");
}

/* Removes the "hdss-" that a distribution may put before names of daemons. */
static const char *program_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    return strncmp(name, "hdss-", 5) == 0 ? name + 5 : name;
}

static bool find_grammar(struct grammar *grammar, int argc, char *const *argv)
{
    const char *name = program_name(argv[0]);
    bool is_dca = dca_is_asked(argc, argv);
    if (strcmp(name, "supermaster") == 0)
        *grammar = (struct grammar){*job_options(), OPERANDS_KERNEL};
    else if (strcmp(name, "master") == 0)
        *grammar = (struct grammar){*master_options(), OPERANDS_NONE};
    else if (strcmp(name, "worker") == 0 && is_dca)
        *grammar = (struct grammar){dca_options_all(), OPERANDS_KERNEL};
    else if (strcmp(name, "worker") == 0)
        *grammar = (struct grammar){*worker_options(), OPERANDS_NONE};
    else
        return false;
    return true;
}

static void complete_outside(int argc, char *const *argv)
{
    static char complete[] = "--complete";
    char **words = calloc((size_t)argc + 2, sizeof *words);
    if (words == NULL)
        return;
    words[0] = argv[0];
    words[1] = complete;
    memcpy(words + 2, argv + 1, (size_t)(argc - 1) * sizeof *words);
    outside_exec(words);
    free(words);
}

static void complete(int argc, char *const *argv)
{
    struct place place = {.word = argv[argc - 1]};
    bool is_found = find_grammar(&place.grammar, argc - 1, argv);
    if (!is_found && strcmp(program_name(argv[0]), "hdss") == 0) {
        const struct command *command = argc > 2 ? command_find(argv[1]) : NULL;
        if (argc == 2)
            complete_first_word(&place);
        else if (argc == 3 && strcmp(argv[1], "help") == 0)
            complete_command(&place);
        if (command == NULL)
            return;
        if (command->grammar == NULL) {
            complete_outside(argc - 1, argv + 1);
            return;
        }
        command->grammar(&place.grammar);
        is_found = true;
        argv++, argc--;
    }
    if (!is_found)
        return;
    place.words = argv + 1;
    place.count = argc - 2;
    complete_find_place(&place, argc - 1, argv);
    complete_word(&place);
}

int command_complete(int argc, char **argv)
{
    if (argc < 3) {
        fputs("hdss complete: PROGRAM WORD... are needed: it is what shells ask to complete a word\n", stderr);
        return EXIT_STATUS_USAGE;
    }
    complete(argc - 1, argv + 1);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_STATUS_DONE;
    say(stderr, "hdss complete: cannot write: %s", strerror(errno));
    return EXIT_STATUS_FAILED;
}
