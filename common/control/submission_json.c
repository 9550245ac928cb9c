/* SPDX-License-Identifier: MIT */
/* Submissions as JSON: see submission_json.h. jansson accepts only UTF-8 without NUL, so each text is a C string. */
#include "common/control/submission_json.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

json_t *submissions_of_body(const char *bytes, size_t size, bool *is_array, struct error *error)
{
    json_error_t problem;
    json_t *body = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &problem);
    *is_array = json_is_array(body);
    if (body == NULL)
        error_set(error, "the body is no JSON: %s (line %d)", problem.text, problem.line);
    if (body == NULL || *is_array)
        return body;
    json_t *array = json_array();
    if (array == NULL || json_array_append_new(array, body) < 0) {
        json_decref(array);
        error_set(error, "out of memory");
        return NULL;
    }
    return array;
}

static int read_texts(char ***texts, size_t *count, const json_t *value, const char *field, struct error *error)
{
    const size_t length = json_array_size(value);
    if (!json_is_array(value))
        return error_set(error, "'%s' is no list of texts", field);
    *texts = (char **)calloc(length + 1, sizeof **texts);
    if (*texts == NULL)
        return error_set(error, "out of memory");
    for (*count = 0; *count < length; ++*count) {
        const char *text = json_string_value(json_array_get(value, *count));
        if (text == NULL)
            return error_set(error, "'%s' is no list of texts", field);
        if (((*texts)[*count] = strdup(text)) == NULL)
            return error_set(error, "out of memory");
    }
    return 0;
}

static int read_integer(json_int_t *number, const json_t *value, const char *field, json_int_t least, json_int_t most,
                        struct error *error)
{
    *number = json_integer_value(value);
    if (json_is_integer(value) && *number >= least && *number <= most)
        return 0;
    return error_set(error, "'%s' is no integer from %" JSON_INTEGER_FORMAT " to %" JSON_INTEGER_FORMAT, field, least,
                     most);
}

static int read_words(struct submission *submission, const json_t *value, struct error *error)
{
    if (read_texts(&submission->words, &submission->word_count, value, "words", error) < 0)
        return -1;
    if (submission->word_count == 0 || submission->word_count > SUBMISSION_WORDS_MAX)
        return error_set(error, "'words' has %zu words; accepted: a kernel and its options, %d words at most",
                         submission->word_count, SUBMISSION_WORDS_MAX);
    return 0;
}

static int read_folder(struct submission *submission, const json_t *value, struct error *error)
{
    const char *text = json_string_value(value);
    if (text == NULL || text[0] != '/')
        return error_set(error, "'folder' is no absolute path");
    submission->folder = strdup(text);
    return submission->folder != NULL ? 0 : error_set(error, "out of memory");
}

static int read_umask(struct submission *submission, const json_t *value, struct error *error)
{
    json_int_t number;
    if (read_integer(&number, value, "umask", 0, SUBMISSION_UMASK_MAX, error) < 0)
        return -1;
    submission->umask = (unsigned)number;
    return 0;
}

static int read_environment(struct submission *submission, const json_t *value, struct error *error)
{
    if (read_texts(&submission->environment, &submission->environment_count, value, "environment", error) < 0)
        return -1;
    for (size_t i = 0; i < submission->environment_count; i++) {
        const char *text = submission->environment[i], *equals = strchr(text, '=');
        if (equals == NULL || equals == text)
            return error_set(error, "'environment' has '%.100s'; accepted: NAME=VALUE", text);
    }
    return 0;
}

static int read_name(struct submission *submission, const json_t *value, struct error *error)
{
    const char *text = json_string_value(value);
    if (json_is_null(value))
        return 0;
    bool is_plain = text != NULL && text[0] != '\0' && strlen(text) <= SUBMISSION_NAME_MAX;
    for (const char *c = text; is_plain && *c != '\0'; c++)
        is_plain = (unsigned char)*c >= ' ' && *c != 0x7f;
    if (!is_plain)
        return error_set(error, "'name' is neither null nor a text of 1 to %d bytes without control characters",
                         SUBMISSION_NAME_MAX);
    submission->name = strdup(text);
    return submission->name != NULL ? 0 : error_set(error, "out of memory");
}

