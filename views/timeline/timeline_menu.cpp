// SPDX-License-Identifier: GPL-3.0-or-later
// The context menu of TimelineView: what can be done with the span, the row and the kind under the pointer. The
// plan may change while it is open, so that an entry looks for what it is about when it is chosen.
#include "views/export/panel_picture.h"
#include "views/timeline/area_table.h"
#include "views/timeline/chart_canvas.h"
#include "views/timeline/legend.h"
#include "views/timeline/measured_text.h"
#include "views/timeline/span_card.h"
#include "views/timeline/span_text.h"
#include "views/timeline/timeline_view.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QMenu>

#include <algorithm>

namespace trainyard {

namespace {

/// Operations that run through the layers of their stage.
bool hasLayers(WorkKind kind)
{
    return kind == WorkKind::Forward || kind == WorkKind::Backward || kind == WorkKind::InputGrad
        || kind == WorkKind::ForwardBackward;
}

} // namespace

bool hasExpertLayers(const EvaluationPtr &evaluation)
{
    return evaluation && evaluation->model.experts > 0;
}

void TimelineView::contextMenuEvent(QContextMenuEvent *event)
{
    const QPoint point = m_canvas->mapFromGlobal(event->globalPos());
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (!m_state.isEmpty()) {
        if (event->reason() == QContextMenuEvent::Mouse) {
            pointAt(point);
            if (m_state.hovered != kNoSpan)
                selectSpan(m_state.hovered); // what the menu is about is marked
            if (m_state.hoveredMeasured != kNoSpan)
                selectMeasured(m_state.hoveredMeasured);
        }
        fillMenu(*menu, point);
        menu->addSeparator();
    }
    m_card->hide();
    addPictureActions(*menu, this, QStringLiteral("timeline"));
    menu->popup(event->globalPos());
}

void TimelineView::fillMenu(QMenu &menu, QPoint point)
{
    const auto add = [&](const QString &text, auto act, bool enabled = true) {
        QAction *action = menu.addAction(text);
        action->setEnabled(enabled);
        connect(action, &QAction::triggered, this, act);
        return action;
    };
    const bool onSpan = m_state.selected != kNoSpan;
    if (m_state.area)
        add(tr("Zoom to the selected area"), [this] {
            if (m_state.area)
                setRange(m_state.area->time);
        });
    else if (onSpan)
        add(tr("Zoom to this span"), [this] {
            if (m_state.selected != kNoSpan)
                setRange(around(selectedTime()));
        });
    else if (m_state.selectedMeasured != kNoSpan)
        add(tr("Zoom to this span"), [this] {
            if (m_state.selectedMeasured != kNoSpan)
                setRange(around(measuredTime(m_state.selectedMeasured)));
        });
    add(m_state.jobs.isEmpty() ? tr("Show the whole iteration") : tr("Show all jobs"), &TimelineView::fit,
        m_state.range != m_state.whole);
    menu.addSeparator();
    const int row = m_canvas->rect().contains(point)
        ? rowAt(m_state.layout, point.y() - m_canvas->geometry().tracks.top(), m_state.scroll)
        : -1;
    if (row >= 0)
        add(m_state.layout.rows[std::size_t(row)].isPinned ? tr("Unpin this row") : tr("Pin this row to the top"),
            [this, key = m_state.layout.rows[std::size_t(row)].key] { togglePinOf(key); });
    if (!m_state.jobs.isEmpty()) {
        fillJobMenu(menu);
    } else if (onSpan) {
        const WorkKind kind = m_state.timeline()->kind[m_state.selected];
        const QString name = QString::fromUtf8(toString(kind));
        add(tr("Hide %1").arg(name), [this, kind] { hideKind(kind); });
        add(tr("Show only %1").arg(name), [this, kind] { showOnlyKind(kind); });
    }
    if (m_state.jobs.isEmpty() && (m_presentKinds & ~m_shownKinds) != 0)
        add(tr("Show all kinds"), &TimelineView::showAllKinds);
    const auto check = [&](const QString &text, auto act, bool on) {
        QAction *action = add(text, act);
        action->setCheckable(true);
        action->setChecked(on);
    };
    check(tr("Critical path"), &TimelineView::toggleCriticalPath, m_state.showsCriticalPath);
    check(m_state.jobs.isEmpty() ? tr("Streams below their stage") : tr("Transfers below their GPU"),
        &TimelineView::toggleStreams, m_options.unfoldStreams);
    if (!m_state.layout.others.empty())
        check(tr("Fold pipelines that differ"), &TimelineView::toggleOthers,
            std::ranges::all_of(m_state.layout.others, &RowGroup::isFolded));
    check(tr("Communication inside operations"), &TimelineView::toggleInside, m_state.showsInside);
    if (m_state.overlay)
        check(tr("Measured rows"), &TimelineView::toggleMeasured, m_state.showsMeasured);
    menu.addSeparator();
    add(
        tr("Follow to its cause"), [this] { followDependency(false); },
        onSpan && m_state.timeline()->cause[m_state.selected] != kNoSpan);
    add(
        tr("Follow to its effect"), [this] { followDependency(true); }, !m_state.effects.empty());
    if (hasExpertLayers(m_state.evaluation)) {
        menu.addSeparator();
        add(tr("Open an expert layer"), &TimelineView::openLayer,
            onSpan && hasLayers(m_state.timeline()->kind[m_state.selected]));
    }
    menu.addSeparator();
    add(tr("Copy this span as text"), &TimelineView::copySpan, onSpan || m_state.selectedMeasured != kNoSpan);
    add(tr("Copy the area's table as TSV"), &TimelineView::copyArea, m_state.area.has_value());
}

void TimelineView::openLayer()
{
    if (m_state.isEmpty() || m_state.selected == kNoSpan || !hasExpertLayers(m_state.evaluation))
        return;
    const WorkKind kind = m_state.timeline()->kind[m_state.selected];
    if (hasLayers(kind))
        emit layerRequested(kind);
}

void TimelineView::copySpan() const
{
    if (m_state.selectedMeasured != kNoSpan) {
        const QStringList lines = QStringList { measuredTitle(*m_state.measured, m_state.selectedMeasured) }
            + linesOf(measuredFacts(m_state, m_state.selectedMeasured));
        QApplication::clipboard()->setText(lines.join(u'\n') + u'\n');
    }
    if (m_state.isEmpty() || m_state.selected == kNoSpan)
        return;
    const Evaluation &evaluation = *m_state.evaluation;
    const bool isCritical = std::ranges::binary_search(m_sortedPath, m_state.selected);
    QApplication::clipboard()->setText(
        (QStringList { spanTitle(evaluation, m_state.selected) } + spanFacts(evaluation, m_state.selected, isCritical))
            .join(u'\n')
        + u'\n');
}

void TimelineView::hideKind(WorkKind kind)
{
    m_legend->setShown(m_shownKinds & ~(1u << int(kind)));
}

void TimelineView::showOnlyKind(WorkKind kind)
{
    m_legend->setShown(1u << int(kind));
}

void TimelineView::showAllKinds()
{
    m_legend->setShown(kAllKinds);
}

} // namespace trainyard
