#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A step of a plan and the steps of its run as equal lists of parts, each list adding up to its step. Spans tell the
// most; a log's timers tell what the framework waits for; without either a step is one piece. What only one side tells
// apart is one part of both.

#include "core/runs/overlay/verdict.h"

namespace trainyard {

enum class VerdictKind : std::uint8_t {
    Compute, // with the optimizer, of spans
    ForwardBackward, // of timers: all that is in it
    Optimizer,
    Tensor,
    Context,
    Expert,
    Gradients,
    Pipeline, // transfers between stages
    Copies, // to and from the host
    Communication, // all of it, where its kinds are not told
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
    std::vector<TakenPart> parts; // largest difference first
    double predicted = 0, measured = 0; // sums of the parts
    int steps = 0; // that the measured side is of
    int ranks = 0; // of spans; 0: the run has none
    bool hasTimers = false;
    std::vector<std::string> notes; // what was taken for what, a sentence each
};

/// Needs overlay.evaluation with a breakdown, and steps.
[[nodiscard]] TakenApart takeApart(const RunOverlay &overlay);

/// By what a log's timers tell of the steps that count; parts in any order. Where no timers tell, one part.
void takeTimersApart(const RunOverlay &overlay, const Breakdown &plan, TakenApart &taken); // verdict_timers.cpp
/// The steps that no median leaves out, all where none is left; of those with spans only where `withSpans`.
[[nodiscard]] std::vector<const RunStep *> countedSteps(const Run &run, bool withSpans);
[[nodiscard]] std::string stepsText(int steps); // "median of 40 steps", "one step"

} // namespace trainyard
