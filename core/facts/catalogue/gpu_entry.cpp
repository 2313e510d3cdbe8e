// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/entry_readers_internal.h"
#include "core/facts/catalogue/parse.h"

#include <cmath>

namespace trainyard {

namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;
constexpr const char *kPrecisionKeys[kPrecisionCount] = { "fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4" };

struct GpuField {
    const char *key;
    double GpuSpec::*figure;
    Range range;
};
constexpr GpuField kGpuFields[] = {
    { "memory_gbytes_per_s", &GpuSpec::memoryGBps, { 1, 1e6 } },
    { "link_gbytes_per_s", &GpuSpec::linkGBps, { 0, 1e5 } },
    { "pcie_gbytes_per_s", &GpuSpec::pcieGBps, { 0, 1e4 } },
    { "fabric_gbps", &GpuSpec::fabricGbps, { 0, 1e5 } },
    { "tdp_watts", &GpuSpec::tdpWatts, { 0, 1e5 } },
    { "usd_per_hour", &GpuSpec::usdPerHour, { 0, 1e4 } },
    { "multiprocessors", &GpuSpec::multiprocessors, { 1, 1e5 } },
};

void readPeaks(ObjectReader &reader, GpuSpec &gpu)
{
    reader.require("peak_tflops", "an object of dense TFLOP/s by precision, {\"bf16\": 312}");
    ObjectReader peaks = reader.object("peak_tflops");
    bool any = false;
    for (int i = 0; i < kPrecisionCount; ++i) {
        peaks.figure(kPrecisionKeys[i], gpu.peakTflops[static_cast<std::size_t>(i)], { 0, 1e6 });
        any = any || gpu.peakTflops[static_cast<std::size_t>(i)] > 0;
    }
    peaks.rejectUnknownKeys();
    for (const auto &[key, source] : peaks.sources())
        gpu.sources["peak_tflops." + key] = source;
    if (!any && reader.has("peak_tflops"))
        reader.fault("peak_tflops", "peak_tflops names no precision", "at least one of fp32, fp16, bf16");
}

CatalogueJson figureJson(double value, const GpuSpec &gpu, const std::string &key)
{
    const auto source = gpu.sources.find(key);
    if (source == gpu.sources.end())
        return value;
    return CatalogueJson::array({ value, source->second });
}

} // namespace

GpuSpec readGpu(ObjectReader &reader)
{
    GpuSpec gpu;
    reader.text("id", gpu.id);
    reader.text("name", gpu.name);
    reader.text("vendor", gpu.vendor);
    reader.text("architecture", gpu.architecture);
    readPeaks(reader, gpu);
    double memoryGib = 0;
    reader.require("memory_gib", "device memory in GiB as the driver reports it");
    reader.figure("memory_gib", memoryGib, { 0.5, 1e5 });
    gpu.memoryBytes = std::llround(memoryGib * kGib);
    reader.require("memory_gbytes_per_s", "memory bandwidth, 10^9 bytes per second");
    for (const GpuField &field : kGpuFields)
        reader.figure(field.key, gpu.*field.figure, field.range);
    double domain = gpu.linkDomain;
    reader.figure("link_domain", domain, { 1, 1e5 });
    gpu.linkDomain = static_cast<int>(domain);
    if (const CatalogueJson *kernels = reader.raw("kernels"); kernels && kernels->is_object()) {
        ObjectReader nested = reader.object("kernels");
        setKernelFamily(gpu, readKernelFamily(nested));
        nested.rejectUnknownKeys();
    }
    for (const auto &[key, source] : reader.sources())
        gpu.sources[key] = source;
    return gpu;
}

std::string formatGpu(const GpuSpec &gpu)
{
    const GpuSpec defaults;
    CatalogueJson object = CatalogueJson::object();
    const auto text = [&](const char *key, const std::string &value) {
        if (!value.empty())
            object[key] = value;
    };
    text("id", gpu.id);
    text("name", gpu.name);
    text("vendor", gpu.vendor);
    text("architecture", gpu.architecture);
    CatalogueJson peaks = CatalogueJson::object();
    for (std::size_t i = 0; i < kPrecisionCount; ++i) {
        const std::string key = std::string("peak_tflops.") + kPrecisionKeys[i];
        if (gpu.peakTflops[i] > 0 || gpu.sources.contains(key))
            peaks[kPrecisionKeys[i]] = figureJson(gpu.peakTflops[i], gpu, key);
    }
    object["peak_tflops"] = peaks;
    object["memory_gib"] = figureJson(static_cast<double>(gpu.memoryBytes) / kGib, gpu, "memory_gib");
    for (const GpuField &field : kGpuFields) {
        if (gpu.*field.figure != defaults.*field.figure || gpu.sources.contains(field.key))
            object[field.key] = figureJson(gpu.*field.figure, gpu, field.key);
    }
    if (gpu.linkDomain != defaults.linkDomain || gpu.sources.contains("link_domain"))
        object["link_domain"] = figureJson(gpu.linkDomain, gpu, "link_domain");
    if (kernelFamily(gpu) != kernelFamily(defaults))
        object["kernels"] = kernelFamilyJson(kernelFamily(gpu));
    return object.dump();
}

const std::vector<std::string> &gpuKeys()
{
    static const std::vector<std::string> keys = { "architecture", "fabric_gbps", "id", "kernels", "link_domain",
        "link_gbytes_per_s", "memory_gbytes_per_s", "memory_gib", "multiprocessors", "name", "pcie_gbytes_per_s",
        "peak_tflops", "tdp_watts", "usd_per_hour", "vendor" };
    return keys;
}

} // namespace trainyard
