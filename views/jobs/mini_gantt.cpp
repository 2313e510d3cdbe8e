// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/jobs/mini_gantt.h"

#include "models/job_spans.h"
#include "models/text/foreign_text.h"
#include "models/text/format.h"
#include "views/theme/job_colors.h"
#include "views/theme/theme.h"
#include "views/timeline/column_walk.h"
#include "views/timeline/job_text.h"

#include <QFontMetrics>
#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace trainyard {

namespace {

constexpr double kBetweenTicks = 64; // pixels
constexpr int kMostRow = 24; // pixels of a GPU's line

QFont axisFont()
{
    return uiFont(-3);
}

std::vector<std::uint32_t> computeTracks(const Timeline &timeline)
{
    std::vector<std::uint32_t> tracks;
    for (std::uint32_t t = 0; t < timeline.tracks.size(); ++t)
        if (timeline.tracks[t].stream == Stream::Compute)
            tracks.push_back(t);
    std::ranges::sort(tracks, {}, [&](std::uint32_t t) { return timeline.tracks[t].stage; });
    return tracks;
}

} // namespace

MiniGantt::MiniGantt(QWidget *parent)
    : QWidget(parent)
{
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void MiniGantt::setEvaluation(EvaluationPtr evaluation, Nanoseconds whole, Metric bound)
{
    if (evaluation == m_evaluation && whole == m_whole && bound == m_bound)
        return;
    m_evaluation = std::move(evaluation);
    m_whole = whole;
    m_bound = bound;
    m_image = {};
    setAccessibleName(m_evaluation ? jobsSummary(*m_evaluation) : tr("no schedule"));
    update();
}

void MiniGantt::setFaded(bool faded)
{
    if (std::exchange(m_isFaded, faded) != faded)
        update();
}

QRect MiniGantt::plotRect() const
{
    const int axis = QFontMetrics(axisFont()).height() + 1;
    const int rows = m_evaluation ? int(computeTracks(m_evaluation->timeline).size()) : 1;
    const int room = std::max(1, height() - axis);
    return { 0, 0, std::max(1, width()), std::min(room, std::max(1, rows) * kMostRow) };
}

double MiniGantt::xOf(double seconds) const
{
    return m_whole > 0 ? seconds * 1e9 / double(m_whole) * plotRect().width() : 0;
}

void MiniGantt::paintRows()
{
    const Timeline &timeline = m_evaluation->timeline;
    const QSize pixels = (QSizeF(plotRect().size()) * devicePixelRatioF()).toSize();
    m_image = QImage(pixels, QImage::Format_RGB32);
    m_image.fill(theme().panel);
    const std::vector<std::uint32_t> tracks = computeTracks(timeline);
    if (tracks.empty() || timeline.taskClass.empty())
        return;
    const JobSpans jobs = jobSpans(*m_evaluation);
    std::vector<ColorLanes> byClass;
    for (const int job : jobs.ofClass)
        byClass.push_back(toLanes(job < 0 ? theme().work(WorkKind::Prefill) : jobColor(job)));
    byClass.push_back(toLanes(theme().work(WorkKind::Prefill))); // of no class
    const int width = pixels.width(), rows = int(tracks.size());
    const int lines = std::min(rows, pixels.height()); // of more GPUs than pixels several share a line
    ColumnWalk walk;
    std::vector<QRgb> row;
    for (int line = 0; line < lines; ++line) {
        const int first = line * rows / lines, last = (line + 1) * rows / lines;
        row.assign(std::size_t(width), theme().idle.rgb());
        walk.begin({ 0, std::max<Nanoseconds>(1, m_whole) }, width);
        for (int r = first; r < last; ++r) {
            const Track &track = timeline.tracks[tracks[std::size_t(r)]];
            walk.addByClass(timeline, track.first, track.last, byClass, byClass, {});
        }
        walk.resolve(row, last - first);
        const int top = line * pixels.height() / lines, end = (line + 1) * pixels.height() / lines;
        const int gap = end - top > 3 ? std::max(1, int(devicePixelRatioF())) : 0;
        for (int y = top; y < end - gap; ++y)
            std::memcpy(m_image.scanLine(y), row.data(), std::size_t(width) * sizeof(QRgb));
    }
}

const QImage &MiniGantt::picture()
{
    if (m_image.isNull() && m_evaluation && m_whole > 0)
        paintRows();
    return m_image;
}

void MiniGantt::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const QRect plot = plotRect();
    if (!m_evaluation || m_whole <= 0) {
        painter.fillRect(plot, theme().idle);
        return;
    }
    painter.setOpacity(m_isFaded ? 0.45 : 1);
    painter.drawImage(QRectF(plot), picture());
    painter.setFont(axisFont());
    const QFontMetrics metrics(axisFont());
    const TimeInterval whole { 0, m_whole };
    const Nanoseconds step = tickStep(whole, plot.width(), kBetweenTicks);
    for (const Nanoseconds t : ticks(whole, step)) {
        const double x = std::round(xOf(double(t) * 1e-9));
        QColor grid = theme().textFaint;
        grid.setAlpha(40);
        painter.fillRect(QRectF(x, plot.top(), 1, plot.height()), grid);
        const QString text = tickLabel(t, step, m_whole);
        const int width = metrics.horizontalAdvance(text);
        if (x + width > plot.right())
            continue;
        painter.setPen(theme().textFaint);
        painter.drawText(QPointF(x + (t == 0 ? 0 : -width / 2.0), plot.bottom() + 1 + metrics.ascent()), text);
    }
    painter.setRenderHint(QPainter::Antialiasing);
    if (m_bound) {
        const double x = std::round(xOf(*m_bound)) + 0.5;
        painter.setPen(QPen(theme().panel, 3));
        painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
        painter.setPen(QPen(theme().text, 1.2, Qt::DashLine));
        painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
    }
}

QString MiniGantt::describe(QPoint at) const
{
    if (!m_evaluation || !plotRect().contains(at) || m_whole <= 0)
        return {};
    const Timeline &timeline = m_evaluation->timeline;
    const std::vector<std::uint32_t> tracks = computeTracks(timeline);
    if (tracks.empty())
        return {};
    const auto row = std::size_t(at.y()) * tracks.size() / std::size_t(plotRect().height());
    const Track &track = timeline.tracks[tracks[std::min(row, tracks.size() - 1)]];
    const auto time = Nanoseconds(double(at.x()) / plotRect().width() * double(m_whole));
    const auto [from, to] = visibleSpans(timeline, track.first, track.last, { time, time + 1 });
    const QString gpu = jobGpuName(*m_evaluation, track.stage);
    return from < to ? jobSpanTitle(*m_evaluation, from) : tr("%1 · idle").arg(gpu);
}

bool MiniGantt::event(QEvent *event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    const QString text = describe(help->pos());
    if (text.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(help->globalPos(), plainTip(text), this);
    return true;
}

void MiniGantt::resizeEvent(QResizeEvent *)
{
    m_image = {};
}

void MiniGantt::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange) {
        m_image = {};
        update();
    }
    QWidget::changeEvent(event);
}

} // namespace trainyard
