/* SPDX-License-Identifier: MIT */
/* proto against its document: PROTOCOL.md is read, and its test vectors, limits and sizes must be those of the code.
 * A row of the document that the code does not know fails, and so does a constant that the document does not list. */
#include "proto/message.h"
#include "proto/record.h"
#include "tests/lib/suite.h"
#include "tests/unit/proto/support.h"

#include <stdio.h>
#include <string.h>

enum { ROWS_MAX = 64, CELL_MAX = 480, CELLS_MAX = 5 };

struct row {
    char cell[CELLS_MAX][CELL_MAX]; /* trimmed; those that are missing are empty */
};

/* Splits `| a | b |` into its cells. */
static void split_row(const char *line, struct row *row)
{
    memset(row, 0, sizeof *row);
    for (int i = 0; i < CELLS_MAX && *line == '|'; i++) {
        line += 1 + strspn(line + 1, " ");
        size_t length = strcspn(line, "|");
        const char *end = line + length;
        while (length > 0 && strchr(" \n", line[length - 1]) != NULL)
            length--;
        ck_assert_uint_lt(length, CELL_MAX);
        memcpy(row->cell[i], line, length);
        line = end;
    }
}

/* Reads the first table under `heading`, without its head, into `rows`; returns how many there are. */
static size_t read_table(const char *heading, struct row rows[ROWS_MAX])
{
    const char *path = getenv("PROTOCOL_MD");
    ck_assert_msg(path != NULL, "PROTOCOL_MD must name proto/PROTOCOL.md");
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "cannot read %s", path);
    char line[1024];
    bool below = false;
    size_t table_lines = 0, count = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        below = below || strncmp(line, heading, strlen(heading)) == 0;
        if (below && line[0] == '|' && ++table_lines > 2) {
            ck_assert_uint_lt(count, ROWS_MAX);
            split_row(line, &rows[count++]);
        } else if (table_lines > 0 && line[0] != '|') {
            break;
        }
    }
    fclose(file);
    ck_assert_msg(count > 0, "%s has no table under '%s'", path, heading);
    return count;
}

/* Writes the bytes that `cell` shows as hexadecimal digits between backticks; returns how many. */
static size_t read_hex(const char *cell, unsigned char *out)
{
    size_t digits = 0;
    for (const char *c = cell; *c != '\0'; c++) {
        if (*c == '`' || *c == ' ')
            continue;
        const char *digit = strchr("0123456789abcdef", *c);
        ck_assert_msg(digit != NULL, "'%c' in '%s' is not a hexadecimal digit", *c, cell);
        unsigned value = (unsigned)(digit - "0123456789abcdef");
        out[digits / 2] = (unsigned char)(digits % 2 == 0 ? value << 4 : out[digits / 2] | value);
        digits++;
    }
    ck_assert_uint_eq(digits % 2, 0);
    return digits / 2;
}

static const char hello_label[] = "HELLO of a supermaster 0.1.0, node 0, pid 258";
static const struct hello hello_vector = {
    .protocol = PROTOCOL_VERSION, .minor = 1, .role = ROLE_SUPERMASTER, .pid = 258};

static const unsigned char inline_payload[] = {0xaa, 0xbb};
static unsigned char completions[COMPLETION_BYTES], assign_records[ASSIGN_RECORD_BYTES];
static unsigned char report_records[DONE_RECORD_BYTES], refill_records[CHUNK_RECORD_BYTES];
static unsigned char feedback_records[FEEDBACK_RECORD_BYTES], load_records[LOAD_RECORD_BYTES];
static unsigned char speed_body[SPEED_BODY_MAX];

