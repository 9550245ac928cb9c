/* Text for a terminal, broken between its words. */
#pragma once

#include <stddef.h>

enum { WRAP_WIDTH = 80 }; /* columns of what is printed */

/* Prints `length` bytes of `text` behind the `indent` columns that stand in the line; what does not fit goes on in
 * further lines, as far indented. Ends the line. */
void wrap_print(const char *text, size_t length, int indent);
