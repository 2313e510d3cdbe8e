// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/fit_steps.h"

#include "models/text/format.h"
#include "views/panels/hover_button.h"
#include "views/parts/panel_parts.h"
#include "views/theme/theme.h"

#include <QVBoxLayout>

namespace trainyard {

FitSteps::FitSteps(QWidget *parent)
    : QWidget(parent)
    , m_summary(new TextLine({}, Ink::Text, this))
    , m_list(new QVBoxLayout)
    , m_adopt(new HoverButton(tr("Fit this model"), this))
{
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(new PanelHeading(tr("Fit this model"), {}, this));
    m_summary->setWrapped(true);
    m_list->setSpacing(4);
    layout->addWidget(m_summary);
    layout->addWidget(m_adopt, 0, Qt::AlignLeft); // above the steps: it stays where it is as they come
    layout->addLayout(m_list);
    m_adopt->setToolTip(tr("Takes all of these steps at once. Undo takes them back."));
    const QString text = tr("Fit this model");
    connect(m_adopt, &QPushButton::clicked, this, [this, text] { Q_EMIT editCommitted(m_advice->fitting.plan, text); });
    connect(m_adopt, &HoverButton::entered, this, [this, text] {
        if (m_adopt->isEnabled())
            Q_EMIT editPreviewed(m_advice->fitting.plan, text);
    });
    connect(m_adopt, &HoverButton::left, this, &FitSteps::editCancelled);
    setVisible(false);
}

void FitSteps::setAdvice(const MemoryAdvicePtr &advice, bool isApplicable, bool isWanted)
{
    const bool isKnown = advice && (isApplicable || isWanted)
        && (!advice->fitting.steps.empty()
            || (!advice->fitting.before.fits
                && !advice->fitting.summary.empty())); // steps also where it fits with little headroom
    const bool isAwaited = isWanted && !isKnown && !(advice && advice->isComplete && isApplicable);
    m_advice = isKnown ? advice : std::make_shared<const MemoryAdvice>();
    setVisible(isKnown || isAwaited);
    showSteps();
    m_adopt->setVisible(m_advice->isComplete && m_advice->fitting.fits && m_advice->fitting.plan);
    m_adopt->setEnabled(isApplicable);
}

void FitSteps::showSteps()
{
    const Fitting &fitting = m_advice->fitting;
    m_summary->setText(fitting.summary.empty() ? tr("Climbing the memory ladder, cheapest rung first…")
                                               : QString::fromStdString(fitting.summary));
    while (m_steps.size() < fitting.steps.size()) {
        auto *line = new TextLine({}, Ink::Muted, this);
        line->setWrapped(true);
        m_list->addWidget(line);
        m_steps.push_back(line);
    }
    for (std::size_t i = 0; i < m_steps.size(); ++i) {
        const bool isShown = i < fitting.steps.size();
        m_steps[i]->setVisible(isShown);
        if (!isShown)
            continue;
        const LadderStep &step = fitting.steps[i];
        m_steps[i]->setText(QStringLiteral("%1  %2").arg(i + 1).arg(QString::fromStdString(step.sentence)));
        m_steps[i]->setToolTip(tr("After it: %1 of %2 on the fullest GPU.")
                                   .arg(formatBytes(double(step.device)), formatBytes(double(step.capacity))));
    }
    m_adopt->setAccessibleName(tr("Fit this model: %n steps", nullptr, int(fitting.steps.size())));
}

} // namespace trainyard
