#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The first tier of a search: what can be said of a candidate without simulating it. Layer costs, stage sums, states
// and orders of memory are worked out once for each combination of the axes that they depend on and shared by all
// candidates of the space, so that a candidate costs table look-ups and a closed form.
//
// What is claimed, and tested against run(): the iteration takes at least `leastSeconds`, in which GPUs compute for at
// least `leastComputing`; a GPU of the fullest stage holds at least `leastFill` of its memory, exactly so where
// `isFillExact`; a candidate that is refused is refused, or found infeasible, by run() too. `estimate` is a closed form
// and no bound (evaluate/estimate.h). One scorer a thread; it grows with what it has seen, within kMostTable.

#include "core/evaluation/evaluate/run.h"
#include "core/planner/space/space.h"

#include <memory>
#include <span>

namespace trainyard {

enum class ScoreState : std::uint8_t {
    /// it cannot be placed, shaped or run by its stack: whyNot() says why
    Refused,
    /// leastFill is above 1
    TooLarge,
    /// run() has to decide
    Open,
};

/// Where the state is TooLarge, no time is given.
struct Score {
    ScoreState state = ScoreState::Open;
    bool isFillExact = false;
    /// index for reasonText(); 0: none
    std::uint16_t reason = 0;
    int gpusUsed = 0;
    /// 0 where nothing is known
    double leastSeconds = 0;
    /// seconds; 0 where nothing is known
    double estimate = 0;
    /// of the fullest GPU: bytes / capacity
    double leastFill = 0;
    /// GPU-seconds of an iteration in which GPUs compute; 0 where nothing is known
    double leastComputing = 0;
    /// that could be simulated meanwhile, about; 0 where it comes from tables
    std::int64_t tasks = 0;
};

/// What a candidate is known to take at least.
struct LeastWork {
    /// of an iteration; 0: nothing is known
    double seconds = 0;
    /// that it uses
    int gpus = 1;
    /// GPU-seconds of an iteration in which they compute; 0: nothing is known
    double computing = 0;
};

/// The fewest GPUs that the plan uses, wherever it is placed. Where replicas are pinned to smaller tensor groups, all
/// count as if they were.
[[nodiscard]] int leastGpusOf(const Plan &plan);

/// Values of one kind that a scorer keeps; then it forgets all and begins anew.
inline constexpr std::size_t kMostTable = 1'000'000;

class Scorer {
public:
    /// Refers to the space and the catalogue.
    Scorer(const SearchSpace &space, const Catalogue &catalogue);
    ~Scorer();
    Scorer(const Scorer &) = delete;
    Scorer &operator=(const Scorer &) = delete;

    [[nodiscard]] Score score(const Candidate &candidate);
    /// For spaces without tables, a lower bound from the work alone. It needs no placement, so that it is far cheaper
    /// than score(). Seconds 0 where nothing is known.
    [[nodiscard]] LeastWork leastWork(const Candidate &candidate);
    /// Of candidates numbered [first, first + scores.size()), the last axes varying fastest.
    void scoreRange(std::uint64_t first, std::span<Score> scores);
    /// "tensor 16 does not divide the 12 heads"
    [[nodiscard]] const std::string &reasonText(std::uint16_t reason) const;
    /// Whether the tables apply to this space; else every score comes from run(Depth::Estimate) and bounds of its own.
    [[nodiscard]] bool isTabled() const;

private:
    struct Private;
    std::unique_ptr<Private> m_private;
};

} // namespace trainyard
