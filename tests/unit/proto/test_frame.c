/* SPDX-License-Identifier: MIT */
/* Frames of streams: they come back as they were written, they are those of PROTOCOL.md, and whatever is not exactly
 * right is refused with one line, without a look behind its end. */
#include "common/util/error.h"
#include "proto/frame.h"
#include "proto/message.h"
#include "proto/wire.h"
#include "tests/lib/suite.h"
#include "tests/unit/proto/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct frame_hello new_hello = {
    .stream = STREAM_VERSION, .protocol = PROTOCOL_VERSION, .workers = 4, .cores = 8, .name = "node7"};
static const struct frame_hello old_hello = {
    .stream = STREAM_VERSION,
    .protocol = PROTOCOL_VERSION,
    .workers = 4,
    .cores = 8,
    .received = 258,
    .token = {0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf},
    .name = "node7",
};
static const struct frame_welcome a_welcome = {
    .token = {0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf},
    .received = 0,
    .first_rank = 5,
    .beat_ms = 250,
    .words = "a\0bc",
    .words_bytes = sizeof "a\0bc",
};

/* --- the document --- */

/* Reads the bytes of the vector with this label; returns how many. */
static size_t vector_of(const char *label, unsigned char *out)
{
    char line[1024], start[200];
    const char *path = getenv("PROTOCOL_MD");
    size_t digits = 0;
    ck_assert_ptr_nonnull(path);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    snprintf(start, sizeof start, "| %s | `", label);
    while (fgets(line, sizeof line, file) != NULL && strncmp(line, start, strlen(start)) != 0)
        ;
    fclose(file);
    ck_assert_msg(strncmp(line, start, strlen(start)) == 0, "PROTOCOL.md has no vector '%s'", label);
    for (const char *c = line + strlen(start); *c != '`'; c++) {
        const char *digit = strchr("0123456789abcdef", *c);
        if (*c == ' ')
            continue;
        ck_assert_msg(digit != NULL, "'%c' is no digit", *c);
        const unsigned value = (unsigned)(digit - "0123456789abcdef");
        out[digits / 2] = (unsigned char)(digits % 2 == 0 ? value << 4 : out[digits / 2] | value);
        digits++;
    }
    return digits / 2;
}

static void assert_is_vector(const char *label, enum frame_type type, uint32_t received, const unsigned char *body,
                             size_t size)
{
    unsigned char expected[1024], frame[FRAME_HEAD_BYTES + 512];
    const struct frame_head head = {type, (uint32_t)size, received};
    frame_head_encode(&head, frame);
    if (size > 0)
        memcpy(frame + FRAME_HEAD_BYTES, body, size);
    ck_assert_uint_eq(vector_of(label, expected), FRAME_HEAD_BYTES + size);
    ck_assert_mem_eq(frame, expected, FRAME_HEAD_BYTES + size);
}

START_TEST(frames_are_those_of_the_document)
{
    unsigned char body[FRAME_HELLO_BYTES + FRAME_WELCOME_BYTES];
    frame_hello_encode(&new_hello, body);
    assert_is_vector("HELLO of a new pod, 4 workers on 8 cores of node7", FRAME_HELLO, 0, body, FRAME_HELLO_BYTES);
    frame_hello_encode(&old_hello, body);
    assert_is_vector("HELLO of the same, which comes back and has received 258", FRAME_HELLO, 0, body,
                     FRAME_HELLO_BYTES);
    frame_welcome_encode(&a_welcome, body);
    assert_is_vector("WELCOME, first rank 5, 250 ms, words `a` and `bc`", FRAME_WELCOME, 0, body,
                     FRAME_WELCOME_BYTES + a_welcome.words_bytes);
    assert_is_vector("REFUSED, \"no\"", FRAME_REFUSED, 0, (const unsigned char *)"no", 2);
    assert_is_vector("MESSAGE of the bytes `aabbcc`, 3 received", FRAME_MESSAGE, 3,
                     (const unsigned char *)"\xaa\xbb\xcc", 3);
    assert_is_vector("BEAT, 258 received", FRAME_BEAT, 258, NULL, 0);
    assert_is_vector("BYE, 259 received", FRAME_BYE, 259, NULL, 0);
    assert_is_vector("DATA of the bytes `aabbcc`, 260 received", FRAME_DATA, 260, (const unsigned char *)"\xaa\xbb\xcc",
                     3);
}
END_TEST

