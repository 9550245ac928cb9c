/* SPDX-License-Identifier: MIT */
/* What several fuzz targets need: see fuzz.h. */
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

char *fuzz_text(const uint8_t *bytes, size_t size)
{
    char *text = strndup(size > 0 ? (const char *)bytes : "", size);
    REQUIRE(text != NULL);
    return text;
}

void fuzz_words_init(struct fuzz_words *words, const uint8_t *bytes, size_t size)
{
    words->text = fuzz_text(bytes, size);
    words->count = 0;
    for (char *rest = words->text, *word; words->count < FUZZ_WORDS_MAX && (word = strsep(&rest, "\n")) != NULL;)
        words->word[words->count++] = word;
    words->word[words->count] = NULL;
}

void fuzz_words_fini(struct fuzz_words *words)
{
    free(words->text);
}

int fuzz_file(const uint8_t *bytes, size_t size, char path[FUZZ_PATH_MAX])
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    REQUIRE(fd >= 0);
    REQUIRE(size == 0 || write(fd, bytes, size) == (ssize_t)size);
    snprintf(path, FUZZ_PATH_MAX, "/proc/self/fd/%d", fd);
    return fd;
}
