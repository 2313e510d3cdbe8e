#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What was measured of a real run, as a value of its own: sources, ranks with their streams of spans, steps,
// collectives, samples over time, benchmarks of links and drives, and the arguments that the run was started with.
// Readers make one from each file, mergeRecordings() joins them; views, alignment and calibration only read it.
//
// Time is int64 nanoseconds since `zero`, which is Unix time where the source knows it (else 0 is its first moment).
// Bytes are doubles. Names are numbers into one table, so that a million spans stay small.

#include "core/base/shared_text.h"
#include "core/runs/telemetry/source_kind.h"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace trainyard {

/// nanoseconds since Recording::zero
using Moment = std::int64_t;
inline constexpr std::uint32_t kNoIndex = 0xffffffffu;
inline constexpr Moment kNoMoment = std::numeric_limits<Moment>::min();

struct Dropped { // what of a source was not taken, and why
    /// "after a byte that is no JSON", "Python functions"
    std::string reason;
    std::int64_t count = 0;
    bool operator==(const Dropped &) const = default;
};

struct RecordedSource {
    /// as given
    std::string file;
    SourceKind kind = SourceKind::Unknown;
    std::int64_t bytes = 0;
    /// events, lines or rows that were read
    std::int64_t taken = 0;
    /// it ends in the middle
    bool isTruncated = false;
    /// why nothing was read, one sentence that names what it is; empty: it was read
    std::string refused;
    /// of what was refused: a text of lines, of which a line pattern may say what stands where. It is kept in no file.
    bool mayTakeLinePattern = false;
    std::vector<Dropped> dropped;
    /// what its reader wants to be known, a sentence each
    std::vector<std::string> notes;
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
    /// nanoseconds
    std::vector<std::int64_t> duration;
    /// Recording::names
    std::vector<std::uint32_t> name;
    std::vector<RecordedWork> work;
    /// correlation of a kernel and the call that launched it, 0: none; may be empty
    std::vector<std::uint32_t> launch;
    /// start of that call on the host, kNoMoment: not told; may be empty
    std::vector<Moment> launchedAt;
    /// Recording::names: grid and block of a kernel, tensors of an operator (tensor_arguments.h); kNoIndex: not told
    std::vector<std::uint32_t> shape;
    [[nodiscard]] std::size_t size() const { return start.size(); }
    bool operator==(const RecordedSpans &) const = default;
};

struct RecordedStream {
    bool isGpu = true;
    /// GPU index of its process, or the process
    std::int64_t device = 0;
    /// or thread
    std::int64_t stream = 0;
    /// where it has a name; may be empty
    std::string label;
    bool namesGpuStream =
        false; // of the host: operators that name the GPU's `stream` (Triton's), which HTA counts there
    RecordedSpans spans;
    bool operator==(const RecordedStream &) const = default;
};

/// One rank's part of a collective operation.
struct RecordedCollective {
    /// Recording::groups
    std::uint32_t group = kNoIndex;
    /// Recording::names: "all_reduce", "all_gather", … as nccl-tests say
    std::uint32_t operation = 0;
    /// number in its group; -1: not told, then the order of starts
    std::int64_t sequence = -1;
    /// message as nccl-tests count it; 0: not told
    double bytes = 0;
    Moment start = 0;
    std::int64_t duration = 0;
    /// of its rank, where it is drawn
    std::uint32_t stream = kNoIndex, span = kNoIndex;
    bool operator==(const RecordedCollective &) const = default;
};

struct CommunicatorGroup {
    std::string name, description;
    /// empty: not told
    std::vector<int> ranks;
    bool operator==(const CommunicatorGroup &) const = default;
};

struct RecordedStep {
    std::int64_t number = 0;
    Moment start = 0, end = 0;
    bool operator==(const RecordedStep &) const = default;
};

struct RankRecording {
    /// -1: nobody told
    int rank = -1;
    /// 0: nobody told
    int worldSize = 0;
    /// Recording::sources
    std::uint32_t source = kNoIndex;
    /// names; may be empty
    std::string host, gpu;
    std::vector<RecordedStream> streams;
    /// in order of start
    std::vector<RecordedCollective> collectives;
    std::vector<RecordedStep> steps;
    /// zero + a moment - timeBase is the time as its file tells it, ns; 0: those are Unix times
    Moment timeBase = 0;
    // What alignment took off its moments (align.h): they were later by offset + drift × (moment -
    // Recording::alignedAt)
    /// ns
    double clockOffset = 0;
    /// ns a ns
    double clockDrift = 0;
    bool operator==(const RankRecording &) const = default;
};

/// One quantity over steps or over time. Names and units are the canonical ones of sample_names.h.
struct SampleSeries {
    /// "step_time", "tflops_per_gpu", "gpu_utilization", …
    SharedText name;
    /// "s", "TFLOP/s", "B", "W", "1"
    SharedText unit;
    /// -1: of the whole run, or of `where`
    int rank = -1;
    /// "node000/gpu3", a host, a link; may be empty
    SharedText where;
    bool isByStep = false;
    /// or numbers of steps
    std::vector<Moment> at;
    /// NaN where a sample says that there is none
    std::vector<double> value;
    std::uint32_t source = kNoIndex;
    bool operator==(const SampleSeries &) const = default;
};

