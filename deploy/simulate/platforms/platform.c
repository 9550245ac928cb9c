/* SPDX-License-Identifier: MIT */
/* Parser of platforms: see platform.h. */
#include "deploy/simulate/platforms/platform.h"

#include "common/util/number.h"
#include "common/util/suggest.h"

#include <stdio.h>
#include <string.h>

#define BLANKS     " \t\r"
#define WORD_MAX   64
#define LINE_WORDS 8

/* Limits of times and bandwidths. Within these limits a message of up to 10^12 bytes takes less than 2^64 ns. */
#define TIME_NS_MAX      60e9
#define BYTE_NS_MAX      1e3
#define BYTES_PER_NS_MIN 1e-6
#define BYTES_PER_NS_MAX 1e9

struct statement {
    char name[WORD_MAX];
    char key[LINE_WORDS][WORD_MAX], value[LINE_WORDS][WORD_MAX];
    unsigned count;
    unsigned line;
};

struct unit {
    const char *name;
    double factor;
};

static const struct unit times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
static const struct unit rates[] = {{"GB/s", 1}, {"MB/s", 1e-3}, {"kB/s", 1e-6}, {NULL, 0}};

static int parse_quantity(const char *text, const struct unit *units, double *value)
{
    for (; units->name != NULL; units++) {
        size_t length = strlen(text), tail = strlen(units->name);
        char number[WORD_MAX];
        if (length <= tail || strcmp(text + length - tail, units->name) != 0)
            continue;
        memcpy(number, text, length - tail);
        number[length - tail] = '\0';
        if (number_parse_real(number, value) < 0 || *value < 0)
            continue;
        *value *= units->factor;
        return 0;
    }
    return -1;
}

static int parse_bandwidth(const char *text, double *bytes_per_ns)
{
    double value;
    if (parse_quantity(text, rates, &value) < 0 || value < BYTES_PER_NS_MIN || value > BYTES_PER_NS_MAX)
        return -1;
    *bytes_per_ns = value;
    return 0;
}

static int parse_byte_time(const char *text, double *byte_ns)
{
    double value;
    if (parse_quantity(text, times, &value) < 0 || value > BYTE_NS_MAX)
        return -1;
    *byte_ns = value;
    return 0;
}

static int parse_count(const char *text, unsigned least, unsigned most, unsigned *count)
{
    uint64_t number;
    if (number_parse_u64(text, &number) < 0 || number < least || number > most)
        return -1;
    *count = (unsigned)number;
    return 0;
}

static int platform_refuse(const struct statement *statement, unsigned i, const char *accepted, struct error *error)
{
    return error_set(error, "line %u: %s=%s: accepted: %s", statement->line, statement->key[i], statement->value[i],
                     accepted);
}

static int unknown_key(const struct statement *statement, unsigned i, const char *known, struct error *error)
{
    return error_set(error, "line %u: '%s' is not a word of %s; accepted: %s", statement->line, statement->key[i],
                     statement->name, known);
}

static int take_nodes(struct platform *platform, const struct statement *statement, struct error *error)
{
    struct platform_nodes *group = &platform->group[platform->groups];
    if (platform->groups == PLATFORM_GROUPS_MAX)
        return error_set(error, "line %u: more than %d groups of nodes", statement->line, PLATFORM_GROUPS_MAX);
    *group = (struct platform_nodes){.cores = 1, .speed = 1};
    for (unsigned i = 0; i < statement->count; i++) {
        const char *key = statement->key[i], *value = statement->value[i];
        if (key[0] == '\0') {
            if (parse_count(value, 1, PLATFORM_NODES_MAX, &group->count) < 0)
                return error_set(error, "line %u: nodes %s: accepted: how many there are, from 1 to %u",
                                 statement->line, value, PLATFORM_NODES_MAX);
        } else if (strcmp(key, "cores") == 0) {
            if (parse_count(value, 1, PLATFORM_CORES_MAX, &group->cores) < 0)
                return platform_refuse(statement, i, "an integer from 1 to 4096", error);
        } else if (strcmp(key, "speed") == 0) {
            if (number_parse_real(value, &group->speed) < 0 || group->speed < 1e-3 || group->speed > 1e3)
                return platform_refuse(statement, i, "a number from 0.001 to 1000", error);
        } else if (strcmp(key, "site") == 0) {
            if (parse_count(value, 0, PLATFORM_GROUPS_MAX - 1, &group->site) < 0)
                return platform_refuse(statement, i, "an integer from 0 to 63", error);
        } else {
            return unknown_key(statement, i, "the number of nodes, cores=, speed=, site=", error);
        }
    }
    if (group->count == 0)
        return error_set(error, "line %u: nodes: the number of them is missing", statement->line);
    platform->groups++;
    return 0;
}

