// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/job_shards/shard_cuts.h"

#include "core/base/number_text.h"
#include "core/base/words.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard {

namespace {

constexpr int kSteps = 32, kMostSteps = 20; // shares of the memory that are tried as buffers
constexpr double kClearlyFaster = 1.02; // without small GPUs, for them to be left out
constexpr double kAsFast = 1.005; // of buffers that are about as good the one with the fewest units

/// Of a mini-batch.
double secondsOn(std::size_t kind, const CutGroup &group, const ModelCut &cut, const std::vector<CutKind> &kinds,
    const CutRules &rules)
{
    const std::vector<JobUnit> units = unitsOf(*group.model, cut.shards);
    const std::vector<double> compute = unitSecondsOf(*group.model, cut.shards, kind);
    const CutKind &on = kinds[kind];
    double sum = 0;
    for (std::size_t i = 0; i < units.size(); ++i)
        sum += (units.size() == 1 && rules.staysThere) || on.toGpu <= 0
            ? compute[i]
            : unitSeconds(compute[i], (units[i].weights + units[i].input) / on.toGpu,
                (units[i].writeBack + units[i].output) / on.toHost, cut.isBuffered, rules.isFullDuplex);
    return sum;
}

class Cutter {
public:
    Cutter(const CutGroup &group, const std::vector<CutKind> &kinds, const CutRules &rules, double buffer)
        : m_group(group)
        , m_model(*group.model)
        , m_kinds(kinds)
        , m_rules(rules)
        , m_buffer(buffer)
    {
    }

    ModelCut cut()
    {
        ModelCut result;
        if (!m_rules.spill)
            whole(result);
        else if (m_group.measuredUnits > 0)
            measured(result);
        else
            byMemory(result);
        if (result.shards.empty() && result.why.empty())
            result.why = "no GPU may run it";
        return result;
    }

private:
    [[nodiscard]] double running(Pieces of)
    {
        const ShardBytes &bytes = m_model.bytes(of);
        return std::max(bytes.forward, bytes.backward);
    }

    /// Of the kinds that may run it those with so much memory.
    [[nodiscard]] std::vector<char> kindsWith(double bytes) const
    {
        std::vector<char> with;
        for (std::size_t kind = 0; kind < m_kinds.size(); ++kind)
            with.push_back(m_group.gpus[kind] > 0 && m_kinds[kind].memory >= bytes);
        return with;
    }

    [[nodiscard]] static bool any(const std::vector<char> &kinds) { return std::ranges::find(kinds, 1) != kinds.end(); }

    [[nodiscard]] double memory(const std::vector<char> &kinds, bool largest) const
    {
        double found = largest ? 0 : std::numeric_limits<double>::infinity();
        for (std::size_t kind = 0; kind < kinds.size(); ++kind)
            if (kinds[kind])
                found = largest ? std::max(found, m_kinds[kind].memory) : std::min(found, m_kinds[kind].memory);
        return found;
    }

    [[nodiscard]] std::string tooLarge(const std::string &what, double bytes) const
    {
        return what + " takes " + bytesText(bytes) + " while it trains, and the largest GPU that may run it has "
            + bytesText(memory(kindsWith(0), true)) + " for that";
    }

    [[nodiscard]] std::string nameOf(int piece) const
    {
        return piece == 0                   ? "the embedding"
            : piece + 1 == m_model.pieces() ? "the head"
                                            : "layer " + std::to_string(piece);
    }

    void measured(ModelCut &result)
    {
        const int shards = int(m_group.measuredUnits / 2) + 1;
        if (shards > m_model.pieces()) {
            result.why = counted(std::int64_t(m_group.measuredUnits), "unit") + " are those of "
                + counted(shards, "shard") + ", and the model has " + counted(m_model.pieces() - 2, "layer")
                + ", embedding and head to cut";
            return;
        }
        std::vector<double> weights;
        for (int piece = 0; piece < m_model.pieces(); ++piece)
            weights.push_back(m_model.bytes({ piece, piece + 1 }).parameters);
        std::vector<Pieces> cut = evenPartition(weights, shards);
        double most = 0;
        for (const Pieces of : cut)
            most = std::max(most, running(of));
        result.kinds = kindsWith(most);
        if (any(result.kinds))
            result.shards = std::move(cut);
        else
            result.why = tooLarge("a shard of " + std::to_string(shards), most);
    }

    void whole(ModelCut &result)
    {
        const Pieces all { 0, m_model.pieces() };
        result.kinds = kindsWith(running(all));
        if (any(result.kinds))
            result.shards = { all };
        else if (any(kindsWith(0)))
            result.why = tooLarge("the whole model, which does not spill,", running(all));
    }

