/* SPDX-License-Identifier: MIT */
/* The built-in kernels by name: see kernels.h. */
#include "worker/kernels/kernels.h"

#include "common/util/suggest.h"
#include "worker/kernels/exec/exec.h"

#include <stdio.h>
#include <string.h>

static const struct hdss_kernel *const all[] = {
    &adjoint_kernel, &evrard_kernel,     &exec_kernel,      &floyd_steinberg_kernel,
    &hydro_kernel,   &mandelbrot_kernel, &spinimage_kernel, &synthetic_kernel,
};

enum { KERNELS = sizeof all / sizeof all[0] };

const struct hdss_kernel *const *kernels(size_t *count)
{
    *count = KERNELS;
    return all;
}

const struct hdss_kernel *kernel_find(const char *name)
{
    for (size_t i = 0; i < KERNELS; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}

static bool registry_is_ours(const struct hdss_kernel *kernel)
{
    size_t i = 0;
    while (i < KERNELS && all[i] != kernel)
        i++;
    return i < KERNELS;
}

int kernel_look(const struct hdss_kernel *kernel, const union hdss_value *values, const struct hdss_loop *loop,
                char error[HDSS_ERROR_MAX])
{
    if (kernel == &exec_kernel)
        return exec_look(values, error);
    return registry_is_ours(kernel) && kernel->check != NULL ? kernel->check(values, loop, error) : 0;
}

int kernel_unknown(const char *name, struct error *error)
{
    char known[200] = "", meant[60] = ";";
    size_t used = 0;
    struct suggestion nearest;
    suggest_init(&nearest, name);
    for (size_t i = 0; i < KERNELS && used < sizeof known; i++) {
        suggest_offer(&nearest, all[i]->name);
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", all[i]->name);
    }
    if (nearest.name != NULL)
        snprintf(meant, sizeof meant, "; did you mean %.40s?", nearest.name);
    return error_set(error, "unknown kernel '%.60s'%s accepted: %s", name, meant, known);
}
