/* SPDX-License-Identifier: MIT */
/* The folder of the control sockets: one for each user and machine, accessible only to the user.
 *
 * HDSS_CONTROL_DIR names the folder. If it is not set, the folder is `hdss` in XDG_RUNTIME_DIR if that belongs to the
 * user, or `hdss-UID` in TMPDIR, or `hdss-UID` in /tmp. The first of these in which a socket can be created is used. In
 * TMPDIR and /tmp other users may have created a folder or link of that name. So the folder must not be a link, must
 * belong to this user, and must grant no rights to others. TMPDIR and /tmp usually have the sticky bit, so others
 * cannot replace the folder afterwards. Folders on file systems that machines share are skipped: a socket works only on
 * its own machine, and would look abandoned on others.
 *
 * A socket first gets a temporary name. It gets its final name only after it listens. So if a socket with a final name
 * refuses connections, its process was killed, and no process will serve the socket again. Any process that finds such
 * a socket removes it. */
#include "common/control/socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define BACKLOG 16
/* Age in seconds after which a socket that still has its temporary name is removed. */
#define UNNAMED_MAX_S 600
/* Number of attempts to create a socket in the folder. An attempt fails if another run removes the empty folder at the
 * same time. */
#define MAKES_MAX     3
#define NAME_IS_TAKEN (-2)

_Static_assert(CONTROL_PATH_MAX == sizeof((struct sockaddr_un *)0)->sun_path, "the path of a socket");

static void add_folder(struct control_folders *folders, const char *base, bool is_own)
{
    char *path = folders->path[folders->count];
    const int length = is_own ? snprintf(path, CONTROL_PATH_MAX, "%s/hdss", base)
                              : snprintf(path, CONTROL_PATH_MAX, "%s/hdss-%u", base, (unsigned)geteuid());
    if (base[0] != '/' || length >= CONTROL_PATH_MAX)
        return;
    for (unsigned i = 0; i < folders->count; i++)
        if (strcmp(folders->path[i], path) == 0)
            return;
    folders->count++;
}

void control_folders(struct control_folders *folders)
{
    const char *only = getenv("HDSS_CONTROL_DIR"), *runtime = getenv("XDG_RUNTIME_DIR"), *temporary = getenv("TMPDIR");
    struct stat status;
    folders->count = 0;
    if (only != NULL) {
        add_folder(folders, only, false);
        return;
    }
    if (runtime != NULL && stat(runtime, &status) == 0 && status.st_uid == geteuid())
        add_folder(folders, runtime, true);
    if (temporary != NULL)
        add_folder(folders, temporary, false);
    add_folder(folders, "/tmp", false);
}

static bool is_on_shared_file_system(int folder)
{
    /* the types of NFS, Lustre, GPFS, BeeGFS, Ceph, SMB 1, and SMB 2 or later */
    static const unsigned shared[] = {0x6969, 0x0bd00bd0, 0x47504653, 0x19830326, 0x00c36400, 0xff534d42, 0xfe534d42};
    struct statfs system;
    if (fstatfs(folder, &system) < 0)
        return true;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if ((unsigned)system.f_type == shared[i])
            return true;
    return false;
}

int control_folder_open(const char *path, bool make, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    struct stat status;
    error->text[0] = '\0';
    if (make && mkdir(path, 0700) < 0 && errno != EEXIST)
        return error_set(error, "cannot make the folder %s: %s", path, strerror(errno));
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return errno == ENOENT && !make ? -1 : error_set(error, "%s: %s", path, strerror(errno));
    if (fstat(folder, &status) < 0 || status.st_uid != geteuid())
        error_set(error, "%s belongs to another user", path);
    else if ((status.st_mode & 077) != 0)
        error_set(error, "%s has the mode %04o; accepted: 0700", path, (unsigned)status.st_mode & 07777);
    else if (is_on_shared_file_system(folder))
        error_set(error, "%s is on a file system that other machines may have, too", path);
    else
        return folder;
    close(folder);
    return -1;
}

static int socket_address(struct sockaddr_un *address, const char *path)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address->sun_path, path);
    return 0;
}

/* The mode of the socket is set before it gets its name, so nobody can open it with another mode. */
static int bind_and_listen(const char *path)
{
    struct sockaddr_un address;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (socket_address(&address, path) == 0 && fchmod(fd, 0600) == 0) {
        unlink(path);
        if (bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 && chmod(path, 0600) == 0 &&
            listen(fd, BACKLOG) == 0)
            return fd;
    }
    const int reason = errno;
    unlink(path);
    close(fd);
    errno = reason;
    return -1;
}

static bool note_file(struct control_socket *made)
{
    struct stat status;
    if (lstat(made->path, &status) < 0)
        return false;
    made->device = status.st_dev;
    made->inode = status.st_ino;
    return true;
}

