/* SPDX-License-Identifier: MIT */
/* Fields of rows that are lines with tabs between their fields: a byte that would end a field or a line, and the
 * backslash, stand there as a backslash and a letter. */
#pragma once

/* The letter that stands for the byte behind a backslash; NUL: the byte stands for itself. */
static inline char row_escape(char byte)
{
    return byte == '\t' ? 't' : byte == '\n' ? 'n' : byte == '\r' ? 'r' : byte == '\\' ? '\\' : '\0';
}

/* The byte that the letter stands for behind a backslash; NUL: it stands for none. */
static inline char row_unescape(char letter)
{
    return letter == 't' ? '\t' : letter == 'n' ? '\n' : letter == 'r' ? '\r' : letter == '\\' ? '\\' : '\0';
}
