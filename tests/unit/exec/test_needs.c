/* SPDX-License-Identifier: MIT */
/* Needs of tasks: how they are read, what a node is found to have, and claims on it: their order, that none starves,
 * and that nothing is left of a worker that is killed. */
#include "tests/lib/suite.h"
#include "common/job/surroundings.h"
#include "common/os/own_environment.h"
#include "worker/kernels/exec/after.h"
#include "worker/kernels/exec/allotment.h"
#include "worker/kernels/exec/claim.h"
#include "worker/kernels/exec/needs.h"
#include "worker/kernels/exec/own_cores.h"
#include "worker/kernels/exec/resources.h"

#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLAIMS = 4 };

static struct error error;
static struct claim claims[CLAIMS];
static char path[CLAIM_PATH_MAX], folder[40];
static const struct needs node = {{[NEED_CORES] = 4, [NEED_MEMORY] = 1000, [NEED_GPUS] = 3}};

/* --- reading --- */

static uint64_t memory_of(const char *text)
{
    uint64_t amount = 0;
    return need_parse(NEED_MEMORY, text, strlen(text), &amount, &error) < 0 ? UINT64_MAX : amount;
}

START_TEST(test_amounts_are_read)
{
    ck_assert_uint_eq(memory_of("0"), 0);
    ck_assert_uint_eq(memory_of("1000"), 1000);
    ck_assert_uint_eq(memory_of("2K"), 2048);
    ck_assert_uint_eq(memory_of("1MB"), 1u << 20);
    ck_assert_uint_eq(memory_of("1kib"), 1024);
    ck_assert_uint_eq(memory_of("512M"), 512u << 20);
    ck_assert_uint_eq(memory_of("3g"), UINT64_C(3) << 30);
    ck_assert_uint_eq(memory_of("1T"), UINT64_C(1) << 40);
    static const char *const bad[] = {
        "", "M", "1MiX", "1iB", "B", "-1", "1.5G", "1 G", "2X", "99999999999999999999", "9999999999T", "0x10"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(memory_of(bad[i]) == UINT64_MAX, "%s", bad[i]);
    uint64_t cores;
    ck_assert_int_eq(need_parse(NEED_CORES, "12x", 2, &cores, &error), 0);
    ck_assert_uint_eq(cores, 12);
    ck_assert_int_eq(need_parse(NEED_CORES, "2K", 2, &cores, &error), -1);
    ck_assert_str_eq(error.text, "cores '2K': accepted: a number of cores, such as 2");
}
END_TEST

START_TEST(test_amounts_are_told)
{
    char text[NEED_TEXT_MAX];
    ck_assert_str_eq(need_text(NEED_CORES, 1, text), "1 core");
    ck_assert_str_eq(need_text(NEED_GPUS, 0, text), "0 GPUs");
    ck_assert_str_eq(need_text(NEED_MEMORY, 100, text), "100 bytes of memory");
    ck_assert_str_eq(need_text(NEED_MEMORY, 3u << 29, text), "1.5G of memory");
    const struct needs more = {{[NEED_CORES] = 5, [NEED_MEMORY] = 1000}};
    ck_assert_int_eq(needs_check(&more, &node, &error), -1);
    ck_assert_str_eq(error.text, "needs 5 cores; this node has 4 cores");
    ck_assert_int_eq(needs_check(&node, &node, &error), 0);
}
END_TEST

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static void open_table(struct tasks *tasks, const char *text)
{
    static char name[60]; /* the tasks borrow it */
    snprintf(name, sizeof name, "%s/t.tsv", folder);
    write_file(name, text);
    const struct tasks_source source = {
        .tasks = "", .command = "true", .table = name, .list = "", .folder = "", .count = TASKS_COUNT_UNKNOWN};
    ck_assert_msg(tasks_open(tasks, &source, &error) == 0, "%s", error.text);
}

START_TEST(test_columns_say_what_each_task_needs)
{
    struct tasks tasks;
    struct needs_source source;
    struct needs needs;
    open_table(&tasks, "name\tcores\tmemory\na\t2\t1K\nb\t\t\nc\tmany\t1\n");
    ck_assert_int_eq(needs_init(&source, &tasks, 0, "3K", 0, &error), 0);
    ck_assert(needs_are_given(&source) && needs_differ(&source) && !source.is_counted[NEED_GPUS]);
    ck_assert_int_eq(tasks_get(&tasks, 0, &error), 0);
    ck_assert_int_eq(needs_of_task(&source, &tasks, &needs, &error), 0);
    ck_assert_mem_eq(&needs, (&(struct needs){{2, 1024, 0}}), sizeof needs);
    ck_assert_int_eq(tasks_get(&tasks, 1, &error), 0);
    ck_assert_int_eq(needs_of_task(&source, &tasks, &needs, &error), 0);
    ck_assert_mem_eq(&needs, (&(struct needs){{1, 3072, 0}}), sizeof needs);
    ck_assert_int_eq(tasks_get(&tasks, 2, &error), 0);
    ck_assert_int_eq(needs_of_task(&source, &tasks, &needs, &error), -1);
    ck_assert_str_eq(error.text, "cores 'many': accepted: a number of cores, such as 2");
    tasks_close(&tasks);
}
END_TEST

START_TEST(test_without_needs_nothing_is_shared)
{
    struct tasks tasks;
    struct needs_source source;
    struct allotment allotment;
    open_table(&tasks, "name\tsize\na\t2\n");
    ck_assert_int_eq(needs_init(&source, &tasks, 0, "", 0, &error), 0);
    ck_assert(!needs_are_given(&source) && !needs_differ(&source));
    ck_assert_int_eq(allotment_init(&allotment, &source, NULL, true, &error), 0);
    ck_assert(!allotment.is_used);
    ck_assert_int_eq(allotment_begin(&allotment, &tasks, &error), ALLOTMENT_THERE);
    ck_assert_int_ne(access(claim_path(true, path), F_OK), 0);
    allotment_end(&allotment);
    allotment_fini(&allotment);
    tasks_close(&tasks);
}
END_TEST

/* --- cores of their own --- */

/* Two tasks of the same cores, where no other run takes any: names of sockets belong to a network namespace. */
START_TEST(test_a_core_has_one_owner)
{
    static struct own_cores one, other;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
        return;
    own_cores_init(&one, false);
    own_cores_init(&other, false);
    ck_assert_uint_eq(one.count, cores_usable());
    ck_assert_ptr_null(own_cores_cpus(&one));
    ck_assert(!own_cores_take(&one, one.count + 1, 0) && own_cores_cpus(&one) == NULL);
    ck_assert(own_cores_take(&one, 1, one.count - 1));
    ck_assert(!own_cores_take(&other, other.count, 0) && own_cores_cpus(&other) == NULL);
    if (one.count > 1) {
        cpu_set_t both[CORES_CPU_SETS];
        ck_assert(own_cores_take(&other, other.count - 1, one.count - 1));
        CPU_AND_S(sizeof both, both, own_cores_cpus(&one), own_cores_cpus(&other));
        ck_assert_int_eq(CPU_COUNT_S(sizeof both, both), 0);
        CPU_OR_S(sizeof both, both, own_cores_cpus(&one), own_cores_cpus(&other));
        ck_assert(CPU_EQUAL_S(sizeof both, both, one.allowed));
    }
    own_cores_fini(&other);
    own_cores_release(&one);
    ck_assert(own_cores_take(&one, one.count, 0) && CPU_EQUAL_S(sizeof one.taken, one.taken, one.allowed));
    own_cores_fini(&one);
}
END_TEST

/* --- tasks that wait for others --- */

static const char *refusal_of(const char *text)
{
    struct tasks tasks;
    struct precedence precedence;
    open_table(&tasks, text);
    error.text[0] = '\0';
    ck_assert_int_eq(after_read(&tasks, &precedence, &error), -1);
    ck_assert_ptr_null(precedence.begin);
    tasks_close(&tasks);
    return error.text;
}

START_TEST(test_a_column_says_what_tasks_wait_for)
{
    static const char *const texts[] = {"name\tafter\nplot\tfit, get;fit\nfit\tget\nget\t\n",
                                        "id\tafter\tx\n7\t2 1 2\t-\n2\t1\t-\n1\t\t-\n",
                                        "after\tx\n2,3,2\ta\n3\tb\n\tc\n"};
    const uint64_t waiting[] = {0, 0, 0, 1};
    struct tasks tasks;
    struct precedence precedence;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        open_table(&tasks, texts[i]);
        ck_assert_msg(after_read(&tasks, &precedence, &error) == 0, "%s", error.text);
        ck_assert_uint_eq(precedence.count, 3);
        ck_assert_uint_eq(precedence.begin[3], 4);
        ck_assert_mem_eq(precedence.waiting, waiting, sizeof waiting);
        precedence_fini(&precedence);
        tasks_close(&tasks);
    }
    open_table(&tasks, "name\tafter\nplot\tfit b\nfit b\t\n"); /* a name with a blank stands alone */
    ck_assert_msg(after_read(&tasks, &precedence, &error) == 0, "%s", error.text);
    ck_assert_uint_eq(precedence.begin[2], 1);
    precedence_fini(&precedence);
    tasks_close(&tasks);
    open_table(&tasks, "name\tafter\nplot\t\nfit\t\n");
    ck_assert_int_eq(after_read(&tasks, &precedence, &error), 0);
    ck_assert_uint_eq(precedence.count, 0);
    tasks_close(&tasks);
}
END_TEST

