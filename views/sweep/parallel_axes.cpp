// SPDX-License-Identifier: GPL-3.0-or-later
// Gestures and state; parallel_paint.cpp paints.
#include "views/sweep/parallel_axes.h"

#include "views/theme/theme.h"

#include <QKeyEvent>
#include <QMouseEvent>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard {

namespace {

constexpr double kTop = 44, kBottom = 12, kSide = 56; // pixels: names and end values above, beside the axes
constexpr double kReach = 14, kClick = 4; // pixels
constexpr double kStep = 0.05; // of an axis, of a brush moved by keys

} // namespace

ParallelAxes::ParallelAxes(const SweepResults &results, QWidget *parent)
    : QWidget(parent)
    , m_results(results)
{
    setFont(uiFont(-1));
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(220, 150);
    setMouseTracking(true);
    setAccessibleName(tr("Rows of the sweep across their columns"));
}

void ParallelAxes::setAxes(std::vector<int> columns)
{
    m_axes = std::move(columns);
    std::erase_if(
        m_brushes, [this](const auto &entry) { return std::ranges::find(m_axes, entry.first) == m_axes.end(); });
    m_focus = std::clamp(m_focus, 0, std::max(0, int(m_axes.size()) - 1));
    m_gesture = Gesture::None;
    forgetPicture();
    Q_EMIT filterChanged();
}

void ParallelAxes::setColorColumn(int column)
{
    m_color = column;
    forgetPicture();
}

void ParallelAxes::setCurrent(int row)
{
    m_current = row;
    update();
}

void ParallelAxes::setBrush(int column, std::optional<Brush> brush)
{
    if (brush)
        m_brushes[column] = { std::min(brush->low, brush->high), std::max(brush->low, brush->high) };
    else
        m_brushes.erase(column);
    forgetPicture();
    Q_EMIT filterChanged();
}

void ParallelAxes::clearBrushes()
{
    if (m_brushes.empty())
        return;
    m_brushes.clear();
    forgetPicture();
    Q_EMIT filterChanged();
}

std::optional<ParallelAxes::Brush> ParallelAxes::brush(int column) const
{
    const auto at = m_brushes.find(column);
    return at == m_brushes.end() ? std::nullopt : std::optional(at->second);
}

double ParallelAxes::shareOf(int column, double value) const
{
    const SweepColumn &c = m_results.columns()[std::size_t(column)];
    if (c.isLogarithmic())
        return value > 0 ? std::log(value / c.least) / std::log(c.most / c.least)
                         : std::numeric_limits<double>::quiet_NaN();
    return (value - c.least) / (c.most - c.least);
}

std::vector<char> ParallelAxes::within() const
{
    if (m_brushes.empty())
        return {};
    std::vector<char> shown(m_results.rows(), 1);
    for (const auto &[column, brush] : m_brushes) {
        const std::vector<double> &values = m_results.columns()[std::size_t(column)].values;
        constexpr double kEase = 1e-9; // a value at the end of a brush is within
        for (std::size_t row = 0; row < shown.size(); ++row) {
            const double share = shareOf(column, values[row]);
            shown[row] = shown[row] && share >= brush.low - kEase && share <= brush.high + kEase;
        }
    }
    return shown;
}

double ParallelAxes::top() const
{
    return kTop;
}

double ParallelAxes::bottom() const
{
    return std::max(kTop + 20, height() - kBottom);
}

QPointF ParallelAxes::placeOf(int axis, double share) const
{
    const double gaps = std::max(1.0, double(m_axes.size()) - 1);
    return { kSide + (width() - 2 * kSide) * axis / gaps, bottom() + (top() - bottom()) * share };
}

QPointF ParallelAxes::nameOf(int axis) const
{
    return { placeOf(axis, 0).x(), 10 };
}

double ParallelAxes::shareAt(double y) const
{
    return std::clamp((y - bottom()) / (top() - bottom()), 0.0, 1.0);
}

