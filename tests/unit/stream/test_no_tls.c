/* SPDX-License-Identifier: MIT */
/* What a build without OpenSSL says of a port; a socket in a folder it has. */
#include "common/stream/stream.h"
#include "common/stream/tls.h"
#include "common/util/error.h"
#include "tests/lib/suite.h"

#include <string.h>

START_TEST(without_openssl_there_is_one_line)
{
    static const unsigned char key[STREAM_KEY_BYTES];
    struct error error = {""};
    ck_assert_ptr_null(tls_new(key, true, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "this build has no TLS, which HOST:PORT takes; accepted: "));
    ck_assert_ptr_nonnull(strstr(error.text, "libssl-dev"));
    ck_assert_ptr_nonnull(strstr(error.text, "-Dtls=disabled"));
    tls_free(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("no-tls");
    TCase *all = tcase_create("no-tls");
    tcase_add_test(all, without_openssl_there_is_one_line);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
