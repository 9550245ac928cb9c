/* SPDX-License-Identifier: MIT */
/* Words and numbers of a text: see reader.h. */
#include "deploy/examples/kernels/papers/mesh/reader.h"

#include "deploy/examples/kernels/papers/mesh/mesh.h"
#include "common/util/number.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void reader_init(struct reader *reader, const char *bytes, size_t size, struct error *error)
{
    *reader = (struct reader){.bytes = bytes, .size = size, .line = 1, .error = error};
}

int reader_refuse(const struct reader *reader, const char *format, ...)
{
    char text[ERROR_TEXT_MAX - 40];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return reader->is_binary ? error_set(reader->error, "byte %zu: %s", reader->at, text)
                             : error_set(reader->error, "line %zu: %s", reader->line, text);
}

static bool reader_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Returns the length of the line continuation at `c`; 0: there is none. A line continuation is a backslash at the end
 * of a line. `left`: how many bytes the text has from `c` on. */
static size_t continuation(const struct reader *reader, const char *c, size_t left)
{
    if (!reader->has_continuation || left < 2 || c[0] != '\\')
        return 0;
    if (c[1] == '\n')
        return 2;
    return left >= 3 && c[1] == '\r' && c[2] == '\n' ? 3 : 0;
}

static void reader_skip_blanks(struct reader *reader)
{
    size_t length;
    for (; reader->at < reader->size; reader->at += length) {
        length = continuation(reader, reader->bytes + reader->at, reader_left(reader));
        reader->line += length > 0;
        if (length == 0 && !reader_is_blank(reader->bytes[reader->at]))
            break;
        length += length == 0;
    }
    if (!reader->has_comments || reader->at == reader->size || reader->bytes[reader->at] != '#')
        return;
    const char *end = memchr(reader->bytes + reader->at, '\n', reader_left(reader));
    reader->at = end != NULL ? (size_t)(end - reader->bytes) : reader->size;
}

bool reader_word(struct reader *reader, char word[READER_WORD_MAX])
{
    reader_skip_blanks(reader);
    const char *begin = reader->bytes + reader->at;
    size_t length = 0, left = reader_left(reader);
    while (length < left && begin[length] != '\n' && !reader_is_blank(begin[length]) &&
           continuation(reader, begin + length, left - length) == 0)
        length++;
    size_t kept = length < READER_WORD_MAX ? length : READER_WORD_MAX - 1;
    for (size_t i = 0; i < kept; i++)
        word[i] = begin[i] == '\0' ? '?' : begin[i];
    word[kept] = '\0';
    if (kept < length)
        word[kept - 1] = '~'; /* makes sure that a truncated word is not read as a number */
    reader->at += length;
    return length > 0;
}

bool reader_next_line(struct reader *reader)
{
    char word[READER_WORD_MAX];
    while (reader->has_continuation && reader_word(reader, word))
        continue;
    const char *end = memchr(reader->bytes + reader->at, '\n', reader_left(reader));
    if (end == NULL || end + 1 == reader->bytes + reader->size) {
        reader->at = reader->size;
        return false;
    }
    reader->at = (size_t)(end + 1 - reader->bytes);
    reader->line++;
    return true;
}

bool reader_any_word(struct reader *reader, char word[READER_WORD_MAX])
{
    while (!reader_word(reader, word))
        if (!reader_next_line(reader))
            return false;
    return true;
}

int reader_check_coordinate(const struct reader *reader, double value)
{
    if (fabs(value) <= MESH_COORDINATE_MAX)
        return 0;
    return reader_refuse(reader, "%g: accepted: a number from %g to %g", value, -MESH_COORDINATE_MAX,
                         MESH_COORDINATE_MAX);
}

int reader_coordinate(const struct reader *reader, const char *word, double *value)
{
    if (number_parse_real(word, value) == 0 && fabs(*value) <= MESH_COORDINATE_MAX)
        return 0;
    return reader_refuse(reader, "'%s': accepted: a number from %g to %g", word, -MESH_COORDINATE_MAX,
                         MESH_COORDINATE_MAX);
}

int reader_vector(struct reader *reader, const char *what, double vector[3])
{
    char word[READER_WORD_MAX];
    for (int i = 0; i < 3; i++) {
        if (!reader_word(reader, word))
            return reader_refuse(reader, "a %s has three numbers, there %s %d%s", what, i == 1 ? "is" : "are", i,
                                 reader->at == reader->size ? ", and the file ends" : "");
        if (reader_coordinate(reader, word, &vector[i]) < 0)
            return -1;
    }
    return 0;
}

int reader_count(const struct reader *reader, const char *word, const char *what, size_t least, size_t *count)
{
    uint64_t number;
    if (number_parse_u64(word, &number) < 0)
        return reader_refuse(reader, "'%s': accepted: how many %s there are", word, what);
    if (number > reader_left(reader) / least)
        return reader_refuse(reader, "%llu %s do not fit the %zu bytes that follow", (unsigned long long)number, what,
                             reader_left(reader));
    *count = (size_t)number;
    return 0;
}
