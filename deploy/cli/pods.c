/* SPDX-License-Identifier: MIT */
/* hdss pods: lists the pods of a set. Other commands use this file to find the ticket of a set, and to ask a pod to
 * leave. */
#include "deploy/cli/pods.h"

#include "common/os/files.h"
#include "common/os/say.h"
#include "common/stream/ticket.h"
#include "common/util/number.h"
#include "deploy/cli/colour.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/control_client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_MS 10000
#define POD_WORD  "pod"

static const char program[] = "hdss pods";

struct pods_request {
    const char *set;
    bool is_json;
};

static const struct option_row pods_rows[] = {
    {"format", 0, "text|json", NULL, "print a line for each pod, or JSON (default text)",
     TAKES_CHOICE(struct pods_request, is_json)},
    {NULL},
};

static const struct options pods_options = {
    .usage = "hdss pods [OPTION]... [SET]",
    .about = "Lists the pods, which are launches that have joined a set by `hdss join`: where they are, and how many "
             "workers they have.",
    .sections = {{"Options", pods_rows}, {"Help", options_common}},
    .notes = "`hdss drain SET/podRANK` makes a pod leave.",
};

void pods_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){pods_options, OPERANDS_SETS};
}

bool pods_read_name(const char *word, char set[SET_NAME_MAX], unsigned *rank)
{
    const char *slash = strrchr(word, '/'), *pod = slash != NULL ? slash + 1 : word;
    uint64_t number;
    if (strncmp(pod, POD_WORD, strlen(POD_WORD)) != 0 || number_parse_u64(pod + strlen(POD_WORD), &number) < 0 ||
        number > UINT32_MAX || (slash != NULL && (size_t)(slash - word) >= SET_NAME_MAX))
        return false;
    snprintf(set, SET_NAME_MAX, "%.*s", slash != NULL ? (int)(slash - word) : 0, word);
    *rank = (unsigned)number;
    return true;
}

static int ask_set(const struct set_place *set, const char *method, const char *target, struct control_answer *answer,
                   struct error *error)
{
    struct control_client client;
    struct error why;
    control_client_init(&client, set->path);
    const enum ask_end end = control_client_ask(&client, method, target, NULL, ANSWER_MS, answer, &why);
    control_client_fini(&client);
    if (end == ASK_ANSWERED)
        return EXIT_STATUS_DONE;
    if (end == ASK_GONE)
        sets_refuse_lost(set->name, error);
    else
        error_set(error, "the set %s: %.400s", set->name, why.text);
    return end == ASK_SILENT ? EXIT_STATUS_FAILED : EXIT_STATUS_USAGE;
}

int pods_send_away(const struct set_place *set, unsigned rank, struct error *error)
{
    struct control_answer answer;
    char target[64];
    snprintf(target, sizeof target, "/v1/pods/%u?finish=1", rank);
    const int status = ask_set(set, "DELETE", target, &answer, error);
    control_answer_fini(&answer);
    return status;
}

static int refuse_to_look_elsewhere(struct error *error)
{
    return error_after(error, "; one of another machine is joined by its file `" TICKET_NAME "` or a copy of that, "
                              "`hdss join FILE`, or, where munge runs, by HOST:PORT");
}

static int ask_for_ticket(const char *given, char path[PATH_MAX], struct error *error)
{
    struct set_place set;
    struct control_answer answer;
    if (sets_find_with_pods(given, &set, error) < 0)
        return refuse_to_look_elsewhere(error);
    int result = ask_set(&set, "GET", "/v1", &answer, error) == EXIT_STATUS_DONE ? 0 : -1;
    const char *file = result == 0 ? json_string_value(json_object_get(answer.json, "pods_file")) : NULL;
    if (result == 0 && file == NULL)
        result = error_set(error, "no pod can join %s: it was started without --listen", set.name);
    else if (result == 0 && snprintf(path, PATH_MAX, "%s", file) >= PATH_MAX)
        result = error_set(error, "the path of its file is too long");
    control_answer_fini(&answer);
    return result;
}

static bool find_ticket_in_state(const char *name, char path[PATH_MAX])
{
    struct error unused;
    char folder[PATH_MAX];
    return sets_is_name(name) && sets_state_folder(name, folder, &unused) == 0 &&
           snprintf(path, PATH_MAX, "%s/" TICKET_NAME, folder) < PATH_MAX && access(path, F_OK) == 0;
}

static int check_port(const char *given, struct error *error)
{
    struct stream_address address;
    struct error unused;
    if (stream_address_parse(&address, given, &unused) == 0 && stream_address_is_tcp(&address))
        return 0;
    return error_set(error,
                     "'%.300s' is neither the name of a set or of a run nor the address of one; accepted: HOST:PORT or "
                     "[IPV6]:PORT, a port from 1 to 65535",
                     given);
}

