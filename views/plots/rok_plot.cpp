// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/plots/rok_plot.h"

#include "models/text/format.h"
#include "views/plots/axis_tickers.h"
#include "views/theme/theme.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kRoomForCaption = 100; // pixels of the y axis, below which the points need them
constexpr int kReach = 14; // pixels from the pointer to its point
constexpr double kDot = 7, kRing = 14, kHalo = 11;

QColor wayColor(ActivationWay way)
{
    switch (way) {
    case ActivationWay::Recompute:
        return theme().work(WorkKind::Recompute);
    case ActivationWay::Offload:
        return theme().work(WorkKind::OffloadStore);
    case ActivationWay::Keep:
        return theme().work(WorkKind::Forward);
    }
    return {};
}

QString nameOf(ActivationWay way)
{
    static const std::array kNames { QT_TRANSLATE_NOOP("RokPlot", "recompute"), QT_TRANSLATE_NOOP("RokPlot", "offload"),
        QT_TRANSLATE_NOOP("RokPlot", "keep") };
    return QCoreApplication::translate("RokPlot", kNames[std::size_t(way)]);
}

/// Above the axes, where no point can be.
void addCaption(QCustomPlot &plot, const QString &text, const QFont &font)
{
    const QMargins margins = plot.axisRect()->margins();
    auto *item = new QCPItemText(&plot);
    item->position->setType(QCPItemPosition::ptAbsolute);
    item->position->setCoords(plot.width() - margins.right(), 0);
    item->setPositionAlignment(Qt::AlignRight | Qt::AlignTop);
    item->setClipToAxisRect(false);
    item->setFont(font);
    item->setColor(theme().textFaint);
    item->setText(QFontMetrics(font).elidedText(text, Qt::ElideRight, plot.width() - margins.left() - margins.right()));
}

} // namespace

RokPlot::RokPlot(QWidget *parent)
    : CurvePlot(parent)
{
}

const std::vector<RokPoint> &RokPlot::points() const
{
    static const std::vector<RokPoint> kNone;
    return m_curves ? m_curves->points : kNone;
}

bool RokPlot::isOfThePlan() const
{
    return m_curves && (!m_plan || m_curves->plan == m_plan);
}

int RokPlot::current() const
{
    const auto it = std::ranges::find(points(), true, &RokPoint::isCurrent);
    return it == points().end() ? -1 : int(it - points().begin());
}

void RokPlot::setBase(PlanPtr plan)
{
    if (plan == m_plan)
        return;
    m_plan = std::move(plan);
    markDirty();
}

void RokPlot::setCurves(RokCurvesPtr curves)
{
    const bool isSamePlan = m_curves && curves && m_curves->plan == curves->plan; // the same curves, longer
    m_curves = std::move(curves);
    if (!isSamePlan)
        m_selected = -1;
    markDirty();
}

QString RokPlot::note() const
{
    const int now = current();
    if (now < 0 || !emptyText().isEmpty())
        return {};
    const RokPoint &point = points()[std::size_t(now)];
    return tr("now: %1, micro-batch %2 · click a point to adopt it").arg(nameOf(point.way)).arg(point.microBatch);
}

std::vector<CurvePlot::LegendEntry> RokPlot::legend() const
{
    std::vector<LegendEntry> entries;
    for (int way = 0; way < kActivationWays; ++way)
        if (std::ranges::any_of(points(), [&](const RokPoint &p) { return p.way == ActivationWay(way); }))
            entries.push_back({ nameOf(ActivationWay(way)), wayColor(ActivationWay(way)) });
    return entries;
}

QString RokPlot::emptyText() const
{
    if (m_curves && !m_curves->nothing.isEmpty() && isOfThePlan())
        return m_curves->nothing;
    return points().empty() ? tr("Trying micro-batches with recomputation, offload and neither…") : QString();
}

