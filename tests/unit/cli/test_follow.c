/* SPDX-License-Identifier: MIT */
/* Following the output of tasks: printed once and whole, as they finish or in order, with tags, a task log and files;
 * slow and closed readers; jobs that are resumed; entries that are torn, corrupted, of an earlier run, there twice. */
#include "common/results/results.h"
#include "common/results/tail.h"
#include "deploy/cli/follow.h"
#include "deploy/cli/task_files.h"
#include "hdss/kernel.h"
#include "proto/block.h"
#include "proto/wire.h"
#include "tests/lib/scratch.h"
#include "tests/lib/suite.h"
#include "worker/kernels/exec/fragments.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/hdss-follow-XXXXXX";
static struct error error;
static struct follow follow;
static struct follow_options options;
static int out, err;

static void set_up(void)
{
    error.text[0] = '\0';
    scratch_enter(folder);
    out = memfd_create("out", MFD_CLOEXEC);
    err = memfd_create("err", MFD_CLOEXEC);
    ck_assert(out >= 0 && err >= 0);
    options = (struct follow_options){.output = "job", .out = out, .err = err};
}

static void tear_down(void)
{
    close(out);
    close(err);
    scratch_leave(folder);
}

#define OK(call) ck_assert_msg((call) == 0, "%s", error.text)
#define FAILS(call, line)                                                                                              \
    do {                                                                                                               \
        ck_assert_int_eq((call), -1);                                                                                  \
        ck_assert_str_eq(error.text, line);                                                                            \
    } while (0)

static const struct hdss_loop loop = {
    .iterations = 1000000,
    .streams = 3,
    .are_tasks = true,
    .stream = {{.ending = ""}, {.ending = ".err"}, {.ending = ".log", .differs = true}}};

static void create(void)
{
    OK(results_create("job", &loop, NULL, &error));
}

static void open_sink(struct results_sink *sink, unsigned writer)
{
    OK(results_open(sink, "job", &loop, writer, &error));
}

static void close_sink(struct results_sink *sink)
{
    OK(results_close(sink, &error));
}

struct output {
    const char *out, *err;
    int exit;
};

/* Writes an entry of tasks that follow each other. */
static void put_all(struct results_sink *sink, uint64_t first, const struct output *outputs, uint32_t count)
{
    char log[10][100];
    size_t size = BLOCK_HEAD_BYTES + count * block_entry_bytes(3);
    for (uint32_t i = 0; i < count; i++) {
        snprintf(log[i], sizeof log[i],
                 "%" PRIu64 "\tnode\t1.5\t0.250\t0\t%zu\t%d\t0\t./run %" PRIu64 "\t1\t0\t0.1\t99\t1\t%s\t0\t0\n",
                 first + i + 1, strlen(outputs[i].out), outputs[i].exit, first + i + 1,
                 outputs[i].exit == 127 ? "not-started" : "exit");
        size += strlen(outputs[i].out) + strlen(outputs[i].err) + strlen(log[i]);
    }
    unsigned char *bytes = malloc(size), *at = bytes + block_head_put(bytes, count, 3);
    unsigned char *to = at + count * block_entry_bytes(3);
    for (uint32_t i = 0; i < count; i++, at += block_entry_bytes(3)) {
        wire_put32(at, outputs[i].exit != 0 ? BLOCK_FAILED : 0);
        wire_put32(at + 4, (uint32_t)strlen(outputs[i].out));
        wire_put32(at + 8, (uint32_t)strlen(outputs[i].err));
        wire_put32(at + 12, (uint32_t)strlen(log[i]));
    }
    for (unsigned s = 0; s < 3; s++)
        for (uint32_t i = 0; i < count; i++)
            to = mempcpy(to,
                         s == 0   ? outputs[i].out
                         : s == 1 ? outputs[i].err
                                  : log[i],
                         strlen(s == 0   ? outputs[i].out
                                : s == 1 ? outputs[i].err
                                         : log[i]));
    OK(results_write(sink, first, count, bytes, size, &error));
    free(bytes);
}

