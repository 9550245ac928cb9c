/* SPDX-License-Identifier: MIT */
/* See otf2_definitions.h. */
#include "common/trace/otf2_definitions.h"

#include <stdarg.h>
#include <stdlib.h>

static const struct {
    const char *name, *description;
    OTF2_Type type;
} attributes[ATTRIBUTES] = {
    [ATTRIBUTE_FIRST] = {"first", "the first of its iterations", OTF2_TYPE_UINT64},
    [ATTRIBUTE_COUNT] = {"count", "how many iterations", OTF2_TYPE_UINT64},
    [ATTRIBUTE_CHUNK] = {"chunk", "its number among those that the master has assigned to the worker",
                         OTF2_TYPE_UINT32},
    [ATTRIBUTE_MASTER] = {"master", "rank that assigned it", OTF2_TYPE_UINT32},
    [ATTRIBUTE_FATE] = {"fate", "what became of it", OTF2_TYPE_STRING},
    [ATTRIBUTE_ASKED] = {"asked", "when the worker asked for it", OTF2_TYPE_UINT64},
    [ATTRIBUTE_ASSIGNED] = {"assigned", "when it was assigned", OTF2_TYPE_UINT64},
    [ATTRIBUTE_STORED] = {"stored", "when its results were stored, or that became of it", OTF2_TYPE_UINT64},
    [ATTRIBUTE_COMPUTE] = {"compute", "nanoseconds in the kernel, of the whole chunk", OTF2_TYPE_UINT64},
    [ATTRIBUTE_WORKER] = {"worker", "rank for which it was cut", OTF2_TYPE_UINT32},
    [ATTRIBUTE_FORMULA] = {"formula", "the size that the technique's formula says", OTF2_TYPE_UINT64},
};

/* Definitions on their way to the archive. */
struct defining {
    OTF2_GlobalDefWriter *to;
    OTF2_StringRef next_string;
    bool failed;
};

static void note_code(struct defining *defining, OTF2_ErrorCode code)
{
    defining->failed |= code != OTF2_SUCCESS;
}

