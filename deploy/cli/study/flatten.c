/* SPDX-License-Identifier: MIT */
/* From JSON to columns: see flatten.h. */
#include "deploy/cli/study/flatten.h"
#include "deploy/cli/study/steps.h"
#include "deploy/cli/study/workers.h"

#include <jansson.h>
#include <string.h>

enum { NAME_MAX_BYTES = 200, DEPTH_MAX = 4 };

static void flatten(struct csv *csv, size_t row, const char *prefix, json_t *object, int depth);

static void flatten_take_value(struct csv *csv, size_t row, const char *name, json_t *value, int depth)
{
    char text[64];
    if (json_is_object(value)) {
        flatten(csv, row, name, value, depth + 1);
        return;
    }
    if (*csv_get(csv, row, name) != '\0')
        return;
    switch (json_typeof(value)) {
    case JSON_STRING: csv_set(csv, row, name, json_string_value(value)); break;
    case JSON_INTEGER:
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        csv_set(csv, row, name, text);
        break;
    case JSON_REAL:
        snprintf(text, sizeof text, "%.15g", json_real_value(value));
        csv_set(csv, row, name, text);
        break;
    case JSON_TRUE: csv_set(csv, row, name, "true"); break;
    case JSON_FALSE: csv_set(csv, row, name, "false"); break;
    default: break;
    }
}

static void flatten(struct csv *csv, size_t row, const char *prefix, json_t *object, int depth)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        char name[NAME_MAX_BYTES];
        int length = snprintf(name, sizeof name, "%s%s%s", prefix, *prefix != '\0' ? "." : "", key);
        if (depth < DEPTH_MAX && length < (int)sizeof name)
            flatten_take_value(csv, row, name, value, depth);
    }
}

/* Takes from the list of the workers only how long each has computed. */
static void flatten_take_workers(struct csv *csv, size_t row, json_t *list)
{
    char text[WORKERS_SHOWN_MAX * 16] = "";
    size_t used = 0, index;
    json_t *worker;
    if (json_array_size(list) > WORKERS_SHOWN_MAX)
        return;
    json_array_foreach(list, index, worker)
    {
        const json_t *time = json_object_get(worker, "compute_s");
        if (!json_is_number(time))
            return;
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%.6g", index > 0 ? " " : "", json_number_value(time));
    }
    if (used > 0 && used < sizeof text)
        csv_set(csv, row, WORKERS_COLUMN, text);
}

int flatten_report(struct csv *csv, size_t row, const char *text, struct error *error)
{
    json_error_t why;
    json_t *report = json_loads(text, 0, &why);
    int result = 0;
    if (report == NULL)
        result = error_set(error, "the report is no JSON: line %d: %s", why.line, why.text);
    else if (!json_is_number(json_object_get(report, "elapsed_s")))
        result = error_set(error, "the report has no elapsed_s");
    if (result == 0) {
        flatten(csv, row, "", report, 0);
        flatten_take_workers(csv, row, json_object_get(report, "worker_stats"));
    }
    json_decref(report);
    return result;
}

/* Takes from the list of the time steps how long each took. */
static void take_steps(struct csv *csv, size_t row, const json_t *list)
{
    char text[STEPS_KEPT_MAX * 16] = "";
    size_t used = 0, index;
    json_t *step;
    if (json_array_size(list) > STEPS_KEPT_MAX)
        return;
    json_array_foreach(list, index, step)
    {
        const json_t *time = json_object_get(step, "elapsed_s");
        if (!json_is_number(time))
            return;
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%.6g", index > 0 ? " " : "", json_number_value(time));
    }
    if (used > 0 && used < sizeof text)
        csv_set(csv, row, STEPS_COLUMN, text);
}

int flatten_steps(struct csv *csv, size_t row, const char *text, struct error *error)
{
    json_error_t why;
    json_t *report = json_loads(text, 0, &why);
    if (report == NULL)
        return error_set(error, "the report is no JSON: line %d: %s", why.line, why.text);
    take_steps(csv, row, json_object_get(report, "steps"));
    json_decref(report);
    return 0;
}
