// SPDX-License-Identifier: GPL-3.0-or-later
// A GPU without a data sheet, as a probe measured it.
#include "core/runs/imports/gpu_names.h"

#include "core/base/median.h"
#include "core/facts/plan/enum_names.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard::imports {

namespace {

constexpr double kLong = 0.1; // of the longest: kernels that take less say little of a step's time
constexpr double kLeastTraffic = 256e6; // bytes that no cache holds

std::optional<Precision> precisionOf(const KernelPoint &point)
{
    for (const auto &one : kNamesOf<Precision>)
        if (point.precision == one.name)
            return static_cast<Precision>(&one - kNamesOf<Precision>.data());
    return std::nullopt;
}

/// Median rate, work of a point over its shortest time, of those that take longest.
double rateOf(const std::vector<const KernelPoint *> &points, const auto &workOf)
{
    double longest = 0;
    for (const KernelPoint *point : points)
        longest = std::max(longest, point->leastSeconds);
    std::vector<double> rates;
    for (const KernelPoint *point : points)
        if (point->leastSeconds >= kLong * longest && point->leastSeconds > 0)
            rates.push_back(workOf(*point) / point->leastSeconds);
    return medianOf(std::move(rates));
}

std::string idOf(const std::string &name)
{
    std::string id;
    for (const char c : name.substr(0, 60)) {
        const bool isLetter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (isLetter || (c >= '0' && c <= '9'))
            id += isLetter ? static_cast<char>(c | 0x20) : c;
        else if (!id.empty() && id.back() != '-')
            id += '-';
    }
    while (!id.empty() && id.back() == '-')
        id.pop_back();
    return id.empty() ? "probed" : id;
}

double bestRate(const Recording &recording, const auto &isMeant, const auto &rate)
{
    double most = 0;
    for (const BenchmarkPoint &point : recording.benchmarks)
        if (point.source < recording.sources.size() && recording.sources[point.source].kind == SourceKind::Probe
            && isMeant(point) && std::isfinite(rate(point)))
            most = std::max(most, rate(point));
    return most;
}

} // namespace

std::optional<GpuSpec> measuredGpu(const Recording &recording, const std::string &name)
{
    std::vector<const KernelPoint *> memory, attention;
    std::array<std::vector<const KernelPoint *>, kPrecisionCount> products;
    for (const KernelPoint &point : recording.kernels) {
        if (point.gpu != name)
            continue;
        const auto precision = precisionOf(point);
        if (point.what == "memory" && point.bytes >= kLeastTraffic)
            memory.push_back(&point);
        else if (point.what == "gemm" && precision)
            products[std::size_t(*precision)].push_back(&point);
        else if (point.what == "attention")
            attention.push_back(&point);
    }
    const auto bytesOf = [](const KernelPoint &point) { return point.bytes; };
    GpuSpec gpu;
    gpu.id = idOf(name);
    gpu.name = name;
    gpu.memoryGBps = rateOf(memory, bytesOf) * 1e-9;
    bool hasPeak = false;
    for (std::size_t i = 0; i < products.size(); ++i) {
        const auto ofProduct = [](const KernelPoint &point) { return 2 * point.m * point.n * point.k; };
        const double peak = rateOf(products[i], ofProduct) * 1e-12;
        if (!(peak > 0) || peak > 1e6)
            continue;
        gpu.peakTflops[i] = peak;
        gpu.sources[std::string("peak_tflops.") + toString(static_cast<Precision>(i))] = "what long products reach";
        hasPeak = true;
    }
    if (!hasPeak || !(gpu.memoryGBps >= 1) || gpu.memoryGBps > 1e6)
        return std::nullopt;
    gpu.sources["memory_gbytes_per_s"] = "what long copies and sums reach";
    gpu.gemm.peakFraction = gpu.gemm.memoryFraction = 1; // these peaks are reached
    const double launch = bestRate(
        recording, [](const BenchmarkPoint &point) { return point.what == "launch"; },
        [](const BenchmarkPoint &point) { return point.seconds; });
    if (launch > 0)
        gpu.gemm.launchUs = std::min(launch * 1e6, 1000.0);
    const Precision half = gpu.computePrecision(Precision::Bf16); // that fused attention runs in
    std::erase_if(attention, [&](const KernelPoint *point) { return precisionOf(*point) != half; });
    const auto flopsOf = [](const KernelPoint &point) {
        const double pairs = point.sequence * point.sequence * (point.isCausal ? 0.5 : 1.0);
        return 4 * point.batch * point.heads * point.headDim * pairs;
    };
    if (const double reached = rateOf(attention, flopsOf) / gpu.peakFlops(half); reached > 0)
        gpu.attention.peakFraction = std::clamp(reached, 0.001, 1.5);
    const auto isHostCopy = [](const BenchmarkPoint &point) {
        return point.what == "host_to_gpu" || point.what == "gpu_to_host";
    };
    const auto rate = [](const BenchmarkPoint &point) { return point.bytesPerSecond * 1e-9; };
    const double pcie = bestRate(recording, isHostCopy, rate);
    // A processor's memory is its host's: what leaves is copied there.
    gpu.pcieGBps = std::min(pcie > 0 ? pcie : gpu.memoryGBps / 2, 1e4);
    gpu.linkGBps = std::min(1e5,
        bestRate(
            recording, [](const BenchmarkPoint &point) { return point.nodes == 1 && point.ranks > 1; },
            [](const BenchmarkPoint &point) { return point.busBytesPerSecond * 1e-9; }));
    for (const RecordedNodes &nodes : recording.nodes)
        if (nodes.gpu == name && nodes.gpuMemoryBytes > 0) {
            gpu.memoryBytes = std::llround(std::clamp(nodes.gpuMemoryBytes, 0x1p29, 0x1p46));
            gpu.multiprocessors = std::clamp(double(nodes.gpuProcessors), 1.0, 1e5);
            gpu.linkDomain = std::clamp(nodes.gpus, 1, 100'000);
            return gpu;
        }
    return std::nullopt;
}

} // namespace trainyard::imports
