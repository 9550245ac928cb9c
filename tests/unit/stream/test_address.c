/* SPDX-License-Identifier: MIT */
/* Addresses of streams as text: what is one, and the line for what is none. */
#include "common/stream/address.h"
#include "common/util/error.h"
#include "tests/lib/suite.h"

#include <string.h>

static const struct {
    const char *text, *path, *host;
    unsigned port;
    const char *printed;
} good[] = {
    {"/run/a.sock", "/run/a.sock", "", 0, "/run/a.sock"},    {"unix:/run/a.sock", "/run/a.sock", "", 0, "/run/a.sock"},
    {"unix:a.sock", "a.sock", "", 0, "unix:a.sock"},         {"node7:4000", "", "node7", 4000, "node7:4000"},
    {"tcp:10.0.0.1:0", "", "10.0.0.1", 0, "10.0.0.1:0"},     {"[::1]:65535", "", "::1", 65535, "[::1]:65535"},
    {"tcp:[fe80::1]:80", "", "fe80::1", 80, "[fe80::1]:80"},
};

START_TEST(an_address_is_read_and_printed)
{
    struct stream_address address;
    struct error error;
    char text[STREAM_ADDRESS_TEXT_MAX];
    ck_assert_int_eq(stream_address_parse(&address, good[_i].text, &error), 0);
    ck_assert_str_eq(address.path, good[_i].path);
    ck_assert_str_eq(address.port.host, good[_i].host);
    ck_assert_uint_eq(address.port.port, good[_i].port);
    ck_assert_int_eq(stream_address_is_tcp(&address), good[_i].path[0] == '\0');
    stream_address_print(&address, text);
    ck_assert_str_eq(text, good[_i].printed);
}
END_TEST

static const char *const bad[] = {"",        "unix:",     "node7",     "4000",     ":4000", "node7:",    "node7:65536",
                                  "node7:x", "tcp:4000",  "tcp::4000", "::1:4000", "[::1]", "[::1:4000", "a b:4000",
                                  "tcp:/a",  "node7:1:2", "node7:0x10"};

START_TEST(what_is_no_address_gets_one_line)
{
    struct stream_address address;
    struct error error;
    ck_assert_int_eq(stream_address_parse(&address, bad[_i], &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "not an address: '"));
    ck_assert_ptr_nonnull(strstr(error.text, "; accepted: unix:PATH, /PATH, HOST:PORT or [IPV6]:PORT"));
}
END_TEST

START_TEST(a_path_has_a_limit)
{
    char text[STREAM_PATH_MAX + 1] = "/";
    struct stream_address address;
    struct error error;
    memset(text + 1, 'a', STREAM_PATH_MAX - 2);
    ck_assert_int_eq(stream_address_parse(&address, text, &error), 0);
    text[STREAM_PATH_MAX - 1] = 'a';
    ck_assert_int_eq(stream_address_parse(&address, text, &error), -1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stream-address");
    TCase *all = tcase_create("stream-address");
    tcase_add_loop_test(all, an_address_is_read_and_printed, 0, sizeof good / sizeof *good);
    tcase_add_loop_test(all, what_is_no_address_gets_one_line, 0, sizeof bad / sizeof *bad);
    tcase_add_test(all, a_path_has_a_limit);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
