/* SPDX-License-Identifier: MIT */
/* Says what to type after common mistakes: see mistakes.h. */
#include "deploy/cli/mistakes.h"

#include "common/config/params.h"
#include "common/sched/sched.h"
#include "common/util/suggest.h"
#include "common/util/text.h"
#include "deploy/cli/commands.h"
#include "worker/kernels/exec/search.h"
#include "worker/kernels/kernels.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *mistakes_join(int argc, char *const *argv)
{
    struct text text;
    text_init(&text);
    for (int i = 0; i < argc; i++)
        text_add(&text, "%s%s", i > 0 ? " " : "", argv[i]);
    return text_take(&text);
}

static bool is_kernel_name(const char *word)
{
    size_t count, length = strlen(word);
    const struct hdss_kernel *const *all = kernels(&count);
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(all[i]->name, word) == 0)
            return true;
    return strncmp(word, "python:", 7) == 0 || (length > 3 && strcmp(word + length - 3, ".so") == 0);
}

static bool ends_in(const char *word, const char *ending)
{
    const size_t length = strlen(word), ending_length = strlen(ending);
    return length > ending_length && strcmp(word + length - ending_length, ending) == 0;
}

static bool is_program(const char *word)
{
    return strchr(word, '/') == NULL && search_in_path(word) != NULL;
}

static bool is_executable(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISREG(found.st_mode) && (found.st_mode & S_IXUSR) != 0;
}

bool mistakes_is_command(const char *word)
{
    return !is_kernel_name(word) &&
           (strchr(word, ' ') != NULL || (strchr(word, '/') != NULL ? is_executable(word) : is_program(word)));
}

static int add_program(const char *word, struct error *error)
{
    return is_program(word) ? error_after(error, "; for the program of this name: hdss exec %.60s ::: ARG...", word)
                            : -1;
}

static int refuse_program(const char *name, struct error *error)
{
    return error_set(error,
                     "%.60s is a program; type: hdss exec %.60s ::: ARG..., or hdss run exec 'command=%.60s {}' "
                     "count=N",
                     name, name, name);
}

static int refuse_file(const char *name, struct error *error)
{
    if (ends_in(name, ".study"))
        return error_set(error, "%.100s is a study; type: hdss study %.100s", name, name);
    if (ends_in(name, ".py"))
        return error_set(error, "%.100s is a file of functions; type: hdss run python:%.*s.FUNCTION", name,
                         (int)(strlen(name) > 103 ? 100 : strlen(name) - 3), name);
    if (access(name, X_OK) == 0)
        return refuse_program(name, error);
    return error_set(error, "%.100s is a file; type, to run each of its lines: hdss run exec tasks=%.100s", name, name);
}

/* An option stands before the command. The error suggests the command that follows; or exec, if `:::` follows; or run,
 * if this is one of its options. */
static int refuse_early_option(int argc, char *const *argv, struct error *error)
{
    struct grammar grammar;
    char option[64];
    for (int i = 1; i < argc; i++) {
        const struct command *command = command_find(argv[i]);
        if (command != NULL)
            return error_set(error, "%.60s stands before the command; type: hdss %s %.60s ...", argv[0], command->name,
                             argv[0]);
    }
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], ":::", 3) == 0)
            return error_set(error, "%.60s stands in the place of a command; type: hdss exec %.60s ...", argv[0],
                             argv[0]);
    run_grammar(&grammar);
    snprintf(option, sizeof option, "%.*s", (int)strcspn(argv[0], "="), argv[0]);
    for (const struct option_section *section = grammar.options.sections; section->title != NULL; section++)
        for (const struct option_row *row = section->rows; row->name != NULL; row++)
            if ((strncmp(option, "--", 2) == 0 && strcmp(option + 2, row->name) == 0) ||
                (option[1] == row->letter && row->letter != 0 && option[2] == '\0'))
                return error_set(error, "%s is an option of run; type: hdss run %.60s ...", option, argv[0]);
    return error_set(error, "unknown option %.60s; `hdss --help` shows what there is", argv[0]);
}

