/* SPDX-License-Identifier: MIT */
/* Items as a client of a set sends them for an open job: any bytes are refused with one line, or give lines of a list,
 * one for each row, which the kernel exec reads as the fields that were sent, and numbers within their limits. */
#include "tests/fuzz/fuzz.h"
#include "common/control/items_json.h"
#include "common/util/error.h"
#include "common/util/row_escape.h"

#include <string.h>

/* The next field of the text is this one; returns what follows it, with the byte that has ended it in `*end`. */
static const char *require_field(const char *text, const char *limit, const json_t *value, char *end)
{
    const char *field = json_string_value(value);
    for (; *field != '\0'; field++) {
        REQUIRE(text < limit && *text != '\t' && *text != '\n' && *text != '\r');
        char byte = *text++;
        if (byte == '\\') {
            REQUIRE(text < limit);
            byte = row_unescape(*text++);
        }
        REQUIRE(byte == *field);
    }
    REQUIRE(text < limit && (*text == '\t' || *text == '\n'));
    *end = *text++;
    return text;
}

static void require_rows(const struct items *items, const json_t *rows)
{
    REQUIRE(items->rows == json_array_size(rows) && (items->text != NULL || items->bytes == 0));
    if (items->text == NULL) /* of no rows */
        return;
    const char *text = items->text, *limit = text + items->bytes;
    char end;
    for (size_t i = 0; i < items->rows; i++) {
        const json_t *row = json_array_get(rows, i);
        const size_t count = json_is_array(row) ? json_array_size(row) : 1;
        REQUIRE(count > 0 && count <= ITEMS_FIELDS_MAX);
        for (size_t k = 0; k < count; k++) {
            text = require_field(text, limit, json_is_array(row) ? json_array_get(row, k) : row, &end);
            REQUIRE(end == (k + 1 < count ? '\t' : '\n'));
        }
    }
    REQUIRE(text == limit);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct items items;
    struct error error = {0};
    json_t *object = json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    if (object == NULL)
        return 0;
    if (items_read(&items, object, &error) < 0) {
        require_one_line(error.text);
        REQUIRE(items.text == NULL && items.bytes == 0 && items.rows == 0);
    } else {
        REQUIRE(items.iterations <= ITEMS_AT_ONCE_MAX && (items.rows == 0 || items.iterations == 0));
        REQUIRE(!items.has_rows || !items.has_iterations);
        if (items.has_rows)
            require_rows(&items, json_object_get(object, "rows"));
        else
            REQUIRE(items.bytes == 0 && items.rows == 0);
        items_fini(&items);
    }
    json_decref(object);
    return 0;
}