static void put(struct results_sink *sink, uint64_t task, const char *text, const char *errors, int exit)
{
    put_all(sink, task, &(struct output){text, errors, exit}, 1);
}

static const char *text_of(int fd)
{
    static char text[200000];
    ssize_t length = pread(fd, text, sizeof text - 1, 0);
    ck_assert_int_ge((int)length, 0);
    text[length] = '\0';
    return text;
}

static const char *text_in(const char *path)
{
    int fd = open(path, O_RDONLY);
    ck_assert_msg(fd >= 0, "no %s", path);
    const char *text = text_of(fd);
    close(fd);
    return text;
}

static void begin(void)
{
    OK(follow_begin(&follow, &options, &error));
}

/* Looks until nothing more is found: one look is over after some time, on a busy machine before it has found all. */
static void look(void)
{
    do
        OK(follow_look(&follow, &error));
    while (follow.has_more);
}

static void end(void)
{
    OK(follow_end(&follow, &error));
}

#define PRINTED(fd, expected) ck_assert_str_eq(text_of(fd), expected)

START_TEST(tasks_are_printed_as_they_finish)
{
    struct results_sink one, two;
    begin();
    look(); /* there is nothing yet */
    create();
    open_sink(&one, 0);
    look();
    put(&one, 7, "seven\n", "", 0);
    look();
    PRINTED(out, "seven\n");
    open_sink(&two, 3);
    put(&two, 0, "zero\n", "bad\n", 2);
    put_all(&one, 1, (struct output[]){{"one\n", "", 0}, {"", "nothing\n", 0}, {"three\n", "", 0}}, 3);
    look();
    PRINTED(out, "seven\none\nthree\nzero\n");
    PRINTED(err, "nothing\nbad\n");
    ck_assert_uint_eq(follow.done, 5);
    ck_assert_uint_eq(follow.failed, 1);
    put(&two, 9, "nine", "", 0);
    close_sink(&one);
    close_sink(&two);
    end();
    PRINTED(out, "seven\none\nthree\nzero\nnine");
    ck_assert_uint_eq(follow.done, 6);
    ck_assert_uint_eq(follow.reasons.count, 1);
    ck_assert_str_eq(follow.reasons.items[0].error, "bad");
    ck_assert_str_eq(follow.reasons.items[0].command, "./run 1");
}
END_TEST

START_TEST(tasks_are_printed_in_order)
{
    struct results_sink sink;
    options.in_order = true;
    begin();
    create();
    open_sink(&sink, 0);
    put_all(&sink, 2, (struct output[]){{"2\n", "", 0}, {"3\n", "", 1}}, 2);
    put(&sink, 6, "6\n", "", 0);
    look();
    PRINTED(out, "");
    ck_assert_uint_eq(follow.done, 3);
    ck_assert_uint_eq(follow.failed, 1);
    put(&sink, 0, "0\n", "", 0);
    look();
    PRINTED(out, "0\n");
    put(&sink, 1, "1\n", "", 0);
    look();
    PRINTED(out, "0\n1\n2\n3\n");
    put(&sink, 5, "5\n", "", 0); /* 4 was given up */
    close_sink(&sink);
    end();
    PRINTED(out, "0\n1\n2\n3\n5\n6\n");
}
END_TEST