START_TEST(test_tasks_that_cannot_wait_are_named)
{
    ck_assert_str_eq(refusal_of("name\tafter\na\t\nfit\tplot\nx\t\ny\t\nplot\tfit\n"),
                     "line 3 (fit) waits for line 6 (plot), which waits for line 3 (fit)");
    ck_assert_str_eq(refusal_of("name\tafter\nfit\tfit\n"), "line 2 (fit) waits for itself");
    ck_assert_str_eq(refusal_of("after\n1\n"), "line 2 waits for itself");
    ck_assert_str_eq(refusal_of("name\tafter\nfit\tplott\n"),
                     "line 2 (fit) waits for 'plott', which no row has in the column 'name'");
    ck_assert_str_eq(refusal_of("id\tafter\n1\t2\n"), "line 2 (1) waits for '2', which no row has in the column 'id'");
    ck_assert_str_eq(refusal_of("after\n2\n3\n"), "line 3 waits for '3': accepted: numbers of tasks, 1 to 2, or a "
                                                  "column 'name' with what is to be said here");
    ck_assert_str_eq(refusal_of("name\tafter\na\t\nb\ta\na\t\n"),
                     "line 3 (b) waits for 'a', which is both line 2 (a) and line 4 (a); accepted: a name of one row");
    ck_assert_str_eq(refusal_of("after\n2\n3\n4\n5\n6\n1\n"),
                     "line 2 waits for line 3, which waits for line 4, which waits for line 5, which waits for others "
                     "(2 rows), of which the last waits for line 2");
}
END_TEST

