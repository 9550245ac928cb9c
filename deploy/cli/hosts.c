/* SPDX-License-Identifier: MIT */
/* The hosts of a launch: see hosts.h. */
#include "deploy/cli/hosts.h"
#include "common/util/grow.h"
#include "common/util/number.h"
#include "common/util/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLANKS " \t\r"

enum { HOST_FILE_MAX = 1 << 24 };

void hosts_fini(struct hosts *hosts)
{
    free(hosts->items);
    *hosts = (struct hosts){0};
}

/* Batch systems list a host once for each slot, mostly consecutively, so the last host is tried first. */
static struct host *find_host(struct hosts *hosts, const char *name)
{
    if (hosts->count > 0 && strcmp(hosts->items[hosts->count - 1].name, name) == 0)
        return &hosts->items[hosts->count - 1];
    for (unsigned i = 0; i < hosts->count; i++)
        if (strcmp(hosts->items[i].name, name) == 0)
            return &hosts->items[i];
    return NULL;
}

/* Accepts what mpirun accepts in a list. A name that begins with a dash would be an option of ssh. */
static bool hosts_is_name(const char *name, size_t length)
{
    if (length == 0 || length >= HOST_NAME_BYTES || name[0] == '-')
        return false;
    for (size_t i = 0; i < length; i++)
        if (name[i] == ':' || name[i] == ',' || (unsigned char)name[i] <= ' ' || name[i] == '\x7f')
            return false;
    return true;
}

int hosts_add(struct hosts *hosts, const char *name, size_t length, uint64_t slots, struct error *error)
{
    char copy[HOST_NAME_BYTES];
    if (!hosts_is_name(name, length))
        return error_set(error, "'%.*s' is no host name", (int)(length < 100 ? length : 100), name);
    snprintf(copy, sizeof copy, "%.*s", (int)length, name);
    struct host *host = find_host(hosts, copy);
    if (host == NULL) {
        if (hosts->count == HOSTS_MAX)
            return error_set(error, "more than %d hosts", HOSTS_MAX);
        struct host *items = grow(hosts->items, hosts->count, &hosts->room, sizeof *items);
        if (items == NULL)
            return error_set(error, "out of memory for %u hosts", hosts->count + 1);
        hosts->items = items;
        host = &hosts->items[hosts->count++];
        *host = (struct host){0};
        strcpy(host->name, copy);
    }
    if (slots > SLOTS_MAX - host->slots)
        return error_set(error, "'%.100s' has more than %d cores", copy, SLOTS_MAX);
    host->slots += (unsigned)slots;
    return 0;
}

static int parse_slots(const char *text, size_t length, uint64_t *slots, struct error *error)
{
    char copy[24];
    snprintf(copy, sizeof copy, "%.*s", (int)(length < sizeof copy ? length : sizeof copy - 1), text);
    if (number_parse_u64(copy, slots) < 0 || *slots < 1 || *slots > SLOTS_MAX)
        return error_set(error, "'%s' cores: accepted: an integer from 1 to %d", copy, SLOTS_MAX);
    return 0;
}

int hosts_parse_list(struct hosts *hosts, const char *list, struct error *error)
{
    for (;;) {
        size_t length = strcspn(list, ","), name = strcspn(list, ":,");
        uint64_t slots = 0;
        if (name < length && parse_slots(list + name + 1, length - name - 1, &slots, error) < 0)
            return -1;
        if (hosts_add(hosts, list, name, slots, error) < 0)
            return -1;
        if (list[length] == '\0')
            return 0;
        list += length + 1;
    }
}

static int parse_line(struct hosts *hosts, const char *line, size_t length, struct error *error)
{
    const char *end = line + length;
    line += strspn(line, BLANKS);
    size_t name = strcspn(line, BLANKS "\n#");
    uint64_t slots = 0;
    if (line >= end || name == 0)
        return 0;
    for (const char *word = line + name + strspn(line + name, BLANKS); word < end && *word != '#';) {
        size_t word_length = strcspn(word, BLANKS "\n#");
        if (strncmp(word, "slots=", 6) == 0 && parse_slots(word + 6, word_length - 6, &slots, error) < 0)
            return -1;
        word += word_length;
        word += strspn(word, BLANKS);
    }
    return hosts_add(hosts, line, name, slots, error);
}

int hosts_parse_file(struct hosts *hosts, const char *text, struct error *error)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        if (parse_line(hosts, text, length, error) < 0)
            return -1;
        text += length;
        text += *text == '\n';
    }
    return hosts->count > 0 ? 0 : error_set(error, "no host in it");
}

