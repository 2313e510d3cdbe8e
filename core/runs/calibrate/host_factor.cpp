// SPDX-License-Identifier: GPL-3.0-or-later
// Host: the gaps in which a rank waited for it, by their place in the step, against what the model says of its stage.
#include "core/base/median.h"
#include "core/base/number_text.h"
#include "core/iteration/cost/kernel_seconds.h"
#include "core/runs/calibrate/calibration_case_internal.h"
#include "core/runs/calibrate/collective_samples.h"
#include "core/runs/calibrate/place_samples.h"
#include "core/runs/calibrate/random_effects_mean.h"
#include "core/runs/calibrate/robust_fit.h"
#include "core/runs/overlay/host_gaps.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

constexpr double kLeastHost = 1e-4; // of a step: less than that is no host time to fit
constexpr double kFirst = 1.0 / 64, kLast = 64; // factors of the host that are looked for
constexpr int kHalvings = 40;

/// Time that the host takes of a stage by its factor: it only grows.
class HostCurve {
public:
    HostCurve(const CalibrationCase &of, const PipelineClass &pipelines, int stage)
    {
        for (double factor = kFirst; factor <= kLast * 1.0001; factor *= std::sqrt(2.0))
            m_points.emplace_back(
                factor, hostSeconds(of.workload, pipelines, stage, factor, of.recomputedOf(pipelines, stage)));
    }
    [[nodiscard]] double seconds(double factor) const
    {
        const auto next = std::ranges::lower_bound(m_points, factor, {}, &std::pair<double, double>::first);
        if (next == m_points.begin())
            return next->second;
        if (next == m_points.end())
            return m_points.back().second;
        const auto &[a, atA] = *(next - 1);
        return atA + (next->second - atA) * (factor - a) / (next->first - a);
    }
    [[nodiscard]] std::optional<double> factorOf(double seconds_) const
    {
        if (seconds_ <= m_points.front().second || seconds_ >= m_points.back().second)
            return std::nullopt;
        double low = kFirst, high = kLast;
        for (int i = 0; i < kHalvings; ++i) {
            const double middle = std::sqrt(low * high);
            (seconds(middle) < seconds_ ? low : high) = middle;
        }
        return std::sqrt(low * high);
    }

private:
    std::vector<std::pair<double, double>> m_points;
};

/// What a rank waits for its host.
struct RankGaps {
    int rank = 0, like = -1; // of the job; of ranks with the same work the same
    PlaceDurations gaps;
    std::vector<double> steps; // sums
    std::vector<StepPlace> places;
    double seconds = 0, variance = 0; // of a step
};

struct RankFactor {
    int rank = 0;
    RankValue factor;
};

class HostFactor {
public:
    explicit HostFactor(CalibrationCase &of)
        : m_case(of)
    {
    }

    void add()
    {
        gather();
        settle();
        std::vector<RankFactor> factors = compared();
        if (factors.size() <= m_outside || factors.empty()) {
            m_case.note(m_outside > 0
                    ? "What the ranks wait for their hosts is far from what the plan can be: no factor of the "
                      "host explains it"
                    : "The plan has no time of the host that shows, or the run no gaps: nothing is said of hosts");
            return;
        }
        if (m_outside > 0)
            m_case.note("Of " + wholeText(double(m_outside)) + (m_outside == 1 ? " rank" : " ranks")
                + " no factor of the host explains the gaps: left out");
        leaveOut(factors);
        propose(factors);
    }

private:
    [[nodiscard]] const HostCurve *curveOf(int rank)
    {
        const PipelineClass *pipelines = classOf(m_case.workload, m_case.map, rank);
        if (!pipelines)
            return nullptr;
        const int stage = m_case.map.placeOf(rank).stage;
        auto known = m_curves.find({ pipelines, stage });
        if (known == m_curves.end())
            known = m_curves.emplace(std::pair(pipelines, stage), HostCurve(m_case, *pipelines, stage)).first;
        return &known->second;
    }

    void gather()
    {
        const std::vector<int> likes = m_case.likes();
        for (const int index : m_case.fitted) {
            // Nothing runs behind the last step, so that the gap at its end is not seen.
            if (m_case.fitted.size() > 1 && std::size_t(index) + 1 == m_case.run.steps.size())
                continue;
            // Of each rank within its own window: the job's step reaches over gaps that belong to its next one.
            for (const RankWindow &window : m_case.run.steps[std::size_t(index)].ranks) {
                const int rank = m_case.run.recording->ranks[window.rank].rank;
                const HostCurve *curve = curveOf(rank);
                if (!curve || curve->seconds(1) < kLeastHost * m_case.run.steps[std::size_t(index)].seconds)
                    continue;
                RankGaps &own = m_ranks[window.rank];
                own.rank = rank, own.like = likes[window.rank];
                double &sum = own.steps.emplace_back(0);
                for (const HostGap &gap : hostGapsOf(m_case.run, window, m_case.map.stages())) {
                    own.gaps[{ gap.stream, gap.name }].push_back(
                        { static_cast<std::uint32_t>(own.steps.size() - 1), gap.seconds });
                    sum += gap.seconds;
                }
            }
        }
    }