/* --- what a node has --- */

static const char *const variables[] = {"HDSS_CORES",           "HDSS_MEMORY",          "HDSS_GPUS",
                                        "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "SLURM_JOB_GPUS",
                                        "SLURM_GPUS_ON_NODE",   "SLURM_MEM_PER_NODE",   "SLURM_CPUS_ON_NODE"};

static void forget_variables(void)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
}

/* The names of the GPUs where the variable has that value. */
static const char *gpus_where(const char *name, const char *value)
{
    static char text[1000];
    struct resources resources;
    forget_variables();
    setenv(name, value, 1);
    ck_assert_int_eq(resources_init(&resources, true, &error), 0);
    resources_name_gpus(&resources, UINT64_MAX, "X", text, sizeof text);
    resources_fini(&resources);
    return text;
}

START_TEST(test_gpus_are_found)
{
    ck_assert_str_eq(gpus_where("HDSS_GPUS", "0,1,7"), "X=0,1,7");
    ck_assert_str_eq(gpus_where("HDSS_GPUS", ""), "X=");
    ck_assert_str_eq(gpus_where("CUDA_VISIBLE_DEVICES", "GPU-8932f937,MIG-3"), "X=GPU-8932f937,MIG-3");
    ck_assert_str_eq(gpus_where("CUDA_VISIBLE_DEVICES", "2,-1,3"), "X=2");
    ck_assert_str_eq(gpus_where("CUDA_VISIBLE_DEVICES", "NoDevFiles"), "X=");
    ck_assert_str_eq(gpus_where("ROCR_VISIBLE_DEVICES", "3,1"), "X=3,1");
    ck_assert_str_eq(gpus_where("SLURM_JOB_GPUS", "0-2,5"), "X=0,1,2,5");
    ck_assert_str_eq(gpus_where("SLURM_GPUS_ON_NODE", "2"), "X=0,1");
    ck_assert_str_eq(gpus_where("SLURM_GPUS_ON_NODE", "0"), "X=");
    ck_assert_uint_eq(strlen(gpus_where("SLURM_JOB_GPUS", "0-1000000")), strlen("X=") + 10 * 2 + 54 * 3 - 1);
}
END_TEST

