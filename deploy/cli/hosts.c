/* Hosts and what they carry: see hosts.h. */
#include "deploy/cli/hosts.h"
#include "common/util/number.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MAX 65536
#define BLANKS    " \t\r"

void hosts_fini(struct hosts *hosts)
{
    free(hosts->items);
    *hosts = (struct hosts){0};
}

static struct host *find_host(struct hosts *hosts, const char *name)
{
    for (unsigned i = 0; i < hosts->count; i++)
        if (strcmp(hosts->items[i].name, name) == 0)
            return &hosts->items[i];
    return NULL;
}

static int add_host(struct hosts *hosts, const char *name, size_t length, uint64_t slots, struct error *error)
{
    char copy[HOST_NAME_BYTES];
    if (length == 0 || length >= sizeof copy || name[0] == '-') /* ssh would take it for an option */
        return error_set(error, "'%.*s' is no host name", (int)(length < 100 ? length : 100), name);
    snprintf(copy, sizeof copy, "%.*s", (int)length, name);
    struct host *host = find_host(hosts, copy);
    if (host == NULL) {
        if (hosts->count == HOSTS_MAX)
            return error_set(error, "more than %d hosts", HOSTS_MAX);
        struct host *items = realloc(hosts->items, (hosts->count + 1) * sizeof *items);
        if (items == NULL)
            return error_set(error, "out of memory for %u hosts", hosts->count + 1);
        hosts->items = items;
        host = &hosts->items[hosts->count++];
        *host = (struct host){0};
        strcpy(host->name, copy);
    }
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
        if (add_host(hosts, list, name, slots, error) < 0)
            return -1;
        if (list[length] == '\0')
            return 0;
        list += length + 1;
    }
}

/* "node1 slots=16 max_slots=32": the words after the name that we do not need are left alone. */
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
    return add_host(hosts, line, name, slots, error);
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

unsigned hosts_slots(const struct hosts *hosts)
{
    unsigned total = 0;
    for (unsigned i = 0; i < hosts->count; i++) {
        if (hosts->items[i].slots == 0)
            return 0;
        total += hosts->items[i].slots;
    }
    return total;
}

/* One more worker goes to the host that is then the least loaded for its size. */
static struct host *least_loaded(struct hosts *hosts)
{
    struct host *least = &hosts->items[0];
    for (unsigned i = 1; i < hosts->count; i++) {
        struct host *host = &hosts->items[i];
        uint64_t size = host->slots > 0 ? host->slots : 1, least_size = least->slots > 0 ? least->slots : 1;
        if ((uint64_t)(host->workers + 1) * least_size < (uint64_t)(least->workers + 1) * size)
            least = host;
    }
    return least;
}

void hosts_deal(struct hosts *hosts, unsigned masters, unsigned workers)
{
    for (unsigned i = 0; i < hosts->count; i++)
        hosts->items[i].masters = masters / hosts->count + (i < masters % hosts->count);
    for (unsigned w = 0; w < workers; w++)
        least_loaded(hosts)->workers++;
}
