// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/run_lessons.h"

#include "views/parts/message_bar.h"
#include "views/run/calibration_card.h"
#include "views/run/plan_of_run_card.h"
#include "views/run/run_page.h"
#include "views/window/file_actions.h"
#include "views/window/workbench.h"

#include <utility>

namespace trainyard {

namespace {

const QString kOffer = QStringLiteral("plan of run");

} // namespace

RunLessons::RunLessons(const WindowModels &models, RunDocument &runs, RunPage &page, FileActions &files,
    MessageBar &messages, QObject *parent)
    : QObject(parent)
    , m_document(models.document)
    , m_runs(runs)
    , m_page(page)
    , m_files(files)
    , m_messages(messages)
    , m_calibration(runs, models.catalogue)
    , m_planOfRun(runs, models.document, models.catalogue)
    , m_card(new CalibrationCard(m_calibration, CalibrationCard::Shows::Everything))
    , m_own(new CalibrationCard(m_calibration, CalibrationCard::Shows::PlanOnly))
    , m_planCard(new PlanOfRunCard(m_planOfRun))
{
    page.addTab(m_card, tr("What the run teaches"));
    page.addTab(m_planCard, tr("Its plan"));
    page.addToInvitation(m_own);
    for (CalibrationCard *one : { m_card, m_own })
        connect(one, &CalibrationCard::editCommitted, this,
            [this](const PlanPtr &next, const QString &text) { m_document.apply(next, text); });
    for (const auto signal : { &PlanDocument::planChanged, &PlanDocument::replaced })
        connect(&m_document, signal, this, &RunLessons::showPlan);
    connect(m_planCard, &PlanOfRunCard::planRequested, this, &RunLessons::makePlan);
    connect(&m_runs, &RunDocument::runChanged, this, [this] { m_isNewRun = true; });
    connect(&m_files, &FileActions::runComesFirst, this, [this] { m_isPlanWanted = true; });
    connect(&m_planOfRun, &PlanOfRun::changed, this, [this] {
        offerPlan();
        emit changed();
    });
    connect(&m_calibration, &RunCalibration::canStartChanged, this, &RunLessons::changed);
    connect(&m_calibration, &RunCalibration::fittingChanged, this, &RunLessons::changed);
    showPlan();
}

void RunLessons::showPlan()
{
    m_card->setPlan(m_document.plan());
    m_own->setPlan(m_document.plan());
    m_own->setVisible(!m_document.plan()->calibration.empty());
}

void RunLessons::learn()
{
    emit pageRequested();
    m_page.showTab(m_card);
    m_calibration.start();
}

void RunLessons::makePlan()
{
    if (!m_planOfRun.found().plan)
        return;
    m_messages.dismiss(kOffer);
    m_files.startWith(m_planOfRun.found().plan); // what is shown stays as a variant
    emit pageRequested(); // it is seen beside its run
}

/// Said once a run: whoever closes the message knows it.
void RunLessons::offerPlan()
{
    const RunPtr &run = m_runs.run();
    if (m_isNewRun && run && tellsPlanAlone(*run)) {
        m_isNewRun = false;
        if (std::exchange(m_isPlanWanted, false) && m_planOfRun.isOffered())
            makePlan();
        else
            m_page.showTab(m_planCard); // all there is of it
        return;
    }
    if (std::exchange(m_isPlanWanted, false)) {
        m_isNewRun = false;
        if (m_planOfRun.isOffered())
            makePlan();
        else
            m_messages.show({ kOffer, Message::Tone::Info,
                tr("This run does not tell of its plan: what it is compared with is a sample."), {},
                { { tr("Open its plan…"), [this] { m_files.open(); } } } });
        return;
    }
    if (!m_planOfRun.isOffered()) {
        m_messages.dismiss(kOffer);
        return;
    }
    if (!std::exchange(m_isNewRun, false))
        return;
    const PlanOfRunFound &found = m_planOfRun.found();
    m_messages.show({ kOffer, Message::Tone::Info,
        tr("The run trained %1: another plan than the one in the window.").arg(m_planOfRun.found().summary),
        found.differences.isEmpty() ? QString()
                                    : tr("Plan → run: %1").arg(found.differences.join(QStringLiteral("; "))),
        { { tr("Make a plan of this run"), [this] { makePlan(); } }, { tr("What it takes"), [this] {
                                                                          emit pageRequested();
                                                                          m_page.showTab(m_planCard);
                                                                      } } } });
}

} // namespace trainyard
