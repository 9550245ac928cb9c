/* SPDX-License-Identifier: MIT */
/* description_read() and kernel_table_read(): the input is the word. It is refused with one line, or what it says makes
 * a word that says the same. */
#include "tests/fuzz/fuzz.h"
#include "common/config/description.h"
#include "common/util/error.h"
#include "hdss/kernel.h"

#include <string.h>

/* The same of a kernel's table. */
static void fuzz_table(const char *text)
{
    struct kernel_table table, again;
    struct error error = {0};
    if (kernel_table_read(&table, "k", text, &error) < 0) {
        require_one_line(error.text);
        return;
    }
    char *word = kernel_table_text(&table.kernel);
    REQUIRE(word != NULL && kernel_table_read(&again, "k", word, &error) == 0);
    char *same = kernel_table_text(&again.kernel);
    REQUIRE(same != NULL && strcmp(word, same) == 0);
    kernel_table_fini(&again);
    kernel_table_fini(&table);
    free(word);
    free(same);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct description description, again;
    struct error error = {0};
    char *text = fuzz_text(bytes, size);
    if (description_read(&description, text, &error) < 0) {
        require_one_line(error.text);
    } else {
        REQUIRE(description.loop.streams <= HDSS_STREAMS_MAX && description.loop.dims <= HDSS_DIMS_MAX);
        char *word = description_text(&description.kernel, &description.loop);
        REQUIRE(word != NULL && description_read(&again, word, &error) == 0);
        char *same = description_text(&again.kernel, &again.loop);
        REQUIRE(same != NULL && strcmp(word, same) == 0);
        REQUIRE(strcmp(again.kernel.name, description.kernel.name) == 0);
        REQUIRE(again.loop.iterations == description.loop.iterations);
        description_fini(&again);
        description_fini(&description);
        free(word);
        free(same);
    }
    fuzz_table(text);
    free(text);
    return 0;
}
