/* SPDX-License-Identifier: MIT */
/* Frames of a stream, one after another, behind a greeting or not: any bytes give one line, or frames that are written
 * as the same bytes again.
 */
#include "common/util/error.h"
#include "proto/frame.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void require_same_body(const unsigned char *again, const unsigned char *body, size_t size)
{
    REQUIRE(memcmp(again, body, size) == 0);
}

static void check_hello(const unsigned char *body, size_t size)
{
    struct frame_hello hello;
    struct error error = {""};
    unsigned char again[FRAME_HELLO_BYTES];
    const int result = frame_hello_decode(&hello, body, size, &error);
    if (result != 0) {
        require_one_line(error.text);
        REQUIRE(result < 0 || hello.stream != STREAM_VERSION || hello.protocol != PROTOCOL_VERSION);
        return;
    }
    REQUIRE(size == sizeof again && strnlen(hello.name, sizeof hello.name) < sizeof hello.name);
    require_one_line(hello.name);
    frame_hello_encode(&hello, again);
    require_same_body(again, body, size);
}

static void check_welcome(const unsigned char *body, size_t size)
{
    struct frame_welcome welcome;
    struct error error = {""};
    if (frame_welcome_decode(&welcome, body, size, &error) < 0) {
        require_one_line(error.text);
        return;
    }
    unsigned char *again = malloc(size);
    REQUIRE(again != NULL && size == FRAME_WELCOME_BYTES + welcome.words_bytes);
    frame_welcome_encode(&welcome, again);
    require_same_body(again, body, size);
    free(again);
}

static void check_refused(const unsigned char *body, size_t size)
{
    char line[TEXT_MAX + 1];
    struct error error = {""};
    if (frame_refused_decode(line, body, size, &error) < 0)
        require_one_line(error.text);
    else
        require_one_line(line);
}

/* A body in memory of its own, so that a step behind its end is seen. */
static void check_body(enum frame_type type, const uint8_t *bytes, size_t size)
{
    unsigned char *body = malloc(size > 0 ? size : 1);
    REQUIRE(body != NULL);
    memcpy(body, bytes, size);
    if (type == FRAME_HELLO)
        check_hello(body, size);
    else if (type == FRAME_WELCOME)
        check_welcome(body, size);
    else if (type == FRAME_REFUSED)
        check_refused(body, size);
    free(body);
}

/* What comes before TLS: any bytes are none, or are written as the same bytes again. Returns its bytes. */
static size_t check_greeting(const uint8_t *bytes, size_t size)
{
    unsigned char again[FRAME_GREETING_BYTES];
    char *credential;
    uint32_t length;
    if (size < FRAME_GREETING_BYTES || frame_greeting_decode(&length, bytes) < 0)
        return 0;
    REQUIRE(length > 0 && length <= FRAME_CREDENTIAL_MAX);
    frame_greeting_encode(length, again);
    require_same_body(again, bytes, sizeof again);
    if (size - FRAME_GREETING_BYTES < length)
        return 0;
    REQUIRE((credential = malloc(length + 1)) != NULL);
    memcpy(credential, bytes + FRAME_GREETING_BYTES, length);
    credential[length] = '\0';
    if (frame_is_credential(credential, length)) {
        REQUIRE(strlen(credential) == length);
        require_one_line(credential);
    }
    free(credential);
    return FRAME_GREETING_BYTES + length;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct frame_head head;
    struct error error = {""};
    unsigned char again[FRAME_HEAD_BYTES];
    const size_t greeting = check_greeting(bytes, size);
    bytes += greeting;
    size -= greeting;
    while (size >= FRAME_HEAD_BYTES) {
        if (frame_head_decode(&head, bytes, &error) < 0) {
            require_one_line(error.text);
            return 0;
        }
        REQUIRE(head.size <= FRAME_BODY_MAX);
        frame_head_encode(&head, again);
        require_same_body(again, bytes, sizeof again);
        if (size - FRAME_HEAD_BYTES < head.size)
            return 0;
        check_body(head.type, bytes + FRAME_HEAD_BYTES, head.size);
        bytes += FRAME_HEAD_BYTES + head.size;
        size -= FRAME_HEAD_BYTES + head.size;
    }
    return 0;
}
