/* SPDX-License-Identifier: MIT */
/* hdss techniques: lists the techniques, or describes one, from the registry. */
#include "deploy/cli/colour.h"
#include "common/os/say.h"
#include "deploy/cli/commands.h"

#include "common/config/run_spec.h"
#include "common/job/technique_load.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "deploy/cli/wrap.h"
#include "worker/kernels/kernels.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct options options = {
    .usage = "hdss techniques [NAME]",
    .about = "Lists the scheduling techniques, or shows the rule, source and parameters of technique NAME.",
    .sections = {{"Help", options_common}},
};

enum { INDENT = 10 };

static const char *name_of(const struct technique *technique, char *text, size_t size)
{
    snprintf(text, size, technique->alias != NULL ? "%s (%s)" : "%s", technique->name, technique->alias);
    return text;
}

static int techniques_command_widest(int width, const char *text)
{
    int length = (int)strlen(text);
    return length > width ? length : width;
}

static char mark(bool is_so)
{
    return is_so ? 'x' : '-';
}

static void list_techniques(void)
{
    char name[64];
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    int name_width = techniques_command_widest(0, "name"), title_width = techniques_command_widest(0, "title");
    for (size_t i = 0; i < count; i++) {
        name_width = techniques_command_widest(name_width, name_of(techniques[i], name, sizeof name));
        title_width = techniques_command_widest(title_width, techniques[i]->title);
    }
    printf("%-*s  %-*s  %s\n", name_width, "name", title_width, "title", "C W L");
    for (size_t i = 0; i < count; i++) {
        struct sched_spec spec = {.technique = techniques[i]};
        printf("%-*s  %-*s  %c %c %c\n", name_width, name_of(techniques[i], name, sizeof name), title_width,
               techniques[i]->title, mark(techniques[i]->at != NULL), mark(techniques[i]->needs & SCHED_NEEDS_POWER),
               mark(sched_spec_learns(&spec)));
    }
    puts("\n"
         "C: has a closed form beside the recursive one. W: weighted by nature; the others\n"
         "are by --weighting. L: learns from the measured time of the chunks; some only\n"
         "where a value is not given. --technique auto takes the one that promises to\n"
         "finish first.");
}

static void print_wrapped(const char *heading, const char *text, size_t length)
{
    printf("%-*s", INDENT, heading);
    wrap_write(text, length, INDENT, stdout);
}

static void describe_clauses(const char *heading, const char *text)
{
    for (const char *end; (end = strstr(text, "; ")) != NULL; text = end + 2, heading = "")
        print_wrapped(heading, text, (size_t)(end - text));
    print_wrapped(heading, text, strlen(text));
}

static void describe_needs(const struct technique *technique)
{
    if (technique->needs & SCHED_NEEDS_FEEDBACK)
        puts("needs     the measured time of each chunk");
}

static void describe_param(const struct technique_param *param)
{
    char accepts[SCHED_SPEC_TEXT_MAX];
    technique_param_accepts(param, accepts, sizeof accepts);
    printf("  %s=\n", param->name);
    print_wrapped("", param->summary, strlen(param->summary));
    printf("          accepted: %s\n", accepts);
    printf("          default: %s\n", param->fallback);
}

static void describe_technique(const struct technique *technique)
{
    char name[64];
    printf("%s: %s\n\n", name_of(technique, name, sizeof name), technique->title);
    describe_clauses("rule", technique->rule);
    if (technique->source != NULL)
        describe_clauses("source", technique->source);
    printf("forms     %s\n", technique->at != NULL ? "recursive, closed" : "recursive");
    printf("weighted  %s\n", technique->needs & SCHED_NEEDS_POWER ? "by nature" : "by --weighting");
    if (technique->when != NULL)
        print_wrapped("when", technique->when, strlen(technique->when));
    describe_needs(technique);
    puts(technique->params == NULL ? "\nno parameters" : "\nparameters");
    for (const struct technique_param *param = technique->params; param != NULL && param->name != NULL; param++)
        describe_param(param);
    puts("\nN iterations, P workers, i the scheduling step from 0, b = floor(i/P) the batch,\n"
         "R the remaining iterations, V_j the virtual power of worker j, V their sum.\n"
         "A chunk is min(R, max(K, --min-chunk, 1)), and K is --max-chunk at most.");
}

static int techniques_command_finish(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_STATUS_DONE;
    say(stderr, "hdss techniques: cannot write: %s", strerror(errno));
    return EXIT_STATUS_FAILED;
}

static int techniques_command_wrong_use(const char *text)
{
    say_error("hdss techniques", text);
    return EXIT_STATUS_USAGE;
}

static void describe_auto(void)
{
    puts(RUN_TECHNIQUE_AUTO ": the technique that promises to finish first\n"
                            "\n"
                            "A choice of hdss run --technique, not a technique with chunks of its own: see\n"
                            "hdss-techniques(7).");
}

static int techniques_command_describe_named(const char *name)
{
    struct sched_spec spec;
    struct error error;
    if (strcasecmp(name, RUN_TECHNIQUE_AUTO) == 0) {
        describe_auto();
        return techniques_command_finish();
    }
    if (kernel_find(name) != NULL) {
        error_set(&error, "'%s' is a kernel; type: hdss kernels %s", name, name);
        return techniques_command_wrong_use(error.text);
    }
    if (technique_load(&spec, name, &error) < 0) /* accepts a whole spec, too */
        return techniques_command_wrong_use(error.text);
    describe_technique(spec.technique);
    return techniques_command_finish();
}

static int techniques_command_take_name(void *target, const char *word, struct error *error)
{
    const char **name = target;
    if (*name != NULL)
        return error_set(error, "'%s' is one argument too many: one technique is accepted", word);
    *name = word;
    return 0;
}

int command_techniques(int argc, char **argv)
{
    struct error error;
    const char *name = NULL;
    int result = options_parse(&options, argc, argv, &name, techniques_command_take_name, &error);
    if (result < 0)
        return techniques_command_wrong_use(error.text);
    if (result > 0)
        return show_page("hdss techniques", &options, result);
    if (name != NULL)
        return techniques_command_describe_named(name);
    list_techniques();
    return techniques_command_finish();
}

void techniques_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){options, OPERANDS_TECHNIQUE};
}
