// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/unequal_gpus/label_search_internal.h"

#include "core/systems/unequal_gpus/knapsack_internal.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <tuple>

namespace trainyard {

namespace {

struct Label {
    int sum = 0; // of micro-batches
    double bytes = 0;
    int samples = 0; // of all ranks so far
    int from = -1; // the label of the ranks before
    const Offer *offer = nullptr;
};

template <class Cost> CostTable<Cost> costs(const LabelGroup &group, const std::function<Cost(const Offer &)> &of)
{
    CostTable<Cost> table(group.offers.size(), kUnreachable<Cost>);
    for (std::size_t b = 0; b < table.size(); ++b)
        if (group.offers[b])
            table[b] = of(*group.offers[b]);
    return table;
}

class LabelSearch {
public:
    LabelSearch(const std::vector<LabelGroup> &groups, int samples, double mostBytes)
        : m_groups(groups)
        , m_samples(samples)
        , m_mostBytes(mostBytes)
        , m_restSums { noSamples<int>() }
        , m_restBytes { noSamples<double>() }
    {
        for (std::size_t g = groups.size(); g-- > 0;) {
            const auto sums = costs<int>(groups[g], [](const Offer &o) { return o.microBatch; });
            const auto bytes = costs<double>(groups[g], [](const Offer &o) { return o.bytes; });
            for (int rank = 0; rank < groups[g].ranks; ++rank) {
                m_order.push_back(g);
                m_restSums.push_back(plus(m_restSums.back(), sums, samples));
                m_restBytes.push_back(plus(m_restBytes.back(), bytes, samples));
            }
        }
        std::ranges::reverse(m_order);
    }
    [[nodiscard]] std::vector<std::vector<Offer>> run()
    {
        // Few sums lie between the least and the first that fits, and with each of them few labels lead to the end.
        int most = costOf(m_restSums.back(), m_samples);
        while (!reaches(most))
            ++most;
        std::vector<std::vector<Offer>> chosen(m_groups.size());
        int at = 0;
        for (std::size_t rank = m_order.size(); rank-- > 0;) {
            const Label &label = m_labels[rank + 1][std::size_t(at)];
            chosen[m_order[rank]].push_back(*label.offer);
            at = label.from;
        }
        return chosen;
    }

private:
    [[nodiscard]] bool reaches(int mostSum)
    {
        m_labels.assign(1, { Label {} });
        for (std::size_t rank = 0; rank < m_order.size(); ++rank) {
            std::vector<Label> next;
            const std::size_t rest = m_order.size() - rank - 1;
            for (std::size_t from = 0; from < m_labels[rank].size(); ++from)
                extend(m_labels[rank][from], int(from), m_groups[m_order[rank]], rest, mostSum, next);
            m_labels.push_back(unbeaten(std::move(next)));
        }
        return !m_labels.back().empty();
    }
    void extend(const Label &label, int from, const LabelGroup &group, std::size_t rest, int mostSum,
        std::vector<Label> &next) const
    {
        for (int b = 0; b + label.samples <= m_samples; ++b) {
            const Offer *offer = group.offers[std::size_t(b)];
            if (!offer)
                continue;
            const Label to { label.sum + offer->microBatch, label.bytes + offer->bytes, label.samples + b, from,
                offer };
            const int left = m_samples - to.samples, leastSum = costOf(m_restSums[rest], left);
            if (leastSum <= mostSum - to.sum
                && to.bytes + costOf(m_restBytes[rest], left) <= m_mostBytes + kByteOfRounding / 4)
                next.push_back(to);
        }
    }
    [[nodiscard]] static std::vector<Label> unbeaten(std::vector<Label> labels)
    {
        std::ranges::stable_sort(labels, [](const Label &a, const Label &b) {
            return std::tie(a.samples, a.sum, a.bytes) < std::tie(b.samples, b.sum, b.bytes);
        });
        std::vector<Label> best;
        for (const Label &label : labels)
            if (best.empty() || best.back().samples != label.samples || label.bytes < best.back().bytes)
                best.push_back(label);
        return best;
    }

    const std::vector<LabelGroup> &m_groups;
    int m_samples;
    double m_mostBytes;
    std::vector<std::size_t> m_order; // the group of each rank
    std::vector<CostTable<int>> m_restSums; // least of the last 0, 1, 2, … ranks
    std::vector<CostTable<double>> m_restBytes;
    std::vector<std::vector<Label>> m_labels; // of the first 0, 1, 2, … ranks
};

} // namespace

std::vector<std::vector<Offer>> leastMicroBatches(const std::vector<LabelGroup> &groups, int samples, double mostBytes)
{
    return LabelSearch(groups, samples, mostBytes).run();
}

} // namespace trainyard
