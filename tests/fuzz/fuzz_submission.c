/* SPDX-License-Identifier: MIT */
/* The body of a request as a client of a set sends it: any bytes are refused with one line, or are one or several jobs,
 * each of which is refused likewise or gives a submission within its limits, which written as JSON and read again is
 * the same. */
#include "tests/fuzz/fuzz.h"
#include "common/control/submission_json.h"
#include "common/util/error.h"

#include <string.h>

static void require_texts(char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        REQUIRE(texts[i] != NULL);
    REQUIRE(texts == NULL ? count == 0 : texts[count] == NULL);
}

static void require_limits(const struct submission *submission)
{
    REQUIRE(submission->word_count > 0 && submission->word_count <= SUBMISSION_WORDS_MAX);
    REQUIRE(submission->folder != NULL && submission->folder[0] == '/');
    REQUIRE(submission->umask <= SUBMISSION_UMASK_MAX);
    REQUIRE(submission->priority >= -SUBMISSION_PRIORITY && submission->priority <= SUBMISSION_PRIORITY);
    REQUIRE(submission->weight >= 1 && submission->weight <= SUBMISSION_WEIGHT_MAX);
    REQUIRE(submission->after_count <= SUBMISSION_AFTER_MAX);
    REQUIRE(submission->name == NULL || strlen(submission->name) <= SUBMISSION_NAME_MAX);
    require_texts(submission->words, submission->word_count);
    require_texts(submission->environment, submission->environment_count);
    for (size_t i = 0; i < submission->after_count; i++)
        REQUIRE(submission->after[i] > 0);
    for (size_t i = 0; i < submission->environment_count; i++)
        REQUIRE(strchr(submission->environment[i], '=') > submission->environment[i]);
}

static void require_alike(const struct submission *submission)
{
    struct submission again;
    struct error error = {0};
    json_t *object = submission_json(submission);
    REQUIRE(object != NULL && submission_read(&again, object, &error) == 0);
    json_t *second = submission_json(&again);
    REQUIRE(json_equal(object, second));
    json_decref(object);
    json_decref(second);
    submission_fini(&again);
}

static void try_submission(const json_t *object)
{
    struct submission submission;
    struct error error = {0};
    if (submission_read(&submission, object, &error) < 0) {
        require_one_line(error.text);
        REQUIRE(submission.words == NULL && submission.environment == NULL && submission.folder == NULL);
        return;
    }
    require_limits(&submission);
    require_alike(&submission);
    submission_fini(&submission);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct error error = {0};
    bool is_array;
    size_t i;
    const json_t *object;
    json_t *submissions = submissions_of_body((const char *)bytes, size, &is_array, &error);
    if (submissions == NULL)
        require_one_line(error.text);
    REQUIRE(submissions == NULL || is_array || json_array_size(submissions) == 1);
    json_array_foreach(submissions, i, object)
    {
        try_submission(object);
    }
    json_decref(submissions);
    return 0;
}
