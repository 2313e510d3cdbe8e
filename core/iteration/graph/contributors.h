#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of an iteration's graph, each a contributor for one class of pipelines: operations, activations that leave
// and return, states off the GPU, transfers between datacenters, gradient sync and step. Internal to
// core/iteration/graph; the list of them is in pipeline_graph.cpp.

#include "core/iteration/graph/class_tasks.h"

#include <functional>

namespace trainyard {

class Transfers;

/// Adds the operations of every device, cut into segments where activations leave, and makes them wait along the chain
/// of stages.
class Operations : public Contributor {
public:
    Operations(ClassTasks &tasks, const Transfers &transfers)
        : m_(tasks)
        , m_transfers(transfers)
    {
    }
    void shape(Fingerprint &print) const override;
    void times(ClassTable &table) override;
    void tasks(GraphBuilder &builder) override;
    [[nodiscard]] Expected<void> order(GraphBuilder &builder) override;

private:
    void addSegmentTimes(ClassTable &table, std::size_t slot);
    [[nodiscard]] ExposedSeconds exposedIn(std::size_t slot, OpKind kind) const;
    void addPairTimes(ClassTable &table);
    void addOps(GraphBuilder &builder, RecomputeState &kept, int device);
    void addPlainOps(GraphBuilder &builder, RecomputeState &kept, int device);
    void addOp(GraphBuilder &builder, const Op &op, const Op *paired, RecomputeState &kept, int device);
    void addSegments(
        GraphBuilder &builder, const Op &op, const std::vector<OffloadSegment> &segments, bool isWhole, int device);
    [[nodiscard]] std::uint32_t classOf(std::size_t slot, OpWork work) const
    {
        return m_first + kOpWorks * static_cast<std::uint32_t>(slot) + static_cast<std::uint32_t>(work);
    }
    /// What the operations of a chunk wait for in one direction: nothing, a task of the same device, a task a lag ago,
    /// a transfer.
    struct Neighbour {
        enum class Way : std::uint8_t { None, Here, Lag, Channel } way = Way::None;
        std::uint32_t lag = 0;
        int producer = 0;
    };
    void findNeighbours();
    [[nodiscard]] bool waitForNeighbour(GraphBuilder &builder, const Op &op, TaskId task, int device) const;
    [[nodiscard]] bool hasInputs(const Op &op, TaskId task, int device) const;
    [[nodiscard]] Error missingBefore(const Op &op, TaskId task, int device) const;

    ClassTasks &m_;
    const Transfers &m_transfers;
    std::uint32_t m_first = 0, m_firstPair = 0;
    /// [slot]: class of the first segment's forward
    std::vector<std::uint32_t> m_firstSegment;
    /// [boundary * 2 + direction]
    std::vector<std::uint32_t> m_lag;
    /// [slot]: of forwards, of gradients
    std::vector<Neighbour> m_neighbours[2];
};

/// Adds the boundaries between datacenters, each a channel. It serves in the order in which the sender produces; the
/// members of a cell take turns on it, and each scatters its pieces before its turn and gathers them after.
class Transfers : public Contributor {
public:
    /// `first`: the Transfers of the cell's first member, which owns the channels; nullptr where this is that member.
    Transfers(ClassTasks &tasks, Transfers *first)
        : m_(tasks)
        , m_owner(first ? first : this)
    {
    }
    void shape(Fingerprint &print) const override;
    void times(ClassTable &table) override;
    void tasks(GraphBuilder &builder) override;
    [[nodiscard]] Expected<void> order(GraphBuilder &builder) override;

    /// Lets a task wait for the result of a stage that reaches the next one over a channel.
    void waitForArrival(GraphBuilder &builder, TaskId task, int producer, int direction, int microBatch) const;

private:
    /// One direction between two devices; chunks that cross between the same devices share it.
    struct Channel {
        int from = 0, to = 0, wanLink = -1;
        bool scatters = false, gathers = false;
        GraphBuilder::Id resource = kNoSpan;
        /// of this class, transfer by transfer
        TaskId first = kNoSpan, firstScatter = kNoSpan, firstGather = kNoSpan;
    };
    /// One transfer: the boundary and direction that it crosses, the stage whose result it carries, and its place among
    /// its member's transfers.
    struct Transfer {
        std::uint32_t boundary, place;
        int producer, direction;
        const Op *op;
    };

    void findChannels();
    int findChannel(int from, int to, const BoundaryTimes &boundary, int direction);
    template <class Visit> void each(std::size_t channel, Visit visit) const;
    void addPieces(GraphBuilder &builder, Channel &channel, bool gathers);

    ClassTasks &m_;
    Transfers *m_owner;
    /// classes [boundary * 2 + direction], [… * 2 + {scatter, gather}]
    std::uint32_t m_serialization = 0, m_pieces = 0;
    /// lags [boundary * 2 + direction]
    std::uint32_t m_latency = 0;
    std::vector<Channel> m_channels;
    /// [virtual stage]: channel of its forwards and of its gradients, or -1
    std::vector<std::array<int, 2>> m_sends;
    /// [cell]: place on the channel
    std::vector<std::uint32_t> m_place[2];
};

/// Activations that leave after the forward and return before the backward: two queues a device, one each way.
class ActivationMoves : public Contributor {
public:
    explicit ActivationMoves(ClassTasks &tasks)
        : m_(tasks)
    {
    }
    void shape(Fingerprint &print) const override;
    void times(ClassTable &table) override;
    void tasks(GraphBuilder &builder) override;
    [[nodiscard]] Expected<void> order(GraphBuilder &builder) override;

private:
    struct Queues {
        DeviceMoves moves;
        TaskId firstStore, firstLoad;
    };

