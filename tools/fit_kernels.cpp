// SPDX-License-Identifier: GPL-3.0-or-later
// Fits the kernel time models (core/iteration/cost) to tables of measured kernels and writes kernels.json:
//
//   fit-kernels FOLDER resources/catalog/kernels.json DATE
//
// FOLDER holds kernel_gemm.json, aiconfigurator_gemm_bf16.json, kernel_attention_prefill.json and
// kernel_moe_grouped_gemm.json. Every fifth row is held out and only judged; residuals are written with the curves.

#include "core/facts/catalogue/catalogue.h"
#include "tools/fit_kernels/fitting.h"

#include <fstream>
#include <iostream>
#include <optional>

using namespace trainyard;

namespace {

std::optional<OrderedJson> readTable(const std::string &folder, const char *name)
{
    std::ifstream input(folder + "/" + name);
    if (!input) {
        std::cerr << folder << "/" << name << ": cannot be read\n";
        return std::nullopt;
    }
    return OrderedJson::parse(input);
}

void writeFile(std::ostream &output, const OrderedJson &kernels)
{
    output << "{\n\"sources\": " << kernels["sources"].dump() << ",\n\"families\": {";
    const char *comma = "";
    for (const auto &[family, value] : kernels["families"].items()) { // a curve a line, for readable differences
        output << comma << "\n  \"" << family << "\": {";
        const char *inner = "";
        for (const auto &[key, part] : value.items()) {
            output << inner << "\n    \"" << key << "\": ";
            inner = ",";
            if (!part.is_object()) {
                output << part.dump();
                continue;
            }
            output << "{";
            const char *kindComma = "";
            for (const auto &[kind, formats] : part.items()) {
                output << kindComma << "\n      \"" << kind << "\": {";
                kindComma = ",";
                const char *formatComma = "";
                for (const auto &[format, curve] : formats.items()) {
                    output << formatComma << "\n        \"" << format << "\": " << curve.dump();
                    formatComma = ",";
                }
                output << "}";
            }
            output << "}";
        }
        output << "}";
        comma = ",";
    }
    output << "\n}\n}\n";
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 4) {
        std::cerr << "usage: fit-kernels FOLDER KERNELS.json DATE\n";
        return 2;
    }
    const auto gemm = readTable(argv[1], "kernel_gemm.json");
    const auto dense = readTable(argv[1], "aiconfigurator_gemm_bf16.json");
    const auto attention = readTable(argv[1], "kernel_attention_prefill.json");
    const auto experts = readTable(argv[1], "kernel_moe_grouped_gemm.json");
    if (!gemm || !dense || !attention || !experts)
        return 2;
    OrderedJson kernels;
    kernels["sources"]["fit"] = { { "title", "fitted by tools/fit_kernels to " + (*gemm)["source"].get<std::string>() },
        { "date", argv[3] } };
    kernels["sources"]["pessimistic"] = { { "title", "tools/fit_kernels: the most pessimistic of the fitted values" },
        { "date", argv[3] } };
    kernels["sources"]["backward"] = { { "title",
                                           "backward against forward TFLOP/s of FlashAttention-2 on A100 (196 of 230) "
                                           "and FlashAttention-3 on H100 (about 0.87), as published (recalled)" },
        { "date", "2024-07" } };
    std::vector<GpuSpec> fitted;
    for (const MeasuredFamily &family : kMeasuredFamilies) {
        GpuSpec gpu = *builtinCatalogue().gpu(family.gpu);
        gpu.gemm = gpu.gemmFp8 = gpu.gemmBlock8 = gpu.gemmFp4 = GemmCurve {};
        const OrderedJson &table = (*gemm)["gpus"][family.table];
        const auto denseTable = (*dense)["gpus"].find(family.table);
        const FamilyFit products = fitGemm(gpu, table, denseTable != (*dense)["gpus"].end() ? &*denseTable : nullptr);
        const FamilyFit fused =
            fitAttention(gpu, (*attention)["gpus"][family.table], fitted.empty() ? nullptr : &fitted.front().attention);
        const FamilyFit grouped = fitGrouped(gpu, (*experts)["gpus"][family.table]);
        OrderedJson &entry = kernels["families"][family.table];
        entry["device"] = table["device"];
        entry["relative_to"] = family.gpu;
        for (const auto &[kind, fit] :
            { std::pair { "gemm", &products }, std::pair { "attention", &fused }, std::pair { "grouped", &grouped } }) {
            if (fit->curves.empty())
                continue;
            entry["curves"][kind] = fit->curves;
            entry["residuals"][kind] = fit->residuals;
            for (const auto &[format, errors] : fit->residuals.items())
                std::cout << family.table << ' ' << kind << ' ' << format << ' ' << errors.dump() << std::endl;
        }
        fitted.push_back(std::move(gpu));
    }
    kernels["families"]["generic"]["curves"]["gemm"] = pessimisticGemm(fitted);
    kernels["families"]["generic"]["curves"]["attention"] = pessimisticAttention(fitted);
    std::ofstream output(argv[2]);
    writeFile(output, kernels);
    if (!output) {
        std::cerr << argv[2] << ": cannot be written\n";
        return 2;
    }
    return 0;
}
