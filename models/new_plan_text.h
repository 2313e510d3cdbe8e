#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the sheet for a new plan says about the plan that it would make: one line, and one of how it would be trained.

#include "models/new_plan_search.h"

#include <QString>

namespace trainyard {

struct NewPlanPreview {
    QString line, details;
    /// false: what is said is a warning
    bool fits = true;
};

/// `missing`: what still has to be said; the rest is empty then.
[[nodiscard]] NewPlanPreview previewOf(const NewPlanAnswer &answer, const QString &missing, qint64 gpus);

} // namespace trainyard
