#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where the seconds of the breakdown are: which intervals of which rows a part of it adds up. The metrics sum by the
// same tables and the same walk (core/engine/timeline/stage_booking.h), so that every second that Why names can be
// pointed at. Pure functions, any thread.
//
//   const TimePieces wan = piecesOf(evaluation.timeline, {&Breakdown::wan});
//   wan.seconds() == evaluation.metrics.breakdown->wan;

#include "core/engine/timeline/analysis.h"
#include "core/evaluation/evaluate/metrics/breakdown_entries.h"

#include <span>

namespace trainyard {

/// Which part of the breakdown a use of a stage's time belongs to; what communicates inside operations is taken out of
/// compute.
struct UsePart {
    TimeUse use;
    Nanoseconds StageTime::*time;
    BreakdownPart part;
};
inline constexpr std::array<UsePart, 8> kUseParts { { { TimeUse::Compute, &StageTime::compute, &Breakdown::compute },
    { TimeUse::Bubble, &StageTime::bubble, &Breakdown::bubble }, { TimeUse::Wan, &StageTime::wan, &Breakdown::wan },
    { TimeUse::Pipeline, &StageTime::pipeline, &Breakdown::pipeline },
    { TimeUse::Reduce, &StageTime::reduce, &Breakdown::dataParallel },
    { TimeUse::Optimizer, &StageTime::optimizer, &Breakdown::optimizer },
    { TimeUse::Overhead, &StageTime::overhead, &Breakdown::overhead },
    { TimeUse::Offload, &StageTime::offload, &Breakdown::offloadStall } } };

/// Which part a kind of communication inside operations belongs to, in the order in which the timeline draws them.
struct InsidePart {
    double ExposedSeconds::*seconds;
    BreakdownPart part;
};
inline constexpr std::array<InsidePart, 5> kInsideParts { { { &ExposedSeconds::tensor, &Breakdown::tensorParallel },
    { &ExposedSeconds::context, &Breakdown::contextParallel }, { &ExposedSeconds::expert, &Breakdown::expertParallel },
    { &ExposedSeconds::data, &Breakdown::dataParallel }, { &ExposedSeconds::copies, &Breakdown::offloadStall } } };

/// A share of an operation. Where it lies inside it is not simulated: shares are drawn one after the other.
struct OperationPart {
    BreakdownPart part = &Breakdown::compute;
    double seconds = 0;
    /// where it is drawn
    Nanoseconds begin = 0, end = 0;
};
struct OperationParts {
    std::array<OperationPart, 1 + kInsideParts.size()> parts {};
    std::size_t count = 0;
    [[nodiscard]] const OperationPart *begin() const { return parts.data(); }
    [[nodiscard]] const OperationPart *end() const { return parts.data() + count; }
};
/// Compute first, then what communicates inside; compute alone where nothing does. Together they are as long as the
/// span.
[[nodiscard]] OperationParts operationParts(const Timeline &timeline, std::uint32_t span);

/// The class of pipelines whose breakdown is told: its last backward ends last, the others wait for it.
[[nodiscard]] int slowestClass(const Timeline &timeline);

struct TimePiece {
    /// a compute row
    std::uint32_t track = 0;
    Nanoseconds begin = 0, end = 0;
    /// as long as that, but for rounding to nanoseconds
    double seconds = 0;
    /// that the piece lies in or, of a wait, that waits; kNoSpan after a stage's last
    std::uint32_t span = kNoSpan;
    /// of a wait: the transfer on another row that is waited for
    std::uint32_t transfer = kNoSpan;
    bool isWait = false;
    BreakdownPart part = &Breakdown::compute;
};

struct TimePieces {
    /// of the slowest pipeline; a breakdown is their mean
    int stages = 0;
    /// row by row, in order of time, apart from one another
    std::vector<TimePiece> pieces;
    [[nodiscard]] double seconds() const;
};
[[nodiscard]] TimePieces piecesOf(const Timeline &timeline, std::span<const BreakdownPart> parts);

} // namespace trainyard
