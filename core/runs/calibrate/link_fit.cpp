// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/calibrate/link_fit.h"

#include "core/base/median.h"
#include "core/runs/calibrate/fit_internal.h"
#include "core/runs/calibrate/robust_fit.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kTellsApart = 8; // largest over least volume from which latency and bandwidth are told apart
constexpr int kLinkRounds = 12;

class Fitter {
public:
    Fitter(const std::vector<CollectiveSample> &samples, const Link &inside, const Link &between, bool isBetween,
        const std::stop_token &stop)
        : m_inside(inside)
        , m_between(between)
        , m_isBetween(isBetween)
        , m_stop(stop)
    {
        for (const CollectiveSample &sample : samples)
            if (sample.seconds > 0 && modelledSeconds(sample, inside, between))
                m_samples.push_back(sample);
    }

    Expected<LinkFit> fit()
    {
        if (m_samples.size() < 3)
            return unusable(std::to_string(m_samples.size()) + " collectives that the model knows", "at least 3");
        m_kind = *asked().kind;
        m_kind.rampUs = 0;
        m_rate = asked().bandwidth.value * m_kind.fraction;
        layOut();
        const auto [least, most] = std::ranges::minmax(m_volume);
        return least > 0 && most < kTellsApart * least ? ratio() : line();
    }

private:
    [[nodiscard]] const Link &asked() const { return m_isBetween ? m_between : m_inside; }
    [[nodiscard]] double seconds(const CollectiveSample &sample, const Link &link) const
    {
        return *modelledSeconds(sample, m_isBetween ? m_inside : link, m_isBetween ? link : m_between);
    }
    [[nodiscard]] Link linkOf(const LinkClass &kind, double rate) const
    {
        return { BytesPerSecond { rate / kind.fraction }, &kind };
    }

    /// Of each sample: how its time depends on the start and on the bandwidth, and what does not.
    void layOut()
    {
        constexpr double kUs = 1e-3, kPart = 1e-6;
        m_starts.clear(), m_volume.clear(), m_rest.clear(), m_whole.clear();
        LinkClass later = m_kind;
        later.startUs += kUs;
        for (const CollectiveSample &sample : m_samples) {
            const double whole = seconds(sample, linkOf(m_kind, m_rate));
            const double starts = (seconds(sample, linkOf(later, m_rate)) - whole) / (kUs * 1e-6);
            const double bandwidth = (seconds(sample, linkOf(m_kind, m_rate / (1 + kPart))) - whole) / kPart;
            m_whole.push_back(whole);
            m_starts.push_back(starts);
            m_volume.push_back(bandwidth * m_rate);
            m_rest.push_back(whole - starts * m_kind.startUs * 1e-6 - bandwidth);
        }
    }

    /// seconds - rest = starts × latency + volume / bandwidth, with errors proportional to the whole time. Without
    /// latency: it is the class's. Near the line logarithms are looked at, log(y / whole) ≈ (y' - whole) / whole: noise
    /// that makes times longer by factors is symmetric there.
    [[nodiscard]] Expected<LinearFit> solve(bool hasLatency, bool isNear) const
    {
        std::vector<double> rows, y;
        for (std::size_t i = 0; i < m_samples.size(); ++i) {
            if (hasLatency)
                rows.push_back(m_starts[i]);
            rows.push_back(m_volume[i] * 1e-3); // in us, by bandwidth in GB/s
            const double took =
                isNear ? m_whole[i] * (1 + std::log(m_samples[i].seconds / m_whole[i])) : m_samples[i].seconds;
            y.push_back((took - m_rest[i]) * 1e6 - (hasLatency ? 0 : m_starts[i] * asked().kind->startUs));
        }
        return robustFit(rows, y, hasLatency ? 2 : 1, m_whole, m_stop);
    }

