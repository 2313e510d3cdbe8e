#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the core answered to many plans, small enough to keep and exact enough to compare with what it answers after a
// change: every figure, a hash of every row of spans, a digest of every memory curve. Nothing in it hangs on numbers of
// spans or tracks or on their order: a row is known by what it shows, a span by its work, its micro-batch and its
// chunk.
//
//   const PlanRecord record = recordOf(*evaluation);   // reading.h
//   RecordWriter(out).add(record);

#include "core/base/error.h"
#include "core/base/units.h"

#include <array>
#include <cstdint>
#include <istream>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::record {

/// Starts a hash of 64-bit words.
inline constexpr std::uint64_t kEmptyHash = 0x9e3779b97f4a7c15u;
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t word)
{
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    return hash ^ (hash >> 32);
}
[[nodiscard]] std::uint64_t hashOf(std::string_view text);

struct RowRecord { // of the spans of one row of the timeline
    std::uint64_t spans = 0;
    std::uint64_t hash = kEmptyHash;
    std::uint64_t origins = kEmptyHash; // the spans whose results its transfers carry
    std::uint64_t causes = kEmptyHash; // the spans that set its starts; of several that end at once it is any one
    // What a difference is told by; sums of nanoseconds, modulo 2^64
    std::uint64_t starts = 0, ends = 0;
    Nanoseconds lastEnd = 0;
    double moved = 0; // sum over the spans of the share that they moved, each in its own weight
    bool operator==(const RowRecord &) const = default;
};

struct CurveRecord { // bytes over time as a function: of an instant counts what it leaves
    std::uint64_t points = 0; // at which the bytes change
    std::uint64_t times = kEmptyHash, bytes = kEmptyHash;
    /// The largest, also within an instant; then sums of the bytes, in whole and in eighths of the points, each point
    /// in its own weight: what differs in one point differs here, and can still be compared to a relative tolerance.
    std::array<double, 10> figures {};
    bool operator==(const CurveRecord &) const = default;
};

struct PlanRecord {
    std::string name; // "sample/…", "row/<source>/<row>", "random/<number>"
    std::uint64_t plan = 0; // hash of the plan's file: records of different plans say nothing
    std::uint64_t order = kEmptyHash; // of the rows, from the first to the last
    std::map<std::string, std::string> texts; // labels, problems, whole nanoseconds
    std::map<std::string, double> figures;
    std::map<std::string, RowRecord> rows;
    std::map<std::string, CurveRecord> curves;
    bool operator==(const PlanRecord &) const = default;
};

using Record = std::vector<PlanRecord>;

/// Writes the file plan by plan; doubles keep every digit. `out` has to stay.
class RecordWriter {
public:
    explicit RecordWriter(std::ostream &out);
    void add(const PlanRecord &plan);

private:
    std::size_t number(const std::string &name);

    std::ostream &m_out;
    std::map<std::string, std::size_t> m_numbers; // of the names that were written
};
void writeRecord(std::ostream &out, const Record &record);
/// Errors: BadValue naming the line that is not one of a record.
[[nodiscard]] Expected<Record> readRecord(std::istream &in);

} // namespace trainyard::record
