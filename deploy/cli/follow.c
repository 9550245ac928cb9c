/* SPDX-License-Identifier: MIT */
/* Follows a job's output: see follow.h.
 *
 * Each poll has two steps. The first step finds, counts and queues the tasks that have finished since the last poll.
 * The second one prints from the front of the queue. So the counts are up to date even if a reader is slow. The output
 * of a task is read twice only if the task had to wait in the queue. */
#include "deploy/cli/follow.h"

#include "common/os/clock.h"
#include "common/os/files.h"
#include "common/util/grow.h"
#include "deploy/cli/task_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_NS     20000000
#define WAIT_MIN_MS 10
#define WAIT_MAX_MS 80
/* A bitmap for more tasks would not fit into memory. */
#define TASKS_MAX (UINT64_C(1) << 33)

static int follow_no_memory(struct error *error)
{
    return error_set(error, "out of memory for the output of the tasks");
}

static bool is_seen(const struct follow *follow, uint64_t task)
{
    return task / 8 < follow->seen_bytes && (follow->seen[task / 8] >> (task % 8) & 1) != 0;
}

static int set_seen(struct follow *follow, uint64_t task, struct error *error)
{
    if (task / 8 >= follow->seen_bytes) {
        const uint64_t bytes = 2 * (task / 8) + 1024;
        unsigned char *grown = task < TASKS_MAX ? realloc(follow->seen, bytes) : NULL;
        if (grown == NULL)
            return follow_no_memory(error);
        memset(grown + follow->seen_bytes, 0, bytes - follow->seen_bytes);
        follow->seen = grown;
        follow->seen_bytes = bytes;
    }
    follow->seen[task / 8] |= (unsigned char)(1u << (task % 8));
    return 0;
}

static void queue_trim(struct follow_queue *queue)
{
    const size_t behind = queue->next - queue->base;
    if (behind < 1024 || behind < queue->length / 2)
        return;
    const size_t rest = behind < queue->length ? queue->length - behind : 0;
    memmove(queue->places, queue->places + behind, rest * sizeof *queue->places);
    queue->length = rest;
    queue->base = queue->next;
}

static int queue_put(struct follow_queue *queue, uint64_t number, const struct follow_place *place, struct error *error)
{
    if (number < queue->next)
        return 0;
    queue_trim(queue);
    while (queue->base + queue->length <= number) {
        struct follow_place *grown = grow(queue->places, queue->length, &queue->capacity, sizeof *grown);
        if (grown == NULL)
            return follow_no_memory(error);
        queue->places = grown;
        queue->places[queue->length++] = (struct follow_place){0};
    }
    queue->places[number - queue->base] = *place;
    return 0;
}

static const struct follow_place *queue_front(struct follow_queue *queue, bool last)
{
    for (; queue->next - queue->base < queue->length; queue->next++) {
        const struct follow_place *place = &queue->places[queue->next - queue->base];
        if (place->is_there)
            return place;
        if (!last)
            return NULL;
    }
    return NULL;
}

struct task_bytes {
    const unsigned char *at[BLOCK_STREAMS_MAX];
    uint32_t length[BLOCK_STREAMS_MAX];
};

/* Finds a task's output in the block that was read. Tasks are usually looked up in order, so the search starts at the
 * task that was looked up last. */
static void find_bytes(struct follow *follow, const struct follow_place *place, struct task_bytes *bytes)
{
    const struct block *block = results_tail_block(follow->tail);
    struct follow_cursor *cursor = &follow->cursor;
    const bool same = cursor->is_set && cursor->entry.file == place->entry.file && cursor->entry.at == place->entry.at;
    if (!same || cursor->index > place->index) {
        *cursor = (struct follow_cursor){.entry = place->entry, .is_set = true};
        for (unsigned s = 0; s < TASK_STREAMS; s++)
            cursor->at[s] = block->stream[s];
    }
    for (; cursor->index < place->index; cursor->index++)
        for (unsigned s = 0; s < TASK_STREAMS; s++)
            cursor->at[s] += block_length(block, cursor->index, s);
    for (unsigned s = 0; s < TASK_STREAMS; s++) {
        bytes->at[s] = cursor->at[s];
        bytes->length[s] = block_length(block, place->index, s);
    }
    const char *line = (const char *)bytes->at[TASK_STREAM_LOG];
    uint32_t *const length = &bytes->length[TASK_STREAM_LOG];
    *length -= *length > 0 && line[*length - 1] == '\n';
}

