// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/collectives.h"

#include "core/base/median.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

namespace trainyard {

namespace {

constexpr std::size_t kMostCells = std::size_t(16) << 20; // of the table of a longest common sequence
constexpr std::size_t kLookAhead = 64; // beyond it: how far one sequence may run ahead of the other

struct Sequence { // collectives of one communicator on one rank
    std::uint32_t rank = 0;
    std::vector<std::uint32_t> items; // of the rank's collectives
};

class Matcher {
public:
    Matcher(const Recording &recording, const std::stop_token &stop)
        : m_recording(recording)
        , m_stop(stop)
    {
    }

    std::vector<MatchedCollective> match()
    {
        std::map<std::uint32_t, std::vector<Sequence>> byGroup;
        std::set<int> seen;
        for (std::uint32_t r = 0; r < m_recording.ranks.size(); ++r) {
            const RankRecording &rank = m_recording.ranks[r];
            if (rank.rank >= 0 && !seen.insert(rank.rank).second)
                continue;
            for (std::uint32_t i = 0; i < rank.collectives.size(); ++i) {
                std::vector<Sequence> &sequences = byGroup[rank.collectives[i].group];
                if (sequences.empty() || sequences.back().rank != r)
                    sequences.push_back({ r, {} });
                sequences.back().items.push_back(i);
            }
        }
        for (auto &[group, sequences] : byGroup) {
            if (m_stop.stop_requested())
                return {};
            const std::vector<Sequence> sends = takeOut(sequences, "send"), receives = takeOut(sequences, "recv");
            matchGroup(group, sequences);
            matchTransfers(group, sends, receives);
        }
        if (m_stop.stop_requested())
            return {};
        std::ranges::stable_sort(m_matched, {}, [&](const MatchedCollective &one) {
            return collective(one.parts.front().rank, one.parts.front().collective).start;
        });
        return std::move(m_matched);
    }

private:
    [[nodiscard]] const RecordedCollective &collective(std::uint32_t rank, std::uint32_t item) const
    {
        return m_recording.ranks[rank].collectives[item];
    }

    [[nodiscard]] static bool isSame(const RecordedCollective &a, const RecordedCollective &b)
    {
        const bool hasNumbers = a.sequence >= 0 && b.sequence >= 0;
        const bool hasSizes = a.bytes > 0 && b.bytes > 0;
        return a.operation == b.operation && (!hasNumbers || a.sequence == b.sequence)
            && (hasNumbers || !hasSizes || a.bytes == b.bytes);
    }

    /// Those whose operation begins so.
    [[nodiscard]] std::vector<Sequence> takeOut(std::vector<Sequence> &sequences, std::string_view operation) const
    {
        std::vector<Sequence> taken;
        for (Sequence &sequence : sequences) {
            const auto isOther = [&](std::uint32_t item) {
                return !m_recording.names[collective(sequence.rank, item).operation].starts_with(operation);
            };
            const auto first = std::ranges::stable_partition(sequence.items, isOther).begin();
            if (first != sequence.items.end())
                taken.push_back({ sequence.rank, { first, sequence.items.end() } });
            sequence.items.erase(first, sequence.items.end());
        }
        std::erase_if(sequences, [](const Sequence &sequence) { return sequence.items.empty(); });
        return taken;
    }