/* Errors of tasks that could not be started wait for what comes next, and are left out if that is hopeless. */
START_TEST(tasks_that_cannot_be_started_are_summed_up)
{
    const struct output x = {"", "x: none\n", 127}, y = {"", "y: none\n", 127}, good = {"good\n", "", 0};
    struct results_sink sink;
    options.sums_up = true;
    begin();
    create();
    open_sink(&sink, 0);
    put_all(&sink, 0, (struct output[]){good, x, x}, 3);
    look();
    PRINTED(out, "good\n");
    PRINTED(err, "");
    put_all(&sink, 3, (struct output[]){y, y}, 2);
    look();
    PRINTED(err, "");
    ck_assert(!follow.is_hopeless);
    put_all(&sink, 5, (struct output[]){good, good}, 2);
    look();
    PRINTED(err, "");
    put(&sink, 7, "", "", 0);
    look();
    PRINTED(err, "x: none\nx: none\ny: none\n"); /* others are in the sum */
    put_all(&sink, 8, (struct output[]){x, x, x, x}, 4);
    look();
    ck_assert(follow.is_hopeless);
    ck_assert_uint_eq(follow.not_started, 8);
    close_sink(&sink);
    end();
    PRINTED(err, "x: none\nx: none\ny: none\n");
    struct reason reason;
    ck_assert(reasons_take(&follow.reasons, REASON_NOT_STARTED, &reason));
    ck_assert_uint_eq(reason.count, 8);
    ck_assert_uint_eq(reason.number, 2);
    ck_assert(!reasons_take(&follow.reasons, REASON_NOT_STARTED, &reason));
}
END_TEST

START_TEST(a_run_is_hopeless_if_no_task_starts)
{
    struct results_sink sink;
    options.sums_up = true;
    begin();
    create();
    open_sink(&sink, 0);
    put_all(&sink, 0, (struct output[]){{"", "x\n", 127}, {"", "y\n", 127}, {"", "z\n", 127}}, 3);
    close_sink(&sink);
    look();
    ck_assert(follow.is_hopeless);
    end();
    PRINTED(err, "");
}
END_TEST

START_TEST(few_tasks_that_cannot_be_started_are_printed)
{
    struct results_sink sink;
    options.sums_up = true;
    begin();
    create();
    open_sink(&sink, 0);
    put_all(&sink, 0, (struct output[]){{"", "x\n", 127}, {"", "x\n", 127}}, 2);
    close_sink(&sink);
    end();
    PRINTED(err, "x\nx\n");
}
END_TEST

static const char *tag_of(void *context, uint64_t task)
{
    static char tag[40];
    ck_assert_ptr_eq(context, &options);
    snprintf(tag, sizeof tag, "arg %" PRIu64, task);
    return tag;
}

START_TEST(lines_have_tags)
{
    struct results_sink sink;
    options.tag_of = tag_of;
    options.context = &options;
    begin();
    create();
    open_sink(&sink, 0);
    put(&sink, 1, "a\n\nb", "e\nf\n", 0);
    put(&sink, 2, "c\n", "", 0);
    put(&sink, 3, "", "", 0);
    close_sink(&sink);
    end();
    PRINTED(out, "arg 1\ta\narg 1\t\narg 1\tbarg 2\tc\n");
    PRINTED(err, "arg 1\te\narg 1\tf\n");
}
END_TEST

#define HEADING     TASK_LOG_HEADING "\n"
#define LINE(N, X)  N "\tnode\t1.5\t0.250\t0\t1\t" X "\t0\t./run " N "\t1\t0\t0.1\t99\t1\texit\t0\t0\n"
#define SHORT(N, X) N "\tnode\t1.5\t0.250\t0\t1\t" X "\t0\t./run " N "\n"

START_TEST(a_task_log_is_written_and_gone_on_with)
{
    struct results_sink sink;
    options.joblog = "log";
    create();
    begin();
    create();
    open_sink(&sink, 0);
    put(&sink, 4, "4", "", 0);
    put(&sink, 0, "0", "", 3);
    look();
    ck_assert_str_eq(text_in("log"), HEADING LINE("5", "0") LINE("1", "3"));
    end();
    ck_assert_uint_eq(follow.reasons.count, 1);
    close_sink(&sink);
    /* the log, which is torn, is gone on with */
    int fd = open("log", O_WRONLY | O_APPEND);
    ck_assert_int_eq((int)write(fd, "2\tnod", 5), 5);
    close(fd);
    options.joblog_appends = true;
    begin();
    create();
    open_sink(&sink, 0);
    put(&sink, 1, "1", "", 0);
    close_sink(&sink);
    end();
    PRINTED(out, "401");
    ck_assert_str_eq(text_in("log"), HEADING LINE("5", "0") LINE("1", "3") LINE("2", "0"));
}
END_TEST

