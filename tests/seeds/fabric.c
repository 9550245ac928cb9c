/* SPDX-License-Identifier: MIT */
/* The machine below the ranks of a fabric: see fabric.h. */
#undef _FORTIFY_SOURCE /* takes a jump to another stack for a mistake */

#include "tests/seeds/fabric.h"

#include "common/mpi/doorbell.h"
#include "common/mpi/folder.h"
#include "common/mpi/ops.h"
#include "common/mpi/pulse.h"
#include "common/mpi/rank.h"
#include "common/mpi/wait.h"
#include "common/mpi/watch.h"
#include "common/os/process.h"
#include "tests/seeds/fabric_core.h"
#include "tests/seeds/fabric_memory.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK_BYTES (256u << 10)
#define FAULTS_MAX  128
#define FIRST_PID   1000
/* The thread of heartbeat.c looks so often. */
#define BEATS_EVERY_NS (300 * FABRIC_MS)
/* Steps without rest from which on a rank is slow: else one that turns while it waits takes millions. */
#define BUSY_STEPS   200
#define SLOW_STEP_NS 200000u

/* Where a coroutine has left off. */
struct routine {
    ucontext_t context;
    jmp_buf jump;
    bool has_begun;
    void *fake_stack;
    const void *stack;
    size_t stack_bytes;
};

struct process {
    struct fabric_fate fate;
    struct routine routine;
    struct runtime *runtime; /* NULL: not yet, or no longer */
    uint64_t now_ns;         /* of the world, when it ran last */
    uint64_t due_ns;         /* when it goes on by itself, unless it stands still */
    uint64_t stands_until_ns;
    uint64_t asked_ns; /* while it rests: it wants no less */
    uint64_t lag_ns;   /* of its clock behind that of the world */
    uint64_t alarm_ns;
    int alarm_status;
    bool is_stopped, rests, hears_bell;
    uint64_t steps;
    unsigned busy, rings;
    int ends[FABRIC_RANKS]; /* files that tell of the ends of others; -1: none */
};

static struct {
    struct fabric_config config;
    struct random random;
    struct process process[FABRIC_RANKS];
    struct fabric_fault faults[FAULTS_MAX];
    unsigned fault_count;
    struct runtime_ops ops;
    unsigned current, begun;                        /* ranks that have begun */
    bool is_inside, is_halted, is_ended, has_wrong; /* is_ended: all ranks are to be killed */
    uint64_t now_ns, others_ns;                     /* others_ns: when the next one goes on */
    uint64_t lazy_ns;                               /* who rests may do so for so much longer */
    int (*life)(unsigned rank);
    char wrong[200];
    struct routine scheduler;
} world;

static unsigned char stacks[FABRIC_RANKS][STACK_BYTES] __attribute__((aligned(64)));
static union {
    unsigned char bytes[1024];
    struct bells bells;
} rooms[FABRIC_RANKS]; /* memory that the ranks of a node share; [first rank] */

struct fabric_tally fabric_tally;

/* --- what is said --- */

void fabric_complain(const char *format, ...)
{
    va_list values;
    if (world.has_wrong)
        return;
    world.has_wrong = true;
    int length =
        snprintf(world.wrong, sizeof world.wrong, "at %.6f s, rank %u: ", (double)fabric_now() / 1e9, world.current);
    va_start(values, format);
    vsnprintf(world.wrong + length, sizeof world.wrong - (size_t)length, format, values);
    va_end(values);
}

void fabric_say(const char *format, ...)
{
    va_list values;
    if (!world.config.trace)
        return;
    printf("# %12.6f  %u  ", (double)fabric_now() / 1e9, world.current);
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    putchar('\n');
}

unsigned fabric_rank(void)
{
    return world.current;
}

static struct process *self(void)
{
    return &world.process[world.current];
}

uint64_t fabric_now(void)
{
    return world.is_inside ? self()->now_ns : world.now_ns;
}

const struct fabric_fate *fabric_fate(unsigned rank)
{
    return &world.process[rank].fate;
}

bool fabric_is_near(unsigned a, unsigned b)
{
    return world.config.hellos[a].node == world.config.hellos[b].node;
}

bool fabric_sees(unsigned a, unsigned b)
{
    return fabric_is_near(a, b) && !world.config.is_blind;
}

enum role fabric_role(unsigned rank)
{
    return world.config.hellos[rank].role;
}

