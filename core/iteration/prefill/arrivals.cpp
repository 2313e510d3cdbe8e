// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/arrivals.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace trainyard {

namespace {

/// Exponential times; written out because the standard library leaves the numbers of its distributions open.
class Exponential {
public:
    explicit Exponential(int seed)
        : m_engine(std::uint64_t(seed))
    {
    }
    double operator()(double mean) { return -mean * std::log1p(-uniform()); }
    double uniform() { return double(m_engine() >> 11) * 0x1p-53; } // [0, 1)

private:
    std::mt19937_64 m_engine;
};

void addPoisson(
    std::vector<PrefillRequest> &requests, Exponential &random, double from, double to, double rate, int tokens)
{
    for (double t = from + random(1 / rate); t < to; t += random(1 / rate))
        requests.push_back({ toNanoseconds(Seconds { t }), tokens });
}

void addBursts(
    std::vector<PrefillRequest> &requests, Exponential &random, double seconds, double meanRate, const BubbleFill &fill)
{
    const double rate = meanRate * fill.burstiness;
    const double on = kRequestsOfBurst / rate, off = on * (fill.burstiness - 1);
    bool isOn = random.uniform() * fill.burstiness < 1; // as found at any time
    for (double t = 0; t < seconds; isOn = !isOn) {
        const double end = t + random(isOn ? on : off);
        if (isOn)
            addPoisson(requests, random, t, std::min(end, seconds), rate, fill.promptTokens);
        t = end;
    }
}

std::size_t countInside(const std::vector<PrefillRequest> &trace, Nanoseconds period)
{
    return std::size_t(std::ranges::count_if(trace, [&](const PrefillRequest &r) { return r.arrival < period; }));
}

void addTrace(std::vector<PrefillRequest> &requests, Nanoseconds period, const std::vector<PrefillRequest> &trace)
{
    const double share =
        std::min(1.0, kMostPrefillRequests / double(std::max<std::size_t>(1, countInside(trace, period))));
    double wanted = 0;
    for (const PrefillRequest &request : trace) {
        if (request.arrival >= period)
            continue;
        wanted += share;
        if (double(requests.size()) + 0.5 < wanted)
            requests.push_back(request);
    }
}

} // namespace

double meanRequests(const BubbleFill &fill, Nanoseconds period)
{
    return fill.requestsPerSecond * toSeconds(period).value;
}

std::int64_t requestsOfIteration(
    const BubbleFill &fill, Nanoseconds period, const std::vector<PrefillRequest> &trace, std::size_t placed)
{
    if (fill.arrivals == Arrivals::Trace)
        return std::int64_t(countInside(trace, period));
    const double mean = meanRequests(fill, period);
    return mean > kMostPrefillRequests
        ? std::max(std::int64_t(placed), std::int64_t(std::llround(std::min(mean, 9e18))))
        : std::int64_t(placed);
}

std::vector<PrefillRequest> arrivals(
    const BubbleFill &fill, Nanoseconds period, const std::vector<PrefillRequest> &trace)
{
    std::vector<PrefillRequest> requests;
    const double seconds = toSeconds(period).value;
    const double rate = seconds > 0 ? std::min(fill.requestsPerSecond, kMostPrefillRequests / seconds) : 0;
    Exponential random(fill.seed);
    if (fill.arrivals == Arrivals::Trace) {
        addTrace(requests, period, trace);
    } else if (rate <= 0) {
        return requests;
    } else if (fill.arrivals == Arrivals::Constant) {
        for (double i = 0; i / rate < seconds; ++i)
            requests.push_back({ toNanoseconds(Seconds { i / rate }), fill.promptTokens });
    } else if (fill.arrivals == Arrivals::Poisson || fill.burstiness <= 1) {
        addPoisson(requests, random, 0, seconds, rate, fill.promptTokens);
    } else {
        addBursts(requests, random, seconds, rate, fill);
    }
    std::ranges::stable_sort(requests, {}, &PrefillRequest::arrival);
    while (!requests.empty() && requests.back().arrival >= period) // rounded up to its end
        requests.pop_back();
    return requests;
}

std::vector<BubbleFill> servedFills(const BubbleFill &fill)
{
    std::vector<BubbleFill> fills { fill };
    for (const ServedModel &served : fill.served) {
        BubbleFill &own = fills.emplace_back(fill);
        own.model = served.model;
        own.requestsPerSecond = served.requestsPerSecond;
        own.promptTokens = served.promptTokens;
        own.seed = int((std::int64_t(fill.seed) + std::int64_t(fills.size()) - 1) % 2'000'000'000);
        if (fill.arrivals == Arrivals::Trace)
            own.arrivals = Arrivals::Poisson;
    }
    for (BubbleFill &own : fills)
        own.served.clear();
    return fills;
}

std::vector<PrefillRequest> allArrivals(
    const BubbleFill &fill, Nanoseconds period, const std::vector<PrefillRequest> &trace)
{
    std::vector<PrefillRequest> all;
    const std::vector<BubbleFill> fills = servedFills(fill);
    for (std::size_t model = 0; model < fills.size(); ++model) {
        for (PrefillRequest request : arrivals(fills[model], period, trace)) {
            request.model = int(model);
            all.push_back(request);
        }
    }
    std::ranges::stable_sort(all, {}, &PrefillRequest::arrival);
    return all;
}

} // namespace trainyard