START_TEST(test_cores_and_memory_are_found)
{
    struct resources resources;
    forget_variables();
    ck_assert_int_eq(resources_init(&resources, true, &error), 0);
    ck_assert_uint_ge(resources.has.amount[NEED_CORES], 1);
    ck_assert_uint_gt(resources.has.amount[NEED_MEMORY], 1 << 20);
    uint64_t before = resources.has.amount[NEED_MEMORY];
    resources_fini(&resources);
    setenv("SLURM_CPUS_ON_NODE", "1", 1);
    setenv("SLURM_MEM_PER_NODE", "7", 1);
    ck_assert_int_eq(resources_init(&resources, true, &error), 0);
    ck_assert_uint_eq(resources.has.amount[NEED_CORES], 1);
    ck_assert_uint_eq(resources.has.amount[NEED_MEMORY], before < 7 << 20 ? before : 7 << 20);
    resources_fini(&resources);
    setenv("HDSS_CORES", "100", 1);
    setenv("HDSS_MEMORY", "100T", 1);
    ck_assert_int_eq(resources_init(&resources, true, &error), 0);
    ck_assert_uint_eq(resources.has.amount[NEED_CORES], 100);
    ck_assert_uint_eq(resources.has.amount[NEED_MEMORY], UINT64_C(100) << 40);
    resources_fini(&resources);
    setenv("HDSS_MEMORY", "much", 1);
    ck_assert_int_eq(resources_init(&resources, true, &error), -1);
}
END_TEST

/* --- claims --- */

/* The path that the workers of such a step have. */
static const char *name_claims(const char *step)
{
    setenv("SLURM_STEP_ID", step, 1);
    return claim_path(true, path);
}

/* The path where a job with that environment is at hand. */
static const char *claims_of_job(char **of_job)
{
    static char name[CLAIM_PATH_MAX];
    char **own = environ;
    own_environment_keep(own);
    environ = of_job;
    claim_path(true, name);
    environ = own;
    own_environment_keep(NULL);
    return name;
}

START_TEST(test_launches_of_a_session_share_what_they_have)
{
    static char session[] = SESSION_VARIABLE "=1", other[] = SESSION_VARIABLE "=2";
    char *of_job[] = {session, NULL}, *of_other[] = {other, NULL};
    char alone[CLAIM_PATH_MAX], first[CLAIM_PATH_MAX];
    forget_variables();
    strcpy(alone, name_claims("7"));
    setenv(SESSION_VARIABLE, "1", 1); /* of a run that has begun this one: they share nothing */
    ck_assert_str_eq(claim_path(true, path), alone);
    strcpy(first, claims_of_job(of_job));
    ck_assert_str_ne(first, alone);
    ck_assert_str_ne(claims_of_job(of_other), first);
    setenv("PMIX_NAMESPACE", "another launch", 1);
    setenv("SLURM_STEP_ID", "8", 1);
    ck_assert_str_eq(claims_of_job(of_job), first);
    setenv("HDSS_GPUS", "1", 1);
    ck_assert_str_ne(claims_of_job(of_job), first);
}
END_TEST

static void open_claims(void)
{
    name_claims("7");
    for (unsigned i = 0; i < CLAIMS; i++)
        ck_assert_msg(claim_init(&claims[i], path, &node, &error) == 0, "%s", error.text);
}

static void close_claims(void)
{
    for (unsigned i = 0; i < CLAIMS; i++)
        claim_fini(&claims[i]);
    ck_assert_int_ne(access(path, F_OK), 0);
}

static bool claims_get(unsigned i, uint64_t cores, uint64_t memory, uint64_t gpus)
{
    ck_assert_int_eq(claim_begin(&claims[i], &(struct needs){{cores, memory, gpus}}, &error), 0);
    return claim_advance(&claims[i], &error) == 1;
}

static bool is_readable(unsigned i, int ms)
{
    struct pollfd descriptor = {claim_descriptor(&claims[i]), POLLIN, 0};
    return poll(&descriptor, 1, ms) == 1;
}

/* Waits until the claim has been told of a change, which it must be before its timer looks. */
static bool is_granted_soon(unsigned i)
{
    ck_assert(is_readable(i, 900));
    return claim_advance(&claims[i], &error) == 1;
}

