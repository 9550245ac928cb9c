/* SPDX-License-Identifier: MIT */
/* hello_decode(), topology_check() and topology_init(): the hellos of a launch, HELLO_BYTES of each rank one after the
 * other. A hello is refused or says the same bytes again; a line-up is refused with one line, or each worker of it has
 * one master and each master its workers, grouped either way. */
#include "tests/fuzz/fuzz.h"
#include "common/machine/topology.h"
#include "common/util/error.h"
#include "proto/message.h"

#include <string.h>

#define RANKS_MAX 64

/* The start refuses a launch in which a hello does not decode or names a node that is no rank. */
static unsigned take_hellos(struct hello *hellos, const uint8_t *bytes, size_t size)
{
    unsigned ranks = (unsigned)(size / HELLO_BYTES);
    if (ranks > RANKS_MAX)
        ranks = RANKS_MAX;
    for (unsigned i = 0; i < ranks; i++) {
        unsigned char again[HELLO_BYTES];
        const uint8_t *own = bytes + (size_t)i * HELLO_BYTES;
        if (hello_decode(&hellos[i], own, HELLO_BYTES) != DECODE_OK)
            return 0;
        if (hellos[i].protocol == PROTOCOL_VERSION) {
            hello_encode(&hellos[i], again);
            REQUIRE(memcmp(again, own, HELLO_BYTES) == 0);
        }
        if (hellos[i].node >= ranks)
            return 0;
    }
    return ranks;
}

static void check_grouping(const struct hello *hellos, unsigned ranks, bool by_node)
{
    struct topology topology;
    bool seen[RANKS_MAX] = {false};
    REQUIRE(topology_init(&topology, hellos, ranks, by_node) == 0);
    for (unsigned m = 0; m < (topology.masters > 0 ? topology.masters : 1); m++) {
        unsigned served[RANKS_MAX];
        topology_served_ranks(&topology, m, served);
        for (unsigned i = 0; i < topology_count(&topology, m); i++) {
            unsigned worker = topology.served[topology_first(&topology, m) + i];
            REQUIRE(worker < topology.workers && !seen[worker] && topology.master_of[worker] == m);
            REQUIRE(topology_worker(&topology, served[i]) < topology.workers);
            seen[worker] = true;
        }
    }
    for (unsigned w = 0; w < topology.workers; w++)
        REQUIRE(seen[w]);
    topology_fini(&topology);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct hello hellos[RANKS_MAX], one;
    struct error error = {0};
    if (size != HELLO_BYTES)
        REQUIRE(hello_decode(&one, bytes, size) != DECODE_OK);
    unsigned ranks = take_hellos(hellos, bytes, size);
    int status = ranks > 0 ? topology_check(hellos, ranks, &error) : EXIT_STATUS_USAGE;
    if (status != EXIT_STATUS_DONE) {
        if (error.text[0] != '\0')
            require_one_line(error.text);
        return 0;
    }
    bool flat = hellos[0].dca;
    for (int by_node = 0; by_node < 2 && !flat; by_node++)
        check_grouping(hellos, ranks, by_node == 1);
    return 0;
}
