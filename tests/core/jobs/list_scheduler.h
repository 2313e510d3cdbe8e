#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A list scheduler for tests, as plain as can be: every choice looks at every model, every step at every GPU. It shares
// no code with the product's and knows neither transfers nor memory; a unit may be given the time that a formula says.

#include "tests/core/jobs/job_sets.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace trainyard::test {

struct ListRules {
    bool lookAhead = false, byMinibatches = false, isFifo = false;
};

class ListScheduler {
public:
    ListScheduler(int gpus, const std::vector<Model> &models, ListRules rules)
        : m_rules(rules)
        , m_gpus(static_cast<std::size_t>(gpus))
    {
        for (const Model &model : models) {
            One one;
            for (int b = 0; b < model.minibatches; ++b)
                for (const double seconds : model.units)
                    one.units.push_back(std::llround(seconds * 1e9));
            one.perMinibatch = model.units.size();
            m_models.push_back(one);
        }
    }

    /// Seconds until all is done.
    double makespan()
    {
        for (;;) {
            for (std::size_t g = 0; g < m_gpus.size(); ++g)
                serve(g);
            std::optional<std::int64_t> next;
            for (const Gpu &gpu : m_gpus)
                if (gpu.runs && (!next || gpu.end < *next))
                    next = gpu.end;
            if (!next)
                return static_cast<double>(m_now) * 1e-9;
            m_now = *next;
            for (Gpu &gpu : m_gpus)
                if (gpu.runs && gpu.end == m_now) {
                    ++m_models[*gpu.runs].ended;
                    m_models[*gpu.runs].isRunning = false;
                    gpu.runs.reset();
                }
        }
    }

private:
    struct One {
        std::vector<std::int64_t> units;
        std::size_t perMinibatch = 0, picked = 0, ended = 0;
        bool isRunning = false;
    };
    struct Gpu {
        std::optional<std::size_t> runs, cached, last;
        std::int64_t end = 0;
    };

    std::int64_t remaining(const One &one) const
    {
        std::size_t from = one.ended;
        if (m_rules.byMinibatches)
            from = one.ended / one.perMinibatch * one.perMinibatch;
        std::int64_t sum = 0;
        for (std::size_t u = from; u < one.units.size(); ++u)
            sum += one.units[u];
        return sum;
    }
    std::optional<std::size_t> best(std::size_t g, bool isAhead) const
    {
        std::optional<std::size_t> found;
        for (std::size_t m = 0; m < m_models.size(); ++m) {
            const One &one = m_models[m];
            bool may = one.picked < one.units.size() && (!one.isRunning || (isAhead && m_gpus[g].runs == m));
            for (const Gpu &gpu : m_gpus)
                may = may && gpu.cached != m;
            if (!may)
                continue;
            if (!found) {
                found = m;
                continue;
            }
            if (m_rules.isFifo)
                continue;
            const std::int64_t own = remaining(one), other = remaining(m_models[*found]);
            if (own > other || (own == other && m_gpus[g].last == m))
                found = m;
        }
        return found;
    }
    void serve(std::size_t g)
    {
        Gpu &gpu = m_gpus[g];
        if (gpu.runs)
            return;
        const std::optional<std::size_t> chosen = gpu.cached ? gpu.cached : best(g, false);
        gpu.cached.reset();
        if (!chosen)
            return;
        One &one = m_models[*chosen];
        gpu.runs = gpu.last = chosen;
        gpu.end = m_now + one.units[one.picked++];
        one.isRunning = true;
        if (m_rules.lookAhead)
            gpu.cached = best(g, true);
    }

    ListRules m_rules;
    std::vector<Gpu> m_gpus;
    std::vector<One> m_models;
    std::int64_t m_now = 0;
};

inline double listMakespan(int gpus, const std::vector<Model> &models, ListRules rules = {})
{
    return ListScheduler(gpus, models, rules).makespan();
}

} // namespace trainyard::test
