/* SPDX-License-Identifier: MIT */
/* Decides when to stop: see halt.h. */
#include "deploy/cli/halt.h"

#include "common/metrics/human.h"
#include "common/util/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int parse_limit(struct halt *halt, const char *text)
{
    char number[24];
    const size_t length = strlen(text);
    const bool is_part = length > 0 && text[length - 1] == '%';
    if (!is_part)
        return number_parse_u64(text, &halt->count) < 0 || halt->count == 0 ? -1 : 0;
    if (length > sizeof number)
        return -1;
    snprintf(number, sizeof number, "%.*s", (int)length - 1, text);
    return number_parse_real(number, &halt->percent) < 0 || !(halt->percent > 0 && halt->percent <= 100) ? -1 : 0;
}

static bool parse_number(struct halt *halt, const char *text)
{
    static const struct {
        const char *text;
        struct halt halt;
    } known[] = {
        {"never", {HALT_NO}},
        {"0", {HALT_NO}},
        {"1", {HALT_SOON, HALT_FAIL, 1}},
        {"2", {HALT_NOW, HALT_FAIL, 1}},
        {"-1", {HALT_SOON, HALT_SUCCESS, 1}},
        {"-2", {HALT_NOW, HALT_SUCCESS, 1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(text, known[i].text) == 0) {
            *halt = known[i].halt;
            return true;
        }
    }
    *halt = (struct halt){.when = HALT_SOON, .why = HALT_FAIL};
    return strchr(text, '%') != NULL && parse_limit(halt, text) == 0;
}

static int find_word(const char *const *words, int count, const char *text, size_t *length)
{
    *length = strcspn(text, ",=");
    for (int i = 0; i < count; i++)
        if (strlen(words[i]) == *length && strncmp(words[i], text, *length) == 0)
            return i;
    return -1;
}

int halt_parse(struct halt *halt, const char *text, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    static const char *const when[] = {"soon", "now"}, *const why[] = {"fail", "success", "done"};
    struct halt parsed;
    size_t length;
    error->text[0] = '\0';
    if (parse_number(&parsed, text)) {
        *halt = parsed;
        return 0;
    }
    int index = find_word(when, 2, text, &length);
    if (index < 0 || text[length] != ',')
        return -1;
    parsed = (struct halt){.when = index == 0 ? HALT_SOON : HALT_NOW, .count = 1};
    text += length + 1;
    index = find_word(why, 3, text, &length);
    if (index < 0 || text[length] == ',')
        return -1;
    parsed.why = (enum halt_why)index;
    if (text[length] == '=') {
        parsed.count = 0;
        if (parse_limit(&parsed, text + length + 1) < 0)
            return -1;
    }
    *halt = parsed;
    return 0;
}

static uint64_t reached_by(const struct halt *halt, uint64_t done, uint64_t failed)
{
    return halt->why == HALT_FAIL ? failed : halt->why == HALT_SUCCESS ? done - failed : done;
}

enum halt_state halt_look(struct halt *halt, uint64_t done, uint64_t failed, uint64_t all)
{
    const uint64_t reached = reached_by(halt, done, failed);
    if (halt->when == HALT_NO || halt->state != HALT_NO || reached == 0)
        return halt->state;
    const bool is_enough =
        halt->count > 0 ? reached >= halt->count : all > 0 && (double)reached >= (double)all * halt->percent / 100;
    if (!is_enough)
        return HALT_NO;
    halt->state = halt->when;
    halt->reached = reached;
    halt->failed = failed;
    return halt->state;
}

enum exit_status halt_status(const struct halt *halt)
{
    const bool has_failed = halt->why == HALT_FAIL || (halt->why == HALT_DONE && halt->failed > 0);
    return has_failed ? EXIT_STATUS_TASKS : EXIT_STATUS_DONE;
}

const char *halt_text(const struct halt *halt, char text[HALT_TEXT_MAX])
{
    static const char *const what[] = {[HALT_FAIL] = "failed", [HALT_SUCCESS] = "succeeded", [HALT_DONE] = "finished"};
    char number[HUMAN_MAX];
    snprintf(text, HALT_TEXT_MAX, "--halt: %s task%s %s: %s", human_count(number, halt->reached),
             halt->reached == 1 ? " has" : "s have", what[halt->why],
             halt->when == HALT_SOON ? "nothing begins any more, and what runs is finished" : "what runs is ended");
    return text;
}
