#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which files a command reads and writes, checked before it writes: an output that is also an input, or another output,
// would destroy it.

#include "core/base/error.h"
#include "core/facts/plan/named_files.h"

#include <string>
#include <vector>

namespace trainyard::cli {

struct NamedFile {
    /// "--out", as a message calls it
    std::string option;
    /// empty: not asked for
    std::string path;
};

/// Empty, or one error for each output that is the same file (by name, by link or by inode) as an input or another
/// output. Pipes, devices and standard output hold nothing that could be destroyed.
[[nodiscard]] Errors outputClashes(const std::vector<NamedFile> &outputs, const std::vector<std::string> &inputs);

} // namespace trainyard::cli