/* Parses the task's line in the log. Parsing is slow: it takes as long as all other work for the task. */
static bool read_row(const struct task_bytes *bytes, struct task_row *row)
{
    return task_row_read(row, TASK_LOG_HDSS, (const char *)bytes->at[TASK_STREAM_LOG], bytes->length[TASK_STREAM_LOG]);
}

/* If no task at all could be started, any reasons are alike. Otherwise only a program or folder that is not there is a
 * reason to expect the same of other tasks. */
static void count_not_started(struct follow *follow, const struct task_row *row, const struct task_bytes *bytes)
{
    enum { STATUS_NOT_FOUND = 127 };
    char why[REASON_TEXT_MAX];
    reasons_last_line(why, bytes->at[TASK_STREAM_ERR], bytes->length[TASK_STREAM_ERR]);
    const bool is_same = row->exit == STATUS_NOT_FOUND && strcmp(why, follow->why) == 0;
    follow->not_started++;
    follow->started = 0;
    follow->alike = is_same || follow->not_started == follow->done ? follow->alike + 1 : 1;
    strcpy(follow->why, why);
    follow->is_hopeless |= follow->alike >= FOLLOW_HOPELESS;
}

/* Returns true if the task could not be started. */
static bool count_failed(struct follow *follow, const struct follow_place *place)
{
    struct task_bytes bytes;
    struct task_row row;
    follow->failed++;
    find_bytes(follow, place, &bytes);
    if (!read_row(&bytes, &row))
        return false;
    reasons_add(&follow->reasons, &row, bytes.at[TASK_STREAM_ERR], bytes.length[TASK_STREAM_ERR]);
    if (!task_text_is(row.end, "not-started"))
        return false;
    count_not_started(follow, &row, &bytes);
    return true;
}

static int take_task(struct follow *follow, const struct results_entry *entry, uint32_t index, struct error *error)
{
    struct follow_queue *queue = &follow->queue;
    struct follow_place place = {entry->place, index, true, false};
    const uint64_t task = entry->first + index;
    const bool failed = block_failed(results_tail_block(follow->tail), index);
    if (is_seen(follow, task))
        return 0;
    follow->done++;
    place.is_not_started = failed && count_failed(follow, &place);
    if (!place.is_not_started) {
        follow->alike = 0;
        follow->started++;
    }
    if (set_seen(follow, task, error) < 0)
        return -1;
    if (follow->is_broken)
        return 0;
    return queue_put(queue, follow->options.in_order ? task : queue->base + queue->length, &place, error);
}

static int take_entry(struct follow *follow, const struct results_entry *entry, struct error *error)
{
    const uint32_t count = results_tail_block(follow->tail)->count;
    for (uint32_t i = 0; i < count; i++)
        if (take_task(follow, entry, i, error) < 0)
            return -1;
    return 0;
}

static void clear_line(struct follow *follow, const struct outlet *outlet)
{
    static const char text[] = "\r\033[K";
    if (follow->has_cleared || !follow->options.clears_line || !outlet->is_terminal || outlet_is_empty(outlet))
        return;
    follow->has_cleared = write(STDERR_FILENO, text, sizeof text - 1) > 0;
}

static void end_line(struct follow *follow, struct outlet *outlet)
{
    if (follow->options.clears_line && outlet->is_terminal && outlet->is_in_line && write(STDERR_FILENO, "\n", 1) == 1)
        outlet->is_in_line = false;
}

static int print_flush(struct follow *follow, struct outlet *outlet, struct error *error)
{
    clear_line(follow, outlet);
    const int result = outlet_flush(outlet, error);
    follow->is_blocked |= result == 0;
    return result;
}

