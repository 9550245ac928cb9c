/* SPDX-License-Identifier: MIT */
/* Streams to pods beside bare sockets of the same kind, with blocking calls: the time of a message of 64 bytes and its
 * answer, the bandwidth of messages of 4096 bytes, and that of results of 1 MiB, from a pod to its set, which puts each
 * together in one block; all between two processes.
 *
 *   bench-stream [MESSAGES [ROUNDS]]
 *
 * In each round everything has its turn; medians, and the least and the most. A stream over TCP always has TLS, so it
 * stands beside bare sockets without TLS and with OpenSSL on them and nothing else. Results have two more beside them:
 * OpenSSL with a buffer of the size that streams have, and the cipher alone, by which nothing can be faster that
 * encrypts here. */
#include "common/os/clock.h"
#include "common/stream/stream.h"
#include "common/util/error.h"
#include "proto/message.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#ifdef BENCH_TLS
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#endif
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS_MAX   51
#define PING_BYTES   64
#define WINDOW_BYTES (1u << 20) /* unacknowledged by the receiver, as far as the sender goes */
#define READ_BYTES   (64u << 10)
#define SECOND_NS    UINT64_C(1000000000)
#define ONE_RESULT   (1u << 20)
/* Messages of 4096 bytes in place of which one result is sent. */
#define MESSAGES_PER_RESULT 64

static uint64_t messages = 100000;
static unsigned rounds = 5;
static const unsigned char key[STREAM_KEY_BYTES] = "a key for a benchmark";

static void give_up(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

/* --- bare sockets --- */

/* A blocking socket, with TLS where `tls` is not NULL. */
struct bare {
    int fd;
    void *tls; /* SSL, owned */
};

#ifdef BENCH_TLS

static unsigned offer_key(SSL *ssl, const char *hint, char *name, unsigned name_room, unsigned char *out, unsigned room)
{
    (void)ssl, (void)hint, (void)name_room, (void)room;
    strcpy(name, "bench");
    memcpy(out, key, sizeof key);
    return sizeof key;
}

static unsigned find_key(SSL *ssl, const char *name, unsigned char *out, unsigned room)
{
    (void)ssl, (void)name, (void)room;
    memcpy(out, key, sizeof key);
    return sizeof key;
}

/* The socket, behind buffers of that size; 0: without any. */
static BIO *open_buffered(int fd, size_t bytes)
{
    BIO *socket = BIO_new_socket(fd, BIO_NOCLOSE), *buffer = bytes > 0 ? BIO_new(BIO_f_buffer()) : NULL;
    if (buffer == NULL)
        return socket;
    BIO_set_read_buffer_size(buffer, (long)bytes);
    BIO_set_write_buffer_size(buffer, (long)bytes);
    return BIO_push(buffer, socket);
}

/* OpenSSL as it is without any setting but the key, and `buffer_bytes` before the socket: TLS 1.3, with the cipher that
 * streams have. */
static void *shake_hands(int fd, bool listens, size_t buffer_bytes)
{
    SSL_CTX *context = SSL_CTX_new(listens ? TLS_server_method() : TLS_client_method());
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256");
    SSL_CTX_set_psk_client_callback(context, offer_key);
    SSL_CTX_set_psk_server_callback(context, find_key);
    SSL_CTX_set_num_tickets(context, 0);
    SSL *ssl = SSL_new(context);
    BIO *bio = open_buffered(fd, buffer_bytes);
    SSL_set_bio(ssl, bio, bio);
    if ((listens ? SSL_accept(ssl) : SSL_connect(ssl)) != 1) {
        fprintf(stderr, "stream: the handshake of the bare socket fails\n");
        exit(EXIT_FAILURE);
    }
    SSL_CTX_free(context);
    return ssl;
}

static ssize_t send_some(const struct bare *bare, const unsigned char *bytes, size_t size)
{
    return bare->tls != NULL ? SSL_write(bare->tls, bytes, (int)size) : send(bare->fd, bytes, size, 0);
}

static ssize_t receive_some(const struct bare *bare, unsigned char *bytes, size_t size)
{
    return bare->tls != NULL ? SSL_read(bare->tls, bytes, (int)size) : recv(bare->fd, bytes, size, 0);
}

static void flush_bare(const struct bare *bare)
{
    if (bare->tls != NULL && BIO_flush(SSL_get_wbio(bare->tls)) != 1)
        give_up("BIO_flush");
}

static void close_bare(struct bare *bare)
{
    SSL_free(bare->tls);
    close(bare->fd);
}

#else

static void *shake_hands(int fd, bool listens, size_t buffer_bytes)
{
    (void)fd, (void)listens, (void)buffer_bytes;
    return NULL;
}

static void flush_bare(const struct bare *bare)
{
    (void)bare;
}

static ssize_t send_some(const struct bare *bare, const unsigned char *bytes, size_t size)
{
    return send(bare->fd, bytes, size, 0);
}

static ssize_t receive_some(const struct bare *bare, unsigned char *bytes, size_t size)
{
    return recv(bare->fd, bytes, size, 0);
}

static void close_bare(struct bare *bare)
{
    close(bare->fd);
}

#endif

static void send_all(const struct bare *bare, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t count = send_some(bare, bytes, size);
        if (count <= 0)
            give_up("send");
        bytes += count;
        size -= (size_t)count;
    }
}

