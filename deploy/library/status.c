/* SPDX-License-Identifier: MIT */
/* An enum hdss_status as text. */
#include "hdss/hdss.h"

const char *hdss_error_text(int status)
{
    if (status >= 0)
        return "all is well";
    switch ((enum hdss_status)status) {
    case HDSS_OK: break;
    case HDSS_ERROR_USE: return "the call makes no sense: a null pointer, or an object that was freed or has failed";
    case HDSS_ERROR_MPI:
        return "MPI is not initialised, already finalised, or was not given the threads that are needed";
    case HDSS_ERROR_COMM: return "not a communicator whose ranks can share a loop";
    case HDSS_ERROR_COUNT: return "a number of iterations that is no loop's";
    case HDSS_ERROR_OPTION: return "there is no such option, or it does not accept the value";
    case HDSS_ERROR_TECHNIQUE: return "the technique refuses the loop, or cannot be run in this mode";
    case HDSS_ERROR_DIFFERENT: return "the ranks were not given the same loop";
    case HDSS_ERROR_ENDED: return "the loop has ended before";
    case HDSS_ERROR_MEMORY: return "memory is out";
    case HDSS_ERROR_REPORT: return "the report cannot be written";
    }
    return "no status of this library";
}
