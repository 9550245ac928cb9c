/* SPDX-License-Identifier: MIT */
/* Tickets: what is written is read again by its owner alone, and what is none gets one line. */
#include "common/stream/ticket.h"

#include "common/util/error.h"
#include "tests/lib/suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

START_TEST(a_ticket_is_read_as_it_was_written)
{
    char path[] = "/tmp/hdss-ticket-XXXXXX";
    struct ticket written, other, read;
    struct error error;
    struct stat status;
    ck_assert_int_eq(ticket_init(&written, &error), 0);
    ck_assert_int_eq(ticket_init(&other, &error), 0);
    ck_assert_mem_ne(written.key, other.key, sizeof written.key);
    ck_assert_int_eq(stream_address_parse(&written.addresses[0], "unix:/run/set/pods.socket", &error), 0);
    ck_assert_int_eq(stream_address_parse(&written.addresses[1], "node7:4000", &error), 0);
    written.count = 2;
    ck_assert_int_ge(mkstemp(path), 0);
    ck_assert_int_eq(ticket_write(&written, path, &error), 0);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0600);
    ck_assert_int_eq(ticket_read(&read, path, &error), 0);
    ck_assert_uint_eq(read.count, 2);
    ck_assert_str_eq(read.addresses[0].path, "/run/set/pods.socket");
    ck_assert(strcmp(read.addresses[1].port.host, "node7") == 0 && read.addresses[1].port.port == 4000);
    ck_assert_mem_eq(read.key, written.key, sizeof read.key);
    ck_assert_str_eq(read.machine, written.machine);
    ck_assert_int_eq(chmod(path, 0640), 0);
    ck_assert_int_eq(ticket_read(&read, path, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "chmod 600"));
    unlink(path);
    ck_assert_int_eq(ticket_read(&read, path, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "No such file"));
}
END_TEST

/* Whoever is told to change its mode would hide a file that others need. */
START_TEST(another_file_is_named_as_that)
{
    struct ticket read;
    struct error error;
    ck_assert_int_eq(ticket_read(&read, "/etc/passwd", &error), -1);
    ck_assert_str_eq(error.text, "/etc/passwd is not the file of a set that pods can join: it does not begin with the "
                                 "line `hdss-pods 1`");
}
END_TEST

START_TEST(a_socket_leads_nowhere_from_another_machine)
{
    struct ticket ticket;
    struct error error;
    ck_assert_int_eq(ticket_init(&ticket, &error), 0);
    ck_assert_str_ne(ticket.machine, "");
    ck_assert_int_eq(stream_address_parse(&ticket.addresses[0], "/run/set/pods.socket", &error), 0);
    ck_assert_int_eq(stream_address_parse(&ticket.addresses[1], "node7:4000", &error), 0);
    ck_assert(ticket_leads_from_here(&ticket, &ticket.addresses[0]));
    ck_assert_int_eq(
        ticket_parse(&ticket, "hdss-pods 1\naddress /a\naddress node7:4000\nmachine other\nkey " KEY "\n", &error), 0);
    ck_assert_str_eq(ticket.machine, "other");
    ck_assert(!ticket_leads_from_here(&ticket, &ticket.addresses[0]));
    ck_assert(ticket_leads_from_here(&ticket, &ticket.addresses[1]));
    ck_assert_int_eq(ticket_parse(&ticket, "hdss-pods 1\naddress /a\nkey " KEY "\n", &error), 0); /* by hand */
    ck_assert(ticket_leads_from_here(&ticket, &ticket.addresses[0]));
}
END_TEST

static const struct {
    const char *text, *line;
} bad[] = {
    {"", "it does not begin with the line `hdss-pods 1`"},
    {"hdss-pods 2\nkey " KEY "\naddress /a\n", "it does not begin with the line `hdss-pods 1`"},
    {"hdss-pods 1\nkey " KEY "\n", "it has no address"},
    {"hdss-pods 1\naddress /a\n", "it has no key"},
    {"hdss-pods 1\naddress /a\nkey 00\n", "its key is not of 64 hexadecimal digits"},
    {"hdss-pods 1\naddress /a\nkey g" KEY "\n", "its key is not of 64 hexadecimal digits"},
    {"hdss-pods 1\naddress /a\nmachine \nkey " KEY "\n", "its machine is not of 1 to 64 graphic ASCII characters"},
    {"hdss-pods 1\naddress /a\nmachine a b\nkey " KEY "\n", "its machine is not of 1 to 64 graphic ASCII characters"},
    {"hdss-pods 1\naddress /a\nmachine " KEY "0\nkey " KEY "\n",
     "its machine is not of 1 to 64 graphic ASCII characters"},
    {"hdss-pods 1\nport 17\n", "it has a line that no version of HDSS known here writes: 'port 17'"},
};

START_TEST(what_is_no_ticket_gets_one_line)
{
    struct ticket ticket;
    struct error error;
    ck_assert_int_eq(ticket_parse(&ticket, bad[_i].text, &error), -1);
    ck_assert_str_eq(error.text, bad[_i].line);
}
END_TEST

START_TEST(a_ticket_has_so_many_addresses)
{
    char text[2000] = "hdss-pods 1\nkey " KEY "\n";
    struct ticket ticket;
    struct error error;
    for (unsigned i = 0; i < TICKET_ADDRESSES_MAX; i++)
        strcat(text, "address [fd77::1]:4000\n");
    ck_assert_int_eq(ticket_parse(&ticket, text, &error), 0);
    ck_assert_uint_eq(ticket.count, TICKET_ADDRESSES_MAX);
    ck_assert_str_eq(ticket.addresses[TICKET_ADDRESSES_MAX - 1].port.host, "fd77::1");
    strcat(text, "address /e\n");
    ck_assert_int_eq(ticket_parse(&ticket, text, &error), -1);
    ck_assert_str_eq(error.text, "it has a line that no version of HDSS known here writes: 'address /e'");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ticket");
    TCase *all = tcase_create("all");
    tcase_add_test(all, a_ticket_is_read_as_it_was_written);
    tcase_add_test(all, another_file_is_named_as_that);
    tcase_add_test(all, a_socket_leads_nowhere_from_another_machine);
    tcase_add_test(all, a_ticket_has_so_many_addresses);
    tcase_add_loop_test(all, what_is_no_ticket_gets_one_line, 0, sizeof bad / sizeof *bad);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