    void byMemory(ModelCut &result)
    {
        int largest = 0;
        double most = 0;
        for (int piece = 0; piece < m_model.pieces(); ++piece)
            if (const double bytes = running({ piece, piece + 1 }); bytes > most) {
                most = bytes;
                largest = piece;
            }
        result.kinds = kindsWith(most);
        if (!any(result.kinds)) {
            if (any(kindsWith(0)))
                result.why = tooLarge(nameOf(largest), most);
            return;
        }
        forSmallest(result);
        const std::vector<char> all = result.kinds;
        double seconds = m_rules.mayLeaveOut ? spreadSeconds(result) : 0;
        for (double above = memory(all, false); m_rules.mayLeaveOut && above < memory(all, true);) {
            ModelCut without;
            without.kinds = kindsWith(std::nextafter(above, std::numeric_limits<double>::infinity()));
            above = memory(without.kinds, false);
            forSmallest(without);
            if (const double own = spreadSeconds(without); own * kClearlyFaster < seconds) {
                seconds = own;
                result = std::move(without);
            }
        }
        for (std::size_t kind = 0; kind < all.size(); ++kind)
            result.leftOut.push_back(all[kind] && !result.kinds[kind]);
    }

    /// Seconds of all its jobs, were these GPUs theirs alone: each is at work until the end, or one job is the longest,
    /// whose units go to one GPU as well as to another.
    [[nodiscard]] double spreadSeconds(const ModelCut &cut)
    {
        double rate = 0, gpus = 0, sum = 0;
        for (std::size_t kind = 0; kind < m_kinds.size(); ++kind) {
            if (!cut.kinds[kind])
                continue;
            const double seconds = secondsOn(kind, m_group, cut, m_kinds, m_rules);
            rate += m_group.gpus[kind] / seconds;
            gpus += m_group.gpus[kind];
            sum += m_group.gpus[kind] * seconds;
        }
        return std::max(m_group.minibatches / rate, m_group.longest * sum / gpus);
    }

    /// Shards that fit the smallest of its kinds.
    void forSmallest(ModelCut &result)
    {
        const double smallest = memory(result.kinds, false);
        const auto fitsBeside = [&](Pieces of) {
            const double ahead = m_model.bytes(of).states + 2 * m_model.boundaryBytes(); // input and gradient
            return running(of) <= smallest * (1 - m_buffer) && ahead <= smallest * m_buffer;
        };
        if (m_buffer > 0) {
            result.shards = greedyPartition(m_model.pieces(), fitsBeside).shards;
            result.isBuffered = !result.shards.empty();
        }
        if (result.shards.empty())
            result.shards =
                greedyPartition(m_model.pieces(), [&](Pieces of) { return running(of) <= smallest; }).shards;
    }

    const CutGroup &m_group;
    ShardModel &m_model;
    const std::vector<CutKind> &m_kinds;
    const CutRules &m_rules;
    double m_buffer;
};

} // namespace

double minibatchSeconds(
    const CutGroup &group, const ModelCut &cut, const std::vector<CutKind> &kinds, const CutRules &rules)
{
    std::size_t smallest = kinds.size();
    for (std::size_t kind = 0; kind < kinds.size(); ++kind)
        if (cut.kinds[kind] && (smallest == kinds.size() || kinds[kind].memory < kinds[smallest].memory))
            smallest = kind;
    return secondsOn(smallest, group, cut, kinds, rules);
}

ModelCut cutFor(const CutGroup &group, const std::vector<CutKind> &kinds, const CutRules &rules, double buffer)
{
    return Cutter(group, kinds, rules, buffer).cut();
}

Cuts chooseCuts(const std::vector<CutGroup> &groups, const std::vector<CutKind> &kinds, const CutRules &rules)
{
    struct Tried {
        Cuts cuts;
        double seconds = 0, units = 0; // of all jobs
    };
    std::vector<Tried> tried;
    double least = std::numeric_limits<double>::infinity();
    for (int step = 0; step <= (rules.doubleBuffer ? kMostSteps : 0); ++step) {
        Tried &next = tried.emplace_back(Tried { { double(step) / kSteps, {} } });
        for (const CutGroup &group : groups) {
            const ModelCut &cut = next.cuts.groups.emplace_back(cutFor(group, kinds, rules, next.cuts.buffer));
            next.units += group.minibatches * (2 * double(cut.shards.size()) - 1);
            if (!cut.shards.empty() && group.measuredUnits == 0)
                next.seconds += group.minibatches * minibatchSeconds(group, cut, kinds, rules);
        }
        least = std::min(least, next.seconds);
    }
    const auto isWorse = [&](const Tried &one, const Tried &other) {
        const bool isSlow = one.seconds > kAsFast * least, isOtherSlow = other.seconds > kAsFast * least;
        return isSlow != isOtherSlow ? isSlow : one.units > other.units;
    };
    std::size_t best = 0;
    for (std::size_t i = 1; i < tried.size(); ++i)
        if (isWorse(tried[best], tried[i]))
            best = i;
    return std::move(tried[best].cuts);
}

} // namespace trainyard
