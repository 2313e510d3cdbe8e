// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/graph/forward_policies.h"

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

bool isForward(const Choosing &at, std::uint32_t task)
{
    return at.graph.kind[task] == WorkKind::Forward;
}

/// Moves `ahead` to the next forward that has not begun, or past the last task.
void findForward(const Choosing &at)
{
    std::uint32_t &forward = at.notes().ahead;
    while (forward < at.last() && (!isForward(at, forward) || at.isBegun(forward)))
        ++forward;
}

class OpportunisticForward : public RunTimePolicy {
public:
    [[nodiscard]] std::uint32_t take(const Choosing &at) const override
    {
        PolicyWorkspace::Notes &notes = at.notes();
        while (notes.head < at.last() && at.isBegun(notes.head))
            ++notes.head;
        std::uint32_t task = notes.promised != kNoSpan ? notes.promised : notes.head;
        if (task == at.last())
            return kNoSpan;
        if (!at.isHere(task) && notes.promised == kNoSpan && !isForward(at, task)) {
            notes.ahead = std::max(notes.ahead, notes.head);
            findForward(at);
            if (notes.ahead < at.last())
                task = notes.promised = notes.ahead;
        }
        if (!at.isHere(task))
            return kNoSpan;
        notes.promised = kNoSpan;
        return task;
    }
};

class WorkConserving : public RunTimePolicy {
public:
    [[nodiscard]] bool knowsItsOwn() const override { return true; }

    [[nodiscard]] std::uint32_t take(const Choosing &at) const override
    {
        PolicyWorkspace::Notes &notes = at.notes();
        if (notes.promised != kNoSpan) { // the backward whose recomputation ran because its gradient was here
            --notes.count;
            return std::exchange(notes.promised, kNoSpan);
        }
        // The head is the next thing to do for the oldest micro-batch in flight.
        std::uint32_t &head = notes.head;
        while (head < at.last() && (isForward(at, head) || at.isBegun(head)))
            ++head;
        findForward(at);
        const bool isRecomputation = head < at.last() && at.graph.kind[head] == WorkKind::Recompute;
        const std::uint32_t backward = isRecomputation ? endOfOperation(at, head) : head;
        const bool hasForward = notes.ahead < at.last();
        if (backward < at.last() && at.isHere(backward) && at.isHere(head) && (!hasForward || isBackward(at, backward)))
            return isRecomputation ? promise(at, backward) : takeBackward(at, backward);
        const std::uint32_t limit = at.graph.resources[at.resource].limit;
        const bool isFull = limit > 0 && notes.count >= static_cast<int>(limit);
        if (hasForward && !isFull && at.isHere(notes.ahead)) {
            ++notes.count;
            return notes.ahead;
        }
        return isRecomputation && at.isHere(head) && (!hasForward || isFull) ? head : kNoSpan;
    }

private:
    static bool isBackward(const Choosing &at, std::uint32_t task) { return at.graph.kind[task] == WorkKind::Backward; }

    static std::uint32_t takeBackward(const Choosing &at, std::uint32_t backward)
    {
        at.notes().count -= isBackward(at, backward) ? 1 : 0;
        return backward;
    }

    /// The recomputation now, its backward right after it.
    static std::uint32_t promise(const Choosing &at, std::uint32_t backward)
    {
        const std::uint32_t head = at.notes().head;
        at.notes().promised = backward;
        if (at.timeline.start[backward] > at.timeline.start[head]) { // it waited for the gradient
            at.timeline.start[head] = at.timeline.start[backward];
            at.timeline.cause[head] = at.timeline.cause[backward];
        }
        return head;
    }

    static std::uint32_t endOfOperation(const Choosing &at, std::uint32_t task)
    {
        do
            ++task;
        while (at.continues(task));
        return task;
    }
};

} // namespace

const RunTimePolicy *forwardPolicy(OrderRule rule)
{
    static const OpportunisticForward kOpportunistic;
    static const WorkConserving kWorkConserving;
    switch (rule) {
    case OrderRule::Strict:
        return nullptr;
    case OrderRule::OpportunisticForward:
        return &kOpportunistic;
    case OrderRule::WorkConserving:
        return &kWorkConserving;
    }
    return nullptr;
}

} // namespace trainyard
