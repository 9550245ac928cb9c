/* SPDX-License-Identifier: MIT */
/* A trace as an OTF2 archive, for the tools that read the traces of Score-P: a folder that libotf2 writes.
 *
 * A worker is a location of its own, by node, and the supermaster is one. A chunk is a region, by the reason for which
 * the worker was given it, entered and left on the worker's location. The sizes of the chunks that were cut are a
 * metric of the supermaster's. What has no time at a worker is a marker: iterations that were not computed there, those
 * that an earlier run had done, and lost ranks.
 *
 * Events of a location must be in the order of their times, and rows come in that of their being settled, master by
 * master. So they are sorted (row_sorter.h), by location first: then one location is written at a time, and memory does
 * not grow with the workers, each of whose buffers takes some megabytes, nor with the chunks. libotf2 is used from one
 * thread of one process: its collective operations are serial. */
#include "common/trace/archive_folder.h"
#include "common/trace/otf2_definitions.h"
#include "common/trace/row_sorter.h"
#include "common/trace/writer.h"
#include "common/util/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the buffers of libotf2: the least for events, as these are written as soon as one is full. */
#define EVENT_BUFFER      (256 * 1024)
#define DEFINITION_BUFFER (4 * 1024 * 1024)

struct trace_archive {
    struct row_sorter *sorter;      /* owned */
    uint64_t *event_counts;         /* [workers + 1] of the workers, and of the supermaster; owned */
    OTF2_Archive *otf2;             /* owned, as all of libotf2; NULL: it is closed */
    OTF2_AttributeList *attributes; /* of the next event */
    OTF2_EvtWriter *events;         /* of `place`; NULL: all are written */
    OTF2_MarkerWriter *markers;     /* NULL: there is none yet */
    uint32_t place;                 /* of the location that is written: see archive_place_of() */
    uint64_t last_ns;               /* of its latest event */
    uint64_t end_ns;                /* of the latest event or marker of all */
    struct error problem;           /* the first that libotf2 has told of; empty where there was none */
};

/* --- problems of libotf2 --- */

/* Notes what libotf2 tells of, which would print it. */
static OTF2_ErrorCode note_otf2_problem(void *context, const char *file, uint64_t line, const char *function,
                                        OTF2_ErrorCode code, const char *format, va_list arguments)
    __attribute__((format(printf, 6, 0)));

static OTF2_ErrorCode note_otf2_problem(void *context, const char *file, uint64_t line, const char *function,
                                        OTF2_ErrorCode code, const char *format, va_list arguments)
{
    struct trace_archive *archive = context;
    char text[200];
    (void)file, (void)line, (void)function;
    vsnprintf(text, sizeof text, format, arguments);
    if (archive->problem.text[0] == '\0')
        error_set(&archive->problem, "libotf2: %.100s: %.150s", OTF2_Error_GetDescription(code), text);
    return code;
}

static bool has_otf2_problem(const struct trace_archive *archive)
{
    return archive->problem.text[0] != '\0';
}

/* Takes what a function of libotf2 returns. */
static void note_otf2_code(struct trace_archive *archive, OTF2_ErrorCode code)
{
    if (code != OTF2_SUCCESS && !has_otf2_problem(archive))
        error_set(&archive->problem, "libotf2: %.100s", OTF2_Error_GetDescription(code));
}

/* The same of one that returns what it makes. */
static bool is_made(struct trace_archive *archive, const void *made)
{
    if (made == NULL && !has_otf2_problem(archive))
        error_set(&archive->problem, "libotf2: out of memory");
    return made != NULL;
}

/* --- rows on their way to the sorter --- */

/* The places by which rows are sorted: the workers as the trace lists them, the supermaster, and then the markers. */
static uint32_t supermaster_place(const struct trace_writer *writer)
{
    return writer->about->workers;
}

static uint32_t marker_place(const struct trace_writer *writer)
{
    return writer->about->workers + 1;
}