START_TEST(test_claims_are_granted_as_long_as_there_is_enough)
{
    open_claims();
    ck_assert(claims_get(0, 2, 300, 0) && claims_get(1, 2, 700, 0));
    ck_assert(!claims_get(2, 1, 0, 0) && !claims_get(3, 0, 1, 0));
    ck_assert(!is_readable(2, 0));
    claim_end(&claims[0]);
    ck_assert(is_granted_soon(2) && is_granted_soon(3));
    ck_assert(!is_readable(2, 0) && !is_readable(3, 0));
    close_claims();
}
END_TEST

START_TEST(test_a_large_claim_does_not_starve)
{
    open_claims();
    ck_assert(claims_get(0, 1, 0, 0));
    ck_assert(!claims_get(1, 4, 0, 0));
    ck_assert(!claims_get(2, 1, 0, 0));  /* there is a core, but it is kept for the one before */
    ck_assert(claims_get(3, 0, 500, 1)); /* takes nothing from it */
    claim_end(&claims[0]);
    ck_assert(is_readable(2, 900));
    ck_assert_int_eq(claim_advance(&claims[2], &error), 0);
    ck_assert(is_granted_soon(1));
    claim_end(&claims[1]);
    ck_assert(is_granted_soon(2));
    close_claims();
}
END_TEST

START_TEST(test_a_claim_that_waits_can_be_given_up)
{
    open_claims();
    ck_assert(claims_get(0, 3, 0, 0) && !claims_get(1, 2, 0, 0) && !claims_get(2, 1, 0, 0));
    claim_end(&claims[1]);
    ck_assert(is_granted_soon(2));
    close_claims();
}
END_TEST

START_TEST(test_each_has_gpus_of_its_own)
{
    open_claims();
    ck_assert(claims_get(0, 0, 0, 1) && claims_get(1, 0, 0, 2));
    ck_assert_uint_eq(claims[0].gpus, 1);
    ck_assert_uint_eq(claims[1].gpus, 6);
    ck_assert(!claims_get(2, 0, 0, 1));
    claim_end(&claims[0]);
    ck_assert(is_granted_soon(2));
    ck_assert_uint_eq(claims[2].gpus, 1);
    claim_end(&claims[1]);
    ck_assert(claims_get(3, 0, 0, 2));
    ck_assert_uint_eq(claims[3].gpus, 6);
    close_claims();
}
END_TEST

/* Begins a process that claims, and waits until it has done so. */
static pid_t claim_elsewhere(uint64_t cores)
{
    int ends[2];
    char byte;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct claim own;
        bool has = claim_init(&own, path, &node, &error) == 0 &&
                   claim_begin(&own, &(struct needs){{cores, 0, 0}}, &error) == 0;
        ssize_t done = write(ends[1], "x", has);
        (void)done;
        for (;;)
            pause();
    }
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return child;
}

