// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/experts/experts_page.h"

#include "models/plan_export.h"
#include "views/experts/ablation_bars.h"
#include "views/experts/expert_plot.h"
#include "views/experts/expert_words.h"
#include "views/experts/step_mark.h"
#include "views/export/file_target.h"
#include "views/export/panel_menu.h"
#include "views/export/panel_picture.h"
#include "views/panels/card.h"
#include "views/parts/page_head.h"
#include "views/parts/panel_parts.h"
#include "views/theme/theme.h"

#include <QGridLayout>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QToolButton>
#include <QVBoxLayout>

namespace trainyard {

namespace {

constexpr int kTableWidth = 410;

TextLine *wrappedLine(Ink ink, QWidget *parent)
{
    auto *line = new TextLine({}, ink, parent);
    line->setWrapped(true);
    return line;
}

} // namespace

ExpertsPage::ExpertsPage(const Catalogue &catalogue, QWidget *parent)
    : QWidget(parent)
    , back(new QPushButton(tr("‹ Back to the plan"), this))
    , exportCsv(new QPushButton(tr("Export CSV…"), this))
    , picture(new QToolButton(this))
    , bars(new AblationBars)
    , m_title(new TextLine(tr("Experts"), Ink::Text, this))
    , m_overview(new TextLine({}, Ink::Muted, this))
    , m_result(wrappedLine(Ink::Text, this))
    , m_empty(wrappedLine(Ink::Muted, this))
    , m_published(wrappedLine(Ink::Muted, this))
    , m_spared(wrappedLine(Ink::Text, this))
    , m_gain(wrappedLine(Ink::Text, this))
    , m_standing(wrappedLine(Ink::Faint, this))
    , m_body(new QWidget(this))
    , m_nothing(new Card(m_empty, this))
    , m_study(catalogue)
{
    setAccessibleName(tr("Experts"));
    setFocusPolicy(Qt::ClickFocus); // keys are this page's, whatever was clicked last
    for (std::size_t axis = 0; axis < kExpertAxes; ++axis)
        plots[axis] = new ExpertPlot(ExpertAxis(axis));
    dressPictureButton(picture);
    auto *menu = new QMenu(picture);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        addPictureActions(*menu, m_body, tr("%1 experts").arg(m_name));
    });
    picture->setMenu(menu);
    m_result->setFont(uiFont(1));
    m_empty->setAlignment(Qt::AlignCenter);
    m_published->setText(publishedSentence());
    m_standing->setText(standingSentence());
    arrange();
    setPanelTable(m_body, [this] { return toTsv(); });
    connect(back, &QPushButton::clicked, this, &ExpertsPage::closed);
    connect(exportCsv, &QPushButton::clicked, this, &ExpertsPage::saveCsv);
    auto *escape = new QShortcut(QKeySequence(Qt::Key_Escape), this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut);
    connect(escape, &QShortcut::activated, this, &ExpertsPage::closed);
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
    auto *area = new QScrollArea;
    area->setWidget(content);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setFocusPolicy(Qt::NoFocus);
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

void ExpertsPage::arrange()
{
    auto *top = pageHead(back, m_title, m_overview, { exportCsv, picture });
    auto *row = new QHBoxLayout;
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(Theme::kGap);
    row->addWidget(makeTable());
    row->addWidget(makePlots(), 1);
    auto *body = new QVBoxLayout(m_body);
    body->setContentsMargins(0, 0, 0, 0);
    body->setSpacing(Theme::kGap);
    body->addWidget(m_result);
    body->addLayout(row, 1);
    auto *column = pageColumn(this, top);
    column->addWidget(m_body, 1);
    column->addWidget(m_nothing, 1);
}

void ExpertsPage::setPlan(const PlanPtr &plan, const QString &name)
{
    m_name = name;
    m_plan = plan;
    m_study.setPlan(plan);
    refresh();
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
    m_body->setVisible(hasTable);
    m_nothing->setVisible(!hasTable);
    exportCsv->setEnabled(hasTable);
    picture->setEnabled(hasTable);
    m_empty->setText(nothing.isEmpty() ? tr("Running one layer of experts under each exchange…") : nothing + u'.');
    m_overview->setText(!isOfPlan || !m_comparison->isComplete ? tr("Evaluating…")
            : m_comparison->group                              ? groupSentence(*m_comparison->group)
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

QString ExpertsPage::toTsv() const
{
    return m_comparison ? QString::fromStdString(tableOf(*m_comparison, '\t')) : QString();
}

void ExpertsPage::saveCsv()
{
    FileTarget *target = FileTarget::of(this);
    if (!target || !m_comparison)
        return;
    const QByteArray csv = QByteArray::fromStdString(tableOf(*m_comparison, ',')); // as it is now, not after the dialog
    const QString path = target->ask(tr("Export: comparison of exchanges"), tr("experts") + QStringLiteral(".csv"),
        QStringLiteral(".csv"), tr("Comma-separated values (*.csv)"));
    if (!path.isEmpty())
        target->write(tr("Comparison"), path, csv);
}

void ExpertsPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_study.setWatched(true);
}

void ExpertsPage::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    m_study.setWatched(false);
}

} // namespace trainyard
