// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/kernel_classes.h"

#include "core/base/ascii_text.h"
#include "core/runs/telemetry/readers/collective_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace trainyard {

namespace {

using enum RecordedWork;

struct BuiltinRow {
    const char *pattern;
    RecordedWork work;
};
constexpr std::array kBuiltin { BuiltinRow { "nccl", Communication }, BuiltinRow { "*ncclKernel*", Communication },
    BuiltinRow { "*ncclDevKernel*", Communication }, BuiltinRow { "*ncclSymk*", Communication },
    BuiltinRow { "rccl", Communication }, BuiltinRow { "*rcclKernel*", Communication },
    BuiltinRow { "hccl", Communication }, BuiltinRow { "*mscclKernel*", Communication },
    BuiltinRow { "*dpsk::ep::*", Communication }, BuiltinRow { "*deep_ep::*", Communication },
    BuiltinRow { "*nvshmem*", Communication }, BuiltinRow { "*cross_device_reduce*", Communication },
    BuiltinRow { "*one_shot_all_reduce*", Communication }, BuiltinRow { "*two_shot_all_reduce*", Communication },
    BuiltinRow { "*multimem_all_*", Communication }, BuiltinRow { "*userbuffers_fp16_sum*", Communication },
    BuiltinRow { "Memcpy", Copy }, BuiltinRow { "Memset", Copy }, BuiltinRow { "hipMemcpy", Copy },
    BuiltinRow { "hipMemset", Copy }, BuiltinRow { "CopyHostToDevice", Copy }, BuiltinRow { "CopyDeviceToHost", Copy },
    BuiltinRow { "FillBuffer", Copy }, BuiltinRow { "dma", Copy }, BuiltinRow { "Event Sync", Wait },
    BuiltinRow { "Context Sync", Wait }, BuiltinRow { "Stream Sync", Wait }, BuiltinRow { "Stream Wait Event", Wait } };

bool matches(std::string_view pattern, std::string_view name)
{
    bool isAnchored = true;
    for (bool hasStar = true; hasStar;) {
        const std::size_t star = pattern.find('*');
        hasStar = star != std::string_view::npos;
        const std::string_view part = pattern.substr(0, star);
        const std::size_t at = isAnchored ? (name.starts_with(part) ? 0 : std::string_view::npos) : name.find(part);
        if (at == std::string_view::npos)
            return false;
        name.remove_prefix(at + part.size());
        pattern.remove_prefix(hasStar ? star + 1 : pattern.size());
        isAnchored = false;
    }
    return true;
}

constexpr std::array<std::pair<const char *, double>, 38> kTypes { { { "float", 4 }, { "half", 2 }, { "bfloat16", 2 },
    { "double", 8 }, { "int", 4 }, { "long", 8 }, { "long int", 8 }, { "short", 2 }, { "byte", 1 }, { "char", 1 },
    { "bool", 1 }, { "complexfloat", 8 }, { "complexdouble", 16 }, { "unsigned char", 1 }, { "signed char", 1 },
    { "f16", 2 }, { "f32", 4 }, { "f64", 8 }, { "bf16", 2 }, { "u8", 1 }, { "i8", 1 }, { "u32", 4 }, { "i32", 4 },
    { "u64", 8 }, { "i64", 8 }, { "int8", 1 }, { "uint8", 1 }, { "int32", 4 }, { "uint32", 4 }, { "int64", 8 },
    { "uint64", 8 }, { "int8_t", 1 }, { "uint8_t", 1 }, { "int32_t", 4 }, { "uint32_t", 4 }, { "int64_t", 8 },
    { "uint64_t", 8 }, { "__nv_bfloat16", 2 } } };

/// "dpsk::ep::internode::dispatch<…>(…)" → "dispatch".
std::string lastWord(std::string_view name)
{
    name = name.substr(0, name.find_first_of("(<"));
    if (const std::size_t at = name.rfind("::"); at != std::string_view::npos)
        name.remove_prefix(at + 2);
    if (const std::size_t at = name.rfind(' '); at != std::string_view::npos)
        name.remove_prefix(at + 1);
    return std::string(name.substr(0, 64));
}

} // namespace

KernelClasses::KernelClasses(std::vector<KernelClass> before)
    : m_rows(std::move(before))
{
    for (const BuiltinRow &row : kBuiltin)
        m_rows.push_back({ row.pattern, row.work });
}

RecordedWork KernelClasses::workOf(std::string_view name) const
{
    for (const KernelClass &row : m_rows)
        if (matches(row.pattern, name))
            return row.work;
    return Compute;
}

const KernelClasses &builtinKernelClasses()
{
    static const KernelClasses classes;
    return classes;
}

double bytesOfType(std::string_view type)
{
    if (const std::size_t at = type.rfind("::"); at != std::string_view::npos)
        type.remove_prefix(at + 2);
    const std::string lower = lowered(type.substr(0, 32));
    if (lower.starts_with("float8") || lower.starts_with("fp8") || lower.starts_with("f8"))
        return 1;
    const auto known = std::ranges::find(kTypes, lower, [](const auto &row) { return std::string_view(row.first); });
    return known == kTypes.end() ? 0 : known->second;
}

NcclKernelName readNcclKernelName(std::string_view name)
{
    NcclKernelName result;
    std::string_view words = name.substr(0, name.find_first_of("(<"));
    const std::size_t begin = words.find('_');
    if (words.find("Kernel_") == std::string_view::npos || begin == std::string_view::npos) {
        if (words.find("::") != std::string_view::npos)
            result.operation = lastWord(name);
        return result;
    }
    words.remove_prefix(begin + 1);
    const std::string_view operation = words.substr(0, words.find('_'));
    if (operation != "Generic")
        result.operation = readers::collectiveNamed(operation);
    // The type may hold an underscore itself (int8_t), so that each word is tried alone and with the next one.
    while (!words.empty() && result.elementBytes == 0) {
        const std::size_t end = std::min(words.find('_'), words.size());
        const std::size_t second = std::min(words.find('_', std::min(end + 1, words.size())), words.size());
        result.elementBytes = bytesOfType(words.substr(0, end));
        if (result.elementBytes == 0)
            result.elementBytes = bytesOfType(words.substr(0, second));
        words.remove_prefix(std::min(end + 1, words.size()));
    }
    return result;
}

} // namespace trainyard
