// SPDX-License-Identifier: GPL-3.0-or-later
// The places of the page's parts.
#include "views/run/run_page.h"

#include "views/panels/card.h"
#include "views/panels/evidence_table.h"
#include "views/parts/invitation.h"
#include "views/parts/page_head.h"
#include "views/parts/panel_parts.h"
#include "views/parts/scrolled.h"
#include "views/run/difference_bars.h"
#include "views/run/profile_card.h"
#include "views/run/rank_strip.h"
#include "views/run/run_plot.h"
#include "views/run/sentence_list.h"
#include "views/run/step_scrubber.h"
#include "views/run/trace_card.h"
#include "views/run/verdict_section.h"
#include "views/theme/theme.h"

#include <QComboBox>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

namespace trainyard {

namespace {

constexpr int kFindingsWidth = 470, kSourcesHeight = 150;

} // namespace

QWidget *RunPage::makeHead()
{
    auto *content = new QWidget;
    auto *column = new QVBoxLayout(content);
    column->setContentsMargins(Theme::kPad, Theme::kGap, Theme::kPad, Theme::kGap);
    column->setSpacing(6);
    m_result->setWrapped(true);
    m_result->setFont(uiFont(1));
    m_step->setFont(uiFont(-1));
    m_rankLabel->setFont(uiFont(-1));
    auto *row = new QHBoxLayout;
    row->setSpacing(Theme::kPad);
    row->addWidget(scrubber, 1);
    row->addWidget(m_step);
    row->addSpacing(Theme::kPad);
    row->addWidget(m_rankLabel);
    row->addWidget(ranks);
    ranks->setAccessibleName(tr("Rank whose spans are shown"));
    ranks->setToolTip(tr("Whose spans lie under the plan's in the timeline"));
    column->addWidget(m_result);
    column->addLayout(row);
    return new Card(content);
}

QWidget *RunPage::makeFindings()
{
    auto *content = new QWidget;
    auto *column = panelLayout(content);
    column->setSpacing(6);
    column->addWidget(verdict);
    column->addWidget(new SectionTitle(tr("Where the step goes"), tr("mean over the ranks"), content));
    column->addWidget(bars);
    column->addWidget(m_captions);
    column->addWidget(new SectionTitle(tr("Who slows it down"), {}, content));
    column->addWidget(suspects);
    column->addWidget(m_noSuspects);
    column->addWidget(new SectionTitle(tr("Ranks and clocks"), {}, content));
    column->addWidget(strip);
    column->addWidget(m_missing);
    column->addWidget(clocks);
    column->addWidget(notes);
    column->addStretch(1);
    for (TextLine *line : { m_noSuspects, m_missing }) {
        line->setWrapped(true);
        line->setFont(uiFont(-1));
    }
    QScrollArea *area = scrolled(content);
    area->setFixedWidth(kFindingsWidth);
    return new Card(area);
}

QWidget *RunPage::makePlots()
{
    auto *column = new QVBoxLayout(m_plots);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    auto *head = new QHBoxLayout;
    m_stepTitle->setFont(uiFont(0, QFont::DemiBold));
    m_legend->setFont(uiFont(-1));
    m_legend->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_legend->setText(tr("dashed: the plan  ·  rings: not in the median  ·  a click shows the step"));
    head->addWidget(m_stepTitle);
    head->addWidget(m_legend, 1);
    column->addLayout(head);
    column->addWidget(stepPlot, 3);
    auto *other = new QVBoxLayout(m_other);
    other->setContentsMargins(0, 4, 0, 0);
    other->setSpacing(2);
    auto *choice = new QHBoxLayout;
    choice->addWidget(quantity);
    choice->addStretch(1);
    quantity->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    ranks->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    quantity->setAccessibleName(tr("Quantity over the steps"));
    other->addLayout(choice);
    other->addWidget(otherPlot, 1);
    column->addWidget(m_other, 2);
    m_curves = new QWidget;
    auto *outer = panelLayout(m_curves);
    m_plotsEmpty->setAlignment(Qt::AlignCenter);
    m_plotsEmpty->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    outer->addWidget(m_plots, 1);
    outer->addWidget(m_plotsEmpty, 1);
    tabs->addTab(m_curves, tr("Curves"));
    addTab(kernels, tr("Kernels"));
    addTab(trace, tr("Trace"));
    return tabs;
}

void RunPage::addTab(QWidget *content, const QString &title)
{
    QScrollArea *area = scrolled(content);
    tabs->addTab(area, title);
}

void RunPage::showTab(QWidget *content)
{
    for (QWidget *up = content; up && up != tabs; up = up->parentWidget())
        tabs->setCurrent(up);
}

void RunPage::addToInvitation(QWidget *content)
{
    m_noRun->layout()->addWidget(content);
}

QWidget *RunPage::makeSources()
{
    auto *content = new QWidget;
    auto *column = new QVBoxLayout(content);
    column->setContentsMargins(Theme::kGap, 4, Theme::kGap, 4);
    column->setSpacing(2);
    fold->setCheckable(true);
    fold->setProperty("isFlat", true);
    fold->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    fold->setToolTip(tr("Every file: what it is, what was taken of it, what was not and why"));
    sources->setFixedHeight(kSourcesHeight);
    column->addWidget(fold, 0, Qt::AlignLeft);
    column->addWidget(sources);
    setFolded(true);
    return new Card(content);
}

void RunPage::arrange()
{
    run->setText(tr("Run"));
    run->setToolTip(tr("Open, compare, watch, save or close a run."));
    run->setPopupMode(QToolButton::InstantPopup);
    run->setToolButtonStyle(Qt::ToolButtonTextOnly);
    dressPictureButton(picture);
    auto *row = new QHBoxLayout;
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(Theme::kGap);
    row->addWidget(makeFindings());
    row->addWidget(makePlots(), 1);
    auto *body = new QVBoxLayout(m_body);
    body->setContentsMargins(0, 0, 0, 0);
    body->setSpacing(Theme::kGap);
    body->addWidget(makeHead());
    body->addLayout(row, 1);
    body->addWidget(makeSources());
    auto *column = pageColumn(this, pageHead(back, m_title, m_overview, { run, exportCsv, picture }));
    column->addWidget(m_body, 1);
    auto *noRun = new QVBoxLayout(m_noRun);
    noRun->setContentsMargins(0, 0, 0, 0);
    noRun->setSpacing(Theme::kGap);
    noRun->addWidget(invitation, 1);
    column->addWidget(m_noRun, 1);
}

} // namespace trainyard
