#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the GPUs of a job show while it runs: the spans of one mini-batch as its own evaluation has them, again and
// again, or one span for some mini-batches where those would be too many. Internal to core/evaluation/evaluate/jobs.

#include "core/evaluation/evaluate/jobs/gang_jobs.h"

#include <vector>

namespace trainyard {

struct GangPattern {
    struct Span {
        /// from the start of the pattern
        Nanoseconds start = 0, length = 0;
        WorkKind kind = WorkKind::ForwardBackward;
        /// of the form's GPUs
        int seat = 0;
        /// span of the pattern that ended last before it; -1: of the time before
        int cause = -1;
    };
    /// in order of start
    std::vector<Span> spans;
    Nanoseconds period = 0;
    /// in it
    std::int64_t minibatches = 1;
    /// [seat]: of the time in spans of forward, backward and recomputation, the share that is computation.
    std::vector<double> computeShare;
};

/// One span a GPU, as long as `minibatches` of them.
[[nodiscard]] GangPattern wholePattern(const GangForm &form, std::int64_t minibatches);

/// The spans of one mini-batch. Errors: those of run().
[[nodiscard]] ExpectedAll<GangPattern> detailedPattern(const GangForm &form, const RunContext &context);

} // namespace trainyard
