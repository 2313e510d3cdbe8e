#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Writes down the kernels and legs of ranks as they are launched, with their streams and what they share. Which of them
// a layer has, and in which order, is layer_graph.cpp's.

#include "core/engine/timeline/graph_builder.h"
#include "core/systems/experts/layer_graph.h"

namespace trainyard {

class LayerTasks {
public:
    using Id = GraphBuilder::Id;
    using Waits = std::vector<Id>;

    /// Bandwidths, multiprocessors and the queue of `site`, for each of the ranks. `loss`: share of a GPU that kernels
    /// lose beside an exchange, beyond its multiprocessors.
    LayerTasks(const LayerWork &site, int ranks, double loss = 0);

    [[nodiscard]] int ranks() const { return m_ranks; }
    /// One of so many pieces that take `time` each, behind the kernels launched before it on its lane and `after`.
    void kernel(const LayerTask &about, Seconds time, int pieces, const Waits &after);
    /// The last kernel of the rank's first lane, or nothing.
    [[nodiscard]] Waits lastKernel(int rank) const;
    [[nodiscard]] Waits lastKernels() const;

    /// An exchange of all ranks on its way.
    struct Moving {
        const Exchange *exchange = nullptr;
        /// of its pieces, but for the way
        LayerTask about;
        int pieces = 1;
        /// [rank][leg]
        std::vector<std::uint32_t> resource, startClass, moveClass, lagClass;
        /// [rank][leg][piece]
        std::vector<Id> done;
        /// [piece]: what it waited for
        std::vector<Waits> ready;
    };
    [[nodiscard]] Moving begin(const Exchange &exchange, LayerStep step, bool isBackward);
    /// All pieces, ready at once.
    void launch(Moving &moving, const Waits &ready);
    void launchPiece(Moving &moving, int piece, const Waits &ready);
    /// All legs of the piece, and so of those before it, on this rank.
    void addPassed(Waits &waits, const Moving &moving, int rank, int piece) const;
    /// Legs that nothing waits for, each with its link from the beginning.
    void beside(const std::vector<Leg> &legs, bool isBackward);

    [[nodiscard]] LayerGraph finish() &&;

private:
    /// that wait for no other leg; that do
    enum class Legs : std::uint8_t { First, Others };
    struct Wait {
        Id task, before;
        bool isForStart;
    };

    Id add(std::uint32_t resource, std::uint32_t taskClass, const LayerTask &about, const Waits &after);
    void launchLegs(Moving &moving, int piece, Legs which, const Waits &ready);
    [[nodiscard]] std::uint32_t resourceOf(const LayerTrack &track);
    /// On no track: what is on its way behind the task, for as long as that says.
    Id addLag(Id moved, std::uint32_t lagClass);
    [[nodiscard]] std::uint32_t linkOf(int rank, LayerStream stream) const;
    [[nodiscard]] double capacityOf(LayerStream stream) const;
    /// `hold`: kNoSpan or what its exchange holds.
    [[nodiscard]] std::uint32_t flowOf(const Leg &leg, int rank, int pieces, std::uint32_t hold);
    [[nodiscard]] std::uint32_t holdOf(const Exchange &exchange, int rank);

    LayerWork m_site;
    int m_ranks;
    double m_loss;
    ClassTable m_table;
    /// of the resources
    std::vector<LayerTrack> m_tracks;
    /// per task
    std::vector<std::uint32_t> m_resource, m_class;
    std::vector<LayerTask> m_about;
    std::vector<Wait> m_waits;
    /// per rank
    std::vector<std::uint32_t> m_kernelFlow;
    /// per rank
    std::vector<Id> m_lastKernel, m_lastLaunched;
};

} // namespace trainyard
