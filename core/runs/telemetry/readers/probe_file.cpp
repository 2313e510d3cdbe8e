// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/probe_file.h"

#include "core/base/printable.h"
#include "core/runs/telemetry/collectives.h"
#include "core/runs/telemetry/readers/collective_names.h"
#include "core/runs/telemetry/readers/loose_json.h"
#include "core/runs/telemetry/readers/recording_builder.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace trainyard::readers {

namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kMostOfCluster = 10'000'000, kMostOfNode = 1024;
constexpr std::array kProbedKernels { "gemm", "gemm_dgrad", "gemm_wgrad", "gemm_grouped", "attention",
    "attention_backward", "memory" };
constexpr std::size_t kMostUnknown = 20; // kinds of samples that are told by name

bool isProbedKernel(std::string_view what)
{
    return std::ranges::find(kProbedKernels, what) != kProbedKernels.end();
}

int wholeWithin(LooseJsonValue value, std::int64_t most, int otherwise)
{
    return static_cast<int>(std::clamp<std::int64_t>(value.integer().value_or(otherwise), 0, most));
}

/// A figure that a machine may have; 0 where it is told as none.
double figure(LooseJsonValue value)
{
    const double told = value.numberOr(0);
    return std::isfinite(told) && told > 0 ? told : 0;
}

class ProbeFile {
public:
    explicit ProbeFile(const SourceText &source)
        : m_scribe(source, SourceKind::Probe)
    {
    }

