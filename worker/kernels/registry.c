/* SPDX-License-Identifier: MIT */
/* Kernels by name: see kernels.h. A module is loaded when its kernel, or the list of all kernels, is asked for. */
#include "worker/kernels/kernels.h"

#include "common/config/params.h"
#include "common/os/modules.h"
#include "common/os/objects.h"
#include "common/util/error.h"
#include "common/util/suggest.h"
#include "hdss/kernel.h"
#include "worker/kernels/exec/exec.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_SYMBOL "hdss_kernel"
#define PYTHON_SYMBOL "hdss_python_kernel"

typedef const struct hdss_kernel *python_kernel(const char *name, char error[HDSS_ERROR_MAX]);

static const struct object_kind kernel_objects = {
    .what = "kernel",
    .other = "a shared object, or " OBJECT_PYTHON "MODULE.FUNCTION",
    .for_changed = "--isolate on, or another set",
};

static int check_plugin(const char *name, const struct hdss_kernel *kernel, struct error *error)
{
    if (kernel->abi != HDSS_KERNEL_ABI)
        return error_set(
            error,
            "kernel %.200s: is built for version %u of the kernel interface; accepted: %u, build it anew with "
            "the hdss/kernel.h of this HDSS",
            name, kernel->abi, HDSS_KERNEL_ABI);
    const void *const needed[] = {kernel->name, kernel->version, kernel->summary, kernel->params};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (needed[i] == NULL)
            return error_set(error, "kernel %.200s: its name, version, summary or table of parameters is missing",
                             name);
    bool runs = kernel->run != NULL || kernel->run_variable != NULL || kernel->run_block != NULL;
    if (kernel->describe == NULL || kernel->open == NULL || !runs)
        return error_set(error, "kernel %.200s: it lacks describe(), open(), or run(), run_variable() or run_block()",
                         name);
    return kernel_check_table(name, kernel, error);
}

/* Loads a shared object, which stays loaded. `handle` may be NULL. Checks the object: it may not be a kernel, or it may
 * be built for another version of the interface. */
static int kernel_load_object(const char *name, const struct hdss_kernel **kernel, void **handle, struct error *error)
{
    void *object = object_open(&kernel_objects, name, error);
    if (object == NULL)
        return -1;
    if (handle != NULL)
        *handle = object;
    const struct hdss_kernel *found = dlsym(object, KERNEL_SYMBOL);
    if (found == NULL)
        return error_set(error, "kernel %.200s: is no kernel: it has no symbol " KERNEL_SYMBOL, name);
    *kernel = found;
    return check_plugin(name, found, error);
}

static int kernel_load_python(const char *name, const struct hdss_kernel **kernel, struct error *error)
{
    char text[HDSS_ERROR_MAX] = "";
    python_kernel *find = (python_kernel *)object_find_python(&kernel_objects, name, PYTHON_SYMBOL, error);
    if (find == NULL)
        return -1;
    *kernel = find(name + strlen(OBJECT_PYTHON), text);
    return *kernel != NULL ? 0 : error_set(error, "kernel %.60s: %.300s", name, text);
}

static const struct hdss_kernel *const built_in[] = {
    &adjoint_kernel,
    &exec_kernel,
    &mandelbrot_kernel,
    &synthetic_kernel,
};

static struct module {
    const char *name;
    const struct hdss_kernel *kernel;
    kernel_iteration_ns *iteration_ns;
} modules[] = {{.name = "evrard"}, {.name = "floyd-steinberg"}, {.name = "hydro"}, {.name = "spinimage"}};

enum { BUILT_IN = sizeof built_in / sizeof *built_in, MODULES = sizeof modules / sizeof *modules };

