/* SPDX-License-Identifier: MIT */
/* Every file that a later process reads what an earlier one has written, with any byte changed and cut at any length:
 * it says what it said, or is told to be damaged. It never says less without a word. */
#include "common/job/journal_format.h"
#include "common/results/parts.h"
#include "common/results/results.h"
#include "common/stream/ticket.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "common/util/text.h"
#include "hdss/kernel.h"
#include "proto/block.h"
#include "proto/wire.h"
#include "supermaster/queue.h"
#include "supermaster/set/queue_format.h"
#include "tests/lib/scratch.h"
#include "tests/lib/suite.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BYTES_MAX = 8192, RECORDS_MAX = 9 };

static char folder[] = "/tmp/hdss-replay-XXXXXX";
static struct error error;

#define OK(call) ck_assert_msg((call) == 0, "%s", error.text)

/* A kind of file. */
struct kind {
    /* Writes one to `bytes`, and returns how long it is. */
    size_t (*write)(unsigned char *bytes);
    /* Reads one, and adds what it says to the text. Returns whether it is told that something is wrong. */
    bool (*read)(unsigned char *bytes, size_t size, struct text *text);
    /* What is whole of a file in which one byte is changed, beside that it is told; NULL: nothing more. */
    void (*check)(void);
    /* True where one that is cut behind a record is as a killed run leaves it, and what is missing is done again. It
     * has at most RECORDS_MAX. */
    bool may_be_earlier;
};

/* --- the queue of a set --- */

enum { JOBS = 6 };

static size_t jobs_known;
static uint32_t newest_known;

static void submit(struct queue *queue, struct queue_notes *notes, uint32_t after, bool is_open)
{
    struct submission submission = {.weight = 1, .folder = strdup("/a"), .word_count = 1, .is_open = is_open};
    submission.words = (char **)calloc(2, sizeof *submission.words);
    submission.words[0] = strdup("k");
    submission.environment = (char **)calloc(1, sizeof *submission.environment);
    submission.after = calloc(1, sizeof *submission.after);
    submission.after_count = after > 0;
    submission.after[0] = after;
    struct queue_job *job = queue_submit(queue, &submission, 10, &error);
    ck_assert_msg(job != NULL, "%s", error.text);
    queue_note_submitted(notes, job);
}

static void begin(struct queue *queue, struct queue_notes *notes)
{
    struct queue_job *job = queue_next(queue);
    queue_begun(queue, job, 20);
    queue_note_begun(notes, job);
}

static void end(struct queue *queue, struct queue_notes *notes, uint32_t id, int status)
{
    struct queue_job *job = queue_find(queue, id);
    queue_keep_figures(job, &(struct queue_figures){.done = 5, .total = 9, .elapsed_s = 1.5, .texts = {"gss"}});
    ck_assert(queue_over(queue, job, status, 30));
    queue_note_over(notes, job);
}

static size_t write_queue(unsigned char *bytes)
{
    struct queue queue;
    struct queue_notes notes = {0};
    queue_init(&queue, 2);
    submit(&queue, &notes, 0, false);
    queue_note_all(&notes, &queue);
    submit(&queue, &notes, 0, false);
    begin(&queue, &notes);
    begin(&queue, &notes);
    submit(&queue, &notes, 1, false);
    submit(&queue, &notes, 3, false);
    submit(&queue, &notes, 0, true);
    queue_set_items(&queue, queue_find(&queue, 5), &(struct queue_items){7, 100, false});
    queue_note_items(&notes, queue_find(&queue, 5));
    end(&queue, &notes, 1, EXIT_STATUS_DONE);
    begin(&queue, &notes);
    submit(&queue, &notes, 0, false);
    queue_cancel(&queue, queue_find(&queue, 6), 40);
    queue_note_cancelled(&notes, queue_find(&queue, 6));
    end(&queue, &notes, 2, EXIT_STATUS_FAILED);
    queue_note_set_over(&notes);
    const size_t size = notes.size;
    ck_assert(!notes.failed && size <= BYTES_MAX && queue.newest == JOBS);
    memcpy(bytes, notes.bytes, size);
    queue_notes_fini(&notes);
    queue_fini(&queue);
    return size;
}

static bool read_queue(unsigned char *bytes, size_t size, struct text *text)
{
    struct queue queue;
    struct queue_damage damage;
    queue_init(&queue, 2);
    const int result = queue_replay(&queue, bytes, size, &damage, &error);
    queue_check(&queue);
    jobs_known = 0;
    newest_known = queue.newest;
    for (const struct queue_job *job = queue.first; job != NULL; job = job->next, jobs_known++)
        text_add(text, "%" PRIu32 " %d %d %" PRIu32 " %d %" PRIu64 " %" PRIu64 " %s, ", job->id, (int)job->state,
                 job->status, job->cancelled_by, (int)job->is_cancelled, job->items.count, job->figures.total,
                 job->submission.words[0]);
    text_add(text, "%" PRIu32, queue.newest);
    queue_fini(&queue);
    return result < 0 || queue_is_damaged(&damage) || damage.is_unended;
}

