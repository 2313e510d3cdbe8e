#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What one GPU does while jobs run, and what lies on it: the unit that computes or is next, the one after it that was
// picked ahead, transfers under way, bytes. A plain value that ShardDispatcher moves on.

#include "core/engine/timeline/work.h"
#include "core/systems/jobs/jobs_under_way.h"
#include "core/systems/jobs/unit_bytes.h"

#include <initializer_list>

namespace trainyard {

/// The end of a task, for what waited for it.
struct TaskEnd {
    Nanoseconds time = -1;
    std::uint32_t task = kNoSpan;
};
/// The last of them; of equal ones the first.
[[nodiscard]] inline std::uint32_t latest(std::initializer_list<TaskEnd> ends)
{
    TaskEnd last;
    for (const TaskEnd &end : ends)
        if (end.time > last.time)
            last = end;
    return last.task;
}

/// Stores that wait for the GPU's engine, in the order in which their units ended.
struct StoreQueue {
    struct Store {
        std::uint32_t job, taskClass;
        /// bytes of the GPU when it has arrived
        double freed;
        std::int32_t minibatch;
        int shard;
        /// UnitFacts::firstOfShard of the shard that returns; kNoSpan: none
        std::uint32_t weights;
        TaskEnd unit;
    };
    std::vector<Store> stores;
    std::size_t first = 0;

    [[nodiscard]] bool isEmpty() const { return first == stores.size(); }
    [[nodiscard]] const Store &front() const { return stores[first]; }
    void push(const Store &store)
    {
        if (isEmpty()) {
            stores.clear();
            first = 0;
        }
        stores.push_back(store);
    }
    void pop() { ++first; }
};

struct GpuState {
    enum class Weights : std::uint8_t { Needed, OnTheirWay, There };
    struct Unit { // that was picked
        std::uint32_t job = kNoJob, unit = 0;
        std::int32_t minibatch = 0;
        /// with the weights of the unit before it
        bool isContinued = false;
        /// from the unit before it
        bool hasInput = false;
        /// and input
        Weights weights = Weights::There;
        TaskEnd loaded;
        [[nodiscard]] bool isNone() const { return job == kNoJob; }
    };

    Unit now, next;
    /// at this instant, with what it leaves still to be said
    Unit ended;
    /// `now`
    bool computes = false;
    bool isLoading = false, isStoring = false;
    /// not `now`
    bool loadsNext = false;
    /// that computes, or has just ended
    std::uint32_t task = kNoSpan;
    /// job of the unit that began last
    std::uint32_t last = kNoJob;
    /// bytes
    double used = 0;
    /// the first is the one under way
    StoreQueue stores;
    TaskEnd computed, loaded, stored;
    Nanoseconds began = 0;
};

} // namespace trainyard