static int load_module(struct module *module, struct error *error)
{
    char file[40], folder[PATH_MAX], path[PATH_MAX + sizeof file];
    struct error missing;
    void *handle;
    if (module->kernel != NULL)
        return 0;
    snprintf(file, sizeof file, "hdss-%s.so", module->name);
    if (modules_find(file, folder, &missing) < 0)
        return error_set(error, "the kernel %s is not installed: %.300s; needed: a build with -Dresearch=enabled",
                         module->name, missing.text);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    const struct hdss_kernel *kernel;
    if (kernel_load_object(path, &kernel, &handle, error) < 0)
        return -1;
    module->iteration_ns = (kernel_iteration_ns *)dlsym(handle, KERNEL_ITERATION_NS);
    module->kernel = kernel;
    return 0;
}

static int registry_compare_names(const void *a, const void *b)
{
    const struct hdss_kernel *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

const struct hdss_kernel *const *kernels(size_t *count)
{
    static const struct hdss_kernel *all[BUILT_IN + MODULES];
    memcpy(all, built_in, sizeof built_in);
    *count = BUILT_IN;
    for (size_t i = 0; i < MODULES; i++)
        if (load_module(&modules[i], NULL) == 0)
            all[(*count)++] = modules[i].kernel;
    qsort(all, *count, sizeof *all, registry_compare_names);
    return all;
}

static int refuse_unknown(const char *name, struct error *error)
{
    char known[200] = "", meant[60] = ";";
    size_t used = 0, count;
    const struct hdss_kernel *const *all = kernels(&count);
    struct suggestion nearest;
    suggest_init(&nearest, name);
    for (size_t i = 0; i < count && used < sizeof known; i++) {
        suggest_offer(&nearest, all[i]->name);
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", all[i]->name);
    }
    if (nearest.name != NULL)
        snprintf(meant, sizeof meant, "; did you mean %.40s?", nearest.name);
    return error_set(error, "unknown kernel '%.60s'%s accepted: %s", name, meant, known);
}

int kernel_named(const char *name, const struct hdss_kernel **kernel, struct error *error)
{
    for (size_t i = 0; i < BUILT_IN; i++)
        if (strcmp(built_in[i]->name, name) == 0) {
            *kernel = built_in[i];
            return 0;
        }
    for (size_t i = 0; i < MODULES; i++)
        if (strcmp(modules[i].name, name) == 0) {
            const int result = load_module(&modules[i], error);
            *kernel = modules[i].kernel;
            return result;
        }
    return error != NULL ? refuse_unknown(name, error) : -1;
}

const struct hdss_kernel *kernel_find(const char *name)
{
    const struct hdss_kernel *kernel;
    return kernel_named(name, &kernel, NULL) == 0 ? kernel : NULL;
}

int kernel_load(const char *name, const struct hdss_kernel **kernel, struct error *error)
{
    const size_t length = strlen(name);
    if (strncmp(name, OBJECT_PYTHON, strlen(OBJECT_PYTHON)) == 0)
        return kernel_load_python(name, kernel, error);
    if (strchr(name, '/') != NULL || (length >= 3 && strcmp(name + length - 3, ".so") == 0))
        return kernel_load_object(name, kernel, NULL, error);
    return kernel_named(name, kernel, error);
}

static bool registry_is_ours(const struct hdss_kernel *kernel)
{
    bool is_ours = false;
    for (size_t i = 0; i < BUILT_IN; i++)
        is_ours = is_ours || built_in[i] == kernel;
    for (size_t i = 0; i < MODULES; i++)
        is_ours = is_ours || modules[i].kernel == kernel;
    return is_ours;
}

int kernel_look(const struct hdss_kernel *kernel, const union hdss_value *values, const struct hdss_loop *loop,
                char error[HDSS_ERROR_MAX])
{
    if (kernel == &exec_kernel)
        return exec_look(values, error);
    return registry_is_ours(kernel) && kernel->check != NULL ? kernel->check(values, loop, error) : 0;
}

const struct kernel_loader kernel_loader = {.load = kernel_load, .look = kernel_look};

kernel_iteration_ns *kernel_find_iteration_ns(const struct hdss_kernel *kernel)
{
    size_t i = 0;
    while (i < MODULES && modules[i].kernel != kernel)
        i++;
    return i < MODULES ? modules[i].iteration_ns : NULL;
}