static const struct {
    const char *label;
    struct message message;
} vectors[] = {
    {"SPEED of rank 4, round trip 9000 ns, mean 1750, deviation 500, swr 0.5, cell 0 three of 1500, cell 15 one of "
     "2500, "
     "levels 1500, 3100",
     {.type = MESSAGE_SPEED, .records = speed_body, .speed = {4, 2}}},
    {"REQUEST asking for 1, nothing done", {.type = MESSAGE_REQUEST, .request = {.asks = 1}}},
    {"REQUEST DONE INLINE, chunk 3, asks 2, 1000 ns, digest 0x0102030405060708, waited 5 ns, deviation 2.5 ns of 8, "
     "payload `aabb`",
     {.type = MESSAGE_REQUEST,
      .payload = PAYLOAD_INLINE,
      .payload_data = inline_payload,
      .payload_bytes = sizeof inline_payload,
      .request = {.chunk = 3,
                  .asks = 2,
                  .done = true,
                  .compute_ns = 1000,
                  .digest = 0x0102030405060708,
                  .wait_ns = 5,
                  .deviation_ns = 2.5f,
                  .samples = 8}}},
    {"REQUEST asking for 1, nothing done, load 1.5", {.type = MESSAGE_REQUEST, .request = {.asks = 1, .load = 384}}},
    {"RESULT DATA, chunk 7, 4096 iterations, digest 1, 32768 bytes",
     {.type = MESSAGE_RESULT, .payload = PAYLOAD_DATA, .payload_bytes = 32768, .result = {7, 4096, 1}}},
    {"RESULT DATA FAILED, chunk 7, 1 iteration, digest 1, 500 bytes",
     {.type = MESSAGE_RESULT, .payload = PAYLOAD_DATA, .payload_bytes = 500, .has_failed = true, .result = {7, 1, 1}}},
    {"REQUEST DONE, chunks 3 and 4, asks 2, 1000 ns and 900 ns",
     {.type = MESSAGE_REQUEST,
      .request = {.chunk = 4, .asks = 2, .done = true, .compute_ns = 900},
      .records = completions,
      .record_count = 1}},
    {"ASSIGN chunk 1, [1000, 1250)", {.type = MESSAGE_ASSIGN, .assign = {1, 1000, 250}}},
    {"ASSIGN chunks 1 and 2, [1000, 1250) and [2, 5)",
     {.type = MESSAGE_ASSIGN, .assign = {1, 1000, 250}, .records = assign_records, .record_count = 1}},
    {"END DRAIN", {.type = MESSAGE_END, .end = {.drain = true}}},
    {"END DEGRADED", {.type = MESSAGE_END, .end = {.degraded = true}}},
    {"END LATE", {.type = MESSAGE_END, .end = {.late = true}}},
    {"END DRAIN NOW", {.type = MESSAGE_END, .end = {.drain = true, .now = true}}},
    {"ADOPT of [5, 7)", {.type = MESSAGE_ADOPT, .adopt = {5, 2}}},
    {"ASSIGN ISOLATED chunk 1, [1000, 1250)", {.type = MESSAGE_ASSIGN, .assign = {1, 1000, 250, true}}},
    {"WORKER_LOST rank 6, 2 chunks, at [5, 7)", {.type = MESSAGE_WORKER_LOST, .worker_lost = {6, 2, 5, 2}}},
    {"ITERATIONS_FAILED FINAL in chunk 3, [5, 6), \"no\"",
     {.type = MESSAGE_ITERATIONS_FAILED, .iterations_failed = {3, 5, 1, true, false, "no", 2}}},
    {"POISON [5, 7), 2 deaths, 1 failure at rank 4", {.type = MESSAGE_POISON, .poison = {5, 2, 2, 1, 4}}},
    {"RECOVERY_COUNTS, 3 chunks again, 1 result dropped, 2 recalls of 9 iterations",
     {.type = MESSAGE_RECOVERY_COUNTS, .recovery_counts = {3, 1, 2, 9}}},
    {"VERIFIED, 300 alike, 20 not, nothing differs",
     {.type = MESSAGE_VERIFIED, .verified = {.alike = 300, .unverified = 20, .wrong = -1}}},
    {"VERIFIED, [5, 7) differs between 4 and 6",
     {.type = MESSAGE_VERIFIED, .verified = {0, 0, 2, {4, 6, 0}, -1, 5, 2}}},
    {"VERIFIED SECOND_WRONG, [5, 7) by 4, 6 and 9",
     {.type = MESSAGE_VERIFIED, .verified = {0, 0, 3, {4, 6, 9}, 1, 5, 2}}},
    {"JOB, the last two bytes of 5, `aabb`",
     {.type = MESSAGE_JOB, .job_part = {3, 5}, .records = inline_payload, .record_count = 2}},
    {"SET_OVER DEGRADED", {.type = MESSAGE_SET_OVER, .set_over = {true}}},
    {"STORE INLINE of iterations 256 and 257, `aabb`",
     {.type = MESSAGE_STORE,
      .payload = PAYLOAD_INLINE,
      .payload_data = inline_payload,
      .payload_bytes = sizeof inline_payload,
      .store = {256, 2}}},
    {"STORE DATA of iterations 256 and 257, 32768 bytes",
     {.type = MESSAGE_STORE, .payload = PAYLOAD_DATA, .payload_bytes = 32768, .store = {256, 2}}},
    {"LEAVING NOW", {.type = MESSAGE_LEAVING, .leaving = {true}}},
    {"RECALL for 3 that wait", {.type = MESSAGE_RECALL, .recall = {3}}},
    {"RETURNED nothing", {.type = MESSAGE_RETURNED}},
    {"RETURNED [2, 5)", {.type = MESSAGE_RETURNED, .records = assign_records, .record_count = 1}},
    {"ITERATIONS_GIVEN_UP [2, 5)", {.type = MESSAGE_ITERATIONS_GIVEN_UP, .records = assign_records, .record_count = 1}},
    {"GOODBYE, 10 messages, 560 bytes, waited 7 ns", {.type = MESSAGE_GOODBYE, .goodbye = {10, 560, 7}}},
    {"THREADS, 4 of rank 5, max 1.25, cov 0.5, 90 chunks",
     {.type = MESSAGE_THREADS, .threads = {5, 4, 1.25f, 0.5f, 90, 0, 0, 0}}},
    {"THREADS, 1 of rank 5, 2 cores for 4 workers, 1000 ns",
     {.type = MESSAGE_THREADS, .threads = {5, 1, 1, 0, 0, 2, 4, 1000}}},
    {"NEIGHBOUR at 7, rank 5", {.type = MESSAGE_NEIGHBOUR, .neighbour = {7, 5}}},
    {"BOUNDARY INLINE at 7, from byte 16 on, `aabb`",
     {.type = MESSAGE_BOUNDARY,
      .payload = PAYLOAD_INLINE,
      .payload_data = inline_payload,
      .payload_bytes = sizeof inline_payload,
      .boundary = {7, 16}}},
    {"BOUNDARY DATA at 7, 32768 bytes from byte 16 on",
     {.type = MESSAGE_BOUNDARY, .payload = PAYLOAD_DATA, .payload_bytes = 32768, .boundary = {7, 16}}},
    {"ECHO 2", {.type = MESSAGE_ECHO, .echo = {2}}},
    {"REPORT REFILL, 3 busy, [0, 5) digest 9",
     {.type = MESSAGE_REPORT, .records = report_records, .record_count = 1, .report = {.refill = true, .busy = 3}}},
    {"REFILL of [5, 7) for rank 2", {.type = MESSAGE_REFILL, .records = refill_records, .record_count = 1}},
    {"REFILL EMPTY, BEGUN", {.type = MESSAGE_REFILL, .refill = {.empty = true, .begun = true}}},
    {"FATAL at rank 4, \"no\"", {.type = MESSAGE_FATAL, .fatal = {4, "no", 2}}},
    {"LOADS, 2 at rank 5", {.type = MESSAGE_LOADS, .records = load_records, .record_count = 1}},
    {"FEEDBACK of rank 5, 2 chunks of 300 iterations, 4000 ns, waited 6 ns, deviation 1.5 ns of 16",
     {.type = MESSAGE_FEEDBACK, .records = feedback_records, .record_count = 1}},
};

