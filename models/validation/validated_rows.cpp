// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/validation/validated_rows.h"

#include "models/text/format.h"

#include <QObject>
#include <QStringList>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

/// Smallest error that `share` of the figures do not exceed; `errors` sorted.
double quantile(const std::vector<double> &errors, double share)
{
    const auto index = std::size_t(std::ceil(share * double(errors.size())));
    return errors[std::clamp<std::size_t>(index, 1, errors.size()) - 1];
}

QString gatesText(const std::vector<GateOutcome> &outcomes)
{
    const auto isDemanded = [](const GateOutcome &o) { return !o.gate.isAim; };
    const auto all = std::ranges::count_if(outcomes, isDemanded);
    const auto met = std::ranges::count_if(outcomes, [&](const GateOutcome &o) { return isDemanded(o) && o.isMet; });
    return all > 0 ? QObject::tr("%1 of %2 gates met").arg(met).arg(all) : QString();
}

} // namespace

FigureKind kindOfFigure(const std::string &metric)
{
    if (metric.ends_with("_bytes"))
        return FigureKind::Memory;
    if (metric.find("tokens_per_s") != std::string::npos)
        return FigureKind::Throughput;
    if (metric == "mfu" || metric == "hfu" || metric.ends_with("_fraction") || metric.ends_with("utilization"))
        return FigureKind::Share;
    if (metric.ends_with("_s") || metric.find("_s.") != std::string::npos)
        return FigureKind::Time;
    return FigureKind::Other;
}

int sourceIndex(const ValidatedRows &rows, const std::string &source)
{
    const auto found = std::ranges::find(rows.sets, source, &RowSet::source);
    return found == rows.sets.end() ? -1 : int(found - rows.sets.begin());
}

PlanPtr planOf(const ValidatedRows &rows, const ValidationResult &result)
{
    for (const RowSet &set : rows.sets) {
        if (set.source != result.source)
            continue;
        const auto row = std::ranges::find(set.rows, result.id, &ValidationRow::id);
        if (row == set.rows.end() || !row->plan)
            continue;
        Plan plan = *row->plan;
        if (plan.name.empty())
            plan.name = result.source + ", " + result.id;
        return std::make_shared<const Plan>(std::move(plan));
    }
    return nullptr;
}

bool isListed(const ValidationResult &result, const RowFilter &filter)
{
    if (!filter.source.empty() && result.source != filter.source)
        return false;
    if (filter.text.isEmpty())
        return true;
    QString all;
    for (const std::string *part :
        { &result.source, &result.group, &result.id, &result.metric, &result.note, &result.problem })
        all += QString::fromStdString(*part) + u'\n';
    return std::ranges::all_of(filter.text.split(u' ', Qt::SkipEmptyParts),
        [&](const QString &word) { return all.contains(word, Qt::CaseInsensitive); });
}

QString overviewText(const ValidatedRows &rows)
{
    std::vector<double> errors;
    for (const ValidationResult &result : rows.results()) {
        if (result.predicted)
            errors.push_back(std::abs(*result.error()));
    }
    std::ranges::sort(errors);
    QStringList parts {
        QObject::tr("%1 of %2 in %3")
            .arg(countOf(qint64(rows.results().size()), QObject::tr("figure"), QObject::tr("figures")),
                countOf(qint64(rows.validation.sources.size()), QObject::tr("source"), QObject::tr("sources")),
                formatSeconds(rows.seconds))
    };
    if (const QString gates = gatesText(rows.validation.gates); !gates.isEmpty())
        parts << gates;
    if (!errors.empty())
        parts << QObject::tr("half within %1, nine in ten within %2")
                     .arg(formatPercent(quantile(errors, 0.5)), formatPercent(quantile(errors, 0.9)));
    return parts.join(QStringLiteral(" · "));
}

} // namespace trainyard
