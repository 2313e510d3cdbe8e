// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/planner/planner_tables.h"

#include "models/planner_words.h"
#include "models/text/duration.h"
#include "models/text/format.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

constexpr int kInTable = 8, kInTip = 8; // differences

QString tr(const char *text)
{
    return QCoreApplication::translate("Planner", text);
}

QStringList changesOf(const PlanSearch &search, std::size_t row, int most)
{
    const PlanPtr plan = search.planOf(row), before = search.planBefore();
    return plan && before ? differencesText(*before, *plan, most) : QStringList();
}

QString againstOwn(const PlanSearch &search, std::size_t row)
{
    const auto own = search.own();
    if (!own)
        return {};
    if (*own == row)
        return tr("your plan");
    const auto &rows = search.rows();
    if (rows[*own].state != RowState::Feasible && rows[*own].worstScenario >= 0)
        return tr("your plan fails in a scenario");
    if (rows[*own].state != RowState::Feasible)
        return rows[*own].state == RowState::OutOfConstraint ? tr("your plan breaks a limit")
                                                             : tr("your plan cannot run");
    const auto gain = gainOf(rows[*own], rows[row]);
    return gain ? gainText(search.objective(), *gain) : QString();
}

} // namespace

QString orDash(double value, QString (*text)(double))
{
    return value > 0 ? text(value) : QStringLiteral("–");
}

TextRows bestTable(const PlanSearch &search)
{
    const QString gain = robustName(search).isEmpty()        ? tr("Gain")
        : search.asked().robustness == Robustness::WorstCase ? tr("Gain, worst case")
                                                             : tr("Gain, mean");
    TextRows table { { QStringLiteral("#"), tr("Iteration"), tr("$/Mtok"), tr("GPUs"), tr("Fullest"), gain,
                         tr("What it changes") },
        {} };
    for (const std::size_t at : search.best()) {
        const SearchRow &row = search.rows()[at];
        QStringList changes = changesOf(search, at, kInTable);
        if (changes.isEmpty())
            changes << (search.own() == at ? tr("Nothing: it is your plan")
                    : search.planOf(at)    ? tr("Nothing: it is the plan as it is now")
                                           : QStringLiteral("…"));
        QStringList hints = changes;
        if (const QString world = worldText(search, row); !world.isEmpty())
            hints.prepend(world);
        const QString hint = hints.join(u'\n');
        table.lines.push_back(
            { { QString::number(table.lines.size() + 1), orDash(row.seconds, formatDuration),
                  orDash(row.usdPerMillionTokens, formatUsd), QStringLiteral("%L1").arg(row.gpus),
                  orDash(row.fill, formatPercent), againstOwn(search, at), changes.join(QStringLiteral(" · ")) },
                Tone::Muted, -1, hint });
    }
    return table;
}

TextRows leftOutTable(const PlanSearch &search)
{
    TextRows table { { tr("Why"), tr("Candidates") }, {} };
    std::vector<PruneCount> counts;
    if (search.result()) {
        counts = search.result()->pruned;
    } else { // of the rows so far
        std::map<std::string, std::uint64_t> byReason;
        for (const SearchRow &row : search.rows())
            if (!row.reason.empty())
                ++byReason[row.reason];
        for (const auto &[reason, count] : byReason)
            counts.push_back({ reason, count });
        std::ranges::stable_sort(counts, std::greater {}, &PruneCount::count);
    }
    for (const PruneCount &pruned : counts) {
        const QString why = reasonText(pruned.reason);
        table.lines.push_back({ { why, countText(pruned.count) }, Tone::Plain, -1, why });
    }
    return table;
}

QString candidateTip(const PlanSearch &search, std::size_t row)
{
    if (row >= search.rows().size())
        return {};
    const SearchRow &candidate = search.rows()[row];
    const bool isOwn = search.own() == row;
    QStringList lines;
    const auto place = std::ranges::find(search.best(), row);
    QString head = isOwn ? tr("Your plan") : nameOf(candidate.state);
    head[0] = head[0].toUpper();
    if (!isOwn && place != search.best().end())
        head += tr(", number %1 of the best").arg(place - search.best().begin() + 1);
    lines << QStringLiteral("<b>%1</b>").arg(head.toHtmlEscaped());
    if (!candidate.reason.empty())
        lines << reasonText(candidate.reason).toHtmlEscaped() + u'.';
    lines << figuresText(candidate).toHtmlEscaped();
    if (const QString world = worldText(search, candidate); !world.isEmpty())
        lines << world.toHtmlEscaped();
    if (!isOwn && candidate.state == RowState::Feasible)
        if (const QString gain = againstOwn(search, row); !gain.isEmpty())
            lines << gain.toHtmlEscaped();
    if (!isOwn)
        for (const QString &change : changesOf(search, row, kInTip))
            lines << QStringLiteral("• %1").arg(change.toHtmlEscaped());
    return lines.join(QStringLiteral("<br>"));
}

} // namespace trainyard
