#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The GPUs that decode: where keys and values of a prompt go after its prefill, and which have room for only so many
// requests at once. Equations of docs/model.md, "Prefill in bubbles". Pure functions of values.

#include "core/base/units.h"
#include "core/facts/hardware/gpu_spec.h"
#include "core/facts/workload/model_spec.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace trainyard {

struct DecodeCapacity {
    /// at once, over the whole pool; 0: a replica does not fit on its GPUs
    std::int64_t requests = 0;
    /// that one replica of the models takes: the fewest GPUs that hold their weights and the longest request
    std::int64_t gpusOfReplica = 0;
    /// one token of every request, with all room taken: as long as reading weights, keys and values, or the FLOPs
    Nanoseconds step = 0;
    /// of a request in the pool: a step for each token of its answer
    Nanoseconds stay = 0;
};

/// A model and the longest prompt that it is sent.
struct DecodedModel {
    const ModelSpec *model = nullptr;
    double promptTokens = 0;
};

/// Every replica holds all the models; each request counts as the longest, answer included.
[[nodiscard]] DecodeCapacity decodeCapacity(
    const GpuSpec &gpu, std::int64_t gpus, const std::vector<DecodedModel> &models, double outputTokens);

/// Who is in the pool when.
class DecodeRoom {
public:
    DecodeRoom(std::int64_t requests, Nanoseconds stay)
        : m_requests(requests)
        , m_stay(stay)
    {
    }

    /// Whether `count` more can stay from `start` on, beside those that were let in.
    [[nodiscard]] bool hasRoom(Nanoseconds start, int count) const;
    /// Nobody will come before `now` again.
    void take(Nanoseconds start, int count, Nanoseconds now);

private:
    std::int64_t m_requests;
    Nanoseconds m_stay;
    /// sorted
    std::deque<Nanoseconds> m_starts;
};

} // namespace trainyard