struct random *fabric_random(void)
{
    return &world.random;
}

const struct fabric_config *fabric_config(void)
{
    return &world.config;
}

bool fabric_is_over(unsigned rank)
{
    return world.process[rank].fate.is_over;
}

bool fabric_is_halted(void)
{
    return world.is_halted;
}

bool fabric_has_ulfm(void)
{
    return world.config.has_ulfm;
}

struct runtime *fabric_runtime(void)
{
    return self()->runtime;
}

static uint64_t at_least(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* --- coroutines --- */

/* A jump takes no system call, as swapcontext() does; but the address sanitizer has to be told of each. */
static void leave_to(struct routine *from, struct routine *to, bool for_ever)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(for_ever ? NULL : &from->fake_stack, to->stack, to->stack_bytes);
    swapcontext(&from->context, &to->context);
    __sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
#else
    if (for_ever || _setjmp(from->jump) == 0) {
        if (to->has_begun)
            _longjmp(to->jump, 1);
        to->has_begun = true;
        setcontext(&to->context);
    }
#endif
}

static void switch_to_scheduler(bool for_ever)
{
    memory_enter(false);
    world.is_inside = false;
    world.now_ns = at_least(world.now_ns, self()->now_ns);
    leave_to(&self()->routine, &world.scheduler, for_ever);
}

/* The rank does nothing until it is due. */
static void stand_aside(void)
{
    struct process *process = self();
    switch_to_scheduler(false);
    if (process->alarm_ns <= process->now_ns)
        fabric_end(process->alarm_status);
}

static uint64_t ready_ns(const struct process *process)
{
    return process->fate.is_over ? NEVER : at_least(process->due_ns, process->stands_until_ns);
}

/* --- ends --- */

static void wake_sleeper(unsigned rank, uint64_t at_ns)
{
    struct process *process = &world.process[rank];
    if (!process->hears_bell)
        return;
    process->due_ns = at_most(process->due_ns, at_ns);
    world.others_ns = at_most(world.others_ns, ready_ns(process));
}

static void end_all_others(unsigned rank)
{
    for (unsigned i = 0; i < world.config.ranks; i++) {
        const uint64_t after_ns = random_between(&world.random, 0, 50 * FABRIC_MS);
        if (i != rank && !fabric_is_over(i))
            fabric_add_fault(&(struct fabric_fault){.kind = FABRIC_KILL, .rank = i, .at_ns = fabric_now() + after_ns});
    }
}

void fabric_note_begun(void)
{
    world.begun++;
}

/* The process is there no more. */
static void note_end(unsigned rank, int status, bool was_killed)
{
    const uint64_t one = 1;
    struct process *process = &world.process[rank];
    process->fate.is_over = true;
    process->fate.was_killed = was_killed;
    process->fate.status = status;
    process->fate.ended_ns = fabric_now();
    if (world.begun < world.config.ranks && !world.is_ended) {
        world.is_ended = true;
        end_all_others(rank);
    }
    fabric_say("rank %u %s%d", rank, was_killed ? "is killed " : "exits with ", status);
    for (unsigned i = 0; i < world.config.ranks; i++) {
        const int file = world.process[i].ends[rank];
        if (fabric_is_over(i) || file < 0)
            continue;
        if (world.process[i].runtime != NULL && world.process[i].runtime->watch.peers != NULL &&
            write(file, &one, sizeof one) == sizeof one)
            wake_sleeper(i, fabric_now());
    }
}

/* Frees what the kernel frees of a process that has ended. */
static void clear_process(unsigned rank)
{
    const struct runtime *runtime = world.process[rank].runtime;
    if (runtime != NULL && runtime->watch.peers != NULL)
        close(runtime->watch.set);
    world.process[rank].runtime = NULL;
    memory_clear(rank);
}

static void end_process(unsigned rank, int status, bool was_killed, bool takes_all)
{
    note_end(rank, status, was_killed);
    mpi_forget(rank, takes_all);
    clear_process(rank);
}

void fabric_end(int status)
{
    end_process(world.current, status, false, false);
    switch_to_scheduler(true);
    abort();
}

void fabric_abort_others(void)
{
    fabric_tally.aborts++;
    if (world.is_halted || world.is_ended)
        return;
    world.is_ended = true;
    end_all_others(world.current);
}

/* --- faults --- */

