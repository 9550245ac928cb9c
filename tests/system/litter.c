/* SPDX-License-Identifier: MIT */
/* A kernel for the tests of sets: it leaves in its process what other jobs must not find, or tells what it finds. */
#define _GNU_SOURCE
#include <hdss/kernel.h>

#include <dirent.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ITERATIONS, MODE };
enum { LOOKS, LITTERS, LITTERS_AND_EXITS };
enum { LITTER_MIB = 100 };

static const struct hdss_param params[] = {
    {"iterations", HDSS_PARAM_INTEGER, "8", 0, 1e6, NULL, "", "how many"},
    {"mode", HDSS_PARAM_CHOICE, "look", 0, 0, "look|litter|exit", "", "what each of them does"},
    {NULL, HDSS_PARAM_INTEGER, NULL, 0, 0, NULL, NULL, NULL},
};

/* What a record tells. */
enum { FOLDER, UMASK, VARIABLE, ROUNDING, BLOCKED, HANDLED, FILES, FILES_MOST, THREADS, CHILDREN, LARGE, FIELDS };

static int describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)error;
    loop->iterations = (uint64_t)values[ITERATIONS].integer;
    loop->type = HDSS_UINT64;
    loop->record_length = FIELDS;
    loop->dims = 2;
    loop->shape[0] = loop->iterations;
    loop->shape[1] = FIELDS;
    loop->has_effects = 1; /* no iteration is computed twice, and each litters once */
    return 0;
}

static int open_kernel(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                       void **instance, char error[HDSS_ERROR_MAX])
{
    (void)loop, (void)worker, (void)error;
    *instance = (void *)values;
    return 0;
}

static void close_kernel(void *instance)
{
    (void)instance;
}

static void *rest(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static void on_signal(int signal)
{
    (void)signal;
}

static void litter(void)
{
    sigset_t blocked;
    pthread_t thread;
    const size_t bytes = (size_t)LITTER_MIB << 20;
    char *large = malloc(bytes);
    if (large != NULL)
        memset(large, 1, bytes);
    for (int i = 0; i < 20; i++)
        if (open("/dev/null", O_RDONLY) < 0)
            break;
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){512, 512});
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigaddset(&blocked, SIGWINCH);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    signal(SIGWINCH, on_signal);
    pthread_create(&thread, NULL, rest, NULL);
    if (fork() == 0)
        rest(NULL);
    printf("litter\n");
    fprintf(stderr, "litter\n");
    setenv("LITTER", "1", 1);
    umask(0777);
    fesetround(FE_UPWARD);
    if (chdir("/") < 0)
        abort();
}

static uint64_t count_files(const char *path)
{
    DIR *folder = opendir(path);
    uint64_t count = 0;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

static uint64_t resident_pages(void)
{
    unsigned long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (fscanf(file, "%lu %lu", &all, &resident) != 2)
        abort();
    fclose(file);
    return resident;
}

static void look(uint64_t *found)
{
    struct stat folder;
    struct rlimit most;
    struct sigaction action;
    sigset_t blocked;
    const mode_t mask = umask(0);
    umask(mask);
    stat(".", &folder);
    getrlimit(RLIMIT_NOFILE, &most);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    sigaction(SIGWINCH, NULL, &action);
    found[FOLDER] = folder.st_ino;
    found[UMASK] = mask;
    found[VARIABLE] = getenv("LITTER") != NULL;
    found[ROUNDING] = (uint64_t)fegetround();
    found[BLOCKED] = (uint64_t)(sigismember(&blocked, SIGUSR1) + sigismember(&blocked, SIGWINCH));
    found[HANDLED] = action.sa_handler != SIG_DFL;
    found[FILES] = count_files("/proc/self/fd");
    found[FILES_MOST] = most.rlim_cur;
    found[THREADS] = count_files("/proc/self/task");
    found[CHILDREN] = waitpid(-1, NULL, WNOHANG) == 0;
    found[LARGE] = resident_pages() * 4096 > (size_t)LITTER_MIB << 20;
}

static int run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    const union hdss_value *values = instance;
    uint64_t *found = records;
    (void)first, (void)error;
    for (uint64_t i = 0; i < count; i++, found += FIELDS) {
        look(found);
        if (values[MODE].integer != LOOKS)
            litter();
        if (values[MODE].integer == LITTERS_AND_EXITS)
            exit(3);
    }
    return 0;
}

HDSS_KERNEL(hdss_kernel) = {
    .abi = HDSS_KERNEL_ABI,
    .name = "litter",
    .version = "1",
    .summary = "what jobs must not find of one another",
    .params = params,
    .describe = describe,
    .open = open_kernel,
    .run = run,
    .close = close_kernel,
};