static OTF2_StringRef define_string(struct defining *defining, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static OTF2_StringRef define_string(struct defining *defining, const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    note_code(defining, OTF2_GlobalDefWriter_WriteString(defining->to, defining->next_string, text));
    return defining->next_string++;
}

/* Definitions that all archives have alike. */
static void define_chunks(struct defining *defining)
{
    define_string(defining, "%s", ""); /* STRING_EMPTY */
    for (unsigned fate = 0; fate < CHUNK_KINDS; fate++)
        define_string(defining, "%s", chunk_fate_name((enum trace_record_kind)fate));
    for (OTF2_AttributeRef i = 0; i < ATTRIBUTES; i++) {
        const OTF2_StringRef name = define_string(defining, "%s", attributes[i].name);
        const OTF2_StringRef description = define_string(defining, "%s", attributes[i].description);
        note_code(defining,
                  OTF2_GlobalDefWriter_WriteAttribute(defining->to, i, name, description, attributes[i].type));
    }
    for (OTF2_RegionRef reason = 0; reason < CHUNK_REASONS; reason++) {
        const char *text = chunk_reason_name((enum chunk_reason)reason);
        const OTF2_StringRef name = define_string(defining, "chunk: %s", *text != '\0' ? text : "unknown");
        note_code(defining, OTF2_GlobalDefWriter_WriteRegion(defining->to, reason, name, name, STRING_EMPTY,
                                                             OTF2_REGION_ROLE_TASK, OTF2_PARADIGM_USER,
                                                             OTF2_REGION_FLAG_NONE, STRING_EMPTY, 0, 0));
    }
    const OTF2_MetricMemberRef member = METRIC_CHUNK_SIZE;
    const OTF2_StringRef size = define_string(defining, "chunk size");
    const OTF2_StringRef unit = define_string(defining, "iterations");
    note_code(defining, OTF2_GlobalDefWriter_WriteMetricMember(defining->to, member, size, STRING_EMPTY,
                                                               OTF2_METRIC_TYPE_USER, OTF2_METRIC_ABSOLUTE_POINT,
                                                               OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, unit));
    note_code(defining, OTF2_GlobalDefWriter_WriteMetricClass(defining->to, METRIC_CHUNK_SIZE, 1, &member,
                                                              OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU));
}

/* A node of the tree below the machine, which is number 0. */
static OTF2_SystemTreeNodeRef define_node(struct defining *defining, unsigned node, OTF2_SystemTreeNodeRef self)
{
    const OTF2_StringRef name = define_string(defining, "node %u", node);
    const OTF2_StringRef class_name = define_string(defining, "node");
    note_code(defining, OTF2_GlobalDefWriter_WriteSystemTreeNode(defining->to, self, name, class_name, 0));
    note_code(defining, OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(defining->to, self,
                                                                       OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
    return self;
}

static void define_machine(struct defining *defining)
{
    const OTF2_StringRef name = define_string(defining, "machine");
    note_code(defining,
              OTF2_GlobalDefWriter_WriteSystemTreeNode(defining->to, 0, name, name, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    note_code(defining,
              OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(defining->to, 0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE));
}

/* A process with its one location, which has the number of its rank. */
static void define_rank(struct defining *defining, const char *what, unsigned rank, OTF2_LocationGroupRef group,
                        OTF2_SystemTreeNodeRef node, uint64_t event_count)
{
    const OTF2_StringRef name = define_string(defining, "%s %u", what, rank);
    note_code(defining,
              OTF2_GlobalDefWriter_WriteLocationGroup(defining->to, group, name, OTF2_LOCATION_GROUP_TYPE_PROCESS, node,
                                                      OTF2_UNDEFINED_LOCATION_GROUP));
    note_code(defining, OTF2_GlobalDefWriter_WriteLocation(defining->to, rank, name, OTF2_LOCATION_TYPE_CPU_THREAD,
                                                           event_count, group));
}

/* The nodes with their workers, and the supermaster, of whose node the trace does not know. Nodes are numbered in the
 * order of their first workers. False when memory is out. */
static bool define_system(struct defining *defining, const struct trace_writer *writer, const uint64_t *event_counts)
{
    const struct trace_about *about = writer->about;
    unsigned node_end = 1;
    for (unsigned w = 0; w < about->workers; w++)
        node_end = about->worker[w].node >= node_end ? about->worker[w].node + 1 : node_end;
    OTF2_SystemTreeNodeRef *nodes = calloc(node_end, sizeof *nodes), node_count = 0;
    if (nodes == NULL)
        return false;
    define_machine(defining);
    for (unsigned w = 0; w < about->workers; w++) {
        OTF2_SystemTreeNodeRef *node = &nodes[about->worker[w].node];
        if (*node == 0)
            *node = define_node(defining, about->worker[w].node, ++node_count);
        define_rank(defining, "worker", about->worker[w].rank, w, *node, event_counts[w]);
    }
    define_rank(defining, "supermaster", writer->supermaster, about->workers, 0, event_counts[about->workers]);
    free(nodes);
    return true;
}

bool archive_define(OTF2_GlobalDefWriter *definitions, const struct trace_writer *writer, const uint64_t *event_counts,
                    uint64_t end_ns)
{
    struct defining defining = {.to = definitions, .next_string = STRING_EMPTY};
    const uint64_t origin_ns = writer->origin_real_ns > 0 ? writer->origin_real_ns : OTF2_UNDEFINED_TIMESTAMP;
    note_code(&defining,
              OTF2_GlobalDefWriter_WriteClockProperties(definitions, UINT64_C(1000000000), 0, end_ns + 1, origin_ns));
    define_chunks(&defining);
    return define_system(&defining, writer, event_counts) && !defining.failed;
}