static size_t receive_once(const struct bare *bare, unsigned char *bytes, size_t size)
{
    const ssize_t count = receive_some(bare, bytes, size);
    if (count <= 0)
        give_up("recv");
    return (size_t)count;
}

static void receive_all(const struct bare *bare, unsigned char *bytes, size_t size)
{
    while (size > 0) {
        const size_t count = receive_once(bare, bytes, size);
        bytes += count;
        size -= count;
    }
}

static void connect_pair(int fds[2], bool is_tcp)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int on = 1;
    if (!is_tcp) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
            give_up("socketpair");
        return;
    }
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    fds[1] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 1) < 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) < 0 ||
        connect(fds[1], (struct sockaddr *)&address, sizeof address) < 0 || (fds[0] = accept(listener, NULL, NULL)) < 0)
        give_up("a pair of sockets");
    for (int i = 0; i < 2; i++)
        setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    close(listener);
}

static void answer_bare(const struct bare *bare, bool is_ping)
{
    static unsigned char bytes[READ_BYTES];
    uint64_t left = messages * MESSAGE_MAX;
    for (uint64_t i = 0; is_ping && i < messages; i++) {
        receive_all(bare, bytes, PING_BYTES);
        send_all(bare, bytes, PING_BYTES);
    }
    while (!is_ping && left > 0)
        left -= receive_once(bare, bytes, sizeof bytes);
    if (!is_ping)
        send_all(bare, bytes, 1);
    _exit(EXIT_SUCCESS);
}

/* Nanoseconds for one message. */
static double time_bare(bool is_tcp, bool has_tls, bool is_ping)
{
    static unsigned char bytes[MESSAGE_MAX];
    int fds[2];
    connect_pair(fds, is_tcp);
    if (fork() == 0)
        answer_bare(&(struct bare){fds[1], has_tls ? shake_hands(fds[1], true, 0) : NULL}, is_ping);
    struct bare bare = {fds[0], has_tls ? shake_hands(fds[0], false, 0) : NULL};
    const uint64_t began = clock_ns(CLOCK_MONOTONIC);
    for (uint64_t i = 0; i < messages; i++) {
        send_all(&bare, bytes, is_ping ? PING_BYTES : sizeof bytes);
        if (is_ping)
            receive_all(&bare, bytes, PING_BYTES);
    }
    if (!is_ping)
        receive_all(&bare, bytes, 1);
    const uint64_t elapsed = clock_ns(CLOCK_MONOTONIC) - began;
    close_bare(&bare);
    close(fds[1]);
    wait(NULL);
    return (double)elapsed / (double)messages;
}

/* --- streams --- */

static struct stream_event next_event(struct event_base *base, struct streams *streams)
{
    struct stream_event event;
    while (!streams_poll(streams, &event))
        event_base_loop(base, EVLOOP_ONCE);
    return event;
}

static void expect_event(struct event_base *base, struct streams *streams, enum stream_event_type type)
{
    if (next_event(base, streams).type != type) {
        fprintf(stderr, "stream: another event than was expected\n");
        exit(EXIT_FAILURE);
    }
}

