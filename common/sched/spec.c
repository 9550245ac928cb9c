/* SPDX-License-Identifier: MIT */
/* Parses and formats a technique as users write it: `name` or `name:param=value,param=value`. The errors of the
 * parser name the parameter, the value and what is accepted. sched_spec_format() writes only the given
 * parameters, in the order of the technique's table. */
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/number.h"
#include "common/util/suggest.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLUGIN_ENDING ".so"
#define PLUGIN_PYTHON "python:"

struct text {
    char *at;
    size_t size;
};

static void __attribute__((format(printf, 2, 3))) spec_append(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->at, text->size, format, arguments);
    va_end(arguments);
    size_t written = length < 0 || text->size == 0 ? 0 : (size_t)length < text->size ? (size_t)length : text->size - 1;
    text->at += written;
    text->size -= written;
}

static void append_limit(struct text *text, const struct technique_param *param, double limit)
{
    if (param->kind == SCHED_PARAM_REAL)
        spec_append(text, "%g", limit);
    else if (limit == (double)SCHED_ITERATIONS_MAX)
        spec_append(text, "2^63");
    else
        spec_append(text, "%.0f", limit);
}

static void spec_append_choices(struct text *text, const char *choices)
{
    for (const char *choice = choices; *choice != '\0';) {
        size_t length = strcspn(choice, "|");
        spec_append(text, "%.*s", (int)length, choice);
        choice += length;
        if (*choice == '|')
            spec_append(text, "%s", strchr(++choice, '|') != NULL ? ", " : " or ");
    }
}

void technique_param_accepts(const struct technique_param *param, char *buffer, size_t size)
{
    struct text text = {buffer, size};
    if (param->kind == SCHED_PARAM_CHOICE) {
        spec_append_choices(&text, param->choices);
        return;
    }
    spec_append(&text, param->kind == SCHED_PARAM_INTEGER ? "an integer from " : "a number from ");
    append_limit(&text, param, param->minimum);
    spec_append(&text, " to ");
    append_limit(&text, param, param->maximum);
    if (param->measured != SCHED_NOT_MEASURED)
        spec_append(&text, ", or measure");
}

static const struct {
    const char *word, *name;
} spec_other_names[] = {
    {"dynamic", "ss"}, {"guided", "gss"}, {"factoring", "fac2"}, {"trapezoid", "tss"},
    {"chunk", "css"},  {"fixed", "css"},  {"random", "rnd"},
};

static const char *spec_meant(const char *word)
{
    struct suggestion nearest;
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    for (size_t i = 0; i < sizeof spec_other_names / sizeof *spec_other_names; i++)
        if (strcasecmp(spec_other_names[i].word, word) == 0)
            return spec_other_names[i].name;
    suggest_init(&nearest, word);
    for (size_t i = 0; i < count; i++) {
        suggest_offer(&nearest, techniques[i]->name);
        if (techniques[i]->alias != NULL)
            suggest_offer(&nearest, techniques[i]->alias);
    }
    return nearest.name;
}

static bool is_in_python(const char *text)
{
    return strncmp(text, PLUGIN_PYTHON, strlen(PLUGIN_PYTHON)) == 0;
}

size_t sched_spec_name_length(const char *text)
{
    if (is_in_python(text))
        return strlen(PLUGIN_PYTHON) + strcspn(text + strlen(PLUGIN_PYTHON), ":");
    const char *ending = strstr(text, PLUGIN_ENDING ":");
    return ending != NULL ? (size_t)(ending - text) + strlen(PLUGIN_ENDING) : strcspn(text, ":");
}

bool sched_spec_is_plugin(const char *text)
{
    size_t length = sched_spec_name_length(text), tail = strlen(PLUGIN_ENDING);
    return is_in_python(text) || memchr(text, '/', length) != NULL ||
           (length >= tail && strncmp(text + length - tail, PLUGIN_ENDING, tail) == 0);
}

