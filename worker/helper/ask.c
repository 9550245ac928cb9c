/* SPDX-License-Identifier: MIT */
/* Asking another process about a kernel: see ask.h. */
#include "worker/helper/ask.h"

#include "common/config/description.h"
#include "common/job/technique_load.h"
#include "common/os/clock.h"
#include "worker/exec/helper.h"
#include "worker/helper/package.h"
#include "worker/helper/questions.h"
#include "worker/helper/start.h"
#include "worker/kernels/kernels.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Time limit of describe(), check() and other questions, which may read files that are large and remote. */
#define ASK_LIMIT_NS UINT64_C(300000000000)
/* Time limit of loading a kernel: a Python module may be imported from a busy file system. */
#define ASK_LOAD_NS UINT64_C(1800000000000)
/* If so many helpers in succession die at the same question, the question counts as the cause. */
#define ASK_DEATHS_MAX 3
#define ASK_LOOK_MS    20
#define ASK_END_NS     UINT64_C(1000000000)

/* A loop that was described. It is kept until the asker is freed, because callers keep pointers to its texts. */
struct asked_loop {
    struct description description;
    struct asked_loop *next;
};

struct asked_kernel {
    struct kernel_table table;
    char *name;
    struct asked_loop *loops;
    struct asked_kernel *next;
};

enum outcome { EXCHANGE_GOES_ON, EXCHANGE_ANSWERED, EXCHANGE_FAILED };

struct exchange {
    unsigned char *question; /* owned; the first 4 bytes are the question's length */
    uint32_t size, sent;
    uint32_t length, got;
    uint64_t began_ns, limit_ns;
    uint64_t over_ns;
    bool is_over;
    bool is_wrong;
    bool has_ended;
    enum outcome outcome;
};

struct asker {
    const char *program;
    uint64_t limit_ns, load_limit_ns;
    uint64_t patience_ns;
    /* list of all kernels, owned; and the kernel in this list that was loaded last */
    struct asked_kernel *kernels, *latest;
    pid_t pid;
    int socket;
    bool has_described;
    struct exchange exchange;
    char *answer;
    char *loading; /* name of the kernel that the helper is loading; owned; NULL: none */
    unsigned loads_died;
    /* The end of an error line that says why there is no answer. The line begins with the name of the called
     * function. */
    char why[HDSS_ERROR_MAX];
};

/* `only` is the asker of a process with a single job; `asker` is the present asker. */
static struct asker only = {.limit_ns = ASK_LIMIT_NS,
                            .load_limit_ns = ASK_LOAD_NS,
                            .patience_ns = UINT64_MAX,
                            .socket = -1},
                    *asker = &only;

void ask_set(const char *program, uint64_t limit_ns)
{
    only.program = program;
    only.limit_ns = only.load_limit_ns = limit_ns;
}