static struct streams_setup setup_of(bool is_tcp)
{
    return (struct streams_setup){.base = event_base_new(), .key = is_tcp ? key : NULL, .grace_ns = SECOND_NS};
}

static struct streams *join_as_pod(const struct stream_address *address, bool is_tcp, struct event_base **base)
{
    const struct streams_setup setup = setup_of(is_tcp);
    const struct stream_lineup lineup = {.workers = 1, .name = "node"};
    struct stream_welcome welcome;
    struct error error;
    struct streams *streams = streams_join(&setup, address, &lineup, 10 * SECOND_NS, &welcome, &error);
    if (streams == NULL) {
        fprintf(stderr, "stream: %s\n", error.text);
        _exit(EXIT_FAILURE);
    }
    *base = setup.base;
    return streams;
}

/* The child: a pod that answers. */
static void answer_as_pod(const struct stream_address *address, bool is_tcp, bool is_ping)
{
    struct event_base *base;
    struct streams *streams = join_as_pod(address, is_tcp, &base);
    for (uint64_t i = 0; i < messages; i++) {
        const struct stream_event event = next_event(base, streams);
        if (is_ping || i == messages - 1)
            streams_send(streams, 0, event.bytes, PING_BYTES);
    }
    expect_event(base, streams, STREAM_LEFT);
    _exit(EXIT_SUCCESS);
}

static uint64_t drive_pod(struct event_base *base, struct streams *streams, bool is_ping)
{
    static unsigned char bytes[MESSAGE_MAX];
    const uint64_t began = clock_ns(CLOCK_MONOTONIC);
    for (uint64_t i = 0; i < messages; i++) {
        while (streams_unsent(streams, 0) > WINDOW_BYTES)
            event_base_loop(base, EVLOOP_ONCE);
        streams_send(streams, 0, bytes, is_ping ? PING_BYTES : sizeof bytes);
        if (is_ping)
            expect_event(base, streams, STREAM_MESSAGE);
    }
    if (!is_ping)
        expect_event(base, streams, STREAM_MESSAGE);
    return clock_ns(CLOCK_MONOTONIC) - began;
}

static struct streams *listen_as_set(bool is_tcp, struct event_base **base)
{
    const struct streams_setup setup = setup_of(is_tcp);
    struct stream_address address;
    struct error error;
    char text[64];
    snprintf(text, sizeof text, is_tcp ? "127.0.0.1:0" : "/tmp/bench-stream-%d", (int)getpid());
    stream_address_parse(&address, text, &error);
    struct streams *streams = streams_listen(&setup, &address, 1, &error);
    if (streams == NULL) {
        fprintf(stderr, "stream: %s\n", error.text);
        exit(EXIT_FAILURE);
    }
    *base = setup.base;
    return streams;
}

static void welcome_pod(struct event_base *base, struct streams *streams)
{
    const struct stream_welcome welcome = {.first_rank = 1};
    expect_event(base, streams, STREAM_JOINS);
    streams_welcome(streams, 0, &welcome);
}

static void end_set(struct event_base *base, struct streams *streams)
{
    streams_part(streams, 0);
    while (!streams_are_flushed(streams))
        event_base_loop(base, EVLOOP_ONCE);
    streams_free(streams);
    event_base_free(base);
    wait(NULL);
}

static double time_stream(bool is_tcp, bool is_ping)
{
    struct event_base *base;
    struct streams *streams = listen_as_set(is_tcp, &base);
    if (fork() == 0)
        answer_as_pod(streams_address(streams, 0), is_tcp, is_ping);
    welcome_pod(base, streams);
    const uint64_t elapsed = drive_pod(base, streams, is_ping);
    end_set(base, streams);
    return (double)elapsed / (double)messages;
}

/* --- results --- */

static uint64_t result_count(void)
{
    return messages / MESSAGES_PER_RESULT + 1;
}

/* What bare sockets have on them that carry results. */
enum bare_kind { BARE_AS_IT_IS, BARE_OPENSSL, BARE_OPENSSL_BUFFERED, BARE_CIPHER, BARE_KINDS };

static const char *const bare_names[] = {
    [BARE_AS_IT_IS] = "bare TCP",
    [BARE_OPENSSL] = "bare TCP with OpenSSL",
    [BARE_OPENSSL_BUFFERED] = "the same, buffers of 256 KiB",
    [BARE_CIPHER] = "bare TCP with AES-128-GCM",
};

