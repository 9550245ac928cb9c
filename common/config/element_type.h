/* SPDX-License-Identifier: MIT */
/* The element types as numpy and HDSS name them, for example "uint16". */
#pragma once

#include <hdss/kernel.h>

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline const char *element_type_name(enum hdss_type type)
{
    switch (type) {
    case HDSS_UINT8: return "uint8";
    case HDSS_UINT16: return "uint16";
    case HDSS_UINT32: return "uint32";
    case HDSS_UINT64: return "uint64";
    case HDSS_INT32: return "int32";
    case HDSS_INT64: return "int64";
    case HDSS_FLOAT32: return "float32";
    case HDSS_FLOAT64: return "float64";
    }
    return "";
}

/* Returns false if no type has this name. */
static inline bool element_type_find(const char *name, enum hdss_type *type)
{
    for (int i = HDSS_UINT8; i <= HDSS_FLOAT64; i++)
        if (strcmp(element_type_name((enum hdss_type)i), name) == 0) {
            *type = (enum hdss_type)i;
            return true;
        }
    return false;
}