static int print_put(struct follow *follow, struct outlet *outlet, const void *bytes, uint64_t length, uint64_t *at,
                     struct error *error)
{
    struct outlet *other = outlet == &follow->out ? &follow->err : &follow->out;
    int result = outlet_is_empty(other) || *at == length ? 1 : print_flush(follow, other, error);
    while (result > 0 && *at < length) {
        const size_t taken = outlet_put(outlet, (const char *)bytes + *at, length - *at);
        *at += taken;
        if (taken == 0)
            result = print_flush(follow, outlet, error);
    }
    return result;
}

static int print_tagged(struct follow *follow, struct outlet *outlet, const unsigned char *from, uint64_t length,
                        struct error *error)
{
    struct follow_task *task = &follow->task;
    const char *tag = follow->options.tag_of(follow->options.context, task->iteration);
    const uint64_t tag_length = strlen(tag);
    int result = 1;
    while (result > 0 && task->at < length) {
        if (task->tag_at < tag_length)
            result = print_put(follow, outlet, tag, tag_length, &task->tag_at, error);
        if (result > 0 && task->tag_at == tag_length) {
            uint64_t tab = 0;
            result = print_put(follow, outlet, "\t", 1, &tab, error);
            task->tag_at += tab;
        }
        if (result <= 0)
            break;
        const unsigned char *newline = memchr(from + task->at, '\n', length - task->at);
        const uint64_t end = newline != NULL ? (uint64_t)(newline - from) + 1 : length;
        result = print_put(follow, outlet, from, end, &task->at, error);
        if (result > 0)
            task->tag_at = 0;
    }
    return result;
}

static int print_log(struct follow *follow, const struct task_bytes *bytes, struct error *error)
{
    struct follow_task *task = &follow->task;
    const char *line = (const char *)bytes->at[TASK_STREAM_LOG];
    uint32_t length = bytes->length[TASK_STREAM_LOG];
    if (follow->log.fd < 0)
        return 1;
    struct task_row row;
    if (follow->log_kind == TASK_LOG_PARALLEL && read_row(bytes, &row))
        length = (uint32_t)(row.command.at + row.command.length - line);
    int result = 1;
    while (result > 0 && task->at <= length) {
        const bool ends = task->at == length;
        const size_t taken = outlet_put(&follow->log, ends ? "\n" : line + task->at, ends ? 1 : length - task->at);
        task->at += taken;
        if (taken > 0)
            continue;
        /* The line in the log must follow the task's output. */
        result = print_flush(follow, &follow->out, error);
        result = result > 0 ? print_flush(follow, &follow->err, error) : result;
        result = result > 0 ? print_flush(follow, &follow->log, error) : result;
    }
    return result;
}

static int print_command(struct follow *follow, const struct task_bytes *bytes, struct error *error)
{
    struct task_row row;
    uint64_t end = 0;
    if (!follow->options.tells || !read_row(bytes, &row))
        return 1;
    const uint64_t length = row.command.length;
    int result = follow->task.told > length
                     ? 1
                     : print_put(follow, &follow->err, row.command.at, length, &follow->task.told, error);
    if (result > 0 && follow->task.told == length) {
        result = print_put(follow, &follow->err, "\n", 1, &end, error);
        follow->task.told += end;
    }
    return result;
}

static int print_bytes(struct follow *follow, const unsigned char *from, uint64_t length, struct error *error)
{
    struct follow_task *task = &follow->task;
    struct outlet *outlet = task->stream == TASK_STREAM_OUT ? &follow->out : &follow->err;
    return follow->options.tag_of != NULL ? print_tagged(follow, outlet, from, length, error)
                                          : print_put(follow, outlet, from, length, &task->at, error);
}

