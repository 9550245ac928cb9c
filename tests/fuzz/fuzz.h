/* SPDX-License-Identifier: MIT */
/* What every fuzz target has: one function that takes any bytes, and a check that ends the process where something does
 * not hold. The same file is linked with libFuzzer, or with replay.c as a program that takes files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* libFuzzer's name for it. Returns 0 always: every input may be kept. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Unlike assert() it is never compiled out. */
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                             \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* An error says something, in one line, and nothing that a terminal would obey. */
static inline void require_one_line(const char *text)
{
    REQUIRE(text[0] != '\0');
    for (const char *c = text; *c != '\0'; c++)
        REQUIRE((unsigned char)*c >= ' ' && *c != 0x7f);
}

/* Words that are separated by newlines: "worker\n--slowdown\n2". */
#define FUZZ_WORDS_MAX 100

struct fuzz_words {
    char *text; /* owned */
    char *word[FUZZ_WORDS_MAX + 1];
    int count;
};

/* A copy of the bytes as text that ends at their first NUL or at their end; the caller frees it. It is exactly as long
 * as it must be, so that AddressSanitizer sees a step beyond it. */
char *fuzz_text(const uint8_t *bytes, size_t size);
void fuzz_words_init(struct fuzz_words *words, const uint8_t *bytes, size_t size);
void fuzz_words_fini(struct fuzz_words *words);

/* A file without a name that holds the bytes; its path is in `path`. The descriptor is the caller's to close. */
#define FUZZ_PATH_MAX 32
int fuzz_file(const uint8_t *bytes, size_t size, char path[FUZZ_PATH_MAX]);
