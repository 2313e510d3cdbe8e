// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/validation/scatter_plot.h"

#include "models/text/format.h"
#include "models/validation/result_model.h"
#include "views/panels/source_mark.h"
#include "views/plots/log_ticker.h"
#include "views/plots/qcustomplot_gateway.h"
#include "views/theme/theme.h"

#include <QContextMenuEvent>
#include <QMenu>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace trainyard {

namespace {

constexpr double kMarkSize = 6, kRingSize = 13; // pixels
constexpr double kMargin = 1.25; // beyond the outermost marks, as a factor
constexpr int kManyPoints = 400; // of one source: its marks become translucent

QCPScatterStyle styleOf(const SourceMark &mark, bool isHollow, bool isTranslucent)
{
    QColor ink = mark.color;
    if (isTranslucent)
        ink.setAlphaF(0.45f);
    const QCPScatterStyle::ScatterShape shapes[] = { QCPScatterStyle::ssDisc, QCPScatterStyle::ssSquare,
        QCPScatterStyle::ssTriangle, QCPScatterStyle::ssDiamond };
    QCPScatterStyle style(
        shapes[int(mark.shape)], QPen(ink, 1.2), isHollow ? QBrush(Qt::NoBrush) : QBrush(ink), kMarkSize);
    if (mark.shape == MarkShape::Disc && isHollow)
        style.setShape(QCPScatterStyle::ssCircle);
    return style;
}

QString axisName(FigureKind kind)
{
    switch (kind) {
    case FigureKind::Time:
        return ScatterPlot::tr("time");
    case FigureKind::Throughput:
        return ScatterPlot::tr("tokens per second");
    case FigureKind::Memory:
        return ScatterPlot::tr("memory");
    case FigureKind::Share:
        return ScatterPlot::tr("share");
    case FigureKind::Other:
        return ScatterPlot::tr("value");
    }
    return {};
}

/// A metric whose texts carry the quantity's unit.
const char *typicalMetric(FigureKind kind)
{
    constexpr const char *metrics[] = { "iteration_time_s", "tokens_per_s", "memory.peak_bytes", "mfu", "" };
    return metrics[int(kind)];
}

} // namespace

ScatterPlot::ScatterPlot(QWidget *parent)
    : PointPlot(kRingSize, { 220, 120 }, parent)
{
    setAccessibleName(tr("Predicted against published"));
    m_plot->xAxis->setScaleType(QCPAxis::stLogarithmic);
    m_plot->yAxis->setScaleType(QCPAxis::stLogarithmic);
    ScatterPlot::draw();
}

void ScatterPlot::setPoints(ValidatedRowsPtr rows, std::vector<int> results, FigureKind kind)
{
    m_rows = std::move(rows);
    m_kind = kind;
    // On logarithmic axes only what is positive has a place.
    std::erase_if(results, [this](int i) {
        const ValidationResult &r = m_rows->results()[std::size_t(i)];
        return !r.predicted || !(*r.predicted > 0) || !(r.published > 0);
    });
    std::ranges::stable_sort(results, {}, [this](int i) { return m_rows->results()[std::size_t(i)].published; });
    m_results = std::move(results);
    draw();
}

void ScatterPlot::setEmptyText(const QString &text)
{
    if (std::exchange(m_empty, text) != text)
        draw();
}

QString ScatterPlot::describe(const ValidationResult &r)
{
    const auto text = [](const std::string &utf8) { return QString::fromStdString(utf8).toHtmlEscaped(); };
    QString tip =
        QStringLiteral("<b>%1</b><br>%2<br>")
            .arg(text(r.id), text(r.source) + (r.group.empty() ? QString() : QStringLiteral(" · ") + text(r.group)));
    tip += tr("published %1, predicted %2 (%3)")
               .arg(text(metricText(r.metric, r.published)),
                   r.predicted ? text(metricText(r.metric, *r.predicted)) : QStringLiteral("–"),
                   text(errorText(r.error())));
    tip += QStringLiteral("<br>") + text(metricLabel(r.metric));
    if (const QString remarks = remarksOf(r); !remarks.isEmpty())
        tip += QStringLiteral("<br>") + remarks.toHtmlEscaped();
    return tip;
}

void ScatterPlot::draw()
{
    const bool isEmpty = m_results.empty();
    beginDrawing(isEmpty);
    setAccessibleDescription(isEmpty ? m_empty : countOf(qint64(m_results.size()), tr("figure"), tr("figures")));
    if (isEmpty) {
        auto *text = new QCPItemText(m_plot);
        text->position->setType(QCPItemPosition::ptAxisRectRatio);
        text->position->setCoords(0.5, 0.5);
        text->setFont(font());
        text->setColor(theme().textFaint);
        text->setText(m_empty);
        text->setClipToAxisRect(false);
        m_plot->replot(QCustomPlot::rpQueuedReplot);
        return;
    }
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (const int i : m_results) {
        const ValidationResult &r = m_rows->results()[std::size_t(i)];
        low = std::min({ low, r.published, *r.predicted });
        high = std::max({ high, r.published, *r.predicted });
    }
    m_low = low / kMargin;
    m_high = high * kMargin;
    styleAxes();
    drawBand(m_low, m_high);
    drawMarks();
    addRing();
    showAll();
}

