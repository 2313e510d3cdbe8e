// SPDX-License-Identifier: GPL-3.0-or-later
// Products, attention and memory: seconds of their kernels against what the model predicts for the stage of each rank.
#include "core/base/median.h"
#include "core/base/number_text.h"
#include "core/iteration/cost/kernel_seconds.h"
#include "core/runs/calibrate/calibration_case_internal.h"
#include "core/runs/calibrate/collective_samples.h"
#include "core/runs/calibrate/kernel_samples.h"
#include "core/runs/calibrate/random_effects_mean.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

constexpr std::array kParts { CalibratedPart::Products, CalibratedPart::Attention, CalibratedPart::Memory };
constexpr std::array kNames { "Matrix products", "Attention kernels", "Kernels that move memory" };
constexpr double kLeastNamed = 0.02, kMostUnnamed = 0.2; // shares of products in what was measured and modelled
constexpr double kLeastShare = 0.002; // of the kernels of a stage: less is not worth a factor

/// One rank: modelled × factor + fixed ≈ measured.
struct RankSample {
    int rank = 0, kernels = 0;
    double measured = 0, error = 0, modelled = 0, fixed = 0, total = 0;
    std::vector<double> steps;
    [[nodiscard]] double ratio() const { return (measured - fixed) / modelled; }
};

class KernelFactors {
public:
    explicit KernelFactors(CalibrationCase &of)
        : m_case(of)
        , m_isUnfused(!of.workload.stack.flashAttention)
    {
    }

    void add()
    {
        gather();
        for (const auto &[gpu, parts] : m_byGpu) {
            if (!areNamed(parts)) {
                m_case.note(
                    "Kernels of this run do not have the names of libraries: one factor of all computing stands for "
                    "products, attention and memory");
                propose(gpu, "Kernels", joined(parts), { kParts.begin(), kParts.end() });
                continue;
            }
            for (std::size_t part = 0; part < kKernelParts; ++part)
                if (!m_isUnfused)
                    propose(gpu, kNames[part], parts[part], { kParts[part] });
                else if (part != 1)
                    propose(gpu, kNames[part], parts[part],
                        part == 0 ? std::vector { kParts[0], kParts[1] } : std::vector { kParts[part] });
        }
        if (m_isUnfused && !m_byGpu.empty())
            m_case.note(
                "Attention of this stack is made of matrix products: the run does not tell the two apart, and they "
                "share one factor");
    }

private:
    using Parts = std::array<std::vector<RankSample>, kKernelParts>;

    /// False where nearly nothing is named as a product, though the plan computes little else.
    [[nodiscard]] static bool areNamed(const Parts &parts)
    {
        double products = 0, all = 0, modelled = 0, total = 0;
        for (std::size_t part = 0; part < kKernelParts; ++part)
            for (const RankSample &sample : parts[part]) {
                (part == 0 ? products : all) += sample.measured;
                (part == 0 ? modelled : total) += sample.modelled;
            }
        return products > kLeastNamed * (products + all) || modelled < kMostUnnamed * (modelled + total);
    }

    [[nodiscard]] static std::vector<RankSample> joined(const Parts &parts)
    {
        std::vector<RankSample> all = parts[0];
        for (std::size_t part = 1; part < kKernelParts; ++part)
            for (std::size_t i = 0; i < all.size(); ++i) {
                const RankSample &other = parts[part][i];
                all[i].measured += other.measured, all[i].modelled += other.modelled;
                all[i].fixed += other.fixed, all[i].kernels += other.kernels;
                all[i].error = std::hypot(all[i].error, other.error);
                for (std::size_t s = 0; s < all[i].steps.size(); ++s)
                    all[i].steps[s] += other.steps[s];
            }
        return all;
    }

    [[nodiscard]] const KernelSeconds &modelOf(const PipelineClass &pipelines, int stage)
    {
        const auto [known, isNew] = m_models.try_emplace({ &pipelines, stage });
        if (isNew)
            known->second = kernelSeconds(m_case.workload, pipelines, stage, m_case.recomputedOf(pipelines, stage));
        return known->second;
    }

    void gather()
    {
        for (const RankKernels &kernels :
            kernelSamples(m_case.run, m_case.fitted, m_case.likes(), m_case.options.stop)) {
            const int rank = m_case.run.recording->ranks[kernels.rank].rank;
            const PipelineClass *pipelines = classOf(m_case.workload, m_case.map, rank);
            if (!pipelines)
                continue;
            const int stage = m_case.map.placeOf(rank).stage;
            const KernelSeconds &model = modelOf(*pipelines, stage);
            if (!(model.total() > 0))
                continue;
            Parts &parts = m_byGpu[m_case.workload.gpu(pipelines->locations[std::size_t(stage)]).id];
            const std::array modelled { model.products, model.attention, model.memory };
            const std::array fixed { model.fixedProducts, 0.0, model.fixedMemory };
            for (int part = 0; part < kKernelParts; ++part)
                take(parts, part, kernels, rank, modelled, fixed, model.total());
        }
    }

