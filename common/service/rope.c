/* SPDX-License-Identifier: MIT */
/* A queue as a treap: see rope.h. The priority of an item is a hash of its number, so the same calls always give the
 * same tree. */
#include "common/service/rope.h"

#include "common/util/grow.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint32_t priority_of(unsigned item)
{
    uint32_t mixed = (item + 1) * UINT32_C(0x9e3779b1);
    mixed ^= mixed >> 15;
    mixed *= UINT32_C(0x85ebca6b);
    return mixed ^ mixed >> 13;
}

static unsigned size_of(const struct rope *rope, unsigned tree)
{
    return tree == ROPE_NONE ? 0 : rope->nodes[tree].size;
}

static unsigned able_in(const struct rope *rope, unsigned tree)
{
    return tree == ROPE_NONE ? 0 : rope->nodes[tree].able;
}

static double least_in(const struct rope *rope, unsigned tree)
{
    return tree == ROPE_NONE ? INFINITY : rope->nodes[tree].least_s;
}

static void sum_up(struct rope *rope, unsigned tree)
{
    struct rope_node *node = &rope->nodes[tree];
    const double own_s = node->is_able ? node->time_s : INFINITY;
    const double left_s = least_in(rope, node->left), right_s = least_in(rope, node->right);
    const double below_s = left_s < right_s ? left_s : right_s;
    node->size = size_of(rope, node->left) + 1 + size_of(rope, node->right);
    node->able = able_in(rope, node->left) + node->is_able + able_in(rope, node->right);
    node->least_s = own_s < below_s ? own_s : below_s;
}

static void set_left(struct rope *rope, unsigned tree, unsigned left)
{
    rope->nodes[tree].left = left;
    if (left != ROPE_NONE)
        rope->nodes[left].parent = tree;
    sum_up(rope, tree);
}

static void set_right(struct rope *rope, unsigned tree, unsigned right)
{
    rope->nodes[tree].right = right;
    if (right != ROPE_NONE)
        rope->nodes[right].parent = tree;
    sum_up(rope, tree);
}

static unsigned join(struct rope *rope, unsigned first, unsigned second)
{
    if (first == ROPE_NONE || second == ROPE_NONE)
        return first == ROPE_NONE ? second : first;
    if (priority_of(first) > priority_of(second)) {
        set_right(rope, first, join(rope, rope->nodes[first].right, second));
        return first;
    }
    set_left(rope, second, join(rope, first, rope->nodes[second].left));
    return second;
}

static void split(struct rope *rope, unsigned tree, unsigned count, unsigned *first, unsigned *second)
{
    if (tree == ROPE_NONE) {
        *first = *second = ROPE_NONE;
        return;
    }
    const unsigned left = size_of(rope, rope->nodes[tree].left);
    unsigned part;
    if (count <= left) {
        split(rope, rope->nodes[tree].left, count, first, &part);
        set_left(rope, tree, part);
        *second = tree;
    } else {
        split(rope, rope->nodes[tree].right, count - left - 1, &part, second);
        set_right(rope, tree, part);
        *first = tree;
    }
}

static void plant(struct rope *rope, unsigned root)
{
    rope->root = root;
    if (root != ROPE_NONE)
        rope->nodes[root].parent = ROPE_NONE;
}

void rope_init(struct rope *rope)
{
    *rope = (struct rope){.root = ROPE_NONE};
}

void rope_fini(struct rope *rope)
{
    free(rope->nodes);
    rope_init(rope);
}

int rope_reserve(struct rope *rope, size_t room)
{
    if (room <= rope->room)
        return 0;
    if (grow_to(&rope->nodes, rope->room, room, sizeof *rope->nodes) < 0)
        return -1;
    rope->room = room;
    return 0;
}

void rope_clear(struct rope *rope)
{
    rope->root = ROPE_NONE;
    if (rope->room > 0)
        memset(rope->nodes, 0, rope->room * sizeof *rope->nodes);
}

unsigned rope_length(const struct rope *rope)
{
    return size_of(rope, rope->root);
}

/* Appends an item. The new item is not able, so only the sizes of the subtrees above it change. */
void rope_push(struct rope *rope, unsigned item)
{
    assert(item < rope->room && !rope_has(rope, item) && "an item is in the line once");
    const uint32_t priority = priority_of(item);
    unsigned above = ROPE_NONE, below = rope->root;
    while (below != ROPE_NONE && priority_of(below) > priority) {
        rope->nodes[below].size++;
        above = below;
        below = rope->nodes[below].right;
    }
    rope->nodes[item] = (struct rope_node){.left = below, .right = ROPE_NONE, .parent = above};
    sum_up(rope, item);
    if (below != ROPE_NONE)
        rope->nodes[below].parent = item;
    if (above != ROPE_NONE)
        rope->nodes[above].right = item;
    else
        rope->root = item;
}

unsigned rope_front(const struct rope *rope)
{
    unsigned at = rope->root;
    while (rope->nodes[at].left != ROPE_NONE)
        at = rope->nodes[at].left;
    return at;
}

unsigned rope_pop(struct rope *rope)
{
    const unsigned front = rope_front(rope);
    rope_remove(rope, front);
    return front;
}

static void count_in(struct rope *rope, unsigned tree, double time_s)
{
    for (; tree != ROPE_NONE; tree = rope->nodes[tree].parent) {
        struct rope_node *node = &rope->nodes[tree];
        node->able++;
        node->least_s = time_s < node->least_s ? time_s : node->least_s;
    }
}

