// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/variant_words.h"

#include "core/facts/plan/plan_diff.h"
#include "models/text/duration.h"
#include "models/text/foreign_text.h"
#include "models/text/format.h"

#include <QCoreApplication>

#include <cmath>

namespace trainyard {

namespace {

QString text(const char *source)
{
    return QCoreApplication::translate("VariantWords", source);
}

/// of both; 0 where they do not compare
double ratio(const PlanFigures *base, const PlanFigures *figures)
{
    const bool areAlike = base && figures && base != figures && base->isComparable && figures->isComparable
        && base->isOfJobs == figures->isOfJobs && base->iterationTime && figures->iterationTime;
    return areAlike && *base->iterationTime > 0 ? *figures->iterationTime / *base->iterationTime : 0;
}

} // namespace

QString iterationOf(const PlanFigures *figures)
{
    if (!figures)
        return QStringLiteral("…");
    return figures->iterationTime ? formatDuration(*figures->iterationTime) : text("none");
}

QString priceOf(const PlanFigures *figures)
{
    return figures && figures->usdPerMtok ? text("%1 per million tokens").arg(formatUsd(*figures->usdPerMtok))
                                          : QString();
}

QString memoryOf(const PlanFigures *figures)
{
    if (!figures || figures->memoryBytes <= 0)
        return {};
    return (figures->fits ? text("Fullest GPU %1") : text("Does not fit: %1 on the fullest GPU"))
        .arg(formatBytes(figures->memoryBytes));
}

QString changeAgainst(const PlanFigures *base, const PlanFigures *figures)
{
    const double change = ratio(base, figures);
    return change > 0 ? formatChange(1, change) : QString();
}

Tone toneAgainst(const PlanFigures *base, const PlanFigures *figures)
{
    const double change = ratio(base, figures);
    if (change <= 0 || std::abs(change - 1) < kNoChange)
        return Tone::Muted;
    return change < 1 ? Tone::Good : Tone::Bad;
}

QStringList differencesInWords(const Plan &base, const Plan &plan, int most)
{
    const std::vector<std::string> all = describeDifferences(base, plan);
    QStringList lines;
    for (const std::string &one : all) {
        if (lines.size() == most) {
            lines << text("and %1 more").arg(qsizetype(all.size()) - most);
            break;
        }
        lines << foreignText(QString::fromStdString(one));
    }
    return lines;
}

} // namespace trainyard
