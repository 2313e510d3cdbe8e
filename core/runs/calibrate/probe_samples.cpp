// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/calibrate/probe_samples.h"

#include "core/base/median.h"
#include "core/base/number_text.h"
#include "core/base/printable.h"
#include "core/facts/hardware/gpu_name.h"
#include "core/facts/plan/enum_names.h"
#include "core/iteration/cost/kernels/attention.h"
#include "core/iteration/cost/kernels/gemm.h"
#include "core/iteration/placement/calibrated.h"
#include "core/runs/calibrate/calibration_case_internal.h"
#include "core/runs/calibrate/collective_samples.h"
#include "core/runs/calibrate/link_fit.h"
#include "core/runs/calibrate/probe_gpus_internal.h"
#include "core/runs/calibrate/robust_fit.h"
#include "core/runs/telemetry/clock_pairs.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace trainyard {

namespace {

constexpr double kLong = 0.1; // of the longest: kernels that take less say little of a step's time
constexpr double kLeastTraffic = 256e6; // bytes that no cache holds
const CalibrateOptions kDefaults;

using Kernels = std::vector<const KernelPoint *>;

/// Kernels of one pass of a step, and its time by the side of the others'.
struct ProbedPass {
    Kernels points;
    double share = 1;
};

/// All factors of one type of GPU.
class ProbeFits {
public:
    ProbeFits(const Recording &recording, const Requested &workload, PlannedGpu planned)
        : m_recording(recording)
        , m_work(workload)
        , m_planned(std::move(planned))
        , m_gpu(*m_planned.gpu)
    {
    }

    std::vector<FittedFactor> factors(const std::string &probedName)
    {
        for (const KernelPoint &point : m_recording.kernels)
            if (isOfProbe(m_recording, point.source) && point.gpu == probedName && point.leastSeconds > 0)
                m_kernels.push_back(&point);
        addProducts();
        addAttention();
        addMemory();
        addPcie();
        addNvlink();
        addFabric();
        addDrives();
        return std::move(m_factors);
    }

private:
    FittedFactor begun(CalibratedPart what) const
    {
        FittedFactor fitted { .id = std::string(toString(what)) + "-" + m_gpu.id };
        fitted.factor.what = what;
        fitted.factor.gpu = m_gpu.id;
        fitted.factor.recording = m_recording.name;
        return fitted;
    }

    void finish(FittedFactor fitted, std::string sentence)
    {
        fitted.sentence = std::move(sentence);
        if (fitted.refused.empty() && fitted.factor.samples < kDefaults.leastSamples)
            fitted.refused = "Too few points: " + std::to_string(fitted.factor.samples) + " of at least "
                + std::to_string(kDefaults.leastSamples);
        if (fitted.refused.empty() && !(fitted.residual <= kDefaults.mostResidual))
            fitted.refused = "The points lie " + percentText(fitted.residual) + " off the fit, more than "
                + percentText(kDefaults.mostResidual);
        m_factors.push_back(std::move(fitted));
    }

    /// Shortest times over modelled ones; of products and attention those that take longest.
    [[nodiscard]] std::optional<Expected<Ratio>> ratioOf(
        CalibratedPart what, const Kernels &points, const std::function<Seconds(const KernelPoint &)> &model) const
    {
        double longest = 0;
        for (const KernelPoint *point : points)
            longest = std::max(longest, point->leastSeconds);
        std::vector<double> modelled, measured;
        for (const KernelPoint *point : points) {
            const double seconds = model(*point).value;
            if (point->leastSeconds >= (what == CalibratedPart::Memory ? 0 : kLong) * longest && seconds > 0
                && std::isfinite(seconds)) {
                modelled.push_back(seconds);
                measured.push_back(point->leastSeconds);
            }
        }
        return measured.empty() ? std::nullopt : std::optional(fitRatio(modelled, measured));
    }

