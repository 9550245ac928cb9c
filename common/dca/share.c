/* SPDX-License-Identifier: MIT */
/* The life of a transport: see share.h. */
#include "common/dca/share.h"

#include "common/util/error.h"

#include <inttypes.h>
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

void share_lose(struct share *share, struct dca_book *book, unsigned rank)
{
    struct range range;
    const unsigned deaths = dca_book_lose(book, rank, &range);
    if (deaths <= share->deaths_max || share->failed)
        return;
    error_set(share->error, "iterations %" PRIu64 " to %" PRIu64 ": %u workers were lost that computed them",
              range.first, range.first + range.count - 1, deaths);
    share->failed = true;
    share_stop(share);
}
