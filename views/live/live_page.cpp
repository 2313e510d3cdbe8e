// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/live/live_page.h"

#include "views/export/panel_menu.h"
#include "views/live/alarm_list.h"
#include "views/live/alarm_rules_view.h"
#include "views/live/live_invitation.h"
#include "views/live/live_strip.h"
#include "views/live/source_table.h"
#include "views/live/what_if_list.h"
#include "views/panels/card.h"
#include "views/panels/evidence_table.h"
#include "views/parts/page_head.h"
#include "views/parts/panel_parts.h"
#include "views/parts/scrolled.h"
#include "views/run/run_plot.h"
#include "views/run/run_words.h"
#include "views/run/step_scrubber.h"
#include "views/theme/theme.h"

#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kPlotHeight = 190;
const char *const kStepTime = "step_time";

} // namespace

LivePage::LivePage(LiveDocument &live, RunDocument &runs, QWidget *parent)
    : QWidget(parent)
    , back(new QPushButton(tr("‹ Back to the plan"), this))
    , save(new QPushButton(tr("Save recording…"), this))
    , compare(new QPushButton(tr("Plan against run"), this))
    , strip(new LiveStrip(live, nullptr, this))
    , sources(new SourceTable(live, this))
    , alarms(new AlarmList(live, this))
    , rules(new AlarmRulesView(live, this))
    , whatIfs(new WhatIfList(live, this))
    , plot(new RunPlot)
    , scrubber(new StepScrubber(runs, StepScrubber::Size::Full))
    , invitation(new Invitation(liveInvitation()))
    , m_live(live)
    , m_runs(runs)
    , m_body(new QWidget(this))
    , m_overview(new TextLine({}, Ink::Muted, this))
    , m_step(new TextLine({}, Ink::Muted, this))
    , m_noCurve(new TextLine({}, Ink::Muted, this))
{
    setAccessibleName(tr("Live"));
    setFocusPolicy(Qt::ClickFocus);
    arrange();
    wire();
    showState();
}

QWidget *LivePage::makeLeft()
{
    auto *content = new QWidget;
    auto *column = panelLayout(content);
    column->setSpacing(6);
    column->addWidget(new SectionTitle(tr("Sources"), {}, content));
    column->addWidget(sources);
    column->addWidget(new SectionTitle(tr("Alarms"), tr("a click goes to the step"), content));
    column->addWidget(alarms);
    column->addWidget(new SectionTitle(tr("Rules of alarms"), tr("threshold  ·  how long it has to hold"), content));
    column->addWidget(rules);
    column->addStretch(1);
    return new Card(scrolled(content));
}

QWidget *LivePage::makeRight()
{
    auto *content = new QWidget;
    auto *column = panelLayout(content);
    column->setSpacing(6);
    column->addWidget(new SectionTitle(tr("Step time"), tr("dashed: the plan  ·  a click shows the step"), content));
    plot->setFixedHeight(kPlotHeight);
    m_noCurve->setAlignment(Qt::AlignCenter);
    column->addWidget(plot);
    column->addWidget(m_noCurve);
    auto *row = new QHBoxLayout;
    row->setSpacing(Theme::kPad);
    row->addWidget(scrubber, 1);
    m_step->setFont(uiFont(-1));
    column->addLayout(row);
    column->addWidget(m_step);
    column->addWidget(new SectionTitle(tr("What if"), {}, content));
    column->addWidget(whatIfs);
    column->addStretch(1);
    return new Card(scrolled(content));
}

void LivePage::arrange()
{
    auto *title = new TextLine(tr("Live"), Ink::Text, this);
    auto *top = pageHead(back, title, m_overview, { compare, save });
    strip->setOpenShown(false);
    auto *row = new QHBoxLayout;
    row->setSpacing(Theme::kGap);
    row->addWidget(makeLeft(), 1);
    row->addWidget(makeRight(), 1);
    auto *body = new QVBoxLayout(m_body);
    body->setContentsMargins(0, 0, 0, 0);
    body->setSpacing(Theme::kGap);
    body->addWidget(strip);
    body->addLayout(row, 1);
    auto *column = pageColumn(this, top);
    column->addWidget(m_body, 1);
    column->addWidget(invitation, 1);
}

