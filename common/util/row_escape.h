/* SPDX-License-Identifier: MIT */
/* Fields of tab-separated rows: tab, newline, return and backslash are written as a backslash and a letter. */
#pragma once

/* Returns the letter for a byte; NUL: the byte needs no escape. */
static inline char row_escape(char byte)
{
    return byte == '\t' ? 't' : byte == '\n' ? 'n' : byte == '\r' ? 'r' : byte == '\\' ? '\\' : '\0';
}

/* Returns the byte for the letter after a backslash; NUL: none. */
static inline char row_unescape(char letter)
{
    return letter == 't' ? '\t' : letter == 'n' ? '\n' : letter == 'r' ? '\r' : letter == '\\' ? '\\' : '\0';
}
