/* SPDX-License-Identifier: MIT */
/* Questions about a user's kernel that a separate process answers: the helper program, started with the word
 * HELPER_DESCRIBES and a socket as CHANNEL_FILE.
 *
 * Question and answer each consist of a 4-byte length and the bytes. A question begins with one of the letters below.
 * An answer is '+' and the data, or '-' and an error line. The asker trusts no answer, because the process has run
 * foreign code. */
#pragma once

#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stddef.h>
#include <stdint.h>

#define HELPER_DESCRIBES "--describe"

#define ANSWER_MAX (1u << 20)

/* Most pairs in one answer. */
#define PRECEDENCE_ANSWERED 20000

enum question {
    QUESTION_LOAD = 'L',     /* pid_t of the asker, kernel name -> kernel_table_text() */
    QUESTION_DESCRIBE = 'D', /* values -> description_text(), a space, the note */
    QUESTION_CHECK = 'C',    /* checks the values described last -> nothing */
    QUESTION_GROW = 'G',     /* uint64_t known iterations -> their new number, a space, 0 or 1 (may grow further) */
    /* uint64_t n -> pairs of a waiting iteration and the one it waits for, from the n-th on, up to PRECEDENCE_ANSWERED;
     * each number is followed by a space */
    QUESTION_PRECEDENCE = 'P',
    QUESTION_INPUTS = 'I', /* uint64_t iterations -> digest of their input files */
};

/* Encodes the values: 8 bytes for a number, a text with its NUL. Returns the size; `bytes` may be NULL. */
size_t question_put_values(const struct hdss_param *params, const union hdss_value *values, unsigned char *bytes);

/* Decodes the values; texts point into the bytes. -1: invalid. */
int question_get_values(const struct hdss_param *params, union hdss_value *values, const unsigned char *bytes,
                        size_t size);

/* Answers questions until the socket is closed. Returns the exit status. */
int answer_questions(int socket);
