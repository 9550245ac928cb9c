/* SPDX-License-Identifier: MIT */
/* What `hdss collapse` reads: the results of the kernel evrard, as .npy. A file is refused with one line, or each of
 * its steps is, or has energies and a time. */
#include "tests/fuzz/fuzz.h"
#include "common/util/error.h"
#include "deploy/cli/collapse_file.h"

#include <math.h>
#include <unistd.h>

static void check_steps(struct collapse_file *file)
{
    struct error error = {0};
    REQUIRE(file->steps >= 2 && file->particles >= 1 && isfinite(file->time_step) && file->time_step > 0);
    for (uint64_t step = 0; step < file->steps; step++) {
        if (collapse_file_read(file, step, &error) < 0) {
            require_one_line(error.text);
            return;
        }
        struct collapse_energy energy = collapse_file_energy(file);
        REQUIRE(!isnan(energy.kinetic) && energy.kinetic >= 0);
        REQUIRE(collapse_file_time(file, step) >= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char path[FUZZ_PATH_MAX];
    struct collapse_file file;
    struct error error = {0};
    int fd = fuzz_file(bytes, size, path);
    if (collapse_file_init(&file, path, &error) < 0) {
        require_one_line(error.text);
    } else {
        check_steps(&file);
        collapse_file_fini(&file);
    }
    close(fd);
    return 0;
}
