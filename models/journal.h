#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The file in which one running window keeps its unsaved work: a line for each edit, undo, redo and save, appended and
// on disk when keep() returns. Where a line would not do, and when it has grown long, it is written whole beside itself
// and renamed. Used by one thread at a time, not the GUI thread: a disk may take long.

#include "core/base/error.h"
#include "models/unsaved_work.h"

#include <QLockFile>

#include <map>
#include <memory>
#include <optional>

namespace trainyard {

class Journal {
public:
    /// By variant: its work as it is now, whole. Nothing: it is given up.
    using Changes = std::map<QString, std::optional<UnsavedWork>>;
    static constexpr qint64 kShortBytes = 1 << 20;

    /// Writes no file before there is something to keep. `shortBytes`: shorter than this it is never written whole for
    /// its length.
    explicit Journal(QString file, qint64 shortBytes = kShortBytes);
    ~Journal();
    Journal(const Journal &) = delete;
    Journal &operator=(const Journal &) = delete;

    /// Writes what differs from what it was told last, by the plans' addresses. Errors: CannotWrite, NoRoom; what was
    /// on disk before is still there, and the next call that succeeds writes this, too.
    Expected<void> keep(const Changes &changes);
    /// What it was told last is on disk.
    [[nodiscard]] bool isOnDisk() const { return m_isOnDisk; }
    /// The end of a window: a file in which nothing is unsaved goes.
    void close();

private:
    struct Kept {
        UnsavedWork work;
        QDateTime when;
        /// edits of `work` that the file does not have: the oldest, for its length
        int first = 0;
    };
    class Descriptor;

    /// Lines that make `kept` the work; nothing where lines would not do.
    static std::optional<QByteArray> linesTo(const UnsavedWork &work, const QString &variant, Kept &kept);
    static QByteArray wholeLines(const QString &variant, Kept &kept);
    Expected<void> append(const QByteArray &lines);
    Expected<void> rewrite();
    Expected<void> remove();
    [[nodiscard]] bool isThere() const;

    QString m_file;
    qint64 m_shortBytes;
    /// longer than this it is written whole
    qint64 m_longBytes = 0, m_bytes = 0;
    bool m_isOnDisk = true;
    std::map<QString, Kept> m_kept;
    std::unique_ptr<Descriptor> m_descriptor;
    /// tells others that this window lives
    std::unique_ptr<QLockFile> m_lock;
};

} // namespace trainyard
