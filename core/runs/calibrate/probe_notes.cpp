// SPDX-License-Identifier: GPL-3.0-or-later
// What a probe measured that stands beside the plan without changing it.
#include "core/base/median.h"
#include "core/base/number_text.h"
#include "core/facts/hardware/gpu_name.h"
#include "core/facts/plan/enum_names.h"
#include "core/iteration/cost/kernels/grouped_gemm.h"
#include "core/runs/calibrate/collective_samples.h"
#include "core/runs/calibrate/probe_gpus_internal.h"
#include "core/runs/calibrate/probe_samples.h"

#include <algorithm>

namespace trainyard {

namespace {

using TimedKernels = std::vector<const KernelPoint *>;

/// TimedKernels of one kind and format.
TimedKernels kernelsLike(const TimedKernels &all, const std::string &what, const std::string &precision)
{
    TimedKernels points;
    for (const KernelPoint *point : all)
        if (point->what == what && point->precision == precision)
            points.push_back(point);
    return points;
}

bool isOfOneShape(const KernelPoint &a, const KernelPoint &b)
{
    return a.m == b.m && a.n == b.n && a.k == b.k && a.batch == b.batch && a.heads == b.heads && a.headDim == b.headDim
        && a.sequence == b.sequence;
}

std::string groupedNote(const GpuSpec &gpu, Precision format, const TimedKernels &all)
{
    std::vector<double> ratios;
    for (const KernelPoint *point : kernelsLike(all, "gemm_grouped", toString(format)))
        if (const double modelled = groupedGemmTime(gpu, format, point->batch, { point->m, point->n, point->k }).value;
            modelled > 0)
            ratios.push_back(point->leastSeconds / modelled);
    if (ratios.empty())
        return {};
    const std::size_t shapes = ratios.size();
    return "Grouped products on " + shortName(gpu) + " take " + plainText(medianOf(std::move(ratios)))
        + " × as long as modelled (" + std::to_string(shapes) + " shapes in " + toString(format)
        + "): a plan has one factor of all its products, which single ones tell, and this is not used";
}

/// `kernel`: of which there are bursts and loads of one shape. `planned`: what the plan's clocks leave of the rate.
std::string loadNote(const GpuSpec &gpu, const TimedKernels &all, const std::string &kernel,
    const std::string &precision, const char *subject, double planned)
{
    std::vector<double> left;
    for (const KernelPoint *loaded : kernelsLike(all, kernel + "_sustained", precision))
        for (const KernelPoint *burst : kernelsLike(all, kernel, precision))
            if (isOfOneShape(*loaded, *burst))
                left.push_back(burst->leastSeconds / loaded->seconds);
    if (left.empty())
        return {};
    return std::string(subject) + " in " + precision + " on " + shortName(gpu) + " keep "
        + percentText(medianOf(std::move(left))) + " of their rate under load; the plan takes " + percentText(planned)
        + ", which published runs tell: clocks under load are not calibrated by a probe";
}

} // namespace

std::vector<std::string> notesOfProbe(
    const Recording &recording, const Evaluation &evaluation, const Catalogue &catalogue)
{
    const std::vector<std::string> names = probedNames(recording);
    if (names.empty() || !evaluation.plan)
        return {};
    const auto workload = nominalOf(*evaluation.plan, catalogue);
    if (!workload)
        return {};
    std::vector<std::string> notes;
    for (const PlannedGpu &planned : plannedGpus(*workload)) {
        const GpuSpec &gpu = *planned.gpu;
        TimedKernels all;
        for (const KernelPoint &point : recording.kernels)
            if (isOfProbe(recording, point.source) && point.leastSeconds > 0 && isCalled(gpu, point.gpu, catalogue))
                all.push_back(&point);
        const Precision asked = evaluation.plan->workload.precision, format = gpu.computePrecision(asked);
        const Precision half = gpu.computePrecision(asked >= Precision::Fp8 ? Precision::Bf16 : asked);
        const SustainedRates rates = workload->sustainedRates(planned.at.front());
        // Experts' products are of 16 bits in the probe.
        notes.push_back(groupedNote(gpu, half, all));
        notes.push_back(loadNote(gpu, all, "gemm", toString(format), "Matrix products", rates.ofProducts(format)));
        notes.push_back(loadNote(gpu, all, "attention", toString(half), "Attention kernels", rates.attention));
    }
    std::erase(notes, std::string());
    return notes;
}

} // namespace trainyard
