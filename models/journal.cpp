// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/journal.h"

#include "core/facts/plan/plan_io.h"
#include "models/journal_line.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace trainyard {

namespace {

// What a file that is written whole has of the edits: the newest, and some before the plan as it is.
constexpr int kNewestEdits = 50, kEditsBefore = 25;
// It may grow to so many times its length when it was last written whole.
constexpr int kGrowth = 4;

Error failure(const QString &file, int reason)
{
    const bool isFull = reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
    return { isFull ? ErrorCode::NoRoom : ErrorCode::CannotWrite, file.toStdString(),
        qt_error_string(reason).toStdString(), {} };
}

JournalLine lineOf(const char *kind, const QString &variant, const PlanPtr &plan)
{
    JournalLine line { { { QStringLiteral("kind"), QLatin1String(kind) }, { QStringLiteral("variant"), variant } },
        {} };
    if (plan) {
        line.head[QStringLiteral("folder")] = QString::fromStdString(plan->baseDir);
        line.plan = QByteArray::fromStdString(formatPlan(*plan));
    }
    return line;
}

/// Says how things stand once `edits` of the work are in the file, of which it lacks the `first`.
QByteArray marked(JournalLine line, const UnsavedWork &work, const QDateTime &when, int first, int edits)
{
    const bool isAll = edits == int(work.edits.size());
    const int done = isAll ? work.done : edits, saved = work.saved <= edits ? work.saved : -1;
    QJsonObject &head = line.head;
    head[QStringLiteral("edits")] = edits - first;
    head[QStringLiteral("done")] = done - first;
    head[QStringLiteral("saved")] = saved >= first ? saved - first : -1;
    head[QStringLiteral("clean")] = isAll && work.isClean;
    head[QStringLiteral("path")] = work.path;
    if (!work.about.isEmpty())
        head[QStringLiteral("about")] = work.about;
    head[QStringLiteral("known")] = QString::fromLatin1(work.known.toHex());
    head[QStringLiteral("when")] = when.toString(Qt::ISODateWithMs);
    return toBytes(line);
}

/// Those of the work from `from` on.
QByteArray editLines(const QString &variant, const UnsavedWork &work, const QDateTime &when, int first, int from)
{
    QByteArray lines;
    for (int i = from; i < int(work.edits.size()); ++i) {
        const UnsavedWork::Edit &edit = work.edits[std::size_t(i)];
        JournalLine line = lineOf("edit", variant, edit.plan);
        line.head[QStringLiteral("text")] = edit.text;
        lines += marked(std::move(line), work, when, first, i + 1);
    }
    return lines;
}

int sharedEdits(const UnsavedWork &a, const UnsavedWork &b)
{
    const auto isSame = [](const UnsavedWork::Edit &left, const UnsavedWork::Edit &right) {
        return left.plan == right.plan && left.text == right.text;
    };
    return int(std::ranges::mismatch(a.edits, b.edits, isSame).in1 - a.edits.begin());
}

bool areMarksSame(const UnsavedWork &a, const UnsavedWork &b)
{
    return a.edits.size() == b.edits.size() && a.done == b.done && a.saved == b.saved && a.path == b.path
        && a.about == b.about && a.known == b.known && a.isClean == b.isClean;
}

bool syncFolder(const QString &file)
{
    const int folder =
        ::open(QFile::encodeName(QFileInfo(file).absolutePath()).constData(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool isSynced = folder >= 0 && (::fsync(folder) == 0 || errno == EINVAL);
    if (folder >= 0)
        ::close(folder);
    return isSynced;
}

} // namespace

/// A file that is open for writing.
class Journal::Descriptor {
public:
    explicit Descriptor(const QString &file)
        : m_number(::open(QFile::encodeName(file).constData(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600))
    {
    }
    ~Descriptor()
    {
        if (m_number >= 0)
            ::close(m_number);
    }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;

    [[nodiscard]] int number() const { return m_number; }
    /// On disk when it returns true; else errno says why.
    bool write(QByteArrayView bytes) const
    {
        while (!bytes.isEmpty()) {
            const ssize_t written = ::write(m_number, bytes.data(), std::size_t(bytes.size()));
            if (written < 0 && errno != EINTR)
                return false;
            bytes = bytes.sliced(std::max<ssize_t>(written, 0));
        }
        return ::fdatasync(m_number) == 0 || errno == EINVAL; // of file systems that cannot
    }

private:
    int m_number;
};

Journal::Journal(QString file, qint64 shortBytes)
    : m_file(std::move(file))
    , m_shortBytes(shortBytes)
{
}

Journal::~Journal() = default;

std::optional<QByteArray> Journal::linesTo(const UnsavedWork &work, const QString &variant, Kept &kept)
{
    const int shared = sharedEdits(kept.work, work);
    if (work.start != kept.work.start || shared < kept.first || work.done < kept.first)
        return std::nullopt;
    const bool isMarkOnly = shared == int(work.edits.size());
    if (isMarkOnly && areMarksSame(kept.work, work))
        return QByteArray();
    kept.work = work;
    kept.when = QDateTime::currentDateTime();
    return isMarkOnly ? marked(lineOf("mark", variant, nullptr), work, kept.when, kept.first, shared)
                      : editLines(variant, work, kept.when, kept.first, shared);
}

QByteArray Journal::wholeLines(const QString &variant, Kept &kept)
{
    const UnsavedWork &work = kept.work;
    const int edits = int(work.edits.size());
    kept.first = std::clamp(std::min(edits - kNewestEdits, work.done - kEditsBefore), 0, edits);
    const PlanPtr &start = kept.first > 0 ? work.edits[std::size_t(kept.first) - 1].plan : work.start;
    return marked(lineOf("work", variant, start), work, kept.when, kept.first, kept.first)
        + editLines(variant, work, kept.when, kept.first, kept.first);
}

Expected<void> Journal::keep(const Changes &changes)
{
    QByteArray lines;
    bool isRewritten = !m_isOnDisk || !isThere();
    for (const auto &[variant, work] : changes) {
        const auto kept = m_kept.find(variant);
        if (kept == m_kept.end()) {
            if (work && !work->isClean) {
                m_kept.emplace(variant, Kept { *work, QDateTime::currentDateTime() });
                isRewritten = true;
            }
            continue;
        }
        if (const auto more = work ? linesTo(*work, variant, kept->second) : std::nullopt) {
            lines += *more;
        } else if (work && !work->isClean) {
            kept->second = { *work, QDateTime::currentDateTime() };
            isRewritten = true;
        } else {
            lines += toBytes(lineOf("gone", variant, nullptr));
            m_kept.erase(kept);
        }
    }
    const Expected<void> done = m_kept.empty() ? remove()
        : isRewritten                          ? rewrite()
        : lines.isEmpty()                      ? Expected<void>()
                                               : append(lines);
    m_isOnDisk = done.has_value();
    return done;
}

bool Journal::isThere() const
{
    struct stat status { };
    return m_descriptor && ::fstat(m_descriptor->number(), &status) == 0 && status.st_nlink > 0;
}

Expected<void> Journal::append(const QByteArray &lines)
{
    if (!m_descriptor->write(lines)) {
        // The torn line goes where it can; written whole there is none.
        if (::ftruncate(m_descriptor->number(), off_t(m_bytes)) != 0)
            m_descriptor.reset();
        return rewrite();
    }
    m_bytes += lines.size();
    if (m_bytes > m_longBytes && !rewrite())
        m_longBytes = 2 * m_bytes; // all is in the longer file
    return {};
}

Expected<void> Journal::rewrite()
{
    if (!m_lock) {
        QDir().mkpath(QFileInfo(m_file).absolutePath());
        m_lock = std::make_unique<QLockFile>(m_file + QStringLiteral(".lock"));
        m_lock->setStaleLockTime(0);
        if (!m_lock->tryLock(0))
            m_lock.reset(); // a folder that cannot be written: the file tells why
    }
    QByteArray whole = toBytes(
        { { { QStringLiteral("kind"), QStringLiteral("journal") },
              { QStringLiteral("format"), QStringLiteral("trainyard.journal") }, { QStringLiteral("version"), 1 } },
            {} });
    std::map<QString, Kept> kept = m_kept; // where it cannot be written the file has what it had
    for (auto &[variant, work] : kept)
        whole += wholeLines(variant, work);
    const QString beside = m_file + QStringLiteral(".part");
    auto descriptor = std::make_unique<Descriptor>(beside);
    if (descriptor->number() < 0 || !descriptor->write(whole)
        || ::rename(QFile::encodeName(beside).constData(), QFile::encodeName(m_file).constData()) != 0
        || !syncFolder(m_file)) {
        const int reason = errno;
        QFile::remove(beside);
        return std::unexpected(failure(m_file, reason));
    }
    m_kept = std::move(kept);
    m_descriptor = std::move(descriptor);
    m_bytes = whole.size();
    m_longBytes = std::max(m_shortBytes, kGrowth * m_bytes);
    return {};
}

Expected<void> Journal::remove()
{
    m_descriptor.reset();
    if (std::exchange(m_bytes, 0) == 0) // none was written
        return {};
    if (::unlink(QFile::encodeName(m_file).constData()) != 0 && errno != ENOENT && errno != ENOTDIR)
        return std::unexpected(failure(m_file, errno));
    syncFolder(m_file);
    return {};
}

void Journal::close()
{
    if (std::ranges::all_of(m_kept, [](const auto &kept) { return kept.second.work.isClean; }))
        (void)remove();
}

} // namespace trainyard