START_TEST(a_greeting_is_that_of_the_document)
{
    static const char credential[] = "MUNGE:x:";
    unsigned char expected[64], greeting[64];
    uint32_t size;
    frame_greeting_encode(sizeof credential - 1, greeting);
    memcpy(greeting + FRAME_GREETING_BYTES, credential, sizeof credential - 1);
    ck_assert_uint_eq(vector_of("a greeting with the credential `MUNGE:x:`", expected),
                      FRAME_GREETING_BYTES + sizeof credential - 1);
    ck_assert_mem_eq(greeting, expected, FRAME_GREETING_BYTES + sizeof credential - 1);
    ck_assert_int_eq(frame_greeting_decode(&size, greeting), 0);
    ck_assert_uint_eq(size, sizeof credential - 1);
    ck_assert(frame_is_credential(credential, size) && !frame_is_credential("MUNGE", 5));
    ck_assert(!frame_is_credential("MUNGE:x\n", 8) && !frame_is_credential("MUNGE:\0:", 8));
    wire_put32(greeting + 8, 0);
    ck_assert_int_eq(frame_greeting_decode(&size, greeting), -1);
    wire_put32(greeting + 8, FRAME_CREDENTIAL_MAX + 1);
    ck_assert_int_eq(frame_greeting_decode(&size, greeting), -1);
    wire_put32(greeting + 8, FRAME_CREDENTIAL_MAX);
    ck_assert_int_eq(frame_greeting_decode(&size, greeting), 0);
    greeting[7]++;
    ck_assert_int_eq(frame_greeting_decode(&size, greeting), -1);
}
END_TEST

/* --- heads --- */

static const struct {
    enum frame_type type;
    uint32_t least, most;
} sizes[] = {
    {FRAME_HELLO, FRAME_VERSION_BYTES, FRAME_HELLO_MAX},
    {FRAME_WELCOME, FRAME_WELCOME_BYTES, FRAME_WELCOME_BYTES + FRAME_WORDS_MAX},
    {FRAME_REFUSED, 1, TEXT_MAX},
    {FRAME_MESSAGE, 1, MESSAGE_MAX},
    {FRAME_BEAT, 0, 0},
    {FRAME_BYE, 0, 0},
    {FRAME_DATA, 1, FRAME_DATA_MAX},
};

static bool is_head(uint32_t type, uint32_t size, uint32_t received, struct frame_head *head)
{
    unsigned char bytes[FRAME_HEAD_BYTES];
    struct error error = {""};
    wire_put32(bytes, type | size << 8);
    wire_put32(bytes + 4, received);
    const int result = frame_head_decode(head, edge_copy(bytes, sizeof bytes), &error);
    ck_assert((result == 0) == (error.text[0] == '\0'));
    return result == 0;
}

START_TEST(each_type_has_its_sizes)
{
    const enum frame_type type = sizes[_i].type;
    struct frame_head head;
    ck_assert(is_head(type, sizes[_i].least, 0, &head));
    ck_assert(is_head(type, sizes[_i].most, 0, &head));
    ck_assert_int_eq(head.type, type);
    ck_assert_uint_eq(head.size, sizes[_i].most);
    ck_assert(!is_head(type, sizes[_i].most + 1, 0, &head));
    ck_assert(!is_head(type, 0xffffff, 0, &head));
    if (sizes[_i].least > 0)
        ck_assert(!is_head(type, sizes[_i].least - 1, 0, &head));
    ck_assert_int_eq(is_head(type, sizes[_i].least, UINT32_MAX, &head), type > FRAME_REFUSED);
}
END_TEST

