/* SPDX-License-Identifier: MIT */
/* What `hdss report` reads and writes of a trace: it is refused with one line that names file and line, or its chunks
 * stand in order, and neither the page nor the chart has markup of its texts. The first byte says in pieces of which
 * size it comes. */
#include "tests/fuzz/fuzz.h"
#include "deploy/cli/report/figures.h"
#include "deploy/cli/report/gantt.h"
#include "deploy/cli/report/page.h"

#include <math.h>
#include <string.h>

#define MARK "<mark" /* no page has it */

static bool read_pieces(struct run_trace *trace, const uint8_t *bytes, size_t size, size_t piece, struct error *error)
{
    struct trace_reader reader;
    bool ok = true;
    REQUIRE(trace_reader_init(&reader, "trace.csv", run_trace_take, trace, error) == 0);
    for (size_t at = 0; ok && at < size; at += piece)
        ok = trace_reader_take(&reader, (const char *)bytes + at, size - at < piece ? size - at : piece, error) == 0;
    ok = ok && trace_reader_end(&reader, error) == 0;
    trace_reader_fini(&reader);
    return ok;
}

static void check_order(const struct run_trace *trace)
{
    size_t at = 0;
    for (size_t w = 0; w < trace->worker_count; w++) {
        const struct run_worker *worker = &trace->workers[w];
        REQUIRE(worker->first == at);
        for (size_t i = 0; i < worker->count; i++, at++) {
            double from_s, to_s;
            REQUIRE(trace->chunks[at].worker == w);
            if (run_chunk_span(trace, &trace->chunks[at], run_trace_end(trace), &from_s, &to_s))
                REQUIRE(from_s >= 0 && to_s >= from_s);
        }
    }
    REQUIRE(at == trace->chunk_count);
}

/* Each worker and each chunk is in one branch, and no pool has less than nothing at any time. */
static void check_tree(const struct run_tree *tree, const struct run_trace *trace)
{
    uint64_t workers = 0, chunks = 0;
    for (size_t b = 0; b < tree->branch_count; b++) {
        const struct tree_branch *branch = &tree->branches[b];
        workers += branch->workers;
        chunks += branch->counts.chunks;
        for (unsigned i = 0; branch->pool != NULL && i < POOL_PARTS; i++)
            REQUIRE(branch->pool->chunks[i] <= trace->cut_count &&
                    branch->pool->iterations[i] <= branch->pool->most_iterations);
        REQUIRE(branch->pool == NULL || (branch->pool->empty >= 0 && branch->pool->mean_chunks >= 0));
    }
    REQUIRE(workers == trace->worker_count && chunks == tree->all.counts.chunks);
}

static void check_pages(const struct run_trace *trace)
{
    struct figures figures;
    struct run_tree tree;
    struct error error;
    struct text text;
    figures_init(&figures);
    REQUIRE(figures_of_trace(&figures, trace, &error) == 0);
    REQUIRE(figures.elapsed_s >= 0 && figures.compute_s >= 0);
    REQUIRE(run_tree_make(&tree, trace, figures.begin_s, figures.begin_s + figures.elapsed_s, &error) == 0);
    check_tree(&tree, trace);
    text_init(&text);
    page_html(&text, &(struct page_content){.figures = &figures, .trace = trace, .tree = &tree, .name = "trace.csv"});
    gantt_svg(&text, trace, figures.kernel != NULL ? figures.kernel : "");
    REQUIRE(text.data != NULL && strstr(text.data, MARK) == NULL);
    text_fini(&text);
    run_tree_fini(&tree);
    figures_fini(&figures);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct run_trace trace;
    struct error error = {0};
    if (size == 0)
        return 0;
    run_trace_init(&trace);
    if (read_pieces(&trace, bytes + 1, size - 1, 1 + (size_t)bytes[0], &error)) {
        REQUIRE(run_trace_order(&trace, &error) == 0);
        check_order(&trace);
        check_pages(&trace);
    } else {
        require_one_line(error.text);
        REQUIRE(strncmp(error.text, "trace.csv:", 10) == 0);
    }
    run_trace_fini(&trace);
    return 0;
}
