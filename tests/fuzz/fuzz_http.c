/* SPDX-License-Identifier: MIT */
/* What a client at a port says of itself, and the address of the port: the first byte says which of them the others
 * are. An address is refused, or is the same when it is written and read again, and has the host that it names; a value
 * of Authorization is right where it is the token, and nowhere else. */
#include "tests/fuzz/fuzz.h"
#include "common/config/address.h"
#include "common/control/bearer.h"
#include "common/util/error.h"

#include <string.h>
#include <strings.h>

#define TOKEN "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void try_address(const char *text)
{
    struct address address, again;
    struct error error;
    char written[ADDRESS_TEXT_MAX];
    if (address_parse(&address, text, &error) < 0) {
        REQUIRE(error.text[0] == '\0');
        return;
    }
    REQUIRE(address.host[0] != '\0' && memchr(address.host, '\0', sizeof address.host) != NULL);
    address_print(&address, written);
    REQUIRE(address_parse(&again, written, &error) == 0);
    REQUIRE(strcmp(again.host, address.host) == 0 && again.port == address.port);
    REQUIRE(address_is_loopback(&again) == address_is_loopback(&address));
    REQUIRE(address_has_host(&address, written));
}

/* A host that is taken has no byte of any other. */
static void try_host(const char *text)
{
    static const char *const hosts[] = {"night", "localhost", "127.0.0.1", "[::1]"};
    const struct address address = {.host = "night", .port = 80};
    bool is_known = false;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        const size_t length = strlen(hosts[i]);
        is_known |= strncasecmp(text, hosts[i], length) == 0 && (text[length] == '\0' || text[length] == ':');
    }
    REQUIRE(is_known || !address_has_host(&address, text));
}

static void try_token(const char *text)
{
    static const struct bearer bearer = {.token = TOKEN};
    const bool is_right = strncasecmp(text, "Bearer ", 7) == 0 && strcmp(text + 7, TOKEN) == 0;
    REQUIRE(bearer_is_shown(&bearer, text) == is_right);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static void (*const tries[])(const char *text) = {try_address, try_host, try_token};
    if (size == 0)
        return 0;
    char *text = fuzz_text(bytes + 1, size - 1);
    tries[bytes[0] % 3](text);
    free(text);
    return 0;
}
