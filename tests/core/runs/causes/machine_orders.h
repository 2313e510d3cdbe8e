#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a rank of the machine does in a step, in the order in which its host launches it: one forward, one backward.

#include "tests/core/runs/causes/job_machine.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard::test {

enum MachineStream : std::uint8_t { Compute, Tensor, Expert, SendOn, SendBack, ReceiveOn, ReceiveBack, Data, kStreams };

struct MachinePlace {
    int stage = 0, replica = 0, tensor = 0;
};

/// A kernel, or a rank's part of an exchange.
struct MachineOrder {
    const char *name = "";
    MachineStream stream = Compute;
    double seconds = 0;
    /// number in MachineGroups; -1: a kernel
    int group = -1;
    const char *operation = "";
    double bytes = 0;
    std::int64_t sequence = 0;
    /// computing goes on behind its end
    bool isAwaited = true;
    /// of experts, by layer and micro-batch; -1: it computes the same whatever tokens come
    int tokens = -1;
    bool isBetweenNodes = false;
};

/// Ranks that exchange something, by number.
class MachineGroups {
public:
    int of(const std::vector<int> &ranks)
    {
        const auto [known, isNew] = m_numbers.try_emplace(ranks, int(m_ranks.size()));
        if (isNew)
            m_ranks.push_back(ranks);
        return known->second;
    }
    [[nodiscard]] const std::vector<int> &ranks(int group) const { return m_ranks[std::size_t(group)]; }

private:
    std::map<std::vector<int>, int> m_numbers;
    std::vector<std::vector<int>> m_ranks;
};

/// What ranks do in a step, in the order in which their hosts launch it.
class MachineOrders {
public:
    MachineOrders(const MachineJob &job, MachinePlace place, MachineGroups &groups)
        : m_job(job)
        , m_at(place)
        , m_own(job.of[std::size_t(place.stage)])
        , m_groups(groups)
        , m_tensor(groupOf(tensorRanks()))
        , m_expert(groupOf(replicas(place.replica / job.expert * job.expert, job.expert)))
        , m_data(groupOf(replicas(0, job.data)))
        , m_next(groupOf(pairWith(place.stage + 1)))
        , m_before(groupOf(pairWith(place.stage - 1)))
    {
        std::vector<int> all;
        for (int rank = 0; rank < job.tensor * job.data * job.stages; ++rank)
            all.push_back(rank);
        m_all = groupOf(all);
    }

    std::vector<MachineOrder> step(int step)
    {
        m_step = step;
        const int warm = std::min(m_job.stages - m_at.stage - 1, m_job.microBatches);
        for (int i = 0; i < warm; ++i)
            forward(i);
        for (int i = warm; i < m_job.microBatches; ++i) {
            forward(i);
            backward(i - warm);
        }
        for (int i = m_job.microBatches - warm; i < m_job.microBatches; ++i)
            backward(i);
        update();
        return std::move(m_orders);
    }

private:
    [[nodiscard]] std::vector<int> tensorRanks() const
    {
        std::vector<int> ranks;
        for (int t = 0; t < m_job.tensor; ++t)
            ranks.push_back(rankAt(m_job, m_at.stage, m_at.replica, t));
        return ranks;
    }
    [[nodiscard]] std::vector<int> replicas(int first, int count) const
    {
        std::vector<int> ranks;
        for (int d = first; d < first + count; ++d)
            ranks.push_back(rankAt(m_job, m_at.stage, d, m_at.tensor));
        return ranks;
    }
    [[nodiscard]] std::vector<int> pairWith(int stage) const
    {
        if (stage < 0 || stage >= m_job.stages)
            return {};
        return { rankAt(m_job, std::min(stage, m_at.stage), m_at.replica, m_at.tensor),
            rankAt(m_job, std::max(stage, m_at.stage), m_at.replica, m_at.tensor) };
    }
    /// -1: nobody to exchange with
    [[nodiscard]] int groupOf(const std::vector<int> &ranks) { return ranks.size() < 2 ? -1 : m_groups.of(ranks); }
    [[nodiscard]] bool leavesNode(const std::vector<int> &ranks) const
    {
        return std::ranges::any_of(
            ranks, [&](int rank) { return rank / m_job.gpusPerNode != ranks.front() / m_job.gpusPerNode; });
    }