static const struct {
    const char *word, *meant;
} other_commands[] = {
    {"start", "up"},      {"server", "up"},      {"serve", "up"},      {"stop", "down"},
    {"shutdown", "down"}, {"status", "jobs"},    {"list", "jobs"},     {"queue", "jobs"},
    {"squeue", "jobs"},   {"qstat", "jobs"},     {"bjobs", "jobs"},    {"info", "show"},
    {"kill", "cancel"},   {"scancel", "cancel"}, {"qdel", "cancel"},   {"bkill", "cancel"},
    {"sbatch", "submit"}, {"qsub", "submit"},    {"bsub", "submit"},   {"tail", "output --follow"},
    {"parallel", "exec"}, {"xargs", "exec"},     {"delete", "cancel"}, {"rm", "cancel"},
    {"stat", "jobs"},
};

static const char *meant_by(const char *word)
{
    for (size_t i = 0; i < sizeof other_commands / sizeof *other_commands; i++)
        if (strcmp(other_commands[i].word, word) == 0)
            return other_commands[i].meant;
    return NULL;
}

int mistakes_refuse_command(int argc, char *const *argv, struct error *error)
{
    const char *word = argv[0], *meant = meant_by(word);
    struct suggestion nearest;
    struct stat found;
    if (word[0] == '-')
        return refuse_early_option(argc, argv, error);
    if (meant != NULL) {
        error_set(error, "unknown command '%.60s'; here it is %s", word, meant);
        return add_program(word, error);
    }
    suggest_init(&nearest, word);
    for (const struct command *command = commands; command->name != NULL; command++)
        suggest_offer(&nearest, command->name);
    if (is_kernel_name(word)) {
        char *line = mistakes_join(argc, argv);
        error_set(error, "'%.60s' is a kernel; type: hdss run %.200s", word, line != NULL ? line : word);
        free(line);
        return add_program(word, error);
    }
    if (nearest.name != NULL) {
        error_set(error, "unknown command '%.60s'; did you mean %s?", word, nearest.name);
        return add_program(word, error);
    }
    if (sched_find(word) != NULL || strcasecmp(word, "auto") == 0)
        return error_set(error,
                         "'%.60s' is a technique; type: hdss techniques %.60s, or hdss run --technique %.60s ...", word,
                         word, word);
    if (stat(word, &found) == 0 && S_ISREG(found.st_mode))
        return refuse_file(word, error);
    if (is_program(word))
        return refuse_program(word, error);
    return error_set(error, "unknown command '%.60s'; `hdss --help` shows what there is", word);
}

