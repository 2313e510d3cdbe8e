#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the timers that frameworks print (Megatron-LM's, above all) tell of where a step's time went, where no
// profiler's spans do. Level 1 tells the optimizer and the exchanges around it, level 2 also forward, backward and
// transfers between stages, and slows the step down by its synchronisations.

#include "core/runs/overlay/run_steps.h"

#include <string_view>

namespace trainyard {

/// What a timer tells of; of timers within others, and of those that tell nothing of a step, nothing.
enum class TimerPart : std::uint8_t {
    Optimizer,
    /// computing, with the collectives in it
    ForwardAndBackward,
    /// with waiting and transfers between stages; with the exchanges too where areExchangesNested()
    WholeForwardBackward,
    /// of gradients and parameters, around forward and backward
    Exchange,
    ParameterGather,
    Send,
    /// waiting for another stage
    Receive,
    /// making batches
    Batch,
};

/// A timer over some steps.
struct ToldTimer {
    /// "optimizer"
    std::string name;
    TimerPart part = TimerPart::Optimizer;
    /// of a step: median; of a smallest and a largest over the ranks the middle
    double seconds = 0;
    /// that tell it
    int steps = 0;
};
/// Of the steps named (ascending) what the log tells; of a timer that none of them tells, all of it. By name.
[[nodiscard]] std::vector<ToldTimer> toldTimers(const Recording &recording, const std::vector<std::int64_t> &steps);
/// Whether the exchange of gradients is inside "forward-backward", and that of parameters inside "optimizer": as in
/// Megatron-LM since it has "all-grads-sync".
[[nodiscard]] bool areExchangesNested(const std::vector<ToldTimer> &timers);

/// Seconds of a step; what is empty no timer tells. The sum is not above the step's seconds.
struct LogTimers {
    /// optimizer; forward and backward, with collectives inside them
    std::optional<double> compute;
    /// exchanges of gradients and parameters around forward and backward; sends
    std::optional<double> communication;
    /// receives: waiting for another stage
    std::optional<double> bubble;
    /// making batches
    std::optional<double> host;
    /// what the figures have in them
    std::vector<std::string> notes;
    [[nodiscard]] double sum() const
    {
        return compute.value_or(0) + communication.value_or(0) + bubble.value_or(0) + host.value_or(0);
    }
};
/// Of the step, else of the last one before it that tells timers (logs print them every few steps).
[[nodiscard]] LogTimers logTimers(const Recording &recording, const RunStep &step);

} // namespace trainyard
