/* SPDX-License-Identifier: MIT */
/* Task lists and tables, whatever is in them: refused with one line, or every task is a command that can be started and
 * shown. The first byte says which files there are and what they are, the second how many tasks are wanted, 0 for as
 * many as there are; the first NUL of what follows parts the commands from the table. */
#include "tests/fuzz/fuzz.h"
#include "common/util/error.h"
#include "worker/kernels/exec/shell.h"
#include "worker/kernels/exec/cmdline.h"
#include "worker/kernels/exec/tasks.h"

#include <string.h>
#include <unistd.h>

enum { HEAD_BYTES = 2, TASKS = 1, TABLE = 2, SHELL = 4, CSV = 8, HEADER = 16, NO_HEADER = 32 };

/* A table is CSV by its name: a symbolic link to a file without one. */
static const char *name_csv(const char *path)
{
    static char folder[] = "/tmp/hdss-fuzz-tasks-XXXXXX", link[sizeof folder + 12];
    if (link[0] == '\0') {
        REQUIRE(mkdtemp(folder) != NULL);
        snprintf(link, sizeof link, "%s/table.csv", folder);
    }
    unlink(link);
    REQUIRE(symlink(path, link) == 0);
    return link;
}

static void look_at_task(struct tasks *tasks, uint64_t i)
{
    struct error error = {0};
    char text[80];
    REQUIRE(tasks_get(tasks, i, &error) == 0);
    char **argv = cmdline_argv(&tasks->words);
    REQUIRE(argv != NULL && argv[0] != NULL && argv[tasks->words.count - tasks->words.assignments] == NULL);
    require_one_line(tasks_text(tasks, text, sizeof text));
}

static void look_at_tasks(const struct tasks_source *source)
{
    struct error error = {0};
    struct tasks tasks;
    if (tasks_open(&tasks, source, &error) < 0) {
        require_one_line(error.text);
        return;
    }
    tasks_set_worker(&tasks, 7, 3, 8);
    if (tasks_check(&tasks, &error) == 0)
        for (uint64_t i = 0; i < tasks.count; i++)
            look_at_task(&tasks, i);
    else
        require_one_line(error.text);
    tasks_close(&tasks);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char list_path[FUZZ_PATH_MAX], table_path[FUZZ_PATH_MAX];
    if (size < HEAD_BYTES)
        return 0;
    unsigned kind = bytes[0];
    char *commands = fuzz_text(bytes + HEAD_BYTES, size - HEAD_BYTES);
    size_t length = strlen(commands), rest = size - HEAD_BYTES - length;
    int list = fuzz_file((const uint8_t *)commands, length, list_path);
    int table = fuzz_file(bytes + HEAD_BYTES + length + (rest > 0), rest > 0 ? rest - 1 : 0, table_path);
    look_at_tasks(&(struct tasks_source){
        .tasks = kind & TASKS ? list_path : "",
        .command = kind & TASKS ? "" : commands,
        .table = !(kind & TABLE) ? ""
                 : kind & CSV    ? name_csv(table_path)
                                 : table_path,
        .list = "",
        .folder = "",
        .count = bytes[1] > 0 ? bytes[1] : TASKS_COUNT_UNKNOWN,
        .header = kind & HEADER      ? TABLE_HEADER_YES
                  : kind & NO_HEADER ? TABLE_HEADER_NO
                                     : TABLE_HEADER_AUTO,
        .shell = kind & SHELL ? SHELL_YES : SHELL_AUTO,
    });
    close(list);
    close(table);
    free(commands);
    return 0;
}
