#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What was measured of a real run, as a value of its own: sources, ranks with their streams of spans, steps,
// collectives, samples over time, benchmarks of links and drives, and the arguments that the run was started with.
// Readers make one from each file, mergeRecordings() joins them; views, alignment and calibration only read it.
//
// Time is int64 nanoseconds since `zero`, which is Unix time where the source knows it (else 0 is its first moment).
// Bytes are doubles. Names are numbers into one table, so that a million spans stay small.

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace trainyard {

using Moment = std::int64_t; // nanoseconds since Recording::zero
inline constexpr std::uint32_t kNoIndex = 0xffffffffu;
inline constexpr Moment kNoMoment = std::numeric_limits<Moment>::min();

/// What a file is; the readers say which of them they read.
enum class SourceKind : std::uint8_t {
    Unknown,
    Recording, // *.trainyard-recording
    KinetoTrace, // PyTorch profiler
    ChakraTrace, // protobuf
    ChakraJson,
    ExecutionTrace, // PyTorch's ExecutionTraceObserver
    MegatronLog,
    TorchtitanLog,
    DeepSpeedLog,
    NemoLog,
    HfTrainerLog,
    HfTrainerState,
    MlperfLog,
    MegatronGoldenValues,
    WandbFile,
    TensorBoardEvents,
    NcclTests,
    NcclTestsJson,
    NcclInspector,
    NcclDebugLog,
    NcclProfilerDump,
    FlightRecorder,
    Iperf3,
    Fio,
    SmiQuery, // nvidia-smi --query-gpu, CSV
    SmiDmon,
    MetricsText, // Prometheus or OpenMetrics exposition
    PrometheusAnswer, // of its HTTP API
    OtlpJson,
    OtlpProtobuf,
    HfConfig,
    MegatronArguments, // script or YAML
    TorchtitanToml,
    SlurmTopology, // topology.conf or .yaml
    SmiTopology, // nvidia-smi topo -m
    NcclTopology, // XML
    NcclGraph,
    Hwloc,
    IbNetDiscover,
    IbLinkInfo,
    SkyPilotCatalog,
    Plan,
    SlurmNodes, // scontrol show node
    InstanceTypes, // AWS describe-instance-types
    Probe, // of samples/probe
};
/// "PyTorch profiler trace", for sentences.
[[nodiscard]] const char *nameOf(SourceKind kind);

struct Dropped { // what of a source was not taken, and why
    std::string reason; // "after a byte that is no JSON", "Python functions"
    std::int64_t count = 0;
    bool operator==(const Dropped &) const = default;
};

struct RecordedSource {
    std::string file; // as given
    SourceKind kind = SourceKind::Unknown;
    std::int64_t bytes = 0;
    std::int64_t taken = 0; // events, lines or rows that were read
    bool isTruncated = false; // it ends in the middle
    std::string refused; // why nothing was read, one sentence that names what it is; empty: it was read
    std::vector<Dropped> dropped;
    std::vector<std::string> notes; // what its reader wants to be known, a sentence each
    bool operator==(const RecordedSource &) const = default;
};

/// What a span keeps busy. Copies are memory copies and sets; Wait: synchronisation.
enum class RecordedWork : std::uint8_t {
    Compute,
    Communication,
    Copy,
    Wait,
    HostCall,
    HostOperator,
    Annotation,
    Other
};

/// Spans of one stream, in order of start (of equal starts the longer first); they may overlap.
struct RecordedSpans {
    std::vector<Moment> start;
    std::vector<std::int64_t> duration; // nanoseconds
    std::vector<std::uint32_t> name; // Recording::names
    std::vector<RecordedWork> work;
    std::vector<std::uint32_t> launch; // correlation of a kernel and the call that launched it, 0: none; may be empty
    std::vector<Moment> launchedAt; // start of that call on the host, kNoMoment: not told; may be empty
    [[nodiscard]] std::size_t size() const { return start.size(); }
    bool operator==(const RecordedSpans &) const = default;
};

struct RecordedStream {
    bool isGpu = true;
    std::int64_t device = 0; // GPU index of its process, or the process
    std::int64_t stream = 0; // or thread
    std::string label; // where it has a name; may be empty
    bool namesGpuStream =
        false; // of the host: operators that name the GPU's `stream` (Triton's), which HTA counts there
    RecordedSpans spans;
    bool operator==(const RecordedStream &) const = default;
};

/// One rank's part of a collective operation.
struct RecordedCollective {
    std::uint32_t group = kNoIndex; // Recording::groups
    std::uint32_t operation = 0; // Recording::names: "all_reduce", "all_gather", … as nccl-tests say
    std::int64_t sequence = -1; // number in its group; -1: not told, then the order of starts
    double bytes = 0; // message as nccl-tests count it; 0: not told
    Moment start = 0;
    std::int64_t duration = 0;
    std::uint32_t stream = kNoIndex, span = kNoIndex; // of its rank, where it is drawn
    bool operator==(const RecordedCollective &) const = default;
};

struct CommunicatorGroup {
    std::string name, description;
    std::vector<int> ranks; // empty: not told
    bool operator==(const CommunicatorGroup &) const = default;
};

struct RecordedStep {
    std::int64_t number = 0;
    Moment start = 0, end = 0;
    bool operator==(const RecordedStep &) const = default;
};

struct RankRecording {
    int rank = -1; // -1: nobody told
    int worldSize = 0; // 0: nobody told
    std::uint32_t source = kNoIndex; // Recording::sources
    std::string host, gpu; // names; may be empty
    std::vector<RecordedStream> streams;
    std::vector<RecordedCollective> collectives; // in order of start
    std::vector<RecordedStep> steps;
    Moment timeBase = 0; // zero + a moment - timeBase is the time as its file tells it, ns; 0: those are Unix times
    // What alignment took off its moments (align.h): they were later by offset + drift × (moment -
    // Recording::alignedAt)
    double clockOffset = 0; // ns
    double clockDrift = 0; // ns a ns
    bool operator==(const RankRecording &) const = default;
};

/// One quantity over steps or over time. Names and units are the canonical ones of sample_names.h.
struct SampleSeries {
    std::string name; // "step_time", "tflops_per_gpu", "gpu_utilization", …
    std::string unit; // "s", "TFLOP/s", "B", "W", "1"
    int rank = -1; // -1: of the whole run, or of `where`
    std::string where; // "node000/gpu3", a host, a link; may be empty
    bool isByStep = false;
    std::vector<Moment> at; // or numbers of steps
    std::vector<double> value; // NaN where a sample says that there is none
    std::uint32_t source = kNoIndex;
    bool operator==(const SampleSeries &) const = default;
};

/// One point of a benchmark of a link, of a collective or of a drive.
struct BenchmarkPoint {
    std::string what; // "all_reduce", "tcp", "read", "write" …
    int ranks = 0, nodes = 0, streams = 1;
    double bytes = 0; // of a message
    double seconds = 0; // of one operation, or of the whole test
    double bytesPerSecond = 0; // algorithm bandwidth, goodput
    double busBytesPerSecond = 0; // as nccl-tests define it; 0: none
    double rttSeconds = 0; // 0: not told
    bool isInPlace = false;
    std::uint32_t source = kNoIndex;
    bool operator==(const BenchmarkPoint &) const = default;
};

/// One kernel that a probe timed alone on one GPU, the shortest and the median of its repeats.
struct KernelPoint {
    std::string what; // "gemm", "attention" (forward), "memory"
    std::string precision; // of the operands, as plans name it
    double m = 0, n = 0, k = 0; // of a product C[m,n] = A[m,k] B[k,n]
    double batch = 0, heads = 0, headDim = 0, sequence = 0; // of attention
    bool isCausal = false, isFused = false; // of attention: one kernel, not product, softmax and product
    double leastSeconds = 0, seconds = 0; // of one call; the median
    double bytes = 0, flops = 0; // operands and result once; counted, not measured
    std::string gpu; // its name; of a machine without one its processor's
    std::uint32_t source = kNoIndex;
    bool operator==(const KernelPoint &) const = default;
};

/// What one source tells of how its run was started, where a recording has several.
struct SourceArguments {
    std::uint32_t source = kNoIndex; // Recording::sources
    std::map<std::string, std::string> arguments;
    bool operator==(const SourceArguments &) const = default;
};

/// A model as its source tells it: a Hugging Face config.json, unparsed.
struct RecordedModel {
    std::string name; // of its file or folder
    std::string config; // JSON
    std::uint32_t source = kNoIndex;
    bool operator==(const RecordedModel &) const = default;
};

/// Machines as topology files and schedulers tell them; what a source does not tell is 0 or empty.
struct RecordedNodes { // nodes that are alike
    std::vector<std::string> names; // host names; empty where only their number is known
    int count = 0;
    std::string gpu; // as its source calls it: "NVIDIA H100 80GB HBM3", "h100"
    int gpus = 0; // of each
    int nics = 0; // that carry training traffic
    double nicBytesPerSecond = 0; // of each, one direction
    double nvlinkBytesPerSecond = 0; // of each GPU to all others together, one direction
    bool isNvlinkSwitched = false; // every pair of GPUs has all links
    double hostMemoryBytes = 0;
    std::uint32_t source = kNoIndex;
    double gpuMemoryBytes = 0; // of each GPU
    int gpuProcessors = 0; // multiprocessors of each GPU
    bool operator==(const RecordedNodes &) const = default;
};
struct RecordedSwitch {
    std::string name;
    std::vector<std::string> below; // switches or nodes
    double linkBytesPerSecond = 0; // of one link below it, one direction
    bool isBlock = false; // of Slurm's block plugin: nodes that reach each other without the fabric
    std::uint32_t source = kNoIndex;
    bool operator==(const RecordedSwitch &) const = default;
};
struct RecordedPrice {
    std::string instance, gpu, region, zone;
    double gpus = 0; // of the instance
    double usdPerHour = 0, spotUsdPerHour = 0; // of the instance; NaN: none
    std::uint32_t source = kNoIndex;
    bool operator==(const RecordedPrice &) const = default;
};

struct Recording {
    static constexpr int kVersion = 1;
    std::string name;
    Moment zero = 0; // Unix time of moment 0, nanoseconds; 0: unknown
    std::vector<RecordedSource> sources;
    std::vector<std::string> names; // of spans and operations
    std::vector<CommunicatorGroup> groups;
    std::vector<RankRecording> ranks; // by rank, those without one last
    std::vector<SampleSeries> series;
    std::vector<BenchmarkPoint> benchmarks;
    std::vector<KernelPoint> kernels;
    std::map<std::string, std::string> arguments; // that the run was started with, by the framework's names; of several
                                                  // sources the first that tells one
    std::vector<SourceArguments> argumentsOf; // each source's own, in their order; empty: `arguments` are of one source
    std::vector<RecordedModel> models;
    std::vector<RecordedNodes> nodes;
    std::vector<RecordedSwitch> switches;
    std::vector<RecordedPrice> prices;
    Moment alignedAt = 0; // that clock drifts of its ranks are about
    bool operator==(const Recording &) const = default;

    [[nodiscard]] std::size_t spanCount() const;
};

/// Numbers of names while a recording is made.
class NameTable {
public:
    explicit NameTable(std::vector<std::string> &names)
        : m_names(names)
    {
    }
    std::uint32_t operator()(std::string_view name);

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view> {}(text); }
    };
    std::vector<std::string> &m_names;
    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> m_index;
};

/// Joins recordings of single sources into one: names, groups (equal name and ranks) and sources renumbered, moments
/// moved to one zero, ranks sorted. Ranks that two sources claim are both kept, with a note.
[[nodiscard]] Recording mergeRecordings(std::vector<Recording> parts);

} // namespace trainyard
