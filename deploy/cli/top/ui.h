/* SPDX-License-Identifier: MIT */
/* Where the user of `hdss top` is: what is shown, in which order, what is selected, and what a key does. Pure: a key
 * comes in, the state changes, and what is to be done is returned. */
#pragma once

#include "deploy/cli/top/model.h"
#include "deploy/cli/top/sum.h"

/* The room for the ID of a job, with the NUL. */
#define TOP_ID_MAX (CONTROL_NAME_MAX + 24)

/* Workers up to which all of them are shown, and not only their groups. */
#define TOP_UNFOLDED_MAX 32

enum top_key {
    TOP_KEY_NONE,
    TOP_KEY_UP,
    TOP_KEY_DOWN,
    TOP_KEY_PAGE_UP,
    TOP_KEY_PAGE_DOWN,
    TOP_KEY_FIRST,
    TOP_KEY_LAST,
    TOP_KEY_ENTER,
    TOP_KEY_BACK, /* Esc */
    TOP_KEY_QUIT,
    TOP_KEY_END, /* a signal that ends the program */
    TOP_KEY_SORT,
    TOP_KEY_CANCEL,
    TOP_KEY_ALL,
    TOP_KEY_HELP,
    TOP_KEY_YES,
    TOP_KEY_OTHER,
};

/* Deeds that a key asks for. */
enum top_act {
    TOP_NOTHING,
    TOP_END,
    TOP_LOOK,   /* ask at once: another job is looked into, or others are listed */
    TOP_CANCEL, /* the job `ui->asked` */
};

enum top_job_order { JOBS_BY_ID, JOBS_BY_DONE, JOBS_BY_RATE, JOBS_BY_END, JOB_ORDERS };
enum top_rank_order { RANKS_BY_GROUP, RANKS_BY_TIME, RANKS_BY_BUSY, RANKS_BY_DONE, RANK_ORDERS };

enum top_row_kind { ROW_JOB, ROW_GROUP, ROW_RANK };

struct top_row {
    enum top_row_kind kind;
    size_t index; /* of the job, the group or the rank */
};

struct top_rows {
    struct top_row *items; /* [count] as they are shown; owned */
    size_t count;
};

struct top_ui {
    bool is_inside;       /* a job is looked into */
    char job[TOP_ID_MAX]; /* its ID */
    bool is_alone;        /* the user has named the job: there is no list to go back to */
    unsigned job_order, rank_order;
    char selected_id[TOP_ID_MAX]; /* of the list; empty: the first one */
    size_t selected;              /* among the rows at hand */
    bool has_open, opens_all;     /* groups whose workers are shown: one, or all */
    unsigned open;                /* number of the one group */
    bool shows_over;              /* jobs that are over are listed, too */
    bool asks;                    /* whether to cancel `asked` */
    char asked[TOP_ID_MAX];
    bool helps; /* the page about the keys is shown */
};

/* The rows that are shown, in their order; `sum` is that of the model. -1 when memory is out. */
int top_rows_make(struct top_rows *rows, const struct top_model *model, const struct top_sum *sum,
                  const struct top_ui *ui);
void top_rows_fini(struct top_rows *rows);

/* The rows are others than before: the job that was selected stays so, wherever it is now. */
void top_ui_settle(struct top_ui *ui, const struct top_model *model, const struct top_rows *rows);

/* Takes a key; `page` is the number of rows that are shown at once. */
enum top_act top_ui_key(struct top_ui *ui, const struct top_model *model, const struct top_sum *sum,
                        const struct top_rows *rows, size_t page, enum top_key key);

/* The name of the order of the rows. */
const char *top_ui_order_name(const struct top_ui *ui);