static int listen_in(const char *folder, struct control_socket *made, const char *name, struct error *error)
{
    char unnamed[CONTROL_PATH_MAX];
    if (snprintf(made->path, sizeof made->path, "%s/%s" CONTROL_ENDING, folder, name) >= (int)sizeof made->path ||
        snprintf(unnamed, sizeof unnamed, "%s/.new-%d", folder, (int)getpid()) >= (int)sizeof unnamed)
        return error_set(error, "%s is too long for the name of a socket, which has %d bytes at most", folder,
                         CONTROL_PATH_MAX - 1);
    made->fd = bind_and_listen(unnamed);
    const bool is_named = made->fd >= 0 && link(unnamed, made->path) == 0 && note_file(made);
    const int reason = errno;
    if (made->fd >= 0)
        unlink(unnamed);
    if (is_named)
        return 0;
    error_set(error, "cannot make the socket %s: %s", made->path, strerror(reason));
    if (made->fd >= 0)
        close(made->fd);
    return reason == EEXIST ? NAME_IS_TAKEN : -1;
}

bool control_is_named(const struct control_socket *made)
{
    struct stat status;
    return lstat(made->path, &status) == 0 && status.st_dev == made->device && status.st_ino == made->inode;
}

void control_unlink(struct control_socket *made)
{
    char folder[CONTROL_PATH_MAX];
    if (made->path[0] == '\0')
        return;
    unlink(made->path);
    strcpy(folder, made->path);
    *strrchr(folder, '/') = '\0';
    rmdir(folder);
    made->path[0] = '\0';
}

int control_connect(const char *path)
{
    struct sockaddr_un address;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (socket_address(&address, path) == 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    const int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

/* Only a refused connection means that no process listens. If a process listens but its backlog is full, connecting
 * fails with another error. */
static bool is_served(const char *path)
{
    const int fd = control_connect(path);
    const bool served = fd >= 0 || errno != ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return served;
}

static void clear_unnamed(int folder, const char *name)
{
    struct stat status;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(status.st_mode) &&
        time(NULL) - status.st_mtime > UNNAMED_MAX_S)
        unlinkat(folder, name, 0);
}

static void remove_left_over(int folder, const char *file, const char *name)
{
    char token[CONTROL_NAME_MAX + sizeof CONTROL_TOKEN_ENDING];
    snprintf(token, sizeof token, "%s" CONTROL_TOKEN_ENDING, name);
    unlinkat(folder, token, 0);
    unlinkat(folder, file, 0);
}

static void each_of(const char *path, int folder, bool unasked,
                    void (*each)(void *context, const char *path, const char *name), void *context)
{
    char socket_path[CONTROL_PATH_MAX], name[CONTROL_NAME_MAX];
    const struct dirent *entry;
    struct stat status;
    DIR *open = fdopendir(folder);
    if (open == NULL)
        close(folder);
    while (open != NULL && (entry = readdir(open)) != NULL) {
        const size_t length = strlen(entry->d_name), ending = strlen(CONTROL_ENDING);
        if (strncmp(entry->d_name, ".new-", 5) == 0)
            clear_unnamed(folder, entry->d_name);
        if (entry->d_name[0] == '.' || length <= ending || length - ending >= sizeof name ||
            strcmp(entry->d_name + length - ending, CONTROL_ENDING) != 0 ||
            fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISSOCK(status.st_mode) ||
            snprintf(socket_path, sizeof socket_path, "%s/%s", path, entry->d_name) >= (int)sizeof socket_path)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(length - ending), entry->d_name);
        if (unasked || is_served(socket_path))
            each(context, socket_path, name);
        else
            remove_left_over(folder, entry->d_name, name);
    }
    if (open != NULL)
        closedir(open);
}

static void each_in_all(bool unasked, void (*each)(void *context, const char *path, const char *name), void *context)
{
    struct control_folders folders;
    struct error error;
    control_folders(&folders);
    for (unsigned i = 0; i < folders.count; i++) {
        const int folder = control_folder_open(folders.path[i], false, &error);
        if (folder < 0)
            continue;
        each_of(folders.path[i], folder, unasked, each, context);
        if (!unasked)
            rmdir(folders.path[i]);
    }
}

void control_each(void (*each)(void *context, const char *path, const char *name), void *context)
{
    each_in_all(false, each, context);
}

void control_each_unasked(void (*each)(void *context, const char *path, const char *name), void *context)
{
    each_in_all(true, each, context);
}

static void pass_by(void *context, const char *path, const char *name)
{
    (void)context, (void)path, (void)name;
}

void control_clear(void)
{
    control_each(pass_by, NULL);
}

int control_listen(struct control_socket *made, const char *name, struct error *error)
{
    struct control_folders folders;
    control_clear();
    control_folders(&folders);
    for (unsigned i = 0; i < folders.count * MAKES_MAX; i++) {
        const char *path = folders.path[i / MAKES_MAX];
        const int folder = control_folder_open(path, true, error);
        const int result = folder >= 0 ? listen_in(path, made, name, error) : -1;
        if (folder >= 0)
            close(folder);
        if (result == 0)
            return 0;
        if (result == NAME_IS_TAKEN)
            break;
    }
    *made = (struct control_socket){.fd = -1};
    return -1;
}

bool control_user_may(uid_t user, uid_t own)
{
    return user == own || user == 0;
}

bool control_peer_may(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && control_user_may(peer.uid, geteuid());
}
