#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the cluster map says, without where: texts, counts and the stage of every GPU, made from a plan and (where there
// is one) its evaluation. Immutable once built; the painter and the hover cards only read it.

#include "core/evaluation/evaluate/evaluation.h"

#include <QString>
#include <QStringList>

#include <vector>

namespace trainyard {

/// the placement left the GPU out
inline constexpr int kIdleStage = -1;
/// not evaluated yet
inline constexpr int kUnknownStage = -2;

struct GpuJobs { // of a plan with jobs, that ran on a GPU
    std::vector<QString> names;
    /// share of the time until all jobs have ended in which it computes
    double busy = 0;
};

struct PoolScene {
    QString gpuName;
    int nodes = 0, gpusPerNode = 0;
    /// or kIdleStage, kUnknownStage
    std::vector<int> stageOfGpu;
    /// clipped to the pool
    std::vector<GpuRun> runs;
    QString idleReason;
    /// of each GPU; empty where none ran
    std::vector<GpuJobs> jobs;
    /// of its first GPU, in the order of the cluster
    int firstNumber = 0;
};

struct GroupScene { // pools of one GPU type
    /// "192 × H100 SXM"
    QString label;
    std::vector<int> pools;
};

struct IslandScene {
    QString id, title;
    /// "192 × H100 SXM · stages 9–12"
    QString subtitle;
    /// "192 × H100 SXM", what of it is said where there is less room
    QString hardware;
    /// "192"
    QString count;
    /// "16 idle", empty where none are
    QString idleText;
    /// "12 jobs", of a plan with jobs
    QString work;
    int gpus = 0, idle = 0;
    std::vector<PoolScene> pools;
    std::vector<GroupScene> groups;
};

struct LinkScene {
    /// islands; -1 where the id is unknown
    int a = -1, b = -1;
    /// "Oregon – Iowa"
    QString name;
    /// "36 ms · 5 Gbps", "node pair · 48 %": the limit that binds
    QString head, foot;
    /// "36 ms · 48 %" and "48 %"; the round trip alone where the link is not used
    QString brief, tag;
    double capacityGbps = 0;
    double utilization = 0;
    bool evaluated = false;
    /// also by the evaluation of the plan before, until the new one is there
    bool isUsed = false;
    /// shown without anyone looking at it or at one of its ends
    bool isResting = true;
};

struct MapScene {
    std::vector<IslandScene> islands;
    std::vector<LinkScene> links;
    int gpus = 0, stages = 1;
    /// stage 0 means that a GPU serves some
    bool hasJobs = false;
    /// GPUs that only make sense together
    int tensor = 1;
    /// "576 GPUs · 3 datacenters"
    QString summary;
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
