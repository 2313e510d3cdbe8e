#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What Megatron-LM's own estimate of memory, which it prints before the first step, tells of the job: parameters of the
// block, of the embedding, of the fullest shard and of the others, bytes of a layer's activations. The arguments behind
// it follow by turning its sums around; the equations are in docs/plan-against-run.md, "A job from Megatron's own
// estimate". Derived, never told: an argument that a source tells goes before. Pure functions.

#include "core/runs/telemetry/recording.h"

#include <optional>
#include <string>
#include <vector>

namespace trainyard::imports {

/// As printed, with half of the last digit; parameters, bytes.
struct Rounded {
    double value = 0, half = 0;
    [[nodiscard]] bool isTold() const { return value > 0; }
    [[nodiscard]] double low() const { return value - half; }
    [[nodiscard]] double high() const { return value + half; }
};

struct MegatronTheory {
    Rounded block, active, embedding; // parameters of the whole model; embedding: with the output matrix unless tied
    Rounded fullest, others; // parameters of a shard; others: only where there is more than one stage
    Rounded layerActivations, states, activations; // bytes on a GPU of the fullest shard
    double inFlight = 0; // micro-batches
    double interleaving = 0; // factor of an interleaved schedule; 0: none
    bool isWithSequenceParallel = true; // by which of its two formulas
    std::uint32_t source = kNoIndex;
};
/// Empty where no source has such an estimate.
[[nodiscard]] std::optional<MegatronTheory> megatronTheory(const Recording &recording);

struct DerivedArgument {
    std::string name, value; // as Megatron has it
    std::string why; // "Megatron's estimate of memory: …"
};

struct DerivedJob {
    MegatronTheory theory;
    int tensor = 0, pipeline = 0; // 0: nothing that fits, or several that do
    int layers = 0; // 0: not derived
    bool isTied = false;
    Rounded table; // parameters of the token table
    double width = 0; // tokens of a micro-batch × hidden size; 0: not derived
    double bytesPerParameter = 0; // of weights, gradients and optimizer states
    std::vector<DerivedArgument> arguments;
};
/// Empty where no source has such an estimate.
[[nodiscard]] std::optional<DerivedJob> derivedJob(const Recording &recording);

} // namespace trainyard::imports
