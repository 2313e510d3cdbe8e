#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the timers that frameworks print (Megatron-LM's, above all) tell of where a step's time went, where no
// profiler's spans do. Level 1 tells the optimizer and the exchanges around it, level 2 also forward, backward and
// transfers between stages, and slows the step down by its synchronisations.

#include "core/overlay/run_steps.h"

namespace trainyard {

/// Seconds of a step; what is empty no timer tells. The sum is not above the step's seconds.
struct LogTimers {
    std::optional<double> compute; // optimizer; forward and backward, with collectives inside them
    std::optional<double> communication; // exchanges of gradients and parameters around forward and backward; sends
    std::optional<double> bubble; // receives: waiting for another stage
    std::optional<double> host; // making batches
    std::vector<std::string> notes; // what the figures have in them
    [[nodiscard]] double sum() const
    {
        return compute.value_or(0) + communication.value_or(0) + bubble.value_or(0) + host.value_or(0);
    }
};
/// Of the step, else of the last one before it that tells timers (logs print them every few steps).
[[nodiscard]] LogTimers logTimers(const Recording &recording, const RunStep &step);

} // namespace trainyard
