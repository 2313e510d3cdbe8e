#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of an explanation that say what would be if: better parts with their prices, fixes, GPUs that retire; and
// which settings change nothing.

#include "core/evaluation/report/explanation.h"
#include "core/evaluation/report/json_internal.h"

namespace trainyard {

/// Most useful first.
[[nodiscard]] std::vector<PartEffect> ranked(std::vector<PartEffect> parts);
/// What each fix of a problem would do.
[[nodiscard]] std::string fixesTable(const Evaluation &evaluation, const std::vector<PartEffect> &fixes);
/// What buys something, and what is just enough: more of it buys nothing, less would cost.
[[nodiscard]] std::string partsTable(
    const Evaluation &evaluation, const std::vector<PartEffect> &parts, std::size_t leftOut);
[[nodiscard]] std::string bindingText(const std::vector<std::string> &sentences);
/// Those that pay, each in a line.
[[nodiscard]] std::string retiredText(const std::vector<RetiredGpus> &retired);
/// Settings that change nothing, each in a line with why.
[[nodiscard]] std::string idleText(const std::vector<IdleChange> &idle);

/// `now`: seconds of the iteration.
[[nodiscard]] Json effectsJson(const std::vector<PartEffect> &effects, double now);
[[nodiscard]] Json retiredJson(const std::vector<RetiredGpus> &retired);
[[nodiscard]] Json idleJson(const std::vector<IdleChange> &idle);

} // namespace trainyard
