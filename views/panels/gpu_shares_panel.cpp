// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/gpu_shares_panel.h"

#include "models/text/format.h"
#include "views/panels/hover_button.h"
#include "views/panels/sharing_comparison.h"
#include "views/parts/panel_parts.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

constexpr std::size_t kMostShareRows = 48;
constexpr double kSpare = 1.25; // a bar of the largest share leaves room to drag it on

bool overlap(const PoolGpus &a, const PoolGpus &b)
{
    return a.at == b.at && a.first < b.first + b.count && b.first < a.first + a.count;
}

} // namespace

GpuSharesPanel::GpuSharesPanel(QWidget *parent)
    : QWidget(parent)
    , m_heading(new PanelHeading(tr("GPU shares"), {}, this))
    , m_sentence(new TextLine({}, Ink::Muted, this))
    , m_more(new TextLine({}, Ink::Faint, this))
    , m_balance(new HoverButton(tr("Share by speed"), this))
    , m_unpinAll(new HoverButton(tr("Unpin all"), this))
    , m_list(new QVBoxLayout)
    , m_comparison(new SharingComparison(this))
{
    setFont(uiFont(-1));
    setAccessibleName(tr("GPU shares"));
    m_sentence->setWrapped(true);
    m_balance->setToolTip(tr("Samples by what each GPU can do, states by what it has memory for, and layers of stages "
                             "by their speed."));
    m_unpinAll->setToolTip(tr("Shares that were set by hand are dealt again."));
    auto *top = new QHBoxLayout;
    top->setSpacing(Theme::kGap);
    top->addWidget(m_heading, 1);
    top->addWidget(m_unpinAll);
    top->addWidget(m_balance);
    m_list->setSpacing(0);
    QVBoxLayout *layout = panelLayout(this);
    layout->addLayout(top);
    layout->addWidget(m_sentence);
    layout->addLayout(m_list);
    layout->addWidget(m_more);
    layout->addWidget(m_comparison);
    layout->addStretch(1);
    const auto balanceText = [] { return tr("Share work and states by what GPUs can do"); };
    connect(m_balance, &QPushButton::clicked, this, [this, balanceText] {
        if (m_plan)
            Q_EMIT editCommitted(withBalancedShares(*m_plan), balanceText());
    });
    connect(m_balance, &HoverButton::entered, this, [this, balanceText] {
        if (m_plan && m_balance->isEnabled())
            Q_EMIT editPreviewed(withBalancedShares(*m_plan), balanceText());
    });
    connect(m_balance, &HoverButton::left, this, &GpuSharesPanel::editCancelled);
    connect(m_unpinAll, &QPushButton::clicked, this, &GpuSharesPanel::unpinAll);
    connect(m_comparison, &SharingComparison::editCommitted, this, &GpuSharesPanel::editCommitted);
    connect(m_comparison, &SharingComparison::editPreviewed, this, &GpuSharesPanel::editPreviewed);
    connect(m_comparison, &SharingComparison::editCancelled, this, &GpuSharesPanel::editCancelled);
    refresh();
}

void GpuSharesPanel::setShown(const Shown &shown)
{
    m_plan = shown.base;
    m_unpinAll->setVisible(m_plan && hasPinnedShares(*m_plan));
    m_comparison->setShown(shown);
    if (m_evaluation == shown.evaluation && m_evaluation)
        return;
    m_evaluation = shown.evaluation;
    m_shares = m_evaluation ? gpuShares(*m_evaluation) : GpuShares {};
    refresh();
}

void GpuSharesPanel::setStale(bool isStale)
{
    if (std::exchange(m_isStale, isStale) == isStale)
        return;
    for (GpuShareRow *row : m_rows)
        row->setDimmed(isStale && !row->isDragging());
    m_sentence->setDimmed(isStale);
}

bool GpuSharesPanel::isHeld() const
{
    return std::ranges::any_of(m_rows, &GpuShareRow::isDragging);
}

