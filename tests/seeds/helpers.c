/* SPDX-License-Identifier: MIT */
/* Made-up helpers: see helpers.h. */
#include "tests/seeds/helpers.h"

#include "common/util/digest.h"
#include "common/util/random.h"
#include "worker/exec/channel.h"

#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

/* Processor time that no life takes: a worker that turns without end is stopped by a signal. */
#define LIFE_S 5
/* No process of a system has such a number. */
#define FIRST_PID (1 << 24)
/* Time between two steps of a helper that take no time themselves. */
#define STEP_NS 1000u
/* How much later than its limit an iteration may be ended: the worker looks 20 ms apart. */
#define LATE_NS 300000000u
/* As in remote.c: the time of a helper that does not begin. */
#define IDLE_NS UINT64_C(10000000000)
/* Time that a slow signal takes. */
#define SIGNAL_NS 2000000u
#define PROBES    4

enum step { STEP_START, STEP_TAKE, STEP_OPEN, STEP_CLAIM, STEP_RUN, STEP_PROBE, STEP_ANSWER, STEP_WAKE, STEP_CLOSE };

struct process {
    const struct helpers_script *script;
    enum step step;
    uint64_t due_ns, killed_ns; /* HELPERS_NEVER */
    bool sleeps;                /* until a command comes */
    bool ended, reaped;
    int status, process; /* `process`: an eventfd */
    unsigned seen[HELPERS_POINTS];
    struct channel *channel;
    struct channel_work *work;
    uint32_t number;
    /* RUN, PROBE */
    uint64_t claimed, singly, call, at; /* `at`: iteration of the call */
    struct channel_done done;
    bool failed, final, goes_on;
    uint64_t moved_ns, longest_ns; /* since when claims and account stand; the longest such time */
    struct output output;
};

struct helpers helpers;
static struct process process[HELPERS_MAX];
static unsigned oldest; /* those before have ended */
/* What helpers have of the worker's, which may be through with it before they are. */
static struct {
    struct channel *channel; /* mapped; NULL: not yet */
    size_t bytes;
    int file, bell;
} shared;
static struct {
    void *(*run)(void *context);
    void *context;
} aside[HELPERS_MAX];
static unsigned asides;

static const char *const points[] = {"started", "opened",   "claimed", "ran",   "done",
                                     "over",    "answered", "waits",   "closed"};

