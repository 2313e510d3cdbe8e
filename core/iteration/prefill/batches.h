#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Prompts of one model and length that are prefilled at once. Pure functions of values.

#include "core/iteration/prefill/arrivals.h"

namespace trainyard {

/// Prompts of one size that arrive in one iteration.
struct PromptBatch {
    /// when it is placed
    Nanoseconds arrival = 0;
    /// since its first prompt came
    Nanoseconds waited = 0;
    /// of the prompts
    int size = 0;
    /// into PromptBatches::prompts
    std::uint32_t first = 0, count = 0;
};

struct PromptBatches {
    /// in order of arrival
    std::vector<PromptBatch> batches;
    /// indices into the requests, batch after batch, in order of arrival
    std::vector<std::uint32_t> prompts;
};

/// Requests in order of arrival, `sizeOf` each one's. A batch is placed when it has `most` prompts, or when its first
/// has waited for `wait`, or with the end of the iteration; a prompt alone where `most` is 1.
[[nodiscard]] PromptBatches batchesOf(const std::vector<PrefillRequest> &requests, const std::vector<int> &sizeOf,
    int most, Nanoseconds wait, Nanoseconds period);

} // namespace trainyard
