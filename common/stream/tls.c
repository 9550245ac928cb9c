/* SPDX-License-Identifier: MIT */
/* TLS with OpenSSL: see tls.h. Both ends have an external pre-shared key with a fixed identity (RFC 8446, 2.2), which
 * binder and Finished prove. A Diffie-Hellman exchange (psk_dhe_ke) gives each connection its own keys. There are no
 * certificates; the handshake fails without the key. There are no session tickets, resumption or early data.
 *
 * OpenSSL processes one record of 16 KiB at a time, with one system call for each record. Therefore outgoing records
 * are gathered and sent together, and input is received in large pieces. */
#include "common/stream/tls.h"

#include "common/os/modules.h"
#include "common/stream/channel.h"
#include "common/stream/fifo.h"
#include "common/stream/stream.h"
#include "common/stream/world.h"
#include "common/util/error.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define KEY_NAME     "hdss"
#define OWN_KEY_NAME "munge"
#define CIPHER_NAME  "TLS_AES_128_GCM_SHA256"
/* Size of one receive. The received bytes and the decrypted bytes together fit in a core's cache. */
#define TLS_INPUT_BYTES ((size_t)128 << 10)
/* Records are sent with one call after they contain this many plain bytes. */
#define TLS_OUTPUT_BYTES ((size_t)256 << 10)

struct tls {
    SSL_CTX *context;
    SSL_SESSION *key;
    BIO_METHOD *socket;
    bool listens;
};

struct tls_session {
    SSL *ssl;
    /* key of this connection; owned; NULL: the connection has no key of its own and uses only that of `struct tls` */
    SSL_SESSION *key;
    const struct stream_world_ops *ops;
    int fd;
    struct fifo output;
    unsigned char *input;
    size_t input_begin, input_end;
    bool may_receive;
    bool has_heard;
    bool has_more;
};

static const unsigned char cipher_id[2] = {0x13, 0x01}; /* code of CIPHER_NAME, from RFC 8446, B.4 */

static SSL_SESSION *session_of_key(SSL_CTX *context, const unsigned char *key)
{
    SSL_SESSION *session = SSL_SESSION_new();
    SSL *ssl = SSL_new(context);
    const SSL_CIPHER *cipher = ssl != NULL ? SSL_CIPHER_find(ssl, cipher_id) : NULL;
    const bool is_good =
        session != NULL && cipher != NULL && SSL_SESSION_set1_master_key(session, key, STREAM_KEY_BYTES) == 1 &&
        SSL_SESSION_set_cipher(session, cipher) == 1 && SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1;
    SSL_free(ssl);
    if (is_good)
        return session;
    SSL_SESSION_free(session);
    return NULL;
}

/* OpenSSL calls this at the listening end to find the key whose name the peer has sent. Finds no key if the name is
 * unknown. */
static int find_shared_key(SSL *ssl, const unsigned char *name, size_t length, SSL_SESSION **found)
{
    const struct tls *tls = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    const struct tls_session *session = SSL_get_app_data(ssl);
    SSL_SESSION *key = NULL;
    if (length == strlen(KEY_NAME) && memcmp(name, KEY_NAME, length) == 0)
        key = tls->key;
    else if (length == strlen(OWN_KEY_NAME) && memcmp(name, OWN_KEY_NAME, length) == 0)
        key = session->key;
    *found = key != NULL ? SSL_SESSION_dup(key) : NULL;
    return 1;
}

static int offer_shared_key(SSL *ssl, const EVP_MD *digest, const unsigned char **name, size_t *length,
                            SSL_SESSION **offered)
{
    const struct tls *tls = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    const struct tls_session *session = SSL_get_app_data(ssl);
    const char *text = session->key != NULL ? OWN_KEY_NAME : KEY_NAME;
    SSL_SESSION *key = session->key != NULL ? session->key : tls->key;
    (void)digest;
    *name = (const unsigned char *)text;
    *length = strlen(text);
    *offered = key != NULL ? SSL_SESSION_dup(key) : NULL;
    return *offered != NULL;
}

static int send_records(struct tls_session *session)
{
    struct fifo *output = &session->output;
    while (fifo_size(output) > 0) {
        const ssize_t count = session->ops->send(session->fd, fifo_first(output), fifo_size(output), MSG_NOSIGNAL);
        if (count <= 0)
            return count < 0 && (errno == EAGAIN || errno == EINTR) ? CHANNEL_WRITES : CHANNEL_BROKEN;
        fifo_drop(output, (size_t)count);
    }
    return 0;
}