/* One byte costs the record that it is in, and no number is given twice. */
static void check_queue(void)
{
    ck_assert_uint_ge(jobs_known, JOBS - 1);
    ck_assert_uint_ge(newest_known, JOBS);
}

/* --- the journal of a run --- */

static size_t put_journal(unsigned char *bytes, bool ends)
{
    static const char name[] = "the kernel=one\0width=5\0";
    static const struct range done[] = {{10, 20}, {35, 25}}, rest[] = {{30, 5}, {60, 40}};
    const struct journal_head head = {name, sizeof name - 1, {10, 0}, NULL, 0};
    const struct journal_growth growths[] = {{50, 33}, {90, 7}};
    const struct poison deaths = {30, 5, 1, 2, 0}, shared = {70, 2, 1, 0, 0, true};
    const struct journal_point point = {24, 9, (const unsigned char *)"nine more"};
    size_t size = journal_head_size(&head);
    uint32_t crc = journal_growth_put(10, &growths[0], journal_head_put(&head, bytes), bytes + size);
    size += journal_record_size(1);
    crc = journal_record_put(&done[0], 1, 5, crc, bytes + size);
    size += journal_record_size(1);
    crc = journal_point_put(&point, crc, bytes + size);
    size += journal_point_size(point.bytes);
    crc = journal_growth_put(10, &growths[1], crc, bytes + size);
    size += journal_record_size(1);
    crc = journal_deaths_put(&deaths, crc, bytes + size);
    size += journal_record_size(1);
    crc = journal_deaths_put(&shared, crc, bytes + size);
    size += journal_record_size(1);
    crc = journal_record_put(&done[1], 1, 6, crc, bytes + size);
    size += journal_record_size(1);
    if (!ends)
        return size;
    crc = journal_record_put(rest, 2, 7, crc, bytes + size);
    size += journal_record_size(2);
    journal_end_put(12345, crc, bytes + size);
    return size + journal_record_size(0);
}

static size_t write_journal(unsigned char *bytes)
{
    return put_journal(bytes, false);
}

static size_t write_ended_journal(unsigned char *bytes)
{
    return put_journal(bytes, true);
}

static bool read_journal(unsigned char *bytes, size_t size, struct text *text)
{
    struct journal_content content;
    const enum journal_decoded decoded = journal_decode(&content, bytes, size);
    const bool is_told = decoded != JOURNAL_GOOD || content.valid < size;
    if (decoded == JOURNAL_GOOD)
        text_add(text, "%s, %" PRIu64 " to %" PRIu64 ", %" PRIu64 ", %zu points, final %d %" PRIu64, content.head.text,
                 ranges_total(&content.done), journal_loop(&content.head).count, content.digest, content.point_count,
                 (int)content.is_over, content.final_bytes);
    for (size_t i = 0; decoded == JOURNAL_GOOD && i < content.deaths.count; i++) {
        const struct poison *known = &content.deaths.items[i];
        text_add(text, ", %" PRIu64 " + %" PRIu64 " %u %u %d", known->first, known->count, (unsigned)known->deaths,
                 (unsigned)known->failures, (int)known->shares_blame);
    }
    journal_content_fini(&content);
    return is_told;
}

/* --- records of jobs, and what is printed of them --- */

static const struct hdss_loop loop = {
    .iterations = 4, .streams = 2, .stream = {{.ending = ""}, {.ending = ".err", .differs = true}}};

static size_t read_whole(const char *path, unsigned char *bytes)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = read(file, bytes, BYTES_MAX);
    ck_assert_msg(size > 0 && size < BYTES_MAX && close(file) == 0, "%s", path);
    return (size_t)size;
}

static void write_whole(const char *path, const unsigned char *bytes, size_t size)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ck_assert_msg(write(file, bytes, size) == (ssize_t)size && close(file) == 0, "%s", path);
}

static void write_part(struct results_sink *sink, uint64_t first)
{
    unsigned char block[100];
    size_t at = block_head_put(block, 2, 2);
    for (unsigned i = 0; i < 2; i++, at += block_entry_bytes(2)) {
        wire_put32(block + at, 0);
        wire_put32(block + at + 4, 5);
        wire_put32(block + at + 8, 0);
    }
    memcpy(block + at, "one, two, ", 10);
    OK(results_write(sink, first, 2, block, at + 10, &error));
}

static size_t write_parts(unsigned char *bytes)
{
    struct results_sink sink;
    OK(results_create("out", &loop, NULL, &error));
    OK(results_open(&sink, "out", &loop, 0, &error));
    write_part(&sink, 2);
    write_part(&sink, 0);
    OK(results_close(&sink, &error));
    return read_whole("out.parts/1-0", bytes);
}

