// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/unequal_gpus/offers_internal.h"
#include "core/systems/unequal_gpus/state_fill.h"

#include "core/base/number_text.h"
#include "core/base/words.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <ranges>
#include <tuple>

namespace trainyard {

namespace {

/// All that tells kinds apart; names and counts do not.
auto content(const RankKind &kind)
{
    return std::tie(kind.forward, kind.backward, kind.compute, kind.perSample, kind.room, kind.capacity, kind.buffers,
        kind.microBatch, kind.microBatches, kind.stateShare);
}

bool isWhollyPinned(const RankKind &kind)
{
    return kind.microBatch == 0 || kind.microBatches == 0 || (kind.microBatch && kind.microBatches);
}

int pinnedSamples(const RankKind &kind)
{
    return kind.microBatch.value_or(0) * kind.microBatches.value_or(0);
}

class Offers {
public:
    Offers(const ShareProblem &problem, const RankKind &kind)
        : m_problem(problem)
        , m_kind(kind)
        , m_states(kind.stateShare.value_or(problem.balancesState ? 0 : evenShare(problem)) * problem.stateBytes)
        , m_even(evenBytes(problem, kind))
        , m_risen(kind.compute)
    {
        for (std::size_t m = 1; m < m_risen.size(); ++m)
            m_risen[m] = std::max(m_risen[m], m_risen[m - 1]);
    }
    [[nodiscard]] std::vector<Offer> all(SampleRange range)
    {
        if (isWhollyPinned(m_kind)) {
            add(pinnedSamples(m_kind) > 0 ? *m_kind.microBatch : 0,
                pinnedSamples(m_kind) > 0 ? *m_kind.microBatches : 0);
            return std::move(m_offers);
        }
        if (range.least == 0 && !m_kind.microBatch && !m_kind.microBatches)
            add(0, 0);
        const int from = m_kind.microBatch.value_or(1);
        const int to = m_kind.microBatch.value_or(std::min(tableSize(m_kind), range.most));
        for (int m = from; m <= to; ++m)
            addCounts(m, range);
        std::ranges::sort(m_offers, {}, [](const Offer &o) { return std::pair(o.samples(), o.microBatch); });
        return std::move(m_offers);
    }

private:
    void addCounts(int m, SampleRange range)
    {
        const int least = std::max(1, (range.least + m - 1) / m);
        const int most = m_problem.accumulates ? range.most / m : std::min(1, range.most / m);
        const int from = m_kind.microBatches ? std::max(*m_kind.microBatches, least) : least;
        const int to = m_kind.microBatches ? std::min(*m_kind.microBatches, range.most / m) : most;
        for (int l = from; l <= to; ++l)
            add(m, l);
    }
    void add(int m, int l)
    {
        const double compute = m > 0 ? m_risen[std::size_t(m) - 1] + m_kind.perSample * m * l : 0;
        const double room = m_kind.room + kByteOfRounding;
        if (compute + m_states > room)
            return;
        const double taken = !m_problem.balancesState ? 0 : m_kind.stateShare ? m_kind.room - m_states : compute;
        const double penalty = compute + m_even <= room ? 1 : m_problem.unevenPenalty;
        m_offers.push_back({ m, l, layerTimeAt(m_problem, m_kind, m, l, penalty), taken });
    }

