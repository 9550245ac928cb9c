/* SPDX-License-Identifier: MIT */
/* Pods that join at a port by credentials. In the place of munge stands a daemon made up here, which knows what it has
 * made, for whom, and whether it was opened; the real one is asked in tests/system. */
#include "common/stream/credential.h"
#include "common/stream/greeting.h"
#include "proto/wire.h"
#include "tests/lib/suite.h"
#include "tests/unit/stream/ends.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MADE_MAX 64

static struct {
    atomic_bool is_down;
    atomic_uint made;
    atomic_bool is_opened[MADE_MAX];
    atomic_bool is_forged; /* the key that comes out is not the one that went in */
} daemon_made_up;

static void fill_key(unsigned char key[STREAM_KEY_BYTES], unsigned number)
{
    memset(key, (int)number + 1, STREAM_KEY_BYTES);
}

int credential_make(unsigned char key[STREAM_KEY_BYTES], char text[CREDENTIAL_MAX + 1], struct error *error)
{
    if (daemon_made_up.is_down || daemon_made_up.made == MADE_MAX)
        return error_set(error, "munge: it does not run");
    fill_key(key, daemon_made_up.made);
    sprintf(text, "MUNGE:%u:", daemon_made_up.made++);
    return 0;
}

int credential_open(const char *text, unsigned char key[STREAM_KEY_BYTES], struct error *error)
{
    unsigned number;
    if (sscanf(text, "MUNGE:%u:", &number) != 1 || number >= daemon_made_up.made)
        return error_set(error, "munge: Invalid credential");
    if (daemon_made_up.is_opened[number])
        return error_set(error, "munge: Replayed credential");
    daemon_made_up.is_opened[number] = true;
    fill_key(key, daemon_made_up.is_forged ? number + 1 : number);
    return 0;
}

/* A set at a port; pods have no key. */
static void begin(struct ends *ends)
{
    memset(&daemon_made_up, 0, sizeof daemon_made_up);
    ends_init(ends, true);
    ends->key = NULL;
}

START_TEST(a_pod_joins_by_a_credential)
{
    struct ends ends;
    begin(&ends);
    ends_joined(&ends, 0);
    ends_joined(&ends, 1);
    ck_assert_uint_eq(daemon_made_up.made, 2);
    ends_send(ends.set, 0, 0);
    ends_send(ends.pod[1], 0, 0);
    ENDS_WAIT(&ends, ends.to[0].messages == 1 && ends.from[1].messages == 1);
    ck_assert_uint_eq(ends.warnings, 0);
    ends_fini(&ends);
}
END_TEST

START_TEST(it_comes_back_by_another_one)
{
    struct ends ends;
    begin(&ends);
    ends_joined(&ends, 0);
    ends_cut(ends.set, 0);
    daemon_made_up.is_down = true; /* for a while */
    ENDS_WAIT(&ends, strstr(ends.pod[0]->joiner->reason.text, "it does not run") != NULL);
    daemon_made_up.is_down = false;
    ends_send(ends.pod[0], 0, 0);
    ENDS_WAIT(&ends, ends.from[0].messages == 1);
    ck_assert_uint_eq(daemon_made_up.made, 2);
    ck_assert_uint_eq(ends.from[0].lost + ends.to[0].lost, 0);
    ends_fini(&ends);
}
END_TEST

START_TEST(without_munge_there_is_one_line)
{
    struct error error = {""};
    struct ends ends;
    begin(&ends);
    daemon_made_up.is_down = true;
    ck_assert(!ends_join(&ends, 0, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "cannot join at 127.0.0.1:"));
    ck_assert_ptr_nonnull(strstr(error.text, ": munge: it does not run"));
    ck_assert_uint_eq(ends.set->peer_count, 0);
    ends_fini(&ends);
}
END_TEST

/* As if somebody between the ends had put a credential of his own in the place of the pod's. */
START_TEST(another_key_than_that_of_the_credential_is_refused)
{
    struct error error = {""};
    struct ends ends;
    begin(&ends);
    daemon_made_up.is_forged = true;
    ck_assert(!ends_join(&ends, 0, &error));
    ck_assert_ptr_nonnull(strstr(error.text, ": it does not take this user's credential of munge"));
    ENDS_WAIT(&ends, ends.warnings == 1);
    ck_assert_ptr_nonnull(strstr(ends.warning.text, " was sent away: it has another key"));
    daemon_made_up.is_forged = false;
    ends_joined(&ends, 0);
    ends_fini(&ends);
}
END_TEST