static void kill_rank(unsigned rank, bool takes_all)
{
    const bool is_self = world.is_inside && rank == world.current;
    if (fabric_is_over(rank))
        return;
    fabric_tally.kills++;
    end_process(rank, SIGKILL, true, takes_all);
    if (is_self)
        switch_to_scheduler(true);
}

static void have_stand(unsigned rank, uint64_t for_ns, bool is_suspended)
{
    struct process *process = &world.process[rank];
    if (fabric_is_over(rank) || process->stands_until_ns > fabric_now())
        return;
    fabric_say("rank %u stands still for %.3f s%s", rank, (double)for_ns / 1e9, is_suspended ? ", with its clock" : "");
    fabric_tally.stands++;
    process->fate.stood_ns += for_ns;
    process->stands_until_ns = fabric_now() + for_ns;
    process->is_stopped = !is_suspended;
    if (is_suspended) {
        process->lag_ns += for_ns;
        if (process->due_ns < NEVER - for_ns)
            process->due_ns = at_least(process->due_ns, fabric_now()) + for_ns;
    }
}

static void let_go_on(unsigned rank)
{
    struct process *process = &world.process[rank];
    if (!process->is_stopped || process->stands_until_ns <= fabric_now())
        return;
    fabric_say("rank %u goes on", rank);
    process->fate.stood_ns -= process->stands_until_ns - fabric_now();
    process->stands_until_ns = fabric_now();
    process->is_stopped = false;
    world.others_ns = at_most(world.others_ns, ready_ns(process));
}

static void apply_to_node(const struct fabric_fault *fault)
{
    const bool is_self = world.is_inside && fabric_is_near(world.current, fault->rank);
    for (unsigned i = 0; i < world.config.ranks; i++) {
        if (!fabric_is_near(i, fault->rank) || (is_self && i == world.current))
            continue;
        if (fault->kind == FABRIC_SUSPEND)
            have_stand(i, fault->for_ns, true);
        else
            kill_rank(i, true);
    }
    if (is_self && fault->kind == FABRIC_SUSPEND)
        have_stand(world.current, fault->for_ns, true);
    else if (is_self)
        kill_rank(world.current, true);
}

static void apply_fault(struct fabric_fault *place)
{
    const struct fabric_fault fault = *place;
    *place = world.faults[--world.fault_count];
    switch (fault.kind) {
    case FABRIC_KILL: kill_rank(fault.rank, false); break;
    case FABRIC_STOP: have_stand(fault.rank, fault.for_ns, false); break;
    case FABRIC_SUSPEND:
    case FABRIC_LOSE: apply_to_node(&fault); break;
    case FABRIC_HALT: world.is_halted = true; break;
    }
}

void fabric_add_fault(const struct fabric_fault *fault)
{
    assert(world.fault_count < FAULTS_MAX);
    world.faults[world.fault_count++] = *fault;
    if (fault->step == 0)
        world.others_ns = at_most(world.others_ns, fault->at_ns);
}

/* Takes the rank to where it stands aside, if a fault of this step has it stand still. */
static void take_step_faults(struct process *process)
{
    for (unsigned i = 0; i < world.fault_count; i++) {
        if (world.faults[i].rank != world.current || world.faults[i].step != process->steps)
            continue;
        apply_fault(&world.faults[i]);
        return;
    }
}

/* --- steps --- */

void fabric_step(void)
{
    struct process *process = self();
    const uint64_t step_ns = world.config.step_ns << at_most(process->busy++ / BUSY_STEPS, 12);
    process->steps++;
    process->now_ns += at_most(step_ns, at_least(world.config.step_ns, SLOW_STEP_NS));
    fabric_tally.steps++;
    take_step_faults(process);
    if (process->alarm_ns <= process->now_ns)
        fabric_end(process->alarm_status);
    if (process->stands_until_ns <= process->now_ns && process->now_ns <= world.others_ns + world.config.ahead_ns)
        return;
    process->due_ns = process->now_ns;
    stand_aside();
}

void fabric_rest(uint64_t until_ns)
{
    struct process *process = self();
    process->busy = 0;
    process->due_ns = at_most(until_ns, process->alarm_ns);
    process->rests = true;
    process->asked_ns = at_most(process->now_ns, process->due_ns);
    stand_aside();
    process->rests = false;
}

/* Rests until then, or for somewhat longer where nothing happens: a machine may be slow at any time, and a run is the
 * shorter. */
