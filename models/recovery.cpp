// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/recovery.h"

#include "core/plan/plan_io.h"
#include "models/plan_store.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>
#include <QSaveFile>
#include <QUuid>

#include <algorithm>
#include <optional>

namespace trainyard {

namespace {

constexpr int kDelayMs = 700;
const QString kSuffix = QStringLiteral(".recovery");

// One line of JSON that says whose plan it is, then the plan file as it would have been saved.
void writeKept(const Plan &plan, const QString &path, const QString &file)
{
    const QJsonObject head{{QStringLiteral("path"), path},
                           {QStringLiteral("folder"), QString::fromStdString(plan.baseDir)},
                           {QStringLiteral("when"), QDateTime::currentDateTime().toString(Qt::ISODateWithMs)}};
    QDir().mkpath(QFileInfo(file).absolutePath());
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly))
        return;
    out.write(QJsonDocument(head).toJson(QJsonDocument::Compact) + '\n');
    out.write(QByteArray::fromStdString(formatPlan(plan)));
    out.commit();
}

std::optional<RecoveredPlan> readKept(const QString &file)
{
    const auto content = readBytes(file);
    const qsizetype end = content ? content->indexOf('\n') : -1;
    if (end < 0)
        return std::nullopt;
    const QJsonObject head = QJsonDocument::fromJson(content->left(end)).object();
    const QByteArray body = content->mid(end + 1);
    auto plan = parsePlan({body.constData(), std::size_t(body.size())}, file.toStdString(),
                          head[QStringLiteral("folder")].toString().toStdString());
    if (!plan)
        return std::nullopt;
    return RecoveredPlan{std::make_shared<const Plan>(std::move(*plan)), head[QStringLiteral("path")].toString(),
                         QDateTime::fromString(head[QStringLiteral("when")].toString(), Qt::ISODateWithMs), file};
}

std::vector<RecoveredPlan> readLeft(const QString &folder, const QString &own)
{
    std::vector<RecoveredPlan> left;
    for (const QFileInfo &info : QDir(folder).entryInfoList({u'*' + kSuffix}, QDir::Files)) {
        if (info.absoluteFilePath() == QFileInfo(own).absoluteFilePath())
            continue;
        QLockFile lock(info.absoluteFilePath() + QStringLiteral(".lock"));
        lock.setStaleLockTime(0);
        if (!lock.tryLock(0))      // its window lives
            continue;
        if (auto plan = readKept(info.absoluteFilePath()))
            left.push_back(std::move(*plan));
    }
    std::ranges::sort(left, std::greater{}, &RecoveredPlan::when);
    return left;
}

} // namespace

QString describe(const RecoveredPlan &recovered)
{
    const QString name = recovered.plan->name.empty() ? QFileInfo(recovered.path).fileName() : QString::fromStdString(recovered.plan->name);
    const QString when = QLocale().toString(recovered.when, QLocale::ShortFormat);
    return name.isEmpty() ? QObject::tr("A plan with unsaved changes of %1 was open when Trainyard ended unexpectedly.").arg(when)
                          : QObject::tr("“%1” with unsaved changes of %2 was open when Trainyard ended unexpectedly.").arg(name, when);
}

Recovery::Recovery(QString folder, QObject *parent) : QObject(parent), m_folder(std::move(folder))
{
    m_delay.setSingleShot(true);
    m_delay.setInterval(kDelayMs);
    connect(&m_delay, &QTimer::timeout, this, &Recovery::write);
    if (!m_folder.isEmpty())
        m_file = QDir(m_folder).filePath(QUuid::createUuid().toString(QUuid::WithoutBraces) + kSuffix);
}

Recovery::~Recovery() = default;

void Recovery::keep(const PlanPtr &plan, const QString &path)
{
    if (m_file.isEmpty())
        return;
    m_plan = plan;
    m_path = path;
    m_delay.start();
}

void Recovery::write()
{
    if (!m_plan)
        return;
    if (!m_lock) {
        QDir().mkpath(m_folder);
        m_lock = std::make_unique<QLockFile>(m_file + QStringLiteral(".lock"));
        m_lock->setStaleLockTime(0);
        m_lock->tryLock(0);
    }
    m_queue.run([plan = std::exchange(m_plan, nullptr), path = m_path, file = m_file] { writeKept(*plan, path, file); });
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
    m_plan.reset();
    if (m_lock)
        m_queue.run([file = m_file] { QFile::remove(file); });
}

void Recovery::search()
{
    if (m_file.isEmpty())
        return;
    m_queue.run(this, [folder = m_folder, own = m_file] { return readLeft(folder, own); }, [this](const std::vector<RecoveredPlan> &left) {
        for (const RecoveredPlan &recovered : left)
            emit found(recovered);
    });
}

void Recovery::discard(const RecoveredPlan &recovered)
{
    m_delay.stop();
    write();                       // a restored plan is kept anew before the old copy goes
    m_queue.run([file = recovered.file] {
        QFile::remove(file);
        QFile::remove(file + QStringLiteral(".lock"));
    });
}

} // namespace trainyard
