// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/job_offers.h"

#include "views/panels/part_row.h"
#include "views/parts/panel_parts.h"
#include "views/theme/theme.h"

#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

constexpr std::size_t kMostOffers = 6;

} // namespace

JobOffers::JobOffers(QWidget *parent)
    : QWidget(parent)
    , m_none(new TextLine(tr("Looking…"), Ink::Faint, this))
{
    setAccessibleName(tr("One GPU more"));
    m_none->setWrapped(true);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(new SectionTitle(tr("One GPU more"), tr("time of all jobs"), this));
    layout->addWidget(m_none);
    for (std::size_t i = 0; i < kMostOffers; ++i) {
        auto *row = new PartRow(int(i) + 1, this);
        row->hide();
        connect(row, &PartRow::applied, this, &JobOffers::editCommitted);
        connect(row, &PartRow::previewed, this, &JobOffers::editPreviewed);
        connect(row, &PartRow::previewEnded, this, &JobOffers::editCancelled);
        layout->addWidget(row);
        m_rows.push_back(row);
    }
}

void JobOffers::setAdvice(JobAdvicePtr advice)
{
    m_advice = std::move(advice);
    const std::size_t count = m_advice ? std::min(m_advice->oneMoreGpu.size(), kMostOffers) : 0;
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        m_rows[i]->setVisible(i < count);
        if (i < count)
            m_rows[i]->setPart(m_advice->oneMoreGpu[i], m_advice->makespan);
    }
    m_none->setText(m_advice ? tr("No pool of the plan can take another GPU for these jobs.") : tr("Looking…"));
    m_none->setVisible(count == 0);
    dim();
}

void JobOffers::setPlan(const PlanPtr &plan)
{
    m_plan = plan;
    dim();
}

void JobOffers::dim()
{
    for (PartRow *row : m_rows)
        row->setOutdated(m_advice && m_advice->plan != m_plan);
}

} // namespace trainyard
