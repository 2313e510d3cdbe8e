#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The plan: an immutable value that says which hardware there is, what is trained on it and how. It mirrors the plan
// file (docs/plan-file.md) field by field; units are in the names. Views never change one: they make the next one.
// Keys of the file that this version does not know are kept in `extra` (key -> JSON text) and written back.

#include "core/facts/hardware/gpu_spec.h"
#include "core/facts/hardware/stack_spec.h"
#include "core/facts/plan/heterogeneity.h"
#include "core/facts/plan/jobs.h"
#include "core/facts/plan/moe_strategy.h"
#include "core/facts/plan/not_understood.h"
#include "core/facts/workload/model_spec.h"
#include "core/facts/workload/recompute_kind.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

struct Ssd {
    double writeGBps = 0, readGBps = 0, endurancePb = 0;
    /// price of one node's drives
    double usd = 0;
    /// of this workload; the rating assumes JESD218's
    double writeAmplification = 1;
    /// further program/erase cycles where data need not last as long as rated
    double retentionGain = 1;
    /// GPUs behind one PCIe switch on the way to the drives
    int gpusSharing = 1;
    Extra extra;
    bool operator==(const Ssd &) const = default;
};

struct Host {
    double memoryGib = 0, gbytesPerSecondPerGpu = 0;
    Extra extra;
    bool operator==(const Host &) const = default;
};

struct Pool { // equal nodes of one datacenter
    std::string id;
    /// catalogue id; empty where inlineGpu is set
    std::string gpu;
    std::optional<GpuSpec> inlineGpu;
    int nodes = 0;
    int gpusPerNode = 8;
    /// default: the catalogue's
    std::optional<double> usdPerGpuHour;
    std::optional<Ssd> ssd;
    std::optional<Host> host;
    Extra extra;
    bool operator==(const Pool &) const = default;
    [[nodiscard]] int gpus() const { return nodes * gpusPerNode; }
};

/// What carries the traffic between the nodes of one datacenter: InfiniBand or RoCE, or TCP over a cloud's Ethernet.
enum class FabricKind : std::uint8_t { Rdma, Tcp };

struct Datacenter {
    std::string id, name;
    std::optional<double> latitude, longitude;
    /// default: the GPU's catalogue entry
    std::optional<double> fabricGbpsPerGpu;
    std::optional<double>
        fabricMeasuredGBps; // of one GPU in large collectives; default: a share of nominal (network.json)
    FabricKind fabric = FabricKind::Rdma;
    std::optional<double> usdPerKwh, kgCo2PerKwh;
    std::vector<Pool> pools;
    Extra extra;
    bool operator==(const Datacenter &) const = default;
    [[nodiscard]] int gpus() const;
    [[nodiscard]] const std::string &label() const { return name.empty() ? id : name; }
};

struct WanLink {
    std::array<std::string, 2> between;
    double rttMs = 0;
    /// by which packets are late, there and back together
    double jitterMs = 0;
    /// per direction, all node pairs together
    double capacityGbps = 100;
    /// per direction
    double nodePairGbps = 5;
    /// of one connection
    double tcpWindowMb = 1.5;
    /// catalogue name of a provider: its window instead; empty: tcpWindowMb
    std::string cloud;
    /// share of packets lost
    double lossRate = 0;
    /// [a->b, b->a]; default: catalogue by region, else 0.02
    std::optional<std::array<double, 2>> usdPerGb;
    Extra extra;
    bool operator==(const WanLink &) const = default;
};

struct Cluster {
    std::vector<Datacenter> datacenters;
    std::vector<WanLink> wanLinks;
    Extra extra;
    bool operator==(const Cluster &) const = default;
    [[nodiscard]] int gpus() const;
    /// -1 where absent
    [[nodiscard]] int indexOf(std::string_view datacenterId) const;
    /// either order; -1 where absent
    [[nodiscard]] int linkBetween(std::string_view a, std::string_view b) const;
};

struct WorkloadSpec {
    /// catalogue name or path of a config.json; empty where inlineModel is set
    std::string model;
    std::optional<ModelSpec> inlineModel;
    int sequenceLength = 2048;
    /// mean tokens of a document, where attention is masked at their borders
    std::optional<int> documentLength;
    /// sequences per iteration
    int globalBatch = 0;
    int microBatch = 1;
    Precision precision = Precision::Bf16;
    Optimizer optimizer = Optimizer::Adam;
    /// of GaLore's projected gradients
    int galoreRank = 512;
    std::optional<double> trainingTokens;
    Extra extra;
    bool operator==(const WorkloadSpec &) const = default;
    /// Tokens that attend to each other: of a document, at most of a sequence.
    [[nodiscard]] int attendedLength() const
    {
        return std::min(sequenceLength, documentLength.value_or(sequenceLength));
    }
};

