// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/number_strip.h"

#include "core/evaluation/evaluate/comparable.h"
#include "models/job_rows.h"
#include "models/text/confidence_text.h"
#include "models/text/duration.h"
#include "models/text/format.h"
#include "views/export/panel_picture.h"
#include "views/panels/expert_text.h"
#include "views/panels/fill_text.h"
#include "views/panels/number_card.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHBoxLayout>
#include <QMenu>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

enum class Better { Less, More, Neither };

/// One card: where its number comes from and how it is written. `raw` is what differences are taken of.
struct Kind {
    const char *name, *shortName, *definition;
    Metric (*raw)(const Metrics &);
    QString (*text)(const Evaluation &, double);
    QString (*difference)(double before, double after);
    Better better;
};

const StageMemory *fullest(const Metrics &metrics)
{
    if (!metrics.memory)
        return nullptr;
    const auto it = std::ranges::find(metrics.memory->perStage, metrics.memory->fullestStage, &StageMemory::stage);
    return it == metrics.memory->perStage.end() ? nullptr : &*it;
}

QString withSign(double value, const QString &magnitude)
{
    return (value < 0 ? QString(QChar(0x2212)) : QStringLiteral("+")) + magnitude;
}

QString points(double before, double after)
{
    const double change = (after - before) * 100;
    return withSign(
        change, QString::number(std::abs(change), 'f', std::abs(change) < 9.95 ? 1 : 0) + QStringLiteral(" pt"));
}

QString gigabytes(double before, double after)
{
    const double change = (after - before) / 1e9;
    return withSign(
        change, QString::number(std::abs(change), 'f', std::abs(change) < 9.95 ? 1 : 0) + QStringLiteral(" GB"));
}

QString duration(double days)
{
    const double magnitude = std::abs(days);
    if (magnitude >= 2 * 365.25)
        return QObject::tr("%1 years").arg(magnitude / 365.25, 0, 'f', magnitude < 3652 ? 1 : 0);
    if (magnitude >= 3)
        return QObject::tr("%1 days").arg(magnitude, 0, 'f', magnitude < 9.95 ? 1 : 0);
    return QObject::tr("%1 h").arg(magnitude * 24, 0, 'f', magnitude * 24 < 9.95 ? 1 : 0);
}

QString days(double before, double after)
{
    const double change = after - before;
    const QString magnitude = std::abs(change) < 3
        ? QObject::tr("%1 h").arg(std::abs(change) * 24, 0, 'f', std::abs(change) < 0.4 ? 1 : 0)
        : QObject::tr("%1 d").arg(std::abs(change), 0, 'f', std::abs(change) < 9.95 ? 1 : 0);
    return withSign(change, magnitude);
}

QString wholePercent(const Evaluation &, double share)
{
    return formatPercent(share);
}

QString wholeDuration(const Evaluation &, double seconds)
{
    return formatDuration(seconds);
}

/// "43.1 %", or "45 → 92 %" with prefill in the bubbles.
QString utilization(const Evaluation &e, double share)
{
    const Metric own = e.metrics.jobs ? e.metrics.jobs->gpuUtilization : e.metrics.gpuUtilization;
    if (!e.metrics.bubbleFill || !own)
        return formatPercent(share);
    return QStringLiteral("%1 → %2 %").arg(qRound(*own * 100)).arg(qRound(share * 100));
}

