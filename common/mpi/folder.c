/* SPDX-License-Identifier: MIT */
/* The folder of a node for the sockets of the doorbells. If /dev/shm cannot be used, the shared memory is a file in
 * this folder too. Only the user of the run has access to it.
 *
 * The folder is created under XDG_RUNTIME_DIR (if that belongs to this user), TMPDIR or /tmp. The first of these is
 * chosen in which a socket can be bound: some file systems have no sockets, and the name of a socket must be short. If
 * none of them is writable, as in a minimal container, the folder is created in the working directory. A rank that
 * leaves removes its socket, and the last rank removes the folder. A killed rank does not remove its socket, so the
 * folder stays. The last rank that leaves without the others then removes the folder. If it does not, the launching
 * command does, or the next run of this user on the node.
 *
 * A folder of an earlier run is removed if no process has any of its sockets open. connect() shows whether a process
 * has a datagram socket open, even across namespaces, but only on the same system. Nodes may share a file system, so
 * the folder's name contains the boot number of its system, and other systems do not touch the folder. A new folder has
 * no socket yet. So a folder without sockets is removed only if it is old or has the mode MODE_OF_USED. A folder gets
 * this mode after its first socket is bound. */
#include "common/mpi/folder.h"

#include "common/os/boot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define EMPTY_MAX_S 600

#define MODE_OF_USED (S_ISVTX | S_IRWXU)

/* Name of the memory's file if it is in the folder. It is a number, like the name of a socket, so the file is removed
 * with the sockets. No rank has this number. */
#define MEMORY_NAME "4294967295"

_Static_assert(FOLDER_MAX + sizeof "/4294967295" <= sizeof((struct sockaddr_un *)0)->sun_path, "the name of a socket");

static void socket_address(const char *folder, unsigned index, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof address->sun_path, "%s/%u", folder, index);
}

static int new_socket(void)
{
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

int folder_bind(const char *folder, unsigned index, struct error *error)
{
    struct sockaddr_un address;
    int bell = new_socket();
    socket_address(folder, index, &address);
    unlink(address.sun_path);
    if (bell >= 0 && bind(bell, (struct sockaddr *)&address, sizeof address) == 0 && chmod(address.sun_path, 0600) == 0)
        return bell;
    error_set(error, "cannot make the socket %s: %s", address.sun_path, strerror(errno));
    if (bell >= 0)
        close(bell);
    return -1;
}

bool folder_ring(const char *folder, int bell, unsigned index)
{
    struct sockaddr_un address;
    socket_address(folder, index, &address);
    /* sendto() fails if the queue of the socket is full. This counts as success, because the queued bytes will wake the
     * rank. */
    return sendto(bell, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&address, sizeof address) == 1 ||
           (errno != ENOENT && errno != ECONNREFUSED);
}

/* Path of the file that holds the shared memory. It is in /dev/shm, because other file systems may write it to a disk.
 * If `inside` is set, the file is in the folder, because /dev/shm could not be used. */
static void memory_path(const char *folder, bool inside, char path[PATH_MAX])
{
    if (inside)
        snprintf(path, PATH_MAX, "%s/" MEMORY_NAME, folder);
    else
        snprintf(path, PATH_MAX, "/dev/shm%s", strrchr(folder, '/'));
}

static int open_memory(const char *folder, bool make, bool inside, size_t bytes, char path[PATH_MAX])
{
    struct stat status;
    memory_path(folder, inside, path);
    int file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | (make ? O_CREAT | O_EXCL : 0), 0600);
    if (file < 0)
        return -1;
    if (make ? posix_fallocate(file, 0, (off_t)bytes) == 0
             : fstat(file, &status) == 0 && status.st_uid == geteuid() && (size_t)status.st_size >= bytes)
        return file;
    if (make)
        unlink(path);
    close(file);
    errno = make ? ENOSPC : EPERM;
    return -1;
}

void *folder_map(const char *folder, size_t bytes, bool make, bool *inside, struct error *error)
{
    char path[PATH_MAX];
    if (make)
        *inside = false;
    int file = open_memory(folder, make, *inside, bytes, path);
    if (file < 0 && make) {
        *inside = true;
        file = open_memory(folder, make, *inside, bytes, path);
    }
    void *memory = file >= 0 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (memory == MAP_FAILED)
        error_set(error, "cannot share memory by %s: %s", path, strerror(errno));
    if (file >= 0)
        close(file);
    return memory != MAP_FAILED ? memory : NULL;
}

void folder_unmap_name(const char *folder, bool inside)
{
    char path[PATH_MAX];
    memory_path(folder, inside, path);
    unlink(path);
}

static bool is_answered(int bell, const char *folder, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", folder, name);
    bool fits = length > 0 && (size_t)length < sizeof address.sun_path;
    return !fits || connect(bell, (struct sockaddr *)&address, sizeof address) == 0 ||
           (errno != ECONNREFUSED && errno != ENOENT);
}