int ParallelAxes::axisAt(QPointF position) const
{
    int best = -1;
    // Names are wide: the nearest axis is meant. On the axes themselves one has to be near.
    double reach = position.y() < top() - 18 ? width() : kReach;
    for (int axis = 0; axis < int(m_axes.size()); ++axis) {
        const double distance = std::abs(placeOf(axis, 0).x() - position.x());
        if (distance < reach) {
            reach = distance;
            best = axis;
        }
    }
    return best;
}

void ParallelAxes::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton)
        return QWidget::mousePressEvent(event);
    m_pressed = m_at = event->position();
    m_dragged = axisAt(m_pressed);
    if (m_dragged < 0)
        return;
    m_focus = m_dragged;
    m_gesture = m_pressed.y() < top() - 18 ? Gesture::Name : Gesture::Brush;
    update();
}

void ParallelAxes::mouseMoveEvent(QMouseEvent *event)
{
    m_at = event->position();
    if (m_gesture == Gesture::None) {
        const int axis = axisAt(m_at);
        setCursor(axis < 0 ? Qt::ArrowCursor : m_at.y() < top() - 18 ? Qt::OpenHandCursor : Qt::SplitVCursor);
        return;
    }
    if (m_gesture == Gesture::Brush && std::abs(m_at.y() - m_pressed.y()) >= kClick)
        setBrush(m_axes[std::size_t(m_dragged)], Brush { shareAt(m_pressed.y()), shareAt(m_at.y()) });
    update();
}

void ParallelAxes::mouseReleaseEvent(QMouseEvent *event)
{
    const Gesture gesture = std::exchange(m_gesture, Gesture::None);
    if (gesture == Gesture::Brush)
        forgetPicture(); // with all lines again
    const QPointF moved = event->position() - m_pressed;
    if (gesture == Gesture::Brush && std::abs(moved.y()) < kClick)
        setBrush(m_axes[std::size_t(m_dragged)], std::nullopt);
    if (gesture == Gesture::Name && std::abs(moved.x()) >= kClick) {
        const double gap = (width() - 2 * kSide) / std::max(1.0, double(m_axes.size()) - 1);
        const int to = int(std::lround((event->position().x() - kSide) / gap));
        moveAxis(m_dragged, std::clamp(to, 0, int(m_axes.size()) - 1));
    }
    update();
}

void ParallelAxes::moveAxis(int from, int to)
{
    if (from == to)
        return;
    const auto begin = m_axes.begin();
    if (from < to)
        std::rotate(begin + from, begin + from + 1, begin + to + 1);
    else
        std::rotate(begin + to, begin + from, begin + from + 1);
    m_focus = to;
    forgetPicture();
    Q_EMIT axesChanged();
}

void ParallelAxes::moveBrush(bool isUpper, int direction)
{
    const int column = m_axes[std::size_t(m_focus)];
    Brush next = brush(column).value_or(Brush {});
    double &end = isUpper ? next.high : next.low;
    const qsizetype choices = m_results.columns()[std::size_t(column)].choices.size();
    const double step = choices > 1 ? 1 / double(choices - 1) : kStep;
    end = std::clamp(end + direction * step, isUpper ? next.low : 0.0, isUpper ? 1.0 : next.high);
    setBrush(column, next == Brush {} ? std::nullopt : std::optional(next));
}

void ParallelAxes::keyPressEvent(QKeyEvent *event)
{
    if (m_axes.empty())
        return QWidget::keyPressEvent(event);
    const int side = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    const int up = event->key() == Qt::Key_Up ? 1 : event->key() == Qt::Key_Down ? -1 : 0;
    if (side != 0) {
        const int to = std::clamp(m_focus + side, 0, int(m_axes.size()) - 1);
        if (event->modifiers() & Qt::ControlModifier)
            moveAxis(m_focus, to);
        m_focus = to;
        update();
    } else if (up != 0) {
        moveBrush(event->modifiers() & Qt::ShiftModifier, up);
    } else if (event->key() == Qt::Key_Delete || event->key() == Qt::Key_Backspace) {
        setBrush(m_axes[std::size_t(m_focus)], std::nullopt);
    } else {
        QWidget::keyPressEvent(event);
    }
}

void ParallelAxes::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    forgetPicture();
}

void ParallelAxes::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        forgetPicture();
}

} // namespace trainyard
