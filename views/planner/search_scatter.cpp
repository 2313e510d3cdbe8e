// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/planner/search_scatter.h"

#include "models/planner_words.h"
#include "models/text/format.h"
#include "views/export/panel_picture.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard {

namespace {

constexpr double kReach = 10, kDragFrom = 4; // pixels
constexpr double kAir = 0.06; // beyond the outermost points, as a share of the range
constexpr double kNear = 6; // times the least: what lies farther out is of little interest
constexpr double kWheelStep = 0.85;

struct Extent {
    double from = std::numeric_limits<double>::infinity(), to = 0;
    void add(double value)
    {
        from = std::min(from, value);
        to = std::max(to, value);
    }
    [[nodiscard]] AxisRange range() const
    {
        if (!(to > 0))
            return {};
        const double least = std::max(to / from, 1.2), middle = std::sqrt(from * to);
        const AxisRange tight { middle / std::sqrt(least), middle * std::sqrt(least) };
        return { tight.at(-kAir), tight.at(1 + kAir) };
    }
};

} // namespace

SearchScatter::SearchScatter(QWidget *parent)
    : QWidget(parent)
{
    setFont(uiFont(-1));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setMinimumSize(260, 160);
    setAccessibleName(tr("Candidates: time over price"));
}

void SearchScatter::setRows(const std::vector<SearchRow> &rows, bool isAnew)
{
    if (isAnew || rows.size() < m_points.size()) {
        m_points.clear();
        m_drawn = m_beyond = 0;
        m_layers = {};
        m_hovered = -1;
    }
    const std::size_t before = m_points.size();
    const auto logOf = [](double value) { return value > 0 ? std::log(value) : 0; };
    for (std::size_t i = before; i < rows.size(); ++i) {
        const double usd = rows[i].usdPerMillionTokens, seconds = rows[i].seconds;
        m_points.push_back({ usd, seconds, logOf(usd), logOf(seconds), rows[i].state });
    }
    if (m_points.empty())
        m_isPlaced = false;
    setAccessibleDescription(
        m_points.empty() ? m_empty : countOf(qint64(m_points.size()), tr("candidate"), tr("candidates")));
    if (!m_isPlaced && m_points.size() != before)
        place(Span::Near);
    else
        layOut();
    update();
}

void SearchScatter::setMarks(
    std::optional<std::size_t> own, std::optional<std::size_t> best, std::vector<std::size_t> front)
{
    m_own = own;
    m_best = best;
    m_front = std::move(front);
    update();
}

void SearchScatter::setCurrent(int row)
{
    m_current = row;
    update();
}

void SearchScatter::setFaded(bool isFaded)
{
    if (std::exchange(m_isFaded, isFaded) != isFaded)
        update();
}

void SearchScatter::setEmptyText(const QString &text)
{
    m_empty = text;
    update();
}

/// So that all candidates, or those around the best, are in sight. A range that holds them and is not much too wide
/// stays, since every change of it draws all points again.
void SearchScatter::place(Span span)
{
    double leastUsd = std::numeric_limits<double>::infinity(), leastSeconds = leastUsd;
    for (const Point &point : m_points) {
        if (point.usd > 0)
            leastUsd = std::min(leastUsd, point.usd);
        if (point.usd > 0 && point.seconds > 0)
            leastSeconds = std::min(leastSeconds, point.seconds);
    }
    Extent usd, seconds;
    const double most = span == Span::All ? std::numeric_limits<double>::infinity() : kNear;
    for (std::size_t i = 0; i < m_points.size(); ++i) {
        const Point &point = m_points[i];
        const bool isOwn = m_own == i;
        if (point.usd > 0 && (isOwn || point.usd <= most * leastUsd))
            usd.add(point.usd);
        if (point.seconds > 0 && (point.usd > 0 || span == Span::All)
            && (isOwn || point.seconds <= most * leastSeconds))
            seconds.add(point.seconds);
    }
    const auto keeps = [](const AxisRange &now, const Extent &wanted) {
        const AxisRange range = wanted.range();
        return now.has(wanted.from) && now.has(wanted.to)
            && std::log(now.to / now.from) < 1.5 * std::log(range.to / range.from);
    };
    if (span == Span::Near && m_drawn > 0 && keeps(m_frame.price, usd) && keeps(m_frame.time, seconds))
        return layOut();
    setFrame(usd.range(), seconds.range());
}

void SearchScatter::setFrame(AxisRange price, AxisRange time)
{
    m_frame.price = price;
    m_frame.time = time;
    layOut();
    m_drawn = m_beyond = 0;
    m_layers = {};
    update();
}

void SearchScatter::fit()
{
    m_isPlaced = false;
    place(Span::Near);
}

void SearchScatter::showAll()
{
    m_isPlaced = true;
    place(Span::All);
}

std::optional<QPointF> SearchScatter::positionOf(int row) const
{
    if (row < 0 || row >= int(m_points.size()))
        return std::nullopt;
    const Point &point = m_points[std::size_t(row)];
    if (!m_frame.has(point.usd, point.seconds))
        return std::nullopt;
    return QPointF(m_frame.xOf(point.usd), m_frame.yOf(point.seconds));
}

