/* SPDX-License-Identifier: MIT */
/* An answer of a control socket, as hdss jobs, hdss top and their kin read and show it: behind a byte that says how
 * wide the terminal is. It is refused with one line, or what is printed of it fits, and has nothing that a terminal
 * would obey.
 */
#include "tests/fuzz/fuzz.h"
#include "common/util/error.h"
#include "common/util/text.h"
#include "deploy/cli/control_answer.h"
#include "deploy/cli/job_view.h"
#include "deploy/cli/top/view.h"

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

/* A page of what is known. Its lines are as many as the screen has, or all that there are. */
static void show_page(const struct top_model *model, const struct top_ui *ui, unsigned width, unsigned height)
{
    struct top_sum sum;
    struct top_rows rows;
    struct page page;
    struct text text;
    REQUIRE(top_sum_init(&sum, model) == 0);
    REQUIRE(top_rows_make(&rows, model, &sum, ui) == 0);
    page_init(&page, width, true);
    top_view(&page, height, model, &sum, &rows, ui);
    REQUIRE(height == TOP_HEIGHT_ANY || page.count == height);
    text_init(&text);
    char *made = page_text(&page);
    REQUIRE(made != NULL);
    text_add(&text, "%s", made);
    require_plain(&text, width);
    free(made);
    page_fini(&page);
    top_rows_fini(&rows);
    top_sum_fini(&sum);
}

/* The answer is a list of jobs, and one of ranks. */
static void show_top(json_t *json, unsigned width)
{
    struct top_model model = {0};
    struct top_ui ui = {.opens_all = width % 2 == 0};
    struct top_session *session = top_model_add_session(&model, "night", true);
    REQUIRE(session != NULL);
    top_session_read(session, json_object_get(json, "session"));
    REQUIRE(top_model_add_jobs(&model, "night", "/night.sock", json_object_get(json, "jobs")) == 0);
    REQUIRE(top_model_look(&model, "night", "/night.sock", json_object_get(json, "job")) == 0);
    REQUIRE(top_model_put_ranks(&model, 0, json_object_get(json, "ranks"), true) == 0);
    for (unsigned height = 0; height < 40; height += 13) {
        ui.job_order = ui.rank_order = height / 13;
        show_page(&model, &ui, width, height);
        ui.is_inside = !ui.is_inside;
        show_page(&model, &ui, width, height);
    }
    top_model_fini(&model);
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
        show_top(answer.json, width);
        control_answer_fini(&answer);
    }
    free(copy);
    return 0;
}
