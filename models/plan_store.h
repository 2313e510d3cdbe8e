#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Plan files on disk: reads and writes them in the background and watches the one that is open. Knows no document.
// GUI thread; every answer comes as a signal.

#include "core/base/error.h"
#include "core/facts/plan/plan.h"
#include "models/background_queue.h"

#include <QByteArray>
#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>

namespace trainyard {

class PlanStore : public QObject {
    Q_OBJECT
public:
    explicit PlanStore(QObject *parent = nullptr);
    ~PlanStore() override;

    void read(const QString &path);
    /// What another program has made of the watched file since it was last read or written here is not written over
    /// unless `over` says so: foreignChange() tells of it. OtherContent: what that told of, and nothing newer.
    enum class Over { OwnContent, OtherContent };
    void write(const PlanPtr &plan, const QString &path, Over over = Over::OwnContent);
    /// The change that was told last is known: it may be written over.
    void acceptChange();
    /// Watches this file from now on; empty: none. read() and write() that succeed do so themselves.
    void watch(const QString &path);
    /// As `watch`, of a file whose content had this fingerprint when it was last read or written; tells at once if it
    /// differs.
    void watch(const QString &path, const QByteArray &known);
    /// Of the watched file's content as last read or written here; empty where none was.
    [[nodiscard]] const QByteArray &known() const { return m_known; }
    /// Returns when what is being written is, and its answer has been told.
    void finishWriting();
    [[nodiscard]] BackgroundQueue &queue() { return m_queue; }

signals:
    /// planRead() follows, and its file is watched from then on.
    void planArrived(const QString &path);
    void planRead(const QString &path, const trainyard::PlanPtr &plan);
    /// The file is a report that holds this plan: not the plan's own file, so it is not watched.
    void planFoundInReport(const QString &path, const trainyard::PlanPtr &plan);
    void planWritten(const QString &path, const trainyard::PlanPtr &plan);
    void readFailed(const QString &path, const trainyard::Errors &errors);
    void writeFailed(const QString &path, const trainyard::Errors &errors);
    /// Somebody else wrote the watched file: its content is not what was last read or written here.
    void changedOnDisk(const QString &path);
    void removedOnDisk(const QString &path);
    /// Nothing was written: somebody else wrote the file meanwhile.
    void foreignChange(const QString &path);

private:
    void look();
    void remember(const QString &path, const QByteArray &content);

    QFileSystemWatcher m_watcher;
    /// editors write a file in several steps
    QTimer m_settle;
    QString m_path;
    /// fingerprint of the content as last read or written here
    QByteArray m_known;
    /// fingerprint of what another program wrote, as last told
    QByteArray m_told;
    /// fingerprint of what foreignChange() told of last
    QByteArray m_foreign;
    /// of what was written here last, unless something else was seen since; of the queue alone
    std::shared_ptr<QByteArray> m_written = std::make_shared<QByteArray>();
    bool m_isMissing = false;
    /// their answers have not come yet
    int m_writes = 0;
    BackgroundQueue m_queue;
};

/// Parses a plan file's content; baseDir is the file's folder. Any thread.
[[nodiscard]] ExpectedAll<PlanPtr> parsePlanBytes(const QByteArray &content, const QString &path);
[[nodiscard]] ExpectedAll<QByteArray> readBytes(const QString &path);

} // namespace trainyard
