#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the fuzzing begins with: the files that the repository has of each format, and what once broke a reader
// (tests/fuzz/corpus). `folder` is the repository's root.

#include <string>
#include <vector>

namespace trainyard::fuzz {

[[nodiscard]] std::vector<std::string> planSeeds(const std::string &folder);
[[nodiscard]] std::vector<std::string> settingSeeds(const std::string &folder);
[[nodiscard]] std::vector<std::string> configSeeds(const std::string &folder);
[[nodiscard]] std::vector<std::string> rowSeeds(const std::string &folder);
[[nodiscard]] std::vector<std::string> traceSeeds(const std::string &folder);
[[nodiscard]] std::vector<std::string> gpuSeeds(const std::string &folder);
[[nodiscard]] std::vector<std::string> modelSeeds(const std::string &folder);
[[nodiscard]] std::vector<std::string> evaluateSeeds(const std::string &folder);

/// Of a family of readers of recordings: tests/fuzz/seeds/FAMILY and tests/fuzz/corpus/FAMILY.
[[nodiscard]] std::vector<std::string> readerSeeds(const std::string &folder, const char *family);

} // namespace trainyard::fuzz
