#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What is fuzzed, a reader each, and what has to hold for any input beyond not crashing: what was accepted is written
// and read back equal, what was refused names its place, no exception leaves. Any thread.

#include <cstddef>
#include <string>
#include <vector>

namespace trainyard::fuzz {

struct Outcome {
    bool isAccepted = false;
    std::string broken; // what did not hold; empty: all did
};

struct Target {
    const char *name;
    Outcome (*run)(const std::string &input);
    std::vector<std::string> (*seeds)(const std::string &sourceFolder);
    std::size_t mostBytes = std::size_t(32) << 10; // of an input; what is longer is cut there
};

[[nodiscard]] const std::vector<Target> &targets();

/// Words of the formats: the keys and names of the schemas, and of the catalogue's entries.
[[nodiscard]] std::vector<std::string> dictionary(const std::vector<std::string> &seeds);

} // namespace trainyard::fuzz