    /// Each pass has its ratio; that of a step is their mean by what each takes of it. The first pass alone where the
    /// others are too few.
    void addRatio(CalibratedPart what, const std::string &subject, const std::string &unit,
        const std::vector<ProbedPass> &passes, const std::function<Seconds(const KernelPoint &)> &model,
        std::string refused = {})
    {
        FittedFactor fitted = begun(what);
        double shares = 0, sum = 0, error = 0;
        bool isErrorKnown = true, areTooFew = false;
        for (const ProbedPass &pass : passes) {
            const auto ratio = ratioOf(what, pass.points, model);
            if (!ratio)
                continue;
            if (!*ratio || (&pass != &passes.front() && (*ratio)->samples < kDefaults.leastSamples)) {
                if (shares == 0 && !*ratio)
                    return finish(std::move(fitted), subject + " on " + shortName(m_gpu) + ": not told");
                areTooFew = true;
                continue;
            }
            shares += pass.share;
            sum += pass.share * (*ratio)->factor;
            error = std::hypot(error, pass.share * (*ratio)->standardError);
            isErrorKnown &= (*ratio)->standardError > 0;
            fitted.factor.samples += (*ratio)->samples;
            fitted.residual = std::max(fitted.residual, (*ratio)->residual);
        }
        if (shares == 0)
            return;
        fitted.factor.factor = sum / shares;
        setError(fitted.factor.standardError, isErrorKnown ? error / shares : 0);
        fitted.refused = std::move(refused);
        const bool hasBackward = shares > passes.front().share;
        finish(std::move(fitted),
            subject + " on " + shortName(m_gpu) + " take " + plainText(sum / shares) + " × as long as modelled (± "
                + plainText(isErrorKnown ? error / shares : 0) + "; " + std::to_string(fitted.factor.samples) + " "
                + unit + (hasBackward ? ", forward and backward" : "")
                + (areTooFew ? ", without a backward pass of too few points" : "") + ", timed alone by the probe)");
    }

    [[nodiscard]] Kernels kernelsOf(const char *what, Precision format) const
    {
        Kernels points;
        for (const KernelPoint *point : m_kernels)
            if (point->what == what && point->precision == toString(format))
                points.push_back(point);
        return points;
    }

    void addProducts()
    {
        const Precision format = m_gpu.computePrecision(m_work.plan->workload.precision);
        const Kernels forward = kernelsOf("gemm", format);
        if (forward.empty()
            && std::ranges::any_of(m_kernels, [](const auto *point) { return point->what == "gemm"; })) {
            FittedFactor fitted = begun(CalibratedPart::Products);
            fitted.refused =
                std::string("The probe has no products in ") + toString(format) + ", which the plan computes in";
            return finish(std::move(fitted), "Matrix products on " + shortName(m_gpu) + ": not told");
        }
        addRatio(CalibratedPart::Products, "Matrix products", std::string("shapes in ") + toString(format),
            { { forward }, { kernelsOf("gemm_dgrad", format) }, { kernelsOf("gemm_wgrad", format) } },
            [&](const KernelPoint &point) {
                return gemmTime(m_gpu, format, { point.m, point.n, point.k });
            });
    }

    void addAttention()
    {
        const Precision asked = m_work.plan->workload.precision;
        const Precision format = m_gpu.computePrecision(asked >= Precision::Fp8 ? Precision::Bf16 : asked);
        Kernels forward = kernelsOf("attention", format), backward = kernelsOf("attention_backward", format);
        const bool isFused = std::ranges::any_of(forward, &KernelPoint::isFused);
        for (Kernels *points : { &forward, &backward })
            std::erase_if(*points, [&](const KernelPoint *point) { return point->isFused != isFused; });
        const auto model = [&](const KernelPoint &point) {
            const AttentionShape shape { .batch = point.batch,
                .heads = point.heads,
                .kvHeads = point.heads,
                .queries = point.sequence,
                .keys = point.sequence,
                .queryDim = point.headDim,
                .valueDim = point.headDim,
                .causal = point.isCausal };
            return point.what == "attention" ? attentionForward(m_gpu, format, shape)
                                             : attentionBackward(m_gpu, format, shape);
        };
        // five products for the forward's two, at a lower rate
        const double backwardShare = 2.5 / m_gpu.attention.backwardRate;
        addRatio(CalibratedPart::Attention, isFused ? "Attention kernels" : "Unfused attention kernels",
            std::string("shapes in ") + toString(format), { { forward }, { backward, backwardShare } }, model,
            m_work.stack.eagerAttention ? "The plan's stack has attention as plain operations, each a kernel" : "");
    }