    Expected<LinkFit> line()
    {
        LinkFit result;
        for (int round = 0; round < kLinkRounds; ++round) {
            auto fit = solve(true, round > 0);
            if (!fit && fit.error().code == ErrorCode::Cancelled)
                return std::unexpected(fit.error());
            const bool hasLatency = fit && fit->coefficients[0] >= 0;
            if (!hasLatency)
                fit = solve(false, round > 0);
            if (!fit)
                return std::unexpected(fit.error());
            const double slope = fit->coefficients.back();
            if (!(slope > 0))
                return unusable("times that do not grow with the size", "collectives of several sizes");
            const double latency = hasLatency ? fit->coefficients[0] : asked().kind->startUs;
            const bool rests = std::abs(latency - m_kind.startUs) < 1e-9 * (latency + 1e-6)
                && std::abs(1e9 / slope / m_rate - 1) < 1e-9;
            m_kind.startUs = latency;
            m_rate = 1e9 / slope;
            result = { .latencyUs = hasLatency ? std::optional(latency) : std::nullopt,
                .gbytesPerS = 1 / slope,
                .factor = {},
                .latencyError = hasLatency ? fit->standardErrors[0] : 0,
                .error = fit->standardErrors.back() / (slope * slope),
                .r2 = fit->r2,
                .samples = fit->samples,
                .outliers = fit->outliers };
            if (rests)
                break;
            layOut();
        }
        result.residual = residual(linkOf(m_kind, m_rate));
        return result;
    }

    /// All sizes alike: the time over the modelled, of what this link takes of it.
    Expected<LinkFit> ratio()
    {
        LinkClass none;
        none.startUs = none.stepUs = none.rampUs = none.ringStepUs = 0;
        std::vector<double> modelled, measured;
        for (const CollectiveSample &sample : m_samples) {
            const double others = seconds(sample, { BytesPerSecond { 1e30 }, &none });
            const double own = seconds(sample, asked()) - others;
            if (own > 0 && sample.seconds > others) {
                modelled.push_back(own);
                measured.push_back(sample.seconds - others);
            }
        }
        if (modelled.size() < 3)
            return unusable("collectives that are shorter than what other links take of them", "larger messages");
        const auto fit = fitRatio(modelled, measured, m_stop);
        if (!fit)
            return std::unexpected(fit.error());
        return LinkFit { .latencyUs = {},
            .gbytesPerS = {},
            .factor = fit->factor,
            .error = fit->standardError,
            .r2 = {},
            .residual = fit->residual,
            .samples = fit->samples };
    }

    [[nodiscard]] double residual(const Link &link) const
    {
        std::vector<double> off;
        for (const CollectiveSample &sample : m_samples)
            off.push_back(std::abs(sample.seconds / seconds(sample, link) - 1));
        return medianOf(std::move(off));
    }

    const Link m_inside, m_between;
    bool m_isBetween;
    const std::stop_token m_stop;
    std::vector<CollectiveSample> m_samples;
    LinkClass m_kind;
    double m_rate = 0; // B/s that large messages reach
    std::vector<double> m_starts, m_volume, m_rest, m_whole; // of each sample
};

} // namespace

std::optional<double> modelledSeconds(const CollectiveSample &sample, const Link &inside, const Link &between)
{
    const RankGroup group { sample.ranks, sample.ranksPerNode, inside, between };
    const Bytes size { sample.bytes };
    if (sample.operation == "all_reduce")
        return allReduceTime(size, group).value;
    if (sample.operation == "all_gather")
        return allGatherTime(size, group).value;
    if (sample.operation == "reduce_scatter")
        return reduceScatterTime(size, group).value;
    if (sample.operation == "all_to_all")
        return allToAllTime(size, group).value;
    if (sample.operation.starts_with("send") && sample.ranks == 2)
        return transferTime(size, 0, sample.isInNode() ? inside : between).value;
    return std::nullopt;
}

Expected<LinkFit> fitLink(const std::vector<CollectiveSample> &samples, const Link &inside, const Link &between,
    bool isBetween, const std::stop_token &stop)
{
    return Fitter(samples, inside, between, isBetween, stop).fit();
}

} // namespace trainyard
