#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the strategy panel lists, in order: which keys of the plan, in which section, with which kind of control. Names,
// units, ranges, explanations and where a key applies are told of the keys themselves (core/facts/plan/keys/); values
// of lists and switches come from the core's alternatives.

#include "core/facts/plan/key_list.h"
#include "views/panels/effect_text.h"

namespace trainyard {

struct StrategyEntry {
    /// Number: a list in which any number can be typed
    enum class Control { List, Switch, Number, Field, File };
    /// nullptr: the same as before
    const char *section;
    /// what its effect is on, beside the iteration
    EffectFocus focus;
    /// of the alternatives
    std::string group;
    const KeyRow *row;
    Control control;
    /// of the one above
    bool isPart;
    /// folded away until someone asks for it
    bool isAdvanced;
};

[[nodiscard]] const std::vector<StrategyEntry> &strategyEntries();

/// How the width of a row is shared.
inline constexpr int kNameShare = 31, kControlShare = 33, kEffectShare = 36;

} // namespace trainyard