/* The log of another run, which ends as soon as somebody waits for it. */
static FILE *other_log;

int nanosleep(const struct timespec *time, struct timespec *rest)
{
    if (other_log != NULL)
        fclose(other_log);
    other_log = NULL;
    return clock_nanosleep(CLOCK_MONOTONIC, 0, time, rest);
}

/* Neither of two runs may lose lines of it: the second is refused before it cuts the file, also if the first is about
 * to end; --resume, which cuts nothing, waits for that. */
START_TEST(a_task_log_is_of_one_run_at_a_time)
{
    other_log = fopen("log", "w");
    fputs(HEADING LINE("1", "0"), other_log);
    ck_assert(fflush(other_log) == 0 && flock(fileno(other_log), LOCK_EX) == 0);
    options.joblog = "log";
    FAILS(follow_begin(&follow, &options, &error), "--joblog log: another run is writing it; accepted: another file");
    ck_assert_str_eq(text_in("log"), HEADING LINE("1", "0"));
    ck_assert_ptr_nonnull(other_log);
    options.joblog_appends = true;
    begin();
    end();
    ck_assert_ptr_null(other_log);
    ck_assert_str_eq(text_in("log"), HEADING LINE("1", "0"));
    options.joblog_appends = false;
    FAILS(follow_begin(&follow, &options, &error),
          "--joblog log: is there already; accepted: --resume, --resume-failed, --overwrite, or another name");
    ck_assert_str_eq(text_in("log"), HEADING LINE("1", "0"));
    options.joblog_overwrites = true;
    begin();
    end();
    ck_assert_str_eq(text_in("log"), HEADING);
    options.joblog_overwrites = false; /* it has no tasks */
    begin();
    end();
    ck_assert_str_eq(text_in("log"), HEADING);
}
END_TEST

START_TEST(a_log_of_gnu_parallel_keeps_its_columns)
{
    struct results_sink sink;
    FILE *file = fopen("log", "w");
    fputs(TASK_LOG_COMMON "\n" SHORT("1", "0"), file);
    fclose(file);
    options.joblog = "log";
    options.joblog_appends = true;
    begin();
    create();
    open_sink(&sink, 0);
    put(&sink, 1, "1", "", 0);
    close_sink(&sink);
    end();
    ck_assert_str_eq(text_in("log"), TASK_LOG_COMMON "\n" SHORT("1", "0") SHORT("2", "0"));
    file = fopen("log", "w");
    fputs("something else\n", file);
    fclose(file);
    FAILS(follow_begin(&follow, &options, &error), "log: is there, and is no task log");
    options.joblog = "nowhere/log";
    FAILS(follow_begin(&follow, &options, &error), "nowhere/log: No such file or directory");
}
END_TEST

/* Bytes that the files of a folder occupy. */
static uint64_t occupied_by(const char *path)
{
    uint64_t bytes = 0;
    struct stat status;
    DIR *files = opendir(path);
    ck_assert_ptr_nonnull(files);
    for (struct dirent *entry; (entry = readdir(files)) != NULL;)
        if (fstatat(dirfd(files), entry->d_name, &status, 0) == 0 && S_ISREG(status.st_mode))
            bytes += 512 * (uint64_t)status.st_blocks;
    closedir(files);
    return bytes;
}