START_TEST(there_are_no_other_types)
{
    struct frame_head head;
    ck_assert(!is_head(0, 0, 0, &head));
    for (uint32_t type = FRAME_DATA + 1; type < 256; type++)
        for (uint32_t size = 0; size < 200; size += 50)
            ck_assert(!is_head(type, size, 0, &head));
}
END_TEST

/* --- bodies --- */

static int decode_hello_at_edge(struct frame_hello *hello, const unsigned char *body, size_t size, char *line)
{
    struct error error = {""};
    const int result = frame_hello_decode(hello, edge_copy(body, size), size, &error);
    ck_assert((result == 0) == (error.text[0] == '\0'));
    strcpy(line, error.text);
    return result;
}

START_TEST(a_hello_comes_back)
{
    const struct frame_hello *hello = _i == 0 ? &new_hello : &old_hello;
    unsigned char body[FRAME_HELLO_BYTES], again[FRAME_HELLO_BYTES];
    char line[ERROR_TEXT_MAX];
    struct frame_hello got;
    frame_hello_encode(hello, body);
    ck_assert_int_eq(decode_hello_at_edge(&got, body, sizeof body, line), 0);
    ck_assert_uint_eq(got.received, hello->received);
    ck_assert_str_eq(got.name, hello->name);
    frame_hello_encode(&got, again);
    ck_assert_mem_eq(again, body, sizeof body);
    for (size_t size = 0; size < sizeof body; size++)
        ck_assert_int_eq(decode_hello_at_edge(&got, body, size, line), -1);
}
END_TEST

static const struct {
    size_t at;
    unsigned char byte;
} wrong_hellos[] = {
    {0, 'h'},       /* the magic */
    {12, 0},        /* no workers */
    {15, 1},        /* too many */
    {19, 1},        /* too many cores */
    {20, 1},        /* a new pod that has received something */
    {44, 0},        /* no name */
    {45, ' '},      /* a name with a blank, */
    {45, 0x80},     /* with what is not ASCII, */
    {45, 0x1b},     /* with a control character */
    {50, 'x'},      /* bytes behind the name's end */
    {44 + 63, 'x'}, /* the same at the very end */
};

START_TEST(a_hello_that_is_not_right_is_refused)
{
    unsigned char body[FRAME_HELLO_BYTES];
    char line[ERROR_TEXT_MAX];
    struct frame_hello got;
    frame_hello_encode(&new_hello, body);
    body[wrong_hellos[_i].at] = wrong_hellos[_i].byte;
    if (wrong_hellos[_i].at == 50)
        body[49] = '\0';
    ck_assert_int_eq(decode_hello_at_edge(&got, body, sizeof body, line), -1);
}
END_TEST

START_TEST(another_version_is_known_by_twelve_bytes)
{
    unsigned char body[FRAME_HELLO_BYTES];
    char line[ERROR_TEXT_MAX], expected[80];
    struct frame_hello got;
    frame_hello_encode(&new_hello, body);
    wire_put16(body + 10, PROTOCOL_VERSION + 1);
    memset(body + 12, 0xff, sizeof body - 12);
    for (size_t size = FRAME_VERSION_BYTES; size < sizeof body; size += 16) {
        ck_assert_int_eq(decode_hello_at_edge(&got, body, size, line), FRAME_OTHER_VERSION);
        snprintf(expected, sizeof expected, "protocol version %d, this set has %d", PROTOCOL_VERSION + 1,
                 PROTOCOL_VERSION);
        ck_assert_str_eq(line, expected);
        ck_assert_uint_eq(got.protocol, PROTOCOL_VERSION + 1);
    }
    wire_put16(body + 10, PROTOCOL_VERSION);
    wire_put16(body + 8, STREAM_VERSION + 1);
    ck_assert_int_eq(decode_hello_at_edge(&got, body, sizeof body, line), FRAME_OTHER_VERSION);
    snprintf(expected, sizeof expected, "stream version %d, this set has %d", STREAM_VERSION + 1, STREAM_VERSION);
    ck_assert_str_eq(line, expected);
}
END_TEST

