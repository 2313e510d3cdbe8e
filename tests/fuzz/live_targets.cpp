// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/live_targets.h"

#include "core/live/decoder.h"
#include "core/live/stream_lines.h"
#include "tests/core/live/decoding.h"
#include "tests/core/live/told_run.h"
#include "tests/core/runs/telemetry/random_recording.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/live_checks.h"
#include "tests/fuzz/live_script.h"
#include "tests/fuzz/net_target.h"
#include "tests/fuzz/seeds.h"

#include <functional>
#include <random>

namespace trainyard::fuzz {

namespace {

using live::Decoder;
using live::testing::Joined;

constexpr Moment kReceived = 1'760'000'000'000'000'000;

live::DecoderLimits tightDecoder()
{
    live::DecoderLimits limits;
    limits.lineBytes = 4'096;
    limits.names = 64;
    limits.ranks = limits.groups = 16;
    limits.batchEvents = 50;
    return limits;
}

struct Told {
    Joined joined;
    std::string error, fault;
};

/// Through a decoder into a store, cut at random or whole.
Told tell(Decoder &decoder, const std::string &input, bool isCut)
{
    Told told;
    CheckedStore store;
    const live::BatchOut out = [&](live::Batch &&batch) {
        told.joined.add(batch);
        store.take(std::move(batch));
    };
    std::mt19937_64 random(input.size());
    for (std::size_t at = 0; at < input.size();) {
        std::size_t size = isCut ? 1 + random() % (random() % 3 ? 20 : 400) : input.size();
        size = std::min(size, input.size() - at);
        const std::string piece = input.substr(at, size);
        if (const auto taken = decoder.take(piece, kReceived, out); !taken) {
            told.error = taken.error().what;
            told.fault = faultOf({ taken.error() }, "peer");
            return told;
        }
        at += size;
    }
    decoder.end(kReceived, out);
    told.fault = store.fault({ .steps = int(input.size() % 5) }, input.size() % 16 == 0);
    return told;
}

/// Tables may be in another order, since batches end elsewhere.
bool isEqual(Joined &a, Joined &b)
{
    if (a.dropped != b.dropped || a.taken != b.taken || a.whole.name != b.whole.name
        || a.whole.arguments != b.whole.arguments || a.whole.ranks.size() != b.whole.ranks.size())
        return false;
    return trainyard::testing::isSame(a.whole, b.whole)
        || live::testing::sentencesOf(a.whole) == live::testing::sentencesOf(b.whole);
}

Outcome lines(const std::string &input)
{
    const auto whole = live::makeLinesDecoder("peer", tightDecoder()),
               pieces = live::makeLinesDecoder("peer", tightDecoder());
    Told one = tell(*whole, input, false);
    if (!one.fault.empty())
        return { one.error.empty(), one.fault };
    Told other = tell(*pieces, input, true);
    if (!other.fault.empty())
        return { one.error.empty(), other.fault };
    if (one.error != other.error && one.error.substr(0, 12) != other.error.substr(0, 12))
        return { one.error.empty(), "cut, it is refused otherwise: " + one.error + " | " + other.error };
    if (one.error.empty() && !isEqual(one.joined, other.joined))
        return { true, "cut, it tells something else" };
    return { one.error.empty(), "" };
}

Outcome log(const std::string &input)
{
    live::DecoderLimits limits;
    limits.lineBytes = 4'096;
    const auto decoder =
        input.size() % 2 ? live::makeLogDecoder("peer", limits) : live::makeTextDecoder("peer", limits);
    const Told told = tell(*decoder, input, input.size() % 3 != 0);
    return { told.error.empty(), told.fault };
}

/// Several bodies, one behind the other, as a server gets them.
template <class Decode> Outcome bodies(const std::string &input, const Decode &decode)
{
    CheckedStore store;
    bool isAccepted = false;
    for (std::size_t at = 0; at <= input.size();) {
        const std::size_t end = std::min(input.find('\x1e', at), input.size());
        auto batch = decode(std::string_view(input).substr(at, end - at));
        if (!batch) {
            if (std::string fault = faultOf({ batch.error() }, "peer"); !fault.empty())
                return { false, fault };
        } else {
            isAccepted = true;
            store.take(std::move(*batch));
        }
        at = end + 1;
    }
    return { isAccepted, store.fault({}, input.size() % 16 == 0) };
}

Outcome otlp(const std::string &input)
{
    return bodies(input, [](std::string_view body) {
        const bool isJson = body.find_first_not_of(" \t\r\n") == body.find('{') && body.find('{') != body.npos;
        return live::decodeOtlp(body, isJson, "peer", kReceived, {});
    });
}

Outcome prometheus(const std::string &input)
{
    return bodies(input, [](std::string_view body) { return live::decodePrometheus(body, "peer", kReceived, {}); });
}

std::vector<std::string> lineSeeds(const std::string &folder)
{
    std::vector<std::string> texts = readerSeeds(folder, "live-lines");
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Recording recording = trainyard::testing::RandomRecording(seed)();
        recording.zero = kReceived;
        std::string text;
        live::writeLines(
            recording, seed % 3 ? "" : "token",
            [&](live::TimedLine &&line) { return text += line.text, text.size() < 6'000; }, seed % 2 ? 16 : 1);
        texts.push_back(std::move(text));
    }
    return texts;
}

std::vector<std::string> logSeeds(const std::string &folder)
{
    return readerSeeds(folder, "logs");
}

std::vector<std::string> twice(std::vector<std::string> texts)
{
    const std::size_t alone = texts.size();
    for (std::size_t i = 0; i < alone && i < 10; ++i)
        texts.push_back(texts[i] + '\x1e' + texts[(i + 1) % alone]);
    return texts;
}

std::vector<std::string> otlpSeeds(const std::string &folder)
{
    return twice(readerSeeds(folder, "otlp"));
}

std::vector<std::string> prometheusSeeds(const std::string &folder)
{
    return twice(readerSeeds(folder, "samples"));
}

} // namespace

std::vector<Target> liveTargets()
{
    // Short inputs: what peers send is read a line or a body at a time, and the bounds below are as short.
    return { { "live-lines", lines, lineSeeds, 3'000 }, { "live-log", log, logSeeds, 8'000 },
        { "live-otlp", otlp, otlpSeeds }, { "live-prom", prometheus, prometheusSeeds },
        { "live-store", toldByScript, scriptSeeds, 800 }, netTarget() };
}

} // namespace trainyard::fuzz
