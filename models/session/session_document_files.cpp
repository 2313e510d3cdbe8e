// SPDX-License-Identifier: GPL-3.0-or-later
// The session's file: what is saved, what is opened, and what others have done to it.
#include "models/session/resting_internal.h"
#include "models/session/session_document.h"

#include <utility>

namespace trainyard {

Session SessionDocument::toSave() const
{
    Session session = m_session;
    if (m_view)
        session.view = m_view();
    return session;
}

void SessionDocument::open(const QString &path)
{
    if (m_store.isWriting())
        m_nextOpen = path; // what was saved is of this session
    else
        m_store.read(path);
}

void SessionDocument::saveAs(const QString &path)
{
    if (path.isEmpty())
        return;
    if (m_store.isWriting()) {
        m_nextPath = path;
        return;
    }
    m_store.write(toSave(), path);
}

void SessionDocument::takeOthers()
{
    if (!m_path.isEmpty())
        save();
}

/// All that was here goes: who calls it has asked about it.
void SessionDocument::take(const Session &session)
{
    m_works.clear();
    m_removed.reset();
    m_session = session;
    if (m_session.variants.empty())
        m_session = withVariant(std::move(m_session), m_document.plan(), m_document.displayName().toStdString());
    m_saved = m_session;
    const Variant *first = m_session.variant(m_session.baseline);
    m_current = first ? first->id : m_session.variants.front().id;
    m_isSwitching = true;
    for (const Variant &one : m_session.variants)
        if (one.id != m_current)
            m_works.emplace(one.id, resting(one.id, one.plan, one.plan));
    m_document.forgetUnsavedWork(); // whoever opened this has given it up
    m_isFileGone = false;
    m_document.exchange(resting(m_current, currentVariant().plan, currentVariant().plan), true);
    m_nameOfPlan.clear();
    m_isSwitching = false;
    emit currentChanged(m_current);
    noteChange();
}

/// The session's file holds them: they are where they can be read again, whatever the plan files have.
void SessionDocument::holdsPlansOf(const Session &asked)
{
    for (const Variant &one : asked.variants)
        if (one.id == m_current)
            m_document.holdElsewhere(one.plan);
        else if (const auto work = m_works.find(one.id); work != m_works.end())
            work->second.saved = one.plan;
    for (const auto &[id, work] : m_works)
        if (!work.isEdited())
            m_document.recovery().forget(keptAs(id));
}

/// What others did comes into what is here, which may have changed since it was written.
void SessionDocument::taken(const SessionMerge &merge, const Session &asked)
{
    if (merge.session != asked) {
        adopt(mergeSessions(asked, m_session, merge.session).session);
        if (!merge.theirs.empty())
            emit othersTaken(toTexts(merge.theirs), toTexts(merge.keptTwice));
    }
    noteChange();
}

void SessionDocument::adopt(const Session &next)
{
    const std::vector<Variant> before = m_session.variants;
    std::erase_if(m_session.variants, [&](const Variant &own) { return !next.variant(own.id); });
    if (!find(m_current)) { // it went: what stands first is shown
        m_session = next;
        const std::string gone = std::exchange(m_current, next.variants.front().id);
        const auto work = m_works.find(m_current);
        m_isSwitching = true;
        PlanWork shown = work != m_works.end() ? std::move(work->second)
                                               : resting(m_current, currentVariant().plan, currentVariant().plan);
        m_works.erase(m_current);
        const auto old = std::ranges::find(before, gone, &Variant::id);
        m_removed = Removed { *old, m_document.exchange(std::move(shown)), std::size_t(old - before.begin()), false };
        m_isSwitching = false;
        emit currentChanged(m_current);
    }
    for (const Variant &one : next.variants) {
        if (one.id == m_current) {
            if (areSamePlan(m_document.plan(), one.plan))
                continue;
            m_document.apply(one.plan, tr("As another program has it"));
            m_document.holdElsewhere(one.plan);
            continue;
        }
        const auto work = m_works.find(one.id);
        if (work == m_works.end())
            m_works.emplace(one.id, resting(one.id, one.plan, one.plan));
        else if (!areSamePlan(work->second.plan, one.plan))
            m_document.amend(work->second, one.plan, tr("As another program has it"));
    }
    std::erase_if(m_works, [&](const auto &one) { return !next.variant(one.first); });
    m_session = next;
    for (Variant &one : m_session.variants) // the same plans as they are shown
        one.plan = one.id == m_current ? m_document.plan() : m_works.find(one.id)->second.plan;
}

} // namespace trainyard