static uint32_t archive_place_of(const struct trace_writer *writer, const struct chunk_row *row)
{
    const struct trace_worker *worker = trace_worker_of(writer, row->worker);
    if (row->kind == ROW_CUT)
        return supermaster_place(writer);
    return row->kind == ROW_CHUNK && worker != NULL && trace_row_has_stay(row)
               ? (uint32_t)(worker - writer->about->worker)
               : marker_place(writer);
}

static uint64_t time_if_known(const struct trace_writer *writer, uint64_t ns)
{
    return ns != ROW_UNKNOWN ? trace_time(writer, ns) : ROW_UNKNOWN;
}

/* Rows are sorted with times of the trace, as each master's clock is known only while its rows come. */
static void otf2_row(struct trace_writer *writer, const struct chunk_row *row)
{
    struct sorted_row sorted = {.place = archive_place_of(writer, row), .master = writer->master, .row = *row};
    struct chunk_row *timed = &sorted.row;
    timed->at_ns = trace_time(writer, row->at_ns);
    if (row->kind == ROW_CHUNK) {
        timed->asked_ns = time_if_known(writer, row->asked_ns);
        timed->begun_ns = time_if_known(writer, row->begun_ns);
        timed->ended_ns = time_if_known(writer, row->ended_ns);
        timed->settled_ns = time_if_known(writer, row->settled_ns);
    }
    sorted.at_ns = sorted.place < supermaster_place(writer)                     ? timed->begun_ns
                   : row->kind == ROW_CHUNK && timed->settled_ns != ROW_UNKNOWN ? timed->settled_ns
                                                                                : timed->at_ns;
    row_sorter_add(writer->archive->sorter, &sorted);
}

/* --- events --- */

/* Clocks of several masters, and rows of one chunk, may overlap: what is told later begins no earlier than what was
 * told before has ended. So of several rows of one chunk the first has the time, and the others have no length. */
static uint64_t next_time(struct trace_archive *archive, uint64_t ns)
{
    archive->last_ns = ns > archive->last_ns ? ns : archive->last_ns;
    archive->end_ns = archive->last_ns > archive->end_ns ? archive->last_ns : archive->end_ns;
    return archive->last_ns;
}

static void add_number(struct trace_archive *archive, OTF2_AttributeRef attribute, uint64_t value)
{
    note_otf2_code(archive, OTF2_AttributeList_AddUint64(archive->attributes, attribute, value));
}

static void add_rank(struct trace_archive *archive, OTF2_AttributeRef attribute, uint32_t value)
{
    note_otf2_code(archive, OTF2_AttributeList_AddUint32(archive->attributes, attribute, value));
}

static void add_time(struct trace_archive *archive, OTF2_AttributeRef attribute, uint64_t ns)
{
    if (ns != ROW_UNKNOWN)
        add_number(archive, attribute, ns);
}

static void write_stay(struct trace_archive *archive, const struct sorted_row *sorted)
{
    const struct chunk_row *row = &sorted->row;
    add_number(archive, ATTRIBUTE_FIRST, row->first);
    add_number(archive, ATTRIBUTE_COUNT, row->count);
    add_rank(archive, ATTRIBUTE_CHUNK, row->chunk);
    add_rank(archive, ATTRIBUTE_MASTER, sorted->master);
    note_otf2_code(archive, OTF2_AttributeList_AddStringRef(archive->attributes, ATTRIBUTE_FATE,
                                                            STRING_FATES + (OTF2_StringRef)row->fate));
    add_time(archive, ATTRIBUTE_ASKED, row->asked_ns);
    add_time(archive, ATTRIBUTE_ASSIGNED, row->at_ns);
    add_time(archive, ATTRIBUTE_STORED, row->settled_ns);
    if (row->compute_ns > 0)
        add_number(archive, ATTRIBUTE_COMPUTE, row->compute_ns);
    const OTF2_RegionRef region = row->reason;
    note_otf2_code(
        archive, OTF2_EvtWriter_Enter(archive->events, archive->attributes, next_time(archive, row->begun_ns), region));
    note_otf2_code(archive, OTF2_EvtWriter_Leave(archive->events, NULL, next_time(archive, row->ended_ns), region));
}

