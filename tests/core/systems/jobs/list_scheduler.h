#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A list scheduler for tests, as plain as can be: every choice looks at every model, every step at every GPU. It shares
// no code with the product's. A unit may be given the time that a formula says; or transfers are counted, on a load and
// a store engine of each GPU, at unlimited memory: a unit's load begins when it has been picked, the engine is free and
// its model's last store has arrived (of the same shard, where the unit before it runs on that GPU), without a buffer
// when its GPU has stored too.

#include "tests/core/systems/jobs/job_sets.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace trainyard::test {

struct ListRules {
    bool lookAhead = false, byMinibatches = false, isFifo = false;
    double lambda = 0, upsilon = 0; // seconds of each unit's load and store
    bool isBuffered = false; // loads run while the unit before computes; implies looking ahead
    bool staysInPlace = false; // the last and the first unit of a mini-batch are of one shard: nothing moves between
};

class ListScheduler {
public:
    ListScheduler(int gpus, const std::vector<Model> &models, ListRules rules)
        : m_rules(rules)
        , m_lambda(std::llround(rules.lambda * 1e9))
        , m_upsilon(std::llround(rules.upsilon * 1e9))
        , m_gpus(static_cast<std::size_t>(gpus))
    {
        for (const Model &model : models) {
            One one;
            for (int b = 0; b < model.minibatches; ++b)
                for (const double seconds : model.units)
                    one.units.push_back(std::llround(seconds * 1e9));
            one.perMinibatch = model.units.size();
            one.shards.resize(one.perMinibatch, 0);
            m_models.push_back(one);
        }
    }

    /// Seconds until the last unit has ended.
    double makespan()
    {
        for (;;) {
            for (std::size_t g = 0; g < m_gpus.size(); ++g)
                serve(g);
            std::optional<std::int64_t> next;
            for (const Gpu &gpu : m_gpus)
                if (gpu.runs && (!next || gpu.until() < *next))
                    next = gpu.until();
            if (!next)
                return static_cast<double>(m_now) * 1e-9;
            m_now = *next;
            for (Gpu &gpu : m_gpus)
                if (gpu.runs && gpu.hasStarted && gpu.end == m_now)
                    end(gpu);
        }
    }

private:
    struct One {
        std::vector<std::int64_t> units;
        std::size_t perMinibatch = 0, picked = 0, ended = 0;
        std::vector<std::int64_t> shards; // when the last store of each has arrived
        bool isRunning = false;
    };
    struct Gpu {
        std::optional<std::size_t> runs, cached, last;
        std::int64_t start = 0, end = 0; // of the unit that runs, or waits for its load
        bool hasStarted = false;
        std::int64_t cachedFrom = 0; // when what it needs is there
        std::int64_t loads = 0, stores = 0; // until when the engines are busy
        std::int64_t endedAt = -1, storesBefore = 0, storedBefore = 0; // of the last unit; to take its store back
        [[nodiscard]] std::int64_t until() const { return hasStarted ? end : start; }
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
    bool isInPlace(const Gpu &gpu, std::size_t model) const // the unit of it that is picked next
    {
        const One &one = m_models[model];
        return m_rules.staysInPlace && gpu.last == model && one.picked % one.perMinibatch == 0;
    }
    /// Where the last store of what the unit uses is noted.
    std::int64_t &shard(One &one, std::size_t unit) const
    {
        const std::size_t u = unit % one.perMinibatch;
        return one.shards[m_rules.staysInPlace ? std::min(u, one.perMinibatch - 1 - u) : u];
    }
    /// When the unit's weights are there.
    std::int64_t load(Gpu &gpu, std::size_t model, std::size_t unit, bool hasInput)
    {
        One &one = m_models[model];
        const std::int64_t free = m_rules.isBuffered ? gpu.loads : std::max(gpu.loads, gpu.stores);
        const std::int64_t there = hasInput ? shard(one, unit) : *std::ranges::max_element(one.shards);
        gpu.loads = std::max({ m_now, free, there }) + m_lambda;
        return gpu.loads;
    }
    void end(Gpu &gpu)
    {
        One &one = m_models[*gpu.runs];
        ++one.ended;
        one.isRunning = false;
        gpu.endedAt = m_now;
        gpu.storesBefore = gpu.stores;
        gpu.storedBefore = shard(one, one.ended - 1);
        const bool stays = gpu.cached == gpu.runs && m_rules.staysInPlace && one.ended % one.perMinibatch == 0;
        if (!stays && m_upsilon > 0)
            shard(one, one.ended - 1) = gpu.stores = std::max(gpu.stores, m_now) + m_upsilon;
        gpu.runs.reset();
    }
    void serve(std::size_t g)
    {
        Gpu &gpu = m_gpus[g];
        if (!gpu.runs && gpu.cached) {
            gpu.start = std::max(m_now, m_rules.isBuffered ? gpu.cachedFrom : startOf(gpu, *gpu.cached, true));
            take(gpu, *gpu.cached);
            gpu.cached.reset();
        } else if (!gpu.runs) {
            const std::optional<std::size_t> chosen = best(g, false);
            if (!chosen)
                return;
            gpu.start = startOf(gpu, *chosen, false);
            ++m_models[*chosen].picked;
            take(gpu, *chosen);
        }
        if (gpu.hasStarted || gpu.start > m_now)
            return;
        One &one = m_models[*gpu.runs];
        gpu.hasStarted = true;
        gpu.end = m_now + one.units[one.ended];
        gpu.last = gpu.runs;
        if (!m_rules.lookAhead && !m_rules.isBuffered)
            return;
        gpu.cached = best(g, true);
        if (!gpu.cached)
            return;
        if (m_rules.isBuffered)
            gpu.cachedFrom = isInPlace(gpu, *gpu.cached)
                ? m_now
                : load(gpu, *gpu.cached, m_models[*gpu.cached].picked, gpu.cached == gpu.runs);
        ++m_models[*gpu.cached].picked;
    }
    /// Of a unit whose GPU has nothing to do: at once where its weights have stayed, else when they have come.
    std::int64_t startOf(Gpu &gpu, std::size_t model, bool wasPicked)
    {
        One &one = m_models[model];
        const std::size_t unit = one.picked - (wasPicked ? 1 : 0);
        const bool goesOn = gpu.last == model && gpu.endedAt == m_now;
        if (m_rules.staysInPlace && goesOn && unit % one.perMinibatch == 0) {
            gpu.stores = gpu.storesBefore;
            shard(one, unit) = gpu.storedBefore;
            return m_now;
        }
        return m_lambda > 0 ? load(gpu, model, unit, goesOn) : m_now;
    }
    void take(Gpu &gpu, std::size_t model)
    {
        gpu.runs = model;
        gpu.hasStarted = false;
        m_models[model].isRunning = true;
    }

    ListRules m_rules;
    std::int64_t m_lambda, m_upsilon;
    std::vector<Gpu> m_gpus;
    std::vector<One> m_models;
    std::int64_t m_now = 0;
};

inline double listMakespan(int gpus, const std::vector<Model> &models, ListRules rules = {})
{
    return ListScheduler(gpus, models, rules).makespan();
}

} // namespace trainyard::test
