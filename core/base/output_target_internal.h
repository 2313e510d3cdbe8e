#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What an output's path stands for: links are followed one by one, because the last may be an open descriptor of this
// program (/dev/stdout, >(a command)), and its target need not exist yet. Private: include it in .cpp files only.

#include <string>

namespace trainyard::detail {

struct OutputTarget {
    enum class Kind { File, Stream, StandardOutput };
    Kind kind = Kind::File;
    /// of the file or the device, without links
    std::string path;
    /// of a stream that is open already
    int descriptor = -1;
    /// why nothing can be written there; empty: it can
    std::string fault;
};

[[nodiscard]] OutputTarget findOutputTarget(const std::string &path);

} // namespace trainyard::detail
