// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/recovery.h"

#include "models/journal.h"
#include "models/left_work.h"
#include "models/text/foreign_text.h"
#include "models/text/format.h"

#include <QDir>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>
#include <QUuid>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <utility>

namespace trainyard {

namespace {

constexpr int kHungMs = 5'000;

} // namespace

QStringList unsavedEdits(const UnsavedWork &work)
{
    QStringList texts;
    for (int i = std::max(0, work.saved); i < work.done; ++i)
        texts << work.edits[std::size_t(i)].text;
    return texts;
}

QString nameOf(const RecoveredPlan &recovered)
{
    const UnsavedWork &work = recovered.work;
    const QString own = QJsonDocument::fromJson(work.about.toUtf8()).object()[QStringLiteral("name")].toString();
    const QString title = foreignText(own.isEmpty() ? QString::fromStdString(work.plan()->name) : own);
    return title.isEmpty() ? fileText(work.path) : title;
}

namespace {

/// "… was open with 2 unsaved edits of 14:05 when …"
QString openSentence(const QString &what, qsizetype edits, const QDateTime &when, bool isDamaged)
{
    const QString changes = edits > 0 ? countOf(edits, QObject::tr("unsaved edit"), QObject::tr("unsaved edits"))
                                      : QObject::tr("unsaved changes");
    const QString damaged = QObject::tr(" What was kept later is damaged.");
    return QObject::tr("%1 was open with %2 of %3 when Trainyard ended unexpectedly.")
               .arg(what, changes, QLocale().toString(when, QLocale::ShortFormat))
        + (isDamaged ? damaged : QString());
}

} // namespace

QString describe(const RecoveredPlan &recovered)
{
    const QString name = nameOf(recovered);
    return openSentence(name.isEmpty() ? QObject::tr("A plan") : QObject::tr("“%1”").arg(name),
        unsavedEdits(recovered.work).size(), recovered.when, recovered.isDamaged);
}

QString describe(const std::vector<RecoveredPlan> &meeting)
{
    QStringList names;
    qsizetype edits = 0;
    QDateTime newest;
    bool isDamaged = false;
    for (const RecoveredPlan &one : meeting) {
        names << QObject::tr("“%1”").arg(nameOf(one));
        edits += unsavedEdits(one.work).size();
        newest = newest.isValid() ? std::max(newest, one.when) : one.when;
        isDamaged |= one.isDamaged;
    }
    const QString last = names.isEmpty() ? QString() : names.takeLast();
    return openSentence(QObject::tr("A meeting of %1 variants, %2 and %3,")
                            .arg(meeting.size())
                            .arg(names.join(QStringLiteral(", ")), last),
        edits, newest, isDamaged);
}

/// What goes to the background, and how far it has come there.
struct Recovery::Writing {
    explicit Writing(const QString &file)
        : journal(file)
    {
    }
    /// In the background: brings what waits to disk.
    Expected<void> write()
    {
        std::unique_lock lock(mutex);
        const Journal::Changes changes = std::exchange(waiting, {});
        const std::uint64_t reached = told;
        lock.unlock();
        if (!changes.empty())
            result = journal.keep(changes);
        lock.lock();
        written = reached;
        lock.unlock();
        isWritten.notify_all();
        return result;
    }

    std::mutex mutex;
    std::condition_variable isWritten;
    /// by variant, the newest alone
    Journal::Changes waiting;
    /// how often anything was told, and up to where that was written
    std::uint64_t told = 0, written = 0;
    /// of the background alone
    Journal journal;
    Expected<void> result;
};

Recovery::Recovery(QString folder, QObject *parent)
    : QObject(parent)
    , m_folder(std::move(folder))
{
    if (m_folder.isEmpty())
        return;
    m_file = QDir(m_folder).filePath(QUuid::createUuid().toString(QUuid::WithoutBraces) + kJournalSuffix);
    m_writing = std::make_shared<Writing>(m_file);
}

Recovery::~Recovery()
{
    if (m_writing)
        m_queue.run([writing = m_writing] { writing->journal.close(); });
}

void Recovery::keep(UnsavedWork work, const QString &variant)
{
    if (!m_writing)
        return;
    awaitEarlier();
    m_variants << variant;
    put(variant, std::move(work));
}

void Recovery::forget(const QString &variant)
{
    if (m_variants.remove(variant))
        put(variant, std::nullopt);
}

void Recovery::forget()
{
    for (const QString &variant : std::exchange(m_variants, {}))
        put(variant, std::nullopt);
}

void Recovery::put(const QString &variant, std::optional<UnsavedWork> work)
{
    {
        const std::scoped_lock lock(m_writing->mutex);
        m_writing->waiting.insert_or_assign(variant, std::move(work));
        ++m_writing->told;
    }
    m_queue.run(
        this, [writing = m_writing] { return writing->write(); },
        [this](const Expected<void> &result) {
            if (result)
                m_isWarned = false;
            else
                warnOnce(QString::fromStdString(toString(result.error())));
        });
}

void Recovery::awaitEarlier()
{
    std::unique_lock lock(m_writing->mutex);
    const auto isOnDisk = [this] { return m_writing->written == m_writing->told; };
    const auto wait = m_late.isValid() ? std::chrono::milliseconds(0) : m_longestWait;
    if (m_writing->isWritten.wait_for(lock, wait, isOnDisk))
        m_late.invalidate();
    else if (!m_late.isValid())
        m_late.start();
    lock.unlock();
    if (m_late.isValid() && m_late.hasExpired(kHungMs))
        warnOnce(tr("%1: the disk does not answer.").arg(QFileInfo(m_file).absolutePath()));
}

void Recovery::warnOnce(const QString &reason)
{
    if (!std::exchange(m_isWarned, true))
        emit warned(tr("Edits are not kept for recovery after a crash. %1").arg(reason));
}

void Recovery::flush()
{
    m_queue.wait();
    m_search.wait();
}

void Recovery::search()
{
    if (!m_writing)
        return;
    m_search.run(
        this, [folder = m_folder, own = m_file] { return readLeft(folder, own); },
        [this](const LeftWork &left) {
            tell(left.plans);
            for (const QString &file : left.unreadable)
                emit warned(tr("Unsaved edits cannot be recovered: “%1” is damaged.").arg(file));
        });
}

/// Variants of one meeting are told at once, where the newest of them stands.
void Recovery::tell(const std::vector<RecoveredPlan> &plans)
{
    QSet<QString> told;
    for (const RecoveredPlan &recovered : plans) {
        std::vector<RecoveredPlan> meeting;
        std::ranges::copy_if(plans, std::back_inserter(meeting),
            [&](const RecoveredPlan &one) { return one.file == recovered.file && !one.work.about.isEmpty(); });
        if (recovered.work.about.isEmpty() || meeting.size() < 2)
            emit found(recovered);
        else if (!told.contains(recovered.file))
            emit meetingFound(meeting);
        told << recovered.file;
    }
}

void Recovery::discard(const RecoveredPlan &recovered)
{
    m_queue.run([recovered] { removeLeft(recovered); });
}

void Recovery::adopt(const RecoveredPlan &recovered)
{
    m_queue.run([recovered, writing = m_writing] {
        if (writing && writing->journal.isOnDisk())
            removeLeft(recovered);
    });
}

} // namespace trainyard
