#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Small random problems of mixed GPUs, and all their plans one by one: slow, and obviously right.

#include "core/systems/unequal_gpus/layer_time.h"
#include "core/systems/unequal_gpus/share_problem.h"

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

namespace trainyard {

struct RandomShape {
    int mostRanks = 4, mostSamples = 16;
    bool sameCompute = false; // one line C(m) for all kinds, as one model on many GPUs has it; else any that rises
    bool mayKeepSamples = false; // activations that stay: bytes by sample
};

class RandomProblems {
public:
    RandomProblems(unsigned seed, RandomShape shape)
        : m_random(seed)
        , m_shape(shape)
    {
    }
    ShareProblem next()
    {
        ShareProblem problem;
        int ranks = whole(1, m_shape.mostRanks);
        problem.batch = whole(ranks, m_shape.mostSamples);
        problem.gather = whole(0, 2) * real(0, 40);
        problem.reduceScatter = whole(0, 2) * real(0, 60);
        problem.overhead = whole(0, 1) * real(0, 12);
        problem.unevenPenalty = real(1, 1.5);
        problem.mayIdle = whole(0, 1) == 0;
        m_line = { real(50, 200) * kUnit, real(20, 120) * kUnit };
        double room = 0;
        while (ranks > 0) {
            problem.kinds.push_back(kind(whole(1, ranks)));
            ranks -= problem.kinds.back().ranks;
            room += problem.kinds.back().ranks * problem.kinds.back().room;
        }
        problem.stateBytes = real(0, 0.95) * room; // often tight, sometimes too much
        return problem;
    }
    int whole(int least, int most) { return std::uniform_int_distribution(least, most)(m_random); }
    double real(double least, double most) { return std::uniform_real_distribution(least, most)(m_random); }

private:
    static constexpr double kUnit = 1e6;

    RankKind kind(int ranks)
    {
        const int size = whole(m_shape.mostSamples / 2, m_shape.mostSamples + 2);
        RankKind kind;
        kind.ranks = ranks;
        const double speed = real(0.3, 4), first = real(0, 10);
        double compute = 0;
        for (int m = 1; m <= size; ++m) {
            kind.forward.push_back(first + speed * m * real(0.95, 1.05));
            kind.backward.push_back(2 * first + 2.1 * speed * m * real(0.95, 1.05));
            compute += real(0, 150) * kUnit;
            kind.compute.push_back(m_shape.sameCompute ? m_line.first + m_line.second * m : compute);
        }
        kind.perSample = m_shape.mayKeepSamples ? whole(0, 1) * real(0, 80) * kUnit : 0;
        kind.room = real(150, 2500) * kUnit;
        return kind;
    }

    std::mt19937 m_random;
    RandomShape m_shape;
    std::pair<double, double> m_line; // C(m) of all kinds
};

/// The least (time, sum of micro-batches) of all plans whose compute and states fit together; infinite: none does.
class AllPlans {
public:
    explicit AllPlans(const ShareProblem &problem)
        : m_problem(problem)
    {
        for (const RankKind &kind : problem.kinds)
            m_ranks.insert(m_ranks.end(), std::size_t(kind.ranks), &kind);
        for (const RankKind *rank : m_ranks)
            m_room += rank->room;
        visit(0, problem.batch, 0, 0, 0);
    }
    double time = std::numeric_limits<double>::infinity();
    int sum = 0;

private:
    void visit(std::size_t rank, int left, double slowest, int micro, double bytes)
    {
        if (rank == m_ranks.size()) {
            const bool fits = !m_problem.balancesState || bytes + m_problem.stateBytes <= m_room;
            if (left == 0 && fits && std::pair(slowest, micro) < std::pair(time, sum)) {
                time = slowest;
                sum = micro;
            }
            return;
        }
        const RankKind &kind = *m_ranks[rank];
        const double even = m_problem.balancesState ? 0 : m_problem.stateBytes / double(m_ranks.size());
        for (int m = m_problem.mayIdle ? 0 : 1; m <= std::min(left, tableSize(kind)); ++m)
            for (int l = m > 0 ? 1 : 0; l <= (m > 0 ? left / m : 0); ++l) {
                double most = 0;
                for (int i = 0; i < m; ++i)
                    most = std::max(most, kind.compute[std::size_t(i)]);
                const double compute = most + kind.perSample * m * l;
                if (compute + even > kind.room)
                    continue;
                const double layer = layerTime(m_problem, kind, m, l);
                visit(rank + 1, left - m * l, std::max(slowest, layer), micro + m, bytes + compute);
            }
    }

    const ShareProblem &m_problem;
    std::vector<const RankKind *> m_ranks;
    double m_room = 0;
};

} // namespace trainyard
