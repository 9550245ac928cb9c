/* SPDX-License-Identifier: MIT */
/* The table of all techniques, and look-up by name. The list of names is TECHNIQUE_LIST in technique.h. */
#include "common/sched/sched.h"
#include "common/sched/technique.h"

#include <ctype.h>

#define TECHNIQUE_ENTRY(name) &technique_##name,
static const struct technique *const techniques[] = {TECHNIQUE_LIST(TECHNIQUE_ENTRY)};
#undef TECHNIQUE_ENTRY

const struct technique *const *sched_techniques(size_t *count)
{
    *count = sizeof techniques / sizeof *techniques;
    return techniques;
}

/* Returns whether `given` is this name. Case is ignored. `given` may have underscores in place of dashes, as in C
 * identifiers. */
static bool is_spelled(const char *name, const char *given)
{
    while (*name != '\0' &&
           (tolower((unsigned char)*given) == tolower((unsigned char)*name) || (*name == '-' && *given == '_'))) {
        name++;
        given++;
    }
    return *name == '\0' && *given == '\0';
}

static bool is_named(const struct technique *technique, const char *name)
{
    return is_spelled(technique->name, name) || (technique->alias != NULL && is_spelled(technique->alias, name));
}

const struct technique *sched_find(const char *name)
{
    for (size_t i = 0; i < sizeof techniques / sizeof *techniques; i++)
        if (is_named(techniques[i], name))
            return techniques[i];
    return NULL;
}
