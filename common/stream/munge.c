/* SPDX-License-Identifier: MIT */
/* Credentials with libmunge: see credential.h. The payload of a credential names a purpose before the key. Credentials
 * for other purposes are not accepted. Cipher and MAC are set explicitly, because munged may be configured to encrypt
 * nothing. */
#include "common/stream/credential.h"

#include <munge.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define PURPOSE "HDSS key of pod"

struct credential_payload {
    char purpose[sizeof PURPOSE];
    unsigned char key[STREAM_KEY_BYTES];
};

static int refuse_credential(munge_err_t reason, munge_ctx_t context, struct error *error)
{
    const char *text = munge_ctx_strerror(context);
    return error_set(error, "munge: %.150s", text != NULL ? text : munge_strerror(reason));
}

static munge_ctx_t new_context(struct error *error)
{
    const char *socket = getenv("HDSS_MUNGE_SOCKET");
    munge_ctx_t context = munge_ctx_create();
    if (context != NULL &&
        (socket == NULL || socket[0] == '\0' || munge_ctx_set(context, MUNGE_OPT_SOCKET, socket) == EMUNGE_SUCCESS))
        return context;
    munge_ctx_destroy(context);
    error_set(error, "out of memory for a credential of munge");
    return NULL;
}

/* Sets an error. The error also says that the file `pods` of the set (its ticket) can be used instead of munge. */
static int refuse_to_make(munge_err_t reason, munge_ctx_t context, struct error *error)
{
    struct error why;
    refuse_credential(reason, context, &why);
    return error_set(error, "%.200s; accepted without munge: the set's file `pods`, or a copy of it", why.text);
}

int credential_make(unsigned char key[STREAM_KEY_BYTES], char text[CREDENTIAL_MAX + 1], struct error *error)
{
    struct credential_payload payload = {.purpose = PURPOSE};
    munge_ctx_t context = new_context(error);
    char *made = NULL;
    int result = -1;
    if (context == NULL)
        return -1;
    if (getrandom(payload.key, sizeof payload.key, 0) != sizeof payload.key) {
        munge_ctx_destroy(context);
        return error_set(error, "cannot draw a key");
    }
    munge_err_t reason = munge_ctx_set(context, MUNGE_OPT_UID_RESTRICTION, geteuid());
    if (reason == EMUNGE_SUCCESS)
        reason = munge_ctx_set(context, MUNGE_OPT_CIPHER_TYPE, MUNGE_CIPHER_AES128);
    if (reason == EMUNGE_SUCCESS)
        reason = munge_ctx_set(context, MUNGE_OPT_MAC_TYPE, MUNGE_MAC_SHA256);
    if (reason == EMUNGE_SUCCESS)
        reason = munge_encode(&made, context, &payload, sizeof payload);
    if (reason != EMUNGE_SUCCESS)
        refuse_to_make(reason, context, error);
    else if (strlen(made) > CREDENTIAL_MAX)
        error_set(error, "munge: a credential of %zu bytes, more than %d", strlen(made), CREDENTIAL_MAX);
    else {
        strcpy(text, made);
        memcpy(key, payload.key, sizeof payload.key);
        result = 0;
    }
    free(made);
    explicit_bzero(&payload, sizeof payload);
    munge_ctx_destroy(context);
    return result;
}

int credential_open(const char *text, unsigned char key[STREAM_KEY_BYTES], struct error *error)
{
    static const char purpose[sizeof PURPOSE] = PURPOSE;
    munge_ctx_t context = new_context(error);
    void *bytes = NULL;
    int size = 0, result = -1;
    uid_t user = (uid_t)-1;
    gid_t group;
    if (context == NULL)
        return -1;
    /* munge_decode() returns the payload even if the credential was already used or has expired */
    const munge_err_t reason = munge_decode(text, context, &bytes, &size, &user, &group);
    const struct credential_payload *payload = bytes;
    if (reason != EMUNGE_SUCCESS)
        refuse_credential(reason, context, error);
    else if (user != geteuid())
        error_set(error, "its credential of munge is of user %u", (unsigned)user);
    else if (size != (int)sizeof *payload || memcmp(payload->purpose, purpose, sizeof purpose) != 0)
        error_set(error, "its credential of munge is for something else");
    else {
        memcpy(key, payload->key, STREAM_KEY_BYTES);
        result = 0;
    }
    if (bytes != NULL)
        explicit_bzero(bytes, (size_t)size);
    free(bytes);
    munge_ctx_destroy(context);
    return result;
}
