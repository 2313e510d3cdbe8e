// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/why_panel.h"

#include "core/base/words.h"
#include "models/text/format.h"
#include "views/panels/breakdown_bar.h"
#include "views/panels/critical_path_text.h"
#include "views/panels/effect_text.h"
#include "views/panels/expert_text.h"
#include "views/panels/part_row.h"
#include "views/parts/panel_parts.h"
#include "views/theme/theme.h"

#include <QKeyEvent>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

namespace {

constexpr std::size_t kShownParts = 6;

} // namespace

WhyPanel::WhyPanel(QWidget *parent)
    : QWidget(parent)
    , m_path(new TextLine({}, Ink::Muted, this))
    , m_empty(new TextLine({}, Ink::Faint, this))
    , m_experts(new TextLine({}, Ink::Muted, this))
    , m_bar(new BreakdownBar(this))
    , m_list(new QVBoxLayout)
    , m_retiredList(new QVBoxLayout)
    , m_retiredTitle(new SectionTitle(tr("GPUs to retire"), tr("effect if applied"), this))
{
    setFont(uiFont(-1));
    setAccessibleName(tr("Why"));
    QVBoxLayout *layout = panelLayout(this);
    auto *heading = new PanelHeading({}, {}, this);
    m_heading = heading->title;
    m_path->setWrapped(true);
    m_empty->setWrapped(true);
    m_experts->setWrapped(true);
    m_experts->setObjectName(QStringLiteral("expertExchange"));
    m_list->setSpacing(4);
    m_retiredList->setSpacing(4);
    layout->addWidget(heading);
    layout->addWidget(m_bar);
    layout->addWidget(m_experts);
    layout->addWidget(new SectionTitle(tr("What a better part would buy"), tr("effect if applied"), this));
    layout->addLayout(m_list);
    layout->addWidget(m_empty);
    layout->addWidget(m_retiredTitle);
    layout->addLayout(m_retiredList);
    layout->addWidget(m_path);
    layout->addStretch(1);
    connect(m_bar, &BreakdownBar::partsChosen, this, &WhyPanel::partsChosen);
    setShown({});
    showParts();
}

void WhyPanel::setShown(const Shown &shown)
{
    if (std::exchange(m_plan, shown.base) != shown.base) {
        m_isPreviewing = false;
        showParts();
    }
    if (std::exchange(m_evaluation, shown.evaluation) == shown.evaluation && !m_heading->text().isEmpty())
        return; // the moment after an edit
    const bool known = m_evaluation && m_evaluation->metrics.iterationTime;
    m_heading->setText(known ? tr("Where the %1 go").arg(formatSeconds(*m_evaluation->metrics.iterationTime))
                             : tr("Where the time goes"));
    const QString exchange = m_evaluation ? exposedExchange(m_evaluation->metrics) : QString();
    m_bar->setBreakdown(m_evaluation ? m_evaluation->metrics.breakdown : std::nullopt, exchange);
    m_experts->setText(exchange.isEmpty() ? exchange : exchange + u'.');
    m_experts->setVisible(!exchange.isEmpty());
    m_bar->setVisible(!m_bar->parts().empty());
    const QString path = m_evaluation ? criticalPathSentence(*m_evaluation) : QString();
    m_path->setText(path);
    m_path->setVisible(!path.isEmpty());
}

void WhyPanel::setEffects(EffectTablePtr effects)
{
    m_effects = std::move(effects);
    showParts();
}

void WhyPanel::setChosen(std::vector<BreakdownPart> parts)
{
    m_bar->setChosen(std::move(parts));
}

void WhyPanel::keyPressEvent(QKeyEvent *event)
{
    if (event->key() != Qt::Key_Escape || m_bar->chosen().empty())
        return QWidget::keyPressEvent(event);
    Q_EMIT partsChosen({});
}

void WhyPanel::setStale(bool stale)
{
    m_bar->setDimmed(stale);
    m_path->setDimmed(stale);
    m_experts->setDimmed(stale);
}

QString WhyPanel::toTsv() const
{
    QString text = m_bar->toTsv() + tr("\nbetter part\tchange\titeration s\tbecause\n");
    const auto add = [&text](const std::vector<RankedPart> &parts) {
        for (const RankedPart &part : parts)
            text += QString::fromStdString(part.part.label) + u'\t' + effectText(part.effect).text + u'\t'
                + (part.effect.iterationTime ? QString::number(*part.effect.iterationTime, 'g', 9) : QString()) + u'\t'
                + becauseText(part.effect) + u'\n';
    };
    if (m_effects) {
        add(m_effects->parts);
        add(m_effects->retired);
    }
    return text;
}

void WhyPanel::setOutdated(bool isOutdated)
{
    m_isOutdated = isOutdated;
    for (const auto *rows : { &m_rows, &m_retired })
        for (PartRow *row : *rows)
            row->setOutdated(isOutdated || (m_plan && m_effects && m_effects->plan != m_plan));
}

void WhyPanel::showRows(std::vector<PartRow *> &rows, QVBoxLayout *list, const std::vector<RankedPart> &parts)
{
    const std::size_t count = std::min(kShownParts, parts.size());
    while (rows.size() < count) {
        auto *row = new PartRow(int(rows.size()) + 1, this);
        connect(row, &PartRow::applied, this, &WhyPanel::editCommitted);
        connect(row, &PartRow::previewed, this, [this](PlanPtr next, QString text) {
            m_isPreviewing = true;
            Q_EMIT editPreviewed(std::move(next), std::move(text));
        });
        connect(row, &PartRow::previewEnded, this, [this] {
            if (std::exchange(m_isPreviewing, false))
                showParts();
            Q_EMIT editCancelled();
        });
        list->addWidget(row);
        rows.push_back(row);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i]->setVisible(i < count);
        rows[i]->setEnabled(m_effects && (!m_plan || m_effects->plan == m_plan));
        rows[i]->setOutdated(m_isOutdated || (m_plan && m_effects && m_effects->plan != m_plan));
        if (i < count)
            rows[i]->setPart(parts[i], m_effects->iterationTime);
    }
}

void WhyPanel::showParts()
{
    if (m_isPreviewing)
        return;
    static const std::vector<RankedPart> none;
    const std::vector<RankedPart> &retired = m_effects ? m_effects->retired : none;
    showRows(m_rows, m_list, m_effects ? m_effects->parts : none);
    showRows(m_retired, m_retiredList, retired);
    m_retiredTitle->setVisible(!retired.empty());
    const std::size_t count = m_effects ? std::min(kShownParts, m_effects->parts.size()) : 0;
    const bool searching = !m_effects || !m_effects->complete;
    const auto leftOut = m_effects ? m_effects->partsLeftOut : 0;
    const QString further =
        leftOut > 0 ? tr("%L1 further parts, of datacenters without a stage, were not tried.").arg(leftOut) : QString();
    m_empty->setText(count > 0                             ? further
            : m_effects && !m_effects->notCompared.empty() ? QString::fromStdString(asSentence(m_effects->notCompared))
            : searching                                    ? tr("Trying better links, nodes and GPUs…")
            : m_plan && hasJobs(*m_plan) ? tr("No single better part would have all jobs done sooner.")
                                         : tr("No single better part would make the iteration shorter."));
    m_empty->setVisible(!m_empty->text().isEmpty());
}

} // namespace trainyard
