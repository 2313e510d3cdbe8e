#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Offload in words and as a table: which activations leave a GPU, how fast they must be written, what training waits
// for, how long the drives last and what they cost; what an optimizer step off the GPU takes and moves. Pure functions.

#include "core/evaluation/evaluate/evaluation.h"

#include <QString>
#include <QStringList>

#include <vector>

namespace trainyard {

/// One sentence a line; empty where activations stay.
[[nodiscard]] QStringList offloadFacts(const Metrics &metrics);

struct OffloadLine {
    QString name, value, explanation;
};
/// The same as a table, each with what it means. Lines that do not apply are not there.
[[nodiscard]] std::vector<OffloadLine> offloadLines(const Metrics &metrics);
/// The optimizer step of one GPU of a stage where its states lie off it: what it takes, which groups the GPU updates
/// itself, what moves. Empty where states stay.
[[nodiscard]] std::vector<OffloadLine> stepLines(const Evaluation &evaluation, int stage);

/// "3.2 years", "4 months", "over 100 years".
[[nodiscard]] QString formatYears(double years);

} // namespace trainyard
