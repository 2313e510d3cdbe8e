#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The tasks of one class of equal pipelines while its graph is built: first their numbers, then the tasks themselves.
// Internal to core/timeline.

#include "core/timeline/pipeline_costs.h"

namespace trainyard {

class PipelineClassTasks {
public:
    PipelineClassTasks(const IterationCosts &costs, int index, const ClassCosts &at);

    /// Gives numbers from `task` and `resource` on, and moves both past the last. `before`: the member before this one in its cell;
    /// nullptr for the first, which owns the channels, and outside cells.
    void number(std::uint32_t &task, std::uint32_t &resource, const PipelineClassTasks *before);
    [[nodiscard]] const std::vector<Resource> &resources() const { return m_resources; }
    [[nodiscard]] bool hasPairs() const { return m_hasPairs; }
    [[nodiscard]] bool offloads() const { return !m_moves.empty(); }
    [[nodiscard]] bool cutsAtRunTime() const { return offloads() && m_program.rule != OrderRule::Strict; }

    /// Appends the tasks. Errors: Internal where an operation needs one that the program lacks or has too late.
    [[nodiscard]] Expected<void> write(TaskGraph &graph, const std::vector<PipelineClassTasks> &classes) const;

private:
    struct Stage {                 // of a virtual stage
        int device = 0, chunk = 0;
        bool begins = false, ends = false;   // the first and the last of its chain
        bool crosses = false;      // its boundary to the next lies between two devices
        int sends[2] = {-1, -1};   // WAN channel of its forwards to the next stage, and of its gradients to the previous
    };
    struct SyncAndStep { std::uint32_t lastOp, reduce, optimizer, gather, overhead; };   // kNoSpan where absent
    /// One direction between two devices. Of a cell's channel every member keeps its part; the first member has the resource.
    struct Channel {
        int from = 0, to = 0, wanLink = -1;
        bool scatters = false, gathers = false;
        std::uint32_t count = 0;                // transfers of this class
        std::uint32_t first = 0;                // task numbers: of this class's transfers, which follow each other
        std::uint32_t firstScatter = kNoSpan, firstGather = kNoSpan;   // of this class, transfer by transfer
    };

    /// The end of a task, or the moment before it that the lag says.
    struct Moment { std::uint32_t task = kNoSpan, lag = kNoLag; };
    /// What one segment of one micro-batch keeps, on its way out and back.
    struct Move { std::uint32_t segment; std::uint32_t made; std::uint32_t needed; std::uint32_t load; const Op *op; };
    /// Of a store; asked for when both moments have come.
    struct Load { std::uint32_t store; Moment turn, gradient; };
    struct DeviceMoves {           // of one device
        std::vector<Move> stores;  // in the order of the forwards
        std::vector<Load> loads;   // in the order in which they are asked for
        std::uint32_t firstStore = 0, firstLoad = 0;   // task numbers
    };
    struct StoredRange {           // in DeviceMoves::stores
        std::uint32_t first = 0, count = 0;
        bool isMadeAnew = false;   // by an operation of its own, which waits for what it needs
    };
    /// The tasks of an operation; of a pair's forward the one that it shares.
    struct PlacedOp { const Op *op; std::size_t slot; std::uint32_t task, last; bool isCut; };

