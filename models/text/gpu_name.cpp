// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/text/gpu_name.h"

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/cluster/pool_gpu.h"
#include "core/facts/hardware/gpu_name.h"

#include <QStringList>

namespace trainyard {

QString shortGpuName(const Pool &pool)
{
    const GpuSpec *spec = gpuOf(pool, builtinCatalogue());
    if (!spec || spec->name.empty())
        return QString::fromStdString(pool.gpu);
    QStringList words = QString::fromStdString(shortName(*spec)).split(u' ', Qt::SkipEmptyParts);
    if (words.size() > 2 && words.back() == QStringLiteral("GB"))
        words.resize(words.size() - 2);
    return words.join(u' ');
}

QString gpuNameAt(const Evaluation &evaluation, int pipelineClass, int stage)
{
    const auto &classes = evaluation.layout.classes;
    if (!evaluation.plan || pipelineClass < 0 || pipelineClass >= int(classes.size()))
        return {};
    const auto &locations = classes[std::size_t(pipelineClass)].locations;
    if (stage < 0 || stage >= int(locations.size()))
        return {};
    const StageLocation at = locations[std::size_t(stage)];
    return shortGpuName(evaluation.plan->cluster.datacenters[std::size_t(at.datacenter)].pools[std::size_t(at.pool)]);
}

} // namespace trainyard