START_TEST(a_welcome_comes_back_or_is_refused)
{
    unsigned char body[FRAME_WELCOME_BYTES + sizeof "a\0bc"];
    struct frame_welcome got;
    struct error error;
    frame_welcome_encode(&a_welcome, body);
    ck_assert_int_eq(frame_welcome_decode(&got, edge_copy(body, sizeof body), sizeof body, &error), 0);
    ck_assert_mem_eq(got.token, a_welcome.token, sizeof got.token);
    ck_assert_uint_eq(got.first_rank, 5);
    ck_assert_uint_eq(got.beat_ms, 250);
    ck_assert_uint_eq(got.words_bytes, a_welcome.words_bytes);
    ck_assert_mem_eq(got.words, a_welcome.words, got.words_bytes);
    for (size_t size = 0; size < FRAME_WELCOME_BYTES; size++)
        ck_assert_int_eq(frame_welcome_decode(&got, edge_copy(body, size), size, &error), -1);
    ck_assert_int_eq(frame_welcome_decode(&got, body, FRAME_WELCOME_BYTES, &error), 0); /* no words */
    ck_assert_ptr_null(got.words);
    ck_assert_int_eq(frame_welcome_decode(&got, body, sizeof body - 1, &error), -1); /* one that does not end */
    wire_put32(body + 28, 0);
    ck_assert_int_eq(frame_welcome_decode(&got, body, sizeof body, &error), -1);
    wire_put32(body + 28, FRAME_BEAT_MAX_MS + 1);
    ck_assert_int_eq(frame_welcome_decode(&got, body, sizeof body, &error), -1);
    wire_put32(body + 28, FRAME_BEAT_MAX_MS);
    ck_assert_int_eq(frame_welcome_decode(&got, body, sizeof body, &error), 0);
    memset(body, 0, FRAME_TOKEN_BYTES);
    ck_assert_int_eq(frame_welcome_decode(&got, body, sizeof body, &error), -1);
}
END_TEST

START_TEST(a_refusal_is_one_line)
{
    unsigned char body[TEXT_MAX + 1];
    char line[TEXT_MAX + 1];
    struct error error;
    memset(body, 'x', sizeof body);
    ck_assert_int_eq(frame_refused_decode(line, body, TEXT_MAX, &error), 0);
    ck_assert_uint_eq(strlen(line), TEXT_MAX);
    ck_assert_int_eq(frame_refused_decode(line, body, TEXT_MAX + 1, &error), -1);
    ck_assert_int_eq(frame_refused_decode(line, body, 0, &error), -1);
    static const unsigned char bad[] = {'\n', '\0', 0x1b, 0x7f};
    for (size_t i = 0; i < sizeof bad; i++) {
        body[7] = bad[i];
        ck_assert_int_eq(frame_refused_decode(line, body, 8, &error), -1);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("frame");
    TCase *all = tcase_create("frame");
    tcase_add_test(all, frames_are_those_of_the_document);
    tcase_add_test(all, a_greeting_is_that_of_the_document);
    tcase_add_loop_test(all, each_type_has_its_sizes, 0, sizeof sizes / sizeof *sizes);
    tcase_add_test(all, there_are_no_other_types);
    tcase_add_loop_test(all, a_hello_comes_back, 0, 2);
    tcase_add_loop_test(all, a_hello_that_is_not_right_is_refused, 0, sizeof wrong_hellos / sizeof *wrong_hellos);
    tcase_add_test(all, another_version_is_known_by_twelve_bytes);
    tcase_add_test(all, a_welcome_comes_back_or_is_refused);
    tcase_add_test(all, a_refusal_is_one_line);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
