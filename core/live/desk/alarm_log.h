#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The log of alarms in a file: lines of JSON that are only ever added at its end, one write a line, so that whoever
// watches and whoever acknowledges may write at the same time and each reads what the others wrote. One watches a log
// at a time. One thread.

#include "core/live/desk/alarm_entry.h"

#include <memory>
#include <vector>

namespace trainyard::desk {

enum class LogUse : bool {
    /// raises and clears; another that does is refused
    Watch,
    /// acknowledges and mutes; the file has to be there
    Answer
};

class AlarmLog {
public:
    /// Makes the file, for whoever watches, with rights for its owner alone. Errors: CannotRead, CannotWrite; where
    /// another watches it; a file that begins as something else is left alone.
    [[nodiscard]] static Expected<std::unique_ptr<AlarmLog>> open(const std::string &path, LogUse use);
    ~AlarmLog();
    AlarmLog(const AlarmLog &) = delete;
    AlarmLog &operator=(const AlarmLog &) = delete;

    /// Whole or not at all. Errors: CannotWrite, NoRoom.
    [[nodiscard]] Expected<void> append(const AlarmEntry &entry);
    /// Whole lines that were added since the last call, own ones left out; at first all. A line that nobody understands
    /// is counted and left out.
    [[nodiscard]] std::vector<AlarmEntry> readNew();
    [[nodiscard]] std::int64_t unread() const { return m_unread; }
    [[nodiscard]] const std::string &path() const { return m_path; }

private:
    AlarmLog(std::string path, int file)
        : m_path(std::move(path))
        , m_file(file)
    {
    }
    std::string m_path;
    int m_file = -1;
    /// read so far, and what stands behind it that is no whole line yet
    std::int64_t m_at = 0;
    std::string m_rest;
    std::int64_t m_lines = 0, m_unread = 0;
    /// own ones that readNew() has not come by
    std::vector<std::string> m_own;
};

/// "run.alarms.jsonl" of "run.trainyard-recording": beside it.
[[nodiscard]] std::string alarmLogBeside(const std::string &recording);

} // namespace trainyard::desk
