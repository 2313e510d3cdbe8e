// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/rank_strip.h"

#include "views/run/run_words.h"
#include "views/theme/theme.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kLargest = 22, kSmallest = 4, kMostRows = 12, kNumbersFrom = 18; // pixels
constexpr std::size_t kMostRanks = 16384;

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
    m_states.clear();
    m_chosen = chosen;
    if (overlay && overlay->run) {
        const std::vector<int> missing = unrecordedRanks(*overlay);
        int last = missing.empty() ? -1 : missing.back();
        for (const RankRecording &rank : overlay->run->recording->ranks)
            last = std::max(last, rank.rank);
        m_states.assign(std::min(std::size_t(last + 1), kMostRanks), State::Recorded);
        const auto mark = [this](int rank, State state) {
            if (rank >= 0 && std::size_t(rank) < m_states.size())
                m_states[std::size_t(rank)] = state;
        };
        for (const int rank : missing)
            mark(rank, State::Missing);
        for (const Straggler &straggler : overlay->suspects.stragglers)
            mark(straggler.rank, State::Slow);
    }
    setVisible(m_states.size() > 1 && !overlay->run->recording->ranks.empty());
    updateGeometry();
    update();
}

bool RankStrip::isMissing(int rank) const
{
    return rank >= 0 && std::size_t(rank) < m_states.size() && m_states[std::size_t(rank)] == State::Missing;
}

int RankStrip::cellSize(int width) const
{
    for (int size = kLargest; size > kSmallest; --size) {
        const int inRow = std::max(1, width / size);
        if ((int(m_states.size()) + inRow - 1) / inRow <= (size == kLargest ? 2 : kMostRows))
            return size;
    }
    return kSmallest;
}

int RankStrip::columns(int width) const
{
    const int most = std::max(1, width / cellSize(width));
    for (const int round : { 32, 16, 8 }) // nodes lie below each other
        if (most >= round && int(m_states.size()) > most)
            return most / round * round;
    return most;
}

int RankStrip::heightForWidth(int width) const
{
    const int inRow = columns(width);
    return (int(m_states.size()) + inRow - 1) / inRow * cellSize(width);
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
    const int size = cellSize(width()), inRow = columns(width());
    return { rank % inRow * size, rank / inRow * size, size - 2, size - 2 };
}

int RankStrip::rankAt(QPoint position) const
{
    const int size = cellSize(width()), inRow = columns(width());
    const int column = position.x() / size, rank = position.y() / size * inRow + column;
    return column < inRow && position.x() >= 0 && rank >= 0 && rank < int(m_states.size()) ? rank : -1;
}

void RankStrip::paintEvent(QPaintEvent *)
{
    const Theme &t = theme();
    QPainter painter(this);
    painter.setFont(font());
    for (int rank = 0; rank < int(m_states.size()); ++rank) {
        const QRect cell = cellOf(rank);
        const State state = m_states[std::size_t(rank)];
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
    const int rank = event->button() == Qt::LeftButton ? rankAt(event->pos()) : -1;
    if (rank >= 0 && !isMissing(rank))
        emit rankChosen(m_chosen == rank ? std::nullopt : std::optional(rank));
}

bool RankStrip::event(QEvent *event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    const int rank = rankAt(help->pos());
    if (rank < 0) {
        QToolTip::hideText();
        return true;
    }
    const State state = m_states[std::size_t(rank)];
    QToolTip::showText(help->globalPos(),
        state == State::Missing    ? tr("Rank %1: nobody recorded it").arg(rank)
            : state == State::Slow ? tr("Rank %1: others wait for it. A click shows its spans").arg(rank)
                                   : tr("Rank %1. A click shows its spans").arg(rank),
        this);
    return true;
}

} // namespace trainyard
