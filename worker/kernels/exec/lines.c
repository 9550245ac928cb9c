/* SPDX-License-Identifier: MIT */
/* Lines of large files: see lines.h. */
#include "worker/kernels/exec/lines.h"

#include "common/os/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define READ_BYTES (1u << 20)

enum csv_place { CSV_AT_FIELD, CSV_PLAIN, CSV_QUOTED, CSV_AFTER_QUOTE };

static const char *csv_end(enum csv_place *place, const char *bytes, size_t count, uint64_t *newlines)
{
    for (size_t i = 0; i < count; i++) {
        const char c = bytes[i];
        if (*place == CSV_QUOTED) {
            *newlines += c == '\n';
            *place = c == '"' ? CSV_AFTER_QUOTE : CSV_QUOTED;
        } else if (c == '\n') {
            *place = CSV_AT_FIELD;
            return bytes + i;
        } else if (c == '"' && *place != CSV_PLAIN) {
            *place = CSV_QUOTED; /* a second quote: the first one did not end the field */
        } else {
            *place = c == ',' ? CSV_AT_FIELD : CSV_PLAIN;
        }
    }
    return NULL;
}

static const char *line_end(enum lines_kind kind, enum csv_place *place, const char *bytes, size_t count,
                            uint64_t *newlines)
{
    return kind == LINES_OF_CSV ? csv_end(place, bytes, count, newlines) : memchr(bytes, '\n', count);
}

struct pass {
    struct lines *lines;
    XXH3_state_t *block; /* digest of the current block so far; owned */
    bool in_block;
    uint64_t offset;
    uint64_t end;
    uint64_t number;
    uint64_t line_began;
    enum csv_place place;
    uint64_t newlines;
    bool ends;
    bool counts, decided;
    struct error *error;
};

/* In CSV, spaces and tabs are part of a field. */
static bool lines_is_blank(enum lines_kind kind, char c)
{
    return c == '\r' || (kind != LINES_OF_CSV && (c == ' ' || c == '\t'));
}

static bool is_left_out(enum lines_kind kind, char first)
{
    return kind != LINES_OF_LIST && (first == '\n' || (kind == LINES_OF_TASKS && first == '#'));
}

static void end_block(struct pass *pass)
{
    struct lines *lines = pass->lines;
    if (pass->in_block)
        lines->blocks[lines->block_count - 1].digest = XXH3_64bits_digest(pass->block);
}

static int lines_count_line(struct pass *pass)
{
    struct lines *lines = pass->lines;
    if (lines->count++ % LINES_BLOCK != 0)
        return 0;
    end_block(pass);
    pass->in_block = false;
    XXH3_64bits_reset(pass->block);
    if (lines->block_count == lines->block_room) {
        size_t room = 2 * lines->block_room + 64;
        struct lines_block *blocks = realloc(lines->blocks, room * sizeof *blocks);
        if (blocks == NULL)
            return error_set(pass->error, "%.200s: out of memory for its %" PRIu64 " lines", lines->path, lines->count);
        lines->blocks = blocks;
        lines->block_room = room;
    }
    lines->blocks[lines->block_count++] = (struct lines_block){.offset = pass->offset, .number = pass->number};
    pass->in_block = true;
    return 0;
}

static size_t lines_decide(struct pass *pass, const char *bytes, size_t count)
{
    enum lines_kind kind = pass->lines->kind;
    size_t i = 0;
    while (kind != LINES_OF_LIST && i < count && lines_is_blank(kind, bytes[i]))
        i++;
    pass->decided = i < count;
    pass->counts = i < count && !is_left_out(kind, bytes[i]);
    return i;
}

static int look_at_line(struct pass *pass, const char *bytes, size_t count, size_t *taken)
{
    size_t blanks = pass->decided ? 0 : lines_decide(pass, bytes, count);
    if (blanks > 0)
        pass->place = CSV_PLAIN;
    if (blanks < count && pass->counts && pass->line_began + LINE_MAX_BYTES < pass->offset)
        return error_set(pass->error, "%.200s, line %" PRIu64 ": longer than %u bytes", pass->lines->path, pass->number,
                         LINE_MAX_BYTES);
    const char *end = line_end(pass->lines->kind, &pass->place, bytes + blanks, count - blanks, &pass->newlines);
    pass->ends = end != NULL;
    *taken = end == NULL ? count : (size_t)(end - bytes) + 1;
    return 0;
}

