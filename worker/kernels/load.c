/* SPDX-License-Identifier: MIT */
/* Loads kernels: see load.h. A shared object is checked carefully: it may not be a kernel, or be built for another
 * version of the header. */
#include "worker/kernels/load.h"

#include "common/config/params.h"
#include "common/os/objects.h"

#include <dlfcn.h>
#include <string.h>

#define KERNEL_SYMBOL "hdss_kernel"
#define PYTHON_SYMBOL "hdss_python_kernel"

/* Makes the kernel "module.function" in the Python module. NULL on failure. */
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

int kernel_load_object(const char *name, const struct hdss_kernel **kernel, void **handle, struct error *error)
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

int kernel_load_python(const char *name, const struct hdss_kernel **kernel, struct error *error)
{
    char text[HDSS_ERROR_MAX] = "";
    python_kernel *find = (python_kernel *)object_find_python(&kernel_objects, name, PYTHON_SYMBOL, error);
    if (find == NULL)
        return -1;
    *kernel = find(name + strlen(OBJECT_PYTHON), text);
    return *kernel != NULL ? 0 : error_set(error, "kernel %.60s: %.300s", name, text);
}
