/* SPDX-License-Identifier: MIT */
/* An answer of a control socket, as hdss jobs and its kin read and show it: behind a byte that says how
 * wide the terminal is. It is refused with one line, or what is printed of it fits, and has nothing that a terminal
 * would obey.
 */
#include "tests/fuzz/fuzz.h"
#include "common/util/error.h"
#include "common/util/text.h"
#include "deploy/cli/control_answer.h"
#include "deploy/cli/job_view.h"

#include <string.h>

static void require_plain(struct text *text, unsigned width)
{
    unsigned columns = 0;
    char *made = text_take(text);
    for (const char *c = made; c != NULL && *c != '\0'; c++) {
        const unsigned char byte = (unsigned char)*c;
        REQUIRE(byte == '\n' || (byte >= ' ' && byte != 0x7f));
        REQUIRE(byte != 0xc2 || (unsigned char)c[1] >= 0xa0);
        columns = byte == '\n' ? 0 : columns + ((byte & 0xc0) != 0x80);
        REQUIRE(columns <= width);
    }
    free(made);
}

static void show(json_t *json, unsigned width)
{
    struct job_list list = {0};
    struct error error = {0};
    struct text text;
    struct job_view *view = job_list_add(&list, "night", 7);
    REQUIRE(view != NULL);
    if (job_view_read(view, json, &error) < 0)
        require_one_line(error.text);
    REQUIRE(view->status >= -1 && view->status < 256);
    text_init(&text);
    job_list_print(&list, width, &text);
    require_plain(&text, width);
    text_init(&text);
    job_view_print(view, &text);
    require_plain(&text, UINT32_MAX);
    job_list_fini(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct control_answer answer;
    struct error error = {0};
    if (size == 0)
        return 0;
    const unsigned width = 10 + bytes[0];
    char *copy = malloc(size); /* as long as it must be, so that a step beyond it is seen */
    REQUIRE(copy != NULL);
    memcpy(copy, bytes + 1, size - 1);
    REQUIRE(control_answer_size(copy, size - 1) > 0);
    if (control_answer_read(&answer, copy, size - 1, &error) < 0) {
        require_one_line(error.text);
        REQUIRE(answer.json == NULL && answer.text == NULL);
    } else {
        REQUIRE((answer.json == NULL) != (answer.text == NULL));
        show(answer.json, width);
        show(json_array_get(json_object_get(answer.json, "jobs"), 0), width);
        control_answer_fini(&answer);
    }
    free(copy);
    return 0;
}