void ScatterPlot::styleAxes()
{
    m_plot->axisRect()->setAutoMargins(QCP::msAll);
    m_plot->axisRect()->setMinimumMargins(QMargins(8, 8, 14, 4));
    const auto label = [metric = typicalMetric(m_kind)](
                           double value) { return QString::fromStdString(metricText(metric, value)); };
    for (QCPAxis *axis : { m_plot->xAxis, m_plot->yAxis }) {
        axis->setTicker(QSharedPointer<LogTicker>::create(label));
        axis->setLabelFont(font());
        axis->setLabelColor(theme().textMuted);
        axis->setLabelPadding(2);
        axis->setBasePen(QPen(theme().border));
    }
    m_plot->xAxis->setLabel(tr("published %1").arg(axisName(m_kind)));
    m_plot->yAxis->setLabel(tr("predicted %1").arg(axisName(m_kind)));
}

void ScatterPlot::drawBand(double from, double to)
{
    // Far beyond what is in sight, so that panning does not reach an end.
    const QVector<double> x { from * 1e-3, to * 1e3 };
    const auto line = [&](double factor, const QPen &pen) {
        QCPGraph *graph = m_plot->addGraph();
        graph->setData(x, { x[0] * factor, x[1] * factor }, true);
        graph->setPen(pen);
        return graph;
    };
    QColor fill = theme().accent;
    fill.setAlphaF(theme().isDark ? 0.14f : 0.10f);
    QCPGraph *upper = line(1 + kBand, Qt::NoPen), *lower = line(1 - kBand, Qt::NoPen);
    upper->setBrush(fill);
    upper->setChannelFillGraph(lower);
    line(1, QPen(theme().textFaint, 1, Qt::DashLine));
}

void ScatterPlot::drawMarks()
{
    std::map<std::pair<int, bool>, std::pair<QVector<double>, QVector<double>>> groups; // source, hollow → x, y
    for (const int i : m_results) {
        const ValidationResult &r = m_rows->results()[std::size_t(i)];
        auto &[x, y] = groups[{ sourceIndex(*m_rows, r.source), r.status == RowStatus::Guessed }];
        x << r.published;
        y << *r.predicted;
    }
    // The largest first, so that few marks of a source lie above many of another.
    std::vector<std::pair<std::pair<int, bool>, std::pair<QVector<double>, QVector<double>>>> ordered(
        groups.begin(), groups.end());
    std::ranges::stable_sort(ordered, std::greater {}, [](const auto &group) { return group.second.first.size(); });
    for (const auto &[key, values] : ordered) {
        QCPGraph *graph = m_plot->addGraph();
        graph->setLineStyle(QCPGraph::lsNone);
        graph->setScatterStyle(styleOf(sourceMark(key.first), key.second, values.first.size() > kManyPoints));
        graph->setData(values.first, values.second, true);
    }
}

void ScatterPlot::showAll()
{
    m_plot->xAxis->setRange(m_low, m_high);
    m_plot->yAxis->setRange(m_low, m_high);
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

std::optional<QPointF> ScatterPlot::positionOf(int result) const
{
    if (std::ranges::find(m_results, result) == m_results.end())
        return std::nullopt;
    const ValidationResult &r = m_rows->results()[std::size_t(result)];
    return QPointF(m_plot->xAxis->coordToPixel(r.published), m_plot->yAxis->coordToPixel(*r.predicted));
}

int ScatterPlot::nearest(QPointF position) const
{
    int best = -1;
    double bestDistance = kReach * kReach;
    for (const int i : m_results) {
        const ValidationResult &r = m_rows->results()[std::size_t(i)];
        const double dx = m_plot->xAxis->coordToPixel(r.published) - position.x(),
                     dy = m_plot->yAxis->coordToPixel(*r.predicted) - position.y();
        if (const double distance = dx * dx + dy * dy; distance < bestDistance) {
            bestDistance = distance;
            best = i;
        }
    }
    return best;
}

void ScatterPlot::contextMenuEvent(QContextMenuEvent *event)
{
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    connect(menu->addAction(tr("Save picture…")), &QAction::triggered, this, &ScatterPlot::saveRequested);
    connect(menu->addAction(tr("Show all")), &QAction::triggered, this, &ScatterPlot::showAll);
    menu->popup(event->globalPos());
}

void ScatterPlot::focusInEvent(QFocusEvent *event)
{
    QWidget::focusInEvent(event);
    if (event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason)
        m_plot->axisRect()->setBackground(QBrush(theme().panelRaised));
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void ScatterPlot::focusOutEvent(QFocusEvent *event)
{
    QWidget::focusOutEvent(event);
    m_plot->axisRect()->setBackground(QBrush(Qt::NoBrush));
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

} // namespace trainyard
