// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/theme/part_colors.h"

#include "views/theme/theme.h"

#include <algorithm>

namespace trainyard {

std::size_t partIndex(BreakdownPart part)
{
    return std::size_t(std::ranges::find(kBreakdownParts, part) - kBreakdownParts.begin());
}

QColor partColor(BreakdownPart part)
{
    const auto collective = [] { return theme().work(WorkKind::Collective); };
    if (part == &Breakdown::bubble)
        return theme().idle;
    if (part == &Breakdown::tensorParallel)
        return collective();
    if (part == &Breakdown::contextParallel)
        return collective().lighter(130);
    if (part == &Breakdown::expertParallel)
        return collective().darker(140);
    static constexpr struct {
        BreakdownPart part;
        WorkKind kind;
    } kSpans[] = { { &Breakdown::compute, WorkKind::Forward }, { &Breakdown::wan, WorkKind::WanTransfer },
        { &Breakdown::pipeline, WorkKind::PipelineTransfer }, { &Breakdown::dataParallel, WorkKind::GradientReduce },
        { &Breakdown::offloadStall, WorkKind::OffloadStore }, { &Breakdown::optimizer, WorkKind::Optimizer },
        { &Breakdown::overhead, WorkKind::Overhead } };
    const auto *of = std::ranges::find(kSpans, part, [](const auto &span) { return span.part; });
    return of != std::end(kSpans) ? theme().work(of->kind) : theme().textMuted;
}

QColor partsColor(std::span<const BreakdownPart> parts)
{
    return parts.size() == 1 ? partColor(parts.front()) : theme().work(WorkKind::ParameterGather);
}

QString partName(BreakdownPart part)
{
    static const std::vector<BreakdownEntry> entries = breakdownEntries({});
    const auto of = std::ranges::find(entries, part, &BreakdownEntry::part);
    return of != entries.end() ? QString::fromLatin1(of->label) : QString();
}

} // namespace trainyard