void ask_end(void)
{
    if (asker->pid > 0) {
        kill(asker->pid, SIGKILL);
        while (waitpid(asker->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (asker->socket >= 0)
        close(asker->socket);
    free(asker->answer);
    free(asker->exchange.question);
    free(asker->loading);
    asker->answer = asker->loading = NULL;
    asker->exchange.question = NULL;
    asker->pid = 0;
    asker->socket = -1;
    asker->has_described = false;
}

struct asker *ask_new(uint64_t limit_ns, uint64_t patience_ns)
{
    struct asker *made = malloc(sizeof *made);
    if (made != NULL)
        *made = (struct asker){.program = only.program,
                               .limit_ns = limit_ns,
                               .load_limit_ns = only.load_limit_ns,
                               .patience_ns = patience_ns,
                               .socket = -1};
    return made;
}

void ask_use(struct asker *other)
{
    asker = other != NULL ? other : &only;
}

static void forget_kernel(struct asked_kernel *kernel)
{
    for (struct asked_loop *loop = kernel->loops, *next; loop != NULL; loop = next) {
        next = loop->next;
        description_fini(&loop->description);
        free(loop);
    }
    kernel_table_fini(&kernel->table);
    free(kernel->name);
    free(kernel);
}

void ask_free(struct asker *other)
{
    if (other == NULL)
        return;
    ask_use(other);
    ask_end();
    ask_use(NULL);
    for (struct asked_kernel *kernel = other->kernels, *next; kernel != NULL; kernel = next) {
        next = kernel->next;
        forget_kernel(kernel);
    }
    free(other);
}

static int find_helper(struct helper_program *program, struct error *error)
{
    static char describes[] = HELPER_DESCRIBES;
    char *const words[] = {describes};
    if (asker->program == NULL)
        return helper_program_init(program, 1, words, error);
    return helper_program_init_at(program, asker->program, 1, words, error);
}

static int begin_helper(struct helper_program *program, char line[HDSS_ERROR_MAX])
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
        snprintf(line, HDSS_ERROR_MAX, "needs a process of its own, for which there is no socket: %s", strerror(errno));
        return -1;
    }
    pid_t pid = helper_program_begin(program, ends[1], ends[1], line);
    close(ends[1]);
    asker->socket = ends[0];
    asker->pid = pid > 0 ? pid : 0;
    return pid > 0 ? 0 : -1;
}

static bool ask_has_ended(char line[HDSS_ERROR_MAX])
{
    int status;
    if (waitpid(asker->pid, &status, WNOHANG) != asker->pid)
        return false;
    asker->pid = 0;
    helper_tell_end(status, line);
    return true;
}

static bool exchange_more(struct exchange *exchange)
{
    const uint32_t head = sizeof exchange->length;
    while (exchange->sent < exchange->size) {
        ssize_t count = send(asker->socket, exchange->question + exchange->sent, exchange->size - exchange->sent,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0) {
            exchange->is_over = errno == EPIPE || errno == ECONNRESET;
            return exchange->is_over;
        }
        exchange->sent += (uint32_t)count;
    }
    while (exchange->got < head || exchange->got < head + exchange->length) {
        char *to =
            exchange->got < head ? (char *)&exchange->length + exchange->got : asker->answer + (exchange->got - head);
        uint32_t more = exchange->got < head ? head - exchange->got : head + exchange->length - exchange->got;
        ssize_t count = recv(asker->socket, to, more, MSG_DONTWAIT);
        if (count <= 0) {
            exchange->is_over = count == 0 || (errno != EAGAIN && errno != EINTR);
            return exchange->is_over;
        }
        exchange->got += (uint32_t)count;
        if (exchange->got != head)
            continue;
        exchange->is_wrong = exchange->length == 0 || exchange->length > ANSWER_MAX;
        asker->answer = exchange->is_wrong ? NULL : calloc(1, (size_t)exchange->length + 1);
        if (asker->answer == NULL)
            return exchange->is_wrong = true;
    }
    return true;
}

static enum outcome exchange_look(struct exchange *exchange)
{
    if (exchange->outcome != EXCHANGE_GOES_ON)
        return exchange->outcome;
    if (!exchange_more(exchange) || exchange->is_over) {
        if (exchange->has_ended)
            return exchange->outcome = EXCHANGE_FAILED;
        exchange->has_ended = ask_has_ended(asker->why);
        const uint64_t passed_ns = clock_ns(CLOCK_MONOTONIC) - exchange->began_ns;
        exchange->over_ns = exchange->is_over && exchange->over_ns == 0 ? passed_ns : exchange->over_ns;
        if (exchange->has_ended)
            return exchange_look(exchange);
        if (passed_ns > exchange->limit_ns) {
            snprintf(asker->why, sizeof asker->why, "took longer than %g s; accepted: less, or --isolate off",
                     (double)exchange->limit_ns / 1e9);
            return exchange->outcome = EXCHANGE_FAILED;
        }
        if (exchange->is_over && passed_ns - exchange->over_ns > ASK_END_NS) {
            snprintf(asker->why, sizeof asker->why,
                     "closed the socket of its process; accepted: kernels that leave alone what "
                     "they have not opened, or --isolate off");
            return exchange->outcome = EXCHANGE_FAILED;
        }
        return EXCHANGE_GOES_ON;
    }
    if (!exchange->is_wrong && (asker->answer[0] == '+' || asker->answer[0] == '-'))
        return exchange->outcome = EXCHANGE_ANSWERED;
    snprintf(asker->why, sizeof asker->why,
             "wrote to the socket of its process; accepted: kernels that leave alone what they "
             "have not opened, or --isolate off");
    return exchange->outcome = EXCHANGE_FAILED;
}

static enum outcome exchange_await(struct exchange *exchange, uint64_t patience_ns)
{
    const uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
    while (exchange_look(exchange) == EXCHANGE_GOES_ON && clock_ns(CLOCK_MONOTONIC) - began_ns < patience_ns) {
        struct pollfd news = {.fd = asker->socket, .events = exchange->sent < exchange->size ? POLLOUT : POLLIN};
        poll(exchange->is_over ? NULL : &news, !exchange->is_over, ASK_LOOK_MS);
    }
    return exchange->outcome;
}

static bool begin_asking(enum question question, const void *first, size_t first_size, const void *second,
                         size_t second_size, uint64_t limit_ns)
{
    const size_t size = sizeof(uint32_t) + 1 + first_size + second_size;
    const uint32_t length = (uint32_t)(size - sizeof length);
    unsigned char *bytes = size <= INT32_MAX ? malloc(size) : NULL;
    free(asker->answer);
    free(asker->exchange.question);
    asker->answer = NULL;
    asker->exchange = (struct exchange){
        .question = bytes, .size = (uint32_t)size, .began_ns = clock_ns(CLOCK_MONOTONIC), .limit_ns = limit_ns};
    if (bytes == NULL) {
        snprintf(asker->why, sizeof asker->why, "cannot be asked for: out of memory");
        return false;
    }
    memcpy(bytes, &length, sizeof length);
    bytes[sizeof length] = (unsigned char)question;
    memcpy(bytes + sizeof length + 1, first, first_size);
    if (second_size > 0)
        memcpy(bytes + sizeof length + 1 + first_size, second, second_size);
    return true;
}

static bool ask(enum question question, const void *bytes, size_t size)
{
    const bool is_answered = begin_asking(question, bytes, size, NULL, 0, asker->limit_ns) &&
                             exchange_await(&asker->exchange, UINT64_MAX) == EXCHANGE_ANSWERED;
    if (!is_answered)
        ask_end();
    return is_answered;
}

static bool may_ask_again(unsigned *deaths)
{
    return asker->exchange.has_ended && ++*deaths < ASK_DEATHS_MAX;
}

bool ask_is_loading(void)
{
    return asker->loading != NULL;
}

bool ask_has_loaded(void)
{
    return exchange_look(&asker->exchange) != EXCHANGE_GOES_ON;
}

int ask_socket(void)
{
    return asker->socket;
}

static int begin_to_load(const char *name, struct helper_program *program, struct error *error)
{
    const pid_t own = getpid();
    char line[HDSS_ERROR_MAX] = "";
    ask_end();
    if (begin_helper(program, line) < 0)
        return error_set(error, "kernel %.200s: %s", name, line);
    asker->loading = strdup(name);
    if (asker->loading != NULL &&
        begin_asking(QUESTION_LOAD, &own, sizeof own, name, strlen(name) + 1, asker->load_limit_ns))
        return 0;
    ask_end();
    return error_set(error, "kernel %.100s: out of memory", name);
}

/* Loads a kernel in the helper. Fails if loading takes longer than `patience_ns`; the helper then continues to load,
 * and a later call takes its answer. */
static int ask_to_load(const char *name, uint64_t patience_ns, struct helper_program *program, struct error *error)
{
    asker->loads_died = asker->loading != NULL ? asker->loads_died : 0;
    do {
        const bool has_begun = asker->loading != NULL && strcmp(asker->loading, name) == 0;
        if (!has_begun && begin_to_load(name, program, error) < 0)
            return -1;
        const enum outcome outcome = exchange_await(&asker->exchange, patience_ns);
        if (outcome == EXCHANGE_GOES_ON)
            return error_set(error, "kernel %.200s: it is not loaded yet", name);
        free(asker->loading);
        asker->loading = NULL;
        if (outcome == EXCHANGE_ANSWERED)
            return asker->answer[0] == '+' ? 0 : error_set(error, "%s", asker->answer + 1);
        ask_end();
    } while (may_ask_again(&asker->loads_died));
    return error_set(error, "kernel %.100s: loading it %.300s", name, asker->why);
}

static int have_helper(char line[HDSS_ERROR_MAX])
{
    struct helper_program program;
    struct error error;
    if (asker->pid > 0)
        return 0;
    int result = find_helper(&program, &error);
    if (result == 0) {
        result = ask_to_load(asker->latest->name, asker->limit_ns, &program, &error);
        helper_program_fini(&program);
    }
    if (asker->loading != NULL)
        ask_end();
    if (result < 0)
        snprintf(line, HDSS_ERROR_MAX, "%.*s", HDSS_ERROR_MAX - 1, error.text);
    return result;
}

static int take_loop(struct asked_kernel *kernel, struct hdss_loop *loop, char line[HDSS_ERROR_MAX])
{
    struct error error;
    char *note = strchr(asker->answer, ' ');
    struct asked_loop *asked = calloc(1, sizeof *asked);
    if (note != NULL)
        *note++ = '\0';
    if (asked == NULL || note == NULL || strlen(note) >= sizeof loop->note ||
        description_read(&asked->description, asker->answer + 1, &error) < 0) {
        free(asked);
        snprintf(line, HDSS_ERROR_MAX, "describe() is answered with what describes no loop");
        return -1;
    }
    asked->next = kernel->loops;
    kernel->loops = asked;
    *loop = asked->description.loop;
    memcpy(loop->note, note, strlen(note) + 1);
    return 0;
}

static int ask_describe(const union hdss_value *values, struct hdss_loop *loop, char line[HDSS_ERROR_MAX])
{
    struct asked_kernel *kernel = asker->latest;
    const size_t size = question_put_values(kernel->table.params, values, NULL);
    unsigned char *bytes = malloc(size + 1);
    unsigned deaths = 0;
    bool is_answered = false;
    if (bytes == NULL) {
        snprintf(line, HDSS_ERROR_MAX, "describe() cannot be asked for: out of memory");
        return -1;
    }
    question_put_values(kernel->table.params, values, bytes);
    do {
        if (have_helper(line) < 0)
            break;
        is_answered = ask(QUESTION_DESCRIBE, bytes, size);
        if (!is_answered)
            snprintf(line, HDSS_ERROR_MAX, "describe() %.350s", asker->why);
    } while (!is_answered && may_ask_again(&deaths));
    free(bytes);
    if (!is_answered)
        return -1;
    asker->has_described = asker->answer[0] == '+';
    if (asker->has_described)
        return take_loop(kernel, loop, line);
    snprintf(line, HDSS_ERROR_MAX, "%.*s", HDSS_ERROR_MAX - 1, asker->answer + 1);
    return -1;
}

/* Asks the helper about the loop. If the helper does not know the loop, asks it to describe the loop first. Returns
 * false, with `line`, if the answer is negative or missing. */
static bool ask_about_loop(const char *call, enum question question, const void *bytes, size_t size,
                           const union hdss_value *values, char line[HDSS_ERROR_MAX])
{
    bool is_answered;
    unsigned deaths = 0;
    do {
        struct hdss_loop again = {0};
        if (!asker->has_described && ask_describe(values, &again, line) < 0)
            return false;
        is_answered = ask(question, bytes, size);
        if (!is_answered)
            snprintf(line, HDSS_ERROR_MAX, "%s() %.350s", call, asker->why);
    } while (!is_answered && may_ask_again(&deaths));
    if (!is_answered)
        return false;
    if (asker->answer[0] == '+')
        return true;
    snprintf(line, HDSS_ERROR_MAX, "%.*s", HDSS_ERROR_MAX - 1, asker->answer + 1);
    return false;
}

static int ask_check(const union hdss_value *values, const struct hdss_loop *loop, char line[HDSS_ERROR_MAX])
{
    (void)loop;
    return ask_about_loop("check", QUESTION_CHECK, "", 0, values, line) ? 0 : -1;
}

/* The caller checks the answer, which may be wrong, because the helper runs foreign code. */
static int ask_grow(const union hdss_value *values, uint64_t *iterations, char line[HDSS_ERROR_MAX])
{
    unsigned may_grow;
    if (!ask_about_loop("grow", QUESTION_GROW, iterations, sizeof *iterations, values, line))
        return -1;
    if (sscanf(asker->answer + 1, "%" SCNu64 " %u", iterations, &may_grow) == 2 && may_grow <= 1)
        return (int)may_grow;
    snprintf(line, HDSS_ERROR_MAX, "grow() is answered with no number of iterations");
    return -1;
}

static int ask_inputs(const union hdss_value *values, uint64_t iterations, uint64_t *digest, char line[HDSS_ERROR_MAX])
{
    if (!ask_about_loop("inputs", QUESTION_INPUTS, &iterations, sizeof iterations, values, line))
        return -1;
    if (sscanf(asker->answer + 1, "%" SCNx64, digest) == 1)
        return 0;
    snprintf(line, HDSS_ERROR_MAX, "inputs() is answered with no digest");
    return -1;
}

static int take_waits(struct hdss_precedence *precedence, uint64_t *count)
{
    char *at = asker->answer + 1;
    for (at += strspn(at, " "); *at != '\0'; at += strspn(at, " "), ++*count) {
        char *const begin = at;
        const uint64_t iteration = strtoull(begin, &at, 10);
        if (at == begin || *at != ' ')
            return -1;
        char *const second = at;
        const uint64_t other = strtoull(second, &at, 10);
        if (at == second || *at != ' ' || precedence->waits(precedence, iteration, other) < 0)
            return -1;
    }
    return 0;
}

static int ask_precedence(const union hdss_value *values, struct hdss_precedence *precedence, char line[HDSS_ERROR_MAX])
{
    for (uint64_t told = 0, from = 0;; from = told) {
        if (!ask_about_loop("precedence", QUESTION_PRECEDENCE, &from, sizeof from, values, line))
            return -1;
        if (take_waits(precedence, &told) < 0) {
            snprintf(line, HDSS_ERROR_MAX, "precedence() is answered with no iterations");
            return -1;
        }
        if (told - from < PRECEDENCE_ANSWERED)
            return 0;
    }
}

static struct asked_kernel *find_asked(const char *name)
{
    struct asked_kernel *kernel = asker->kernels;
    while (kernel != NULL && strcmp(kernel->name, name) != 0)
        kernel = kernel->next;
    return kernel;
}

static struct asked_kernel *take_table(const char *name, struct error *error)
{
    struct asked_kernel *kernel = calloc(1, sizeof *kernel);
    char *kept = strdup(name);
    if (kernel == NULL || kept == NULL)
        error_set(error, "kernel %.200s: out of memory for its table", name);
    else if (kernel_table_read(&kernel->table, name, asker->answer + 1, error) == 0) {
        kernel->name = kept;
        kernel->table.kernel.describe = ask_describe;
        kernel->table.kernel.check = kernel->table.kernel.check != NULL ? ask_check : NULL;
        kernel->table.kernel.grow = kernel->table.kernel.grow != NULL ? ask_grow : NULL;
        kernel->table.kernel.precedence = kernel->table.kernel.precedence != NULL ? ask_precedence : NULL;
        kernel->table.kernel.inputs = kernel->table.kernel.inputs != NULL ? ask_inputs : NULL;
        kernel->next = asker->kernels;
        asker->kernels = kernel;
        return kernel;
    }
    free(kernel);
    free(kept);
    return NULL;
}

int ask_load(const char *name, bool must, const struct hdss_kernel **kernel, struct error *error)
{
    struct helper_program program;
    struct asked_kernel *asked = find_asked(name);
    if ((*kernel = package_find(name)) != NULL)
        return package_check(error);
    if (asked == NULL) {
        if (find_helper(&program, error) < 0)
            return must ? -1 : kernel_load(name, kernel, error);
        int result = ask_to_load(name, asker->patience_ns, &program, error);
        helper_program_fini(&program);
        asked = result == 0 ? take_table(name, error) : NULL;
        if (asked == NULL && asker->loading == NULL)
            ask_end();
        if (asked == NULL)
            return -1;
    } else if (asked != asker->latest) {
        ask_end();
    }
    asker->latest = asked;
    *kernel = &asked->table.kernel;
    return 0;
}

int ask_kernel(const char *name, const struct hdss_kernel **kernel, struct error *error)
{
    *kernel = kernel_find(name);
    return *kernel != NULL ? 0 : ask_load(name, false, kernel, error);
}

const struct kernel_loader asking_loader = {
    .load = kernel_load, .look = kernel_look, .ask = ask_load, .technique = technique_load};
