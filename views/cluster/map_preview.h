#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the gesture under way would make of the plan: the candidate edit, and its evaluation once that has arrived.
// Knows when the candidate really changed, so that each is announced once. No widget.

#include "core/evaluation/evaluate/evaluation.h"
#include "views/cluster/map_edits.h"
#include "views/cluster/map_layout.h"
#include "views/cluster/map_scene.h"

#include <QColor>

#include <optional>

namespace trainyard {

class MapPreview {
public:
    enum class Change { None, Previewed, Cancelled };

    /// Carries `carry` over `target` (-1: over nothing). Computes a new candidate only where either differs.
    Change update(const PlanPtr &plan, const Carry &carry, int target);
    /// A candidate made elsewhere: an entry of a menu.
    Change set(std::optional<MapEdit> edit);
    Change clear();
    /// Takes the evaluation where it is the candidate's; false where it is not.
    bool accept(const EvaluationPtr &evaluation);

    [[nodiscard]] const std::optional<MapEdit> &edit() const { return m_edit; }
    [[nodiscard]] const EvaluationPtr &evaluation() const { return m_evaluation; }
    /// "11.8 s → 11.3 s  −4.5 %", "…" until it is known.
    [[nodiscard]] QString verdict(const Evaluation *before) const;
    [[nodiscard]] QColor verdictColour(const Evaluation *before) const;

private:
    std::optional<MapEdit> m_edit;
    EvaluationPtr m_evaluation;
    Carry m_carry;
    int m_target = -1;
};

} // namespace trainyard
