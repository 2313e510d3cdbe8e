// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/profile/roofline.h"

#include "core/facts/hardware/sustained_rates.h"
#include "core/runs/imports/gpu_names.h"
#include "core/runs/profile/gpu_work.h"
#include "core/runs/profile/operator_calls.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace trainyard {

namespace {

struct OperatorSum {
    std::int64_t calls = 0, kernels = 0;
    double total = 0;
    /// ns by name of the longest kernel of a call
    std::unordered_map<std::uint32_t, double> kernelTimes;
};
/// numbers of operator and tensors
using OperatorSums = std::map<std::pair<std::uint32_t, std::uint32_t>, OperatorSum>;

/// Of most ranks that work.
std::string commonGpu(const Recording &recording)
{
    std::map<std::string, int> ranks;
    for (const RankRecording &rank : recording.ranks)
        if (whyNoGpuTimes(recording, rank).empty())
            ++ranks[rank.gpu];
    const auto most = std::ranges::max_element(ranks, {}, [](const auto &one) { return one.second; });
    return most == ranks.end() ? std::string() : most->first;
}

void addCalls(const RankRecording &rank, const OperatorCalls &calls, OperatorSums &sums)
{
    for (const OperatorCall &call : calls.calls) {
        const RecordedSpans &spans = rank.streams[call.stream].spans;
        OperatorSum &sum = sums[{ spans.name[call.span], spans.shape[call.span] }];
        ++sum.calls;
        sum.kernels += call.kernels;
        sum.total += double(call.total);
        sum.kernelTimes[call.kernel] += double(call.total);
    }
}

/// Products of 32-bit operands run on tensor cores only by kernels that say so.
bool isTensorFloat(std::string_view kernel)
{
    return kernel.find("tf32") != kernel.npos || kernel.find("xf32") != kernel.npos
        || kernel.find("tensorop") != kernel.npos || kernel.find("s1688") != kernel.npos;
}

RooflineRow rooflineRowOf(const Recording &recording, const OperatorSum &sum, std::string operation, OperationWork work,
    const std::vector<TensorArgument> &arguments)
{
    RooflineRow row { .operation = std::move(operation), .shape = shapeText(work, arguments) };
    const auto longest =
        std::ranges::max_element(sum.kernelTimes, {}, [](const auto &one) { return std::pair(one.second, one.first); });
    row.kernel = recording.names[longest->first];
    if (work.kind == OperationKind::Product && work.precision == Precision::Fp32 && isTensorFloat(row.kernel))
        work.precision = Precision::Tf32;
    row.work = work;
    row.calls = sum.calls;
    row.kernels = sum.kernels;
    row.total = sum.total;
    return row;
}

void findGpu(Roofline &made, const Catalogue &catalogue, const GpuSpec *asked)
{
    const imports::NamedGpu named =
        asked || made.gpuName.empty() ? imports::NamedGpu { asked, true } : imports::gpuNamed(made.gpuName, catalogue);
    if (!named.gpu)
        return;
    made.gpu = *named.gpu;
    made.isGpuSure = named.isSure;
    const SustainedRates sustained = sustainedRates(catalogue.sustained, *named.gpu);
    for (RooflineRow &row : made.rows) {
        row.roofSeconds = roofSeconds(*named.gpu, row.work);
        row.predictedSeconds = predictedSeconds(*named.gpu, sustained, row.work);
    }
}

} // namespace

Roofline rooflineOf(const Recording &recording, const Catalogue &catalogue, const GpuSpec *gpu)
{
    Roofline made { .gpuName = commonGpu(recording) };
    OperatorSums sums;
    bool hasHost = false, hasTensors = false;
    for (const RankRecording &rank : recording.ranks) {
        if (!whyNoGpuTimes(recording, rank).empty())
            continue;
        if (rank.gpu != made.gpuName) {
            ++made.otherRanks;
            continue;
        }
        ++made.ranks;
        const OperatorCalls calls = operatorCalls(rank);
        made.total += calls.total;
        hasHost = hasHost || calls.hasHost;
        hasTensors = hasTensors || calls.hasTensors;
        addCalls(rank, calls, sums);
    }
    std::map<std::string, double> others;
    for (const auto &[key, sum] : sums) {
        const std::string &operation = recording.names[key.first];
        const std::vector<TensorArgument> arguments = readTensorArguments(recording.names[key.second]);
        const auto work = workOf(operation, arguments);
        if (!work) {
            others[operation] += sum.total;
            made.withoutFormula += sum.total;
            continue;
        }
        made.rows.push_back(rooflineRowOf(recording, sum, operation, *work, arguments));
        made.counted += sum.total;
    }
    for (const auto &[operation, total] : others)
        made.others.push_back({ operation, total });
    std::ranges::stable_sort(made.others, std::greater(), &Roofline::Other::total);
    std::ranges::stable_sort(made.rows, std::greater(), &RooflineRow::total);
    findGpu(made, catalogue, gpu);
    made.lack = !made.rows.empty() ? RooflineLack::None
        : made.ranks == 0          ? RooflineLack::Kernels
        : !hasHost                 ? RooflineLack::Host
        : !hasTensors              ? RooflineLack::Sizes
                                   : RooflineLack::Formulas;
    return made;
}

std::vector<std::pair<Precision, double>> Roofline::peaks() const
{
    std::vector<std::pair<Precision, double>> found;
    for (const RooflineRow &row : rows) {
        if (!gpu || row.work.kind == OperationKind::Elementwise)
            continue;
        const Precision format = gpu->computePrecision(row.work.precision);
        const double peak = gpu->peakFlops(format);
        if (std::ranges::none_of(found, [&](const auto &one) { return one.second == peak; }))
            found.emplace_back(format, peak);
    }
    std::ranges::sort(found, {}, [](const auto &one) { return one.second; });
    return found;
}

} // namespace trainyard
