#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Ranges that hold for rows which they have not seen. Every publication is held back in turn: what label do its rows
// get from the others, and how far from the middle of the others' errors do they lie? A label's range is read from all
// such errors and widened until it would have held nine in ten of those rows (docs/model.md, "Confidence"). Values; the
// results have to outlive what is made from them.

#include "core/evaluation/validation/run.h"

#include <span>

namespace trainyard {

/// A row that measured time: one figure of it counts.
struct TimedRow {
    const ValidationResult *result = nullptr;
    /// ln(measured time / predicted time)
    double error = 0;
};

/// Of the results with a prediction of a time or a rate; plans with stage times of their own say nothing of the model.
[[nodiscard]] std::vector<TimedRow> timedRows(std::span<const ValidationResult> results);

/// Of results by withoutMeasuredKernels(): those in 16 bits or more. The curve for unmeasured GPUs is no model of
/// narrower kernels, whose speed differs most from chip to chip, and hardly any chip in question has them.
[[nodiscard]] std::vector<TimedRow> specSheetRows(std::span<const ValidationResult> results);

/// Of rows whose inputs were all published: how many for each combination, in the order of their keys.
[[nodiscard]] std::vector<Evidence> evidenceOf(std::span<const TimedRow> rows);

/// What the program would say of a row if all that was measured were `evidence`: the weakest of its GPUs decides.
[[nodiscard]] ConfidenceLabel labelOf(const ValidationResult &row, std::span<const Evidence> evidence);

/// Half of what the times of equal plans differ by, in ln: the median over all plans that one source measured more than
/// once; what is known of the releases that were measured is taken off.
[[nodiscard]] double halfOfRepeats(std::span<const ValidationResult> results);

/// The ranges that a set of rows gives.
class HeldOutRanges {
public:
    /// `rows`: all inputs published. `narrowest`: what equal plans differ by, in ln; no edge is nearer to the middle.
    /// `label`: all rows have this one, whatever was measured; empty: the one that they get without their publication.
    HeldOutRanges(std::vector<TimedRow> rows, double narrowest, std::optional<ConfidenceLabel> label = {});

    /// In ln of measured / predicted. Empty without a row.
    [[nodiscard]] std::optional<TimeRange> range(ConfidenceLabel label, const EvidenceKey &plan) const;
    /// Without experts and with them; each for every stack that shards weights among the rows, and for all other plans
    /// first.
    [[nodiscard]] std::vector<LabelRange> rangesOf(ConfidenceLabel label) const;
    [[nodiscard]] const std::vector<Evidence> &evidence() const { return m_evidence; }

private:
    struct Row {
        TimedRow timed;
        /// of m_publications
        int publication = 0;
        ConfidenceLabel label = ConfidenceLabel::Extrapolated;
        /// way from the middle, in ways to the edge, of the range that the other publications give
        double excess = 0;
    };
    struct Kind { // of plans that share a range
        ConfidenceLabel label = ConfidenceLabel::Extrapolated;
        /// empty: weights are whole, or of a stack without rows that shard
        std::string shardingStack;
        bool isMoe = false;
        /// empty: of every stack that has too few publications to speak for itself
        std::string stack;
        auto operator<=>(const Kind &) const = default;
    };
    struct Spread {
        double low = 0, middle = 0, high = 0;
    };
    /// Whether so many publications ran this stack with whole weights that nobody else has to be asked.
    [[nodiscard]] bool speaksForItself(const std::string &stack, bool isMoe) const;
    [[nodiscard]] Kind kindOf(ConfidenceLabel label, const EvidenceKey &plan) const;
    /// What a row counts for plans of a kind, 0 to 1.
    [[nodiscard]] static double shareFor(const Row &row, const Kind &kind);
    [[nodiscard]] std::vector<double> alike(std::vector<double> weights) const;
    [[nodiscard]] double widening(const Kind &kind) const;
    [[nodiscard]] std::optional<Spread> spread(const Kind &kind, int heldBack) const;
    [[nodiscard]] std::optional<TimeRange> rangeOf(const Kind &kind) const;
    void setExcesses();
    /// no publication is held back
    static constexpr int kNone = -1;

    /// by error
    std::vector<Row> m_rows;
    std::vector<Evidence> m_evidence;
    std::vector<std::string> m_shardingStacks, m_publications;
    double m_narrowest = 0;
};

} // namespace trainyard
