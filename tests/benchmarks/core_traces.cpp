// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of a profiler from their file to the recording, by one thread: 320 MB of events of a real trace without Python
// functions, one copy after the other with later times. Without the folder of real traces, of events like its own.
#include "core/runs/telemetry/read_sources.h"

#include <benchmark/benchmark.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <optional>

namespace {

using namespace trainyard;

constexpr std::size_t kBytes = 320'000'000;
constexpr std::string_view kStart = "\"ts\": ";

/// The events of the first trace, from behind the bracket that opens their list to the one that ends it.
std::string realEvents()
{
    const auto file = openSource(TRAINYARD_SHARED_DIR "/traces/single/nccl_data_v100_ddp_2rank_r0.json.gz", {});
    if (!file)
        return {};
    const std::string_view text = file->text.text;
    const std::size_t begin = text.find('[', text.find("\"traceEvents\"")),
                      end = text.rfind("],", text.find("\"INFO\""));
    return begin < end && end != text.npos ? std::string(text.substr(begin + 1, end - begin - 1)) : std::string();
}

std::string madeEvents()
{
    std::string text;
    for (int i = 0; i < 20000; ++i) {
        const std::string at = std::to_string(4458676524595 + 7 * i) + ".135", id = std::to_string(i);
        text += (i > 0 ? ",\n" : "")
            + ("  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mul\", \"pid\": 2910249, \"tid\": "
               "2919752,\n    \"ts\": "
                + at + ", \"dur\": 12.375,\n    \"args\": {\n      \"External id\": " + id + ",\"Ev Idx\": " + id
                + "\n    }\n  }");
        if (i % 8 == 0)
            text += ",\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void elementwise_kernel<4>(int)\", "
                    "\"pid\": 0, \"tid\": 7,\n    \"ts\": "
                + at + ", \"dur\": 5.5,\n    \"args\": {\n      \"device\": 0, \"stream\": 7, \"correlation\": " + id
                + "\n    }\n  }";
    }
    return text;
}

/// The same events, later.
std::string later(const std::string &events, std::int64_t microseconds)
{
    std::string text;
    text.reserve(events.size());
    std::size_t at = 0;
    for (std::size_t next = events.find(kStart); next != events.npos; next = events.find(kStart, at)) {
        const std::size_t digits = next + kStart.size();
        text.append(events, at, digits - at);
        at = events.find_first_not_of("0123456789", digits);
        text += std::to_string(std::strtoll(events.c_str() + digits, nullptr, 10) + microseconds);
    }
    return text.append(events, at);
}

class Traces { // files that are there while the program runs
public:
    Traces()
    {
        std::string events = realEvents();
        if (events.empty())
            events = madeEvents();
        std::ofstream plain(m_plain, std::ios::binary);
        const gzFile packed = gzopen(m_packed.c_str(), "wb6");
        const auto write = [&](const std::string &text) {
            plain << text;
            gzwrite(packed, text.data(), static_cast<unsigned>(text.size()));
        };
        write("{\n  \"schemaVersion\": 1,\n  \"baseTimeNanoseconds\": 1711964646000000000,\n  \"traceEvents\": [");
        std::size_t size = 0;
        for (int copy = 0; size < kBytes; ++copy) {
            const std::string text = (copy > 0 ? "," : "") + later(events, copy * std::int64_t(5'000'000));
            write(text);
            size += text.size();
        }
        write("]\n}\n");
        gzclose(packed);
    }
    ~Traces()
    {
        std::error_code ignored;
        std::filesystem::remove(m_plain, ignored);
        std::filesystem::remove(m_packed, ignored);
    }
    const std::string &file(bool isPacked) const { return isPacked ? m_packed : m_plain; }

private:
    std::string m_plain = (std::filesystem::temp_directory_path() / "trainyard-bench-trace.json").string();
    std::string m_packed = m_plain + ".gz";
};

void readTrace(benchmark::State &state)
{
    static const Traces traces;
    std::size_t spans = 0;
    for (auto _ : state) {
        const auto recording = readSource(traces.file(state.range(0) != 0), {});
        spans = recording ? recording->spanCount() : 0;
        if (spans == 0)
            state.SkipWithError("nothing was read");
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations())
        * static_cast<std::int64_t>(std::filesystem::file_size(traces.file(false))));
    state.counters["spans"] = static_cast<double>(spans);
}
BENCHMARK(readTrace)->ArgName("gz")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

} // namespace
