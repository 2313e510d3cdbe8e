#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Published measurements: a row is a plan and what was measured for it (docs/validation.md gives the file's form).
// The built-in rows of resources/validation are compiled in; a user's own come from files of the same form. Values,
// read once and shared read-only by all threads.

#include "core/base/error.h"
#include "core/base/text_file.h"
#include "core/facts/plan/plan.h"

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// Guessed: some input was not published and had to be assumed
enum class RowStatus : std::uint8_t { Gated, Guessed };
/// Fit: parameters were fitted to it, so it proves less
enum class RowRole : std::uint8_t { Fit, Test };

struct PublishedFigure {
    /// "iteration_time_s", "memory.per_stage[0].peak_bytes"
    std::string metric;
    /// positive, in the metric's unit
    double value = 0;
};

struct ValidationRow {
    /// unique in its file
    std::string id;
    /// rows of one source that are summarised together; may be empty
    std::string group;
    std::string note;
    RowStatus status = RowStatus::Gated;
    RowRole role = RowRole::Test;
    PlanPtr plan;
    std::vector<PublishedFigure> published;
};

struct RowSet { // one file
    /// what --source names
    std::string source;
    std::string title, url, note;
    std::vector<ValidationRow> rows;
};

/// A measurement that is left out, and why.
struct LeftOutRow {
    std::string source, id, reason;
};

/// Reads a file of rows. `fileName` is for messages; `baseDir` resolves relative paths of the plans. Unknown keys, also
/// those of a plan, are faults: a misspelt key would quietly evaluate another plan.
[[nodiscard]] ExpectedAll<RowSet> parseRows(
    std::string_view json, const std::string &fileName, const std::string &baseDir = {});
[[nodiscard]] ExpectedAll<RowSet> readRows(const std::string &path, FileKinds kinds = FileKinds::RegularOnly);

/// What is built in, by source. Broken files are a broken build: the program ends.
[[nodiscard]] const std::vector<RowSet> &builtinRows();
[[nodiscard]] const std::vector<LeftOutRow> &leftOutRows();

[[nodiscard]] const char *toString(RowStatus status);
[[nodiscard]] const char *toString(RowRole role);

} // namespace trainyard
