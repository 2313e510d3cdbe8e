// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/curves.h"

#include "core/base/median.h"
#include "core/runs/overlay/curve_predictions.h"
#include "core/runs/overlay/sample_steps.h"
#include "core/runs/overlay/span_index.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace trainyard {

namespace {

using namespace samples;

struct Title {
    std::string_view name;
    const char *title, *unit;
};
/// In the order in which they are listed.
constexpr auto kTitles = std::to_array<Title>({
    { kStepTime, "Step time", "s" },
    { kTflopsPerGpu, "Model TFLOP/s per GPU", "TFLOP/s" },
    { kMfu, "MFU", "1" },
    { kTokensPerSecondPerGpu, "Tokens per second per GPU", "1/s" },
    { kSamplesPerSecond, "Sequences per second", "1/s" },
    { curves::kComputeShare, "Share of the step in which GPUs compute", "1" },
    { kMemoryAllocated, "Memory allocated", "B" },
    { kMemoryReserved, "Memory reserved", "B" },
    { kMemoryUsed, "Memory used", "B" },
    { kMemoryFree, "Memory free", "B" },
    { curves::kBusBandwidth, "Bus bandwidth of collectives", "B/s" },
    { kNvlinkOut, "NVLink out", "B/s" },
    { kNvlinkIn, "NVLink in", "B/s" },
    { kPcieToHost, "PCIe to host", "B/s" },
    { kPcieToGpu, "PCIe to GPU", "B/s" },
    { kNetworkOut, "Network out", "B/s" },
    { kNetworkIn, "Network in", "B/s" },
    { kPower, "Power per GPU", "W" },
    { kEnergyPerStep, "Energy per step and GPU", "J" },
    { kTemperature, "Temperature", "°C" },
    { kSmClock, "SM clock", "Hz" },
    { kGpuUtilization, "GPU utilization (some kernel runs)", "1" },
    { kTensorActive, "Tensor cores active", "1" },
    { kSmActive, "SMs active", "1" },
    { kDramActive, "Memory interface active", "1" },
    { kLoss, "Loss", "1" },
    { kGradNorm, "Gradient norm", "1" },
    { kLearningRate, "Learning rate", "1" },
    { kGlobalBatch, "Global batch", "1" },
    { kConsumedSamples, "Sequences so far", "1" },
});

std::string titleOf(std::string_view name)
{
    if (const auto known = std::ranges::find(kTitles, name, &Title::name); known != kTitles.end())
        return known->title;
    if (name.starts_with(kTimerPrefix))
        return "Timer " + std::string(name.substr(std::string_view(kTimerPrefix).size()));
    return std::string(name.starts_with("log.") ? name.substr(4) : name);
}

class CurveMaker {
public:
    explicit CurveMaker(const CurvesAsked &asked)
        : m_asked(asked)
        , m_recording(*asked.run->recording)
        , m_samples(*asked.run)
    {
    }

    CurvesMade make()
    {
        addStepTimes();
        for (const SampleSeries &series : m_recording.series)
            if (series.isByStep && !series.at.empty())
                addByStep(series);
        addDerived();
        addShares();
        addBandwidths();
        addOverTime();
        const auto key = [](const RunCurve &curve) {
            const auto known = std::ranges::find(kTitles, std::string_view(curve.name), &Title::name);
            return std::tuple(!curve.where.empty(), known - kTitles.begin(), std::string_view(curve.name));
        };
        std::ranges::stable_sort(m_made.curves, [&](const RunCurve &a, const RunCurve &b) { return key(a) < key(b); });
        return std::move(m_made);
    }

private:
    RunCurve &add(const std::string &name, std::string unit, std::string where, int rank = -1)
    {
        RunCurve &curve = m_made.curves.emplace_back();
        curve.name = name;
        curve.title = titleOf(name);
        curve.unit = std::move(unit);
        curve.where = std::move(where);
        curve.predicted = predictedOf(m_asked, name, rank);
        if (curve.where.empty())
            m_told.insert(name);
        return curve;
    }

    void addStepTimes()
    {
        if (m_asked.run->steps.empty())
            return;
        RunCurve &curve = add(kStepTime, "s", "");
        for (const RunStep &step : m_asked.run->steps) {
            curve.step.push_back(static_cast<double>(step.number));
            curve.value.push_back(step.seconds);
        }
    }

    void addByStep(const SampleSeries &series)
    {
        std::string where = series.where;
        if (series.rank >= 0)
            where = "rank " + std::to_string(series.rank) + (where.empty() ? "" : ", " + where);
        if (where.empty() && m_told.contains(series.name)) { // another source tells it too
            if (series.name == kStepTime && m_asked.run->steps.size() >= series.at.size())
                return;
            where = series.source < m_recording.sources.size() ? m_recording.sources[series.source].file : "again";
        }
        RunCurve &curve = add(series.name, series.unit, std::move(where), series.rank);
        const std::size_t size = std::min(series.at.size(), series.value.size());
        curve.step.assign(series.at.begin(), series.at.begin() + static_cast<std::ptrdiff_t>(size));
        curve.value.assign(series.value.begin(), series.value.begin() + static_cast<std::ptrdiff_t>(size));
    }

