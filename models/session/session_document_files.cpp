// SPDX-License-Identifier: GPL-3.0-or-later
// The session's file: what is saved, what is opened, and what others have done to it.
#include "models/session/resting_internal.h"
#include "models/session/session_document.h"

#include <QDateTime>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
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

void SessionDocument::keepAbout(bool isKept)
{
    QJsonArray decisions;
    if (isKept)
        for (const Decision &one : m_session.decisions)
            decisions.append(QJsonObject { { QStringLiteral("at"), QString::fromStdString(one.at) },
                { QStringLiteral("text"), QString::fromStdString(one.text) },
                { QStringLiteral("variant"), QString::fromStdString(one.variant) } });
    int place = 0;
    for (const Variant &one : m_session.variants) {
        const QJsonObject object { { QStringLiteral("id"), QString::fromStdString(one.id) },
            { QStringLiteral("place"), place++ }, { QStringLiteral("baseline"), one.id == m_session.baseline },
            { QStringLiteral("shown"), one.id == m_current },
            { QStringLiteral("name"), QString::fromStdString(one.name) },
            { QStringLiteral("note"), QString::fromStdString(one.note) },
            { QStringLiteral("color"), QString::fromStdString(one.color) },
            { QStringLiteral("decisions"), decisions } };
        const QString about =
            isKept ? QString::fromUtf8(QJsonDocument(object).toJson(QJsonDocument::Compact)) : QString();
        if (one.id == m_current) {
            m_document.setAbout(about);
        } else if (const auto work = m_works.find(one.id); work != m_works.end() && work->second.about != about) {
            work->second.about = about;
            m_document.recovery().keep(unsavedWorkOf(work->second), work->second.variant);
        }
    }
}

void SessionDocument::takeAbout(const QString &about)
{
    const QJsonObject object = QJsonDocument::fromJson(about.toUtf8()).object();
    const auto textOf = [](const QJsonObject &of, const char *key) {
        return of[QLatin1String(key)].toString().toStdString();
    };
    if (object.isEmpty())
        return;
    Variant *variant = find(m_current);
    if (const std::string name = textOf(object, "name"); !name.empty()) {
        variant->name.clear();
        variant->name = withVariant(m_session, variant->plan, name).variants.back().name; // told from the others
    }
    variant->note = textOf(object, "note");
    variant->color = textOf(object, "color");
    const QJsonArray decisions = object[QStringLiteral("decisions")].toArray();
    for (const QJsonValue &value : decisions) {
        const QJsonObject one = value.toObject();
        const std::string own = textOf(one, "variant");
        const Decision decision { textOf(one, "at"), textOf(one, "text"), own == textOf(object, "id") ? m_current : own,
            {} };
        const auto known = std::ranges::find_if(m_session.decisions,
            [&](const Decision &other) { return other.at == decision.at && other.text == decision.text; });
        if (known == m_session.decisions.end())
            m_session.decisions.push_back(decision);
        else if (own == textOf(object, "id"))
            known->variant = m_current;
    }
    std::ranges::stable_sort(m_session.decisions, {}, &Decision::at);
    noteChange();
}

void SessionDocument::restore(std::vector<RecoveredPlan> meeting)
{
    const auto aboutOf = [](const RecoveredPlan &one) {
        return QJsonDocument::fromJson(one.work.about.toUtf8()).object();
    };
    std::ranges::stable_sort(
        meeting, {}, [&](const RecoveredPlan &one) { return aboutOf(one)[QStringLiteral("place")].toInt(); });
    std::string baseline, shown;
    QDateTime newest;
    bool isTold = false; // which one was shown: of journals of one moment the newest is none
    for (const RecoveredPlan &one : meeting) {
        m_document.restore(one);
        m_keepsAll = true;
        takeAbout(one.work.about);
        if (aboutOf(one)[QStringLiteral("baseline")].toBool())
            baseline = m_current;
        const bool wasShown = aboutOf(one)[QStringLiteral("shown")].toBool();
        if (wasShown == isTold && newest.isValid() && one.when <= newest)
            continue;
        if (isTold && !wasShown)
            continue;
        isTold = wasShown;
        newest = one.when;
        shown = m_current;
    }
    m_keepsAll = false;
    if (m_session.baseline.empty())
        setBaseline(baseline);
    show(shown);
}

} // namespace trainyard