    void addMoves(GraphBuilder &builder, int device, DeviceMoves moves);
    void waitForStores(GraphBuilder &builder, int device) const;
    void waitForLoads(GraphBuilder &builder, int device) const;

    ClassTasks &m_;
    /// [slot]: class of the first segment's store; its load follows
    std::vector<std::uint32_t> m_first;
    /// [device]
    std::vector<Queues> m_queues;
    std::vector<TaskEvent>
        m_gradientBegins; // [cell]: [cell]: when the operation that makes the gradient begins; filled only where
    // devices decide while they run
};

/// Rows of states off the GPU, for which nothing waits.
class StateRows : public Contributor {
public:
    explicit StateRows(ClassTasks &tasks)
        : m_(tasks)
    {
    }
    void shape(Fingerprint &print) const override;
    void times(ClassTable &table) override;
    void tasks(GraphBuilder &builder) override;
    [[nodiscard]] Expected<void> order(GraphBuilder &builder) override;
    /// [device]: the first task of its optimizer step. Set by the contributor that adds it (SyncAndStep).
    std::vector<TaskId> optimizer;

private:
    template <class Visit> void eachMove(int device, Stream stream, Visit visit) const;

    ClassTasks &m_;
    /// first classes, first lag
    std::uint32_t m_moves = 0, m_steps = 0, m_stepLags = 0;
    /// tasks that begin with another
    std::vector<std::pair<TaskId, TaskId>> m_begins;
    /// [device]
    std::vector<TaskId> m_firstStep;
};

/// Accumulation layer by layer: weights gathered once a pass and gradients reduced once a layer by the ranks of all
/// classes together, and boundaries that leave for host memory and return. docs/model.md, "Mixed GPUs".
class LayerLoop : public Contributor {
public:
    /// `all`: of every class, this one included, in order; filled when tasks() is called.
    LayerLoop(ClassTasks &tasks, const std::vector<LayerLoop *> &all)
        : m_(tasks)
        , m_all(all)
    {
    }
    void shape(Fingerprint &print) const override;
    void times(ClassTable &table) override;
    void tasks(GraphBuilder &builder) override;
    [[nodiscard]] Expected<void> order(GraphBuilder &builder) override;

private:
    /// Consecutive operations of one layer: forward, backward, or both in turn in the last layer.
    struct Visit {
        /// operations of the order, past the last
        std::size_t first, last;
        int layer;
        /// its gradients are whole afterwards
        bool isBackward;
        TaskId gather = kNoSpan, reduce = kNoSpan;
    };
    enum Move : std::uint32_t { StoreInput, LoadInput, StoreGradient, LoadGradient };
    struct Moved {
        TaskId task;
        /// that it follows, or that waits for it
        std::size_t op;
        Move move;
    };

    [[nodiscard]] const std::vector<Op> &ops() const { return m_.program.order.front(); }
    [[nodiscard]] TaskId firstTask(std::size_t op) const { return m_.begins.front()[op]; }
    [[nodiscard]] TaskId lastTask(std::size_t op) const { return m_.begins.front()[op + 1] - 1; }
    void findVisits();
    void addMoves(GraphBuilder &builder);
    void orderMoves(GraphBuilder &builder) const;

    ClassTasks &m_;
    const std::vector<LayerLoop *> &m_all;
    /// classes [layer * 2 + reduces]; by Move
    std::uint32_t m_first = 0, m_firstMove = 0;
    std::vector<Visit> m_visits;
    std::vector<Moved> m_moves;
};

/// After the last backward: gradient reduction, optimizer, parameter gather, and the host's time at the end.
class SyncAndStep : public Contributor {
public:
    /// `all`: of every class, this one included, in order; filled when tasks() is called.
    SyncAndStep(ClassTasks &tasks, const std::vector<SyncAndStep *> &all, StateRows &states)
        : m_(tasks)
        , m_all(all)
        , m_states(states)
    {
    }
    void shape(Fingerprint &print) const override;
    void times(ClassTable &table) override;
    void tasks(GraphBuilder &builder) override;
    [[nodiscard]] Expected<void> order(GraphBuilder &builder) override;

private:
    struct Tasks {
        TaskId reduce = kNoSpan, optimizer = kNoSpan, gather = kNoSpan, overhead = kNoSpan;
    };

    ClassTasks &m_;
    const std::vector<SyncAndStep *> &m_all;
    StateRows &m_states;
    std::uint32_t m_first = 0, m_overhead = 0, m_barrierClass = 0,
                  m_lags = 0; // classes [device * 3 + …]; lags [device * classes + class]
    /// [device]
    std::vector<Tasks> m_tasks;
    /// the gradient-norm exchange, on the first class only
    TaskId m_barrier = kNoSpan;
};

} // namespace trainyard
