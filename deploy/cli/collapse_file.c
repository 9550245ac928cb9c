/* SPDX-License-Identifier: MIT */
/* The results of the kernel evrard: see collapse_file.h. The header is that of NumPy's format version 1.0, as HDSS
 * writes it. */
#include "deploy/cli/collapse_file.h"

#include "common/os/files.h"
#include "worker/kernels/evrard/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIXED = 10, HEADER_MAX = 1024, DIMS_MAX = 4 };

/* More in one dimension cannot be of a file. */
#define EXTENT_MAX (UINT64_C(1) << 40)

static int collapse_file_refuse(const char *path, struct error *error)
{
    return error_set(error, "%.300s: is no result of the kernel evrard; accepted: a .npy file that it wrote", path);
}

/* "(500, 2, 2000, 10)"; the count, or 0. */
static unsigned parse_shape(const char *text, uint64_t shape[DIMS_MAX])
{
    unsigned dims = 0;
    for (text++; dims < DIMS_MAX; text += 2) {
        char *end;
        shape[dims] = strtoull(text, &end, 10);
        if (end == text || shape[dims] == 0 || shape[dims] > EXTENT_MAX)
            return 0;
        dims++;
        text = end;
        if (strncmp(text, ", ", 2) != 0)
            return *text == ')' ? dims : 0;
    }
    return 0;
}

static int parse_header(struct collapse_file *file, const char *text)
{
    static const char expected[] = "{'descr': '<f8', 'fortran_order': False, 'shape': ";
    uint64_t shape[DIMS_MAX];
    if (strncmp(text, expected, strlen(expected)) != 0)
        return -1;
    unsigned dims = parse_shape(text + strlen(expected), shape);
    if (dims < 3 || shape[dims - 1] != EVRARD_FIELDS || (dims == 4 && shape[1] != 2))
        return -1;
    file->steps = shape[0];
    file->particles = shape[dims - 2];
    file->stride = file->particles * EVRARD_FIELDS * sizeof(double);
    file->first += dims == 4 ? file->stride : 0; /* behind the densities */
    file->stride *= dims == 4 ? 2 : 1;
    return 0;
}

static int read_header(struct collapse_file *file, struct error *error)
{
    char header[HEADER_MAX + 1] = "";
    struct stat status;
    if (fstat(file->fd, &status) < 0)
        return error_set(error, "%.300s: %s", file->path, strerror(errno));
    if (!S_ISREG(status.st_mode) || file_read_at(file->fd, header, FIXED, 0) != 0 ||
        memcmp(header, "\x93NUMPY\x01\x00", 8) != 0)
        return collapse_file_refuse(file->path, error);
    size_t length = (unsigned char)header[8] | (size_t)(unsigned char)header[9] << 8;
    file->first = FIXED + length;
    if (length > HEADER_MAX || file_read_at(file->fd, header, length, FIXED) != 0)
        return collapse_file_refuse(file->path, error);
    header[length] = '\0';
    if (parse_header(file, header) < 0)
        return collapse_file_refuse(file->path, error);
    if (((uint64_t)status.st_size - (FIXED + length)) / file->stride < file->steps)
        return error_set(error, "%.300s: is cut off: it has not all of its %" PRIu64 " steps", file->path, file->steps);
    return 0;
}

/* From the way of the particles in the first step, which is twice the velocity at its begin times the step: so the
 * kernel begins. */
static int find_time_step(struct collapse_file *file, struct error *error)
{
    if (file->steps < 2)
        return error_set(error, "%.300s: has one step; two are needed to know how long it is", file->path);
    size_t size = file->particles * EVRARD_FIELDS;
    double way = 0, square = 0, *begin = malloc(size * sizeof *begin);
    if (begin == NULL)
        return error_set(error, "%.300s: out of memory", file->path);
    int result = collapse_file_read(file, 0, error);
    if (result == 0) {
        memcpy(begin, file->states, size * sizeof *begin);
        result = collapse_file_read(file, 1, error);
    }
    for (size_t i = 0; result == 0 && i < size; i += EVRARD_FIELDS)
        for (int k = 0; k < 3; k++) {
            way += (file->states[i + EVRARD_X + k] - begin[i + EVRARD_X + k]) * begin[i + EVRARD_VX + k];
            square += begin[i + EVRARD_VX + k] * begin[i + EVRARD_VX + k];
        }
    free(begin);
    file->time_step = way / (2 * square);
    if (result < 0 || (isfinite(file->time_step) && file->time_step > 0))
        return result;
    return collapse_file_refuse(file->path, error);
}

int collapse_file_init(struct collapse_file *file, const char *path, struct error *error)
{
    *file = (struct collapse_file){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file->fd < 0)
        return error_set(error, "%.300s: %s", path, strerror(errno));
    int result = read_header(file, error);
    if (result == 0 && (file->states = malloc(file->particles * EVRARD_FIELDS * sizeof *file->states)) == NULL)
        result = error_set(error, "%.300s: out of memory for its %" PRIu64 " particles", path, file->particles);
    if (result == 0)
        result = find_time_step(file, error);
    if (result < 0)
        collapse_file_fini(file);
    return result;
}

void collapse_file_fini(struct collapse_file *file)
{
    close(file->fd);
    free(file->states);
    file->states = NULL;
}

/* An iteration that was never computed is 0, and the density of no particle is. */
static int check_states(const struct collapse_file *file, uint64_t step, struct error *error)
{
    for (size_t i = 0; i < file->particles; i++) {
        const double *state = file->states + i * EVRARD_FIELDS;
        for (int k = 0; k < EVRARD_FIELDS; k++)
            if (!isfinite(state[k]))
                return collapse_file_refuse(file->path, error);
        if (!(state[EVRARD_RHO] > 0) || !(state[EVRARD_H] > 0))
            return error_set(error, "%.300s: step %" PRIu64 " of %" PRIu64 " is not complete, from particle %zu on",
                             file->path, step, file->steps, i);
    }
    return 0;
}

int collapse_file_read(struct collapse_file *file, uint64_t step, struct error *error)
{
    size_t size = file->particles * EVRARD_FIELDS * sizeof *file->states;
    if (file_read_at(file->fd, file->states, size, file->first + step * file->stride) != 0)
        return error_set(error, "%.300s: step %" PRIu64 " cannot be read", file->path, step);
    return check_states(file, step, error);
}

double collapse_file_time(const struct collapse_file *file, uint64_t step)
{
    return ((double)step + 0.5) * file->time_step;
}

struct collapse_energy collapse_file_energy(const struct collapse_file *file)
{
    struct collapse_energy energy = {0, 0, 0, 0};
    double mass = 1 / (double)file->particles;
    for (size_t i = 0; i < file->particles; i++) {
        const double *state = file->states + i * EVRARD_FIELDS, *v = state + EVRARD_VX;
        energy.kinetic += mass / 2 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        energy.internal += mass * state[EVRARD_U];
        energy.potential += mass / 2 * state[EVRARD_POTENTIAL];
    }
    energy.total = energy.kinetic + energy.internal + energy.potential;
    return energy;
}
