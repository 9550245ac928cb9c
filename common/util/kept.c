/* SPDX-License-Identifier: MIT */
/* Memory that is never freed: see kept.h. The list of this memory is never read. It only keeps leak checkers from
 * reporting the memory. */
#include "common/util/kept.h"

#include <stdlib.h>

struct kept {
    struct kept *next;
    void *memory;
};

static struct kept *newest;

void kept_add(void *memory)
{
    struct kept *kept = memory != NULL ? malloc(sizeof *kept) : NULL;
    if (kept == NULL)
        return;
    *kept = (struct kept){newest, memory};
    newest = kept;
}