static void write_cut_event(struct trace_archive *archive, const struct chunk_row *row)
{
    const OTF2_Type type = OTF2_TYPE_UINT64;
    const OTF2_MetricValue value = {.unsigned_int = row->count};
    add_rank(archive, ATTRIBUTE_WORKER, row->worker);
    add_number(archive, ATTRIBUTE_FIRST, row->first);
    add_number(archive, ATTRIBUTE_FORMULA, row->formula);
    note_otf2_code(archive, OTF2_EvtWriter_Metric(archive->events, archive->attributes, next_time(archive, row->at_ns),
                                                  METRIC_CHUNK_SIZE, 1, &type, &value));
}

/* --- markers --- */

/* A marker is of a category for each fate, for lost ranks, or for what an earlier run had done: the number of a
 * category is that of the kind of record. */
static enum trace_record_kind category_of(const struct chunk_row *row)
{
    return row->kind == ROW_RANK_LOST ? CHUNK_RANK_LOST : row->kind == ROW_RESUMED ? CHUNK_RESUMED : row->fate;
}

static const char *category_name(enum trace_record_kind category)
{
    return category == CHUNK_RANK_LOST ? "rank lost"
           : category == CHUNK_RESUMED ? "resumed"
                                       : chunk_fate_name(category);
}

static OTF2_MarkerSeverity severity_of(enum trace_record_kind category)
{
    return category == CHUNK_RANK_LOST                          ? OTF2_SEVERITY_HIGH
           : category == CHUNK_LOST || category == CHUNK_FAILED ? OTF2_SEVERITY_MEDIUM
           : category == CHUNK_UNDONE || category == 0          ? OTF2_SEVERITY_LOW
                                                                : OTF2_SEVERITY_NONE;
}

static void open_markers(struct trace_archive *archive)
{
    archive->markers = OTF2_Archive_GetMarkerWriter(archive->otf2);
    if (!is_made(archive, archive->markers))
        return;
    for (unsigned category = 0; category < CHUNK_KINDS; category = category == 0 ? CHUNK_STORED : category + 1)
        note_otf2_code(archive, OTF2_MarkerWriter_WriteDefMarker(archive->markers, category, "HDSS",
                                                                 category_name((enum trace_record_kind)category),
                                                                 severity_of((enum trace_record_kind)category)));
}

static void describe_marker(const struct sorted_row *sorted, char text[200])
{
    const struct chunk_row *row = &sorted->row;
    if (row->kind == ROW_RANK_LOST)
        snprintf(text, 200, "rank %" PRIu32, row->worker);
    else if (row->kind == ROW_RESUMED)
        snprintf(text, 200, "first %" PRIu64 " count %" PRIu64, row->first, row->count);
    else
        snprintf(text, 200,
                 "chunk %" PRIu32 " of worker %" PRIu32 " by rank %" PRIu32 ": first %" PRIu64 " count %" PRIu64
                 " reason %s",
                 row->chunk, row->worker, sorted->master, row->first, row->count, chunk_reason_name(row->reason));
}

static void write_marker(const struct trace_writer *writer, const struct sorted_row *sorted)
{
    struct trace_archive *archive = writer->archive;
    const struct chunk_row *row = &sorted->row;
    const bool has_location = row->kind != ROW_RESUMED && trace_worker_of(writer, row->worker) != NULL;
    char text[200];
    if (archive->markers == NULL)
        open_markers(archive);
    if (archive->markers == NULL)
        return;
    describe_marker(sorted, text);
    archive->end_ns = sorted->at_ns > archive->end_ns ? sorted->at_ns : archive->end_ns;
    note_otf2_code(archive,
                   OTF2_MarkerWriter_WriteMarker(archive->markers, sorted->at_ns, 0, (OTF2_MarkerRef)category_of(row),
                                                 has_location ? OTF2_MARKER_SCOPE_LOCATION : OTF2_MARKER_SCOPE_GLOBAL,
                                                 has_location ? row->worker : OTF2_UNDEFINED_UINT64, text));
}

/* --- locations, one after another --- */

