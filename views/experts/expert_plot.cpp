// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/experts/expert_plot.h"

#include "models/text/format.h"
#include "views/experts/expert_words.h"
#include "views/experts/step_mark.h"
#include "views/plots/log_ticker.h"
#include "views/plots/plot_style.h"
#include "views/plots/vector_plot.h"
#include "views/theme/theme.h"

#include <QKeyEvent>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard {

namespace {

constexpr double kMarkSize = 5, kMargin = 1.12; // pixels; beyond the outermost points, as a factor
constexpr double kAbove = 1.5; // room above for the plan's label, as a factor

QCPScatterStyle scatterOf(const SourceMark &mark)
{
    static constexpr QCPScatterStyle::ScatterShape kShapes[] = { QCPScatterStyle::ssDisc, QCPScatterStyle::ssSquare,
        QCPScatterStyle::ssTriangle, QCPScatterStyle::ssDiamond };
    return { kShapes[int(mark.shape)], QPen(mark.color, 1.2), QBrush(mark.color), kMarkSize };
}

/// Powers of two that were looked at, each with its name.
bool hasNamedPoints(ExpertAxis axis)
{
    return axis == ExpertAxis::TensorRanks || axis == ExpertAxis::SequenceLength;
}

QString shortValue(ExpertAxis axis, double x)
{
    if (axis == ExpertAxis::SequenceLength && x >= 1024 && std::fmod(x, 1024) == 0)
        return QStringLiteral("%1K").arg(x / 1024);
    return QString::number(x, 'g', 4);
}

} // namespace

ExpertPlot::ExpertPlot(ExpertAxis axis, QWidget *parent)
    : QWidget(parent)
    , m_axis(axis)
    , m_plot(new VectorPlot(this))
{
    setFont(uiFont(-1));
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(200, 130);
    setAccessibleName(tr("Layer time over %1").arg(axisTitle(axis)));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_plot);
    m_plot->setContextMenuPolicy(Qt::NoContextMenu); // the card has one
    m_plot->setFocusPolicy(Qt::NoFocus); // keys are this widget's
    m_plot->xAxis->setScaleType(QCPAxis::stLogarithmic);
    m_plot->yAxis->setScaleType(QCPAxis::stLogarithmic);
    connect(m_plot, &QCustomPlot::mouseMove, this, [this](QMouseEvent *event) {
        if (event->buttons() == Qt::NoButton)
            hover(event->position().toPoint());
    });
    connect(m_plot, &QCustomPlot::mousePress, this, [this] { setFocus(Qt::MouseFocusReason); });
    draw();
}

ExpertPlot::~ExpertPlot() = default;

void ExpertPlot::setCurve(const ExpertCurve &curve)
{
    m_curve = curve;
    m_current = -1;
    draw();
}