    const ShareProblem &m_problem;
    const RankKind &m_kind;
    double m_states; // bytes of them that it has to hold whatever it does
    double m_even; // that it holds where shares are even
    std::vector<double> m_risen; // compute, without dips
    std::vector<Offer> m_offers;
};

Error tooLarge(const ShareProblem &problem, int kindIndex)
{
    const RankKind &kind = problem.kinds[std::size_t(kindIndex)];
    const std::string name = nameOf(problem, kindIndex);
    const SampleRange range = freeSamples(problem);
    const int m = kind.microBatch.value_or(problem.accumulates ? 1 : std::max(1, range.least));
    if (m > tableSize(kind))
        return { ErrorCode::OutOfRange, name, formatted("would do %d samples in one micro-batch", m),
            formatted("at most %d, the largest micro-batch known of it", tableSize(kind)) };
    const double share = kind.stateShare.value_or(problem.balancesState ? 0 : evenShare(problem));
    const int l = kind.microBatches.value_or(m > 0 ? std::max(1, (range.least + m - 1) / m) : 0);
    const double compute = computeBytes(kind, m, l), states = share * problem.stateBytes;
    if (compute + states <= kind.room + kByteOfRounding)
        return { ErrorCode::OutOfRange, name,
            "cannot do what it is pinned to in a batch of " + std::to_string(problem.batch),
            "fewer samples, or a larger batch" };
    std::vector<std::string> needs;
    if (compute > 0)
        needs.push_back(bytesText(compute) + " for " + counted(std::int64_t(m) * l, "sample"));
    if (states > 0)
        needs.push_back(bytesText(states) + " for its " + percentText(share) + " of the states");
    return { ErrorCode::OutOfRange, name, "needs " + joined(needs, " and "),
        "at most " + bytesText(std::max(0.0, kind.room)) + " in all" };
}

} // namespace

SampleRange freeSamples(const ShareProblem &problem)
{
    int rest = problem.batch, ranks = 0; // pinned samples are no more than the batch: checked()
    for (const RankKind &kind : problem.kinds) {
        if (isWhollyPinned(kind))
            rest -= kind.ranks * pinnedSamples(kind);
        else
            ranks += kind.ranks;
    }
    if (problem.balancesCompute)
        return { problem.mayIdle ? 0 : 1, std::max(rest, 0) };
    if (rest < 0 || ranks == 0)
        return { 0, -1 };
    const int even = rest / ranks;
    const SampleRange range { even, even + (rest % ranks > 0 ? 1 : 0) };
    return { problem.mayIdle ? range.least : std::max(1, range.least), range.most };
}

Expected<ShareProblem> partOf(const ShareProblem &problem, int extrapolate)
{
    if (extrapolate < 1 || problem.batch % extrapolate > 0)
        return std::unexpected(Error { ErrorCode::BadValue, "extrapolation",
            formatted("by %d of a batch of %d", extrapolate, problem.batch), "a factor that divides the batch" });
    ShareProblem part = problem;
    part.batch /= extrapolate;
    for (RankKind &kind : part.kinds) {
        kind.perSample *= extrapolate; // the others take as much
        if (!kind.microBatches)
            continue;
        if (*kind.microBatches % extrapolate > 0)
            return std::unexpected(Error { ErrorCode::BadValue, "extrapolation",
                formatted("by %d of a rank that is pinned to %d micro-batches", extrapolate, *kind.microBatches),
                "a factor that divides them" });
        *kind.microBatches /= extrapolate;
    }
    if (auto sound = checked(part); !sound)
        return std::unexpected(sound.error());
    return part;
}

std::vector<OfferGroup> offerGroups(const ShareProblem &problem)
{
    std::vector<int> order;
    for (int k = 0; k < int(problem.kinds.size()); ++k)
        if (problem.kinds[std::size_t(k)].ranks > 0)
            order.push_back(k);
    const auto kind = [&problem](int k) -> const RankKind & { return problem.kinds[std::size_t(k)]; };
    std::ranges::stable_sort(order, [&kind](int a, int b) { return content(kind(a)) < content(kind(b)); });
    const SampleRange range = freeSamples(problem);
    std::vector<OfferGroup> groups;
    for (const int k : order) {
        if (groups.empty() || content(kind(groups.back().kinds.front())) != content(kind(k)))
            groups.push_back({ {}, 0, Offers(problem, kind(k)).all(range), isWhollyPinned(kind(k)) });
        groups.back().kinds.push_back(k);
        groups.back().ranks += kind(k).ranks;
    }
    return groups;
}

double bytesForOffers(const ShareProblem &problem)
{
    if (!problem.balancesState)
        return std::numeric_limits<double>::infinity();
    double room = 0;
    for (const RankKind &kind : problem.kinds)
        room += kind.ranks * kind.room;
    return room - problem.stateBytes + kByteOfRounding / 2;
}

Error whyNone(const ShareProblem &problem, const std::vector<OfferGroup> &groups)
{
    std::int64_t least = 0, most = 0;
    const SampleRange range = freeSamples(problem);
    const bool isTooFew = !problem.mayIdle && problem.batch < rankCount(problem);
    for (const OfferGroup &group : groups) {
        if (group.offers.empty() && !isTooFew && range.most >= 0)
            return tooLarge(problem, group.kinds.front());
        if (group.offers.empty())
            continue;
        least += std::int64_t(group.ranks) * group.offers.front().samples();
        most += std::int64_t(group.ranks) * group.offers.back().samples();
    }
    const std::string batch = "batch of " + counted(problem.batch, "sample");
    if (isTooFew || least > problem.batch)
        return { ErrorCode::OutOfRange, batch,
            formatted("is less than %s need", counted(rankCount(problem), "GPU").c_str()),
            formatted("at least %lld, or GPUs without samples",
                static_cast<long long>(std::max<std::int64_t>(least, rankCount(problem)))) };
    if (most < problem.batch)
        return { ErrorCode::OutOfRange, batch, "is more than fits on the GPUs or is pinned to them",
            formatted("at most %lld", static_cast<long long>(most)) };
    return { ErrorCode::OutOfRange, batch, "is no sum of micro-batches that fit",
        "another batch, or fewer pinned shares" };
}

Error whyTooFull(const ShareProblem &problem, double least)
{
    double room = 0;
    for (const RankKind &kind : problem.kinds)
        room += kind.ranks * kind.room;
    return { ErrorCode::OutOfRange, "memory of all GPUs",
        "needs " + bytesText(problem.stateBytes) + " for states and " + bytesText(least)
            + " for the smallest micro-batches",
        "at most " + bytesText(std::max(0.0, room)) + " in all" };
}

Expected<Shares> sharesOf(const ShareProblem &problem, const std::vector<OfferGroup> &groups,
    std::vector<std::vector<Offer>> chosen, int extrapolate)
{
    Shares shares;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        for (Offer &offer : chosen[g]) {
            const RankKind &kind = problem.kinds[std::size_t(groups[g].kinds.front())];
            offer.microBatches *= extrapolate;
            offer.time = layerTime(problem, kind, offer.microBatch, offer.microBatches);
        }
        std::ranges::sort(
            chosen[g], std::greater {}, [](const Offer &o) { return std::pair(o.samples(), o.microBatch); });
        std::size_t next = 0;
        for (const int k : groups[g].kinds) {
            const RankKind &kind = problem.kinds[std::size_t(k)];
            for (int rank = 0; rank < kind.ranks; ++rank, ++next) {
                const Offer &offer = chosen[g][next];
                const int m = offer.microBatch, l = offer.microBatches;
                shares.layerTime = std::max(shares.layerTime, offer.time);
                shares.sumMicroBatch += m;
                if (rank > 0 && shares.ranks.back().microBatch == m && shares.ranks.back().microBatches == l)
                    ++shares.ranks.back().ranks;
                else
                    shares.ranks.push_back(
                        { k, 1, m, l, 0, offer.time, computeBytes(kind, m, l), !holdsEvenShare(problem, kind, m, l) });
            }
        }
    }
    std::ranges::stable_sort(shares.ranks, {}, &RankShare::kind);
    if (auto filled = fillStates(problem, shares); !filled)
        return std::unexpected(filled.error());
    return shares;
}

} // namespace trainyard
