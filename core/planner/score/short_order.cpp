// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/score/short_order.h"

#include "core/engine/schedule/recompute_state.h"
#include "core/planner/score/key_index.h"

#include <algorithm>
#include <deque>

namespace trainyard {

namespace {

/// Of one operation: what it does to memory, and to the numbers that say what is held.
struct HeldMoment {
    Op op;
    OpWork work = OpWork::Forward;
    std::uint64_t change = 0; // of the sum that stands for all numbers
};

/// One of the numbers: forwarded and small, forwarded and whole, waiting for weight gradients. A random word each, so
/// that sums of them are equal where the numbers are.
std::uint64_t wordOf(int chunk, unsigned number)
{
    std::uint64_t word = (std::uint64_t(chunk) * 3 + number + 1) * 0x9e3779b97f4a7c15u;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return word ^ (word >> 31);
}

std::uint64_t changeOf(int chunk, OpWork work)
{
    const std::uint64_t small = wordOf(chunk, 0), whole = wordOf(chunk, 1), waiting = wordOf(chunk, 2);
    switch (work) {
    case OpWork::Forward:
        return small;
    case OpWork::ForwardWhole:
        return whole;
    case OpWork::Backward:
        return 0 - small;
    case OpWork::BackwardWhole:
        return 0 - whole;
    case OpWork::InputGrad:
        return waiting - small;
    case OpWork::InputGradWhole:
        return waiting - whole;
    case OpWork::WeightGrad:
        return 0 - waiting;
    default:
        return 0;
    }
}

bool isWholeWork(OpWork work)
{
    return work == OpWork::ForwardWhole || work == OpWork::BackwardWhole || work == OpWork::InputGradWhole;
}

/// Which operations of a device stay.
std::vector<HeldMoment> shortened(const Program &program, int device, bool isRecomputing)
{
    RecomputeState kept(program, device, isRecomputing);
    std::vector<HeldMoment> moments;
    for (const Op &op : program.order[std::size_t(device)]) {
        const OpWork work = kept.workOf(op);
        moments.push_back({ op, work, changeOf(op.chunk, work) });
    }
    std::vector<std::uint64_t> sums { 0 }; // before each
    for (const HeldMoment &moment : moments)
        sums.push_back(sums.back() + moment.change);
    const auto nameOf = [&](std::size_t i) {
        const std::uint64_t word =
            (sums[i] ^ (std::uint64_t(moments[i].work) << 8 | std::uint64_t(moments[i].op.chunk) << 16))
            * 0x9e3779b97f4a7c15u;
        return word ^ (word >> 32);
    };
    KeyIndex<std::uint64_t> met(moments.size());
    const auto isMet = [&](std::size_t i) { return met.find(nameOf(i)) != kNoKey; };
    std::vector<HeldMoment> stay;
    std::size_t blocked = 0; // until there, a round that begins earlier meets something new
    for (std::size_t i = 0; i < moments.size();) {
        const bool isKnown = isMet(i);
        if (i >= blocked && isKnown) {
            std::size_t j = i;
            do
                ++j;
            while (j < moments.size() && sums[j] != sums[i] && isMet(j));
            if (sums[j] == sums[i]) {
                i = j;
                continue;
            }
            blocked = j;
        }
        if (!isKnown)
            met.add(nameOf(i));
        stay.push_back(moments[i++]);
    }
    return stay;
}

/// Backwards go with the oldest forward that left as much.
std::vector<Op> numbered(const std::vector<HeldMoment> &moments, int chunks, int &microBatches)
{
    struct Open {
        std::deque<int> forwarded[2], waiting; // [whole]
    };
    std::vector<Open> open(static_cast<std::size_t>(chunks));
    std::vector<int> next(static_cast<std::size_t>(chunks), 0);
    std::vector<Op> order;
    for (const HeldMoment &moment : moments) {
        Op op = moment.op;
        Open &of = open[std::size_t(op.chunk)];
        const auto pop = [](std::deque<int> &from) {
            const int first = from.front();
            from.pop_front();
            return first;
        };
        if (isForward(op.kind)) {
            op.microBatch = next[std::size_t(op.chunk)]++;
            of.forwarded[isWholeWork(moment.work)].push_back(op.microBatch);
        } else if (makesGradient(op.kind)) {
            op.microBatch = pop(of.forwarded[isWholeWork(moment.work)]);
            if (op.kind == OpKind::InputGrad)
                of.waiting.push_back(op.microBatch);
        } else
            op.microBatch = pop(of.waiting);
        order.push_back(op);
    }
    microBatches = std::max(microBatches, *std::ranges::max_element(next));
    return order;
}

} // namespace

Program shortOrder(const Program &program, bool isRecomputing)
{
    for (const std::vector<Op> &order : program.order)
        for (const Op &op : order)
            if (op.kind == OpKind::PairedForward || op.kind == OpKind::Recompute)
                return program;
    Program result { program.shape, program.placement, {}, program.rule };
    result.shape.microBatches = 1;
    for (int device = 0; device < program.shape.devices; ++device) {
        const auto at = std::size_t(device);
        if (device > 0 && program.order[at] == program.order[at - 1])
            result.order.push_back(result.order.back());
        else
            result.order.push_back(
                numbered(shortened(program, device, isRecomputing), program.shape.chunks, result.shape.microBatches));
    }
    return result;
}

} // namespace trainyard
