// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/sweep/sweep_file.h"

#include "core/facts/plan/plan_io.h"
#include "core/planner/sweep/line_blocks.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace trainyard {

namespace {

std::string systemReason()
{
    return std::strerror(errno);
}

Error cannotWrite(const std::string &path, std::string what, std::string right = {})
{
    return { ErrorCode::CannotWrite, path == "-" ? "standard output" : path, std::move(what), std::move(right) };
}

/// In words, for whoever names the wrong file or the wrong values.
std::string difference(const SweepSpec &there, const SweepSpec &asked)
{
    if (there.vary.size() != asked.vary.size())
        return "it varies " + std::to_string(there.vary.size()) + " keys, and this sweep "
            + std::to_string(asked.vary.size());
    for (std::size_t i = 0; i < there.vary.size(); ++i) {
        if (there.vary[i].key != asked.vary[i].key)
            return "it varies " + there.vary[i].key + " where this sweep varies " + asked.vary[i].key;
        if (there.vary[i].values != asked.vary[i].values)
            return "it has other values of " + there.vary[i].key;
    }
    if (there.random != asked.random)
        return there.random == 0 ? "it has every combination, and this sweep draws"
            : asked.random == 0
            ? "it draws, and this sweep has every combination"
            : "it draws " + std::to_string(there.random) + " rows, and this sweep " + std::to_string(asked.random);
    if (there.random != 0 && there.seed != asked.seed)
        return "it draws with seed " + std::to_string(there.seed) + ", and this sweep with "
            + std::to_string(asked.seed);
    if (formatPlan(*there.plan) != formatPlan(*asked.plan))
        return "its plan is another one";
    if (there.inputs != asked.inputs)
        for (const SweepInput &input : there.inputs)
            if (std::ranges::find(asked.inputs, input) == asked.inputs.end())
                return input.path + " is not what it was when the sweep was begun";
    if (there.folder != asked.folder)
        return "the files that its plan names lie in " + (there.folder.empty() ? "." : there.folder)
            + ", seen from there, and those of this sweep in " + (asked.folder.empty() ? "." : asked.folder);
    if (there.program != sweepProgram())
        return "it was begun by version " + (there.program.empty() ? "0" : there.program)
            + " of the program, and this is " + sweepProgram();
    return "its head was written by another version";
}

/// Whether the file holds a sweep that has rows to go.
bool isUnfinished(int descriptor, const std::string &path)
{
    LineBlocks lines(descriptor);
    const auto head = lines.next();
    if (!head || !isSweepHead(*head))
        return false;
    const auto spec = parseSweepHead(*head, path);
    if (!spec)
        return true; // of another version: nobody here can tell
    std::uint64_t rows = 0;
    const bool isCsv = head->front() == '#';
    while (lines.next())
        ++rows;
    return rows < spec->rows() + (isCsv ? 1 : 0);
}

} // namespace

SweepFile::SweepFile(int descriptor, std::string path)
    : m_descriptor(descriptor)
    , m_path(std::move(path))
{
}

SweepFile::SweepFile(SweepFile &&other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1))
    , m_path(std::move(other.m_path))
    , m_lastRow(std::move(other.m_lastRow))
    , m_isRegular(other.m_isRegular)
    , m_rowsThere(other.m_rowsThere)
    , m_size(other.m_size)
{
}

SweepFile::~SweepFile()
{
    if (m_descriptor > STDERR_FILENO)
        ::close(m_descriptor);
}

Expected<SweepFile> SweepFile::open(const std::string &path, const SweepSpec &spec, SweepFormat format, Start start)
{
    struct stat status { };
    const bool isStream = path != "-" && ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
    const int flags = O_CLOEXEC | (isStream ? O_WRONLY : O_RDWR | O_CREAT);
    SweepFile file(path == "-" ? STDOUT_FILENO : ::open(path.c_str(), flags, 0666), path);
    if (file.m_descriptor < 0)
        return std::unexpected(cannotWrite(path, systemReason(), "a file that can be written"));
    if (::fstat(file.m_descriptor, &status) != 0)
        return std::unexpected(cannotWrite(path, systemReason()));
    file.m_isRegular = path != "-" && S_ISREG(status.st_mode);
    if (!file.m_isRegular && start == Start::Resume)
        return std::unexpected(cannotWrite(path, "cannot be gone on with", "--resume with a file: --out OUT.csv"));
    if (auto begun = file.begin(spec, format, start); !begun)
        return std::unexpected(std::move(begun.error()));
    return file;
}

