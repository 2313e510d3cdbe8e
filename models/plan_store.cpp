// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/plan_store.h"

#include "core/base/text_file.h"
#include "core/facts/plan/embedded_plan.h"
#include "core/facts/plan/named_files.h"
#include "core/facts/plan/plan_io.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QFile>
#include <QFileInfo>

namespace trainyard {

namespace {

constexpr int kSettleMs = 150;

struct Reading {
    QByteArray content;
    ExpectedAll<PlanPtr> plan;
};

Reading readFile(const QString &path)
{
    ExpectedAll<QByteArray> content = readBytes(path);
    if (!content)
        return { {}, std::unexpected(content.error()) };
    return { *content, parsePlanBytes(*content, path) };
}

struct Writing {
    QByteArray content;
    Expected<void> result;
    QByteArray foreign; // fingerprint of what is there: nothing was written
};

QByteArray fingerprint(const QByteArray &content)
{
    return QCryptographicHash::hash(content, QCryptographicHash::Sha256);
}

/// Empty where there is no file to be read.
QByteArray fingerprintOf(const QString &path)
{
    const ExpectedAll<QByteArray> content = readBytes(path);
    return content ? fingerprint(*content) : QByteArray();
}

Writing writeFile(const Plan &plan, const QString &path)
{
    const Plan toWrite = rebased(plan, QFileInfo(path).absolutePath().toStdString());
    return { QByteArray::fromStdString(formatPlan(toWrite)), writePlan(toWrite, path.toStdString()), {} };
}

} // namespace

ExpectedAll<QByteArray> readBytes(const QString &path)
{
    if (path.startsWith(u':')) { // compiled in
        QFile file(path);
        if (!file.open(QIODevice::ReadOnly))
            return std::unexpected(
                Errors { { ErrorCode::CannotRead, path.toStdString(), file.errorString().toStdString(), {} } });
        return file.readAll();
    }
    const auto text = readTextFile(path.toStdString(), "a readable file");
    if (!text)
        return std::unexpected(Errors { text.error() });
    return QByteArray::fromStdString(*text);
}

ExpectedAll<PlanPtr> parsePlanBytes(const QByteArray &content, const QString &path)
{
    const std::string folder = path.startsWith(u':') ? std::string() : QFileInfo(path).absolutePath().toStdString();
    auto plan = parsePlan({ content.constData(), std::size_t(content.size()) }, path.toStdString(), folder);
    if (!plan)
        return std::unexpected(plan.error());
    return std::make_shared<const Plan>(std::move(*plan));
}

PlanStore::PlanStore(QObject *parent)
    : QObject(parent)
{
    m_settle.setSingleShot(true);
    m_settle.setInterval(kSettleMs);
    connect(&m_settle, &QTimer::timeout, this, &PlanStore::look);
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, &m_settle, qOverload<>(&QTimer::start));
    connect(&m_watcher, &QFileSystemWatcher::directoryChanged, &m_settle, qOverload<>(&QTimer::start));
}

PlanStore::~PlanStore() = default;

void PlanStore::read(const QString &path)
{
    m_queue.run(
        this,
        [path, written = m_written] {
            written->clear(); // if another program brings that back, it is a change
            return readFile(path);
        },
        [this, path](Reading reading) {
            if (!reading.plan) {
                emit readFailed(path, reading.plan.error());
                return;
            }
            if (isPage({ reading.content.constData(), std::size_t(reading.content.size()) })) {
                emit planFoundInReport(path, *reading.plan);
                return;
            }
            emit planArrived(path);
            remember(path, reading.content);
            emit planRead(path, *reading.plan);
        });
}

void PlanStore::write(const PlanPtr &plan, const QString &path, Over over)
{
    const QByteArray known = path != m_path ? QByteArray()
        : over == Over::OwnContent          ? m_known
                                            : std::exchange(m_foreign, {});
    ++m_writes;
    m_queue.run(
        this,
        [plan, path, known, written = m_written] {
            if (const QByteArray there = known.isEmpty() ? QByteArray() : fingerprintOf(path);
                !there.isEmpty() && there != known && there != *written) {
                written->clear();
                return Writing { {}, {}, there };
            }
            Writing writing = writeFile(*plan, path);
            *written = writing.result ? fingerprint(writing.content) : QByteArray();
            return writing;
        },
        [this, plan, path](Writing writing) {
            --m_writes;
            if (!writing.foreign.isEmpty()) {
                m_foreign = writing.foreign;
                emit foreignChange(path);
                return;
            }
            if (!writing.result) {
                emit writeFailed(path, { writing.result.error() });
                return;
            }
            remember(path, writing.content);
            emit planWritten(path, plan);
        });
}

void PlanStore::finishWriting()
{
    if (m_writes == 0)
        return;
    m_queue.wait();
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
}

void PlanStore::acceptChange()
{
    if (m_told.isEmpty())
        return;
    m_known = std::exchange(m_told, {});
    m_queue.run([written = m_written] { written->clear(); });
}

void PlanStore::remember(const QString &path, const QByteArray &content)
{
    watch(path);
    m_known = fingerprint(content);
}

void PlanStore::watch(const QString &path, const QByteArray &known)
{
    watch(path);
    m_known = known;
    look();
}

void PlanStore::watch(const QString &path)
{
    m_path = path;
    m_known.clear();
    m_told.clear();
    m_foreign.clear();
    m_isMissing = false;
    if (const QStringList watched = m_watcher.files() + m_watcher.directories(); !watched.isEmpty())
        m_watcher.removePaths(watched);
    if (path.isEmpty() || path.startsWith(u':'))
        return;
    // The folder too: most editors replace a file, which ends the watch on it.
    m_watcher.addPaths({ path, QFileInfo(path).absolutePath() });
}

void PlanStore::look()
{
    if (m_path.isEmpty())
        return;
    m_queue.run(
        this, [path = m_path] { return readBytes(path); },
        [this, path = m_path](ExpectedAll<QByteArray> content) {
            if (path != m_path)
                return;
            if (!content) {
                if (!std::exchange(m_isMissing, true))
                    emit removedOnDisk(path);
                return;
            }
            m_isMissing = false;
            if (!m_watcher.files().contains(path))
                m_watcher.addPath(path);
            QByteArray found = fingerprint(*content);
            if (found == m_known || found == m_told)
                return;
            m_told = std::move(found); // once for each new content
            emit changedOnDisk(path);
        });
}

} // namespace trainyard
