// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/entry_readers_internal.h"

namespace trainyard {

namespace {

template <class Curve> struct CurveField {
    const char *key;
    double Curve::*figure;
    Range range;
};

constexpr CurveField<GemmCurve> kGemmFields[] = {
    { "launch_us", &GemmCurve::launchUs, { 0, 1000 } },
    { "peak_fraction", &GemmCurve::peakFraction, { 0.001, 1.5 } },
    { "memory_fraction", &GemmCurve::memoryFraction, { 0.001, 10 } },
    { "margin_k", &GemmCurve::marginK, { 0, 1e5 } },
    { "tile_loss", &GemmCurve::tileLoss, { 0, 1e4 } },
    { "wave_overlap", &GemmCurve::waveOverlap, { 0, 1 } },
    { "split_us", &GemmCurve::splitUs, { 0, 1000 } },
    { "memory_exposed", &GemmCurve::memoryExposed, { 0, 2 } },
    { "cache_mbytes", &GemmCurve::cacheMbytes, { 0, 1e4 } },
    { "slowdown", &GemmCurve::slowdown, { 0, 2 } },
    { "slowdown_ms", &GemmCurve::slowdownMs, { 1e-6, 1e6 } },
    { "cast_us", &GemmCurve::castUs, { 0, 1000 } },
    { "cast_fraction", &GemmCurve::castFraction, { 0.001, 10 } },
};

constexpr CurveField<AttentionCurve> kAttentionFields[] = {
    { "launch_us", &AttentionCurve::launchUs, { 0, 1000 } },
    { "peak_fraction", &AttentionCurve::peakFraction, { 0.001, 1.5 } },
    { "rate_64", &AttentionCurve::rate64, { 0.01, 10 } },
    { "rate_192", &AttentionCurve::rate192, { 0.01, 10 } },
    { "rate_256", &AttentionCurve::rate256, { 0.01, 10 } },
    { "memory_fraction", &AttentionCurve::memoryFraction, { 0.001, 10 } },
    { "margin_keys", &AttentionCurve::marginKeys, { 0, 1e5 } },
    { "tail_share", &AttentionCurve::tailShare, { 0, 10 } },
    { "slowdown", &AttentionCurve::slowdown, { 0, 2 } },
    { "slowdown_ms", &AttentionCurve::slowdownMs, { 1e-6, 1e6 } },
    { "backward_rate", &AttentionCurve::backwardRate, { 0.01, 10 } },
};

constexpr const char *kEvidenceNames[] = { "measured", "same family", "spec sheet" };

struct GemmFormat {
    const char *key;
    GemmCurve KernelFamily::*curve;
};
using GemmFormats = GemmFormat[4];
constexpr GemmFormats kGroupedFormats = { { "bf16", &KernelFamily::grouped }, { "fp8", &KernelFamily::groupedFp8 },
    { "fp8_block", &KernelFamily::groupedBlock8 }, { "nvfp4", &KernelFamily::groupedFp4 } };
constexpr GemmFormats kGemmFormats = { { "bf16", &KernelFamily::gemm }, { "fp8", &KernelFamily::gemmFp8 },
    { "fp8_block", &KernelFamily::gemmBlock8 }, { "nvfp4", &KernelFamily::gemmFp4 } };

template <class Curve, std::size_t count> Curve readCurve(ObjectReader reader, const CurveField<Curve> (&fields)[count])
{
    Curve curve;
    for (const auto &field : fields)
        reader.figure(field.key, curve.*field.figure, field.range);
    if constexpr (requires { curve.evidence; })
        readEvidence(reader, "evidence", curve.evidence);
    reader.rejectUnknownKeys();
    return curve;
}

template <class Curve, std::size_t count>
CatalogueJson curveJson(const Curve &curve, const CurveField<Curve> (&fields)[count])
{
    CatalogueJson json = CatalogueJson::object();
    for (const auto &field : fields)
        json[field.key] = curve.*field.figure;
    if constexpr (requires { curve.evidence; })
        json["evidence"] = kEvidenceNames[static_cast<int>(curve.evidence)];
    return json;
}

/// A format that was not measured takes the next wider one.
void readDense(ObjectReader &reader, KernelFamily &family)
{
    if (!reader.has("gemm"))
        return;
    ObjectReader curves = reader.object("gemm");
    const GemmCurve *wider = nullptr;
    for (const GemmFormat &format : kGemmFormats) {
        if (curves.has(format.key))
            family.*format.curve = readCurve(curves.object(format.key), kGemmFields);
        else if (wider)
            family.*format.curve = *wider;
        wider = &(family.*format.curve);
    }
    curves.rejectUnknownKeys();
}

/// Grouped products that were not measured run at the rate of dense ones of the same format.
void readGrouped(ObjectReader &reader, KernelFamily &family)
{
    for (std::size_t i = 0; i < std::size(kGemmFormats); ++i)
        family.*kGroupedFormats[i].curve = family.*kGemmFormats[i].curve;
    if (!reader.has("grouped"))
        return;
    ObjectReader curves = reader.object("grouped");
    for (const GemmFormat &format : kGroupedFormats) {
        if (curves.has(format.key))
            family.*format.curve = readCurve(curves.object(format.key), kGemmFields);
    }
    curves.rejectUnknownKeys();
}

} // namespace

void readEvidence(ObjectReader &reader, const std::string &key, KernelEvidence &evidence)
{
    std::string name;
    reader.text(key, name);
    for (int i = 0; i < 3; ++i) {
        if (name == kEvidenceNames[i]) {
            evidence = static_cast<KernelEvidence>(i);
            return;
        }
    }
    if (!name.empty())
        reader.fault(key, key + " is \"" + name + "\"", "measured, same family or spec sheet");
}

KernelFamily readKernelFamily(ObjectReader &reader)
{
    KernelFamily family;
    if (reader.has("attention")) {
        ObjectReader attention = reader.object("attention");
        if (attention.has("bf16"))
            family.attention = readCurve(attention.object("bf16"), kAttentionFields);
        attention.rejectUnknownKeys();
    }
    readDense(reader, family);
    readGrouped(reader, family);
    return family;
}

CatalogueJson kernelFamilyJson(const KernelFamily &family)
{
    CatalogueJson json = CatalogueJson::object();
    for (const GemmFormat &format : kGemmFormats)
        json["gemm"][format.key] = curveJson(family.*format.curve, kGemmFields);
    for (const GemmFormat &format : kGroupedFormats)
        json["grouped"][format.key] = curveJson(family.*format.curve, kGemmFields);
    json["attention"]["bf16"] = curveJson(family.attention, kAttentionFields);
    return json;
}

KernelFamily kernelFamily(const GpuSpec &gpu)
{
    return { gpu.gemm, gpu.gemmFp8, gpu.gemmBlock8, gpu.gemmFp4, gpu.grouped, gpu.groupedFp8, gpu.groupedBlock8,
        gpu.groupedFp4, gpu.attention };
}

void setKernelFamily(GpuSpec &gpu, const KernelFamily &family)
{
    gpu.gemm = family.gemm;
    gpu.gemmFp8 = family.gemmFp8;
    gpu.gemmBlock8 = family.gemmBlock8;
    gpu.gemmFp4 = family.gemmFp4;
    gpu.grouped = family.grouped;
    gpu.groupedFp8 = family.groupedFp8;
    gpu.groupedBlock8 = family.groupedBlock8;
    gpu.groupedFp4 = family.groupedFp4;
    gpu.attention = family.attention;
}

} // namespace trainyard
