#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// An effect in two or three words and the ink to write them in: "−2.1 %", "+4.5 % −12.3 GB", "84 GB, does not fit".
// Green is what is better and no worse, red what is worse and no better, or leads from fitting to not fitting. Pure
// functions.

#include "models/effects.h"
#include "models/table_roles.h"
#include "views/parts/text_line.h"

namespace trainyard {

/// The figures of an effect by column; all empty where words alone tell it.
struct EffectColumns {
    QString time, memory, mark;
    /// with two digits
    QString briefTime, briefMemory;
    Ink timeInk = Ink::Muted, memoryInk = Ink::Faint;
    bool operator==(const EffectColumns &) const = default;
};

struct EffectText {
    QString text;
    Ink ink = Ink::Muted;
    /// with two digits, where `text` has no room; may be empty
    QString brief = {};
    /// it cannot be had
    bool isRefusal = false;
    /// of a switch
    EffectColumns columns = {};
    [[nodiscard]] bool hasColumns() const { return !columns.time.isEmpty() || !columns.memory.isEmpty(); }
    /// "≠" and its like, at the end of the words and in their column
    void addMark(const QString &mark);
    bool operator==(const EffectText &) const = default;
};

/// What a switch is for, which its effect has to tell.
enum class EffectFocus { Time, Memory, Utilization };

/// Of a part that is bettered: the iteration alone, or what the fullest GPU would hold where that is too much.
[[nodiscard]] EffectText effectText(const Effect &effect);
/// Of a switch, against the plan of the table: time and memory, each in its column. What the switch is for is judged
/// (its ink); where the plan does not fit that is memory everywhere, "✓" marks what makes it fit, "✕" what does not.
/// "no effect" where every number stays.
[[nodiscard]] EffectText effectText(const Effect &effect, const EffectTable &now, EffectFocus focus);
/// Of a switch that has no other value to choose: "measured" where the plan brings stage times of its own; else empty.
[[nodiscard]] EffectText blockedText(const std::vector<Alternative> &alternatives);
/// Of what fills idle time: "+47 pt use", the points of GPU utilization that it adds.
[[nodiscard]] EffectText utilizationText(const Effect &effect, std::optional<double> utilizationNow);
/// The whole story, for a tooltip: "Iteration 11.8 s → 11.6 s. Because: bubble 3.10 → 2.90 s. Fullest GPU 71 of 80 GB."
[[nodiscard]] QString effectSentence(const Effect &effect, std::optional<double> iterationNow);
/// What makes the difference, half a sentence: "15 replicas instead of 16; 36 GPUs idle"; may be empty.
[[nodiscard]] QString becauseText(const Effect &effect);
/// "GPUs at work 45 % → 92 %."; empty where either is unknown.
[[nodiscard]] QString utilizationSentence(const Effect &effect, std::optional<double> utilizationNow);

/// -1, 0 or +1: less, as much, or more. Changes that are smaller than kNoChange are none.
[[nodiscard]] int directionOfTime(const Effect &effect);
[[nodiscard]] int directionOfMemory(const Effect &effect, const EffectTable &now);

} // namespace trainyard
