// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/run_badge.h"

#include "views/parts/text_line.h"
#include "views/run/run_words.h"
#include "views/run/step_scrubber.h"
#include "views/theme/icons.h"
#include "views/theme/theme.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>

namespace trainyard {

namespace {

constexpr int kScrubberWidth = 300, kNameMost = 260;

} // namespace

RunBadge::RunBadge(RunDocument &runs, QWidget *parent)
    : QWidget(parent)
    , compare(new QPushButton(tr("Plan against run"), this))
    , closeRun(new QToolButton(this))
    , scrubber(new StepScrubber(runs, StepScrubber::Size::Compact, this))
    , m_runs(runs)
    , m_name(new TextLine({}, Ink::Text, this))
    , m_result(new TextLine({}, Ink::Muted, this))
{
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(Theme::kPad + 2, 3, 4, 3);
    row->setSpacing(Theme::kPad);
    row->addWidget(m_name);
    row->addWidget(scrubber);
    row->addWidget(m_result, 1);
    row->addWidget(compare);
    row->addWidget(closeRun);
    scrubber->setFixedWidth(kScrubberWidth);
    m_name->setFont(uiFont(0, QFont::DemiBold));
    m_name->setMaximumWidth(kNameMost);
    closeRun->setIcon(themedIcon(QStringLiteral("close")));
    closeRun->setProperty("isFlat", true);
    closeRun->setToolTip(tr("Close the run"));
    closeRun->setAccessibleName(tr("Close the run"));
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setAccessibleName(tr("The run under the timeline"));
    connect(compare, &QPushButton::clicked, this, &RunBadge::pageRequested);
    connect(closeRun, &QToolButton::clicked, &runs, &RunDocument::close);
    connect(&runs, &RunDocument::runChanged, this, &RunBadge::refresh);
    connect(&runs, &RunDocument::runUpdated, this, &RunBadge::refresh);
    connect(&runs, &RunDocument::overlayChanged, this, &RunBadge::refresh);
    refresh();
}

QString RunBadge::text() const
{
    return m_name->text() + QStringLiteral(": ") + m_result->text();
}

void RunBadge::refresh()
{
    const RunPtr &run = m_runs.run();
    setVisible(run && !m_runs.isLive()); // of one that goes on the line of its sources tells all of it
    if (!run)
        return;
    m_name->setText(tr("Run %1").arg(nameOf(*run)));
    m_name->setToolTip(overviewOf(*run));
    const RunOverlayPtr &overlay = m_runs.overlay();
    const bool isLaid = overlay && overlay->run == run;
    m_result->setText(isLaid ? shortResult(*overlay) : tr("Laying it under the plan…"));
}

void RunBadge::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        closeRun->setIcon(themedIcon(QStringLiteral("close")));
}

void RunBadge::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF box = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    painter.setPen(theme().border);
    painter.setBrush(theme().panel);
    painter.drawRoundedRect(box, Theme::kRadius, Theme::kRadius);
    painter.setClipRect(QRectF(0, 0, 4, height()));
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme().accent);
    painter.drawRoundedRect(box, Theme::kRadius, Theme::kRadius);
}

} // namespace trainyard