int pods_find_ticket(const char *given, char path[PATH_MAX], struct error *error)
{
    char name[SET_NAME_MAX];
    const bool is_file = given != NULL && (strchr(given, '/') != NULL || access(given, F_OK) == 0);
    if (given != NULL && !is_file && strchr(given, ':') != NULL) {
        snprintf(path, PATH_MAX, "%s", given);
        return check_port(given, error);
    }
    if (is_file && realpath(given, path) == NULL)
        return error_set(error,
                         "%.300s: there is no such file; accepted: the name of a set or of a run of this machine, the "
                         "file by which pods join it or a copy of that, its socket, or, where munge runs, HOST:PORT",
                         given);
    if (is_file)
        return 0;
    sets_default_name(name);
    return find_ticket_in_state(given != NULL ? given : name, path) ? 0 : ask_for_ticket(given, path, error);
}

static bool read_to_empty_line(char *text, size_t size)
{
    size_t length = 0;
    bool goes_on = false;
    while (!goes_on && length + 1 < size && read(STDIN_FILENO, text + length, 1) == 1) {
        length++;
        goes_on = length > 1 && text[length - 1] == '\n' && text[length - 2] == '\n';
    }
    text[length] = '\0';
    return goes_on;
}

int pods_keep_ticket(char path[PATH_MAX], bool *goes_on, struct error *error)
{
    enum { TICKET_BYTES = 4096 };
    char text[TICKET_BYTES];
    struct ticket ticket;
    struct error why;
    *goes_on = read_to_empty_line(text, sizeof text);
    if (ticket_parse(&ticket, text, &why) < 0)
        return error_set(error, "standard input is not the file by which pods join: %.300s", why.text);
    const int file = memfd_create("hdss-pod", MFD_CLOEXEC);
    if (file < 0 || fchmod(file, 0600) < 0 || file_write_at(file, text, strlen(text), 0) < 0) {
        error_set(error, "cannot keep what standard input says: %s", strerror(errno));
        if (file >= 0)
            close(file);
        return -1;
    }
    snprintf(path, PATH_MAX, "/proc/%ld/fd/%d", (long)getpid(), file);
    return file;
}

static void print_pod(const struct set_place *set, const json_t *pod)
{
    char name[SET_NAME_MAX + 16];
    snprintf(name, sizeof name, "%s/" POD_WORD "%" JSON_INTEGER_FORMAT, set->name,
             json_integer_value(json_object_get(pod, "rank")));
    say(stdout, "%-16s %-8s %7" JSON_INTEGER_FORMAT "  %s", name, json_string_value(json_object_get(pod, "state")),
        json_integer_value(json_object_get(pod, "workers")), json_string_value(json_object_get(pod, "node")));
}

static void print_pods(const struct set_place *set, const json_t *list)
{
    if (json_array_size(list) == 0)
        say(stdout, "no pod has joined %s", set->name);
    else
        say(stdout, "%-16s %-8s %7s  %s", "POD", "STATE", "WORKERS", "NODE");
    for (size_t i = 0; i < json_array_size(list); i++)
        print_pod(set, json_array_get(list, i));
}

static int list_pods(const struct pods_request *request, struct error *error)
{
    struct set_place set;
    struct control_answer answer;
    if (sets_find_with_pods(request->set, &set, error) < 0)
        return EXIT_STATUS_USAGE;
    int status = ask_set(&set, "GET", "/v1/pods", &answer, error);
    if (status == EXIT_STATUS_DONE) {
        const json_t *list = json_object_get(answer.json, "pods");
        char *text = request->is_json ? json_dumps(list, JSON_INDENT(2)) : NULL;
        if (request->is_json)
            printf("%s\n", text != NULL ? text : "[]");
        else
            print_pods(&set, list);
        free(text);
        status = commands_end_page(program);
    }
    control_answer_fini(&answer);
    return status;
}

static int pods_take_operand(void *target, const char *word, struct error *error)
{
    struct pods_request *request = target;
    if (request->set != NULL)
        return error_set(error, "unexpected word '%.100s': the pods of one set are listed", word);
    request->set = word;
    return 0;
}

int command_pods(int argc, char **argv)
{
    struct pods_request request = {0};
    struct error error = {0};
    int status = EXIT_STATUS_USAGE;
    const int result = options_parse(&pods_options, argc, argv, &request, pods_take_operand, &error);
    if (result > 0)
        status = show_page(program, &pods_options, result);
    else if (result == 0)
        status = list_pods(&request, &error);
    if (error.text[0] != '\0')
        say_error(program, error.text);
    return status;
}
