#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A program beside ours that is waited for, and a directory of its own for what it reads and writes. No shell: its
// arguments reach it as they are. Linux; any thread.

#include "core/base/error.h"

#include <filesystem>
#include <stop_token>
#include <vector>

namespace trainyard::detail {

/// A directory that nobody else can read, gone with all that is in it when this goes.
class PrivateDirectory {
public:
    PrivateDirectory();
    ~PrivateDirectory();
    PrivateDirectory(const PrivateDirectory &) = delete;
    PrivateDirectory &operator=(const PrivateDirectory &) = delete;
    /// Empty where none could be made.
    [[nodiscard]] const std::filesystem::path &path() const { return m_path; }

private:
    std::filesystem::path m_path;
};

struct ChildEnd {
    /// negative: the signal that ended it
    int exitCode = 0;
    /// it was ended after `seconds`
    bool isLate = false;
};

/// Runs it until it ends, nothing to read, what it says written to `log`, no other file of ours open. After so many
/// seconds, or where the token says so, it is ended.
/// Errors: Cancelled; CannotRead where there is no such program or it cannot be run: `what` says why.
[[nodiscard]] Expected<ChildEnd> runChild(const std::vector<std::string> &command, const std::filesystem::path &log,
    double seconds, const std::stop_token &stop);

} // namespace trainyard::detail
