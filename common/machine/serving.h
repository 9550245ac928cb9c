/* The parts of the service, for its own files only. */
#pragma once

#include "common/machine/service.h"

static inline struct grant *grant_slot(struct served *worker, uint32_t chunk)
{
    return &worker->grants[chunk % GRANTS_MAX];
}

/* again.c: what is handed out again */
/* Has the range handed out again, or given up where it has taken too many workers down. */
void service_return(struct service *service, const struct range *range, unsigned attempts);
/* Takes what worker `w` is to get of what was returned, which is something. */
void service_take_returned(struct service *service, unsigned w, struct returned *taken);
/* The chunk that is overdue for longest, of another worker than `w`, and whose it is; NULL: none at present. */
struct grant *service_find_overdue(struct service *service, unsigned w, uint64_t now_ns, unsigned *other);
/* Two workers have the rest of a chunk from now on. */
void service_share(struct service *service, struct grant *old, unsigned old_worker, struct grant *copy,
                   unsigned copy_worker);
/* Results come of a chunk that another worker has, too: whether they are dropped, and then lets the next `count` go. */
bool service_drops(struct service *service, unsigned w, struct grant *grant, uint64_t count,
                   const struct message *message, struct actions *actions);
