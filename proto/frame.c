/* SPDX-License-Identifier: MIT */
/* The first FRAME_VERSION_BYTES of a HELLO are decoded separately, so that peers of different versions can still report
 * that their versions differ. */
#include "proto/frame.h"

#include "common/util/error.h"
#include "proto/message.h"
#include "proto/wire.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const unsigned char hello_frame_magic[8] = {'H', 'D', 'S', 'S', 'j', 'o', 'i', 'n'};

static const struct {
    uint32_t least, most;
} body_sizes[] = {
    [FRAME_HELLO] = {FRAME_VERSION_BYTES, FRAME_HELLO_MAX},
    [FRAME_WELCOME] = {FRAME_WELCOME_BYTES, FRAME_BODY_MAX},
    [FRAME_REFUSED] = {1, TEXT_MAX},
    [FRAME_MESSAGE] = {1, MESSAGE_MAX},
    [FRAME_BEAT] = {0, 0},
    [FRAME_BYE] = {0, 0},
    [FRAME_DATA] = {1, FRAME_DATA_MAX},
};

#define FRAME_TYPES (sizeof body_sizes / sizeof *body_sizes)

static const unsigned char greeting_magic[8] = {FRAME_GREETING_BEGIN, 'D', 'S', 'S', 'c', 'r', 'e', 'd'};

_Static_assert(FRAME_GREETING_BYTES == sizeof greeting_magic + sizeof(uint32_t), "a magic and a size");

void frame_greeting_encode(uint32_t size, unsigned char out[FRAME_GREETING_BYTES])
{
    assert(size > 0 && size <= FRAME_CREDENTIAL_MAX);
    memcpy(out, greeting_magic, sizeof greeting_magic);
    wire_put32(out + sizeof greeting_magic, size);
}

int frame_greeting_decode(uint32_t *size, const unsigned char bytes[FRAME_GREETING_BYTES])
{
    *size = wire_get32(bytes + sizeof greeting_magic);
    return memcmp(bytes, greeting_magic, sizeof greeting_magic) == 0 && *size > 0 && *size <= FRAME_CREDENTIAL_MAX ? 0
                                                                                                                   : -1;
}

bool frame_is_credential(const char *bytes, size_t size)
{
    static const char begin[] = {'M', 'U', 'N', 'G', 'E', ':'};
    if (size < sizeof begin || memcmp(bytes, begin, sizeof begin) != 0)
        return false;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] <= ' ' || bytes[i] > '~')
            return false;
    return true;
}

void frame_head_encode(const struct frame_head *head, unsigned char out[FRAME_HEAD_BYTES])
{
    assert(head->size <= body_sizes[head->type].most);
    wire_put32(out, (uint32_t)head->type | head->size << 8);
    wire_put32(out + 4, head->received);
}

int frame_head_decode(struct frame_head *head, const unsigned char bytes[FRAME_HEAD_BYTES], struct error *error)
{
    const uint32_t word = wire_get32(bytes), type = word & 0xff, size = word >> 8, received = wire_get32(bytes + 4);
    if (type < FRAME_HELLO || type >= FRAME_TYPES)
        return error_set(error, "a frame of the unknown type %u", (unsigned)type);
    if (size < body_sizes[type].least || size > body_sizes[type].most)
        return error_set(error, "a frame of type %u with %u bytes", (unsigned)type, (unsigned)size);
    if (type <= FRAME_REFUSED && received != 0)
        return error_set(error, "a frame of type %u with a reserved field that is not zero", (unsigned)type);
    *head = (struct frame_head){(enum frame_type)type, size, received};
    return 0;
}

static bool token_is_zero(const unsigned char token[FRAME_TOKEN_BYTES])
{
    static const unsigned char none[FRAME_TOKEN_BYTES];
    return memcmp(token, none, sizeof none) == 0;
}

static bool frame_name_is_good(const char *name)
{
    size_t length = 0;
    while (length < FRAME_NAME_BYTES && name[length] > ' ' && name[length] < 0x7f)
        length++;
    if (length == 0 || length == FRAME_NAME_BYTES)
        return false;
    for (size_t i = length; i < FRAME_NAME_BYTES; i++)
        if (name[i] != '\0')
            return false;
    return true;
}

