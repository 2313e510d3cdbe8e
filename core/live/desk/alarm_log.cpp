// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/desk/alarm_log.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace trainyard::desk {

namespace {

constexpr std::size_t kReadAtOnce = std::size_t(64) << 10;
constexpr std::size_t kMostRead = std::size_t(64) << 20; // of a log, in one call
constexpr std::size_t kLongestLine = std::size_t(64) << 10;
constexpr const char *kSuffix = ".alarms.jsonl";

Error logError(ErrorCode code, const std::string &path, const std::string &what, std::string right = {})
{
    return { code, path, what, std::move(right) };
}

} // namespace

Expected<std::unique_ptr<AlarmLog>> AlarmLog::open(const std::string &path, LogUse use)
{
    const bool watches = use == LogUse::Watch;
    const int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (watches ? O_CREAT : 0);
    const int file = ::open(path.c_str(), flags, S_IRUSR | S_IWUSR);
    if (file < 0)
        return std::unexpected(logError(watches ? ErrorCode::CannotWrite : ErrorCode::CannotRead, path,
            std::strerror(errno), "a log of alarms: lines of JSON"));
    auto log = std::unique_ptr<AlarmLog>(new AlarmLog(path, file));
    struct stat told { };
    if (::fstat(file, &told) != 0 || !S_ISREG(told.st_mode))
        return std::unexpected(logError(ErrorCode::CannotWrite, path, "is no regular file", "a log of alarms"));
    if (watches && ::flock(file, LOCK_EX | LOCK_NB) != 0)
        return std::unexpected(
            logError(ErrorCode::CannotWrite, path, "another program writes its alarms there", "a log of its own"));
    char first = '{';
    if (told.st_size > 0 && ::pread(file, &first, 1, 0) == 1 && first != '{')
        return std::unexpected(
            logError(ErrorCode::BadSyntax, path, "is no log of alarms: it is left alone", "lines of JSON"));
    char last = '\n';
    if (told.st_size > 0 && ::pread(file, &last, 1, told.st_size - 1) == 1 && last != '\n'
        && ::write(file, "\n", 1) != 1) // a line that a full disk or a crash cut
        return std::unexpected(logError(ErrorCode::CannotWrite, path, std::strerror(errno)));
    return log;
}

AlarmLog::~AlarmLog()
{
    ::close(m_file);
}

Expected<void> AlarmLog::append(const AlarmEntry &entry)
{
    const std::string line = lineOf(entry) + "\n";
    const ssize_t written = ::write(m_file, line.data(), line.size());
    if (written == static_cast<ssize_t>(line.size())) {
        m_own.push_back(line.substr(0, line.size() - 1));
        return {};
    }
    const int why = written < 0 ? errno : ENOSPC;
    if (written > 0 && ::write(m_file, "\n", 1) != 1) {
        // What was cut stays the last line until there is room; open() ends it then.
    }
    const bool isFull = why == ENOSPC || why == EDQUOT || why == EFBIG;
    return std::unexpected(logError(isFull ? ErrorCode::NoRoom : ErrorCode::CannotWrite, m_path, std::strerror(why)));
}

std::vector<AlarmEntry> AlarmLog::readNew()
{
    std::vector<AlarmEntry> entries;
    std::vector<char> block(kReadAtOnce);
    for (std::size_t all = 0; all < kMostRead;) {
        const ssize_t size = ::pread(m_file, block.data(), block.size(), m_at);
        if (size <= 0)
            break;
        m_at += size;
        all += static_cast<std::size_t>(size);
        m_rest.append(block.data(), static_cast<std::size_t>(size));
        std::size_t from = 0;
        for (std::size_t end = m_rest.find('\n'); end != m_rest.npos; end = m_rest.find('\n', from)) {
            const std::string line = m_rest.substr(from, end - from);
            from = end + 1;
            ++m_lines;
            if (const auto own = std::ranges::find(m_own, line); own != m_own.end()) {
                m_own.erase(own);
                continue;
            }
            if (line.empty())
                continue;
            if (auto entry = entryIn(line, m_path + ":" + std::to_string(m_lines)))
                entries.push_back(std::move(*entry));
            else
                ++m_unread;
        }
        m_rest.erase(0, from);
        if (m_rest.size() > kLongestLine) // no line of a log of ours
            m_rest.erase(0, m_rest.size() - kLongestLine);
    }
    return entries;
}

std::string alarmLogBeside(const std::string &recording)
{
    constexpr std::string_view kRecording = ".trainyard-recording";
    const bool hasSuffix = recording.ends_with(kRecording);
    return recording.substr(0, recording.size() - (hasSuffix ? kRecording.size() : 0)) + kSuffix;
}

} // namespace trainyard::desk
