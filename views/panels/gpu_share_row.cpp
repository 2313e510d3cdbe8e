// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/gpu_share_row.h"

#include "models/text/format.h"
#include "views/export/panel_menu.h"
#include "views/panels/hover_button.h"
#include "views/panels/share_bar.h"
#include "views/parts/text_line.h"
#include "views/theme/icons.h"
#include "views/theme/theme.h"

#include <QContextMenuEvent>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QMenu>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kWorkStretch = 9, kStateStretch = 9, kIdleStretch = 6;
constexpr double kShareStep = 0.005; // of the states

QColor workColor()
{
    return theme().work(WorkKind::Forward);
}
QColor stateColor()
{
    return theme().work(WorkKind::Optimizer);
}
QColor activationColor()
{
    return theme().work(WorkKind::Forward); // as in the charts of memory
}

TextLine *shrinking(TextLine *line)
{
    line->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    return line;
}

} // namespace

GpuShareRow::GpuShareRow(QWidget *parent)
    : QWidget(parent)
    , m_name(new TextLine({}, Ink::Text, this))
    , m_place(shrinking(new TextLine({}, Ink::Faint, this)))
    , m_mark(new TextLine({}, Ink::Warning, this))
    , m_workText(shrinking(new TextLine({}, Ink::Muted, this)))
    , m_stateText(shrinking(new TextLine({}, Ink::Muted, this)))
    , m_idleText(shrinking(new TextLine({}, Ink::Muted, this)))
    , m_sentence(new TextLine({}, Ink::Muted, this))
    , m_work(new ShareBar(this))
    , m_states(new ShareBar(this))
    , m_idle(new ShareBar(this))
    , m_unpin(new HoverButton(tr("Unpin"), this))
{
    m_name->setFont(uiFont(-1, QFont::DemiBold));
    m_name->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    m_mark->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    m_mark->setText(tr("slowest"));
    m_mark->setToolTip(tr("All others wait for it."));
    m_sentence->setWrapped(true);
    m_unpin->setFixedHeight(fontMetrics().height() + 6);
    m_unpin->setIcon(themedIcon(QStringLiteral("unpin")));
    auto *head = new QHBoxLayout;
    head->setSpacing(Theme::kGap);
    head->addWidget(m_name);
    head->addWidget(m_place, 1);
    head->addWidget(m_mark);
    head->addWidget(m_unpin);
    auto *bars = new QGridLayout;
    bars->setHorizontalSpacing(Theme::kPad);
    bars->setVerticalSpacing(1);
    const struct {
        TextLine *text;
        ShareBar *bar;
        int stretch;
    } columns[] = { { m_workText, m_work, kWorkStretch }, { m_stateText, m_states, kStateStretch },
        { m_idleText, m_idle, kIdleStretch } };
    for (int c = 0; c < 3; ++c) {
        bars->addWidget(columns[c].text, 0, c);
        bars->addWidget(columns[c].bar, 1, c);
        bars->setColumnStretch(c, columns[c].stretch);
    }
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 6, 0, 6);
    layout->setSpacing(2);
    layout->addLayout(head);
    layout->addLayout(bars);
    layout->addWidget(m_sentence);
    wire(m_work, true);
    wire(m_states, false);
    connect(m_unpin, &QPushButton::clicked, this, [this] { Q_EMIT unpinAsked(true, true); });
}

void GpuShareRow::wire(ShareBar *bar, bool isWork)
{
    const auto tell = [this, isWork](double value, Gesture gesture) {
        if (isWork) {
            showWork(int(std::lround(value)));
            Q_EMIT workMoved(int(std::lround(value)), gesture);
        } else {
            showStates(value);
            Q_EMIT statesMoved(value, gesture);
        }
    };
    connect(bar, &ShareBar::dragged, this, [tell](double value) { tell(value, Gesture::Drag); });
    connect(bar, &ShareBar::dropped, this, [tell](double value) { tell(value, Gesture::Drop); });
    connect(bar, &ShareBar::stepped, this, [tell](double value) { tell(value, Gesture::Key); });
    connect(bar, &ShareBar::cancelled, this,
        [this, tell, isWork] { tell(isWork ? m_share.samples() : m_share.stateShare, Gesture::Cancel); });
    connect(bar, &ShareBar::unpinAsked, this, [this, isWork] { Q_EMIT unpinAsked(isWork, !isWork); });
}

