#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of trainers that train what Hugging Face's libraries load, and MaxText's. Constant data; any thread.

#include "core/runs/imports/dialects.h"

namespace trainyard::imports {

inline constexpr std::string_view kAdapters = "!trains adapters beside frozen weights, which no plan can express yet";
inline constexpr std::string_view kQuantized = "!trains over quantised frozen weights, which no plan can express yet";
inline constexpr std::string_view kOtherLoss =
    "!trains by another loss than that of the next token (a second model, or "
    "samples of its own), which no plan can express yet";

/// accelerate's default_config.yaml
[[nodiscard]] std::span<const DialectRule> accelerateRules();
/// transformers' TrainingArguments: shared by what is built on its Trainer
[[nodiscard]] std::span<const DialectRule> trainerArgumentRules();
/// scripts with the options of transformers' Trainer
[[nodiscard]] std::span<const DialectRule> hfTrainerRules();
[[nodiscard]] std::span<const DialectRule> llamaFactoryRules();
[[nodiscard]] std::span<const DialectRule> axolotlRules();
/// GPT-NeoX's arguments, built on Megatron's and DeepSpeed's. neox_table.cpp
[[nodiscard]] std::span<const DialectRule> neoxRules();
/// recipes of NeMo Automodel
[[nodiscard]] std::span<const DialectRule> automodelRules();
[[nodiscard]] std::span<const DialectRule> maxTextRules();

} // namespace trainyard::imports
