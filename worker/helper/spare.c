/* SPDX-License-Identifier: MIT */
/* Spare helpers: see spare.h. A job is given to the helper in a single message, so that sending never waits. The
 * message carries descriptors: the channel, the bell, the job's folder, and a memory file with the job's words and
 * variables. */
#include "worker/helper/spare.h"

#include "common/os/children.h"
#include "common/os/objects.h"
#include "worker/exec/channel.h"
#include "worker/helper/package.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GIVEN_CHANNEL, GIVEN_BELL, GIVEN_FOLDER, GIVEN_TEXTS, GIVEN_FILES };

/* Data of the message. The memory file has `words` words, followed by `variables` variables. Each ends with a NUL. */
struct given {
    uint32_t words, variables, umask;
};

static struct {
    pid_t pid;
    int socket;
    char folder[PATH_MAX];
    struct helper_program program;
} spare;

static const char *value_in(char *const *vector, const char *name, size_t length)
{
    for (; *vector != NULL; vector++)
        if (strncmp(*vector, name, length) == 0 && (*vector)[length] == '=')
            return *vector + length + 1;
    return NULL;
}

/* True if the Python interpreter or the dynamic loader reads this variable when it starts. False for PYTHONPATH,
 * because the helper applies it when it gets the job. */
static bool is_of_start(const char *variable)
{
    static const char *const prefixes[] = {"PYTHON", "LD_", "LC_", "LANG", "MALLOC_", "GLIBC_", "HDSS_MODULES="};
    bool is = false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        is = is || strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0;
    return is && strncmp(variable, "PYTHONPATH=", strlen("PYTHONPATH=")) != 0;
}

static bool has_same(char *const *vector, char *const *other)
{
    for (; *vector != NULL; vector++) {
        const char *equals = strchr(*vector, '=');
        if (equals == NULL || !is_of_start(*vector))
            continue;
        const char *value = value_in(other, *vector, (size_t)(equals - *vector));
        if (value == NULL || strcmp(value, equals + 1) != 0)
            return false;
    }
    return true;
}

static void forget_spare(void)
{
    close(spare.socket);
    helper_program_fini(&spare.program);
    spare.pid = 0;
}

static bool spare_has_ended(void)
{
    int status;
    if (waitpid(spare.pid, &status, WNOHANG) == 0)
        return false;
    children_forget(spare.pid);
    forget_spare();
    return true;
}

void spare_keep(void)
{
    static char is_spare[] = HELPER_IS_SPARE;
    char *const words[] = {is_spare, spare.folder};
    char unused[HDSS_ERROR_MAX];
    int ends[2];
    const char *given = getenv(SPARE_VARIABLE);
    if (given != NULL && spare.folder[0] == '\0')
        snprintf(spare.folder, sizeof spare.folder, "%s", given);
    if (spare.folder[0] != '/' || (spare.pid > 0 && !spare_has_ended()))
        return;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return;
    spare.socket = ends[0];
    if (helper_program_init(&spare.program, 2, words, NULL) == 0) {
        const pid_t pid = helper_program_begin(&spare.program, ends[1], ends[1], unused);
        spare.pid = pid > 0 ? pid : 0;
    }
    close(ends[1]);
    if (spare.pid > 0)
        children_note(spare.pid);
    else
        forget_spare();
}

static bool write_texts(int file, char *const *texts, uint32_t *count)
{
    for (*count = 0; texts[*count] != NULL; ++*count) {
        const size_t size = strlen(texts[*count]) + 1;
        if (write(file, texts[*count], size) != (ssize_t)size)
            return false;
    }
    return true;
}

static bool send_job(struct helper_program *program, const int files[GIVEN_FILES])
{
    struct given given = {.umask = program->surroundings->umask};
    union {
        char bytes[CMSG_SPACE(sizeof(int) * GIVEN_FILES)];
        struct cmsghdr head;
    } control = {{0}};
    struct iovec data = {&given, sizeof given};
    const struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (!write_texts(files[GIVEN_TEXTS], program->argv, &given.words) ||
        !write_texts(files[GIVEN_TEXTS], environment_vector(&program->environment), &given.variables))
        return false;
    *head = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int) * GIVEN_FILES)};
    memcpy(CMSG_DATA(head), files, sizeof(int) * GIVEN_FILES);
    return sendmsg(spare.socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof given;
}

