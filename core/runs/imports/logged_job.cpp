// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/imports/logged_job.h"

#include "core/base/number_text.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <cmath>

namespace trainyard::imports {

namespace {

constexpr double kWhole = 0.005; // how far from a whole number
constexpr double kMostTokens = 1e8;

std::optional<double> lastOf(const Recording &recording, std::uint32_t source, std::string_view name)
{
    const auto at = std::ranges::find_if(recording.series, [&](const SampleSeries &series) {
        return series.name == name && series.source == source && series.isByStep && series.rank < 0
            && !series.value.empty() && series.value.back() > 0 && series.value.back() < 1e18;
    });
    return at == recording.series.end() ? std::nullopt : std::optional(at->value.back());
}

std::optional<double> wholeOf(double value, double most)
{
    const double whole = std::round(value);
    const bool isWhole = whole >= 1 && whole <= most && std::abs(value - whole) <= kWhole * std::min(whole, 100.0);
    return isWhole ? std::optional(whole) : std::nullopt;
}

} // namespace

LoggedJob loggedJob(const Recording &recording)
{
    LoggedJob job;
    for (const SampleSeries &series : recording.series) {
        if (series.name != "log.actual_seqlen" && series.name != "log.consumed_tokens")
            continue;
        const std::uint32_t source = series.source;
        const auto of = [&](std::string_view name) { return lastOf(recording, source, name); };
        std::optional<double> length = of("log.actual_seqlen");
        std::string why = "the log's actual_seqlen";
        const auto tokens = of("log.consumed_tokens"), sequences = of(samples::kConsumedSamples);
        if (!length && tokens && sequences) {
            length = wholeOf(*tokens / *sequences, kMostTokens);
            why = "the tokens that the log counts over its sequences";
        }
        if (length)
            length = wholeOf(*length, kMostTokens);
        if (!length)
            continue;
        job.source = source;
        job.arguments.push_back({ "seq_length", std::to_string(std::llround(*length)), why });
        const auto all = of(samples::kSamplesPerSecond), own = of(samples::kTokensPerSecondPerGpu);
        const auto gpus = all && own ? wholeOf(*all * *length / *own, kMostGpus) : std::nullopt;
        if (gpus)
            job.arguments.push_back({ "world_size", std::to_string(std::llround(*gpus)),
                "the log's rates: " + plainText(*all) + " sequences × " + wholeText(*length) + " tokens / "
                    + plainText(*own) + " tokens of a GPU, a second" });
        break;
    }
    return job;
}

} // namespace trainyard::imports
