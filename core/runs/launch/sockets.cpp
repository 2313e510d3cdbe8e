// SPDX-License-Identifier: GPL-3.0-or-later
// TCP connections between datacenters as NCCL opens them: of each pair of GPUs NCCL_SOCKET_NTHREADS ×
// NCCL_NSOCKS_PERTHREAD sockets, at most 64 (NCCL's user guide, environment variables). One setting holds for the whole
// run, so the link that wants most decides.
#include "core/runs/launch/launch_internal.h"

#include <algorithm>

namespace trainyard::launch {

namespace {

constexpr int kMostThreads = 16, kMostSockets = 64;

/// Of a node pair, on the link that wants most; 0 where no link carries anything.
int connectionsOf(const Draft &draft)
{
    int most = 0;
    for (const WanLinkUse &use : draft.evaluation.metrics.wanLinks)
        if (use.totalBytes() > 0)
            most = std::max(most, use.tcpConnections);
    return most;
}

} // namespace

void addSockets(Draft &draft)
{
    const int connections = connectionsOf(draft), pairs = std::max(1, draft.nodes.gpusPerNode);
    if (connections < 1)
        return;
    const int wanted = (connections + pairs - 1) / pairs, each = std::min(wanted, kMostSockets);
    const int perThread = (each + kMostThreads - 1) / kMostThreads;
    const int threads = (each + perThread - 1) / perThread;
    draft.environment.emplace_back("NCCL_SOCKET_NTHREADS", std::to_string(threads));
    draft.environment.emplace_back("NCCL_NSOCKS_PERTHREAD", std::to_string(perThread));
    std::string sentence = "wan.tcp_connections: the plan counts on " + std::to_string(connections)
        + " TCP connections a node pair, of which each of its " + std::to_string(pairs)
        + " GPUs opens a share: NCCL_SOCKET_NTHREADS=" + std::to_string(threads) + " NCCL_NSOCKS_PERTHREAD="
        + std::to_string(perThread) + " make " + std::to_string(threads * perThread * pairs);
    if (wanted > kMostSockets)
        sentence += ", as many as NCCL opens";
    draft.note(sentence + ". They act where NCCL sends over sockets, not over InfiniBand or a plugin");
}

} // namespace trainyard::launch
