// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/pair_tables.h"

#include "core/evaluation/evaluate/comparable.h"
#include "models/text/duration.h"
#include "models/text/format.h"

#include <QCoreApplication>

#include <algorithm>

namespace trainyard {

namespace {

QString pairText(const char *source)
{
    return QCoreApplication::translate("PairTables", source);
}

} // namespace

Tone toneOfNumbers(const MetricRow &before, const MetricRow &after)
{
    if (!before.value || !after.value || before.better == Better::Neither || *before.value == *after.value)
        return Tone::Muted;
    return (*after.value < *before.value) == (before.better == Better::Lower) ? Tone::Good : Tone::Bad;
}

std::vector<MetricRow> numberRows(const Evaluation &evaluation, bool withJobs)
{
    std::vector<MetricRow> rows = metricRows(evaluation, withJobs);
    for (MetricRow &row : breakdownRows(evaluation))
        rows.push_back(std::move(row));
    return rows;
}

TextRows numbersOf(const ComparedPair &pair, const QString &before, const QString &after)
{
    const bool areCompared = whyNotCompared(*pair.before, *pair.after).empty();
    const bool withJobs = pair.before->metrics.jobs || pair.after->metrics.jobs;
    const std::vector<MetricRow> second = numberRows(*pair.after, withJobs);
    TextRows table { { pairText("Number"), before, after, pairText("Difference") }, {} };
    for (const MetricRow &row : numberRows(*pair.before, withJobs)) {
        const auto other = std::ranges::find(second, row.key, &MetricRow::key);
        if (other == second.end() || (!row.value && !other->value))
            continue;
        const bool isTold = areCompared && row.value && other->value && *row.value != 0;
        table.lines.push_back({ { QString::fromStdString(row.label), QString::fromStdString(valueText(row)),
                                    QString::fromStdString(valueText(*other)),
                                    isTold ? formatChange(*row.value, *other->value) : QString() },
            isTold ? toneOfNumbers(row, *other) : Tone::Muted, -1, QString::fromStdString(row.key) });
    }
    return table;
}

QString verdictOf(const ComparedPair &pair)
{
    const std::string why = whyNotCompared(*pair.before, *pair.after);
    if (!why.empty())
        return QString::fromStdString(why);
    const Metric &one = pair.before->metrics.iterationTime, &two = pair.after->metrics.iterationTime;
    if (!one || !two || *one <= 0)
        return {};
    return pairText("%1 → %2 an iteration (%3)")
        .arg(formatDuration(*one), formatDuration(*two), formatChange(*one, *two));
}

} // namespace trainyard
