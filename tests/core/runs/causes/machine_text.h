#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The text of a recording, written by docs/recording-file.md: columns, moments as differences.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace trainyard::test {

struct MachineSpan {
    std::int64_t start = 0, duration = 0, launched = 0;
    int name = 0;
    bool communicates = false;
    // of an exchange: index into groups (-1: it is none), operation (names), number, bytes
    int group = -1, operation = 0;
    std::int64_t sequence = 0;
    double bytes = 0;
};

struct MachineRankText {
    /// [stream]
    std::vector<std::vector<MachineSpan>> streams;
    /// start and end of each step on the host
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;
    std::string host;
    /// Hz over time; empty: none
    std::vector<std::pair<std::int64_t, double>> clock;
};

class MachineText {
public:
    [[nodiscard]] int name(const std::string &text);
    [[nodiscard]] int group(const std::vector<int> &ranks);
    [[nodiscard]] std::string write(const std::vector<MachineRankText> &ranks) const;

private:
    std::vector<std::string> m_names;
    std::map<std::string, int> m_nameOf;
    std::vector<std::vector<int>> m_groups;
    std::map<std::vector<int>, int> m_groupOf;
};

} // namespace trainyard::test
