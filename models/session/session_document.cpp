// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/session_document.h"

#include "models/session/resting_internal.h"

#include "models/text/foreign_text.h"

#include <QDateTime>
#include <QFileInfo>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

std::string nowInUtc()
{
    return QDateTime::currentDateTimeUtc().toString(Qt::ISODate).toStdString();
}

} // namespace

SessionDocument::SessionDocument(PlanDocument &document, QObject *parent)
    : QObject(parent)
    , m_document(document)
{
    startAlone();
    connect(&document, &PlanDocument::replacing, this, &SessionDocument::makeRoom);
    connect(&document, &PlanDocument::replaced, this, &SessionDocument::replaced);
    connect(&document, &PlanDocument::planChanged, this, [this](const PlanPtr &plan) {
        if (m_isSwitching)
            return;
        Variant *variant = find(m_current);
        variant->plan = plan;
        if (!isMeeting() && variant->name == m_nameOfPlan)
            variant->name = m_nameOfPlan = m_document.displayName().toStdString();
        noteChange();
    });
    connect(&document, &PlanDocument::modifiedChanged, this, &SessionDocument::noteChange);
    connect(&document, &PlanDocument::saved, this, &SessionDocument::noteChange);
    connect(&m_store, &SessionStore::sessionRead, this, [this](const QString &path, const Session &session) {
        m_path = path;
        take(session);
        emit opened(path);
        emit viewRead(session.view);
    });
    connect(&m_store, &SessionStore::sessionWritten, this,
        [this](const QString &path, const SessionMerge &merge, const Session &asked) {
            m_path = path;
            m_saved = merge.session;
            m_isFileGone = false;
            holdsPlansOf(asked);
            taken(merge, asked);
            if (!m_nextPath.isEmpty()) { // it is saved when what came since is, too
                saveAs(std::exchange(m_nextPath, {}));
                return;
            }
            emit saved(path);
            if (!m_nextOpen.isEmpty())
                open(std::exchange(m_nextOpen, {}));
        });
    connect(&m_store, &SessionStore::readFailed, this, &SessionDocument::openFailed);
    connect(&m_store, &SessionStore::writeFailed, this, [this](const QString &path, const Errors &errors) {
        m_nextPath.clear();
        m_nextOpen.clear();
        emit saveFailed(path, errors);
    });
    connect(&m_store, &SessionStore::changedByOthers, this, [this](const Session &theirs) {
        const QStringList what = toTexts(changesOf(m_store.known(), theirs));
        if (!what.isEmpty()) // another view is nothing to tell
            emit changedByOthers(what);
    });
    connect(&m_store, &SessionStore::removedByOthers, this, [this] {
        m_isFileGone = true;
        noteChange();
        emit removedByOthers(m_path);
    });
}

SessionDocument::~SessionDocument() = default;

void SessionDocument::startAlone()
{
    m_session = withVariant({}, m_document.plan(), m_document.displayName().toStdString());
    m_current = m_session.variants.front().id;
    m_nameOfPlan = m_session.variants.front().name;
    m_saved = m_session;
}

Variant *SessionDocument::find(const std::string &id)
{
    const auto found = std::ranges::find(m_session.variants, id, &Variant::id);
    return found == m_session.variants.end() ? nullptr : &*found;
}

bool SessionDocument::isMeeting() const
{
    return m_session.variants.size() > 1 || !m_session.decisions.empty() || !m_path.isEmpty()
        || !m_session.variants.front().note.empty();
}

bool SessionDocument::isModified() const
{
    if (!m_path.isEmpty()) {
        // Their views are the files': another zoom is nothing that would be lost.
        return m_isFileGone || m_session.variants != m_saved.variants || m_session.baseline != m_saved.baseline
            || m_session.decisions != m_saved.decisions || m_session.kept != m_saved.kept;
    }
    if (m_document.isModified() || !m_session.decisions.empty())
        return true;
    return std::ranges::any_of(m_works, [](const auto &one) { return one.second.isModified(); })
        || std::ranges::any_of(m_session.variants, [](const Variant &one) { return !one.note.empty(); });
}