void RokPlot::draw(QCustomPlot &plot)
{
    double most = 0, least = 1e300, highest = 0;
    for (const RokPoint &point : points()) {
        most = std::max(most, point.activationPeak / 1e9);
        least = std::min(least, point.tflopsPerGpu);
        highest = std::max(highest, point.tflopsPerGpu);
    }
    const double slack = std::max(0.12 * (highest - least), 0.02 * highest);
    const double ofLabel = (highest - least + 2 * slack) * (kDot + fontMetrics().height())
        / std::max(40, axisHeight()); // above the highest point
    plot.xAxis->setRange(0, most * 1.06);
    plot.yAxis->setRange(std::max(0.0, least - slack), highest + std::max(1.4 * slack, ofLabel));
    plot.xAxis->setTicker(
        QSharedPointer<TextTicker>::create([](double v) { return QStringLiteral("%1 GB").arg(v, 0, 'g', 4); }));
    plot.yAxis->setTicker(QSharedPointer<TextTicker>::create([](double v) { return QString::number(v, 'g', 4); }));
    plot.yAxis->ticker()->setTickStepStrategy(
        QCPAxisTicker::tssMeetTickCount); // a narrow range has more than one label, too
    if (axisHeight() >= kRoomForCaption) {
        QMargins margins = plot.axisRect()->margins();
        margins.setTop(fontMetrics().height() + 4);
        plot.axisRect()->setMargins(margins);
        addCaption(plot, tr("numbers: micro-batch · hollow: does not fit · ring: the plan"), font());
    }
    for (int way = 0; way < kActivationWays; ++way)
        drawWay(plot, ActivationWay(way));
    drawSizes(plot);
    if (const int now = current(); now >= 0)
        drawMark(plot, points()[std::size_t(now)], theme().text, kRing);
    if (m_selected >= 0 && m_selected < int(points().size()))
        drawMark(plot, points()[std::size_t(m_selected)], wayColor(points()[std::size_t(m_selected)].way), kHalo);
}

void RokPlot::drawWay(QCustomPlot &plot, ActivationWay way) const
{
    QColor color = wayColor(way);
    if (!isOfThePlan())
        color.setAlphaF(0.45F);
    auto *line = new QCPCurve(plot.xAxis, plot.yAxis);
    line->setPen(QPen(color, 1.5));
    auto *inside = new QCPCurve(plot.xAxis, plot.yAxis), *outside = new QCPCurve(plot.xAxis, plot.yAxis);
    for (QCPCurve *dots : { inside, outside })
        dots->setLineStyle(QCPCurve::lsNone);
    inside->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(color, 1.5), QBrush(color), kDot));
    outside->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(color, 1.5), QBrush(theme().panel), kDot));
    for (const RokPoint &point : points()) {
        if (point.way != way)
            continue;
        const double x = point.activationPeak / 1e9;
        line->addData(x, point.tflopsPerGpu);
        (point.fits ? inside : outside)->addData(x, point.tflopsPerGpu);
    }
}