static int print_stream(struct follow *follow, const struct task_bytes *bytes, struct error *error)
{
    const unsigned stream = follow->task.stream;
    if (stream == TASK_STREAM_ERR && follow->task.is_left_out)
        return 1;
    if (stream == TASK_STREAM_LOG)
        return print_log(follow, bytes, error);
    struct follow_task *task = &follow->task;
    uint64_t shown = task->shown[stream];
    if (task->spilled[stream].bytes != NULL) {
        const unsigned char *spilled = task->spilled[stream].bytes;
        const uint64_t length = task->spilled[stream].length;
        const int result = task->spilled_is_put ? 1 : print_bytes(follow, spilled + shown, length - shown, error);
        if (result <= 0)
            return result;
        if (!task->spilled_is_put)
            task->at = 0;
        task->spilled_is_put = true;
        shown = 0;
    }
    return print_bytes(follow, bytes->at[stream] + shown, bytes->length[stream] - shown, error);
}

/* Maps and removes the file with the beginning of the stream; the parts have only the rest of the stream. */
static int map_spilled(struct follow *follow, uint64_t number, unsigned stream, struct error *error)
{
    char path[PATH_MAX];
    struct stat status;
    snprintf(path, sizeof path, "%s/%" PRIu64 "%s", follow->options.spilled, number,
             stream == TASK_STREAM_OUT ? ".out" : ".err");
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    void *bytes = MAP_FAILED;
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED)
        error_set(error, "%.300s: the output of task %" PRIu64 ": %s", path, number, strerror(errno));
    if (file >= 0)
        close(file);
    if (bytes == MAP_FAILED)
        return -1;
    madvise(bytes, (size_t)status.st_size, MADV_SEQUENTIAL);
    unlink(path);
    follow->task.spilled[stream].bytes = bytes;
    follow->task.spilled[stream].length = (uint64_t)status.st_size;
    return 0;
}

static int find_spilled(struct follow *follow, const struct task_bytes *bytes, const struct task_row *row,
                        struct error *error)
{
    if (follow->options.spilled == NULL || follow->options.spilled[0] == '\0')
        return 0;
    if (row->out > bytes->length[TASK_STREAM_OUT] && map_spilled(follow, row->number, TASK_STREAM_OUT, error) < 0)
        return -1;
    return row->err > bytes->length[TASK_STREAM_ERR] ? map_spilled(follow, row->number, TASK_STREAM_ERR, error) : 0;
}

static void unmap_spilled(struct follow *follow)
{
    for (unsigned s = 0; s < 2; s++)
        if (follow->task.spilled[s].bytes != NULL)
            munmap(follow->task.spilled[s].bytes, (size_t)follow->task.spilled[s].length);
    memset(follow->task.spilled, 0, sizeof follow->task.spilled);
}

static int write_files(struct follow *follow, const struct task_bytes *bytes, const struct task_row *row,
                       struct error *error)
{
    char path[PATH_MAX];
    const uint64_t task = follow->task.iteration;
    if (follow->options.files_of == NULL)
        return 0;
    if (follow->options.files_of(follow->options.context, task, path, error) < 0)
        return -1;
    const void *at[2] = {bytes->at[TASK_STREAM_OUT], bytes->at[TASK_STREAM_ERR]};
    size_t length[2] = {bytes->length[TASK_STREAM_OUT], bytes->length[TASK_STREAM_ERR]};
    for (unsigned s = 0; s < 2; s++)
        if (follow->task.spilled[s].bytes != NULL) {
            at[s] = follow->task.spilled[s].bytes;
            length[s] = (size_t)follow->task.spilled[s].length;
        }
    return task_files_write(path, row->number > 0 ? row->number : task + 1, at[0], length[0], at[1], length[1], error);
}

static void find_shown(struct follow *follow, const struct task_bytes *bytes, const struct task_row *row)
{
    struct follow_task *task = &follow->task;
    if (follow->live.try_count == 0 || row->number == 0)
        return;
    const struct live_try *try = live_find(&follow->live, task->iteration, row->worker, row->started_s);
    for (unsigned s = 0; try != NULL && s < 2; s++) {
        const uint64_t all = task->spilled[s].bytes != NULL ? task->spilled[s].length : bytes->length[s];
        task->shown[s] = try->shown[s] < all ? try->shown[s] : all;
    }
    live_forget(&follow->live, task->iteration);
}

