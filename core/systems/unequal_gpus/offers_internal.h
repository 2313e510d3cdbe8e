#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What each rank could do (offers), and equal ranks as one group, in an order that depends on what they are and not on
// how they were listed: both optimisers and the baselines choose among the same offers.

#include "core/systems/unequal_gpus/layer_time.h"

namespace trainyard {

struct Offer {
    int microBatch = 0, microBatches = 0;
    /// seconds of one layer
    double time = 0;
    /// of its room that states of others cannot have
    double bytes = 0;

    [[nodiscard]] int samples() const { return microBatch * microBatches; }
};

struct OfferGroup {
    /// equal ones
    std::vector<int> kinds;
    int ranks = 0;
    /// by samples, then by micro-batch
    std::vector<Offer> offers;
    /// to one offer
    bool isPinned = false;
};

/// Samples that a rank may have: any from `least` to `most`.
struct SampleRange {
    int least = 0, most = 0;
};

/// What ranks that are not pinned to one offer may have; where the batch is even, one number or two neighbours.
[[nodiscard]] SampleRange freeSamples(const ShareProblem &problem);

[[nodiscard]] std::vector<OfferGroup> offerGroups(const ShareProblem &problem);

/// Bytes that offers of all ranks may add up to, so that the states have room beside them; infinite where every rank
/// holds an even share, which its offers respect.
[[nodiscard]] double bytesForOffers(const ShareProblem &problem);

/// The problem with the part of its batch that is solved; an error where it is no whole part.
[[nodiscard]] Expected<ShareProblem> partOf(const ShareProblem &problem, int extrapolate);

/// Why no choice of offers can be: a rank without any, or a batch that they cannot add up to.
[[nodiscard]] Error whyNone(const ShareProblem &problem, const std::vector<OfferGroup> &groups);
/// Why none fits: `least` bytes of compute beside the states.
[[nodiscard]] Error whyTooFull(const ShareProblem &problem, double least);

/// What was chosen for the ranks of each group, larger shares of the batch first, as shares with states filled in; each
/// with `extrapolate` times as many micro-batches.
[[nodiscard]] Expected<Shares> sharesOf(const ShareProblem &problem, const std::vector<OfferGroup> &groups,
    std::vector<std::vector<Offer>> chosen, int extrapolate = 1);

} // namespace trainyard