std::string SessionDocument::variantOf(const QString &planPath) const
{
    const QString wanted = QFileInfo(planPath).absoluteFilePath();
    const auto isIt = [&](const QString &path) {
        return !path.isEmpty() && QFileInfo(path).absoluteFilePath() == wanted;
    };
    if (isIt(m_document.path()))
        return m_current;
    const auto found = std::ranges::find_if(m_works, [&](const auto &one) { return isIt(one.second.path); });
    return found == m_works.end() ? std::string() : found->first;
}

QStringList SessionDocument::unsavedNames() const
{
    if (!m_path.isEmpty())
        return isModified() ? QStringList(displayName()) : QStringList();
    QStringList names;
    for (const Variant &one : m_session.variants) {
        const auto work = m_works.find(one.id);
        const bool isEdited =
            one.id == m_current ? m_document.isModified() : work != m_works.end() && work->second.isModified();
        if (isEdited || !one.note.empty())
            names << (one.id == m_current && !isMeeting() ? m_document.displayName()
                                                          : QString::fromStdString(one.name));
    }
    return names.isEmpty() && isModified() ? QStringList(displayName()) : names;
}

QString SessionDocument::displayName() const
{
    return m_path.isEmpty() ? QString::fromStdString(currentVariant().name)
                            : fileText(QString(m_path).remove(QStringLiteral(".trainyard-session")));
}

std::string SessionDocument::branch(const QString &name)
{
    settle();
    const PlanPtr plan = m_document.basePlan();
    const std::string wanted = name.isEmpty() ? currentVariant().name : name.toStdString();
    if (m_session.variants.size() == 1 && m_session.baseline.empty())
        m_session.baseline = m_current;
    m_document.leaveTrial();
    const std::string id = add(plan, QString::fromStdString(wanted));
    show(id);
    return id;
}

std::string SessionDocument::add(const PlanPtr &plan, const QString &name)
{
    std::vector<std::string> known;
    for (const Variant &one : m_session.variants)
        known.push_back(one.id);
    m_session = withVariant(std::move(m_session), plan, name.toStdString(), m_current);
    const auto added = std::ranges::find_if(
        m_session.variants, [&](const Variant &one) { return std::ranges::find(known, one.id) == known.end(); });
    std::string id = added->id;
    m_works.emplace(id, resting(id, plan, nullptr)); // nowhere but here
    m_document.recovery().keep({ .start = plan }, keptAs(id));
    noteChange();
    return id;
}

void SessionDocument::settle()
{
    if (m_commit)
        m_commit();
    m_document.finishWriting();
}

void SessionDocument::show(const std::string &id)
{
    if (id == m_current || !m_works.contains(id))
        return;
    settle();
    const auto next = m_works.find(id);
    if (id == m_current || next == m_works.end())
        return;
    m_isSwitching = true;
    PlanWork work = std::move(next->second);
    m_works.erase(next);
    const std::string left = std::exchange(m_current, id);
    m_works.emplace(left, m_document.exchange(std::move(work)));
    m_isSwitching = false;
    emit currentChanged(id);
    noteChange();
}

void SessionDocument::showNext(int step)
{
    const int count = int(m_session.variants.size());
    const auto at = std::ranges::find(m_session.variants, m_current, &Variant::id) - m_session.variants.begin();
    show(std::string(m_session.variants[std::size_t(((int(at) + step) % count + count) % count)].id));
}

void SessionDocument::rename(const std::string &id, const QString &name)
{
    Variant *variant = find(id);
    const std::string text = name.simplified().toStdString();
    if (!variant || text.empty() || variant->name == text)
        return;
    variant->name = text;
    noteChange();
}

void SessionDocument::setColor(const std::string &id, const QString &color)
{
    Variant *variant = find(id);
    if (!variant || variant->color == color.toStdString())
        return;
    variant->color = color.toStdString();
    noteChange();
}

void SessionDocument::setNote(const std::string &id, const QString &note)
{
    Variant *variant = find(id);
    if (!variant || variant->note == note.toStdString())
        return;
    variant->note = note.toStdString();
    noteChange();
}