static void note_folder(char *const *variables)
{
    const char *path = value_in(variables, "PYTHONPATH", strlen("PYTHONPATH"));
    const size_t length = path != NULL ? strcspn(path, ":") : 0;
    if (length > 0 && length < sizeof spare.folder)
        snprintf(spare.folder, sizeof spare.folder, "%.*s", (int)length, path);
}

static bool is_of_package(char *const *words)
{
    while (*words != NULL && package_find(*words) == NULL)
        words++;
    return *words != NULL;
}

pid_t spare_give(struct helper_program *program, int file, int bell)
{
    char *const *variables = environment_vector(&program->environment);
    if (program->surroundings == NULL || !is_of_package(program->argv))
        return 0;
    note_folder(variables);
    if (spare.pid == 0 || spare_has_ended())
        return 0;
    char *const *own = environment_vector(&spare.program.environment);
    const int texts = memfd_create("hdss-job", MFD_CLOEXEC),
              files[] = {file, bell, program->surroundings->folder, texts};
    cpu_set_t cores;
    if (texts < 0 || !has_same(own, variables) || !has_same(variables, own) || !send_job(program, files)) {
        close(texts);
        return 0;
    }
    close(texts);
    const pid_t pid = spare.pid;
    if (sched_getaffinity(0, sizeof cores, &cores) == 0)
        sched_setaffinity(pid, sizeof cores, &cores);
    forget_spare();
    return pid;
}

/* The rest of this file runs in the helper. */

typedef int python_warm(const char *folder, char error[HDSS_ERROR_MAX]);

static bool receive_job(int socket, struct given *given, int files[GIVEN_FILES])
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * GIVEN_FILES)];
        struct cmsghdr head;
    } control = {{0}};
    struct iovec data = {given, sizeof *given};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t size;
    do
        size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (size < 0 && errno == EINTR);
    const struct cmsghdr *head = size == sizeof *given ? CMSG_FIRSTHDR(&message) : NULL;
    if (head == NULL || head->cmsg_len != CMSG_LEN(sizeof(int) * GIVEN_FILES))
        return false;
    memcpy(files, CMSG_DATA(head), sizeof(int) * GIVEN_FILES);
    return true;
}

static char **take_texts(char **at, const char *end, uint32_t count)
{
    char **texts = calloc((size_t)count + 1, sizeof *texts);
    for (uint32_t i = 0; texts != NULL && i < count; i++) {
        texts[i] = *at;
        char *text_end = *at < end ? memchr(*at, '\0', (size_t)(end - *at)) : NULL;
        if (text_end == NULL)
            _exit(EXIT_STATUS_FAILED);
        *at = text_end + 1;
    }
    return texts;
}

void spare_wait(int socket, const char *folder, int *argc, char ***argv)
{
    static const struct object_kind kind = {.what = "kernel", .other = "", .for_changed = ""};
    char line[HDSS_ERROR_MAX];
    int files[GIVEN_FILES];
    struct given given;
    struct stat status;
    python_warm *warm = (python_warm *)object_find_python(&kind, OBJECT_PYTHON "hdss", "hdss_python_warm", NULL);
    if (warm == NULL || warm(folder, line) < 0 || !receive_job(socket, &given, files))
        _exit(EXIT_STATUS_DONE);
    char *texts = fstat(files[GIVEN_TEXTS], &status) == 0
                      ? mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, files[GIVEN_TEXTS], 0)
                      : MAP_FAILED;
    if (texts == MAP_FAILED || fchdir(files[GIVEN_FOLDER]) < 0)
        _exit(EXIT_STATUS_FAILED);
    char *at = texts, *end = texts + status.st_size;
    char **words = take_texts(&at, end, given.words), **variables = take_texts(&at, end, given.variables);
    if (words == NULL || variables == NULL)
        _exit(EXIT_STATUS_FAILED);
    umask((mode_t)given.umask);
    *argc = (int)given.words;
    *argv = words;
    environ = variables;
    /* A descriptor may already have a number that another one must get. So all descriptors first move to higher
     * numbers. */
    for (unsigned i = 0; i < GIVEN_FILES; i++)
        files[i] = fcntl(files[i], F_DUPFD, CHANNEL_BELL + 1 + GIVEN_FILES);
    if (dup2(files[GIVEN_CHANNEL], CHANNEL_FILE) < 0 || dup2(files[GIVEN_BELL], CHANNEL_BELL) < 0)
        _exit(EXIT_STATUS_FAILED);
}
