/* SPDX-License-Identifier: MIT */
/* The resources of this node that tasks may use. These are the resources that the job has on this node, as far as they
 * can be detected. */
#pragma once

#include "worker/kernels/exec/needs.h"

#define RESOURCES_GPUS_MAX 64

/* These environment variables of the worker say what the node has. If one of them is set, its resource is not detected.
 * Each task gets its own amounts in variables of the same names. */
#define RESOURCES_CORES  "HDSS_CORES"
#define RESOURCES_MEMORY "HDSS_MEMORY"
#define RESOURCES_GPUS   "HDSS_GPUS"

struct resources {
    struct needs has;
    char *gpu[RESOURCES_GPUS_MAX]; /* names as in CUDA_VISIBLE_DEVICES; owned */
};

int resources_init(struct resources *resources, bool any_core, struct error *error);
void resources_fini(struct resources *resources);

/* Writes "NAME=0,2" to `setting`, with the names of the GPUs whose bits are set. Returns `setting`. */
const char *resources_name_gpus(const struct resources *resources, uint64_t gpus, const char *name, char *setting,
                                size_t size);