static int read_priority(struct submission *submission, const json_t *value, struct error *error)
{
    json_int_t number;
    if (read_integer(&number, value, "priority", -SUBMISSION_PRIORITY, SUBMISSION_PRIORITY, error) < 0)
        return -1;
    submission->priority = (int)number;
    return 0;
}

static int read_weight(struct submission *submission, const json_t *value, struct error *error)
{
    json_int_t number;
    if (read_integer(&number, value, "weight", 1, SUBMISSION_WEIGHT_MAX, error) < 0)
        return -1;
    submission->weight = (unsigned)number;
    return 0;
}

static int read_after(struct submission *submission, const json_t *value, struct error *error)
{
    const size_t count = json_array_size(value);
    if (!json_is_array(value) || count > SUBMISSION_AFTER_MAX)
        return error_set(error, "'after' is no list of %d numbers of jobs at most", SUBMISSION_AFTER_MAX);
    submission->after = malloc((count + 1) * sizeof *submission->after);
    if (submission->after == NULL)
        return error_set(error, "out of memory");
    for (size_t i = 0; i < count; i++) {
        json_int_t number;
        if (read_integer(&number, json_array_get(value, i), "after", 1, UINT32_MAX, error) < 0)
            return -1;
        submission->after[submission->after_count++] = (uint32_t)number;
    }
    return 0;
}

static int read_open(struct submission *submission, const json_t *value, struct error *error)
{
    submission->is_open = json_is_true(value);
    return json_is_boolean(value) ? 0 : error_set(error, "'open' is neither true nor false");
}

static int read_attached(struct submission *submission, const json_t *value, struct error *error)
{
    submission->is_attached = json_is_true(value);
    return json_is_boolean(value) ? 0 : error_set(error, "'attached' is neither true nor false");
}

static const struct {
    const char *name;
    int (*read)(struct submission *submission, const json_t *value, struct error *error);
} fields[] = {
    {"words", read_words}, {"folder", read_folder},     {"umask", read_umask},   {"environment", read_environment},
    {"name", read_name},   {"priority", read_priority}, {"weight", read_weight}, {"after", read_after},
    {"open", read_open},   {"attached", read_attached}};

static int read_field(struct submission *submission, const char *name, const json_t *value, struct error *error)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(name, fields[i].name) == 0)
            return fields[i].read(submission, value, error);
    return error_set(error,
                     "the field '%.100s' is unknown; accepted: words, folder, umask, environment, name, priority, "
                     "weight, after, open, attached",
                     name);
}

int submission_read(struct submission *submission, const json_t *object, struct error *error)
{
    const char *name;
    json_t *value;
    int result = 0;
    *submission = (struct submission){.weight = 1, .umask = 022};
    if (!json_is_object(object))
        return error_set(error, "a job is no object");
    json_object_foreach((json_t *)object, name, value) if (result == 0) result =
        read_field(submission, name, value, error);
    if (result == 0 && submission->words == NULL)
        result = error_set(error, "'words' is missing");
    if (result == 0 && submission->folder == NULL)
        result = error_set(error, "'folder' is missing");
    if (result < 0)
        submission_fini(submission);
    return result;
}

static json_t *texts_json(char *const *texts, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (json_array_append_new(list, json_string(texts[i])) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *after_json(const struct submission *submission)
{
    json_t *list = json_array();
    for (size_t i = 0; i < submission->after_count; i++)
        if (json_array_append_new(list, json_integer(submission->after[i])) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *submission_json(const struct submission *submission)
{
    json_t *object = json_object();
    int failed = json_object_set_new(object, "words", texts_json(submission->words, submission->word_count));
    failed |= json_object_set_new(object, "folder", json_string(submission->folder));
    failed |= json_object_set_new(object, "umask", json_integer((json_int_t)submission->umask));
    failed |=
        json_object_set_new(object, "environment", texts_json(submission->environment, submission->environment_count));
    failed |=
        json_object_set_new(object, "name", submission->name != NULL ? json_string(submission->name) : json_null());
    failed |= json_object_set_new(object, "priority", json_integer(submission->priority));
    failed |= json_object_set_new(object, "weight", json_integer((json_int_t)submission->weight));
    failed |= json_object_set_new(object, "after", after_json(submission));
    failed |= submission->is_open ? json_object_set_new(object, "open", json_true()) : 0;
    failed |= submission->is_attached ? json_object_set_new(object, "attached", json_true()) : 0;
    if (failed == 0)
        return object;
    json_decref(object);
    return NULL;
}
