#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A file of rows as text. Its head says whose rows they are, with the whole plan, so that a file can be gone on with,
// checked and opened without the plan beside it:
//
//   CSV         # trainyard sweep {"format":"trainyard.sweep",…}
//               row,parallelism.tensor,…,state,iteration_time_s,…,reason,sum
//               0,1,…,feasible,12.4,…,,5f1c09ab
//   JSON lines  {"format":"trainyard.sweep",…}
//               {"row":0,"parallelism.tensor":1,…,"state":"feasible","iteration_time_s":12.4,…,"reason":null,"sum":"5f1c09ab"}
//
// A row's sum is a fingerprint of what stands before it in its line, so that a row that was changed since is known. A
// row is a line, whatever it says. Numbers are the shortest that read back as the same; times of evaluation are not
// among them, so that two runs of a sweep give one file. Pure, any thread.

#include "core/planner/sweep/sweep.h"

#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

enum class SweepFormat : std::uint8_t { Csv, JsonLines };

/// By the ending of a name: .csv, .jsonl or .ndjson.
[[nodiscard]] std::optional<SweepFormat> sweepFormatOf(std::string_view path);

/// What stands before the rows: whole lines.
[[nodiscard]] std::string sweepHead(const SweepSpec &spec, SweepFormat format);

/// Of the first line of a file, without its end: the sweep that it says. `baseDir` is the folder of the file; relative
/// paths in its plan are those of the folder that the head names from there, or of `baseDir` where it names none.
/// Errors: no head of a sweep, a newer one, or a plan that cannot be read.
[[nodiscard]] ExpectedAll<SweepSpec> parseSweepHead(
    std::string_view line, const std::string &fileName, const std::string &baseDir = {});
/// Whether the line begins as one: before it is read whole.
[[nodiscard]] bool isSweepHead(std::string_view line);

/// Rows of one sweep as lines.
class SweepLines {
public:
    SweepLines(const SweepSpec &spec, SweepFormat format);
    /// With its end of line.
    void append(const SweepRow &row, std::string &text) const;

private:
    /// without its sum and its end
    void appendRow(const SweepRow &row, std::string &text) const;

    SweepFormat m_format;
    /// as JSON
    std::vector<std::string> m_keys;
};

/// Whether a line, without its end, says of a row what was worked out again: the same state, and figures within a
/// billionth, which is what machines differ by. A row that was refused for want of memory may have any state by now.
[[nodiscard]] bool saysTheSame(std::string_view line, const SweepRow &row, SweepFormat format);

/// Whether a line, without its end, is the row of this number as it was written: one that is torn or was changed is
/// not.
[[nodiscard]] bool isSweepRow(std::string_view line, std::uint64_t number, SweepFormat format);

} // namespace trainyard