ShareScale GpuSharesPanel::scaleOf() const
{
    ShareScale scale { 0, 0, 0 };
    for (const GpuShare &set : m_shares.sets) {
        scale.samples = std::max(scale.samples, set.samples() * kSpare);
        scale.stateShare = std::max(scale.stateShare, set.stateShare * kSpare);
        scale.bytes = std::max({ scale.bytes, set.capacity, set.states + set.work });
    }
    if (std::ranges::any_of(m_shares.sets, [](const GpuShare &set) { return set.capacity <= 0; }))
        scale.bytes = 0;
    scale.stateShare = std::min(1.0, scale.stateShare);
    return scale;
}

/// Of the states, what other sets have not pinned.
double GpuSharesPanel::freeStates(const GpuShare &of) const
{
    double left = 1;
    for (const GpuShare &set : m_shares.sets)
        if (set.isStatePinned && set.stage == of.stage && set.gpus != of.gpus)
            left -= set.stateShare * set.replicas;
    return std::max(0.0, left);
}

GpuShareRow *GpuSharesPanel::rowAt(std::size_t index)
{
    while (m_rows.size() <= index) {
        auto *row = new GpuShareRow(this);
        connect(row, &GpuShareRow::workMoved, this,
            [this, row](int samples, GpuShareRow::Gesture gesture) { pinWork(*row, samples, gesture); });
        connect(row, &GpuShareRow::statesMoved, this,
            [this, row](double share, GpuShareRow::Gesture gesture) { pinStates(*row, share, gesture); });
        connect(row, &GpuShareRow::unpinAsked, this,
            [this, row](bool ofWork, bool ofStates) { unpin(*row, ofWork, ofStates); });
        m_list->addWidget(row);
        m_rows.push_back(row);
    }
    return m_rows[index];
}

void GpuSharesPanel::refresh()
{
    showSentence();
    const bool isHidden = m_shares.sets.empty() || (m_shares.areAlike && !m_shares.isShared && !m_shares.isLayered);
    const std::size_t count = isHidden ? 0 : std::min(m_shares.sets.size(), kMostShareRows);
    if (isHeld()) { // nothing may move under the hand
        for (GpuShareRow *row : m_rows)
            for (const GpuShare &set : m_shares.sets)
                if (row->isVisibleTo(this) && set.stage == row->share().stage && overlap(set.gpus, row->share().gpus)) {
                    row->setShare(set, m_shares, m_scale, freeStates(set));
                    break;
                }
        return;
    }
    m_scale = scaleOf();
    for (std::size_t i = 0; i < count; ++i) {
        GpuShareRow *row = rowAt(i);
        row->setShare(m_shares.sets[i], m_shares, m_scale, freeStates(m_shares.sets[i]));
        row->setDimmed(m_isStale);
    }
    for (std::size_t i = 0; i < m_rows.size(); ++i)
        m_rows[i]->setVisible(i < count);
    m_more->setText(tr("%1 more sets of GPUs are not listed.").arg(m_shares.sets.size() - count));
    m_more->setVisible(!isHidden && count < m_shares.sets.size());
    m_comparison->setVisible(!isHidden || m_comparison->isComparing());
}

void GpuSharesPanel::showSentence()
{
    const GpuShares &s = m_shares;
    double most = 0;
    for (const GpuShare &set : s.sets)
        most = std::max(most, s.duration > 0 ? set.wait / s.duration : 0);
    QString text;
    if (!m_evaluation)
        text = tr("This plan cannot be evaluated. See Problems.");
    else if (s.sets.empty())
        text = tr("No GPU has any work in this plan.");
    else if (!s.refusal.isEmpty())
        text = tr("Not dealt as asked: %1.").arg(s.refusal);
    else if (s.areAlike && !s.isShared && !s.isLayered)
        text = tr("All GPUs are alike and share evenly.");
    else if (!s.isShared)
        text = tr("Unequal GPUs share evenly: some wait %1 of the iteration for the slowest.").arg(formatPercent(most));
    m_sentence->setText(text);
    m_sentence->setInk(s.refusal.isEmpty() ? Ink::Muted : Ink::Warning);
    m_sentence->setVisible(!text.isEmpty());
    m_balance->setVisible(m_evaluation && !s.areAlike && !s.isShared);
    m_heading->note->setText(s.gain > 0 && s.isShared
            ? tr("a layer is %1 × as fast as with even shares").arg(QString::number(s.gain, 'g', 3))
            : QString());
    m_heading->note->setShortText(
        s.gain > 0 && s.isShared ? tr("%1 × even").arg(QString::number(s.gain, 'g', 3)) : QString());
}

