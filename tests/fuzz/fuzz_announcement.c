/* SPDX-License-Identifier: MIT */
/* announcement_unpack(): any bytes give one line, or an announcement in its limits that packs to the same bytes. */
#include "proto/announcement.h"
#include "common/util/error.h"
#include "proto/message.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void require_same(const struct announcement *announcement, const uint8_t *bytes, size_t size)
{
    unsigned char *again = malloc(size);
    REQUIRE(again != NULL && announcement_size(announcement) == size);
    announcement_pack(announcement, again);
    REQUIRE(memcmp(again, bytes, size) == 0);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct announcement announcement;
    struct error error = {0};
    if (announcement_unpack(&announcement, bytes, size, &error) < 0) {
        require_one_line(error.text);
        REQUIRE(announcement.memory == NULL);
        return 0;
    }
    REQUIRE(size <= ANNOUNCEMENT_MAX && announcement.folder[0] == '/' && announcement.umask <= 0777);
    REQUIRE(announcement.weight >= 1 && announcement.weight <= ANNOUNCEMENT_WEIGHT_MAX);
    REQUIRE(announcement.word_count >= 1 && announcement.words[announcement.word_count] == NULL);
    REQUIRE(announcement.environment[announcement.variable_count] == NULL);
    for (unsigned i = 0; i < announcement.variable_count; i++)
        REQUIRE(strchr(announcement.environment[i], '=') > announcement.environment[i]);
    require_same(&announcement, bytes, size);
    announcement_fini(&announcement);
    return 0;
}
