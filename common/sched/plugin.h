/* SPDX-License-Identifier: MIT */
/* Plug-ins as techniques: a `struct hdss_technique` of a user's shared object (hdss/technique.h) as a
 * `struct technique`, which is what all of HDSS knows. The rank that cuts has the plug-in loaded; the others have one
 * of its kind, whose chunks they never cut. Pure: whoever loads the shared object hands in its constant. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/error.h"
#include "hdss/technique.h"

struct technique_plugin {
    struct technique technique; /* first, so that a pointer to it is one to the whole */
    const struct hdss_technique *plugin;
    struct technique_param params[SCHED_PARAMS_MAX + 1];
    bool has_fallback[SCHED_PARAMS_MAX];
    union sched_value fallback[SCHED_PARAMS_MAX];
};

/* Makes a technique of the plug-in, after a look at its table. `name` is its name in specs, that of the file; name and
 * plug-in are borrowed for as long as the technique lives. -1 with one line. */
int technique_plugin_init(struct technique_plugin *made, const char *name, const struct hdss_technique *plugin,
                          struct error *error);

/* Traits of a plug-in that matter to ranks which do not cut by it. */
enum plugin_trait {
    PLUGIN_LEARNS = 1,    /* it wants sched_feedback() */
    PLUGIN_MAY_GROW = 2,  /* its loop may grow */
    PLUGIN_TRAITS_ALL = 3 /* both */
};

/* The traits of a technique: a set of enum plugin_trait. */
unsigned technique_traits(const struct technique *technique);

/* A technique with these traits that stands for a plug-in of another rank: it cuts nothing. */
const struct technique *technique_elsewhere(unsigned traits);