    void addMemory()
    {
        Kernels points;
        for (const KernelPoint *point : m_kernels)
            if (point->what == "memory" && point->bytes >= kLeastTraffic)
                points.push_back(point);
        addRatio(CalibratedPart::Memory, "Kernels that move memory", "sizes", { { points } },
            [&](const KernelPoint &point) { return memoryTime(m_gpu, Bytes { point.bytes }); });
    }

    [[nodiscard]] std::vector<BenchmarkPoint> benchmarks(
        const std::function<bool(const BenchmarkPoint &)> &isMeant) const
    {
        std::vector<BenchmarkPoint> points;
        for (const BenchmarkPoint &point : m_recording.benchmarks)
            if (isOfProbe(m_recording, point.source) && point.seconds > 0 && isMeant(point))
                points.push_back(point);
        return points;
    }

    void setLine(FittedFactor &fitted, const AlphaBeta &line) const
    {
        fitted.factor.gbytesPerS = line.bytesPerSecond * 1e-9;
        setError(fitted.factor.standardError, line.bandwidthError * 1e-9);
        fitted.factor.samples = line.samples;
        fitted.factor.r2 = line.r2;
        fitted.residual = line.residual;
        if (!(line.bytesPerSecond > 0)) {
            fitted.factor.gbytesPerS.reset();
            fitted.refused = "The sizes are too alike to tell a bandwidth";
        }
    }

    void addPcie()
    {
        std::vector<double> bytes, seconds;
        for (const BenchmarkPoint &point : benchmarks(
                 [](const BenchmarkPoint &each) { return each.what == "host_to_gpu" || each.what == "gpu_to_host"; })) {
            bytes.push_back(point.bytes);
            seconds.push_back(point.seconds);
        }
        if (bytes.empty())
            return;
        FittedFactor fitted = begun(CalibratedPart::Pcie);
        fitted.factor.samples = int(bytes.size());
        const auto line = fitAlphaBeta(bytes, seconds);
        if (!line)
            return finish(std::move(fitted), "Copies between host and " + shortName(m_gpu) + ": not told");
        setLine(fitted, *line);
        finish(std::move(fitted),
            "Copies between host and " + shortName(m_gpu) + " reach " + plainText(line->bytesPerSecond * 1e-9)
                + " GB/s each way (" + std::to_string(line->samples) + " sizes)");
    }

    void addWay(
        FittedFactor fitted, const std::vector<BenchmarkPoint> &points, const Link *between, const std::string &where)
    {
        std::vector<CollectiveSample> samples;
        for (const BenchmarkPoint &point : points)
            samples.push_back({ .operation = point.what,
                .bytes = point.bytes,
                .ranks = point.ranks,
                .ranksPerNode = (point.ranks + point.nodes - 1) / point.nodes,
                .seconds = point.seconds,
                .at = m_planned.at.front(),
                .isBenchmark = true });
        const Link inside = deviceLink(m_gpu, builtinNetwork());
        const auto fit = fitLink(samples, inside, between ? *between : inside, between != nullptr);
        fitted.factor.samples = int(samples.size());
        if (!fit) {
            fitted.refused = "Their times do not tell the link: " + fit.error().what;
            return finish(std::move(fitted), "Collectives " + where + ": not told");
        }
        fitted.factor.factor = fit->factor;
        fitted.factor.gbytesPerS = fit->gbytesPerS;
        fitted.factor.latencyUs = fit->latencyUs;
        fitted.factor.samples = fit->samples;
        setError(fitted.factor.standardError, fit->error);
        setError(fitted.factor.latencyError, fit->latencyError);
        fitted.factor.r2 = fit->r2;
        fitted.residual = fit->residual;
        finish(std::move(fitted),
            fit->factor ? "Collectives " + where + " take " + factorText(*fit->factor, fit->error) + "; "
                    + wholeText(fit->samples) + " of one size)"
                        : "Collectives " + where + " reach " + plainText(*fit->gbytesPerS) + " GB/s (± "
                    + plainText(fit->error) + "; " + wholeText(fit->samples) + " points)"
                    + (fit->latencyUs ? " after " + latencyText(*fit->latencyUs, fit->latencyError) : ""));
    }