    void take(Parts &parts, int part, const RankKernels &kernels, int rank, const std::array<double, 3> &modelled,
        const std::array<double, 3> &fixed, double total) const
    {
        RankSample sample { .rank = rank, .total = total, .steps = std::vector<double>(kernels.steps.size()) };
        for (const int of : { 0, 1, 2 }) {
            if ((m_isUnfused && of == 1 ? 0 : of) != part) // attention without a kernel of its own is products
                continue;
            const PartSeconds &own = kernels.parts[std::size_t(of)];
            sample.measured += own.seconds;
            sample.error = std::hypot(sample.error, own.error);
            sample.kernels += own.kernels;
            sample.modelled += modelled[std::size_t(of)];
            sample.fixed += fixed[std::size_t(of)];
            for (std::size_t s = 0; s < kernels.steps.size(); ++s)
                sample.steps[s] += kernels.steps[s][std::size_t(of)];
        }
        parts[std::size_t(part)].push_back(std::move(sample));
    }

    void propose(const std::string &gpu, const std::string &name, std::vector<RankSample> samples,
        const std::vector<CalibratedPart> &standsFor)
    {
        double modelled = 0, total = 0, measured = 0;
        for (const RankSample &sample : samples)
            modelled += sample.modelled, total += sample.total, measured += sample.measured;
        if (modelled < kLeastShare * total)
            return;
        std::erase_if(samples, [](const RankSample &sample) { return sample.measured <= sample.fixed; });
        if (samples.empty()) {
            m_case.note(measured > 0 ? name + " take less than the launch floors of the model: nothing is fitted"
                                     : "The run names no kernel as one of these: " + name + ", of which the plan has "
                        + percentText(modelled / total) + " of its computing");
            return;
        }
        leaveOut(samples, name);
        std::vector<RankValue> ratios;
        FittedFactor fitted;
        for (const RankSample &sample : samples) {
            ratios.push_back({ sample.ratio(), sample.error / sample.modelled });
            fitted.factor.samples += sample.kernels;
        }
        const auto [factor, error] = randomEffectsMean(ratios);
        setError(fitted.factor.standardError, error);
        fitted.factor.gpu = gpu;
        fitted.factor.factor = factor;
        std::vector<double> lines, seen, off;
        for (const RankSample &sample : samples)
            for (const double seconds : sample.steps) {
                const double line = sample.modelled * factor + sample.fixed;
                lines.push_back(line), seen.push_back(seconds);
                if (seconds > 0)
                    off.push_back(std::abs(seconds / line - 1));
            }
        fitted.factor.r2 = r2Of(lines, seen);
        fitted.residual = medianOf(std::move(off));
        const GpuSpec *spec = nullptr;
        for (const auto &pools : m_case.workload.gpus)
            for (const GpuSpec *known : pools)
                spec = known->id == gpu ? known : spec;
        fitted.sentence = name + " on " + (spec ? spec->name : gpu) + " take "
            + factorText(factor, fitted.factor.standardError.value_or(0)) + "; " + wholeText(fitted.factor.samples)
            + " kernels)";
        for (const CalibratedPart part : standsFor) {
            fitted.factor.what = part;
            fitted.id = std::string(toString(part)) + "-" + gpu;
            m_case.propose(fitted);
        }
    }

    void leaveOut(std::vector<RankSample> &samples, const std::string &name)
    {
        std::vector<double> ratios;
        for (const RankSample &sample : samples)
            ratios.push_back(sample.ratio());
        const double middle = medianOf(std::move(ratios));
        if (samples.size() < 4)
            return;
        const auto isOut = [&](const RankSample &sample) {
            return std::abs(sample.ratio() / middle - 1)
                > std::max(kFarOff, kFarOffErrors * sample.error / sample.measured);
        };
        const auto out = std::ranges::count_if(samples, isOut);
        if (kMostLeftOut * double(out) > double(samples.size()))
            return m_case.note(name + ": " + std::to_string(out) + " of " + std::to_string(samples.size())
                + " ranks lie far from the median of all, by their stage or by their GPU: no rank is left out");
        std::erase_if(samples, [&](const RankSample &sample) {
            if (isOut(sample))
                m_case.note(name + " of rank " + std::to_string(sample.rank) + " take "
                    + plainText(sample.ratio() / middle) + " × as long as those of its likes: it is left out");
            return isOut(sample);
        });
    }

    CalibrationCase &m_case;
    bool m_isUnfused;
    std::map<std::string, Parts> m_byGpu;
    std::map<std::pair<const PipelineClass *, int>, KernelSeconds> m_models;
};

} // namespace

void addKernelFactors(CalibrationCase &of)
{
    if (!of.workload.source.hasLayers) {
        of.note("The plan brings measured times of stages: kernels are not modelled, and nothing of them is fitted");
        return;
    }
    KernelFactors(of).add();
}

} // namespace trainyard