static const struct {
    const char *word, *meant;
} other_names[] = {
    {"n", "--workers N, or -j N"},
    {"np", "--workers N, or -j N"},
    {"c", "--workers N, or -j N"},
    {"w", "--workers N, or -j N"},
    {"P", "--workers N, or -j N"},
    {"max-procs", "--workers N"},
    {"jobs", "--workers N"},
    {"procs", "--workers N"},
    {"nprocs", "--workers N"},
    {"ntasks", "--workers N"},
    {"ranks", "--workers N"},
    {"cores", "--workers N"},
    {"cpus", "--workers N"},
    {"m", "--masters M"},
    {"J", "--name NAME"},
    {"job-name", "--name NAME"},
    {"dependency", "--after ID"},
    {"depend", "--after ID"},
    {"t", "--threads T"},
    {"cpus-per-task", "--threads T"},
    {"T", "--technique NAME"},
    {"s", "--technique NAME"},
    {"schedule", "--technique NAME"},
    {"scheduler", "--technique NAME"},
    {"scheduling", "--technique NAME"},
    {"policy", "--technique NAME"},
    {"algorithm", "--technique NAME"},
    {"chunk", "--technique css:chunk=K"},
    {"chunksize", "--technique css:chunk=K"},
    {"chunk-size", "--technique css:chunk=K"},
    {"o", "--output FILE"},
    {"out", "--output FILE"},
    {"outfile", "--output FILE"},
    {"f", "--overwrite"},
    {"force", "--overwrite"},
    {"y", "--overwrite"},
    {"yes", "--overwrite"},
    {"clobber", "--overwrite"},
    {"r", "--resume"},
    {"continue", "--resume"},
    {"restart", "--resume"},
    {"resume-failed", "--resume failed"},
    {"retry-failed", "--resume failed"},
    {"H", "--hosts NAME:CORES,..."},
    {"host", "--hosts NAME:CORES,..."},
    {"nodes", "--hosts NAME:CORES,..."},
    {"nodelist", "--hosts NAME:CORES,..."},
    {"N", "--hosts NAME:CORES,... (or a job of the batch system)"},
    {"machinefile", "--hostfile FILE"},
    {"timeout", "--time-limit TIME for the run, or --iteration-timeout SECONDS for an iteration"},
    {"time", "--time-limit TIME"},
    {"walltime", "--time-limit TIME"},
    {"log", "--report FILE.json"},
    {"json", "--summary json"},
    {"silent", "--quiet"},
    {"no-progress", "--progress never"},
    {"bar", "--progress always"},
    {"eta", "--progress always"},
    {"k", "nothing: outputs are in the order of the tasks"},
    {"keep-order", "nothing: outputs are in the order of the tasks"},
    {"oversubscribe", "nothing: more workers than cores are accepted"},
    {"use-hwthread-cpus", "--mpi-args --use-hwthread-cpus"},
    {"bind-to", "--mpi-args '--bind-to ...'"},
    {"map-by", "--mpi-args '--map-by ...'"},
    {"mca", "--mpi-args '--mca ...'"},
};

static void option_name(const char *word, char *name, size_t size)
{
    word += strspn(word, "-");
    snprintf(name, size, "%.*s", (int)strcspn(word, "="), word);
}

/* Finds a parameter by its name, in which a '-' may stand for a '_'. Returns NULL if there is no such parameter. */
static const struct hdss_param *find_parameter(const struct hdss_kernel *kernel, const char *name)
{
    for (unsigned i = 0; i < kernel_params_count(kernel); i++) {
        const char *known = kernel->params[i].name;
        size_t at = 0;
        while (known[at] != '\0' && (known[at] == name[at] || (known[at] == '_' && name[at] == '-')))
            at++;
        if (known[at] == '\0' && name[at] == '\0')
            return &kernel->params[i];
    }
    return NULL;
}

static const struct hdss_kernel *find_kernel(int argc, char *const *argv)
{
    const struct hdss_kernel *kernel = NULL;
    for (int i = 1; i < argc && kernel == NULL; i++)
        kernel = kernel_find(argv[i]);
    return kernel;
}

static bool is_taken(const struct options *options, const char *meant)
{
    char name[40];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(meant, " ,="), meant);
    return strncmp(name, "--", 2) != 0 || options_find(options, name + 2) != NULL;
}

static int explain_option(const struct options *options, const char *word, const char *next,
                          const struct hdss_kernel *kernel, struct error *error)
{
    const char *equals = strchr(word, '=');
    char name[64];
    option_name(word, name, sizeof name);
    const struct hdss_param *param = kernel != NULL ? find_parameter(kernel, name) : NULL;
    const bool is_value_next = next != NULL && next[0] != '-' && strchr(next, '=') == NULL;
    if (param != NULL) {
        error_set(error, "unknown option %.60s; a parameter of %s is written without dashes: %s=%.60s", word,
                  kernel->name, param->name,
                  equals != NULL  ? equals + 1
                  : is_value_next ? next
                                  : "VALUE");
        return add_program(kernel->name, error);
    }
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (strcmp(other_names[i].word, name) == 0 && is_taken(options, other_names[i].meant))
            return error_set(error, "unknown option %.60s; here it is %s", word, other_names[i].meant);
    return -1;
}

