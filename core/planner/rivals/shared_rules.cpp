// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/rivals/shared_rules_internal.h"

#include <algorithm>

namespace trainyard::rivals {

std::vector<int> divisors(int n)
{
    std::vector<int> found;
    for (int d = 1; d <= n; ++d)
        if (n % d == 0)
            found.push_back(d);
    return found;
}

int microBatchesOf(const PlannerInput &input, int data, int microBatch)
{
    const int together = data * microBatch;
    return (input.batch + together - 1) / together;
}

std::vector<ChosenStage> fillInOrder(
    const PlannerInput &input, std::span<const int> sites, int stages, int data, int tensor)
{
    std::vector<ChosenStage> filled(static_cast<std::size_t>(stages));
    std::size_t at = 0;
    int taken = 0; // groups of the site
    for (ChosenStage &stage : filled) {
        for (int left = data; left > 0;) {
            if (at == sites.size())
                return {};
            const int site = sites[at], perNode = input.kindOf(site).gpusPerNode;
            const int groups = input.sites[std::size_t(site)].gpus / perNode * (perNode / tensor);
            const int count = std::min(left, groups - taken);
            if (count > 0)
                stage.replicas.push_back({ site, tensor, count });
            left -= std::max(0, count);
            taken += std::max(0, count);
            if (taken >= groups) {
                ++at;
                taken = 0;
            }
        }
    }
    return filled;
}

void keepBest(std::vector<Choice> &choices, const std::function<double(const Choice &)> &value)
{
    std::ranges::stable_sort(choices, {}, value);
    if (choices.size() > kMostChoices)
        choices.resize(kMostChoices);
}

double pipelineSeconds(std::span<const double> stages, int microBatches)
{
    double sum = 0, longest = 0;
    for (const double stage : stages) {
        sum += stage;
        longest = std::max(longest, stage);
    }
    return sum + (microBatches - 1) * longest;
}

} // namespace trainyard::rivals
