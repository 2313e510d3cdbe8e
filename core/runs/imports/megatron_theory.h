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
    /// parameters of the whole model; embedding: with the output matrix unless tied
    Rounded block, active, embedding;
    /// parameters of a shard; others: only where there is more than one stage
    Rounded fullest, others;
    /// bytes on a GPU of the fullest shard
    Rounded layerActivations, states, activations;
    /// micro-batches
    double inFlight = 0;
    /// factor of an interleaved schedule; 0: none
    double interleaving = 0;
    /// by which of its two formulas
    bool isWithSequenceParallel = true;
    std::uint32_t source = kNoIndex;
};
/// Empty where no source has such an estimate.
[[nodiscard]] std::optional<MegatronTheory> megatronTheory(const Recording &recording);

struct DerivedArgument {
    /// as Megatron has it
    std::string name, value;
    /// "Megatron's estimate of memory: …"
    std::string why;
};

struct DerivedJob {
    MegatronTheory theory;
    /// 0: nothing that fits, or several that do
    int tensor = 0, pipeline = 0;
    /// 0: not derived
    int layers = 0;
    bool isTied = false;
    /// parameters of the token table
    Rounded table;
    /// tokens of a micro-batch × hidden size; 0: not derived
    double width = 0;
    /// of weights, gradients and optimizer states
    double bytesPerParameter = 0;
    std::vector<DerivedArgument> arguments;
};
/// Empty where no source has such an estimate.
[[nodiscard]] std::optional<DerivedJob> derivedJob(const Recording &recording);

} // namespace trainyard::imports