    /// A host's noise is that of all of them: a rank alone has few gaps.
    void settle()
    {
        std::vector<StepPlace> all;
        PeerRanks known;
        for (auto &[index, own] : m_ranks) {
            own.places = placesOf(own.gaps, int(own.steps.size()), [](std::uint32_t) { return 0; });
            known.add(own.like, own.places);
            all.insert(all.end(), own.places.begin(), own.places.end());
        }
        const double spread = spreadOf(all);
        PlaceNoise noise;
        std::map<std::uint32_t, std::vector<PlaceLocation>> locations;
        for (const auto &[index, own] : m_ranks) {
            locations[index] = locationsOf(own.places, known.startsOf(own.like, own.places), spread);
            for (const PlaceLocation &location : locations[index])
                noise.add(location);
        }
        for (auto &[index, own] : m_ranks)
            for (const PlaceLocation &location : locations[index]) {
                const TypicalSeconds typical = typicalOf(location, noise);
                own.seconds += typical.seconds;
                own.variance += noise.variance() > 0 ? typical.variance : 0;
            }
    }

    [[nodiscard]] std::vector<RankFactor> compared()
    {
        std::vector<RankFactor> factors;
        for (auto &[index, own] : m_ranks) {
            const HostCurve &curve = *curveOf(own.rank);
            const double error = std::sqrt(own.variance);
            const auto factor = curve.factorOf(own.seconds);
            const auto more = curve.factorOf(own.seconds + error), less = curve.factorOf(own.seconds - error);
            if (factor)
                factors.push_back({ own.rank, { *factor, more && less ? (*more - *less) / 2 : 0 } });
            else
                ++m_outside;
        }
        return factors;
    }

    void leaveOut(std::vector<RankFactor> &factors)
    {
        if (factors.size() < 4)
            return;
        std::vector<double> values;
        for (const RankFactor &one : factors)
            values.push_back(one.factor.value);
        const double middle = medianOf(std::move(values));
        const auto isOut = [&](const RankFactor &one) {
            return std::abs(one.factor.value / middle - 1)
                > std::max(kFarOff, kFarOffErrors * one.factor.error / middle);
        };
        // Where many are off there are two kinds of hosts, not a slow one.
        if (kMostLeftOut * double(std::ranges::count_if(factors, isOut)) > double(factors.size()))
            return;
        std::erase_if(factors, [&](const RankFactor &one) {
            if (isOut(one))
                m_case.note("The host of rank " + std::to_string(one.rank) + " takes "
                    + plainText(one.factor.value / middle) + " × as long as those of others: it is left out");
            return isOut(one);
        });
    }

    /// By the errors of the ranks; where one step alone tells none, by how the ranks differ.
    [[nodiscard]] static RankValue meanOf(const std::vector<RankFactor> &factors)
    {
        std::vector<RankValue> values;
        std::vector<double> ones(factors.size(), 1.0), plain;
        for (const RankFactor &one : factors)
            values.push_back(one.factor), plain.push_back(one.factor.value);
        RankValue mean = randomEffectsMean(values);
        if (!(mean.error > 0))
            if (const auto fit = fitRatio(ones, plain))
                mean = { fit->factor, fit->standardError };
        return mean;
    }

    void propose(const std::vector<RankFactor> &factors)
    {
        const auto [factor, error] = meanOf(factors);
        FittedFactor fitted { .id = "host" };
        fitted.factor.what = CalibratedPart::Host;
        fitted.factor.factor = factor;
        setError(fitted.factor.standardError, error);
        std::vector<double> lines, measured, off;
        for (const auto &[index, own] : m_ranks) {
            if (std::ranges::find(factors, own.rank, &RankFactor::rank) == factors.end())
                continue;
            const double line = curveOf(own.rank)->seconds(factor);
            for (const double seconds : own.steps) {
                lines.push_back(line), measured.push_back(seconds);
                off.push_back(std::abs(seconds / line - 1));
                ++fitted.factor.samples;
            }
        }
        fitted.factor.r2 = r2Of(lines, measured);
        fitted.residual = medianOf(std::move(off));
        fitted.sentence = "The host takes " + factorText(factor, error) + "; gaps of "
            + wholeText(fitted.factor.samples) + " steps of a rank)";
        m_case.propose(std::move(fitted));
    }

    CalibrationCase &m_case;
    std::map<std::pair<const PipelineClass *, int>, HostCurve> m_curves;
    std::map<std::uint32_t, RankGaps> m_ranks; // of Recording::ranks
    std::size_t m_outside = 0; // ranks that no factor explains
};

} // namespace

void addHostFactor(CalibrationCase &of)
{
    if (of.workload.source.hasLayers)
        HostFactor(of).add();
}

} // namespace trainyard
