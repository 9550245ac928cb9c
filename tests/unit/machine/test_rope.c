/* SPDX-License-Identifier: MIT */
/* A line that can be turned, against an array that is moved. */
#include "common/service/rope.h"
#include "common/util/random.h"
#include "tests/lib/suite.h"

#include <string.h>

#define ITEMS 60

struct plain {
    unsigned items[ITEMS], count;
    bool is_able[ITEMS];
    double time_s[ITEMS];
};

static void plain_remove(struct plain *plain, unsigned place)
{
    memmove(&plain->items[place], &plain->items[place + 1], (--plain->count - place) * sizeof *plain->items);
}

static unsigned plain_place(const struct plain *plain, unsigned item)
{
    unsigned place = 0;
    while (place < plain->count && plain->items[place] != item)
        place++;
    return place;
}

static void plain_turn(struct plain *plain, unsigned count)
{
    unsigned turned[ITEMS];
    for (unsigned i = 0; i < plain->count; i++)
        turned[i] = plain->items[(i + count) % plain->count];
    memcpy(plain->items, turned, plain->count * sizeof *turned);
}

static unsigned plain_before_able(const struct plain *plain, unsigned place)
{
    unsigned before = 0;
    while (place + before < plain->count && !plain->is_able[plain->items[place + before]])
        before++;
    return before;
}

static void plain_bring_least(struct plain *plain)
{
    unsigned least = plain->count;
    for (unsigned i = 0; i < plain->count; i++)
        if (plain->is_able[plain->items[i]] &&
            (least == plain->count || plain->time_s[plain->items[i]] < plain->time_s[plain->items[least]]))
            least = i;
    if (least == plain->count)
        return;
    const unsigned item = plain->items[least];
    plain->items[least] = plain->items[0];
    plain->items[0] = item;
}

static void change(struct rope *rope, struct plain *plain, unsigned what, unsigned item)
{
    const unsigned place = plain_place(plain, item);
    const bool is_there = place < plain->count;
    if (what == 0 && is_there) {
        rope_remove(rope, item);
        plain_remove(plain, place);
    } else if (!is_there) {
        rope_push(rope, item);
        plain->items[plain->count++] = item;
        plain->is_able[item] = false;
    } else if (what < 3) {
        plain->is_able[item] = what == 1;
        plain->time_s[item] = item % 7;
        rope_mark(rope, item, what == 1, item % 7);
    } else if (what == 3) {
        rope_turn(rope, place);
        plain_turn(plain, place);
    } else {
        rope_bring_least(rope);
        plain_bring_least(plain);
    }
}

START_TEST(a_line_is_that_of_an_array)
{
    struct rope rope;
    struct plain plain = {.count = 0};
    rope_init(&rope);
    ck_assert_int_eq(rope_reserve(&rope, ITEMS), 0);
    for (unsigned step = 0; step < 20000; step++) {
        const uint64_t drawn = random_at(1, step);
        change(&rope, &plain, drawn % 5, (unsigned)(drawn / 5 % ITEMS));
        rope_check(&rope);
        ck_assert_uint_eq(rope_length(&rope), plain.count);
        ck_assert_uint_eq(rope_before_able(&rope, 0), plain_before_able(&plain, 0));
        if (plain.count > 0) {
            const unsigned place = (unsigned)(drawn / 5 / ITEMS % plain.count);
            ck_assert_uint_eq(rope_front(&rope), plain.items[0]);
            ck_assert_uint_eq(rope_at(&rope, place), plain.items[place]);
            ck_assert_uint_eq(rope_before_able(&rope, place), plain_before_able(&plain, place));
        }
    }
    for (unsigned i = 0; i < plain.count; i++)
        ck_assert_uint_eq(rope_pop(&rope), plain.items[i]);
    ck_assert_uint_eq(rope_length(&rope), 0);
    rope_fini(&rope);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rope");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, a_line_is_that_of_an_array);
    suite_add_tcase(suite, tcase);
    return suite_run_together(suite);
}
