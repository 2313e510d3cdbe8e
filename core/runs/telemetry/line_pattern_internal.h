#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A pattern's text as the steps of a machine. For the .cpp files of this folder.

#include "core/runs/telemetry/line_pattern.h"

namespace trainyard {

struct CompiledPattern {
    std::vector<LinePattern::Step> steps;
    std::vector<std::bitset<256>> sets;
    std::vector<LinePattern::NamedGroup> groups;
};
/// Errors: as LinePattern::parse().
[[nodiscard]] Expected<CompiledPattern> compiledPattern(std::string_view text);

/// What makes seconds or bytes of a number with that unit, in small letters.
[[nodiscard]] std::optional<double> unitFactor(LineGroup group, std::string_view unit);

} // namespace trainyard
