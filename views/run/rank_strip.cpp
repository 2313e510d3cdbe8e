// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/rank_strip.h"

#include "views/run/run_words.h"
#include "views/theme/theme.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

constexpr int kLargest = 22, kSmallest = 4, kMostRows = 12, kNumbersFrom = 18; // pixels
constexpr std::size_t kMostCells = 16384;

} // namespace

RankStrip::RankStrip(QWidget *parent)
    : QWidget(parent)
{
    setFont(uiFont(-2));
    QSizePolicy policy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setAccessibleName(tr("Ranks"));
}

void RankStrip::setOverlay(const RunOverlayPtr &overlay, std::optional<int> chosen)
{
    m_cells.clear();
    m_chosen = chosen;
    if (overlay && overlay->run && !overlay->run->recording->ranks.empty()) {
        std::map<int, State> states;
        const std::vector<int> missing = unrecordedRanks(*overlay);
        if (hasCellsForMissing(*overlay, missing))
            for (const int rank : missing)
                states.emplace(rank, State::Missing);
        for (const RankRecording &rank : overlay->run->recording->ranks)
            if (rank.rank >= 0)
                states[rank.rank] = State::Recorded;
        for (const Straggler &straggler : overlay->suspects.stragglers)
            if (const auto at = states.find(straggler.rank); at != states.end())
                at->second = State::Slow;
        for (const auto &[rank, state] : states)
            if (m_cells.size() < kMostCells)
                m_cells.push_back({ rank, state });
    }
    setVisible(m_cells.size() > 1);
    updateGeometry();
    update();
}

bool RankStrip::isMissing(int rank) const
{
    const auto at = std::ranges::lower_bound(m_cells, rank, {}, &Cell::rank);
    return at == m_cells.end() || at->rank != rank || at->state == State::Missing;
}

int RankStrip::cellSize(int width) const
{
    for (int size = kLargest; size > kSmallest; --size) {
        const int inRow = std::max(1, width / size);
        if ((int(m_cells.size()) + inRow - 1) / inRow <= (size == kLargest ? 2 : kMostRows))
            return size;
    }
    return kSmallest;
}

int RankStrip::columns(int width) const
{
    const int most = std::max(1, width / cellSize(width));
    for (const int round : { 32, 16, 8 }) // nodes lie below each other
        if (most >= round && int(m_cells.size()) > most)
            return most / round * round;
    return most;
}

int RankStrip::heightForWidth(int width) const
{
    const int inRow = columns(width);
    return (int(m_cells.size()) + inRow - 1) / inRow * cellSize(width);
}

QSize RankStrip::sizeHint() const
{
    return { 360, heightForWidth(width() > 50 ? width() : 360) };
}

QSize RankStrip::minimumSizeHint() const
{
    return { 160, kLargest };
}

QRect RankStrip::cellOf(int rank) const
{
    return placeOf(int(std::ranges::lower_bound(m_cells, rank, {}, &Cell::rank) - m_cells.begin()));
}

QRect RankStrip::placeOf(int cell) const
{
    const int size = cellSize(width()), inRow = columns(width());
    return { cell % inRow * size, cell / inRow * size, size - 2, size - 2 };
}

const RankStrip::Cell *RankStrip::cellAt(QPoint position) const
{
    const int size = cellSize(width()), inRow = columns(width());
    const int column = position.x() / size, at = position.y() / size * inRow + column;
    const bool isInside = column < inRow && position.x() >= 0 && position.y() >= 0 && at < int(m_cells.size());
    return isInside ? &m_cells[std::size_t(at)] : nullptr;
}

void RankStrip::paintEvent(QPaintEvent *)
{
    const Theme &t = theme();
    QPainter painter(this);
    painter.setFont(font());
    for (int i = 0; i < int(m_cells.size()); ++i) {
        const auto [rank, state] = m_cells[std::size_t(i)];
        const QRect cell = placeOf(i);
        QColor fill = state == State::Slow ? t.warning : t.accent;
        fill.setAlphaF(t.isDark ? 0.42f : 0.30f);
        painter.fillRect(cell, state == State::Missing ? t.idle : fill);
        if (state == State::Missing)
            painter.fillRect(cell, QBrush(t.textFaint, Qt::BDiagPattern));
        const bool isChosen = m_chosen == rank;
        if (isChosen || cell.width() > 6) {
            painter.setPen(QPen(isChosen ? t.accent : t.border, isChosen ? 2 : 1));
            painter.drawRect(isChosen ? cell.adjusted(1, 1, -1, -1) : cell.adjusted(0, 0, -1, -1));
        }
        if (cell.width() >= kNumbersFrom && state != State::Missing) {
            painter.setPen(t.text);
            painter.drawText(cell, Qt::AlignCenter, QString::number(rank));
        }
    }
}

void RankStrip::mousePressEvent(QMouseEvent *event)
{
    const Cell *cell = event->button() == Qt::LeftButton ? cellAt(event->pos()) : nullptr;
    if (cell && cell->state != State::Missing)
        emit rankChosen(m_chosen == cell->rank ? std::nullopt : std::optional(cell->rank));
}

bool RankStrip::event(QEvent *event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    const Cell *cell = cellAt(help->pos());
    if (!cell) {
        QToolTip::hideText();
        return true;
    }
    const auto [rank, state] = *cell;
    QToolTip::showText(help->globalPos(),
        state == State::Missing    ? tr("Rank %1 was not recorded").arg(rank)
            : state == State::Slow ? tr("Rank %1: others wait for it. A click shows its spans").arg(rank)
                                   : tr("Rank %1. A click shows its spans").arg(rank),
        this);
    return true;
}

} // namespace trainyard