static int lines_take_line(struct pass *pass, const char *bytes, size_t count, size_t *taken)
{
    bool was_decided = pass->decided;
    if (look_at_line(pass, bytes, count, taken) < 0)
        return -1;
    if (!was_decided && pass->decided && pass->counts && lines_count_line(pass) < 0)
        return -1;
    if (pass->in_block)
        XXH3_64bits_update(pass->block, bytes, *taken);
    pass->offset += *taken;
    if (!pass->ends)
        return 0;
    pass->number += 1 + pass->newlines;
    pass->newlines = 0;
    pass->line_began = pass->offset;
    pass->decided = pass->counts = false;
    return 0;
}

static int take_bytes(struct pass *pass, const char *bytes, size_t count)
{
    size_t taken = 0;
    for (; count > 0; bytes += taken, count -= taken)
        if (lines_take_line(pass, bytes, count, &taken) < 0)
            return -1;
    return 0;
}

static size_t byte_order_mark(const struct pass *pass, const char *bytes, size_t count)
{
    return pass->offset == 0 && count >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static int changed(const struct lines *lines, struct error *error)
{
    return error_set(error, "%.200s: it has changed since the run began", lines->path);
}

static int pass_through(struct pass *pass, char *buffer, size_t room)
{
    struct lines *lines = pass->lines;
    while (pass->offset < pass->end) {
        uint64_t left = pass->end - pass->offset;
        ssize_t got = pread(lines->file, buffer, left < room ? left : room, (off_t)pass->offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set(pass->error, "%.200s: %s", lines->path, strerror(errno));
        if (got == 0 && lines->kind == LINES_OF_LIST)
            return changed(lines, pass->error);
        if (got == 0)
            break;
        size_t mark = byte_order_mark(pass, buffer, (size_t)got);
        pass->offset += mark;
        if (take_bytes(pass, buffer + mark, (size_t)got - mark) < 0)
            return -1;
    }
    end_block(pass);
    lines->bytes = pass->offset;
    return 0;
}

static int look_through(struct pass *pass)
{
    struct lines *lines = pass->lines;
    const uint64_t left = pass->end - pass->offset;
    pass->line_began = pass->offset;
    size_t room = left < READ_BYTES ? (size_t)left : READ_BYTES;
    char *buffer = malloc(room);
    int result;
    pass->block = XXH3_createState();
    if (pass->block == NULL || buffer == NULL)
        result = error_set(pass->error, "%.200s: out of memory", lines->path);
    else
        result = pass_through(pass, buffer, room);
    free(buffer);
    XXH3_freeState(pass->block);
    return result;
}

static int read_again(const struct lines *lines, char *bytes, size_t count, uint64_t offset, struct error *error)
{
    int result = file_read_at(lines->file, bytes, count, offset);
    if (result < 0)
        return error_set(error, "%.200s: %s", lines->path, strerror(errno));
    return result == FILE_ENDS ? changed(lines, error) : 0;
}

static int find_end(const struct lines *lines, uint64_t *end, bool *is_complete, struct error *error)
{
    struct stat status;
    char tail[4096];
    size_t mark = strlen(LINES_END);
    *end = 0;
    *is_complete = false;
    if (fstat(lines->file, &status) < 0)
        return error_set(error, "%.200s: %s", lines->path, strerror(errno));
    for (uint64_t left = (uint64_t)status.st_size; left > 0 && *end == 0;) {
        size_t count = left < sizeof tail ? (size_t)left : sizeof tail;
        left -= count;
        if (read_again(lines, tail, count, left, error) < 0)
            return -1;
        const char *last = memrchr(tail, '\n', count);
        *end = last == NULL ? 0 : left + (uint64_t)(last - tail) + 1;
    }
    if (*end <= mark)
        return 0;
    if (read_again(lines, tail, mark + 1, *end - mark - 1, error) < 0)
        return -1;
    *is_complete = tail[0] == '\n' && memcmp(tail + 1, LINES_END, mark) == 0;
    *end -= *is_complete ? mark : 0;
    return 0;
}

static int lines_read_block(struct lines *lines, size_t b, size_t *bytes, struct error *error)
{
    const struct lines_block *block = &lines->blocks[b];
    uint64_t end = b + 1 < lines->block_count ? lines->blocks[b + 1].offset : lines->bytes;
    lines->at = SIZE_MAX;
    *bytes = (size_t)(end - block->offset);
    if (*bytes > lines->text_room) {
        char *text = realloc(lines->text, *bytes);
        if (text == NULL)
            return error_set(error, "%.200s: out of memory for %zu bytes", lines->path, *bytes);
        lines->text = text;
        lines->text_room = *bytes;
    }
    if (read_again(lines, lines->text, *bytes, block->offset, error) < 0)
        return -1;
    return XXH3_64bits(lines->text, *bytes) != block->digest ? changed(lines, error) : 0;
}

/* Drops the last block if it is not full: the block will be read again together with the lines that were added. */
static int drop_last_block(struct pass *pass)
{
    struct lines *lines = pass->lines;
    unsigned rest = (unsigned)(lines->count % LINES_BLOCK);
    size_t bytes;
    if (rest == 0)
        return 0;
    if (lines_read_block(lines, lines->block_count - 1, &bytes, pass->error) < 0)
        return -1;
    lines->block_count--;
    lines->count -= rest;
    pass->offset -= bytes;
    pass->number -= rest;
    return 0;
}

int lines_extend(struct lines *lines, struct error *error)
{
    struct pass pass = {.lines = lines, .offset = lines->bytes, .number = lines->count + 1, .error = error};
    bool is_complete;
    if (lines->is_complete)
        return 0;
    if (find_end(lines, &pass.end, &is_complete, error) < 0)
        return -1;
    if (pass.end < lines->bytes)
        return changed(lines, error);
    if (pass.end > lines->bytes && (drop_last_block(&pass) < 0 || look_through(&pass) < 0))
        return -1;
    lines->is_complete = is_complete;
    return 0;
}

static int open_file(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

void lines_reopen(struct lines *lines)
{
    int file = open_file(lines->path);
    if (file < 0)
        return;
    close(lines->file);
    lines->file = file;
}

static int first_pass(struct lines *lines, struct error *error)
{
    struct pass pass = {.lines = lines, .number = 1, .end = UINT64_MAX, .error = error};
    int result = lines->kind == LINES_OF_LIST ? lines_extend(lines, error) : look_through(&pass);
    if (result == 0)
        lines->digest = XXH3_64bits(lines->blocks, lines->block_count * sizeof *lines->blocks);
    return result;
}

int lines_open(struct lines *lines, const char *path, enum lines_kind kind, struct error *error)
{
    struct stat status;
    *lines = (struct lines){.path = path, .kind = kind, .at = SIZE_MAX};
    lines->file = open_file(path);
    if (lines->file < 0 || fstat(lines->file, &status) < 0)
        error_set(error, "%.200s: %s", path, strerror(errno));
    else if (!S_ISREG(status.st_mode))
        error_set(error, "%.200s: not a regular file", path);
    else if (first_pass(lines, error) == 0)
        return 0;
    lines_close(lines);
    return -1;
}

void lines_close(struct lines *lines)
{
    if (lines->file >= 0)
        close(lines->file);
    free(lines->blocks);
    free(lines->text);
    *lines = (struct lines){.file = -1};
}

static void cut_block(struct lines *lines, size_t b, size_t bytes)
{
    uint64_t number = lines->blocks[b].number;
    unsigned found = 0;
    for (size_t at = 0; at < bytes && found < LINES_BLOCK; number++) {
        enum csv_place place = CSV_AT_FIELD;
        uint64_t newlines = 0;
        const char *line = lines->text + at, *end = line_end(lines->kind, &place, line, bytes - at, &newlines);
        size_t length = end == NULL ? bytes - at : (size_t)(end - line), blanks = 0;
        while (lines->kind != LINES_OF_LIST && blanks < length && lines_is_blank(lines->kind, line[blanks]))
            blanks++;
        if (!is_left_out(lines->kind, blanks < length ? line[blanks] : '\n')) {
            lines->starts[found] = at;
            bool has_return = lines->kind != LINES_OF_LIST && length > 0 && line[length - 1] == '\r';
            lines->lengths[found] = length - has_return;
            lines->numbers[found++] = number;
        }
        at += length + 1;
        number += newlines;
    }
}

int lines_get(struct lines *lines, uint64_t i, struct line *line, struct error *error)
{
    size_t b = (size_t)(i / LINES_BLOCK), k = (size_t)(i % LINES_BLOCK), bytes;
    if (lines->at != b) {
        if (lines_read_block(lines, b, &bytes, error) < 0)
            return -1;
        cut_block(lines, b, bytes);
        lines->at = b;
    }
    *line = (struct line){lines->text + lines->starts[k], lines->lengths[k], lines->numbers[k]};
    return 0;
}

/* The last block may be incomplete. So the digest covers the whole blocks before it, and then its lines one by one. */
int lines_digest(struct lines *lines, uint64_t count, uint64_t *digest, struct error *error)
{
    const uint64_t blocks = count == 0 ? 0 : (count - 1) / LINES_BLOCK;
    struct line line;
    if (count > lines->count)
        return changed(lines, error);
    *digest = blocks == 0 ? 0 : XXH3_64bits(lines->blocks, blocks * sizeof *lines->blocks);
    for (uint64_t i = blocks * LINES_BLOCK; i < count; i++) {
        if (lines_get(lines, i, &line, error) < 0)
            return -1;
        *digest = XXH3_64bits_withSeed(line.text, line.length, *digest);
    }
    return 0;
}
