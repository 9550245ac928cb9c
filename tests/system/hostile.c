/* SPDX-License-Identifier: MIT */
/* A kernel for the tests of isolation: an iteration yields a record of numbers, takes a time, and at the iterations
 * that are named does what user code must not do to the worker that runs it. */
#define _GNU_SOURCE
#include <hdss/kernel.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ITERATIONS, LENGTH, SPIN, SLEEP, AT, EVERY, MODE, ONCE, STEPS, EFFECTS, COMMAND };

enum {
    NOTHING,
    SEGV,
    NULLCALL,
    DIVIDE,
    ABORT,
    OVERFLOW_STACK,
    EXIT,
    EXIT0,
    UNDERSCORE,
    ATEXIT,
    KILL,
    TERM,
    STOPPED,
    CLOSEFDS,
    CLOSESTD,
    RETURN1,
    RETURN7,
    FAIL,
    FORKED,
    THREADED,
    HANDLERS,
    LIMITS,
    UNMAP,
    RUNS_COMMAND,
    HEAP,
    CHDIR,
    LOOP,
    OPEN_FAILS,
    OPEN_CRASHES,
    COPIED,
    DIFFERS,
    ENDS_COPY,
    DESCRIBE_CRASHES,
    DESCRIBE_EXITS,
    DESCRIBE_HANGS,
    DESCRIBE_PRINTS,
    DESCRIBE_COPIES,
    DESCRIBE_WRITES,
    CHECK_CRASHES,
    CHECK_FAILS
};

static const struct hdss_param params[] = {
    {"iterations", HDSS_PARAM_INTEGER, "1000", 0, 1e12, NULL, "", "how many"},
    {"length", HDSS_PARAM_INTEGER, "1", 1, 1e9, NULL, "", "numbers of a record"},
    {"spin", HDSS_PARAM_REAL, "0", 0, 1e12, NULL, "us", "time that an iteration computes"},
    {"sleep", HDSS_PARAM_REAL, "0", 0, 1e12, NULL, "us", "time that an iteration sleeps"},
    {"at", HDSS_PARAM_INTEGER, "-1", -1, 1e12, NULL, "", "the first iteration that is hostile"},
    {"every", HDSS_PARAM_INTEGER, "1000000000", 1, 1e12, NULL, "", "and each so many behind it"},
    {"mode", HDSS_PARAM_CHOICE, "nothing", 0, 0,
     "nothing|segv|nullcall|divide|abort|stack|exit|exit0|_exit|atexit|kill|term|stop|closefds|closestd|return1|"
     "return7|"
     "fail|fork|thread|handlers|limits|unmap|command|heap|chdir|loop|openfail|opensegv|copy|differ|endcopy|"
     "describesegv|describeexit|describehang|describeprint|describecopy|describewrite|checksegv|checkfail",
     "", "how"},
    {"once", HDSS_PARAM_TEXT, "", 0, 0, NULL, "file",
     "each iteration is hostile once: it makes this file with its number"},
    {"steps", HDSS_PARAM_INTEGER, "1", 1, 1e6, NULL, "", "time steps, each of which takes a number of the one before"},
    {"effects", HDSS_PARAM_CHOICE, "no", 0, 0, "no|yes", "", "no iteration is run twice without need"},
    {"command", HDSS_PARAM_TEXT, "", 0, 0, NULL, "", "what the mode of that name has a shell do"},
    {NULL, HDSS_PARAM_INTEGER, NULL, 0, 0, NULL, NULL, NULL},
};

/* True in the helper of a worker, not in one that is only asked about the loop. */
static int is_helper_of_worker(void)
{
    char words[4096] = "";
    FILE *file = fopen("/proc/self/cmdline", "r");
    size_t length = fread(words, 1, sizeof words - 1, file);
    fclose(file);
    return strcmp(program_invocation_short_name, "hdss-helper") == 0 &&
           memmem(words, length, "--describe", sizeof "--describe") == NULL;
}

/* Does what describe() must not do. */
static void describe_badly(int64_t mode)
{
    switch (mode) {
    case DESCRIBE_CRASHES: raise(SIGSEGV); break;
    case DESCRIBE_EXITS: exit(9);
    case DESCRIBE_HANGS:
        for (;;)
            pause();
    case DESCRIBE_PRINTS: printf("described\n"); break;
    case DESCRIBE_COPIES: fork(); break;
    case DESCRIBE_WRITES:
        for (int fd = 3; fd < 1024; fd++)
            write(fd, "this is not your business", 25);
        break;
    }
}

static int describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)error;
    const char *told = getenv("HOSTILE_TOLD");
    if (told != NULL) {
        FILE *file = fopen(told, "a");
        fprintf(file, "%s\n", program_invocation_short_name);
        fclose(file);
    }
    loop->iterations = (uint64_t)values[ITERATIONS].integer;
    if (values[MODE].integer == DIFFERS && is_helper_of_worker())
        loop->iterations++;
    describe_badly(values[MODE].integer);
    loop->type = HDSS_UINT64;
    loop->record_length = (uint64_t)values[LENGTH].integer;
    loop->dims = 2;
    loop->shape[0] = loop->iterations;
    loop->shape[1] = loop->record_length;
    loop->steps = (uint64_t)values[STEPS].integer;
    loop->has_effects = values[EFFECTS].integer != 0;
    loop->waits = values[SLEEP].real > 0;
    return 0;
}

static int check(const union hdss_value *values, const struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)loop;
    if (values[MODE].integer == CHECK_CRASHES)
        raise(SIGSEGV);
    snprintf(error, HDSS_ERROR_MAX, "is checked");
    return values[MODE].integer == CHECK_FAILS ? -1 : 0;
}

