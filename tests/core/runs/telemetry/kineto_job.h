#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of a job of our own, as PyTorch's profiler would write them: its ranks compute, then exchange something, layer
// after layer. All end an exchange at the same moment, so that whatever is told of the job is known beforehand.

#include "tests/core/runs/telemetry/trace_texts.h"

#include <algorithm>
#include <fstream>
#include <functional>

namespace trainyard::testing {

struct KinetoExchange {
    std::string operation = "allreduce"; // as the profiler calls it
    std::string kernel = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
    std::int64_t elements = 33'554'432; // of two bytes
    std::int64_t microseconds = 600; // from the moment on at which the last rank enters
    /// Of "c10d::alltoall_base_", say: PyTorch before 2.4 tells sizes by the shapes of the operator, four bytes each.
    std::string shapesOf = {};
};

/// Microseconds of one rank, first kernel to last.
struct KinetoTruth {
    std::int64_t compute = 0, exchange = 0, hidden = 0, idle = 0; // hidden: of the exchanges, under computation
    [[nodiscard]] std::int64_t whole() const { return compute + exchange - hidden + idle; }
};

struct KinetoJob {
    int ranks = 2, layers = 10;
    std::function<std::int64_t(int rank, int layer)> compute = [](int, int) { return 1000; }; // µs of a layer's kernel
    std::function<std::int64_t(int rank, int layer)> late = [](int, int) { return 0; }; // µs of the host before it
    std::function<std::int64_t(int rank)> clock = [](int) { return 0; }; // µs that it is fast
    std::vector<KinetoExchange> exchanges { {} }; // by turns
    std::int64_t beneath = 0; // µs at the end of each exchange with another kernel beside it
    std::string kernel = "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn";
    std::string gpu = "NVIDIA A100-SXM4-80GB";

    [[nodiscard]] const KinetoExchange &exchangeOf(int layer) const
    {
        return exchanges[std::size_t(layer) % exchanges.size()];
    }
    /// From the start of a layer to the end of its exchange.
    [[nodiscard]] std::int64_t microsecondsOf(int layer) const
    {
        std::int64_t last = 0;
        for (int rank = 0; rank < ranks; ++rank)
            last = std::max(last, late(rank, layer) + compute(rank, layer));
        return last + exchangeOf(layer).microseconds;
    }
    [[nodiscard]] KinetoTruth truthOf(int rank) const
    {
        KinetoTruth truth;
        for (int layer = 0; layer < layers; ++layer) {
            truth.compute += compute(rank, layer) + beneath;
            truth.exchange += microsecondsOf(layer) - late(rank, layer) - compute(rank, layer);
            truth.hidden += beneath;
            truth.idle += layer > 0 ? late(rank, layer) : 0; // before the first kernel nothing counts
        }
        return truth;
    }
};

/// The file of one rank.
inline std::string kinetoText(const KinetoJob &job, int rank)
{
    constexpr std::int64_t kBegin = 1'770'000'000'000'000; // Unix time
    std::string all = "[0";
    for (int other = 1; other < job.ranks; ++other)
        all += ", " + std::to_string(other);
    all += "]";
    std::vector<std::string> events;
    int calls = 0;
    std::int64_t now = kBegin + job.clock(rank);
    const std::int64_t begin = now - 20;
    const auto launch = [&](const std::string &name, std::int64_t start, std::int64_t length, const char *stream,
                            std::int64_t called, const std::string &more = {}) {
        const std::string id = std::to_string(++calls);
        events.push_back(call(std::to_string(called), id));
        events.push_back(span("kernel", name, std::to_string(start), std::to_string(length),
            R"("device": 0, "stream": )" + std::string(stream) + R"(, "correlation": )" + id + more, stream));
    };
    for (int layer = 0; layer < job.layers; ++layer) {
        const KinetoExchange &exchange = job.exchangeOf(layer);
        const std::int64_t start = now + job.late(rank, layer), entered = start + job.compute(rank, layer),
                           end = now + job.microsecondsOf(layer);
        const std::string size = std::to_string(exchange.elements);
        launch(job.kernel, start, entered - start, "7", start - 14);
        std::string told;
        if (exchange.shapesOf.empty())
            told = R"(, "Collective name": ")" + exchange.operation + R"(", "In msg nelems": )" + size
                + R"(, "Out msg nelems": )" + size + R"(, "Group size": )" + std::to_string(job.ranks)
                + R"(, "dtype": "BFloat16", "Process Group Name": "0", "Process Group Description": "default_pg", )"
                + R"("Process Group Ranks": ")" + all + "\"";
        else
            events.push_back(span("cpu_op", exchange.shapesOf, std::to_string(start - 8), "8",
                R"("Input Dims": [[)" + size + "], [" + size + R"(]], "Input type": ["float", "float"])", "1"));
        launch(exchange.kernel, entered, end - entered, "20", start - 7, told);
        if (job.beneath > 0)
            launch(job.kernel, end - job.beneath, job.beneath, "7", start - 1);
        now = end;
    }
    events.insert(events.begin(),
        span("user_annotation", "ProfilerStep#3", std::to_string(begin), std::to_string(now - begin), {}, "1"));
    const std::string ranks = std::to_string(job.ranks);
    return trace(events,
        R"("deviceProperties": [{"id": 0, "name": ")" + job.gpu + R"(", "totalGlobalMem": 85000000000}],)"
            + R"("distributedInfo": {"backend": "nccl", "rank": )" + std::to_string(rank) + R"(, "world_size": )"
            + ranks
            + R"(, "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "pg_size": )"
            + ranks + R"(, "ranks": )" + all + "}]},\n");
}

/// Writes rank0.json, rank1.json and so on.
inline void writeKineto(const KinetoJob &job, const std::string &folder)
{
    for (int rank = 0; rank < job.ranks; ++rank)
        std::ofstream(folder + "/rank" + std::to_string(rank) + ".json", std::ios::binary) << kinetoText(job, rank);
}

} // namespace trainyard::testing