static int take_link(struct platform_link *link, const struct statement *statement, struct error *error)
{
    bool latency = false, bandwidth = false;
    for (unsigned i = 0; i < statement->count; i++) {
        const char *key = statement->key[i], *value = statement->value[i];
        if (strcmp(key, "latency") == 0) {
            latency = true;
            if (parse_quantity(value, times, &link->latency_ns) < 0 || link->latency_ns > TIME_NS_MAX)
                return platform_refuse(statement, i, "a time with its unit, ns, us, ms or s, up to 60s", error);
        } else if (strcmp(key, "bandwidth") == 0) {
            bandwidth = true;
            if (parse_bandwidth(value, &link->bytes_per_ns) < 0)
                return platform_refuse(statement, i,
                                       "a number with its unit, kB/s, MB/s or GB/s, from 1kB/s to 1e9GB/s", error);
        } else {
            return unknown_key(statement, i, "latency=, bandwidth=", error);
        }
    }
    if (!latency || !bandwidth)
        return error_set(error, "line %u: %s: %s is missing", statement->line, statement->name,
                         latency ? "bandwidth=" : "latency=");
    return 0;
}

static int take_service(struct platform *platform, const struct statement *statement, struct error *error)
{
    struct platform_service *service = &platform->service;
    const struct {
        const char *name;
        double *value, most;
    } known[] = {
        {"event", &service->event_ns, TIME_NS_MAX},        {"message", &service->message_ns, TIME_NS_MAX},
        {"byte", &service->byte_ns, BYTE_NS_MAX},          {"calculation", &service->calculation_ns, TIME_NS_MAX},
        {"call", &service->call_ns, TIME_NS_MAX},          {"cold", &service->cold_ns, TIME_NS_MAX},
        {"iteration", &service->iteration_ns, TIME_NS_MAX}};
    const unsigned all = sizeof known / sizeof *known;
    for (unsigned i = 0; i < statement->count; i++) {
        unsigned k = 0;
        while (k < all && strcmp(statement->key[i], known[k].name) != 0)
            k++;
        if (k == all)
            return unknown_key(statement, i, "event=, message=, byte=, calculation=, call=, cold=, iteration=", error);
        if (parse_quantity(statement->value[i], times, known[k].value) < 0 || *known[k].value > known[k].most)
            return platform_refuse(statement, i,
                                   known[k].most < TIME_NS_MAX ? "a time with its unit, ns, us, ms or s, up to 1us"
                                                               : "a time with its unit, ns, us, ms or s, up to 60s",
                                   error);
    }
    return 0;
}

static int take_statement(struct platform *platform, const struct statement *statement, struct error *error)
{
    if (strcmp(statement->name, "nodes") == 0)
        return take_nodes(platform, statement, error);
    if (strcmp(statement->name, "node") == 0)
        return take_link(&platform->node, statement, error);
    if (strcmp(statement->name, "network") == 0)
        return take_link(&platform->network, statement, error);
    if (strcmp(statement->name, "sites") == 0)
        return take_link(&platform->between_sites, statement, error);
    if (strcmp(statement->name, "service") == 0)
        return take_service(platform, statement, error);
    return error_set(error, "line %u: '%s' begins no statement; accepted: title, nodes, node, network, sites, service",
                     statement->line, statement->name);
}

