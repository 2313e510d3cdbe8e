#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Reading a whole file that a user named, up to a bound: a device that never ends, or a file that is no plan at all, is
// told before memory ends. Any thread.

#include "core/base/error.h"

#include <cstddef>
#include <string>

namespace trainyard {

/// plans, model configurations, validation rows
inline constexpr std::size_t kMostJsonBytes = std::size_t(16) << 20;
/// traces of requests
inline constexpr std::size_t kMostTableBytes = std::size_t(64) << 20;

/// Pipes and devices give their bytes once and may never end, so only what a command line names may be one; a file that
/// is read again for each evaluation, or that a window reads, has to be a regular file.
enum class FileKinds : bool { RegularOnly, StreamsToo };

struct ReadOptions {
    std::size_t mostBytes = kMostJsonBytes;
    FileKinds kinds = FileKinds::RegularOnly;
};

/// The bytes of the file. Errors: CannotRead with the system's reason, or where it is longer than the bound; `right`
/// says what was expected there.
[[nodiscard]] Expected<std::string> readTextFile(
    const std::string &path, const std::string &right, ReadOptions options = {});
/// The same of standard input, which messages call "stdin".
[[nodiscard]] Expected<std::string> readStandardInput(const std::string &right, std::size_t mostBytes = kMostJsonBytes);

} // namespace trainyard
