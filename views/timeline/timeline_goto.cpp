// SPDX-License-Identifier: GPL-3.0-or-later
// Going to a stage by name: its row comes out of what is folded, into view, and is marked for a moment.
#include "views/theme/theme.h"
#include "views/timeline/chart_canvas.h"
#include "views/timeline/other_pipelines.h"
#include "views/timeline/timeline_view.h"

#include <QPainter>
#include <QTimer>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kMarkMs = 1600;
constexpr int kRoundRow = 3; // pixels of the mark around the row

/// A frame round the row that was gone to; it goes by itself, and as soon as what lies below it moves.
class RowMark : public QWidget {
public:
    RowMark(const QRect &row, QWidget *canvas)
        : QWidget(canvas)
    {
        setObjectName(QStringLiteral("rowMark"));
        setAttribute(Qt::WA_TransparentForMouseEvents);
        setGeometry(row);
        show();
        QTimer::singleShot(kMarkMs, this, &QObject::deleteLater);
    }

protected:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(theme().accent, 2));
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 3, 3);
    }
};

int trackOfStage(const Timeline &timeline, int stage, int pipelineClass)
{
    const auto found = std::ranges::find_if(timeline.tracks, [&](const Track &track) {
        return track.stream == Stream::Compute && track.stage == stage
            && (pipelineClass < 0 || track.pipelineClass == pipelineClass);
    });
    return found == timeline.tracks.end() ? -1 : int(found - timeline.tracks.begin());
}

} // namespace

bool TimelineView::goToStage(int stage, int pipelineClass)
{
    const int track = m_state.isEmpty() ? -1 : trackOfStage(*m_state.timeline(), stage, pipelineClass);
    if (track < 0)
        return false;
    const int datacenter =
        datacenterOf(*m_state.evaluation, m_state.timeline()->tracks[std::size_t(track)].pipelineClass, stage);
    const auto row = [&]() -> const TrackRow * {
        const int at = m_state.layout.rowOfTrack[std::size_t(track)];
        return at < 0 ? nullptr : &m_state.layout.rows[std::size_t(at)];
    };
    // The datacenter first: only then its other pipelines have rows of their own.
    for (auto groups : { &TrackLayout::groups, &TrackLayout::others }) {
        if (row() && row()->kind == TrackRow::Kind::Stage)
            break;
        bool isOpened = false;
        for (const RowGroup &group : m_state.layout.*groups)
            if (group.isFolded && group.datacenter == datacenter) {
                toggleFold(m_options, group);
                isOpened = true;
            }
        if (isOpened)
            relayout();
    }
    emit stageClicked(stage);
    if (!row())
        return false;
    const int at = m_state.layout.rowOfTrack[std::size_t(track)];
    revealRow(at, m_state.range);
    m_pointedRow = at; // "." goes on from there, P pins it
    delete m_canvas->findChild<QWidget *>(QStringLiteral("rowMark"));
    const ChartGeometry geometry = m_canvas->geometry();
    const int top = geometry.tracks.top() + rowTop(m_state.layout, *row(), m_state.scroll);
    const QRect place(geometry.tracks.left(), top, geometry.tracks.width(), row()->pitch);
    auto *mark = new RowMark(place.adjusted(-kRoundRow, -kRoundRow, kRoundRow, kRoundRow), m_canvas);
    connect(this, &TimelineView::rangeChanged, mark, &QObject::deleteLater);
    return true;
}

} // namespace trainyard
