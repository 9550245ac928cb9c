/* SPDX-License-Identifier: MIT */
/* Writes platforms for SimGrid. A group of nodes becomes a SimGrid cluster. Each node has an up link and a down link,
 * each with half of the network's latency, and a loopback for messages within the node. The connection between groups
 * of the same site costs nothing. Messages between sites share one link. Its latency is the latency between sites minus
 * the latency of the network. */
#include "deploy/simulate/simgrid/simgrid.h"

#include <stdio.h>

void simgrid_host_name(unsigned node, char name[SIMGRID_HOST_MAX])
{
    snprintf(name, SIMGRID_HOST_MAX, "node%u", node);
}

static unsigned group_of(const struct platform *platform, const struct placement *placement, unsigned node)
{
    return (unsigned)(platform_node(platform, placement->platform_node[node]) - platform->group);
}

static bool write_radical(FILE *file, const struct platform *platform, const struct placement *placement, unsigned g)
{
    bool any = false;
    for (unsigned n = 0; n < placement->nodes; n++)
        if (group_of(platform, placement, n) == g) {
            fprintf(file, any ? ",%u" : "%u", n);
            any = true;
        }
    return any;
}

static bool is_used(const struct platform *platform, const struct placement *placement, unsigned g)
{
    for (unsigned n = 0; n < placement->nodes; n++)
        if (group_of(platform, placement, n) == g)
            return true;
    return false;
}

static void sim_xml_write_group(FILE *file, const struct platform *platform, const struct placement *placement,
                                unsigned g)
{
    const struct platform_nodes *group = &platform->group[g];
    fprintf(file, "  <cluster id=\"group%u\" prefix=\"node\" suffix=\"\" radical=\"", g);
    write_radical(file, platform, placement, g);
    fprintf(file,
            "\" speed=\"%.17gf\" core=\"%u\" bw=\"%.17gBps\" lat=\"%.17gs\" loopback_bw=\"%.17gBps\" "
            "loopback_lat=\"%.17gs\" sharing_policy=\"SPLITDUPLEX\"/>\n",
            group->speed * SIMGRID_FLOPS_PER_NS * 1e9, group->cores, platform->network.bytes_per_ns * 1e9,
            platform->network.latency_ns / 2 * 1e-9, platform->node.bytes_per_ns * 1e9,
            platform->node.latency_ns * 1e-9);
}

static void write_link(FILE *file, const char *id, double latency_ns, double bytes_per_ns, const char *policy)
{
    fprintf(file, "  <link id=\"%s\" bandwidth=\"%.17gBps\" latency=\"%.17gs\" sharing_policy=\"%s\"/>\n", id,
            bytes_per_ns * 1e9, (latency_ns > 0 ? latency_ns : 0) * 1e-9, policy);
}

static void write_route(FILE *file, const struct platform *platform, unsigned g, unsigned h)
{
    const char *link = platform->group[g].site == platform->group[h].site ? "joint" : "sites";
    fprintf(file,
            "  <zoneRoute src=\"group%u\" dst=\"group%u\" gw_src=\"nodegroup%u_router\" gw_dst=\"nodegroup%u_router\">"
            "<link_ctn id=\"%s\"/></zoneRoute>\n",
            g, h, g, h, link);
}

static void write_all(FILE *file, const struct platform *platform, const struct placement *placement)
{
    fprintf(file, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                  "<platform version=\"4.1\">\n <zone id=\"all\" routing=\"Full\">\n");
    for (unsigned g = 0; g < platform->groups; g++)
        if (is_used(platform, placement, g))
            sim_xml_write_group(file, platform, placement, g);
    write_link(file, "joint", 0, platform->network.bytes_per_ns * 1e3, "FATPIPE");
    if (platform->sites > 1)
        write_link(file, "sites", platform->between_sites.latency_ns - platform->network.latency_ns,
                   platform->between_sites.bytes_per_ns, "SHARED");
    for (unsigned g = 0; g < platform->groups; g++)
        for (unsigned h = g + 1; h < platform->groups; h++)
            if (is_used(platform, placement, g) && is_used(platform, placement, h))
                write_route(file, platform, g, h);
    fprintf(file, " </zone>\n</platform>\n");
}

int simgrid_write_platform(const struct platform *platform, const struct placement *placement, const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return -1;
    write_all(file, platform, placement);
    bool failed = ferror(file) != 0;
    return fclose(file) != 0 || failed ? -1 : 0;
}
