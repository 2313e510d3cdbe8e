#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the strategy panel lists, in order: section, name, meaning and kind of control of each row, and when it applies.
// Values of lists and switches come from the core's alternatives; fields read and write one number of the plan.

#include "core/plan/plan.h"

#include <span>

namespace trainyard {

/// One number of the plan in a box of its own.
struct NumberField {
    const char *suffix;
    double low, high;
    int decimals;
    double (*get)(const Plan &);
    void (*set)(Plan &, double);
    const char *lowestMeans = nullptr;     // shown instead of the lowest value: "catalogue default"
};

struct StrategyEntry {
    enum class Control { List, Switch, Number, Field, File };   // Number: a list in which any number can be typed
    const char *section;                   // nullptr: the same as before
    const char *group;                     // of the alternatives; of a field its own name
    const char *name, *explanation;
    Control control = Control::List;
    const char *key = nullptr;             // dotted key of the plan, of a Number, a Field and a File
    bool (*applies)(const Plan &) = nullptr;   // nullptr: wherever there are alternatives
    const NumberField *field = nullptr;
    bool isForUtilization = false;         // its effect is on the use of the GPUs, not on the iteration
    bool isForMemory = false;              // its effect is on what the fullest GPU holds, and on the iteration
};

[[nodiscard]] std::span<const StrategyEntry> strategyEntries();

/// How the width of a row is shared.
inline constexpr int kNameShare = 31, kControlShare = 33, kEffectShare = 36;

} // namespace trainyard