const Kind kKinds[] = {
    { QT_TR_NOOP("Iteration"), QT_TR_NOOP("Iteration"),
        QT_TR_NOOP(
            "Time of one training iteration: from its first task to the end of the last update, without data loading."),
        [](const Metrics &m) { return m.iterationTime; }, [](const Evaluation &, double v) { return formatSeconds(v); },
        formatChange, Better::Less },
    { QT_TR_NOOP("Throughput"), QT_TR_NOOP("Tokens"), QT_TR_NOOP("Training tokens per second of the whole cluster."),
        [](const Metrics &m) { return m.tokensPerSecond; },
        [](const Evaluation &, double v) { return QObject::tr("%1 tok/s").arg(formatCount(v)); }, formatChange,
        Better::More },
    { QT_TR_NOOP("MFU"), QT_TR_NOOP("MFU"),
        QT_TR_NOOP("Model FLOPs utilization: the model's FLOPs (recompute not counted, attention in full) over the "
                   "peak of the used GPUs at the plan's precision."),
        [](const Metrics &m) { return m.mfu; }, wholePercent, points, Better::More },
    { QT_TR_NOOP("GPU utilization"), QT_TR_NOOP("GPU use"),
        QT_TR_NOOP("Share of the used GPUs' time in training computation, recompute included; behind the arrow with "
                   "prefill in bubbles."),
        [](const Metrics &m) { return m.gpuUtilizationWithFill ? m.gpuUtilizationWithFill : m.gpuUtilization; },
        utilization, points, Better::More },
    { QT_TR_NOOP("Fullest GPU"), QT_TR_NOOP("Memory"),
        QT_TR_NOOP("Memory in use on the fullest GPU (allocator, context and communication buffers) of what its driver "
                   "reports."),
        [](const Metrics &m) -> Metric { return fullest(m) ? Metric(double(fullest(m)->device)) : std::nullopt; },
        [](const Evaluation &e, double v) {
            return QObject::tr("%1 / %2 GB")
                .arg(v / 1e9, 0, 'f', 0)
                .arg(double(fullest(e.metrics)->capacity) / 1e9, 0, 'f', 0);
        },
        gigabytes, Better::Neither },
    { QT_TR_NOOP("Busiest WAN link"), QT_TR_NOOP("WAN use"),
        QT_TR_NOOP("Use of what can be used: share of the iteration in which the busiest WAN link carries as much as "
                   "its binding limit lets it."),
        [](const Metrics &m) -> Metric {
            return busiestLink(m) ? Metric(busiestLink(m)->usableUtilization) : std::nullopt;
        },
        wholePercent, points, Better::Neither },
    { QT_TR_NOOP("Cost"), QT_TR_NOOP("Cost"),
        QT_TR_NOOP("US dollars for a million training tokens: all GPUs of the cluster and WAN egress."),
        [](const Metrics &m) { return m.cost.usdPerMillionTokens; },
        [](const Evaluation &, double v) { return QObject::tr("%1 / Mtok").arg(formatUsd(v)); }, formatChange,
        Better::Less },
    { QT_TR_NOOP("Time to train"), QT_TR_NOOP("Training"),
        QT_TR_NOOP("Wall-clock time for all training tokens of the workload, without failures."),
        [](const Metrics &m) { return m.cost.daysTotal; }, [](const Evaluation &, double v) { return duration(v); },
        days, Better::Less },
    { QT_TR_NOOP("Tokens to experts"), QT_TR_NOOP("Experts"),
        QT_TR_NOOP("Time of one expert layer and micro-batch, forward, in which tokens travel and nothing computes."),
        [](const Metrics &m) -> Metric { return m.experts ? Metric(m.experts->exposedMs * 1e-3) : std::nullopt; },
        [](const Evaluation &, double v) { return formatSeconds(v); }, formatChange, Better::Less },
    { QT_TR_NOOP("Prefill in bubbles"), QT_TR_NOOP("Prefill"),
        QT_TR_NOOP("Prompt tokens per second that are served while training waits, over the whole cluster."),
        [](const Metrics &m) -> Metric {
            return m.bubbleFill ? Metric(m.bubbleFill->prefillTokensPerSecond) : std::nullopt;
        },
        [](const Evaluation &, double v) { return QObject::tr("%1 tok/s").arg(formatCount(v)); }, formatChange,
        Better::More },
    { QT_TR_NOOP("All jobs"), QT_TR_NOOP("All jobs"),
        QT_TR_NOOP("Time from the start until the last job has ended: the makespan."),
        [](const Metrics &m) -> Metric { return m.jobs ? m.jobs->makespan : std::nullopt; }, wholeDuration,
        formatChange, Better::Less },
    { QT_TR_NOOP("Bound"), QT_TR_NOOP("Bound"),
        QT_TR_NOOP(
            "No schedule by shards is shorter: all work over all GPUs, or the compute of the longest job, whichever "
            "is more. Transfers are not counted; a pipeline is not held to it."),
        [](const Metrics &m) -> Metric { return m.jobs ? m.jobs->bound : std::nullopt; }, wholeDuration, formatChange,
        Better::Less },
    { QT_TR_NOOP("Above the bound"), QT_TR_NOOP("Above it"),
        QT_TR_NOOP("How much longer all jobs take than the bound: what a better schedule could gain at most."),
        [](const Metrics &m) -> Metric { return m.jobs ? aboveBound(*m.jobs) : std::nullopt; }, wholePercent, points,
        Better::Less },
    { QT_TR_NOOP("GPUs at work"), QT_TR_NOOP("GPU use"),
        QT_TR_NOOP("Share of all GPUs' time, until the last job has ended, in which they compute; behind the arrow "
                   "with prefill."),
        [](const Metrics &m) -> Metric {
            return !m.jobs                 ? std::nullopt
                : m.gpuUtilizationWithFill ? m.gpuUtilizationWithFill
                                           : m.jobs->gpuUtilization;
        },
        utilization, points, Better::More },
    { QT_TR_NOOP("Fullest host"), QT_TR_NOOP("Host"),
        QT_TR_NOOP("Main memory that jobs take on the fullest node at their peak: weights, states and boundaries of "
                   "models whose shards are not on a GPU."),
        [](const Metrics &m) -> Metric {
            return m.jobs && m.jobs->hostPeak > 0 ? Metric(double(m.jobs->hostPeak)) : std::nullopt;
        },
        [](const Evaluation &e, double v) {
            const double capacity = fullestHostCapacity(*e.metrics.jobs);
            return capacity > 0 ? QObject::tr("%1 / %2 GB").arg(v / 1e9, 0, 'f', 0).arg(capacity / 1e9, 0, 'f', 0)
                                : formatBytes(v);
        },
        gigabytes, Better::Neither },
    { QT_TR_NOOP("Price"), QT_TR_NOOP("Price"),
        QT_TR_NOOP("US dollars for all GPUs of the cluster until the last job has ended."),
        [](const Metrics &m) -> Metric { return m.jobs ? m.jobs->usd : std::nullopt; },
        [](const Evaluation &, double v) { return formatUsd(v); }, formatChange, Better::Less },
};
constexpr std::size_t kExperts = 8, kPrefill = 9;
constexpr std::size_t kFirstOfJobs = 10, kBound = 11, kHost = 14;
static_assert(std::size(kKinds) == 16);