START_TEST(what_was_printed_does_not_stay)
{
    enum { TASKS = 40, BYTES = 100000 };
    static char text[BYTES + 1];
    struct results_sink sink;
    memset(text, 'x', BYTES);
    options.in_order = _i == 1;
    begin();
    create();
    open_sink(&sink, 0);
    for (unsigned i = 0; i < TASKS; i++) {
        put(&sink, _i == 1 ? i ^ 1 : i, text, "", 0); /* in order every second one waits for the next */
        look();
        ck_assert_uint_le(occupied_by("job.parts"), 10 * BYTES);
    }
    close_sink(&sink);
    end();
    ck_assert_int_eq((int)lseek(out, 0, SEEK_END), TASKS * BYTES);
}
END_TEST

START_TEST(parts_of_an_earlier_run_are_ignored)
{
    struct results_sink sink;
    create();
    open_sink(&sink, 0);
    put(&sink, 0, "old", "", 0);
    close_sink(&sink);
    begin();
    look();
    create();
    open_sink(&sink, 0);
    put(&sink, 0, "new", "", 0);
    close_sink(&sink);
    end();
    PRINTED(out, "new");
}
END_TEST

START_TEST(an_entry_that_is_not_whole_yet_is_waited_for)
{
    struct results_sink sink;
    char bytes[1000];
    struct stat status;
    begin();
    create();
    open_sink(&sink, 0);
    put(&sink, 0, "first", "", 0);
    put(&sink, 1, "second", "", 0);
    int fd = open("job.parts/1-0", O_RDWR);
    ck_assert_int_eq(fstat(fd, &status), 0);
    ssize_t size = pread(fd, bytes, sizeof bytes, 0);
    ck_assert_int_eq(size, status.st_size);
    for (off_t length = size / 2; length < size; length++) { /* the block comes before its head, or behind */
        ck_assert_int_eq(ftruncate(fd, length), 0);
        look();
        PRINTED(out, "first");
    }
    bytes[size - 1] ^= 1;
    ck_assert_int_eq(pwrite(fd, bytes, (size_t)size, 0), size);
    look();
    PRINTED(out, "first");
    bytes[size - 1] ^= 1;
    ck_assert_int_eq(pwrite(fd, bytes, (size_t)size, 0), size);
    look();
    PRINTED(out, "firstsecond");
    put(&sink, 2, "third", "", 0);
    ck_assert_int_eq(pwrite(fd, "xxx", 3, size + 70), 3); /* corrupted for good */
    put(&sink, 3, "fourth", "", 0);
    look();
    PRINTED(out, "firstsecond");
    FAILS(follow_end(&follow, &error), "job.parts: 1 entries are corrupted, and their tasks not printed");
    PRINTED(out, "firstsecondfourth");
    close(fd);
    close_sink(&sink);
}
END_TEST

static char *big_text(size_t length)
{
    char *text = malloc(length + 1);
    for (size_t i = 0; i < length; i++)
        text[i] = (char)(i % 100 == 99 ? '\n' : 'a' + i % 26);
    text[length] = '\0';
    return text;
}

static void read_all(int fd, char *text, size_t *length)
{
    ssize_t count;
    while ((count = read(fd, text + *length, 3000)) > 0)
        *length += (size_t)count;
}

START_TEST(a_slow_reader_holds_up_nobody)
{
    for (int variant = 0; variant < 4; variant++) {
        enum { SIZE = 150000 };
        struct results_sink sink;
        int ends[2];
        char *big = big_text(SIZE), *there = calloc(4, SIZE);
        size_t length = 0;
        ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
        ck_assert_int_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
        options.out = ends[1];
        options.in_order = variant % 2 == 1;
        options.tag_of = variant >= 2 ? tag_of : NULL;
        options.context = &options;
        begin();
        create();
        open_sink(&sink, 0);
        put(&sink, 0, big, "", 0);
        look();
        ck_assert_int_eq(follow_blocked_on(&follow), ends[1]);
        put(&sink, 1, "one\n", "", 0);
        put(&sink, 2, "two\n", "", 1);
        look();
        ck_assert_uint_eq(follow.done, 3); /* counted, though nobody has read them */
        ck_assert_uint_eq(follow.failed, 1);
        for (int i = 0; i < 1000 && follow_blocked_on(&follow) >= 0; i++) {
            read_all(ends[0], there, &length);
            look();
        }
        close_sink(&sink);
        end();
        read_all(ends[0], there, &length);
        there[length] = '\0';
        if (variant < 2) {
            ck_assert_uint_eq(length, SIZE + 8);
            ck_assert(memcmp(there, big, SIZE) == 0);
            ck_assert_str_eq(there + SIZE, "one\ntwo\n");
        } else {
            ck_assert_uint_eq(length, SIZE + SIZE / 100 * 6 + 2 * 10);
            ck_assert(memcmp(there, "arg 0\tabcd", 10) == 0);
            ck_assert_str_eq(there + length - 20, "arg 1\tone\narg 2\ttwo\n");
        }
        close(ends[0]);
        close(ends[1]);
        free(big);
        free(there);
    }
}
END_TEST

