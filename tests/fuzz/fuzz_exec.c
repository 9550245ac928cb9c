/* SPDX-License-Identifier: MIT */
/* The command line of `hdss exec`, one word in each line up to a NUL; behind it is a file of arguments, which the word
 * @ names. It is refused with one line, or the rows that it makes, written to a list, are read from there as they are,
 * and each is a task or refused with one line. What --halt says is not taken back. */
#include "tests/fuzz/fuzz.h"
#include "common/util/error.h"
#include "deploy/cli/exec_request.h"
#include "deploy/cli/task_list.h"
#include "worker/kernels/exec/tasks.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { ROWS_MAX = 50, FIELDS_MAX = 2000 };

/* Files of the machine, which may have no end, are not opened. */
static void leave_files_alone(struct fuzz_words *words, char *path)
{
    static char own[] = "hdss exec";
    for (int i = 0; i < words->count; i++) {
        for (char *c = words->word[i]; words->word[i][0] != '{' && *c != '\0'; c++)
            *c = *c == '/' ? '_' : *c;
        if (strcmp(words->word[i], "@") == 0)
            words->word[i] = path;
    }
    if (words->count > 0)
        words->word[0] = own;
}

/* The C library takes all memory, or for ever, for repeated repetitions and for references. */
static bool is_cheap(const char *pattern)
{
    for (const char *c = pattern != NULL ? pattern : ""; *c != '\0'; c++)
        if (*c == '{' || *c == '*' || *c == '+' || *c == '?' || (*c == '\\' && isdigit((unsigned char)c[1])))
            return false;
    return true;
}

static void halt_early(const struct exec_request *request)
{
    struct halt halt = request->halt;
    enum halt_state before = HALT_NO;
    char text[HALT_TEXT_MAX];
    for (uint64_t done = 0; done < 200; done++) {
        const enum halt_state state = halt_look(&halt, done, done / 2, done < 100 ? 0 : 200);
        REQUIRE(state >= before);
        before = state;
    }
    REQUIRE(before == HALT_NO || before == request->halt.when);
    if (before != HALT_NO)
        require_one_line(halt_text(&halt, text));
}

/* Digest of a row. */
static uint64_t sum_of(uint64_t sum, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        sum = sum * 31 + (unsigned char)text[i];
    return sum * 31 + 256;
}

/* Writes the rows to a list; each second one has another number than its place. Returns how many. */
static unsigned write_rows(struct exec_request *request, const char *path, uint64_t sums[ROWS_MAX])
{
    struct error error = {0};
    struct task_list list;
    struct arguments row;
    unsigned count = 0;
    size_t fields = 0;
    int result = SOURCES_END;
    REQUIRE(task_list_begin(&list, path, &error) == 0);
    task_list_name(&list, sources_names(request->sources).fields, sources_names(request->sources).count, 1);
    while (count < ROWS_MAX && fields < FIELDS_MAX &&
           (result = sources_next(request->sources, true, &row, &error)) == SOURCES_ROW) {
        sums[count] = 0;
        bool has_nul = false;
        for (unsigned i = 0; i < row.count; i++) {
            sums[count] = sum_of(sums[count], row.fields[i].text, row.fields[i].length);
            has_nul |= memchr(row.fields[i].text, '\0', row.fields[i].length) != NULL;
        }
        REQUIRE(!has_nul);
        fields += row.count;
        count++;
        task_list_add(&list, count % 2 == 0 ? count + 1000 : count, row.fields, row.count);
    }
    if (result < 0)
        require_one_line(error.text);
    REQUIRE(task_list_end(&list, true, &error) == 0);
    return count;
}

static void read_rows(const struct exec_request *request, const char *path, const uint64_t sums[ROWS_MAX],
                      unsigned count)
{
    const struct tasks_source source = {.tasks = "",
                                        .command = request->command,
                                        .table = "",
                                        .list = path,
                                        .folder = "",
                                        .count = TASKS_COUNT_UNKNOWN,
                                        .shell = request->shell};
    struct error error = {0};
    struct tasks tasks;
    if (tasks_open(&tasks, &source, &error) < 0) {
        require_one_line(error.text);
        return;
    }
    REQUIRE(tasks.count == count);
    for (unsigned i = 0; i < count; i++) {
        uint64_t sum = 0;
        if (tasks_get(&tasks, i, &error) < 0)
            require_one_line(error.text);
        REQUIRE(tasks.row != NULL && tasks.order == (i % 2 == 1 ? i + 1001 : i + 1));
        for (unsigned k = 0; k < tasks.row->count; k++)
            sum = sum_of(sum, tasks.row->fields[k].text, tasks.row->fields[k].length);
        REQUIRE(sum == sums[i] || tasks.row->count == 1); /* no field, and an empty one, are the same */
    }
    tasks_close(&tasks);
}

static void run(struct exec_request *request)
{
    struct error error = {0};
    char path[FUZZ_PATH_MAX];
    uint64_t sums[ROWS_MAX];
    int file = fuzz_file(NULL, 0, path);
    halt_early(request);
    if (sources_begin(request->sources, &error) < 0)
        require_one_line(error.text);
    else {
        unsigned count = write_rows(request, path, sums);
        read_rows(request, path, sums, count);
    }
    close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static bool has_input;
    static struct exec_request request;
    struct fuzz_words words;
    struct error error = {0};
    char path[FUZZ_PATH_MAX];
    if (!has_input) { /* standard input has nothing */
        int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
        REQUIRE(nothing >= 0 && dup2(nothing, STDIN_FILENO) == STDIN_FILENO);
        close(nothing);
        has_input = true;
    }
    const size_t length = strnlen((const char *)bytes, size), rest = size - length;
    fuzz_words_init(&words, bytes, length);
    int file = fuzz_file(bytes + length + (rest > 0), rest - (rest > 0), path);
    leave_files_alone(&words, path);
    int result = exec_request_read(&request, words.count, words.word, &error);
    if (result < 0)
        require_one_line(error.text);
    else if (result == 0 && is_cheap(request.how.separator))
        run(&request);
    exec_request_fini(&request);
    close(file);
    fuzz_words_fini(&words);
    return 0;
}
