// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/plots/curves_panel.h"

#include "views/parts/text_line.h"
#include "views/plots/curve_data.h"
#include "views/plots/curve_plots.h"
#include "views/plots/job_progress_plot.h"
#include "views/plots/legend_strip.h"
#include "views/plots/rok_plot.h"
#include "views/theme/theme.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QTabBar>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace trainyard {

CurvesPanel::CurvesPanel(QWidget *parent)
    : QWidget(parent)
    , m_tabs(new QTabBar(this))
    , m_stack(new QStackedWidget(this))
    , m_stages(new QComboBox(this))
    , m_legend(new LegendStrip(this))
    , m_note(new TextLine({}, Ink::Faint, this))
    , m_rok(new RokPlot(this))
    , m_progress(new JobProgressPlot(this))
    , m_back(new QToolButton(this))
{
    setFont(uiFont(-1));
    setAccessibleName(tr("Curves"));
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_tabs->setFont(uiFont(0));
    m_tabs->setAccessibleName(tr("Curves"));
    m_stages->setAccessibleName(tr("Stages shown"));
    m_stages->setMinimumContentsLength(12);
    m_note->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_note->setFont(uiFont(-1));
    addPlot(makeUtilizationPlot(this), tr("Utilization"));
    addPlot(makeMemoryPlot(this), tr("Memory"));
    addPlot(makeMemoryTimePlot(this), tr("Memory over time"));
    addPlot(makeWanPlot(this), tr("WAN"));
    addPlot(m_rok, tr("Offload trade-off"));
    addPlot(makeHostMemoryPlot(this), tr("Host memory"));
    addPlot(m_progress, tr("Progress"));
    m_tabs->setTabToolTip(int(Tab::Rok), tr("Recompute, offload, keep: what each reaches over micro-batch sizes"));

    auto *top = new QHBoxLayout;
    top->setContentsMargins(Theme::kPad, 0, Theme::kPad, 0);
    top->setSpacing(Theme::kPad);
    top->addWidget(m_tabs);
    top->addWidget(m_legend, 1);
    top->addWidget(m_note);
    top->addWidget(m_stages);
    top->addWidget(m_back);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 6, 0, 4);
    layout->setSpacing(2);
    layout->addLayout(top);
    layout->addWidget(m_stack, 1);
    m_back->setText(tr("Back"));
    m_back->setToolTip(tr("Give map and timeline their room again (Esc)"));
    m_back->setVisible(false);
    connect(m_back, &QToolButton::clicked, this, [this] { setEnlarged(false); });
    connect(m_tabs, &QTabBar::currentChanged, this, &CurvesPanel::showTab);
    m_stages->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    connect(m_stages, &QComboBox::activated, this, [this](int index) {
        for (CurvePlot *each : m_plots)
            each->setStage(m_stages->itemData(index).toInt());
    });
    fillStages(0);
    chooseTabs(false);
    showTab(0);
}

void CurvesPanel::addPlot(CurvePlot *plot, const QString &name)
{
    plot->setAccessibleName(name);
    m_tabs->addTab(name);
    m_stack->addWidget(plot);
    m_plots.push_back(plot);
    connect(plot, &CurvePlot::refreshed, this, [this, plot] {
        if (plot == currentPlot())
            describePlot();
    });
    connect(plot, &CurvePlot::rangeChanged, this, [this, plot](Nanoseconds from, Nanoseconds to) {
        for (CurvePlot *other : m_plots)
            if (other != plot)
                other->setVisibleRange(from, to);
        Q_EMIT rangeChanged(from, to);
    });
    connect(plot, &CurvePlot::cursorMoved, this, &CurvesPanel::cursorMoved);
    connect(plot, &CurvePlot::enlargeRequested, this, [this] { setEnlarged(!m_isEnlarged); });
}

void CurvesPanel::setShown(const Shown &shown)
{
    rok()->setBase(shown.base);
    if (m_evaluation && m_evaluation == shown.evaluation)
        return;
    const int before = m_evaluation ? stageCount(*m_evaluation) : 0;
    m_evaluation = shown.evaluation;
    const bool isOfJobs = m_evaluation && m_evaluation->metrics.jobs, wasOfJobs = m_isOfJobs;
    if (m_evaluation) // without one the tabs wait for the next
        chooseTabs(isOfJobs);
    if (const int stages = m_evaluation ? stageCount(*m_evaluation) : 0; stages != before || m_isOfJobs != wasOfJobs)
        fillStages(stages);
    for (CurvePlot *plot : m_plots)
        plot->setEvaluation(m_evaluation); // the one in sight says when note and legend are another
}

