// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prefill/arrivals.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace trainyard {

namespace {

/// Exponential times; written out because the standard library leaves the numbers of its distributions open.
class Exponential {
public:
    explicit Exponential(int seed) : m_engine(std::uint64_t(seed)) {}
    double operator()(double mean) { return -mean * std::log1p(-uniform()); }
    double uniform() { return double(m_engine() >> 11) * 0x1p-53; }   // [0, 1)

private:
    std::mt19937_64 m_engine;
};

void addPoisson(std::vector<PrefillRequest> &requests, Exponential &random, double from, double to, double rate, int tokens)
{
    for (double t = from + random(1 / rate); t < to; t += random(1 / rate))
        requests.push_back({toNanoseconds(Seconds{t}), tokens});
}

void addBursts(std::vector<PrefillRequest> &requests, Exponential &random, double seconds, const BubbleFill &fill)
{
    const double rate = fill.requestsPerSecond * fill.burstiness;
    const double on = kRequestsOfBurst / rate, off = on * (fill.burstiness - 1);
    bool isOn = random.uniform() * fill.burstiness < 1;   // as found at any time
    for (double t = 0; t < seconds; isOn = !isOn) {
        const double end = t + random(isOn ? on : off);
        if (isOn)
            addPoisson(requests, random, t, std::min(end, seconds), rate, fill.promptTokens);
        t = end;
    }
}

} // namespace

double meanRequests(const BubbleFill &fill, Nanoseconds period)
{
    return fill.requestsPerSecond * toSeconds(period).value;
}

std::vector<PrefillRequest> arrivals(const BubbleFill &fill, Nanoseconds period, const std::vector<PrefillRequest> &trace)
{
    std::vector<PrefillRequest> requests;
    const double seconds = toSeconds(period).value;
    Exponential random(fill.seed);
    if (fill.arrivals == Arrivals::Trace) {
        std::ranges::copy_if(trace, std::back_inserter(requests), [&](const PrefillRequest &r) { return r.arrival < period; });
    } else if (fill.requestsPerSecond <= 0) {
        return requests;
    } else if (fill.arrivals == Arrivals::Constant) {
        for (double i = 0; i / fill.requestsPerSecond < seconds; ++i)
            requests.push_back({toNanoseconds(Seconds{i / fill.requestsPerSecond}), fill.promptTokens});
    } else if (fill.arrivals == Arrivals::Poisson || fill.burstiness <= 1) {
        addPoisson(requests, random, 0, seconds, fill.requestsPerSecond, fill.promptTokens);
    } else {
        addBursts(requests, random, seconds, fill);
    }
    std::ranges::stable_sort(requests, {}, &PrefillRequest::arrival);
    while (!requests.empty() && requests.back().arrival >= period)   // rounded up to its end
        requests.pop_back();
    return requests;
}

} // namespace trainyard
