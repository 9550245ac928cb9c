/* SPDX-License-Identifier: MIT */
/* The detectors of a real rank together: who is watched, and by what. See detect.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct runtime;

/* Watches all that concern this rank from the start. -1 when memory, files or threads are out. */
int detect_begin(struct runtime *runtime);

/* Watches all that concern it by now, as it exchanges boundary data from now on. */
void detect_all(struct runtime *runtime);

/* From now on the end of `rank` concerns this rank, too. */
void detect_watch(struct runtime *runtime, unsigned rank);

/* Asks the detectors that do not report by themselves; cheap where that is not due. */
void detect_look(struct runtime *runtime, uint64_t now_ns);

/* A detector has found that the peer has ended: it has left in order if it has said so. */
void detect_end(struct runtime *runtime, unsigned rank);

/* True where `rank` is to be watched here, as things are now. */
bool detect_concerns(const struct runtime *runtime, unsigned rank);
