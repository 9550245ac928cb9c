/* SPDX-License-Identifier: MIT */
/* The classes of chunks: see gantt.h. */
#include "deploy/cli/report/gantt.h"

enum gantt_class gantt_class_of(enum trace_reason reason, enum trace_fate fate)
{
    const bool is_wanted_twice = reason == TRACE_VERIFY && fate == TRACE_DROPPED; /* the results were compared */
    if (!is_wanted_twice && (fate == TRACE_LOST || fate == TRACE_FAILED || fate == TRACE_DROPPED))
        return GANTT_IN_VAIN;
    switch (reason) {
    case TRACE_OTHER: return GANTT_OTHER;
    case TRACE_REQUEUED: return GANTT_REQUEUED;
    case TRACE_RECALLED: return GANTT_RECALLED;
    case TRACE_COPY: return GANTT_COPY;
    case TRACE_VERIFY: return GANTT_VERIFY;
    default: return GANTT_OWN;
    }
}

const char *gantt_class_label(enum gantt_class class)
{
    static const char *const labels[GANTT_CLASSES] = {"cut for this worker",
                                                      "cut for another worker",
                                                      "requeued after a loss or failure",
                                                      "recalled from another worker",
                                                      "speculative copy",
                                                      "verification",
                                                      "in vain: lost, failed or not needed"};
    return labels[class];
}
