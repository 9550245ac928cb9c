/* SPDX-License-Identifier: MIT */
/* Sockets: see endpoint.h. A Unix socket is bound under a temporary name, listens, and is then linked to its own name.
 * So a socket that refuses connections belongs to a process that has ended, and its name can be taken over. The mode of
 * a socket is set before the socket has a name, which Linux permits. So other users can never connect. */
#include "common/stream/endpoint.h"

#include "common/control/tcp.h"
#include "common/stream/address.h"
#include "common/util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define STREAM_BACKLOG 128
#define NAME_TRIES_MAX 5

_Static_assert(STREAM_PATH_MAX == sizeof((struct sockaddr_un *)0)->sun_path, "the path of a socket");

static void fill_path(struct sockaddr_un *name, const char *path)
{
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(name->sun_path, path, strlen(path) + 1);
}

static bool is_listened_to(const char *path)
{
    struct sockaddr_un name;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    fill_path(&name, path);
    const bool is_alive = fd >= 0 && (connect(fd, (struct sockaddr *)&name, sizeof name) == 0 || errno != ECONNREFUSED);
    if (fd >= 0)
        close(fd);
    return is_alive;
}

static int take_path(const char *made, const char *path, struct error *error)
{
    struct stat status;
    for (int i = 0; i < NAME_TRIES_MAX; i++) {
        if (link(made, path) == 0)
            return 0;
        if (errno != EEXIST)
            return error_set(error, "cannot listen at %s: %s", path, strerror(errno));
        if (lstat(path, &status) == 0 && !S_ISSOCK(status.st_mode))
            return error_set(error, "cannot listen at %s: there is a file of that name, which is no socket", path);
        if (is_listened_to(path))
            return error_set(error, "cannot listen at %s: somebody listens there already", path);
        unlink(path);
    }
    return error_set(error, "cannot listen at %s: others take the name again and again", path);
}

/* Binds the socket to a temporary name in the folder. The path of that name begins with /proc/self/fd, so it is short
 * even if the path of the folder is long. */
static int bind_beside(int fd, int folder, char made[STREAM_PATH_MAX])
{
    struct sockaddr_un name;
    snprintf(made, STREAM_PATH_MAX, "/proc/self/fd/%d/.new-%d-%d", folder, (int)getpid(), fd);
    fill_path(&name, made);
    unlink(made);
    if (fchmod(fd, 0600) < 0 || bind(fd, (struct sockaddr *)&name, sizeof name) < 0)
        return -1;
    return listen(fd, STREAM_BACKLOG);
}

static int listen_at_path(const char *path, struct endpoint_file *file, struct error *error)
{
    char made[STREAM_PATH_MAX], folder_path[STREAM_PATH_MAX];
    const char *slash = strrchr(path, '/');
    struct stat status;
    snprintf(folder_path, sizeof folder_path, "%.*s", slash != NULL ? (int)(slash - path) + 1 : 1,
             slash != NULL ? path : ".");
    const int folder = open(folder_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), result = -1;
    if (folder < 0 || fd < 0 || bind_beside(fd, folder, made) < 0)
        error_set(error, "cannot listen at %s: %s", path, strerror(errno));
    else {
        result = take_path(made, path, error);
        if (result == 0 && stat(made, &status) == 0)
            *file = (struct endpoint_file){status.st_dev, status.st_ino};
        unlink(made);
    }
    if (folder >= 0)
        close(folder);
    if (result == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int endpoint_listen(struct stream_address *address, struct endpoint_file *file, struct error *error)
{
    *file = (struct endpoint_file){0};
    if (!stream_address_is_tcp(address))
        return listen_at_path(address->path, file, error);
    const int fd = tcp_listen(&address->port, error);
    if (fd >= 0)
        listen(fd, STREAM_BACKLOG);
    return fd;
}

void endpoint_unlink(const struct stream_address *address, const struct endpoint_file *file)
{
    struct stat status;
    if (file->inode != 0 && lstat(address->path, &status) == 0 && status.st_dev == file->device &&
        status.st_ino == file->inode)
        unlink(address->path);
}

int endpoint_resolve(struct endpoint_target *target, const struct stream_address *address, struct error *error)
{
    struct addrinfo *found;
    char text[STREAM_ADDRESS_TEXT_MAX];
    *target = (struct endpoint_target){.next = 0};
    if (!stream_address_is_tcp(address)) {
        fill_path((struct sockaddr_un *)&target->address[0], address->path);
        target->size[0] = sizeof(struct sockaddr_un);
        target->count = 1;
        return 0;
    }
    const char *refused = tcp_look_up(&address->port, false, &found);
    stream_address_print(address, text);
    if (refused != NULL)
        return error_set(error, "cannot join at %s: %s", text, refused);
    for (const struct addrinfo *one = found; one != NULL && target->count < ENDPOINT_TARGETS_MAX; one = one->ai_next) {
        memcpy(&target->address[target->count], one->ai_addr, one->ai_addrlen);
        target->size[target->count++] = one->ai_addrlen;
    }
    freeaddrinfo(found);
    return 0;
}

int endpoint_connect(struct endpoint_target *target)
{
    const unsigned i = target->next;
    target->next = (i + 1) % target->count;
    const int fd = socket(target->address[i].ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (connect(fd, (struct sockaddr *)&target->address[i], target->size[i]) == 0 || errno == EINPROGRESS)
        return fd;
    const int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

int endpoint_connected(int fd)
{
    int reason = 0;
    socklen_t size = sizeof reason;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &reason, &size) < 0 ? errno : reason;
}

bool endpoint_is_own(int fd, uid_t *user)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    *user = (uid_t)-1;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return false;
    *user = peer.uid;
    return peer.uid == geteuid();
}

void endpoint_prepare(int fd, bool is_tcp, char name[ENDPOINT_NAME_MAX])
{
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    const int on = 1;
    char host[ENDPOINT_NAME_MAX - 8], port[8];
    strcpy(name, "this machine");
    if (!is_tcp)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (getpeername(fd, (struct sockaddr *)&peer, &size) < 0 ||
        getnameinfo((struct sockaddr *)&peer, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return;
    snprintf(name, ENDPOINT_NAME_MAX, "%s:%s", host, port);
}