static void count_out(struct rope *rope, unsigned tree)
{
    for (bool may_rise = true; tree != ROPE_NONE; tree = rope->nodes[tree].parent) {
        struct rope_node *node = &rope->nodes[tree];
        const double least_s = node->least_s;
        node->able--;
        if (may_rise)
            sum_up(rope, tree);
        may_rise = may_rise && node->least_s > least_s;
    }
}

void rope_remove(struct rope *rope, unsigned item)
{
    const struct rope_node node = rope->nodes[item];
    const unsigned rest = join(rope, node.left, node.right);
    if (rest != ROPE_NONE)
        rope->nodes[rest].parent = node.parent;
    if (node.parent == ROPE_NONE)
        rope->root = rest;
    else if (rope->nodes[node.parent].left == item)
        rope->nodes[node.parent].left = rest;
    else
        rope->nodes[node.parent].right = rest;
    rope->nodes[item].size = 0;
    for (unsigned at = node.parent; at != ROPE_NONE; at = rope->nodes[at].parent)
        rope->nodes[at].size--;
    if (node.is_able)
        count_out(rope, node.parent);
}

void rope_mark(struct rope *rope, unsigned item, bool is_able, double time_s)
{
    struct rope_node *node = &rope->nodes[item];
    const bool was_able = node->is_able, is_same = was_able == is_able && (node->time_s == time_s || !is_able);
    node->is_able = was_able && is_same;
    node->time_s = time_s;
    if (was_able && !is_same)
        count_out(rope, item);
    if (is_able && !is_same)
        count_in(rope, item, time_s);
    node->is_able = is_able;
}

unsigned rope_at(const struct rope *rope, unsigned place)
{
    unsigned at = rope->root;
    for (;;) {
        const unsigned left = size_of(rope, rope->nodes[at].left);
        if (place == left)
            return at;
        at = place < left ? rope->nodes[at].left : rope->nodes[at].right;
        place -= place < left ? 0 : left + 1;
    }
}

/* Moves one item to the end. For one item this is cheaper than split() and join(). */
static void turn_one(struct rope *rope)
{
    const unsigned front = rope_pop(rope);
    const struct rope_node node = rope->nodes[front];
    rope_push(rope, front);
    rope_mark(rope, front, node.is_able, node.time_s);
}

void rope_turn(struct rope *rope, unsigned count)
{
    unsigned first, second;
    if (count == 0 || count == rope_length(rope))
        return;
    if (count == 1) {
        turn_one(rope);
        return;
    }
    split(rope, rope->root, count, &first, &second);
    plant(rope, join(rope, second, first));
}

static unsigned able_before(const struct rope *rope, unsigned place)
{
    unsigned able = 0, at = rope->root;
    while (place > 0) {
        const struct rope_node *node = &rope->nodes[at];
        const unsigned left = size_of(rope, node->left);
        if (place <= left) {
            at = node->left;
            continue;
        }
        able += able_in(rope, node->left) + node->is_able;
        place -= left + 1;
        at = node->right;
    }
    return able;
}

unsigned rope_before_able(const struct rope *rope, unsigned place)
{
    unsigned skipped = able_before(rope, place), before = 0, at = rope->root;
    if (able_in(rope, at) == skipped)
        return rope_length(rope) - place;
    for (;;) {
        const struct rope_node *node = &rope->nodes[at];
        const unsigned left = able_in(rope, node->left);
        if (skipped < left) {
            at = node->left;
            continue;
        }
        before += size_of(rope, node->left);
        if (skipped == left && node->is_able)
            return before - place;
        before++;
        skipped -= left + node->is_able;
        at = node->right;
    }
}

static unsigned before_least(const struct rope *rope)
{
    unsigned before = 0, at = rope->root;
    for (const double least_s = least_in(rope, at);;) {
        const struct rope_node *node = &rope->nodes[at];
        if (able_in(rope, node->left) > 0 && least_in(rope, node->left) == least_s) {
            at = node->left;
            continue;
        }
        before += size_of(rope, node->left);
        if (node->is_able && node->time_s == least_s)
            return before;
        before++;
        at = node->right;
    }
}

void rope_bring_least(struct rope *rope)
{
    unsigned front, between, least, rest;
    if (able_in(rope, rope->root) == 0)
        return;
    const unsigned place = before_least(rope);
    if (place == 0)
        return;
    split(rope, rope->root, place, &between, &rest);
    split(rope, between, 1, &front, &between);
    split(rope, rest, 1, &least, &rest);
    plant(rope, join(rope, join(rope, least, between), join(rope, front, rest)));
}

static unsigned check_tree(const struct rope *rope, unsigned tree, unsigned parent)
{
    if (tree == ROPE_NONE)
        return 0;
    struct rope_node node = rope->nodes[tree];
    assert(node.parent == parent && "an item knows the one above it");
    assert((parent == ROPE_NONE || priority_of(parent) > priority_of(tree)) && "priorities fall");
    const unsigned size = check_tree(rope, node.left, tree) + 1 + check_tree(rope, node.right, tree);
    const double own_s = node.is_able ? node.time_s : INFINITY;
    assert(node.size == size && "items are counted");
    assert(node.able == able_in(rope, node.left) + node.is_able + able_in(rope, node.right) && "able ones are counted");
    assert(node.least_s == fmin(own_s, fmin(least_in(rope, node.left), least_in(rope, node.right))) &&
           "the least time is known");
    (void)own_s;
    return size;
}

void rope_check(const struct rope *rope)
{
    size_t there = 0;
    for (size_t i = 0; i < rope->room; i++)
        there += rope->nodes[i].size > 0;
    const unsigned length = check_tree(rope, rope->root, ROPE_NONE);
    assert(length == there && "an item that is there is in the line");
    (void)length;
    (void)there;
}
