#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The threads of one search: whoever calls waits until all of them have gone through a list together. Built on
// base/work_pool; one thread works where it is called. They have the priority of the thread that makes them: low in a
// window, which searches on a thread of low priority, and the usual one of a command.

#include "core/base/work_pool.h"

#include <functional>
#include <memory>

namespace trainyard {

class SearchThreads {
public:
    /// 0: as many as the processor has cores.
    explicit SearchThreads(std::size_t threads);
    /// Workers are numbered below it.
    [[nodiscard]] std::size_t workers() const { return m_pool ? m_pool->threads() : 1; }
    /// body(index, worker) once for each index below `count`; in no order. Throws what the first that failed threw.
    void each(std::size_t count, const std::function<void(std::size_t index, std::size_t worker)> &body);

private:
    /// null: one thread
    std::unique_ptr<WorkPool> m_pool;
};

} // namespace trainyard
