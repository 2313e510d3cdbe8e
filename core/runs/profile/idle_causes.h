#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Why a GPU did nothing, gap by gap, by the rules of Meta's Holistic Trace Analysis (get_idle_time_breakdown, commit
// f4d0062): on each stream, and on all streams of a rank together. A gap reaches from the latest end so far to the next
// start and belongs to the work that ends it; HTA takes the end of the work before it instead, which is the same where
// nothing of a stream overlaps. Whole nanoseconds, which add up.

#include "core/runs/telemetry/recording.h"

namespace trainyard {

struct IdleOptions {
    /// ns. A gap below it before work that was launched in time is what the GPU needs from one kernel to the next.
    std::int64_t kernelDelay = 30;
};

/// Nanoseconds.
struct IdleCauses {
    /// what ran next was launched after everything before it had ended
    std::int64_t hostWait = 0;
    /// launched in time, and started within the kernel delay
    std::int64_t kernelWait = 0;
    /// launched in time and started later, as behind another stream; or no trace tells the launch
    std::int64_t other = 0;
    [[nodiscard]] std::int64_t total() const { return hostWait + kernelWait + other; }
    bool operator==(const IdleCauses &) const = default;
};

/// One stream, or all of a rank; nanoseconds. From its first start to its last end it is busy or idle.
struct IdleTime {
    /// of RankRecording::streams; kNoIndex: all of the rank
    std::uint32_t stream = kNoIndex;
    /// kernels and copies, and those of them whose launch is told
    std::int64_t works = 0, launchesTold = 0;
    std::int64_t busy = 0;
    IdleCauses idle;
    [[nodiscard]] std::int64_t length() const { return busy + idle.total(); }
    bool operator==(const IdleTime &) const = default;
};

struct RankIdle {
    /// of Recording::ranks
    std::uint32_t rank = 0;
    /// why nothing is told, in words; empty: it is
    std::string reason;
    /// nothing runs on any stream
    IdleTime whole;
    /// those that work, in their order
    std::vector<IdleTime> streams;
};
/// One a rank, in their order.
[[nodiscard]] std::vector<RankIdle> idleByCause(const Recording &recording, const IdleOptions &options = {});

} // namespace trainyard
