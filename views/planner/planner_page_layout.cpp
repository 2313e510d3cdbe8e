// SPDX-License-Identifier: GPL-3.0-or-later
// What stands where on the planner's page.
#include "models/validation/text_table_model.h"
#include "views/panels/card.h"
#include "views/panels/evidence_table.h"
#include "views/parts/page_head.h"
#include "views/parts/scrolled.h"
#include "views/parts/text_line.h"
#include "views/planner/candidate_card.h"
#include "views/planner/planner_form.h"
#include "views/planner/planner_page.h"
#include "views/planner/scatter_legend.h"
#include "views/planner/search_scatter.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>

namespace trainyard {

namespace {

constexpr int kFormWidth = 292, kCandidateWidth = 352; // pixels
constexpr int kPlotShare = 62, kTableShare = 38;

} // namespace

QWidget *PlannerPage::makeForm()
{
    auto *content = new QWidget;
    auto *column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(scrolled(form), 1);
    auto *foot = new QVBoxLayout;
    foot->setContentsMargins(Theme::kPad, Theme::kGap, Theme::kPad, Theme::kGap);
    foot->setSpacing(Theme::kGap);
    foot->addWidget(bar);
    foot->addWidget(run);
    column->addLayout(foot);
    bar->setTextVisible(false);
    bar->setFixedHeight(4);
    bar->setAccessibleName(tr("Share of the time that the search may take"));
    auto *card = new Card(content);
    card->setFixedWidth(kFormWidth);
    return card;
}

QWidget *PlannerPage::makePlot()
{
    m_plot = new QWidget;
    auto *column = new QVBoxLayout(m_plot);
    column->setContentsMargins(Theme::kPad, Theme::kGap, 4, 4);
    column->setSpacing(2);
    column->addWidget(legend);
    column->addWidget(scatter, 1);
    m_empty = new QWidget;
    auto *middle = new QVBoxLayout(m_empty);
    middle->setContentsMargins(60, 20, 60, 20);
    middle->setSpacing(Theme::kPad);
    m_invitation->setWrapped(true);
    m_invitation->setAlignment(Qt::AlignCenter);
    invite->setProperty("isPrimary", true);
    middle->addStretch(1);
    middle->addWidget(m_invitation);
    middle->addWidget(invite, 0, Qt::AlignHCenter);
    middle->addStretch(1);
    auto *pages = new QWidget;
    m_middle = new QStackedLayout(pages);
    m_middle->addWidget(m_empty);
    m_middle->addWidget(m_plot);
    return new Card(pages);
}

QWidget *PlannerPage::makeTables()
{
    best->setModel(m_bestModel);
    leftOut->setModel(m_leftOutModel);
    for (EvidenceTable *table : { best, leftOut }) {
        table->setSelectionMode(QAbstractItemView::SingleSelection);
        table->setTextElideMode(Qt::ElideRight);
    }
    m_tables = new TabbedCard(tr("What came of it"));
    m_tables->addTab(best, tr("The best"));
    m_tables->addTab(leftOut, tr("Left out"));
    return m_tables;
}

void PlannerPage::arrange()
{
    dressPictureButton(picture);
    m_result->setFont(uiFont(1));
    m_result->setWrapped(true);
    m_note->setWrapped(true);
    auto *top = pageHead(back, m_title, m_progress, { exportCsv, picture });
    auto *centre = new QVBoxLayout;
    centre->setSpacing(Theme::kGap);
    centre->addWidget(makePlot(), kPlotShare);
    centre->addWidget(makeTables(), kTableShare);
    QScrollArea *chosen = scrolled(candidate);
    auto *right = new Card(chosen);
    right->setFixedWidth(kCandidateWidth);
    auto *row = new QHBoxLayout;
    row->setSpacing(Theme::kGap);
    row->addWidget(makeForm());
    row->addLayout(centre, 1);
    row->addWidget(right);
    auto *body = new QVBoxLayout(m_body);
    body->setContentsMargins(0, 0, 0, 0);
    body->setSpacing(4);
    body->addWidget(m_result);
    body->addWidget(m_note);
    body->addSpacing(2);
    body->addLayout(row, 1);
    auto *column = pageColumn(this, top);
    column->addWidget(m_body, 1);
}

} // namespace trainyard
