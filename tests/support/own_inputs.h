#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where tests find files of other tools: small ones of our own in tests/data, which are always there, and those that
// were collected beside the repository (TRAINYARD_SHARED_DIR), which need not be. What is asked of the one is asked of
// both.

#include <filesystem>
#include <string>
#include <vector>

namespace trainyard::tests {

/// "formats/logs/nemo.log"; tests/data/manifest.json says what is in each.
inline std::string ownInput(const std::string &path)
{
    return TRAINYARD_SOURCE_DIR "/tests/data/" + path;
}

inline std::string sharedInput(const std::string &path)
{
    return TRAINYARD_SHARED_DIR "/" + path;
}

inline bool isShared(const std::string &path)
{
    return std::filesystem::exists(sharedInput(path));
}

/// Those of a path that is in both folders, ours first.
inline std::vector<std::string> inputs(const std::string &path)
{
    std::vector<std::string> all { ownInput(path) };
    if (isShared(path))
        all.push_back(sharedInput(path));
    return all;
}

} // namespace trainyard::tests
