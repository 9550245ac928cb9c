/* SPDX-License-Identifier: MIT */
/* Claims: see claim.h.
 *
 * The claims of a node are records in a file. The first record says what the node has; each other record belongs to a
 * worker. A worker locks the first byte while it reads or changes records. As long as a worker lives, it also holds a
 * lock on its own record. The system releases that lock when the process ends, and a record without a lock claims
 * nothing. Free amounts are not stored: they are computed from the records each time, so they are right even after a
 * worker was killed. The locks belong to the open file, not to the process.
 *
 * A worker that waits watches the file for two events: releasing a claim changes the file's timestamps, and a process
 * that ends closes the file. */
#include "worker/kernels/exec/claim.h"

#include "common/job/surroundings.h"
#include "common/os/cores.h"
#include "common/os/files.h"
#include "common/os/own_environment.h"
#include "common/util/digest.h"
#include "worker/kernels/exec/resources.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define FOLDER       "/dev/shm"
#define OTHER_FOLDER "/tmp"
#define PREFIX       "hdss-needs-"

#define RECORDS_MAX 1024u
/* How often a waiting claim is checked: LOOK_OFTEN_NS without inotify, LOOK_SELDOM_NS with it. */
#define LOOK_OFTEN_NS  10000000
#define LOOK_SELDOM_NS 1000000000

struct record {
    uint64_t state;
    uint64_t ticket;
    uint64_t amount[NEEDS];
    uint64_t gpus;
};

static off_t place_of(unsigned number)
{
    return (off_t)(number * sizeof(struct record));
}

/* `bytes` 0: up to the end of the file. */
static int lock_bytes(int file, int command, short type, off_t first, off_t bytes)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = first, .l_len = bytes};
    int result;
    do
        result = fcntl(file, command, &lock);
    while (result < 0 && errno == EINTR);
    return result < 0 ? -1 : lock.l_type == F_UNLCK ? 0 : 1;
}

static int lock_all(int file)
{
    return lock_bytes(file, F_OFD_SETLKW, F_WRLCK, 0, 1) < 0 ? -1 : 0;
}

static int try_to_lock_all(int file)
{
    return lock_bytes(file, F_OFD_SETLK, F_WRLCK, 0, 1) < 0 ? -1 : 0;
}

static void unlock_all(int file)
{
    lock_bytes(file, F_OFD_SETLK, F_UNLCK, 0, 1);
}

static bool is_held(int file, unsigned number)
{
    return lock_bytes(file, F_OFD_GETLK, F_WRLCK, place_of(number), 1) == 1;
}

static bool is_any_held(int file)
{
    return lock_bytes(file, F_OFD_GETLK, F_WRLCK, place_of(1), 0) == 1;
}

static int write_record(const struct claim *claim)
{
    struct record record = {claim->state, claim->ticket, {0}, claim->gpus};
    memcpy(record.amount, claim->needs.amount, sizeof record.amount);
    return file_write_at(claim->file, &record, sizeof record, (uint64_t)place_of(claim->number));
}

static int read_records(struct claim *claim)
{
    ssize_t got;
    do
        got = pread(claim->file, claim->records, RECORDS_MAX * sizeof(struct record), 0);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -1 : (int)((size_t)got / sizeof(struct record));
}

static struct record record_at(const struct claim *claim, unsigned number)
{
    struct record record;
    memcpy(&record, claim->records + place_of(number), sizeof record);
    return record;
}

static void count_free(const struct claim *claim, unsigned records, int64_t left[NEEDS], uint64_t *gpus)
{
    *gpus = 0;
    for (unsigned i = 0; i < NEEDS; i++)
        left[i] = (int64_t)claim->has.amount[i];
    for (unsigned number = 1; number < records; number++) {
        const struct record record = record_at(claim, number);
        bool counts = record.state == CLAIM_GRANTED || (record.state == CLAIM_WAITING && record.ticket < claim->ticket);
        if (number == claim->number || !counts || !is_held(claim->file, number))
            continue;
        for (unsigned i = 0; i < NEEDS; i++)
            left[i] -= (int64_t)record.amount[i];
        *gpus |= record.state == CLAIM_GRANTED ? record.gpus : 0;
    }
}

static uint64_t choose_gpus(uint64_t taken, uint64_t count)
{
    uint64_t chosen = 0;
    for (unsigned i = 0; i < 64 && count > 0; i++)
        if ((taken >> i & 1) == 0) {
            chosen |= UINT64_C(1) << i;
            count--;
        }
    return chosen;
}

static uint64_t next_ticket(const struct claim *claim, unsigned records)
{
    uint64_t last = 0;
    for (unsigned number = 1; number < records; number++)
        last = record_at(claim, number).ticket > last ? record_at(claim, number).ticket : last;
    return last + 1;
}

static uint64_t digest_variables(uint64_t digest, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *value = own_environment_get(names[i]);
        digest = value != NULL ? digest_record(digest, value, strlen(value)) : digest_record(digest, "", 1);
    }
    return digest;
}