START_TEST(a_reader_that_is_gone_is_said_once)
{
    struct results_sink sink;
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    close(ends[0]);
    options.out = ends[1];
    begin();
    create();
    open_sink(&sink, 0);
    put(&sink, 0, "0", "", 0);
    FAILS(follow_look(&follow, &error), "standard output: cannot write: Broken pipe");
    put(&sink, 1, "1", "", 1);
    look();
    ck_assert_uint_eq(follow.done, 2);
    ck_assert_uint_eq(follow.failed, 1);
    ck_assert_int_eq(follow_blocked_on(&follow), -1);
    close_sink(&sink);
    end();
    close(ends[1]);
}
END_TEST

START_TEST(a_full_device_is_said)
{
    struct results_sink sink;
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    options.out = full;
    begin();
    create();
    open_sink(&sink, 0);
    put(&sink, 0, "0", "", 0);
    close_sink(&sink);
    FAILS(follow_end(&follow, &error), "standard output: cannot write: No space left on device");
    close(full);
}
END_TEST

static int files_of(void *context, uint64_t task, char path[PATH_MAX], struct error *reason)
{
    static const struct piece names[] = {{"1", 1}, {"name", 4}}, texts[] = {{"a/b\\c", 5}, {"x", 1}};
    ck_assert_ptr_eq(context, &options);
    if (task == 0)
        return task_files_layout(path, "res", names, texts, 2, reason);
    snprintf(path, PATH_MAX, "made/here/%" PRIu64 ".txt", task);
    return 0;
}

START_TEST(each_task_has_files)
{
    struct results_sink sink;
    options.files_of = files_of;
    options.context = &options;
    options.out = options.err = -1;
    begin();
    create();
    open_sink(&sink, 0);
    put(&sink, 0, "out\n", "err\n", 0);
    put(&sink, 1, "", "e", 1);
    close_sink(&sink);
    end();
    ck_assert_str_eq(text_in("res/1/a\\_b\\\\c/name/x/stdout"), "out\n");
    ck_assert_str_eq(text_in("res/1/a\\_b\\\\c/name/x/stderr"), "err\n");
    ck_assert_str_eq(text_in("res/1/a\\_b\\\\c/name/x/seq"), "1");
    ck_assert_str_eq(text_in("made/here/1.txt"), "");
    ck_assert_str_eq(text_in("made/here/1.txt.err"), "e");
    ck_assert_str_eq(text_in("made/here/1.txt.seq"), "2");
}
END_TEST

START_TEST(files_that_cannot_be_made_are_said)
{
    struct results_sink sink;
    close(creat("made", 0600));
    options.files_of = files_of;
    options.context = &options;
    begin();
    create();
    open_sink(&sink, 0);
    put(&sink, 1, "1", "", 0);
    close_sink(&sink);
    FAILS(follow_end(&follow, &error), "--results: made/here/1.txt: Not a directory");
}
END_TEST

