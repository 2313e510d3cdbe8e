// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/run_plot.h"

#include "views/export/panel_picture.h"
#include "views/plots/axis_tickers.h"
#include "views/plots/plot_style.h"
#include "views/plots/vector_plot.h"
#include "views/run/curve_points.h"
#include "views/run/run_words.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kLeft = 76, kBesideFigures = 10; // pixels
constexpr int kMostCurves = 24, kMostLinesInTooltip = 8, kDotsBelow = 60; // steps that have a dot each
constexpr qsizetype kMostRings = 500;
constexpr double kAbove = 1.12, kMostOver = 4; // room above; a prediction as many times the curve is off the axis

} // namespace

RunPlot::RunPlot(QWidget *parent)
    : QWidget(parent)
    , m_plot(new VectorPlot(this))
{
    setFont(uiFont(-1));
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(240, 96);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_plot);
    m_plot->setMinimumHeight(90);
    m_plot->setContextMenuPolicy(Qt::NoContextMenu);
    m_plot->setFocusPolicy(Qt::NoFocus); // keys are this widget's
    connect(m_plot, &QCustomPlot::mouseMove, this, [this](QMouseEvent *event) {
        const QPoint at = event->position().toPoint();
        if (event->buttons() != Qt::NoButton || !m_plot->axisRect()->rect().contains(at))
            return QToolTip::hideText();
        if (const auto step = nearestOfAll(m_plot->xAxis->pixelToCoord(at.x())))
            QToolTip::showText(m_plot->mapToGlobal(at + QPoint(14, 8)), describe(*step), m_plot);
    });
    connect(m_plot, &QCustomPlot::mousePress, this, [this](QMouseEvent *event) {
        setFocus(Qt::MouseFocusReason);
        if (event->button() != Qt::LeftButton || isOverTime())
            return;
        if (const auto step = nearestStep(m_plot->xAxis->pixelToCoord(event->position().x())))
            Q_EMIT stepChosen(qint64(*step));
    });
    draw();
}

RunPlot::~RunPlot() = default;

bool RunPlot::isOverTime() const
{
    const RunCurve *curve = first();
    return curve && curve->isOverTime;
}

const RunCurve *RunPlot::first() const
{
    if (!m_overlay)
        return nullptr;
    const auto at = std::ranges::find(m_overlay->curves, m_name, &RunCurve::name);
    return at == m_overlay->curves.end() ? nullptr : &*at;
}

void RunPlot::alignWith(RunPlot &other)
{
    m_other = &other;
    other.m_other = this;
}

void RunPlot::setCurves(const RunOverlayPtr &overlay, const std::string &name, const std::vector<RunCurve> &reference)
{
    m_overlay = overlay;
    m_name = name;
    m_reference.clear();
    std::ranges::copy_if(
        reference, std::back_inserter(m_reference), [&](const RunCurve &curve) { return curve.name == name; });
    if (const RunCurve *curve = first())
        setAccessibleName(tr("%1 over the steps").arg(QString::fromStdString(curve->title)));
    draw();
}

void RunPlot::setStep(std::optional<std::int64_t> number)
{
    if (std::exchange(m_step, number) != number)
        draw();
}

void RunPlot::setRange(double from, double to)
{
    m_from = from;
    m_to = to;
    draw();
}

std::optional<double> RunPlot::nearestStep(double x) const
{
    const RunCurve *curve = first();
    if (!curve || curve->step.empty())
        return std::nullopt;
    return *std::ranges::min_element(curve->step, {}, [x](double step) { return std::abs(step - x); });
}

std::optional<QPointF> RunPlot::positionOf(std::int64_t step) const
{
    const RunCurve *curve = first();
    if (!curve)
        return std::nullopt;
    for (std::size_t i = 0; i < curve->step.size(); ++i)
        if (curve->step[i] == double(step) && !std::isnan(curve->value[i]))
            return QPointF(m_plot->xAxis->coordToPixel(curve->step[i]), m_plot->yAxis->coordToPixel(curve->value[i]));
    return std::nullopt;
}