static const char *next_word(const char *text, char word[WORD_MAX])
{
    text += strspn(text, BLANKS);
    size_t length = strcspn(text, BLANKS "\n#");
    if (length >= WORD_MAX)
        return NULL;
    memcpy(word, text, length);
    word[length] = '\0';
    return text + length;
}

static int platform_split(struct statement *statement, const char *text, struct error *error)
{
    char word[WORD_MAX];
    statement->count = 0;
    text = next_word(text, statement->name);
    while (text != NULL && (text = next_word(text, word)) != NULL && word[0] != '\0') {
        if (statement->count == LINE_WORDS)
            return error_set(error, "line %u: more than %d words", statement->line, LINE_WORDS);
        char *key = statement->key[statement->count], *value = statement->value[statement->count];
        const char *equals = strchr(word, '=');
        size_t length = equals != NULL ? (size_t)(equals - word) : 0;
        memcpy(key, word, length);
        key[length] = '\0';
        snprintf(value, WORD_MAX, "%s", equals != NULL ? equals + 1 : word);
        statement->count++;
    }
    return text != NULL ? 0
                        : error_set(error, "line %u: a word of more than %d characters", statement->line, WORD_MAX - 1);
}

static bool platform_take_title(struct platform *platform, const char *text)
{
    char word[WORD_MAX];
    const char *rest = next_word(text, word);
    if (rest == NULL || strcmp(word, "title") != 0)
        return false;
    rest += strspn(rest, BLANKS);
    snprintf(platform->title, sizeof platform->title, "%.*s", (int)strcspn(rest, "\r\n"), rest);
    return true;
}

static void count_nodes(struct platform *platform)
{
    platform->nodes = platform->sites = 0;
    platform->cores = 0;
    for (unsigned g = 0; g < platform->groups; g++) {
        const struct platform_nodes *group = &platform->group[g];
        platform->nodes += group->count;
        platform->cores += (uint64_t)group->count * group->cores;
        if (group->site >= platform->sites)
            platform->sites = group->site + 1;
    }
}

static int platform_complete(struct platform *platform, unsigned line, struct error *error)
{
    if (platform->groups == 0)
        return error_set(error, "line %u: the end, and there are no nodes", line);
    count_nodes(platform);
    if (platform->nodes > PLATFORM_NODES_MAX)
        return error_set(error, "line %u: the end, and there are more than %u nodes", line, PLATFORM_NODES_MAX);
    if (platform->node.bytes_per_ns <= 0 || platform->network.bytes_per_ns <= 0)
        return error_set(error, "line %u: the end, and there is no statement %s", line,
                         platform->node.bytes_per_ns <= 0 ? "node" : "network");
    if (platform->sites > 1 && platform->between_sites.bytes_per_ns <= 0)
        return error_set(error, "line %u: the end, and there is no statement sites for %u sites", line,
                         platform->sites);
    return 0;
}

int platform_parse(struct platform *platform, const char *text, struct error *error)
{
    struct statement statement = {.line = 0};
    *platform = (struct platform){
        .service = {.call_ns = PLATFORM_CALL_NS, .cold_ns = PLATFORM_COLD_NS, .iteration_ns = PLATFORM_ITERATION_NS}};
    for (; *text != '\0'; text += *text == '\n') {
        statement.line++;
        if (!platform_take_title(platform, text)) {
            if (platform_split(&statement, text, error) < 0)
                return -1;
            if (statement.name[0] != '\0' && take_statement(platform, &statement, error) < 0)
                return -1;
        }
        text += strcspn(text, "\n");
    }
    return platform_complete(platform, statement.line, error);
}