/* What the journal calls done is looked for: where less is found, that is told, and done again. */
static bool read_parts(unsigned char *bytes, size_t size, struct text *text)
{
    struct ranges done, found;
    uint64_t digest = 0;
    write_whole("out.parts/1-0", bytes, size);
    ranges_init(&done);
    ranges_init(&found);
    OK(ranges_add(&done, 0, loop.iterations, NULL));
    OK(results_find_sound("out", &loop, &done, false, &found, &digest, &error));
    const bool is_told = ranges_total(&found) < loop.iterations;
    text_add(text, "%" PRIu64 ", %" PRIu64, ranges_total(&found), digest);
    ranges_fini(&done);
    ranges_fini(&found);
    return is_told;
}

/* --- which run writes the parts --- */

static size_t write_run_number(unsigned char *bytes)
{
    for (unsigned run = 1; run <= 3; run++) {
        struct results_sink sink;
        OK(run == 1 ? results_create("out", &loop, NULL, &error) : results_find("out", &loop, NULL, &error));
        OK(results_open(&sink, "out", &loop, run, &error));
        OK(results_close(&sink, &error));
    }
    return read_whole("out.parts/run", bytes);
}

/* The next run has a number that no earlier one has had. */
static bool read_run_number(unsigned char *bytes, size_t size, struct text *text)
{
    struct results_sink sink;
    write_whole("out.parts/run", bytes, size);
    if (results_find("out", &loop, NULL, &error) != 0)
        return true;
    OK(results_open(&sink, "out", &loop, 9, &error));
    text_add(text, "%s", sink.run > 3 ? "new" : "used");
    unlink(sink.path);
    OK(results_close(&sink, &error));
    return false;
}

/* --- tickets of pods --- */

static size_t write_ticket(unsigned char *bytes)
{
    struct ticket ticket;
    OK(ticket_init(&ticket, &error));
    OK(stream_address_parse(&ticket.addresses[0], "unix:/run/set/pods.socket", &error));
    OK(stream_address_parse(&ticket.addresses[1], "node7:4000", &error));
    ticket.count = 2;
    char *text = ticket_text(&ticket);
    const size_t size = strlen(text);
    memcpy(bytes, text, size);
    free(text);
    return size;
}

static bool read_ticket(unsigned char *bytes, size_t size, struct text *text)
{
    struct ticket ticket;
    char copy[BYTES_MAX + 1];
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    if (ticket_parse(&ticket, copy, &error) < 0)
        return true;
    text_add(text, "%s", ticket.machine);
    for (size_t i = 0; i < ticket.count; i++) {
        char address[STREAM_ADDRESS_TEXT_MAX];
        stream_address_print(&ticket.addresses[i], address);
        text_add(text, " %s", address);
    }
    for (size_t i = 0; i < sizeof ticket.key; i++)
        text_add(text, "%02x", ticket.key[i]);
    return false;
}

/* --- all of them --- */

static const struct kind kinds[] = {
    {write_queue, read_queue, check_queue, false},    {write_journal, read_journal, NULL, true},
    {write_ended_journal, read_journal, NULL, true},  {write_parts, read_parts, NULL, false},
    {write_run_number, read_run_number, NULL, false}, {write_ticket, read_ticket, NULL, false},
};

/* Whether the file is told to be damaged, or says what the whole one does. */
static bool is_told_or_same(const struct kind *kind, unsigned char *bytes, size_t size, const char *whole)
{
    struct text text;
    text_init(&text);
    const bool is_told = kind->read(bytes, size, &text);
    const bool is_same = text.data != NULL && strcmp(text.data, whole) == 0;
    text_fini(&text);
    return is_told || is_same;
}

START_TEST(no_file_says_less_without_a_word)
{
    static const unsigned char flips[] = {0x01, 0x20, 0x80, 0xff};
    static unsigned char whole[BYTES_MAX], bytes[BYTES_MAX];
    const struct kind *kind = &kinds[_i];
    struct text text;
    unsigned cuts_untold = 0;
    scratch_enter(folder);
    const size_t size = kind->write(whole);
    text_init(&text);
    memcpy(bytes, whole, size);
    ck_assert(!kind->read(bytes, size, &text));
    for (size_t at = 0; at < size; at++)
        for (size_t i = 0; i < sizeof flips; i++) {
            memcpy(bytes, whole, size);
            bytes[at] ^= flips[i];
            ck_assert_msg(is_told_or_same(kind, bytes, size, text.data), "byte %zu, 0x%x: not told", at, flips[i]);
            if (kind->check != NULL)
                kind->check();
        }
    memcpy(bytes, whole, size);
    for (size_t length = 0; length < size; length++)
        cuts_untold += !is_told_or_same(kind, bytes, length, text.data);
    ck_assert_uint_le(cuts_untold, kind->may_be_earlier ? RECORDS_MAX : 0);
    text_fini(&text);
    scratch_leave(folder);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay");
    TCase *tests = tcase_create("replay");
    tcase_add_loop_test(tests, no_file_says_less_without_a_word, 0, (int)(sizeof kinds / sizeof *kinds));
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
