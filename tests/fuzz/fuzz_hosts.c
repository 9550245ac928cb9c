/* SPDX-License-Identifier: MIT */
/* --hosts and --hostfile: the first byte says which (odd: a file) and how many workers and masters are dealt out. It is
 * refused with one line, or each host has a name and all that is dealt out arrives. */
#include "tests/fuzz/fuzz.h"
#include "common/util/error.h"
#include "deploy/cli/hosts.h"

#include <string.h>

static void check_deal(struct hosts *hosts, unsigned masters, unsigned workers)
{
    unsigned dealt_masters = 0, dealt_workers = 0;
    hosts_deal(hosts, masters, workers);
    for (unsigned i = 0; i < hosts->count; i++) {
        REQUIRE(hosts->items[i].name[0] != '\0' && strlen(hosts->items[i].name) < HOST_NAME_BYTES);
        dealt_masters += hosts->items[i].masters;
        dealt_workers += hosts->items[i].workers;
    }
    REQUIRE(dealt_masters == masters && dealt_workers == workers);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct hosts hosts = {0};
    struct error error = {0};
    if (size == 0)
        return 0;
    char *text = fuzz_text(bytes + 1, size - 1);
    int result = bytes[0] & 1 ? hosts_parse_file(&hosts, text, &error) : hosts_parse_list(&hosts, text, &error);
    if (result < 0)
        require_one_line(error.text);
    else
        check_deal(&hosts, bytes[0] >> 4, bytes[0] >> 1 & 15);
    (void)hosts_slots(&hosts);
    hosts_fini(&hosts);
    free(text);
    return 0;
}
