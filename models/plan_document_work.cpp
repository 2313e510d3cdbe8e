// SPDX-License-Identifier: GPL-3.0-or-later
// Work that changes hands: from variant to variant, and to recovery.
#include "models/plan_command.h"
#include "models/plan_document.h"

#include <utility>

namespace trainyard {

UnsavedWork unsavedWorkOf(const PlanWork &work)
{
    UnsavedWork kept;
    kept.start = work.plan;
    kept.path = work.path;
    kept.known = work.known;
    kept.about = work.about;
    kept.isClean = work.about.isEmpty() && !work.isModified();
    const int count = work.edits ? work.edits->count() : 0;
    kept.edits.reserve(std::size_t(count));
    for (int i = 0; i < count; ++i) {
        const auto *step = static_cast<const PlanCommand *>(work.edits->command(i));
        if (i == 0) {
            kept.start = step->before();
            kept.saved = kept.start == work.saved ? 0 : -1;
        }
        kept.edits.push_back({ step->text(), step->after() });
        if (step->after() == work.saved)
            kept.saved = i + 1;
    }
    kept.done = work.edits ? work.edits->index() : 0;
    return kept;
}

PlanWork PlanDocument::work() const
{
    return { m_plan, m_saved, m_path, m_store.known(), m_doesFileDiffer, m_stack, m_variant, m_about };
}

PlanWork PlanDocument::leaveWork(const QString &variant)
{
    PlanWork old = work();
    m_isExchanging = true;
    m_variant = variant;
    m_about.clear();
    m_group.removeStack(m_stack.get());
    m_stack = std::make_shared<QUndoStack>();
    m_group.addStack(m_stack.get());
    m_group.setActiveStack(m_stack.get());
    m_isExchanging = false;
    return old;
}

void PlanDocument::holdElsewhere(const PlanPtr &plan)
{
    m_saved = plan;
    if (m_plan == plan)
        m_stack->setClean();
    updateModified();
    keepWork();
}

PlanWork PlanDocument::exchange(PlanWork next, bool isReplacement)
{
    PlanWork old = work();
    m_readingAsNew.clear();
    m_readingAgain.clear();
    m_isExchanging = true;
    m_variant = next.variant;
    m_about = next.about;
    m_saved = next.saved;
    m_doesFileDiffer = next.doesFileDiffer;
    m_stack = next.edits ? std::move(next.edits) : std::make_shared<QUndoStack>();
    m_group.removeStack(old.edits.get());
    m_group.addStack(m_stack.get());
    if (next.path.isEmpty())
        m_store.watch({});
    else
        m_store.watch(next.path, next.known);
    const bool hasNewPath = std::exchange(m_path, next.path) != next.path;
    show(next.plan);
    m_group.setActiveStack(m_stack.get());
    m_isExchanging = false;
    keepWork();
    if (hasNewPath)
        emit pathChanged(m_path);
    emit exchanged(m_plan);
    if (isReplacement)
        emit replaced(m_plan);
    return old;
}

void PlanDocument::amend(PlanWork &work, const PlanPtr &next, const QString &text)
{
    const PlanPtr own = m_plan;
    if (!work.edits)
        work.edits = std::make_shared<QUndoStack>();
    m_isRestoring = true; // it is not shown
    work.edits->push(new PlanCommand(work.plan, next, text, {}, [this](const PlanPtr &plan) { show(plan); }));
    m_isRestoring = false;
    m_plan = own;
    work.plan = next;
    work.saved = next;
    m_recovery.keep(unsavedWorkOf(work), work.variant);
}

void PlanDocument::setAbout(const QString &about)
{
    if (std::exchange(m_about, about) != about)
        keepWork();
}

void PlanDocument::readAgain()
{
    m_readingAsNew.clear();
    m_readingAgain = m_path;
    m_store.read(m_path);
}

} // namespace trainyard
