/* SPDX-License-Identifier: MIT */
/* The folder of a set: see folder.h. */
#include "supermaster/set/folder.h"

#include "common/os/files.h"
#include "supermaster/set/queue_journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME_MAX  64
#define FOLDER_OF_JOBS "jobs"
#define FILE_OF_QUEUE  "queue"

static int check_length(int length, struct error *error)
{
    return length >= 0 && length < PATH_MAX ? 0 : error_set(error, "the path of the set's folder is too long");
}

static int make_absolute(const char *given, char path[PATH_MAX], struct error *error)
{
    char here[PATH_MAX] = "";
    if (given[0] != '/' && getcwd(here, sizeof here) == NULL)
        return error_set(error, "cannot tell the working directory: %s", strerror(errno));
    return check_length(snprintf(path, PATH_MAX, "%s%s%s", here, given[0] != '/' ? "/" : "", given), error);
}

static int find_path(const struct serve_options *options, char path[PATH_MAX], struct error *error)
{
    const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (options->state[0] != '\0')
        return make_absolute(options->state, path, error);
    if (base != NULL && base[0] == '/')
        return check_length(snprintf(path, PATH_MAX, "%s/hdss/%s", base, options->name), error);
    if (home != NULL && home[0] == '/')
        return check_length(snprintf(path, PATH_MAX, "%s/.local/state/hdss/%s", home, options->name), error);
    return error_set(error, "neither XDG_STATE_HOME nor HOME says where the set's folder can be; accepted: --state "
                            "FOLDER");
}

/* The first line of a task list, which names the columns. A list of a set has one column, whose name is 1. */
static const char list_head[] = "1\n";

static void name_list(uint64_t job, char name[FILE_NAME_MAX])
{
    snprintf(name, FILE_NAME_MAX, FOLDER_OF_JOBS "/%" PRIu64 ".list", job);
}

const char *set_folder_list(const struct set_folder *folder, uint64_t job, char path[PATH_MAX])
{
    char name[FILE_NAME_MAX];
    name_list(job, name);
    if (snprintf(path, PATH_MAX, "%s/%s", folder->path, name) >= PATH_MAX)
        path[0] = '\0';
    return path;
}

int set_folder_open_list(const struct set_folder *folder, uint64_t job, bool anew, uint64_t *bytes)
{
    char name[FILE_NAME_MAX];
    struct stat status;
    name_list(job, name);
    const int file = openat(folder->fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (anew ? O_CREAT | O_TRUNC : 0), 0600);
    if (file < 0)
        return -1;
    if ((!anew || (fchmod(file, 0600) == 0 && file_write_at(file, list_head, strlen(list_head), 0) == 0)) &&
        fstat(file, &status) == 0) {
        *bytes = (uint64_t)status.st_size;
        return file;
    }
    close(file);
    return -1;
}

void set_folder_remove_list(const struct set_folder *folder, uint64_t job)
{
    char name[FILE_NAME_MAX];
    name_list(job, name);
    unlinkat(folder->fd, name, 0);
}

static int make_empty_list(const struct set_folder *folder, struct error *error)
{
    uint64_t bytes;
    const int file = set_folder_open_list(folder, 0, true, &bytes);
    if (file < 0)
        return error_set(error, "cannot write %.300s/jobs/0.list: %s", folder->path, strerror(errno));
    close(file);
    return 0;
}

int set_folder_open(struct set_folder *folder, const struct serve_options *options, struct error *error)
{
    folder->fd = -1;
    if (find_path(options, folder->path, error) < 0 ||
        check_length(snprintf(folder->queue_path, PATH_MAX, "%s/" FILE_OF_QUEUE, folder->path), error) < 0 ||
        check_length((int)strlen(folder->path) + FILE_NAME_MAX, error) < 0 ||
        file_make_folders(folder->path, error) < 0)
        return -1;
    folder->fd = file_open_own_folder(folder->path, error);
    if (folder->fd < 0)
        return -1;
    if (mkdirat(folder->fd, FOLDER_OF_JOBS, 0700) < 0 && errno != EEXIST)
        return error_set(error, "cannot make the folder %.300s/" FOLDER_OF_JOBS ": %s", folder->path, strerror(errno));
    return make_empty_list(folder, error);
}