#define BUFFER_BYTES (256u << 10)

#ifdef BENCH_TLS

/* A record as those of TLS, of which TAG_BYTES prove what it is. */
#define RECORD_BYTES    (16u << 10)
#define TAG_BYTES       16
#define NONCE_BYTES     12
#define RECORDS_AT_ONCE (BUFFER_BYTES / RECORD_BYTES)
#define SEALED_BYTES    (RECORD_BYTES + TAG_BYTES)

struct cipher {
    EVP_CIPHER_CTX *context; /* owned */
    uint64_t count;          /* of records */
};

static struct cipher cipher_new(bool encrypts)
{
    const struct cipher cipher = {.context = EVP_CIPHER_CTX_new()};
    if (EVP_CipherInit_ex(cipher.context, EVP_aes_128_gcm(), NULL, key, NULL, encrypts) != 1)
        give_up("AES-128-GCM");
    return cipher;
}

static void encrypt_record(struct cipher *cipher, const unsigned char *from, unsigned char *to)
{
    unsigned char nonce[NONCE_BYTES] = {0};
    int size;
    memcpy(nonce, &cipher->count, sizeof cipher->count);
    cipher->count++;
    if (EVP_EncryptInit_ex(cipher->context, NULL, NULL, NULL, nonce) != 1 ||
        EVP_EncryptUpdate(cipher->context, to, &size, from, RECORD_BYTES) != 1 ||
        EVP_EncryptFinal_ex(cipher->context, to + size, &size) != 1 ||
        EVP_CIPHER_CTX_ctrl(cipher->context, EVP_CTRL_GCM_GET_TAG, TAG_BYTES, to + RECORD_BYTES) != 1)
        give_up("a record");
}

static void decrypt_record(struct cipher *cipher, unsigned char *from, unsigned char *to)
{
    unsigned char nonce[NONCE_BYTES] = {0};
    int size;
    memcpy(nonce, &cipher->count, sizeof cipher->count);
    cipher->count++;
    if (EVP_DecryptInit_ex(cipher->context, NULL, NULL, NULL, nonce) != 1 ||
        EVP_DecryptUpdate(cipher->context, to, &size, from, RECORD_BYTES) != 1 ||
        EVP_CIPHER_CTX_ctrl(cipher->context, EVP_CTRL_GCM_SET_TAG, TAG_BYTES, from + RECORD_BYTES) != 1 ||
        EVP_DecryptFinal_ex(cipher->context, to + size, &size) != 1)
        give_up("a record");
}

static void send_encrypted(const struct bare *bare, struct cipher *cipher, const unsigned char *bytes, size_t size)
{
    static unsigned char sealed[RECORDS_AT_ONCE][SEALED_BYTES];
    for (size_t at = 0; at < size; at += BUFFER_BYTES) {
        for (unsigned i = 0; i < RECORDS_AT_ONCE; i++)
            encrypt_record(cipher, bytes + at + i * RECORD_BYTES, sealed[i]);
        send_all(bare, *sealed, sizeof sealed);
    }
}

static void receive_encrypted(const struct bare *bare, struct cipher *cipher, unsigned char *bytes, size_t size)
{
    static unsigned char sealed[RECORDS_AT_ONCE][SEALED_BYTES];
    for (size_t at = 0; at < size; at += BUFFER_BYTES) {
        receive_all(bare, *sealed, sizeof sealed);
        for (unsigned i = 0; i < RECORDS_AT_ONCE; i++)
            decrypt_record(cipher, sealed[i], bytes + at + i * RECORD_BYTES);
    }
}

#else

struct cipher {
    int none;
};

static struct cipher cipher_new(bool encrypts)
{
    (void)encrypts;
    return (struct cipher){0};
}

static void send_encrypted(const struct bare *bare, struct cipher *cipher, const unsigned char *bytes, size_t size)
{
    (void)bare, (void)cipher, (void)bytes, (void)size;
}

static void receive_encrypted(const struct bare *bare, struct cipher *cipher, unsigned char *bytes, size_t size)
{
    (void)bare, (void)cipher, (void)bytes, (void)size;
}

#endif