void frame_hello_encode(const struct frame_hello *hello, unsigned char out[FRAME_HELLO_BYTES])
{
    memcpy(out, hello_frame_magic, sizeof hello_frame_magic);
    wire_put16(out + 8, hello->stream);
    wire_put16(out + 10, hello->protocol);
    wire_put32(out + 12, hello->workers);
    wire_put32(out + 16, hello->cores);
    wire_put64(out + 20, hello->received);
    memcpy(out + 28, hello->token, FRAME_TOKEN_BYTES);
    memset(out + 44, 0, FRAME_NAME_BYTES);
    memcpy(out + 44, hello->name, strnlen(hello->name, FRAME_NAME_BYTES - 1));
}

int frame_hello_decode(struct frame_hello *hello, const unsigned char *body, size_t size, struct error *error)
{
    *hello = (struct frame_hello){0};
    if (size < FRAME_VERSION_BYTES || memcmp(body, hello_frame_magic, sizeof hello_frame_magic) != 0)
        return error_set(error, "a hello that is none");
    hello->stream = wire_get16(body + 8);
    hello->protocol = wire_get16(body + 10);
    if (hello->protocol != PROTOCOL_VERSION) {
        error_set(error, "protocol version %u, this set has %u", (unsigned)hello->protocol, PROTOCOL_VERSION);
        return FRAME_OTHER_VERSION;
    }
    if (hello->stream != STREAM_VERSION) {
        error_set(error, "stream version %u, this set has %u", (unsigned)hello->stream, STREAM_VERSION);
        return FRAME_OTHER_VERSION;
    }
    if (size != FRAME_HELLO_BYTES)
        return error_set(error, "a hello of %zu bytes", size);
    hello->workers = wire_get32(body + 12);
    hello->cores = wire_get32(body + 16);
    hello->received = wire_get64(body + 20);
    memcpy(hello->token, body + 28, FRAME_TOKEN_BYTES);
    memcpy(hello->name, body + 44, FRAME_NAME_BYTES);
    if (hello->workers < 1 || hello->workers > FRAME_RANKS_MAX || hello->cores > FRAME_RANKS_MAX)
        return error_set(error, "a hello with %u workers on %u cores", (unsigned)hello->workers,
                         (unsigned)hello->cores);
    if (!frame_name_is_good(hello->name))
        return error_set(error, "a hello with a name that is none");
    if (token_is_zero(hello->token) && hello->received != 0)
        return error_set(error, "a hello of a new pod that has received something");
    return 0;
}

void frame_welcome_encode(const struct frame_welcome *welcome, unsigned char *out)
{
    assert(welcome->words_bytes <= FRAME_WORDS_MAX);
    memcpy(out, welcome->token, FRAME_TOKEN_BYTES);
    wire_put64(out + 16, welcome->received);
    wire_put32(out + 24, welcome->first_rank);
    wire_put32(out + 28, welcome->beat_ms);
    if (welcome->words_bytes > 0)
        memcpy(out + FRAME_WELCOME_BYTES, welcome->words, welcome->words_bytes);
}

int frame_welcome_decode(struct frame_welcome *welcome, const unsigned char *body, size_t size, struct error *error)
{
    if (size < FRAME_WELCOME_BYTES || size > FRAME_BODY_MAX)
        return error_set(error, "a welcome of %zu bytes", size);
    memcpy(welcome->token, body, FRAME_TOKEN_BYTES);
    welcome->received = wire_get64(body + 16);
    welcome->first_rank = wire_get32(body + 24);
    welcome->beat_ms = wire_get32(body + 28);
    welcome->words_bytes = size - FRAME_WELCOME_BYTES;
    welcome->words = welcome->words_bytes > 0 ? (const char *)body + FRAME_WELCOME_BYTES : NULL;
    if (token_is_zero(welcome->token))
        return error_set(error, "a welcome without a token");
    if (welcome->beat_ms < 1 || welcome->beat_ms > FRAME_BEAT_MAX_MS)
        return error_set(error, "a welcome with a beat of %u ms", (unsigned)welcome->beat_ms);
    if (welcome->words_bytes > 0 && welcome->words[welcome->words_bytes - 1] != '\0')
        return error_set(error, "a welcome with a word that does not end");
    return 0;
}

int frame_refused_decode(char line[TEXT_MAX + 1], const unsigned char *body, size_t size, struct error *error)
{
    if (size < 1 || size > TEXT_MAX)
        return error_set(error, "a refusal of %zu bytes", size);
    for (size_t i = 0; i < size; i++)
        if (body[i] < ' ' || body[i] == 0x7f)
            return error_set(error, "a refusal with a control character");
    memcpy(line, body, size);
    line[size] = '\0';
    return 0;
}
