/* SPDX-License-Identifier: MIT */
/* The file by which pods join a set: see ticket.h. Lines of text; the first line names the format:
 *     hdss-pods 1
 *     address unix:/run/user/1000/hdss/main.pods
 *     address 10.0.0.1:7100
 *     machine 5d0ac1f6-8f0e-4f5b-9d53-0c3f1f7b2f0a
 *     key 64 digits, hexadecimal
 *     sum 8 digits, hexadecimal
 *
 * `machine` is the machine that has the Unix sockets: the boot id of its kernel, or its host name. `sum` is the CRC of
 * all lines before it. Tickets that are written by hand may omit `machine` and `sum`. */
#include "common/stream/ticket.h"

#include "common/os/boot.h"
#include "common/os/files.h"
#include "common/util/crc.h"
#include "common/util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD    "hdss-pods 1"
#define ADDRESS "address "
#define MACHINE "machine "
#define KEY     "key "
#define SUM     "sum "

#define NO_TICKET "%.300s is not the file of a set that pods can join: %.200s"
#define NO_HEAD   "it does not begin with the line `" HEAD "`"

bool ticket_may_name_port(void)
{
#ifdef TICKET_HAS_TLS
    return true;
#else
    return false;
#endif
}

static bool is_machine(const char *name)
{
    size_t length = 0;
    while (name[length] > ' ' && name[length] <= '~')
        length++;
    return name[length] == '\0' && length > 0 && length < TICKET_MACHINE_MAX;
}

static void find_machine(char name[TICKET_MACHINE_MAX])
{
    boot_id(name);
    if (is_machine(name))
        return;
    memset(name, 0, TICKET_MACHINE_MAX);
    if (gethostname(name, TICKET_MACHINE_MAX - 1) < 0 || !is_machine(name))
        name[0] = '\0';
}

void ticket_name_machine(struct ticket *ticket)
{
    find_machine(ticket->machine);
}

bool ticket_leads_from_here(const struct ticket *ticket, const struct stream_address *address)
{
    char here[TICKET_MACHINE_MAX];
    if (stream_address_is_tcp(address) || ticket->machine[0] == '\0')
        return true;
    find_machine(here);
    return strcmp(ticket->machine, here) == 0;
}

int ticket_init(struct ticket *ticket, struct error *error)
{
    *ticket = (struct ticket){0};
    ticket_name_machine(ticket);
    if (getrandom(ticket->key, sizeof ticket->key, 0) != sizeof ticket->key)
        return error_set(error, "cannot draw a key: %s", strerror(errno));
    return 0;
}

char *ticket_text(const struct ticket *ticket)
{
    char address[STREAM_ADDRESS_TEXT_MAX];
    struct text text;
    text_init(&text);
    text_add(&text, HEAD "\n");
    for (size_t i = 0; i < ticket->count; i++) {
        stream_address_print(&ticket->addresses[i], address);
        text_add(&text, ADDRESS "%s\n", address);
    }
    if (ticket->machine[0] != '\0')
        text_add(&text, MACHINE "%s\n", ticket->machine);
    text_add(&text, KEY);
    for (size_t i = 0; i < sizeof ticket->key; i++)
        text_add(&text, "%02x", ticket->key[i]);
    text_add(&text, "\n");
    if (!text.failed)
        text_add(&text, SUM "%08" PRIx32 "\n", crc32c(0, text.data, text.length));
    return text_take(&text);
}

int ticket_write(const struct ticket *ticket, const char *path, struct error *error)
{
    char *bytes = ticket_text(ticket);
    const mode_t before = umask(077);
    const int result =
        bytes != NULL ? file_write(path, bytes, strlen(bytes), error) : error_set(error, "out of memory");
    umask(before);
    free(bytes);
    return result;
}

static int parse_key(struct ticket *ticket, const char *digits, struct error *error)
{
    static const char hexadecimal[] = "0123456789abcdef";
    if (strlen(digits) != 2 * sizeof ticket->key || strspn(digits, hexadecimal) != strlen(digits))
        return error_set(error, "its key is not of %zu hexadecimal digits", 2 * sizeof ticket->key);
    for (size_t i = 0; i < sizeof ticket->key; i++)
        ticket->key[i] = (unsigned char)((strchr(hexadecimal, digits[2 * i]) - hexadecimal) << 4 |
                                         (strchr(hexadecimal, digits[2 * i + 1]) - hexadecimal));
    return 0;
}