struct Parallelism {
    int tensor = 1, pipeline = 1;
    /// auto: the fastest, by simulation
    Auto<int> data;
    int context = 1, expert = 1, expertTensor = 1, virtualPipeline = 1;
    /// of a sequence, under terapipe
    int tokenSlices = 4;
    /// default: tensor > 1
    std::optional<bool> sequenceParallel;
    int zeroStage = 1;
    Extra extra;
    bool operator==(const Parallelism &) const = default;
    [[nodiscard]] bool usesSequenceParallel() const { return sequenceParallel.value_or(tensor > 1); }
};

enum class ScheduleKind : std::uint8_t {
    GPipe,
    OneFOneB,
    Interleaved,
    BreadthFirst,
    ZbH1,
    ZbH2,
    ZbV,
    ZbAuto,
    VHalf,
    VMin,
    DualPipe,
    DualPipeV,
    Chimera,
    Hanayo,
    Varuna,
    TeraPipe,
    Atlas,
};

enum class PlacementMode : std::uint8_t { Auto, PipelineAcross, DataAcross };

struct StagePin {
    std::string datacenter;
    int stages = 0;
    Extra extra;
    bool operator==(const StagePin &) const = default;
};

struct Placement {
    PlacementMode mode = PlacementMode::Auto;
    /// in pipeline order; empty = not pinned
    std::vector<StagePin> stages;
    /// transformer layers of each stage; empty: even, first and last less
    std::vector<int> layers;
    Extra extra;
    bool operator==(const Placement &) const = default;
};

enum class ActivationOffload : std::uint8_t { None, Host, Ssd };
/// How offloaded activations are chosen: whole tensors as long as their transfers hide (SSDTrain), a share of the
/// tokens of each layer with the rest recomputed (MEMO), layer by layer whichever of swapping and recomputing is
/// shorter where they have no room to stay (KARMA), or the fastest split of the layers into swapped, recomputed and
/// kept ones (ProTrain).
enum class OffloadPolicy : std::uint8_t { SsdTrain, Memo, Karma, ProTrain };
/// Where optimizer states live and update: on the GPU, in host memory (ZeRO-Offload), there with every few updated on
/// the GPU (Deep Optimizer States), or on drives (ZeRO-Infinity).
enum class OptimizerOffload : std::uint8_t { None, Host, Interleaved, Ssd };
enum class ParameterOffload : std::uint8_t { None, Host, Ssd };

struct MemoryStrategy {
    Recompute recompute = Recompute::None;
    /// of a stage, its first ones; default: all
    std::optional<int> recomputeLayers;
    bool recomputeNorms = false, recomputeActivationFunction = false;
    ActivationOffload activationOffload = ActivationOffload::None;
    Auto<double> offloadFraction;
    OffloadPolicy offloadPolicy = OffloadPolicy::SsdTrain;
    /// smaller tensors stay
    int offloadMinElements = 8 * 1024 * 1024;
    /// modules (attention or MLP) that are loaded together
    int offloadGroup = 1;
    /// such groups that are loaded ahead of the one in its backward
    int offloadAhead = 1;
    OptimizerOffload optimizerOffload = OptimizerOffload::None;
    /// an offloaded optimizer step runs beside the next iteration, one step stale
    bool delayedUpdate = false;
    ParameterOffload parameterOffload = ParameterOffload::None;
    /// of an element kept for the backward; default: as computed
    std::optional<int> savedActivationBits;
    bool recomputeUpProjection =
        false; // latent attention: queries, keys and values made again from what they were compressed to
    bool recomputeSharedExperts = false;
    /// what the first product of the experts reads waits in host memory
    bool offloadExpertInput = false;
    /// inputs of linear layers are kept as their FP8 products use them
    bool fp8Activations = false;
    Extra extra;
    bool operator==(const MemoryStrategy &) const = default;
};

enum class WanSharing : std::uint8_t { Spatial, Temporal };
/// Who sends next in a cell: the lowest micro-batch of any pipeline, or one pipeline until it has drained.
enum class TurnOrder : std::uint8_t { RoundRobin, DrainFirst };
enum class CongestionControl : std::uint8_t { Cubic, Bbr };
/// Gradients across datacenters: reduced inside each, exchanged between them, gathered again; or one ring through all
/// ranks.
enum class WanAllReduce : std::uint8_t { Hierarchical, Flat };
/// Replicas in different datacenters that train alone for some steps: DiLoCo, or streaming DiLoCo, which hides the
/// exchange.
enum class LocalSgd : std::uint8_t { None, Diloco, Streaming };