    /// Of a group of two, what the one sends the other receives. In larger groups nobody tells who the other is.
    void matchTransfers(std::uint32_t group, const std::vector<Sequence> &sends, const std::vector<Sequence> &receives)
    {
        if (group >= m_recording.groups.size() || m_recording.groups[group].ranks.size() != 2)
            return;
        for (const Sequence &from : sends)
            for (const Sequence &to : receives) {
                if (from.rank == to.rank || m_stop.stop_requested())
                    continue;
                const auto hasSameBytes = [&](std::size_t i, std::size_t k) {
                    const double sent = collective(from.rank, from.items[i]).bytes,
                                 received = collective(to.rank, to.items[k]).bytes;
                    return sent <= 0 || received <= 0 || sent == received;
                };
                const auto hasSameNumber = [&](std::size_t i, std::size_t k) {
                    const std::int64_t sent = collective(from.rank, from.items[i]).sequence;
                    return sent >= 0 && sent == collective(to.rank, to.items[k]).sequence && hasSameBytes(i, k);
                };
                // Each side numbers its own sends and receives: the numbers agree only where both do them in turn.
                Pairs found = pairs(from.items.size(), to.items.size(), hasSameNumber);
                if (2 * found.size() < std::min(from.items.size(), to.items.size()))
                    found = pairs(from.items.size(), to.items.size(), hasSameBytes);
                for (const auto &[i, k] : found) {
                    MatchedCollective one;
                    one.parts = { { from.rank, from.items[i] }, { to.rank, to.items[k] } };
                    one.operation = collective(from.rank, from.items[i]).operation;
                    std::ranges::sort(one.parts, {}, &MatchedCollective::Part::rank);
                    finish(group, one);
                }
            }
    }

    void matchGroup(std::uint32_t group, std::vector<Sequence> &sequences)
    {
        if (sequences.size() < 2)
            return;
        const auto longest =
            std::ranges::max_element(sequences, {}, [](const Sequence &sequence) { return sequence.items.size(); });
        const Sequence &reference = *longest;
        std::vector<MatchedCollective> made(reference.items.size());
        for (const Sequence &sequence : sequences) {
            if (m_stop.stop_requested())
                return;
            for (const auto &[i, k] : pairs(reference.items.size(), sequence.items.size(), [&](auto i, auto k) {
                     return isSame(
                         collective(reference.rank, reference.items[i]), collective(sequence.rank, sequence.items[k]));
                 }))
                made[i].parts.push_back({ sequence.rank, sequence.items[k] });
        }
        for (MatchedCollective &one : made)
            if (one.parts.size() > 1) {
                one.operation = collective(one.parts.front().rank, one.parts.front().collective).operation;
                finish(group, one);
            }
    }

    void finish(std::uint32_t group, MatchedCollective &one)
    {
        const RankRecording &rank = m_recording.ranks[one.parts.front().rank];
        one.group = group;
        one.leastDuration = collective(one.parts.front().rank, one.parts.front().collective).duration;
        for (const MatchedCollective::Part &part : one.parts) {
            const RecordedCollective &own = collective(part.rank, part.collective);
            one.bytes = std::max(one.bytes, own.bytes);
            one.leastDuration = std::min(one.leastDuration, own.duration);
            one.meanDuration += static_cast<double>(own.duration) / static_cast<double>(one.parts.size());
        }
        const std::size_t told = group < m_recording.groups.size() ? m_recording.groups[group].ranks.size() : 0;
        one.groupRanks =
            told > 0 ? static_cast<int>(told) : std::max(rank.worldSize, static_cast<int>(one.parts.size()));
        m_matched.push_back(std::move(one));
    }

    using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

    /// Of sequences of so many, the longest common one.
    template <class Same> [[nodiscard]] static Pairs pairs(std::size_t endA, std::size_t endB, const Same &same)
    {
        Pairs result;
        std::size_t begin = 0;
        const auto take = [&](std::size_t i, std::size_t k) {
            result.emplace_back(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(k));
        };
        for (; begin < std::min(endA, endB) && same(begin, begin); ++begin)
            take(begin, begin);
        for (; endA > begin && endB > begin && same(endA - 1, endB - 1); --endA, --endB)
            take(endA - 1, endB - 1);
        if ((endA - begin) * (endB - begin) <= kMostCells)
            longestCommon(begin, endA, endB, same, take);
        else
            resynchronised(begin, endA, endB, same, take);
        return result;
    }

