#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The rules themselves, as predicates over the values of axes. Private to the folder; rules.h walks by them.

#include "core/planner/space/rules.h"

namespace trainyard::detail {

struct SpaceRule {
    /// why a candidate is left out
    std::string text;
    /// of those that it asks about
    std::size_t lastAxis = 0;
    std::function<bool(const Candidate &)> breaks;
};

/// Each about one axis at least. They refer to the space.
[[nodiscard]] std::vector<SpaceRule> spaceRules(const SearchSpace &space, const Catalogue &catalogue);

} // namespace trainyard::detail
