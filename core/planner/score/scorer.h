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
    Refused, // it cannot be placed, shaped or run by its stack: whyNot() says why
    TooLarge, // leastFill is above 1
    Open, // run() has to decide
};

/// Of what is too large no time is told.
struct Score {
    ScoreState state = ScoreState::Open;
    bool isFillExact = false;
    std::uint16_t reason = 0; // index for reasonText(); 0: none
    int gpusUsed = 0;
    double leastSeconds = 0; // 0 where nothing is known
    double estimate = 0; // seconds; 0 where nothing is known
    double leastFill = 0; // of the fullest GPU: bytes / capacity
    double leastComputing = 0; // GPU-seconds of an iteration in which GPUs compute; 0 where nothing is known
    std::int64_t tasks = 0; // that could be simulated meanwhile, about; 0 where it comes from tables
};

/// What a candidate is known to take at least.
struct LeastWork {
    double seconds = 0; // of an iteration; 0: nothing is known
    int gpus = 1; // that it uses
    double computing = 0; // GPU-seconds of an iteration in which they compute; 0: nothing is known
};

/// That a plan uses, wherever it is placed: of replicas that are pinned to smaller tensor groups as if all were there.
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
    /// Where tables do not apply, what its work alone takes at least: a bound without a placement, beside which score()
    /// is dear. Seconds 0 where nothing is known.
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
