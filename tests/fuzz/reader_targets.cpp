// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/reader_targets.h"

#include "core/runs/telemetry/file/check_recording.h"
#include "core/runs/telemetry/readers.h"
#include "core/runs/telemetry/recording_file.h"
#include "core/runs/telemetry/source_stream.h"
#include "tests/core/runs/telemetry/random_recording.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/recording_checks.h"
#include "tests/fuzz/seeds.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

namespace trainyard::fuzz {

namespace {

struct Family {
    const char *name; // of the target, and of its folders of seeds
    const char *file; // as which its texts are read
    std::span<const SourceReader> (*readers)();
};

constexpr std::array kFamilies {
    Family { "kineto", "rank0_trace.json", readers::profilerTraces },
    Family { "chakra", "run.0.et", readers::profilerTraces },
    Family { "nsys", "report.sqlite", readers::profilerTraces },
    Family { "logs", "train.log", readers::trainingLogs },
    Family { "experiments", "run", readers::experimentFiles },
    Family { "nccl", "nccl.txt", readers::networkBenchmarks },
    Family { "links", "link.json", readers::networkBenchmarks },
    Family { "samples", "samples.txt", readers::hardwareSamples },
    Family { "otlp", "otlp.pb", readers::hardwareSamples },
    Family { "inputs", "input", readers::planInputs },
    Family { "recording", "run.trainyard-recording", readers::recordingFiles },
};
constexpr std::size_t kHead = std::size_t(64) << 10;

/// A copy of the bytes that ends where the padding does, so that the sanitizers see who reads on.
class Padded {
public:
    explicit Padded(const std::string &text)
        : m_bytes(std::make_unique<char[]>(text.size() + kSourcePadding))
        , m_size(text.size())
    {
        std::memcpy(m_bytes.get(), text.data(), text.size());
    }
    [[nodiscard]] std::string_view text() const { return { m_bytes.get(), m_size }; }

private:
    std::unique_ptr<char[]> m_bytes;
    std::size_t m_size;
};

/// A stream gives what the whole text gives, however small its blocks are.
class SlowStream final : public SourceStream {
public:
    explicit SlowStream(const SourceText &source)
        : SourceStream(source.file, source.packedBytes)
        , m_text(source)
    {
    }
    std::size_t read(char *into, std::size_t most) override
    {
        return m_text.read(into, std::min<std::size_t>(most, 97));
    }
    void rewind() override { m_text.rewind(); }
    [[nodiscard]] double share() const override { return m_text.share(); }
    [[nodiscard]] std::size_t expectedBytes() const override { return 0; }

private:
    TextStream m_text;
};

std::string faultOfStream(const SourceReader &reader, const SourceText &source, const SourceOptions &options,
    const Expected<Recording> &whole)
{
    if (!reader.readStream)
        return {};
    SlowStream stream(source);
    const auto streamed = reader.readStream(stream, options);
    if (streamed.has_value() != whole.has_value() || (whole && !testing::isSame(*streamed, *whole)))
        return "block by block it is read otherwise than as a whole";
    return {};
}

Outcome readAs(const Family &family, const std::string &input)
{
    const Padded bytes(input);
    const SourceText source { family.file, bytes.text(), std::int64_t(input.size()), false };
    const SourceReader *reader = readerFor(source.file, source.text.substr(0, kHead));
    const auto own = family.readers();
    if (!reader && own.empty())
        return {};
    if (!reader)
        reader = &own[input.size() % own.size()];
    SourceOptions options;
    options.keepsHostSpans = input.size() % 2 == 0;
    options.keepsPythonFunctions = input.size() % 3 == 0;
    auto recording = reader->read(source, options);
    if (std::string fault = faultOfStream(*reader, source, options, recording); !fault.empty())
        return { recording.has_value(), fault };
    if (!recording) {
        Error error = recording.error();
        error.where.insert(0, error.where.empty() ? source.file : ""); // the front door knows the file
        return { false, faultOf({ error }, source.file) };
    }
    if (reader->kind != SourceKind::Recording)
        recording_file::dropOutOfBounds(*recording); // as the front door does
    std::string fault = faultOfRecording(*recording, input.size(), reader->kind != SourceKind::Recording);
    if (fault.empty() && input.size() % 4 == 0)
        fault = faultOfRoundTrip(*recording);
    return { true, fault };
}

template <std::size_t number> Outcome run(const std::string &input)
{
    return readAs(kFamilies[number], input);
}

template <std::size_t number> std::vector<std::string> seedsOf(const std::string &folder)
{
    const std::string_view name = kFamilies[number].name;
    std::vector<std::string> texts = readerSeeds(folder, kFamilies[number].name);
    if (name == "recording")
        for (std::uint64_t seed = 1; seed <= 12; ++seed)
            if (const auto file = formatRecording(testing::RandomRecording(seed)()); file)
                texts.push_back(unpacked(*file));
    return texts;
}

template <std::size_t... numbers> std::vector<Target> all(std::index_sequence<numbers...>)
{
    return { { kFamilies[numbers].name, run<numbers>, seedsOf<numbers> }... };
}

} // namespace

std::vector<Target> readerTargets()
{
    return all(std::make_index_sequence<kFamilies.size()>());
}

} // namespace trainyard::fuzz
