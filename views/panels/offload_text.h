#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Activation offload in words and as a table: what leaves a GPU, how fast it must be written, what training waits for, how
// long the drives last and what they cost. Pure functions.

#include "core/evaluate/evaluation.h"

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

/// "3.2 years", "4 months", "over 100 years".
[[nodiscard]] QString formatYears(double years);

} // namespace trainyard
