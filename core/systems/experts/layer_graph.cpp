// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/experts/layer_graph.h"

#include "core/systems/experts/layer_tasks.h"

namespace trainyard {

namespace {

using Waits = LayerTasks::Waits;
using Moving = LayerTasks::Moving;

constexpr int kFullest = 0;

int ranksOf(const LayerWork &work)
{
    return work.meanShare == 1 ? 1 : 2;
}

/// The kernels of one pass, on each rank as long as they take there.
class PassKernels {
public:
    PassKernels(LayerTasks &tasks, const LayerWork &work)
        : m_tasks(tasks)
        , m_work(work)
    {
    }

    void run(int rank, LayerStep step, const Waits &after = {}, int piece = 0, int pieces = 1, int lane = 0)
    {
        LayerTask about;
        about.track = { rank, LayerStream::Compute, lane };
        about.step = step;
        about.piece = piece;
        about.isBackward = m_work.isBackward;
        m_tasks.kernel(about, timeOf(step) * (rank == kFullest ? 1 : shareOf(step)) / pieces, pieces, after);
    }

private:
    [[nodiscard]] Seconds timeOf(LayerStep step) const
    {
        const LayerKernels &kernels = m_work.fullest;
        switch (step) {
        case LayerStep::Before:
            return kernels.before;
        case LayerStep::Router:
            return kernels.router;
        case LayerStep::HostWait:
            return m_work.hostWait;
        case LayerStep::Permute:
            return kernels.permute;
        case LayerStep::Products:
            return kernels.products;
        case LayerStep::Unpermute:
            return kernels.unpermute;
        case LayerStep::Shared:
            return kernels.shared;
        case LayerStep::Dispatch:
        case LayerStep::Combine:
        case LayerStep::Beside:
            break; // no kernels of this stream
        }
        return {};
    }
    /// Of a mean rank.
    [[nodiscard]] double shareOf(LayerStep step) const
    {
        const bool isByLoad = step == LayerStep::Permute || step == LayerStep::Products || step == LayerStep::Unpermute;
        return isByLoad ? m_work.meanShare : 1;
    }

    LayerTasks &m_tasks;
    const LayerWork &m_work;
};

/// Products with the pieces of both exchanges around them.
void addExperts(LayerTasks &tasks, PassKernels &kernels, const LayerWork &work, const Moving &dispatch, Moving &combine)
{
    const int products = work.productsInPieces ? dispatch.pieces : 1;
    int next = 0; // piece of the combine
    for (int piece = 0; piece < products; ++piece) {
        for (int rank = 0; rank < tasks.ranks(); ++rank) {
            Waits arrived;
            tasks.addPassed(arrived, dispatch, rank, products == 1 ? dispatch.pieces - 1 : piece);
            kernels.run(rank, LayerStep::Products, arrived, piece, products);
        }
        if (products == 1)
            return tasks.launch(combine, tasks.lastKernels());
        // Piece j of m carries what the first (j + 1) / m of the products have made.
        for (; next < combine.pieces && (next + 1) * products <= (piece + 1) * combine.pieces; ++next)
            tasks.launchPiece(combine, next, tasks.lastKernels());
    }
}

void addLayer(LayerTasks &tasks, const LayerWork &work)
{
    PassKernels kernels(tasks, work);
    for (int rank = 0; rank < tasks.ranks(); ++rank) {
        if (work.isBackward && !work.isSharedBeside)
            kernels.run(rank, LayerStep::Shared);
        kernels.run(rank, work.isBackward ? LayerStep::Unpermute : LayerStep::Router);
        kernels.run(rank, LayerStep::HostWait);
        if (!work.isBackward)
            kernels.run(rank, LayerStep::Permute);
    }
    Moving dispatch = tasks.begin(work.dispatch, LayerStep::Dispatch, work.isBackward);
    Moving combine = tasks.begin(work.combine, LayerStep::Combine, work.isBackward);
    tasks.launch(dispatch, tasks.lastKernels());
    for (int rank = 0; rank < tasks.ranks() && work.isSharedBeside; ++rank)
        kernels.run(rank, LayerStep::Shared, tasks.lastKernel(rank), 0, 1, 1);
    addExperts(tasks, kernels, work, dispatch, combine);
    for (int rank = 0; rank < tasks.ranks(); ++rank) {
        Waits arrived;
        tasks.addPassed(arrived, combine, rank, combine.pieces - 1);
        kernels.run(rank, work.isBackward ? LayerStep::Permute : LayerStep::Unpermute, arrived);
        if (work.isBackward)
            kernels.run(rank, LayerStep::Router);
        else if (!work.isSharedBeside)
            kernels.run(rank, LayerStep::Shared);
    }
    tasks.beside(work.beside, work.isBackward);
}

/// Kernels of one pass beside an exchange of the other; the next phase begins when both are through.
class Phases {
public:
    explicit Phases(LayerTasks &tasks)
        : m_tasks(tasks)
        , m_passed(static_cast<std::size_t>(tasks.ranks()))
    {
    }

    void add(const LayerWork &of, const Exchange &exchange, LayerStep step, const LayerWork &computing,
        std::initializer_list<LayerStep> steps)
    {
        Waits both = m_tasks.lastKernels();
        for (const Waits &waits : m_passed)
            both.insert(both.end(), waits.begin(), waits.end());
        Moving moving = m_tasks.begin(exchange, step, of.isBackward);
        m_tasks.launch(moving, both);
        PassKernels kernels(m_tasks, computing);
        for (int rank = 0; rank < m_tasks.ranks(); ++rank) {
            Waits &passed = m_passed[static_cast<std::size_t>(rank)];
            for (const LayerStep kernel : steps)
                kernels.run(rank, kernel, passed);
            passed.clear();
            if (!exchange.legs.empty())
                m_tasks.addPassed(passed, moving, rank, moving.pieces - 1);
        }
    }

private:
    LayerTasks &m_tasks;
    std::vector<Waits> m_passed; // per rank: the exchange of the last phase
};

} // namespace

LayerGraph layerGraph(const LayerWork &work)
{
    LayerTasks tasks(work, ranksOf(work));
    addLayer(tasks, work);
    return std::move(tasks).finish();
}

LayerGraph pairGraph(const PairWork &work)
{
    using enum LayerStep;
    const LayerWork &a = work.forward, &b = work.backward;
    LayerTasks tasks(a, std::max(ranksOf(a), ranksOf(b)), work.loss);
    Phases phases(tasks);
    phases.add(b, b.dispatch, Dispatch, a, { Unpermute, Before, Router, HostWait, Permute });
    phases.add(a, a.dispatch, Dispatch, b, { Products, Shared });
    phases.add(b, b.combine, Combine, a, { Products, Shared });
    phases.add(a, a.combine, Combine, b, { Permute, Router, Before, Unpermute, HostWait });
    tasks.beside(a.beside, a.isBackward);
    tasks.beside(b.beside, b.isBackward);
    return std::move(tasks).finish();
}

} // namespace trainyard
