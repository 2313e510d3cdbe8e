#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A trace of one GPU whose operators tell the sizes of their tensors, written by hand: two calls of a product, the
// first with a second kernel that adds its parts, attention, an addition, an operator without a formula, a kernel of no
// operator, and a collective. Times in the comments are those of the GPU, µs.

#include "tests/core/runs/telemetry/trace_texts.h"

namespace trainyard::testing {

/// `values`: of "Concrete Inputs"; may be empty. `thread` 1 launches.
inline std::string sizedOperator(const std::string &name, const std::string &start, const std::string &duration,
    const std::string &sizes, const std::string &types, const std::string &values = {})
{
    return span("cpu_op", name, start, duration,
        R"("External id": 7, "Input Dims": )" + sizes + R"(, "Input type": )" + types
            + (values.empty() ? "" : R"(, "Concrete Inputs": )" + values),
        "1");
}

/// `hasSizes`: as record_shapes has it. `gpu`: as PyTorch calls it; empty: it does not tell.
inline std::string shapedTrace(bool hasSizes = true, const std::string &gpu = "NVIDIA H100 80GB HBM3")
{
    const auto add = [&](std::vector<std::string> &events, const std::string &name, const std::string &start,
                         const std::string &duration, const std::string &sizes, const std::string &types,
                         const std::string &values = {}) {
        events.push_back(hasSizes ? sizedOperator(name, start, duration, sizes, types, values)
                                  : span("cpu_op", name, start, duration, R"("External id": 7)", "1"));
    };
    const std::string pair = R"(["c10::BFloat16", "c10::BFloat16"])", product = "[[4096, 2048], [2048, 1024]]";
    std::vector<std::string> events;
    add(events, "aten::linear", "100", "30", "[[4096, 2048], [1024, 2048]]", pair);
    add(events, "aten::t", "101", "1", "[[1024, 2048]]", R"(["c10::BFloat16"])");
    add(events, "aten::mm", "102", "26", product, pair);
    add(events, "aten::mm", "140", "20", product, pair);
    add(events, "aten::_flash_attention_forward", "170", "20",
        "[[2, 1024, 16, 128], [2, 1024, 4, 128], [2, 1024, 4, 128], [], [], [], [], [], [], []]",
        R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar"])",
        R"(["", "", "", "", "", "1024", "1024", "0.", "True", "False"])");
    add(events, "aten::add_", "200", "10", "[[8192, 4096], [8192, 4096], []]",
        R"(["c10::BFloat16", "c10::BFloat16", "Scalar"])", R"(["", "", "1"])");
    add(events, "aten::topk", "220", "10", "[[512, 64], []]", R"(["float", "Scalar"])");
    for (const auto &[launch, correlation] : { std::pair("105", "1"), { "110", "2" }, { "145", "3" }, { "175", "4" },
             { "204", "5" }, { "224", "6" }, { "240", "8" } })
        events.push_back(call(launch, correlation));
    events.push_back(kernel("sm90_gemm", "300", "30", "1"));
    events.push_back(kernel("splitKreduce_kernel", "330", "10", "2"));
    events.push_back(kernel("sm90_gemm", "340", "24", "3"));
    events.push_back(kernel("flash_fwd_kernel", "370", "100", "4"));
    events.push_back(kernel("vectorized_elementwise_kernel", "470", "75", "5"));
    events.push_back(kernel("gatherTopK", "550", "5", "6"));
    events.push_back(kernel("nobody's", "560", "6", "99"));
    events.push_back(kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "570", "50", "8"));
    return trace(events, gpu.empty() ? "" : R"("deviceProperties": [{"id": 0, "name": ")" + gpu + "\"}],\n");
}

/// As the host's operators are asked for.
inline SourceOptions withHost()
{
    SourceOptions options;
    options.keepsHostSpans = true;
    return options;
}

} // namespace trainyard::testing
