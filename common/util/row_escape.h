/* SPDX-License-Identifier: MIT */
/* Fields of tab-separated rows: tab, newline, return and backslash are written as a backslash and a letter. */
#pragma once

static inline char row_escape(char byte)
{
    return byte == '\t' ? 't' : byte == '\n' ? 'n' : byte == '\r' ? 'r' : byte == '\\' ? '\\' : '\0';
}

static inline char row_unescape(char letter)
{
    return letter == 't' ? '\t' : letter == 'n' ? '\n' : letter == 'r' ? '\r' : letter == '\\' ? '\\' : '\0';
}