void GpuSharesPanel::pin(const GpuShareRow &row, const SharePin &pin, const QString &text, GpuShareRow::Gesture gesture)
{
    if (!m_plan)
        return;
    if (gesture == GpuShareRow::Gesture::Cancel) {
        Q_EMIT editCancelled();
        return;
    }
    const GpuShare share = row.share(); // the answer to a signal replaces it
    const PlanPtr next = withPin(*m_plan, share.replica, pin);
    if (gesture == GpuShareRow::Gesture::Drag) {
        Q_EMIT editPreviewed(next, text);
    } else if (gesture == GpuShareRow::Gesture::Drop) {
        Q_EMIT editCommitted(next, text);
    } else {
        m_plan = next; // the next press may come before the document answers
        Q_EMIT editNudged(next, text,
            QStringLiteral("share %1 %2 %3 %4")
                .arg(share.gpus.at.datacenter)
                .arg(share.gpus.at.pool)
                .arg(share.gpus.first)
                .arg(pin.work ? 0 : 1));
    }
}

void GpuSharesPanel::pinWork(const GpuShareRow &row, int samples, GpuShareRow::Gesture gesture)
{
    const GpuShare &share = row.share();
    const MicroBatches split = microBatchesFor(samples, share, m_shares.isLayered);
    const QString name = share.name;
    pin(row, { .work = split, .setsSize = m_shares.isLayered, .stateShare = {} },
        tr("Pin %1 of %2 samples on %3").arg(split.size * split.count).arg(m_shares.batch).arg(name), gesture);
}

void GpuSharesPanel::pinStates(const GpuShareRow &row, double share, GpuShareRow::Gesture gesture)
{
    const QString name = row.share().name;
    pin(row, { .work = {}, .setsSize = true, .stateShare = share / m_shares.statesPerReplica },
        tr("Pin %1 of the states on %2").arg(formatPercent(share), name), gesture);
}

void GpuSharesPanel::unpin(const GpuShareRow &row, bool ofWork, bool ofStates)
{
    if (!m_plan)
        return;
    const QString name = row.share().name;
    Q_EMIT editCommitted(
        withoutPin(*m_plan, row.share().replica, ofWork, ofStates), tr("Unpin the share of %1").arg(name));
}

void GpuSharesPanel::unpinAll()
{
    if (m_plan && hasPinnedShares(*m_plan))
        Q_EMIT editCommitted(withoutPins(*m_plan), tr("Unpin all shares"));
}

QString GpuSharesPanel::toTsv() const
{
    QStringList lines { tr("GPU\tdatacenter\tpool\tstage\tGPUs\treplicas\tsamples\tmicro-batch\tmicro-batches\tlayers\t"
                           "share of states\tstates bytes\tother bytes\tcapacity bytes\tcomputes s\twaits s\twhy") };
    for (const GpuShare &set : m_shares.sets)
        lines << QStringList { set.name, set.place, set.poolName, QString::number(set.stage + 1),
            QString::number(set.gpus.count), QString::number(set.replicas), QString::number(set.samples()),
            QString::number(set.microBatch), QString::number(set.microBatches), QString::number(set.layers),
            QString::number(set.stateShare, 'g', 6), QString::number(set.states, 'f', 0),
            QString::number(set.work, 'f', 0), QString::number(set.capacity, 'f', 0), QString::number(set.time, 'g', 9),
            QString::number(set.wait, 'g', 9), set.why }
                     .join(u'\t');
    const QString shares = lines.join(u'\n') + u'\n';
    return m_comparison->isComparing() ? shares + u'\n' + m_comparison->toTsv() : shares;
}

} // namespace trainyard