enum { VECTORS = sizeof vectors / sizeof *vectors };

static const struct message *vector_of(const char *label)
{
    for (size_t i = 0; i < VECTORS; i++) {
        if (strcmp(vectors[i].label, label) == 0)
            return &vectors[i].message;
    }
    ck_abort_msg("PROTOCOL.md has a vector that is not tested: %s", label);
    return NULL;
}

static void check_hello(const unsigned char *bytes, size_t size)
{
    unsigned char out[HELLO_BYTES];
    struct hello hello;
    ck_assert_uint_eq(size, HELLO_BYTES);
    hello_encode(&hello_vector, out);
    ck_assert_mem_eq(out, bytes, size);
    ck_assert_int_eq(hello_decode(&hello, bytes, size), DECODE_OK);
    ck_assert_uint_eq(hello.protocol, hello_vector.protocol);
    ck_assert_uint_eq(hello.major, hello_vector.major);
    ck_assert_uint_eq(hello.minor, hello_vector.minor);
    ck_assert_uint_eq(hello.patch, hello_vector.patch);
    ck_assert_int_eq(hello.role, hello_vector.role);
    ck_assert_uint_eq(hello.status, hello_vector.status);
    ck_assert_int_eq(hello.dca, hello_vector.dca);
    ck_assert_uint_eq(hello.node, hello_vector.node);
    ck_assert_uint_eq(hello.pid, hello_vector.pid);
}