static void kill_child(pid_t child)
{
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

START_TEST(test_a_killed_worker_holds_nothing)
{
    open_claims();
    pid_t holder = claim_elsewhere(4), waiter = claim_elsewhere(4);
    ck_assert(!claims_get(0, 2, 0, 0) && !claims_get(1, 2, 0, 0));
    kill_child(waiter);
    ck_assert(is_readable(0, 900));
    ck_assert_int_eq(claim_advance(&claims[0], &error), 0);
    kill_child(holder);
    ck_assert(is_granted_soon(0) && is_granted_soon(1));
    close_claims();
}
END_TEST

/* Shared by the processes of the next test. */
struct use {
    _Atomic int cores, most;
    _Atomic int gpu[3];
    _Atomic int wrong;
};

/* A worker that runs tasks of no length, one after another. */
static void use_resources(struct use *use, unsigned seed)
{
    struct claim own;
    bool is_open = claim_init(&own, path, &node, &error) == 0;
    for (unsigned i = 0; is_open && i < 300; i++) {
        const struct needs needs = {{(seed * 7 + i) % 5, 0, (seed + i) % 3 == 0}};
        int result = claim_begin(&own, &needs, &error) < 0 ? -1 : claim_advance(&own, &error);
        while (result == 0) {
            poll(&(struct pollfd){claim_descriptor(&own), POLLIN, 0}, 1, 60000);
            result = claim_advance(&own, &error);
        }
        int cores = atomic_fetch_add(&use->cores, (int)needs.amount[NEED_CORES]) + (int)needs.amount[NEED_CORES];
        use->wrong += result < 0 || cores > 4;
        if (cores > use->most)
            use->most = cores;
        for (unsigned gpu = 0; gpu < 3; gpu++)
            if ((own.gpus >> gpu & 1) != 0)
                use->wrong += atomic_fetch_add(&use->gpu[gpu], 1) != 0;
        sched_yield();
        for (unsigned gpu = 0; gpu < 3; gpu++)
            if ((own.gpus >> gpu & 1) != 0)
                atomic_fetch_sub(&use->gpu[gpu], 1);
        atomic_fetch_sub(&use->cores, (int)needs.amount[NEED_CORES]);
        claim_end(&own);
    }
    claim_fini(&own);
    use->wrong += !is_open;
    _exit(0);
}

START_TEST(test_processes_never_have_more_than_there_is)
{
    pid_t children[6];
    struct use *use = mmap(NULL, sizeof *use, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(use, MAP_FAILED);
    name_claims("9");
    for (unsigned i = 0; i < 6; i++) {
        children[i] = fork();
        if (children[i] == 0)
            use_resources(use, i);
    }
    for (unsigned i = 0; i < 6; i++)
        ck_assert_int_eq(waitpid(children[i], NULL, 0), children[i]);
    ck_assert_int_eq(use->wrong, 0);
    ck_assert_int_eq(use->cores, 0);
    ck_assert_int_ge(use->most, 3);
    ck_assert_int_ne(access(path, F_OK), 0);
    munmap(use, sizeof *use);
}
END_TEST

START_TEST(test_what_killed_runs_leave_is_removed)
{
    char other[CLAIM_PATH_MAX];
    name_claims("8");
    snprintf(other, sizeof other, "%s", path);
    pid_t child = claim_elsewhere(4);
    open_claims();
    close_claims();
    ck_assert_int_eq(access(other, F_OK), 0); /* still in use */
    kill_child(child);
    ck_assert_int_eq(access(other, F_OK), 0);
    open_claims();
    ck_assert_int_ne(access(other, F_OK), 0);
    close_claims();
}
END_TEST

START_TEST(test_all_take_what_the_first_has_found)
{
    const struct needs less = {{1, 1, 1}};
    open_claims();
    claim_fini(&claims[3]);
    ck_assert_int_eq(claim_init(&claims[3], path, &less, &error), 0);
    ck_assert_mem_eq(&claims[3].has, &node, sizeof node);
    close_claims();
    ck_assert_int_eq(claim_init(&claims[0], path, &less, &error), 0);
    ck_assert_mem_eq(&claims[0].has, &less, sizeof less);
    claim_fini(&claims[0]);
}
END_TEST

static void set_up(void)
{
    snprintf(folder, sizeof folder, "/tmp/test-needs-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void tear_down(void)
{
    char name[60];
    snprintf(name, sizeof name, "%s/t.tsv", folder);
    unlink(name);
    rmdir(folder);
}

int main(void)
{
    Suite *suite = suite_create("needs");
    TCase *reading = tcase_create("reading");
    tcase_add_checked_fixture(reading, set_up, tear_down);
    tcase_add_test(reading, test_amounts_are_read);
    tcase_add_test(reading, test_amounts_are_told);
    tcase_add_test(reading, test_columns_say_what_each_task_needs);
    tcase_add_test(reading, test_without_needs_nothing_is_shared);
    tcase_add_test(reading, test_a_core_has_one_owner);
    tcase_add_test(reading, test_a_column_says_what_tasks_wait_for);
    tcase_add_test(reading, test_tasks_that_cannot_wait_are_named);
    suite_add_tcase(suite, reading);
    TCase *found = tcase_create("node");
    tcase_add_test(found, test_gpus_are_found);
    tcase_add_test(found, test_cores_and_memory_are_found);
    suite_add_tcase(suite, found);
    TCase *shared = tcase_create("claims");
    tcase_add_test(shared, test_launches_of_a_session_share_what_they_have);
    tcase_add_test(shared, test_claims_are_granted_as_long_as_there_is_enough);
    tcase_add_test(shared, test_a_large_claim_does_not_starve);
    tcase_add_test(shared, test_a_claim_that_waits_can_be_given_up);
    tcase_add_test(shared, test_each_has_gpus_of_its_own);
    tcase_add_test(shared, test_a_killed_worker_holds_nothing);
    tcase_add_test(shared, test_processes_never_have_more_than_there_is);
    tcase_add_test(shared, test_what_killed_runs_leave_is_removed);
    tcase_add_test(shared, test_all_take_what_the_first_has_found);
    suite_add_tcase(suite, shared);
    return suite_run(suite);
}
