// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/gpu_numbers.h"

#include "models/text/gpu_name.h"

#include <QObject>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>

namespace trainyard {

QString gpuNumbersText(const std::vector<int> &gpus)
{
    QStringList parts;
    for (std::size_t i = 0; i < gpus.size();) {
        std::size_t last = i;
        while (last + 1 < gpus.size() && gpus[last + 1] == gpus[last] + 1)
            ++last;
        parts << (last == i ? QString::number(gpus[i])
                            : QString::number(gpus[i]) + (last == i + 1 ? QStringLiteral(", ") : QStringLiteral("–"))
                    + QString::number(gpus[last]));
        i = last + 1;
    }
    return parts.join(QStringLiteral(", "));
}

std::optional<std::vector<int>> gpuNumbers(const QString &text, int count)
{
    static const QRegularExpression kPart(QStringLiteral("^(\\d{1,9})(?:\\s*[-–—]\\s*(\\d{1,9}))?$"));
    std::vector<int> gpus;
    for (const QString &part : text.split(QRegularExpression(QStringLiteral("[,;]")), Qt::SkipEmptyParts)) {
        if (part.trimmed().isEmpty())
            continue;
        const QRegularExpressionMatch match = kPart.match(part.trimmed());
        if (!match.hasMatch())
            return std::nullopt;
        const int first = match.captured(1).toInt(),
                  last = match.captured(2).isEmpty() ? first : match.captured(2).toInt();
        if (last < first || last >= count)
            return std::nullopt;
        for (int gpu = first; gpu <= last; ++gpu)
            gpus.push_back(gpu);
    }
    std::ranges::sort(gpus);
    gpus.erase(std::ranges::unique(gpus).begin(), gpus.end());
    return gpus;
}

std::vector<NodeGpus> nodesOf(const Plan &plan)
{
    std::vector<NodeGpus> nodes;
    int first = 0;
    for (const Datacenter &datacenter : plan.cluster.datacenters)
        for (const Pool &pool : datacenter.pools)
            for (int node = 0; node < pool.nodes; ++node) {
                QStringList words;
                if (plan.cluster.datacenters.size() > 1)
                    words << QString::fromStdString(datacenter.label());
                words << shortGpuName(pool);
                if (pool.nodes > 1)
                    words << QObject::tr("node %1").arg(node + 1);
                nodes.push_back({ first, pool.gpusPerNode, words.join(QStringLiteral(" · ")) });
                first += pool.gpusPerNode;
            }
    return nodes;
}

} // namespace trainyard