void LivePage::wire()
{
    connect(back, &QPushButton::clicked, this, &LivePage::closed);
    auto *escape = new QShortcut(QKeySequence(Qt::Key_Escape), this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut);
    connect(escape, &QShortcut::activated, this, &LivePage::closed);
    connect(save, &QPushButton::clicked, this, &LivePage::saveRequested);
    connect(compare, &QPushButton::clicked, this, &LivePage::compareRequested);
    connect(rules->read, &QPushButton::clicked, this, &LivePage::rulesRequested);
    connect(sources, &SourceTable::connectRequested, this, &LivePage::connectRequested);
    connect(invitation->begin, &QPushButton::clicked, this, &LivePage::connectRequested);
    connect(invitation->other, &QPushButton::clicked, this, &LivePage::replayRequested);
    connect(plot, &RunPlot::stepChosen, this, [this](qint64 number) { m_runs.setStep(number); });
    connect(&m_live, &LiveDocument::sourcesChanged, this, &LivePage::showState);
    connect(&m_runs, &RunDocument::runChanged, this, &LivePage::showState);
    connect(&m_runs, &RunDocument::overlayChanged, this, &LivePage::showCurves);
    connect(&m_runs, &RunDocument::optionsChanged, this, &LivePage::showStep);
    setPanelTable(m_body, [this] { return sources->table->toTsv(); });
    showState();
}

void LivePage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    if (std::exchange(m_isOwed, false))
        showCurves();
}

void LivePage::showState()
{
    const bool hasAny = m_live.isLive() || m_runs.isLive();
    m_body->setVisible(hasAny);
    invitation->setVisible(!hasAny);
    save->setEnabled(hasAny && m_live.newestStep() >= 0);
    compare->setEnabled(m_runs.run() != nullptr);
    showCurves();
}

void LivePage::showCurves()
{
    if (!isVisible()) {
        m_isOwed = true;
        return;
    }
    const RunOverlayPtr &overlay = m_runs.overlay();
    const bool isOurs = overlay && m_runs.isLive();
    save->setEnabled(m_live.isLive() && m_runs.run());
    compare->setEnabled(m_runs.run() != nullptr);
    m_overview->setText(
        isOurs ? nameOf(*overlay->run) + QStringLiteral("  ·  ") + overviewOf(*overlay->run) : QString());
    const bool hasCurve =
        isOurs && std::ranges::find(overlay->curves, kStepTime, &RunCurve::name) != overlay->curves.end();
    plot->setVisible(hasCurve);
    m_noCurve->setVisible(!hasCurve);
    m_noCurve->setText(m_runs.run() && !m_runs.isLive()
            ? tr("The window shows another run. “Follow” shows this one again.")
            : m_runs.isLive() ? tr("No step has ended yet.")
                              : tr("Waiting for the first data…"));
    if (hasCurve) {
        plot->setRange(0, 0);
        plot->setCurves(overlay, kStepTime, m_runs.referenceCurves());
    }
    showStep();
}

void LivePage::showStep()
{
    const RunStep *step = m_runs.isLive() ? m_runs.step() : nullptr;
    plot->setStep(step ? std::optional(step->number) : std::nullopt);
    scrubber->setVisible(m_runs.isLive());
    m_step->setVisible(step != nullptr);
    if (!step)
        return;
    const RunOverlayPtr &overlay = m_runs.overlay();
    const QString result = overlay && overlay->run == m_runs.run() ? shortResult(*overlay) : QString();
    m_step->setText(m_live.isFollowing() ? tr("Follows the newest step  ·  %1").arg(result)
                                         : tr("Stays at this step; the run goes on  ·  %1").arg(result));
}

QString LivePage::stepText() const
{
    return m_step->text();
}

} // namespace trainyard