static int socket_write(BIO *bio, const char *bytes, int size)
{
    struct tls_session *session = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    unsigned char *room = size > 0 ? fifo_append(&session->output, (size_t)size) : NULL;
    if (room == NULL)
        return -1;
    memcpy(room, bytes, (size_t)size);
    return size;
}

/* Like recv(), but makes at most one system call for each tls_read(), because a second call would usually receive
 * nothing. */
static ssize_t receive_block(struct tls_session *session)
{
    if (!session->may_receive) {
        errno = EAGAIN;
        return -1;
    }
    session->may_receive = false;
    const ssize_t count = session->ops->receive(session->fd, session->input, TLS_INPUT_BYTES, 0);
    session->input_begin = 0;
    session->input_end = count > 0 ? (size_t)count : 0;
    session->has_heard = count > 0;
    return count;
}

static int socket_read(BIO *bio, char *bytes, int size)
{
    struct tls_session *session = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (session->input_begin == session->input_end) {
        const ssize_t count = receive_block(session);
        if (count < 0 && (errno == EAGAIN || errno == EINTR))
            BIO_set_retry_read(bio);
        if (count <= 0)
            return (int)count;
    }
    const size_t left = session->input_end - session->input_begin, count = (size_t)size < left ? (size_t)size : left;
    memcpy(bytes, session->input + session->input_begin, count);
    session->input_begin += count;
    return (int)count;
}