static void rest_lazily(uint64_t until_ns)
{
    struct process *process = self();
    const struct heartbeat *heartbeat = &process->runtime->heartbeat;
    uint64_t latest_ns = at_most(mpi_next_ns(world.current), until_ns + world.lazy_ns);
    if (heartbeat->beats != NULL)
        latest_ns = at_most(latest_ns, heartbeat->due_ns + process->lag_ns);
    process->busy = 0;
    process->due_ns = at_most(at_least(until_ns, latest_ns), process->alarm_ns);
    process->asked_ns = until_ns;
    process->rests = true;
    stand_aside();
    process->rests = false;
}

void fabric_wake(unsigned rank, uint64_t at_ns)
{
    struct process *process = &world.process[rank];
    if (!process->rests || fabric_is_over(rank))
        return;
    process->due_ns = at_most(process->due_ns, at_least(at_ns, process->asked_ns));
    world.others_ns = at_most(world.others_ns, ready_ns(process));
}

void fabric_compute(uint64_t ns)
{
    struct process *process = self();
    struct heartbeat *heartbeat = &process->runtime->heartbeat;
    for (uint64_t left_ns = ns; left_ns > 0;) {
        const uint64_t piece_ns = at_most(left_ns, BEATS_EVERY_NS);
        process->busy = 0;
        process->due_ns = process->now_ns + piece_ns;
        stand_aside();
        heartbeat_look(heartbeat, process->now_ns - process->lag_ns);
        left_ns -= piece_ns;
    }
}

/* --- the carrier --- */

static uint64_t played_now(void)
{
    fabric_step();
    return self()->now_ns - self()->lag_ns;
}

static void played_delay(struct runtime *runtime, uint64_t ns)
{
    (void)runtime;
    fabric_step();
    fabric_rest(self()->now_ns + ns);
}

static void played_nap(struct runtime *runtime, uint64_t ns)
{
    (void)runtime;
    fabric_step();
    rest_lazily(self()->now_ns + ns);
}

int __wrap_sched_yield(void);

int __wrap_sched_yield(void)
{
    fabric_step();
    return 0;
}

/* What libevent would do. */
static void hear(struct process *process)
{
    process->rings = 0;
    watch_look(&process->runtime->watch);
}

static bool has_end(const struct process *process)
{
    for (unsigned i = 0; i < world.config.ranks; i++)
        if (fabric_is_over(i) && process->ends[i] >= 0 && peers_is_watched(&process->runtime->peers, i))
            return true;
    return false;
}

static void played_sleep(struct wait *wait, uint64_t now_ns, uint64_t until_ns)
{
    struct process *process = self();
    (void)wait, (void)now_ns;
    fabric_step();
    if (process->rings == 0 && !has_end(process)) {
        process->hears_bell = true;
        rest_lazily(until_ns + process->lag_ns);
        process->hears_bell = false;
    }
    if (process->rings > 0 || has_end(process))
        hear(process);
}

static int played_open_wait(struct wait *wait, struct runtime *runtime)
{
    bool has_far = false;
    for (unsigned i = 0; i < runtime->ranks; i++)
        has_far |= !doorbell_reaches(&runtime->doorbell, i);
    *wait = (struct wait){.cores_are_free = runtime->cores_are_free,
                          .far_peers = has_far,
                          .patient = runtime->role == ROLE_WORKER,
                          .sleep = played_sleep,
                          .idle_since_ns = NEVER};
    return 0;
}

static void played_close_wait(struct wait *wait)
{
    (void)wait;
}

static int played_begin_work(struct wait *wait, struct wait_work *work, const struct executor *executor)
{
    (void)wait, (void)work, (void)executor;
    return 0;
}

static void played_end_work(struct wait *wait, struct wait_work *work)
{
    (void)wait, (void)work;
}

static void played_look(struct wait *wait, uint64_t now_ns)
{
    struct process *process = self();
    if (now_ns - wait->looked_at_ns < FABRIC_MS)
        return;
    wait->looked_at_ns = now_ns;
    if (process->rings > 0 || has_end(process))
        hear(process);
}

static unsigned rank_of(int pid)
{
    const unsigned rank = (unsigned)(pid - FIRST_PID);
    if (rank >= world.config.ranks || !fabric_sees(world.current, rank))
        fabric_complain("looks at process %d, which is none of its node", pid);
    return rank < world.config.ranks ? rank : 0;
}