void ExpertPlot::draw()
{
    m_plot->clearPlottables();
    m_plot->clearItems();
    stylePlot(*m_plot, font());
    const bool isEmpty = m_curve.points.empty();
    for (QCPAxis *axis : { m_plot->xAxis, m_plot->yAxis })
        axis->setVisible(!isEmpty);
    if (!isEmpty) {
        double low = std::numeric_limits<double>::infinity(), high = 0;
        for (const ExpertPoint &point : m_curve.points)
            for (const StepTimes &step : point.steps)
                for (const double time : { step.layer().value, step.exchange.value }) {
                    low = time > 0 ? std::min(low, time) : low;
                    high = std::max(high, time);
                }
        drawAxes(low, high);
        for (std::size_t step = 0; step < kExchangeSteps; ++step)
            drawStep(ExchangeStep(step));
        drawPlan();
    }
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void ExpertPlot::drawAxes(double low, double high)
{
    m_plot->axisRect()->setAutoMargins(QCP::msAll);
    m_plot->axisRect()->setMinimumMargins(QMargins(8, 6, 12, 4));
    for (QCPAxis *axis : { m_plot->xAxis, m_plot->yAxis }) {
        axis->setLabelFont(font());
        axis->setLabelColor(theme().textMuted);
        axis->setLabelPadding(2);
        axis->setBasePen(QPen(theme().border));
    }
    m_plot->xAxis->setLabel(axisTitle(m_axis));
    m_plot->xAxis->setRange(m_curve.points.front().x / kMargin, m_curve.points.back().x * kMargin);
    m_plot->yAxis->setRange(low / kMargin, high * kAbove);
    m_plot->yAxis->setTicker(QSharedPointer<LogTicker>::create(formatSeconds));
    if (hasNamedPoints(m_axis)) {
        const auto names = QSharedPointer<QCPAxisTickerText>::create();
        for (const ExpertPoint &point : m_curve.points)
            names->addTick(point.x, shortValue(m_axis, point.x));
        names->setSubTickCount(0);
        m_plot->xAxis->setTicker(names);
    } else {
        m_plot->xAxis->setTicker(
            QSharedPointer<LogTicker>::create([](double value) { return QString::number(value, 'g', 4); }));
    }
}

void ExpertPlot::drawStep(ExchangeStep step)
{
    const SourceMark mark = stepMark(step);
    QVector<double> x, layer, exchange;
    for (const ExpertPoint &point : m_curve.points) {
        const StepTimes &times = point.steps[std::size_t(step)];
        x << point.x;
        layer << times.layer().value;
        exchange << times.exchange.value;
    }
    QCPGraph *alone = m_plot->addGraph();
    alone->setPen(QPen(mark.color, 1.3, Qt::DashLine));
    alone->setData(x, exchange, true);
    QCPGraph *whole = m_plot->addGraph();
    whole->setPen(QPen(mark.color, 2));
    whole->setScatterStyle(scatterOf(mark));
    whole->setData(x, layer, true);
}

void ExpertPlot::drawPlan()
{
    if (m_curve.current <= 0)
        return;
    auto *line = new QCPItemStraightLine(m_plot);
    line->setPen(QPen(theme().accent, 1.2, Qt::DotLine));
    line->point1->setCoords(m_curve.current, 1);
    line->point2->setCoords(m_curve.current, 2);
    auto *text = new QCPItemText(m_plot);
    text->position->setTypeX(QCPItemPosition::ptPlotCoords);
    text->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    text->position->setCoords(m_curve.current, 0.01);
    const QCPRange range = m_plot->xAxis->range();
    const bool isRight = std::log(m_curve.current / range.lower) > 0.6 * std::log(range.upper / range.lower);
    text->setPositionAlignment((isRight ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignTop);
    text->setPadding(QMargins(4, 0, 4, 0));
    text->setFont(font());
    text->setColor(theme().accent);
    text->setText(tr("plan: %1").arg(axisValue(m_axis, m_curve.current)));
}

QPointF ExpertPlot::positionOf(int point, ExchangeStep step) const
{
    const ExpertPoint &at = m_curve.points[std::size_t(point)];
    return { m_plot->xAxis->coordToPixel(at.x),
        m_plot->yAxis->coordToPixel(at.steps[std::size_t(step)].layer().value) };
}

QString ExpertPlot::describe(int point) const
{
    const ExpertPoint &at = m_curve.points[std::size_t(point)];
    QString text = QStringLiteral("<b>%1</b>").arg(axisValue(m_axis, at.x))
        + (at.isCurrent ? tr(" (the plan)") : QString()) + QStringLiteral("<table cellspacing=4>")
        + tr("<tr><td></td><td>layer</td><td>exchange</td><td></td></tr>");
    for (std::size_t s = 0; s < kExchangeSteps; ++s) {
        const StepTimes &step = at.steps[s];
        text += QStringLiteral("<tr><td>%1</td><td>%2</td><td>%3</td><td>%4</td></tr>")
                    .arg(QString::fromLatin1(labelOf(ExchangeStep(s))), formatSeconds(step.layer().value),
                        formatSeconds(step.exchange.value), piecesOf(step));
    }
    return text + QStringLiteral("</table>");
}

void ExpertPlot::choose(int point, QPoint globalPosition)
{
    m_current = point;
    if (point < 0)
        return QToolTip::hideText();
    setAccessibleDescription(describe(point));
    QToolTip::showText(globalPosition, describe(point), m_plot);
}

void ExpertPlot::hover(QPoint position)
{
    if (m_curve.points.empty() || !m_plot->axisRect()->rect().contains(position))
        return choose(-1, {});
    int nearest = 0;
    const auto distance = [&](int point) {
        return std::abs(m_plot->xAxis->coordToPixel(m_curve.points[std::size_t(point)].x) - position.x());
    };
    for (int i = 1; i < int(m_curve.points.size()); ++i)
        nearest = distance(i) < distance(nearest) ? i : nearest;
    choose(nearest, m_plot->mapToGlobal(position + QPoint(14, 8)));
}

void ExpertPlot::keyPressEvent(QKeyEvent *event)
{
    const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    if (step == 0 || m_curve.points.empty())
        return QWidget::keyPressEvent(event);
    const auto own = std::ranges::find(m_curve.points, true, &ExpertPoint::isCurrent);
    const int last = int(m_curve.points.size()) - 1;
    const int from = m_current >= 0 ? m_current + step : int(own - m_curve.points.begin());
    const int next = std::clamp(from, 0, last);
    choose(next, m_plot->mapToGlobal(positionOf(next, ExchangeStep::DeepSpeed).toPoint() + QPoint(14, 8)));
}

void ExpertPlot::focusInEvent(QFocusEvent *event)
{
    QWidget::focusInEvent(event);
    if (event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason)
        m_plot->axisRect()->setBackground(QBrush(theme().panelRaised));
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void ExpertPlot::focusOutEvent(QFocusEvent *event)
{
    QWidget::focusOutEvent(event);
    m_plot->axisRect()->setBackground(QBrush(Qt::NoBrush));
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void ExpertPlot::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        draw();
}

} // namespace trainyard
