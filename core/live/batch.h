#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a live source has told in one go, and who tells it: a small recording with the sender's times. Batches go from
// decoders into the store (store.h); nothing else of a source is kept.

#include "core/runs/telemetry/recording.h"

#include <functional>

namespace trainyard::live {

struct Batch {
    /// of the session, as it numbers its sources
    std::uint32_t source = 0;
    /// Unix time of this machine, nanoseconds
    Moment received = 0;
    /// Names, ranks, spans, steps, samples as a file of the same source would give them. Its moments are Unix times
    /// less part.zero, by the sender's clock; samples that come without a time have that of `received`. Steps that have
    /// not ended yet are not in it. Spans of a stream need no order.
    Recording part;
};
using BatchOut = std::function<void(Batch &&batch)>;

/// Unix time of this machine, nanoseconds.
[[nodiscard]] Moment unixNow();

} // namespace trainyard::live
