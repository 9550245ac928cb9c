/* SPDX-License-Identifier: MIT */
/* Reads and prints addresses: see address.h. */
#include "common/config/address.h"

#include "common/util/number.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LOOPBACK "127.0.0.1"
#define PORT_MAX 65535

#define NAME_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._"
#define IPV6_LETTERS "0123456789abcdefABCDEF:."

struct written_host {
    const char *text;
    size_t length;
    bool is_ipv6;
};

static const char *read_host(struct written_host *host, const char *text)
{
    host->is_ipv6 = text[0] == '[';
    host->text = host->is_ipv6 ? text + 1 : text;
    host->length = strspn(host->text, host->is_ipv6 ? IPV6_LETTERS : NAME_LETTERS);
    const char *end = host->text + host->length;
    if (host->length == 0 || host->length >= ADDRESS_HOST_MAX || host->text[0] == '-' || (host->is_ipv6 && *end != ']'))
        return NULL;
    return host->is_ipv6 ? end + 1 : end;
}

static bool read_port(const char *text, uint16_t *port)
{
    uint64_t number;
    if (strspn(text, "0123456789") != strlen(text) || number_parse_u64(text, &number) < 0 || number > PORT_MAX)
        return false;
    *port = (uint16_t)number;
    return true;
}

int address_parse(struct address *address, const char *text, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    struct written_host host = {LOOPBACK, strlen(LOOPBACK), false};
    struct address read = {.port = 0};
    error->text[0] = '\0';
    if (strchr(text, ':') == NULL) {
        if (!read_port(text, &read.port))
            return -1;
    } else {
        const char *end = text[0] == ':' ? text : read_host(&host, text);
        if (end == NULL || *end != ':' || !read_port(end + 1, &read.port))
            return -1;
    }
    memcpy(read.host, host.text, host.length);
    *address = read;
    return 0;
}

bool address_is_loopback(const struct address *address)
{
    return strcmp(address->host, "::1") == 0 || strcasecmp(address->host, "localhost") == 0 ||
           (strncmp(address->host, "127.", 4) == 0 && strspn(address->host, "0123456789.") == strlen(address->host));
}

void address_print(const struct address *address, char text[ADDRESS_TEXT_MAX])
{
    const bool is_ipv6 = strchr(address->host, ':') != NULL;
    snprintf(text, ADDRESS_TEXT_MAX, "%s%s%s:%u", is_ipv6 ? "[" : "", address->host, is_ipv6 ? "]" : "",
             (unsigned)address->port);
}

static bool is_host(const struct written_host *host, const char *name)
{
    return strlen(name) == host->length && strncasecmp(host->text, name, host->length) == 0 &&
           host->is_ipv6 == (strchr(name, ':') != NULL);
}

bool address_has_host(const struct address *address, const char *value)
{
    struct written_host host;
    uint16_t port;
    const char *end = value != NULL ? read_host(&host, value) : NULL;
    if (end == NULL || (*end != '\0' && (*end != ':' || !read_port(end + 1, &port))))
        return false;
    return is_host(&host, address->host) || is_host(&host, LOOPBACK) || is_host(&host, "::1") ||
           is_host(&host, "localhost");
}
