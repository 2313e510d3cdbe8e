// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/imports/told_gpu.h"

#include "core/base/printable.h"
#include "core/facts/hardware/gpu_name.h"

#include <algorithm>
#include <set>
#include <vector>

namespace trainyard::imports {

namespace {

/// "gpu6" of a log is a number, no type.
bool isType(std::string_view name)
{
    return !name.empty() && !(name.starts_with("gpu") && name.find_first_not_of("0123456789", 3) == name.npos);
}

/// Of "a100&nvlink", "[a100*4&rack1|a100]": the features that name GPUs of the catalogue, each once.
std::vector<std::string> gpusOfConstraint(std::string_view constraint, const Catalogue &catalogue)
{
    constexpr std::size_t kMostFeatures = 32;
    std::vector<std::string> names;
    constraint = constraint.substr(0, 1000);
    for (std::size_t features = 0; !constraint.empty() && features < kMostFeatures; ++features) {
        const std::size_t end = std::min(constraint.find_first_of("&|,*[]()\"' \t"), constraint.size());
        const std::string feature(constraint.substr(0, end));
        constraint.remove_prefix(std::min(end + 1, constraint.size()));
        if (isType(feature) && gpuNamed(feature, catalogue).gpu && std::ranges::find(names, feature) == names.end())
            names.push_back(feature);
    }
    return names;
}

/// Whether all may be one type: "a100" and "a100-80gb".
bool mayBeOne(const std::vector<std::string> &names, const Catalogue &catalogue)
{
    return std::ranges::all_of(names,
        [&](const std::string &name) { return mayMean(names.front(), *gpuNamed(name, catalogue).gpu, catalogue); });
}

/// Every name, with who tells it, the first of all first.
std::vector<ToldGpu> tellers(const Draft &draft)
{
    std::vector<ToldGpu> all;
    const auto add = [&](const std::string &name, const std::string &from) {
        const bool isKnown = std::ranges::find(all, name, &ToldGpu::name) != all.end();
        if (isType(name) && !isKnown && all.size() < 32)
            all.push_back({ name, from });
    };
    for (const RankRecording &rank : draft.recording.ranks)
        add(rank.gpu, draft.sourceOf(rank.source));
    if (const auto name = draft.arguments.text("gpu"))
        add(*name, draft.arguments.said("gpu"));
    const auto addConstraint = [&](const std::string &constraint, const std::string &from) {
        const std::vector<std::string> names = gpusOfConstraint(constraint, draft.catalogue);
        if (mayBeOne(names, draft.catalogue))
            for (const std::string &name : names)
                add(name, from);
    };
    if (const auto constraint = draft.arguments.text("constraint"))
        addConstraint(*constraint, draft.arguments.said("constraint"));
    for (const SourceArguments &told : draft.recording.argumentsOf) {
        const std::string file = draft.sourceOf(told.source);
        const bool isOfOtherJob = std::ranges::any_of(
            draft.arguments.conflicts(), [&](const auto &conflict) { return conflict.first == file; });
        if (const auto gpu = told.arguments.find("gpu"); gpu != told.arguments.end() && !isOfOtherJob)
            add(gpu->second, file);
        if (const auto one = told.arguments.find("constraint"); one != told.arguments.end() && !isOfOtherJob)
            addConstraint(one->second, file);
    }
    return all;
}

/// A constraint that several types of GPUs meet.
void tellSeveral(Draft &draft)
{
    const auto constraint = draft.arguments.text("constraint");
    const std::vector<std::string> names =
        constraint ? gpusOfConstraint(*constraint, draft.catalogue) : std::vector<std::string> {};
    if (!mayBeOne(names, draft.catalogue))
        draft.doubt(draft.arguments.said("constraint"),
            "is " + shortened(*constraint) + ", which several types of GPUs meet: which of them ran it does not tell");
}

} // namespace

std::optional<ToldGpu> toldGpu(const Draft &draft)
{
    const std::vector<ToldGpu> all = tellers(draft);
    return all.empty() ? std::nullopt : std::optional(all.front());
}

void tellOtherGpus(Draft &draft)
{
    tellSeveral(draft);
    std::set<std::string> counted;
    for (const Datacenter &datacenter : draft.plan.cluster.datacenters)
        for (const Pool &pool : datacenter.pools) {
            if (pool.inlineGpu || !draft.catalogue.gpu(pool.gpu))
                return; // measured or described: no name says what it is not
            counted.insert(pool.gpu);
        }
    if (counted.empty())
        return;
    std::string text;
    for (const std::string &id : counted)
        text += (text.empty() ? "" : ", ") + shortName(*draft.catalogue.gpu(id));
    for (const ToldGpu &told : tellers(draft)) {
        const bool isCounted = std::ranges::any_of(counted,
            [&](const std::string &id) { return mayMean(told.name, *draft.catalogue.gpu(id), draft.catalogue); });
        if (!isCounted && gpuNamed(told.name, draft.catalogue).gpu)
            draft.doubt(shortened(told.name) + " (" + told.from + ")",
                "is another GPU than other sources tell, of which " + text + " is counted");
    }
}

} // namespace trainyard::imports
