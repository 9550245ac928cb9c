/* SPDX-License-Identifier: MIT */
/* Reads the files of parts, an entry at a time: its head, then its block. See parts.h for what is in them. Inside
 * common/results only. */
#pragma once

#include "common/results/parts.h"

/* Part files that are open at once. */
#define PARTS_OPEN_MAX 64

struct parts_reader {
    unsigned streams;
    char folder[PATH_MAX];
    struct part_file *files; /* owned */
    size_t file_count, file_capacity;
    int fd[PARTS_OPEN_MAX]; /* [file modulo PARTS_OPEN_MAX], -1: none */
    uint32_t fd_of[PARTS_OPEN_MAX];
    struct block block;   /* the block that was loaded last */
    unsigned char *bytes; /* its bytes; owned */
    uint64_t room;
    bool is_loaded;
    uint32_t loaded_file; /* where it is from */
    uint64_t loaded_at;
};

void parts_reader_init(struct parts_reader *reader, const char *path, unsigned streams);
void parts_reader_fini(struct parts_reader *reader);

/* Finds the files that are there by now: those that are known keep their places, others follow. Without a folder there
 * are none. -1 with one line. */
int parts_reader_list(struct parts_reader *reader, struct error *error);

/* -1 with one line. */
int parts_reader_size(struct parts_reader *reader, uint32_t file, uint64_t *size, struct error *error);

/* Reads the head at `at` of a file that has `size` bytes. 1; 0 where no whole entry begins there, or not yet; -1 with
 * one line. */
int parts_reader_head(struct parts_reader *reader, uint32_t file, uint64_t at, uint64_t size, struct part_head *head,
                      struct error *error);

/* Loads the block of the entry at `at` into reader->block, where it stays until the next one is loaded. 1; 0 where it
 * is not what its head says; -1 with one line. */
int parts_reader_load(struct parts_reader *reader, uint32_t file, uint64_t at, const struct part_head *head,
                      struct error *error);

static inline uint64_t part_end(uint64_t at, const struct part_head *head)
{
    return at + PART_HEAD_BYTES + head->bytes;
}
