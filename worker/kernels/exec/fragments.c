/* SPDX-License-Identifier: MIT */
/* Fragments of what tasks write: see fragments.h. */
#include "worker/kernels/exec/fragments.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILE_BYTES (1u << 20)

size_t fragment_read(struct fragment *fragment, const char *bytes, size_t count)
{
    char head[FRAGMENT_HEAD_MAX];
    const size_t most = count < sizeof head - 1 ? count : sizeof head - 1;
    const char *newline = memchr(bytes, '\n', most);
    int end = -1;
    if (newline == NULL)
        return 0;
    const size_t length = (size_t)(newline - bytes);
    memcpy(head, bytes, length);
    head[length] = '\0';
    sscanf(head, "%" SCNu64 " %" SCNu64 " %1u %" SCNu64 " %" SCNu64 "%n", &fragment->task, &fragment->began_ms,
           &fragment->stream, &fragment->offset, &fragment->length, &end);
    const bool is_head =
        end >= 0 && (size_t)end == length && fragment->stream < 2 && fragment->length <= UINT64_MAX - fragment->offset;
    return is_head ? length + 1 : 0;
}

void fragments_init(struct fragments *fragments, const char *folder, unsigned rank)
{
    *fragments = (struct fragments){.rank = rank, .file = -1};
    if (strlen(folder) < sizeof fragments->folder - 24)
        strcpy(fragments->folder, folder);
}

void fragments_fini(struct fragments *fragments)
{
    if (fragments->file >= 0)
        close(fragments->file);
    fragments->file = -1;
}

static void give_up(struct fragments *fragments)
{
    fragments_fini(fragments);
    fragments->folder[0] = '\0';
}

static void begin_file(struct fragments *fragments)
{
    char path[PATH_MAX + 24];
    fragments_fini(fragments);
    do {
        snprintf(path, sizeof path, "%s/%u-%u", fragments->folder, fragments->rank, fragments->number++);
        fragments->file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fragments->file < 0 && errno == EEXIST);
    fragments->bytes = 0;
}

void fragments_add(struct fragments *fragments, const struct fragment *fragment, const char *bytes)
{
    char head[FRAGMENT_HEAD_MAX];
    const bool is_new = fragment->task != fragments->task || fragment->began_ms != fragments->began_ms;
    if (!fragments_are_wanted(fragments))
        return;
    if (fragments->file < 0 || (is_new && fragments->bytes > FILE_BYTES))
        begin_file(fragments);
    fragments->task = fragment->task;
    fragments->began_ms = fragment->began_ms;
    const int length =
        snprintf(head, sizeof head, "%" PRIu64 " %" PRIu64 " %u %" PRIu64 " %" PRIu64 "\n", fragment->task,
                 fragment->began_ms, fragment->stream, fragment->offset, fragment->length);
    const struct iovec parts[] = {{head, (size_t)length}, {(char *)(uintptr_t)bytes, fragment->length}};
    const size_t all = (size_t)length + fragment->length;
    if (fragments->file < 0 || writev(fragments->file, parts, 2) != (ssize_t)all)
        give_up(fragments);
    else
        fragments->bytes += all;
}
