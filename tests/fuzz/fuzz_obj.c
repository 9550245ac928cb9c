/* SPDX-License-Identifier: MIT */
/* mesh_parse() of OBJ files: see mesh.h. */
#include "tests/fuzz/mesh.h"
#include "worker/kernels/mesh/mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_mesh(MESH_OBJ, bytes, size);
    return 0;
}
