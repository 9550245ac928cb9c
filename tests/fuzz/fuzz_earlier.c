/* SPDX-License-Identifier: MIT */
/* A task log that a run goes on behind. The first byte says whether what has failed is run again; then comes the
 * command up to a NUL, and then the log: it is refused with one line, and so is a task that is another one; what the
 * log has is not run. Behind it is the same for a head of a fragment: what is read is what is written. */
#include "tests/fuzz/fuzz.h"
#include "common/util/error.h"
#include "worker/kernels/exec/shell.h"
#include "deploy/cli/earlier.h"
#include "worker/kernels/exec/fragments.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { TASKS = 20 };

/* Tasks with the arguments 1, 2 and so on. */
static void pass_by(struct earlier *earlier)
{
    struct error error = {0};
    const struct arguments names = {0};
    char digits[12];
    int result = 0;
    for (uint64_t number = 1; result == 0 && number <= TASKS; number++) {
        const struct piece field = {digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, number)};
        const struct arguments row = {&field, 1};
        if (earlier_has(earlier, number))
            result = earlier_compare(earlier, number, &names, &row, &error);
    }
    if (result < 0)
        require_one_line(error.text);
}

static void read_fragment(const uint8_t *bytes, size_t size)
{
    struct fragment fragment, again;
    char head[FRAGMENT_HEAD_MAX];
    const size_t length = fragment_read(&fragment, (const char *)bytes, size);
    REQUIRE(length <= size && length < FRAGMENT_HEAD_MAX);
    if (length == 0)
        return;
    REQUIRE(fragment.stream < 2);
    int written = snprintf(head, sizeof head, "%" PRIu64 " %" PRIu64 " %u %" PRIu64 " %" PRIu64 "\n", fragment.task,
                           fragment.began_ms, fragment.stream, fragment.offset, fragment.length);
    REQUIRE(fragment_read(&again, head, (size_t)written) == (size_t)written);
    REQUIRE(again.task == fragment.task && again.began_ms == fragment.began_ms && again.stream == fragment.stream &&
            again.offset == fragment.offset && again.length == fragment.length);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct earlier earlier = {0};
    struct error error = {0};
    char path[FUZZ_PATH_MAX];
    if (size < 1)
        return 0;
    char *command = fuzz_text(bytes + 1, size - 1);
    const size_t begin = 1 + strlen(command), rest = size - begin;
    const uint8_t *log = bytes + begin + (rest > 0);
    const struct tasks_source source = {.tasks = "",
                                        .command = command,
                                        .table = "",
                                        .folder = "",
                                        .count = TASKS_COUNT_UNKNOWN,
                                        .shell = (bytes[0] & 2) != 0 ? SHELL_YES : SHELL_AUTO,
                                        .follows = true};
    int file = fuzz_file(log, rest - (rest > 0), path);
    read_fragment(log, rest - (rest > 0));
    if (earlier_read(&earlier, path, (bytes[0] & 1) != 0, &source, &error) < 0)
        require_one_line(error.text);
    else
        pass_by(&earlier);
    earlier_fini(&earlier);
    close(file);
    free(command);
    return 0;
}
