// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/experts/experts_page.h"

#include "models/plan_export.h"
#include "views/experts/ablation_bars.h"
#include "views/experts/expert_plot.h"
#include "views/experts/expert_words.h"
#include "views/experts/step_mark.h"
#include "views/panels/card.h"
#include "views/parts/panel_parts.h"
#include "views/parts/scrolled.h"
#include "views/theme/theme.h"

#include <QGridLayout>
#include <QScrollArea>
#include <QVBoxLayout>

namespace trainyard {

namespace {

constexpr int kTableWidth = 410;

} // namespace

ExpertsPage::ExpertsPage(const Catalogue &catalogue, QWidget *parent)
    : ComparisonPage({ .accessibleName = tr("Experts"),
                         .title = tr("Experts"),
                         .pictureOf = tr("%1 experts"),
                         .exportOf = tr("Export: comparison of exchanges"),
                         .fileName = tr("experts"),
                         .running = tr("Running one layer of experts under each exchange…") },
        parent)
    , bars(new AblationBars)
    , m_published(wrappedLine(Ink::Muted, this))
    , m_spared(wrappedLine(Ink::Text, this))
    , m_gain(wrappedLine(Ink::Text, this))
    , m_standing(wrappedLine(Ink::Faint, this))
    , m_study(catalogue)
{
    for (std::size_t axis = 0; axis < kExpertAxes; ++axis)
        plots[axis] = new ExpertPlot(ExpertAxis(axis));
    m_published->setText(publishedSentence());
    m_standing->setText(standingSentence());
    parts()->addWidget(makeTable());
    parts()->addWidget(makePlots(), 1);
    connect(&m_study, &ExpertStudy::comparisonChanged, this, &ExpertsPage::setComparison);
    refresh();
}

QWidget *ExpertsPage::makeTable()
{
    auto *content = new QWidget;
    auto *column = panelLayout(content);
    column->addWidget(new SectionTitle(tr("From the part to the whole"), tr("against DeepSpeed"), content));
    column->addWidget(bars);
    column->addWidget(new SectionTitle(tr("Beside what is published"), {}, content));
    for (TextLine *line : { m_published, m_spared, m_gain, m_standing }) {
        line->setFont(uiFont(-1));
        column->addWidget(line);
    }
    column->addStretch(1);
    QScrollArea *area = scrolled(content);
    area->setFixedWidth(kTableWidth);
    return new Card(area);
}

QWidget *ExpertsPage::makePlots()
{
    auto *content = new QWidget;
    auto *column = new QVBoxLayout(content);
    column->setContentsMargins(Theme::kPad, Theme::kGap, Theme::kGap, 4);
    column->setSpacing(4);
    column->addWidget(new StepLegend(content));
    auto *grid = new QGridLayout;
    grid->setSpacing(Theme::kGap);
    for (int axis = 0; axis < int(kExpertAxes); ++axis)
        grid->addWidget(plots[std::size_t(axis)], axis / 2, axis % 2);
    column->addLayout(grid, 1);
    return new Card(content);
}

void ExpertsPage::setComparison(ExpertComparisonPtr comparison)
{
    m_comparison = std::move(comparison);
    refresh();
    if (m_comparison->isComplete)
        Q_EMIT completed();
}

void ExpertsPage::refresh()
{
    const bool isOfPlan = m_comparison && m_comparison->plan == m_plan;
    const QString nothing = m_comparison ? QString::fromStdString(m_comparison->nothing) : QString();
    const bool hasTable = m_comparison && m_comparison->now && nothing.isEmpty();
    showState(hasTable, nothing,
        !isOfPlan || !m_comparison->isComplete ? tr("Evaluating…")
            : m_comparison->group              ? groupSentence(*m_comparison->group)
                                               : QString());
    if (!hasTable)
        return;
    bars->setComparison(*m_comparison);
    for (std::size_t axis = 0; axis < kExpertAxes; ++axis)
        plots[axis]->setCurve(m_comparison->curves[axis]);
    m_result->setText(resultSentence(*m_comparison));
    m_spared->setText(sparedSentence(*m_comparison));
    const QString gain = gainSentence(*m_comparison);
    m_gain->setText(gain);
    m_gain->setVisible(!gain.isEmpty());
    dimLines(*m_body, !isOfPlan);
}

QString ExpertsPage::table(QChar separator) const
{
    return m_comparison ? QString::fromStdString(tableOf(*m_comparison, separator.toLatin1())) : QString();
}

} // namespace trainyard