bool GpuShareRow::isDragging() const
{
    return m_work->isDragging() || m_states->isDragging();
}

void GpuShareRow::showWork(int samples)
{
    const MicroBatches split = samples == m_share.samples() ? MicroBatches { m_share.microBatch, m_share.microBatches }
                                                            : microBatchesFor(samples, m_share, m_isLayered);
    QString text = tr("%1 of %2 samples").arg(split.size * split.count).arg(m_batch);
    m_workText->setShortText(m_share.replicas > 1 ? tr("%1 samples each").arg(split.size * split.count) : text);
    if (m_share.replicas > 1)
        text += tr(" each");
    if (m_stages > 1)
        text += tr(" · %1").arg(countOf(m_share.layers, tr("layer"), tr("layers")));
    m_workText->setText(split.count > 0 ? text + tr(" · %1 × %2").arg(split.count).arg(split.size) : text);
    const QString hand = m_share.replica.count == 0 ? tr(" Its stages lie in several pools: no share can be pinned.")
        : m_share.canBePinned() && m_replicas > 1   ? tr(" The end of the bar can be dragged.")
                                                    : QString();
    m_workText->setToolTip(
        tr("%1 micro-batches of %2, on each of %3 replicas.").arg(split.count).arg(split.size).arg(m_share.replicas)
        + hand);
    m_work->setAccessibleName(
        tr("Work of %1: %2%3")
            .arg(m_share.name, m_workText->text(), m_share.isWorkPinned ? tr(", pinned") : QString()));
}

void GpuShareRow::showStates(double share)
{
    QString text = m_replicas < 2 ? tr("all states of its stage")
        : share > 0               ? tr("%1 of the states").arg(formatPercent(share))
                                  : tr("states not divided");
    if (m_share.capacity > 0) {
        const double states = m_share.stateShare > 0 ? m_share.states * share / m_share.stateShare : m_share.states;
        m_stateText->setShortText(text);
        text = tr("%1 of %2 · %3").arg(formatBytes(states + m_share.work), formatBytes(m_share.capacity), text);
        m_stateText->setToolTip(
            tr("States %1, the rest %2, of %3. The end of the states can be dragged.")
                .arg(formatBytes(states), formatBytes(m_share.work), formatBytes(m_share.capacity)));
    }
    m_stateText->setText(text);
    m_states->setAccessibleName(
        tr("Memory of %1: %2%3").arg(m_share.name, text, m_share.isStatePinned ? tr(", pinned") : QString()));
}

