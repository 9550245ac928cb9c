/* SPDX-License-Identifier: MIT */
/* Plug-ins as techniques: wraps a `struct hdss_technique` of a user's shared object (hdss/technique.h) in a
 * `struct technique`. The rank that cuts the chunks loads the plug-in. The other ranks use a stand-in with the
 * same traits, which cannot cut chunks. No I/O: the caller loads the shared object and passes its constant. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/error.h"
#include "hdss/technique.h"

struct technique_plugin {
    /* must be first: a pointer to this member is cast to a pointer to the whole structure */
    struct technique technique;
    const struct hdss_technique *plugin;
    struct technique_param params[SCHED_PARAMS_MAX + 1];
    bool has_fallback[SCHED_PARAMS_MAX];
    union sched_value fallback[SCHED_PARAMS_MAX];
};

/* Checks the plug-in's table and makes a technique of it. Borrows the plug-in and `name`. Specs use `name` for the
 * technique. */
int technique_plugin_init(struct technique_plugin *made, const char *name, const struct hdss_technique *plugin,
                          struct error *error);

/* Traits of a plug-in that ranks must know even if they do not cut chunks with it. */
enum plugin_trait { PLUGIN_LEARNS = 1, PLUGIN_MAY_GROW = 2, PLUGIN_TRAITS_ALL = 3 };

unsigned technique_traits(const struct technique *technique);

const struct technique *technique_elsewhere(unsigned traits);
