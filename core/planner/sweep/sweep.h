#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Many plans evaluated, one a row: every combination of values of some keys, or so many drawn from them. Rows are
// numbered, independent and exact, so that threads, processes and machines may work on them in any order and the file
// is the same: rows stand in the order of their numbers. A file that a killed sweep left is valid up to its last line
// and is gone on with (resume).
//
//   SweepSpec spec { plan, { *parseVary("parallelism.tensor=1,2,4,8"), *parseVary("parallelism.pipeline=1..16:*2") } };
//   if (checkSweep(spec).empty()) { SweepRows rows(spec, builtinCatalogue()); rows.row(7); }

#include "core/evaluation/evaluate/run.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainyard {

struct SweepAxis {
    /// dotted, as --set takes it
    std::string key;
    /// each JSON, else a text
    std::vector<std::string> values;
    bool operator==(const SweepAxis &) const = default;
};

/// A file that the sweep reads beside its plan: another content gives other rows.
struct SweepInput {
    /// as the plan or a value names it
    std::string path;
    /// of its bytes; "missing" where it cannot be read
    std::string fingerprint;
    bool operator==(const SweepInput &) const = default;
};

struct SweepSpec {
    PlanPtr plan;
    /// the last varies fastest
    std::vector<SweepAxis> vary;
    /// so many drawn instead of all, none twice; 0: all
    std::uint64_t random = 0;
    std::uint64_t seed = 1;
    /// sweepInputs() of it when it was begun
    std::vector<SweepInput> inputs = {};
    /// of the plan, whose paths are relative to it, from the file of rows; empty: no inputs
    std::string folder = {};
    /// that began it (sweepProgram()), where it was read from a file
    std::string program = {};

    /// Of all axes; ~0 where 64 bits do not hold it.
    [[nodiscard]] std::uint64_t combinations() const;
    [[nodiscard]] std::uint64_t rows() const;
    /// Index of the value of each axis in a row. The same for the same seed on every machine.
    [[nodiscard]] std::vector<std::size_t> choices(std::uint64_t row) const;
    /// Values of a row, one an axis.
    [[nodiscard]] std::vector<std::string> values(std::uint64_t row) const;
    /// Of plan, keys, values, number, seed and inputs: a file goes on only with its own sweep.
    [[nodiscard]] std::string fingerprint() const;
};

/// Files that the plan and values name: models, traces. Each once, in their order.
[[nodiscard]] std::vector<SweepInput> sweepInputs(const SweepSpec &spec);
/// The version of this program and a fingerprint of its catalogue: rows of two of them do not go together.
[[nodiscard]] const std::string &sweepProgram();

/// "KEY=V1,V2,…"; brackets and quotes keep their commas. "KEY=1..16:*2" and "KEY=10..100:+10" are ranges, and may stand
/// between values; a range without a step goes by one.
[[nodiscard]] Expected<SweepAxis> parseVary(std::string_view text);
/// Errors: unknown keys with the nearest known one, values that no plan can have (of more than kMostChecked values of a
/// key so many, the ends among them; a row with another bad one is refused), more rows than kMostSweepRows.
[[nodiscard]] Errors checkSweep(const SweepSpec &spec);
inline constexpr std::uint64_t kMostSweepRows = 100'000'000;
inline constexpr std::size_t kMostAxisValues = 100'000;
inline constexpr std::size_t kMostChecked = 1'000;

struct SweepRow {
    std::uint64_t number = 0;
    std::vector<std::string> values;
    /// "feasible", "infeasible", "refused"
    std::string state;
    /// of what is not feasible, one line
    std::string reason;
    /// in a fixed order, names of docs/metrics.md
    std::vector<std::pair<std::string, Metric>> metrics;
};

/// Names of a row's metrics, in their order.
[[nodiscard]] const std::vector<std::string> &sweepMetricNames();

/// Rows of one sweep, evaluated; values are read once each, not once a row. One a thread.
class SweepRows {
public:
    /// Refers to the catalogue. The spec has no errors of checkSweep(). Several threads may share the topologies that
    /// they know, which are most of their memory.
    SweepRows(SweepSpec spec, const Catalogue &catalogue, std::shared_ptr<GraphCache> graphs = {});
    ~SweepRows();
    SweepRows(SweepRows &&) noexcept;

    /// A plan that is refused is a row, not an error. Nothing where it was stopped.
    [[nodiscard]] std::optional<SweepRow> row(std::uint64_t number, const std::stop_token &stop = {});
    /// The plan of a row. Errors: values that contradict each other.
    [[nodiscard]] ExpectedAll<PlanPtr> plan(std::uint64_t number);

private:
    struct Private;
    std::unique_ptr<Private> m_private;
};

} // namespace trainyard
