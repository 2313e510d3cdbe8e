// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/planner/trial_strip.h"

#include "models/planner_words.h"
#include "views/parts/panel_parts.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>

namespace trainyard {

namespace {

constexpr int kMostSentences = 30;

} // namespace

TrialStrip::TrialStrip(PlanDocument &document, QWidget *parent)
    : QWidget(parent)
    , adopt(new QPushButton(tr("Adopt"), this))
    , back(new QPushButton(tr("Back"), this))
    , m_document(document)
    , m_title(new TextLine(tr("Trying"), Ink::Text, this))
    , m_text(new TextLine({}, Ink::Text, this))
{
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(Theme::kPad + 2, 5, 6, 5);
    row->setSpacing(Theme::kPad);
    row->addWidget(m_title);
    row->addWidget(m_text, 1);
    row->addWidget(adopt);
    row->addWidget(back);
    m_title->setFont(uiFont(0, QFont::DemiBold));
    adopt->setProperty("isPrimary", true);
    adopt->setToolTip(tr("Makes it the plan: one step to undo."));
    back->setToolTip(tr("Esc: the plan as it was, with nothing to undo."));
    setAccessibleName(tr("A plan is tried"));
    connect(adopt, &QPushButton::clicked, &document, &PlanDocument::adoptTrial);
    connect(back, &QPushButton::clicked, this, &TrialStrip::backRequested);
    connect(&document, &PlanDocument::trialChanged, this, &TrialStrip::refresh);
    refresh();
}

QString TrialStrip::text() const
{
    return m_text->text();
}

void TrialStrip::refresh()
{
    const PlanPtr &trial = m_document.trial();
    setVisible(trial != nullptr);
    if (!trial)
        return;
    const QStringList changes = differencesText(*m_document.plan(), *trial, kMostSentences);
    m_text->setText(changes.join(QStringLiteral(" · ")));
    m_text->setToolTip(changes.join(u'\n'));
}

void TrialStrip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    paintCard(painter, rect(), theme().accentSoft, theme().accent);
}

} // namespace trainyard