Ink inkOfDifference(const Kind &kind, double before, double after)
{
    if (kind.better == Better::Neither || std::abs(after - before) < 5e-4 * std::abs(before))
        return Ink::Muted;
    return (after < before) == (kind.better == Better::Less) ? Ink::Good : Ink::Bad;
}

/// What the tooltip adds for one evaluation; empty where there is nothing to add.
QString detailOf(const Kind &kind, const Evaluation &evaluation)
{
    const Metrics &m = evaluation.metrics;
    if (&kind == &kKinds[0] && !m.confidence.label.empty())
        return QStringLiteral("%1. %2").arg(confidenceText(m), basisText(m.confidence, 0));
    if (&kind == &kKinds[4] && fullest(m))
        return QObject::tr("Stage %1. The framework allocates %2 at its peak.")
                   .arg(fullest(m)->stage + 1)
                   .arg(formatBytes(double(fullest(m)->peak)))
            + u'\n' + explainBytes(double(fullest(m)->capacity));
    if (&kind == &kKinds[5] && busiestLink(m) && evaluation.plan) {
        const auto &between = evaluation.plan->cluster.wanLinks.at(busiestLink(m)->link).between;
        const WanLinkUse &use = *busiestLink(m);
        return QObject::tr("%1–%2, bound by %3, %4 Gbps. %5 of its capacity. %6 TCP connections per node pair.")
            .arg(QString::fromStdString(between[0]), QString::fromStdString(between[1]),
                QString::fromLatin1(toString(use.limit)))
            .arg(use.limitGbps, 0, 'g', 3)
            .arg(formatPercent(use.utilization))
            .arg(use.tcpConnections);
    }
    if (&kind == &kKinds[kBound] || &kind == &kKinds[kHost]) {
        const JobSummary summary = jobSummary(*m.jobs);
        return &kind == &kKinds[kBound] ? summary.boundFacts : summary.host;
    }
    if (&kind == &kKinds[kExperts])
        return expertFacts(m).join(u'\n');
    if (&kind == &kKinds[kPrefill])
        return fillFacts(m).join(u'\n');
    return {};
}

} // namespace