static OTF2_LocationRef location_of(const struct trace_writer *writer, uint32_t place)
{
    return place < writer->about->workers ? writer->about->worker[place].rank : writer->supermaster;
}

static void open_location(const struct trace_writer *writer, uint32_t place)
{
    struct trace_archive *archive = writer->archive;
    archive->place = place;
    archive->last_ns = 0;
    archive->events = OTF2_Archive_GetEvtWriter(archive->otf2, location_of(writer, place));
    is_made(archive, archive->events);
}

static void close_location(struct trace_archive *archive)
{
    note_otf2_code(archive, OTF2_EvtWriter_GetNumberOfEvents(archive->events, &archive->event_counts[archive->place]));
    note_otf2_code(archive, OTF2_Archive_CloseEvtWriter(archive->otf2, archive->events));
    archive->events = NULL;
}

/* Goes on to the place, past locations without an event, which have a file as well. */
static void go_to_place(const struct trace_writer *writer, uint32_t place)
{
    struct trace_archive *archive = writer->archive;
    while (archive->events != NULL && archive->place < place) {
        const uint32_t next = archive->place + 1;
        close_location(archive);
        if (next < marker_place(writer))
            open_location(writer, next);
    }
}

static void take_sorted_row(void *context, const struct sorted_row *sorted)
{
    const struct trace_writer *writer = context;
    struct trace_archive *archive = writer->archive;
    if (!has_otf2_problem(archive))
        go_to_place(writer, sorted->place);
    if (has_otf2_problem(archive))
        return;
    if (sorted->place == marker_place(writer))
        write_marker(writer, sorted);
    else if (sorted->place == supermaster_place(writer))
        write_cut_event(archive, &sorted->row);
    else
        write_stay(archive, sorted);
}

static void write_all_locations(struct trace_writer *writer)
{
    struct trace_archive *archive = writer->archive;
    struct error unsorted;
    note_otf2_code(archive, OTF2_Archive_OpenEvtFiles(archive->otf2));
    open_location(writer, 0);
    if (row_sorter_give(archive->sorter, take_sorted_row, writer, &unsorted) < 0 && !has_otf2_problem(archive))
        archive->problem = unsorted;
    go_to_place(writer, marker_place(writer));
    note_otf2_code(archive, OTF2_Archive_CloseEvtFiles(archive->otf2));
    if (archive->markers != NULL)
        note_otf2_code(archive, OTF2_Archive_CloseMarkerWriter(archive->otf2, archive->markers));
}

/* --- definitions --- */

/* Each location has a file of definitions of its own as well, which is empty: all are global. */
static void write_local_definitions(const struct trace_writer *writer)
{
    struct trace_archive *archive = writer->archive;
    note_otf2_code(archive, OTF2_Archive_OpenDefFiles(archive->otf2));
    for (uint32_t place = 0; place < marker_place(writer) && !has_otf2_problem(archive); place++) {
        OTF2_DefWriter *definitions = OTF2_Archive_GetDefWriter(archive->otf2, location_of(writer, place));
        if (is_made(archive, definitions))
            note_otf2_code(archive, OTF2_Archive_CloseDefWriter(archive->otf2, definitions));
    }
    note_otf2_code(archive, OTF2_Archive_CloseDefFiles(archive->otf2));
}

static void write_all_definitions(const struct trace_writer *writer)
{
    struct trace_archive *archive = writer->archive;
    write_local_definitions(writer);
    OTF2_GlobalDefWriter *definitions = OTF2_Archive_GetGlobalDefWriter(archive->otf2);
    if (!is_made(archive, definitions))
        return;
    if (!archive_define(definitions, writer, archive->event_counts, archive->end_ns) && !has_otf2_problem(archive))
        error_set(&archive->problem, "out of memory for the definitions of a trace");
    note_otf2_code(archive, OTF2_Archive_CloseGlobalDefWriter(archive->otf2, definitions));
}

/* --- the archive --- */

/* A full buffer is written to its file. */
static OTF2_FlushType always_flush(void *context, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                                   bool is_last)
{
    (void)context, (void)type, (void)location, (void)caller, (void)is_last;
    return OTF2_FLUSH;
}

