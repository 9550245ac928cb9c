/* SPDX-License-Identifier: MIT */
/* NumPy's .npy format, version 1.0 (NEP 1): magic, version, length of the header, then a Python dictionary padded with
 * spaces to a multiple of 64 bytes. The byte order is that of this machine; the header names it. This file also has the
 * raw formats: the same data without a header. */
#include "common/results/formats.h"

#include <inttypes.h>
#include <string.h>

static const char npy_magic[8] = "\x93NUMPY\x01\x00";

static const char *type_code(enum hdss_type type)
{
    switch (type) {
    case HDSS_UINT8: return "u1";
    case HDSS_UINT16: return "u2";
    case HDSS_UINT32: return "u4";
    case HDSS_UINT64: return "u8";
    case HDSS_INT32: return "i4";
    case HDSS_INT64: return "i8";
    case HDSS_FLOAT32: return "f4";
    case HDSS_FLOAT64: return "f8";
    }
    return "";
}

static char byte_order(enum hdss_type type)
{
    if (hdss_type_size(type) == 1)
        return '|';
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? '>' : '<';
}

static size_t npy_header(const struct hdss_loop *loop, char header[RESULTS_HEADER_MAX])
{
    enum { FIXED = 10, ALIGNMENT = 64 };
    char *text = header + FIXED;
    size_t room = RESULTS_HEADER_MAX - FIXED - ALIGNMENT, used = 0;
    used += (size_t)snprintf(text, room, "{'descr': '%c%s', 'fortran_order': %s, 'shape': (", byte_order(loop->type),
                             type_code(loop->type), loop->layout == HDSS_LAYOUT_COLUMNS ? "True" : "False");
    for (unsigned i = 0; i < loop->dims; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%" PRIu64, i > 0 ? ", " : "", loop->shape[i]);
    used += (size_t)snprintf(text + used, room - used, "%s), }", loop->dims == 1 ? "," : "");
    size_t total = (FIXED + used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, length = total - FIXED;
    memset(text + used, ' ', length - used - 1);
    text[length - 1] = '\n';
    memcpy(header, npy_magic, sizeof npy_magic);
    header[8] = (char)(length & 0xff);
    header[9] = (char)(length >> 8);
    return total;
}

const struct results_format results_npy = {.extension = ".npy", .header = npy_header};
const struct results_format results_bin = {.extension = ".bin"};
const struct results_format results_raw = {.extension = ".raw"};