START_TEST(every_vector_encodes_and_decodes)
{
    struct row rows[ROWS_MAX];
    completion_put(completions, 0, &(struct request){.compute_ns = 1000});
    assign_record_put(assign_records, 0, 2, 3);
    done_record_put(report_records, 0, &(struct done_record){0, 5, 9});
    load_record_put(load_records, 0, &(struct load_record){5, 2 * LOAD_ONE});
    chunk_record_put(refill_records, 0, &(struct chunk_record){5, 2, 2});
    feedback_record_put(feedback_records, 0, &(struct feedback_record){5, 2, 300, 4000, 6, 1.5f, 16});
    speed_message(&(struct speed){.round_trip_ns = 9000,
                                  .mean_ns = 1750,
                                  .deviation_ns = 500,
                                  .swr = 0.5,
                                  .cells = {[0] = {1500, 3}, [15] = {2500, 1}},
                                  .levels = 2,
                                  .elapsed_ns = {1500, 3100}},
                  speed_body);
    size_t count = read_table("## 8. Test vectors", rows);
    ck_assert_uint_eq(count, VECTORS + 1);
    for (size_t i = 0; i < count; i++) {
        unsigned char bytes[CELL_MAX];
        size_t size = read_hex(rows[i].cell[1], bytes);
        unsigned char *copy = exact_copy(bytes, size);
        if (strcmp(rows[i].cell[0], hello_label) == 0) {
            check_hello(copy, size);
        } else {
            const struct message *want = vector_of(rows[i].cell[0]);
            struct message got;
            assert_encodes_to(want, FIRST_JOB, bytes, size);
            ck_assert_int_eq(message_decode(&got, copy, size), DECODE_OK);
            assert_same_message(&got, want);
        }
        free(copy);
    }
}
END_TEST

