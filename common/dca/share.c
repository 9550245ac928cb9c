/* SPDX-License-Identifier: MIT */
/* The life cycle of a transport: see share.h. */
#include "common/dca/share.h"

#include "common/util/error.h"

#include <stdlib.h>

int share_prepare(struct share *share)
{
    share->own = calloc(1, share->transport->own_bytes);
    return share->own != NULL ? 0 : error_set(share->error, "out of memory for what the ranks share");
}

int share_open(struct share *share)
{
    share->open = true;
    return share->transport->open(share);
}

void share_close(struct share *share)
{
    if (share->open)
        share->transport->close(share);
    free(share->own);
    share->own = NULL;
    share->open = false;
}
