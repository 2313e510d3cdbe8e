#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the cluster map says, without where: texts, counts and the stage of every GPU, made from a plan and (where there
// is one) its evaluation. Immutable once built; the painter and the hover cards only read it.

#include "core/evaluation/evaluate/evaluation.h"

#include <QString>
#include <QStringList>

#include <vector>

namespace trainyard {

inline constexpr int kIdleStage = -1; // the placement left the GPU out
inline constexpr int kUnknownStage = -2; // not evaluated yet

struct GpuJobs { // of a plan with jobs, that ran on a GPU
    std::vector<QString> names;
    double busy = 0; // share of the time until all jobs have ended in which it computes
};

struct PoolScene {
    QString gpuName;
    int nodes = 0, gpusPerNode = 0;
    std::vector<int> stageOfGpu; // or kIdleStage, kUnknownStage
    std::vector<GpuRun> runs; // clipped to the pool
    QString idleReason;
    std::vector<GpuJobs> jobs; // of each GPU; empty where none ran
    int firstNumber = 0; // of its first GPU, in the order of the cluster
};

struct GroupScene { // pools of one GPU type
    QString label; // "192 × H100 SXM"
    std::vector<int> pools;
};

struct IslandScene {
    QString id, title;
    QString subtitle; // "192 × H100 SXM · stages 9–12"
    QString hardware; // "192 × H100 SXM", what of it is said where there is less room
    QString count; // "192"
    QString idleText; // "16 idle", empty where none are
    QString work; // "12 jobs", of a plan with jobs
    int gpus = 0, idle = 0;
    std::vector<PoolScene> pools;
    std::vector<GroupScene> groups;
};

struct LinkScene {
    int a = -1, b = -1; // islands; -1 where the id is unknown
    QString name; // "Oregon – Iowa"
    QString head, foot; // "36 ms · 5 Gbps", "node pair · 48 %": the limit that binds
    QString brief, tag; // "36 ms · 48 %" and "48 %"; the round trip alone where the link is not used
    double capacityGbps = 0;
    double utilization = 0;
    bool evaluated = false;
    bool isUsed = false; // also by the evaluation of the plan before, until the new one is there
    bool isResting = true; // shown without anyone looking at it or at one of its ends
};

struct MapScene {
    std::vector<IslandScene> islands;
    std::vector<LinkScene> links;
    int gpus = 0, stages = 1;
    bool hasJobs = false; // stage 0 means that a GPU serves some
    int tensor = 1; // GPUs that only make sense together
    QString summary; // "576 GPUs · 3 datacenters"
};

[[nodiscard]] MapScene buildScene(const Plan &plan, const Evaluation *evaluation);
/// "stage 5", "stages 9–12", "stages 1, 4 and 6–8"; stages are counted from 1 on screen.
[[nodiscard]] QString stageText(std::vector<int> stages);
/// Lines of the card about one GPU: title, then what it does.
[[nodiscard]] QStringList gpuCard(const MapScene &scene, int island, int pool, int gpu);
/// Lines of the card about a datacenter: its whole name, what it has and does.
[[nodiscard]] QStringList islandCard(const MapScene &scene, int island);
/// Lines of the card about one link.
[[nodiscard]] QStringList linkCard(const MapScene &scene, const Plan &plan, const Evaluation *evaluation, int link);

} // namespace trainyard
