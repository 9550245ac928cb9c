/* SPDX-License-Identifier: MIT */
/* mesh_parse() of OFF files: see mesh.h. */
#include "deploy/examples/kernels/papers/mesh/mesh.h"
#include "tests/fuzz/mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_mesh(MESH_OFF, bytes, size);
    return 0;
}