/// One point of a benchmark of a link, of a collective or of a drive.
struct BenchmarkPoint {
    /// "all_reduce", "tcp", "read", "write" …
    std::string what;
    int ranks = 0, nodes = 0, streams = 1;
    /// of a message
    double bytes = 0;
    /// of one operation, or of the whole test
    double seconds = 0;
    /// algorithm bandwidth, goodput
    double bytesPerSecond = 0;
    /// as nccl-tests define it; 0: none
    double busBytesPerSecond = 0;
    /// 0: not told
    double rttSeconds = 0;
    bool isInPlace = false;
    std::uint32_t source = kNoIndex;
    bool operator==(const BenchmarkPoint &) const = default;
};

/// One kernel that a probe timed alone on one GPU, the shortest and the median of its repeats.
struct KernelPoint {
    /// "gemm", "attention" (forward), "memory"
    std::string what;
    /// of the operands, as plans name it
    std::string precision;
    /// of a product C[m,n] = A[m,k] B[k,n]
    double m = 0, n = 0, k = 0;
    /// of attention
    double batch = 0, heads = 0, headDim = 0, sequence = 0;
    /// of attention: one kernel, not product, softmax and product
    bool isCausal = false, isFused = false;
    /// of one call; the median
    double leastSeconds = 0, seconds = 0;
    /// operands and result once; counted, not measured
    double bytes = 0, flops = 0;
    /// its name; of a machine without one its processor's
    std::string gpu;
    std::uint32_t source = kNoIndex;
    bool operator==(const KernelPoint &) const = default;
};

/// Before the name of an argument that its source leaves open: the value is what it may be, and what decides.
inline constexpr std::string_view kInDoubt = "in_doubt.";

/// What one source tells of how its run was started, where a recording has several.
struct SourceArguments {
    /// Recording::sources
    std::uint32_t source = kNoIndex;
    std::map<std::string, std::string> arguments;
    bool operator==(const SourceArguments &) const = default;
};

/// A model as its source tells it: a Hugging Face config.json, unparsed.
struct RecordedModel {
    /// of its file or folder
    std::string name;
    /// JSON
    std::string config;
    std::uint32_t source = kNoIndex;
    bool operator==(const RecordedModel &) const = default;
};

/// Machines as topology files and schedulers tell them; what a source does not tell is 0 or empty.
struct RecordedNodes { // nodes that are alike
    /// host names; empty where only their number is known
    std::vector<std::string> names;
    int count = 0;
    /// as its source calls it: "NVIDIA H100 80GB HBM3", "h100"
    std::string gpu;
    /// of each
    int gpus = 0;
    /// that carry training traffic
    int nics = 0;
    /// of each, one direction
    double nicBytesPerSecond = 0;
    /// of each GPU to all others together, one direction
    double nvlinkBytesPerSecond = 0;
    /// every pair of GPUs has all links
    bool isNvlinkSwitched = false;
    double hostMemoryBytes = 0;
    std::uint32_t source = kNoIndex;
    /// of each GPU
    double gpuMemoryBytes = 0;
    /// multiprocessors of each GPU
    int gpuProcessors = 0;
    /// what is broken in them, a sentence each
    std::vector<std::string> faults;
    bool operator==(const RecordedNodes &) const = default;
};
struct RecordedSwitch {
    std::string name;
    /// switches or nodes
    std::vector<std::string> below;
    /// of one link below it, one direction
    double linkBytesPerSecond = 0;
    /// of Slurm's block plugin: nodes that reach each other without the fabric
    bool isBlock = false;
    std::uint32_t source = kNoIndex;
    bool operator==(const RecordedSwitch &) const = default;
};
struct RecordedPrice {
    std::string instance, gpu, region, zone;
    /// of the instance
    double gpus = 0;
    /// of the instance; NaN: none
    double usdPerHour = 0, spotUsdPerHour = 0;
    std::uint32_t source = kNoIndex;
    bool operator==(const RecordedPrice &) const = default;
};

struct Recording {
    static constexpr int kVersion = 1;
    std::string name;
    /// Unix time of moment 0, nanoseconds; 0: unknown
    Moment zero = 0;
    std::vector<RecordedSource> sources;
    /// of spans and operations
    std::vector<std::string> names;
    std::vector<CommunicatorGroup> groups;
    /// by rank, those without one last
    std::vector<RankRecording> ranks;
    std::vector<SampleSeries> series;
    std::vector<BenchmarkPoint> benchmarks;
    std::vector<KernelPoint> kernels;
    /// that the run was started with, by the framework's names; of several sources the first that tells one
    std::map<std::string, std::string> arguments;
    /// each source's own, in their order; empty: `arguments` are of one source
    std::vector<SourceArguments> argumentsOf;
    std::vector<RecordedModel> models;
    std::vector<RecordedNodes> nodes;
    std::vector<RecordedSwitch> switches;
    std::vector<RecordedPrice> prices;
    /// that clock drifts of its ranks are about
    Moment alignedAt = 0;
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