static int parse_machine(struct ticket *ticket, const char *name, struct error *error)
{
    if (!is_machine(name))
        return error_set(error, "its machine is not of 1 to %d graphic ASCII characters", TICKET_MACHINE_MAX - 1);
    memcpy(ticket->machine, name, strlen(name) + 1);
    return 0;
}

static int check_sum(const char *text, struct error *error)
{
    char sum[sizeof SUM + 9];
    const char *line = strstr(text, "\n" SUM);
    if (line == NULL)
        return 0;
    snprintf(sum, sizeof sum, SUM "%08" PRIx32 "\n", crc32c(0, text, (size_t)(line + 1 - text)));
    const char *rest = line + 1 + strlen(sum);
    return strncmp(line + 1, sum, strlen(sum)) == 0 && rest[strspn(rest, "\n")] == '\0'
               ? 0
               : error_set(error, "it is damaged; if it was changed by hand, remove its line 'sum'");
}

static int parse_line(struct ticket *ticket, const char *line, bool *has_key, struct error *error)
{
    if (strncmp(line, KEY, strlen(KEY)) == 0) {
        *has_key = true;
        return parse_key(ticket, line + strlen(KEY), error);
    }
    if (strncmp(line, MACHINE, strlen(MACHINE)) == 0)
        return parse_machine(ticket, line + strlen(MACHINE), error);
    if (strncmp(line, SUM, strlen(SUM)) == 0)
        return 0;
    if (strncmp(line, ADDRESS, strlen(ADDRESS)) != 0 || ticket->count == TICKET_ADDRESSES_MAX)
        return error_set(error, "it has a line that no version of HDSS known here writes: '%.60s'", line);
    return stream_address_parse(&ticket->addresses[ticket->count++], line + strlen(ADDRESS), error);
}

int ticket_parse(struct ticket *ticket, const char *text, struct error *error)
{
    bool has_key = false;
    int result = 0;
    char *copy = strdup(text), *rest = copy;
    *ticket = (struct ticket){0};
    if (copy == NULL)
        return error_set(error, "out of memory");
    const char *line = strsep(&rest, "\n");
    if (strcmp(line, HEAD) != 0)
        result = error_set(error, NO_HEAD);
    else
        result = check_sum(text, error);
    while (result == 0 && (line = strsep(&rest, "\n")) != NULL)
        if (line[0] != '\0')
            result = parse_line(ticket, line, &has_key, error);
    free(copy);
    if (result == 0 && (!has_key || ticket->count == 0))
        return error_set(error, "it has no %s", has_key ? "address" : "key");
    return result;
}

static bool may_be_ticket(const char *path)
{
    char line[sizeof HEAD + 1] = "";
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return true;
    setvbuf(file, NULL, _IONBF, 0);
    const bool has_line = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    return has_line && strcmp(line, HEAD "\n") == 0;
}

/* Checks first that the file is a ticket, and then that only this user can access it. The error of the second check
 * asks the user to change the mode of the file. This would be wrong advice for a file that is no ticket. */
static int check_file(const char *path, struct error *error)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return error_set(error, "%.300s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return error_set(error, "%.300s is no file", path);
    if (!may_be_ticket(path))
        return error_set(error, NO_TICKET, path, NO_HEAD);
    if (status.st_uid != geteuid())
        return error_set(error, "%.300s belongs to another user", path);
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return error_set(error, "%.300s can be read by others, who could join by it: type chmod 600 %.300s", path,
                         path);
    return 0;
}

int ticket_read(struct ticket *ticket, const char *path, struct error *error)
{
    struct error why;
    if (check_file(path, error) < 0)
        return -1;
    char *text = file_read(path, error);
    if (text == NULL)
        return -1;
    int result = ticket_parse(ticket, text, &why);
    if (result < 0)
        result = error_set(error, NO_TICKET, path, why.text);
    free(text);
    return result;
}