/* The kernel with its values, and the number that a time step has from the one before. */
struct instance {
    const union hdss_value *values;
    uint64_t carried;
};

static int open_kernel(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                       void **instance, char error[HDSS_ERROR_MAX])
{
    (void)loop, (void)worker;
    if (values[MODE].integer == OPEN_CRASHES)
        raise(SIGSEGV);
    if (values[MODE].integer == OPEN_FAILS) {
        snprintf(error, HDSS_ERROR_MAX, "cannot be opened");
        return -1;
    }
    struct instance *own = calloc(1, sizeof *own);
    own->values = values;
    *instance = own;
    return 0;
}

static void close_kernel(void *instance)
{
    free(instance);
}

static int enter_step(void *instance, uint64_t step, const void *results, char error[HDSS_ERROR_MAX])
{
    struct instance *own = instance;
    (void)step, (void)error;
    own->carried = results != NULL ? *(const uint64_t *)results + 1 : 0;
    return 0;
}

static void hang(void)
{
    for (;;)
        pause();
}

static int deepen(volatile char *above)
{
    volatile char frame[65536];
    frame[0] = above[0];
    return deepen(frame) + frame[0];
}

static void *crash_in_thread(void *unused)
{
    *(volatile int *)unused = 1;
    return NULL;
}

static void on_signal(int signal)
{
    (void)signal;
}

static int be_hostile(const union hdss_value *values)
{
    volatile int zero = 0;
    volatile char byte = 0;
    int (*volatile nowhere)(void) = NULL;
    pthread_t thread;
    switch (values[MODE].integer) {
    case SEGV: *(volatile int *)(uintptr_t)zero = 1; break;
    case NULLCALL: return nowhere();
    case DIVIDE: zero = 1 / zero; break;
    case ABORT: abort();
    case OVERFLOW_STACK: return deepen(&byte);
    case EXIT: exit(9);
    case EXIT0: exit(0);
    case UNDERSCORE: _exit(7);
    case ATEXIT: atexit(hang); break;
    case KILL: raise(SIGKILL); break;
    case TERM: raise(SIGTERM); break; /* is the worker's business */
    case STOPPED: raise(SIGSTOP); break;
    case CLOSEFDS:
        for (int fd = 3; fd < 1000; fd++)
            close(fd);
        break;
    case CLOSESTD:
        for (int fd = 0; fd < 3; fd++)
            close(fd);
        break;
    case RETURN1: return 1;
    case RETURN7: return 7;
    case FAIL: return -1;
    case FORKED:
        if (fork() == 0)
            _exit(0);
        wait(NULL);
        break;
    case ENDS_COPY: { /* by a signal that its worker's processes have as well */
        pid_t copy = fork();
        if (copy == 0)
            hang();
        kill(copy, SIGTERM);
        return waitpid(copy, NULL, 0) == copy ? 0 : -1;
    }
    case COPIED: { /* the copy comes back as well */
        pid_t copy = fork();
        if (copy == 0)
            return -1;
        return waitpid(copy, NULL, 0) == copy ? 0 : -1;
    }
    case THREADED:
        pthread_create(&thread, NULL, crash_in_thread, NULL);
        pthread_join(thread, NULL);
        break;
    case HANDLERS:
        for (int number = 1; number < NSIG; number++)
            signal(number, on_signal);
        break;
    case LIMITS: setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0}); break;
    case UNMAP: munmap((void *)((uintptr_t)&describe & ~(uintptr_t)4095), 4096); break;
    case RUNS_COMMAND: return system(values[COMMAND].text) == -1 ? -1 : 0;
    case HEAP: free((void *)&params[0]); break;
    case CHDIR: return chdir("/");
    case LOOP: hang(); break;
    default: break;
    }
    return 0;
}

/* True where the iteration has been hostile before. */
static int is_over(const union hdss_value *values, uint64_t i)
{
    char path[4200];
    if (values[ONCE].text[0] == '\0')
        return 0;
    snprintf(path, sizeof path, "%s.%llu", values[ONCE].text, (unsigned long long)i);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    close(file);
    return file < 0;
}

static double now_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    const struct instance *own = instance;
    const union hdss_value *values = own->values;
    const uint64_t length = (uint64_t)values[LENGTH].integer;
    uint64_t *numbers = records;
    for (uint64_t i = first; i < first + count; i++) {
        int64_t at = values[AT].integer;
        for (uint64_t k = 0; k < length; k++)
            *numbers++ = i * 1000003 + k + own->carried;
        if (values[SPIN].real > 0)
            for (double until = now_us(CLOCK_MONOTONIC) + values[SPIN].real; now_us(CLOCK_MONOTONIC) < until;)
                ;
        if (values[SLEEP].real > 0)
            usleep((useconds_t)values[SLEEP].real);
        if (at >= 0 && i >= (uint64_t)at && (i - (uint64_t)at) % (uint64_t)values[EVERY].integer == 0 &&
            !is_over(values, i)) {
            int result = be_hostile(values);
            if (result != 0) {
                snprintf(error, HDSS_ERROR_MAX, "is hostile");
                return result;
            }
        }
    }
    return 0;
}

HDSS_KERNEL(hdss_kernel) = {
    .abi = HDSS_KERNEL_ABI,
    .name = "hostile",
    .version = "1",
    .summary = "what user code must not do to a worker",
    .params = params,
    .describe = describe,
    .check = check,
    .open = open_kernel,
    .run = run,
    .step = enter_step,
    .close = close_kernel,
};