void helpers_tell(const char *format, ...)
{
    va_list arguments;
    if (!helpers.traces)
        return;
    printf("%12.6f ", (double)helpers.now_ns / 1e6);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

void helpers_blame(const char *format, ...)
{
    va_list arguments;
    if (helpers.wrong[0] != '\0')
        return;
    va_start(arguments, format);
    vsnprintf(helpers.wrong, sizeof helpers.wrong, format, arguments);
    va_end(arguments);
    helpers_tell("WRONG: %s", helpers.wrong);
}

uint64_t helpers_record(uint64_t iteration)
{
    return iteration * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

uint64_t helpers_digest(uint64_t first, uint64_t count)
{
    uint64_t digest = 0;
    for (uint64_t i = first; i < first + count; i++) {
        const uint64_t record = helpers_record(i);
        digest += digest_record(i, &record, sizeof record);
    }
    return digest;
}

/* --- deaths --- */

static unsigned index_of(const struct process *p)
{
    return (unsigned)(p - process);
}

static bool has_run(const struct process *p)
{
    return p->work != NULL && p->work->command == CHANNEL_RUN && p->step != STEP_TAKE && p->step != STEP_OPEN;
}

static void note_death(struct process *p)
{
    const uint64_t done = has_run(p) ? p->done.count : 0;
    const uint64_t begun = !has_run(p) ? 0 : p->step == STEP_WAKE ? done : p->claimed;
    const unsigned idle = helpers.death.idle;
    helpers.death.status = p->status;
    helpers.death.by_worker = p->killed_ns != HELPERS_NEVER;
    helpers.death.first = has_run(p) ? p->work->first + done : 0;
    helpers.death.count = begun - done;
    helpers.death.stood_ns = helpers.now_ns - p->moved_ns;
    helpers.death.idle = begun > done ? 0 : done > 0 ? 1 : idle + 1;
    for (uint64_t i = helpers.death.first; i < helpers.death.first + helpers.death.count; i++)
        helpers.iteration[i].interrupts++;
}

static void die(struct process *p, int status)
{
    const uint64_t one = 1;
    p->ended = true;
    p->status = status;
    helpers.ended++;
    note_death(p);
    p->due_ns = p->killed_ns = HELPERS_NEVER;
    helpers_tell("helper %u ends with %d, %" PRIu64 " iterations from %" PRIu64 " on in the air", index_of(p), status,
                 helpers.death.count, helpers.death.first);
    if (p->process >= 0 && write(p->process, &one, sizeof one) < 0)
        abort();
    p->work = NULL;
    output_fini(&p->output);
}

static uint64_t later(uint64_t ns, uint64_t by_ns)
{
    return by_ns > HELPERS_NEVER - ns ? HELPERS_NEVER : ns + by_ns;
}

/* What its script has for it here. */
static void come_to(struct process *p, enum helpers_point point)
{
    const unsigned nth = ++p->seen[point];
    for (unsigned i = 0; i < HELPERS_STRIKES && !p->ended; i++) {
        const struct helpers_strike *strike = &p->script->strike[i];
        if (strike->nth != nth || strike->point != point)
            continue;
        helpers_tell("helper %u is struck where it has %s", index_of(p), points[point]);
        if (strike->status != 0)
            die(p, strike->status);
        else
            p->due_ns = later(p->due_ns, strike->pause_ns);
    }
}

static void go_to(struct process *p, enum step step, uint64_t ns)
{
    p->step = step;
    p->due_ns = later(helpers.now_ns, ns);
}

/* --- commands --- */

static void note_move(struct process *p)
{
    const uint64_t stood_ns = helpers.now_ns - p->moved_ns;
    p->longest_ns = stood_ns > p->longest_ns ? stood_ns : p->longest_ns;
    p->moved_ns = helpers.now_ns;
}

static void begin_watch(struct process *p)
{
    p->moved_ns = helpers.now_ns;
    p->longest_ns = 0;
}

static void begin_iteration(struct process *p, enum step step, uint64_t i)
{
    const struct helpers_iteration *iteration = &helpers.iteration[i];
    assert(i < HELPERS_LOOP && "an iteration is one of the loop");
    go_to(p, step, iteration->fate == FATE_HANGS ? HELPERS_NEVER : iteration->ns);
}

static void run_iteration(struct process *p)
{
    const uint64_t i = p->work->first + p->done.count + p->at;
    struct helpers_iteration *iteration = &helpers.iteration[i];
    if (iteration->is_done)
        helpers_blame("iteration %" PRIu64 " is computed again", i);
    iteration->begun++;
    if (iteration->begun > 1 + iteration->interrupts || (helpers.once && iteration->begun > 1))
        helpers_blame("iteration %" PRIu64 " begins for the %u. time", i, iteration->begun);
    begin_iteration(p, STEP_RUN, i);
}

static uint64_t clock_of_helpers(void)
{
    return helpers.now_ns;
}

static void begin_run(struct process *p)
{
    p->claimed = p->call = p->at = 0;
    p->singly = p->work->singly;
    p->done = (struct channel_done){0};
    p->failed = p->final = false;
    p->work->began_ns = helpers.now_ns;
    go_to(p, STEP_CLAIM, STEP_NS);
}

static void begin_probe(struct process *p)
{
    p->at = 0;
    go_to(p, STEP_PROBE, STEP_NS);
}

static void take(struct process *p)
{
    static const char *const names[] = {"open", "probe", "run", "team", "block", "leave"};
    if (!channel_take_call(p->channel, p->goes_on, clock_of_helpers, &p->number)) {
        atomic_store(&p->channel->helper_sleeps, 1);
        p->sleeps = true;
        return;
    }
    p->work = channel_work(p->channel, p->number);
    p->work->result = CHANNEL_DONE;
    p->work->final = p->work->is_complete = false;
    begin_watch(p);
    helpers_tell("helper %u takes %s [%" PRIu64 ", %" PRIu64 ")", index_of(p), names[p->work->command], p->work->first,
                 p->work->first + p->work->count);
    switch (p->work->command) {
    case CHANNEL_OPEN: go_to(p, STEP_OPEN, p->script->open_ns); break;
    case CHANNEL_RUN: begin_run(p); break;
    case CHANNEL_PROBE: begin_probe(p); break;
    case CHANNEL_LEAVE: go_to(p, STEP_CLOSE, p->script->close_ns); break;
    default: abort();
    }
}

static void be_over(struct process *p)
{
    go_to(p, STEP_ANSWER, STEP_NS);
    come_to(p, POINT_OVER);
}

static void open_kernel(struct process *p)
{
    if (p->script->refuses) {
        p->work->result = CHANNEL_FAILED;
        snprintf(p->work->error, sizeof p->work->error, "it cannot be opened");
    }
    come_to(p, POINT_OPENED);
    if (!p->ended)
        p->step = STEP_ANSWER;
}

static void end_run(struct process *p)
{
    p->work->result = p->failed ? CHANNEL_FAILED : CHANNEL_DONE;
    p->work->final = p->final;
    p->work->is_complete = !p->failed && p->done.count == p->work->count;
    p->work->pieces = (struct spread){0};
    if (p->failed)
        snprintf(p->work->error, sizeof p->work->error, "cannot");
    be_over(p);
}

/* Claims the next iterations, as serve_run() does, or is through. */
static void claim(struct process *p)
{
    const uint64_t until_ns = atomic_load(&p->channel->until_ns), most = p->script->call;
    const bool may_go_on = p->done.count == 0 || (p->done.bytes < CHANNEL_BLOCKS && helpers.now_ns < until_ns);
    const uint64_t size = p->done.count < p->singly ? 1 : most > 0 ? most : UINT64_MAX;
    const uint64_t taken =
        !p->failed && p->claimed == p->done.count && may_go_on ? channel_claim(&p->work->claims, size) : 0;
    p->claimed += taken;
    if (p->failed || p->claimed == p->done.count) {
        end_run(p);
        return;
    }
    if (taken > 0)
        note_move(p);
    p->call = p->done.count < p->singly ? 1 : p->claimed - p->done.count;
    p->at = 0;
    helpers_tell("helper %u begins %" PRIu64 " iterations", index_of(p), p->call);
    run_iteration(p);
    come_to(p, POINT_CLAIMED);
}

static void put_blocks(struct process *p, uint64_t first)
{
    unsigned char block[65536];
    output_clear(&p->output, first);
    output_begin(&p->output, first + p->call);
    for (uint64_t i = first; i < first + p->call; i++) {
        const uint64_t record = helpers_record(i);
        if (p->output.calls.put(&p->output.calls, i, 0, &record, sizeof record) < 0)
            abort();
    }
    if (output_end(&p->output) < 0)
        abort();
    const uint64_t bytes = output_bytes(&p->output);
    assert(sizeof bytes + bytes <= sizeof block && "a block of few iterations is short");
    memcpy(block, &bytes, sizeof bytes);
    output_take(&p->output, p->call, helpers.loop, block + sizeof bytes);
    if (pwrite(shared.file, block, sizeof bytes + bytes, (off_t)(p->work->place + p->done.bytes)) < 0)
        abort();
    p->done.bytes += channel_block_bytes(bytes);
}

static void publish(struct process *p)
{
    const uint64_t first = p->work->first + p->done.count;
    for (uint64_t i = first; i < first + p->call; i++) {
        const uint64_t record = helpers_record(i), k = i - p->work->first;
        if (p->channel->collect && helpers.loop->streams == 0)
            memcpy((unsigned char *)p->channel + p->work->place + k * sizeof record, &record, sizeof record);
        helpers.iteration[i].is_done = true;
        p->done.compute_ns += helpers.iteration[i].ns;
    }
    if (helpers.loop->streams > 0)
        put_blocks(p, first);
    else
        p->done.digest += helpers_digest(first, p->call);
    p->done.count += p->call;
    channel_publish(p->work, &p->done);
    helpers_tell("helper %u has done [%" PRIu64 ", %" PRIu64 ")", index_of(p), first, first + p->call);
    note_move(p);
    go_to(p, STEP_CLAIM, STEP_NS);
    if (p->done.count >= atomic_load(&p->work->wake_at)) {
        atomic_store(&p->work->wake_at, UINT64_MAX);
        channel_wake_worker(p->channel, shared.bell);
    }
    come_to(p, POINT_DONE);
}

static void fail_call(struct process *p, enum helpers_fate fate)
{
    const uint64_t first = p->work->first + p->done.count;
    p->failed = p->call == 1;
    p->final = p->failed && fate == FATE_FAILS_FOR_GOOD;
    p->singly = p->claimed;
    for (uint64_t i = first; i < first + p->call; i++)
        helpers.iteration[i].interrupts++;
    go_to(p, STEP_CLAIM, STEP_NS);
}

/* The time of the iteration is over. */
static void end_iteration(struct process *p)
{
    const enum helpers_fate fate = helpers.iteration[p->work->first + p->done.count + p->at].fate;
    if (fate == FATE_DIES) {
        die(p, SIGSEGV);
        return;
    }
    if (fate == FATE_FAILS || fate == FATE_FAILS_FOR_GOOD) {
        fail_call(p, fate);
        return;
    }
    if (++p->at < p->call) {
        run_iteration(p);
        come_to(p, POINT_RAN);
        return;
    }
    come_to(p, POINT_RAN);
    if (!p->ended && p->due_ns <= helpers.now_ns)
        publish(p);
    else
        p->at--; /* the iteration lasts until it may go on */
}

static bool is_skipped(const struct channel *channel, uint64_t iteration)
{
    for (unsigned i = 0; i < channel->skipped_count; i++)
        if (channel->skipped[i] == iteration)
            return true;
    return false;
}

/* The next probe iteration, behind the one that is through. */
static void probe(struct process *p)
{
    const uint64_t before = atomic_exchange(&p->channel->probing, 0);
    if (before > 0 && helpers.iteration[before - 1].fate == FATE_DIES) {
        atomic_store(&p->channel->probing, before);
        die(p, SIGSEGV);
        return;
    }
    while (p->at < PROBES && is_skipped(p->channel, p->at * HELPERS_LOOP / PROBES))
        p->at++;
    note_move(p);
    if (p->at == PROBES) {
        p->channel->speed = (struct speed){.levels = 1, .mean_ns = 10000};
        be_over(p);
        return;
    }
    const uint64_t i = p->at++ * HELPERS_LOOP / PROBES;
    atomic_store(&p->channel->probing, i + 1);
    atomic_fetch_add(&p->channel->probed, 1);
    begin_iteration(p, STEP_PROBE, i);
}

static void answer(struct process *p)
{
    p->goes_on = p->work->is_complete;
    p->work->ran_on = 0;
    if (p->work->command == CHANNEL_LEAVE)
        p->work = NULL; /* after the answer the memory may have another helper's command */
    atomic_store(&p->channel->answered, p->number);
    go_to(p, STEP_WAKE, STEP_NS);
    come_to(p, POINT_ANSWERED);
}

static void wake(struct process *p)
{
    channel_wake_worker(p->channel, shared.bell);
    go_to(p, STEP_TAKE, STEP_NS);
    if (p->work == NULL)
        die(p, 0);
    else
        come_to(p, POINT_WAITS);
}

static void step(struct process *p)
{
    p->sleeps = false;
    switch (p->step) {
    case STEP_START:
        go_to(p, STEP_TAKE, STEP_NS);
        come_to(p, POINT_STARTED);
        break;
    case STEP_TAKE: take(p); break;
    case STEP_OPEN:
        go_to(p, STEP_ANSWER, STEP_NS);
        open_kernel(p);
        break;
    case STEP_CLAIM: claim(p); break;
    case STEP_RUN: end_iteration(p); break;
    case STEP_PROBE: probe(p); break;
    case STEP_ANSWER: answer(p); break;
    case STEP_WAKE: wake(p); break;
    case STEP_CLOSE:
        go_to(p, STEP_ANSWER, STEP_NS);
        come_to(p, POINT_CLOSED);
        break;
    }
}

/* --- time --- */

static uint64_t due_of(const struct process *p)
{
    if (p->ended)
        return HELPERS_NEVER;
    const uint64_t due_ns = p->sleeps && atomic_load(&p->channel->helper_sleeps) != 0 ? HELPERS_NEVER : p->due_ns;
    return p->killed_ns < due_ns ? p->killed_ns : due_ns;
}

static struct process *next_process(void)
{
    struct process *next = NULL;
    while (oldest < helpers.begun && process[oldest].ended)
        oldest++;
    for (unsigned i = oldest; i < helpers.begun; i++)
        if (due_of(&process[i]) < HELPERS_NEVER && (next == NULL || due_of(&process[i]) < due_of(next)))
            next = &process[i];
    return next;
}

uint64_t helpers_due(void)
{
    const struct process *next = next_process();
    return next == NULL ? HELPERS_NEVER : due_of(next);
}

void helpers_step(void)
{
    struct process *p = next_process();
    if (p == NULL)
        return;
    if (due_of(p) > helpers.now_ns)
        helpers.now_ns = due_of(p);
    if (p->killed_ns <= helpers.now_ns)
        die(p, SIGKILL);
    else
        step(p);
}

/* An iteration has its limit, and no more. */
static void look_for_late(void)
{
    const struct process *p = helpers.begun > 0 ? &process[helpers.begun - 1] : NULL;
    if (helpers.limit_ns == 0 || p == NULL || p->ended || !has_run(p) || p->step == STEP_ANSWER || p->step == STEP_WAKE)
        return;
    const uint64_t limit_ns = p->claimed > p->done.count ? helpers.limit_ns : IDLE_NS;
    if (p->killed_ns == HELPERS_NEVER && helpers.now_ns - p->moved_ns > limit_ns + LATE_NS)
        helpers_blame("an iteration stands for %.3f s and more", (double)(helpers.now_ns - p->moved_ns) / 1e9);
}

void helpers_pass(uint64_t until_ns)
{
    while (helpers_due() <= until_ns)
        helpers_step();
    if (until_ns > helpers.now_ns && until_ns != HELPERS_NEVER)
        helpers.now_ns = until_ns;
    look_for_late();
}

/* The worker takes its time, and the helper goes on. */
static void go_on_meanwhile(void)
{
    if (helpers.random == NULL)
        return;
    for (uint64_t left = random_between(helpers.random, 0, 3); left > 0; left--)
        helpers_pass(helpers.now_ns + random_between(helpers.random, 0, 8) * STEP_NS / 4);
}

/* --- the world --- */

static struct process *process_of(pid_t pid)
{
    const unsigned i = (unsigned)(pid - FIRST_PID);
    if (i >= helpers.begun) {
        helpers_blame("process %d is none of the helpers", pid);
        abort();
    }
    return &process[i];
}

static uint64_t world_now(void)
{
    go_on_meanwhile();
    return helpers.now_ns;
}

static int world_adopt(pid_t pid)
{
    struct process *p = process_of(pid);
    if (p->script->no_descriptor)
        return -1;
    p->process = eventfd(p->ended, EFD_CLOEXEC | EFD_NONBLOCK);
    helpers.adopted++;
    return p->process;
}

static void world_release(int descriptor)
{
    for (unsigned i = 0; i < helpers.begun; i++)
        if (process[i].process == descriptor) {
            process[i].process = -1;
            helpers.released++;
            close(descriptor);
            return;
        }
    helpers_blame("a descriptor is closed that is no helper's");
}

static bool world_has_ended(pid_t pid)
{
    go_on_meanwhile();
    return process_of(pid)->ended;
}

static bool world_await_end(int descriptor, int most_ms)
{
    const uint64_t began_ns = helpers.now_ns, until_ns = began_ns + (uint64_t)most_ms * 1000000u;
    struct process *p = process;
    while (p->process != descriptor)
        p++;
    while (!p->ended && helpers_due() <= until_ns)
        helpers_step();
    if (!p->ended)
        helpers.now_ns = until_ns;
    helpers.waited_ns += helpers.now_ns - began_ns;
    return p->ended;
}

static int world_reap(pid_t pid)
{
    struct process *p = process_of(pid);
    const uint64_t began_ns = helpers.now_ns;
    if (p->reaped)
        helpers_blame("helper %u is reaped twice", index_of(p));
    if (!p->ended && p->killed_ns == HELPERS_NEVER) {
        helpers_blame("helper %u is waited for, and need not end", index_of(p));
        die(p, SIGKILL);
    }
    while (!p->ended)
        helpers_step();
    helpers.waited_ns += helpers.now_ns - began_ns;
    p->reaped = true;
    helpers.reaped++;
    return p->status;
}

/* A worker kills what runs where that is late, or nobody wants it any more. */
static void look_at_kill(const struct process *p)
{
    const bool is_run = has_run(p), is_probe = p->work != NULL && p->work->command == CHANNEL_PROBE;
    const uint64_t stood_ns = helpers.now_ns - p->moved_ns;
    /* the worker counts from when it gave the command, which the helper may have taken later */
    const uint64_t limit_ns = is_run && p->claimed == p->done.count ? IDLE_NS / 2 : helpers.limit_ns;
    if (helpers.may_kill || p->ended || p->step == STEP_TAKE || p->step == STEP_WAKE ||
        (p->work != NULL && channel_is_over(p->channel, p->number)) ||
        (p->work != NULL && p->work->command == CHANNEL_LEAVE))
        return;
    if (!is_run && !is_probe)
        helpers_blame("helper %u is killed as it opens the kernel", index_of(p));
    else if (helpers.limit_ns == 0 || (stood_ns < limit_ns && p->longest_ns < helpers.limit_ns))
        helpers_blame("helper %u is killed after %.3f s", index_of(p), (double)stood_ns / 1e9);
}

static void world_kill(pid_t pid)
{
    struct process *p = process_of(pid);
    if (p->reaped)
        helpers_blame("helper %u is killed, and is no more", index_of(p));
    look_at_kill(p);
    helpers_tell("helper %u is killed by its worker", index_of(p));
    if (!p->ended && p->killed_ns == HELPERS_NEVER)
        p->killed_ns = helpers.now_ns + (p->script->is_slow_to_die ? SIGNAL_NS : 0);
}

static uint64_t world_processor_ns(pid_t pid)
{
    (void)process_of(pid);
    return 1000000;
}

static bool world_await_answer(struct channel *channel, uint32_t number, uint64_t most_ns)
{
    const uint64_t began_ns = helpers.now_ns, until_ns = began_ns + most_ns;
    atomic_store(&channel->worker_sleeps, CHANNEL_ON_WORD);
    while (!channel_is_over(channel, number) && atomic_load(&channel->worker_sleeps) == CHANNEL_ON_WORD &&
           helpers_due() <= until_ns)
        helpers_step();
    if (atomic_load(&channel->worker_sleeps) == CHANNEL_ON_WORD && !channel_is_over(channel, number))
        helpers.now_ns = until_ns;
    atomic_store(&channel->worker_sleeps, CHANNEL_AWAKE);
    helpers.waited_ns += helpers.now_ns - began_ns;
    return channel_is_over(channel, number);
}

static bool world_run_aside(void *(*run)(void *context), void *context)
{
    if (helpers.no_threads)
        return false;
    aside[asides].run = run;
    aside[asides++].context = context;
    return true;
}

const struct helper_world helpers_world = {
    .now = world_now,
    .adopt = world_adopt,
    .release = world_release,
    .has_ended = world_has_ended,
    .await_end = world_await_end,
    .reap = world_reap,
    .kill = world_kill,
    .processor_ns = world_processor_ns,
    .await_answer = world_await_answer,
    .run_aside = world_run_aside,
};

/* --- beginning and ending --- */

/* The same for all helpers of a worker. */
static void share(int file, int bell, size_t bytes)
{
    if (shared.channel != NULL)
        return;
    shared.channel = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    shared.bytes = bytes;
    shared.file = dup(file);
    shared.bell = dup(bell);
    if (shared.channel == MAP_FAILED || shared.file < 0 || shared.bell < 0)
        abort();
}

static void unshare(void)
{
    if (shared.channel == NULL)
        return;
    munmap(shared.channel, shared.bytes);
    close(shared.file);
    close(shared.bell);
    shared.channel = NULL;
}

pid_t helpers_begin(int file, int bell, size_t bytes, char error[HDSS_ERROR_MAX])
{
    if (helpers.begun + helpers.refused == HELPERS_MAX) {
        helpers_blame("helpers begin without end");
        printf("# %s\n", helpers.wrong);
        abort();
    }
    const struct helpers_script *script = &helpers.script[helpers.begun + helpers.refused];
    helpers_tell("a helper begins%s", script->no_process ? ", and cannot" : "");
    if (script->no_process) {
        helpers.refused++;
        snprintf(error, HDSS_ERROR_MAX, "no helper can be started");
        return -1;
    }
    struct process *p = &process[helpers.begun];
    share(file, bell, bytes);
    *p = (struct process){.script = script, .killed_ns = HELPERS_NEVER, .process = -1, .channel = shared.channel};
    output_init(&p->output, helpers.loop->streams, true);
    go_to(p, STEP_START, script->start_ns);
    return FIRST_PID + (pid_t)helpers.begun++;
}

bool helpers_lives(void)
{
    return helpers.begun > 0 && !process[helpers.begun - 1].ended;
}

bool helpers_has_news_to_tell(void)
{
    return helpers_lives() && process[helpers.begun - 1].step == STEP_WAKE;
}

void helpers_strike(int status)
{
    if (helpers_lives())
        die(&process[helpers.begun - 1], status);
}

void helpers_pause(uint64_t ns)
{
    struct process *p = helpers_lives() ? &process[helpers.begun - 1] : NULL;
    if (p == NULL)
        return;
    helpers_tell("helper %u stands still for %.3f ms", index_of(p), (double)ns / 1e6);
    p->due_ns = later(p->due_ns > helpers.now_ns ? p->due_ns : helpers.now_ns, ns);
}

void helpers_init(const struct hdss_loop *loop)
{
    const struct itimerval limit = {.it_value = {.tv_sec = LIFE_S}};
    setitimer(ITIMER_PROF, &limit, NULL);
    memset(&helpers, 0, sizeof helpers);
    oldest = asides = 0;
    helpers.loop = loop;
    helpers.now_ns = 1000000000;
    for (unsigned i = 0; i < HELPERS_LOOP; i++)
        helpers.iteration[i].ns = 10000;
}

void helpers_fini(void)
{
    helpers.may_kill = true;
    for (unsigned i = 0; i < asides; i++)
        aside[i].run(aside[i].context);
    for (unsigned i = 0; i < helpers.begun; i++) {
        if (!process[i].reaped)
            helpers_blame("helper %u is not reaped", i);
        if (!process[i].ended)
            die(&process[i], SIGKILL);
        if (process[i].process < 0)
            continue;
        helpers_blame("the descriptor of helper %u is not closed", i);
        close(process[i].process);
    }
    unshare();
    if (helpers.adopted != helpers.released)
        helpers_blame("%u descriptors, of which %u were closed", helpers.adopted, helpers.released);
}
