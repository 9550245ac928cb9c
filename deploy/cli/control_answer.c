/* SPDX-License-Identifier: MIT */
/* Reads what a control socket answers: see control_answer.h. */
#include "deploy/cli/control_answer.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HEAD_END "\r\n\r\n"

static const char *body_in(const char *bytes, size_t length)
{
    const char *end = memmem(bytes, length, HEAD_END, strlen(HEAD_END));
    return end != NULL ? end + strlen(HEAD_END) : NULL;
}

static const char *header_in(const char *head, size_t size, const char *name)
{
    const size_t length = strlen(name);
    const char *end = head + size, *line = head;
    while ((line = memchr(line, '\n', (size_t)(end - line))) != NULL) {
        line++;
        if ((size_t)(end - line) > length && strncasecmp(line, name, length) == 0 && line[length] == ':') {
            for (line += length + 1; line < end && *line == ' ';)
                line++;
            return line;
        }
    }
    return NULL;
}

size_t control_answer_size(const char *bytes, size_t length)
{
    const char *body = body_in(bytes, length);
    if (body == NULL)
        return length + 1;
    const size_t head = (size_t)(body - bytes);
    const char *value = header_in(bytes, head, "Content-Length");
    size_t size = 0;
    if (value == NULL || *value < '0' || *value > '9')
        return SIZE_MAX;
    for (; *value >= '0' && *value <= '9'; value++) {
        if (size > (SIZE_MAX - head - 9) / 10)
            return SIZE_MAX;
        size = 10 * size + (size_t)(*value - '0');
    }
    return head + size;
}

static int take_refusal(const json_t *json, struct error *error)
{
    const char *text = json_string_value(json_object_get(json, "error"));
    return error_set(error, "%.400s", text != NULL && text[0] != '\0' ? text : "it refuses, and does not say why");
}

static bool is_text(const char *head, size_t size)
{
    static const char text[] = "text/plain";
    const char *kind = header_in(head, size, "Content-Type");
    return kind != NULL && strncasecmp(kind, text, strlen(text)) == 0;
}

static int take_text(struct control_answer *answer, const char *body, size_t length, struct error *error)
{
    answer->text = malloc(length + 1);
    if (answer->text == NULL)
        return error_set(error, "out of memory for its answer");
    memcpy(answer->text, body, length);
    answer->text[length] = '\0';
    answer->length = length;
    return 0;
}

static int take_json(struct control_answer *answer, const char *body, size_t length, struct error *error)
{
    json_error_t reason;
    answer->json = json_loadb(body, length, 0, &reason);
    if (!json_is_object(answer->json))
        error_set(error, "its answer, of status %d, is no JSON", answer->status);
    else if (answer->status >= 300)
        take_refusal(answer->json, error);
    else
        return 0;
    json_decref(answer->json);
    answer->json = NULL;
    return -1;
}

int control_answer_read(struct control_answer *answer, const char *bytes, size_t length, struct error *error)
{
    static const char version[] = "HTTP/1.";
    const char *body = body_in(bytes, length);
    *answer = (struct control_answer){0};
    if (body == NULL || length < 12 || memcmp(bytes, version, strlen(version)) != 0 || bytes[8] != ' ')
        return error_set(error, "its answer is no HTTP");
    for (int i = 9; i < 12; i++) {
        if (bytes[i] < '0' || bytes[i] > '9')
            return error_set(error, "its answer is no HTTP");
        answer->status = 10 * answer->status + bytes[i] - '0';
    }
    const size_t head = (size_t)(body - bytes);
    return is_text(bytes, head) && answer->status < 300 ? take_text(answer, body, length - head, error)
                                                        : take_json(answer, body, length - head, error);
}

void control_answer_fini(struct control_answer *answer)
{
    json_decref(answer->json);
    free(answer->text);
    *answer = (struct control_answer){0};
}
