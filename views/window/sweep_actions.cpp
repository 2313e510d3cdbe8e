// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/sweep_actions.h"

#include "models/plan_document.h"
#include "models/sample_plans.h"
#include "models/text/foreign_text.h"
#include "views/parts/message_bar.h"
#include "views/sweep/sweep_page.h"
#include "views/window/file_actions.h"

namespace trainyard {

SweepActions::SweepActions(PlanDocument &document, FileActions &files, MessageBar &messages, QObject *parent)
    : QObject(parent)
    , m_document(document)
    , m_messages(messages)
    , m_page(nullptr)
{
    m_page = new SweepPage(m_results);
    connect(&files, &FileActions::sweepDropped, this, &SweepActions::open);
    connect(&files, &FileActions::sweepAtStart, this, &SweepActions::openWithPlan);
    connect(m_page, &SweepPage::closed, this, &SweepActions::workbenchRequested);
    connect(m_page, &SweepPage::openRequested, &files, qOverload<>(&FileActions::open));
    connect(m_page, &SweepPage::tryRequested, this, &SweepActions::tryRow);
    connect(&m_results, &SweepResults::opened, this, [this] {
        if (const QString first = std::exchange(m_first, {}); !first.isEmpty())
            m_document.startNew(m_results.table()->spec.plan);
        Q_EMIT pageRequested();
    });
    connect(&m_results, &SweepResults::failed, this, [this](const QString &path, const Errors &errors) {
        QStringList lines;
        for (const Error &error : errors)
            lines << QString::fromStdString(toString(error));
        m_messages.show({ QStringLiteral("sweep"), Message::Tone::Error,
            tr("The sweep “%1” cannot be shown.").arg(fileText(path)), lines.join(u'\n'), {} });
        if (std::exchange(m_first, {}) == path) // the window would stay without a plan
            m_document.openAsNew(samplePath(kFirstSample));
    });
    connect(&m_document, &PlanDocument::trialChanged, this, [this](const PlanPtr &trial) {
        if (trial)
            m_hasTried = trial == m_tried;
    });
}

void SweepActions::open(const QString &path)
{
    m_messages.dismiss(QStringLiteral("sweep"));
    if (std::exchange(m_first, {}) == path)
        m_first = path;
    m_results.open(path);
}

void SweepActions::openWithPlan(const QString &path)
{
    m_first = path;
    open(path);
}

void SweepActions::tryRow(int row)
{
    const auto plan = m_results.plan(std::size_t(row));
    if (!plan) {
        m_messages.show({ QStringLiteral("sweep"), Message::Tone::Error, tr("Row %1 has no plan.").arg(row),
            QString::fromStdString(toString(plan.error().front())), {} });
        return;
    }
    m_tried = *plan;
    m_document.tryPlan(m_tried, tr("Sweep: %1").arg(m_results.valuesText(std::size_t(row))));
    Q_EMIT workbenchRequested();
}

} // namespace trainyard
