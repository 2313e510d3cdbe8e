#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How far the host runs ahead of its GPU: kernels and copies that were launched and have not started, over time, on
// each stream and on all of a rank together (get_queue_length_time_series of Meta's Holistic Trace Analysis, commit
// f4d0062). HTA's summary counts changes of the length; figures here are over time. Work whose launch no trace tells is
// in no queue.

#include "core/runs/telemetry/recording.h"

namespace trainyard {

/// The length over one part of the time.
struct QueueBucket {
    /// moments; of equal parts, whole nanoseconds
    Moment start = 0, end = 0;
    /// over its time
    double mean = 0;
    /// that held for some time
    std::int64_t most = 0;
    bool operator==(const QueueBucket &) const = default;
};

/// One stream, or all of a rank.
struct LaunchQueue {
    /// of RankRecording::streams; kNoIndex: all of the rank
    std::uint32_t stream = kNoIndex;
    /// works whose launch is told, and others
    std::int64_t launched = 0, untold = 0;
    /// from the first launch to the last start; both 0 where no launch is told
    Moment start = 0, end = 0;
    /// ns in which everything that was launched has started
    std::int64_t empty = 0;
    /// that held for some time
    std::int64_t most = 0;
    /// ns: what all works waited from launch to start, summed
    double waited = 0;
    /// not more than was asked for; none where nothing takes time
    std::vector<QueueBucket> buckets;
    [[nodiscard]] std::int64_t length() const { return end - start; }
    /// over its time
    [[nodiscard]] double mean() const { return length() > 0 ? waited / double(length()) : 0; }
    [[nodiscard]] double shareEmpty() const { return length() > 0 ? double(empty) / double(length()) : 0; }
    bool operator==(const LaunchQueue &) const = default;
};

struct RankQueue {
    /// of Recording::ranks
    std::uint32_t rank = 0;
    /// why nothing is told, in words; empty: it is
    std::string reason;
    LaunchQueue whole;
    /// those that work, in their order
    std::vector<LaunchQueue> streams;
};
/// One a rank, in their order; each with up to so many buckets. A launch that its clock has behind the start of its
/// work counts from there.
[[nodiscard]] std::vector<RankQueue> launchQueues(const Recording &recording, int buckets = 100);

} // namespace trainyard