static int spec_unknown_technique(const char *name, struct error *error)
{
    const char *meant = spec_meant(name);
    char first[SCHED_SPEC_TEXT_MAX];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(name, ", ="), name);
    if (name[0] != '\0' && strcmp(first, name) != 0 && sched_find(first) != NULL)
        return error_set(error, "technique '%.64s' is unknown: accepted is one, as NAME or NAME:PARAM=VALUE,...", name);
    if (sched_spec_is_plugin(name))
        return error_set(error,
                         "technique '%.100s' is a plug-in, which is not taken here: accepted are those that "
                         "`hdss techniques` lists",
                         name);
    char known[SCHED_SPEC_TEXT_MAX];
    struct text text = {known, sizeof known};
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    for (size_t i = 0; i < count; i++) {
        spec_append(&text, "%s%s", i == 0 ? "" : ", ", techniques[i]->name);
        if (techniques[i]->alias != NULL)
            spec_append(&text, " (or %s)", techniques[i]->alias);
    }
    return error_set(error, "technique '%.64s' is unknown%s%s%s accepted are %s", name,
                     meant != NULL ? "; did you mean " : ":", meant != NULL ? meant : "", meant != NULL ? "?" : "",
                     known);
}

static int unknown_param(const struct technique *technique, const char *word, struct error *error)
{
    char known[SCHED_SPEC_TEXT_MAX];
    struct text text = {known, sizeof known};
    if (technique->params == NULL)
        return error_set(error, "technique %s: '%.64s' is not accepted: %s has no parameters", technique->name, word,
                         technique->name);
    for (const struct technique_param *param = technique->params; param->name != NULL; param++)
        spec_append(&text, "%s%s=", param == technique->params ? "" : ", ", param->name);
    if (word[0] != '\0' && strspn(word, "0123456789.e") == strlen(word))
        return error_set(error, "technique %s: '%.64s' is a value; type %s:%s=%.64s; the parameters are %s",
                         technique->name, word, technique->name, technique->params->name, word, known);
    return error_set(error, "technique %s: '%.64s' is not accepted: the parameters are %s", technique->name, word,
                     known);
}

static int find_param(const struct technique *technique, const char *name)
{
    for (int i = 0; technique->params != NULL && technique->params[i].name != NULL; i++)
        if (strcmp(technique->params[i].name, name) == 0)
            return i;
    return -1;
}

static int parse_choice(const char *choices, const char *text, uint64_t *index)
{
    *index = 0;
    for (const char *choice = choices; *choice != '\0'; (*index)++) {
        size_t length = strcspn(choice, "|");
        if (strlen(text) == length && strncmp(choice, text, length) == 0)
            return 0;
        choice += length;
        choice += *choice == '|';
    }
    return -1;
}

int technique_param_parse(const struct technique_param *param, const char *text, union sched_value *value)
{
    switch (param->kind) {
    case SCHED_PARAM_INTEGER:
        if (number_parse_u64(text, &value->integer) < 0)
            return -1;
        return value->integer >= (uint64_t)param->minimum && value->integer <= (uint64_t)param->maximum ? 0 : -1;
    case SCHED_PARAM_REAL:
        if (number_parse_real(text, &value->real) < 0)
            return -1;
        return value->real >= param->minimum && value->real <= param->maximum ? 0 : -1;
    case SCHED_PARAM_CHOICE: return parse_choice(param->choices, text, &value->integer);
    }
    return -1;
}

static int bad_value(const struct technique *technique, const struct technique_param *param, const char *value,
                     struct error *error)
{
    char accepted[SCHED_SPEC_TEXT_MAX];
    technique_param_accepts(param, accepted, sizeof accepted);
    return error_set(error, "technique %s: %s=%.64s is not accepted: %s", technique->name, param->name, value,
                     accepted);
}

static int parse_param(struct sched_spec *spec, char *word, struct error *error)
{
    const struct technique *technique = spec->technique;
    char *value = strchr(word, '=');
    if (value == NULL)
        return unknown_param(technique, word, error);
    *value++ = '\0';
    int i = find_param(technique, word);
    if (i < 0)
        return unknown_param(technique, word, error);
    if (spec->given[i])
        return error_set(error, "technique %s: %s is given twice: accepted is once", technique->name, word);
    if (technique->params[i].measured != SCHED_NOT_MEASURED && strcmp(value, "measure") == 0)
        return 0;
    if (technique_param_parse(&technique->params[i], value, &spec->values[i]) < 0)
        return bad_value(technique, &technique->params[i], value, error);
    spec->given[i] = true;
    return 0;
}