/* The name of each socket is a number. If a folder contains a file with any other name, the folder is not removed. */
static bool is_bell_name(const char *name)
{
    return name[0] != '\0' && strspn(name, "0123456789") == strlen(name);
}

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool is_deserted(DIR *open, const char *folder, unsigned *sockets)
{
    const struct dirent *entry;
    int bell = new_socket();
    bool deserted = bell >= 0;
    *sockets = 0;
    while (deserted && (entry = readdir(open)) != NULL) {
        if (is_dot(entry->d_name))
            continue;
        deserted = is_bell_name(entry->d_name) && !is_answered(bell, folder, entry->d_name);
        ++*sockets;
    }
    if (bell >= 0)
        close(bell);
    return deserted;
}

static void remove_sockets(DIR *open)
{
    const struct dirent *entry;
    rewinddir(open);
    while ((entry = readdir(open)) != NULL)
        if (is_bell_name(entry->d_name))
            unlinkat(dirfd(open), entry->d_name, 0);
}

/* Does the folder belong to this user, and does it have one of the two modes that folder_make() sets? Sets `*is_used`
 * to whether the folder has held a socket or is old. */
static bool folder_is_ours(DIR *open, bool *is_used)
{
    struct stat status;
    if (fstat(dirfd(open), &status) < 0)
        return false;
    const mode_t mode = status.st_mode & 07777;
    *is_used = mode == MODE_OF_USED || time(NULL) - status.st_mtime > EMPTY_MAX_S;
    return status.st_uid == geteuid() && (mode == S_IRWXU || mode == MODE_OF_USED);
}

void folder_clear(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *open = fd >= 0 ? fdopendir(fd) : NULL;
    bool is_used;
    unsigned sockets;
    if (open == NULL) {
        if (fd >= 0)
            close(fd);
        return;
    }
    if (folder_is_ours(open, &is_used) && is_deserted(open, folder, &sockets) && (sockets > 0 || is_used)) {
        remove_sockets(open);
        folder_unmap_name(folder, false);
        rmdir(folder);
    }
    closedir(open);
}

static void clear_old(const char *base, const char *prefix)
{
    char path[PATH_MAX];
    const struct dirent *entry;
    DIR *open = opendir(base);
    while (open != NULL && (entry = readdir(open)) != NULL)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            (size_t)snprintf(path, sizeof path, "%s/%s", base, entry->d_name) < sizeof path)
            folder_clear(path);
    if (open != NULL)
        closedir(open);
}

static void name_prefix(char *prefix, size_t size)
{
    char boot[BOOT_NAME_MAX];
    boot_name(boot);
    snprintf(prefix, size, "hdss-%s-", boot);
}

static int make_under(const char *base, char folder[FOLDER_MAX], struct error *error)
{
    char prefix[BOOT_NAME_MAX + sizeof "hdss--"];
    name_prefix(prefix, sizeof prefix);
    if (snprintf(folder, FOLDER_MAX, "%s/%sXXXXXX", base, prefix) >= FOLDER_MAX)
        return error_set(error, "%s is too long for the name of a socket, which has %zu bytes at most", base,
                         sizeof((struct sockaddr_un *)0)->sun_path - 1);
    clear_old(base, prefix);
    if (mkdtemp(folder) == NULL)
        return error_set(error, "cannot make a folder in %s: %s", base, strerror(errno));
    int bell = folder_bind(folder, 0, error);
    if (bell >= 0) {
        (void)chmod(folder, MODE_OF_USED);
        return bell;
    }
    folder_leave(folder, 0);
    return -1;
}

/* Returns NULL if XDG_RUNTIME_DIR belongs to another user, which may happen after su. */
static const char *own_runtime_folder(void)
{
    const char *base = getenv("XDG_RUNTIME_DIR");
    struct stat status;
    return base != NULL && stat(base, &status) == 0 && status.st_uid == geteuid() ? base : NULL;
}

struct bases {
    const char *path[3];
    unsigned count;
    char here[PATH_MAX];
};

static void list_bases(struct bases *bases)
{
    const char *const all[] = {own_runtime_folder(), getenv("TMPDIR"), "/tmp"};
    bool is_any_writable = false;
    bases->count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] != NULL && all[i][0] == '/') {
            bases->path[bases->count++] = all[i];
            is_any_writable |= access(all[i], W_OK) == 0;
        }
    if (!is_any_writable && realpath(".", bases->here) != NULL)
        bases->path[bases->count - 1] = bases->here;
}

void folder_clear_all(void)
{
    struct bases bases;
    char prefix[BOOT_NAME_MAX + sizeof "hdss--"];
    name_prefix(prefix, sizeof prefix);
    list_bases(&bases);
    for (unsigned i = bases.count; i > 0; i--)
        clear_old(bases.path[i - 1], prefix);
}

int folder_make(char folder[FOLDER_MAX], struct error *error)
{
    struct bases bases;
    list_bases(&bases);
    for (unsigned i = 0; i < bases.count; i++) {
        int bell = make_under(bases.path[i], folder, error);
        if (bell >= 0)
            return bell;
    }
    folder[0] = '\0';
    return -1;
}

void folder_leave(const char *folder, unsigned index)
{
    struct sockaddr_un address;
    socket_address(folder, index, &address);
    unlink(address.sun_path);
    /* rmdir() fails while the folder contains sockets of other ranks. If a rank was killed before it mapped the memory,
     * the name of the memory has not been removed yet. */
    if (rmdir(folder) == 0)
        folder_unmap_name(folder, false);
}
