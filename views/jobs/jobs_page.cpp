// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/jobs/jobs_page.h"

#include "views/jobs/job_words.h"
#include "views/jobs/mini_gantt.h"
#include "views/jobs/scheduler_cell.h"
#include "views/panels/card.h"
#include "views/parts/panel_parts.h"
#include "views/parts/scrolled.h"
#include "views/theme/theme.h"

#include <QGridLayout>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kPartsWidth = 400, kColumns = 2, kLeastCell = 92;

} // namespace

JobsPage::JobsPage(const Catalogue &catalogue, QWidget *parent)
    : ComparisonPage({ .accessibleName = tr("Schedulers of jobs"),
                         .title = tr("Schedulers"),
                         .pictureOf = tr("%1 schedulers"),
                         .exportOf = tr("Export: comparison of schedulers"),
                         .fileName = tr("schedulers"),
                         .running = tr("Running the jobs under each scheduler…") },
        parent)
    , solve(new QPushButton(tr("Ask the solver"), this))
    , ablation(new VariantBars)
    , scaling(new VariantBars)
    , oneMore(new VariantBars(VariantBars::Names::Above))
    , m_scalingNote(wrappedLine(Ink::Faint, this))
    , m_study(catalogue)
{
    solve->setToolTip(tr("Looks for the best order of shards with a mixed-integer programme, for as long as the plan "
                         "allows (job_options.seconds)."));
    m_scalingNote->setFont(uiFont(-2));
    m_scalingNote->setText(tr("Speed-up over one GPU; the tick is min(G, n). A little more is possible: one GPU alone "
                              "shows transfers that several hide."));
    parts()->addWidget(makeSchedulers(), 1);
    parts()->addWidget(makeParts());
    connect(solve, &QPushButton::clicked, this, [this] {
        m_study.solve();
        refresh();
    });
    connect(&m_study, &JobStudy::comparisonChanged, this, &JobsPage::setComparison);
    refresh();
}

QWidget *JobsPage::makeSchedulers()
{
    auto *content = new QWidget;
    auto *column = panelLayout(content);
    auto *head = new QHBoxLayout;
    head->addWidget(
        new SectionTitle(tr("Schedulers"), tr("the same time in every chart, dashed the bound of this plan"), content),
        1);
    head->addWidget(solve);
    column->addLayout(head);
    m_grid = new QGridLayout;
    m_grid->setHorizontalSpacing(2 * Theme::kPad);
    m_grid->setVerticalSpacing(Theme::kPad);
    for (int c = 0; c < kColumns; ++c)
        m_grid->setColumnStretch(c, 1);
    column->addLayout(m_grid, 1);
    return new Card(scrolled(content));
}

QWidget *JobsPage::makeParts()
{
    auto *content = new QWidget;
    auto *column = panelLayout(content);
    column->addWidget(new SectionTitle(tr("What each part is worth"), tr("over the one before"), content));
    column->addWidget(ablation);
    column->addWidget(new SectionTitle(tr("Strong scaling"), tr("speed-up of min(G, n)"), content));
    column->addWidget(scaling);
    column->addWidget(m_scalingNote);
    column->addWidget(new SectionTitle(tr("One GPU more"), tr("all jobs end after"), content));
    column->addWidget(oneMore);
    column->addStretch(1);
    m_worth = content;
    QScrollArea *area = scrolled(content);
    area->setFixedWidth(kPartsWidth);
    return new Card(area);
}

void JobsPage::setComparison(JobComparisonPtr comparison)
{
    m_comparison = std::move(comparison);
    refresh();
    if (m_comparison && m_comparison->isComplete)
        Q_EMIT completed();
}

void JobsPage::fillCells()
{
    const auto &schedulers = m_comparison->schedulers;
    while (m_cells.size() < schedulers.size()) {
        auto *cell = m_cells.emplace_back(new SchedulerCell(m_body));
        cell->setMinimumHeight(kLeastCell);
        const int at = int(m_cells.size()) - 1;
        m_grid->addWidget(cell, at / kColumns, at % kColumns);
        m_grid->setRowStretch(at / kColumns, 1);
        connect(cell, &SchedulerCell::chosen, this, &JobsPage::schedulerChosen);
    }
    Nanoseconds whole = 0;
    for (const JobVariant &variant : schedulers)
        if (variant.makespan())
            whole = std::max(whole, variant.evaluation->timeline.duration);
    Metric bound;
    if (const auto &own = schedulers.front().evaluation; own && own->metrics.jobs)
        bound = own->metrics.jobs->bound;
    for (std::size_t i = 0; i < m_cells.size(); ++i) {
        m_cells[i]->setVisible(i < schedulers.size());
        if (i < schedulers.size())
            m_cells[i]->setVariant(schedulers[i], againstOwn(*m_comparison, schedulers[i]), whole, bound, i == 0);
    }
}

void JobsPage::refresh()
{
    const bool isOfPlan = m_comparison && m_comparison->plan == m_plan;
    const QString nothing = m_comparison ? QString::fromStdString(m_comparison->nothing) : QString();
    const bool has = m_comparison && nothing.isEmpty() && !m_comparison->schedulers.empty();
    showState(has, nothing, !isOfPlan || !m_comparison->isComplete ? tr("Evaluating…") : overviewOf(*m_comparison));
    solve->setEnabled(has && isOfPlan && !m_study.isSolving() && !(m_comparison && m_comparison->hasSolvers));
    solve->setText(m_study.isSolving() ? tr("Solving…") : tr("Ask the solver"));
    if (!has)
        return;
    fillCells();
    ablation->setBars(ablationBars(*m_comparison));
    scaling->setBars(scalingBars(*m_comparison));
    oneMore->setBars(oneMoreBars(*m_comparison));
    m_result->setText(resultSentence(*m_comparison));
    for (SchedulerCell *cell : m_cells)
        cell->setFaded(!isOfPlan);
    dimLines(*m_worth, !isOfPlan);
}

QString JobsPage::table(QChar separator) const
{
    return m_comparison ? comparisonTable(*m_comparison, separator) : QString();
}

} // namespace trainyard
