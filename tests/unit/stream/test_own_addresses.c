/* SPDX-License-Identifier: MIT */
/* Addresses of this machine for others: which are left out, and that those which are listed are addresses again. */
#include "common/stream/own_addresses.h"
#include "tests/lib/suite.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define PORT 7100

static const struct {
    const char *host;
    bool is_for_others;
} known[] = {
    {"127.0.0.1", false}, {"127.9.9.9", false}, {"10.0.0.1", true}, {"192.168.7.2", true}, {"::1", false},
    {"fe80::1", false},   {"febf::1", false},   {"fec0::1", true},  {"fd77::7", true},     {"2001:db8::1", true},
};

static void read_host(struct sockaddr_storage *address, const char *host)
{
    struct sockaddr_in ipv4 = {.sin_family = AF_INET};
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6};
    const bool is_ipv6 = strchr(host, ':') != NULL;
    ck_assert_int_eq(
        inet_pton(is_ipv6 ? AF_INET6 : AF_INET, host, is_ipv6 ? (void *)&ipv6.sin6_addr : (void *)&ipv4.sin_addr), 1);
    memcpy(address, is_ipv6 ? (const void *)&ipv6 : (const void *)&ipv4, is_ipv6 ? sizeof ipv6 : sizeof ipv4);
}

START_TEST(some_addresses_are_for_others)
{
    struct sockaddr_storage address;
    read_host(&address, known[_i].host);
    ck_assert_int_eq(own_address_is_for_others((const struct sockaddr *)&address), known[_i].is_for_others);
}
END_TEST

START_TEST(an_address_of_another_kind_is_not)
{
    const struct sockaddr_un address = {.sun_family = AF_UNIX};
    ck_assert(!own_address_is_for_others((const struct sockaddr *)&address));
}
END_TEST

static const char *const anywhere[] = {"0.0.0.0:7100", "[::]:7100"};

START_TEST(those_of_this_machine_are_listed)
{
    struct stream_address any, list[16], again;
    struct sockaddr_storage address;
    struct error error;
    char text[STREAM_ADDRESS_TEXT_MAX];
    bool has_come_to_ipv6 = false;
    ck_assert_int_eq(stream_address_parse(&any, anywhere[_i], &error), 0);
    ck_assert(own_addresses_are_meant(&any));
    const size_t count = own_addresses_list(&any, list, 16);
    for (size_t i = 0; i < count; i++) {
        const bool is_ipv6 = strchr(list[i].port.host, ':') != NULL;
        ck_assert_uint_eq(list[i].port.port, PORT);
        ck_assert(!own_addresses_are_meant(&list[i]));
        stream_address_print(&list[i], text);
        ck_assert_int_eq(stream_address_parse(&again, text, &error), 0);
        ck_assert_str_eq(again.port.host, list[i].port.host);
        read_host(&address, list[i].port.host);
        ck_assert(own_address_is_for_others((const struct sockaddr *)&address));
        ck_assert(is_ipv6 ? _i == 1 : !has_come_to_ipv6);
        has_come_to_ipv6 = is_ipv6;
    }
    ck_assert_uint_eq(own_addresses_list(&any, list, 0), 0);
}
END_TEST

START_TEST(another_host_is_left_as_it_is)
{
    struct stream_address address;
    struct error error;
    ck_assert_int_eq(stream_address_parse(&address, "[::1]:7100", &error), 0);
    ck_assert(!own_addresses_are_meant(&address));
    own_addresses_settle(&address);
    ck_assert_str_eq(address.port.host, "::1");
    ck_assert_int_eq(stream_address_parse(&address, "/run/a.sock", &error), 0);
    ck_assert(!own_addresses_are_meant(&address));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("own-addresses");
    TCase *all = tcase_create("own-addresses");
    tcase_add_loop_test(all, some_addresses_are_for_others, 0, sizeof known / sizeof *known);
    tcase_add_test(all, an_address_of_another_kind_is_not);
    tcase_add_loop_test(all, those_of_this_machine_are_listed, 0, sizeof anywhere / sizeof *anywhere);
    tcase_add_test(all, another_host_is_left_as_it_is);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