START_TEST(many_tasks_take_little_memory)
{
    enum { TASKS = 20000 };
    struct results_sink sink;
    options.in_order = true;
    options.out = options.err = -1;
    begin();
    create();
    open_sink(&sink, 0);
    for (uint64_t i = TASKS - 1; i > 0; i--)
        put(&sink, i, "x\n", "", 0);
    while (follow.done < TASKS - 1)
        look();
    ck_assert_uint_le(follow.queue.capacity * sizeof *follow.queue.places, 2 * TASKS * 24);
    put(&sink, 0, "x\n", "", 0);
    close_sink(&sink);
    end();
    ck_assert_uint_eq(follow.done, TASKS);
}
END_TEST

/* --- while tasks run --- */

static struct fragments worker, other;

static void begin_live(void)
{
    ck_assert_int_eq(mkdir("live", 0777), 0);
    options.live = "live";
    fragments_init(&worker, "live", 1);
    fragments_init(&other, "live", 2);
    begin();
    create();
}

/* The try that began at 1.5 s is the one that put() tells of. */
static void show(struct fragments *by, uint64_t task, uint64_t began_ms, unsigned stream, uint64_t offset,
                 const char *text)
{
    const struct fragment fragment = {task, began_ms, stream, offset, strlen(text)};
    fragments_add(by, &fragment, text);
}

