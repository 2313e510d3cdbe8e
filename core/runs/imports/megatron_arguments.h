#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Megatron-LM's arguments beside the keys of a plan, once for both ways: import reads a plan from them, export writes
// them from a plan. Names are Megatron's with underscores ("tensor_model_parallel_size" is
// --tensor-model-parallel-size), as of its commit d98e8a6 (2026-08). Constant data; any thread.

#include "core/facts/plan/plan.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace trainyard {

enum class ArgumentHow : std::uint8_t {
    /// a whole number from low to high
    Whole,
    /// a number, here in thousandths
    Number,
    /// given or not: 1 or 0
    Switch,
    /// one of `words`
    Word,
    /// several arguments make the key together, in megatron_plan.cpp: `get` and `put` are null
    Rule,
};

struct ArgumentWord {
    /// as Megatron takes it
    const char *argument;
    /// as the plan's file says it
    const char *plan;
    /// of the plan's enum
    std::int64_t value;
};

struct MegatronArgument {
    const char *name;
    /// of the plan
    const char *key;
    ArgumentHow how = ArgumentHow::Rule;
    std::int64_t low = 0, high = 0;
    std::int64_t (*get)(const Plan &plan) = nullptr;
    void (*put)(Plan &plan, std::int64_t value) = nullptr;
    std::span<const ArgumentWord> words = {};
};
[[nodiscard]] std::span<const MegatronArgument> megatronArguments();
/// nullptr where no key of a plan has to do with it.
[[nodiscard]] const MegatronArgument *megatronArgument(std::string_view name);

/// Of a model's shape: whole numbers that stand in ModelSpec as they are. What else makes a model (activation,
/// normalisation, biases, positions) is in model_of.cpp.
struct MegatronShape {
    const char *name;
    int ModelSpec::*member;
};
[[nodiscard]] std::span<const MegatronShape> megatronShapes();

/// "--tensor-model-parallel-size"
[[nodiscard]] std::string flagOf(std::string_view name);

} // namespace trainyard