START_TEST(a_credential_that_was_opened_is_refused_at_both_ends)
{
    struct error error = {""};
    struct ends ends;
    begin(&ends);
    daemon_made_up.is_opened[0] = true;
    ck_assert(!ends_join(&ends, 0, &error));
    ck_assert_ptr_nonnull(strstr(error.text, ": it does not take this user's credential of munge"));
    ENDS_WAIT(&ends, ends.warnings == 1);
    ck_assert_ptr_nonnull(strstr(ends.warning.text, " was sent away: munge: Replayed credential"));
    ck_assert_uint_eq(ends.set->peer_count, 0);
    ends_fini(&ends);
}
END_TEST

/* --- greetings by hand --- */

static size_t make_greeting(unsigned char *out, const char *magic, uint32_t size, const char *credential)
{
    memcpy(out, magic, 8);
    wire_put32(out + 8, size);
    memcpy(out + FRAME_GREETING_BYTES, credential, strlen(credential));
    return FRAME_GREETING_BYTES + strlen(credential);
}

/* Says that, and no more; returns what the set has said of it. */
static const char *say_to_set(struct ends *ends, const unsigned char *bytes, size_t size)
{
    unsigned char answer[256];
    const int fd = ends_connect(ends);
    ends->warning.text[0] = '\0';
    ck_assert_int_eq(send(fd, bytes, size, MSG_NOSIGNAL), (ssize_t)size);
    shutdown(fd, SHUT_WR);
    ck_assert_uint_lt(ends_read(ends, fd, answer, sizeof answer), sizeof answer);
    ENDS_WAIT(ends, ends->set->waiting == 0);
    close(fd);
    return ends->warning.text;
}

START_TEST(what_is_no_greeting_is_refused)
{
    static const struct {
        const char *magic;
        uint32_t size;
        const char *credential, *line;
    } cases[] = {
        {"HDSScred", 8, "MUNGE:9:", "munge: Invalid credential"},
        {"HDSScred", 9, "MUNGE:0 :", "what is no credential of munge"},
        {"HDSScred", 4, "junk", "what is no credential of munge"},
        {"HDSScred", 0, "", "does not speak TLS 1.3 with a shared key"},
        {"HDSScred", CREDENTIAL_MAX + 1, "MUNGE:", "does not speak TLS 1.3 with a shared key"},
        {"HDSSjoin", 8, "MUNGE:0:", "does not speak TLS 1.3 with a shared key"},
    };
    unsigned char bytes[64];
    struct ends ends;
    begin(&ends);
    daemon_made_up.made = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t size = make_greeting(bytes, cases[i].magic, cases[i].size, cases[i].credential);
        ends.set->warned_ns = 0; /* each is told of */
        const char *line = say_to_set(&ends, bytes, size);
        ck_assert_msg(strstr(line, cases[i].line) != NULL, "case %zu: %s", i, line);
    }
    ck_assert(!daemon_made_up.is_opened[0]);
    ck_assert_uint_eq(ends.set->peer_count, 0);
    ends_fini(&ends);
}
END_TEST

/* A greeting that ends anywhere, and one that comes byte by byte. */
START_TEST(a_greeting_may_be_cut_anywhere)
{
    unsigned char bytes[64];
    struct ends ends;
    begin(&ends);
    daemon_made_up.made = 1;
    const size_t size = make_greeting(bytes, "HDSScred", 8, "MUNGE:0:");
    for (size_t cut = 0; cut < size; cut++)
        say_to_set(&ends, bytes, cut);
    ck_assert(!daemon_made_up.is_opened[0]);
    ck_assert_uint_eq(ends.warnings, 0);
    const int fd = ends_connect(&ends);
    for (size_t i = 0; i < size; i++) {
        ck_assert_int_eq(send(fd, bytes + i, 1, MSG_NOSIGNAL), 1);
        ends_turn(&ends);
    }
    ENDS_WAIT(&ends, daemon_made_up.is_opened[0]);
    close(fd);
    ENDS_WAIT(&ends, ends.set->waiting == 0);
    ends_joined(&ends, 0);
    ends_fini(&ends);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stream-credentials");
    TCase *all = tcase_create("credentials");
    tcase_add_test(all, a_pod_joins_by_a_credential);
    tcase_add_test(all, it_comes_back_by_another_one);
    tcase_add_test(all, without_munge_there_is_one_line);
    tcase_add_test(all, another_key_than_that_of_the_credential_is_refused);
    tcase_add_test(all, a_credential_that_was_opened_is_refused_at_both_ends);
    tcase_add_test(all, what_is_no_greeting_is_refused);
    tcase_add_test(all, a_greeting_may_be_cut_anywhere);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