    void kernel(const char *name, double seconds, int tokens = -1)
    {
        m_orders.push_back({ .name = name, .seconds = seconds, .tokens = tokens });
    }
    void exchange(MachineOrder order)
    {
        if (order.group < 0)
            return;
        order.isBetweenNodes = leavesNode(m_groups.ranks(order.group));
        m_orders.push_back(order);
    }
    void tensorExchange()
    {
        exchange({ "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", Tensor, m_job.tensorExchange, m_tensor, "all_reduce",
            1e6, m_tensorExchanges++ });
    }
    void expertExchange()
    {
        exchange({ "ncclDevKernel_AllToAll", Expert, m_job.expertExchange, m_expert, "all_to_all", 4e6,
            m_expertExchanges++ });
    }
    void transfer(int stage, bool isSend, bool isOn, int microBatch)
    {
        const int lower = std::min(stage, m_at.stage);
        if (lower < 0 || lower + 1 >= m_job.stages)
            return;
        const MachineStream stream = isSend ? (isOn ? SendOn : SendBack) : (isOn ? ReceiveOn : ReceiveBack);
        exchange({ "ncclDevKernel_SendRecv", stream, m_job.of[std::size_t(lower)].transfer,
            stage > m_at.stage ? m_next : m_before, isSend ? "send" : "recv", m_job.transferBytes,
            2 * (std::int64_t(m_step) * m_job.microBatches + microBatch) + (isOn ? 0 : 1), !isSend });
    }

    void forward(int microBatch)
    {
        transfer(m_at.stage - 1, false, true, microBatch);
        const double layer = m_own.forward / m_job.layers;
        const double share = m_job.expert > 1 ? m_job.expertShare : 0.6;
        for (int l = 0; l < m_job.layers; ++l) {
            kernel("flash_fwd_kernel", layer * (1 - share));
            tensorExchange();
            if (m_job.expert > 1)
                expertExchange();
            kernel(m_job.expert > 1 ? "grouped_gemm_kernel" : "nvjet_gemm", layer * share,
                m_job.expert > 1 ? microBatch * m_job.layers + l : -1);
            if (m_job.expert > 1)
                expertExchange();
            tensorExchange();
        }
        transfer(m_at.stage + 1, true, true, microBatch);
    }

    void backward(int microBatch)
    {
        transfer(m_at.stage + 1, false, false, microBatch);
        const double layer = m_own.backward / m_job.layers;
        const double share = m_job.expert > 1 ? m_job.expertShare : 0.6;
        for (int l = m_job.layers - 1; l >= 0; --l) {
            const int tokens = m_job.expert > 1 ? microBatch * m_job.layers + l : -1;
            if (m_job.expert > 1)
                expertExchange();
            kernel(m_job.expert > 1 ? "grouped_gemm_dgrad" : "nvjet_dgrad", layer * share / 2, tokens);
            kernel(m_job.expert > 1 ? "grouped_gemm_wgrad" : "nvjet_wgrad", layer * share / 2, tokens);
            if (m_job.expert > 1)
                expertExchange();
            tensorExchange();
            kernel("flash_bwd_kernel", layer * (1 - share));
            tensorExchange();
        }
        transfer(m_at.stage - 1, true, false, microBatch);
    }

    void update()
    {
        exchange({ "ncclDevKernel_AllReduce_Sum_f32_RING_SIMPLE", Data, m_own.gradients, m_data, "all_reduce",
            std::round(m_own.gradients * 1e10), 2 * std::int64_t(m_step) });
        exchange({ "ncclDevKernel_AllReduce_Sum_f32_RING_LL", Data, 3e-5, m_all, "all_reduce", 4,
            2 * std::int64_t(m_step) + 1 });
        kernel("multi_tensor_apply_adam", m_own.optimizer);
    }

    const MachineJob &m_job;
    MachinePlace m_at;
    const MachineStage &m_own;
    MachineGroups &m_groups;
    int m_tensor, m_expert, m_data, m_next, m_before, m_all = -1;
    int m_step = 0;
    std::int64_t m_tensorExchanges = 0, m_expertExchanges = 0;
    std::vector<MachineOrder> m_orders;
};

} // namespace trainyard::test