#define AFTER_KERNEL "' after kernel "

static bool quoted_word(const struct error *error, char *word, size_t size)
{
    const char *from = strchr(error->text, '\''), *to = from != NULL ? strchr(from + 1, '\'') : NULL;
    if (to == NULL)
        return false;
    snprintf(word, size, "%.*s", (int)(to - from - 1), from + 1);
    return true;
}

static bool error_begins(const struct error *error, const char *text)
{
    return strncmp(error->text, text, strlen(text)) == 0;
}

static int find_word(int argc, char *const *argv, const char *word)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], word) == 0)
            return i;
    return 0;
}

static bool is_source(const char *word)
{
    static const char *const endings[] = {".c", ".cpp", ".cc", ".cxx", ".f90", ".F90", ".f"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_in(word, endings[i]))
            return true;
    return false;
}

static int explain_kernel(const char *word, struct error *error)
{
    static const char *const dashes[] = {"\u2010", "\u2011", "\u2012", "\u2013", "\u2014", "\u2212"};
    struct stat found;
    const char *slash = strrchr(word, '/'), *name = slash != NULL ? slash + 1 : word;
    const int stem = (int)(strrchr(name, '.') != NULL ? strrchr(name, '.') - name : (ptrdiff_t)strlen(name));
    for (size_t i = 0; i < sizeof dashes / sizeof *dashes; i++)
        if (strncmp(word, dashes[i], strlen(dashes[i])) == 0)
            return error_set(error, "'%.60s' begins with a dash of typesetting; options begin with '-'", word);
    if (word[0] == '-')
        return error_set(error, "'%.60s' stands behind '--', where there are no options", word);
    if (strchr(word, ' ') != NULL)
        return error_set(error, "'%.60s' is one word, with blanks in it; type it without the quotes", word);
    if (ends_in(word, ".py")) {
        const char *colon = strrchr(name, ':'), *module = colon != NULL ? colon + 1 : name;
        return error_set(error, "%.60s is a file of functions; type: hdss run python:%.*s.FUNCTION", word,
                         stem - (int)(module - name), module);
    }
    if (strcmp(word, "python") == 0 || strcmp(word, "python3") == 0)
        return error_set(error, "a function in Python is written python:MODULE.FUNCTION");
    if (is_source(word) && strncmp(word, "python:", 7) != 0)
        return error_set(error, "%.60s is a source; compile it to a shared object and type: hdss run ./%.*s.so", word,
                         stem, name);
    if (is_executable(word) && !ends_in(word, ".so"))
        return refuse_program(word, error);
    if (stat(word, &found) == 0 && S_ISREG(found.st_mode) && strchr(word, '/') == NULL)
        return refuse_file(word, error);
    return is_program(word) ? refuse_program(word, error) : -1;
}

static int explain_operand(int argc, char *const *argv, const char *word, const struct hdss_kernel *kernel,
                           struct error *error)
{
    const int at = find_word(argc, argv, word);
    const char *next = at > 0 && at + 1 < argc ? argv[at + 1] : "VALUE", *colon = strchr(word, ':');
    char name[64];
    struct stat found;
    if (at == 0)
        return -1;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, ":"), word);
    const struct hdss_param *param = find_parameter(kernel, name);
    if (strcmp(next, "=") == 0 && at + 2 < argc)
        next = argv[at + 2];
    if (param != NULL)
        return error_set(error, "'%.60s' after kernel %s: type %s=%.60s, as one word", word, kernel->name, param->name,
                         colon != NULL ? colon + 1 : next);
    if (kernel_find(word) != NULL)
        return error_set(error, "'%.60s' after kernel %s: a run has one kernel", word, kernel->name);
    if (strcmp(kernel->name, "exec") != 0 || strcmp(word, ":::") == 0)
        return -1;
    if (stat(word, &found) == 0 && S_ISREG(found.st_mode) && !is_executable(word))
        return error_set(error, "'%.60s' after kernel exec: type tasks=%.60s", word, word);
    int end = at;
    while (end < argc && (strchr(argv[end], '=') == NULL || end == at))
        end++;
    char *line = mistakes_join(end - at, argv + at);
    error_set(error, "'%.60s' after kernel exec: type 'command=%.150s', with count=N or table=FILE", word,
              line != NULL ? line : word);
    free(line);
    return -1;
}