static void open_otf2(const struct trace_writer *writer)
{
    static const OTF2_FlushCallbacks callbacks = {.otf2_pre_flush = always_flush};
    const struct trace_about *about = writer->about;
    struct trace_archive *archive = writer->archive;
    char text[200];
    archive->attributes = OTF2_AttributeList_New();
    archive->otf2 = OTF2_Archive_Open(writer->unfinished, ARCHIVE_NAME, OTF2_FILEMODE_WRITE, EVENT_BUFFER,
                                      DEFINITION_BUFFER, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!is_made(archive, archive->attributes) || !is_made(archive, archive->otf2))
        return;
    note_otf2_code(archive, OTF2_Archive_SetFlushCallbacks(archive->otf2, &callbacks, NULL));
    note_otf2_code(archive, OTF2_Archive_SetSerialCollectiveCallbacks(archive->otf2));
    snprintf(text, sizeof text, "HDSS %.60s", about->version);
    note_otf2_code(archive, OTF2_Archive_SetCreator(archive->otf2, text));
    snprintf(text, sizeof text, "%.60s, %.60s, %" PRIu64 " iterations, %u workers, %u masters", about->kernel,
             about->technique, about->iterations, about->workers, about->masters);
    note_otf2_code(archive, OTF2_Archive_SetDescription(archive->otf2, text));
}

/* Closes what is open, which libotf2 does in any case; the folder may then be complete. */
static void close_otf2(struct trace_archive *archive)
{
    if (archive->otf2 != NULL)
        note_otf2_code(archive, OTF2_Archive_Close(archive->otf2));
    if (archive->attributes != NULL)
        OTF2_AttributeList_Delete(archive->attributes);
    archive->otf2 = NULL;
    archive->attributes = NULL;
    archive->events = NULL;
    archive->markers = NULL;
}

static int otf2_finish(struct trace_writer *writer, const char *path, struct error *error)
{
    struct trace_archive *archive = writer->archive;
    OTF2_ErrorCallback before = OTF2_Error_RegisterCallback(note_otf2_problem, archive);
    open_otf2(writer);
    if (!has_otf2_problem(archive))
        write_all_locations(writer);
    if (!has_otf2_problem(archive))
        write_all_definitions(writer);
    close_otf2(archive);
    OTF2_Error_RegisterCallback(before, NULL);
    if (!has_otf2_problem(archive))
        return archive_folder_place(writer->unfinished, path, error);
    return error_set(error, "%.200s: cannot be written: %.300s", writer->unfinished, archive->problem.text);
}

static void otf2_discard(struct trace_writer *writer)
{
    struct trace_archive *archive = writer->archive;
    struct error unused;
    if (archive != NULL) {
        row_sorter_free(archive->sorter);
        free(archive->event_counts);
        archive_folder_remove(writer->unfinished, &unused);
    }
    free(archive);
    writer->archive = NULL;
}

static int otf2_open(struct trace_writer *writer, struct error *error)
{
    struct text name;
    if (archive_folder_remove(writer->unfinished, error) < 0)
        return -1;
    struct trace_archive *archive = writer->archive = calloc(1, sizeof *archive);
    if (archive != NULL)
        archive->event_counts = calloc(writer->about->workers + 1, sizeof *archive->event_counts);
    text_init(&name);
    text_add(&name, "%s.rows", writer->unfinished);
    char *rows = text_take(&name);
    if (archive == NULL || archive->event_counts == NULL || rows == NULL) {
        free(rows);
        return error_set(error, "out of memory for a trace");
    }
    archive->sorter = row_sorter_new(rows, error);
    free(rows);
    return archive->sorter != NULL ? 0 : -1;
}

static void otf2_begin(struct trace_writer *writer)
{
    (void)writer; /* all is written when the events are counted */
}

const struct trace_format trace_otf2 = {.ending = ".otf2",
                                        .check = archive_folder_check,
                                        .open = otf2_open,
                                        .begin = otf2_begin,
                                        .row = otf2_row,
                                        .finish = otf2_finish,
                                        .discard = otf2_discard};
