/* SPDX-License-Identifier: MIT */
/* Asking the sessions of this user for what `hdss top` shows: a few questions for each at a time, of which none makes a
 * supermaster go through more jobs or ranks than fit on some screens. */
#pragma once

#include "deploy/cli/control_client.h"
#include "deploy/cli/top/model.h"
#include "deploy/cli/top/ui.h"

/* A session, and the connection to it. */
struct top_line_to {
    char name[CONTROL_NAME_MAX];
    struct control_client client;
    bool is_set, was_silent, has_answered, is_there;
    json_t *over;      /* answer about the jobs that are over; owned; NULL: not asked */
    double over_count; /* jobs that were over then */
};

struct top_gather {
    struct top_line_to *lines; /* [count]; owned */
    size_t count, room;
    const char *only;             /* the one session that is asked; NULL: all; borrowed */
    char looked[TOP_ID_MAX];      /* the job whose ranks the model has */
    size_t place;                 /* the next page of ranks */
    char running[64][TOP_ID_MAX]; /* [running_count] jobs that ran the last time */
    unsigned running_count;
};

void top_gather_init(struct top_gather *gather, const char *only);
void top_gather_fini(struct top_gather *gather);

/* Asks for all that is shown, and notes in the model what has ended since the last time. With `all_ranks` all pages of
 * ranks are asked for, else the next one of the job that is looked into. -1 when memory is out. */
int top_gather_look(struct top_gather *gather, struct top_model *model, const struct top_ui *ui, bool all_ranks);

/* Has the job cancelled, and notes in the model what came of it. */
void top_gather_cancel(struct top_gather *gather, struct top_model *model, const char *id);
