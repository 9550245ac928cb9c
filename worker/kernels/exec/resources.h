/* SPDX-License-Identifier: MIT */
/* The resources of this node that tasks may use: what the job has of it, as far as that can be told. */
#pragma once

#include "worker/kernels/exec/needs.h"

#define RESOURCES_GPUS_MAX 64

/* These variables say what there is where they are set; a task is told by them what it has. */
#define RESOURCES_CORES  "HDSS_CORES"
#define RESOURCES_MEMORY "HDSS_MEMORY"
#define RESOURCES_GPUS   "HDSS_GPUS"

struct resources {
    struct needs has;
    char *gpu[RESOURCES_GPUS_MAX]; /* names of the GPUs, as CUDA_VISIBLE_DEVICES has them; owned */
};

/* `any_core`: tasks may run on cores that this process is not bound to. -1 with one line. */
int resources_init(struct resources *resources, bool any_core, struct error *error);
void resources_fini(struct resources *resources);

/* Writes "NAME=0,2" with the names of the GPUs whose bits are set. Returns `setting`. */
const char *resources_name_gpus(const struct resources *resources, uint64_t gpus, const char *name, char *setting,
                                size_t size);