static int explain_parameter(const struct options *options, int argc, char *const *argv, const char *name,
                             struct error *error)
{
    const struct option_row *row = options_find(options, name);
    const size_t length = strlen(name);
    for (int i = 1; row != NULL && i < argc; i++)
        if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=')
            return error_set(error, "'%.60s' is written as a parameter; %s is an option: type --%s", argv[i], name,
                             argv[i]);
    return -1;
}

static int explain_taken_kernel(const struct options *options, int argc, char *const *argv, struct error *error)
{
    struct options_reader reader;
    struct options_word word;
    struct error ignored;
    options_reader_init(&reader, options, argc, argv);
    while (options_next(&reader, &word, &ignored) > 0) {
        if (word.row == NULL)
            /* no option has taken the name of the kernel as its value, so this is another mistake */
            return -1;
        if (word.row->value != NULL && word.value != NULL && kernel_find(word.value) != NULL) {
            char accepted[OPTION_ACCEPTED_MAX];
            return error_set(error, "--%s needs a value before the kernel %s: accepted: %s", word.row->name, word.value,
                             option_accepted(word.row, accepted));
        }
    }
    return -1;
}

static int explain_unknown_option(const struct options *options, int argc, char *const *argv, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    struct options_reader reader;
    struct options_word word;
    struct error refusal;
    int more;
    options_reader_init(&reader, options, argc, argv);
    while ((more = options_next(&reader, &word, &refusal)) > 0)
        continue;
    if (more == 0 || strcmp(refusal.text, error->text) != 0)
        return -1;
    return explain_option(options, argv[reader.at - 1], reader.at < argc ? argv[reader.at] : NULL,
                          find_kernel(argc, argv), error);
}

int mistakes_explain(const struct options *options, int argc, char *const *argv, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    char word[200];
    if (error_begins(error, OPTIONS_UNKNOWN))
        return explain_unknown_option(options, argc, argv, error);
    explain_taken_kernel(options, argc, argv, error);
    const char *colon = strstr(error->text, ": ");
    if (error_begins(error, "kernel ") && colon != NULL) {
        const char *name = error->text + strlen("kernel ");
        snprintf(word, sizeof word, "%.*s", (int)(colon - name), name);
        return explain_kernel(word, error);
    }
    if (!quoted_word(error, word, sizeof word))
        return -1;
    if (error_begins(error, "unknown kernel ") || strstr(error->text, "' stands before the kernel") != NULL)
        return explain_kernel(word, error);
    const char *after = strstr(error->text, AFTER_KERNEL);
    if (after != NULL) {
        char name[64];
        after += strlen(AFTER_KERNEL);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(after, ":"), after);
        if (kernel_find(name) == NULL && !is_kernel_name(name) && !mistakes_is_command(name))
            error_set(error, "'%.60s' is neither a kernel nor a program; `hdss kernels` lists the kernels", name);
        return kernel_find(name) != NULL ? explain_operand(argc, argv, word, kernel_find(name), error)
                                         : explain_kernel(name, error);
    }
    if (strstr(error->text, ": unknown parameter '") != NULL)
        return explain_parameter(options, argc, argv, word, error);
    return -1;
}
