// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/recovery.h"

#include "core/facts/plan/plan_io.h"
#include "models/plan_store.h"
#include "models/text/foreign_text.h"
#include "models/text/format.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>
#include <QSaveFile>
#include <QUuid>

#include <algorithm>
#include <optional>
#include <utility>

namespace trainyard {

namespace {

constexpr int kDelayMs = 700;
const QString kRecoverySuffix = QStringLiteral(".recovery");

// One line of JSON that says whose plan it is and how long each plan after it is: first the plan before the edits, then
// what each edit led to, as plan files.
void writeKept(const UnsavedWork &work, const QString &file)
{
    QByteArray plans = QByteArray::fromStdString(formatPlan(*work.start));
    QJsonArray steps { QJsonObject { { QStringLiteral("bytes"), plans.size() } } };
    for (const UnsavedWork::Edit &edit : work.edits) {
        const QByteArray plan = QByteArray::fromStdString(formatPlan(*edit.plan));
        steps.append(QJsonObject { { QStringLiteral("text"), edit.text }, { QStringLiteral("bytes"), plan.size() } });
        plans += plan;
    }
    const QJsonObject head { { QStringLiteral("path"), work.path },
        { QStringLiteral("folder"), QString::fromStdString(work.plan()->baseDir) },
        { QStringLiteral("when"), QDateTime::currentDateTime().toString(Qt::ISODateWithMs) },
        { QStringLiteral("known"), QString::fromLatin1(work.known.toHex()) }, { QStringLiteral("done"), work.done },
        { QStringLiteral("saved"), work.saved }, { QStringLiteral("steps"), steps } };
    QDir().mkpath(QFileInfo(file).absolutePath());
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly))
        return;
    out.write(QJsonDocument(head).toJson(QJsonDocument::Compact) + '\n');
    out.write(plans);
    out.commit();
}

PlanPtr parseKept(const QByteArray &content, const QString &file, const std::string &folder)
{
    auto plan = parsePlan({ content.constData(), std::size_t(content.size()) }, file.toStdString(), folder);
    return plan ? std::make_shared<const Plan>(std::move(*plan)) : nullptr;
}

/// Empty where it is not whole.
std::optional<RecoveredPlan> readKept(const QString &file)
{
    const auto content = readBytes(file);
    const qsizetype end = content ? content->indexOf('\n') : -1;
    if (end < 0)
        return std::nullopt;
    const QJsonObject head = QJsonDocument::fromJson(content->left(end)).object();
    const std::string folder = head[QStringLiteral("folder")].toString().toStdString();
    RecoveredPlan kept { {}, QDateTime::fromString(head[QStringLiteral("when")].toString(), Qt::ISODateWithMs), file };
    kept.work.path = head[QStringLiteral("path")].toString();
    kept.work.known = QByteArray::fromHex(head[QStringLiteral("known")].toString().toLatin1());
    qsizetype at = end + 1;
    for (const QJsonValue &step : head[QStringLiteral("steps")].toArray()) {
        const qsizetype bytes = step[QStringLiteral("bytes")].toInteger();
        const PlanPtr plan = parseKept(content->mid(at, bytes), file, folder);
        if (!plan || bytes <= 0)
            return std::nullopt;
        at += bytes;
        if (!kept.work.start)
            kept.work.start = plan;
        else
            kept.work.edits.push_back({ step[QStringLiteral("text")].toString(), plan });
    }
    if (!head.contains(QStringLiteral("steps"))) // as older versions kept it: the plan alone
        kept.work.start = parseKept(content->mid(at), file, folder);
    const int edits = int(kept.work.edits.size());
    kept.work.done = std::clamp(head[QStringLiteral("done")].toInt(), 0, edits);
    kept.work.saved = std::clamp(head[QStringLiteral("saved")].toInt(-1), -1, edits);
    return kept.work.start ? std::optional(std::move(kept)) : std::nullopt;
}

