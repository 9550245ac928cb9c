/* SPDX-License-Identifier: MIT */
/* Answers questions about a kernel: see questions.h. The kernel may do anything in this process. If it forks, the new
 * process may return to this code. The new process must not answer: there would be two answers to one question. */
#include "worker/helper/questions.h"

#include "common/config/description.h"
#include "common/config/params.h"
#include "common/util/returned.h"
#include "common/util/text.h"
#include "worker/kernels/kernels.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_SOCKET 900

struct answerer {
    int socket;
    pid_t own;
    const struct hdss_kernel *kernel;
    union hdss_value values[HDSS_PARAMS_MAX];
    struct hdss_loop loop;
    /* owned; `described`: the question whose bytes are the texts in `values` */
    unsigned char *question, *described;
};

size_t question_put_values(const struct hdss_param *params, const union hdss_value *values, unsigned char *bytes)
{
    size_t size = 0;
    for (unsigned i = 0; i < HDSS_PARAMS_MAX && params[i].name != NULL; i++) {
        const bool is_text = params[i].kind == HDSS_PARAM_TEXT;
        const size_t length = is_text ? strlen(values[i].text) + 1 : sizeof values[i].integer;
        if (bytes != NULL)
            memcpy(bytes + size, is_text ? (const void *)values[i].text : &values[i], length);
        size += length;
    }
    return size;
}

int question_get_values(const struct hdss_param *params, union hdss_value *values, const unsigned char *bytes,
                        size_t size)
{
    for (unsigned i = 0; i < HDSS_PARAMS_MAX && params[i].name != NULL; i++) {
        const bool is_text = params[i].kind == HDSS_PARAM_TEXT;
        const unsigned char *end = is_text ? memchr(bytes, '\0', size) : bytes;
        if (end == NULL || (!is_text && size < sizeof values[i].integer))
            return -1;
        const size_t length = is_text ? (size_t)(end - bytes) + 1 : sizeof values[i].integer;
        if (is_text)
            values[i].text = (const char *)bytes;
        else
            memcpy(&values[i], bytes, length);
        bytes += length;
        size -= length;
    }
    return size == 0 ? 0 : -1;
}

static bool receive_bytes(int socket, void *bytes, size_t size)
{
    for (size_t got = 0; got < size;) {
        ssize_t count = recv(socket, (char *)bytes + got, size - got, 0);
        if (count == 0 || (count < 0 && errno != EINTR))
            return false;
        got += count > 0 ? (size_t)count : 0;
    }
    return true;
}

static bool send_bytes(int socket, const void *bytes, size_t size)
{
    for (size_t sent = 0; sent < size;) {
        ssize_t count = send(socket, (const char *)bytes + sent, size - sent, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR)
            return false;
        sent += count > 0 ? (size_t)count : 0;
    }
    return true;
}

/* Flushes the kernel's output first, because this process may be killed at any time. */
static bool answer(const struct answerer *answerer, const char *text, const char *line)
{
    const char *said = text != NULL ? text : line;
    const uint32_t length = (uint32_t)strlen(said) + 1;
    if (getpid() != answerer->own)
        _exit(EXIT_STATUS_FAILED);
    fflush(NULL);
    return send_bytes(answerer->socket, &length, sizeof length) &&
           send_bytes(answerer->socket, text != NULL ? "+" : "-", 1) && send_bytes(answerer->socket, said, length - 1);
}

static bool answer_load(struct answerer *answerer, const char *name)
{
    struct error error = {"out of memory for the table of a kernel"};
    char *table = kernel_load(name, &answerer->kernel, &error) == 0 ? kernel_table_text(answerer->kernel) : NULL;
    if (table == NULL)
        answerer->kernel = NULL;
    bool is_said = answer(answerer, table, error.text);
    free(table);
    return is_said;
}

static const char *line_without_name(const struct answerer *answerer, const struct error *error)
{
    const size_t length = strlen(answerer->kernel->name);
    return strncmp(error->text, answerer->kernel->name, length) == 0 && strncmp(error->text + length, ": ", 2) == 0
               ? error->text + length + 2
               : error->text;
}

static bool answer_describe(struct answerer *answerer, size_t size)
{
    struct error error = {"out of memory for the description of a loop"};
    struct text text;
    free(answerer->described);
    answerer->described = answerer->question;
    answerer->question = NULL;
    if (question_get_values(answerer->kernel->params, answerer->values, answerer->described + 1, size - 1) < 0)
        return false;
    text_init(&text);
    if (kernel_describe(answerer->kernel, answerer->values, &answerer->loop, &error) == 0) {
        char *loop = description_text(answerer->kernel, &answerer->loop);
        if (loop != NULL)
            text_add(&text, "%s %s", loop, answerer->loop.note);
        free(loop);
    }
    char *said = text_take(&text);
    bool is_said = answer(answerer, said != NULL && said[0] != '\0' ? said : NULL, line_without_name(answerer, &error));
    free(said);
    return is_said;
}

