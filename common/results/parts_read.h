/* SPDX-License-Identifier: MIT */
/* Reads the entries of part files, head and block: see parts.h. Internal interface between the files of
 * common/results. */
#pragma once

#include "common/results/parts.h"

#define PARTS_OPEN_MAX 64

struct parts_reader {
    unsigned streams;
    char folder[PATH_MAX];
    struct part_file *files;
    size_t file_count, file_capacity;
    int fd[PARTS_OPEN_MAX];
    uint32_t fd_of[PARTS_OPEN_MAX];
    struct block block;
    unsigned char *bytes;
    uint64_t room;
    bool is_loaded;
    /* index of the file from which the block was loaded; `loaded_at`: offset of the block in this file */
    uint32_t loaded_file;
    uint64_t loaded_at;
};

void parts_reader_init(struct parts_reader *reader, const char *path, unsigned streams);
void parts_reader_fini(struct parts_reader *reader);

/* Lists the files. Files that are known already keep their indices, and new files are appended. If the folder is
 * missing, there are no files. */
int parts_reader_list(struct parts_reader *reader, struct error *error);

int parts_reader_size(struct parts_reader *reader, uint32_t file, uint64_t *size, struct error *error);

/* Reads the head at offset `at` of a file of `size` bytes. Returns 1 on success, 0 if the file has no complete entry
 * there yet, or -1. */
int parts_reader_head(struct parts_reader *reader, uint32_t file, uint64_t at, uint64_t size, struct part_head *head,
                      struct error *error);

/* Loads the block of the entry at `at` into reader->block. The block is valid until the next load. Returns 1 on
 * success, 0 if the block does not match `head`, or -1. */
int parts_reader_load(struct parts_reader *reader, uint32_t file, uint64_t at, const struct part_head *head,
                      struct error *error);

static inline uint64_t part_end(uint64_t at, const struct part_head *head)
{
    return at + PART_HEAD_BYTES + head->bytes;
}