NumberStrip::NumberStrip(QWidget *parent)
    : QWidget(parent)
{
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(Theme::kGap);
    for (const Kind &kind : kKinds) {
        m_cards.push_back(new NumberCard(tr(kind.name), tr(kind.shortName), tr(kind.definition), this));
        layout->addWidget(m_cards.back(), 1);
    }
    showWhatApplies();
    setAccessibleName(tr("Numbers"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void NumberStrip::setEvaluation(EvaluationPtr evaluation)
{
    m_evaluation = std::move(evaluation);
    refresh();
}

void NumberStrip::setBaseline(EvaluationPtr baseline, const QString &against)
{
    const bool isSame = m_baseline == baseline && m_against == against;
    m_baseline = std::move(baseline);
    m_against = against;
    if (!isSame)
        refresh();
}

void NumberStrip::setStale(bool stale)
{
    for (NumberCard *card : m_cards)
        card->setStale(stale);
}

/// Of an iteration, or of jobs; without an evaluation as before.
void NumberStrip::showWhatApplies()
{
    if (m_evaluation)
        m_isOfJobs = m_evaluation->metrics.jobs.has_value();
    // One answer a card: one that shows for a moment has the strip laid out and painted anew.
    for (std::size_t i = 0; i < m_cards.size(); ++i)
        m_cards[i]->setVisible(i == kExperts ? m_evaluation && !m_isOfJobs && m_evaluation->metrics.experts
                : i == kPrefill              ? m_evaluation && m_evaluation->metrics.bubbleFill
                                             : (i >= kFirstOfJobs) == m_isOfJobs);
}

void NumberStrip::refresh()
{
    for (std::size_t i = 0; i < m_cards.size(); ++i) {
        const Kind &kind = kKinds[i];
        const Metric now = m_evaluation ? kind.raw(m_evaluation->metrics) : std::nullopt;
        const Metric before = m_baseline ? kind.raw(m_baseline->metrics) : std::nullopt;
        const bool overflows =
            (i == 4 && m_evaluation && m_evaluation->metrics.memory && !m_evaluation->metrics.memory->fits)
            || (i == kHost && now && jobSummary(*m_evaluation->metrics.jobs).isHostOverfull);
        m_cards[i]->setNumber(now ? kind.text(*m_evaluation, *now) : QString(), overflows ? Ink::Bad : Ink::Text,
            now ? detailOf(kind, *m_evaluation) : tr("Does not apply to this plan."));
        QString difference = now && before && whyNotCompared(*m_baseline, *m_evaluation).empty()
            ? kind.difference(*before, *now)
            : QString();
        if (std::ranges::none_of(difference, [](QChar c) { return c >= u'1' && c <= u'9'; }))
            difference.clear(); // rounds to nothing
        m_cards[i]->setDifference(difference, difference.isEmpty() ? Ink::Muted : inkOfDifference(kind, *before, *now),
            m_against, i == 0 || i == kFirstOfJobs);
    }
    showWhatApplies();
}

QString NumberStrip::toTsv() const
{
    QString text;
    for (const NumberCard *card : m_cards)
        if (!card->isHidden())
            text += card->name() + u'\t' + card->value() + u'\t' + card->difference() + u'\n';
    return text;
}

void NumberStrip::contextMenuEvent(QContextMenuEvent *event)
{
    auto *menu = new QMenu(this); // shown without blocking, so that tests can drive it
    menu->setAttribute(Qt::WA_DeleteOnClose);
    connect(menu->addAction(tr("Pin as baseline")), &QAction::triggered, this, &NumberStrip::baselinePinRequested);
    QAction *unpin = menu->addAction(tr("Remove the baseline"));
    unpin->setEnabled(m_baseline != nullptr);
    connect(unpin, &QAction::triggered, this, &NumberStrip::baselineUnpinRequested);
    menu->addSeparator();
    connect(menu->addAction(tr("Copy all numbers")), &QAction::triggered, this,
        [this] { QApplication::clipboard()->setText(toTsv()); });
    addPictureActions(*menu, this, tr("numbers"));
    menu->popup(event->globalPos());
}

} // namespace trainyard