struct WanStrategy {
    /// auto: as many as fill the node pair, up to WanTcp::mostConnections
    Auto<int> tcpConnections;
    CongestionControl congestion = CongestionControl::Cubic;
    WanSharing sharing = WanSharing::Spatial;
    /// pipelines of a DP-cell
    Auto<int> cell;
    TurnOrder turns = TurnOrder::RoundRobin;
    WanAllReduce allReduce = WanAllReduce::Hierarchical;
    LocalSgd localSgd = LocalSgd::None;
    /// H: steps between two exchanges
    int localSteps = 100;
    /// parts of the model that streaming local SGD exchanges one after the other
    int fragments = 1;
    /// of a parameter in an exchange of local SGD
    int exchangeBits = 32;
    /// of an element that crosses the WAN; default: as computed
    std::optional<int> activationBits;
    /// of a gradient element in the exchange between datacenters; default: as reduced
    std::optional<int> gradientBits;
    Extra extra;
    bool operator==(const WanStrategy &) const = default;
};

enum class Arrivals : std::uint8_t { Poisson, Constant, Bursty, Trace };

/// A further model whose prompts are served by the same GPUs.
struct ServedModel {
    std::string model;
    double requestsPerSecond = 0;
    int promptTokens = 2048;
    Extra extra;
    bool operator==(const ServedModel &) const = default;
};

/// GPUs beside training to which keys and values move: they make the other tokens of an answer.
struct DecodePool {
    /// none: as many as it takes
    std::optional<int> gpus;
    /// of the catalogue; empty: that of the first pool of the cluster
    std::string gpu;
    /// of an answer
    int outputTokens = 256;
    Extra extra;
    bool operator==(const DecodePool &) const = default;
};

struct BubbleFill {
    bool enabled = false;
    std::string model;
    /// beside that one
    std::vector<ServedModel> served;
    /// of the served model, on GPUs of one datacenter
    int stages = 1;
    Arrivals arrivals = Arrivals::Poisson;
    double requestsPerSecond = 0;
    /// bursty: rate inside a burst / mean rate
    double burstiness = 4;
    /// trace: a CSV time_s,prompt_tokens; relative to the plan
    std::string trace;
    int promptTokens = 2048;
    /// prompts that are prefilled at once, at most, and how long the first waits for others
    int prefillBatch = 1;
    double batchWaitMs = 10;
    double ttftSloMs = 1000;
    double guardMs = 1;
    /// also over GPUs whose bubbles are not aligned
    bool chaining = false;
    /// of one GPU to the decode GPUs; default: the fabric's
    std::optional<double> kvGbps;
    /// then the move of the KV cache counts as time to first token
    bool firstTokenFromDecode = false;
    DecodePool decode;
    /// what prefill tokens are worth; 0: the GPU time they save
    double usdPerMillionTokens = 0;
    /// of the random arrivals
    int seed = 1;
    Extra extra;
    bool operator==(const BubbleFill &) const = default;
};

/// One measured value, or one per stage.
/// size 1: for every stage
using PerStage = std::vector<double>;

struct MeasuredStageTimes { // measured times of one stage and one micro-batch; MB = 10^6 bytes
    /// backward without recompute
    PerStage forwardMs, backwardMs;
    /// empty = 0
    PerStage recomputeMs, weightGradMs;
    /// forward and backward of two micro-batches at once; empty: not measured
    PerStage pairedMs;
    double activationMb = 0;
    /// default: activationMb
    std::optional<double> gradientMb;
    double parametersMb = 0;
    /// empty = limited by the schedule only; size 1: for every stage
    std::vector<int> inFlight;
    Extra extra;
    bool operator==(const MeasuredStageTimes &) const = default;
};

struct Stack {
    std::string name = "megatron-core";
    /// field of StackSpec as in stacks.json -> value
    std::map<std::string, double> overrides;
    /// one of the catalogue, "26.02"; empty: not named, any of them
    std::string release = {};
    bool operator==(const Stack &) const = default;
};

struct Plan {
    static constexpr int kVersion = 1;
    std::string name, notes;
    Cluster cluster;
    WorkloadSpec workload;
    Parallelism parallelism;
    ScheduleKind schedule = ScheduleKind::OneFOneB;
    Stack stack;
    Placement placement;
    MemoryStrategy memory;
    WanStrategy wan;
    MoeStrategy moe;
    Heterogeneity heterogeneity;
    BubbleFill bubbleFill;
    std::vector<Job> jobs;
    std::optional<JobGrid> jobGrid;
    JobScheduler jobScheduler = JobScheduler::ShardedLrtf;
    JobOptions jobOptions;
    /// factor -> JSON text
    std::map<std::string, std::string> calibration;
    std::optional<MeasuredStageTimes> profile;
    std::optional<LayerProfiles> layerProfiles;
    std::vector<NotUnderstood> notUnderstood;
    /// folder of the file, for relative paths; never written
    std::string baseDir;
    Extra extra;
    bool operator==(const Plan &) const = default;
};

using PlanPtr = std::shared_ptr<const Plan>;

/// Plan::notUnderstood as doubts, which a model that is resolved for the plan carries beside its own.
[[nodiscard]] Doubts doubtsOfSources(const Plan &plan);

} // namespace trainyard