static const struct {
    const char *name;
    double value;
} limits[] = {
    {"`MESSAGE_MAX`", MESSAGE_MAX},
    {"`INLINE_MAX`", INLINE_MAX},
    {"`SLICE_MAX`", SLICE_MAX},
    {"`REFILL_MAX`", REFILL_MAX},
    {"`REPORT_MAX`", REPORT_MAX},
    {"`STATS_MAX`", STATS_MAX},
    {"`FEEDBACK_MAX`", FEEDBACK_MAX},
    {"`SPEED_CELLS`", SPEED_CELLS},
    {"`ASKS_MAX`", ASKS_MAX},
    {"`LEVELS_MAX`", LEVELS_MAX},
    {"`TEXT_MAX`", TEXT_MAX},
    {"`SPEED_MEAN_MIN_NS`", SPEED_MEAN_MIN_NS},
    {"`SPEED_RATIO_MAX`", SPEED_RATIO_MAX},
    {"`GIVEN_UP_MAX`", GIVEN_UP_MAX},
    {"`RETURNED_MAX`", RETURNED_MAX},
    {"`PAYLOAD_MAX`", PAYLOAD_MAX},
    {"`LOADS_MAX`", LOADS_MAX},
    {"`LOAD_ONE`", LOAD_ONE},
    {"`JOB_PART_MAX`", JOB_PART_MAX},
    {"`ANNOUNCEMENT_MAX`", ANNOUNCEMENT_MAX},
};

START_TEST(every_limit_is_that_of_the_document)
{
    struct row rows[ROWS_MAX];
    size_t count = read_table("## 2. Limits", rows);
    size_t known = sizeof limits / sizeof *limits;
    ck_assert_uint_eq(count, known);
    for (size_t i = 0; i < count; i++) {
        char *unit;
        double value = strtod(rows[i].cell[1], &unit);
        if (strncmp(unit, " MiB", 4) == 0)
            value *= 1 << 20;
        size_t k = 0;
        while (k < known && strcmp(limits[k].name, rows[i].cell[0]) != 0)
            k++;
        ck_assert_msg(k < known, "PROTOCOL.md has a limit that message.h has not: %s", rows[i].cell[0]);
        ck_assert_msg(limits[k].value == value, "%s is %g in PROTOCOL.md, %g in message.h", limits[k].name, value,
                      limits[k].value);
    }
}
END_TEST

/* "8 + 24 n" is 8 fixed bytes and 24 for each element. */
static void read_size(const char *cell, unsigned *fixed, unsigned *each)
{
    *each = strstr(cell, "+ n") != NULL ? 1 : 0;
    ck_assert_msg(sscanf(cell, "%u + %u n", fixed, each) >= 1, "'%s' is not a size", cell);
}

static const struct {
    unsigned type;
    const char *name;
    unsigned fixed, each;
} sizes[] = {
    {0x01, "HELLO", HELLO_BYTES, 0},
    {MESSAGE_SPEED, "SPEED", SPEED_BYTES, 8},
    {MESSAGE_REQUEST, "REQUEST", REQUEST_BYTES, COMPLETION_BYTES},
    {MESSAGE_RESULT, "RESULT", RESULT_BYTES, 0},
    {MESSAGE_ASSIGN, "ASSIGN", ASSIGN_BYTES, ASSIGN_RECORD_BYTES},
    {MESSAGE_END, "END", HEADER_BYTES, 0},
    {MESSAGE_GOODBYE, "GOODBYE", GOODBYE_BYTES, 0},
    {MESSAGE_ECHO, "ECHO", HEADER_BYTES, 0},
    {MESSAGE_ADOPT, "ADOPT", ADOPT_BYTES, 0},
    {MESSAGE_ITERATIONS_FAILED, "ITERATIONS_FAILED", ITERATIONS_FAILED_BYTES, 1},
    {MESSAGE_THREADS, "THREADS", THREADS_BYTES, 0},
    {MESSAGE_NEIGHBOUR, "NEIGHBOUR", NEIGHBOUR_BYTES, 0},
    {MESSAGE_BOUNDARY, "BOUNDARY", BOUNDARY_BYTES, 0},
    {MESSAGE_REPORT, "REPORT", HEADER_BYTES, DONE_RECORD_BYTES},
    {MESSAGE_REFILL, "REFILL", HEADER_BYTES, CHUNK_RECORD_BYTES},
    {MESSAGE_STATS, "STATS", HEADER_BYTES, STATS_RECORD_BYTES},
    {MESSAGE_FATAL, "FATAL", HEADER_BYTES, 1},
    {MESSAGE_DRAIN, "DRAIN", HEADER_BYTES, 0},
    {MESSAGE_FEEDBACK, "FEEDBACK", HEADER_BYTES, FEEDBACK_RECORD_BYTES},
    {MESSAGE_WORKER_LOST, "WORKER_LOST", WORKER_LOST_BYTES, 0},
    {MESSAGE_RECOVERY_COUNTS, "RECOVERY_COUNTS", RECOVERY_COUNTS_BYTES, 0},
    {MESSAGE_ITERATIONS_GIVEN_UP, "ITERATIONS_GIVEN_UP", HEADER_BYTES, ASSIGN_RECORD_BYTES},
    {MESSAGE_POISON, "POISON", POISON_BYTES, 0},
    {MESSAGE_LOADS, "LOADS", HEADER_BYTES, LOAD_RECORD_BYTES},
    {MESSAGE_RECALL, "RECALL", HEADER_BYTES, 0},
    {MESSAGE_RETURNED, "RETURNED", HEADER_BYTES, ASSIGN_RECORD_BYTES},
    {MESSAGE_VERIFIED, "VERIFIED", VERIFIED_BYTES, 0},
    {MESSAGE_JOB, "JOB", JOB_BYTES, 1},
    {MESSAGE_SET_OVER, "SET_OVER", HEADER_BYTES, 0},
    {MESSAGE_LEAVING, "LEAVING", HEADER_BYTES, 0},
    {MESSAGE_STORE, "STORE", STORE_BYTES, 0},
};