static void *tls_of_kind(int fd, bool listens, enum bare_kind kind)
{
    const bool has_tls = kind == BARE_OPENSSL || kind == BARE_OPENSSL_BUFFERED;
    return has_tls ? shake_hands(fd, listens, kind == BARE_OPENSSL_BUFFERED ? BUFFER_BYTES : 0) : NULL;
}

/* The child. */
static void send_bare_results(int fd, enum bare_kind kind)
{
    static unsigned char bytes[ONE_RESULT];
    struct bare bare = {fd, tls_of_kind(fd, true, kind)};
    struct cipher cipher = kind == BARE_CIPHER ? cipher_new(true) : (struct cipher){0};
    for (uint64_t i = 0; i < result_count(); i++) {
        if (kind == BARE_CIPHER)
            send_encrypted(&bare, &cipher, bytes, sizeof bytes);
        else
            send_all(&bare, bytes, sizeof bytes);
        flush_bare(&bare);
    }
    receive_all(&bare, bytes, 1);
    _exit(EXIT_SUCCESS);
}

static void receive_bare_result(const struct bare *bare, struct cipher *cipher, enum bare_kind kind)
{
    static unsigned char bytes[ONE_RESULT];
    if (kind == BARE_CIPHER)
        receive_encrypted(bare, cipher, bytes, sizeof bytes);
    else
        receive_all(bare, bytes, sizeof bytes);
}

/* Microseconds for one result over a bare socket. */
static double time_bare_results(bool is_tcp, enum bare_kind kind)
{
    int fds[2];
    connect_pair(fds, is_tcp);
    if (fork() == 0)
        send_bare_results(fds[1], kind);
    struct bare bare = {fds[0], tls_of_kind(fds[0], false, kind)};
    struct cipher cipher = kind == BARE_CIPHER ? cipher_new(false) : (struct cipher){0};
    receive_bare_result(&bare, &cipher, kind); /* the other end has begun */
    const uint64_t began = clock_ns(CLOCK_MONOTONIC);
    for (uint64_t i = 1; i < result_count(); i++)
        receive_bare_result(&bare, &cipher, kind);
    const uint64_t elapsed = clock_ns(CLOCK_MONOTONIC) - began;
    send_all(&bare, (const unsigned char *)"", 1);
    flush_bare(&bare);
    close_bare(&bare);
    close(fds[1]);
    wait(NULL);
    return (double)elapsed / 1000 / (double)(result_count() - 1);
}

/* The child: a pod that sends results, as its master does (common/mpi/far_results.c). */
static void send_results(const struct stream_address *address, bool is_tcp)
{
    static unsigned char bytes[ONE_RESULT];
    struct event_base *base;
    struct streams *streams = join_as_pod(address, is_tcp, &base);
    streams_gather(streams);
    for (uint64_t i = 0; i < result_count(); i++) {
        streams_send(streams, 0, bytes, PING_BYTES);
        for (size_t at = 0, size; at < sizeof bytes; at += size) {
            size = sizeof bytes - at < STREAM_DATA_MAX ? sizeof bytes - at : STREAM_DATA_MAX;
            if (!streams_has_room(streams, 0))
                streams_flush(streams);
            while (!streams_has_room(streams, 0))
                event_base_loop(base, EVLOOP_ONCE);
            streams_send_data(streams, 0, bytes + at, size);
        }
        streams_flush(streams);
    }
    expect_event(base, streams, STREAM_LEFT);
    _exit(EXIT_SUCCESS);
}

static void take_result(struct event_base *base, struct streams *streams)
{
    static unsigned char bytes[ONE_RESULT];
    expect_event(base, streams, STREAM_MESSAGE);
    for (size_t at = 0; at < sizeof bytes;) {
        const struct stream_event event = next_event(base, streams);
        memcpy(bytes + at, event.bytes, event.size);
        at += event.size;
    }
}

static double time_results(bool is_tcp)
{
    struct event_base *base;
    struct streams *streams = listen_as_set(is_tcp, &base);
    if (fork() == 0)
        send_results(streams_address(streams, 0), is_tcp);
    welcome_pod(base, streams);
    take_result(base, streams);
    const uint64_t began = clock_ns(CLOCK_MONOTONIC);
    for (uint64_t i = 1; i < result_count(); i++)
        take_result(base, streams);
    const uint64_t elapsed = clock_ns(CLOCK_MONOTONIC) - began;
    end_set(base, streams);
    return (double)elapsed / 1000 / (double)(result_count() - 1);
}

