/* SPDX-License-Identifier: MIT */
/* Template of the vector variants of spin.h. It has no include guard: the including file defines LANES and
 * VECTOR_TARGET, and this file undefines them.
 *
 * A block is processed in four steps: the rows of the cells of its points, the roots of the squared distances (a
 * separate loop, which the compiler vectorizes), the cells, and the counts. There are no branches, so points that are
 * not seen are counted, too. They are counted by one cell for each position in a vector, and at the end their number is
 * subtracted from that cell. Indices of cells are below 2^24 and are computed as floats, because few machines multiply
 * vectors of integers quickly. */

#define floats     VECTOR_NAME(spin_floats)
#define whole      VECTOR_NAME(spin_whole)
#define PER_VECTOR (2 * LANES)

typedef float floats __attribute__((vector_size(LANES * 8)));
typedef int32_t whole __attribute__((vector_size(LANES * 8)));

VECTOR_INLINE floats VECTOR_NAME(spin_load)(const struct spin_cloud *cloud, int axis, size_t at)
{
    floats numbers;
    __builtin_memcpy(&numbers, cloud->axis[axis] + at, sizeof numbers);
    return numbers;
}

VECTOR_INLINE floats VECTOR_NAME(spin_keep)(floats numbers, whole mask)
{
    return (floats)((whole)numbers & mask);
}

VECTOR_INLINE floats VECTOR_NAME(spin_ceil)(floats numbers)
{
    floats down = __builtin_convertvector(__builtin_convertvector(numbers, whole), floats);
    /* a comparison of vectors gives -1 if true and 0 if false */
    return down - __builtin_convertvector(numbers > down, floats);
}

/* Computes two numbers for each point. The first is the number of the first cell of the image row that counts the
 * point, or -1 if the point is not seen. The second is the square of the point's distance from the line. */
VECTOR_INLINE void VECTOR_NAME(spin_rows)(const struct spin_cloud *cloud, size_t first, const struct spin_eye *e,
                                          struct spin_block *block)
{
    for (size_t i = 0; i < SPIN_BLOCK; i += PER_VECTOR) {
        floats dx = VECTOR_NAME(spin_load)(cloud, SPIN_X, first + i) - e->x;
        floats dy = VECTOR_NAME(spin_load)(cloud, SPIN_Y, first + i) - e->y;
        floats dz = VECTOR_NAME(spin_load)(cloud, SPIN_Z, first + i) - e->z;
        floats nx = VECTOR_NAME(spin_load)(cloud, SPIN_NX, first + i);
        floats ny = VECTOR_NAME(spin_load)(cloud, SPIN_NY, first + i);
        floats nz = VECTOR_NAME(spin_load)(cloud, SPIN_NZ, first + i);
        floats beta = dx * e->nx + dy * e->ny + dz * e->nz, row = e->half - beta;
        floats ax = dx - beta * e->nx, ay = dy - beta * e->ny, az = dz - beta * e->nz;
        floats square = ax * ax + ay * ay + az * az;
        whole seen = (nx * e->nx + ny * e->ny + nz * e->nz >= e->limit) & (row > -1) & (row <= e->last);
        floats cell = VECTOR_NAME(spin_ceil)(VECTOR_NAME(spin_keep)(row, seen)) * e->width;
        cell += __builtin_convertvector(~seen, floats);
        __builtin_memcpy(block->row + i, &cell, sizeof cell);
        __builtin_memcpy(block->alpha + i, &square, sizeof square);
    }
}

VECTOR_INLINE void VECTOR_NAME(spin_columns)(const struct spin_eye *e, struct spin_block *block)
{
    whole instead, unseen;
    __builtin_memcpy(&instead, block->instead, sizeof instead);
    __builtin_memcpy(&unseen, block->unseen, sizeof unseen);
    for (size_t i = 0; i < SPIN_BLOCK; i += PER_VECTOR) {
        floats alpha, row;
        __builtin_memcpy(&alpha, block->alpha + i, sizeof alpha);
        __builtin_memcpy(&row, block->row + i, sizeof row);
        whole seen = (alpha <= e->last) & (row >= 0);
        row += VECTOR_NAME(spin_ceil)(VECTOR_NAME(spin_keep)(alpha, seen));
        whole cell = (__builtin_convertvector(row, whole) & seen) | (instead & ~seen);
        unseen -= ~seen;
        __builtin_memcpy(block->cell + i, &cell, sizeof cell);
    }
    __builtin_memcpy(block->unseen, &unseen, sizeof unseen);
}

VECTOR_TARGET static void VECTOR_NAME(spin_run)(const struct spin_cloud *cloud, size_t point, uint32_t width,
                                                uint32_t *counts)
{
    struct spin_block block;
    const struct spin_eye eye = spin_eye_of(cloud, point, width);
    spin_block_init(&block, width);
    memset(counts, 0, (size_t)width * width * sizeof *counts);
    for (size_t first = 0; first < cloud->room; first += SPIN_BLOCK) {
        if (!spin_can_see(&eye, &cloud->bound[first / SPIN_BLOCK]))
            continue;
        VECTOR_NAME(spin_rows)(cloud, first, &eye, &block);
        for (size_t i = 0; i < SPIN_BLOCK; i++)
            block.alpha[i] = sqrtf(block.alpha[i]);
        VECTOR_NAME(spin_columns)(&eye, &block);
        for (size_t i = 0; i < SPIN_BLOCK; i++)
            counts[block.cell[i]]++;
    }
    for (size_t i = 0; i < PER_VECTOR; i++)
        counts[block.instead[i]] -= (uint32_t)block.unseen[i];
}

#undef floats
#undef whole
#undef PER_VECTOR
#undef LANES
#undef VECTOR_TARGET
