/* SPDX-License-Identifier: MIT */
/* Loading techniques: see technique_load.h. */
#include "common/job/technique_load.h"

#include "common/os/objects.h"
#include "common/sched/plugin.h"
#include "common/util/called.h"
#include "hdss/technique.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TECHNIQUE_SYMBOL "hdss_technique"
#define PYTHON_SYMBOL    "hdss_python_technique"

/* Type of a function in HDSS's Python module. It makes a technique from "module.Class". On failure it returns NULL with
 * a line in `error`. */
typedef const struct hdss_technique *python_technique(const char *name, char error[HDSS_TECHNIQUE_ERROR_MAX]);

static const struct object_kind technique_objects = {
    .what = "technique",
    .other = "a shared object, " OBJECT_PYTHON "MODULE.CLASS, or a technique that `hdss techniques` lists",
    .for_changed = "a file of another name, or another set",
};

struct loaded_technique {
    struct loaded_technique *next;
    struct technique_plugin made;
    char name[SCHED_SPEC_TEXT_MAX];
};

static const struct technique *make_technique(const char *name, const struct hdss_technique *plugin,
                                              struct error *error)
{
    static struct loaded_technique *all;
    for (const struct loaded_technique *known = all; known != NULL; known = known->next)
        if (known->made.plugin == plugin && strcmp(known->name, name) == 0)
            return &known->made.technique;
    struct loaded_technique *loaded = calloc(1, sizeof *loaded);
    if (loaded == NULL) {
        error_set(error, "technique %.200s: out of memory for its table", name);
        return NULL;
    }
    snprintf(loaded->name, sizeof loaded->name, "%s", name);
    if (technique_plugin_init(&loaded->made, loaded->name, plugin, error) < 0) {
        free(loaded);
        return NULL;
    }
    loaded->next = all;
    all = loaded;
    return &loaded->made.technique;
}

static const struct hdss_technique *find_object(const char *name, struct error *error)
{
    called = &(const struct called){"technique", name, "while it was being loaded"};
    void *handle = object_open(&technique_objects, name, error);
    called = NULL;
    const struct hdss_technique *found = handle != NULL ? dlsym(handle, TECHNIQUE_SYMBOL) : NULL;
    if (handle != NULL && found == NULL)
        error_set(error, "technique %.200s: is no technique: it has no symbol " TECHNIQUE_SYMBOL, name);
    return found;
}

static const struct hdss_technique *find_class(const char *name, struct error *error)
{
    char text[HDSS_TECHNIQUE_ERROR_MAX] = "";
    python_technique *find = (python_technique *)object_find_python(&technique_objects, name, PYTHON_SYMBOL, error);
    const struct hdss_technique *found = find != NULL ? find(name + strlen(OBJECT_PYTHON), text) : NULL;
    if (find != NULL && found == NULL)
        error_set(error, "technique %.100s: %s", name, text);
    return found;
}

int technique_load(struct sched_spec *spec, const char *text, struct error *error)
{
    char name[SCHED_SPEC_TEXT_MAX];
    const size_t length = sched_spec_name_length(text);
    if (!sched_spec_is_plugin(text) || strlen(text) >= sizeof name)
        return sched_spec_parse(spec, text, error);
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    const bool is_python = strncmp(name, OBJECT_PYTHON, strlen(OBJECT_PYTHON)) == 0;
    const struct hdss_technique *plugin = (is_python ? find_class : find_object)(name, error);
    if (plugin == NULL)
        return -1;
    const struct technique *technique = make_technique(name, plugin, error);
    if (technique == NULL)
        return -1;
    return sched_spec_parse_params(spec, technique, text[length] == ':' ? text + length + 1 : NULL, error);
}
