/* SPDX-License-Identifier: MIT */
/* The figures of all ranks, and a report like the supermaster's. */
#include "deploy/library/loop.h"

#include "common/os/files.h"
#include "hdss/kernel.h"

#include <stdlib.h>
#include <string.h>

static void totals_find_span(const struct figures *all, int ranks, uint64_t *first_ns, uint64_t *last_ns)
{
    *first_ns = UINT64_MAX;
    *last_ns = 0;
    for (int i = 0; i < ranks; i++) {
        if (all[i].finish_ns == UINT64_MAX)
            continue;
        *first_ns = all[i].first_ns < *first_ns ? all[i].first_ns : *first_ns;
        *last_ns = all[i].finish_ns > *last_ns ? all[i].finish_ns : *last_ns;
    }
}

static enum report_topology topology_of(enum api_mode mode)
{
    switch (mode) {
    case API_HIERARCHICAL: return REPORT_HIERARCHICAL;
    case API_TWO_SIDED: return REPORT_DCA_TWO_SIDED;
    case API_RMA: return REPORT_DCA_RMA;
    case API_NODE: return REPORT_DCA_NODE;
    default: return REPORT_CENTRAL;
    }
}

static void totals_fill_row(const struct hdss_shared_loop *loop, int rank, const struct figures *figures,
                            uint64_t first_ns, struct report_worker *row)
{
    const struct team *team = &loop->team;
    bool by_group = loop->settings.mode == API_HIERARCHICAL || loop->settings.mode == API_NODE;
    unsigned group = team->group_of[rank];
    *row = (struct report_worker){
        .rank = (unsigned)rank,
        .node = group,
        .master = by_group ? (unsigned)team->leaders[group] : 0,
        .power = loop->speeds != NULL ? loop->speeds[rank] : 1,
        .iterations = figures->iterations,
        .chunks = figures->chunks,
        .compute_s = (double)figures->compute_ns / 1e9,
        .wait_s = (double)figures->wait_ns / 1e9,
        .finish_s = figures->finish_ns != UINT64_MAX ? (double)(figures->finish_ns - first_ns) / 1e9 : 0,
    };
}

static void totals_fill(const struct hdss_shared_loop *loop, const struct figures *all, struct report *report,
                        struct report_worker *rows)
{
    const struct team *team = &loop->team;
    uint64_t first_ns, last_ns;
    totals_find_span(all, team->ranks, &first_ns, &last_ns);
    *report = (struct report){
        .version = HDSS_VERSION,
        .topology = topology_of(loop->settings.mode),
        .technique = loop->settings.technique,
        .choice = auto_choice(loop),
        .weighting = loop->settings.weighting,
        .min_chunk = loop->settings.min_chunk,
        .iterations = loop->iterations,
        .masters = loop->settings.mode == API_HIERARCHICAL ? team->groups : 0,
        .workers = (unsigned)team->ranks,
        .nodes = team->groups,
        .started_at = loop->started_at,
        .elapsed_s = first_ns != UINT64_MAX ? (double)(last_ns - first_ns) / 1e9 : 0,
        .startup_s = first_ns != UINT64_MAX ? (double)first_ns / 1e9 : 0,
        .worker_stats = rows,
    };
    for (int i = 0; i < team->ranks; i++) {
        totals_fill_row(loop, i, &all[i], first_ns, &rows[i]);
        report->chunks += all[i].chunks;
        report->refills += all[i].refills;
        report->messages += all[i].messages;
        report->bytes_on_wire += all[i].bytes;
        report->done += all[i].iterations;
    }
    report->outcome = report->done < report->iterations ? REPORT_DRAINED : REPORT_DONE;
    report_compute(report);
}

int totals_gather(struct hdss_shared_loop *loop, struct report *report, struct report_worker **rows)
{
    const struct team *team = &loop->team;
    bool leads = team->rank == 0;
    struct figures *all = leads ? calloc((size_t)team->ranks, sizeof *all) : NULL;
    *rows = leads ? calloc((size_t)team->ranks, sizeof **rows) : NULL;
    if (leads && (all == NULL || *rows == NULL))
        error_set(&loop->error, "out of memory for the figures of %d ranks", team->ranks);
    int status = team_agree(team, leads && (all == NULL || *rows == NULL) ? HDSS_ERROR_MEMORY : HDSS_OK, &loop->error);
    if (status == HDSS_OK) {
        MPI_Gather(&loop->figures, sizeof *all, MPI_BYTE, all, sizeof *all, MPI_BYTE, 0, team->world);
        if (leads)
            totals_fill(loop, all, report, *rows);
    } else {
        free(*rows);
        *rows = NULL;
    }
    free(all);
    return status < 0 ? -1 : 0;
}

int totals_write(struct hdss_shared_loop *loop, const struct report *report)
{
    const struct hdss_kernel kernel = {.name = loop->settings.name};
    struct report named = *report;
    named.kernel = &kernel;
    char *text = report_json(&named);
    if (text == NULL)
        return error_set(&loop->error, "out of memory for the report"), HDSS_ERROR_MEMORY;
    int written = file_write(loop->settings.report, text, strlen(text), &loop->error);
    free(text);
    return written < 0 ? HDSS_ERROR_REPORT : HDSS_OK;
}