static bool is_left_out(struct follow *follow)
{
    return (follow->is_hopeless && follow->options.sums_up) || ++follow->shown_not_started > FOLLOW_HOPELESS;
}

static int open_task(struct follow *follow, const struct follow_place *place, struct error *error)
{
    struct task_bytes bytes;
    struct task_row row;
    uint64_t first;
    if (results_tail_load(follow->tail, place->entry, &first, error) < 0)
        return -1;
    follow->task = (struct follow_task){.is_open = true, .place = *place, .iteration = first + place->index};
    find_bytes(follow, place, &bytes);
    if (!read_row(&bytes, &row))
        row = (struct task_row){0};
    if (find_spilled(follow, &bytes, &row, error) < 0)
        return -1;
    find_shown(follow, &bytes, &row);
    /* Only the first tasks that could not be started print their error, which is usually the same for all. */
    follow->task.is_left_out = place->is_not_started && is_left_out(follow);
    return write_files(follow, &bytes, &row, error);
}

/* True for the last task of a block without failed tasks. Blocks with failed tasks are read again at the end of the
 * run. */
static bool is_last_of_good(const struct block *block, uint32_t index)
{
    bool is_good = index + 1 == block->count;
    for (uint32_t i = 0; is_good && i < block->count; i++)
        is_good = !block_failed(block, i);
    return is_good;
}

/* Returns 1 if everything was handed to the outlets, 0 if a reader is slow, or -1. The functions below return the
 * same. */
static int print_task(struct follow *follow, struct error *error)
{
    struct follow_task *task = &follow->task;
    struct task_bytes bytes;
    uint64_t first;
    if (results_tail_load(follow->tail, task->place.entry, &first, error) < 0)
        return -1;
    find_bytes(follow, &task->place, &bytes);
    const int told = print_command(follow, &bytes, error);
    if (told <= 0)
        return told;
    for (; task->stream < TASK_STREAMS; task->stream++, task->at = 0, task->tag_at = 0, task->spilled_is_put = false) {
        int result = print_stream(follow, &bytes, error);
        if (result <= 0)
            return result;
    }
    task->is_open = false;
    unmap_spilled(follow);
    follow->queue.next++;
    if (is_last_of_good(results_tail_block(follow->tail), task->place.index))
        results_tail_release(follow->tail);
    return 1;
}

static int print_fragment(struct follow *follow, struct error *error)
{
    struct follow_task *task = &follow->task;
    int result = print_bytes(follow, (const unsigned char *)follow->live.bytes, task->length, error);
    task->is_open = result <= 0;
    return result;
}

/* A task that could not be started is not printed before other tasks show whether the run is hopeless. */
static bool is_held(const struct follow *follow, const struct follow_place *place)
{
    return follow->options.sums_up && place->is_not_started && follow->started < FOLLOW_HOPELESS &&
           !follow->is_hopeless;
}

static int print_queue(struct follow *follow, bool last, struct error *error)
{
    int result = follow->task.is_open && follow->task.is_live ? print_fragment(follow, error) : 1;
    while (result > 0) {
        const struct follow_place *place = follow->task.is_open ? NULL : queue_front(&follow->queue, last);
        if (!follow->task.is_open && (place == NULL || (!last && is_held(follow, place))))
            break;
        if (place != NULL && open_task(follow, place, error) < 0)
            return -1;
        result = print_task(follow, error);
    }
    return result;
}

static int print_try(struct follow *follow, struct live_try *try, struct error *error)
{
    struct fragment fragment;
    int result = 1;
    while (result > 0) {
        const int more = live_take(&follow->live, try, &fragment, error);
        if (more <= 0)
            return more < 0 ? -1 : 1;
        follow->task = (struct follow_task){.is_open = true,
                                            .is_live = true,
                                            .iteration = fragment.task,
                                            .stream = fragment.stream,
                                            .length = (uint32_t)fragment.length};
        result = print_fragment(follow, error);
    }
    return result;
}

static bool task_is_over(const void *context, uint64_t task)
{
    return is_seen(context, task);
}

