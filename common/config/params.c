/* SPDX-License-Identifier: MIT */
/* A kernel's parameters: see params.h. Error lines about a value name the kernel, the value (truncated if it is long)
 * and what is accepted. */
#include "common/config/params.h"

#include "common/config/options.h"
#include "common/util/precedence.h"
#include "common/util/suggest.h"
#include "common/util/number.h"
#include "common/util/returned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_ENDING_MAX 15

unsigned kernel_params_count(const struct hdss_kernel *kernel)
{
    unsigned count = 0;
    while (count < HDSS_PARAMS_MAX && kernel->params[count].name != NULL)
        count++;
    return count;
}

static void params_append(char *text, size_t size, const char *part, size_t length)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%.*s", (int)length, part);
}

static void params_append_choices(char *text, size_t size, const char *choices)
{
    while (*choices != '\0') {
        size_t length = strcspn(choices, "|");
        params_append(text, size, choices, length);
        choices += length;
        if (*choices == '|') {
            params_append(text, size, ", ", 2);
            choices++;
        }
    }
}

static void bounds_text(const struct hdss_param *param, const char *kind, char *text, size_t size)
{
    char minimum[NUMBER_BOUND_MAX], maximum[NUMBER_BOUND_MAX];
    snprintf(text, size, "%s from %s to %s", kind, number_bound_text(param->minimum, minimum),
             number_bound_text(param->maximum, maximum));
}

const char *kernel_param_accepts(const struct hdss_param *param, char *text, size_t size)
{
    text[0] = '\0';
    switch (param->kind) {
    case HDSS_PARAM_INTEGER: bounds_text(param, "an integer", text, size); break;
    case HDSS_PARAM_REAL: bounds_text(param, "a number", text, size); break;
    case HDSS_PARAM_CHOICE:
        snprintf(text, size, "one of ");
        params_append_choices(text, size, param->choices);
        break;
    case HDSS_PARAM_TEXT: snprintf(text, size, "text"); break;
    }
    return text;
}

static int params_parse_value(const struct hdss_param *param, const char *text, union hdss_value *value)
{
    switch (param->kind) {
    case HDSS_PARAM_INTEGER:
        if (number_parse_i64(text, &value->integer) < 0)
            return -1;
        return (double)value->integer >= param->minimum && (double)value->integer <= param->maximum ? 0 : -1;
    case HDSS_PARAM_REAL:
        if (number_parse_real(text, &value->real) < 0)
            return -1;
        return value->real >= param->minimum && value->real <= param->maximum ? 0 : -1;
    case HDSS_PARAM_CHOICE: value->integer = option_choice(param->choices, text); return value->integer < 0 ? -1 : 0;
    case HDSS_PARAM_TEXT: value->text = text; return 0;
    }
    return -1;
}

static int params_refuse_value(const struct hdss_kernel *kernel, const struct hdss_param *param, const char *text,
                               struct error *error)
{
    char accepts[200];
    kernel_param_accepts(param, accepts, sizeof accepts);
    bool unit = param->unit[0] != '\0';
    return error_set(error, "%s: %s=%.60s: accepted: %s%s%s%s", kernel->name, param->name, text, accepts,
                     unit ? " (" : "", param->unit, unit ? ")" : "");
}

static int refuse_name(const struct hdss_kernel *kernel, const char *word, size_t length, struct error *error)
{
    char name[41], known[300] = "", meant[60] = "";
    struct suggestion nearest;
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name), word);
    suggest_init(&nearest, name);
    for (unsigned i = 0; i < kernel_params_count(kernel); i++) {
        suggest_offer(&nearest, kernel->params[i].name);
        if (i > 0)
            params_append(known, sizeof known, ", ", 2);
        params_append(known, sizeof known, kernel->params[i].name, strlen(kernel->params[i].name));
    }
    if (nearest.name != NULL)
        snprintf(meant, sizeof meant, "; did you mean %.40s?", nearest.name);
    return error_set(error, "%s: unknown parameter '%s'%s accepted: %s", kernel->name, name,
                     nearest.name != NULL ? meant : ";", known[0] != '\0' ? known : "none");
}