/// What matters more lies above, and is meant.
int SearchScatter::nearest(QPointF position) const
{
    int best = -1;
    double bestDistance = kReach * kReach;
    for (int i = 0; i < int(m_points.size()); ++i) {
        const auto at = positionOf(i);
        if (!at)
            continue;
        const QPointF by = *at - position;
        const double distance = (by.x() * by.x() + by.y() * by.y())
            * (m_own == std::size_t(i) || m_best == std::size_t(i) ? 0.25
                    : isAbove(m_points[std::size_t(i)].state)      ? 1
                                                                   : 2);
        if (distance < bestDistance) {
            bestDistance = distance;
            best = i;
        }
    }
    return best;
}

void SearchScatter::hover(QPointF position)
{
    const int row = nearest(position);
    setCursor(row >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (std::exchange(m_hovered, row) == row)
        return;
    update();
    if (row >= 0 && m_describe)
        QToolTip::showText(mapToGlobal(position.toPoint() + QPoint(14, 8)), m_describe(row), this);
    else
        QToolTip::hideText();
}

void SearchScatter::choose(int row)
{
    if (row < 0)
        return;
    setCurrent(row);
    Q_EMIT rowChosen(row);
}

void SearchScatter::mouseMoveEvent(QMouseEvent *event)
{
    if (!(event->buttons() & Qt::LeftButton))
        return hover(event->position());
    const QPointF by = event->position() - m_last;
    m_isPanning = m_isPanning || (event->position() - m_pressed).manhattanLength() >= kDragFrom;
    if (!m_isPanning || m_points.empty())
        return;
    m_last = event->position();
    m_isPlaced = true;
    setFrame(m_frame.price.moved(-by.x() / std::max(1.0, m_frame.plane().width())),
        m_frame.time.moved(by.y() / std::max(1.0, m_frame.area.height())));
}

void SearchScatter::mousePressEvent(QMouseEvent *event)
{
    m_pressed = m_last = event->position();
    m_isPanning = false;
    QToolTip::hideText();
}

void SearchScatter::mouseReleaseEvent(QMouseEvent *event)
{
    if (event->button() == Qt::LeftButton && !std::exchange(m_isPanning, false))
        choose(nearest(event->position()));
}

void SearchScatter::mouseDoubleClickEvent(QMouseEvent *event)
{
    if (const int row = nearest(event->position()); row >= 0)
        Q_EMIT rowActivated(row);
    else
        fit();
}

void SearchScatter::leaveEvent(QEvent *)
{
    m_hovered = -1;
    update();
}

void SearchScatter::wheelEvent(QWheelEvent *event)
{
    const double steps = event->angleDelta().y() / 120.0;
    if (steps == 0 || m_points.empty())
        return event->ignore();
    const double factor = std::pow(kWheelStep, steps);
    const QPointF at = event->position();
    m_isPlaced = true;
    setFrame(
        m_frame.price.zoomed(m_frame.usdAt(at.x()), factor), m_frame.time.zoomed(m_frame.secondsAt(at.y()), factor));
    event->accept();
}

/// Along the front, from cheap to fast.
void SearchScatter::keyPressEvent(QKeyEvent *event)
{
    const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    if (step != 0 && !m_front.empty()) {
        const auto found = std::ranges::find(m_front, std::size_t(std::max(0, m_current)));
        const int last = int(m_front.size()) - 1;
        const int next = m_current < 0 || found == m_front.end()
            ? (step > 0 ? 0 : last)
            : std::clamp(int(found - m_front.begin()) + step, 0, last);
        choose(int(m_front[std::size_t(next)]));
    } else if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && m_current >= 0) {
        Q_EMIT rowActivated(m_current);
    } else if (event->key() == Qt::Key_F) {
        if (m_isPlaced)
            fit();
        else
            showAll();
    } else {
        QWidget::keyPressEvent(event);
    }
}

void SearchScatter::contextMenuEvent(QContextMenuEvent *event)
{
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (const int row = nearest(event->pos()); row >= 0)
        connect(
            menu->addAction(tr("Try this plan")), &QAction::triggered, this, [this, row] { Q_EMIT rowActivated(row); });
    connect(menu->addAction(tr("Show all candidates")), &QAction::triggered, this, &SearchScatter::showAll);
    connect(menu->addAction(tr("Fit around the best")), &QAction::triggered, this, &SearchScatter::fit);
    menu->addSeparator();
    connect(menu->addAction(tr("Copy as TSV")), &QAction::triggered, this,
        [this] { QApplication::clipboard()->setText(toTsv()); });
    addPictureActions(*menu, this, tr("candidates"));
    menu->popup(event->globalPos());
}

void SearchScatter::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        m_sprites = {};
        m_drawn = m_beyond = 0;
        m_layers = {};
    }
}

QString SearchScatter::toTsv() const
{
    QString text = tr("state") + u'\t' + tr("seconds per iteration") + u'\t' + tr("USD per million tokens") + u'\n';
    for (const Point &point : m_points) {
        const auto number = [](double value) { return value > 0 ? QString::number(value, 'g', 9) : QString(); };
        text += nameOf(point.state) + u'\t' + number(point.seconds) + u'\t' + number(point.usd) + u'\n';
    }
    return text;
}

} // namespace trainyard
