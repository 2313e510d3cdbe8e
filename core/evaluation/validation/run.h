#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Evaluates rows and compares what was measured with what the model says. Runs on threads of its own while it is
// called; the catalogue is only read. A fitting program passes a catalogue of its own.

#include "core/evaluation/validation/rows.h"
#include "core/facts/catalogue/catalogue.h"

#include <functional>
#include <optional>
#include <span>
#include <stop_token>

namespace trainyard {

struct ValidationResult { // one published figure of one row
    std::string source, group, id, metric;
    RowStatus status = RowStatus::Gated;
    RowRole role = RowRole::Test;
    double published = 0;
    /// empty where the plan cannot be evaluated or the metric does not apply
    std::optional<double> predicted;
    /// why, in that case; else what blocks the plan (it does not fit), if anything
    std::string problem;
    std::string note;
    PlanPtr plan;
    /// what it was measured on; empty where nothing was predicted
    std::vector<EvidenceKey> evidence;
    std::optional<bool>
        fits = {}; // whether the model sees the plan fit in memory; empty where it says nothing of memory
    /// publicationOf() its source
    std::string publication = {};
    /// of every GPU in use, or of a relative
    bool hasMeasuredKernels = true;
    /// predicted / published - 1: positive where the model says more than was measured.
    [[nodiscard]] std::optional<double> error() const
    {
        return predicted ? std::optional(*predicted / published - 1) : std::nullopt;
    }
};

struct RunOptions {
    int threads = 2;
    std::stop_token stop = {};
    std::function<void(std::size_t done, std::size_t rows)>
        progress = {}; // called on any of the threads, one at a time
};

struct ValidationRun {
    /// in the order of the rows; complete rows only
    std::vector<ValidationResult> results;
    /// false: stopped before the last row
    bool isComplete = true;
};

/// Evaluates every row, metrics only. A row that cannot be evaluated is a result, with its problem.
[[nodiscard]] ValidationRun runRows(
    std::span<const RowSet> sets, const Catalogue &catalogue, const RunOptions &options = {});

/// What a source was published in: sources of one paper or one repository share their clusters and authors, so that the
/// others say less of a new one than they seem to.
[[nodiscard]] std::string publicationOf(const RowSet &set);

/// The catalogue as if nobody had measured a kernel: every GPU by the curves of those that nobody did measure.
[[nodiscard]] Catalogue withoutMeasuredKernels(Catalogue catalogue);

} // namespace trainyard