void CurvesPanel::fillStages(int stages)
{
    const QSignalBlocker blocker(m_stages);
    m_stages->clear();
    m_stages->addItem(tr("All GPUs"), -1);
    m_stages->addItem(m_isOfJobs ? tr("Every GPU") : tr("Every stage"), -2);
    for (int s = 0; s < stages; ++s)
        m_stages->addItem(m_isOfJobs ? tr("GPU %1").arg(s) : tr("Stage %1").arg(s + 1), s);
    for (CurvePlot *plot : m_plots)
        plot->setStage(-1);
}

/// What is of one model's iteration alone, or of jobs alone, stays out of the way of the other.
void CurvesPanel::chooseTabs(bool ofJobs)
{
    m_isOfJobs = ofJobs;
    const std::vector<Tab> ofOne { Tab::Memory, Tab::Wan, Tab::Rok }, ofMany { Tab::Hosts, Tab::Progress };
    for (const Tab tab : ofJobs ? ofMany : ofOne)
        m_tabs->setTabVisible(int(tab), true);
    const std::vector<Tab> &hidden = ofJobs ? ofOne : ofMany;
    if (std::ranges::find(hidden, Tab(m_tabs->currentIndex())) != hidden.end())
        setTab(ofJobs ? Tab::Progress : Tab::Utilization);
    for (const Tab tab : hidden)
        m_tabs->setTabVisible(int(tab), false);
}

bool CurvesPanel::isTabShown(Tab tab) const
{
    return m_tabs->isTabVisible(int(tab));
}

void CurvesPanel::setJob(int job)
{
    m_progress->setJob(job);
}

void CurvesPanel::setStale(bool stale)
{
    for (CurvePlot *plot : m_plots)
        plot->setStale(stale);
}

void CurvesPanel::setVisibleRange(Nanoseconds from, Nanoseconds to)
{
    for (CurvePlot *plot : m_plots)
        plot->setVisibleRange(from, to);
}

void CurvesPanel::setPlotInsets(int left, int right)
{
    for (CurvePlot *plot : m_plots)
        plot->setInsets(left, right);
}

void CurvesPanel::setTab(Tab tab)
{
    m_tabs->setCurrentIndex(int(tab));
}

CurvePlot *CurvesPanel::plot(Tab tab) const
{
    return m_plots.at(std::size_t(tab));
}

CurvePlot *CurvesPanel::currentPlot() const
{
    return m_plots.at(std::size_t(m_tabs->currentIndex()));
}

void CurvesPanel::showTab(int index)
{
    m_stack->setCurrentIndex(index);
    m_stages->setVisible(currentPlot()->hasStages());
    describePlot();
}

void CurvesPanel::describePlot()
{
    m_note->setText(currentPlot()->note());
    m_note->setToolTip(currentPlot()->note());
    m_legend->setEntries(currentPlot()->legend());
    // The legend comes first: colours cannot be guessed, the note can be read off the chart.
    const int needed = m_tabs->sizeHint().width() + m_legend->sizeHint().width() + m_note->sizeHint().width()
        + (m_stages->isVisibleTo(this) ? m_stages->sizeHint().width() : 0) + 5 * Theme::kPad;
    m_note->setVisible(needed <= width());
}

void CurvesPanel::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    describePlot();
}

void CurvesPanel::setEnlarged(bool enlarged)
{
    if (std::exchange(m_isEnlarged, enlarged) == enlarged)
        return;
    m_back->setVisible(enlarged);
    if (enlarged)
        currentPlot()->setFocus(Qt::OtherFocusReason);
    Q_EMIT enlargeRequested(enlarged);
}

void CurvesPanel::showCursor(qint64 time)
{
    currentPlot()->showCursor(time);
}

bool CurvesPanel::event(QEvent *event)
{
    // Esc belongs to the enlarged chart before any command of the window.
    if (m_isEnlarged && event->type() == QEvent::ShortcutOverride
        && static_cast<QKeyEvent *>(event)->key() == Qt::Key_Escape) {
        event->accept();
        return true;
    }
    return QWidget::event(event);
}

void CurvesPanel::keyPressEvent(QKeyEvent *event)
{
    if (m_isEnlarged && event->key() == Qt::Key_Escape)
        setEnlarged(false);
    else
        QWidget::keyPressEvent(event);
}

} // namespace trainyard
