#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How each rank's GPU spent its time, by the classes of kernels that Meta's Holistic Trace Analysis has (HTA, commit
// f4d0062): exactly, over all that was recorded; or as HTA counts it, so that figures can be compared with it: with its
// rounding of times to whole microseconds through doubles, which halves kernels of a microsecond or two, and its rule
// that the last of several profiler steps does not count. Names that are no kernel's, as those of recordings that no
// profiler wrote, are classed by what the recording says that they do.

#include "core/runs/telemetry/recording.h"

#include <optional>
#include <span>

namespace trainyard {

/// [start, end), in one unit of time. An end before its start is possible after rounding, and counts as HTA counts it.
struct Interval {
    std::int64_t start = 0, end = 0;
    bool operator==(const Interval &) const = default;
};
/// Disjoint, in order of start; intervals that touch are one.
[[nodiscard]] std::vector<Interval> unionOf(std::vector<Interval> intervals);
[[nodiscard]] std::int64_t lengthOf(std::span<const Interval> disjoint);
/// Of two unions, or of one interval and a union: the length of what both cover.
[[nodiscard]] std::int64_t overlapOf(std::span<const Interval> first, std::span<const Interval> second);
[[nodiscard]] std::int64_t overlapOf(const Interval &one, std::span<const Interval> disjoint);

/// What HTA makes of a kernel's name.
enum class HtaClass : std::uint8_t { Communication, Memory, Computation, Other };
[[nodiscard]] HtaClass htaClassOf(std::string_view kernelName);
/// The same of a span that no profiler named: what HTA's patterns do not know is what the recording says.
[[nodiscard]] HtaClass htaClassOf(std::string_view name, RecordedWork work);

/// As this program counts, or as HTA does.
enum class SummaryRule : std::uint8_t { Exact, Hta };

/// Microseconds, whole ones by HTA's rule; kernel time = compute + non-compute + idle.
struct TemporalBreakdown {
    /// from the first start to the last end
    double kernelTime = 0;
    /// some computation ran
    double compute = 0;
    /// only communication or memory
    double nonCompute = 0;
    /// nothing ran
    double idle = 0;
    bool operator==(const TemporalBreakdown &) const = default;
};

struct RankSummary {
    /// -1: nobody told
    int rank = -1;
    /// nobody told it, and it is the only one
    bool isRankGuessed = false;
    /// that tells it
    std::string file;
    /// why there is no breakdown, in words; empty: there is one
    std::string reason;
    /// of the profiler, by number; of several the last does not count by HTA's rule
    std::vector<std::int64_t> steps;
    std::optional<TemporalBreakdown> breakdown;
    /// share of communication under computation, to 4 decimals; empty: none
    std::optional<double> communicationOverlap;
};
[[nodiscard]] RankSummary summarizeRank(
    const Recording &recording, const RankRecording &rank, SummaryRule rule = SummaryRule::Exact);
/// One a rank, in their order. A single one that nobody tells the rank of is rank 0, as HTA takes it.
[[nodiscard]] std::vector<RankSummary> summarize(const Recording &recording, SummaryRule rule = SummaryRule::Exact);

} // namespace trainyard
