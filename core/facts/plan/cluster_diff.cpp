// SPDX-License-Identifier: GPL-3.0-or-later
// Sentences about two clusters. GPUs that left one datacenter and came to another, of one type, have moved; what is
// left of the difference was added or removed.
#include "core/base/words.h"
#include "core/facts/plan/diff_internal.h"

#include <algorithm>
#include <set>

namespace trainyard::detail {

namespace {

using Counts = std::map<std::string, std::int64_t>; // GPU type -> GPUs

std::int64_t gpusOf(const Pool &pool)
{
    return std::int64_t { pool.nodes } * pool.gpusPerNode;
}

std::string amount(std::int64_t gpus, const std::string &type)
{
    return std::to_string(gpus) + " × " + type;
}

std::string contents(const Datacenter &datacenter)
{
    Counts counts;
    for (const Pool &pool : datacenter.pools)
        counts[gpuLabel(pool)] += gpusOf(pool);
    std::string text;
    for (const auto &[type, gpus] : counts)
        text += (text.empty() ? " with " : " and ") + amount(gpus, type);
    return text;
}

const Datacenter *find(const Cluster &cluster, const std::string &id)
{
    const int index = cluster.indexOf(id);
    return index < 0 ? nullptr : &cluster.datacenters[static_cast<std::size_t>(index)];
}

const Pool *find(const Datacenter &datacenter, const std::string &id)
{
    const auto found = std::ranges::find(datacenter.pools, id, &Pool::id);
    return found == datacenter.pools.end() ? nullptr : &*found;
}

bool sameGpu(const Pool &a, const Pool &b)
{
    return a.gpu == b.gpu && a.inlineGpu == b.inlineGpu;
}

/// Same pool, same number, another type.
bool wasReplaced(const Pool &before, const Pool *after)
{
    return after && !sameGpu(before, *after) && gpusOf(before) == gpusOf(*after);
}

/// What each datacenter of both clusters gained of each type.
using Gains = std::map<std::string, std::vector<std::pair<const Datacenter *, std::int64_t>>>;

Gains gainsOf(const Cluster &before, const Cluster &after)
{
    Gains gains;
    for (const Datacenter &datacenter : after.datacenters) {
        const Datacenter *old = find(before, datacenter.id);
        if (!old)
            continue;
        Counts counts;
        for (const Pool &pool : datacenter.pools) {
            const Pool *was = find(*old, pool.id);
            if (!(was && wasReplaced(*was, &pool)))
                counts[gpuLabel(pool)] += gpusOf(pool);
        }
        for (const Pool &pool : old->pools) {
            if (!wasReplaced(pool, find(datacenter, pool.id)))
                counts[gpuLabel(pool)] -= gpusOf(pool);
        }
        for (const auto &[type, gained] : counts) {
            if (gained != 0)
                gains[type].emplace_back(&datacenter, gained);
        }
    }
    return gains;
}

void describeMoves(Gains gains, bool namesType, Sentences &sentences)
{
    for (auto &[type, sides] : gains) {
        for (auto &[from, lost] : sides) {
            for (auto &[to, gained] : sides) {
                if (lost >= 0 || gained <= 0)
                    continue;
                const std::int64_t moved = std::min(-lost, gained);
                lost += moved;
                gained -= moved;
                const std::string what = namesType ? amount(moved, type) : counted(moved, "GPU");
                sentences.push_back("Move " + what + " " + from->label() + " → " + to->label());
            }
        }
        for (const auto &[datacenter, gained] : sides) {
            if (gained > 0)
                sentences.push_back("Add " + amount(gained, type) + " to " + datacenter->label());
            else if (gained < 0)
                sentences.push_back("Remove " + amount(-gained, type) + " from " + datacenter->label());
        }
    }
}

/// "23 × 8 + 2 × 4": nodes by size.
std::string grouping(const Datacenter &datacenter)
{
    std::map<std::pair<std::string, int>, std::int64_t> nodes;
    for (const Pool &pool : datacenter.pools)
        nodes[{ gpuLabel(pool), -pool.gpusPerNode }] += pool.nodes;
    std::string text;
    for (const auto &[kind, count] : nodes)
        text += (text.empty() ? "" : " + ") + std::to_string(count) + " × " + std::to_string(-kind.second);
    return text.empty() ? "none" : cutText(text);
}

/// Of the same pools in another order: "V100, then A100 40 GB", or their ids where GPUs do not tell them apart.
std::string poolOrder(const Datacenter &datacenter)
{
    std::vector<std::string> gpus, ids;
    for (const Pool &pool : datacenter.pools) {
        gpus.push_back(gpuLabel(pool));
        ids.push_back(pool.id);
    }
    const bool areTold = std::set(gpus.begin(), gpus.end()).size() == gpus.size();
    return cutText(joined(areTold ? gpus : ids, ", then "));
}

bool havePoolsOf(const Datacenter &one, const Datacenter &other)
{
    return std::ranges::is_permutation(one.pools, other.pools, {}, &Pool::id, &Pool::id);
}

/// What differs in pools of one datacenter apart from how many GPUs there are.
void describePools(const Datacenter &before, const Datacenter &after, Sentences &sentences)
{
    for (const Pool &pool : after.pools) {
        const Pool *old = find(before, pool.id);
        if (!old || *old == pool)
            continue;
        Pool like = *old; // the number has been told
        like.nodes = pool.nodes;
        like.gpusPerNode = pool.gpusPerNode;
        if (wasReplaced(*old, &pool)) {
            sentences.push_back(
                "Replace " + amount(gpusOf(*old), gpuLabel(*old)) + " in " + after.label() + " by " + gpuLabel(pool));
            like.gpu = pool.gpu;
            like.inlineGpu = pool.inlineGpu;
        }
        describeObject(pool.id, like, pool, sentences);
    }
}

void describeDatacenter(const Datacenter &before, const Datacenter &after, bool isTold, Sentences &sentences)
{
    const std::size_t told = sentences.size();
    Datacenter like = before; // the pools have sentences of their own
    like.pools = after.pools;
    describeObject(after.label(), like, after, sentences);
    describePools(before, after, sentences);
    if (isTold || before.pools == after.pools)
        return;
    if (grouping(before) != grouping(after))
        sentences.push_back("Nodes of " + after.label() + " " + grouping(before) + " → " + grouping(after));
    else if (sentences.size() == told)
        sentences.push_back("Pools of " + after.label()
            + (havePoolsOf(before, after) ? " in the order " + poolOrder(after) : " rearranged"));
}

void describeDatacenters(const Cluster &before, const Cluster &after, Sentences &sentences)
{
    const Gains gains = gainsOf(before, after);
    std::set<std::string> types;
    for (const Cluster *cluster : { &before, &after })
        for (const Datacenter &datacenter : cluster->datacenters)
            for (const Pool &pool : datacenter.pools)
                types.insert(gpuLabel(pool));
    describeMoves(gains, types.size() > 1, sentences);
    for (const Datacenter &datacenter : before.datacenters) {
        if (!find(after, datacenter.id))
            sentences.push_back("Remove datacenter " + datacenter.label() + contents(datacenter));
    }
    for (const Datacenter &datacenter : after.datacenters) {
        const Datacenter *old = find(before, datacenter.id);
        const bool isTold = std::ranges::any_of(gains, [&](const auto &gain) {
            return std::ranges::any_of(gain.second, [&](const auto &side) { return side.first->id == datacenter.id; });
        });
        if (!old)
            sentences.push_back("Add datacenter " + datacenter.label() + contents(datacenter));
        else if (!(*old == datacenter))
            describeDatacenter(*old, datacenter, isTold, sentences);
    }
}

void describeLinks(const Cluster &before, const Cluster &after, Sentences &sentences)
{
    const auto subject = [](const Cluster &cluster, const WanLink &link) {
        std::array<std::string, 2> labels = link.between;
        for (std::string &label : labels) {
            if (const Datacenter *datacenter = find(cluster, label))
                label = datacenter->label();
        }
        return labels[0] + "–" + labels[1];
    };
    for (const WanLink &link : before.wanLinks) {
        if (after.linkBetween(link.between[0], link.between[1]) < 0)
            sentences.push_back("Remove link " + subject(before, link));
    }
    for (const WanLink &link : after.wanLinks) {
        const int old = before.linkBetween(link.between[0], link.between[1]);
        if (old < 0)
            sentences.push_back("Add link " + subject(after, link) + " with " + plainNumber(link.rttMs) + " ms RTT");
        else
            describeObject(subject(after, link), before.wanLinks[static_cast<std::size_t>(old)], link, sentences);
    }
}

} // namespace

void describeCluster(const Cluster &before, const Cluster &after, Sentences &sentences)
{
    const std::size_t told = sentences.size();
    if (!(before.datacenters == after.datacenters))
        describeDatacenters(before, after, sentences);
    if (sentences.size() == told && !(before.datacenters == after.datacenters))
        sentences.push_back("Datacenters rearranged");
    const std::size_t toldLinks = sentences.size();
    if (!(before.wanLinks == after.wanLinks)) {
        describeLinks(before, after, sentences);
        if (sentences.size() == toldLinks)
            sentences.push_back("Links rearranged");
    }
    Differ<Cluster> differ(before, after, "", sentences);
    differ.rest();
}

} // namespace trainyard::detail