int hosts_read(struct hosts *hosts, const char *path, hosts_parser *parse, struct error *error)
{
    FILE *file = fopen(path, "r");
    struct text text;
    char piece[4096];
    size_t bytes = 0;
    int result = -1;
    if (file == NULL)
        return error_set(error, "%.200s: %s", path, strerror(errno));
    text_init(&text);
    text_add(&text, "%s", "");
    for (size_t got; bytes <= HOST_FILE_MAX && (got = fread(piece, 1, sizeof piece, file)) > 0; bytes += got)
        text_add(&text, "%.*s", (int)got, piece);
    if (bytes > HOST_FILE_MAX)
        error_set(error, "%.200s: longer than %d bytes", path, HOST_FILE_MAX);
    else if (ferror(file) || text.failed)
        error_set(error, "%.200s: %s", path, strerror(text.failed ? ENOMEM : errno));
    else
        result = parse(hosts, text.data, error);
    fclose(file);
    text_fini(&text);
    return result;
}

bool hosts_know_slots(const struct hosts *hosts)
{
    for (unsigned i = 0; i < hosts->count; i++)
        if (hosts->items[i].slots == 0)
            return false;
    return true;
}

unsigned hosts_slots(const struct hosts *hosts)
{
    unsigned total = 0;
    if (!hosts_know_slots(hosts))
        return 0;
    for (unsigned i = 0; i < hosts->count; i++)
        total += hosts->items[i].slots - hosts->items[i].reserved;
    return total;
}

static unsigned masters_of(const struct hosts *hosts, unsigned i, unsigned masters)
{
    return masters / hosts->count + (i < masters % hosts->count);
}

void hosts_reserve(struct hosts *hosts, unsigned masters, unsigned threads)
{
    for (unsigned i = 0; i < hosts->count; i++) {
        struct host *host = &hosts->items[i];
        unsigned wanted = masters_of(hosts, i, masters);
        if (wanted == 0 && i == 0)
            wanted = 1;
        unsigned left = wanted < host->slots ? host->slots - wanted : 0;
        host->reserved = host->slots - (left > threads ? left - left % threads : left);
    }
}

/* Returns how many slots the host has for workers. If the slots are unknown, returns 1 for each host, so all hosts are
 * equal. */
static uint64_t size_of(const struct host *host)
{
    return host->slots > 0 ? host->slots - host->reserved : 1;
}

/* Returns the host that gets the next worker: the host with the least (workers + 1) / (free slots). A host without a
 * free slot is returned only if no host has one. */
static struct host *least_loaded(struct hosts *hosts)
{
    struct host *least = &hosts->items[0];
    for (unsigned i = 1; i < hosts->count; i++) {
        struct host *host = &hosts->items[i];
        if ((host->workers + 1) * size_of(least) < (least->workers + 1) * size_of(host))
            least = host;
    }
    return least;
}

/* Gives each host its share of the workers, rounded down. Returns how many workers were distributed. The caller
 * distributes the rest one by one with least_loaded(). The result is the same as if least_loaded() had distributed all
 * workers (d'Hondt's method). */
static unsigned deal_shares(struct hosts *hosts, unsigned workers)
{
    uint64_t total = 0, dealt = 0;
    for (unsigned i = 0; i < hosts->count; i++)
        total += size_of(&hosts->items[i]);
    for (unsigned i = 0; i < hosts->count; i++) {
        hosts->items[i].workers = total > 0 ? (unsigned)(workers * size_of(&hosts->items[i]) / total) : 0;
        dealt += hosts->items[i].workers;
    }
    return (unsigned)dealt;
}

void hosts_deal(struct hosts *hosts, unsigned masters, unsigned workers)
{
    for (unsigned i = 0; i < hosts->count; i++)
        hosts->items[i].masters = masters_of(hosts, i, masters);
    for (unsigned w = deal_shares(hosts, workers); w < workers; w++)
        least_loaded(hosts)->workers++;
}

bool hosts_deal_in_turn(const struct hosts *hosts, unsigned workers)
{
    for (unsigned i = 0; i < hosts->count; i++)
        if (hosts->items[i].workers != workers / hosts->count + (i < workers % hosts->count))
            return false;
    return true;
}

void hosts_count_workers(const struct hosts *hosts, unsigned first, unsigned count, unsigned *dealt)
{
    unsigned worker = 0;
    memset(dealt, 0, hosts->count * sizeof *dealt);
    for (unsigned turn = 0, before = 1; before != worker && worker < first + count; turn++) {
        before = worker;
        for (unsigned i = 0; i < hosts->count && worker < first + count; i++)
            if (hosts->items[i].workers > turn)
                dealt[i] += worker++ >= first;
    }
}

bool host_is_here(const char *host)
{
    char own[HOST_NAME_BYTES] = "";
    gethostname(own, sizeof own - 1);
    size_t length = strcspn(own, ".");
    return strcmp(host, "localhost") == 0 || strcmp(host, own) == 0 ||
           (strcspn(host, ".") == length && strncmp(host, own, length) == 0);
}