static unsigned files_in(const char *path)
{
    unsigned count = 0;
    DIR *there = opendir(path);
    for (const struct dirent *entry; (entry = readdir(there)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(there);
    return count;
}

START_TEST(lines_are_printed_while_their_tasks_run)
{
    struct results_sink sink;
    options.tag_of = tag_of;
    options.context = &options;
    begin_live();
    open_sink(&sink, 0);
    look();
    show(&worker, 4, 1500, 0, 0, "a\nb\n");
    show(&other, 5, 1500, 0, 0, "c\n");
    show(&worker, 4, 1500, 1, 0, "e\n");
    show(&worker, 4, 1500, 0, 4, "d\n");
    look();
    PRINTED(out, "arg 4\ta\narg 4\tb\narg 4\td\narg 5\tc\n");
    PRINTED(err, "arg 4\te\n");
    put(&sink, 4, "a\nb\nd\nrest", "e\nf\n", 0); /* with what it wrote at its end */
    show(&worker, 4, 1500, 0, 6, "too late\n");
    look();
    PRINTED(out, "arg 4\ta\narg 4\tb\narg 4\td\narg 5\tc\narg 4\trest");
    PRINTED(err, "arg 4\te\narg 4\tf\n");
    show(&worker, 6, 1500, 0, 0, "unfinished\n"); /* its rank is killed */
    close_sink(&sink);
    end();
    PRINTED(out, "arg 4\ta\narg 4\tb\narg 4\td\narg 5\tc\narg 4\trestarg 6\tunfinished\n");
    ck_assert_uint_eq(follow.done, 1);
}
END_TEST

START_TEST(in_order_the_next_task_is_the_one_that_is_seen)
{
    struct results_sink sink;
    options.in_order = true;
    begin_live();
    open_sink(&sink, 0);
    show(&worker, 1, 1500, 0, 0, "1\n");
    show(&worker, 0, 1500, 0, 0, "0\n");
    look();
    PRINTED(out, "0\n");
    put(&sink, 2, "2\n", "", 0);
    put(&sink, 0, "0\nend\n", "", 0);
    look();
    PRINTED(out, "0\nend\n1\n");
    put(&sink, 1, "1\n", "", 0);
    close_sink(&sink);
    end();
    PRINTED(out, "0\nend\n1\n2\n");
}
END_TEST

/* Lines that were printed stay, and the try that counts is printed anew. */
START_TEST(a_task_that_is_tried_again_is_printed_again)
{
    struct results_sink sink;
    begin_live();
    open_sink(&sink, 0);
    show(&worker, 0, 1000, 0, 0, "first ");
    show(&worker, 0, 1500, 0, 0, "second\n");
    show(&other, 1, 1500, 0, 0, "lost\n"); /* its rank is: put() tells of rank 1 */
    look();
    PRINTED(out, "first second\nlost\n");
    put(&sink, 0, "second\nend\n", "", 0);
    put(&sink, 1, "lost\nnot\n", "", 0);
    close_sink(&sink);
    end();
    PRINTED(out, "first second\nlost\nend\nlost\nnot\n");
}
END_TEST

START_TEST(fragments_that_are_not_whole_are_waited_for)
{
    struct results_sink sink;
    begin_live();
    open_sink(&sink, 0);
    int file = open("live/1-0", O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    static const char text[] = "0 1500 0 0 4\nab\n\nno head\n";
    for (size_t i = 0; i < sizeof text - 1; i++) {
        ck_assert_int_eq(write(file, text + i, 1), 1);
        look();
        PRINTED(out, i < 16 ? "" : "ab\n\n");
    }
    close(file);
    close_sink(&sink);
    end();
}
END_TEST

START_TEST(files_that_are_read_are_removed)
{
    enum { LENGTH = 200000 };
    static char line[LENGTH + 1];
    struct results_sink sink;
    options.out = -1;
    begin_live();
    open_sink(&sink, 0);
    memset(line, 'x', LENGTH - 1);
    line[LENGTH - 1] = '\n';
    for (uint64_t i = 0; i < 100; i++) {
        show(&worker, i, 1500, 0, 0, line);
        look();
        put(&sink, i, "", "", 0);
        look();
        ck_assert_uint_le(files_in("live"), 2);
        ck_assert_uint_eq(follow.live.try_count, 0);
    }
    ck_assert_uint_ge(worker.number, 10);
    fragments_fini(&worker);
    fragments_init(&worker, "live", 1); /* the rank of another run */
    show(&worker, 200, 1500, 0, 0, "x\n");
    ck_assert_uint_ge(files_in("live"), 2);
    close_sink(&sink);
    end();
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_none)
{
    fragments_init(&worker, "nowhere", 1);
    show(&worker, 0, 1500, 0, 0, "x\n");
    ck_assert(!fragments_are_wanted(&worker));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("follow");
    TCase *all = tcase_create("follow");
    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, tasks_are_printed_as_they_finish);
    tcase_add_test(all, tasks_are_printed_in_order);
    tcase_add_test(all, tasks_that_cannot_be_started_are_summed_up);
    tcase_add_test(all, a_run_is_hopeless_if_no_task_starts);
    tcase_add_test(all, few_tasks_that_cannot_be_started_are_printed);
    tcase_add_test(all, lines_have_tags);
    tcase_add_test(all, a_task_log_is_written_and_gone_on_with);
    tcase_add_loop_test(all, what_was_printed_does_not_stay, 0, 2);
    tcase_add_test(all, a_task_log_is_of_one_run_at_a_time);
    tcase_add_test(all, a_log_of_gnu_parallel_keeps_its_columns);
    tcase_add_test(all, parts_of_an_earlier_run_are_ignored);
    tcase_add_test(all, an_entry_that_is_not_whole_yet_is_waited_for);
    tcase_add_test(all, a_slow_reader_holds_up_nobody);
    tcase_add_test(all, a_reader_that_is_gone_is_said_once);
    tcase_add_test(all, a_full_device_is_said);
    tcase_add_test(all, each_task_has_files);
    tcase_add_test(all, files_that_cannot_be_made_are_said);
    tcase_add_test(all, many_tasks_take_little_memory);
    tcase_add_test(all, lines_are_printed_while_their_tasks_run);
    tcase_add_test(all, in_order_the_next_task_is_the_one_that_is_seen);
    tcase_add_test(all, a_task_that_is_tried_again_is_printed_again);
    tcase_add_test(all, fragments_that_are_not_whole_are_waited_for);
    tcase_add_test(all, files_that_are_read_are_removed);
    tcase_add_test(all, a_folder_that_is_not_there_is_none);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