/* Adds the cores, resources and batch job of this launch to the digest. Launches of one session share resources only if
 * all of these are equal. */
static uint64_t digest_own_resources(uint64_t digest)
{
    static const char *const names[] = {
        RESOURCES_CORES,        RESOURCES_MEMORY, RESOURCES_GPUS, "CUDA_VISIBLE_DEVICES",
        "ROCR_VISIBLE_DEVICES", "SLURM_JOB_ID",   "PBS_JOBID",    "LSB_JOBID"};
    cpu_set_t cpus[CORES_CPU_SETS];
    cores_read_unbound(cpus);
    return digest_variables(digest_record(digest, cpus, sizeof cpus), names, sizeof names / sizeof *names);
}

static uint64_t digest_launch(void)
{
    static const char *const names[] = {"PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID"};
    const pid_t launcher = own_environment_get(names[0]) == NULL ? getppid() : 0;
    return digest_variables(digest_record(0, &launcher, sizeof launcher), names, sizeof names / sizeof *names);
}

/* Returns the same number for all workers that share the resources of this node. With a session, these are the workers
 * of the session that have the same resources. Without a session, they are the workers with the same launcher. */
static uint64_t number_of_node(bool any_core)
{
    const char *session = own_environment_of_job(SESSION_VARIABLE);
    char name[HOST_NAME_MAX + 1] = "";
    gethostname(name, sizeof name - 1);
    const uint64_t digest =
        session != NULL ? digest_own_resources(digest_record(0, session, strlen(session))) : digest_launch();
    return digest_record(digest + any_core, name, strlen(name));
}

static const char *folder_of_claims(void)
{
    return access(FOLDER, W_OK | X_OK) == 0 ? FOLDER : OTHER_FOLDER;
}

const char *claim_path(bool any_core, char path[CLAIM_PATH_MAX])
{
    snprintf(path, CLAIM_PATH_MAX, "%s/" PREFIX "%u-%016" PRIx64, folder_of_claims(), (unsigned)geteuid(),
             number_of_node(any_core));
    return path;
}

/* The caller must hold the lock. */
static bool remove_if_deserted(int file, const char *path)
{
    return !is_any_held(file) && (unlink(path) == 0 || errno == ENOENT);
}

static int open_claims(const char *path, int flags, int (*lock)(int file))
{
    struct stat status;
    int file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
    if (file < 0)
        return -1;
    if (fstat(file, &status) == 0 && status.st_uid == geteuid() && S_ISREG(status.st_mode) && lock(file) == 0)
        return file;
    close(file);
    errno = EPERM;
    return -1;
}

bool claim_clear(const char *path)
{
    int file = open_claims(path, 0, try_to_lock_all);
    if (file < 0)
        return errno == ENOENT;
    bool is_gone = remove_if_deserted(file, path);
    close(file);
    return is_gone;
}

static void remove_deserted(void)
{
    char prefix[40], path[CLAIM_PATH_MAX];
    const char *folder = folder_of_claims();
    const struct dirent *entry;
    DIR *open = opendir(folder);
    snprintf(prefix, sizeof prefix, PREFIX "%u-", (unsigned)geteuid());
    while (open != NULL && (entry = readdir(open)) != NULL) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
            snprintf(path, sizeof path, "%s/%.60s", folder, entry->d_name) >= (int)sizeof path)
            continue;
        claim_clear(path);
    }
    if (open != NULL)
        closedir(open);
}

static int join_others(struct claim *claim)
{
    struct stat status = {0};
    do {
        if (claim->file >= 0)
            close(claim->file);
        claim->file = open_claims(claim->path, O_CREAT, lock_all);
        if (claim->file < 0 || fstat(claim->file, &status) < 0)
            return -1;
    } while (status.st_nlink == 0);
    return 0;
}

/* The first worker records what the node has. Later workers use this record. They do not detect it themselves, because
 * they might detect less while tasks run. */
static int agree_on_resources(struct claim *claim)
{
    struct record first = {.state = 1};
    if (read_records(claim) > 0 && is_any_held(claim->file)) {
        first = record_at(claim, 0);
        memcpy(claim->has.amount, first.amount, sizeof first.amount);
        return 0;
    }
    memcpy(first.amount, claim->has.amount, sizeof first.amount);
    return file_write_at(claim->file, &first, sizeof first, 0);
}

static int take_record(struct claim *claim)
{
    for (claim->number = 1; claim->number < RECORDS_MAX; claim->number++)
        if (lock_bytes(claim->file, F_OFD_SETLK, F_WRLCK, place_of(claim->number), 1) >= 0)
            return write_record(claim);
    return -1;
}

static int enter(struct claim *claim)
{
    claim->records = malloc(RECORDS_MAX * sizeof(struct record));
    if (claim->records == NULL || join_others(claim) < 0)
        return -1;
    int result = agree_on_resources(claim) < 0 ? -1 : take_record(claim);
    unlock_all(claim->file);
    return result;
}

