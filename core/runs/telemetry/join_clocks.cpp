// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/join_clocks.h"

#include <Eigen/SparseCholesky>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace trainyard {

namespace {

constexpr int kJoinRounds = 6;
constexpr double kHuber = 2; // standard deviations

std::uint32_t rootOf(std::vector<std::uint32_t> &parent, std::uint32_t node)
{
    while (parent[node] != node)
        node = parent[node] = parent[parent[node]];
    return node;
}

std::uint32_t otherEnd(const PairDifference &pair, std::uint32_t node)
{
    return pair.first == node ? pair.second : pair.first;
}

/// From the first of each island on, what the way adds.
template <class Added>
std::vector<double> alongTree(const PairTree &tree, const std::vector<PairDifference> &pairs, const Added &added)
{
    std::vector<double> values(tree.island.size(), 0);
    for (const std::uint32_t node : tree.order)
        if (tree.edge[node] != kNoEdge) {
            const PairDifference &pair = pairs[tree.edge[node]];
            values[node] = values[otherEnd(pair, node)] + added(pair, node);
        }
    return values;
}

} // namespace

PairTree spanningTree(std::uint32_t nodes, const std::vector<PairDifference> &pairs)
{
    std::vector<std::uint32_t> parent(nodes), byMatches(pairs.size());
    std::iota(parent.begin(), parent.end(), 0u);
    std::iota(byMatches.begin(), byMatches.end(), 0u);
    std::ranges::stable_sort(byMatches, [&](auto a, auto b) { return pairs[a].matches > pairs[b].matches; });
    std::vector<std::vector<std::uint32_t>> edges(nodes);
    for (const std::uint32_t edge : byMatches) {
        const std::uint32_t a = rootOf(parent, pairs[edge].first), b = rootOf(parent, pairs[edge].second);
        if (a == b)
            continue;
        parent[std::max(a, b)] = std::min(a, b);
        edges[pairs[edge].first].push_back(edge);
        edges[pairs[edge].second].push_back(edge);
    }
    std::vector<std::uint32_t> size(nodes, 0), firsts;
    for (std::uint32_t node = 0; node < nodes; ++node)
        if (size[rootOf(parent, node)]++ == 0)
            firsts.push_back(node);
    std::erase_if(firsts, [&](std::uint32_t first) { return size[rootOf(parent, first)] < 2; });
    std::ranges::stable_sort(firsts, [&](auto a, auto b) { return size[rootOf(parent, a)] > size[rootOf(parent, b)]; });
    PairTree tree { std::vector<int>(nodes, -1), static_cast<int>(firsts.size()), {},
        std::vector<std::uint32_t>(nodes, kNoEdge) };
    for (std::size_t i = 0; i < firsts.size(); ++i) {
        std::size_t next = tree.order.size();
        tree.order.push_back(firsts[i]);
        tree.island[firsts[i]] = static_cast<int>(i);
        for (; next < tree.order.size(); ++next)
            for (const std::uint32_t edge : edges[tree.order[next]]) {
                const std::uint32_t other = otherEnd(pairs[edge], tree.order[next]);
                if (tree.island[other] >= 0)
                    continue;
                tree.island[other] = static_cast<int>(i);
                tree.edge[other] = edge;
                tree.order.push_back(other);
            }
    }
    return tree;
}

std::vector<double> joinDifferences(const PairTree &tree, const std::vector<PairDifference> &pairs)
{
    std::vector<double> values = alongTree(tree, pairs,
        [](const PairDifference &pair, std::uint32_t node) { return pair.second == node ? pair.value : -pair.value; });
    constexpr std::uint32_t kFixed = kNoEdge;
    std::vector<std::uint32_t> unknown(values.size(), kFixed);
    std::uint32_t unknowns = 0;
    for (const std::uint32_t node : tree.order)
        if (tree.edge[node] != kNoEdge)
            unknown[node] = unknowns++;
    double least = 0; // variance, by which all weights are made numbers near 1
    for (const PairDifference &pair : pairs)
        least = least == 0 ? pair.variance : std::min(least, pair.variance);
    for (int round = 0; round < kJoinRounds && unknowns > 0 && least > 0; ++round) {
        std::vector<Eigen::Triplet<double>> entries;
        Eigen::VectorXd right = Eigen::VectorXd::Zero(unknowns);
        for (const PairDifference &pair : pairs) {
            const double rest = pair.value - (values[pair.second] - values[pair.first]);
            const double far = std::abs(rest) / std::sqrt(pair.variance);
            const double weight = least / pair.variance * (far > kHuber ? kHuber / far : 1);
            const std::uint32_t a = unknown[pair.first], b = unknown[pair.second];
            for (const auto &[own, other, sign] : { std::tuple(a, b, -1.0), std::tuple(b, a, 1.0) })
                if (own != kFixed) {
                    entries.emplace_back(int(own), int(own), weight);
                    right[own] += sign * weight * rest;
                    if (other != kFixed)
                        entries.emplace_back(int(own), int(other), -weight);
                }
        }
        Eigen::SparseMatrix<double> matrix(unknowns, unknowns);
        matrix.setFromTriplets(entries.begin(), entries.end());
        const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> solver(matrix);
        if (solver.info() != Eigen::Success)
            break;
        const Eigen::VectorXd better = solver.solve(right);
        if (!better.allFinite())
            break;
        for (std::size_t node = 0; node < values.size(); ++node)
            values[node] += unknown[node] == kFixed ? 0 : better[unknown[node]];
    }
    return values;
}

std::vector<double> varianceOnTree(const PairTree &tree, const std::vector<PairDifference> &pairs)
{
    return alongTree(tree, pairs, [](const PairDifference &pair, std::uint32_t) { return pair.variance; });
}

} // namespace trainyard