std::vector<RecoveredPlan> readLeft(const QString &folder, const QString &own)
{
    std::vector<RecoveredPlan> left;
    for (const QFileInfo &info : QDir(folder).entryInfoList({ u'*' + kRecoverySuffix }, QDir::Files)) {
        if (info.absoluteFilePath() == QFileInfo(own).absoluteFilePath())
            continue;
        QLockFile lock(info.absoluteFilePath() + QStringLiteral(".lock"));
        lock.setStaleLockTime(0);
        if (!lock.tryLock(0)) // its window lives
            continue;
        if (auto plan = readKept(info.absoluteFilePath()))
            left.push_back(std::move(*plan));
    }
    std::ranges::sort(left, std::greater {}, &RecoveredPlan::when);
    return left;
}

} // namespace

QStringList unsavedEdits(const UnsavedWork &work)
{
    QStringList texts;
    for (int i = std::max(0, work.saved); i < work.done; ++i)
        texts << work.edits[std::size_t(i)].text;
    return texts;
}

QString describe(const RecoveredPlan &recovered)
{
    const UnsavedWork &work = recovered.work;
    const QString title = foreignText(QString::fromStdString(work.plan()->name));
    const QString name = title.isEmpty() ? fileText(work.path) : title;
    const QString when = QLocale().toString(recovered.when, QLocale::ShortFormat);
    const QString what = name.isEmpty() ? QObject::tr("A plan") : QObject::tr("“%1”").arg(name);
    const qsizetype edits = unsavedEdits(work).size();
    const QString changes = edits > 0 ? countOf(edits, QObject::tr("unsaved edit"), QObject::tr("unsaved edits"))
                                      : QObject::tr("unsaved changes");
    return QObject::tr("%1 was open with %2 of %3 when Trainyard ended unexpectedly.").arg(what, changes, when);
}

Recovery::Recovery(QString folder, QObject *parent)
    : QObject(parent)
    , m_folder(std::move(folder))
{
    m_delay.setSingleShot(true);
    m_delay.setInterval(kDelayMs);
    connect(&m_delay, &QTimer::timeout, this, &Recovery::write);
    if (!m_folder.isEmpty())
        m_file = QDir(m_folder).filePath(QUuid::createUuid().toString(QUuid::WithoutBraces) + kRecoverySuffix);
}

Recovery::~Recovery() = default;

void Recovery::keep(std::function<UnsavedWork()> work)
{
    if (m_file.isEmpty())
        return;
    m_waiting = std::move(work);
    m_delay.start();
}

void Recovery::write()
{
    if (!m_waiting)
        return;
    if (!m_lock) {
        QDir().mkpath(m_folder);
        m_lock = std::make_unique<QLockFile>(m_file + QStringLiteral(".lock"));
        m_lock->setStaleLockTime(0);
        m_lock->tryLock(0);
    }
    m_queue.run([work = std::exchange(m_waiting, nullptr)(), file = m_file] { writeKept(work, file); });
}

void Recovery::flush()
{
    m_delay.stop();
    write();
    m_queue.wait();
}

void Recovery::forget()
{
    m_delay.stop();
    m_waiting = nullptr;
    if (m_lock)
        m_queue.run([file = m_file] { QFile::remove(file); });
}

void Recovery::search()
{
    if (m_file.isEmpty())
        return;
    m_queue.run(
        this, [folder = m_folder, own = m_file] { return readLeft(folder, own); },
        [this](const std::vector<RecoveredPlan> &left) {
            for (const RecoveredPlan &recovered : left)
                emit found(recovered);
        });
}

void Recovery::discard(const RecoveredPlan &recovered)
{
    m_delay.stop();
    write(); // a restored plan is kept anew before the old copy goes
    m_queue.run([file = recovered.file] {
        QFile::remove(file);
        QFile::remove(file + QStringLiteral(".lock"));
    });
}

} // namespace trainyard