static bool answer_check(const struct answerer *answerer)
{
    const struct hdss_kernel *kernel = answerer->kernel;
    char line[HDSS_ERROR_MAX] = "";
    int result =
        kernel->check != NULL ? returned(kernel->check(answerer->values, &answerer->loop, line), "check", line) : 0;
    return answer(answerer, result == 0 ? "" : NULL, line);
}

static bool number_of_question(const struct answerer *answerer, size_t size, uint64_t *number)
{
    if (answerer->described == NULL || size != 1 + sizeof *number)
        return false;
    memcpy(number, answerer->question + 1, sizeof *number);
    return true;
}

static bool answer_grow(const struct answerer *answerer, size_t size)
{
    const struct hdss_kernel *kernel = answerer->kernel;
    struct error error;
    char said[40];
    uint64_t iterations;
    if (!number_of_question(answerer, size, &iterations) || kernel->grow == NULL)
        return false;
    int result = kernel_grow(kernel, answerer->values, &iterations, &error);
    snprintf(said, sizeof said, "%" PRIu64 " %d", iterations, result);
    return answer(answerer, result >= 0 ? said : NULL, result < 0 ? line_without_name(answerer, &error) : "");
}

static bool answer_inputs(const struct answerer *answerer, size_t size)
{
    const struct hdss_kernel *kernel = answerer->kernel;
    char said[20], line[HDSS_ERROR_MAX] = "";
    uint64_t iterations, digest = 0;
    if (!number_of_question(answerer, size, &iterations) || kernel->inputs == NULL)
        return false;
    int result = returned(kernel->inputs(answerer->values, iterations, &digest, line), "inputs", line);
    snprintf(said, sizeof said, "%016" PRIx64, digest);
    return answer(answerer, result == 0 ? said : NULL, line);
}

struct precedence_answer {
    struct hdss_precedence calls; /* first member, because the kernel gets its address */
    struct text text;
    uint64_t from, told;
};

static int tell_wait(struct hdss_precedence *calls, uint64_t iteration, uint64_t other)
{
    struct precedence_answer *told = (struct precedence_answer *)calls;
    if (told->told >= told->from && told->told - told->from < PRECEDENCE_ANSWERED)
        text_add(&told->text, "%" PRIu64 " %" PRIu64 " ", iteration, other);
    told->told++;
    return 0;
}

static bool answer_precedence(const struct answerer *answerer, size_t size)
{
    const struct hdss_kernel *kernel = answerer->kernel;
    char line[HDSS_ERROR_MAX] = "";
    struct precedence_answer told = {.calls = {tell_wait}};
    if (!number_of_question(answerer, size, &told.from) || kernel->precedence == NULL)
        return false;
    text_init(&told.text);
    int result = returned(kernel->precedence(answerer->values, &told.calls, line), "precedence", line);
    text_add(&told.text, " ");
    char *said = text_take(&told.text);
    bool is_said = answer(answerer, result == 0 && said != NULL ? said : NULL,
                          said == NULL ? "out of memory for what precedence() says" : line);
    free(said);
    return is_said;
}

static bool answer_one(struct answerer *answerer, size_t size)
{
    pid_t asks;
    const unsigned char *question = answerer->question;
    switch (question[0]) {
    case QUESTION_LOAD:
        if (size < 1 + sizeof asks + 1)
            return false;
        memcpy(&asks, question + 1, sizeof asks);
        return getppid() == asks && answer_load(answerer, (const char *)question + 1 + sizeof asks);
    case QUESTION_DESCRIBE: return answerer->kernel != NULL && answer_describe(answerer, size);
    case QUESTION_CHECK: return answerer->described != NULL && answer_check(answerer);
    case QUESTION_GROW: return answer_grow(answerer, size);
    case QUESTION_PRECEDENCE: return answer_precedence(answerer, size);
    case QUESTION_INPUTS: return answer_inputs(answerer, size);
    default: return false;
    }
}

/* Moves the socket to a high number, which a kernel that closes descriptors is unlikely to reach. */
static int move_out_of_reach(int socket)
{
    int high = fcntl(socket, F_DUPFD_CLOEXEC, ANSWER_SOCKET);
    if (high >= 0)
        close(socket);
    return high >= 0 ? high : socket;
}

int answer_questions(int socket)
{
    static struct answerer answerer;
    uint32_t size;
    bool is_answered = true;
    answerer.socket = socket = move_out_of_reach(socket);
    answerer.own = getpid();
    while (is_answered && receive_bytes(socket, &size, sizeof size) && size > 0) {
        free(answerer.question);
        answerer.question = calloc(1, (size_t)size + 1);
        is_answered =
            answerer.question != NULL && receive_bytes(socket, answerer.question, size) && answer_one(&answerer, size);
    }
    _exit(is_answered ? EXIT_STATUS_DONE : EXIT_STATUS_FAILED);
}