static void list_names(const char *meant, char *text, size_t size)
{
    struct suggestion nearest;
    size_t used = 0;
    text[0] = '\0';
    suggest_init(&nearest, meant);
    for (unsigned i = 0; platform_names[i] != NULL; i++)
        suggest_offer(&nearest, platform_names[i]);
    if (nearest.name != NULL)
        used = (size_t)snprintf(text, size, "did you mean %s? ", nearest.name);
    used += (size_t)snprintf(text + used, size - used, "accepted: ");
    for (unsigned i = 0; platform_names[i] != NULL && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", platform_names[i]);
}

static void resize(struct platform *platform, unsigned nodes)
{
    uint64_t before = 0, whole = platform->nodes;
    for (unsigned g = 0; g < platform->groups; g++) {
        struct platform_nodes *group = &platform->group[g];
        uint64_t first = before * nodes / whole, last = (before + group->count) * nodes / whole;
        before += group->count;
        group->count = (unsigned)(last - first);
    }
    count_nodes(platform);
}

static int change(struct platform *platform, const char *spec, const char *changes, struct error *error)
{
    char word[WORD_MAX];
    unsigned number;
    double quantity;
    while (*changes != '\0') {
        size_t length = strcspn(changes, ",");
        bool is_long = length >= sizeof word; /* a truncated word might be accepted with another meaning */
        snprintf(word, sizeof word, "%.*s%s", is_long ? 32 : (int)length, changes, is_long ? "..." : "");
        if (strncmp(word, "nodes=", 6) == 0 &&
            parse_count(word + 6, platform->groups, PLATFORM_NODES_MAX, &number) == 0) {
            resize(platform, number);
        } else if (strncmp(word, "cores=", 6) == 0 && parse_count(word + 6, 1, PLATFORM_CORES_MAX, &number) == 0) {
            for (unsigned g = 0; g < platform->groups; g++)
                platform->group[g].cores = number;
            count_nodes(platform);
        } else if (strncmp(word, "bandwidth=", 10) == 0 && parse_bandwidth(word + 10, &quantity) == 0) {
            platform->network.bytes_per_ns = quantity;
        } else if (strncmp(word, "byte=", 5) == 0 && parse_byte_time(word + 5, &quantity) == 0) {
            platform->service.byte_ns = quantity;
        } else {
            return error_set(error,
                             "platform '%.64s': '%s' is not accepted; accepted: nodes=N (from %u on), cores=N, "
                             "bandwidth=RATE (of the network, such as 8GB/s), byte=TIME (as of service, such as 0.1ns)",
                             spec, word, platform->groups);
        }
        changes += length + (changes[length] == ',');
    }
    return 0;
}

int platform_find(struct platform *platform, const char *spec, struct error *error)
{
    char name[PLATFORM_NAME_MAX], known[200];
    size_t length = strcspn(spec, ":");
    snprintf(name, sizeof name, "%.*s", (int)length, spec);
    const char *text = platform_described(name);
    if (text == NULL) {
        list_names(name, known, sizeof known);
        return error_set(error, "platform '%.64s' is unknown; %s, or a file", name, known);
    }
    if (platform_parse(platform, text, error) < 0)
        return -1;
    snprintf(platform->name, sizeof platform->name, "%s", name);
    return spec[length] == ':' ? change(platform, spec, spec + length + 1, error) : 0;
}

const struct platform_nodes *platform_node(const struct platform *platform, unsigned node)
{
    unsigned g = 0;
    for (; g + 1 < platform->groups && node >= platform->group[g].count; g++)
        node -= platform->group[g].count;
    return &platform->group[g];
}

const struct platform_link *platform_link_between(const struct platform *platform, unsigned node, unsigned other)
{
    if (node == other)
        return &platform->node;
    bool near = platform_node(platform, node)->site == platform_node(platform, other)->site;
    return near ? &platform->network : &platform->between_sites;
}