    void addMachine(LooseJsonValue machine)
    {
        const LooseJsonValue device = machine["devices"].first(), processor = machine["cpu"];
        const bool isGpu = machine["device"].text() != "cpu" && bool(device);
        RecordedNodes nodes;
        nodes.gpu = isGpu ? device["name"].text() : processor["name"].text();
        nodes.count = std::max(1, wholeWithin(machine["nodes"], kMostOfCluster, 1));
        nodes.gpus = std::max(1, wholeWithin(machine["ranks_per_node"], kMostOfNode, 1));
        int devices = 0;
        for ([[maybe_unused]] const LooseJsonValue each : machine["devices"])
            devices += devices < kMostOfNode ? 1 : 0;
        if (isGpu)
            nodes.gpus = std::max(nodes.gpus, devices);
        nodes.hostMemoryBytes = figure(processor["memory_bytes"]);
        // A processor has the memory of its host, shared by the ranks on it.
        nodes.gpuMemoryBytes = isGpu ? figure(device["memory_bytes"]) : nodes.hostMemoryBytes / nodes.gpus;
        nodes.gpuProcessors = wholeWithin(isGpu ? device["multiprocessors"] : processor["threads"], 100'000, 0);
        if (const std::string host = machine["host"].text(); nodes.count == 1 && !host.empty())
            nodes.names = { host };
        nodes.source = 0;
        m_gpu = nodes.gpu;
        m_isGpu = isGpu;
        m_scribe.recording().nodes.push_back(std::move(nodes));
        if (!isGpu)
            m_scribe.note("The machine has no GPU: its processor was probed in the place of one");
    }

    void addSample(LooseJsonValue sample)
    {
        const std::string what = sample["what"].text();
        const double seconds = figure(sample["median_s"]), bytes = figure(sample["bytes"]);
        const double least = figure(sample["least_s"]);
        if (!(seconds > 0) || !(least > 0) || least > seconds)
            return m_scribe.drop("samples without a time");
        if (isProbedKernel(what))
            return addKernel(what, sample, least, seconds);
        if (const std::string of = sample["kernel"].text(); what == "sustained" && isProbedKernel(of))
            return addKernel(of + "_sustained", sample, least, seconds);
        BenchmarkPoint point { .bytes = bytes, .seconds = seconds, .bytesPerSecond = bytes / seconds };
        point.nodes = 1;
        if (what == "launch") {
            point.what = "launch";
            point.bytesPerSecond = 0;
        } else if (!(bytes > 0)) {
            return m_scribe.drop("samples without a size");
        } else if (what == "copy") {
            point.what = sample["direction"].text();
        } else if (what == "storage") {
            point.what = sample["operation"].text();
            point.bytes = figure(sample["block_bytes"]);
            if (sample["cached"].isTrue())
                return m_scribe.drop("reads and writes that the host's memory answered, not a drive");
        } else if (what == "collective") {
            point.what = collectiveNamed(sample["operation"].text());
            point.ranks = wholeWithin(sample["ranks"], kMostOfCluster, 0);
            point.nodes = wholeWithin(sample["nodes"], kMostOfCluster, 1);
            point.busBytesPerSecond = point.bytesPerSecond * busFactor(point.what, point.ranks);
        }
        static constexpr std::array kCopies { "host_to_gpu", "gpu_to_host", "gpu_to_gpu" };
        const bool isKnown = what == "launch" || (what == "collective" && point.busBytesPerSecond > 0)
            || (what == "copy" && std::ranges::find(kCopies, point.what) != kCopies.end())
            || (what == "storage" && (point.what == "read" || point.what == "write"));
        if (!isKnown)
            return dropUnknown(what, what == "copy" ? sample["direction"].text() : sample["operation"].text());
        m_scribe.add(std::move(point));
    }

    /// What the probe says of how it timed.
    void noteTiming(LooseJsonValue timing)
    {
        if (m_isGpu && !timing["queued_ahead"].isTrue())
            m_scribe.note("Measured by an earlier probe, which did not wait for the GPU's clock nor queue its kernels: "
                          "short ones may have taken longer than they do");
        if (m_hasFullAccumulation)
            m_scribe.note("Its 8-bit products forward accumulate fully, where training accumulates fast: on some GPUs "
                          "they take longer than in a step");
    }

    void noteMissing(LooseJsonValue machine)
    {
        int missing = 0;
        for ([[maybe_unused]] const LooseJsonValue each : machine["missing"])
            missing += missing < kMostOfCluster ? 1 : 0;
        if (missing > 0)
            m_scribe.note("Ranks that did not come to the probe: " + std::to_string(missing)
                + "; its collectives are missing with them");
    }

    Expected<Recording> finish(const SourceText &source, LooseJsonValue root, bool isTruncated)
    {
        Recording &recording = m_scribe.recording();
        if (recording.benchmarks.empty() && recording.kernels.empty())
            return refusal(source,
                m_unknown.empty()
                    ? "It is the result of a probe that measured nothing"
                    : "It is the result of a probe with nothing but samples of unknown kinds: " + *m_unknown.begin());
        noteTiming(root["timing"]);
        noteMissing(root["machine"]);
        for (const LooseJsonValue note : root["notes"])
            m_scribe.note(note.text());
        for (const LooseJsonValue skipped : root["skipped"])
            if (const auto count = skipped["count"].integer(); count && *count > 0 && *count < 1'000'000)
                m_scribe.drop(
                    shortened(
                        printable("not measured: " + skipped["what"].text() + ", " + skipped["reason"].text()), 200),
                    *count);
        if (root["ended"].text() == "time")
            m_scribe.note("The probe's time was used up before its finest grid: --minutes gives it more");
        if (root["ended"].text() == "failed")
            m_scribe.note("The probe failed before its end: what it has are the points before");
        if (root["ended"].text() == "hung")
            m_scribe.note("A point of the probe did not come back: what was measured before it is here");
        if (root["ended"].text() == "running")
            m_scribe.note("The probe was ended from outside: what it had written until then is here");
        const std::string torch = root["machine"]["torch"].text();
        recording.name = shortened(printable("probe of " + (m_gpu.empty() ? std::string("a machine") : m_gpu)), 200);
        if (!torch.empty())
            m_scribe.note("Measured with PyTorch " + torch);
        m_scribe.source().isTruncated |= isTruncated;
        return m_scribe.finish();
    }

private:
    /// A newer probe may have kinds that this program does not know: they are told by name.
    void dropUnknown(const std::string &what, const std::string &operation)
    {
        std::string name = shortened(printable(what.empty() ? "(unnamed)" : what), 40);
        if (!operation.empty() && operation != what)
            name += " " + shortened(printable(operation), 40);
        if (m_unknown.size() < kMostUnknown)
            m_unknown.insert(name);
        m_scribe.drop("samples of a kind that this program does not know: "
            + (m_unknown.contains(name) ? name : std::string("others")));
    }

    void addKernel(const std::string &what, LooseJsonValue sample, double least, double seconds)
    {
        KernelPoint point { .what = what, .precision = sample["precision"].text() };
        point.m = figure(sample["m"]);
        point.n = figure(sample["n"]);
        point.k = figure(sample["k"]);
        point.batch = figure(sample[what.starts_with("gemm_grouped") ? "groups" : "batch"]);
        point.heads = figure(sample["heads"]);
        point.headDim = figure(sample["head_dim"]);
        point.sequence = figure(sample["sequence"]);
        point.isCausal = sample["causal"].isTrue();
        point.isFused = sample["fused"].isTrue();
        point.leastSeconds = least;
        point.seconds = seconds;
        point.bytes = figure(sample["bytes"]);
        point.flops = figure(sample["flops"]);
        point.gpu = m_gpu;
        point.source = 0;
        m_hasFullAccumulation |= what == "gemm" && point.precision == "fp8" && !sample["fast_accum"].isTrue();
        const bool isProduct = what.starts_with("gemm"), isGrouped = what.starts_with("gemm_grouped");
        const bool hasShape = isProduct     ? point.m * point.n * point.k * (isGrouped ? point.batch : 1) > 0
            : what.starts_with("attention") ? point.batch * point.heads * point.headDim * point.sequence > 0
                                            : point.bytes > 0;
        if (!hasShape)
            return m_scribe.drop("samples without a size");
        m_scribe.recording().kernels.push_back(std::move(point));
        ++m_scribe.source().taken;
    }

    RecordingBuilder m_scribe;
    std::string m_gpu;
    bool m_isGpu = false;
    bool m_hasFullAccumulation = false; // of 8-bit products forward
    std::set<std::string> m_unknown;
};

} // namespace

int looksLikeProbe(std::string_view, std::string_view head)
{
    if (!trimmed(head.substr(0, 256)).starts_with('{'))
        return 0;
    for (auto at = head.find("\"format\""); at != std::string_view::npos; at = head.find("\"format\"", at + 1)) {
        std::string_view rest = trimmed(head.substr(at + 8, 64));
        if (rest.starts_with(':') && trimmed(rest.substr(1)).starts_with("\"trainyard.probe\""))
            return 98;
    }
    return 0;
}

Expected<Recording> readProbe(const SourceText &source, const SourceOptions &options)
{
    LooseJson json;
    if (!json.read(source.text))
        return refusal(source, "It is the result of a probe without anything in it");
    const LooseJsonValue root = json.root();
    if (const auto version = root["version"].integer(); version && *version > kVersion)
        return refusal(source,
            "It is the result of a probe of version " + std::to_string(*version) + "; this program reads version 1");
    ProbeFile file(source);
    file.addMachine(root["machine"]);
    for (const LooseJsonValue sample : root["samples"]) {
        if (options.stop.stop_requested())
            break;
        file.addSample(sample);
    }
    return file.finish(source, root, json.isTruncated() || json.isBroken());
}

} // namespace trainyard::readers