void GpuShareRow::setShare(const GpuShare &share, const GpuShares &all, const ShareScale &scale, double freeStates)
{
    const bool isHeld = isDragging();
    m_share = share;
    m_batch = all.batch;
    m_stages = all.stages;
    m_replicas = all.replicas;
    m_isLayered = all.isLayered;
    QStringList place;
    if (all.stages > 1)
        place << tr("stage %1").arg(share.stage + 1);
    place << share.place << gpusText(share.gpus.count);
    if (share.replicas != share.gpus.count)
        place << countOf(share.replicas, tr("replica"), tr("replicas"));
    m_name->setText(share.name);
    m_place->setText(place.join(QStringLiteral(" · ")));
    m_place->setToolTip(share.poolName);
    m_mark->setVisible(share.isSlowest);
    m_unpin->setVisible(share.isWorkPinned || share.isStatePinned);
    m_unpin->setAccessibleName(tr("Unpin the share of %1").arg(share.name));
    m_sentence->setText(share.why);
    m_sentence->setVisible(!share.why.isEmpty());
    const double idle = all.duration > 0 ? share.wait / all.duration : 0;
    m_idleText->setText(tr("waits %1").arg(formatPercent(idle)));
    m_idleText->setShortText(formatPercent(idle));
    m_idleText->setInk(idle > 0.25 ? Ink::Warning : Ink::Muted);
    m_idleText->setToolTip(tr("%1 of %2 it does not compute: it waits for others or for what they exchange.")
                               .arg(formatSeconds(share.wait), formatSeconds(all.duration)));
    m_idle->setAmounts({ { share.wait, theme().textFaint, true } }, all.duration);
    m_idle->setAccessibleName(tr("%1 %2").arg(share.name, m_idleText->text()));
    if (isHeld)
        return; // the hand says what the bars are
    showWork(share.samples());
    showStates(share.stateShare);
    showAmounts(scale, freeStates);
    setAccessibleName(
        QStringLiteral("%1, %2: %3, %4, %5. %6")
            .arg(share.name, m_place->text(), m_workText->text(), m_stateText->text(), m_idleText->text(), share.why));
}

void GpuShareRow::showAmounts(const ShareScale &scale, double freeStates)
{
    m_work->setAmounts({ { double(m_share.samples()), workColor() } }, scale.samples);
    m_work->setPinned(m_share.isWorkPinned);
    std::optional<ShareHandle> work;
    if (m_share.canBePinned() && m_batch > 0 && m_replicas > 1)
        work = ShareHandle { double(m_share.samples()), m_isLayered ? 0.0 : double(m_share.microBatch),
            double(m_batch / std::max(1, m_share.replicas)), m_isLayered ? 1.0 : double(m_share.microBatch), 1 };
    m_work->setHandle(work);
    const bool hasBytes = scale.bytes > 0 && m_share.capacity > 0;
    if (hasBytes)
        m_states->setAmounts(
            { { m_share.states, stateColor() }, { m_share.work, activationColor() } }, scale.bytes, m_share.capacity);
    else
        m_states->setAmounts({ { m_share.stateShare, stateColor() } }, scale.stateShare);
    m_states->setPinned(m_share.isStatePinned);
    std::optional<ShareHandle> states;
    if (m_share.canBePinned() && m_share.stateShare > 0 && m_replicas > 1)
        states = ShareHandle { m_share.stateShare, 0,
            std::max(m_share.stateShare, freeStates / std::max(1, m_share.replicas)), kShareStep,
            hasBytes ? m_share.states / m_share.stateShare : 1.0 };
    m_states->setHandle(states);
}

void GpuShareRow::setDimmed(bool isDimmed)
{
    for (ShareBar *bar : { m_work, m_states, m_idle })
        bar->setDimmed(isDimmed);
    dimLines(*this, isDimmed);
}

void GpuShareRow::contextMenuEvent(QContextMenuEvent *event)
{
    if (!m_share.isWorkPinned && !m_share.isStatePinned)
        return QWidget::contextMenuEvent(event); // the panel's
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const auto add = [&](const QString &text, bool ofWork, bool ofStates) {
        connect(menu->addAction(text), &QAction::triggered, this,
            [this, ofWork, ofStates] { Q_EMIT unpinAsked(ofWork, ofStates); });
    };
    if (m_share.isWorkPinned)
        add(tr("Unpin the work of %1").arg(m_share.name), true, false);
    if (m_share.isStatePinned)
        add(tr("Unpin the states of %1").arg(m_share.name), false, true);
    menu->popup(event->globalPos());
}

void GpuShareRow::paintEvent(QPaintEvent *)
{
    QPainter(this).fillRect(QRect(0, 0, width(), 1), theme().grid);
}

} // namespace trainyard