/* --- the table --- */

static int compare_doubles(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

static void show(const char *what, double figures[ROUNDS_MAX], const char *unit)
{
    qsort(figures, rounds, sizeof *figures, compare_doubles);
    printf("  %-40s %8.2f (%.2f .. %.2f) %s\n", what, figures[rounds / 2], figures[0], figures[rounds - 1], unit);
}

/* Beside a bare socket, which has TLS where `has_tls`. */
static void compare_with_bare(const char *kind, bool is_tcp, bool has_tls, bool is_ping)
{
    static double bare[ROUNDS_MAX], stream[ROUNDS_MAX], ratio[ROUNDS_MAX];
    const double bytes_per_us = 1000.0 * MESSAGE_MAX;
    for (unsigned i = 0; i < rounds; i++) {
        bare[i] = time_bare(is_tcp, has_tls, is_ping);
        stream[i] = time_stream(is_tcp, is_ping);
        ratio[i] = is_ping ? stream[i] / bare[i] : bare[i] / stream[i];
        bare[i] = is_ping ? bare[i] / 1000 : bytes_per_us / bare[i];
        stream[i] = is_ping ? stream[i] / 1000 : bytes_per_us / stream[i];
    }
    printf("%s, %s\n", kind, is_ping ? "a message of 64 bytes and its answer" : "messages of 4096 bytes one way");
    show(has_tls ? "bare socket with OpenSSL" : "bare socket", bare, is_ping ? "us" : "MB/s");
    show("stream", stream, is_ping ? "us" : "MB/s");
    show("stream over bare socket", ratio, "");
}

static void compare(const char *kind, bool is_tcp, bool is_ping)
{
    compare_with_bare(kind, is_tcp, false, is_ping);
    if (is_tcp)
        compare_with_bare(kind, is_tcp, true, is_ping);
}

/* Results over a stream beside bare TCP, whatever the stream is over, and beside bare sockets of its own kind. */
static void compare_results(const char *kind, bool is_tcp)
{
    static double bare[BARE_KINDS][ROUNDS_MAX], folder[ROUNDS_MAX], stream[ROUNDS_MAX], ratio[BARE_KINDS][ROUNDS_MAX];
    const enum bare_kind kinds = is_tcp ? BARE_KINDS : BARE_AS_IT_IS + 1;
    char text[64];
    for (unsigned i = 0; i < rounds; i++) {
        for (enum bare_kind j = 0; j < kinds; j++)
            bare[j][i] = ONE_RESULT / time_bare_results(true, j);
        if (!is_tcp)
            folder[i] = ONE_RESULT / time_bare_results(false, BARE_AS_IT_IS);
        stream[i] = ONE_RESULT / time_results(is_tcp);
        for (enum bare_kind j = 0; j < kinds; j++)
            ratio[j][i] = stream[i] / bare[j][i];
    }
    printf("%s, results of 1 MiB one way\n", kind);
    for (enum bare_kind j = 0; j < kinds; j++)
        show(bare_names[j], bare[j], "MB/s");
    if (!is_tcp)
        show("bare socket", folder, "MB/s");
    show("stream", stream, "MB/s");
    for (enum bare_kind j = 0; j < kinds; j++) {
        snprintf(text, sizeof text, "stream over %s", bare_names[j]);
        show(text, ratio[j], "");
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        messages = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        rounds = (unsigned)strtoul(argv[2], NULL, 10);
    if (messages == 0 || rounds == 0 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: bench-stream [MESSAGES [ROUNDS]], both at least 1, ROUNDS at most %d\n", ROUNDS_MAX);
        return EXIT_STATUS_USAGE;
    }
    setbuf(stdout, NULL); /* children are forked */
    compare("a socket in a folder", false, true);
    compare("a socket in a folder", false, false);
    compare_results("a socket in a folder", false);
#ifdef BENCH_TLS
    compare("a port, with TLS", true, true);
    compare("a port, with TLS", true, false);
    compare_results("a port, with TLS", true);
#endif
    return EXIT_STATUS_DONE;
}