void SessionDocument::move(const std::string &id, int place)
{
    auto &all = m_session.variants;
    const auto from = std::ranges::find(all, id, &Variant::id) - all.begin();
    const auto to = std::clamp<std::ptrdiff_t>(place, 0, std::ptrdiff_t(all.size()) - 1);
    if (from == std::ptrdiff_t(all.size()) || from == to)
        return;
    if (from < to)
        std::rotate(all.begin() + from, all.begin() + from + 1, all.begin() + to + 1);
    else
        std::rotate(all.begin() + to, all.begin() + from, all.begin() + from + 1);
    noteChange();
}

void SessionDocument::remove(const std::string &id)
{
    if (!find(id) || m_session.variants.size() < 2)
        return;
    settle();
    if (id == m_current) {
        const bool isFirst = m_session.variants.front().id == id;
        showNext(isFirst ? 1 : -1);
    }
    const auto at = std::size_t(std::ranges::find(m_session.variants, id, &Variant::id) - m_session.variants.begin());
    const auto work = m_works.find(id);
    m_removed = Removed { m_session.variants[at], std::move(work->second), at, m_session.baseline == id };
    m_works.erase(work);
    m_document.recovery().forget(keptAs(id));
    m_session = withoutVariant(std::move(m_session), std::string(id));
    noteChange();
}

void SessionDocument::restoreRemoved()
{
    if (!m_removed)
        return;
    Removed back = *std::exchange(m_removed, std::nullopt);
    if (find(back.variant.id)) { // given again meanwhile
        back.variant.id = withVariant(m_session, back.variant.plan, back.variant.name).variants.back().id;
        back.work.variant = keptAs(back.variant.id);
    }
    m_document.recovery().keep(unsavedWorkOf(back.work), back.work.variant);
    const auto place = std::ptrdiff_t(std::min(back.place, m_session.variants.size()));
    if (back.wasBaseline && m_session.baseline.empty())
        m_session.baseline = back.variant.id;
    m_works.emplace(back.variant.id, std::move(back.work));
    m_session.variants.insert(m_session.variants.begin() + place, std::move(back.variant));
    noteChange();
}

void SessionDocument::setBaseline(const std::string &id)
{
    if (m_session.baseline == id || (!id.empty() && !find(id)))
        return;
    m_session.baseline = id;
    noteChange();
}

void SessionDocument::decide(const QString &text, const std::string &id)
{
    if (text.simplified().isEmpty())
        return;
    m_session.decisions.push_back({ nowInUtc(), text.simplified().toStdString(), id, {} });
    noteChange();
}

void SessionDocument::removeDecision(std::size_t index)
{
    if (index >= m_session.decisions.size())
        return;
    m_session.decisions.erase(m_session.decisions.begin() + std::ptrdiff_t(index));
    noteChange();
}

/// A plan that exists elsewhere as well, alone and untouched, makes room; everything else stays as a variant.
void SessionDocument::makeRoom(bool isNew)
{
    const bool isUntouched = !m_keepsAll && !isMeeting() && !m_document.isModified() && m_document.path().isEmpty();
    if (!isNew || isUntouched)
        return;
    m_nameOfPlan = "…"; // until replaced() tells
    m_session = withVariant(std::move(m_session), m_document.plan(), m_nameOfPlan, m_current);
    const auto at = std::ranges::find(m_session.variants, m_current, &Variant::id) + 1;
    const std::string left = std::exchange(m_current, at->id);
    m_works.emplace(left, m_document.leaveWork(keptAs(m_current)));
}

void SessionDocument::replaced(const PlanPtr &plan)
{
    Variant *variant = find(m_current);
    if (m_isSwitching)
        return; // a session's, which has its names
    variant->plan = plan;
    if (variant->name == m_nameOfPlan) {
        variant->name.clear(); // its own name does not stand in its way
        const Session named = withVariant(m_session, plan, m_document.displayName().toStdString());
        variant->name = m_nameOfPlan = named.variants.back().name;
    }
    if (!isMeeting())
        m_saved = m_session;
    emit currentChanged(m_current);
    noteChange();
}

void SessionDocument::noteChange()
{
    const bool now = isModified();
    keepAbout(isMeeting() && now);
    if (std::exchange(m_isModified, now) != now)
        emit modifiedChanged(now);
    emit changed();
}

} // namespace trainyard
