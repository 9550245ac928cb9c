/* SPDX-License-Identifier: MIT */
/* Questions about a user's kernel. A separate process answers them: the helper program, started with the word
 * HELPER_DESCRIBES and a socket as CHANNEL_FILE.
 *
 * A question and an answer each consist of a length in 4 bytes, and the bytes. A question begins with one of the
 * letters below. An answer is '+' and the data, or '-' and an error line. The asker trusts no answer, because the
 * process has run foreign code. */
#pragma once

#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stddef.h>
#include <stdint.h>

#define HELPER_DESCRIBES "--describe"

#define ANSWER_MAX (1u << 20)

#define PRECEDENCE_ANSWERED 20000

enum question {
    QUESTION_LOAD = 'L',     /* pid_t of the asker, name of the kernel -> kernel_table_text() */
    QUESTION_DESCRIBE = 'D', /* values of the parameters -> description_text(), a space, the note */
    QUESTION_CHECK = 'C',    /* no data -> no data; checks the values of the last QUESTION_DESCRIBE */
    /* uint64_t known iterations -> the new number of iterations, a space, 1 if the loop may grow further, else 0 */
    QUESTION_GROW = 'G',
    /* uint64_t n -> pairs from number n on, at most PRECEDENCE_ANSWERED: an iteration, and the iteration for which it
     * waits; a space follows each number */
    QUESTION_PRECEDENCE = 'P',
    QUESTION_INPUTS = 'I', /* uint64_t number of iterations -> digest of their input files */
};

/* Encodes the values: a number as 8 bytes, a text with its NUL. Returns the size. If `bytes` is NULL, only returns the
 * size. */
size_t question_put_values(const struct hdss_param *params, const union hdss_value *values, unsigned char *bytes);

int question_get_values(const struct hdss_param *params, union hdss_value *values, const unsigned char *bytes,
                        size_t size);

/* Answers questions until the socket is closed. Does not return. */
int answer_questions(int socket);