void set_folder_close(struct set_folder *folder)
{
    if (folder->fd >= 0)
        close(folder->fd);
    folder->fd = -1;
}

static void name_printed(char name[FILE_NAME_MAX], uint64_t job, enum control_stream stream)
{
    snprintf(name, FILE_NAME_MAX, FOLDER_OF_JOBS "/%" PRIu64 ".%s", job, stream == CONTROL_ERR ? "err" : "out");
}

static int open_printed(const struct set_folder *folder, uint64_t job, enum control_stream stream, int flags)
{
    char name[FILE_NAME_MAX];
    name_printed(name, job, stream);
    return openat(folder->fd, name, flags | O_CLOEXEC, 0600);
}

void set_folder_remove(const struct set_folder *folder, uint64_t job)
{
    char name[FILE_NAME_MAX];
    for (enum control_stream stream = CONTROL_OUT; stream <= CONTROL_ERR; stream++) {
        name_printed(name, job, stream);
        unlinkat(folder->fd, name, 0);
    }
    set_folder_remove_list(folder, job);
}

/* Returns the number of the job to which the file belongs. Returns 0 if no job has a file of this name. */
static uint64_t job_of(const char *file)
{
    char name[FILE_NAME_MAX];
    const uint64_t job = strtoull(file, NULL, 10);
    name_list(job, name);
    if (strcmp(name + strlen(FOLDER_OF_JOBS "/"), file) == 0)
        return job;
    for (enum control_stream stream = CONTROL_OUT; stream <= CONTROL_ERR; stream++) {
        name_printed(name, job, stream);
        if (strcmp(name + strlen(FOLDER_OF_JOBS "/"), file) == 0)
            return job;
    }
    return 0;
}

static DIR *open_entries(const struct set_folder *folder, const char *name)
{
    const int fd = openat(folder->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    if (entries == NULL && fd >= 0)
        close(fd);
    return entries;
}

static bool keeps_damaged_queue(const struct set_folder *folder)
{
    static const char name[] = FILE_OF_QUEUE QUEUE_JOURNAL_DAMAGED;
    DIR *entries = open_entries(folder, ".");
    const struct dirent *entry;
    bool keeps = false;
    while (entries != NULL && !keeps && (entry = readdir(entries)) != NULL)
        keeps = strncmp(entry->d_name, name, strlen(name)) == 0;
    if (entries != NULL)
        closedir(entries);
    return keeps;
}

uint32_t set_folder_clear(const struct set_folder *folder, const struct queue *queue, bool anew)
{
    const bool keeps_all = keeps_damaged_queue(folder);
    DIR *jobs = open_entries(folder, FOLDER_OF_JOBS);
    const struct dirent *entry;
    uint32_t newest = 0;
    while (jobs != NULL && (entry = readdir(jobs)) != NULL) {
        const uint64_t number = job_of(entry->d_name);
        const uint32_t job = number <= UINT32_MAX ? (uint32_t)number : 0;
        if (number == 0)
            continue;
        if (job > 0 && (keeps_all || queue_find(queue, job) != NULL || (!anew && job > queue->newest)))
            newest = job > newest ? job : newest;
        else
            unlinkat(dirfd(jobs), entry->d_name, 0);
    }
    if (jobs != NULL)
        closedir(jobs);
    return newest;
}

int set_folder_read(const struct set_folder *folder, uint64_t job, enum control_stream stream)
{
    return open_printed(folder, job, stream, O_RDONLY);
}

int set_folder_write(const struct set_folder *folder, uint64_t job, enum control_stream stream, bool goes_on)
{
    const int file = open_printed(folder, job, stream, O_WRONLY | O_CREAT | (goes_on ? O_APPEND : O_TRUNC));
    if (file >= 0)
        fchmod(file, 0600); /* this process may have the umask of another job */
    return file;
}
