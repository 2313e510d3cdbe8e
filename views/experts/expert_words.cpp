// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/experts/expert_words.h"

#include "core/facts/hardware/published_gains.h"
#include "core/facts/plan/enum_names.h"
#include "models/text/format.h"

#include <QLocale>
#include <QObject>

namespace trainyard {

namespace {

QString times(double factor)
{
    return QStringLiteral("%1 ×").arg(factor, 0, 'f', 2);
}

QString gbps(double value)
{
    return QStringLiteral("%1 Gbps").arg(
        value < 1000 ? QString::number(value, 'g', 3) : QLocale(QLocale::English).toString(value, 'f', 0));
}

/// As published: no more digits than were given.
QString plainPercent(double share)
{
    return QStringLiteral("%1 %").arg(QString::number(share * 100, 'g', 3));
}

const StepTimes &at(const Ablation &ablation, ExchangeStep step)
{
    return ablation[std::size_t(step)];
}

} // namespace

QString piecesOf(const StepTimes &step)
{
    if (step.forwardPieces <= 1 && step.backwardPieces <= 1)
        return {};
    return step.forwardPieces == step.backwardPieces
        ? QObject::tr("in %1 pieces").arg(step.forwardPieces)
        : QObject::tr("in %1 pieces, %2 in the backward").arg(step.forwardPieces).arg(step.backwardPieces);
}

QString groupSentence(const ExpertGroup &group)
{
    QString text = QObject::tr("Experts over %1").arg(countOf(group.ranks, QObject::tr("rank"), QObject::tr("ranks")));
    if (group.sites() > 1)
        text += QObject::tr(" in %1 datacenters").arg(group.sites());
    else
        text += QObject::tr(" on %1").arg(countOf(group.nodes(), QObject::tr("node"), QObject::tr("nodes")));
    if (group.sameTokens.ranks > 1)
        text += QObject::tr("; %1 ranks hold the same tokens").arg(group.sameTokens.ranks);
    if (group.expertTensor.ranks > 1)
        text += QObject::tr("; %1 share an expert").arg(group.expertTensor.ranks);
    return text;
}

QString resultSentence(const ExpertComparison &comparison)
{
    if (!comparison.now)
        return {};
    const StepTimes &all = at(*comparison.now, ExchangeStep::DeepSpeed),
                    &aware = at(*comparison.now, ExchangeStep::Overlapped);
    if (aware.dispatch == MoeDispatch::Flat)
        return QObject::tr("Traffic-aware stays with DeepSpeed's flat exchange: gathering the slices would take longer "
                           "than sending all tokens.");
    QString text = QObject::tr("Traffic-aware takes %1").arg(QString::fromLatin1(labelOf(aware.dispatch)));
    if (const QString pieces = piecesOf(aware); !pieces.isEmpty())
        text += u' ' + pieces;
    text += QObject::tr(": a layer takes %1 instead of %2 (%3)")
                .arg(formatSeconds(aware.layer().value), formatSeconds(all.layer().value),
                    formatChange(all.layer().value, aware.layer().value));
    const auto &iteration = comparison.iteration;
    if (iteration.front() && iteration.back())
        text += QObject::tr(", the iteration %1 instead of %2 (%3)")
                    .arg(formatSeconds(*iteration.back()), formatSeconds(*iteration.front()),
                        formatChange(*iteration.front(), *iteration.back()));
    return text + u'.';
}

QString publishedSentence()
{
    const PublishedExpertGains &published = publishedExpertGains();
    return QObject::tr("Published: %1 × for the all-to-all, %2 less for the whole. %3.")
        .arg(published.allToAll)
        .arg(plainPercent(published.iteration), QString::fromStdString(published.source));
}

QString sparedSentence(const ExpertComparison &comparison)
{
    if (!comparison.now)
        return {};
    const auto spared = sparedTraffic(*comparison.now);
    if (!spared)
        return QObject::tr("Here: the experts' ranks share a node, and nothing crosses a NIC.");
    return QObject::tr("Here: slices are %1 fewer bytes on the NIC and %2 less time for that all-to-all alone. The "
                       "layer and the iteration gain less.")
        .arg(times(spared->bytes), times(spared->allToAll));
}

QString gainSentence(const ExpertComparison &comparison)
{
    if (!comparison.published)
        return {};
    const PublishedGain &gain = *comparison.published;
    const QString wanted = plainPercent(gain.wanted), now = formatPercent(gain.now);
    const double plans = comparison.curves[std::size_t(ExpertAxis::NicGbps)].current;
    if (gain.gbps)
        return QObject::tr("The iteration gains %1 with NICs of %2 per GPU; with the plan's %3 it gains %4.")
            .arg(wanted, gbps(*gain.gbps), gbps(plans), now);
    return gain.now < gain.wanted
        ? QObject::tr("No NIC down to %1 per GPU brings the iteration %2: there it gains %3, with the plan's %4 %5.")
              .arg(gbps(gain.lastGbps), wanted, formatPercent(gain.lastGain), gbps(plans), now)
        : QObject::tr("Every NIC up to %1 per GPU brings the iteration more than %2: there %3, with the plan's %4 %5.")
              .arg(gbps(gain.lastGbps), wanted, formatPercent(gain.lastGain), gbps(plans), now);
}

QString standingSentence()
{
    return QObject::tr("Equations are our reconstruction from the released code; which baseline and NICs the paper's "
                       "figures have is not known.");
}

QString axisTitle(ExpertAxis axis)
{
    switch (axis) {
    case ExpertAxis::NicGbps:
        return QObject::tr("NIC bandwidth, Gbps per GPU");
    case ExpertAxis::NvlinkGBps:
        return QObject::tr("NVLink bandwidth, GB/s per GPU");
    case ExpertAxis::TensorRanks:
        return QObject::tr("ranks with the same tokens (TP)");
    case ExpertAxis::SequenceLength:
        return QObject::tr("sequence length, tokens");
    }
    return {};
}

QString axisValue(ExpertAxis axis, double x)
{
    switch (axis) {
    case ExpertAxis::NicGbps:
        return gbps(x);
    case ExpertAxis::NvlinkGBps:
        return QStringLiteral("%1 GB/s").arg(QString::number(x, 'g', x < 1000 ? 3 : 4));
    case ExpertAxis::TensorRanks:
        return QObject::tr("TP %1").arg(x);
    case ExpertAxis::SequenceLength:
        return QObject::tr("%1 tokens").arg(QLocale(QLocale::English).toString(qlonglong(x)));
    }
    return {};
}

} // namespace trainyard