/* A user may have only few inotify instances. If there is none left, only the timer is used. */
static int open_set(struct claim *claim)
{
    struct epoll_event event = {.events = EPOLLIN};
    claim->set = epoll_create1(EPOLL_CLOEXEC);
    claim->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    claim->changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (claim->changes >= 0 && epoll_ctl(claim->set, EPOLL_CTL_ADD, claim->changes, &event) < 0)
        return -1;
    return claim->set < 0 || claim->timer < 0 ? -1 : epoll_ctl(claim->set, EPOLL_CTL_ADD, claim->timer, &event);
}

int claim_init(struct claim *claim, const char *path, const struct needs *has, struct error *error)
{
    *claim = (struct claim){.file = -1, .set = -1, .changes = -1, .timer = -1, .watch = -1, .has = *has};
    snprintf(claim->path, sizeof claim->path, "%s", path);
    remove_deserted();
    if (enter(claim) == 0 && open_set(claim) == 0)
        return 0;
    error_set(error, "cannot share the resources of this node by %s: %s", path, strerror(errno));
    claim_fini(claim);
    return -1;
}

static void close_all_of(struct claim *claim)
{
    int *const descriptors[] = {&claim->file, &claim->set, &claim->changes, &claim->timer};
    for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++) {
        if (*descriptors[i] >= 0)
            close(*descriptors[i]);
        *descriptors[i] = -1;
    }
}

void claim_fini(struct claim *claim)
{
    if (claim->file >= 0) {
        claim_end(claim);
        if (lock_all(claim->file) == 0)
            remove_if_deserted(claim->file, claim->path);
    }
    close_all_of(claim);
    free(claim->records);
    claim->records = NULL;
}

static void set_look_timer(const struct claim *claim, long every_ns)
{
    const struct timespec span = {every_ns / 1000000000, every_ns % 1000000000};
    timerfd_settime(claim->timer, 0, &(struct itimerspec){span, span}, NULL);
}

/* Watches the file through its descriptor, because its path may have been removed. */
static void begin_watching(struct claim *claim)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", claim->file);
    if (claim->changes >= 0)
        claim->watch = inotify_add_watch(claim->changes, path, IN_ATTRIB | IN_CLOSE_WRITE);
    claim->is_watching = true;
    set_look_timer(claim, claim->watch >= 0 ? LOOK_SELDOM_NS : LOOK_OFTEN_NS);
}

static void take_changes(const struct claim *claim)
{
    char events[1024];
    while (claim->changes >= 0 && read(claim->changes, events, sizeof events) > 0)
        ;
    while (read(claim->timer, events, sizeof events) > 0)
        ;
}

static void end_watching(struct claim *claim)
{
    if (!claim->is_watching)
        return;
    if (claim->watch >= 0)
        inotify_rm_watch(claim->changes, claim->watch);
    claim->watch = -1;
    claim->is_watching = false;
    set_look_timer(claim, 0);
    take_changes(claim);
}

static int try_to_grant(struct claim *claim)
{
    int64_t left[NEEDS];
    uint64_t taken;
    int records = read_records(claim);
    if (records < 0)
        return -1;
    if (claim->ticket == 0)
        claim->ticket = next_ticket(claim, (unsigned)records);
    count_free(claim, (unsigned)records, left, &taken);
    claim->state = CLAIM_GRANTED;
    for (unsigned i = 0; i < NEEDS; i++)
        if (claim->needs.amount[i] > 0 && (int64_t)claim->needs.amount[i] > left[i])
            claim->state = CLAIM_WAITING;
    claim->gpus = claim->state == CLAIM_GRANTED ? choose_gpus(taken, claim->needs.amount[NEED_GPUS]) : 0;
    return write_record(claim);
}

static int look(struct claim *claim, struct error *error)
{
    int result = lock_all(claim->file);
    if (result == 0) {
        result = try_to_grant(claim);
        unlock_all(claim->file);
    }
    if (result == 0)
        return 0;
    claim->state = CLAIM_NONE;
    return error_set(error, "cannot claim resources of this node by %s: %s", claim->path, strerror(errno));
}

int claim_begin(struct claim *claim, const struct needs *needs, struct error *error)
{
    claim->needs = *needs;
    claim->ticket = 0;
    if (look(claim, error) < 0)
        return -1;
    if (claim->state != CLAIM_WAITING)
        return 0;
    begin_watching(claim);
    return look(claim, error); /* other claims may have ended before the watch began */
}

int claim_advance(struct claim *claim, struct error *error)
{
    if (claim->state == CLAIM_WAITING) {
        take_changes(claim);
        if (look(claim, error) < 0)
            return -1;
    }
    if (claim->state == CLAIM_WAITING)
        return 0;
    end_watching(claim);
    return 1;
}

void claim_end(struct claim *claim)
{
    if (claim->state == CLAIM_NONE)
        return;
    end_watching(claim);
    claim->state = CLAIM_NONE;
    claim->needs = (struct needs){0};
    claim->gpus = 0;
    if (lock_all(claim->file) == 0) {
        write_record(claim);
        unlock_all(claim->file);
    }
    futimens(claim->file, NULL);
}
