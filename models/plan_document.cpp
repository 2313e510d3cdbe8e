// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/plan_document.h"

#include "models/plan_command.h"
#include "models/text/foreign_text.h"

#include <utility>

namespace trainyard {

PlanDocument::PlanDocument(PlanPtr plan, const QString &stateFolder, QObject *parent)
    : QObject(parent)
    , m_plan(std::move(plan))
    , m_saved(m_plan)
    , m_recovery(stateFolder)
{
    m_group.addStack(m_stack.get());
    m_group.setActiveStack(m_stack.get());
    connect(&m_group, &QUndoGroup::indexChanged, this, [this] {
        if (m_isExchanging)
            return; // the plan that is shown is not of this stack yet
        if (m_stack->count() > 0)
            keepWork();
        else // of another plan, as a rule, which is not shown yet
            QMetaObject::invokeMethod(this, &PlanDocument::keepWork, Qt::QueuedConnection);
    });
    connect(&m_store, &PlanStore::planArrived, this,
        [this](const QString &path) { emit replacing(path == m_readingAsNew || path != m_path); });
    connect(&m_store, &PlanStore::planRead, this, [this](const QString &path, const PlanPtr &read) {
        if (std::exchange(m_readingAgain, {}) == path) {
            m_saved = read;
            m_doesFileDiffer = false;
            apply(read, tr("Read again from its file"));
            updateModified();
            keepWork();
            return;
        }
        if (std::exchange(m_readingAsNew, {}) == path) {
            m_store.watch({});
            m_stack->clear();
            replace(read, read, {});
            return;
        }
        m_stack->clear();
        replace(read, read, path);
    });
    connect(&m_store, &PlanStore::planFoundInReport, this, [this](const QString &, const PlanPtr &read) {
        m_readingAsNew.clear();
        startNew(read);
    });
    connect(&m_store, &PlanStore::planWritten, this, [this](const QString &path, const PlanPtr &written) {
        m_saved = written;
        m_doesFileDiffer = false;
        if (m_plan == written)
            m_stack->setClean();
        if (std::exchange(m_path, path) != path)
            emit pathChanged(path);
        updateModified();
        keepWork();
        emit saved(path);
    });
    connect(&m_store, &PlanStore::readFailed, this, &PlanDocument::openFailed);
    connect(&m_store, &PlanStore::writeFailed, this, &PlanDocument::saveFailed);
    for (const auto signal : { &PlanStore::changedOnDisk, &PlanStore::removedOnDisk })
        connect(&m_store, signal, this, &PlanDocument::fileDiffers);
    connect(&m_store, &PlanStore::changedOnDisk, this, &PlanDocument::changedOnDisk);
    connect(&m_store, &PlanStore::removedOnDisk, this, &PlanDocument::removedOnDisk);
    connect(&m_store, &PlanStore::foreignChange, this, &PlanDocument::saveWouldOverwrite);
}

PlanDocument::~PlanDocument()
{
    m_group.disconnect(this); // it is emptied when it goes, which is no edit
    m_group.setActiveStack(nullptr); // stacks that others hold may outlive it
}

QString PlanDocument::displayName() const
{
    if (!m_plan->name.empty())
        return foreignText(QString::fromStdString(m_plan->name));
    return m_path.isEmpty() ? tr("Untitled plan") : fileText(m_path);
}

void PlanDocument::apply(PlanPtr next, const QString &text, const QString &mergeKey)
{
    if (!next || next == m_plan || *next == *m_plan) {
        endPreview();
        return;
    }
    m_stack->push(
        new PlanCommand(m_plan, std::move(next), text, mergeKey, [this](const PlanPtr &plan) { show(plan); }));
}

void PlanDocument::edit(const PlanPtr &next, const QString &text, const QString &mergeKey)
{
    if (m_trial) {
        if (!next || next == m_trial || *next == *m_trial) {
            endPreview();
            return;
        }
        const PlanPtr kept = next; // its owner may be a panel that adopting tells of another
        adoptTrial();
        apply(kept, text, mergeKey);
        return;
    }
    apply(next, text, mergeKey);
}

void PlanDocument::preview(PlanPtr next, const QString &text)
{
    if (!next || next == m_preview)
        return;
    m_preview = std::move(next);
    m_previewText = text;
    emit shownPlanChanged(m_preview, true);
}

void PlanDocument::endPreview()
{
    if (!m_preview)
        return;
    m_preview.reset();
    m_previewText.clear();
    emit shownPlanChanged(shownPlan(), isPreviewing());
}

void PlanDocument::tryPlan(PlanPtr trial, const QString &text)
{
    if (!trial || trial == m_trial)
        return;
    m_preview.reset();
    m_trial = std::move(trial);
    m_trialText = text;
    emit trialChanged(m_trial);
    emit shownPlanChanged(m_trial, true);
}

void PlanDocument::leaveTrial()
{
    if (!m_trial)
        return;
    m_preview.reset();
    forgetTrial();
    emit shownPlanChanged(m_plan, false);
}

void PlanDocument::adoptTrial()
{
    const PlanPtr trial = m_trial;
    const QString text = m_trialText;
    if (!trial)
        return;
    apply(trial, text);
    leaveTrial(); // where it is the plan as it was
}

void PlanDocument::forgetTrial()
{
    m_trialText.clear();
    if (std::exchange(m_trial, nullptr))
        emit trialChanged(nullptr);
}

void PlanDocument::show(const PlanPtr &plan)
{
    m_plan = plan;
    if (m_isRestoring)
        return;
    m_preview.reset();
    m_previewText.clear();
    forgetTrial();
    updateModified();
    emit planChanged(m_plan);
    emit shownPlanChanged(m_plan, false);
}

void PlanDocument::replace(const PlanPtr &plan, const PlanPtr &savedPlan, const QString &path)
{
    m_saved = savedPlan;
    m_doesFileDiffer = false;
    const bool hasNewPath = std::exchange(m_path, path) != path;
    show(plan);
    keepWork();
    if (hasNewPath)
        emit pathChanged(path);
    emit replaced(plan);
}

bool PlanDocument::isEdited() const
{
    return !m_saved || (m_saved != m_plan && *m_saved != *m_plan);
}

void PlanDocument::fileDiffers()
{
    m_doesFileDiffer = true;
    updateModified();
    keepWork();
}

void PlanDocument::updateModified()
{
    const bool isModified = m_doesFileDiffer || isEdited();
    if (std::exchange(m_isModified, isModified) != isModified)
        emit modifiedChanged(isModified);
}

void PlanDocument::keepWork()
{
    if (!m_isRestoring)
        m_recovery.keep(unsavedWorkOf(work()), m_variant);
}

void PlanDocument::startNew(PlanPtr plan)
{
    finishWriting();
    emit replacing(true);
    m_store.watch({});
    m_stack->clear();
    replace(plan, plan, {});
}

void PlanDocument::create(PlanPtr plan)
{
    finishWriting();
    emit replacing(true);
    m_store.watch({});
    m_stack->clear();
    replace(plan, nullptr, {});
}

PlanPtr PlanDocument::opening() const
{
    if (m_saved)
        return m_saved;
    return m_stack->count() > 0 ? static_cast<const PlanCommand *>(m_stack->command(0))->before() : m_plan;
}

void PlanDocument::open(const QString &path)
{
    m_readingAsNew.clear();
    m_readingAgain.clear();
    m_store.read(path);
}

void PlanDocument::openAsNew(const QString &path)
{
    m_readingAgain.clear();
    m_readingAsNew = path;
    m_store.read(path);
}

void PlanDocument::save()
{
    saveAs(m_path);
}

void PlanDocument::saveAs(const QString &path)
{
    if (!path.isEmpty())
        m_store.write(m_plan, path);
}

void PlanDocument::saveOver()
{
    if (!m_path.isEmpty())
        m_store.write(m_plan, m_path, PlanStore::Over::OtherContent);
}

void PlanDocument::restore(const RecoveredPlan &recovered)
{
    const UnsavedWork &work = recovered.work;
    finishWriting();
    emit replacing(work.path.isEmpty() || work.path != m_path || m_isModified);
    m_stack->clear();
    m_isRestoring = true;
    const auto push = [this, &work](std::size_t i) {
        const PlanPtr &before = i > 0 ? work.edits[i - 1].plan : work.start;
        m_stack->push(new PlanCommand(
            before, work.edits[i].plan, work.edits[i].text, {}, [this](const PlanPtr &plan) { show(plan); }));
    };
    for (std::size_t i = 0; i < work.edits.size(); ++i)
        push(i);
    m_stack->setIndex(work.done);
    m_isRestoring = false;
    const PlanPtr saved = work.saved < 0 ? nullptr
        : work.saved == 0                ? work.start
                                         : work.edits[std::size_t(work.saved) - 1].plan;
    replace(work.plan(), saved, work.path);
    if (!work.path.isEmpty())
        m_store.watch(work.path, work.known);
    else
        m_store.watch({});
    m_recovery.adopt(recovered);
}

} // namespace trainyard
