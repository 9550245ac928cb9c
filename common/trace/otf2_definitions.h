/* SPDX-License-Identifier: MIT */
/* Definitions of an OTF2 archive: what the numbers in its events mean. For the files of this folder only. */
#pragma once

#include "common/trace/writer.h"

#include <otf2/otf2.h>

#include <stdbool.h>
#include <stdint.h>

/* Attributes of a chunk and of a cut. Times are those of the archive's clock. */
enum archive_attribute {
    ATTRIBUTE_FIRST,
    ATTRIBUTE_COUNT,
    ATTRIBUTE_CHUNK,
    ATTRIBUTE_MASTER,
    ATTRIBUTE_FATE,
    ATTRIBUTE_ASKED,
    ATTRIBUTE_ASSIGNED,
    ATTRIBUTE_STORED,
    ATTRIBUTE_COMPUTE,
    ATTRIBUTE_WORKER,
    ATTRIBUTE_FORMULA,
    ATTRIBUTES
};

/* Strings that events refer to: that of a fate stands at STRING_FATES + enum trace_record_kind, that of 0 first. */
enum { STRING_EMPTY, STRING_FATES };

/* The metric of the supermaster's location: the sizes of the chunks that are cut. The region of a chunk has the number
 * of its reason. */
enum { METRIC_CHUNK_SIZE };

/* Writes them all. `event_counts` are those of the workers, in their order, and of the supermaster; `end_ns` is the
 * time of the last event. False when memory is out, or where libotf2 has a problem. */
bool archive_define(OTF2_GlobalDefWriter *definitions, const struct trace_writer *writer, const uint64_t *event_counts,
                    uint64_t end_ns);