/// The micro-batch beside each point: above it, below where another's is in the way, and nowhere where both are. The
/// plan's own goes first, then those that fit.
void RokPlot::drawSizes(QCustomPlot &plot) const
{
    std::vector<const RokPoint *> order;
    for (const RokPoint &point : points())
        order.push_back(&point);
    std::ranges::stable_sort(order, {}, [](const RokPoint *p) { return p->isCurrent ? 0 : p->fits ? 1 : 2; });
    const QRect area = QRect(QPoint(0, 0), plot.size()).marginsRemoved(plot.axisRect()->margins());
    const QFontMetrics metrics(font());
    const auto placeOf = [&](const RokPoint &point) {
        return QPointF(area.left()
                + area.width() * (point.activationPeak / 1e9 - plot.xAxis->range().lower) / plot.xAxis->range().size(),
            area.bottom()
                - area.height() * (point.tflopsPerGpu - plot.yAxis->range().lower) / plot.yAxis->range().size());
    };
    std::vector<QRectF> taken; // by points, then by numbers
    for (const RokPoint &point : points())
        taken.emplace_back(placeOf(point) - QPointF(kDot / 2, kDot / 2), QSizeF(kDot, kDot));
    for (const RokPoint *point : order) {
        const auto [x, y] = placeOf(*point);
        const QString text = QString::number(point->microBatch);
        const QSizeF size(metrics.horizontalAdvance(text) + 4, metrics.ascent());
        for (const bool isAbove : { true, false }) {
            const QRectF box(QPointF(x - size.width() / 2, isAbove ? y - kDot - size.height() : y + kDot), size);
            const auto touches = [&](const QRectF &other) { return other.intersects(box); };
            if (box.top() < area.top() || box.bottom() > area.bottom() || std::ranges::any_of(taken, touches))
                continue;
            taken.push_back(box);
            auto *label = new QCPItemText(&plot);
            label->position->setType(QCPItemPosition::ptAbsolute);
            label->position->setCoords(box.center());
            label->setClipToAxisRect(false);
            label->setFont(font());
            label->setColor(point->isCurrent ? theme().text : theme().textMuted);
            label->setText(text);
            break;
        }
    }
}

void RokPlot::drawMark(QCustomPlot &plot, const RokPoint &point, const QColor &color, double size) const
{
    auto *mark = new QCPCurve(plot.xAxis, plot.yAxis);
    mark->setLineStyle(QCPCurve::lsNone);
    mark->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(color, 1.5), Qt::NoBrush, size));
    mark->addData(point.activationPeak / 1e9, point.tflopsPerGpu);
}

QPoint RokPlot::positionOf(const RokPoint &point)
{
    const QCustomPlot &plot = chart();
    return QPointF(plot.xAxis->coordToPixel(point.activationPeak / 1e9), plot.yAxis->coordToPixel(point.tflopsPerGpu))
        .toPoint();
}

int RokPlot::pointAt(const QCustomPlot &plot, QPoint position) const
{
    int nearest = -1;
    double distance = kReach;
    for (std::size_t i = 0; i < points().size() && emptyText().isEmpty(); ++i) {
        const double x = plot.xAxis->coordToPixel(points()[i].activationPeak / 1e9) - position.x();
        const double y = plot.yAxis->coordToPixel(points()[i].tflopsPerGpu) - position.y();
        if (const double d = std::hypot(x, y); d < distance) {
            distance = d;
            nearest = int(i);
        }
    }
    return nearest;
}

QString RokPlot::describePoint(const RokPoint &point) const
{
    QStringList lines { tr("%1, micro-batch %2").arg(nameOf(point.way)).arg(point.microBatch) };
    lines.front()[0] = lines.front()[0].toUpper();
    lines << tr("%1 TFLOP/s per GPU, iteration %2")
                 .arg(point.tflopsPerGpu, 0, 'g', 4)
                 .arg(formatSeconds(point.iterationTime));
    lines << tr("activations peak at %1").arg(formatBytes(point.activationPeak));
    lines << tr("fullest GPU %1 of %2%3")
                 .arg(formatBytes(double(point.device)), formatBytes(double(point.capacity)),
                     point.fits ? QString() : tr(": does not fit"));
    if (point.stall > 0)
        lines << tr("compute waits %1 for what was offloaded").arg(formatSeconds(point.stall));
    lines << (point.isCurrent ? tr("This is the plan.") : tr("Click to adopt."));
    return lines.join(u'\n');
}

void RokPlot::select(int index)
{
    if (index == m_selected)
        return;
    m_selected = index;
    markDirty();
    if (index >= 0)
        setAccessibleDescription(describePoint(points()[std::size_t(index)]));
}

void RokPlot::adopt(int index)
{
    if (index < 0 || index >= int(points().size()) || !isOfThePlan())
        return;
    const RokPoint point = points()[std::size_t(index)]; // the answer to the signal replaces the curves
    if (!point.isCurrent)
        Q_EMIT editCommitted(point.plan, QString::fromStdString(point.sentence));
}

