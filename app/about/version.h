#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a program answers to --version, and where the samples and pages that came with it lie. Any thread.

#include <string>
#include <utility>
#include <vector>

namespace trainyard::about {

/// Folders that exist; empty: there is none.
struct Places {
    std::string samples, docs;
};

/// Of a program in this folder: beside the source tree that it was built in, in the prefix that it was installed to,
/// or in the folder itself.
[[nodiscard]] Places placesFrom(const std::string &folderOfProgram);

/// "trainyard-cli 0.2.0", then a line each: commit, build, what `more` adds, samples, documentation. No line end after
/// the last.
[[nodiscard]] std::string versionText(
    const std::string &program, const std::vector<std::pair<std::string, std::string>> &more = {});

} // namespace trainyard::about