static int spec_too_long(const char *text, struct error *error)
{
    return error_set(error, "technique '%.64s...' is too long: accepted are up to %d characters", text,
                     SCHED_SPEC_TEXT_MAX - 1);
}

int sched_spec_parse_params(struct sched_spec *spec, const struct technique *technique, const char *params,
                            struct error *error)
{
    char words[SCHED_SPEC_TEXT_MAX], *next = params != NULL ? words : NULL;
    struct sched_spec parsed = {.technique = technique};
    if (params != NULL && strlen(params) >= sizeof words)
        return spec_too_long(params, error);
    if (params != NULL)
        strcpy(words, params);
    while (next != NULL)
        if (parse_param(&parsed, strsep(&next, ","), error) < 0)
            return -1;
    *spec = parsed;
    return 0;
}

int sched_spec_parse(struct sched_spec *spec, const char *text, struct error *error)
{
    char name[SCHED_SPEC_TEXT_MAX];
    const size_t length = sched_spec_name_length(text);
    if (strlen(text) >= sizeof name)
        return spec_too_long(text, error);
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    const struct technique *technique = sched_find(name);
    if (technique == NULL)
        return spec_unknown_technique(name, error);
    return sched_spec_parse_params(spec, technique, text[length] == ':' ? text + length + 1 : NULL, error);
}

static bool spec_is_missing(const struct sched_spec *spec, enum sched_measured measured)
{
    const struct technique_param *params = spec->technique->params;
    for (unsigned i = 0; params != NULL && params[i].name != NULL; i++)
        if (params[i].measured == measured && !spec->given[i])
            return true;
    return false;
}

bool sched_spec_learns(const struct sched_spec *spec)
{
    return (spec->technique->needs & SCHED_NEEDS_FEEDBACK) != 0 || spec_is_missing(spec, SCHED_MEASURED_BY_FEEDBACK);
}

bool sched_spec_is_paper(const struct sched_spec *spec)
{
    const struct technique_param *params = spec->technique->params;
    for (unsigned i = 0; params != NULL && params[i].name != NULL; i++)
        if (params[i].kind == SCHED_PARAM_CHOICE && strcmp(params[i].name, SCHED_VARIANT) == 0)
            return spec->given[i] && spec->values[i].integer == SCHED_VARIANT_PAPER;
    return false;
}

bool sched_spec_probes(const struct sched_spec *spec)
{
    return spec_is_missing(spec, SCHED_MEASURED_BY_PROBE);
}

static void append_real(struct text *text, double value)
{
    char digits[40];
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    spec_append(text, "%s", digits);
}

static void append_choice(struct text *text, const char *choices, uint64_t index)
{
    while (index-- > 0)
        choices += strcspn(choices, "|") + 1;
    spec_append(text, "%.*s", (int)strcspn(choices, "|"), choices);
}

static void append_value(struct text *text, const struct technique_param *param, const union sched_value *value)
{
    switch (param->kind) {
    case SCHED_PARAM_INTEGER: spec_append(text, "%" PRIu64, value->integer); break;
    case SCHED_PARAM_REAL: append_real(text, value->real); break;
    case SCHED_PARAM_CHOICE: append_choice(text, param->choices, value->integer); break;
    }
}

void sched_spec_format(const struct sched_spec *spec, char *buffer, size_t size)
{
    struct text text = {buffer, size};
    const struct technique_param *params = spec->technique->params;
    char separator = ':';
    spec_append(&text, "%s", spec->technique->name);
    for (int i = 0; params != NULL && params[i].name != NULL; i++) {
        if (!spec->given[i])
            continue;
        spec_append(&text, "%c%s=", separator, params[i].name);
        append_value(&text, &params[i], &spec->values[i]);
        separator = ',';
    }
}
