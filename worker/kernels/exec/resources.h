/* SPDX-License-Identifier: MIT */
/* The resources of this node that tasks may use: what the job has of it, as far as that is known. */
#pragma once

#include "worker/kernels/exec/needs.h"

#define RESOURCES_GPUS_MAX 64

/* These variables override detection, and tell a task what it has. */
#define RESOURCES_CORES  "HDSS_CORES"
#define RESOURCES_MEMORY "HDSS_MEMORY"
#define RESOURCES_GPUS   "HDSS_GPUS"

struct resources {
    struct needs has;
    char *gpu[RESOURCES_GPUS_MAX]; /* names of GPUs as in CUDA_VISIBLE_DEVICES; owned */
};

/* `any_core`: tasks may run on cores that this process is not bound to. */
int resources_init(struct resources *resources, bool any_core, struct error *error);
void resources_fini(struct resources *resources);

/* Formats "NAME=0,2" with the names of the GPUs in the bit set. Returns `setting`. */
const char *resources_name_gpus(const struct resources *resources, uint64_t gpus, const char *name, char *setting,
                                size_t size);
