#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Work of variants that are not shown.

#include "models/plan_document.h"

#include <QStringList>

#include <string>
#include <vector>

namespace trainyard {

/// By what name recovery keeps it. The first variant of a window is what the window has always kept.
inline QString keptAs(const std::string &id)
{
    return id == "v1" ? QString() : QString::fromStdString(id);
}

/// A plan that nobody has edited here. `saved`: as some file has it; null: none has.
inline PlanWork resting(const std::string &id, const PlanPtr &plan, const PlanPtr &saved)
{
    return { plan, saved, {}, {}, false, nullptr, keptAs(id) };
}

inline QStringList toTexts(const std::vector<std::string> &texts)
{
    QStringList list;
    for (const std::string &text : texts)
        list << QString::fromStdString(text);
    return list;
}

} // namespace trainyard