static int print_live(struct follow *follow, struct error *error)
{
    int result = 1;
    if (follow->task.is_open || live_look(&follow->live, task_is_over, follow, error) < 0)
        return follow->task.is_open ? 0 : -1;
    for (size_t i = 0; result > 0 && i < follow->live.try_count; i++) {
        struct live_try *try = &follow->live.tries[i];
        if (!is_seen(follow, try->task) && (!follow->options.in_order || try->task == follow->queue.next))
            result = print_try(follow, try, error);
    }
    return result;
}

static int print_all(struct follow *follow, bool last, struct error *error)
{
    follow->is_blocked = false;
    int result = print_queue(follow, last, error);
    if (result > 0)
        result = print_live(follow, error);
    if (result > 0)
        result = print_flush(follow, &follow->out, error);
    if (result > 0)
        result = print_flush(follow, &follow->err, error);
    if (result > 0)
        result = print_flush(follow, &follow->log, error);
    if (result <= 0)
        return result;
    end_line(follow, &follow->out);
    end_line(follow, &follow->err);
    return 1;
}

static int look(struct follow *follow, bool last, struct error *error)
{
    const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + LOOK_NS;
    struct results_entry entry;
    bool found = false;
    int more = 1, printed = 1;
    follow->has_cleared = follow->out.is_in_line || follow->err.is_in_line;
    follow->is_blocked = false;
    while (more > 0 && (last || clock_ns(CLOCK_MONOTONIC) < end_ns)) {
        more = results_tail_next(follow->tail, last, &entry, error);
        follow->cursor.is_set = false;
        if (more > 0 && take_entry(follow, &entry, error) < 0)
            return -1;
        found |= more > 0;
        if (more > 0 && !follow->is_broken && !follow->is_blocked)
            printed = print_queue(follow, false, error);
        if (more < 0 || printed < 0)
            return -1;
    }
    follow->has_more = more > 0;
    follow->wait_ms = found ? WAIT_MIN_MS : 2 * follow->wait_ms < WAIT_MAX_MS ? 2 * follow->wait_ms : WAIT_MAX_MS;
    return follow->is_broken || print_all(follow, last, error) >= 0 ? 0 : -1;
}

int follow_look(struct follow *follow, struct error *error)
{
    if (look(follow, false, error) == 0)
        return 0;
    const bool is_new = !follow->is_broken;
    follow->is_broken = true;
    return is_new ? -1 : 0;
}

int follow_wait_ms(const struct follow *follow)
{
    return follow->has_more ? 0 : follow->wait_ms;
}

int follow_blocked_on(const struct follow *follow)
{
    if (!follow->is_blocked || follow->is_broken)
        return -1;
    return !outlet_is_empty(&follow->out)   ? follow->out.fd
           : !outlet_is_empty(&follow->err) ? follow->err.fd
                                            : follow->log.fd;
}

bool follow_has_printed(const struct follow *follow)
{
    return follow->has_cleared && !follow->out.is_in_line && !follow->err.is_in_line;
}

static int refuse_log(const struct follow *follow, struct error *error)
{
    return error_set(error, "%.200s: %s", follow->options.joblog, file_write_error(errno));
}

static int read_log(struct follow *follow, FILE *file, struct error *error)
{
    char *line = NULL;
    size_t room = 0;
    off_t whole = 0;
    int result = 0;
    bool is_first = true;
    for (ssize_t length; result == 0 && (length = getline(&line, &room, file)) > 0; is_first = false) {
        if (line[length - 1] != '\n')
            break;
        whole += length;
        if (is_first)
            follow->log_kind = task_log_kind(line, (size_t)length - 1);
        if (follow->log_kind == TASK_LOG_NONE)
            result = error_set(error, "%.200s: is there, and is no task log", follow->options.joblog);
    }
    free(line);
    if (result == 0 && ftruncate(follow->log.fd, whole) < 0)
        result = refuse_log(follow, error);
    return result;
}

