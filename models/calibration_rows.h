#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a run teaches beside what the plan has taken already, as rows; and the plans in which one is taken or removed.
// Pure functions of a proposal and a plan.

#include "core/runs/calibrate/calibrate.h"

#include <QString>
#include <QStringList>

#include <memory>
#include <vector>

namespace trainyard {

using ProposalPtr = std::shared_ptr<const CalibrationProposal>;

enum class FactorState {
    /// may be taken
    Offered,
    /// may be taken in place of what the plan has under the same id
    Replaces,
    /// as proposed
    Taken,
    /// the plan has it, and the run does not tell of it
    Kept,
    /// with the reason
    Refused,
};

struct CalibrationRow {
    std::string id;
    FactorState state = FactorState::Offered;
    /// as models/text/calibration_text has them
    QString subject, value, basis, errors;
    /// the recording, of what the plan has
    QString from;
    /// a sentence: what it says, or why it is refused or without effect
    QString told;
    QString hint;
    bool operator==(const CalibrationRow &) const = default;
};

/// What the run tells in its order of what it explains, then what the plan has besides. `proposal` may be null.
[[nodiscard]] std::vector<CalibrationRow> calibrationRows(
    const Plan &plan, const ProposalPtr &proposal, const Catalogue &catalogue);
/// "Products of H100 × 1.17, from march run" of each entry that has effect.
[[nodiscard]] QStringList calibrationSentences(const Plan &plan, const Catalogue &catalogue);

struct CalibrationEdit {
    /// null: nothing to do
    PlanPtr plan;
    QString text;
    explicit operator bool() const { return plan != nullptr; }
};
[[nodiscard]] CalibrationEdit taken(
    const Plan &plan, const CalibrationProposal &proposal, const std::string &id, const Catalogue &catalogue);
/// All that are not refused and not in the plan yet.
[[nodiscard]] CalibrationEdit allTaken(
    const Plan &plan, const CalibrationProposal &proposal, const Catalogue &catalogue);
[[nodiscard]] CalibrationEdit removed(const Plan &plan, const std::string &id, const Catalogue &catalogue);

} // namespace trainyard