    template <class Same, class Take>
    static void longestCommon(std::size_t begin, std::size_t endA, std::size_t endB, const Same &same, const Take &take)
    {
        const std::size_t rows = endA - begin, columns = endB - begin;
        if (rows == 0 || columns == 0)
            return;
        std::vector<std::uint32_t> length((rows + 1) * (columns + 1), 0); // of the tails from (i, k)
        const auto at = [&](std::size_t i, std::size_t k) -> std::uint32_t & { return length[i * (columns + 1) + k]; };
        for (std::size_t i = rows; i-- > 0;)
            for (std::size_t k = columns; k-- > 0;)
                at(i, k) = same(begin + i, begin + k) ? at(i + 1, k + 1) + 1 : std::max(at(i + 1, k), at(i, k + 1));
        for (std::size_t i = 0, k = 0; i < rows && k < columns;)
            if (same(begin + i, begin + k))
                take(begin + i++, begin + k++);
            else
                ++(at(i + 1, k) >= at(i, k + 1) ? i : k);
    }

    /// Where the table would be too large: the nearest place ahead at which both go on alike.
    template <class Same, class Take>
    static void resynchronised(
        std::size_t begin, std::size_t endA, std::size_t endB, const Same &same, const Take &take)
    {
        for (std::size_t i = begin, k = begin; i < endA && k < endB;) {
            std::size_t skipA = 0, skipB = 0;
            bool isFound = false;
            for (std::size_t skip = 0; skip <= 2 * kLookAhead && !isFound; ++skip)
                for (skipA = 0; skipA <= skip; ++skipA) {
                    skipB = skip - skipA;
                    isFound = i + skipA < endA && k + skipB < endB && same(i + skipA, k + skipB);
                    if (isFound)
                        break;
                }
            if (!isFound) {
                ++i;
                ++k;
                continue;
            }
            i += skipA;
            k += skipB;
            take(i++, k++);
        }
    }

    const Recording &m_recording;
    const std::stop_token &m_stop;
    std::vector<MatchedCollective> m_matched;
};

} // namespace

std::vector<MatchedCollective> matchCollectives(const Recording &recording, const std::stop_token &stop)
{
    return Matcher(recording, stop).match();
}

double busFactor(std::string_view operation, int ranks)
{
    static constexpr std::array<std::string_view, 6> kParts { "all_gather", "reduce_scatter", "all_to_all", "gather",
        "scatter", "hypercube" };
    if (ranks < 1)
        return 0;
    const double others = static_cast<double>(ranks - 1) / ranks;
    if (operation == "all_reduce")
        return 2 * others;
    return std::ranges::find(kParts, operation) != kParts.end() ? others : 1;
}

std::vector<CollectiveBandwidth> collectiveBandwidths(
    const Recording &recording, const std::vector<MatchedCollective> &matched)
{
    struct Sum {
        std::vector<std::int64_t> least;
        double mean = 0;
    };
    std::map<std::tuple<std::string, int, double>, Sum> sums;
    for (const MatchedCollective &one : matched) {
        if (one.bytes <= 0 || one.leastDuration <= 0)
            continue;
        Sum &sum = sums[{ recording.names[one.operation], one.groupRanks, one.bytes }];
        sum.least.push_back(one.leastDuration);
        sum.mean += one.meanDuration;
    }
    std::vector<CollectiveBandwidth> result;
    for (const auto &[key, sum] : sums) {
        CollectiveBandwidth &made = result.emplace_back();
        std::tie(made.operation, made.ranks, made.bytes) = key;
        made.count = sum.least.size();
        made.leastSeconds = medianOf(sum.least) * 1e-9;
        made.meanSeconds = sum.mean / static_cast<double>(made.count) * 1e-9;
        const double wire = made.bytes * busFactor(made.operation, made.ranks);
        made.busByLeast = wire / made.leastSeconds;
        made.busByMean = wire / made.meanSeconds;
    }
    return result;
}

} // namespace trainyard
