/* SPDX-License-Identifier: MIT */
/* Addresses of --http: what is one, which of them is this machine's alone, and which Host a request may name. */
#include "common/config/address.h"
#include "tests/lib/suite.h"

#include <string.h>

static struct address address;
static struct error error;

static void check_is(const char *text, const char *host, unsigned port, const char *printed)
{
    char made[ADDRESS_TEXT_MAX];
    ck_assert_msg(address_parse(&address, text, &error) == 0, "%s", text);
    ck_assert_str_eq(address.host, host);
    ck_assert_uint_eq(address.port, port);
    address_print(&address, made);
    ck_assert_str_eq(made, printed);
}

START_TEST(what_is_an_address)
{
    check_is("8080", "127.0.0.1", 8080, "127.0.0.1:8080");
    check_is("0", "127.0.0.1", 0, "127.0.0.1:0");
    check_is(":80", "127.0.0.1", 80, "127.0.0.1:80");
    check_is("0.0.0.0:65535", "0.0.0.0", 65535, "0.0.0.0:65535");
    check_is("node-7.example:1", "node-7.example", 1, "node-7.example:1");
    check_is("[::1]:80", "::1", 80, "[::1]:80");
}
END_TEST

START_TEST(what_is_none)
{
    static const char *const wrong[] = {"",     ":",     "x",      "x:",    "65536",     ":-1",  ":+1",
                                        ":1e3", "::",    "::1:80", "[::1",  "[::1]",     "[]:1", "[x]:1",
                                        "-x:1", "a b:1", "a/b:1",  "x:1:2", "http://x:1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(address_parse(&address, wrong[i], &error) < 0, "%s", wrong[i]);
        ck_assert_str_eq(error.text, "");
    }
    char name[ADDRESS_HOST_MAX + 3];
    memset(name, 'x', sizeof name);
    strcpy(name + ADDRESS_HOST_MAX, ":1");
    ck_assert_int_lt(address_parse(&address, name, &error), 0);
    ck_assert_int_eq(address_parse(&address, name + 1, &error), 0);
}
END_TEST

START_TEST(which_is_of_this_machine_alone)
{
    static const char *const own[] = {"1", "localhost:1", "127.0.0.1:1", "127.1.2.3:1", "[::1]:1"};
    static const char *const open[] = {"0.0.0.0:1", "[::]:1", "node7:1", "127.0.0.1.example:1", "10.0.0.1:1"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        ck_assert_msg(address_parse(&address, own[i], &error) == 0 && address_is_loopback(&address), "%s", own[i]);
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        ck_assert_msg(address_parse(&address, open[i], &error) == 0 && !address_is_loopback(&address), "%s", open[i]);
}
END_TEST

START_TEST(which_host_may_be_named)
{
    static const char *const right[] = {"localhost", "LocalHost:80", "127.0.0.1", "127.0.0.1:1",
                                        "[::1]",     "[::1]:65535",  "Night",     "night:80"};
    static const char *const wrong[] = {
        "",          "localhost.example", "xlocalhost", "localhost:", "localhost:x", "localhost:80:80", "::1",
        "127.0.0.2", "night.example",     "[night]",    "[::1",       "localhost/",  "a@localhost",     " localhost"};
    ck_assert_int_eq(address_parse(&address, "night:8080", &error), 0);
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        ck_assert_msg(address_has_host(&address, right[i]), "%s", right[i]);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!address_has_host(&address, wrong[i]), "%s", wrong[i]);
    ck_assert(!address_has_host(&address, NULL));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("address");
    TCase *tests = tcase_create("address");
    tcase_add_test(tests, what_is_an_address);
    tcase_add_test(tests, what_is_none);
    tcase_add_test(tests, which_is_of_this_machine_alone);
    tcase_add_test(tests, which_host_may_be_named);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