START_TEST(every_message_has_the_type_and_size_of_the_document)
{
    struct row rows[ROWS_MAX];
    size_t count = read_table("## 3. Messages", rows);
    ck_assert_uint_eq(count, sizeof sizes / sizeof *sizes);
    for (size_t i = 0; i < count; i++) {
        unsigned fixed, each;
        read_size(rows[i].cell[3], &fixed, &each);
        ck_assert_uint_eq(strtoul(rows[i].cell[0], NULL, 16), sizes[i].type);
        ck_assert_str_eq(rows[i].cell[1], sizes[i].name);
        ck_assert_msg(fixed == sizes[i].fixed && each == sizes[i].each, "%s: '%s' in PROTOCOL.md, %u + %u n in code",
                      sizes[i].name, rows[i].cell[3], sizes[i].fixed, sizes[i].each);
        if (i > 0)
            ck_assert_str_eq(message_name(sizes[i].type), sizes[i].name);
    }
}
END_TEST

START_TEST(every_sample_has_the_size_of_the_document)
{
    struct sample samples[SAMPLES_MAX];
    size_t count = samples_make(samples);
    for (size_t i = 0; i < count; i++) {
        const struct message *message = &samples[i].message;
        size_t k = 1;
        while (sizes[k].type != message->type)
            k++;
        size_t elements = message->type == MESSAGE_SPEED               ? message->speed.levels
                          : message->type == MESSAGE_FATAL             ? message->fatal.length
                          : message->type == MESSAGE_ITERATIONS_FAILED ? message->iterations_failed.length
                                                                       : message->record_count;
        size_t announced = message->payload == PAYLOAD_DATA ? PAYLOAD_SIZE_BYTES : 0;
        ck_assert_uint_eq(message_fixed_size(message), sizes[k].fixed + sizes[k].each * elements + announced);
        ck_assert_uint_le(message_size(message), MESSAGE_MAX);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("proto document");
    TCase *all = tcase_create("document");
    tcase_add_test(all, every_vector_encodes_and_decodes);
    tcase_add_test(all, every_limit_is_that_of_the_document);
    tcase_add_test(all, every_message_has_the_type_and_size_of_the_document);
    tcase_add_test(all, every_sample_has_the_size_of_the_document);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
