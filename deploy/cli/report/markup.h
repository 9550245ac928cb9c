/* SPDX-License-Identifier: MIT */
/* Words from outside in HTML, SVG and JSON: data, never markup. */
#pragma once

#include "common/util/text.h"

/* Adds `words` so that they show as they are, within an element or a quoted attribute. Bytes that are no UTF-8, and
 * characters that XML does not have, show as '?'. */
void markup_add(struct text *text, const char *words);

/* Adds `words` as a string of JSON, with its quotes, which may stand within a <script> element. */
void markup_add_json(struct text *text, const char *words);