bool RokPlot::eventFilter(QObject *object, QEvent *event)
{
    auto *plot = qobject_cast<QCustomPlot *>(object);
    const auto *mouse = dynamic_cast<QMouseEvent *>(event);
    if (plot && mouse) {
        const int index = pointAt(*plot, mouse->position().toPoint());
        if (event->type() == QEvent::MouseButtonDblClick && index < 0)
            Q_EMIT enlargeRequested();
        if (event->type() == QEvent::MouseMove) {
            select(index);
            plot->setCursor(index >= 0 && isOfThePlan() ? Qt::PointingHandCursor : Qt::ArrowCursor);
            if (index >= 0)
                QToolTip::showText(mouse->globalPosition().toPoint() + QPoint(12, 8),
                    describePoint(points()[std::size_t(index)]), plot);
            else
                QToolTip::hideText();
        } else if (event->type() == QEvent::MouseButtonRelease && mouse->button() == Qt::LeftButton) {
            setFocus(Qt::MouseFocusReason);
            adopt(index);
        }
        return QWidget::eventFilter(object, event);
    }
    if (plot && event->type() == QEvent::Leave)
        select(-1);
    return CurvePlot::eventFilter(object, event);
}

/// To the nearest size of the same way, or to the same size of another way.
void RokPlot::step(int sizes, int ways)
{
    const int from = m_selected >= 0 ? m_selected : current();
    if (points().empty())
        return;
    if (from < 0) {
        select(0);
        return;
    }
    const RokPoint &start = points()[std::size_t(from)];
    int best = -1;
    double nearest = 1e300;
    for (std::size_t i = 0; i < points().size(); ++i) {
        const RokPoint &point = points()[i];
        const double apart = std::log2(double(point.microBatch) / start.microBatch);
        const bool isNext =
            sizes != 0 ? point.way == start.way && apart * sizes > 0 : int(point.way) == int(start.way) + ways;
        if (isNext && std::abs(apart) < nearest) {
            nearest = std::abs(apart);
            best = int(i);
        }
    }
    if (best >= 0)
        select(best);
}

void RokPlot::keyPressEvent(QKeyEvent *event)
{
    switch (event->key()) {
    case Qt::Key_Left:
        step(-1, 0);
        break;
    case Qt::Key_Right:
        step(1, 0);
        break;
    case Qt::Key_Up:
        step(0, 1);
        break;
    case Qt::Key_Down:
        step(0, -1);
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
        adopt(m_selected);
        break;
    default:
        CurvePlot::keyPressEvent(event);
    }
}

void RokPlot::resizeEvent(QResizeEvent *event)
{
    CurvePlot::resizeEvent(event);
    markDirty(); // caption and labels are placed by pixels
}

void RokPlot::showEvent(QShowEvent *event)
{
    CurvePlot::showEvent(event);
    Q_EMIT watched(true);
}

void RokPlot::hideEvent(QHideEvent *event)
{
    CurvePlot::hideEvent(event);
    Q_EMIT watched(false);
}

QString RokPlot::toTsv() const
{
    QString text = tr("way\tmicro-batch\tactivation peak bytes\tmodel TFLOP/s per GPU\titeration s\tbytes of the "
                      "fullest GPU\tfits\tcurrent\n");
    for (const RokPoint &p : points())
        text += QStringLiteral("%1\t%2\t%3\t%4\t%5\t%6\t%7\t%8\n")
                    .arg(nameOf(p.way))
                    .arg(p.microBatch)
                    .arg(p.activationPeak, 0, 'f', 0)
                    .arg(p.tflopsPerGpu, 0, 'g', 6)
                    .arg(p.iterationTime, 0, 'g', 6)
                    .arg(p.device)
                    .arg(p.fits ? tr("yes") : tr("no"), p.isCurrent ? tr("yes") : QString());
    return text;
}

} // namespace trainyard