    /// Rates by the step times, of those that the run does not tell.
    void addDerived()
    {
        const StepWork work = workOf(m_asked);
        bool isAnyMade = false;
        const auto derive = [&](const char *name, const char *unit, double ofSequence) {
            if (ofSequence <= 0 || m_told.contains(name))
                return;
            RunCurve rates;
            for (const RunStep &step : m_asked.run->steps)
                if (const double sequences = work.samplesOf(step.number); step.seconds > 0 && sequences > 0) {
                    rates.step.push_back(static_cast<double>(step.number));
                    rates.value.push_back(sequences * ofSequence / step.seconds);
                }
            if (rates.step.empty())
                return;
            take(add(name, unit, ""), rates);
            isAnyMade = true;
        };
        derive(kTflopsPerGpu, "TFLOP/s", work.tflops);
        derive(kMfu, "1", work.mfu);
        derive(kTokensPerSecondPerGpu, "1/s", work.tokens);
        derive(kSamplesPerSecond, "1/s", 1);
        if (isAnyMade)
            m_made.notes.push_back(work.isOfPlan
                    ? "Rates that the run does not tell are computed from its step times, with the work of the plan's "
                      "model"
                    : "Rates that the run does not tell are computed from its step times, by the batch that it tells");
    }

    void addShares()
    {
        RunCurve curve;
        for (const RunStep &step : m_asked.run->steps) {
            const std::vector<RankStep> shares = sharesOf(*m_asked.run, step);
            double sum = 0;
            for (const RankStep &one : shares)
                sum += one.shares.compute / one.shares.total();
            if (shares.empty())
                continue;
            curve.step.push_back(static_cast<double>(step.number));
            curve.value.push_back(sum / static_cast<double>(shares.size()));
        }
        if (!curve.step.empty())
            take(add(curves::kComputeShare, "1", ""), curve);
    }

    /// Of all bytes on the wire over the seconds that they took.
    void addBandwidths()
    {
        RunCurve curve;
        struct Sum {
            double wire = 0, seconds = 0;
        };
        std::map<std::int64_t, Sum> sums;
        for (const MatchedCollective &one : m_asked.run->collectives) {
            const MatchedCollective::Part &part = one.parts.front();
            const std::vector<Moment> &shifts = m_asked.run->clockShift; // steps are on the job's clock
            const RunStep *step = m_samples.stepAt(m_recording.ranks[part.rank].collectives[part.collective].start
                + (part.rank < shifts.size() ? shifts[part.rank] : 0));
            if (!step || one.bytes <= 0 || one.leastDuration <= 0)
                continue;
            Sum &sum = sums[step->number];
            sum.wire += one.bytes * busFactor(m_recording.names[one.operation], one.groupRanks);
            sum.seconds += static_cast<double>(one.leastDuration) * 1e-9;
        }
        for (const auto &[number, sum] : sums) {
            curve.step.push_back(static_cast<double>(number));
            curve.value.push_back(sum.wire / sum.seconds);
        }
        if (!curve.step.empty())
            take(add(curves::kBusBandwidth, "B/s", ""), curve);
    }

    /// Samples of GPUs, hosts and links, and the mean over all of these.
    void addOverTime()
    {
        struct Mean {
            std::string unit;
            std::map<double, std::pair<double, int>> sums; // by step
            int places = 0;
        };
        std::map<std::string, Mean> means;
        bool isAnyOutside = false;
        for (const SampleSeries &series : m_recording.series) {
            if (series.isByStep || series.at.empty() || series.name == kStepEnded)
                continue;
            const SampleCurve sampled = m_samples.curveOf(series);
            isAnyOutside |= sampled.isOverTime && !m_asked.run->steps.empty();
            std::string where = series.where;
            if (series.rank >= 0)
                where = "rank " + std::to_string(series.rank) + (where.empty() ? "" : ", " + where);
            if (!where.empty() && !sampled.isOverTime && !m_told.contains(series.name)) {
                Mean &mean = means[series.name];
                mean.unit = series.unit;
                ++mean.places;
                for (std::size_t i = 0; i < sampled.step.size(); ++i)
                    if (std::isfinite(sampled.value[i])) {
                        auto &[sum, count] = mean.sums[sampled.step[i]];
                        sum += sampled.value[i];
                        ++count;
                    }
            }
            RunCurve &curve = add(series.name, series.unit, std::move(where), series.rank);
            curve.step = sampled.step;
            curve.value = sampled.value;
            curve.isOverTime = sampled.isOverTime;
        }
        for (const auto &[name, mean] : means) {
            RunCurve &curve = add(name, mean.unit, "");
            if (mean.places > 1)
                curve.title += ", mean of " + std::to_string(mean.places);
            for (const auto &[step, sum] : mean.sums) {
                curve.step.push_back(step);
                curve.value.push_back(sum.first / sum.second);
            }
        }
        if (isAnyOutside)
            m_made.notes.push_back("Samples that were taken at other times than the steps', or by a clock that is not "
                                   "known, are shown over their own time");
    }

    static void take(RunCurve &curve, RunCurve &from)
    {
        curve.step = std::move(from.step);
        curve.value = std::move(from.value);
    }

    const CurvesAsked &m_asked;
    const Recording &m_recording;
    SampleSteps m_samples;
    std::set<std::string> m_told; // names of curves of the job
    CurvesMade m_made;
};

} // namespace

CurvesMade curvesOf(const CurvesAsked &asked)
{
    return CurveMaker(asked).make();
}

void compareCurves(std::vector<RunCurve> &curves, const std::vector<RunCurve> &reference)
{
    for (RunCurve &curve : curves) {
        curve.predicted.reset();
        const auto same = std::ranges::find_if(reference, [&](const RunCurve &other) {
            return other.name == curve.name && other.where == curve.where && other.unit == curve.unit;
        });
        std::vector<double> values;
        if (same != reference.end())
            std::ranges::copy_if(same->value, std::back_inserter(values), [](double v) { return std::isfinite(v); });
        if (values.empty())
            continue;
        curve.predicted = medianOf(std::move(values));
    }
}

} // namespace trainyard