static int look_back(struct follow *follow, struct error *error)
{
    int fd = open(follow->options.joblog, O_RDONLY | O_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (file == NULL) {
        refuse_log(follow, error);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    int result = read_log(follow, file, error);
    fclose(file);
    return result;
}

static bool has_tasks(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size != 0 &&
           status.st_size != (off_t)strlen(TASK_LOG_HEADING "\n");
}

static int open_log(struct follow *follow, struct error *error)
{
    const char *path = follow->options.joblog;
    const bool appends = follow->options.joblog_appends;
    if (path == NULL)
        return outlet_init(&follow->log, -1, "", error);
    int fd = file_open_to_write(path, O_CREAT | O_APPEND);
    if (fd < 0)
        return refuse_log(follow, error);
    if (outlet_init(&follow->log, fd, path, error) < 0) {
        close(fd);
        return -1;
    }
    /* A run that appends to the log waits for its lock, because an earlier run may still be writing its last lines. */
    if (follow->log.is_file && !(appends ? file_lock(fd) : file_lock_now(fd)))
        return error_set(error, "--joblog %.200s: another run is writing it; accepted: another file", path);
    if (!appends && !follow->options.joblog_overwrites && has_tasks(fd))
        return error_set(error,
                         "--joblog %.200s: is there already; accepted: --resume, --resume-failed, --overwrite, or "
                         "another name",
                         path);
    if (!appends && follow->log.is_file && ftruncate(fd, 0) < 0)
        return refuse_log(follow, error);
    if (appends && follow->log.is_file && look_back(follow, error) < 0)
        return -1;
    if (follow->log_kind == TASK_LOG_NONE) {
        outlet_put(&follow->log, TASK_LOG_HEADING "\n", sizeof TASK_LOG_HEADING);
        follow->log_kind = TASK_LOG_HDSS;
    }
    return 0;
}

/* A handler that does nothing, so that SIGPIPE does not end this process. SIG_IGN would also be inherited by programs
 * that this process starts. */
static void take_no_notice(int number)
{
    (void)number;
}

static void follow_free(struct follow *follow)
{
    unmap_spilled(follow);
    if (follow->tail != NULL)
        results_tail_end(follow->tail);
    if (follow->log.fd >= 0)
        close(follow->log.fd);
    outlet_fini(&follow->out);
    outlet_fini(&follow->err);
    outlet_fini(&follow->log);
    live_fini(&follow->live);
    free(follow->seen);
    free(follow->queue.places);
    sigaction(SIGPIPE, &follow->before, NULL);
}

int follow_begin(struct follow *follow, const struct follow_options *options, struct error *error)
{
    const struct sigaction nothing = {.sa_handler = take_no_notice, .sa_flags = SA_RESTART};
    *follow = (struct follow){.options = *options, .wait_ms = WAIT_MIN_MS, .log.fd = -1};
    live_init(&follow->live, options->live);
    sigaction(SIGPIPE, NULL, &follow->before);
    if (follow->before.sa_handler == SIG_DFL)
        sigaction(SIGPIPE, &nothing, NULL);
    follow->tail = results_tail_begin(options->output, TASK_STREAMS, options->only_looks, error);
    if (follow->tail != NULL && outlet_init(&follow->out, options->out, "standard output", error) == 0 &&
        outlet_init(&follow->err, options->err, "standard error", error) == 0 && open_log(follow, error) == 0)
        return 0;
    follow_free(follow);
    return -1;
}

int follow_end(struct follow *follow, struct error *error)
{
    int result = look(follow, true, error);
    while (result == 0 && follow->is_blocked && !follow->is_broken) {
        struct pollfd polled = {.fd = follow_blocked_on(follow), .events = POLLOUT};
        poll(&polled, 1, -1);
        result = print_all(follow, true, error) < 0 ? -1 : 0;
    }
    if (result == 0 && results_tail_corrupted(follow->tail) > 0)
        result = error_set(error, "%.200s.parts: %" PRIu64 " entries are corrupted, and their tasks not printed",
                           follow->options.output, results_tail_corrupted(follow->tail));
    reasons_sort(&follow->reasons);
    follow_free(follow);
    return follow->is_broken ? 0 : result;
}
