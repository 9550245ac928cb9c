/* SPDX-License-Identifier: MIT */
/* Lists of rows, whatever is in them, read at once or while they are written: refused with one line, or every row is a
 * task that can be started and shown, and both ways of reading find the same. The first byte says how lines are taken;
 * then comes the command, ended by a NUL, and then the list. */
#include "tests/fuzz/fuzz.h"
#include "common/util/error.h"
#include "worker/kernels/exec/shell.h"
#include "worker/kernels/exec/cmdline.h"
#include "worker/kernels/exec/tasks.h"

#include <string.h>
#include <unistd.h>

enum { SHELL = 1, FOLDER = 2 };

static struct tasks_source source_of(uint8_t kind, const char *command, const char *list)
{
    return (struct tasks_source){.tasks = "",
                                 .command = command,
                                 .table = "",
                                 .list = list,
                                 .folder = kind & FOLDER ? "in/{//}/{1/.}" : "",
                                 .count = TASKS_COUNT_UNKNOWN,
                                 .shell = kind & SHELL ? SHELL_YES : SHELL_AUTO};
}

/* The digest of what the tasks are; the first that is refused ends it. */
static uint64_t look_at_tasks(struct tasks *tasks)
{
    struct error error = {0};
    char text[200];
    uint64_t sum = tasks->count;
    tasks_set_worker(tasks, 7, 3, 8);
    for (uint64_t i = 0; i < tasks->count; i++) {
        bool is_task = tasks_get(tasks, i, &error) == 0;
        const char *shown = is_task ? tasks_text(tasks, text, sizeof text) : error.text;
        if (!is_task || text[0] != '\0') /* a shell's command may be empty */
            require_one_line(shown);
        for (size_t k = 0; shown[k] != '\0'; k++)
            sum = sum * 31 + (unsigned char)shown[k];
        if (!is_task)
            return sum;
        char **argv = cmdline_argv(&tasks->words);
        REQUIRE(argv != NULL && argv[0] != NULL && argv[tasks->words.count - tasks->words.assignments] == NULL);
    }
    return sum;
}

/* Reads the list as it becomes longer. False where its first line is refused, or text is behind its last line. */
static bool read_in_parts(int file, size_t size, const struct tasks_source *source, const uint8_t *bytes, uint64_t *sum)
{
    struct error error = {0};
    struct tasks tasks;
    size_t head = 0;
    while (head < size && bytes[head] != '\n')
        head++;
    head += head < size;
    REQUIRE(ftruncate(file, 0) == 0 && pwrite(file, bytes, head, 0) == (ssize_t)head);
    if (tasks_open(&tasks, source, &error) < 0) {
        require_one_line(error.text);
        return false;
    }
    size_t at = head;
    for (size_t part = 1; at < size && tasks.grows; at += part, part = part % 7 + 1) {
        size_t count = at + part < size ? part : size - at;
        REQUIRE(pwrite(file, bytes + at, count, (off_t)at) == (ssize_t)count);
        REQUIRE(tasks_extend(&tasks, &error) == 0);
        if (tasks.count > 0)
            tasks_get(&tasks, tasks.count - 1, &error);
    }
    *sum = look_at_tasks(&tasks);
    tasks_close(&tasks);
    return at >= size;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char path[FUZZ_PATH_MAX];
    struct error error = {0};
    struct tasks tasks;
    uint64_t parts = 0;
    if (size < 1)
        return 0;
    char *command = fuzz_text(bytes + 1, size - 1);
    size_t begin = 1 + strlen(command), rest = size - begin;
    const uint8_t *list = bytes + begin + (rest > 0);
    rest -= rest > 0;
    int file = fuzz_file(list, rest, path);
    const struct tasks_source source = source_of(bytes[0], command, path);
    bool opens = tasks_open(&tasks, &source, &error) == 0;
    uint64_t sum = opens ? look_at_tasks(&tasks) : 0;
    bool is_whole = opens && !tasks.grows;
    if (opens)
        tasks_close(&tasks);
    else
        require_one_line(error.text);
    bool in_parts = read_in_parts(file, rest, &source, list, &parts);
    REQUIRE(!is_whole || !in_parts || sum == parts);
    close(file);
    free(command);
    return 0;
}