static int played_open_process(int pid)
{
    const unsigned rank = rank_of(pid);
    fabric_step();
    errno = fabric_is_over(rank) ? ESRCH : EMFILE;
    if (fabric_is_over(rank) || random_between(&world.random, 0, 19) == 0)
        return -1;
    return self()->ends[rank] = memory_own_file(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

static char played_process_state(int pid)
{
    const unsigned rank = rank_of(pid);
    fabric_step();
    if (fabric_is_over(rank))
        return 0;
    return world.process[rank].is_stopped && world.process[rank].stands_until_ns > fabric_now() ? PROCESS_STOPPED : 'S';
}

static int played_signal(int pid, int signal)
{
    const unsigned rank = rank_of(pid);
    fabric_step();
    errno = ESRCH;
    if (fabric_is_over(rank))
        return -1;
    if (signal == SIGKILL)
        kill_rank(rank, false);
    if (signal == SIGCONT)
        let_go_on(rank);
    return 0;
}

static __attribute__((noreturn)) void played_exit(int status)
{
    fabric_end(status);
}

static void played_exit_after(unsigned seconds, int status)
{
    self()->alarm_ns = seconds > 0 ? self()->now_ns + seconds * FABRIC_S : NEVER;
    self()->alarm_status = status;
    fabric_step();
}

/* --- the folder of the doorbells (folder.h) --- */

static struct bells *room_of_node(void)
{
    return &rooms[world.config.hellos[world.current].node].bells;
}

int folder_make(char folder[FOLDER_MAX], struct error *error)
{
    (void)error;
    fabric_step();
    snprintf(folder, FOLDER_MAX, "node %u", (unsigned)world.config.hellos[world.current].node);
    return memory_own_file(eventfd(0, EFD_CLOEXEC));
}

int folder_bind(const char *folder, unsigned index, struct error *error)
{
    (void)folder, (void)index, (void)error;
    fabric_step();
    return memory_own_file(eventfd(0, EFD_CLOEXEC));
}

void *folder_map(const char *folder, size_t bytes, bool make, bool *inside, struct error *error)
{
    (void)folder, (void)make, (void)error;
    assert(bytes <= sizeof *rooms);
    *inside = false;
    fabric_step();
    return room_of_node();
}

void folder_unmap_name(const char *folder, bool inside)
{
    (void)folder, (void)inside;
    fabric_step();
}

bool folder_ring(const char *folder, int bell, unsigned index)
{
    unsigned rank = 0;
    (void)folder, (void)bell;
    fabric_step();
    for (unsigned left = index;; rank++)
        if (fabric_is_near(rank, world.current) && left-- == 0)
            break;
    world.process[rank].rings++;
    wake_sleeper(rank, fabric_now());
    return true;
}

void folder_leave(const char *folder, unsigned index)
{
    (void)folder, (void)index;
    fabric_step();
}

void folder_clear(const char *folder)
{
    (void)folder;
    fabric_step();
}

void folder_clear_all(void)
{
}

/* --- a run --- */

static struct runtime *new_runtime(unsigned rank)
{
    struct runtime *runtime = calloc(1, sizeof *runtime);
    struct hello *hellos = malloc(world.config.ranks * sizeof *hellos);
    assert(runtime != NULL && hellos != NULL);
    memcpy(hellos, world.config.hellos, world.config.ranks * sizeof *hellos);
    *runtime = (struct runtime){
        .ops = &world.ops,
        .rank = rank,
        .ranks = world.config.ranks,
        .role = hellos[rank].role,
        .hellos = hellos,
        .cores_are_free = world.config.cores_are_free,
        .is_blind = world.config.is_blind,
        .can_run_heartbeats = true,
        .cores = 4,
        .node_cores = 4,
    };
    self()->runtime = runtime;
    if (runtime_group(runtime, TOPOLOGY_BY_NODE) == NULL)
        abort();
    return runtime;
}

static void begin_rank(void)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(NULL, &world.scheduler.stack, &world.scheduler.stack_bytes);
#endif
    struct process *process = self();
    const unsigned rank = world.current;
    struct runtime *runtime = new_runtime(rank);
    fabric_step();
    const int status = world.life(rank);
    runtime_leave(runtime, status);
    process->runtime = NULL;
    const size_t left = memory_clear(rank);
    if (left > 0)
        fabric_complain("ends in order and has not freed %zu bytes", left);
    fabric_end(status);
}

static void resume(unsigned rank)
{
    struct process *process = &world.process[rank];
    world.current = rank;
    process->now_ns = at_least(process->now_ns, ready_ns(process));
    world.others_ns = NEVER;
    for (unsigned i = 0; i < world.config.ranks; i++)
        if (i != rank)
            world.others_ns = at_most(world.others_ns, ready_ns(&world.process[i]));
    for (unsigned i = 0; i < world.fault_count; i++)
        if (world.faults[i].step == 0)
            world.others_ns = at_most(world.others_ns, world.faults[i].at_ns);
    fabric_tally.switches++;
    world.is_inside = true;
    memory_enter(true);
    leave_to(&world.scheduler, &process->routine, false);
}

/* The fault that comes next by its time; NULL: there is none. */
static struct fabric_fault *next_fault(void)
{
    struct fabric_fault *next = NULL;
    for (unsigned i = 0; i < world.fault_count; i++)
        if (world.faults[i].step == 0 && (next == NULL || world.faults[i].at_ns < next->at_ns))
            next = &world.faults[i];
    return next;
}

static bool go_on(void)
{
    const unsigned first = (unsigned)random_between(&world.random, 0, world.config.ranks - 1);
    unsigned best = first, living = 0;
    for (unsigned i = 0; i < world.config.ranks; i++) {
        const unsigned rank = (first + i) % world.config.ranks;
        living += !fabric_is_over(rank);
        if (ready_ns(&world.process[rank]) < ready_ns(&world.process[best]))
            best = rank;
    }
    if (living == 0)
        return false;
    struct fabric_fault *fault = next_fault();
    const uint64_t next_ns = ready_ns(&world.process[best]);
    world.current = best;
    if (at_most(next_ns, fault != NULL ? fault->at_ns : NEVER) > world.config.limit_ns) {
        mpi_say();
        fabric_complain("%u ranks have not ended, %u the next, after %" PRIu64 " steps", living, best,
                        world.process[best].steps);
        return false;
    }
    if (fault != NULL && fault->at_ns <= next_ns) {
        world.now_ns = at_least(world.now_ns, fault->at_ns);
        apply_fault(fault);
    } else
        resume(best);
    return true;
}

void fabric_begin(const struct fabric_config *config, uint64_t seed)
{
    memset(&world, 0, sizeof world);
    world.scheduler.has_begun = true;
    memset(rooms, 0, sizeof rooms);
    world.config = *config;
    random_init(&world.random, seed);
    world.lazy_ns = random_between(&world.random, 10, 300) * FABRIC_MS;
    world.is_halted = config->launcher_is_stopped;
    world.ops = runtime_mpi_ops;
    world.ops.now = played_now;
    world.ops.delay = played_delay;
    world.ops.nap = played_nap;
    world.ops.sends = config->sends;
    world.ops.open_wait = played_open_wait;
    world.ops.close_wait = played_close_wait;
    world.ops.begin_work = played_begin_work;
    world.ops.end_work = played_end_work;
    world.ops.look = played_look;
    world.ops.open_process = played_open_process;
    world.ops.process_state = played_process_state;
    world.ops.signal_process = played_signal;
    world.ops.end_process = played_exit;
    world.ops.exit_after = played_exit_after;
    memory_keep_mapped(rooms, sizeof rooms);
    mpi_begin();
    for (unsigned i = 0; i < config->ranks; i++) {
        struct process *process = &world.process[i];
        world.config.hellos[i].pid = FIRST_PID + i;
        *process = (struct process){.alarm_ns = NEVER};
        process->due_ns = random_between(&world.random, 0, 10 * FABRIC_MS) + 1;
        memset(process->ends, -1, sizeof process->ends);
        process->routine.stack = stacks[i];
        process->routine.stack_bytes = STACK_BYTES;
        getcontext(&process->routine.context);
        process->routine.context.uc_stack.ss_sp = stacks[i];
        process->routine.context.uc_stack.ss_size = STACK_BYTES;
        makecontext(&process->routine.context, begin_rank, 0);
    }
}

const char *fabric_run(int (*life)(unsigned rank))
{
    world.life = life;
    while (!world.has_wrong && go_on())
        ;
    for (unsigned i = 0; i < world.config.ranks; i++)
        if (!fabric_is_over(i)) {
            world.process[i].fate.is_over = true;
            clear_process(i);
        }
    mpi_fini();
    return world.has_wrong ? world.wrong : NULL;
}