    [[nodiscard]] std::size_t cell(int q, int microBatch) const
    {
        return static_cast<std::size_t>(q) * static_cast<std::size_t>(m_microBatches) + static_cast<std::size_t>(microBatch);
    }
    [[nodiscard]] bool isRecomputed(const Op &op, std::size_t slot) const;
    [[nodiscard]] int stageOf(int device, int chunk) const { return m_stageOf[static_cast<std::size_t>(device * m_chunks + chunk)]; }
    void findStages();
    int findChannel(int from, int to, const BoundaryTimes &boundary, int direction);
    void numberChannels(std::uint32_t &task, const PipelineClassTasks *before);
    void addTrack(std::uint32_t &task, std::uint32_t count, Discipline discipline, Track track);
    void findSegments();
    void numberOps(std::uint32_t &task);
    void numberOp(const Op &op, int device, bool isPaired, std::uint32_t &task);
    void numberResult(const Op &op, std::size_t slot, std::uint32_t task);
    void numberSyncAndStep(std::uint32_t &task);
    [[nodiscard]] const std::vector<OffloadSegment> *segmentsOf(const Op &op, std::size_t slot) const;
    [[nodiscard]] std::uint32_t tasksOf(const Op &op, std::size_t slot, bool isPaired) const;
    [[nodiscard]] std::vector<PlacedOp> placedOps(int device) const;
    /// Whether which operation comes next is known beforehand.
    [[nodiscard]] bool keepsOrder(int device) const
    {
        return m_program.rule == OrderRule::Strict || m_stages[static_cast<std::size_t>(stageOf(device, 0))].ends;
    }
    [[nodiscard]] Moment beginOf(std::uint32_t task, std::size_t slot, std::size_t segment, SegmentTime time) const
    {
        return {task, m_at.begins + m_at.segments - m_at.ops + kTimesOfSegment * (m_firstSegment[slot] + static_cast<std::uint32_t>(segment)) + time};
    }
    [[nodiscard]] Moment beginOf(const PlacedOp &op) const;
    void findMoves();
    void findStores(DeviceMoves &moves, const std::vector<PlacedOp> &ops, std::size_t place, bool isOrderKnown);
    void findLoads(DeviceMoves &moves, const std::vector<PlacedOp> &ops, std::size_t place, int device);
    struct Groups;
    [[nodiscard]] Groups groupsOf(DeviceMoves &moves, const PlacedOp &backward, const PlacedOp *recomputation) const;
    [[nodiscard]] Moment askInOrder(const Groups &groups, std::size_t group, const std::vector<PlacedOp> &ops, std::size_t place, int device) const;
    void askAtRunTime(Load &load, const Groups &groups, std::size_t group, const std::vector<PlacedOp> &ops, std::size_t place, int device) const;
    static void sortByAsking(DeviceMoves &moves);
    void numberMoves(std::uint32_t &task);
    [[nodiscard]] std::uint32_t storeOf(int device, const StoredRange &stored, std::uint32_t segment) const;
    template <class Visit>
    void forEachStateMove(int device, Stream stream, Visit visit) const;
    void numberStates(std::uint32_t &task);

    struct Writer;
    bool writeOp(Writer &writer, const Op &op, int device) const;
    bool writeSegments(Writer &writer, const Op &op, int device, const std::vector<OffloadSegment> &segments) const;
    void waitForLoads(Writer &writer, const Op &op, int device) const;
    void writeMoves(Writer &writer, int device) const;
    void writeStates(Writer &writer, int device) const;
    bool writePair(Writer &writer, const Op &forward, const Op &backward, int device) const;
    bool dependOn(Writer &writer, int q, const Op &op) const;
    void dependOnOwnForward(Writer &writer, int q, const Op &op) const;
    bool dependOn(Writer &writer, int producer, int consumer, int microBatch, int direction) const;
    [[nodiscard]] Error missingBefore(const Op &op, int device) const;
    /// A transfer over a channel: which boundary and direction, whose result, in which place of its member.
    struct Transfer { std::uint32_t boundary; std::uint32_t place; std::uint32_t result; const Op *op; };
    template <class Write>
    void forEachTransfer(const Channel &channel, Write write) const;
    void writeChannel(Writer &writer, const Channel &channel, const std::vector<PipelineClassTasks> &classes) const;
    void writePieces(Writer &writer, const Channel &channel, bool gathers) const;
    void writeCollectives(Writer &writer, int device, const std::vector<PipelineClassTasks> &classes) const;

    const IterationCosts &m_costs;
    const PipelineCosts &m_pipeline;
    const Program &m_program;
    int m_index;
    ClassCosts m_at;
    int m_devices, m_chunks, m_microBatches;
    std::vector<int> m_stageOf;                // [device * chunks + chunk] -> virtual stage
    std::vector<Stage> m_stages;
    std::vector<std::uint32_t> m_result[2];    // [cell] -> the forward; the task that makes the gradient for the stage before
    std::vector<std::uint32_t> m_transfer[2];  // [cell] -> its place on the channel; empty without WAN
    std::vector<Channel> m_channels;
    std::vector<DeviceMoves> m_moves;          // per device; empty where nothing is offloaded
    std::vector<StoredRange> m_stored;         // [cell]
    std::vector<Moment> m_gradientBegins;      // [cell]: of the operation that makes it; where devices decide while they run
    std::vector<std::uint32_t> m_firstSegment; // [device * chunks + chunk]: of all segments in turn
    std::vector<std::uint32_t> m_firstStep;    // per device: task number of its step off the GPU; empty where nothing is
    std::vector<SyncAndStep> m_syncAndStep;                  // per device
    std::uint32_t m_barrier = kNoSpan;         // the gradient-norm exchange, on the first class only
    std::uint32_t m_firstResource = 0;
    bool m_hasPairs = false;
    bool m_splitsBackward = false;             // where something is offloaded: input gradients are cut, whole backwards are not
    std::vector<Resource> m_resources;
};

} // namespace trainyard
