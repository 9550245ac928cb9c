/* SPDX-License-Identifier: MIT */
/* Questions about a user's kernel, which a process of its own answers: the helper's program, begun with the one word
 * HELPER_DESCRIBES and a socket as CHANNEL_FILE.
 *
 * Question and answer are each a length of 4 bytes and so many bytes. A question begins with one of the letters below.
 * An answer is '+' and what is asked for, or '-' and one line. Whoever asks trusts no answer: the process has run
 * code that is not ours. */
#pragma once

#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stddef.h>
#include <stdint.h>

#define HELPER_DESCRIBES "--describe"

/* The longest answer. */
#define ANSWER_MAX (1u << 20)

/* The most that one answer tells of iterations that wait for others. */
#define PRECEDENCE_ANSWERED 20000

enum question {
    QUESTION_LOAD = 'L',       /* behind it pid_t of who asks, and the kernel's name: its table, kernel_table_text() */
    QUESTION_DESCRIBE = 'D',   /* behind it values: the loop as description_text(), a space, and its note */
    QUESTION_CHECK = 'C',      /* of the values that were described last: nothing */
    QUESTION_GROW = 'G',       /* likewise, behind it uint64_t of the iterations known: those by now, a space, 0 or 1 */
    QUESTION_PRECEDENCE = 'P', /* likewise, behind it uint64_t n: the n-th iteration that waits for another, a blank,
                                  that other one, a blank, and so on with the next, up to PRECEDENCE_ANSWERED */
    QUESTION_INPUTS = 'I',     /* likewise, behind it uint64_t of iterations: the digest of what they are read from */
};

/* The values as bytes, one after another: 8 of a number, a text with its NUL. Returns their size; writes nothing where
 * `bytes` is NULL. */
size_t question_put_values(const struct hdss_param *params, const union hdss_value *values, unsigned char *bytes);

/* Reads them again; texts point into the bytes. -1 where they are none. */
int question_get_values(const struct hdss_param *params, union hdss_value *values, const unsigned char *bytes,
                        size_t size);

/* Answers, in the process that is asked, until nobody asks any more. Returns the exit status. */
int answer_questions(int socket);
