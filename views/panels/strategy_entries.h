#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the strategy panel lists, in order: which keys of the plan, in which section, with which kind of control. Names,
// units, ranges, explanations and where a key applies are told of the keys themselves (core/facts/plan/keys/); values
// of lists and switches come from the core's alternatives.

#include "core/facts/plan/key_list.h"
#include "views/panels/effect_text.h"

namespace trainyard {

struct StrategyEntry {
    enum class Control { List, Switch, Number, Field, File }; // Number: a list in which any number can be typed
    const char *section; // nullptr: the same as before
    EffectFocus focus; // what its effect is on, beside the iteration
    std::string group; // of the alternatives
    const KeyRow *row;
    Control control;
    bool isPart; // of the one above
    bool isAdvanced; // folded away until someone asks for it
};

[[nodiscard]] const std::vector<StrategyEntry> &strategyEntries();

/// How the width of a row is shared.
inline constexpr int kNameShare = 31, kControlShare = 33, kEffectShare = 36;

} // namespace trainyard