static const struct hdss_param *params_find(const struct hdss_kernel *kernel, const char *name, size_t length)
{
    for (unsigned i = 0; i < kernel_params_count(kernel); i++)
        if (strlen(kernel->params[i].name) == length && memcmp(kernel->params[i].name, name, length) == 0)
            return &kernel->params[i];
    return NULL;
}

static int parse_word(const struct hdss_kernel *kernel, const char *word, union hdss_value *values, bool *given,
                      struct error *error)
{
    const char *equals = strchr(word, '=');
    if (equals == NULL)
        return error_set(error, "%s: '%.60s': accepted: name=value", kernel->name, word);
    const struct hdss_param *param = params_find(kernel, word, (size_t)(equals - word));
    if (param == NULL)
        return refuse_name(kernel, word, (size_t)(equals - word), error);
    size_t i = (size_t)(param - kernel->params);
    if (given[i])
        return error_set(error, "%s: %.60s: %s is given twice", kernel->name, word, param->name);
    given[i] = true;
    return params_parse_value(param, equals + 1, &values[i]) < 0 ? params_refuse_value(kernel, param, equals + 1, error)
                                                                 : 0;
}

int kernel_params_parse(const struct hdss_kernel *kernel, unsigned count, const char *const *words,
                        union hdss_value *values, struct error *error)
{
    bool given[HDSS_PARAMS_MAX] = {false};
    for (unsigned i = 0; i < count; i++)
        if (parse_word(kernel, words[i], values, given, error) < 0)
            return -1;
    for (unsigned i = 0; i < kernel_params_count(kernel); i++) {
        const struct hdss_param *param = &kernel->params[i];
        if (!given[i] && params_parse_value(param, param->fallback, &values[i]) < 0)
            return params_refuse_value(kernel, param, param->fallback, error);
    }
    return 0;
}

bool kernel_param_is_manner(const struct hdss_kernel *kernel, const struct hdss_param *param)
{
    size_t length = strlen(param->name), word;
    for (const char *names = kernel->manner; names != NULL; names = names[word] == '|' ? names + word + 1 : NULL) {
        word = strcspn(names, "|");
        if (word == length && memcmp(names, param->name, length) == 0)
            return true;
    }
    return false;
}

static int check_manner(const char *name, const struct hdss_kernel *kernel, struct error *error)
{
    unsigned found = 0, named = kernel->manner != NULL;
    for (const char *c = kernel->manner; c != NULL && *c != '\0'; c++)
        named += *c == '|';
    for (unsigned i = 0; kernel->params[i].name != NULL; i++)
        found += kernel_param_is_manner(kernel, &kernel->params[i]);
    return found == named
               ? 0
               : error_set(error, "kernel %.200s: its manner '%.60s' names what is no parameter", name, kernel->manner);
}

int kernel_check_table(const char *name, const struct hdss_kernel *kernel, struct error *error)
{
    union hdss_value value;
    for (unsigned i = 0; kernel->params[i].name != NULL; i++) {
        const struct hdss_param *param = &kernel->params[i];
        if (i == HDSS_PARAMS_MAX)
            return error_set(error, "kernel %.200s: it has more than %d parameters", name, HDSS_PARAMS_MAX);
        if (param->fallback == NULL || param->unit == NULL || param->summary == NULL ||
            (param->kind == HDSS_PARAM_CHOICE && param->choices == NULL))
            return error_set(error, "kernel %.200s: its parameter %.60s lacks a default, choices, unit or summary",
                             name, param->name);
        if (params_parse_value(param, param->fallback, &value) < 0)
            return error_set(error, "kernel %.200s: its parameter %.60s does not accept its own default, '%.60s'", name,
                             param->name, param->fallback);
    }
    return check_manner(name, kernel, error);
}

