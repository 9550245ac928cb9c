/* SPDX-License-Identifier: MIT */
/* Memory and files of the ranks of a fabric: whose each block is, so that a rank that is killed leaves nothing behind,
 * one that ends in order has freed all, and none frees what MPI still reads or writes. */
#include "tests/seeds/fabric_memory.h"

#include "tests/seeds/fabric_core.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCKS 4096u /* a power of two */
#define FILES  1024

struct block {
    void *bytes; /* NULL: free */
    size_t size;
    unsigned rank;
};

static struct block blocks[BLOCKS];
static unsigned block_count;
static unsigned char owner_of[FILES]; /* rank and 1 */
static const unsigned char *kept;
static size_t kept_bytes;
static bool is_inside;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *old);
int __real_close(int file);
int __real_munmap(void *address, size_t bytes);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *old);
int __wrap_close(int file);
int __wrap_munmap(void *address, size_t bytes);

static unsigned place_of(const void *bytes)
{
    return (unsigned)(((uintptr_t)bytes >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 52) & (BLOCKS - 1);
}

static struct block *find(const void *bytes)
{
    for (unsigned i = place_of(bytes); blocks[i].bytes != NULL; i = (i + 1) & (BLOCKS - 1))
        if (blocks[i].bytes == bytes)
            return &blocks[i];
    return NULL;
}

static void *add(void *bytes, size_t size)
{
    unsigned i = place_of(bytes);
    if (!is_inside || bytes == NULL)
        return bytes;
    if (++block_count > BLOCKS / 2)
        abort();
    while (blocks[i].bytes != NULL)
        i = (i + 1) & (BLOCKS - 1);
    blocks[i] = (struct block){bytes, size, fabric_rank()};
    return bytes;
}

/* Takes a block out, and closes the gap for those that stand behind their place. */
static void drop(struct block *block)
{
    unsigned gap = (unsigned)(block - blocks);
    block_count--;
    for (unsigned i = (gap + 1) & (BLOCKS - 1); blocks[i].bytes != NULL; i = (i + 1) & (BLOCKS - 1)) {
        const unsigned home = place_of(blocks[i].bytes);
        if (((i - home) & (BLOCKS - 1)) < ((i - gap) & (BLOCKS - 1)))
            continue;
        blocks[gap] = blocks[i];
        gap = i;
    }
    blocks[gap].bytes = NULL;
}

static void release(void *bytes)
{
    struct block *block = is_inside && bytes != NULL ? find(bytes) : NULL;
    if (block == NULL)
        return;
    mpi_check_free(block->rank, bytes, block->size);
    memset(bytes, 0xdb, block->size);
    drop(block);
}

void *__wrap_malloc(size_t size)
{
    return add(__real_malloc(size), size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return add(__real_calloc(count, size), count * size);
}

/* Always moves: who has kept the old address is found. */
void *__wrap_realloc(void *old, size_t size)
{
    const struct block *block = is_inside && old != NULL ? find(old) : NULL;
    if (block == NULL)
        return add(__real_realloc(old, size), size);
    void *grown = __wrap_malloc(size);
    if (grown == NULL)
        return NULL;
    memcpy(grown, old, block->size < size ? block->size : size);
    __wrap_free(old);
    return grown;
}

void __wrap_free(void *old)
{
    release(old);
    __real_free(old);
}

int __wrap_close(int file)
{
    if (file >= 0 && file < FILES)
        owner_of[file] = 0;
    return __real_close(file);
}

int __wrap_munmap(void *address, size_t bytes)
{
    const unsigned char *at = address;
    return at >= kept && at < kept + kept_bytes ? 0 : __real_munmap(address, bytes);
}

void memory_enter(bool inside)
{
    is_inside = inside;
}

void memory_keep_mapped(const void *bytes, size_t size)
{
    kept = bytes;
    kept_bytes = size;
}

int memory_own_file(int file)
{
    if (file < 0 || file >= FILES)
        abort();
    owner_of[file] = (unsigned char)(fabric_rank() + 1);
    return file;
}

size_t memory_clear(unsigned rank)
{
    size_t bytes = 0;
    for (int i = 0; i < FILES; i++)
        if (owner_of[i] == rank + 1)
            __wrap_close(i);
    for (unsigned i = 0; i < BLOCKS;) {
        if (blocks[i].bytes == NULL || blocks[i].rank != rank) {
            i++;
            continue;
        }
        bytes += blocks[i].size;
        __real_free(blocks[i].bytes);
        drop(&blocks[i]); /* perhaps another one is at this place now */
    }
    return bytes;
}

void *memory_take(size_t size)
{
    void *bytes = __real_malloc(size > 0 ? size : 1);
    if (bytes == NULL)
        abort();
    return bytes;
}

void memory_give(void *bytes)
{
    __real_free(bytes);
}
