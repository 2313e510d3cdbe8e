#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The lab cluster of Cephalo's released profile: GPT-2.7B in fp16, 512 tokens, two L4, an A6000 and a P40, 64 samples.
// Times in milliseconds: optimisers only compare them.

#include "core/systems/unequal_gpus/profile_tables.h"
#include "core/systems/unequal_gpus/share_problem.h"

namespace trainyard::lab {

inline constexpr double kGiB = 1024.0 * 1024 * 1024;
inline constexpr double kParameters = 2'770'621'440;
inline constexpr int kLayers = 32;

inline RankKind kind(const char *name, int ranks, double capacityGiB, double f, double f0, double b, double b0)
{
    constexpr int kSize = 128;
    RankKind kind;
    kind.name = name;
    kind.ranks = ranks;
    kind.forward = lineTable(f, f0, kSize);
    kind.backward = lineTable(b, b0, kSize);
    kind.compute = extrapolated({ 1.120 * kGiB, 1.490 * kGiB, 1.863 * kGiB, 2.233 * kGiB }, kSize);
    kind.capacity = capacityGiB * kGiB;
    kind.buffers = 2 * kGiB;
    kind.room = 0.75 * kind.capacity - kind.buffers;
    return kind;
}
inline RankKind l4(int ranks)
{
    return kind("L4", ranks, 22.50, 7.415036, 1.181504, 10.946160, 4.842824);
}
inline RankKind a6000(int ranks)
{
    return kind("A6000", ranks, 47.99, 2.835478, 0.664214, 4.221010, 2.404014);
}
inline RankKind p40(int ranks)
{
    return kind("P40", ranks, 22.50, 15.637328, 4.132932, 28.016862, 1.877118);
}

inline ShareProblem problem(double gather = 0, double reduceScatter = 0)
{
    ShareProblem problem;
    problem.kinds = { l4(2), a6000(1), p40(1) };
    problem.batch = 64;
    problem.gather = gather;
    problem.reduceScatter = reduceScatter;
    problem.overhead = 10;
    problem.stateBytes = 16 * kParameters;
    return problem;
}

} // namespace trainyard::lab