    void addNvlink()
    {
        const auto points = benchmarks([](const BenchmarkPoint &point) {
            return point.busBytesPerSecond > 0 && point.nodes == 1 && point.ranks > 1 && point.bytes > 0;
        });
        if (!points.empty())
            addWay(begun(CalibratedPart::Nvlink), points, nullptr, "between " + shortName(m_gpu) + " of a node");
    }

    void addFabric()
    {
        const auto points = benchmarks([](const BenchmarkPoint &point) {
            return point.busBytesPerSecond > 0 && point.nodes > 1 && point.ranks > 1 && point.bytes > 0;
        });
        if (points.empty())
            return;
        const StageLocation at = m_planned.at.front();
        const Datacenter &datacenter = m_work.plan->cluster.datacenters[std::size_t(at.datacenter)];
        FittedFactor fitted = begun(CalibratedPart::Fabric);
        fitted.id = "fabric-" + datacenter.id;
        fitted.factor.datacenter = datacenter.id;
        if (std::ranges::any_of(
                m_planned.at, [&](const StageLocation &other) { return other.datacenter != at.datacenter; }))
            fitted.refused =
                "The plan has this GPU in several datacenters, and the probe does not tell which it ran in";
        const Link fabric = nominalFabric(m_work, at);
        addWay(std::move(fitted), points, &fabric, "between nodes of " + datacenter.label());
    }

    void addDrives()
    {
        const auto points = benchmarks([](const BenchmarkPoint &point) { return point.what == "write"; });
        if (points.empty())
            return;
        std::vector<double> rates, off;
        for (const BenchmarkPoint &point : points)
            rates.push_back(point.bytesPerSecond * 1e-9);
        const double middle = medianOf(rates);
        for (const double rate : rates)
            off.push_back(std::abs(rate / middle - 1));
        FittedFactor fitted = begun(CalibratedPart::Drive);
        fitted.residual = medianOf(off);
        fitted.factor.gbytesPerS = middle;
        fitted.factor.samples = int(rates.size());
        setError(
            fitted.factor.standardError, kMedianError * fitted.residual * middle / std::sqrt(double(rates.size())));
        if (std::ranges::none_of(
                m_planned.at, [&](const StageLocation &at) { return m_work.pool(at).ssd.has_value(); }))
            fitted.refused = "The plan's nodes of this GPU have no drives (pools[].ssd)";
        finish(std::move(fitted),
            "Drives write " + plainText(middle) + " GB/s (" + std::to_string(rates.size()) + " files, synced)");
    }

    const Recording &m_recording;
    const Requested &m_work;
    PlannedGpu m_planned;
    const GpuSpec &m_gpu;
    Kernels m_kernels;
    std::vector<FittedFactor> m_factors;
};

} // namespace

std::vector<FittedFactor> factorsOfProbe(
    const Recording &recording, const Evaluation &evaluation, const Catalogue &catalogue)
{
    const std::vector<std::string> names = probedNames(recording);
    if (names.empty() || !evaluation.plan)
        return {};
    const auto workload = nominalOf(*evaluation.plan, catalogue);
    if (!workload)
        return {};
    std::vector<FittedFactor> factors;
    for (const std::string &name : names) {
        bool isFound = false;
        for (const PlannedGpu &planned : plannedGpus(*workload)) {
            if (!isCalled(*planned.gpu, name, catalogue))
                continue;
            isFound = true;
            for (FittedFactor &fitted : ProbeFits(recording, *workload, planned).factors(name))
                factors.push_back(std::move(fitted));
        }
        if (!isFound) {
            FittedFactor fitted { .id = "products-" + name };
            fitted.sentence = "The probe ran on " + shortened(printable(name));
            fitted.refused = "The plan has no such GPU";
            factors.push_back(std::move(fitted));
        }
    }
    return factors;
}

} // namespace trainyard
