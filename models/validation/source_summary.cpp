// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/validation/source_summary.h"

#include <QObject>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>

namespace trainyard {

namespace {

/// A gate names metrics with * for any text.
bool isOf(const Gate &gate, const std::string &metric)
{
    const QString pattern = QRegularExpression::escape(QString::fromStdString(gate.metric))
                                .replace(QStringLiteral("\\*"), QStringLiteral(".*"));
    return QRegularExpression(QRegularExpression::anchoredPattern(pattern))
        .match(QString::fromStdString(metric))
        .hasMatch();
}

QString outcomeText(const GateOutcome &outcome)
{
    return QStringLiteral("%1: %2 %3, %4")
        .arg(QString::fromStdString(gateText(outcome.gate)), statisticText(outcome.gate.statistic),
            QString::fromStdString(reachedText(outcome)), QString::fromStdString(verdictText(outcome)));
}

void addGates(SummaryLine &line, const std::vector<GateOutcome> &outcomes)
{
    std::vector<const GateOutcome *> own;
    for (const GateOutcome &outcome : outcomes) {
        if (outcome.gate.source == line.source && outcome.gate.status == line.status && isOf(outcome.gate, line.metric))
            own.push_back(&outcome);
    }
    QStringList hints;
    for (const GateOutcome *outcome : own) {
        hints << outcomeText(*outcome);
        const Verdict verdict = verdictOf(*outcome);
        const auto rank = [](Verdict v) {
            return v == Verdict::Missed ? 3 : v == Verdict::AimMissed ? 2 : v == Verdict::Met ? 1 : 0;
        };
        if (rank(verdict) > rank(line.verdict))
            line.verdict = verdict;
    }
    line.gateHint = hints.join(u'\n');
    if (own.size() == 1)
        line.gate = QStringLiteral("%1 of %2")
                        .arg(QString::fromStdString(reachedText(*own.front())),
                            QString::fromStdString(limitText(own.front()->gate)));
    else if (own.size() > 1)
        line.gate = QObject::tr("%1 of %2 met")
                        .arg(std::ranges::count_if(own, [](const GateOutcome *o) { return o->isMet; }))
                        .arg(own.size());
}

} // namespace

Verdict verdictOf(const GateOutcome &outcome)
{
    if (outcome.n == 0 && outcome.failed == 0)
        return Verdict::None;
    return outcome.isMet ? Verdict::Met : outcome.gate.isAim ? Verdict::AimMissed : Verdict::Missed;
}

QString statisticText(GateStatistic statistic)
{
    switch (statistic) {
    case GateStatistic::MeanAbsError:
        return QObject::tr("mean error");
    case GateStatistic::MedianAbsError:
        return QObject::tr("median error");
    case GateStatistic::MaxAbsError:
        return QObject::tr("largest error");
    case GateStatistic::RankCorrelation:
        return QObject::tr("rank correlation");
    }
    return {};
}

std::vector<SummaryLine> summaryLines(const ValidatedRows &rows)
{
    std::vector<SummaryLine> lines;
    for (const SourceSummary &source : rows.validation.sources) {
        for (const MetricSummary &metric : source.metrics) {
            SummaryLine line { source.source, metric.metric, RowStatus::Gated, sourceIndex(rows, source.source),
                metric.gated, metric.failed, {}, {}, {} };
            if (line.errors.n + line.failed > 0) {
                addGates(line, rows.validation.gates);
                lines.push_back(line);
            }
            if (metric.guessed.n > 0) {
                SummaryLine guessed { source.source, metric.metric, RowStatus::Guessed, line.sourceIndex,
                    metric.guessed, 0, {}, {}, {} };
                addGates(guessed, rows.validation.gates);
                lines.push_back(std::move(guessed));
            }
        }
    }
    return lines;
}

} // namespace trainyard