static const char *params_real_text(double value, char text[KERNEL_PARAM_TEXT_MAX])
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, KERNEL_PARAM_TEXT_MAX, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

static const char *choice_text(const char *choices, int64_t index, char text[KERNEL_PARAM_TEXT_MAX])
{
    for (; index > 0; index--)
        choices += strcspn(choices, "|") + 1;
    snprintf(text, KERNEL_PARAM_TEXT_MAX, "%.*s", (int)strcspn(choices, "|"), choices);
    return text;
}

const char *kernel_param_text(const struct hdss_param *param, union hdss_value value, char text[KERNEL_PARAM_TEXT_MAX])
{
    switch (param->kind) {
    case HDSS_PARAM_INTEGER: snprintf(text, KERNEL_PARAM_TEXT_MAX, "%lld", (long long)value.integer); return text;
    case HDSS_PARAM_REAL: return params_real_text(value.real, text);
    case HDSS_PARAM_CHOICE: return choice_text(param->choices, value.integer, text);
    case HDSS_PARAM_TEXT: return value.text;
    }
    return "";
}

static bool params_multiply(uint64_t a, uint64_t b, uint64_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

static bool array_matches(const struct hdss_loop *loop)
{
    uint64_t records, elements = 1;
    if (!params_multiply(loop->iterations, loop->record_length, &records))
        return false;
    for (unsigned i = 0; i < loop->dims; i++)
        if (!params_multiply(elements, loop->shape[i], &elements))
            return false;
    return elements == records;
}

static bool tiles_match(const struct hdss_loop *loop)
{
    uint64_t tiles, elements;
    if (loop->dims != 2 || loop->tile_height == 0 || loop->tile_width == 0)
        return false;
    uint64_t down = loop->shape[0] / loop->tile_height + (loop->shape[0] % loop->tile_height != 0);
    uint64_t across = loop->shape[1] / loop->tile_width + (loop->shape[1] % loop->tile_width != 0);
    return params_multiply(down, across, &tiles) && tiles == loop->iterations &&
           params_multiply(loop->tile_height, loop->tile_width, &elements) && elements == loop->record_length;
}

static int check_records(const struct hdss_kernel *kernel, const struct hdss_loop *loop, struct error *error)
{
    size_t element = hdss_type_size(loop->type);
    uint64_t elements, bytes;
    bool runs = loop->sync > 0 ? kernel->run_block != NULL : kernel->run != NULL;
    if (!runs || element == 0 || loop->record_length == 0 || loop->dims == 0 || loop->dims > HDSS_DIMS_MAX)
        return error_set(error, "%s: the kernel describes no result it could have", kernel->name);
    if (!params_multiply(loop->iterations, loop->record_length, &elements) ||
        !params_multiply(elements, element, &bytes) || bytes > INT64_MAX / 2)
        return error_set(error, "%s: the results do not fit a file: %llu iterations of %llu x %zu bytes", kernel->name,
                         (unsigned long long)loop->iterations, (unsigned long long)loop->record_length, element);
    if (!(loop->layout == HDSS_LAYOUT_TILES ? tiles_match(loop) : array_matches(loop)))
        return error_set(error, "%s: the kernel's records do not make up the array it describes", kernel->name);
    return 0;
}

static bool streams_are_sound(const struct hdss_loop *loop)
{
    for (unsigned i = 0; i < loop->streams; i++) {
        const char *ending = loop->stream[i].ending;
        if (ending == NULL || strchr(ending, '/') != NULL || strlen(ending) > STREAM_ENDING_MAX)
            return false;
        for (unsigned k = 0; k < i; k++)
            if (strcmp(ending, loop->stream[k].ending) == 0)
                return false;
    }
    return true;
}

static int check_streams(const struct hdss_kernel *kernel, const struct hdss_loop *loop, struct error *error)
{
    if (kernel->run_variable == NULL || loop->streams > HDSS_STREAMS_MAX || !streams_are_sound(loop) ||
        memchr(loop->output, '\0', sizeof loop->output) == NULL)
        return error_set(error, "%s: the kernel describes no output it could have", kernel->name);
    if (kernel->descriptor != NULL && !loop->has_effects)
        return error_set(error, "%s: the kernel waits for something: it must describe that it has effects",
                         kernel->name);
    if (loop->iterations > INT64_MAX)
        return error_set(error, "%s: %llu iterations; accepted is up to 2^63 - 1", kernel->name,
                         (unsigned long long)loop->iterations);
    return 0;
}

static int params_check_steps(const struct hdss_kernel *kernel, const struct hdss_loop *loop, struct error *error)
{
    if (loop->steps <= 1)
        return 0;
    if (loop->streams == 0 && loop->layout == HDSS_LAYOUT_ROWS && loop->iterations % loop->steps == 0)
        return 0;
    return error_set(error, "%s: the kernel describes no time steps it could have", kernel->name);
}

#define BOUNDARY_MAX (UINT64_C(1) << 30)

/* Rows depend on the rows before them: an element needs elements of the preceding row that are up to `reach` positions
 * further on. So in a chunk of n rows the first row must be n * reach elements ahead of the last row. A chunk may be
 * the whole loop, so iterations * reach must not exceed INT64_MAX. */
static bool dependencies_are_sound(const struct hdss_loop *loop)
{
    uint64_t behind, bytes;
    return loop->streams == 0 && loop->distance > 0 && loop->reach <= loop->sync && loop->boundary_bytes > 0 &&
           params_multiply(loop->iterations, loop->reach, &behind) && behind <= INT64_MAX &&
           params_multiply(loop->sync, loop->boundary_bytes, &bytes) && bytes <= BOUNDARY_MAX;
}

static int params_check_dependencies(const struct hdss_kernel *kernel, const struct hdss_loop *loop,
                                     struct error *error)
{
    if (loop->sync == 0)
        return 0;
    if (!dependencies_are_sound(loop))
        return error_set(error, "%s: the kernel describes no dependencies it could have", kernel->name);
    return loop->steps <= 1
               ? 0
               : error_set(error, "%s: the kernel describes both dependencies and time steps; accepted: one of them",
                           kernel->name);
}

int kernel_describe(const struct hdss_kernel *kernel, const union hdss_value *values, struct hdss_loop *loop,
                    struct error *error)
{
    char line[HDSS_ERROR_MAX] = "";
    *loop = (struct hdss_loop){0};
    if (returned(kernel->describe(values, loop, line), "describe", line) < 0)
        return error_set(error, "%s: %s", kernel->name, line);
    loop->note[sizeof loop->note - 1] = '\0';
    return kernel_check_loop(kernel, loop, error);
}

/* A loop that grows cannot have an array of records as its output, because the size of the array would depend on the
 * final length of the loop. */
static int params_check_growth(const struct hdss_kernel *kernel, const struct hdss_loop *loop, struct error *error)
{
    bool can = kernel->grow != NULL && loop->streams > 0 && loop->steps <= 1 && loop->sync == 0;
    return can || !loop->grows
               ? 0
               : error_set(error, "%s: the kernel describes a loop that grows, as it cannot", kernel->name);
}

int kernel_grow(const struct hdss_kernel *kernel, const union hdss_value *values, uint64_t *iterations,
                struct error *error)
{
    char line[HDSS_ERROR_MAX] = "";
    uint64_t grown = *iterations;
    const int result = kernel->grow(values, &grown, line);
    if (result != 1 && returned(result, "grow", line) < 0)
        return error_set(error, "%s: %s", kernel->name, line);
    if (grown < *iterations || grown > INT64_MAX)
        return error_set(error, "%s: grow() says %llu iterations after %llu; accepted: no less, up to 2^63 - 1",
                         kernel->name, (unsigned long long)grown, (unsigned long long)*iterations);
    *iterations = grown;
    return result;
}

int kernel_inputs(const struct hdss_kernel *kernel, const union hdss_value *values, uint64_t iterations,
                  uint64_t *digest, struct error *error)
{
    char line[HDSS_ERROR_MAX] = "";
    *digest = 0;
    return returned(kernel->inputs(values, iterations, digest, line), "inputs", line) == 0
               ? 0
               : error_set(error, "%s: %s", kernel->name, line);
}

struct precedence_calls {
    struct hdss_precedence calls; /* must be first: a pointer to it is given to the kernel and is cast back */
    struct precedence *precedence;
    uint64_t iterations;
    struct error error;
};

static int note_wait(struct hdss_precedence *calls, uint64_t iteration, uint64_t other)
{
    struct precedence_calls *own = (struct precedence_calls *)calls;
    if (own->error.text[0] != '\0')
        return -1;
    if (iteration >= own->iterations || other >= own->iterations)
        return error_set(&own->error, "precedence() says that iteration %llu waits for %llu; accepted: 0 to %llu",
                         (unsigned long long)iteration, (unsigned long long)other,
                         (unsigned long long)own->iterations - 1);
    if (precedence_add(own->precedence, iteration, other) < 0)
        return error_set(&own->error, "out of memory for iterations that wait");
    return 0;
}

static int refuse_circle(const struct hdss_kernel *kernel, const uint64_t *circle, int64_t length, struct error *error)
{
    char text[200] = "";
    size_t at = 0;
    const int64_t shown = length < 4 ? length : 4;
    for (int64_t i = 1; i < shown; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, " iteration %llu, which waits for",
                               (unsigned long long)circle[i]);
    return error_set(error, "%s: iteration %llu waits for%s%s iteration %llu", kernel->name,
                     (unsigned long long)circle[0], text, shown < length ? " others, and these in the end for" : "",
                     (unsigned long long)circle[0]);
}

static int check_circles(const struct hdss_kernel *kernel, const struct precedence *precedence, struct error *error)
{
    uint64_t *circle;
    const int64_t length = precedence_find_circle(precedence, &circle);
    if (length == 0)
        return 0;
    if (length < 0)
        return error_set(error, "out of memory for iterations that wait");
    refuse_circle(kernel, circle, length, error);
    free(circle);
    return -1;
}

int kernel_precedence(const struct hdss_kernel *kernel, const union hdss_value *values, const struct hdss_loop *loop,
                      struct precedence *precedence, struct error *error)
{
    struct precedence_calls calls = {{note_wait}, precedence, loop->iterations, {""}};
    char line[HDSS_ERROR_MAX] = "";
    precedence_init(precedence);
    if (kernel->precedence == NULL)
        return 0;
    int result = returned(kernel->precedence(values, &calls.calls, line), "precedence", line);
    const bool may_wait = !loop->grows && loop->steps <= 1 && loop->sync == 0;
    if (result == 0 && precedence->pair_count > 0 && !may_wait)
        result = error_set(error, "%s: iterations wait for others in a loop that grows or has steps, as they cannot",
                           kernel->name);
    else if (calls.error.text[0] != '\0')
        result = error_set(error, "%s: %s", kernel->name, calls.error.text);
    else if (result < 0)
        error_set(error, "%s: %s", kernel->name, line);
    else if (precedence->pair_count > 0 && precedence_close(precedence, loop->iterations) < 0)
        result = error_set(error, "out of memory for iterations that wait");
    if (result == 0 && precedence->count > 0)
        result = check_circles(kernel, precedence, error);
    if (result < 0)
        precedence_fini(precedence);
    return result;
}

int kernel_check_loop(const struct hdss_kernel *kernel, const struct hdss_loop *loop, struct error *error)
{
    if (params_check_growth(kernel, loop, error) < 0)
        return -1;
    if (params_check_steps(kernel, loop, error) < 0 || params_check_dependencies(kernel, loop, error) < 0)
        return -1;
    return loop->streams > 0 ? check_streams(kernel, loop, error) : check_records(kernel, loop, error);
}