static long flush_socket(BIO *bio)
{
    const int result = send_records(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    if (result == CHANNEL_WRITES)
        BIO_set_retry_write(bio);
    return result == 0 ? 1 : -1;
}

static long socket_control(BIO *bio, int command, long number, void *pointer)
{
    (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH ? flush_socket(bio) : 0;
}

static BIO_METHOD *socket_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stream");
    if (method == NULL || !BIO_meth_set_write(method, socket_write) || !BIO_meth_set_read(method, socket_read) ||
        !BIO_meth_set_ctrl(method, socket_control)) {
        BIO_meth_free(method);
        return NULL;
    }
    return method;
}

static bool set_up(struct tls *tls, const unsigned char *key)
{
    /* The machine's OpenSSL configuration is not loaded: it is for another OpenSSL, and may name modules, which this
     * program cannot load. */
    if (is_one_file())
        OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
    SSL_CTX *context = tls->context = SSL_CTX_new(tls->listens ? TLS_server_method() : TLS_client_method());
    if (context == NULL || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_ciphersuites(context, CIPHER_NAME) != 1 || SSL_CTX_set_num_tickets(context, 0) != 1)
        return false;
    SSL_CTX_set_app_data(context, tls);
    SSL_CTX_set_mode(context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    /* The connecting end trusts no authority and refuses every certificate, so the peer can prove its identity only by
     * the shared key. */
    SSL_CTX_set_verify(context, tls->listens ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    if (tls->listens)
        SSL_CTX_set_psk_find_session_callback(context, find_shared_key);
    else
        SSL_CTX_set_psk_use_session_callback(context, offer_shared_key);
    if (key != NULL && (tls->key = session_of_key(context, key)) == NULL)
        return false;
    return (tls->socket = socket_method()) != NULL;
}

struct tls *tls_new(const unsigned char *key, bool listens, struct error *error)
{
    struct tls *tls = calloc(1, sizeof *tls);
    if (tls != NULL) {
        tls->listens = listens;
        if (set_up(tls, key))
            return tls;
    }
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    error_set(error, "cannot set up TLS: %s", reason != NULL ? reason : "out of memory");
    ERR_clear_error();
    tls_free(tls);
    return NULL;
}

void tls_free(struct tls *tls)
{
    if (tls == NULL)
        return;
    SSL_SESSION_free(tls->key);
    SSL_CTX_free(tls->context);
    BIO_meth_free(tls->socket);
    free(tls);
}

struct tls_session *tls_session_new(struct tls *tls, const struct stream_world_ops *ops, int fd)
{
    struct tls_session *session = calloc(1, sizeof *session);
    if (session == NULL)
        return NULL;
    session->ops = ops;
    session->fd = fd;
    fifo_init(&session->output);
    session->input = malloc(TLS_INPUT_BYTES);
    session->ssl = SSL_new(tls->context);
    BIO *bio = BIO_new(tls->socket);
    if (session->input == NULL || session->ssl == NULL || bio == NULL) {
        BIO_free(bio);
        tls_session_free(session);
        return NULL;
    }
    BIO_set_data(bio, session);
    BIO_set_init(bio, 1);
    SSL_set_bio(session->ssl, bio, bio);
    if (tls->listens)
        SSL_set_accept_state(session->ssl);
    else
        SSL_set_connect_state(session->ssl);
    SSL_set_app_data(session->ssl, session);
    return session;
}

void tls_session_free(struct tls_session *session)
{
    if (session == NULL)
        return;
    SSL_free(session->ssl);
    SSL_SESSION_free(session->key);
    fifo_fini(&session->output);
    free(session->input);
    free(session);
}

int tls_session_take_key(struct tls_session *session, const unsigned char *key)
{
    session->key = session_of_key(SSL_get_SSL_CTX(session->ssl), key);
    return session->key != NULL ? 0 : -1;
}

static enum channel_result result_of(const struct tls_session *session, int returned)
{
    switch (SSL_get_error(session->ssl, returned)) {
    case SSL_ERROR_WANT_READ: return CHANNEL_READS;
    case SSL_ERROR_WANT_WRITE: return CHANNEL_WRITES;
    case SSL_ERROR_SSL: break;
    default: return CHANNEL_BROKEN;
    }
#ifdef SSL_R_UNEXPECTED_EOF_WHILE_READING
    if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
        return CHANNEL_BROKEN;
#endif
    return CHANNEL_FAILED;
}

int tls_handshake(struct tls_session *session, struct error *error)
{
    ERR_clear_error();
    session->may_receive = true;
    const int returned = SSL_do_handshake(session->ssl);
    if (returned == 1 && SSL_session_reused(session->ssl))
        return 0;
    const enum channel_result result = returned == 1 ? CHANNEL_FAILED : result_of(session, returned);
    if (result == CHANNEL_FAILED) {
        const int reason = ERR_GET_REASON(ERR_peek_error());
        const bool is_key = reason == SSL_R_BINDER_DOES_NOT_VERIFY || reason == SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER ||
                            reason == SSL_R_TLSV1_ALERT_DECRYPT_ERROR;
        error_set(error, "%s", is_key ? "it has another key" : "it does not speak TLS 1.3 with a shared key");
    }
    ERR_clear_error();
    return result;
}

static int size_for_openssl(size_t size)
{
    return size < INT32_MAX ? (int)size : INT32_MAX;
}

/* Returns whether OpenSSL may have input although the socket does not become readable. Such input is received bytes
 * that are not decrypted yet, or the rest of a record. */
static bool has_input(const struct tls_session *session)
{
    return session->input_begin < session->input_end || SSL_pending(session->ssl) > 0;
}

ssize_t tls_read(struct tls_session *session, unsigned char *bytes, size_t size)
{
    size_t done = 0;
    int count;
    ERR_clear_error();
    session->has_heard = false;
    session->may_receive = true;
    do {
        count = SSL_read(session->ssl, bytes + done, size_for_openssl(size - done));
        done += count > 0 ? (size_t)count : 0;
    } while (count > 0 && done < size && has_input(session));
    const int result = count > 0 ? 0 : result_of(session, count);
    session->has_more = count > 0 ? has_input(session) : result != CHANNEL_READS;
    return done > 0 ? (ssize_t)done : result;
}

ssize_t tls_write(struct tls_session *session, const unsigned char *bytes, size_t size)
{
    ERR_clear_error();
    const int result = send_records(session);
    if (result != 0)
        return result;
    const int count =
        SSL_write(session->ssl, bytes, size_for_openssl(size < TLS_OUTPUT_BYTES ? size : TLS_OUTPUT_BYTES));
    if (count <= 0)
        return result_of(session, count);
    send_records(session); /* if sending fails now, the next call reports the failure */
    return count;
}

int tls_flush(struct tls_session *session)
{
    return send_records(session);
}

bool tls_has_more(const struct tls_session *session)
{
    return session->has_more;
}

bool tls_has_heard(const struct tls_session *session)
{
    return session->has_heard;
}
