#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of trainers that train what Hugging Face's libraries load, and MaxText's. Constant data; any thread.

#include "core/runs/imports/dialects.h"

namespace trainyard::imports {

/// accelerate's default_config.yaml
[[nodiscard]] std::span<const DialectRule> accelerateRules();
[[nodiscard]] std::span<const DialectRule> llamaFactoryRules();
[[nodiscard]] std::span<const DialectRule> axolotlRules();
/// recipes of NeMo Automodel
[[nodiscard]] std::span<const DialectRule> automodelRules();
[[nodiscard]] std::span<const DialectRule> maxTextRules();

} // namespace trainyard::imports