void RunPlot::draw()
{
    m_plot->clearPlottables();
    m_plot->clearItems();
    stylePlot(*m_plot, font());
    m_plot->axisRect()->setAutoMargins(QCP::msNone);
    const RunCurve *curve = first();
    for (QCPAxis *axis : { m_plot->xAxis, m_plot->yAxis })
        axis->setVisible(curve != nullptr);
    if (curve)
        drawCurves();
    fitFigures();
    if (curve) {
        drawOutliers();
        drawMarks();
        addAxisTitles(*m_plot, {}, isOverTime() ? tr("seconds") : tr("step"), font());
    }
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

/// Room on the left for the figures of the y axis, and for those of the chart that it is aligned with.
void RunPlot::fitFigures()
{
    int left = kLeft;
    if (first()) {
        QVector<double> ticks;
        QVector<QString> figures;
        m_plot->yAxis->ticker()->generate(m_plot->yAxis->range(), QLocale::c(), u'g', 6, ticks, nullptr, &figures);
        const QFontMetrics metrics(m_plot->yAxis->tickLabelFont());
        for (const QString &figure : figures)
            left = std::max(left, metrics.horizontalAdvance(figure) + kBesideFigures);
    }
    const bool isOther = std::exchange(m_left, left) != left;
    m_plot->axisRect()->setMargins(
        QMargins(std::max(left, m_other ? m_other->m_left : 0), 10, 14, fontMetrics().height() + 8));
    if (isOther && m_other)
        m_other->draw();
}

void RunPlot::drawCurves()
{
    const RunCurve *main = first();
    double low = 0, high = 0, from = m_from, to = m_to;
    if (!(m_to > m_from) || main->isOverTime) {
        from = main->step.empty() ? 0 : main->step.front();
        to = main->step.empty() ? 1 : main->step.back();
    }
    int drawn = 0;
    const auto add = [&](const RunCurve &curve, const QPen &pen, bool hasDots) {
        addGraph(curve, pen, hasDots);
        for (const double value : curve.value) {
            low = std::min(low, std::isnan(value) ? 0 : value);
            high = std::max(high, std::isnan(value) ? 0 : value);
        }
    };
    for (const RunCurve &curve : m_reference)
        if (drawn++ < kMostCurves)
            add(curve, QPen(theme().textFaint, 1.2), false);
    high = std::max(high, drawOthers());
    drawn = 0;
    for (const RunCurve &curve : m_overlay->curves) {
        if (curve.name != m_name || drawn++ >= kMostCurves)
            continue;
        QColor ink = m_others.empty() ? theme().accent : m_ownColor;
        if (&curve != main)
            ink.setAlphaF(0.4f);
        add(curve, QPen(ink, &curve == main ? 1.8 : 1), int(curve.step.size()) <= kDotsBelow);
    }
    if (main->predicted && *main->predicted <= kMostOver * high)
        high = std::max(high, *main->predicted); // else the curve would be a line along the axis
    if (!(high > low))
        high = low + 1;
    const double pad = std::max(0.5, (to - from) * 0.02);
    m_plot->xAxis->setRange(from - pad, to + pad);
    m_plot->yAxis->setRange(low < 0 ? low * kAbove : 0, high * kAbove);
    m_plot->yAxis->setTicker(
        QSharedPointer<TextTicker>::create([unit = RunCurve { .name = main->name, .unit = main->unit }](
                                               double value) { return curveValue(unit, value); }));
    const auto whole = QSharedPointer<TextTicker>::create(
        [](double value) { return value == std::round(value) ? QString::number(value, 'f', 0) : QString(); });
    whole->setTickCount(8);
    m_plot->xAxis->setTicker(whole);
    m_plot->yAxis->ticker()->setTickCount(4);
}

/// Steps that no median counts, as rings.
void RunPlot::drawOutliers()
{
    const RunCurve *main = first();
    if (main->isOverTime)
        return;
    QVector<double> x, y;
    for (const RunStep &step : m_overlay->run->steps) {
        if (!step.isWarmUp && !step.isOutlier)
            continue;
        const auto at = std::ranges::lower_bound(main->step, double(step.number));
        if (at == main->step.end() || *at != double(step.number))
            continue;
        if (x.size() == kMostRings)
            return; // they would hide the curve
        x << *at;
        y << main->value[std::size_t(at - main->step.begin())];
    }
    QCPGraph *rings = m_plot->addGraph();
    rings->setLineStyle(QCPGraph::lsNone);
    rings->setScatterStyle({ QCPScatterStyle::ssCircle, QPen(theme().warning, 1.4), QBrush(theme().panel), 7 });
    rings->setData(x, y, true);
}

void RunPlot::drawMarks()
{
    const RunCurve *main = first();
    if (m_step && !main->isOverTime) {
        auto *line = new QCPItemStraightLine(m_plot);
        line->setPen(QPen(theme().accent, 1.2, Qt::DotLine));
        line->point1->setCoords(double(*m_step), 0);
        line->point2->setCoords(double(*m_step), 1);
    }
    if (main->predicted)
        drawPrediction(*main);
}

/// A dashed line with its words beside it: on the side where the curve does not end, on a ground of their own.
void RunPlot::drawPrediction(const RunCurve &main)
{
    const double predicted = *main.predicted, top = m_plot->yAxis->range().upper;
    const bool isAbove = predicted > top;
    if (!isAbove) {
        auto *line = new QCPItemStraightLine(m_plot);
        line->setPen(QPen(theme().text, 1.3, Qt::DashLine));
        line->point1->setCoords(0, predicted);
        line->point2->setCoords(1, predicted);
    }
    const QString text = tr("%1 %2").arg(referenceName(), curveValue(main, predicted));
    QCPItemText *label = addLineLabel(*m_plot, isAbove ? top / kAbove : predicted,
        isAbove ? tr("%1, above the axis").arg(text) : text, theme().text, font());
    label->setBrush(theme().panel);
    label->setPadding({ 3, 0, 0, 0 });
    const auto last =
        std::ranges::find_if(main.value.rbegin(), main.value.rend(), [](double one) { return one == one; });
    const double ends = last == main.value.rend() ? 0 : *last;
    const double height = fontMetrics().height() + 2, y = m_plot->yAxis->coordToPixel(predicted);
    const QRect inside = m_plot->axisRect()->rect();
    if (!isAbove && inside.bottom() - y > height && (ends > predicted || y - inside.top() < height - 10))
        label->setPositionAlignment(Qt::AlignRight | Qt::AlignTop);
}

QString RunPlot::referenceName() const
{
    return m_overlay->reference ? nameOf(*m_overlay->reference) : tr("plan");
}

QString RunPlot::describe(double step) const
{
    QStringList lines { isOverTime() ? tr("after %1 s").arg(step, 0, 'f', 1) : tr("step %1").arg(step, 0, 'f', 0) };
    const auto add = [&](const RunCurve &curve, const QString &whose) {
        const auto at = std::ranges::find(curve.step, step);
        if (at == curve.step.end() || lines.size() > kMostLinesInTooltip)
            return;
        const QString where = curve.where.empty() ? whose : whose + u' ' + QString::fromStdString(curve.where);
        lines << QStringLiteral("%1: %2").arg(
            where, curveValue(curve, curve.value[std::size_t(at - curve.step.begin())]));
    };
    if (!m_overlay)
        return {};
    for (const RunCurve &curve : m_overlay->curves)
        if (curve.name == m_name)
            add(curve, m_others.empty() ? tr("run") : m_ownName);
    for (const PlottedRun &other : m_others)
        add(other.curve, other.name);
    for (const RunCurve &curve : m_reference)
        add(curve, tr("compared"));
    if (const RunCurve *main = first(); main && main->predicted)
        lines << QStringLiteral("%1: %2").arg(referenceName(), curveValue(*main, *main->predicted));
    return lines.join(u'\n');
}

QString RunPlot::toTsv() const
{
    const RunCurve *main = first();
    if (!main)
        return {};
    QString text = (main->isOverTime ? tr("seconds") : tr("step")) + u'\t'
        + QString::fromStdString(main->title + " (" + main->unit + ")") + u'\n';
    for (std::size_t i = 0; i < main->step.size(); ++i)
        text += QString::number(main->step[i], main->isOverTime ? 'g' : 'f', main->isOverTime ? 9 : 0) + u'\t'
            + (std::isnan(main->value[i]) ? QString() : QString::number(main->value[i], 'g', 9)) + u'\n';
    return text;
}

void RunPlot::keyPressEvent(QKeyEvent *event)
{
    const int by = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    const RunCurve *curve = first();
    if (by == 0 || !curve || curve->step.empty() || curve->isOverTime)
        return QWidget::keyPressEvent(event);
    const auto now = m_step ? std::ranges::find(curve->step, double(*m_step)) : curve->step.end();
    const std::ptrdiff_t from = now == curve->step.end() ? 0 : now - curve->step.begin() + by;
    const std::ptrdiff_t last = std::ptrdiff_t(curve->step.size()) - 1;
    Q_EMIT stepChosen(qint64(curve->step[std::size_t(std::clamp<std::ptrdiff_t>(from, 0, last))]));
}

void RunPlot::contextMenuEvent(QContextMenuEvent *event)
{
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    connect(menu->addAction(tr("Copy as TSV")), &QAction::triggered, this,
        [this] { QApplication::clipboard()->setText(toTsv()); });
    addPictureActions(*menu, this, QString::fromStdString(m_name));
    menu->popup(event->globalPos());
}

void RunPlot::showFocus(bool has)
{
    m_plot->axisRect()->setBackground(has ? QBrush(theme().panelRaised) : QBrush(Qt::NoBrush));
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void RunPlot::focusInEvent(QFocusEvent *event)
{
    QWidget::focusInEvent(event);
    showFocus(event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason);
}

void RunPlot::focusOutEvent(QFocusEvent *event)
{
    QWidget::focusOutEvent(event);
    showFocus(false);
}

void RunPlot::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    draw(); // the title of the axis has its place by the size
}

void RunPlot::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        draw();
}

} // namespace trainyard