Expected<void> SweepFile::begin(const SweepSpec &spec, SweepFormat format, Start start)
{
    const std::string head = sweepHead(spec, format);
    if (m_isRegular) {
        if (::flock(m_descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
            return std::unexpected(cannotWrite(m_path, "another process is writing it", "one sweep a file"));
        if (start == Start::Resume)
            return goOn(spec, format, head);
        if (isUnfinished(m_descriptor, m_path))
            return std::unexpected(cannotWrite(m_path, "holds a sweep that is not done",
                "--resume to go on with it, another --out, or the file removed"));
        if (::ftruncate(m_descriptor, 0) != 0 || ::lseek(m_descriptor, 0, SEEK_SET) != 0)
            return std::unexpected(cannotWrite(m_path, systemReason()));
    }
    return append(head);
}

Expected<void> SweepFile::goOn(const SweepSpec &spec, SweepFormat format, const std::string &head)
{
    LineBlocks lines(m_descriptor);
    std::string start;
    while (start.size() < head.size()) {
        const auto line = lines.next();
        if (!line)
            break;
        start += std::string(*line) + "\n";
    }
    if (start != head) {
        start += lines.torn();
        if (!head.starts_with(start)) {
            const auto there = parseSweepHead(start.substr(0, start.find('\n')), m_path);
            return std::unexpected(cannotWrite(m_path,
                there ? "holds another sweep: " + difference(*there, spec) : "is no file of a sweep of this kind",
                "the plan, keys, values, --random and --seed that it was begun with, or another --out"));
        }
        if (::ftruncate(m_descriptor, 0) != 0 || ::lseek(m_descriptor, 0, SEEK_SET) != 0)
            return std::unexpected(cannotWrite(m_path, systemReason()));
        return append(head); // killed before it was whole
    }
    m_size = head.size();
    while (m_rowsThere < spec.rows()) {
        const auto line = lines.next();
        if (!line)
            break;
        if (!isSweepRow(*line, m_rowsThere, format)) {
            if (!lines.next() && lines.failure().empty())
                break; // the last one, which a machine that failed may leave so
            return std::unexpected(cannotWrite(m_path,
                "row " + std::to_string(m_rowsThere)
                    + " is not as it was written: it was changed or damaged, and rows stand behind it",
                "the row as it was; or that line and all behind it removed, to work them out again; or another --out"));
        }
        m_size += line->size() + 1;
        m_lastRow = *line;
        ++m_rowsThere;
    }
    if (!lines.failure().empty())
        return std::unexpected(cannotWrite(m_path, "cannot be read: " + lines.failure()));
    if (::ftruncate(m_descriptor, off_t(m_size)) != 0 || ::lseek(m_descriptor, off_t(m_size), SEEK_SET) < 0)
        return std::unexpected(cannotWrite(m_path, systemReason()));
    return {};
}

Expected<void> SweepFile::append(std::string_view lines)
{
    const std::size_t size = lines.size();
    while (!lines.empty()) {
        const ssize_t written = ::write(m_descriptor, lines.data(), lines.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            Error error = cannotWrite(m_path, systemReason());
            if (m_isRegular && ::ftruncate(m_descriptor, off_t(m_size)) != 0)
                error.what += ", and its last line is torn";
            return std::unexpected(std::move(error));
        }
        lines.remove_prefix(std::size_t(written));
    }
    m_size += size;
    return {};
}

Expected<void> SweepFile::sync()
{
    if (m_isRegular && ::fdatasync(m_descriptor) != 0)
        return std::unexpected(cannotWrite(m_path, systemReason()));
    return {};
}

} // namespace trainyard
