#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A step of a plan and the steps of its run as equal lists of parts, each list adding up to its step. Spans tell the
// most; a log's timers tell what the framework waits for; without either a step is one piece. What only one side tells
// apart is one part of both.

#include "core/runs/overlay/verdict.h"

namespace trainyard {

enum class VerdictKind : std::uint8_t {
    /// with the optimizer, of spans
    Compute,
    /// of timers: all that is in it
    ForwardBackward,
    Optimizer,
    Tensor,
    Context,
    Expert,
    Gradients,
    /// transfers between stages
    Pipeline,
    /// to and from the host
    Copies,
    /// all of it, where its kinds are not told
    Communication,
    Bubble,
    Stragglers,
    Host,
    Untold,
};

struct TakenPart {
    VerdictKind kind = VerdictKind::Untold;
    VerdictPart part;
    [[nodiscard]] double difference() const { return part.measured - part.predicted; }
};

struct TakenApart {
    /// largest difference first
    std::vector<TakenPart> parts;
    /// sums of the parts
    double predicted = 0, measured = 0;
    /// that the measured side is of
    int steps = 0;
    /// of spans; 0: the run has none
    int ranks = 0;
    bool hasTimers = false;
    /// what was taken for what, a sentence each
    std::vector<std::string> notes;
};

/// Needs overlay.evaluation with a breakdown, and steps.
[[nodiscard]] TakenApart takeApart(const RunOverlay &overlay);

/// By what a log's timers tell of the steps that count; parts in any order. Where no timers tell, one part.
/// verdict_timers.cpp
void takeTimersApart(const RunOverlay &overlay, const Breakdown &plan, TakenApart &taken);
/// The steps that no median leaves out, all where none is left; of those with spans only where `withSpans`.
[[nodiscard]] std::vector<const RunStep *> countedSteps(const Run &run, bool withSpans);
/// "median of 40 steps", "one step"
[[nodiscard]] std::string stepsText(int steps);

} // namespace trainyard
